/*-------------------------------------------------------------------------
 *
 * equalities.h
 *	  Expressions known to be equal, in classes; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EQUALITIES_H
#define GC_EQUALITIES_H

#include "translate.h"

/* One member of a class of expressions known to be equal. */
typedef struct GcEqMember
{
	Expr	   *expr;
	GcLeaf	   *leaf;
	int			class;
} GcEqMember;

typedef struct GcEqSet
{
	List	   *members;		/* GcEqMember */
	int			nclasses;
} GcEqSet;

/* The member that an expression of a leaf is; a new one, in a class of its own, if need be. */
extern GcEqMember *gc_eq_member(GcEqSet *set, Expr *expr, GcLeaf *leaf);

/* The classes of two members become one. */
extern void gc_eq_merge(GcEqSet *set, GcEqMember *a, GcEqMember *b);

/* Is it an equality of two expressions on which a hash join can be built? */
extern bool gc_is_hash_equality(RestrictInfo *rinfo);

/* Can values of these types be compared as they are stored? */
extern bool gc_kinds_compare(const Expr *a, const Expr *b);

/* Sort a core's clauses: filters of one leaf, equalities of two of its leaves, the rest. */
extern void gc_sort_clauses(GcCore *core, List *clauses, GcEqSet *eqs, List **equi, List **residuals);

/*
 * Columns that are equal to one constant are equal to each other, of which the
 * planner makes no clause: it filters each of them.
 */
extern void gc_merge_constants(GcTranslation *tr, GcCore *core, GcEqSet *eqs);

/* A key by which two cores join whose columns equal one constant; NULL if there is none. */
extern GcJoinKey *gc_constant_key(GcTranslation *tr, GcCore *build, GcCore *probe);

/* An expression of this leaf that is equal to expr; if there is none, expr itself. */
extern Expr *gc_equal_in(const GcEqSet *eqs, Expr *expr, const GcLeaf *leaf);

#endif							/* GC_EQUALITIES_H */
