/*-------------------------------------------------------------------------
 *
 * dates.h
 *	  Expressions of a timestamp that depend on its date alone; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DATES_H
#define GC_DATES_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* Is an expression, of one Var of type timestamp or timestamptz, the same for all values of a day? */
extern bool gc_depends_on_date(Expr *expr);

/*
 * A copy to ask for mutable functions, and for nothing else.  PostgreSQL calls functions stable that are less than that
 * here.  Calls of to_char(timestamp, text) that no setting has an influence on are left out.  Where only
 * the session's time zone has, an immutable function is in the place of the called one, and *zoned is set.
 */
extern Node *gc_without_stable(Expr *expr, bool *zoned);

/* The field (DTK_...) that a text names, as timestamp_part_common() finds it; -1: none. */
extern int	gc_field_named(const Const *name);

/* The device's function for a field, where it is a whole number; and for truncation to it; -1: none. */
extern int	gc_field_call(int field);
extern int	gc_trunc_call(int field);

/* Is it a field of the date alone, other than the epoch?  Does truncation to it leave a date? */
extern bool gc_is_date_field(int field);
extern bool gc_truncates_to_date(int field);

#endif							/* GC_DATES_H */
