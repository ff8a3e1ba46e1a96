/*-------------------------------------------------------------------------
 *
 * state.h
 *	  State that all of the worker uses: the device, its memory and kernels, and a clock.
 *
 * The worker's main thread fills it before it serves (worker.c).  No other thread reads or
 * writes it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WORKER_STATE_H
#define GC_WORKER_STATE_H

#include "postgres.h"

#include "portability/instr_time.h"

#include "../../device/device.h"
#include "../../device/kcache.h"
#include "../../device/memory.h"
#include "../../sched/model/cost.h"
#include "../../sched/model/profile.h"

typedef struct GcWorker
{
	GcDevice   *dev;
	const GcDeviceOps *ops;
	GcPool	   *pool;
	GcKernelCache *kernels;
	GcProfile	profile;
	GcCalibration calibration;
	double		link;			/* bytes per second to the device; 0: nothing is copied, or it is not known */
	uint64		clock;			/* counts uses, for replacement */
	u64			reserved;		/* bytes of device memory that cached data leaves free */
	bool		may_wait;		/* where nothing more can be dropped, for waves that hold memory (waves.h) */
} GcWorker;

extern GcWorker gc_worker;

/* Microseconds by the worker's clock. */
static inline double
gc_us_since(instr_time since)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, since);
	return INSTR_TIME_GET_MICROSEC(now);
}

#endif							/* GC_WORKER_STATE_H */
