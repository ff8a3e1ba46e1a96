/*-------------------------------------------------------------------------
 *
 * packed.h
 *	  Filters that are tested on a column's packed codes, several codes at once.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PACKED_FILTERS_H
#define GC_PACKED_FILTERS_H

#include "../expr/state.h"

typedef struct PackedColumn
{
	u16			column;
	int			k;				/* local number */
	bool		first;			/* the range has a lower end */
	bool		end;			/* it has an upper one */
} PackedColumn;

/* Columns that such filters read. */
typedef struct Packed
{
	int			n;
	PackedColumn columns[GC_MAX_COLUMNS];
} Packed;

extern bool cg_is_packed(const GcProgram *p, const GcPStep *step);

/*
 * Per-warp words that a member of a fused kernel would have for a pipeline's filters
 * (GcPipelineTraits).
 */
extern int	cg_per_warp_words(const GcProgram *p, const GcPPipeline *pl);

/* In the vector phase, make the inputs of n such steps available, and note the columns in *packed. */
extern void cg_require_packed(Cg *cg, const GcPStep **steps, int n, Packed *packed);

/* Test these filters on all rows of a vector. */
extern void cg_test_packed(Cg *cg, const Packed *packed);

#endif							/* GC_PACKED_FILTERS_H */
