/*-------------------------------------------------------------------------
 *
 * cuda_open.c
 *	  Device "cuda": finding and taking a GPU, and giving it back.
 *
 * Process and threads: the worker process, its main thread.  One thread of
 * ours makes a throw-away compilation after open(), since NVRTC's first takes
 * long; it is joined at close().  The driver starts threads of its own inside
 * some calls.  These must not receive the server's signals.  So open(), and the
 * few later calls that may start some, run with all signals blocked, which
 * threads inherit.
 *
 * Ownership: the device owns its context, pool, streams, events and the modules that are
 * left.  close() destroys them, also where open() failed half way.
 *
 *-------------------------------------------------------------------------
 */
#include "cuda_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynlib.h"

#define LENGTH(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define MEGABYTE			((u64) 1 << 20)
#define POOL_SMALLEST		(64 * MEGABYTE)
#define POOL_GRANULE		(2 * MEGABYTE)	/* the driver's own page size */
#define COMPILE_STACK		(16 * MEGABYTE)

static const GcDynSymbol cuda_symbols[] = {
#define CUDA_SYMBOL(field, symbol, params) {#symbol, offsetof(CudaApi, field)},
	GC_CUDA_SYMBOLS(CUDA_SYMBOL)
#undef CUDA_SYMBOL
};

/* ---------- errors and signals ---------- */

const char *
gc_cuda_error_text(CudaDevice *dev, CuResult result)
{
	const char *text = NULL;

	if (dev->api.error_string(result, &text) == GC_CU_OK && text != NULL)
		return text;
	snprintf(dev->nameless, sizeof(dev->nameless), "error %u", result);
	return dev->nameless;
}

/* Does this result mean that the context, or the GPU, is gone for good? */
static bool
is_sticky(CuResult result)
{
	switch (result)
	{
		case GC_CU_DEINITIALIZED:
		case GC_CU_DEVICE_UNAVAILABLE:
		case GC_CU_ECC_UNCORRECTABLE:
		case GC_CU_NVLINK_UNCORRECTABLE:
		case GC_CU_CONTAINED:
		case GC_CU_ILLEGAL_ADDRESS:
		case GC_CU_LAUNCH_TIMEOUT:
		case GC_CU_CONTEXT_IS_DESTROYED:
		case GC_CU_ASSERT:
		case GC_CU_HARDWARE_STACK_ERROR:
		case GC_CU_ILLEGAL_INSTRUCTION:
		case GC_CU_MISALIGNED_ADDRESS:
		case GC_CU_INVALID_ADDRESS_SPACE:
		case GC_CU_INVALID_PC:
		case GC_CU_LAUNCH_FAILED:
		case GC_CU_TENSOR_MEMORY_LEAK:
		case GC_CU_MPS_CLIENT_TERMINATED:
		case GC_CU_EXTERNAL_DEVICE:
		case GC_CU_UNKNOWN:
			return true;
		default:
			return false;
	}
}

GcCode
gc_cuda_check(CudaDevice *dev, CuResult result, const char *call, GcError *err)
{
	GcCode		code = result == GC_CU_OUT_OF_MEMORY ? GC_DEVICE_MEMORY : GC_DEVICE_FAILED;

	if (result == GC_CU_OK)
		return GC_OK;
	if (is_sticky(result) && !dev->lost)
	{
		dev->lost = true;
		snprintf(dev->lost_detail, sizeof(dev->lost_detail), "%s failed: %s.",
				 call, gc_cuda_error_text(dev, result));
	}
	return gc_fail(err, code, "%s failed: %s.", call, gc_cuda_error_text(dev, result));
}

/* gc_cuda_check() while we are still looking for a device.  One that another process has now is no other device. */
static GcCode
check_probe(CudaDevice *dev, CuResult result, const char *call, GcError *err)
{
	const GcCode code = result == GC_CU_DEVICE_UNAVAILABLE ? GC_DEVICE_FAILED :
		result == GC_CU_OUT_OF_MEMORY ? GC_DEVICE_MEMORY : GC_NO_DEVICE;

	if (result == GC_CU_OK)
		return GC_OK;
	return gc_fail(err, code, "%s failed: %s.", call, gc_cuda_error_text(dev, result));
}

void
gc_cuda_block_signals(sigset_t *saved)
{
	sigset_t	all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, saved);
}

void
gc_cuda_restore_signals(const sigset_t *saved)
{
	pthread_sigmask(SIG_SETMASK, saved, NULL);
}

/* ---------- open and close ---------- */

/* Find the driver library and its functions.  GC_NO_DEVICE says which package to install. */
static GcCode
open_driver(CudaDevice *dev, GcError *err)
{
	void	   *library = gc_dynlib_open("libcuda.so.1");
	const char *missing;
	int			version;
	GcCode		code;

	if (library == NULL)
		return gc_fail(err, GC_NO_DEVICE, "The CUDA driver library (libcuda.so.1) was not found. "
					   "Install NVIDIA's driver, which is package libcuda1 of Debian or cuda-drivers of NVIDIA.");
	missing = gc_dynlib_resolve(library, cuda_symbols, LENGTH(cuda_symbols), &dev->api);
	if (missing != NULL)
		return gc_fail(err, GC_NO_DEVICE,
					   "The CUDA driver is too old: it has no function %s. Install one that knows CUDA 12.", missing);
	code = check_probe(dev, dev->api.init(0), "cuInit", err);
	if (code == GC_OK)
		code = check_probe(dev, dev->api.driver_version(&version), "cuDriverGetVersion", err);
	if (code == GC_OK)
		dev->driver_major = version / 1000;
	return code;
}

/*
 * The GPU with this ordinal becomes the device's.  Its UUID, in hexadecimal, goes into info.card; its ordinal where the
 * driver does not tell that.
 */
static GcCode
get_gpu(CudaDevice *dev, int ordinal, GcError *err)
{
	char	   *card = dev->base.info.card;
	unsigned char uuid[16];
	const GcCode code = check_probe(dev, dev->api.device_get(&dev->handle, ordinal), "cuDeviceGet", err);

	if (code != GC_OK)
		return code;
	if (dev->api.device_uuid((struct CUuuid_st *) uuid, dev->handle) != GC_CU_OK)
	{
		snprintf(card, sizeof(dev->base.info.card), "cuda:%d", ordinal);
		return GC_OK;
	}
	for (int i = 0; i < (int) sizeof(uuid); i++)
		card += sprintf(card, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
	return GC_OK;
}

/* The GPU by its UUID, or by its ordinal where no UUID is named. */
static GcCode
choose_gpu(CudaDevice *dev, const GcDeviceOptions *options, GcError *err)
{
	const bool	by_uuid = options->uuid != NULL && options->uuid[0] != '\0';
	int			count = 0;
	int			found = by_uuid ? -1 : options->ordinal;
	GcCode		code;

	code = check_probe(dev, dev->api.device_count(&count), "cuDeviceGetCount", err);
	/* One that cannot be had is another's concern. */
	for (int i = 0; by_uuid && found < 0 && code == GC_OK && i < count; i++)
	{
		if (get_gpu(dev, i, NULL) == GC_OK && strcmp(dev->base.info.card, options->uuid) == 0)
			found = i;
	}
	if (code != GC_OK)
		return code;
	if (by_uuid && found < 0)
		return gc_fail(err, GC_NO_DEVICE, "There is no GPU with the UUID %s; the CUDA driver reports %d GPUs.",
					   options->uuid, count);
	if (found < 0 || found >= count)
		return gc_fail(err, GC_NO_DEVICE, "There is no GPU %d; the CUDA driver reports %d.",
					   found, count);
	code = get_gpu(dev, found, err);
	if (code == GC_OK && options->claim != NULL && !options->claim(dev->base.info.card))
		return gc_fail(err, GC_NO_DEVICE, "Another worker has GPU %d.", found);
	return code;
}

/* A device attribute; 0, which means unknown, where this driver has it not. */
static int
attribute(CudaDevice *dev, unsigned int which)
{
	int			value = 0;

	if (dev->api.device_attribute(&value, which, dev->handle) != GC_CU_OK)
		return 0;
	return value;
}

/* Fill in the GPU's properties for planner, scheduler and kernels. */
static GcCode
describe_gpu(CudaDevice *dev, GcError *err)
{
	GcDeviceInfo *info = &dev->base.info;
	size_t		total = 0;
	GcCode		code;

	code = check_probe(dev, dev->api.device_name(info->name, sizeof(info->name), dev->handle),
					   "cuDeviceGetName", err);
	if (code == GC_OK)
		code = check_probe(dev, dev->api.device_memory(&total, dev->handle),
						   "cuDeviceTotalMem", err);
	if (code != GC_OK)
		return code;
	info->total_bytes = total;
	info->sms = attribute(dev, GC_CU_DEV_SM_COUNT);
	info->warp_size = attribute(dev, GC_CU_DEV_WARP_SIZE);
	if (info->sms < 1 || info->warp_size < 1)
		return gc_fail(err, GC_NO_DEVICE, "The CUDA driver does not describe its GPU.");
	info->max_warps = attribute(dev, GC_CU_DEV_THREADS_PER_SM) / info->warp_size;
	info->max_blocks = attribute(dev, GC_CU_DEV_BLOCKS_PER_SM);
	info->registers = attribute(dev, GC_CU_DEV_REGISTERS_PER_SM);
	info->shared_per_sm = attribute(dev, GC_CU_DEV_SHARED_PER_SM);
	info->shared_per_block = attribute(dev, GC_CU_DEV_SHARED_PER_BLOCK_OPTIN);
	info->shared_reserved = attribute(dev, GC_CU_DEV_SHARED_RESERVED);
	info->l2_bytes = (u64) attribute(dev, GC_CU_DEV_L2_SIZE);
	info->host_pointers = attribute(dev, GC_CU_DEV_HOST_POINTERS) != 0;
	info->quick_compile = info->own_processors = true;
	info->arch = 10 * attribute(dev, GC_CU_DEV_ARCH_MAJOR) + attribute(dev, GC_CU_DEV_ARCH_MINOR);
	return GC_OK;
}

/* Find an NVRTC, the driver's if possible, and the architecture that it compiles for this GPU. */
static GcCode
open_compiler(CudaDevice *dev, GcError *err)
{
	GcDeviceInfo *info = &dev->base.info;

	dev->nvrtc = gc_nvrtc_open(dev->driver_major, err);
	if (dev->nvrtc == NULL)
		return GC_NO_COMPILER;
	return gc_nvrtc_target(dev->nvrtc, info->arch, info->target, sizeof(info->target), err);
}

/*
 * Threads that wait for the GPU sleep rather than spin: the server's CPUs have
 * other work.  The flag is only a preference, so its failure is not looked at.
 */
static GcCode
open_context(CudaDevice *dev, GcError *err)
{
	CuContext	context;
	GcCode		code;

	(void) dev->api.context_flags(dev->handle, GC_CU_CTX_BLOCKING_SYNC);
	code = check_probe(dev, dev->api.context_retain(&context, dev->handle),
					   "cuDevicePrimaryCtxRetain", err);
	if (code != GC_OK)
		return code;
	dev->context = context;
	return check_probe(dev, dev->api.context_set(context), "cuCtxSetCurrent", err);
}

/*
 * Take the pool: as large as the options say, or 85 % of the free memory, since the driver itself needs some.  If that
 * cannot be had, less and less.
 */
static GcCode
take_pool(CudaDevice *dev, u64 limit, GcError *err)
{
	size_t		free_bytes = 0;
	size_t		total = 0;
	u64			automatic;
	u64			size;
	CuResult	result;
	GcCode		code;

	code = gc_cuda_check(dev, dev->api.memory_info(&free_bytes, &total), "cuMemGetInfo", err);
	if (code != GC_OK)
		return code;
	automatic = (u64) free_bytes / 100 * 85;
	size = limit != 0 ? limit : automatic;
	for (;;)
	{
		if (size > POOL_GRANULE)
			size -= size % POOL_GRANULE;
		result = size == 0 ? GC_CU_OUT_OF_MEMORY : dev->api.memory_alloc(&dev->pool, size);
		if (result != GC_CU_OUT_OF_MEMORY)
			break;
		size = size > automatic ? automatic : size / 2;
		if (size < POOL_SMALLEST)
			return gc_fail(err, GC_DEVICE_MEMORY,
						   "cuMemAlloc failed: of %llu MB of device memory, %llu MB are free.",
						   (unsigned long long) (total / MEGABYTE),
						   (unsigned long long) (free_bytes / MEGABYTE));
	}
	code = gc_cuda_check(dev, result, "cuMemAlloc", err);
	if (code == GC_OK)
		dev->base.info.memory_bytes = dev->pool_size = size;
	else
		dev->pool = 0;
	return code;
}

/* A thread's: compile something small, since NVRTC's first compilation takes longer than others. */
static void *
warm_up(void *arg)
{
	const char *const source = "extern \"C\" __global__ void gc_kernel(unsigned long long *p)\n"
		"{ p[threadIdx.x] += 1; }\n";
	CudaDevice *dev = arg;
	GcImage		image = {NULL, 0};

	if (gc_compilers_count() > 0)
		gc_compilers_warm_up(dev->driver_major, dev->base.info.arch, source);
	else if (gc_nvrtc_compile(dev->nvrtc, dev->base.info.arch, source, GC_COMPILE_FULL, &image, NULL, NULL) == GC_OK)
		free(image.bytes);
	return NULL;
}

/* NVRTC's first compilation takes 0.35 s; do it before a query comes. */
static void
start_warm_up(CudaDevice *dev)
{
	pthread_attr_t attr;

	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, COMPILE_STACK);
	dev->warming = pthread_create(&dev->warmup, &attr, warm_up, dev) == 0;
	pthread_attr_destroy(&attr);
}

void
gc_cuda_close(GcDevice *base)
{
	CudaDevice *dev = (CudaDevice *) base;

	if (dev->warming)
		pthread_join(dev->warmup, NULL);
	while (dev->modules != NULL)
		base->ops->module_unload(base, dev->modules);
	while (dev->events != NULL)
	{
		GcEvent	   *event = dev->events;

		dev->events = event->next;
		(void) dev->api.event_destroy(event->handle);
		free(event);
	}
	while (dev->streams != NULL)
	{
		GcStream   *stream = dev->streams;

		dev->streams = stream->next;
		(void) dev->api.stream_destroy(stream->handle);
		free(stream);
	}
	if (dev->pool != 0)
		(void) dev->api.memory_free(dev->pool);
	if (dev->context != NULL)
	{
		(void) dev->api.context_set(NULL);
		(void) dev->api.context_release(dev->handle);
	}
	free(dev);
}

/* All steps of opening, in order.  The caller undoes those that were made if one fails. */
static GcCode
open_steps(CudaDevice *dev, const GcDeviceOptions *options, GcError *err)
{
	GcCode		code;

	code = open_driver(dev, err);
	if (code == GC_OK)
		code = choose_gpu(dev, options, err);
	if (code == GC_OK)
		code = describe_gpu(dev, err);
	if (code == GC_OK)
		code = open_compiler(dev, err);
	if (code == GC_OK)
		code = open_context(dev, err);
	if (code == GC_OK)
		code = take_pool(dev, options->memory_limit, err);
	if (code == GC_OK)
		start_warm_up(dev);
	return code;
}

GcCode
gc_cuda_open(GcDevice **out, const GcDeviceOps *ops, const GcDeviceOptions *options, GcError *err)
{
	CudaDevice *dev = calloc(1, sizeof(CudaDevice));
	sigset_t	saved;
	GcCode		code;

	*out = NULL;
	if (dev == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for device cuda.");
	dev->base.ops = ops;

	/*
	 * The driver maps streams onto hardware queues, 8 of them unless told, and
	 * streams that share a queue wait for one another.
	 */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);

	gc_cuda_block_signals(&saved);
	code = open_steps(dev, options, err);
	if (code != GC_OK)
		gc_cuda_close(&dev->base);
	else
		*out = &dev->base;
	gc_cuda_restore_signals(&saved);
	return code;
}
