/*-------------------------------------------------------------------------
 *
 * quotient.h
 *	  Quotients of numerics, which have digits of their own in each row; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_QUOTIENT_H
#define GC_QUOTIENT_H

#include "translate.h"
#include "../../program/scales.h"

/* Is it a division of numerics, an average or a variance of them? */
static inline bool
gc_is_quotient(const GcExpr *e)
{
	return e->kind == GC_NUMERIC && gc_scale_rule(e) == GC_SCALE_QUOTIENT;
}

/* Is an expression, or any part of it, such a one? */
extern bool gc_any_part(const GcTranslation *tr, int e, bool (*is_such) (const GcExpr *part));

/*
 * Is an expression free of quotients of numerics?  Sets a reason, with `what` for their name, if not.
 */
extern bool gc_no_quotient(GcTranslation *tr, int e, const char *what);

/* Quotients may be next to 0, so that no sum of values divided by them is known to fit 128 bits: refused. */
extern bool gc_may_be_summed(GcTranslation *tr, int e);

#endif							/* GC_QUOTIENT_H */
