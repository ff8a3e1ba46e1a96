/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  From the set of joined relations to a tree of pipelines.
 *
 * The relation with most rows is streamed; every other is the build side of a
 * hash join whose probe side is its parent in the tree.  A relation that joins to
 * the streamed one is probed there; one that joins to a dimension only is probed
 * while that dimension's build is filled, so that it filters it.  Equality is
 * transitive: of all the columns known to be equal to a join key, the one nearest
 * to the streamed table is probed with.  CPU-side indexes and the planner's join
 * order play no part.
 *
 *-------------------------------------------------------------------------
 */
#include "hooks.h"

#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "../columns/spec.h"
#include "../compat.h"

GcLeaf *
gc_leaf_of(GcTranslation *tr, Relids relids)
{
	ListCell   *lc;

	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (bms_is_subset(relids, leaf->relids))
			return leaf;
	}
	return NULL;
}

/*-------------------------------------------------------------------------
 * Leaves
 *-------------------------------------------------------------------------
 */

/* Can this relation be read through the column cache?  *reason otherwise. */
static bool
is_cacheable_table(PlannerInfo *root, RelOptInfo *rel, Oid *relid, const char **reason)
{
	RangeTblEntry *rte;
	Relation	relation;
	bool		ok;

	*reason = "it is not a table";
	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION)
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	if ((rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		rte->inh || rte->tablesample)
		return false;
	relation = table_open(rte->relid, NoLock);
	ok = gc_rel_plannable(relation, reason);
	table_close(relation, NoLock);
	*relid = rte->relid;
	return ok;
}

static GcLeaf *
make_leaf(GcTranslation *tr, RelOptInfo *rel)
{
	GcLeaf	   *leaf = palloc0(sizeof(GcLeaf));
	const char *reason;

	leaf->rel = rel;
	leaf->relids = rel->relids;
	leaf->rows = rel->rows;
	leaf->build = -1;
	leaf->pipeline = -1;
	if (is_cacheable_table(tr->root, rel, &leaf->relid, &reason))
		leaf->tuples = Max(rel->tuples, 1);
	else
	{
		const char *refusal = gc_source_refusal(tr->root, rel);

		leaf->relid = InvalidOid;
		leaf->path = rel->cheapest_total_path;
		leaf->tuples = Max(rel->rows, 1);
		if (refusal)
			gc_refuse(tr, "%s", refusal);
	}
	return leaf;
}

/* Make a leaf that PostgreSQL reads and filters, rows encoded as they come. */
static bool
demote_leaf(GcTranslation *tr, GcLeaf *leaf)
{
	leaf->path = leaf->rel->cheapest_total_path;
	if (leaf->path == NULL || leaf->path->param_info || gc_source_refusal(tr->root, leaf->rel))
		return false;
	leaf->relid = InvalidOid;
	leaf->tuples = Max(leaf->rel->rows, 1);
	leaf->filters = NIL;
	tr->reason = NULL;
	return true;
}

/*-------------------------------------------------------------------------
 * Equalities
 *-------------------------------------------------------------------------
 */

/* One member of a class of expressions known to be equal. */
typedef struct EqMember
{
	Expr	   *expr;
	GcLeaf	   *leaf;
	int			class;
} EqMember;

typedef struct EqSet
{
	List	   *members;		/* EqMember */
	int			nclasses;
} EqSet;

static EqMember *
eq_member(EqSet *set, Expr *expr, GcLeaf *leaf)
{
	ListCell   *lc;
	EqMember   *m;

	foreach(lc, set->members)
	{
		m = lfirst(lc);
		if (equal(m->expr, expr))
			return m;
	}
	m = palloc(sizeof(EqMember));
	*m = (EqMember) {expr, leaf, set->nclasses++};
	set->members = lappend(set->members, m);
	return m;
}

static void
eq_merge(EqSet *set, EqMember *a, EqMember *b)
{
	int			from = b->class;
	ListCell   *lc;

	foreach(lc, set->members)
	{
		EqMember   *m = lfirst(lc);

		if (m->class == from)
			m->class = a->class;
	}
}

/*
 * Is this clause an equality between two leaves on which a hash join can be
 * built?  Floats are left out: -0 equals 0 with different bytes; so is text under a
 * nondeterministic collation, which need not be its column's.
 */
static bool
is_equi_clause(GcTranslation *tr, RestrictInfo *rinfo, GcLeaf **left, GcLeaf **right)
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
	*left = gc_leaf_of(tr, rinfo->left_relids);
	*right = gc_leaf_of(tr, rinfo->right_relids);
	if (*left == NULL || *right == NULL || *left == *right)
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

/* Sort all clauses: filters of one leaf, equalities, the rest. */
static void
sort_clauses(GcTranslation *tr, List *clauses, EqSet *eqs, List **equi, List **residuals)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		GcLeaf	   *leaf = gc_leaf_of(tr, rinfo->clause_relids);
		GcLeaf	   *l,
				   *r;

		if (leaf && !bms_is_empty(rinfo->clause_relids))
			leaf->filters = lappend(leaf->filters, rinfo);
		else if (is_equi_clause(tr, rinfo, &l, &r))
		{
			OpExpr	   *op = (OpExpr *) rinfo->clause;

			eq_merge(eqs, eq_member(eqs, linitial(op->args), l),
					 eq_member(eqs, lsecond(op->args), r));
			*equi = lappend(*equi, rinfo);
		}
		else
			*residuals = lappend(*residuals, rinfo);
	}
}

/*
 * Columns that are equal to one constant are equal to each other, of which the
 * planner makes no clause: it filters each of them.
 */
static void
merge_constants(GcTranslation *tr, EqSet *eqs)
{
	ListCell   *lc;
	ListCell   *lm;

	foreach(lc, tr->root->eq_classes)
	{
		EquivalenceClass *ec = lfirst_node(EquivalenceClass, lc);
		EqMember   *first = NULL;

		if (!ec->ec_has_const || ec->ec_broken || ec->ec_has_volatile || GC_EC_BELOW_OUTER_JOIN(ec))
			continue;
		foreach(lm, ec->ec_members)
		{
			EquivalenceMember *em = lfirst_node(EquivalenceMember, lm);
			GcLeaf	   *leaf = bms_membership(em->em_relids) == BMS_SINGLETON ? gc_leaf_of(tr, em->em_relids) : NULL;
			GcKind		kind = gc_type_kind(exprType((Node *) em->em_expr));
			EqMember   *m;

			if (em->em_is_const || em->em_is_child || leaf == NULL || !IS_SIMPLE_REL(leaf->rel) ||
				kind == GC_KIND_NONE || GC_KIND_IS_FLOAT(kind) ||
				(kind == GC_TEXT && !gc_collation_deterministic(ec->ec_collation)))
				continue;
			if (first && gc_type_kind(exprType((Node *) first->expr)) != kind &&
				!(GC_KIND_IS_INT(kind) && GC_KIND_IS_INT(gc_type_kind(exprType((Node *) first->expr)))))
				continue;
			/* A row source has filtered by the constant, and need not deliver the column. */
			if (!OidIsValid(leaf->relid) && !list_member(leaf->path->pathtarget->exprs, em->em_expr))
				continue;
			m = eq_member(eqs, em->em_expr, leaf);
			if (first)
				eq_merge(eqs, first, m);
			else
				first = m;
		}
	}
}

/*-------------------------------------------------------------------------
 * The tree
 *-------------------------------------------------------------------------
 */

/* Best expression of `class` among placed leaves: the streamed one's first. */
static EqMember *
placed_member(EqSet *set, int class, GcLeaf *streamed, GcLeaf *self)
{
	EqMember   *best = NULL;
	ListCell   *lc;

	foreach(lc, set->members)
	{
		EqMember   *m = lfirst(lc);

		if (m->class != class || m->leaf == self || m->leaf->pipeline < 0)
			continue;
		if (best == NULL || m->leaf == streamed)
			best = m;
	}
	return best;
}

/* Does a unique index on just this column make it a key of its table? */
static bool
is_unique_column(GcLeaf *leaf, Expr *expr)
{
	ListCell   *lc;

	if (!IsA(expr, Var) || !OidIsValid(leaf->relid))
		return false;
	foreach(lc, leaf->rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (index->unique && index->immediate && index->indpred == NIL &&
			index->nkeycolumns == 1 && index->indexkeys[0] == ((Var *) expr)->varattno)
			return true;
	}
	return false;
}

/*
 * Try to attach leaf to what is placed.  pipeline >= 0 marks placed leaves here;
 * real numbers come later.
 */
static bool
attach_leaf(GcTranslation *tr, EqSet *set, GcLeaf *leaf)
{
	ListCell   *lc;
	GcLeaf	   *parent = NULL;
	bool		several = false;
	bool		unique = false;

	foreach(lc, set->members)
	{
		EqMember   *m = lfirst(lc);
		EqMember   *probe;
		GcJoinKey  *key;

		if (m->leaf != leaf)
			continue;
		probe = placed_member(set, m->class, tr->streamed, leaf);
		if (probe == NULL)
			continue;
		key = palloc0(sizeof(GcJoinKey));
		key->build_side = m->expr;
		key->probe_side = probe->expr;
		if (is_unique_column(leaf, m->expr))
		{
			/* A unique column finds the row; the other equalities filter it. */
			unique = true;
			several = false;
			leaf->keys = list_make1(key);
			parent = probe->leaf;
			break;
		}
		leaf->keys = lappend(leaf->keys, key);
		if (parent && parent != probe->leaf)
			several = true;
		parent = probe->leaf;
	}
	if (parent == NULL)
		return false;
	leaf->unique = unique;
	/* Keys from several leaves meet only where all of them are at hand. */
	leaf->parent = several ? tr->streamed : parent;
	leaf->parent->children = lappend(leaf->parent->children, leaf);
	leaf->pipeline = 0;
	return true;
}

/* The equalities that the join keys enforce, as classes. */
static void
enforced_equalities(GcTranslation *tr, EqSet *enforced)
{
	ListCell   *lc,
			   *lk;

	foreach(lc, tr->leaves)
	{
		foreach(lk, ((GcLeaf *) lfirst(lc))->keys)
		{
			GcJoinKey  *key = lfirst(lk);

			eq_merge(enforced, eq_member(enforced, key->build_side, NULL),
					 eq_member(enforced, key->probe_side, NULL));
		}
	}
}

static bool
build_tree(GcTranslation *tr, EqSet *set)
{
	bool		progress = true;
	int			placed = 1;
	ListCell   *lc;

	tr->streamed->pipeline = 0;
	while (progress)
	{
		progress = false;
		foreach(lc, tr->leaves)
		{
			GcLeaf	   *leaf = lfirst(lc);

			if (leaf->pipeline < 0 && attach_leaf(tr, set, leaf))
			{
				placed++;
				progress = true;
			}
		}
	}
	if (placed < list_length(tr->leaves))
	{
		gc_refuse(tr, "a joined relation has no equality condition");
		return false;
	}
	return true;
}

/*
 * Clauses over several leaves are applied in the streamed pipeline, where all of
 * them are at hand; equalities only if they do not follow from the join keys.
 */
static void
place_residuals(GcTranslation *tr, List *equi, List *residuals)
{
	EqSet		enforced = {NIL, 0};
	ListCell   *lc;

	enforced_equalities(tr, &enforced);
	foreach(lc, equi)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		OpExpr	   *op = (OpExpr *) rinfo->clause;

		if (eq_member(&enforced, linitial(op->args), NULL)->class !=
			eq_member(&enforced, lsecond(op->args), NULL)->class)
			residuals = lappend(residuals, rinfo);
	}
	tr->streamed->residuals = residuals;
}

static void
choose_streamed(GcTranslation *tr)
{
	ListCell   *lc;

	tr->streamed = NULL;
	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (OidIsValid(leaf->relid) &&
			(tr->streamed == NULL || leaf->tuples > tr->streamed->tuples))
			tr->streamed = leaf;
	}
}

/* Share of a leaf's tuples that survive its filters and the joins below it. */
static double
leaf_share(GcTranslation *tr, GcLeaf *leaf)
{
	double		share = OidIsValid(leaf->relid) ? gc_filters_share(tr, leaf) : 1;
	ListCell   *lc;

	foreach(lc, leaf->children)
		share *= leaf_share(tr, lfirst(lc));
	leaf->share = Min(share, 1);
	return leaf->share;
}

/*-------------------------------------------------------------------------
 * Pipelines
 *-------------------------------------------------------------------------
 */

int
gc_bring(GcTranslation *tr, GcLeaf *at, GcLeaf *from, int expr)
{
	while (from != at && expr >= 0)
	{
		if (from->parent == NULL)
			return gc_refuse(tr, "a column is needed where its table is not joined yet");
		expr = gc_build_payload(tr, from->build, expr);
		from = from->parent;
	}
	return expr;
}

/* Is everything that probing `child` needs already at hand in `leaf`'s pipeline? */
static bool
probe_ready(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child, List *probed)
{
	ListCell   *lc;

	foreach(lc, child->keys)
	{
		GcJoinKey  *key = lfirst(lc);
		GcLeaf	   *from = gc_leaf_of(tr, pull_varnos(tr->root, (Node *) key->probe_side));

		while (from && from != leaf && from->parent != leaf)
			from = from->parent;
		if (from != leaf && !list_member_ptr(probed, from))
			return false;
	}
	return true;
}

static bool
emit_filter(GcTranslation *tr, GcLeaf *leaf, List *clauses, double share)
{
	int			all = -1;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		int			e = gc_translate_expr(tr, leaf, rinfo->clause);

		if (e < 0)
			return false;
		all = all < 0 ? e : gc_build_expr(tr, GC_OP_AND, GC_BOOL, all, e, -1, -1);
		if (all < 0)
			return false;
		gc_build_display(tr, leaf->pipeline, 0, rinfo->clause);
	}
	gc_build_filter(tr, leaf->pipeline, all, share);
	return true;
}

static bool
emit_probe(GcTranslation *tr, GcLeaf *leaf, GcLeaf *child)
{
	List	   *probe_keys = NIL;
	ListCell   *lc;
	int			n = 0;

	foreach(lc, child->keys)
	{
		GcJoinKey  *key = lfirst(lc);
		int			p = gc_translate_expr(tr, leaf, key->probe_side);
		int			b = list_nth_int(tr->build_keys[child->build], n);

		if (p < 0)
			return false;
		/* The build side is compiled already; the probe side adapts to it. */
		if (tr->pexprs[p].kind == GC_TEXT)
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
		gc_build_display(tr, leaf->pipeline, 1 + child->build, key->probe_side);
		gc_build_display(tr, child->pipeline, 1 + child->build, key->build_side);
		n++;
	}
	gc_build_probe(tr, leaf->pipeline, child->build, probe_keys, child->share);
	return true;
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

/* Is it proven that no key comes twice out of this leaf's pipeline? */
static bool
leaf_unique(GcLeaf *leaf)
{
	ListCell   *lc;

	foreach(lc, leaf->children)
	{
		if (!leaf_unique(lfirst(lc)))
			return false;
	}
	return leaf->unique;
}

/* Do the statistics say that the key repeats? */
static bool
duplicates_likely(GcTranslation *tr, GcLeaf *leaf)
{
	GcJoinKey  *key = linitial(leaf->keys);
	VariableStatData stats;
	bool		isdefault;
	double		ndistinct;

	examine_variable(tr->root, (Node *) key->build_side, 0, &stats);
	ndistinct = get_variable_numdistinct(&stats, &isdefault);
	ReleaseVariableStats(stats);
	return !isdefault && ndistinct < 0.95 * leaf->tuples;
}

static bool
open_pipeline(GcTranslation *tr, GcLeaf *leaf)
{
	GcPPipeline *pl;

	if (tr->npipelines > GC_MAX_BUILDS)
	{
		gc_refuse(tr, "too many relations are joined");
		return false;
	}
	leaf->pipeline = tr->npipelines++;
	pl = &tr->pipelines[leaf->pipeline];
	pl->input = leaf->input;
	pl->build = GC_NONE;
	if (leaf->parent)
	{
		leaf->build = tr->nbuilds++;
		pl->sink = GC_SINK_BUILD;
		pl->build = leaf->build;
		tr->builds[leaf->build].pipeline = leaf->pipeline;
		tr->builds[leaf->build].unique = leaf_unique(leaf);
		tr->plan->build_duplicates[leaf->build] = !leaf_unique(leaf) && duplicates_likely(tr, leaf);
		tr->plan->build_rows[leaf->build] = leaf->tuples * leaf->share;
	}
	return true;
}

static bool
translate_leaf(GcTranslation *tr, GcLeaf *leaf)
{
	List	   *todo;
	List	   *probed = NIL;
	ListCell   *lc;

	if (!translate_children(tr, leaf) || !open_pipeline(tr, leaf))
		return false;

	todo = gc_order_steps(tr, leaf);
	while (todo != NIL)
	{
		GcStepPlan   *next = NULL;

		foreach(lc, todo)
		{
			GcStepPlan   *s = lfirst(lc);

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
		if (next->filters ? !emit_filter(tr, leaf, next->filters, next->share)
			: !emit_probe(tr, leaf, next->probe))
			return false;
		if (next->probe)
			probed = lappend(probed, next->probe);
	}
	foreach(lc, leaf->residuals)
	{
		List	   *clause = list_make1(lfirst(lc));

		if (!emit_filter(tr, leaf, clause, gc_clauses_share(tr, clause)))
			return false;
	}
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

/*
 * Leaves whose filters kernels cannot compute, but PostgreSQL can: dimensions
 * become row sources.  Tried on a scratch copy of the pipeline's expressions.
 */
static void
demote_untranslatable(GcTranslation *tr)
{
	ListCell   *lc;

	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);
		ListCell   *lf;

		if (leaf == tr->streamed || !OidIsValid(leaf->relid))
			continue;
		leaf->input = 0;
		foreach(lf, leaf->filters)
		{
			int			nexprs = tr->nexprs,
						ncolumns = tr->ncolumns,
						nparams = tr->nparams,
						nluts = tr->nluts,
						nlists = tr->nlists;
			List	   *exprs = list_copy(tr->exprs);
			List	   *scan_tlist = list_copy(tr->scan_tlist);
			List	   *outputs = list_copy(tr->outputs);
			bool		ok = gc_translate_expr(tr, leaf, lfirst_node(RestrictInfo, lf)->clause) >= 0;

			tr->nexprs = nexprs;
			tr->ncolumns = ncolumns;
			tr->nparams = nparams;
			tr->nluts = nluts;
			tr->nlists = nlists;
			tr->exprs = exprs;
			tr->scan_tlist = scan_tlist;
			tr->outputs = outputs;
			if (!ok && demote_leaf(tr, leaf))
				break;
		}
	}
}

static bool
assign_inputs(GcTranslation *tr)
{
	ListCell   *lc;
	int			child = 1;		/* custom_plans: the fallback comes first */

	if (list_length(tr->leaves) > GC_MAX_INPUTS)
	{
		gc_refuse(tr, "too many relations are joined");
		return false;
	}
	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);
		GcPlanInput *in = &tr->plan->inputs[tr->ninputs];

		leaf->input = tr->ninputs++;
		in->relid = leaf->relid;
		in->rows = leaf->rows;
		in->tuples = leaf->tuples;
		in->child = OidIsValid(leaf->relid) ? -1 : child++;
		if (!OidIsValid(leaf->relid) && (leaf->path == NULL || leaf->path->param_info))
		{
			gc_refuse(tr, "a joined relation has no independent plan");
			return false;
		}
	}
	return true;
}

bool
gc_translate_tree(GcTranslation *tr, GcRelDesc *desc)
{
	EqSet		set = {NIL, 0};
	List	   *equi = NIL;
	List	   *residuals = NIL;
	ListCell   *lc;

	foreach(lc, desc->leaves)
		tr->leaves = lappend(tr->leaves, make_leaf(tr, lfirst(lc)));
	choose_streamed(tr);
	if (tr->streamed == NULL)
	{
		const char *reason = NULL;
		Oid			relid;

		(void) is_cacheable_table(tr->root, linitial(desc->leaves), &relid, &reason);
		gc_refuse(tr, "no relation can be read through the column cache: %s", reason);
		return false;
	}
	if (tr->reason)
		return false;
	sort_clauses(tr, desc->clauses, &set, &equi, &residuals);
	merge_constants(tr, &set);
	foreach(lc, tr->leaves)
	{
		/* A row source filters its own rows. */
		if (!OidIsValid(((GcLeaf *) lfirst(lc))->relid))
			((GcLeaf *) lfirst(lc))->filters = NIL;
	}
	demote_untranslatable(tr);
	if (tr->reason || !build_tree(tr, &set))
		return false;
	place_residuals(tr, equi, residuals);
	leaf_share(tr, tr->streamed);
	return assign_inputs(tr);
}

bool
gc_translate_steps(GcTranslation *tr)
{
	return translate_leaf(tr, tr->streamed) && tr->reason == NULL;
}
