/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Expressions of one Var, or of two (pairs.c), as lookup tables, which PostgreSQL fills; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_LOOKUP_H
#define GC_PLAN_LOOKUP_H

#include "../base/translate.h"

/* Is there a parameter in an expression?  (A walker: context is not looked at.) */
extern bool gc_contains_param(Node *node, void *context);

/*
 * The Var of which an expression can be a lookup table.  NULL if it cannot: without a
 * reason, unless only row security is in the way.
 */
extern Var *gc_lookup_argument(GcTranslation *tr, Expr *expr);

/* The Vars of an expression, up to two, each once; how many there are, or 3. */
extern int	gc_lookup_vars(Expr *expr, Var *vars[2]);

/*
 * May PostgreSQL compute an expression of Vars for values that no row need have?  False: without a reason, unless only
 * row security is in the way.
 */
extern bool gc_is_tabulated(GcTranslation *tr, Expr *expr);

/*
 * The Var's translation as the argument of a lookup table.  Equal texts with several codes do not matter to f(x):
 * then it is these codes.  The table that unifies them is left out again if it is beyond the first nluts, that is,
 * made just for this.  A timestamp becomes the date, in the session's time zone if it has one; GC_NO_EXPR with a
 * reason: that has several offsets.
 */
extern int	gc_lookup_codes(GcTranslation *tr, int arg, int nluts);

/* That table; arg: the Var, translated. */
extern int	gc_lookup_table(GcTranslation *tr, Expr *expr, Var *var, int arg);

/*
 * A table as a plan has it, for about so many values; second: NULL, or the other Var that it is of.  executed: what
 * fills it, of values that come in the places that *lut names.
 */
extern int	gc_build_table(GcTranslation *tr, Expr *expr, Var *second, Expr *executed, int arg, GcPlanLut *lut,
						   double values);

/* An expression with Vars of lower query levels as the scan tuple has them. */
extern Node *gc_level_vars(GcTranslation *tr, Node *node);

/* Values of a column, by statistics. */
extern double gc_var_values(GcTranslation *tr, Var *var);

/* A text expression's value as a code in another dictionary. */
extern int	gc_translate_space(GcTranslation *tr, int expr, uint16 space);

/* A choice among texts as a code in another dictionary: texts that it lacks are added to this request's view. */
extern int	gc_add_to_space(GcTranslation *tr, int expr, uint16 space);

/*
 * The rank of a text among all values of its dictionary, in the order of a collation.  Ranks of one *table can be
 * compared; GC_NO_EXPR makes one.  Nothing may be added to the dictionary between.
 */
extern int	gc_text_rank(GcTranslation *tr, Oid type, Oid collation, int expr, int *table);

/* Refuse a call of a function or an operator that neither kernels nor a lookup table computes; GC_NO_EXPR. */
extern int	gc_refuse_call(GcTranslation *tr, const char *what, const char *name, List *args);

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

#endif							/* GC_PLAN_LOOKUP_H */
