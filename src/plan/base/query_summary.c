/*-------------------------------------------------------------------------
 *
 * query_summary.c
 *	  A summary of a query, by one walk over it before it is planned.
 *
 * Each query is walked, those that nothing is offloaded of included.  So one walk finds all that must be known at once.
 * That is the tables, for counts of refusals; calls that see how values are stored; and the query's shape, by which
 * decisions are remembered (plan_memory.c).
 *
 * Two queries of one shape differ by their constants.  Nothing must rely on the reverse: a memory of a shape may only
 * say which work to leave out.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "query_summary.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "source.h"
#include "../../compat.h"

/* Put a value into the shape. */
static inline void
mix(GcQuerySummary *g, uint64 value)
{
	g->shape = gc_summary_mix(g->shape, value);
}

/* Note a user's table once.  Those beyond GC_SUMMARY_TABLES are not counted by table. */
static void
add_table(GcQuerySummary *g, Oid relid)
{
	for (int i = 0; i < g->ntables; i++)
	{
		if (g->tables[i] == relid)
			return;
	}
	if (relid >= FirstNormalObjectId && g->ntables < GC_SUMMARY_TABLES)
		g->tables[g->ntables++] = relid;
}

/* An entry of the range table is told by kind, join type and table. */
static void
look_at_entry(GcQuerySummary *g, const RangeTblEntry *rte)
{
	mix(g, (uint64) T_RangeTblEntry << 52 | (uint64) rte->rtekind << 48 | (uint64) rte->jointype << 40 |
		(uint64) rte->inh << 33 | (uint64) rte->lateral << 32 | rte->relid);
	if (rte->rtekind == RTE_RELATION)
		add_table(g, rte->relid);
	else if (rte->rtekind == RTE_CTE)
		mix(g, rte->ctelevelsup);
}

/* A pattern's wildcards decide whether it is an index's or a kernel's. */
static uint64
text_class(const Const *c)
{
	const text *t = (const text *) DatumGetPointer(c->constvalue);
	uint64		class = 0;
	int			n;

	if (VARATT_IS_EXTERNAL(t) || VARATT_IS_COMPRESSED(t))
		return 1;
	n = Min(VARSIZE_ANY_EXHDR(t), 64);
	for (int i = 0; i < n; i++)
	{
		const char	ch = VARDATA_ANY(t)[i];

		if (ch == '%' || ch == '_' || ch == '\\')
			class |= 2 | (i == 0 ? 4 : 0) | (i == n - 1 ? 8 : 0);
	}
	return class | (n == 0 ? 16 : 0);
}

/* Constants are of one shape by type and NULL; booleans by their value, and texts by their wildcards. */
static void
look_at_const(GcQuerySummary *g, const Const *c)
{
	mix(g, (uint64) c->consttype << 1 | c->constisnull);
	if (c->consttype == BOOLOID)
		mix(g, !c->constisnull && DatumGetBool(c->constvalue));
	else if (c->consttype == TEXTOID && !c->constisnull)
		mix(g, text_class(c));
}

/* The lengths of lists may run into each other: then other queries have the same shape. */
static inline void
look_at_query(GcQuerySummary *g, const Query *query)
{
	mix(g,
		(uint64) query->commandType << 60 ^ (uint64) query->hasDistinctOn << 59 ^ (uint64) query->hasRowSecurity << 58 ^
		(uint64) list_length(query->rowMarks) << 48 ^ (uint64) list_length(query->groupClause) << 32 ^
		(uint64) list_length(query->sortClause) << 16 ^
		(query->setOperations == NULL ? list_length(query->groupingSets) : 0));
}

/* Mix in the fields that tell a node from another of its kind, of those that are not in most queries. */
static uint64
told_by(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Param:
			return (uint64) ((Param *) node)->paramtype << 32 | ((Param *) node)->paramid;
		case T_DistinctExpr:
			return ((DistinctExpr *) node)->opno;
		case T_ScalarArrayOpExpr:
			return (uint64) ((ScalarArrayOpExpr *) node)->opno << 1 | ((ScalarArrayOpExpr *) node)->useOr;
		case T_FuncExpr:
			return ((FuncExpr *) node)->funcid;
		case T_Aggref:
			return (uint64) ((Aggref *) node)->aggfnoid << 1 | (((Aggref *) node)->aggdistinct != NIL);
		case T_WindowFunc:
			return (uint64) ((WindowFunc *) node)->winfnoid << 32 | ((WindowFunc *) node)->winref;
		case T_NullTest:
			return ((NullTest *) node)->nulltesttype;
		case T_BooleanTest:
			return ((BooleanTest *) node)->booltesttype;
		case T_SubLink:
			return ((SubLink *) node)->subLinkType;
		case T_JoinExpr:
			return ((JoinExpr *) node)->jointype;
		case T_SetOperationStmt:
			return ((SetOperationStmt *) node)->op << 1 | ((SetOperationStmt *) node)->all;
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_SQLValueFunction:
			return exprType(node);
		default:
			return 0;
	}
}

/* For check_functions_in_node(): note facts of a query's calls, and go on. */
static bool
look_at_function(Oid function, void *context)
{
	GcQuerySummary *g = context;

	g->storage |= gc_is_storage_function(function);
	g->users_calls |= function >= FirstNormalObjectId;
	return false;
}

/* A user's operator may call a function that sees how values are stored; none of PostgreSQL's own does. */
static void
look_at_call(GcQuerySummary *g, Node *node)
{
	(void) check_functions_in_node(node, look_at_function, g);
}

/* A Var is told by its place, and by the level of its query. */
static inline uint64
var_bits(const Var *var)
{
	return (uint64) T_Var << 52 ^ ((uint64) var->varno << 32 | (uint16) var->varattno << 8 | var->varlevelsup);
}

static bool summary_walker(Node *node, void *context);

/* Columns are told apart here: there are many of them, and a call takes more than the rest. */
static inline void
walk_list(GcQuerySummary *g, const List *list)
{
	const ListCell *cell = list ? list->elements : NULL;

	for (const ListCell *end = cell + list_length(list); cell < end; cell++)
	{
		Node	   *node = lfirst(cell);

		if (node == NULL)
			continue;
		if (IsA(node, TargetEntry))
			node = (Node *) ((TargetEntry *) node)->expr;
		if (IsA(node, Var))
			mix(g, var_bits((Var *) node));
		else if (IsA(node, RangeTblRef))
			mix(g, (uint64) T_RangeTblRef << 52 ^ ((RangeTblRef *) node)->rtindex);
		else
			(void) summary_walker(node, g);
	}
}

/* Walk a part of a query that most do not have. */
static inline void
walk(GcQuerySummary *g, const void *part)
{
	if (part)
		(void) summary_walker(unconstify(void *, part), g);
}

/* Plain tables without expressions of their own need no walker. */
static void
walk_tables(GcQuerySummary *g, const List *rtable)
{
	for (int i = 0; i < list_length(rtable); i++)
	{
		RangeTblEntry *rte = list_nth_node(RangeTblEntry, rtable, i);

		if (rte->rtekind == RTE_RELATION && rte->tablesample == NULL && rte->securityQuals == NIL)
			look_at_entry(g, rte);
		else
			(void) range_table_entry_walker(rte, summary_walker, g,
											QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP | QTW_IGNORE_JOINALIASES);
	}
}

/* As query_tree_walker(), without calls for clauses that most queries lack. */
static void
walk_query(GcQuerySummary *g, const Query *query)
{
	look_at_query(g, query);
	if (query->commandType != CMD_SELECT || query->windowClause != NIL || query->cteList != NIL ||
		query->setOperations != NULL)
	{
		(void) query_tree_walker((Query *) query, summary_walker, g,
								 QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP | QTW_IGNORE_JOINALIASES);
		return;
	}
	walk_list(g, query->targetList);
	if (query->jointree)
	{
		walk_list(g, query->jointree->fromlist);
		walk(g, query->jointree->quals);
	}
	walk(g, query->havingQual);
	if (query->limitOffset)
	{
		mix(g, 1);
		walk(g, query->limitOffset);
	}
	walk(g, query->limitCount);
	walk(g, query->groupClause);
	walk(g, query->sortClause);
	walk(g, query->distinctClause);
	walk_tables(g, query->rtable);
}

/* The nodes that most queries consist of are walked here, the others by PostgreSQL. */
static bool
summary_walker(Node *node, void *context)
{
	GcQuerySummary *g = context;
	uint64		kind;

	if (node && IsA(node, TargetEntry))
		node = (Node *) ((TargetEntry *) node)->expr;
	if (node == NULL)
		return false;
	kind = (uint64) nodeTag(node) << 52;
	switch (nodeTag(node))
	{
		case T_Var:
			mix(g, var_bits((Var *) node));
			return false;
		case T_RangeTblRef:
			mix(g, kind ^ ((RangeTblRef *) node)->rtindex);
			return false;
		case T_SortGroupClause:
			mix(g, kind ^ ((uint64) ((SortGroupClause *) node)->tleSortGroupRef << 33 |
						   (uint64) ((SortGroupClause *) node)->sortop << 1 | ((SortGroupClause *) node)->nulls_first));
			return false;
		case T_Const:
			look_at_const(g, (Const *) node);
			return false;
		case T_OpExpr:
			mix(g, kind ^ ((OpExpr *) node)->opno);
			if (((OpExpr *) node)->opno >= FirstNormalObjectId)
				look_at_call(g, node);
			check_stack_depth();
			walk_list(g, ((OpExpr *) node)->args);
			return false;
		case T_BoolExpr:
			mix(g, kind ^ ((BoolExpr *) node)->boolop);
			check_stack_depth();
			walk_list(g, ((BoolExpr *) node)->args);
			return false;
		case T_List:
			mix(g, kind);
			check_stack_depth();
			walk_list(g, (List *) node);
			return false;
		case T_RangeTblEntry:
			look_at_entry(g, (RangeTblEntry *) node);
			return false;
		case T_Query:
			mix(g, kind);
			check_stack_depth();
			walk_query(g, (Query *) node);
			return false;
		case T_Param:
			mix(g, kind ^ told_by(node));
			g->parameters |= ((Param *) node)->paramkind == PARAM_EXTERN;
			return false;
		default:
			mix(g, kind ^ told_by(node));
			look_at_call(g, node);
			return expression_tree_walker(node, summary_walker, context);
	}
}

/* Walk the query once, for its shape and its summary. */
void
gc_summarise_query(Query *query, GcQuerySummary *summary)
{
	summary->shape = 0;
	summary->storage = summary->parameters = summary->users_calls = false;
	summary->ntables = 0;
	walk_query(summary, query);
}
