/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  From the set of joined relations to a tree of leaves, each of them a pipeline.
 *
 * A core's relation with most rows is streamed.  Every other is the build side of a hash join whose probe side is its
 * parent in the tree.  A relation that joins to the streamed one is probed there.  One that joins to a dimension only
 * is probed while that dimension's build is filled, so that it filters it.  Equality is transitive: of all the columns
 * known to be equal to a join key, the one nearest to the streamed table is probed with.  A relation without any
 * equality becomes a list, of which each row is tried for each row of the streamed one.  CPU-side indexes and the
 * planner's join order play no part.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "tree.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "../base/append.h"
#include "../base/builder.h"
#include "../base/equalities.h"
#include "../base/leaf.h"
#include "../expr/expr.h"
#include "pipelines.h"

#include "../../columns/encode/pgkinds.h"

/*
 * Does the leaf have what an expression reads?  What nothing above a subquery reads, PostgreSQL has
 * replaced by NULLs in its target list.  A column that equals a constant is such a one, since that was tested within
 * the subquery.  The constant is in the class, and no key is lost.
 */
static bool
is_delivered(const GcEqMember *m)
{
	const RelOptInfo *rel = m->leaf->rel;
	ListCell   *lc;

	if (rel == NULL || rel->rtekind != RTE_SUBQUERY)
		return true;
	foreach(lc, pull_var_clause((Node *) m->expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS))
	{
		Var		   *var = lfirst_node(Var, lc);

		if (var->varno == rel->relid && var->varattno > 0 &&
			bms_is_empty(rel->attr_needed[var->varattno - rel->min_attr]))
			return false;
	}
	return true;
}

/* Best expression of `class` among leaves in the tree: the streamed leaf's first. */
static GcEqMember *
placed_member(GcEqSet *set, int class, GcLeaf *streamed, GcLeaf *self)
{
	GcEqMember *best = NULL;
	ListCell   *lc;

	foreach(lc, set->members)
	{
		GcEqMember *m = lfirst(lc);

		if (m->class != class || m->leaf == self || m->leaf->pipeline < 0 || !is_delivered(m))
			continue;
		if (best == NULL || m->leaf == streamed)
			best = m;
	}
	return best;
}

/*
 * Try to attach leaf to the tree.  Here pipeline >= 0 says that a leaf is in the tree;
 * real numbers come later.
 */
static bool
attach_leaf(GcCore *core, GcEqSet *set, GcLeaf *leaf)
{
	ListCell   *lc;
	GcLeaf	   *parent = NULL;
	bool		several = false;
	bool		unique = false;

	foreach(lc, set->members)
	{
		GcEqMember *m = lfirst(lc);
		GcEqMember *probe;
		GcJoinKey  *key;

		if (m->leaf != leaf || !is_delivered(m))
			continue;
		probe = placed_member(set, m->class, core->streamed, leaf);
		if (probe == NULL)
			continue;
		key = palloc0(sizeof(GcJoinKey));
		key->build_side = m->expr;
		key->probe_side = probe->expr;
		if (gc_is_unique_column(leaf, m->expr))
		{
			/* A unique column finds the row; the other equalities filter it. */
			unique = true;
			several = false;
			leaf->keys = list_make1(key);
			parent = probe->leaf;
			break;
		}
		/* Others filter what these find. */
		if (list_length(leaf->keys) == GC_MAX_KEYS)
			continue;
		leaf->keys = lappend(leaf->keys, key);
		if (parent && parent != probe->leaf)
			several = true;
		parent = probe->leaf;
	}
	if (parent == NULL)
		return false;
	leaf->unique = unique || gc_covers_unique_index(leaf, leaf->keys) || gc_covers_groups(leaf, leaf->keys);
	/* Keys from several leaves meet only where all of them are at hand. */
	leaf->parent = several ? core->streamed : parent;
	leaf->parent->children = lappend(leaf->parent->children, leaf);
	leaf->pipeline = 0;
	return true;
}

/* The equalities that the join keys enforce, as classes. */
static void
enforced_equalities(GcCore *core, GcEqSet *enforced)
{
	ListCell   *lc,
			   *lk;

	foreach(lc, core->leaves)
	{
		foreach(lk, ((GcLeaf *) lfirst(lc))->keys)
		{
			GcJoinKey  *key = lfirst(lk);

			gc_eq_merge(enforced, gc_eq_member(enforced, key->build_side, NULL),
						gc_eq_member(enforced, key->probe_side, NULL));
		}
	}
}

/*
 * Attach a leaf without any equality: each of its rows is tried.  Of a subquery without GROUP BY
 * there is one row, which is found by a constant.
 */
static void
attach_crossed(GcCore *core, GcLeaf *leaf)
{
	if (gc_covers_groups(leaf, NIL))
	{
		leaf->keys = list_make1(gc_only_key());
		leaf->unique = true;
	}
	leaf->parent = core->streamed;
	leaf->parent->children = lappend(leaf->parent->children, leaf);
	leaf->pipeline = 0;
}

/* The leaf with most rows of those that are not in the tree: others may be joined to it. */
static GcLeaf *
largest_unplaced(GcCore *core)
{
	GcLeaf	   *largest = NULL;
	ListCell   *lc;

	foreach(lc, core->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (leaf->pipeline < 0 && (largest == NULL || leaf->tuples > largest->tuples))
			largest = leaf;
	}
	return largest;
}

/* Attach leaves by their keys, from the streamed one on; then the largest of the rest, by pairs of rows. */
static void
build_tree(GcCore *core, GcEqSet *set)
{
	GcLeaf	   *crossed = core->streamed;
	ListCell   *lc;

	core->streamed->pipeline = 0;
	while (crossed)
	{
		bool		progress = true;

		while (progress)
		{
			progress = false;
			foreach(lc, core->leaves)
			{
				GcLeaf	   *leaf = lfirst(lc);

				progress |= leaf->pipeline < 0 && attach_leaf(core, set, leaf);
			}
		}
		if ((crossed = largest_unplaced(core)) != NULL)
			attach_crossed(core, crossed);
	}
}

/*-------------------------------------------------------------------------
 * Equalities across builds
 *
 * FROM sales, dates d1, stock, dates d2 WHERE sales.item = stock.item AND sales.day = d1.day AND stock.day = d2.day AND
 * d1.week = d2.week.  Here stock's build, for which d2 is probed, has (item, week) for its key.  By the item alone,
 * each sale would match the stock of all weeks.
 *-------------------------------------------------------------------------
 */

/* The one of `at` and its children in whose pipeline, or below it, the leaf is.  NULL: none. */
static GcLeaf *
towards(const GcLeaf *at, GcLeaf *leaf)
{
	while (leaf && leaf != at && leaf->parent != at)
		leaf = leaf->parent;
	return leaf;
}

/* The leaf of an expression in a set of equal ones, or NULL. */
static GcLeaf *
leaf_of(const GcEqSet *set, const Expr *expr)
{
	ListCell   *lc;

	foreach(lc, set->members)
	{
		GcEqMember *m = lfirst(lc);

		if (gc_equal(m->expr, expr))
			return m->leaf;
	}
	return NULL;
}

/* Does a child of `at` need what another child's build has, to be probed? */
static bool
waits_for(const GcEqSet *set, const GcLeaf *at, const GcLeaf *child, const GcLeaf *other)
{
	ListCell   *lc;

	foreach(lc, child->keys)
	{
		GcLeaf	   *from = towards(at, leaf_of(set, ((GcJoinKey *) lfirst(lc))->probe_side));

		if (from && from != at && from != child && (from == other || waits_for(set, at, from, other)))
			return true;
	}
	return false;
}

/* Add inner = outer to the key of a build of `at`.  outer: in a column of `at`, or of the build `from`. */
static bool
extend_key(const GcEqSet *set, const GcLeaf *at, GcLeaf *build, const GcLeaf *from, Expr *inner, Expr *outer)
{
	GcJoinKey  *key;

	/* A row that is found alone is filtered as soon.  The scales of numerics, which may differ, are not known yet. */
	if (build == at || gc_leaf_unique(build) || gc_type_kind(exprType((Node *) inner)) == GC_NUMERIC ||
		list_length(build->keys) == GC_MAX_KEYS || !gc_kinds_compare(inner, outer) ||
		(from != at && waits_for(set, at, from, build)))
		return false;
	key = palloc0(sizeof(GcJoinKey));
	key->build_side = inner;
	key->probe_side = outer;
	build->keys = lappend(build->keys, key);
	build->unique |= gc_covers_unique_index(build, build->keys);
	return true;
}

/* Make l = r part of the key of a build that has several rows for one. */
static bool
extend_keys(const GcEqSet *set, Expr *l, Expr *r)
{
	GcLeaf	   *at = leaf_of(set, l);
	GcLeaf	   *left,
			   *right;

	while (at && towards(at, leaf_of(set, r)) == NULL)
		at = at->parent;
	if (at == NULL)
		return false;
	left = towards(at, leaf_of(set, l));
	right = towards(at, leaf_of(set, r));
	if (left->tuples < right->tuples)
		return extend_key(set, at, right, left, r, l) || extend_key(set, at, left, right, l, r);
	return extend_key(set, at, left, right, l, r) || extend_key(set, at, right, left, r, l);
}

/*
 * Clauses over several leaves are applied in the streamed pipeline, where all of them are at hand.  Equalities are only
 * if they neither follow from join keys and each other nor become a part of a key.
 */
static void
place_residuals(GcCore *core, const GcEqSet *set, List *equi, List *residuals)
{
	GcEqSet		enforced = {NIL, 0};
	ListCell   *lc;

	enforced_equalities(core, &enforced);
	foreach(lc, equi)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *args = ((OpExpr *) rinfo->clause)->args;
		GcEqMember *l = gc_eq_member(&enforced, linitial(args), NULL);
		GcEqMember *r = gc_eq_member(&enforced, lsecond(args), NULL);

		if (l->class == r->class)
			continue;
		if (!extend_keys(set, l->expr, r->expr))
			residuals = lappend(residuals, rinfo);
		gc_eq_merge(&enforced, l, r);
	}
	core->streamed->residuals = residuals;
}

/* Leaves are streamed by this first: tables before groups, row sources last. */
static int
stream_rank(const GcLeaf *leaf)
{
	return gc_leaf_is_cached(leaf) || leaf->arms ? 2 : leaf->groups ? 1 : 0;
}

/* The largest table; of an attached core, a row source if there is no table. */
static void
choose_streamed(GcCore *core, bool attached)
{
	ListCell   *lc;

	foreach(lc, core->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (gc_leaf_is_source(leaf) && !attached)
			continue;
		if (core->streamed == NULL || stream_rank(leaf) > stream_rank(core->streamed) ||
			(stream_rank(leaf) == stream_rank(core->streamed) && leaf->tuples > core->streamed->tuples))
			core->streamed = leaf;
	}
}

/* Share of a leaf's tuples that survive its filters and the joins below it. */
static double
leaf_share(GcTranslation *tr, GcLeaf *leaf)
{
	double		share = gc_leaf_is_source(leaf) ? 1 : gc_filters_share(tr, leaf);
	ListCell   *lc;

	foreach(lc, leaf->children)
	{
		GcLeaf	   *child = lfirst(lc);
		double		inner = leaf_share(tr, child);

		/* Rows of a list drop none of the rows that try them. */
		if (child->join == GC_JOIN_INNER && gc_leaf_is_list(child))
			child->outer_share = 1;
		share *= child->join == GC_JOIN_INNER && !gc_leaf_is_list(child) ? inner : child->outer_share;
	}
	leaf->share = Min(share, 1);
	if (leaf->join == GC_JOIN_INNER)
		leaf->outer_share = gc_finds_only_row(leaf) ? 1 : leaf->share;
	return leaf->share;
}

/* Columns of an append input that are expressions, and conditions of its tables. */
static List *
append_exprs(const GcLeaf *leaf)
{
	List	   *exprs = NIL;
	ListCell   *lc;

	foreach(lc, leaf->append ? leaf->append->filters : NIL)
		exprs = lappend(exprs, lfirst_node(RestrictInfo, lc)->clause);
	for (int i = 0; leaf->append && i < leaf->append->natts; i++)
	{
		Expr	   *expr = leaf->append->columns[i];

		if (expr && !IsA(expr, Var))
			exprs = lappend(exprs, expr);
	}
	return exprs;
}

/* Can kernels compute an expression of a leaf?  Tried on a scratch copy of the translation's lists. */
static bool
is_translatable(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	int			nexprs = tr->nexprs,
				ncolumns = tr->ncolumns,
				nparams = tr->nparams,
				nluts = tr->nluts,
				nlists = tr->nlists;
	List	   *exprs = list_copy(tr->exprs);
	List	   *scan_tlist = list_copy(tr->scan_tlist);
	List	   *outputs = list_copy(tr->outputs);
	bool		ok;

	leaf->input = 0;
	ok = gc_translate_expr(tr, leaf, expr) >= 0;
	gc_builder_drop_exprs(tr, nexprs);
	tr->ncolumns = ncolumns;
	tr->nparams = nparams;
	tr->nluts = nluts;
	tr->nlists = nlists;
	tr->exprs = exprs;
	tr->scan_tlist = scan_tlist;
	tr->outputs = outputs;
	return ok;
}

/* Leaves whose filters kernels cannot compute, but PostgreSQL can: dimensions become row sources. */
static void
demote_untranslatable(GcTranslation *tr, GcCore *core)
{
	ListCell   *lc;

	if (tr->untried)
		return;
	foreach(lc, core->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);
		ListCell   *lf;

		if (leaf == tr->streamed || !gc_leaf_is_cached(leaf))
			continue;
		foreach(lf, leaf->filters)
		{
			if (!is_translatable(tr, leaf, lfirst_node(RestrictInfo, lf)->clause) && gc_leaf_demote(tr, leaf))
				break;
		}
	}
}

/* Why an expression of an append input is not translatable: of the first table whose rows are not. */
static const char *
append_refusal(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	const char *reason = tr->reason;
	List	   *relids;
	List	   *results = gc_append_choices(leaf->append, expr, &relids);
	ListCell   *lc,
			   *lr;

	forboth(lc, results, lr, relids)
	{
		tr->reason = NULL;
		if (!is_translatable(tr, leaf, lfirst(lc)))
			return psprintf("UNION ALL, SELECT from %s: %s", get_rel_name(lfirst_oid(lr)), tr->reason);
	}
	return reason;
}

/* Append inputs of which a column cannot be computed become row sources, too, before one is streamed. */
static void
demote_appends(GcTranslation *tr, GcCore *core)
{
	ListCell   *lc,
			   *le;

	foreach(lc, core->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		foreach(le, append_exprs(leaf))
		{
			if (is_translatable(tr, leaf, lfirst(le)))
				continue;
			leaf->refusal = append_refusal(tr, leaf, lfirst(le));
			tr->reason = leaf->refusal;
			if (gc_leaf_demote(tr, leaf))
				break;
		}
	}
}

/* Give each leaf an input of the request.  False: there are too many. */
static bool
assign_inputs(GcTranslation *tr)
{
	ListCell   *lc;
	int			child = 1;		/* custom_plans: the fallback comes first */

	if (tr->ninputs + list_length(tr->leaves) > GC_MAX_INPUTS)
	{
		gc_refuse(tr, "too many relations are joined");
		return false;
	}
	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);
		GcPlanInput *in;

		/* Inputs of arms, and the groups of a subquery, are there already. */
		if (leaf->arms)
			continue;
		if (leaf->groups)
		{
			tr->plan->inputs[leaf->input].rows = leaf->rows;
			tr->plan->inputs[leaf->input].tuples = leaf->tuples;
			continue;
		}
		in = &tr->plan->inputs[tr->ninputs];
		leaf->input = tr->ninputs++;
		if (leaf->append)
			tr->appends = lappend(tr->appends, leaf);
		in->relid = leaf->append ? planner_rt_fetch(leaf->rel->relid, tr->root)->relid : leaf->relid;
		in->rows = leaf->rows;
		in->tuples = leaf->tuples;
		in->child = gc_leaf_is_source(leaf) ? child++ : -1;
		if (gc_leaf_is_source(leaf) && (leaf->path == NULL || leaf->path->param_info))
		{
			gc_refuse(tr, "a joined relation has no independent plan");
			return false;
		}
	}
	return true;
}

/* The tree of a core, with the joins that are attached to it. */
static bool
translate_core(GcTranslation *tr, GcCore *core)
{
	GcEqSet		set = {NIL, 0};
	List	   *equi = NIL;
	List	   *residuals = NIL;
	ListCell   *lc;

	demote_appends(tr, core);
	choose_streamed(core, core->is_attached);
	if (core->streamed == NULL)
		return false;
	if (!core->is_attached)
		tr->streamed = core->streamed;
	gc_sort_clauses(core, gc_core_clauses(tr, core), &set, &equi, &residuals);
	gc_merge_constants(tr, core, &set);
	foreach(lc, core->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		/* A row source filters its own rows. */
		if (gc_leaf_is_source(leaf) || (leaf->arms && leaf->arms->filtered))
			leaf->filters = NIL;
	}
	demote_untranslatable(tr, core);
	if (tr->reason)
		return false;
	build_tree(core, &set);
	place_residuals(core, &set, equi, residuals);
	foreach(lc, core->attached)
	{
		if (!translate_core(tr, lfirst(lc)) || !gc_core_attach(tr, core, lfirst(lc), &set))
			return false;
	}
	core->streamed->above = core->above;
	return true;
}

/* The join that is done last: its outer side is streamed. */
static const char *
last_join(const GcRelDesc *desc)
{
	switch (desc->attached == NIL ? GC_JOIN_INNER : ((GcAttachedDesc *) llast(desc->attached))->join)
	{
		case GC_JOIN_SEMI:
			return "on a semi join's outer side, ";
		case GC_JOIN_ANTI:
			return "on an anti join's outer side, ";
		case GC_JOIN_LEFT:
			return "on a left join's outer side, ";
		default:
			return "";
	}
}

/* Say why no leaf of the core can be streamed, if no reason is known. */
static void
refuse_streaming(GcTranslation *tr, const GcCore *core, const GcRelDesc *desc)
{
	const char *reason = NULL;
	Oid			relid;
	ListCell   *lc;

	foreach(lc, core->leaves)
	{
		const GcLeaf *leaf = lfirst(lc);

		/* A UNION ALL's. */
		if (leaf->refusal)
		{
			gc_refuse(tr, "%s", leaf->refusal);
			return;
		}
	}
	if (!gc_cacheable_table(tr->root, linitial(desc->leaves), &relid, &reason))
		(void) gc_append_make(tr->root, linitial(desc->leaves), &reason);
	gc_refuse(tr, "%s" GC_NONE_CACHED "%s", last_join(desc), reason);
}

bool
gc_translate_tree(GcTranslation *tr, GcRelDesc *desc)
{
	GcCore	   *core = gc_core_make(tr, desc);

	if (tr->reason)
		return false;
	if (!translate_core(tr, core))
	{
		refuse_streaming(tr, core, desc);
		return false;
	}
	leaf_share(tr, tr->streamed);
	return assign_inputs(tr);
}
