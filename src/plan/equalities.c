/*-------------------------------------------------------------------------
 *
 * equalities.c
 *	  Expressions known to be equal, in classes.
 *
 * Equality is transitive, so that a join key may be any member of its class.  Only
 * equalities on which a hash join can be built are followed.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "equalities.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "leaf.h"
#include "../columns/pgkinds.h"
#include "../compat.h"

GcEqMember *
gc_eq_member(GcEqSet *set, Expr *expr, GcLeaf *leaf)
{
	ListCell   *lc;
	GcEqMember *m;

	foreach(lc, set->members)
	{
		m = lfirst(lc);
		if (equal(m->expr, expr))
			return m;
	}
	m = palloc(sizeof(GcEqMember));
	*m = (GcEqMember) {expr, leaf, set->nclasses++};
	set->members = lappend(set->members, m);
	return m;
}

void
gc_eq_merge(GcEqSet *set, GcEqMember *a, GcEqMember *b)
{
	int			from = b->class;
	ListCell   *lc;

	foreach(lc, set->members)
	{
		GcEqMember *m = lfirst(lc);

		if (m->class == from)
			m->class = a->class;
	}
}

/*
 * Floats are left out: -0 equals 0 with different bytes; so is text under a
 * nondeterministic collation, which need not be its column's.
 */
bool
gc_is_hash_equality(RestrictInfo *rinfo)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	Expr	   *l,
			   *r;
	GcKind		kind;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
		op->opno >= FirstGenbkiObjectId || strcmp(get_opname(op->opno), "=") != 0)
		return false;
	if (bms_is_empty(rinfo->left_relids) || bms_is_empty(rinfo->right_relids))
		return false;
	l = linitial(op->args);
	r = lsecond(op->args);
	kind = gc_type_kind(exprType((Node *) l));
	if (kind == GC_TEXT && !gc_collation_deterministic(op->inputcollid))
		return false;
	return kind != GC_KIND_NONE && !GC_KIND_IS_FLOAT(kind) &&
		!GC_KIND_IS_FLOAT(gc_type_kind(exprType((Node *) r))) &&
		!contain_volatile_functions((Node *) op);
}

/* Is this clause an equality between two leaves of the core on which a hash join can be built? */
static bool
is_equi_clause(GcCore *core, RestrictInfo *rinfo, GcLeaf **left, GcLeaf **right)
{
	if (!gc_is_hash_equality(rinfo))
		return false;
	*left = gc_leaf_among(core->leaves, rinfo->left_relids);
	*right = gc_leaf_among(core->leaves, rinfo->right_relids);
	return *left && *right && *left != *right;
}

void
gc_sort_clauses(GcCore *core, List *clauses, GcEqSet *eqs, List **equi, List **residuals)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		GcLeaf	   *leaf = gc_leaf_among(core->leaves, rinfo->clause_relids);
		GcLeaf	   *l,
				   *r;

		if (leaf && !bms_is_empty(rinfo->clause_relids))
			leaf->filters = lappend(leaf->filters, rinfo);
		else if (is_equi_clause(core, rinfo, &l, &r))
		{
			OpExpr	   *op = (OpExpr *) rinfo->clause;

			gc_eq_merge(eqs, gc_eq_member(eqs, linitial(op->args), l),
						gc_eq_member(eqs, lsecond(op->args), r));
			*equi = lappend(*equi, rinfo);
		}
		else
			*residuals = lappend(*residuals, rinfo);
	}
}

void
gc_merge_constants(GcTranslation *tr, GcCore *core, GcEqSet *eqs)
{
	ListCell   *lc;
	ListCell   *lm;

	foreach(lc, tr->root->eq_classes)
	{
		EquivalenceClass *ec = lfirst_node(EquivalenceClass, lc);
		GcEqMember *first = NULL;

		if (!ec->ec_has_const || ec->ec_broken || ec->ec_has_volatile || GC_EC_BELOW_OUTER_JOIN(ec))
			continue;
		foreach(lm, ec->ec_members)
		{
			EquivalenceMember *em = lfirst_node(EquivalenceMember, lm);
			GcLeaf	   *leaf = bms_membership(em->em_relids) == BMS_SINGLETON ? gc_leaf_among(core->leaves, em->em_relids) : NULL;
			GcKind		kind = gc_type_kind(exprType((Node *) em->em_expr));
			GcEqMember *m;

			if (em->em_is_const || em->em_is_child || leaf == NULL || !IS_SIMPLE_REL(leaf->rel) ||
				kind == GC_KIND_NONE || GC_KIND_IS_FLOAT(kind) ||
				(kind == GC_TEXT && !gc_collation_deterministic(ec->ec_collation)))
				continue;
			if (first && gc_type_kind(exprType((Node *) first->expr)) != kind &&
				!(GC_KIND_IS_INT(kind) && GC_KIND_IS_INT(gc_type_kind(exprType((Node *) first->expr)))))
				continue;
			/* A row source has filtered by the constant, and need not deliver the column. */
			if (gc_leaf_is_source(leaf) && !list_member(leaf->path->pathtarget->exprs, em->em_expr))
				continue;
			m = gc_eq_member(eqs, em->em_expr, leaf);
			if (first)
				gc_eq_merge(eqs, first, m);
			else
				first = m;
		}
	}
}
