/*-------------------------------------------------------------------------
 *
 * cold_choice.h
 *	  Whether a plan is to wait for its nodes' columns and kernels; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLD_CHOICE_H
#define GC_COLD_CHOICE_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* Why a plan of PostgreSQL's is taken for now. */
#define GC_COLD_LOADS	"columns are loaded in the background"
#define GC_COLD_NO_LOADER	"no background worker is free to load columns"
#define GC_COLD_COMPILES	"kernels are compiled in the background"
#define GC_COLD_NO_ROOM	"columns that it would read do not fit beside columns that are in use"
#define GC_COLD_NOT_PERMITTED	"columns that it would read are not loaded"
#define GC_COLD_NOT_LOADABLE	"columns that it would read cannot be loaded for now"

/* May another plan answer while columns are loaded, and kernels compiled? */
extern bool gc_may_answer_meanwhile(void);

/*
 * May it, and do nodes of this plan read columns that are not loaded or cannot be, or lack kernels as far as is known?
 */
extern bool gc_is_cold(PlannedStmt *stmt);

/*
 * Why the other plan of the same statement is to answer for now, or NULL.  The plans are estimated to take ms, if
 * nothing was lacking, and other_ms.  Where all nodes would fall back, the other plan is taken whatever the estimates
 * say.  But a rewritten query waits for loads that are sooner than the original.  This starts loads of what the
 * plan's nodes lack, where there is room and the user may execute the other plan.  It has plans that are kept made
 * again later.
 */
extern const char *gc_cold_choice(PlannedStmt *stmt, double ms, PlannedStmt *other, double other_ms, bool rewritten);

#endif							/* GC_COLD_CHOICE_H */
