/*-------------------------------------------------------------------------
 *
 * planning.h
 *	  State of the planner's run in progress; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLANNING_H
#define GC_PLANNING_H

#include "translate.h"

#include "utils/hsearch.h"

typedef struct GcPlanning
{
	struct GcPlanning *outer;
	HTAB	   *descs;			/* made at first use */
	MemoryContext context;
	bool		geqo;			/* GEQO tries join orders just now */
	bool		offered;		/* a path of ours was given to the planner */
	bool		storage_seen;	/* the statement looks at how values are stored */
	bool		cursor;			/* it is a cursor's query */
	char		refusal[256];	/* why the largest part is not offloaded; may be empty */
} GcPlanning;

/* The innermost run; NULL outside the planner, and where nothing is to be offloaded. */
extern GcPlanning *gc_planning;

/* The description of a relation: NULL if there is none yet; a new one, empty. */
extern GcRelDesc *gc_desc_lookup(PlannerInfo *root, RelOptInfo *rel);
extern GcRelDesc *gc_desc_enter(PlannerInfo *root, RelOptInfo *rel);

/* Context of what descriptions refer to, beside what the planner keeps. */
extern MemoryContext gc_desc_context(void);

/* Is GEQO trying join orders just now?  It frees join relations between its trials. */
extern bool gc_geqo(void);

/* A path of ours was given to the planner. */
extern void gc_note_offer(void);

/* Does the statement look at how a value is stored? */
extern bool gc_storage_seen(void);

/* Is it a cursor's query that is being planned? */
extern bool gc_planning_cursor(void);

#endif							/* GC_PLANNING_H */
