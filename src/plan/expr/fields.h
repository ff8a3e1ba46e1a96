/*-------------------------------------------------------------------------
 *
 * fields.h
 *	  Fields of timestamps, by name, and the device's functions for them; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FIELDS_H
#define GC_FIELDS_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* The field (DTK_...) that a text names, as timestamp_part_common() finds it; -1: none. */
extern int	gc_field_named(const Const *name);

/* The device's function for a field, where it is a whole number; and for truncation to it; -1: none. */
extern int	gc_field_call(int field);
extern int	gc_trunc_call(int field);

/* Is it a field of the date alone, other than the epoch?  Does truncation to it leave a date? */
extern bool gc_is_date_field(int field);
extern bool gc_truncates_to_date(int field);

#endif							/* GC_FIELDS_H */
