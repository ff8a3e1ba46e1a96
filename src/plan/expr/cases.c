/*-------------------------------------------------------------------------
 *
 * cases.c
 *	  CASE, COALESCE, GREATEST and LEAST: their arms, and the dictionary that texts of these are of.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "expr.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"

#include "../base/builder.h"
#include "lookup.h"
#include "../../columns/encode/pgkinds.h"

/* A choice among values, whose arms are brought together one by one. */
typedef struct Choice
{
	bool		texts_mix;		/* its texts may come from several dictionaries */
} Choice;

/*
 * Texts of character types are padded as one column's are, so only that one's may be results.  And
 * an expression of one text column alone is better as a lookup table.
 */
static Choice
begin_choice(GcTranslation *tr, Expr *expr)
{
	Oid			type = exprType((Node *) expr);
	const char *reason = tr->reason;
	Choice	choice = {GC_KIND_IS_CODE(gc_type_kind(type)) && gc_base_type(type) != BPCHAROID &&
	gc_collation_deterministic(exprCollation((Node *) expr))};

	if (choice.texts_mix)
	{
		Var		   *var = gc_lookup_argument(tr, expr);

		choice.texts_mix = var == NULL || !GC_KIND_IS_CODE(gc_type_kind(var->vartype));
		tr->reason = reason;
	}
	return choice;
}

/* Which of two arms' dictionaries is to have the values of both. */
uint16
gc_common_space(uint16 a, uint16 b)
{
	if (a == GC_SPACE_NONE || a == GC_SPACE_CONSTANTS)
		return b == GC_SPACE_NONE ? a : b;
	return a;
}

/*
 * Two arms of a choice must be of one kind, and texts of one dictionary.  What another
 * one has and this one lacks has no code here until it is added.
 */
static bool
join_arms(GcTranslation *tr, const Choice *choice, int *a, int *b)
{
	const GcExpr *x = &tr->pexprs[*a];
	const GcExpr *y = &tr->pexprs[*b];
	uint16		space = gc_common_space(tr->space[*a], tr->space[*b]);

	if (x->kind != y->kind)
		gc_refuse(tr, "the arms of an expression differ in type");
	else if (GC_KIND_IS_CODE(x->kind) && x->op != GC_OP_NULL && y->op != GC_OP_NULL &&
			 (tr->space[*a] != tr->space[*b] || space == GC_SPACE_NONE))
	{
		if (!choice->texts_mix || tr->space[*a] == GC_SPACE_NONE || tr->space[*b] == GC_SPACE_NONE)
			gc_refuse(tr, "texts of several columns, or constants, are chosen from");
		else
		{
			*a = gc_add_to_space(tr, *a, space);
			*b = *a < 0 ? GC_NO_EXPR : gc_add_to_space(tr, *b, space);
		}
	}
	return tr->reason == NULL;
}

/* Texts of one dictionary are compared by their ranks; of the rank that wins, it has the text. */
static int
text_extreme(GcTranslation *tr, const MinMaxExpr *m, const Choice *choice, List *arms)
{
	GcPlanLut	ranked = {.type = GC_LUT_RANKED,.expr = -1,.space = GC_SPACE_NONE};
	const GcOp	op = m->op == IS_GREATEST ? GC_OP_GREATEST : GC_OP_LEAST;
	const GcKind kind = tr->pexprs[linitial_int(arms)].kind;
	int			table = GC_NO_EXPR;
	int			e = GC_NO_EXPR;
	ListCell   *lc;

	foreach(lc, arms)
		ranked.space = gc_common_space(ranked.space, tr->space[lfirst_int(lc)]);
	foreach(lc, arms)
	{
		const int	a = lfirst_int(lc);

		if (tr->space[a] != ranked.space && (!choice->texts_mix || tr->space[a] == GC_SPACE_NONE))
			return gc_refuse(tr, "texts of several columns, or constants, are chosen from");
		if ((lfirst_int(lc) = gc_add_to_space(tr, a, ranked.space)) < 0)
			return GC_NO_EXPR;
	}
	foreach(lc, arms)
	{
		const int	a = gc_text_rank(tr, m->minmaxtype, m->inputcollid, lfirst_int(lc), &table);

		if (a < 0)
			return a;
		e = e < 0 ? a : gc_build_expr(tr, op, GC_INT4, e, a, -1, -1);
		if (e < 0)
			return e;
	}
	ranked.to_space = ranked.space;
	ranked.rank = table;
	return gc_build_lut(tr, e, kind, &ranked);
}

/*
 * CASE x WHEN a ...: in the place of the node that stands for x, x itself, which nothing volatile is in.
 * A CASE with an operand below it has such nodes of its own, except in that operand.
 */
static Node *
put_operand_below(Node *node, void *operand)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, CaseTestExpr))
		return copyObject((Node *) operand);
	if (IsA(node, ArrayCoerceExpr))
		return node;
	if (IsA(node, CaseExpr) && ((CaseExpr *) node)->arg)
	{
		CaseExpr   *copy = makeNode(CaseExpr);

		*copy = *(CaseExpr *) node;
		copy->arg = (Expr *) put_operand_below((Node *) copy->arg, operand);
		return (Node *) copy;
	}
	return expression_tree_mutator(node, put_operand_below, operand);
}

CaseExpr *
gc_case_by_conditions(CaseExpr *c)
{
	CaseExpr   *copy;

	if (c->arg == NULL)
		return c;
	copy = makeNode(CaseExpr);
	*copy = *c;
	copy->arg = NULL;
	copy->args = (List *) put_operand_below((Node *) c->args, c->arg);
	return copy;
}

/* One arm; a text constant belongs to the constants' dictionary. */
static int
translate_arm(GcTranslation *tr, GcLeaf *leaf, const Choice *choice, Expr *arm)
{
	if (choice->texts_mix && !gc_has_vars((Node *) arm) && !IsA(arm, PlaceHolderVar))
		return gc_translate_param(tr, arm, GC_SPACE_CONSTANTS);
	return tr->translate(tr, leaf, arm);
}

/* From the last arm on, each is IF of its condition, its value and what comes behind it. */
int
gc_translate_case(GcTranslation *tr, GcLeaf *leaf, CaseExpr *c)
{
	GcKind		kind = gc_type_kind(c->casetype);
	Choice	choice;
	uint16		space;
	int			e;

	c = gc_case_by_conditions(c);
	if (kind == GC_KIND_NONE)
		return gc_refuse(tr, "type %s is not supported", format_type_be(c->casetype));
	choice = begin_choice(tr, (Expr *) c);
	tr->choices++;
	e = c->defresult ? translate_arm(tr, leaf, &choice, c->defresult) : gc_build_null(tr, kind);
	for (int i = list_length(c->args) - 1; i >= 0 && e >= 0; i--)
	{
		CaseWhen   *w = list_nth_node(CaseWhen, c->args, i);
		int			cond = tr->translate(tr, leaf, w->expr);
		int			then = cond < 0 ? cond : translate_arm(tr, leaf, &choice, w->result);

		if (then < 0 || !join_arms(tr, &choice, &then, &e))
		{
			e = GC_NO_EXPR;
			break;
		}
		space = gc_common_space(tr->space[then], tr->space[e]);
		e = gc_build_expr(tr, GC_OP_IF, kind, cond, then, e, -1);
		if (e >= 0)
			tr->space[e] = space;
	}
	tr->choices--;
	return e;
}

int
gc_translate_text_extreme(GcTranslation *tr, GcLeaf *leaf, MinMaxExpr *m)
{
	Choice	choice = begin_choice(tr, (Expr *) m);
	List	   *arms = NIL;
	ListCell   *lc;

	foreach(lc, m->args)
	{
		int			a = translate_arm(tr, leaf, &choice, lfirst(lc));

		if (a < 0)
			return a;
		if (tr->pexprs[a].op != GC_OP_NULL)
			arms = lappend_int(arms, a);
	}
	return arms == NIL ? gc_build_null(tr, gc_type_kind(m->minmaxtype)) : text_extreme(tr, m, &choice, arms);
}

/* Folded pairwise, from the left. */
int
gc_translate_choice(GcTranslation *tr, GcLeaf *leaf, Expr *expr, List *args, GcOp op)
{
	Choice	choice = begin_choice(tr, expr);
	ListCell   *lc;
	uint16		space;
	int			e = GC_NO_EXPR;

	foreach(lc, args)
	{
		int			a = translate_arm(tr, leaf, &choice, lfirst(lc));

		if (a < 0)
			return a;
		if (e >= 0)
		{
			if (!join_arms(tr, &choice, &e, &a))
				return GC_NO_EXPR;
			space = gc_common_space(tr->space[e], tr->space[a]);
			e = gc_build_expr(tr, op, tr->pexprs[a].kind, e, a, -1, -1);
			if (e >= 0)
				tr->space[e] = space;
		}
		else
			e = a;
		if (e < 0)
			return e;
	}
	return e;
}
