/*-------------------------------------------------------------------------
 *
 * problem.h
 *	  A column's problem: where it was met, and when to look whether it has gone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROBLEM_H
#define GC_PROBLEM_H

#include "postgres.h"

#include "utils/relcache.h"

#include "../store/columns.h"

/* For users; NULL for none. */
extern const char *gc_problem_text(GcColProblem problem);

/*
 * The stamp that a VACUUM changes when it sets a bit: the LSN of the map page over a chunk.
 * For -1, a hash of the LSNs of all map pages.
 */
extern uint64 gc_map_stamp(Relation rel, int32 chunk);

/* Evidence of a problem that no single chunk has; stamp: of all map pages, before reading. */
extern GcEvidence gc_no_evidence(uint64 stamp);

/* Evidence of a problem that was met on that page of a chunk, read under that map LSN. */
extern GcEvidence gc_evidence(GcColProblem problem, int32 chunk, BlockNumber block,
							  XLogRecPtr map_lsn);

/* A load from started_at until now met the problem again: put off the next one. */
extern void gc_evidence_put_off(GcEvidence *evidence, TimestampTz started_at);

/*
 * May the problem of this column have gone, so that loading it is worth a try?
 * Costs a look at the map, at most at one page of the table.  Needs a guard.
 */
extern bool gc_worth_retry(Relation rel, const GcDirectory *dir, int col);

#endif							/* GC_PROBLEM_H */
