/*-------------------------------------------------------------------------
 *
 * cuda_internal.h
 *	  The objects of device cuda, which cuda.c and cuda_open.c share.
 *
 * The worker's main thread.  cuda.c says what owns them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CUDA_INTERNAL_H
#define GC_CUDA_INTERNAL_H

#include "device.h"

#include <pthread.h>
#include <signal.h>

#include "cuda_api.h"
#include "compilers.h"
#include "nvrtc.h"

typedef struct CudaDevice
{
	GcDevice	base;
	CudaApi		api;
	const GcNvrtc *nvrtc;
	int			driver_major;
	CuDevice	handle;
	CuContext	context;		/* NULL until retained */
	CuPtr		pool;
	u64			pool_size;
	GcStream   *streams;		/* all */
	GcStream   *free_streams;
	GcEvent	   *events;			/* all */
	GcEvent	   *free_events[2];	/* untimed, timed */
	GcModule   *modules;		/* all */
	bool		warming;		/* warmup is to be joined */
	pthread_t	warmup;
	bool		lost;
	char		lost_detail[256];
	char		nameless[32];	/* an error that the driver has no words for */
} CudaDevice;

struct GcStream
{
	CudaDevice *dev;
	CuStream	handle;
	GcStream   *next;			/* in dev->streams */
	GcStream   *next_free;
};

struct GcEvent
{
	CudaDevice *dev;
	CuEvent		handle;
	bool		timed;
	const u32  *word;			/* event_word: polled in the place of CUDA's event; else NULL */
	GcStream   *stream;			/* then: the stream that writes it */
	u32			looks;
	GcEvent	   *next;			/* in dev->events */
	GcEvent	   *next_free;
};

struct GcKernel
{
	CudaDevice *dev;
	CuFunction	handle;
	bool		whole_shared;	/* the shared memory that its launches ask for (GcLaunch) */
	GcKernel   *next;			/* in its module */
};

struct GcModule
{
	CudaDevice *dev;
	CuModule	handle;
	GcKernel   *kernels;
	GcModule   *next;			/* in dev->modules */
	GcModule  **link;			/* the link to this one there */
};

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

#endif							/* GC_CUDA_INTERNAL_H */
