/*-------------------------------------------------------------------------
 *
 * wavelog.h
 *	  The log of waves: the last copies of tables that do not fit into device memory.
 *
 * In main shared memory.  The worker alone writes, once per wave, when its kernels are done;
 * backends read for gpuconc_timeline().  Times are by the server's clock.
 *
 * Lock: one LWLock (tranche gpuconc_batchlog), as batchlog.h says of the other one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVELOG_H
#define GC_WAVELOG_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* Waves that are kept. */
#define GC_WAVELOG_SIZE		1024

typedef struct GcWaveRecord
{
	uint64		id;				/* from 1, in the order in which they ended */
	TimestampTz began;			/* its copies */
	float		copies_us;
	float		kernels_us;		/* from the copies' end to the end of the kernels that were launched last */
	uint32		chunks;
	uint32		requests;		/* scans that it served */
	uint64		bytes;			/* copied */
	uint64		shared;			/* of these, what several scans read */
} GcWaveRecord;

extern Size gc_wavelog_shmem_size(void);
extern void gc_wavelog_shmem_init(void);

/* Worker: keep a wave; its id is given here. */
extern void gc_wavelog_add(const GcWaveRecord *wave);

/* Backends: a copy of the log, palloc'd, oldest first; *n: how many there are. */
extern GcWaveRecord *gc_wavelog_read(int *n);
extern void gc_wavelog_reset(void);

#endif							/* GC_WAVELOG_H */
