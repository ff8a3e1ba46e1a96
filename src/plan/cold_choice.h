/*-------------------------------------------------------------------------
 *
 * cold_choice.h
 *	  Whether a rewritten query is to wait until its columns are loaded; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLD_CHOICE_H
#define GC_COLD_CHOICE_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* Why a plan of PostgreSQL's is taken for now. */
#define GC_COLD_REFUSAL	"columns of the rewritten query's tables are loaded in the background"

/* Do nodes of this plan read columns that are not loaded, and may another plan answer meanwhile? */
extern bool gc_is_cold(PlannedStmt *rewritten);

/*
 * Is the original's plan to answer, which is estimated to take so many milliseconds, while columns of the rewritten
 * query's are loaded in the background?  This starts the load, and has plans that are kept made again later.
 */
extern bool gc_cold_choice(PlannedStmt *rewritten, double original_ms);

extern void gc_cold_choice_install(void);

#endif							/* GC_COLD_CHOICE_H */
