/*-------------------------------------------------------------------------
 *
 * fake_cuda.c
 *	  A CUDA driver that only pretends: built as libcuda.so.1, it lets
 *	  fake_cuda_test exercise cuda.c where there is no GPU.
 *
 * Memory is the process's own, everything is done at once, kernels are not
 * run.  Any call can be made to fail, by its number.  Objects are counted, so
 * that what is not given back is seen; so are calls in which a real driver may
 * start threads and that come without all signals blocked.
 *
 * In a server's worker no test can set what fails.  There FAKE_CUDA_FAIL does: FUNCTION=RESULT, for the function's first
 * call in each process; with FAKE_CUDA_WHILE, while there is a file of that name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "fake_cuda.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROTOTYPE(field, symbol, params) extern CuResult symbol params;
GC_CUDA_SYMBOLS(PROTOTYPE)
#undef PROTOTYPE

#define INVALID_VALUE	1
#define INVALID_IMAGE	200
#define ALIGNMENT		512

extern FakeCuda fake_cuda;
FakeCuda	fake_cuda = {.free_bytes = (size_t) 1 << 30, .arch = 90};

/* Every call begins here; what it returns is to be returned unless it is 0. */
static CuResult
enter(const char *name)
{
	static bool failed = false;
	const char *wanted = failed ? NULL : getenv("FAKE_CUDA_FAIL");
	const char *file = getenv("FAKE_CUDA_WHILE");
	const size_t length = strlen(name);

	if (wanted != NULL && strncmp(wanted, name, length) == 0 && wanted[length] == '=' && (file == NULL || access(file, F_OK) == 0))
	{
		failed = true;
		return (CuResult) atoi(wanted + length + 1);
	}
	if (++fake_cuda.calls != fake_cuda.fail_at)
		return GC_CU_OK;
	snprintf(fake_cuda.failed, sizeof(fake_cuda.failed), "%s", name);
	return fake_cuda.fail_with;
}

#define ENTER() \
	do { \
		CuResult	entered = enter(__func__); \
		if (entered != GC_CU_OK) \
			return entered; \
	} while (0)

/* A real driver may start a thread here, which inherits the signal mask. */
static void
want_blocked(void)
{
	sigset_t	mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	if (!sigismember(&mask, SIGTERM) || !sigismember(&mask, SIGUSR1) || !sigismember(&mask, SIGURG))
		fake_cuda.unblocked++;
}

CuResult
cuInit(unsigned int flags)
{
	ENTER();
	want_blocked();
	return flags == 0 && getenv("CUDA_DEVICE_MAX_CONNECTIONS") != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDriverGetVersion(int *version)
{
	ENTER();
	*version = 13000;
	return GC_CU_OK;
}

CuResult
cuGetErrorString(CuResult error, const char **text)
{
	*text = error == GC_CU_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" :
		error == GC_CU_OUT_OF_MEMORY ? "out of memory" : "something went wrong";
	return GC_CU_OK;
}

CuResult
cuDeviceGetCount(int *count)
{
	ENTER();
	*count = 1 + fake_cuda.bad_gpus;
	return GC_CU_OK;
}

CuResult
cuDeviceGet(CuDevice *device, int ordinal)
{
	ENTER();
	*device = 7;
	return ordinal == fake_cuda.bad_gpus ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDeviceGetUuid_v2(struct CUuuid_st *uuid, CuDevice device)
{
	ENTER();
	memset(uuid, 0xab, 16);
	return device == 7 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDeviceGetName(char *name, int size, CuDevice device)
{
	ENTER();
	snprintf(name, (size_t) size, "Fake GPU");
	return device == 7 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDeviceGetAttribute(int *value, unsigned int which, CuDevice device)
{
	ENTER();
	switch (which)
	{
		case GC_CU_DEV_WARP_SIZE:
			*value = 32;
			break;
		case GC_CU_DEV_SM_COUNT:
			*value = 132;
			break;
		case GC_CU_DEV_THREADS_PER_SM:
			*value = 2048;
			break;
		case GC_CU_DEV_SHARED_PER_SM:
			*value = 233472;
			break;
		case GC_CU_DEV_SHARED_PER_BLOCK_OPTIN:
			*value = 232448;
			break;
		case GC_CU_DEV_HOST_POINTERS:
			*value = !fake_cuda.no_host_pointers;
			break;
		case GC_CU_DEV_ARCH_MAJOR:
			*value = fake_cuda.arch / 10;
			break;
		case GC_CU_DEV_ARCH_MINOR:
			*value = fake_cuda.arch % 10;
			break;
		default:
			*value = (int) which;
	}
	return device == 7 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDeviceTotalMem_v2(size_t *bytes, CuDevice device)
{
	ENTER();
	*bytes = (size_t) 1 << 31;
	return device == 7 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDevicePrimaryCtxSetFlags_v2(CuDevice device, unsigned int flags)
{
	ENTER();
	return device == 7 && flags == GC_CU_CTX_BLOCKING_SYNC ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDevicePrimaryCtxRetain(CuContext *context, CuDevice device)
{
	ENTER();
	want_blocked();
	*context = (CuContext) &fake_cuda;
	fake_cuda.contexts++;
	return device == 7 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuDevicePrimaryCtxRelease_v2(CuDevice device)
{
	ENTER();
	fake_cuda.contexts--;
	return device == 7 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuCtxSetCurrent(CuContext context)
{
	ENTER();
	return context == NULL || context == (CuContext) &fake_cuda ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuCtxSynchronize(void)
{
	ENTER();
	return GC_CU_OK;
}

CuResult
cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	ENTER();
	*free_bytes = fake_cuda.free_bytes;
	*total = (size_t) 1 << 31;
	return GC_CU_OK;
}

/* Its size lies before it. */
CuResult
cuMemAlloc_v2(CuPtr *ptr, size_t size)
{
	char	   *memory;

	ENTER();
	if (size > fake_cuda.free_bytes)
		return GC_CU_OUT_OF_MEMORY;
	fake_cuda.alloc_size = size;
	fake_cuda.allocations++;
	fake_cuda.free_bytes -= size;
	memory = aligned_alloc(ALIGNMENT, ALIGNMENT + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	*(size_t *) memory = size;
	*ptr = (CuPtr) (size_t) (memory + ALIGNMENT);
	return GC_CU_OK;
}

CuResult
cuMemFree_v2(CuPtr ptr)
{
	char	   *memory = (char *) (size_t) ptr - ALIGNMENT;

	fake_cuda.free_bytes += *(size_t *) memory;
	free(memory);
	fake_cuda.allocations--;
	ENTER();
	return GC_CU_OK;
}

CuResult
cuMemHostRegister_v2(void *ptr, size_t size, unsigned int flags)
{
	ENTER();
	fake_cuda.registered++;
	return ptr != NULL && size > 0 && flags == GC_CU_REGISTER_PORTABLE ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuMemHostUnregister(void *ptr)
{
	fake_cuda.registered--;
	ENTER();
	return ptr != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuStreamCreate(CuStream *stream, unsigned int flags)
{
	ENTER();
	want_blocked();
	fake_cuda.stream_flags = flags;
	fake_cuda.streams++;
	*stream = malloc(1);
	return GC_CU_OK;
}

CuResult
cuStreamDestroy_v2(CuStream stream)
{
	free(stream);
	fake_cuda.streams--;
	ENTER();
	return GC_CU_OK;
}

CuResult
cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned int flags)
{
	ENTER();
	return stream != NULL && event != NULL && flags == 0 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuStreamQuery(CuStream stream)
{
	ENTER();
	fake_cuda.stream_queries++;
	if (fake_cuda.not_ready > 0)
	{
		fake_cuda.not_ready--;
		return GC_CU_NOT_READY;
	}
	return stream != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuStreamWriteValue32_v2(CuStream stream, CuPtr at, unsigned int value, unsigned int flags)
{
	ENTER();
	fake_cuda.word = (unsigned int *) (size_t) at;
	return stream != NULL && value != 0 && flags == 0 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuEventCreate(CuEvent *event, unsigned int flags)
{
	ENTER();
	fake_cuda.events++;
	*event = malloc(1);
	*(char *) *event = (char) flags;
	return flags == GC_CU_EVENT_DEFAULT || flags == GC_CU_EVENT_UNTIMED ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuEventDestroy_v2(CuEvent event)
{
	free(event);
	fake_cuda.events--;
	ENTER();
	return GC_CU_OK;
}

CuResult
cuEventRecord(CuEvent event, CuStream stream)
{
	ENTER();
	return event != NULL && stream != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuEventQuery(CuEvent event)
{
	ENTER();
	if (fake_cuda.not_ready > 0)
	{
		fake_cuda.not_ready--;
		return GC_CU_NOT_READY;
	}
	return event != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuEventSynchronize(CuEvent event)
{
	ENTER();
	return event != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuEventElapsedTime(float *ms, CuEvent from, CuEvent to)
{
	ENTER();
	if (from == NULL || to == NULL || *(char *) from != GC_CU_EVENT_DEFAULT || *(char *) to != GC_CU_EVENT_DEFAULT)
		return INVALID_VALUE;
	*ms = 1.5f;
	return GC_CU_OK;
}

CuResult
cuMemcpyHtoDAsync_v2(CuPtr dst, const void *src, size_t size, CuStream stream)
{
	ENTER();
	memcpy((void *) (size_t) dst, src, size);
	return stream != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuMemcpyDtoHAsync_v2(void *dst, CuPtr src, size_t size, CuStream stream)
{
	ENTER();
	memcpy(dst, (void *) (size_t) src, size);
	return stream != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuMemcpyDtoDAsync_v2(CuPtr dst, CuPtr src, size_t size, CuStream stream)
{
	ENTER();
	memcpy((void *) (size_t) dst, (void *) (size_t) src, size);
	return stream != NULL ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuMemsetD8Async(CuPtr dst, unsigned char byte, size_t size, CuStream stream)
{
	ENTER();
	memset((void *) (size_t) dst, byte, size);
	return stream != NULL ? GC_CU_OK : INVALID_VALUE;
}

/* A cubin is an ELF file; PTX is text that begins with a comment. */
CuResult
cuModuleLoadDataEx(CuModule *module, const void *image, unsigned int n, unsigned int *options,
				   void **values)
{
	ENTER();
	want_blocked();
	if (n != 2 || options[0] != GC_CU_JIT_ERROR_LOG || options[1] != GC_CU_JIT_ERROR_LOG_SIZE)
		return INVALID_VALUE;
	if (memcmp(image, "\177ELF", 4) != 0 && memcmp(image, "//", 2) != 0)
	{
		snprintf(values[0], (size_t) values[1], "what is this");
		return INVALID_IMAGE;
	}
	fake_cuda.modules++;
	*module = (CuModule) &fake_cuda;
	return GC_CU_OK;
}

CuResult
cuModuleUnload(CuModule module)
{
	fake_cuda.modules--;
	ENTER();
	return module == (CuModule) &fake_cuda ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuModuleGetFunction(CuFunction *function, CuModule module, const char *name)
{
	ENTER();
	want_blocked();
	*function = (CuFunction) &fake_cuda;
	return module != NULL && strcmp(name, "gc_kernel") == 0 ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuFuncGetAttribute(int *value, unsigned int which, CuFunction function)
{
	ENTER();
	*value = which == GC_CU_FUNC_SHARED_STATIC ? 1000 : (int) which + 10;
	return function == (CuFunction) &fake_cuda ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuFuncSetAttribute(CuFunction function, unsigned int which, int value)
{
	ENTER();
	if (which == GC_CU_FUNC_MAX_DYNAMIC_SHARED)
		fake_cuda.max_dynamic = value;
	else if (which == GC_CU_FUNC_SHARED_CARVEOUT && value >= -1 && value <= 100)
	{
		fake_cuda.carveout = value;
		fake_cuda.carveouts++;
	}
	else
		return INVALID_VALUE;
	return function == (CuFunction) &fake_cuda ? GC_CU_OK : INVALID_VALUE;
}

CuResult
cuLaunchKernel(CuFunction function, unsigned int grid, unsigned int grid_y, unsigned int grid_z,
			   unsigned int block, unsigned int block_y, unsigned int block_z,
			   unsigned int shared, CuStream stream, void **params, void **extra)
{
	ENTER();
	if (function != (CuFunction) &fake_cuda || stream == NULL || grid_y != 1 || grid_z != 1 ||
		block_y != 1 || block_z != 1 || extra != NULL)
		return INVALID_VALUE;
	fake_cuda.grid = grid;
	fake_cuda.block = block;
	fake_cuda.shared = shared;
	memcpy(&fake_cuda.args, params[0], sizeof(GcArgs));
	return GC_CU_OK;
}

CuResult
cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CuFunction function, int threads,
											size_t shared)
{
	ENTER();
	*blocks = shared > 1000 ? 1 : 2048 / threads;
	return function == (CuFunction) &fake_cuda ? GC_CU_OK : INVALID_VALUE;
}
