/*-------------------------------------------------------------------------
 *
 * leaf.c
 *	  Leaves of the join tree: the relations that it joins.
 *
 * A leaf is a table that is read through the column cache, several of them that are one
 * relation (append.c), or a row source.  That is anything else: PostgreSQL computes its rows,
 * and the backend encodes them as they come.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "leaf.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

#include "append.h"
#include "builder.h"
#include "quotient.h"
#include "source.h"

#include "../../columns/encode/spec.h"
#include "../../compat.h"

/* Kinds of relations that are no tables. */
static const char *
no_table(const RangeTblEntry *rte)
{
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return rte->tablesample ? "TABLESAMPLE is used" :
				rte->relkind == RELKIND_FOREIGN_TABLE ? "it is a foreign table" : "it is not a table";
		case RTE_SUBQUERY:
			return "it is a subquery";
		case RTE_FUNCTION:
			return "it is the result of a function";
		case RTE_TABLEFUNC:
			return "it is the result of XMLTABLE or its like";
		case RTE_VALUES:
			return "it is a list of VALUES";
		case RTE_CTE:
			return "it is a CTE";
		default:
			return "it is not a table";
	}
}

/* A join that the node can only have the rows of. */
static const char *
no_join(PlannerInfo *root, const RelOptInfo *rel)
{
	const char *found = "it is the result of a join";
	int			relid = -1;
	ListCell   *lc;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		/* From 16 on, outer joins are members, too. */
		if (root->simple_rel_array[relid] && !bms_is_empty(root->simple_rel_array[relid]->lateral_relids))
			return "it is a join with a lateral reference";
	}
	foreach(lc, root->placeholder_list)
	{
		if (bms_num_members(lfirst_node(PlaceHolderInfo, lc)->ph_eval_at) > 1)
			return "it is a join below which an expression of several relations is computed";
	}
	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *join = lfirst_node(SpecialJoinInfo, lc);

		if (!bms_is_subset(join->min_lefthand, rel->relids) || !bms_is_subset(join->min_righthand, rel->relids))
			continue;
		found = join->jointype == JOIN_SEMI ? "it is the result of a semi join" :
			join->jointype == JOIN_ANTI ? "it is the result of an anti join" : "it is the result of an outer join";
	}
	return found;
}

bool
gc_cacheable_table(PlannerInfo *root, RelOptInfo *rel, Oid *relid, const char **reason)
{
	RangeTblEntry *rte;
	Relation	relation;
	bool		ok;

	*reason = IS_SIMPLE_REL(rel) ? no_table(planner_rt_fetch(rel->relid, root)) : no_join(root, rel);
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

GcLeaf *
gc_leaf_make(GcTranslation *tr, RelOptInfo *rel)
{
	GcLeaf	   *leaf = palloc0(sizeof(GcLeaf));
	const char *reason;

	leaf->rel = rel;
	leaf->relids = rel->relids;
	leaf->rows = rel->rows;
	leaf->build = -1;
	leaf->pipeline = -1;
	if (gc_cacheable_table(tr->root, rel, &leaf->relid, &reason))
		leaf->tuples = Max(rel->tuples, 1);
	else if ((leaf->append = gc_append_make(tr->root, rel, &reason)) != NULL)
	{
		leaf->relid = InvalidOid;
		leaf->tuples = Max(gc_append_tuples(leaf->append), 1);
		leaf->filters = list_copy(leaf->append->filters);
	}
	else if (!tr->embed(tr, leaf))
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

bool
gc_leaf_demote(GcTranslation *tr, GcLeaf *leaf)
{
	leaf->path = leaf->rel->cheapest_total_path;
	if (leaf->path == NULL || leaf->path->param_info || gc_source_refusal(tr->root, leaf->rel))
		return false;
	leaf->relid = InvalidOid;
	leaf->append = NULL;
	leaf->tuples = Max(leaf->rel->rows, 1);
	leaf->filters = NIL;
	tr->reason = NULL;
	return true;
}

GcLeaf *
gc_leaf_among(List *leaves, Relids relids)
{
	ListCell   *lc;

	foreach(lc, leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (bms_is_subset(relids, leaf->relids))
			return leaf;
	}
	return NULL;
}

GcLeaf *
gc_leaf_of_rel(GcTranslation *tr, int relid)
{
	ListCell   *lc;

	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (bms_is_member(relid, leaf->relids))
			return leaf;
	}
	return NULL;
}

Relids
gc_base_relids(GcTranslation *tr, Relids relids)
{
	return bms_intersect(relids, tr->root->all_baserels);
}

/* From 16 on a Var says which outer joins may have made it NULL. */
Node *
gc_unnulled(GcTranslation *tr, GcLeaf *leaf, Node *node)
{
	Relids		above = bms_difference(GC_OUTER_JOIN_RELIDS(tr->root), leaf->rel->relids);

	return bms_is_empty(above) ? node : GC_WITHOUT_NULLING(node, above);
}

/* May the index prove that no two rows have the same key in its columns? */
static bool
proves_unique(const IndexOptInfo *index)
{
	return index->unique && index->immediate && index->indpred == NIL;
}

/* The number of the leaf's own column that the expression is; 0: it is something else. */
static int
own_column(const GcLeaf *leaf, const Node *expr)
{
	if (!IsA(expr, Var) || !OidIsValid(leaf->relid) || ((const Var *) expr)->varno != leaf->rel->relid)
		return 0;
	return ((const Var *) expr)->varattno;
}

bool
gc_is_unique_column(GcLeaf *leaf, Expr *expr)
{
	const int	column = own_column(leaf, (Node *) expr);
	ListCell   *lc;

	if (column == 0)
		return false;
	foreach(lc, leaf->rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (proves_unique(index) && index->nkeycolumns == 1 && index->indexkeys[0] == column)
			return true;
	}
	return false;
}

/* Is the column the build side of one of the keys?  0, an expression, never is. */
static bool
is_key(const GcLeaf *leaf, List *keys, int column)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (column != 0 && own_column(leaf, (Node *) ((GcJoinKey *) lfirst(lc))->build_side) == column)
			return true;
	}
	return false;
}

bool
gc_covers_unique_index(const GcLeaf *leaf, List *keys)
{
	ListCell   *lc;

	if (!OidIsValid(leaf->relid))
		return false;
	foreach(lc, leaf->rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		bool		covered = proves_unique(index);

		for (int i = 0; i < index->nkeycolumns && covered; i++)
			covered = is_key(leaf, keys, index->indexkeys[i]);
		if (covered)
			return true;
	}
	return false;
}

bool
gc_covers_groups(GcLeaf *leaf, List *keys)
{
	ListCell   *lc,
			   *lk;

	if (leaf->groups == NULL || leaf->groups->rows || leaf->groups->root->parse->groupingSets != NIL)
		return false;
	foreach(lc, leaf->groups->by)
	{
		bool		covered = !contain_var_clause(lfirst(lc));

		foreach(lk, keys)
		{
			Var		   *var = (Var *) ((GcJoinKey *) lfirst(lk))->build_side;
			TargetEntry *tle = IsA(var, Var) ? get_tle_by_resno(leaf->groups->tlist, var->varattno) : NULL;

			covered |= tle && equal(tle->expr, lfirst(lc));
		}
		if (!covered)
			return false;
	}
	return true;
}

GcJoinKey *
gc_only_key(void)
{
	GcJoinKey  *key = palloc(sizeof(GcJoinKey));

	key->build_side = key->probe_side = (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
	return key;
}

bool
gc_finds_only_row(const GcLeaf *leaf)
{
	return leaf->keys != NIL && IsA(((GcJoinKey *) linitial(leaf->keys))->build_side, Const);
}

/* May a left or full join between these pipelines make values of the second NULL? */
static bool
optional_between(const GcLeaf *at, const GcLeaf *from)
{
	if (from->full != NIL)
		return true;
	for (const GcLeaf *l = from; l && l != at; l = l->parent)
	{
		if (l->join == GC_JOIN_LEFT || gc_join_keeps(l->join) ||
			(l->parent && list_length(l->parent->full) > l->after_full))
			return true;
	}
	return false;
}

/*
 * A value that is at hand in leaf's pipeline before full join `first` of those that it has probed.  It is NULL in a row
 * that only such a join's build has.
 */
static int
behind_full(GcTranslation *tr, GcLeaf *leaf, int first, int expr)
{
	for (int i = first; i < list_length(leaf->full) && expr >= 0 && tr->pexprs[expr].op != GC_OP_NULL; i++)
	{
		uint16		space = tr->space[expr];

		expr = gc_build_expr(tr, GC_OP_OUTER, tr->pexprs[expr].kind, expr, -1, -1,
							 ((GcLeaf *) list_nth(leaf->full, i))->build);
		if (expr >= 0)
			tr->space[expr] = space;
	}
	return expr;
}

/* Is an expression NULL if anything that it reads is? */
static bool
is_strict(const GcTranslation *tr, int expr)
{
	const GcExpr *e = &tr->pexprs[expr];

	switch (e->op)
	{
		case GC_OP_COLUMN:
		case GC_OP_PAYLOAD:
		case GC_OP_PARAM:
		case GC_OP_ADD:
		case GC_OP_SUB:
		case GC_OP_MUL:
		case GC_OP_DIV:
		case GC_OP_MOD:
		case GC_OP_NEG:
		case GC_OP_ABS:
		case GC_OP_CAST:
		case GC_OP_AVG:
		case GC_OP_STDDEV:
		case GC_OP_CALL:
		case GC_OP_OUTER:
			break;
		default:
			return false;
	}
	for (int i = 0; i < 3; i++)
	{
		if (e->arg[i] != GC_NONE && !is_strict(tr, e->arg[i]))
			return false;
	}
	return true;
}

/* Bring the parts of an expression, and compute it anew from them.  No other pipeline knows the arm or join of one. */
static int
bring_parts(GcTranslation *tr, GcLeaf *at, GcLeaf *from, int expr)
{
	GcExpr		e = tr->pexprs[expr];
	int			result;

	if (e.op == GC_OP_ARM || e.op == GC_OP_OUTER)
		return gc_refuse(tr, "a quotient of numerics, not rounded, is needed above its UNION ALL or full join");
	for (int i = 0; i < 3; i++)
	{
		int			part = e.arg[i] == GC_NONE ? GC_NONE : gc_bring(tr, at, from, e.arg[i]);

		if (part < 0)
			return GC_NO_EXPR;
		e.arg[i] = part;
	}
	result = gc_build_copy(tr, &e);
	if (result >= 0)
		tr->space[result] = tr->space[expr];
	return result;
}

int
gc_bring(GcTranslation *tr, GcLeaf *at, GcLeaf *from, int expr)
{
	const bool	optional = optional_between(at, from);

	if (from != at && expr >= 0 && tr->pexprs[expr].op == GC_OP_PARAM && !optional)
		return expr;
	/* A quotient may need more than 64 bits. */
	if (from != at && expr >= 0 && gc_any_part(tr, expr, gc_is_quotient))
		return optional && !is_strict(tr, expr) ?
			gc_refuse(tr, "an expression of an average is needed above a left join") : bring_parts(tr, at, from, expr);
	expr = behind_full(tr, from, 0, expr);
	for (; from != at && expr >= 0; from = from->parent)
	{
		if (from->parent == NULL)
			return gc_refuse(tr, "a column is needed where its table is not joined yet");
		expr = gc_build_payload(tr, from->build, expr);
		if (expr >= 0)
			expr = behind_full(tr, from->parent, from->after_full, expr);
	}
	return expr;
}

bool
gc_leaf_unique(GcLeaf *leaf)
{
	ListCell   *lc;

	foreach(lc, leaf->children)
	{
		GcLeaf	   *child = lfirst(lc);

		if (child->join != GC_JOIN_SEMI && child->join != GC_JOIN_ANTI && !gc_leaf_unique(child))
			return false;
	}
	return leaf->unique;
}
