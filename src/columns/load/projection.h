/*-------------------------------------------------------------------------
 *
 * projection.h
 *	  How large the results of a load will be, going by those handed in so far.
 *
 * Runs in every participant of a load job.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROJECTION_H
#define GC_PROJECTION_H

#include "job.h"

typedef struct GcProjection
{
	Size		bytes;			/* of all results */
	Size		missing;		/* of chunks that no participant has begun to read */
} GcProjection;

extern GcProjection gc_job_projection(const GcJob *job);

/* The job found no room: remember what its new columns would take (store/past.h).  In its starter. */
extern void gc_job_remember_sizes(const GcJob *job);

#endif							/* GC_PROJECTION_H */
