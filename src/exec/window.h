/*-------------------------------------------------------------------------
 *
 * window.h
 *	  Window functions over the rows that the device returned.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WINDOW_H
#define GC_WINDOW_H

#include "exec.h"

#include "miscadmin.h"

/* The window functions of a node, while it is executed. */
typedef struct GcWindowPlan
{
	GcPlanWindows *windows;
	ExprState **exprs;
	int16	   *copied;			/* by expression: 0, or the length of a type whose values are copied */
	bool		no_room;		/* windows of the last rows would have taken more memory than they may */
} GcWindowPlan;

/* Window functions while they are computed.  Rows have numbers; in a window's order, they have places. */
typedef struct GcWindowing
{
	GcScanState *node;
	const GcPlanWindows *windows;
	GcRows	   *rows;
	MemoryContext kept;			/* of what rows refer to; all else is in one that is deleted */
	MemoryContext *into;		/* by expression: that of its values */
	uint32		count;
	Datum	  **values;			/* by expression and row */
	bool	  **isnull;
	double		copied_bytes;	/* of values that were copied */
	/* The window that is computed: */
	const GcPlanWindow *window;
	uint32	   *order;			/* the row at each place */
	uint32	   *partition;		/* by place: where its partition begins, */
	uint32	   *partition_end;	/* and the place behind it; */
	uint32	   *peers;			/* likewise those that are equal to it; */
	uint32	   *peers_end;
	uint32	   *group;			/* and how many groups of these come before */
	uint32	   *from;			/* the frame: its first place, */
	uint32	   *to;				/* and that behind it, maybe before the first */
	GcError    *err;
	GcCode		code;			/* set where PostgreSQL's plan has to answer */
} GcWindowing;

/* Called for each row, or place, of loops over all. */
static inline void
gc_window_interrupts(uint64 n)
{
	if ((n & 0xffff) == 0)
		CHECK_FOR_INTERRUPTS();
}

/* The node's window functions; NULL if it has none. */
extern GcWindowPlan *gc_window_plan(GcScanState *node);

/* Compute them of all rows, and put these in the order of the plan.  Errors of expressions lead to a code, too. */
extern GcCode gc_compute_windows(GcScanState *node, GcError *err);

/* Compute a function over the current window (window_functions.c). */
extern void gc_window_function(GcWindowing *w, const GcPlanWindowFn *fn);

#endif							/* GC_WINDOW_H */
