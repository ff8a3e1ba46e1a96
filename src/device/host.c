/*-------------------------------------------------------------------------
 *
 * host.c
 *	  Device "host": the Device interface over this machine's own CPUs.
 *
 * A multiprocessor is a thread (host_threads.c).  A kernel is a shared object
 * made by the system's C compiler (host_compile.c).  A block is
 * one call of its entry point.  Device memory is ordinary memory.  The pool is
 * a range of address space that gets memory when it is touched.  Kernels also
 * read any other memory of the process in place.
 *
 * Process and threads: the worker process, its main thread.  Only compile() is called on
 * any thread.  Locks: see host_threads.c.
 *
 * Ownership: the device owns pool, threads, streams and events until close(), which also
 * unloads the modules that are left.  A module owns its kernels, and must outlive its
 * launches.
 *
 * Errors: an operation that fails leaves its error with the stream.  Work queued behind it
 * is left out, and every later event of the stream reports the error.  Streams that wait for
 * such an event take the error over.  stream_put clears it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "host_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../cpus.h"
#include "host_compile.h"
#include "physical_memory.h"

#define MEGABYTE			((u64) 1 << 20)
#define POOL_SMALLEST		(64 * MEGABYTE)
#define POOL_GRANULE		(2 * MEGABYTE)

/* Devices that the host can pretend to be. */
#define HOSTS				8

/* Copies and fills up to this size are made at once if the stream is idle. */
#define INLINE_BYTES		(64 * 1024)

/* Threads that wait for a pretended link, beside the threads that compute. */
#define LINK_THREADS		16

/* Kernels' reports of themselves where the host pretends to be a GPU. */
#define PRETENDED_REGISTERS	40
#define PRETENDED_THREADS	1024

struct GcKernel
{
	void	   *entry;
	const GcDeviceInfo *info;	/* the device's */
	GcKernel   *next;			/* of the module */
};

struct GcModule
{
	void	   *handle;			/* dlopen's */
	const GcDeviceInfo *info;	/* the device's */
	GcKernel   *kernels;
	GcModule   *next;			/* in dev->modules */
	GcModule  **link;			/* the link to this one there */
};

/* ---------- describing the machine ---------- */

/* The CPU's model name, or at least its kind. */
static void
cpu_name(char *name, size_t size)
{
	FILE	   *file = fopen("/proc/cpuinfo", "re");
	struct utsname system;
	char		line[256];

	name[0] = '\0';
	while (file != NULL && name[0] == '\0' && fgets(line, sizeof(line), file) != NULL)
	{
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon != NULL)
		{
			colon += 1 + strspn(colon + 1, " \t");
			snprintf(name, size, "%.*s", (int) strcspn(colon, "\n"), colon);
		}
	}
	if (file != NULL)
		fclose(file);
	if (name[0] == '\0')
		snprintf(name, size, "%s CPU", uname(&system) == 0 ? system.machine : "unknown");
}

/* The size of the last cache, which stands for a GPU's L2; 0: not known. */
static u64
cache_bytes(void)
{
	long		bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (bytes <= 0)
		bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
	return bytes > 0 ? (u64) bytes : 0;
}

/* Fields that only a GPU has stay 0. */
static void
describe_host(HostDevice *dev, const GcDeviceInfo *pretend)
{
	GcDeviceInfo *info = &dev->base.info;

	cpu_name(info->name, sizeof(info->name));
	info->host_pointers = info->wakes = true;
	/* A pretended GPU has memory of its own: columns are copied into the pool. */
	info->host_memory = pretend == NULL;
	info->serial_blocks = info->scalar = info->shares_cpu = pretend == NULL;
	info->memory_bytes = dev->pool_size;
	info->total_bytes = gc_physical_memory("");
	info->sms = dev->nthreads;
	info->warp_size = 1;
	info->max_warps = 1;
	info->max_blocks = 1;
	info->shared_per_sm = HOST_SHARED_BYTES;
	info->shared_per_block = HOST_SHARED_BYTES;
	info->l2_bytes = cache_bytes();
	if (pretend == NULL)
		return;
	info->sms = pretend->sms;
	info->warp_size = pretend->warp_size;
	info->max_warps = pretend->max_warps;
	info->max_blocks = pretend->max_blocks;
	info->registers = pretend->registers;
	info->shared_per_sm = pretend->shared_per_sm;
	info->shared_per_block = pretend->shared_per_block;
	info->shared_reserved = pretend->shared_reserved;
	info->l2_bytes = pretend->l2_bytes;
	info->arch = pretend->arch;
}

/* ---------- open and close ---------- */

/*
 * Reserve the pool's address space, as much as the options say, or half of the
 * machine's memory; less where the system does not allow that.
 */
static GcCode
take_pool(HostDevice *dev, u64 limit, GcError *err)
{
	u64			size = limit != 0 ? limit : gc_physical_memory("") / 2;

	for (;;)
	{
		void	   *pool;

		if (size > POOL_GRANULE)
			size -= size % POOL_GRANULE;
		pool = mmap(NULL, size, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (pool != MAP_FAILED)
		{
			dev->pool = pool;
			dev->pool_size = size;
			return GC_OK;
		}
		size /= 2;
		if (size < POOL_SMALLEST)
			return gc_fail(err, GC_DEVICE_MEMORY,
						   "mmap could not reserve memory for device host: %m.");
	}
}

/* No kernel of the module is running; its kernels are freed with it. */
static void
host_module_unload(GcDevice *base, GcModule *module)
{
	(void) base;
	*module->link = module->next;
	if (module->next != NULL)
		module->next->link = module->link;
	while (module->kernels != NULL)
	{
		GcKernel   *kernel = module->kernels;

		module->kernels = kernel->next;
		free(kernel);
	}
	dlclose(module->handle);
	free(module);
}

/* Stop the threads, then free modules, streams, events and the pool. */
static void
host_close(GcDevice *base)
{
	HostDevice *dev = (HostDevice *) base;

	gc_host_threads_stop(dev);
	while (dev->modules != NULL)
		host_module_unload(base, dev->modules);
	while (dev->streams != NULL)
	{
		GcStream   *stream = dev->streams;

		dev->streams = stream->next;
		free(stream);
	}
	while (dev->events != NULL)
	{
		GcEvent	   *event = dev->events;

		dev->events = event->next;
		free(event);
	}
	gc_host_compiler_free(&dev->compiler);
	if (dev->pool != NULL)
		munmap(dev->pool, dev->pool_size);
	pthread_cond_destroy(&dev->done);
	pthread_cond_destroy(&dev->work);
	pthread_cond_destroy(&dev->spare);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

/* The host can pretend to be several devices. */
static GcCode
choose_host(const GcDeviceInfo *info, const GcDeviceOptions *options, GcError *err)
{
	if (options->ordinal >= HOSTS)
		return gc_fail(err, GC_NO_DEVICE, "There is no device %s; there are %d.", info->card, HOSTS);
	if (options->claim != NULL && !options->claim(info->card))
		return gc_fail(err, GC_NO_DEVICE, "Another worker has device %s.", info->card);
	return GC_OK;
}

/* Take the pool and start the threads: as many as options say, or one per core. */
static GcCode
host_open(GcDevice **out, const GcDeviceOptions *options, GcError *err)
{
	HostDevice *dev = calloc(1, sizeof(HostDevice));
	int			nthreads = options->host_threads > 0 ? options->host_threads : gc_count_cpus();
	pthread_condattr_t attr;
	GcCode		code;

	*out = NULL;
	if (dev == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for device host.");
	dev->base.ops = &gc_host_ops;
	dev->link = options->link;
	pthread_mutex_init(&dev->lock, NULL);
	pthread_cond_init(&dev->work, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dev->spare, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&dev->done, NULL);

	snprintf(dev->base.info.card, sizeof(dev->base.info.card), "host:%d", options->ordinal);
	code = choose_host(&dev->base.info, options, err);
	if (code == GC_OK)
		code = gc_host_compiler_find(&dev->compiler, options->temp_directory, dev->base.info.target,
									 sizeof(dev->base.info.target), err);
	if (code == GC_OK)
		code = take_pool(dev, options->memory_limit, err);
	if (code == GC_OK)
		code = gc_host_threads_start(dev, nthreads + (options->link > 0 ? LINK_THREADS : 0), err);
	if (code != GC_OK)
	{
		host_close(&dev->base);
		return code;
	}
	describe_host(dev, options->pretend);
	*out = &dev->base;
	return GC_OK;
}

/* The memory that was taken when the device was opened; the caller divides it (memory.c). */
static void
host_pool(GcDevice *base, GcAddr *addr, u64 *size)
{
	HostDevice *dev = (HostDevice *) base;

	*addr = (GcAddr) (uintptr_t) dev->pool;
	*size = dev->pool_size;
}

/* Nothing is page-locked: kernels run in this process. */
static GcCode
host_pin(GcDevice *dev, void *ptr, size_t size, GcError *err)
{
	(void) dev;
	(void) ptr;
	(void) size;
	(void) err;
	return GC_OK;
}

static void
host_unpin(GcDevice *dev, void *ptr)
{
	(void) dev;
	(void) ptr;
}

/* ---------- streams ---------- */

/* A stream without work: one that was put back, or a new one.  NULL: no memory. */
static GcStream *
host_stream_get(GcDevice *base, GcError *err)
{
	HostDevice *dev = (HostDevice *) base;
	GcStream   *stream = dev->free_streams;

	if (stream != NULL)
	{
		dev->free_streams = stream->next_free;
		return stream;
	}
	stream = calloc(1, sizeof(GcStream));
	if (stream == NULL)
	{
		gc_fail(err, GC_HOST_MEMORY, "Out of memory for a stream.");
		return NULL;
	}
	stream->dev = dev;
	stream->next = dev->streams;
	dev->streams = stream;
	return stream;
}

/* The caller has seen the end of all that was queued to the stream.  Its error is forgotten. */
static void
host_stream_put(GcDevice *base, GcStream *stream)
{
	HostDevice *dev = (HostDevice *) base;

	/* The lock, because a thread may not have left the last event yet. */
	pthread_mutex_lock(&dev->lock);
	stream->error.code = GC_OK;
	pthread_mutex_unlock(&dev->lock);
	stream->next_free = dev->free_streams;
	dev->free_streams = stream;
}

/* Bytes of a copy that cross the pretended link, if there is one. */
static double
crossing(const HostDevice *dev, const char *dst, const char *src, size_t size)
{
	const char *pool = dev->pool;
	const bool	to = dst >= pool && dst < pool + dev->pool_size;
	const bool	from = src >= pool && src < pool + dev->pool_size;

	return dev->link > 0 && to != from ? (double) size : 0;
}

/* Queue a copy or a fill.  Small ones for a stream without work are made at once. */
static GcCode
queue_memory(GcStream *stream, HostOpKind kind, void *dst, const void *src, int byte,
			 size_t size, GcError *err)
{
	HostOp	   *op;

	if (size == 0 || dst == src)
		return GC_OK;
	if (size <= INLINE_BYTES && gc_host_stream_idle(stream))
	{
		if (kind == HOST_COPY)
			memcpy(dst, src, size);
		else
			memset(dst, byte, size);
		return GC_OK;
	}
	op = gc_host_op_new(stream->dev, kind, err);
	if (op == NULL)
		return GC_HOST_MEMORY;
	op->dst = dst;
	op->src = src;
	op->byte = byte;
	op->size = size;
	op->units = (size + HOST_PIECE - 1) / HOST_PIECE;
	if (kind == HOST_COPY)
		op->link_bytes = crossing(stream->dev, dst, src, size);
	gc_host_submit(stream, op);
	return GC_OK;
}

static GcCode
host_copy_in(GcStream *stream, GcAddr dst, const void *src, size_t size, GcError *err)
{
	return queue_memory(stream, HOST_COPY, (void *) (uintptr_t) dst, src, 0, size, err);
}

static GcCode
host_copy_out(GcStream *stream, void *dst, GcAddr src, size_t size, GcError *err)
{
	return queue_memory(stream, HOST_COPY, dst, (const void *) (uintptr_t) src, 0, size, err);
}

static GcCode
host_copy(GcStream *stream, GcAddr dst, GcAddr src, size_t size, GcError *err)
{
	return queue_memory(stream, HOST_COPY, (void *) (uintptr_t) dst,
						(const void *) (uintptr_t) src, 0, size, err);
}

static GcCode
host_fill(GcStream *stream, GcAddr dst, int byte, size_t size, GcError *err)
{
	return queue_memory(stream, HOST_FILL, (void *) (uintptr_t) dst, NULL, byte, size, err);
}

/* Queue a launch, whose blocks threads take one by one.  A launch of no blocks is none. */
static GcCode
host_launch(GcStream *stream, GcKernel *kernel, const GcLaunch *launch,
			const GcArgs *args, int args_words, GcError *err)
{
	HostOp	   *op;

	if (args_words < 0 || args_words > GC_MAX_ARG_WORDS)
		return gc_fail(err, GC_BAD_PROGRAM, "A kernel cannot have %d argument words.", args_words);
	if (launch->blocks == 0)
		return GC_OK;
	op = gc_host_op_new(stream->dev, HOST_LAUNCH, err);
	if (op == NULL)
		return GC_HOST_MEMORY;
	*(void **) &op->entry = kernel->entry;
	op->blocks = launch->blocks;
	op->shared_bytes = launch->shared_bytes;
	op->units = launch->blocks;
	op->link_bytes = stream->dev->link > 0 ? launch->link_bytes : 0;
	memcpy(&op->args, args, offsetof(GcArgs, w) + (size_t) args_words * sizeof(args->w[0]));
	gc_host_submit(stream, op);
	return GC_OK;
}

/* A host's kernel knows nothing of the gang: each block is given its member's arguments. */
static GcCode
host_launch_gang(GcStream *stream, GcKernel *kernel, const GcLaunch *launch,
				 const GcGangMember *members, int n, int args_words, GcError *err)
{
	HostOp	   *op;
	u32			blocks = 0;

	if (args_words < 0 || args_words > GC_MAX_ARG_WORDS || n > GC_GANG_MOST || (size_t) n > GC_GANG_MEMBERS(args_words))
		return gc_fail(err, GC_BAD_PROGRAM, "A gang launch cannot have %d members with %d argument words.", n,
					   args_words);
	for (int m = 0; m < n; m++)
		blocks += members[m].blocks;
	if (blocks == 0)
		return GC_OK;
	op = gc_host_op_new(stream->dev, HOST_LAUNCH, err);
	if (op == NULL)
		return GC_HOST_MEMORY;
	if ((op->gang = gc_host_gang_new(members, n, args_words)) == NULL)
	{
		gc_host_op_drop(stream->dev, op);
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for a gang launch.");
	}
	*(void **) &op->entry = kernel->entry;
	op->shared_bytes = launch->shared_bytes;
	op->units = blocks;
	gc_host_submit(stream, op);
	return GC_OK;
}

/* ---------- events ---------- */

/* Queue an event, or a wait for one; the operation holds a reference. */
static GcCode
queue_event(GcStream *stream, HostOpKind kind, GcEvent *event, GcError *err)
{
	HostOp	   *op = gc_host_op_new(stream->dev, kind, err);

	if (op == NULL)
		return GC_HOST_MEMORY;
	gc_host_event_ref(event);
	op->event = event;
	gc_host_submit(stream, op);
	return GC_OK;
}

/* An event behind all that is queued.  Each has a time, so a timed one is the same. */
static GcEvent *
host_event(GcStream *stream, GcError *err)
{
	GcEvent	   *event = gc_host_event_new(stream->dev, err);

	if (event != NULL && queue_event(stream, HOST_EVENT, event, err) != GC_OK)
	{
		gc_host_event_put(event);
		return NULL;
	}
	return event;
}

/* An event of this device needs no word: it calls wake() when it is done. */
static GcEvent *
host_event_word(GcStream *stream, u32 *word, GcError *err)
{
	(void) word;
	return host_event(stream, err);
}

/* The word is written before the kernel's operation ends, so a plain event tells as much. */
static GcEvent *
host_event_written(GcStream *stream, const u32 *word, GcError *err)
{
	(void) word;
	return host_event(stream, err);
}

/* An event has the error of the work that was queued before it. */
static GcCode
mark_result(const GcEvent *event, GcError *err)
{
	if (event->error.code != GC_OK && err != NULL)
		*err = event->error;
	return event->error.code;
}

/* Is all before the event done?  An error is returned once it is. */
static GcCode
host_event_done(GcEvent *event, bool *done, GcError *err)
{
	GcCode		code;

	*done = false;
	if (!atomic_load(&event->done))
		return GC_OK;
	code = mark_result(event, err);
	*done = code == GC_OK;
	return code;
}

/* Wait with the thread blocked, and return the error of the queued work. */
static GcCode
host_event_wait(GcEvent *event, GcError *err)
{
	gc_host_event_await(event);
	return mark_result(event, err);
}

/* Milliseconds between two events that are done; 0: they are not. */
static float
host_event_ms(GcEvent *from, GcEvent *to)
{
	if (!atomic_load(&from->done) || !atomic_load(&to->done))
		return 0;
	return (float) ((double) (to->time.tv_sec - from->time.tv_sec) * 1e3 +
					(double) (to->time.tv_nsec - from->time.tv_nsec) * 1e-6);
}

static void
host_event_put(GcDevice *dev, GcEvent *event)
{
	(void) dev;
	gc_host_event_put(event);
}

/* Have work that is queued from now on wait for another stream's event. */
static GcCode
host_stream_wait(GcStream *stream, GcEvent *event, GcError *err)
{
	return queue_event(stream, HOST_WAIT, event, err);
}

/* Wait for all streams.  Errors stay with their events. */
static GcCode
host_drain(GcDevice *base, GcError *err)
{
	(void) err;
	gc_host_await_idle((HostDevice *) base);
	return GC_OK;
}

/* ---------- modules and kernels ---------- */

/* Runs on threads of the kernel cache.  The C compiler knows one effort only. */
static GcCode
host_compile(GcDevice *base, const char *source, GcCompileEffort effort, GcImage *image, GcError *err)
{
	(void) effort;
	return gc_host_compile(&((HostDevice *) base)->compiler, source, image, err);
}

/* Load a shared library from memory into this process. */
static GcCode
host_module_load(GcDevice *base, const GcImage *image, GcModule **out, GcError *err)
{
	HostDevice *dev = (HostDevice *) base;
	GcModule   *module = calloc(1, sizeof(GcModule));
	GcCode		code;

	*out = NULL;
	if (module == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for a module.");
	code = gc_host_dlopen(image, &module->handle, err);
	if (code != GC_OK)
	{
		free(module);
		return code;
	}
	module->info = &base->info;
	module->next = dev->modules;
	module->link = &dev->modules;
	if (module->next != NULL)
		module->next->link = &module->next;
	dev->modules = module;
	*out = module;
	return GC_OK;
}

/* A function of the module.  A pretended GPU's kernels have registers and threads that are made up. */
static GcCode
host_kernel_get(GcModule *module, const char *name, GcKernel **kernel, GcKernelInfo *info,
				GcError *err)
{
	void	   *entry = dlsym(module->handle, name);
	const bool	pretended = module->info->arch != 0;
	GcKernel   *k;

	*kernel = NULL;
	if (entry == NULL)
		return gc_fail(err, GC_COMPILE_FAILED, "A compiled kernel has no entry point \"%s\".", name);
	k = malloc(sizeof(GcKernel));
	if (k == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for a kernel.");
	*k = (GcKernel) {.entry = entry,.info = module->info,.next = module->kernels};
	module->kernels = k;
	*info = (GcKernelInfo) {.registers = pretended ? PRETENDED_REGISTERS : 0,
	.max_threads = pretended ? PRETENDED_THREADS : 1};
	*kernel = k;
	return GC_OK;
}

static int
least(int a, int b)
{
	return a < b ? a : b;
}

/* Blocks on a multiprocessor: 1, or as the pretended GPU's limits allow. */
static int
host_occupancy(GcKernel *kernel, u32 threads, u32 shared_bytes)
{
	const GcDeviceInfo *info = kernel->info;
	int			warps;
	int			blocks;

	if (info->arch == 0)
		return 1;
	if ((int) shared_bytes > info->shared_per_block)
		return 0;
	warps = ((int) threads + info->warp_size - 1) / info->warp_size;
	blocks = least(info->max_warps / warps, info->registers / (PRETENDED_REGISTERS * info->warp_size * warps));
	blocks = least(blocks, info->shared_per_sm / ((int) shared_bytes + info->shared_reserved));
	return least(blocks, info->max_blocks);
}

const GcDeviceOps gc_host_ops = {
	.name = "host",
	.open = host_open,
	.close = host_close,
	.pool = host_pool,
	.pin = host_pin,
	.unpin = host_unpin,
	.stream_get = host_stream_get,
	.stream_put = host_stream_put,
	.copy_in = host_copy_in,
	.copy_out = host_copy_out,
	.copy = host_copy,
	.fill = host_fill,
	.launch = host_launch,
	.launch_gang = host_launch_gang,
	.event = host_event,
	.event_timed = host_event,
	.event_word = host_event_word,
	.event_written = host_event_written,
	.event_done = host_event_done,
	.event_wait = host_event_wait,
	.event_ms = host_event_ms,
	.event_put = host_event_put,
	.stream_wait = host_stream_wait,
	.compile = host_compile,
	.module_load = host_module_load,
	.module_unload = host_module_unload,
	.kernel_get = host_kernel_get,
	.occupancy = host_occupancy,
	.drain = host_drain,
};
