/*-------------------------------------------------------------------------
 *
 * union.h
 *	  UNION ALL of joins and aggregates, as leaves of the join tree; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_UNION_H
#define GC_UNION_H

#include "../base/translate.h"

/*
 * Make the UNION ALL that a leaf stands for a part of the program: each SELECT has pipelines of its
 * own, which end in the leaf's sink.  False, and the translation is as it was, if that cannot be;
 * leaf->refusal says why.
 */
extern bool gc_union_embed(GcTranslation *tr, GcLeaf *leaf);

#endif							/* GC_UNION_H */
