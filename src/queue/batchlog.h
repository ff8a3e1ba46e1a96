/*-------------------------------------------------------------------------
 *
 * batchlog.h
 *	  What was scheduled, and how it went: the last batches, and totals per kernel.
 *
 * In main shared memory.  The worker alone writes, once per batch, when its last
 * request is done; backends read for the views gpuconc_stat_batches and
 * gpuconc_stat_kernels and for gpuconc_timeline().
 *
 * A batch is what the scheduler started by one decision: kernels meant to be on the
 * device together.  Its id counts decisions since the server's start; ring slot
 * id % gpuconc.batch_log_size.  Times are the device's, in microseconds from the
 * batch's start; a batch's start is by the server's clock.
 *
 * Lock: one LWLock (tranche gpuconc_batchlog), exclusive for the worker's write of one record
 * and for resets, shared for reading; taken last, held for one memcpy.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BATCHLOG_H
#define GC_BATCHLOG_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "../program/hash.h"
#include "../sched/policy/sched.h"

/* Kernels of one batch that are remembered one by one; others are only counted. */
#define GC_BATCHLOG_KERNELS	32

/* Kernels whose totals are kept; the least recently launched makes room. */
#define GC_KERNELLOG_SIZE	512

typedef struct GcBatchKernel
{
	int32		pid;			/* of the backend that asked; 0: not known any more */
	GcHash		kernel;			/* hash of the main kernel's text */
	uint16		kind;			/* GcBatchKernelKind */
	uint16		members;		/* requests in the shared scan it was part of; 1: none;
								 * 0: it was not started after all */
	uint32		scan;			/* number of that shared scan within the batch; 0: none */
	uint32		blocks;
	uint32		threads;
	uint32		shared_bytes;
	uint32		first_tile;		/* where it attached */
	uint32		ntiles;
	float		queued_us;		/* from the request's submission to the batch's start */
	float		start_us;		/* main kernel, on the device; from the batch's start */
	float		end_us;
	float		select_us;		/* selection scan: of that, until the selection kernel was done; else 0 */
	float		done_us;		/* its result was found on the host, by the worker's clock */
	float		predicted_us;	/* of the main kernel, beside its co-runners */
} GcBatchKernel;

typedef enum GcBatchKernelKind
{
	GC_BATCH_ALONE,				/* a kernel of its own */
	GC_BATCH_FUSED,				/* one body of a fused shared scan */
	GC_BATCH_SELECTION				/* a request of a selection scan */
} GcBatchKernelKind;

typedef struct GcBatchRecord
{
	uint64		id;				/* from 1; 0: nothing here yet */
	TimestampTz began;
	uint16		policy;			/* GcPolicy */
	uint16		nkernels;		/* requests of the batch */
	uint16		nkept;			/* of them in kernel[] */
	uint16		patterns;		/* of the plan that this batch is the first of */
	uint16		planned;		/* batches of that plan */
	uint16		waiting;		/* requests that were left waiting */
	uint16		others;			/* requests already on the device */
	float		predicted_us;
	float		actual_us;		/* first kernel's start to last kernel's end */
	float		decision_us;
	uint32		failed;			/* requests that ended in an error */
	GcBatchKernel kernel[GC_BATCHLOG_KERNELS];
} GcBatchRecord;

/* Totals of one main kernel (in one variant, or one fused kernel). */
typedef struct GcKernelLog
{
	GcHash		kernel;
	uint16		kind;			/* GcBatchKernelKind */
	uint64		launches;
	uint64		requests;		/* more than launches where it is fused */
	double		time_us;		/* sum over launches */
	float		best_us;		/* least time of one launch */
	float		alone_us;		/* what the model takes for its time alone */
	float		error;			/* mean |predicted - actual| / actual */
	uint32		registers;
	uint32		shared_bytes;
	uint32		threads;
	uint32		max_blocks;		/* per multiprocessor, at that */
	TimestampTz last_launch;
} GcKernelLog;

extern Size gc_batchlog_shmem_size(void);
extern void gc_batchlog_shmem_init(void);

/* Worker: id of the next batch; never 0. */
extern uint64 gc_batchlog_next_id(void);

/* Worker: store a finished batch. */
extern void gc_batchlog_add(const GcBatchRecord *record);

/* Worker: one launch of a kernel with its main figures; times in microseconds. */
extern void gc_kernellog_add(const GcKernelLog *launch);

/*
 * Backends: copies of what there is, palloc'd, batches oldest first; *n: how many.
 * limit: the newest so many, 0 for all.
 */
extern GcBatchRecord *gc_batchlog_read(int limit, int *n);
extern GcKernelLog *gc_kernellog_read(int *n);
extern void gc_batchlog_reset(void);

#endif							/* GC_BATCHLOG_H */
