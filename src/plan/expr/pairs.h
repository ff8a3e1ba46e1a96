/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  Expressions of two columns of few values as lookup tables, with an entry for each pair of texts; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_PAIRS_H
#define GC_PLAN_PAIRS_H

#include "../base/translate.h"

/*
 * The two Vars of which an expression can be a lookup table: both texts or their like, or with or_integers also
 * integers.  False if it cannot: without a reason, unless only row security is in the way.
 */
extern bool gc_lookup_pair(GcTranslation *tr, Expr *expr, bool or_integers, Var *vars[2]);

/* Such a Var as a text, whose translation is a code of a dictionary. */
extern Expr *gc_pair_part(Var *var);

/*
 * The table of two Vars; codes: their texts, translated.  GC_NO_EXPR with a reason: they have too many values together,
 * by what is cached of them, or else by statistics.
 */
extern int	gc_pair_table(GcTranslation *tr, Expr *expr, Var *const vars[2], const int codes[2]);

/*
 * An expression that concatenates texts, and integers as texts, of several columns, as two parts.  Each is translated,
 * unless it is without Vars: then its code is GC_NO_EXPR.  The table is of what both parts can be.
 */
extern bool gc_lookup_concatenation(GcTranslation *tr, Expr *expr, Expr *parts[2]);
extern int	gc_concatenation_table(GcTranslation *tr, Expr *expr, Expr *const parts[2], const int codes[2]);

#endif							/* GC_PLAN_PAIRS_H */
