/*-------------------------------------------------------------------------
 *
 * lookup_workers.h
 *	  Entries of a lookup table computed by parallel workers; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_LOOKUP_WORKERS_H
#define GC_EXEC_LOOKUP_WORKERS_H

#include "compute.h"
#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* May workers compute entries of this table? */
extern bool gc_may_use_workers(const GcLookupWork *w);

/* The session's own part: compute entries [from, end), and take the result of entry i.  False: no more is wanted. */
typedef struct GcEntries
{
	bool		(*compute) (void *arg, uint32 from, uint32 end);
	bool		(*take) (void *arg, uint32 i, Datum value, bool isnull);
	void	   *arg;
	int			padded;			/* blank-padded length, in characters, of the texts; or 0 */
} GcEntries;

/*
 * Have entries [from, end) computed by workers and this process, and taken in their order.  What a worker raises is
 * raised here.  False: none could be launched, and this process has done all.
 */
extern bool gc_compute_by_workers(const GcLookupWork *w, uint32 from, uint32 end, const GcEntries *entries);

/* Entry point of the workers. */
extern PGDLLEXPORT void gc_lookup_worker_main(dsm_segment *seg, shm_toc *toc);

#endif							/* GC_EXEC_LOOKUP_WORKERS_H */
