/*-------------------------------------------------------------------------
 *
 * problem.h
 *	  A column's problem, and when to look whether it has gone.
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

/* A hash of the LSNs of all map pages, one of which moves when VACUUM sets a bit. */
extern uint64 gc_map_stamp(Relation rel);

/* A load from started_at until now met the problem again: put off the next one. */
extern void gc_retry_put_off(GcRetry *retry, TimestampTz started_at);

/* May the problem of this column have gone, so that loading it is worth a try?  Needs a guard. */
extern bool gc_worth_retry(Relation rel, const GcDirectory *dir, int col);

#endif							/* GC_PROBLEM_H */
