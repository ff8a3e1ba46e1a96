/*-------------------------------------------------------------------------
 *
 * fusion.h
 *	  The state that the members of a fused kernel share while it is generated.
 *
 * Private to codegen/.  A Fusion belongs to gc_generate_fused, on the worker's main thread; each member's Cg
 * points to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSION_H
#define GC_FUSION_H

#include "../fused.h"
#include "state.h"

/* Vectors of one physical column, loaded once for several members. */
typedef struct SharedVector
{
	u8			column;
	u8			width;
	u8			reg;
	u8			nullable;
	bool		words;			/* packed codes, wN, for which only the width matters */
	u32			members;		/* which want it in their first stage */
} SharedVector;

#define MAX_SHARED_VECTORS	256

typedef struct Fusion
{
	GcFusedSource *src;
	bool		asking;			/* first pass: which vectors would each member load? */
	u32			readers[GC_MAX_COLUMNS];	/* by physical column: members that read it */
	SharedVector vectors[MAX_SHARED_VECTORS];
	int			nvectors;
	int			nper_warp;		/* per-warp words of all members */
} Fusion;

/*
 * Is the vector of this column, or of its words, loaded for several members that include this
 * one?
 */
extern bool fused_vector(Cg *cg, u16 column, bool words);

/* End the first pass: choose the vectors that are loaded for several members. */
extern void fused_choose_vectors(Fusion *f);

#endif							/* GC_FUSION_H */
