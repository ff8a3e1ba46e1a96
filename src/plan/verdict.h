/*-------------------------------------------------------------------------
 *
 * verdict.h
 *	  Which rewritten queries need not be compared with the original again; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VERDICT_H
#define GC_VERDICT_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/* What identifies a query but for its constants, with the settings that it is planned under.  Not yet planned. */
extern uint64 gc_verdict_key(Query *query, const char *text);

/* Was the rewritten plan of such a query so much cheaper before that the original need not be planned? */
extern bool gc_verdict_is_known(uint64 key, PlannedStmt *rewritten);

/* Remember how the two plans compared. */
extern void gc_verdict_note(uint64 key, PlannedStmt *rewritten, PlannedStmt *original);

extern void gc_verdict_install(void);

#endif							/* GC_VERDICT_H */
