/*-------------------------------------------------------------------------
 *
 * wavelog.h
 *	  The log of copies over the link: those of waves, of what requests have in device memory
 *	  before their kernels begin, and of large results.
 *
 * In main shared memory.  The worker alone writes.  It writes once per wave, when its kernels are done, unless there are
 * more than some hundred waves in a second.  It also writes once or twice per request that copies, when the request is done.
 * Backends read for gpuconc_timeline().  Times are by the server's clock.
 *
 * Lock: one LWLock (tranche gpuconc_batchlog), as batchlog.h says of the other one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVELOG_H
#define GC_WAVELOG_H

#include "postgres.h"

#include "datatype/timestamp.h"

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
	uint64		shared;			/* of these, what several scans read */
	uint64		lookups;		/* of these, dictionaries and lookup tables */
	uint32		unlogged;		/* waves that were made since the one logged before, and are not in the log */
} GcWaveRecord;

extern Size gc_wavelog_shmem_size(void);
extern void gc_wavelog_shmem_init(void);

/* Worker: keep a record; its id is given here. */
extern void gc_wavelog_add(const GcWaveRecord *wave);

/* Backends: a copy of the log, palloc'd, oldest first; *n: how many there are. */
extern GcWaveRecord *gc_wavelog_read(int *n);
extern void gc_wavelog_reset(void);

#endif							/* GC_WAVELOG_H */
