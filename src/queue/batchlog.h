/*-------------------------------------------------------------------------
 *
 * batchlog.h
 *	  The log of scheduling: the last batches, and totals per kernel.
 *
 * In main shared memory.  The workers alone write, once per batch, when its last
 * request is done; backends read for the views gpuconc_stat_batches and
 * gpuconc_stat_kernels and for gpuconc_timeline().
 *
 * The scheduler starts a batch by one decision: kernels meant to be on the
 * device together.  Its id counts decisions since the server's start, and its ring slot is
 * id % gpuconc.batch_log_size.  Times are by the device's clock, in microseconds from the
 * batch's start; the start itself is by the server's clock.
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

/* Kernels of one batch that are logged one by one; further kernels are only counted. */
#define GC_BATCHLOG_KERNELS	32

/* Kernels whose totals are kept; the least recently launched makes room. */
#define GC_KERNELLOG_SIZE	512

typedef struct GcBatchKernel
{
	int32		pid;			/* of the request's backend; 0: not known any more */
	GcHash		kernel;			/* hash of the main kernel's text */
	uint16		kind;			/* GcBatchKernelKind */
	uint16		members;		/* requests in its shared scan; 1: no shared scan; 0: it was
								 * not started after all */
	uint32		scan;			/* number of that shared scan within the batch; 0: none */
	uint32		blocks;
	uint32		threads;
	uint32		shared_bytes;
	uint32		first_tile;		/* where it attached */
	uint32		ntiles;
	float		queued_us;		/* from the request's submission to the batch's start */
	float		start_us;		/* of the main kernel, on the device; from the batch's start */
	float		end_us;
	float		select_us;		/* selection scan: time of the selection kernel; else 0 */
	float		done_us;		/* the worker found its result, by the worker's clock */
	float		predicted_us;	/* of the main kernel, next to its co-runners */
} GcBatchKernel;

typedef enum GcBatchKernelKind
{
	GC_BATCH_ALONE,				/* the request's own kernel */
	GC_BATCH_FUSED,				/* a member of a fused scan */
	GC_BATCH_SELECTION			/* a member of a selection scan */
} GcBatchKernelKind;

typedef struct GcBatchRecord
{
	uint64		id;				/* from 1; 0: nothing here yet */
	TimestampTz began;
	uint16		device;
	uint16		policy;			/* GcPolicy */
	uint16		nkernels;		/* requests of the batch */
	uint16		nkept;			/* requests of the batch in kernel[] */
	uint16		patterns;		/* of the plan that this batch is the first of */
	uint16		planned;		/* batches of that plan */
	uint16		waiting;		/* ready requests that were not started */
	uint16		others;			/* requests already on the device */
	float		predicted_us;
	float		actual_us;		/* first kernel's start to last kernel's end */
	float		decision_us;
	uint32		failed;			/* requests that ended in an error */
	GcBatchKernel kernel[GC_BATCHLOG_KERNELS];
} GcBatchRecord;

/* Totals of one main kernel in one variant, or of one shared scan's kernel. */
typedef struct GcKernelLog
{
	GcHash		kernel;
	uint16		kind;			/* GcBatchKernelKind */
	uint16		device;
	uint64		launches;
	uint64		requests;		/* more than launches where scans are shared */
	double		time_us;		/* sum over launches */
	float		best_us;		/* least time of one launch */
	float		alone_us;		/* its learned time alone */
	float		error;			/* mean |predicted - actual| / actual */
	uint32		registers;
	uint32		shared_bytes;
	uint32		threads;
	uint32		max_blocks;		/* per multiprocessor, with these needs */
	TimestampTz last_launch;
} GcKernelLog;

extern void gc_batchlog_shmem(void);

/* Worker: id of the next batch; never 0. */
extern uint64 gc_batchlog_next_id(void);

/* Worker: store a finished batch. */
extern void gc_batchlog_add(const GcBatchRecord *record);

/* Worker: add one launch to a kernel's totals; times in microseconds. */
extern void gc_kernellog_add(const GcKernelLog *launch);

/*
 * Backends: copies of the log, palloc'd, batches oldest first; *n: their number.  limit: at most this
 * many, the newest ones; 0: all.
 */
extern GcBatchRecord *gc_batchlog_read(int limit, int *n);
extern GcKernelLog *gc_kernellog_read(int *n);
extern void gc_batchlog_reset(void);

/*-------------------------------------------------------------------------
 * Copies over the link: those of waves, of requests' memory before their kernels begin, and of large results
 *
 * The worker writes once per wave, when its kernels are done, unless there are more than some hundred waves in a
 * second.  It also writes once or twice per request that copies, when the request is done.  Times are by the server's
 * clock.  The lock is the second of the tranche.
 *-------------------------------------------------------------------------
 */

/* Records that are kept. */
#define GC_WAVELOG_SIZE		1024

typedef enum GcWaveKind
{
	GC_WAVE_COPIED,				/* a wave */
	GC_REQUEST_COPIED,			/* columns, dictionaries and lookup tables that a request has copied whole */
	GC_RESULT_COPIED			/* to the host */
} GcWaveKind;

typedef struct GcWaveRecord
{
	uint64		id;				/* from 1, in the order in which they ended */
	GcWaveKind	kind;
	int32		pid;			/* of the request's backend; 0: a wave's */
	int32		device;
	TimestampTz began;			/* its copies */
	float		copies_us;
	float		kernels_us;		/* from the copies' end to the end of the kernels */
	uint32		chunks;
	uint32		requests;		/* scans that it served */
	uint64		bytes;			/* copied */
	uint64		shared;			/* the part of these that several scans read */
	uint64		lookups;		/* of these, dictionaries and lookup tables */
	uint32		unlogged;		/* waves that were made since the one logged before, and are not in the log */
} GcWaveRecord;

/* Worker: keep a record; its id is given here. */
extern void gc_wavelog_add(const GcWaveRecord *wave);

/* Backends: a copy of the log, palloc'd, oldest first; *n: how many there are. */
extern GcWaveRecord *gc_wavelog_read(int *n);

#endif							/* GC_BATCHLOG_H */
