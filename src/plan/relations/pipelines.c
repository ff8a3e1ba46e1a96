/*-------------------------------------------------------------------------
 *
 * pipelines.c
 *	  From the tree of leaves to the steps of pipelines.
 *
 * Each leaf becomes a pipeline.  First come its filters and the probes of its children, in the order of steps.c, then
 * conditions on several leaves, then its own build's keys.  The pipelines of its children come before it.
 *
 * Behind a pipeline with full joins come the rests of it, one for each.  They have no steps of
 * their own: packing gives them those that stand behind the join.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "pipelines.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "../base/append.h"
#include "../base/builder.h"
#include "../base/display.h"
#include "../base/leaf.h"
#include "../base/quotient.h"
#include "../expr/expr.h"
#include "../expr/lookup.h"
#include "../expr/functions.h"
#include "../group/choice.h"

#include "../../columns/encode/pgkinds.h"

/* Is everything that an expression reads at hand in `leaf`'s pipeline, or in `child`'s build? */
static bool
at_hand(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child, List *probed, Node *expr)
{
	Relids		relids = gc_base_relids(tr, pull_varnos(tr->root, expr));
	int			relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		GcLeaf	   *from = gc_leaf_of_rel(tr, relid);

		while (from && from != leaf && from->parent != leaf)
			from = from->parent;
		if (from != leaf && from != child && !list_member_ptr(probed, from))
			return false;
	}
	return true;
}

/* Is everything that probing `child` needs already at hand in `leaf`'s pipeline? */
static bool
probe_ready(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child, List *probed)
{
	ListCell   *lc;

	foreach(lc, child->keys)
	{
		if (!at_hand(tr, leaf, child, probed, (Node *) ((GcJoinKey *) lfirst(lc))->probe_side))
			return false;
	}
	foreach(lc, child->conditions)
	{
		if (!at_hand(tr, leaf, child, probed, (Node *) lfirst_node(RestrictInfo, lc)->clause))
			return false;
	}
	return true;
}

/* Is it a test of NULL for being NULL, as above an anti join that was a left join? */
static bool
always_true(GcTranslation *tr, int e)
{
	const GcExpr *x = &tr->pexprs[e];

	return x->op == GC_OP_ISNULL && tr->pexprs[x->arg[0]].op == GC_OP_NULL;
}

/* All of the clauses as one expression, *all; -1: there are none that could be false. */
static bool
translate_clauses(GcTranslation *tr, GcLeaf *leaf, List *clauses, int display, int *all)
{
	ListCell   *lc;

	*all = -1;
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		int			e;

		tr->in_condition = true;
		e = gc_translate_expr(tr, leaf, rinfo->clause);
		tr->in_condition = false;
		if (e < 0)
			return false;
		if (always_true(tr, e))
			continue;
		*all = *all < 0 ? e : gc_build_expr(tr, GC_OP_AND, GC_BOOL, *all, e, -1, -1);
		if (*all < 0)
			return false;
		if (leaf->append == NULL || !gc_append_has_filter(leaf->append, rinfo))
			gc_build_display(tr, leaf->pipeline, display, rinfo->clause);
	}
	return true;
}

/* A step that tests clauses, of which `share` of the rows pass.  No clauses, no step. */
static bool
emit_filter(GcTranslation *tr, GcLeaf *leaf, List *clauses, double share)
{
	int			all;

	if (!translate_clauses(tr, leaf, clauses, GC_DISPLAY_FILTER, &all))
		return false;
	if (all >= 0)
		gc_build_filter(tr, leaf->pipeline, all, share);
	return true;
}

static bool
is_stddev(const GcExpr *e)
{
	return e->op == GC_OP_STDDEV;
}

/* A condition, e, with a variance: near values tell of most groups that it drops them, without the digits. */
static int
near_first(GcTranslation *tr, GcLeaf *leaf, Expr *clause, int e)
{
	GcTranslation *before;
	int			near;

	if (e < 0 || !gc_any_part(tr, e, is_stddev))
		return e;
	before = gc_builder_save(tr);
	near = gc_groups_maybe(tr, leaf->groups, clause);
	if (near >= 0)
		return gc_build_expr(tr, GC_OP_IF, GC_BOOL, near, e, gc_build_null(tr, GC_BOOL), -1);
	gc_builder_restore(tr, before);
	return e;
}

/* HAVING of the subquery whose groups the leaf is. */
static bool
emit_having(GcTranslation *tr, GcLeaf *leaf)
{
	ListCell   *lc;

	foreach(lc, leaf->having)
	{
		const int	e = near_first(tr, leaf, lfirst(lc), gc_groups_expr(tr, leaf->groups, lfirst(lc)));

		if (e < 0)
			return false;
		gc_build_filter(tr, leaf->pipeline, e, 0.5);
		gc_build_display_of(tr, leaf->groups->root, leaf->pipeline, GC_DISPLAY_FILTER, lfirst(lc));
	}
	return true;
}

/*
 * Is the condition on a match just that two values differ, inner <> outer?  Where keys repeat, an entry for each key
 * then does, with its greatest and least value.  Some value differs from the outer one if one of these two does.
 */
static bool
is_difference(GcTranslation *tr, GcLeaf *child, Expr **inner, Expr **outer)
{
	OpExpr	   *op;
	GcKind		kind;
	Relids		left,
				right;

	if ((child->join != GC_JOIN_SEMI && child->join != GC_JOIN_ANTI) || gc_leaf_unique(child) || child->keys == NIL ||
		list_length(child->conditions) != 1)
		return false;
	op = (OpExpr *) linitial_node(RestrictInfo, child->conditions)->clause;
	if (!IsA(op, OpExpr) || list_length(op->args) != 2 || op->opno >= FirstGenbkiObjectId ||
		gc_comparison_op(get_opname(op->opno)) != GC_OP_NE || !gc_text_equality_ok(op, GC_OP_NE))
		return false;
	left = gc_base_relids(tr, pull_varnos(tr->root, linitial(op->args)));
	right = gc_base_relids(tr, pull_varnos(tr->root, lsecond(op->args)));
	*inner = bms_is_subset(left, child->relids) ? linitial(op->args) : lsecond(op->args);
	*outer = *inner == linitial(op->args) ? lsecond(op->args) : linitial(op->args);
	if (*inner == lsecond(op->args) && !bms_is_subset(right, child->relids))
		return false;
	kind = gc_type_kind(exprType((Node *) *inner));
	return !bms_is_empty(left) && !bms_is_empty(right) &&
		!bms_overlap(*inner == linitial(op->args) ? right : left, child->relids) &&
		kind == gc_type_kind(exprType((Node *) *outer)) &&
		(GC_KIND_IS_INT(kind) || kind == GC_DATE || GC_KIND_IS_CODE(kind));
}

/* The least value is the greatest of the negated ones. */
static int
negated(GcTranslation *tr, int e)
{
	return gc_build_expr(tr, GC_OP_NEG, GC_INT8, e, -1, -1, -1);
}

/* Is there a value below that differs from the outer one?  Its greatest or its least one does then. */
static int
translate_difference(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child, Expr *inner, Expr *outer)
{
	int			x = gc_translate_expr(tr, child, inner);
	int			y = x < 0 ? x : gc_translate_expr(tr, leaf, outer);
	int			greatest,
				least;

	if (y < 0 || tr->pexprs[x].op == GC_OP_NULL)
		return GC_NO_EXPR;
	if (GC_KIND_IS_CODE(tr->pexprs[x].kind) && (y = gc_translate_space(tr, y, tr->space[x])) < 0)
		return y;
	greatest = gc_build_greatest(tr, child->build, x);
	least = greatest < 0 ? greatest : gc_build_greatest(tr, child->build, negated(tr, x));
	if (least < 0)
		return least;
	return gc_build_expr(tr, GC_OP_OR, GC_BOOL, gc_build_expr(tr, GC_OP_NE, GC_BOOL, greatest, y, -1, -1),
						 gc_build_expr(tr, GC_OP_NE, GC_BOOL, least, negated(tr, y), -1, -1), -1, -1);
}

/* The condition on a match of child's build, *all; -1: there is none. */
static bool
translate_condition(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child, int *all)
{
	Expr	   *inner,
			   *outer;
	bool		ok;

	if (is_difference(tr, child, &inner, &outer) &&
		(*all = translate_difference(tr, leaf, child, inner, outer)) >= 0)
	{
		gc_build_display(tr, leaf->pipeline, GC_DISPLAY_CONDITION(child->build),
						 linitial_node(RestrictInfo, child->conditions)->clause);
		return true;
	}
	if (tr->reason)
		return false;
	tr->matching = child;
	ok = translate_clauses(tr, leaf, child->conditions, GC_DISPLAY_CONDITION(child->build), all);
	tr->matching = NULL;
	return ok;
}

/* A step that probes a child's build by its keys, with conditions on the match. */
static bool
emit_probe(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child)
{
	List	   *probe_keys = NIL;
	ListCell   *lc;
	int			n = 0;
	int			condition;

	/* Columns of it that a condition on its match reads come behind the full joins so far. */
	child->after_full = list_length(leaf->full);
	foreach(lc, child->keys)
	{
		GcJoinKey  *key = lfirst(lc);
		int			p = gc_translate_expr(tr, leaf, key->probe_side);
		int			b = list_nth_int(tr->build_keys[child->build], n);

		if (p < 0)
			return false;
		/* The build side is compiled already; the probe side adapts to it. */
		if (GC_KIND_IS_CODE(tr->pexprs[p].kind))
			p = gc_translate_space(tr, p, tr->space[b]);
		else if (!(GC_KIND_IS_INT(tr->pexprs[p].kind) && GC_KIND_IS_INT(tr->pexprs[b].kind)))
		{
			if (tr->pexprs[p].kind != tr->pexprs[b].kind &&
				!(tr->pexprs[p].kind == GC_DATE && tr->pexprs[b].kind == GC_TIMESTAMP))
				p = gc_refuse(tr, "join keys of different types are compared");
			else
				p = gc_build_cast(tr, p, tr->pexprs[b].kind);
		}
		if (p < 0)
			return false;
		probe_keys = lappend_int(probe_keys, p);
		n++;
		if (gc_finds_only_row(child))
			continue;
		gc_build_display(tr, leaf->pipeline, GC_DISPLAY_KEY(child->build), key->probe_side);
		gc_build_display(tr, child->pipeline, GC_DISPLAY_KEY(child->build), key->build_side);
	}
	if (!translate_condition(tr, leaf, child, &condition))
		return false;
	gc_build_probe(tr, leaf->pipeline, child, probe_keys, condition);
	if (gc_join_keeps(child->join))
		leaf->full = lappend(leaf->full, child);
	child->after_full = list_length(leaf->full);
	return true;
}

/*
 * Clauses on several leaves, one after another: all, or those for which the probed leaves are enough.
 * Behind a list their share is one of pairs, and rows without any pair may be few.
 */
static bool
emit_residuals(GcTranslation *tr, GcLeaf *leaf, List **residuals, List *probed, bool all)
{
	List	   *left = NIL;
	bool		tried = false;
	ListCell   *lc;

	foreach(lc, probed)
		tried |= gc_leaf_is_list(lfirst(lc));
	foreach(lc, *residuals)
	{
		List	   *clause = list_make1(lfirst(lc));

		if (!all && !at_hand(tr, leaf, leaf, probed, (Node *) linitial_node(RestrictInfo, clause)->clause))
			left = lappend(left, lfirst(lc));
		else if (!emit_filter(tr, leaf, clause, tried ? 1 : gc_clauses_share(tr, clause)))
			return false;
	}
	*residuals = left;
	return true;
}

/* Open the rest of a pipeline that has probed `child` by a full join just now. */
static bool
open_rest(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child)
{
	if (tr->npipelines == GC_MAX_PIPELINES || tr->ninputs == GC_MAX_INPUTS)
	{
		gc_refuse(tr, "too many relations are joined");
		return false;
	}
	tr->builds[child->build].keeps = 1;
	tr->rest_of[tr->npipelines] = leaf->pipeline + 1;
	tr->rest_steps[tr->npipelines] = list_length(tr->steps[leaf->pipeline]);
	tr->pipelines[tr->npipelines].input = tr->ninputs;
	tr->unmatched_of[tr->ninputs] = child->build + 1;
	tr->plan->inputs[tr->ninputs] = (GcPlanInput) {.relid = InvalidOid,.child = -1};
	tr->ninputs++;
	tr->npipelines++;
	return true;
}

/* Take a step; what is to be filtered before a full join is, by then. */
static bool
emit_step(GcTranslation *tr, GcLeaf *leaf, const GcStepPlan *step, List *probed)
{
	const bool	keeps = step->probe && gc_join_keeps(step->probe->join);

	if (step->filters)
		return emit_filter(tr, leaf, step->filters, step->share);
	tr->lists_source |= gc_leaf_is_list(step->probe) && gc_leaf_is_source(step->probe);
	if ((keeps || gc_leaf_is_list(step->probe)) && !emit_residuals(tr, leaf, &leaf->residuals, probed, keeps))
		return false;
	return emit_probe(tr, leaf, step->probe) && (!keeps || open_rest(tr, leaf, step->probe));
}

static bool translate_leaf(GcTranslation *tr, GcLeaf *leaf);

/* The build sides of a pipeline come first, each with its own below it. */
static bool
translate_children(GcTranslation *tr, GcLeaf *leaf)
{
	ListCell   *lc;

	foreach(lc, leaf->children)
	{
		if (!translate_leaf(tr, lfirst(lc)))
			return false;
	}
	return true;
}

/* Do the statistics say that the key repeats? */
static bool
duplicates_likely(GcTranslation *tr, GcLeaf *leaf)
{
	GcJoinKey  *key = linitial(leaf->keys);
	VariableStatData stats;
	bool		isdefault;
	double		ndistinct;

	if (gc_finds_only_row(leaf))
		return false;
	/* Nothing is known of it, but that each arm may have the key, and so may groups that have others, too. */
	if (leaf->arms || leaf->groups)
		return true;
	examine_variable(tr->root, (Node *) key->build_side, 0, &stats);
	ndistinct = get_variable_numdistinct(&stats, &isdefault);
	ReleaseVariableStats(stats);
	return !isdefault && ndistinct < 0.95 * leaf->tuples;
}

/* Does a unique index of the probing leaf cover the key's columns there? */
static bool
finds_once(const GcLeaf *leaf)
{
	List	   *swapped = NIL;
	ListCell   *lc;

	foreach(lc, leaf->keys)
	{
		GcJoinKey  *key = palloc(sizeof(GcJoinKey));

		key->build_side = ((GcJoinKey *) lfirst(lc))->probe_side;
		swapped = lappend(swapped, key);
	}
	return gc_covers_unique_index(leaf->parent, swapped);
}

/*
 * The pipeline of a UNION ALL is its first arm's, with more steps.  It, and all whose rows come to its
 * sink, follow what these steps probe, which may be a UNION ALL that was resumed before.
 */
static void
resume_arm(GcTranslation *tr, GcLeaf *leaf)
{
	tr->nresumed++;
	leaf->pipeline = ((GcArm *) linitial(leaf->arms->arms))->streamed->pipeline;
	for (int n = 0; n < tr->npipelines; n++)
	{
		if (gc_sink_pipeline(tr, n) == leaf->pipeline)
			tr->place[n] = GC_PLACE(tr->npipelines, tr->nresumed);
	}
}

/* Begin the leaf's pipeline, which fills its build unless it is the streamed one. */
static bool
open_pipeline(GcTranslation *tr, GcLeaf *leaf)
{
	GcPPipeline *pl;

	if ((leaf->parent && tr->nbuilds == GC_MAX_BUILDS) || tr->npipelines == GC_MAX_PIPELINES)
	{
		gc_refuse(tr, "too many relations are joined");
		return false;
	}
	if (leaf->arms)
		resume_arm(tr, leaf);
	else
		leaf->pipeline = tr->npipelines++;
	pl = &tr->pipelines[leaf->pipeline];
	memset(pl, 0, sizeof(*pl));
	pl->input = leaf->input;
	pl->build = GC_NONE;
	if (leaf->parent)
	{
		leaf->build = tr->nbuilds++;
		memset(&tr->builds[leaf->build], 0, sizeof(GcPBuild));
		pl->sink = GC_SINK_BUILD;
		pl->build = leaf->build;
		tr->builds[leaf->build].pipeline = leaf->pipeline;
		tr->builds[leaf->build].unique = gc_leaf_unique(leaf);
		/* Packing takes that back where a condition reads a payload. */
		tr->builds[leaf->build].set = leaf->keys != NIL && (leaf->join == GC_JOIN_SEMI || leaf->join == GC_JOIN_ANTI);
		tr->plan->build_duplicates[leaf->build] = leaf->keys != NIL && !gc_leaf_unique(leaf) &&
			duplicates_likely(tr, leaf);
		tr->plan->build_finds_once[leaf->build] = !tr->builds[leaf->build].unique && finds_once(leaf);
		tr->plan->build_rows[leaf->build] = leaf->tuples * leaf->share;
	}
	return true;
}

/* The leaf's pipeline: builds of its children, then its steps in order.  False: refused. */
static bool
translate_leaf(GcTranslation *tr, GcLeaf *leaf)
{
	List	   *todo;
	List	   *probed = NIL;
	ListCell   *lc;

	if (!translate_children(tr, leaf) || !open_pipeline(tr, leaf))
		return false;

	if (leaf->having != NIL && !emit_having(tr, leaf))
		return false;
	todo = gc_order_steps(tr, leaf);
	while (todo != NIL)
	{
		GcStepPlan *next = NULL;

		foreach(lc, todo)
		{
			GcStepPlan *s = lfirst(lc);

			if (s->filters || probe_ready(tr, leaf, s->probe, probed))
			{
				next = s;
				break;
			}
		}
		if (next == NULL)
		{
			gc_refuse(tr, "the join conditions form a cycle");
			return false;
		}
		todo = list_delete_ptr(todo, next);
		if (!emit_step(tr, leaf, next, probed))
			return false;
		if (next->probe)
			probed = lappend(probed, next->probe);
	}
	if (!emit_residuals(tr, leaf, &leaf->residuals, probed, true) ||
		!emit_residuals(tr, leaf, &leaf->above, probed, true))
		return false;
	foreach(lc, leaf->keys)
	{
		GcJoinKey  *key = lfirst(lc);
		int			e = gc_translate_expr(tr, leaf, key->build_side);

		/* Compared as timestamps; the other way round, the probe side is cast. */
		if (e >= 0 && tr->pexprs[e].kind == GC_DATE && exprType((Node *) key->probe_side) == TIMESTAMPOID)
			e = gc_build_cast(tr, e, GC_TIMESTAMP);
		if (e < 0)
			return false;
		tr->build_keys[leaf->build] = lappend_int(tr->build_keys[leaf->build], e);
	}
	return tr->reason == NULL;
}

bool
gc_translate_steps(GcTranslation *tr)
{
	return translate_leaf(tr, tr->streamed) && tr->reason == NULL;
}
