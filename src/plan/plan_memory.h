/*-------------------------------------------------------------------------
 *
 * plan_memory.h
 *	  What planning a query of a shape led to, so that the next one of it is less work.
 *
 * In backends: the planner, and executions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_MEMORY_H
#define GC_PLAN_MEMORY_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "base/query_summary.h"
#include "base/planning.h"

/* A number for a query without its constants, with all that it is planned under; never 0. */
extern uint64 gc_plan_memory_key(const GcQuerySummary *summary, int options, bool params);

/*
 * Was PostgreSQL's plan taken before, with no part of it offloaded?  Then *ceiling is the cost up to which that holds.
 */
extern bool gc_plan_memory_leaves(uint64 key, Cost *ceiling);

/* The reason of such a verdict, which is counted for each of the tables; until another statement is planned. */
extern const char *gc_plan_memory_count(uint64 key, const GcQuerySummary *summary);

/*
 * Such a plan was taken; or what was found out before did not hold this time.  Nor does it where the values made a node
 * fall back: parts of PostgreSQL's own plan, which answers, may be offloaded then.
 */
extern void gc_plan_memory_note_left(uint64 key, const GcQuerySummary *summary, Cost cost, const char *refusal);
extern void gc_plan_memory_unsettle(uint64 key);

/* Was all of the statement offloaded, as the cheaper plan by far?  Then no part of it need be offered alone. */
extern bool gc_plan_memory_is_whole(uint64 key);
extern void gc_plan_memory_note_whole(uint64 key, const GcQuerySummary *summary, int depth);

/* In how many subqueries of FROM its nodes stood, at most.  None further in need be offered alone either. */
extern int	gc_plan_memory_depth(uint64 key);

/* Was the original much cheaper than the rewritten query, which need not be planned? */
extern bool gc_plan_memory_rewriting_lost(uint64 key);

/* Was the rewritten plan so much cheaper that the original need not be planned? */
extern bool gc_plan_memory_rewriting_won(uint64 key, PlannedStmt *rewritten, const GcRowsSeen *seen);

/*
 * Remember how the two plans compared; NULL: the rewritten one is of no use.  lead: how many times as long the original
 * is estimated to take.
 */
extern void gc_plan_memory_note_rewriting(uint64 key, const GcQuerySummary *summary, PlannedStmt *rewritten,
										  const GcRowsSeen *seen,
									  PlannedStmt *original, double lead);

/*
 * Did the plan's nodes lack nothing when they were last looked at?  Was no column dropped since, and is no kernel
 * being compiled? losses: gc_store_losses() of before the look.
 */
extern bool gc_plan_memory_is_warm(uint64 key);
extern void gc_plan_memory_note_warm(uint64 key, const GcQuerySummary *summary, PlannedStmt *stmt, uint64 losses);

/* The original was planned alone, since the rewritten one had lost.  Does that hold? */
extern void gc_plan_memory_check_original(uint64 key, PlannedStmt *original);

#endif							/* GC_PLAN_MEMORY_H */
