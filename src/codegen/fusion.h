/*-------------------------------------------------------------------------
 *
 * fusion.h
 *	  What the members of a fused kernel have in common while it is generated.
 *
 * Private to codegen/.  A Fusion belongs to gc_generate_fused, on the worker's main thread; each member's Cg
 * points to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSION_H
#define GC_FUSION_H

#include "fused.h"
#include "state.h"

/* Vectors of one physical column, loaded once for several members. */
typedef struct SharedVector
{
	u8			column;
	u8			width;
	u8			reg;
	u8			nullable;
	bool		words;			/* packed codes, wN, of which only the width counts */
	u32			members;		/* that want it in their first stage */
} SharedVector;

#define MAX_SHARED_VECTORS	256

typedef struct Fusion
{
	GcFusedSource *src;
	bool		asking;			/* first pass: what would each member load? */
	u32			readers[GC_MAX_COLUMNS];	/* members, by physical column */
	SharedVector vectors[MAX_SHARED_VECTORS];
	int			nvectors;
	int			nper_warp;			/* words that are kept for a tile */
} Fusion;

/* Is the vector of this column, or of its words, loaded for several members, this one among them? */
extern bool fused_vector(Cg *cg, u16 column, bool words);

/* End of the first pass: choose at most `max` vectors that are loaded so. */
extern void fused_choose_vectors(Fusion *f, int max);

#endif							/* GC_FUSION_H */
