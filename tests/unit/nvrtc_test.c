/*-------------------------------------------------------------------------
 *
 * nvrtc_test.c
 *	  Compiling for GPUs that need not be there.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/device/compilers.h"
#include "../../src/device/nvrtc.h"
#include "kernels.h"

static const GcNvrtc *nvrtc;

static void
test_compile(int arch)
{
	for (int i = 0; i < N_TEST_KERNELS; i++)
	{
		char	   *text = kernel_text(test_kernels[i].body);
		GcImage		image = {NULL, 0};
		GcError		err = {GC_OK, ""};

		ok(gc_nvrtc_compile(nvrtc, arch, text, GC_COMPILE_FULL, &image, NULL, &err) == GC_OK &&
		   image.size > 4 && memcmp(image.bytes, "\177ELF", 4) == 0,
		   "kernel \"%s\" becomes a cubin for sm_%d", test_kernels[i].name, arch);
		free(image.bytes);
		free(text);
	}
}

static void
test_errors(void)
{
	char	   *text = kernel_text(kernel_bad);
	GcImage		image = {NULL, 0};
	GcError		err = {GC_OK, ""};
	char	   *log = NULL;

	is(gc_nvrtc_compile(nvrtc, 90, text, GC_COMPILE_FULL, &image, &log, &err), GC_COMPILE_FAILED,
	   "a text with an error");
	ok(log != NULL && strstr(log, "this_is_not_declared") != NULL, "has a log");
	ok(strncmp(err.detail, "kernel.cu(", 10) == 0 && strstr(err.detail, "error") != NULL,
	   "whose first message is the detail: %.*s", (int) strcspn(err.detail, "\n"), err.detail);
	ok(image.bytes == NULL, "and no image");
	free(log);
	for (int quick = 0; quick < 2; quick++)
	{
		const GcCompileEffort effort = quick ? GC_COMPILE_QUICK : GC_COMPILE_FULL;
		char	   *good = kernel_text(kernel_int128);

		is(gc_nvrtc_accepts(nvrtc, 90, text, effort, &log, &err), GC_COMPILE_FAILED, "the front end sees it, too");
		ok(log != NULL && strstr(log, "this_is_not_declared") != NULL, "and says so");
		free(log);
		is(gc_nvrtc_accepts(nvrtc, 90, good, effort, NULL, NULL), GC_OK, "and accepts another text");
		free(good);
	}
	is(gc_nvrtc_compile(nvrtc, 20, "", GC_COMPILE_FULL, &image, NULL, &err), GC_NO_COMPILER,
	   "an architecture that is too old");
	free(text);
}

static void
test_target(void)
{
	char		target[64];
	GcImage		image = {NULL, 0};
	char	   *text = kernel_text(kernel_int128);

	is(gc_nvrtc_target(nvrtc, 90, target, sizeof(target), NULL), GC_OK, "target for sm_90");
	ok(strncmp(target, "sm_90 nvrtc ", 12) == 0, "it is %s", target);
	is(gc_nvrtc_target(nvrtc, 999, target, sizeof(target), NULL), GC_OK, "target for sm_999");
	ok(strncmp(target, "sm_999 as compute_", 18) == 0, "it is %s", target);
	is(gc_nvrtc_compile(nvrtc, 999, text, GC_COMPILE_FULL, &image, NULL, NULL), GC_OK, "compiling for it");
	ok(image.size > 2 && memcmp(image.bytes, "//", 2) == 0, "gives PTX");
	free(image.bytes);
	free(text);
}

static void *
compile_some(void *arg)
{
	bool	   *good = arg;
	struct rlimit limit;

	*good = true;
	for (int i = 0; i < N_TEST_KERNELS; i++)
	{
		char	   *text = kernel_text(test_kernels[i].body);
		GcImage		image = {NULL, 0};

		*good = *good && gc_nvrtc_compile(nvrtc, 80, text, GC_COMPILE_FULL, &image, NULL, NULL) == GC_OK;
		free(image.bytes);
		free(text);
		getrlimit(RLIMIT_STACK, &limit);
		*good = *good && limit.rlim_cur != RLIM_INFINITY;
	}
	return NULL;
}

static void
test_threads(void)
{
	enum {THREADS = 3};
	pthread_t	threads[THREADS];
	bool		good[THREADS];
	struct rlimit limit;

	/* A limit that would show if NVRTC raised it, were it not unlimited already. */
	getrlimit(RLIMIT_STACK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY)
	{
		limit.rlim_cur = 64 << 20;
		setrlimit(RLIMIT_STACK, &limit);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, compile_some, &good[i]);
	for (int i = 0; i < THREADS; i++)
	{
		pthread_join(threads[i], NULL);
		ok(good[i], "compiling on thread %d of %d, the stack limit left alone", i, THREADS);
	}
}

/* ---------- in processes ---------- */

static bool
compiles(GcCompileEffort effort, const char *body, GcError *err)
{
	char	   *text = kernel_text(body);
	GcImage		image = {NULL, 0};
	const GcCode code = gc_compilers_compile(nvrtc, 13, 90, text, effort, &image, err);
	const bool	good = code == GC_OK && image.size > 4 && memcmp(image.bytes, "\177ELF", 4) == 0;

	free(image.bytes);
	free(text);
	return good;
}

static void *
compile_in_processes(void *arg)
{
	bool	   *good = arg;

	*good = true;
	for (int i = 0; i < N_TEST_KERNELS; i++)
		*good = *good && compiles(GC_COMPILE_QUICK, test_kernels[i].body, NULL);
	return NULL;
}

/* How many processes this one has that have not been waited for; a signal for each, or 0. */
static int
children(int signal)
{
	char		path[64];
	FILE	   *file;
	int			n = 0;
	int			pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int) getpid());
	file = fopen(path, "r");
	while (file && fscanf(file, "%d", &pid) == 1)
	{
		kill(pid, signal);
		n++;
	}
	if (file)
		fclose(file);
	return n;
}

/* A process that reads the whole order and is ended by a signal: what becomes of the text? */
static GcCode
compile_by_mortal(const char *name, int signal)
{
	char	   *text = kernel_text(kernel_int128);
	char		path[] = "/tmp/gpuconc_compiler_XXXXXX";
	FILE	   *file = fdopen(mkstemp(path), "w");
	GcImage		image = {NULL, 0};
	GcError		err = {GC_OK, ""};
	GcCode		code;

	fprintf(file, "#!/bin/sh\nhead -c %zu >/dev/null\nkill -%s $$\n", sizeof(GcCompileOrder) + strlen(text), name);
	fclose(file);
	chmod(path, 0700);
	gc_compilers_start(path, "test", 1);
	is(gc_compilers_count(), 1, "a process that a signal will end");
	code = gc_compilers_compile(nvrtc, 13, 90, text, GC_COMPILE_QUICK, &image, &err);
	is(gc_compilers_count(), 0, "it has ended");
	ok(code == GC_OK || strstr(err.detail, "signal") != NULL, "by signal %d: %s", signal, err.detail);
	gc_compilers_stop();
	unlink(path);
	free(image.bytes);
	free(text);
	return code;
}

static void
test_processes(const char *program)
{
	enum {THREADS = 3, PROCESSES = 2};
	pthread_t	threads[THREADS];
	bool		good[THREADS];
	GcError		err = {GC_OK, ""};

	/* As a server has it. */
	signal(SIGPIPE, SIG_IGN);
	gc_compilers_start("/nowhere/gpuconc_compiler", "test", PROCESSES);
	is(gc_compilers_count(), 0, "no program, no processes");
	ok(compiles(GC_COMPILE_FULL, kernel_int128, NULL), "NVRTC compiles here then");
	gc_compilers_start(program, "another version", 1);
	for (int i = 0; i < 2; i++)
		ok(compiles(GC_COMPILE_QUICK, kernel_int128, NULL), "a process of another version is not asked");
	is(gc_compilers_count(), 0, "and has ended");
	gc_compilers_stop();
	gc_compilers_start(program, "test", PROCESSES);
	is(gc_compilers_count(), PROCESSES, "processes");
	gc_compilers_warm_up(13, 90, "extern \"C\" __global__ void gc_kernel() {}");
	is(gc_compilers_count(), PROCESSES, "and all are there when they are warm");
	ok(!compiles(GC_COMPILE_QUICK, kernel_bad, &err), "a text with an error");
	ok(err.code == GC_COMPILE_FAILED && strncmp(err.detail, "kernel.cu(", 10) == 0, "whose detail comes from there: %.*s", (int) strcspn(err.detail, "\n"), err.detail);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, compile_in_processes, &good[i]);
	for (int i = 0; i < THREADS; i++)
	{
		pthread_join(threads[i], NULL);
		ok(good[i], "thread %d of %d with fewer processes", i, THREADS);
	}
	is(gc_compilers_count(), PROCESSES, "none has ended");
	is(children(0), PROCESSES, "they are this process's");
	/* Signals to a worker come to its whole group. */
	(void) children(SIGINT);
	(void) children(SIGTERM);
	(void) children(SIGQUIT);
	for (int i = 0; i < PROCESSES + 1; i++)
		ok(compiles(GC_COMPILE_QUICK, kernel_int128, NULL), "a text compiles after signals that end others");
	is(gc_compilers_count(), PROCESSES, "by a process");
	for (int left = PROCESSES - 1; left >= 0; left--)
	{
		(void) children(SIGKILL);
		ok(compiles(GC_COMPILE_QUICK, kernel_int128, &err) || err.code == GC_COMPILE_INTERRUPTED,
		   "they were killed: a text compiles all the same, or is to be tried again");
		is(gc_compilers_count(), left, "and one less is there");
	}
	is(children(0), 0, "they have been waited for");
	ok(compiles(GC_COMPILE_QUICK, kernel_int128, NULL), "then it compiles here");
	gc_compilers_stop();
	gc_compilers_start(program, "test", PROCESSES);
	is(gc_compilers_count(), PROCESSES, "others start");
	gc_compilers_stop();
	is(children(0), 0, "and end");
	is(compile_by_mortal("SEGV", SIGSEGV), GC_COMPILE_FAILED, "a text that crashes its compiler is not compiled here");
	is(compile_by_mortal("KILL", SIGKILL), GC_COMPILE_INTERRUPTED, "nor is one whose compiler was killed");
}

int
main(int argc, char **argv)
{
	char		program[4096];
	GcError		err = {GC_OK, ""};

	(void) argc;
	tap_start();
	nvrtc = gc_nvrtc_open(13, &err);
	if (nvrtc == NULL)
		return tap_skip_all(err.detail);
	test_target();
	test_compile(80);
	test_compile(90);
	test_errors();
	test_threads();
	snprintf(program, sizeof(program), "%.*sgpuconc_compiler", (int) (strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 - argv[0] : 0), argv[0]);
	test_processes(program);
	ok(gc_nvrtc_open(12, NULL) == nvrtc, "NVRTC is opened once");
	return tap_done();
}
