/*-------------------------------------------------------------------------
 *
 * leaf.h
 *	  Leaves of the join tree, and values on their way between pipelines; what joins attach to
 *	  leaves (attach.c).  Private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LEAF_H
#define GC_LEAF_H

#include "equalities.h"
#include "planning.h"
#include "translate.h"

/* Can this relation be read through the column cache?  *reason otherwise. */
extern bool gc_cacheable_table(PlannerInfo *root, RelOptInfo *rel, Oid *relid, const char **reason);

extern GcLeaf *gc_leaf_make(GcTranslation *tr, RelOptInfo *rel);

/* Make a leaf that PostgreSQL reads and filters, rows encoded as they come. */
extern bool gc_leaf_demote(GcTranslation *tr, GcLeaf *leaf);

/* The leaf that has all of these relations; NULL if none has. */
extern GcLeaf *gc_leaf_among(List *leaves, Relids relids);
extern GcLeaf *gc_leaf_of_rel(GcTranslation *tr, int relid);

/* Relations without the outer joins that from PostgreSQL 16 on stand among them. */
extern Relids gc_base_relids(GcTranslation *tr, Relids relids);

/* An expression as the leaf's own relation delivers it: not made NULL by outer joins above. */
extern Node *gc_unnulled(GcTranslation *tr, GcLeaf *leaf, Node *node);

/* Does a unique index on just this column make it a key of its table? */
extern bool gc_is_unique_column(GcLeaf *leaf, Expr *expr);

/* Are all columns of some unique index among the build sides of these keys? */
extern bool gc_covers_unique_index(const GcLeaf *leaf, List *keys);

/* Value of an expression that lives in leaf `from`, in the pipeline of `at`. */
extern int	gc_bring(GcTranslation *tr, GcLeaf *at, GcLeaf *from, int expr);

/* Is it proven that no key comes twice out of this leaf's pipeline? */
extern bool gc_leaf_unique(GcLeaf *leaf);

/* Is the leaf a subquery, and do the keys (GcJoinKey) have all that it groups by among them? */
extern bool gc_covers_groups(GcLeaf *leaf, List *keys);

/*
 * The key by which the only row of a subquery without GROUP BY is found: a constant on both sides.  Does
 * the leaf have it?
 */
extern GcJoinKey *gc_only_key(void);
extern bool gc_finds_only_row(const GcLeaf *leaf);

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

#endif							/* GC_LEAF_H */
