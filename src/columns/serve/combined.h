/*-------------------------------------------------------------------------
 *
 * combined.h
 *	  Combined directories: the chunks of several tables as those of one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COMBINED_H
#define GC_COMBINED_H

#include "../store/columns.h"
#include "visibility.h"

/* Parts that are put together.  Column c of part i is at [i * ncolumns + c]. */
typedef struct GcCombination
{
	uint64		id;
	GcRelKey	key;
	int			nparts;
	int			ncolumns;
	const GcDirectory **dirs;	/* NULL: the part has no chunks */
	const int  *columns;		/* the column of dirs[i], or one of these: */
#define GC_COMBINED_ABSENT	(-1)	/* the part has none: some value, which must not matter */
#define GC_COMBINED_NUMBER	(-2)	/* of every part: its number */
	const GcChunkColumn *zeros; /* gc_store_zeros(), where one of these is there */
	const uint32 *first_codes;	/* texts: the number that is added to the part's codes */
	uint32	   *first_chunks;	/* out: number of the part's first chunk */
} GcCombination;

/* Bytes of the combined directory, for memory that gc_combine() writes to. */
extern Size gc_combined_size(const GcCombination *c);

/*
 * Write it.  Its chunks and cells are those of the parts.  Cells of a text column whose codes
 * change are copies with another base, and have their originals' region ids.  A column whose
 * numeric scale differs between parts, and whose values are too large for that, has a problem.
 * No column has a state.  Valid under the guard that the parts' directories were found under.
 */
extern GcDirectory *gc_combine(const GcCombination *c, void *memory);

/* Add the served chunks of a part to those of all, with numbers for ranges; there is room for the chunks. */
extern void gc_combine_served(GcServed *all, const GcServed *part, uint32 first_chunk);

#endif							/* GC_COMBINED_H */
