/*-------------------------------------------------------------------------
 *
 * problem.h
 *	  What is remembered of a column's problem; see problem.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROBLEM_H
#define GC_PROBLEM_H

#include "columns.h"

/*
 * What a VACUUM changes that sets a bit: the LSN of the map page over a chunk, or
 * for -1 a hash of those of all map pages.
 */
extern uint64 gc_map_stamp(Relation rel, int32 chunk);

/* Of a problem that no single chunk has; stamp: of all map pages, before reading. */
extern GcEvidence gc_no_evidence(uint64 stamp);

/* Of a problem that was met on that page of a chunk, read under that map LSN. */
extern GcEvidence gc_evidence(GcColProblem problem, int32 chunk, BlockNumber block,
							  XLogRecPtr map_lsn);

/* It was tried again in vain, from started_at until now. */
extern void gc_evidence_put_off(GcEvidence *evidence, TimestampTz started_at);

#endif							/* GC_PROBLEM_H */
