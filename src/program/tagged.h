/*-------------------------------------------------------------------------
 *
 * tagged.h
 *	  Numerics whose display scale differs from row to row: how they are stored.
 *
 * An expression's value is an integer at the largest scale, and code that wants the display scale computes it
 * (codegen/expr/expr.c).  Where a value is stored (columns, payloads, rows that are returned) it has its scale with it:
 * it is tagged (cuda/gc_abi.h).
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

/* May values of an expression of varying scale, and that range, be stored in 64 bits? */
extern bool gc_taggable(const GcExpr *e, const GcRange *range);

/* May a numeric expression's values be stored in 128 bits? */
extern bool gc_storable(const GcExpr *e, const GcRange *range);

/* The register of stored values of that range and these scales, which are equal if they are no numerics. */
extern GcReg gc_stored_reg(u8 kind, i16 min_scale, i16 scale, const GcRange *range);

/* The range of the stored values of an expression of that range. */
extern GcRange gc_stored_range(const GcExpr *e, const GcRange *range);

#endif							/* GC_TAGGED_H */
