/*-------------------------------------------------------------------------
 *
 * tagged.h
 *	  Numerics whose display scale differs from row to row: how they are stored.
 *
 * An expression's value is an integer at the largest scale, and code that wants the display scale computes it
 * (codegen/expr/expr.c).  Where a value is stored (columns, payloads, rows that are returned) it has its scale with it: it is
 * tagged (cuda/gc_abi.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TAGGED_H
#define GC_TAGGED_H

#include "program.h"
#include "range.h"

/* Bound expressions: does the display scale differ from row to row? */
static inline bool
gc_is_varying(const GcExpr *e)
{
	return e->kind == GC_NUMERIC && e->min_scale != e->scale;
}

/* May such an expression's values, of that range, be stored? */
extern bool gc_taggable(const GcExpr *e, const GcRange *range);

/* The range of what is stored of an expression of that range. */
extern GcRange gc_stored_range(const GcExpr *e, const GcRange *range);

#endif							/* GC_TAGGED_H */
