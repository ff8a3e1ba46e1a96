/*-------------------------------------------------------------------------
 *
 * groups.h
 *	  Groups of an earlier pipeline as the input of another one: keys and accumulators as columns; private to program/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GROUPS_H
#define GC_GROUPS_H

#include "typer.h"

/* Upper bound of the values that an accumulator adds up in a group, where each is in the range of its argument. */
extern u64	gc_added_up(const GcTyper *t, const GcPAgg *agg, u16 pipeline);

/*
 * Type a column expression whose input holds groups.  *r receives its range.  GC_UNSUPPORTED
 * where a sum is wider than 128 bits or varies in scale.
 */
extern GcCode gc_type_group_column(GcTyper *t, GcExpr *e, GcRange *r);

/* Type GC_OP_WINDOW.  GC_UNSUPPORTED where the window's keys or the argument vary in scale. */
extern GcCode gc_type_window(GcTyper *t, GcExpr *e, GcRange *r);

/* Type GC_OP_AVG and GC_OP_STDDEV. */
extern GcCode gc_type_avg(GcTyper *t, GcExpr *e, GcRange *r);
extern GcCode gc_type_stddev(GcTyper *t, GcExpr *e, GcRange *r);

#endif							/* GC_GROUPS_H */
