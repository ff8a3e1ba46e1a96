/*-------------------------------------------------------------------------
 *
 * kept_windows.h
 *	  Windows over kept rows: a level's window functions as columns that a later pipeline scans; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KEPT_WINDOWS_H
#define GC_KEPT_WINDOWS_H

#include "groups.h"

/*
 * The rows of the level's streamed pipeline, as gc_rows_open() has them, with the level's windows over them.  Expressions of
 * the level, with window functions, are gc_groups_expr()'s.
 */
extern GcGroups *gc_windowed_open(GcTranslation *tr);

/* Conditions that PostgreSQL tests within a level's windows, as no later row of a partition meets them; they are of the level. */
extern List *gc_run_conditions(PlannerInfo *root);

#endif							/* GC_KEPT_WINDOWS_H */
