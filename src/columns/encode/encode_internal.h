/*-------------------------------------------------------------------------
 *
 * encode_internal.h
 *	  An encoder, for the two files that it is made of: encode.c stages values,
 *	  pack.c packs them.
 *
 * Runs in backends and loaders.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ENCODE_INTERNAL_H
#define GC_ENCODE_INTERNAL_H

#include "../store/numeric.h"
#include "encode.h"

typedef struct GcStaged
{
	GcColSpec	spec;
	GcDictView *dict;			/* text only */
	uint8		min_width;
	uint8		width;			/* of stage's elements, 4 or 8 */
	uint8		problem;		/* GcColProblem */
	GcSpan		span;			/* numeric: of the values so far, of which the range is kept where they are tagged */
	bool		tagged;			/* numeric: values of several scales */
	uint32		nnulls;
	void	   *stage;			/* int32 or int64; capacity elements */
	uint8	   *nulls;			/* bitmap of capacity bits, or NULL */
	GcEncodedColumn out;
} GcStaged;

struct GcEncoder
{
	MemoryContext context;
	uint32		nrows;
	uint32		capacity;
	int			ncols;
	GcStaged   *cols;
	GcColSpec  *specs;
	GcEncodedColumn *out;
};

#endif							/* GC_ENCODE_INTERNAL_H */
