/*-------------------------------------------------------------------------
 *
 * cuda.c
 *	  Device "cuda": the Device interface over the CUDA driver API.
 *
 * The driver library is opened at run time and no CUDA header is needed to
 * build this.  cuda_open.c finds the GPU; nvrtc.c compiles kernels.
 *
 * Process and threads: the worker process, and there its main thread alone, which has the
 * device's primary context current from open() to close().  Only compile(), which is in
 * nvrtc.c, runs on any thread.  No locks.
 *
 * Ownership: the device owns streams and events and recycles them; a module owns its
 * kernels.
 *
 * Errors: some CUDA errors (an illegal address, say) destroy the context, and
 * every later call would fail.  After the first of these the device is lost:
 * every call returns GC_DEVICE_FAILED, and none but a drain asks the driver.
 * Only a new process is sure to get the GPU back.
 *
 *-------------------------------------------------------------------------
 */
#include "cuda_internal.h"

#include <stdlib.h>
#include <string.h>


#define LENGTH(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* The error of every call once the context is lost. */
static GcCode
lost(CudaDevice *dev, GcError *err)
{
	return gc_fail(err, GC_DEVICE_FAILED, "The GPU was lost by an earlier error: %s",
				   dev->lost_detail);
}

/* ---------- memory ---------- */

/* The memory that was taken when the device was opened; the caller divides it (memory.c). */
static void
cuda_pool(GcDevice *base, GcAddr *addr, u64 *size)
{
	CudaDevice *dev = (CudaDevice *) base;

	*addr = dev->pool;
	*size = dev->pool_size;
}

/* Page-lock host memory, so that copies run beside the host and kernels may reach it. */
static GcCode
cuda_pin(GcDevice *base, void *ptr, size_t size, GcError *err)
{
	CudaDevice *dev = (CudaDevice *) base;

	if (dev->lost)
		return lost(dev, err);
	return gc_cuda_check(dev, dev->api.host_register(ptr, size, GC_CU_REGISTER_PORTABLE),
						 "cuMemHostRegister", err);
}

static void
cuda_unpin(GcDevice *base, void *ptr)
{
	CudaDevice *dev = (CudaDevice *) base;

	if (!dev->lost)
		(void) gc_cuda_check(dev, dev->api.host_unregister(ptr), "cuMemHostUnregister", NULL);
}

/* ---------- streams ---------- */

/* A stream of the context, which keeps it in a list to destroy it at the end.  NULL: err set. */
static GcStream *
new_stream(CudaDevice *dev, GcError *err)
{
	GcStream   *stream = calloc(1, sizeof(GcStream));
	sigset_t	saved;
	CuResult	result;

	if (stream == NULL)
	{
		gc_fail(err, GC_HOST_MEMORY, "Out of memory for a stream.");
		return NULL;
	}
	gc_cuda_block_signals(&saved);
	result = dev->api.stream_create(&stream->handle, GC_CU_STREAM_NON_BLOCKING);
	gc_cuda_restore_signals(&saved);
	if (gc_cuda_check(dev, result, "cuStreamCreate", err) != GC_OK)
	{
		free(stream);
		return NULL;
	}
	stream->dev = dev;
	stream->next = dev->streams;
	dev->streams = stream;
	return stream;
}

/* A stream without work: one that was put back, or a new one.  NULL: err set. */
static GcStream *
cuda_stream_get(GcDevice *base, GcError *err)
{
	CudaDevice *dev = (CudaDevice *) base;
	GcStream   *stream = dev->free_streams;

	if (dev->lost)
	{
		lost(dev, err);
		return NULL;
	}
	if (stream == NULL)
		return new_stream(dev, err);
	dev->free_streams = stream->next_free;
	return stream;
}

/* The caller has seen the end of all that was queued to the stream. */
static void
cuda_stream_put(GcDevice *base, GcStream *stream)
{
	CudaDevice *dev = (CudaDevice *) base;

	stream->next_free = dev->free_streams;
	dev->free_streams = stream;
}

/* Queue a copy from the host.  It is only asynchronous from page-locked memory. */
static GcCode
cuda_copy_in(GcStream *stream, GcAddr dst, const void *src, size_t size, GcError *err)
{
	CudaDevice *dev = stream->dev;

	if (dev->lost)
		return lost(dev, err);
	if (size == 0)
		return GC_OK;
	return gc_cuda_check(dev, dev->api.copy_in(dst, src, size, stream->handle),
						 "cuMemcpyHtoDAsync", err);
}

/* Queue a copy to the host; it is there once an event behind it is done. */
static GcCode
cuda_copy_out(GcStream *stream, void *dst, GcAddr src, size_t size, GcError *err)
{
	CudaDevice *dev = stream->dev;

	if (dev->lost)
		return lost(dev, err);
	if (size == 0)
		return GC_OK;
	return gc_cuda_check(dev, dev->api.copy_out(dst, src, size, stream->handle),
						 "cuMemcpyDtoHAsync", err);
}

/* Queue a copy within device memory. */
static GcCode
cuda_copy(GcStream *stream, GcAddr dst, GcAddr src, size_t size, GcError *err)
{
	CudaDevice *dev = stream->dev;

	if (dev->lost)
		return lost(dev, err);
	if (size == 0)
		return GC_OK;
	return gc_cuda_check(dev, dev->api.copy(dst, src, size, stream->handle),
						 "cuMemcpyDtoDAsync", err);
}

/* Queue a fill of device memory with one byte. */
static GcCode
cuda_fill(GcStream *stream, GcAddr dst, int byte, size_t size, GcError *err)
{
	CudaDevice *dev = stream->dev;

	if (dev->lost)
		return lost(dev, err);
	if (size == 0)
		return GC_OK;
	return gc_cuda_check(dev, dev->api.fill(dst, (unsigned char) byte, size, stream->handle),
						 "cuMemsetD8Async", err);
}

/*
 * Ask for the whole of a multiprocessor's shared memory, or leave the choice to the driver.  It is
 * only a preference of the kernel for its later launches: where it is refused, they still run.
 */
static void
ask_for_shared(CudaDevice *dev, GcKernel *kernel, bool whole)
{
	if (whole == kernel->whole_shared)
		return;
	(void) gc_cuda_check(dev, dev->api.function_set(kernel->handle, GC_CU_FUNC_SHARED_CARVEOUT, whole ? 100 : -1),
						 "cuFuncSetAttribute", NULL);
	kernel->whole_shared = whole;
}

/*
 * The parameter goes by address (kernelParams), not as a buffer with a size
 * (CU_LAUNCH_PARAM_BUFFER_*).  Given a buffer, the driver demands a size equal to
 * what the kernel declares, to the byte and without tail padding.  (NVIDIA does
 * not document it; see github.com/llvm/llvm-project/pull/172249.)  The call that
 * tells that size, cuFuncGetParamInfo, only came with 12.4.  Given an address, it
 * copies as many bytes as the kernel's image declares, before the call returns.
 * args is a whole GcArgs, so a kernel may declare any number of words up to
 * GC_MAX_ARG_WORDS.  Only the words it declares travel.
 */
static GcCode
cuda_launch(GcStream *stream, GcKernel *kernel, const GcLaunch *launch,
			const GcArgs *args, int args_words, GcError *err)
{
	CudaDevice *dev = stream->dev;
	void	   *params[1];

	if (dev->lost)
		return lost(dev, err);
	if (args_words < 0 || args_words > GC_MAX_ARG_WORDS)
		return gc_fail(err, GC_BAD_PROGRAM, "A kernel cannot have %d argument words.", args_words);
	if (launch->blocks == 0)
		return GC_OK;
	ask_for_shared(dev, kernel, launch->whole_shared);
	params[0] = (void *) args;
	return gc_cuda_check(dev, dev->api.launch(kernel->handle, launch->blocks, 1, 1,
											  launch->threads, 1, 1, launch->shared_bytes,
											  stream->handle, params, NULL),
						 "cuLaunchKernel", err);
}

/*
 * As cuda_launch: the driver copies as many bytes as the kernel's image declares, which is never more than the buffer.
 */
static GcCode
cuda_launch_gang(GcStream *stream, GcKernel *kernel, const GcLaunch *launch,
				 const GcGangMember *members, int n, int args_words, GcError *err)
{
	CudaDevice *dev = stream->dev;
	const size_t size = sizeof(GcScan) + (size_t) (args_words > 0 ? args_words : 1) * sizeof(u64);
	u64			gang[GC_GANG_BYTES / sizeof(u64)];
	u32		   *end = (u32 *) gang;
	char	   *args = (char *) gang + GC_GANG_MOST * sizeof(u32);
	void	   *params[1] = {gang};
	u32			blocks = 0;

	if (dev->lost)
		return lost(dev, err);
	if (args_words < 0 || args_words > GC_MAX_ARG_WORDS || n > GC_GANG_MOST || (size_t) n > GC_GANG_MEMBERS(args_words))
		return gc_fail(err, GC_BAD_PROGRAM, "A gang launch cannot have %d members with %d argument words.", n,
					   args_words);
	for (int m = 0; m < n; m++)
	{
		blocks += members[m].blocks;
		end[m] = blocks;
		memcpy(args + m * size, members[m].args, size);
	}
	for (int m = n; m < GC_GANG_MOST; m++)
		end[m] = ~0u;
	if (blocks == 0)
		return GC_OK;
	ask_for_shared(dev, kernel, launch->whole_shared);
	return gc_cuda_check(dev, dev->api.launch(kernel->handle, blocks, 1, 1, launch->threads, 1, 1,
											  launch->shared_bytes, stream->handle, params, NULL),
						 "cuLaunchKernel", err);
}

/* ---------- events ---------- */

/*
 * While a word is not written, the stream is asked for errors once in this many looks at the word.
 * (The worker looks once in a millisecond when it has waited for long.)
 */
#define WORD_LOOKS	1024

/* An event, which the device keeps in a list to destroy it at the end.  NULL: err set. */
static GcEvent *
new_event(CudaDevice *dev, bool timed, GcError *err)
{
	GcEvent	   *event = calloc(1, sizeof(GcEvent));

	if (event == NULL)
	{
		gc_fail(err, GC_HOST_MEMORY, "Out of memory for a event.");
		return NULL;
	}
	if (gc_cuda_check(dev, dev->api.event_create(&event->handle, timed ? GC_CU_EVENT_DEFAULT : GC_CU_EVENT_UNTIMED),
					  "cuEventCreate", err) != GC_OK)
	{
		free(event);
		return NULL;
	}
	event->dev = dev;
	event->timed = timed;
	event->next = dev->events;
	dev->events = event;
	return event;
}

/* Events with and without times are kept apart, for the next one who asks. */
static void
cuda_event_put(GcDevice *base, GcEvent *event)
{
	CudaDevice *dev = (CudaDevice *) base;

	event->next_free = dev->free_events[event->timed];
	dev->free_events[event->timed] = event;
}

/* An event that is in no stream yet, or NULL. */
static GcEvent *
take_event(CudaDevice *dev, bool timed, GcError *err)
{
	GcEvent	   *event = dev->free_events[timed];

	if (dev->lost)
	{
		lost(dev, err);
		return NULL;
	}
	if (event == NULL)
		return new_event(dev, timed, err);
	dev->free_events[timed] = event->next_free;
	event->word = NULL;
	return event;
}

/* Put a taken event behind the queued work. */
static GcEvent *
record_event(GcStream *stream, GcEvent *event, GcError *err)
{
	CudaDevice *dev = stream->dev;

	if (event == NULL ||
		gc_cuda_check(dev, dev->api.event_record(event->handle, stream->handle), "cuEventRecord", err) == GC_OK)
		return event;
	cuda_event_put(&dev->base, event);
	return NULL;
}

/* An event behind all that is queued; its time cannot be asked for, so that it is cheaper. */
static GcEvent *
cuda_event(GcStream *stream, GcError *err)
{
	return record_event(stream, take_event(stream->dev, false, err), err);
}

/* An event behind all that is queued, for cuda_event_ms(). */
static GcEvent *
cuda_event_timed(GcStream *stream, GcError *err)
{
	return record_event(stream, take_event(stream->dev, true, err), err);
}

/* The event is done once the word on the host is not 0. */
static void
look_at(GcEvent *event, GcStream *stream, const u32 *word)
{
	event->word = word;
	event->stream = stream;
	event->looks = 0;
}

/* An event that is asked for without the driver: the stream itself writes the word.  Where it cannot, a plain one. */
static GcEvent *
cuda_event_word(GcStream *stream, u32 *word, GcError *err)
{
	CudaDevice *dev = stream->dev;
	GcEvent	   *event = take_event(dev, false, err);

	if (event == NULL || !dev->base.info.host_pointers ||
		gc_cuda_check(dev, dev->api.stream_write(stream->handle, (CuPtr) word, 1, 0), "cuStreamWriteValue32", NULL) != GC_OK)
		return record_event(stream, event, err);	/* the memory may not be page-locked */
	look_at(event, stream, word);
	return event;
}

/* An event for a word that a kernel writes; nothing is queued. */
static GcEvent *
cuda_event_written(GcStream *stream, const u32 *word, GcError *err)
{
	GcEvent	   *event = take_event(stream->dev, false, err);

	if (event == NULL)
		return NULL;
	look_at(event, stream, word);
	return event;
}

/* An error of the stream is found by a driver's call, which is made for one in WORD_LOOKS looks at a word. */
static GcCode
cuda_event_done(GcEvent *event, bool *done, GcError *err)
{
	CudaDevice *dev = event->dev;
	CuResult	result;

	*done = false;
	if (dev->lost)
		return lost(dev, err);
	if (event->word != NULL)
	{
		/* Acquire: work of the stream before the write is then visible, too. */
		*done = __atomic_load_n(event->word, __ATOMIC_ACQUIRE) != 0;
		if (*done || ++event->looks % WORD_LOOKS != 0)
			return GC_OK;
		result = dev->api.stream_query(event->stream->handle);
	}
	else
		result = dev->api.event_query(event->handle);
	if (result == GC_CU_NOT_READY)
		return GC_OK;
	*done = result == GC_CU_OK;
	return gc_cuda_check(dev, result, event->word ? "cuStreamQuery" : "cuEventQuery", err);
}

/* Wait for a plain event, with the thread blocked.  Others are only asked (cuda_event_done). */
static GcCode
cuda_event_wait(GcEvent *event, GcError *err)
{
	CudaDevice *dev = event->dev;

	if (dev->lost)
		return lost(dev, err);
	return gc_cuda_check(dev, dev->api.event_synchronize(event->handle), "cuEventSynchronize", err);
}

/* Milliseconds on the device between two timed events that are done; 0: not known. */
static float
cuda_event_ms(GcEvent *from, GcEvent *to)
{
	CudaDevice *dev = from->dev;
	float		ms = 0;

	if (dev->lost ||
		gc_cuda_check(dev, dev->api.event_elapsed(&ms, from->handle, to->handle),
					  "cuEventElapsedTime", NULL) != GC_OK)
		return 0;
	return ms;
}

/* Have work that is queued from now on wait for another stream's event. */
static GcCode
cuda_stream_wait(GcStream *stream, GcEvent *event, GcError *err)
{
	CudaDevice *dev = stream->dev;

	if (dev->lost)
		return lost(dev, err);
	return gc_cuda_check(dev, dev->api.stream_wait(stream->handle, event->handle, 0),
						 "cuStreamWaitEvent", err);
}

/*
 * Wait for all streams.  An error of any kernel shows here.  The driver is asked of a lost device, too: memory is given
 * to others next, and only the driver knows if something still runs.
 */
static GcCode
cuda_drain(GcDevice *base, GcError *err)
{
	CudaDevice *dev = (CudaDevice *) base;
	const CuResult result = dev->api.context_synchronize();

	if (dev->lost)
		return lost(dev, err);
	return gc_cuda_check(dev, result, "cuCtxSynchronize", err);
}

/* ---------- modules and kernels ---------- */

/* Compile on a thread of the kernel cache: NVRTC needs no context. */
static GcCode
cuda_compile(GcDevice *base, const char *source, GcCompileEffort effort, GcImage *image, GcError *err)
{
	CudaDevice *dev = (CudaDevice *) base;

	return gc_compilers_compile(dev->nvrtc, dev->driver_major, dev->base.info.arch, source, effort, image, err);
}

/*
 * The log says why the driver could not finish the compilation of PTX; for a
 * cubin it stays empty.
 */
static CuResult
load_image(CudaDevice *dev, const GcImage *image, CuModule *handle, char *log, size_t log_size)
{
	unsigned int options[] = {GC_CU_JIT_ERROR_LOG, GC_CU_JIT_ERROR_LOG_SIZE};
	void	   *values[] = {log, (void *) log_size};
	sigset_t	saved;
	CuResult	result;

	gc_cuda_block_signals(&saved);
	result = dev->api.module_load(handle, image->bytes, LENGTH(options), options, values);
	gc_cuda_restore_signals(&saved);
	log[log_size - 1] = '\0';
	return result;
}

/* An image that does not load says nothing about the device, unless it is lost. */
static GcCode
blame_image(const CudaDevice *dev, GcCode code, GcError *err)
{
	if (code != GC_DEVICE_FAILED || dev->lost)
		return code;
	if (err != NULL)
		err->code = GC_COMPILE_FAILED;
	return GC_COMPILE_FAILED;
}

/* Load an image into the context.  A failure may be the image's own, and not the device's (blame_image). */
static GcCode
cuda_module_load(GcDevice *base, const GcImage *image, GcModule **out, GcError *err)
{
	CudaDevice *dev = (CudaDevice *) base;
	GcModule   *module;
	char		log[256] = "";
	CuResult	result;
	GcCode		code;

	*out = NULL;
	if (dev->lost)
		return lost(dev, err);
	module = calloc(1, sizeof(GcModule));
	if (module == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for a module.");
	module->dev = dev;
	result = load_image(dev, image, &module->handle, log, sizeof(log));
	code = gc_cuda_check(dev, result, "cuModuleLoadDataEx", err);
	if (code != GC_OK)
	{
		free(module);
		if (log[0] != '\0')
			gc_fail(err, code, "cuModuleLoadDataEx failed: %s (%.*s).",
					gc_cuda_error_text(dev, result), (int) strcspn(log, "\n"), log);
		return blame_image(dev, code, err);
	}
	module->next = dev->modules;
	module->link = &dev->modules;
	if (module->next != NULL)
		module->next->link = &module->next;
	dev->modules = module;
	*out = module;
	return GC_OK;
}

/* No kernel of the module is running; its kernels are freed with it. */
static void
cuda_module_unload(GcDevice *base, GcModule *module)
{
	CudaDevice *dev = (CudaDevice *) base;

	*module->link = module->next;
	if (module->next != NULL)
		module->next->link = module->link;
	while (module->kernels != NULL)
	{
		GcKernel   *kernel = module->kernels;

		module->kernels = kernel->next;
		free(kernel);
	}
	if (!dev->lost)
		(void) gc_cuda_check(dev, dev->api.module_unload(module->handle), "cuModuleUnload", NULL);
	free(module);
}

/*
 * Ask about the kernel and let it have as much dynamic shared memory as a block
 * may opt in to.  Without that, a launch with more than 48 KB fails.  This is a
 * permission, it reserves nothing.
 */
static GcCode
prepare_kernel(CudaDevice *dev, CuFunction function, GcKernelInfo *info, GcError *err)
{
	const struct
	{
		unsigned int which;
		int		   *value;
	}			wanted[] = {
		{GC_CU_FUNC_REGISTERS, &info->registers},
		{GC_CU_FUNC_SHARED_STATIC, &info->shared_static},
		{GC_CU_FUNC_LOCAL_BYTES, &info->local_bytes},
		{GC_CU_FUNC_MAX_THREADS, &info->max_threads},
	};
	int			dynamic;

	for (int i = 0; i < LENGTH(wanted); i++)
	{
		GcCode		code = gc_cuda_check(dev, dev->api.function_get(wanted[i].value, wanted[i].which,
																	function),
										 "cuFuncGetAttribute", err);

		if (code != GC_OK)
			return code;
	}
	dynamic = dev->base.info.shared_per_block - info->shared_static;
	if (dynamic <= 0)
		return GC_OK;
	return gc_cuda_check(dev, dev->api.function_set(function, GC_CU_FUNC_MAX_DYNAMIC_SHARED, dynamic),
						 "cuFuncSetAttribute", err);
}

/* A function of the module, prepared for as much shared memory as the device has.  *info: its registers and memory. */
static GcCode
cuda_kernel_get(GcModule *module, const char *name, GcKernel **out, GcKernelInfo *info,
				GcError *err)
{
	CudaDevice *dev = module->dev;
	GcKernel   *kernel;
	sigset_t	saved;
	GcCode		code;

	*out = NULL;
	if (dev->lost)
		return lost(dev, err);
	kernel = calloc(1, sizeof(GcKernel));
	if (kernel == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for a kernel.");
	kernel->dev = dev;
	gc_cuda_block_signals(&saved);
	code = gc_cuda_check(dev, dev->api.module_function(&kernel->handle, module->handle, name),
						 "cuModuleGetFunction", err);
	if (code == GC_OK)
		code = prepare_kernel(dev, kernel->handle, info, err);
	gc_cuda_restore_signals(&saved);
	if (code != GC_OK)
	{
		free(kernel);
		return blame_image(dev, code, err);
	}
	kernel->next = module->kernels;
	module->kernels = kernel;
	*out = kernel;
	return GC_OK;
}

/* Blocks of this size that a multiprocessor can hold, as the driver says; 0: not known. */
static int
cuda_occupancy(GcKernel *kernel, u32 threads, u32 shared_bytes)
{
	CudaDevice *dev = kernel->dev;
	int			blocks = 0;

	if (dev->lost ||
		gc_cuda_check(dev, dev->api.occupancy(&blocks, kernel->handle, (int) threads, shared_bytes),
					  "cuOccupancyMaxActiveBlocksPerMultiprocessor", NULL) != GC_OK)
		return 0;
	return blocks;
}

static GcCode
cuda_open(GcDevice **out, const GcDeviceOptions *options, GcError *err)
{
	return gc_cuda_open(out, &gc_cuda_ops, options, err);
}

const GcDeviceOps gc_cuda_ops = {
	.name = "cuda",
	.open = cuda_open,
	.close = gc_cuda_close,
	.pool = cuda_pool,
	.pin = cuda_pin,
	.unpin = cuda_unpin,
	.stream_get = cuda_stream_get,
	.stream_put = cuda_stream_put,
	.copy_in = cuda_copy_in,
	.copy_out = cuda_copy_out,
	.copy = cuda_copy,
	.fill = cuda_fill,
	.launch = cuda_launch,
	.launch_gang = cuda_launch_gang,
	.event = cuda_event,
	.event_timed = cuda_event_timed,
	.event_word = cuda_event_word,
	.event_written = cuda_event_written,
	.event_done = cuda_event_done,
	.event_wait = cuda_event_wait,
	.event_ms = cuda_event_ms,
	.event_put = cuda_event_put,
	.stream_wait = cuda_stream_wait,
	.compile = cuda_compile,
	.module_load = cuda_module_load,
	.module_unload = cuda_module_unload,
	.kernel_get = cuda_kernel_get,
	.occupancy = cuda_occupancy,
	.drain = cuda_drain,
};
