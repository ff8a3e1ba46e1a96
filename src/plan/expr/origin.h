/*-------------------------------------------------------------------------
 *
 * origin.h
 *	  Which column an expression's values come from, and what is known of that column's values; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_ORIGIN_H
#define GC_PLAN_ORIGIN_H

#include "../base/translate.h"
#include "../../columns/load/missing.h"

/* Is it known at execution what values the Var's translation can have? */
extern bool gc_lookup_enumerable(const GcTranslation *tr, int arg);

/*
 * Does the executor find out which of an expression's values occur in rows (exec/lookup.c)?  They are a column's, or
 * dates of its timestamps without a time zone.
 */
extern bool gc_is_in_rows(const GcTranslation *tr, int e);

/* Is the column that an expression's values come from cached?  Then what has been seen of it. */
extern bool gc_seen(const GcTranslation *tr, int e, GcSeenColumn *seen);

/* Does a column's range, as it was seen, begin or end beyond finite dates and timestamps? */
extern bool gc_has_infinite(GcKind kind, const GcSeenColumn *seen);

/*
 * Has a table's column that a date or timestamp comes from infinite ones, as far as is known?  False where a condition
 * or a CASE may keep them away.
 */
extern bool gc_may_be_infinite(const GcTranslation *tr, int e);

/*
 * Has a column that is not one of texts a wider range than tables have entries, as far as is known?  An infinite
 * timestamp has no date.
 */
extern bool gc_is_too_wide(const GcTranslation *tr, int arg);

/* May an integer column's values, as far as they are known, add up to more than 64 bits hold? */
extern bool gc_may_overflow(const GcTranslation *tr, int e);

#endif							/* GC_PLAN_ORIGIN_H */
