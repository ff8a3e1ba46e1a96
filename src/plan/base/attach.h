/*-------------------------------------------------------------------------
 *
 * attach.h
 *	  Cores that left, semi and anti joins attach to a core; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ATTACH_H
#define GC_ATTACH_H

#include "equalities.h"
#include "planning.h"

/*
 * A core and those attached to it, at any depth, as GcCores; all leaves are added to the translation.
 */
extern GcCore *gc_core_make(GcTranslation *tr, const GcRelDesc *desc);

/*
 * Clauses of the core may name a column of a semi join's inner side, which is equal to one of the
 * outer side.  They name the latter instead.
 */
extern List *gc_core_clauses(GcTranslation *tr, GcCore *core);

/*
 * Make an attached core, whose own tree is complete, part of the one that it is attached to.  eqs: of
 * the latter.
 */
extern bool gc_core_attach(GcTranslation *tr, GcCore *core, GcCore *attached, const GcEqSet *eqs);

/*
 * Between the pipelines of `at` and `from`: the nearest leaf to `from` whose columns its parent
 * does not have.  That is one which a semi or anti join probes.  NULL if there is none.
 */
extern GcLeaf *gc_hiding_leaf(GcTranslation *tr, GcLeaf *at, GcLeaf *from);

#endif							/* GC_ATTACH_H */
