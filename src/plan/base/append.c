/*-------------------------------------------------------------------------
 *
 * append.c
 *	  Partitioned tables, inheritance trees and UNION ALL of tables as leaves.
 *
 * PostgreSQL reads such a relation by an Append over its children.  Here it is one
 * leaf, whose input is the chunks of all children put together (exec/append.c).  So
 * a pipeline has one kernel and one launch, whatever the number of children.
 *
 * PostgreSQL has pruned the children already, and translated each of the relation's columns to an expression of
 * the child.  Mostly that is the child's own column.  Where it is not (UNION ALL of constants, say), the column is
 * a CASE over the number of the table.  Every append input has a column with that.  So are the conditions that a
 * single SELECT of UNION ALL has, and columns that differ in type.  A SELECT that PostgreSQL has given the relation's
 * conditions may lack the columns that only these read: then each table has its own form of them.  Expressions refer to
 * columns of tables as Vars of the relation, with numbers behind those of its own columns.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "append.h"

#include "access/table.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "../../columns/encode/pgkinds.h"
#include "../../columns/encode/spec.h"
#include "source.h"

/* Each is opened, loaded and judged at every execution; each has a place in CASE, if there is one. */
#define MAX_PARTS		512
#define MAX_CASE_PARTS	64

#define MAX_UNNAMED		100

typedef struct AppendWalk
{
	List	   *parts;
	const char *reason;
} AppendWalk;

/* A relation on the way from the topmost one to a table. */
typedef struct Step
{
	PlannerInfo *root;
	Index		relid;
	List	   *exprs;			/* the topmost relation's columns */
	List	   *quals;
	List	   *conditions;		/* of the topmost relation */
} Step;

static bool add_children(AppendWalk *w, const Step *parent);

/* Note the first reason; returns false for the caller to return. */
static bool
refuse(AppendWalk *w, const char *reason)
{
	w->reason = reason;
	return false;
}

/*-------------------------------------------------------------------------
 * Tables
 *-------------------------------------------------------------------------
 */

/* Expressions of a relation as those of its child. */
static List *
translate_exprs(PlannerInfo *root, List *exprs, AppendRelInfo *appinfo)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		result = lappend(result, lfirst(lc) == NULL ? NULL :
						 adjust_appendrel_attrs(root, lfirst(lc), 1, &appinfo));
	return result;
}

/* Conditions of a relation, as clauses. */
static List *
clauses_of(List *rinfos)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, rinfos)
		clauses = lappend(clauses, lfirst_node(RestrictInfo, lc)->clause);
	return clauses;
}

/* Add a child's table as a part, or say why it cannot be one. */
static bool
add_table(AppendWalk *w, const Step *s)
{
	RangeTblEntry *rte = planner_rt_fetch(s->relid, s->root);
	GcAppendPart *part;
	Relation	relation;
	const char *reason;
	bool		ok;

	if (rte->rtekind != RTE_RELATION || rte->tablesample || rte->securityQuals != NIL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return refuse(w, "a child of it is not a table");
	if (list_length(w->parts) == MAX_PARTS)
		return refuse(w, "it has too many children");
	relation = table_open(rte->relid, NoLock);
	ok = gc_rel_plannable(relation, &reason);
	table_close(relation, NoLock);
	if (!ok)
		return refuse(w, psprintf("of a child of it, %s", reason));
	part = palloc0(sizeof(GcAppendPart));
	part->root = s->root;
	part->rel = s->root->simple_rel_array[s->relid];
	part->relid = rte->relid;
	part->exprs = s->exprs;
	part->quals = s->quals;
	part->conditions = list_concat(list_copy(s->conditions), clauses_of(part->rel->baserestrictinfo));
	w->parts = lappend(w->parts, part);
	return true;
}

/* Vars of a subquery as the expressions that it computes. */
typedef struct Inline
{
	Index		relid;
	List	   *tlist;
} Inline;

/* Put a subquery's expressions in the places of its columns. */
static Node *
inline_mutator(Node *node, void *context)
{
	Inline	   *in = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == in->relid)
	{
		TargetEntry *tle = get_tle_by_resno(in->tlist, ((Var *) node)->varattno);

		/* a whole-row reference is refused later */
		return tle ? (Node *) copyObject(tle->expr) : copyObject(node);
	}
	return expression_tree_mutator(node, inline_mutator, context);
}

/* Does the query return a row for each that it reads, or some of these? */
bool
gc_is_plain_query(PlannerInfo *subroot)
{
	const Query *q = subroot->parse;

	return q->commandType == CMD_SELECT && !q->hasAggs && q->groupClause == NIL && q->groupingSets == NIL &&
		q->distinctClause == NIL && !q->hasWindowFuncs && !gc_has_limit(q) && q->limitOffset == NULL &&
		!q->hasTargetSRFs && q->rowMarks == NIL && !q->hasModifyingCTE && q->havingQual == NULL;
}

/* Is the query only a SELECT of expressions FROM one relation WHERE something? */
static bool
is_simple_select(PlannerInfo *subroot)
{
	return gc_is_plain_query(subroot) && subroot->init_plans == NIL && subroot->parse->setOperations == NULL &&
		bms_membership(subroot->all_baserels) == BMS_SINGLETON &&
		!contain_volatile_functions((Node *) subroot->processed_tlist);
}

List *
gc_inline_columns(List *exprs, Index relid, List *tlist)
{
	Inline		in = {relid, tlist};

	return (List *) inline_mutator((Node *) exprs, &in);
}

/* A SELECT of UNION ALL that PostgreSQL has planned for itself, as it has conditions. */
static bool
add_subquery(AppendWalk *w, const Step *s)
{
	RelOptInfo *rel = s->root->simple_rel_array[s->relid];
	PlannerInfo *subroot = rel->subroot;
	Inline		in = {.relid = s->relid};
	Step		below;
	RelOptInfo *base;

	if (subroot == NULL || rel->subplan_params != NIL || !is_simple_select(subroot) ||
		planner_rt_fetch(s->relid, s->root)->securityQuals != NIL)
		return refuse(w, "a child of it is not a table");
	in.tlist = subroot->processed_tlist;
	below.root = subroot;
	below.relid = bms_singleton_member(subroot->all_baserels);
	base = subroot->simple_rel_array[below.relid];
	if (IS_DUMMY_REL(base))
		return true;
	below.exprs = (List *) inline_mutator((Node *) s->exprs, &in);
	/* Those of the relation are among them, too. */
	below.quals = list_concat((List *) inline_mutator((Node *) s->quals, &in), clauses_of(base->baserestrictinfo));
	below.conditions = (List *) inline_mutator((Node *) list_concat(list_copy(s->conditions),
																	clauses_of(rel->baserestrictinfo)), &in);
	return planner_rt_fetch(below.relid, subroot)->inh ? add_children(w, &below) : add_table(w, &below);
}

static bool
add_children(AppendWalk *w, const Step *parent)
{
	ListCell   *lc;

	foreach(lc, parent->root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *rel;
		RangeTblEntry *rte;
		Step		child = {.root = parent->root,.relid = appinfo->child_relid};
		bool		ok;

		if (appinfo->parent_relid != parent->relid)
			continue;
		rel = parent->root->simple_rel_array[child.relid];
		if (rel == NULL || IS_DUMMY_REL(rel))
			continue;
		child.exprs = parent->exprs ? translate_exprs(parent->root, parent->exprs, appinfo) : appinfo->translated_vars;
		child.quals = translate_exprs(parent->root, parent->quals, appinfo);
		child.conditions = translate_exprs(parent->root, parent->conditions, appinfo);
		rte = planner_rt_fetch(child.relid, parent->root);
		ok = rte->inh ? add_children(w, &child) : rte->rtekind == RTE_SUBQUERY ? add_subquery(w, &child) :
			add_table(w, &child);
		if (!ok)
			return false;
	}
	return true;
}

/* A SELECT's columns, in the types of UNION ALL; NIL: some cannot be. */
List *
gc_union_columns(PlannerInfo *subroot, Index relid, const SetOperationStmt *types)
{
	List	   *exprs = NIL;
	ListCell   *lc,
			   *lt,
			   *lm,
			   *ll;

	forfour(lc, subroot->simple_rel_array[relid]->subroot->processed_tlist, lt, types->colTypes, lm, types->colTypmods,
			ll, types->colCollations)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);
		Node	   *expr = (Node *) makeVarFromTargetEntry(relid, tle);

		if (tle->resjunk)
			return NIL;
		if (exprType(expr) != lfirst_oid(lt))
			expr = coerce_to_common_type(NULL, expr, lfirst_oid(lt), "UNION");
		if (exprCollation(expr) != lfirst_oid(ll))
			expr = applyRelabelType(expr, exprType(expr), exprTypmod(expr), lfirst_oid(ll), COERCE_IMPLICIT_CAST, -1,
									false);
		exprs = lappend(exprs, expr);
	}
	return exprs;
}

/*
 * Add the SELECTs of UNION ALL whose columns differ in type: PostgreSQL keeps them as a query level
 * of their own.
 */
static bool
add_selects(AppendWalk *w, PlannerInfo *subroot, Node *tree, const SetOperationStmt *types)
{
	Step		s = {.root = subroot};

	if (IsA(tree, SetOperationStmt))
	{
		SetOperationStmt *op = (SetOperationStmt *) tree;

		if (op->op != SETOP_UNION || !op->all)
			return refuse(w, "it is another set operation than UNION ALL");
		/* An inner one may have types of its own on the way. */
		if (!equal(op->colTypes, types->colTypes))
			return refuse(w, "nested UNION ALL differ in type");
		return add_selects(w, subroot, op->larg, types) && add_selects(w, subroot, op->rarg, types);
	}
	s.relid = ((RangeTblRef *) tree)->rtindex;
	if (subroot->simple_rel_array[s.relid] == NULL || subroot->simple_rel_array[s.relid]->subroot == NULL)
		return refuse(w, "a child of it is not a table");
	s.exprs = gc_union_columns(subroot, s.relid, types);
	return s.exprs != NIL ? add_subquery(w, &s) : refuse(w, "a child of it has other columns");
}

/* Is the relation such a UNION ALL? */
bool
gc_is_union(const RelOptInfo *rel)
{
	return rel->rtekind == RTE_SUBQUERY && rel->subroot && rel->subroot->parse->setOperations &&
		rel->subplan_params == NIL && gc_is_plain_query(rel->subroot) && rel->subroot->init_plans == NIL;
}

/*-------------------------------------------------------------------------
 * Columns
 *-------------------------------------------------------------------------
 */

/* The columns of an append input while they are found. */
typedef struct Columns
{
	GcAppend   *append;
	Index		relid;
	GcAppendPart *part;			/* whose expression is looked at */
	int			number;			/* of the part */
	bool		failed;
} Columns;

/* Is it a column of this part's table? */
static bool
is_own_var(const GcAppendPart *part, const Node *node)
{
	return node && IsA(node, Var) && ((const Var *) node)->varno == part->rel->relid &&
		((const Var *) node)->varattno > 0 && ((const Var *) node)->varlevelsup == 0;
}

/* Can both be one column, so that values and comparisons mean the same? */
static bool
same_type(const Var *a, const Var *b)
{
	return a->vartype == b->vartype && a->varcollid == b->varcollid &&
		(gc_base_type(a->vartype) != BPCHAROID || a->vartypmod == b->vartypmod);
}

/* Is column `number` of the relation, from 0, one of each table, of this type? */
static bool
is_plain(const GcAppend *append, int number, const Var *var)
{
	ListCell   *lc;

	foreach(lc, append->parts)
	{
		GcAppendPart *part = lfirst(lc);
		Node	   *expr = list_nth(part->exprs, number);

		if (!is_own_var(part, expr) || !same_type((Var *) expr, var))
			return false;
	}
	return true;
}

/* Each part's column for this one of the whole. */
static void
note_attnums(GcAppend *append, int number)
{
	ListCell   *lc;

	foreach(lc, append->parts)
	{
		GcAppendPart *part = lfirst(lc);

		part->attnums[number] = ((Var *) list_nth(part->exprs, number))->varattno;
	}
}

/* A column of the input that is, or becomes, this column of the part. */
static Var *
input_column(Columns *c, const Var *var)
{
	GcAppend   *append = c->append;
	int			i;

	for (i = 0; i < append->natts; i++)
	{
		Expr	   *expr = append->columns[i];

		if (expr && IsA(expr, Var) && c->part->attnums[i] == var->varattno && same_type((Var *) expr, var))
			return (Var *) expr;
	}
	/* The first of these is the number of the table. */
	for (i = 1; i < append->ninput - append->natts; i++)
	{
		int16	   *attnum = &c->part->attnums[append->natts + i];

		if (same_type(append->unnamed[i], var) && (*attnum == 0 || *attnum == var->varattno))
			break;
	}
	if (i == MAX_UNNAMED)
	{
		c->failed = true;
		return append->unnamed[0];
	}
	if (append->natts + i == append->ninput)
		append->unnamed[i] = makeVar(c->relid, ++append->ninput, var->vartype, var->vartypmod, var->varcollid, 0);
	c->part->attnums[append->natts + i] = var->varattno;
	return append->unnamed[i];
}

/* An expression of a table as one of the input's columns. */
static Node *
columns_mutator(Node *node, void *context)
{
	Columns    *c = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, PlaceHolderVar))
		return columns_mutator((Node *) ((PlaceHolderVar *) node)->phexpr, context);
	if (is_own_var(c->part, node))
		return (Node *) copyObject(input_column(c, (Var *) node));
	if (IsA(node, Var))
		c->failed = true;
	return expression_tree_mutator(node, columns_mutator, context);
}

/* A condition that only this part's rows meet: by the number that each part has. */
static Expr *
part_is(const GcAppend *append, int number)
{
	Const	   *value = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(number), false, true);
	OpExpr	   *op = (OpExpr *) make_opclause(Int4EqualOperator, BOOLOID, false,
											  (Expr *) copyObject(append->unnamed[0]),
											  (Expr *) value, InvalidOid, InvalidOid);

	op->opfuncid = F_INT4EQ;
	return (Expr *) op;
}

/*
 * CASE over the number of the table.  exprs: by table; the tables that have the last one's come
 * under ELSE.
 */
static Expr *
choose_by_part(const GcAppend *append, List *exprs, Oid type, Oid collation)
{
	CaseExpr   *result = makeNode(CaseExpr);
	List	   *seen = list_make1(llast(exprs));
	ListCell   *lc,
			   *lo;

	result->casetype = type;
	result->casecollid = collation;
	result->defresult = llast(exprs);
	result->location = -1;
	foreach(lc, exprs)
	{
		CaseWhen   *when;
		List	   *conditions = NIL;

		if (list_member(seen, lfirst(lc)))
			continue;
		seen = lappend(seen, lfirst(lc));
		foreach(lo, exprs)
		{
			if (equal(lfirst(lo), lfirst(lc)))
				conditions = lappend(conditions, part_is(append, foreach_current_index(lo)));
		}
		when = makeNode(CaseWhen);
		when->expr = list_length(conditions) == 1 ? linitial(conditions) : make_orclause(conditions);
		when->result = lfirst(lc);
		when->location = -1;
		result->args = lappend(result->args, when);
	}
	return result->args == NIL ? result->defresult : (Expr *) result;
}

/* A column of the relation, as an expression of the tables; NULL: it cannot be read. */
static Expr *
column_expr(Columns *c, Var *var)
{
	List	   *exprs = NIL;
	ListCell   *lc;

	if (list_length(c->append->parts) > MAX_CASE_PARTS)
		return NULL;
	foreach(lc, c->append->parts)
	{
		Node	   *expr;

		c->part = lfirst(lc);
		expr = list_nth(c->part->exprs, var->varattno - 1);
		if (expr == NULL || exprType(expr) != var->vartype)
			return NULL;
		exprs = lappend(exprs, columns_mutator(expr, c));
	}
	return c->failed ? NULL : choose_by_part(c->append, exprs, var->vartype, var->varcollid);
}

/* The relation's columns that the query level reads, here or further up. */
List *
gc_columns_read(RelOptInfo *rel)
{
	List	   *vars = pull_var_clause((Node *) rel->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS);
	List	   *own = NIL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		vars = list_concat(vars, pull_var_clause((Node *) lfirst_node(RestrictInfo, lc)->clause,
												 PVC_RECURSE_PLACEHOLDERS));
	/* Placeholders may be of other relations, too. */
	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);

		if (IsA(var, Var) && var->varno == rel->relid && var->varlevelsup == 0)
			own = list_append_unique(own, var);
	}
	return own;
}

/* Find the expressions of the columns that are read; false, with a reason, if one cannot be read. */
static bool
find_columns(Columns *c, RelOptInfo *rel, const char **reason)
{
	GcAppend   *append = c->append;
	List	   *vars = gc_columns_read(rel);
	ListCell   *lc;

	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);

		*reason = "a system column or whole-row reference is used";
		if (var->varattno <= 0 || var->varattno > append->natts)
			return false;
		if (!is_plain(append, var->varattno - 1, var))
			continue;
		append->columns[var->varattno - 1] = (Expr *) var;
		note_attnums(append, var->varattno - 1);
	}
	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);
		Expr	  **column = &append->columns[var->varattno - 1];

		*reason = "a column of it is not computed alike in all children";
		if (*column == NULL && (*column = column_expr(c, var)) == NULL)
			return false;
	}
	return true;
}

/*
 * Does a part have nothing but NULL where the relation's conditions read a column?  PostgreSQL may
 * have dropped the column.
 */
static bool
lacks_column(const GcAppendPart *part, Index relid, List *vars)
{
	ListCell   *lc;

	foreach(lc, vars)
	{
		const Var  *var = lfirst_node(Var, lc);
		const Node *expr = var->varno == relid ? list_nth(part->exprs, var->varattno - 1) : NULL;

		if (expr && IsA(expr, Const) && ((const Const *) expr)->constisnull)
			return true;
	}
	return false;
}

/* The conditions that are not on all tables alike, as conditions on the input. */
static bool
find_filters(Columns *c, PlannerInfo *root, RelOptInfo *rel)
{
	GcAppend   *append = c->append;
	List	   *vars = pull_var_clause((Node *) clauses_of(rel->baserestrictinfo), PVC_RECURSE_PLACEHOLDERS);
	List	   *exprs = NIL;
	bool		any = false;
	ListCell   *lc;

	foreach(lc, append->parts)
		append->conditioned |= lacks_column(lfirst(lc), c->relid, vars);
	foreach(lc, append->parts)
	{
		List	   *quals;

		c->part = lfirst(lc);
		quals = append->conditioned ? list_union(c->part->quals, c->part->conditions) : c->part->quals;
		any |= quals != NIL;
		exprs = lappend(exprs, columns_mutator((Node *) make_ands_explicit(quals), c));
	}
	if (!any)
		return true;
	if (c->failed || list_length(append->parts) > MAX_CASE_PARTS)
		return false;
	append->filters = list_make1(make_simple_restrictinfo(root, choose_by_part(append, exprs, BOOLOID, InvalidOid)));
	return true;
}

/* Columns that no one asks for are there all the same, where that costs nothing. */
static void
note_other_columns(GcAppend *append)
{
	for (int i = 0; i < append->natts; i++)
	{
		Var		   *first = list_nth(((GcAppendPart *) linitial(append->parts))->exprs, i);

		if (append->columns[i] != NULL || first == NULL || !IsA(first, Var) || !is_plain(append, i, first))
			continue;
		note_attnums(append, i);
	}
}

GcAppend *
gc_append_make(PlannerInfo *root, RelOptInfo *rel, const char **reason)
{
	AppendWalk	w = {NIL};
	Step		top = {.root = root,.relid = rel->relid};
	GcAppend   *append = palloc0(sizeof(GcAppend));
	Columns		c = {.append = append,.relid = rel->relid};
	ListCell   *lc;

	if (!IS_SIMPLE_REL(rel) || !(planner_rt_fetch(rel->relid, root)->inh || gc_is_union(rel)))
		return NULL;
	*reason = "TABLESAMPLE is used";
	if (planner_rt_fetch(rel->relid, root)->tablesample)
		return NULL;
	*reason = "it has no children";
	if (!(gc_is_union(rel) ? add_selects(&w, rel->subroot, rel->subroot->parse->setOperations,
									  (SetOperationStmt *) rel->subroot->parse->setOperations) :
		  add_children(&w, &top)) || w.parts == NIL)
	{
		*reason = w.reason ? w.reason : *reason;
		return NULL;
	}
	append->parts = w.parts;
	append->natts = list_length(((GcAppendPart *) linitial(w.parts))->exprs);
	append->ninput = append->natts + 1;
	append->columns = palloc0((append->natts + 1) * sizeof(Expr *));
	append->unnamed = palloc0((MAX_UNNAMED + 1) * sizeof(Var *));
	append->unnamed[0] = makeVar(rel->relid, append->ninput, INT4OID, -1, InvalidOid, 0);
	foreach(lc, w.parts)
	{
		GcAppendPart *part = lfirst(lc);

		part->attnums = palloc0((append->natts + MAX_UNNAMED + 1) * sizeof(int16));
		part->attnums[append->natts] = GC_ATTNUM_PART;
	}
	if (!find_columns(&c, rel, reason))
		return NULL;
	*reason = "a condition of a child of it is not known";
	if (!find_filters(&c, root, rel))
		return NULL;
	note_other_columns(append);
	return append;
}

double
gc_append_tuples(const GcAppend *append)
{
	double		tuples = 0;
	ListCell   *lc;

	foreach(lc, append->parts)
		tuples += ((GcAppendPart *) lfirst(lc))->rel->tuples;
	return tuples;
}

Expr *
gc_append_expr(const GcAppend *append, Var *var)
{
	if (var->varattno <= 0 || var->varattno > append->ninput)
		return NULL;
	return var->varattno > append->natts ? (Expr *) var : append->columns[var->varattno - 1];
}

/* The table whose rows have this number. */
static Oid
part_relid(const GcAppend *append, int number)
{
	return ((GcAppendPart *) list_nth(append->parts, number))->relid;
}

List *
gc_append_choices(const GcAppend *append, const Expr *expr, List **relids)
{
	const CaseExpr *choice = (const CaseExpr *) expr;
	List	   *results = NIL;
	ListCell   *lc;

	*relids = NIL;
	if (!IsA(expr, CaseExpr))
		return NIL;
	foreach(lc, choice->args)
	{
		const CaseWhen *when = lfirst_node(CaseWhen, lc);
		const OpExpr *test = (const OpExpr *) (is_orclause(when->expr) ? linitial(((BoolExpr *) when->expr)->args)
											   : when->expr);

		/* The expression may be a CASE of the query. */
		if (!IsA(test, OpExpr) || !equal(linitial(test->args), append->unnamed[0]))
			return NIL;
		results = lappend(results, when->result);
		*relids = lappend_oid(*relids, part_relid(append, DatumGetInt32(lsecond_node(Const, test->args)->constvalue)));
	}
	*relids = lappend_oid(*relids, part_relid(append, list_length(append->parts) - 1));
	return lappend(results, choice->defresult);
}

bool
gc_append_has_filter(const GcAppend *append, const RestrictInfo *rinfo)
{
	return list_member_ptr(append->filters, rinfo);
}
