/*-------------------------------------------------------------------------
 *
 * share_run.h
 *	  What shared scans keep of a request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_RUN_H
#define GC_SHARE_RUN_H

#include "postgres.h"

#include "../../codegen/codegen.h"
#include "../run/run.h"

/* What a request's predicate kernel computes for one column (codegen/selection.h). */
typedef struct GcPredicateBitmap
{
	GcAddr		bits;
	i64			base;
	u64			range;
	i16			dir_column;
} GcPredicateBitmap;

/* In the run's memory, and as long as that. */
typedef struct GcShareRun
{
	struct GcScanShape *scan_shape; /* its kernel's place among those of the table */
	bool		scan_asked;		/* whether it has one was asked */
	int			scan_member;	/* of its shared scan, this one */
	GcAddr		predicate_bits;		/* for a selection scan; 0: it cannot be in one */
	int			selection_refused;	/* a selection scan seemed not to be worth it with so many here;
								 * 0: it did not yet */
	GcPredicateBitmap *predicates;			/* per tested column */
	GcPredicateBitmap *direct_tables;		/* per build: of those that its predicate kernel places */
	bool		key_groups_seen;	/* its tests have nothing new for the columns' classes */
	GcAddr		sel_bitmap;			/* once it is in one: as GC_ARG_SELECTION's parts */
	u64			sel_bitmap_bytes;
	GcAddr		summary;
	int			sel_bitmap_bit;
	GcAddr	   *packed_rows;		/* then: per column of p, GcCols of records, or 0; or NULL */
} GcShareRun;

/* As GcRunHooks's. */
extern GcShareRun *gc_share_run_create(const GcRun *run);
extern u64	gc_share_run_word(const GcShareRun *share, const GcArgWord *word);
extern void gc_share_run_give_back(GcRun *run);

#endif							/* GC_SHARE_RUN_H */
