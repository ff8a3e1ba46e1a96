/*-------------------------------------------------------------------------
 *
 * gpuconc_compiler.c
 *	  A process that compiles kernels for device cuda, one after another (src/device/compilers.h).
 *
 * Started by the worker, which it answers over its standard input and output, one socket.  It opens no device, only
 * NVRTC, and ends when the socket does.
 *
 *-------------------------------------------------------------------------
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../src/device/compilers.h"
#include "../src/device/nvrtc.h"
#include "../src/device/write_all.h"

#define STACK	((rlim_t) 16 << 20)
#define KEPT	(32 << 20)

static GcCode
compile(const GcCompileOrder *order, const char *source, GcImage *image, GcError *err)
{
	const GcNvrtc *nvrtc = gc_nvrtc_open(order->prefer_major, err);

	if (nvrtc == NULL)
		return err->code;
	return gc_nvrtc_compile(nvrtc, order->arch, source, (GcCompileEffort) order->effort, image, NULL, err);
}

static bool
answer(GcCode code, const GcImage *image, const GcError *err)
{
	const void *bytes = code == GC_OK ? (const void *) image->bytes : err->detail;
	const GcCompileAnswer a = {.size = code == GC_OK ? image->size : strlen(err->detail),.code = code};

	return gc_write_all(STDOUT_FILENO, &a, sizeof(a)) && gc_write_all(STDOUT_FILENO, bytes, a.size);
}

/* As much stack as the worker's compile threads have, as NVRTC recurses deeply. */
static void
raise_stack_limit(void)
{
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur >= STACK)
		return;
	stack.rlim_cur = stack.rlim_max == RLIM_INFINITY || stack.rlim_max > STACK ? STACK : stack.rlim_max;
	(void) setrlimit(RLIMIT_STACK, &stack);
}

/* Memory that a compilation frees serves the next one.  Mapping it anew took a fifteenth of the time to compile. */
static void
keep_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	(void) mallopt(M_MMAP_THRESHOLD, KEPT);
	(void) mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

int
main(int argc, char **argv)
{
	GcCompileOrder order;
	bool		more = true;

	/* A worker that is older than the installed files compiles for itself. */
	if (argc != 2 || strcmp(argv[1], GC_VERSION) != 0)
		return 1;
	raise_stack_limit();
	keep_memory();

	while (more && gc_read_all(STDIN_FILENO, &order, sizeof(order)))
	{
		char	   *source = malloc(order.source_size + 1);
		GcImage		image = {NULL, 0};
		GcError		err = {GC_OK, ""};

		if (source == NULL || !gc_read_all(STDIN_FILENO, source, order.source_size))
			return 1;
		source[order.source_size] = '\0';
		more = answer(compile(&order, source, &image, &err), &image, &err);
		free(image.bytes);
		free(source);
	}
	return 0;
}
