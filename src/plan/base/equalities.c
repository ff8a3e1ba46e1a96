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
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"

GcEqMember *
gc_eq_member(GcEqSet *set, Expr *expr, GcLeaf *leaf)
{
	ListCell   *lc;
	GcEqMember *m;

	foreach(lc, set->members)
	{
		m = lfirst(lc);
		if (gc_equal(m->expr, expr))
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
 * Floats are left out, since -0 equals 0 with different bytes, and so are documents.  So is text
 * under a nondeterministic collation, which need not be its column's.
 */
bool
gc_is_hash_equality(RestrictInfo *rinfo)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	Expr	   *l,
			   *r;
	GcKind		kind;
	bool		known;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 || op->opno >= FirstGenbkiObjectId)
		return false;
	/* The planner has found out of most that they are, and call nothing volatile. */
	known = rinfo->hashjoinoperator == op->opno;
	if (!known && strcmp(get_opname(op->opno), "=") != 0)
		return false;
	if (bms_is_empty(rinfo->left_relids) || bms_is_empty(rinfo->right_relids))
		return false;
	l = linitial(op->args);
	r = lsecond(op->args);
	kind = gc_type_kind(exprType((Node *) l));
	if (GC_KIND_IS_CODE(kind) && !gc_collation_deterministic(op->inputcollid))
		return false;
	return kind != GC_KIND_NONE && !GC_KIND_IS_FLOAT(kind) && !gc_kinds[kind].opaque &&
		!GC_KIND_IS_FLOAT(gc_type_kind(exprType((Node *) r))) &&
		(known || !contain_volatile_functions((Node *) op));
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

		if (leaf && leaf->append && leaf->append->conditioned && list_member_ptr(leaf->rel->baserestrictinfo, rinfo))
			continue;
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

/* Is it known of all rows that the members of this class equal one constant? */
static bool
equals_constant(const EquivalenceClass *ec)
{
	return ec->ec_has_const && !ec->ec_broken && !ec->ec_has_volatile && !GC_EC_BELOW_OUTER_JOIN(ec);
}

/* The leaf whose column a member is, and can be joined by; NULL if it is none. */
static GcLeaf *
member_leaf(List *leaves, const EquivalenceClass *ec, const EquivalenceMember *em)
{
	GcLeaf	   *leaf = bms_membership(em->em_relids) == BMS_SINGLETON ? gc_leaf_among(leaves, em->em_relids) : NULL;
	GcKind		kind = gc_type_kind(exprType((Node *) em->em_expr));

	if (em->em_is_const || em->em_is_child || leaf == NULL || !IS_SIMPLE_REL(leaf->rel) ||
		kind == GC_KIND_NONE || GC_KIND_IS_FLOAT(kind) || gc_kinds[kind].opaque ||
		(GC_KIND_IS_CODE(kind) && !gc_collation_deterministic(ec->ec_collation)))
		return NULL;
	/* A row source has filtered by the constant, and need not deliver the column. */
	if (gc_leaf_is_source(leaf) && !list_member(leaf->path->pathtarget->exprs, em->em_expr))
		return NULL;
	return leaf;
}

bool
gc_kinds_compare(const Expr *a, const Expr *b)
{
	GcKind		x = gc_type_kind(exprType((Node *) a));
	GcKind		y = gc_type_kind(exprType((Node *) b));

	return x == y || (GC_KIND_IS_INT(x) && GC_KIND_IS_INT(y));
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

		if (!equals_constant(ec))
			continue;
		foreach(lm, ec->ec_members)
		{
			EquivalenceMember *em = lfirst_node(EquivalenceMember, lm);
			GcLeaf	   *leaf = member_leaf(core->leaves, ec, em);
			GcEqMember *m;

			if (leaf == NULL || (first && !gc_kinds_compare(first->expr, em->em_expr)))
				continue;
			m = gc_eq_member(eqs, em->em_expr, leaf);
			if (first)
				gc_eq_merge(eqs, first, m);
			else
				first = m;
		}
	}
}

GcJoinKey *
gc_constant_key(GcTranslation *tr, GcCore *build, GcCore *probe)
{
	ListCell   *lc;
	ListCell   *lm;

	foreach(lc, tr->root->eq_classes)
	{
		EquivalenceClass *ec = lfirst_node(EquivalenceClass, lc);
		GcJoinKey	key = {NULL, NULL};

		if (!equals_constant(ec))
			continue;
		foreach(lm, ec->ec_members)
		{
			EquivalenceMember *em = lfirst_node(EquivalenceMember, lm);

			if (key.build_side == NULL && member_leaf(build->leaves, ec, em))
				key.build_side = em->em_expr;
			else if (key.probe_side == NULL && member_leaf(probe->leaves, ec, em))
				key.probe_side = em->em_expr;
		}
		if (key.build_side && key.probe_side && gc_kinds_compare(key.build_side, key.probe_side))
		{
			GcJoinKey  *result = palloc(sizeof(GcJoinKey));

			*result = key;
			return result;
		}
	}
	return NULL;
}

Expr *
gc_equal_in(const GcEqSet *eqs, Expr *expr, const GcLeaf *leaf)
{
	ListCell   *lc;
	int			class = -1;

	foreach(lc, eqs->members)
	{
		GcEqMember *m = lfirst(lc);

		if (gc_equal(m->expr, expr))
			class = m->class;
	}
	foreach(lc, eqs->members)
	{
		GcEqMember *m = lfirst(lc);

		if (m->class == class && m->leaf == leaf && gc_kinds_compare(m->expr, expr))
			return m->expr;
	}
	return expr;
}
