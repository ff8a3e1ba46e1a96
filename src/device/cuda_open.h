/*-------------------------------------------------------------------------
 *
 * cuda_open.h
 *	  Device "cuda": finding and taking a GPU, and giving it back.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CUDA_OPEN_H
#define GC_CUDA_OPEN_H

#include "cuda_internal.h"

/* Open a device with these operations. */
extern GcCode gc_cuda_open(GcDevice **out, const GcDeviceOps *ops, const GcDeviceOptions *options,
						   GcError *err);
extern void gc_cuda_close(GcDevice *dev);

/* Turn the result of a driver call into a code; `call` is the function's name. */
extern GcCode gc_cuda_check(CudaDevice *dev, CuResult result, const char *call, GcError *err);
extern const char *gc_cuda_error_text(CudaDevice *dev, CuResult result);

/* Around calls in which the driver may start threads: see cuda_open.c. */
extern void gc_cuda_block_signals(sigset_t *saved);
extern void gc_cuda_restore_signals(const sigset_t *saved);

#endif							/* GC_CUDA_OPEN_H */
