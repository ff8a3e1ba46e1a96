/*-------------------------------------------------------------------------
 *
 * subquery.h
 *	  Aggregated subqueries in FROM, as leaves of the join tree; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SUBQUERY_H
#define GC_SUBQUERY_H

#include "translate.h"

/*
 * Make the subquery that a leaf stands for a part of the program: the leaf's pipeline scans its
 * groups.  False, and the translation is as it was, if that cannot be.
 */
extern bool gc_subquery_embed(GcTranslation *tr, GcLeaf *leaf);

/* A column of the subquery, in the pipeline of its leaf. */
extern int	gc_subquery_column(GcTranslation *tr, GcLeaf *leaf, Var *var);

/* Do these columns of the subquery identify its rows? */
extern bool gc_subquery_unique(GcLeaf *leaf, List *vars);

#endif							/* GC_SUBQUERY_H */
