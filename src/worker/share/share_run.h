/*-------------------------------------------------------------------------
 *
 * share_run.h
 *	  Shared scans' part of a request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_RUN_H
#define GC_SHARE_RUN_H

#include "postgres.h"

#include "../../codegen/codegen.h"
#include "../run/run.h"

/* Result of a request's predicate kernel for one column (codegen/selection.h). */
typedef struct GcPredicateBitmap
{
	GcAddr		bits;
	i64			base;
	u64			range;
	i16			dir_column;
} GcPredicateBitmap;

/* In the run's memory context, freed with it. */
typedef struct GcShareRun
{
	struct GcScanShape *scan_shape; /* of its kernel over its table; NULL: none */
	bool		scan_asked;		/* whether its scan shape was looked for */
	int			scan_member;	/* its number among its shared scan's members */
	GcAddr		predicate_bits;	/* for a selection scan; 0: it cannot be in one */
	int			selection_refused;	/* with so many requests a selection scan seemed not to be
									 * worth it; 0: not yet */
	GcPredicateBitmap *predicates;	/* one per tested column */
	GcPredicateBitmap *direct_tables;	/* one per build, for those with direct lookup tables */
	bool		key_groups_seen;	/* its predicates have nothing new for the columns' key
									 * groups */
	GcAddr		sel_bitmap;		/* once it is in a selection scan: parts of GC_ARG_SELECTION */
	u64			sel_bitmap_bytes;
	GcAddr		summary;
	int			sel_bitmap_bit;
} GcShareRun;

#endif							/* GC_SHARE_RUN_H */
