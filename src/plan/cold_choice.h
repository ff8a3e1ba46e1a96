/*-------------------------------------------------------------------------
 *
 * cold_choice.h
 *	  Whether a rewritten query is to wait for its columns and kernels; private to plan/.
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
#define GC_COLD_LOADS	"columns of the rewritten query's tables are loaded in the background"
#define GC_COLD_COMPILES	"kernels of the rewritten query are compiled in the background"
#define GC_COLD_NO_ROOM	"columns of the rewritten query's tables do not fit beside columns that are in use"
#define GC_COLD_NOT_PERMITTED	"columns of the rewritten query's tables are not loaded"
#define GC_COLD_NOT_LOADABLE	"columns of the rewritten query's tables cannot be loaded for now"

/* Do nodes of this plan read columns that are not loaded, or lack kernels as far as is known, and may another plan answer meanwhile? */
extern bool gc_is_cold(PlannedStmt *rewritten);

/*
 * Why the original's plan is to answer for now, which is estimated to take original_ms; or NULL.  This starts
 * loads of the rewritten query's columns where there is room and the user may execute the original, and has plans that
 * are kept made again later.
 */
extern const char *gc_cold_choice(PlannedStmt *rewritten, PlannedStmt *original, double original_ms);

extern void gc_cold_choice_install(void);

#endif							/* GC_COLD_CHOICE_H */
