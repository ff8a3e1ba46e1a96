/*-------------------------------------------------------------------------
 *
 * cuda_api.h
 *	  The part of the CUDA driver API's binary interface that we use.
 *
 * Written by hand, so that the extension builds where no CUDA header is
 * installed.  The API never changes a symbol's signature: it adds a suffixed
 * symbol instead (_v2).  So the exact symbol is named here.  Where there is a
 * header of NVIDIA's own, tests/unit/abi_test.c compares every signature and
 * constant with it.  So names here are spelt differently from NVIDIA's, but
 * opaque types have the same struct tags.
 *
 * Oldest driver that has all of these symbols: CUDA 11.0.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CUDA_API_H
#define GC_CUDA_API_H

#include <stddef.h>

typedef unsigned int CuResult;	/* CUresult, an enum without negative values */
typedef int CuDevice;
typedef unsigned long long CuPtr;	/* CUdeviceptr */
struct CUuuid_st;				/* CUuuid: 16 bytes */
typedef struct CUctx_st *CuContext;
typedef struct CUmod_st *CuModule;
typedef struct CUfunc_st *CuFunction;
typedef struct CUstream_st *CuStream;
typedef struct CUevent_st *CuEvent;

/* CUresult */
#define GC_CU_OK						0
#define GC_CU_OUT_OF_MEMORY				2
#define GC_CU_DEINITIALIZED				4
#define GC_CU_DEVICE_UNAVAILABLE		46
#define GC_CU_ECC_UNCORRECTABLE			214
#define GC_CU_NVLINK_UNCORRECTABLE		220
#define GC_CU_CONTAINED					226
#define GC_CU_NOT_READY					600
#define GC_CU_ILLEGAL_ADDRESS			700
#define GC_CU_LAUNCH_TIMEOUT			702
#define GC_CU_CONTEXT_IS_DESTROYED		709
#define GC_CU_ASSERT					710
#define GC_CU_HARDWARE_STACK_ERROR		714
#define GC_CU_ILLEGAL_INSTRUCTION		715
#define GC_CU_MISALIGNED_ADDRESS		716
#define GC_CU_INVALID_ADDRESS_SPACE		717
#define GC_CU_INVALID_PC				718
#define GC_CU_LAUNCH_FAILED				719
#define GC_CU_TENSOR_MEMORY_LEAK		721
#define GC_CU_MPS_CLIENT_TERMINATED		810
#define GC_CU_EXTERNAL_DEVICE			911
#define GC_CU_UNKNOWN					999

/* CUdevice_attribute */
#define GC_CU_DEV_WARP_SIZE				10
#define GC_CU_DEV_SM_COUNT				16
#define GC_CU_DEV_L2_SIZE				38
#define GC_CU_DEV_THREADS_PER_SM		39
#define GC_CU_DEV_ARCH_MAJOR			75
#define GC_CU_DEV_ARCH_MINOR			76
#define GC_CU_DEV_SHARED_PER_SM			81
#define GC_CU_DEV_REGISTERS_PER_SM		82
#define GC_CU_DEV_HOST_POINTERS			91	/* can use those of registered memory */
#define GC_CU_DEV_SHARED_PER_BLOCK_OPTIN 97
#define GC_CU_DEV_BLOCKS_PER_SM			106
#define GC_CU_DEV_SHARED_RESERVED		111

/* CUfunction_attribute */
#define GC_CU_FUNC_MAX_THREADS			0
#define GC_CU_FUNC_SHARED_STATIC		1
#define GC_CU_FUNC_LOCAL_BYTES			3
#define GC_CU_FUNC_REGISTERS			4
#define GC_CU_FUNC_MAX_DYNAMIC_SHARED	8
#define GC_CU_FUNC_SHARED_CARVEOUT		9	/* percent of what a multiprocessor can have; -1: the
											 * driver's choice */

/* CUctx_flags, CUstream_flags, CUevent_flags, CUjit_option, CU_MEMHOSTREGISTER_* */
#define GC_CU_CTX_BLOCKING_SYNC			4
#define GC_CU_STREAM_NON_BLOCKING		1
#define GC_CU_EVENT_DEFAULT				0
#define GC_CU_EVENT_UNTIMED				2
#define GC_CU_JIT_ERROR_LOG				5
#define GC_CU_JIT_ERROR_LOG_SIZE		6
#define GC_CU_REGISTER_PORTABLE			1

/*
 * X(field, symbol, parameters): every function returns a CuResult.
 *
 * cuEventElapsedTime has a _v2 since 12.8, which reports errors of pending work
 * less eagerly.  We only ask about events that are done, so the function that
 * every driver has will do.
 */
#define GC_CUDA_SYMBOLS(X) \
	X(init, cuInit, (unsigned int)) \
	X(driver_version, cuDriverGetVersion, (int *)) \
	X(error_string, cuGetErrorString, (CuResult, const char **)) \
	X(device_count, cuDeviceGetCount, (int *)) \
	X(device_get, cuDeviceGet, (CuDevice *, int)) \
	X(device_name, cuDeviceGetName, (char *, int, CuDevice)) \
	X(device_uuid, cuDeviceGetUuid_v2, (struct CUuuid_st *, CuDevice)) \
	X(device_attribute, cuDeviceGetAttribute, (int *, unsigned int, CuDevice)) \
	X(device_memory, cuDeviceTotalMem_v2, (size_t *, CuDevice)) \
	X(context_flags, cuDevicePrimaryCtxSetFlags_v2, (CuDevice, unsigned int)) \
	X(context_retain, cuDevicePrimaryCtxRetain, (CuContext *, CuDevice)) \
	X(context_release, cuDevicePrimaryCtxRelease_v2, (CuDevice)) \
	X(context_set, cuCtxSetCurrent, (CuContext)) \
	X(context_synchronize, cuCtxSynchronize, (void)) \
	X(memory_info, cuMemGetInfo_v2, (size_t *, size_t *)) \
	X(memory_alloc, cuMemAlloc_v2, (CuPtr *, size_t)) \
	X(memory_free, cuMemFree_v2, (CuPtr)) \
	X(host_register, cuMemHostRegister_v2, (void *, size_t, unsigned int)) \
	X(host_unregister, cuMemHostUnregister, (void *)) \
	X(stream_create, cuStreamCreate, (CuStream *, unsigned int)) \
	X(stream_destroy, cuStreamDestroy_v2, (CuStream)) \
	X(stream_wait, cuStreamWaitEvent, (CuStream, CuEvent, unsigned int)) \
	X(stream_query, cuStreamQuery, (CuStream)) \
	X(stream_write, cuStreamWriteValue32_v2, (CuStream, CuPtr, unsigned int, unsigned int)) \
	X(event_create, cuEventCreate, (CuEvent *, unsigned int)) \
	X(event_destroy, cuEventDestroy_v2, (CuEvent)) \
	X(event_record, cuEventRecord, (CuEvent, CuStream)) \
	X(event_query, cuEventQuery, (CuEvent)) \
	X(event_synchronize, cuEventSynchronize, (CuEvent)) \
	X(event_elapsed, cuEventElapsedTime, (float *, CuEvent, CuEvent)) \
	X(copy_in, cuMemcpyHtoDAsync_v2, (CuPtr, const void *, size_t, CuStream)) \
	X(copy_out, cuMemcpyDtoHAsync_v2, (void *, CuPtr, size_t, CuStream)) \
	X(copy, cuMemcpyDtoDAsync_v2, (CuPtr, CuPtr, size_t, CuStream)) \
	X(fill, cuMemsetD8Async, (CuPtr, unsigned char, size_t, CuStream)) \
	X(module_load, cuModuleLoadDataEx, \
	  (CuModule *, const void *, unsigned int, unsigned int *, void **)) \
	X(module_unload, cuModuleUnload, (CuModule)) \
	X(module_function, cuModuleGetFunction, (CuFunction *, CuModule, const char *)) \
	X(function_get, cuFuncGetAttribute, (int *, unsigned int, CuFunction)) \
	X(function_set, cuFuncSetAttribute, (CuFunction, unsigned int, int)) \
	X(launch, cuLaunchKernel, \
	  (CuFunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
	   unsigned int, unsigned int, CuStream, void **, void **)) \
	X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, \
	  (int *, CuFunction, int, size_t))

typedef struct CudaApi
{
#define GC_CUDA_FIELD(field, symbol, params)	CuResult (*field) params;
	GC_CUDA_SYMBOLS(GC_CUDA_FIELD)
#undef GC_CUDA_FIELD
} CudaApi;

/*
 * NVRTC.  nvrtcResult is an enum without negative values; its error strings
 * come from the library.
 */
typedef unsigned int NvResult;
typedef struct _nvrtcProgram *NvProgram;

#define GC_NV_OK						0
#define GC_NV_OUT_OF_MEMORY				1
#define GC_NV_INVALID_OPTION			5
#define GC_NV_COMPILATION				6

/* X(field, symbol, return type, parameters) */
#define GC_NVRTC_SYMBOLS(X) \
	X(error_string, nvrtcGetErrorString, const char *, (NvResult)) \
	X(version, nvrtcVersion, NvResult, (int *, int *)) \
	X(num_archs, nvrtcGetNumSupportedArchs, NvResult, (int *)) \
	X(archs, nvrtcGetSupportedArchs, NvResult, (int *)) \
	X(create, nvrtcCreateProgram, NvResult, \
	  (NvProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
	X(destroy, nvrtcDestroyProgram, NvResult, (NvProgram *)) \
	X(compile, nvrtcCompileProgram, NvResult, (NvProgram, int, const char *const *)) \
	X(cubin_size, nvrtcGetCUBINSize, NvResult, (NvProgram, size_t *)) \
	X(cubin, nvrtcGetCUBIN, NvResult, (NvProgram, char *)) \
	X(ptx_size, nvrtcGetPTXSize, NvResult, (NvProgram, size_t *)) \
	X(ptx, nvrtcGetPTX, NvResult, (NvProgram, char *)) \
	X(log_size, nvrtcGetProgramLogSize, NvResult, (NvProgram, size_t *)) \
	X(log, nvrtcGetProgramLog, NvResult, (NvProgram, char *))

typedef struct NvrtcApi
{
#define GC_NVRTC_FIELD(field, symbol, type, params)	type (*field) params;
	GC_NVRTC_SYMBOLS(GC_NVRTC_FIELD)
#undef GC_NVRTC_FIELD
} NvrtcApi;

#endif							/* GC_CUDA_API_H */
