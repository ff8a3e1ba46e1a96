/*-------------------------------------------------------------------------
 *
 * window.h
 *	  Window functions over the rows that the device returned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WINDOW_H
#define GC_WINDOW_H

#include "exec.h"

#include "miscadmin.h"
#include "nodes/parsenodes.h"

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

/* Places from one to before another one. */
typedef struct GcFramePart
{
	uint32		from;
	uint32		to;
} GcFramePart;

/* Parts of a frame: with EXCLUDE the rows before those that it leaves out, maybe the row itself, and rows behind. */
static inline int
gc_window_parts(const GcWindowing *w)
{
	return w->window->frame & FRAMEOPTION_EXCLUSION ? 3 : 1;
}

/* A part of a place's frame.  Its borders never go back within a partition. */
static inline GcFramePart
gc_window_part(const GcWindowing *w, uint32 n, int part)
{
	const int	frame = w->window->frame;
	const bool	row = (frame & FRAMEOPTION_EXCLUDE_CURRENT_ROW) != 0;
	GcFramePart span = {w->from[n], w->to[n]};

	if (frame & FRAMEOPTION_EXCLUSION)
	{
		if (part == 0)
			span.to = Min(span.to, row ? n : w->peers[n]);
		else if (part == 2)
			span.from = Max(span.from, row ? n + 1 : w->peers_end[n]);
		else
		{
			span.from = Max(span.from, n);
			span.to = Min(span.to, frame & FRAMEOPTION_EXCLUDE_TIES ? n + 1 : n);
		}
	}
	span.to = Max(span.from, span.to);
	return span;
}

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
