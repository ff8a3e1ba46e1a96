/*-------------------------------------------------------------------------
 *
 * glance.c
 *	  What one walk over a query, before it is planned, tells of it.
 *
 * Each query is walked, those that nothing is offloaded of included.  So there is one walk for all that
 * must be known at once: the tables, for counts of refusals; calls that see how values are stored; and the
 * query's shape, by which decisions are remembered (verdict.c).
 *
 * Two queries of one shape differ by their constants.  Nothing must rely on the reverse: what is remembered of a
 * shape may only say which work to leave out.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "glance.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "source.h"
#include "../compat.h"

static inline void
mix(GcGlance *g, uint64 value)
{
	g->shape = gc_glance_mix(g->shape, value);
}

static void
add_table(GcGlance *g, Oid relid)
{
	for (int i = 0; i < g->ntables; i++)
	{
		if (g->tables[i] == relid)
			return;
	}
	if (relid >= FirstNormalObjectId && g->ntables < GC_GLANCE_TABLES)
		g->tables[g->ntables++] = relid;
}

static void
look_at_entry(GcGlance *g, const RangeTblEntry *rte)
{
	mix(g, (uint64) rte->rtekind << 32 | rte->relid);
	mix(g, rte->jointype << 2 | rte->inh << 1 | rte->lateral);
	if (rte->rtekind == RTE_RELATION)
		add_table(g, rte->relid);
	if (rte->rtekind == RTE_CTE)
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

static void
look_at_const(GcGlance *g, const Const *c)
{
	mix(g, (uint64) c->consttype << 1 | c->constisnull);
	if (c->consttype == BOOLOID)
		mix(g, !c->constisnull && DatumGetBool(c->constvalue));
	else if (c->consttype == TEXTOID && !c->constisnull)
		mix(g, text_class(c));
}

static void
look_at_query(GcGlance *g, const Query *query)
{
	mix(g, (uint64) query->commandType << 32 | (query->distinctClause != NIL) << 6 | query->hasDistinctOn << 5 |
		query->hasRowSecurity << 4 | query->hasForUpdate << 3 | query->hasModifyingCTE << 2 |
		(query->limitCount != NULL) << 1 | (query->limitOffset != NULL));
	mix(g, (uint64) list_length(query->rowMarks) << 32 | list_length(query->groupClause) << 16 |
		list_length(query->sortClause));
	if (query->setOperations == NULL)
		mix(g, list_length(query->groupingSets));
}

/* What tells a node from another of its kind. */
static uint64
told_by(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
			return (uint64) ((Var *) node)->varno << 32 | (uint16) ((Var *) node)->varattno << 8 |
				((Var *) node)->varlevelsup;
		case T_Param:
			return (uint64) ((Param *) node)->paramtype << 32 | ((Param *) node)->paramid;
		case T_OpExpr:
			return ((OpExpr *) node)->opno;
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
		case T_BoolExpr:
			return ((BoolExpr *) node)->boolop;
		case T_NullTest:
			return ((NullTest *) node)->nulltesttype;
		case T_BooleanTest:
			return ((BooleanTest *) node)->booltesttype;
		case T_SubLink:
			return ((SubLink *) node)->subLinkType;
		case T_RangeTblRef:
			return ((RangeTblRef *) node)->rtindex;
		case T_JoinExpr:
			return ((JoinExpr *) node)->jointype;
		case T_SortGroupClause:
			return (uint64) ((SortGroupClause *) node)->tleSortGroupRef << 33 |
				(uint64) ((SortGroupClause *) node)->sortop << 1 | ((SortGroupClause *) node)->nulls_first;
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

/* No operator of PostgreSQL's own calls what sees how values are stored, but a user's may. */
static bool
may_call_storage(const Node *node)
{
	return !IsA(node, OpExpr) || ((const OpExpr *) node)->opno >= FirstNormalObjectId;
}

static bool glance_walker(Node *node, void *context);

static bool
glance_at_list(const List *list, GcGlance *g)
{
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, list)
		(void) glance_walker(lfirst(lc), g);
	return false;
}

static void
glance_at_tables(const List *rtable, GcGlance *g)
{
	ListCell   *lc;

	foreach(lc, rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && rte->tablesample == NULL && rte->securityQuals == NIL)
		{
			mix(g, (uint64) T_RangeTblEntry << 52);
			look_at_entry(g, rte);
		}
		else
			(void) range_table_entry_walker(rte, glance_walker, g,
											QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP | QTW_IGNORE_JOINALIASES);
	}
}

/* As query_tree_walker(), without calls for what most queries do not have. */
static void
glance_at_query(const Query *query, GcGlance *g)
{
	look_at_query(g, query);
	if (query->commandType != CMD_SELECT || query->windowClause != NIL || query->cteList != NIL ||
		query->setOperations != NULL)
	{
		(void) query_tree_walker((Query *) query, glance_walker, g,
								 QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP | QTW_IGNORE_JOINALIASES);
		return;
	}
	(void) glance_at_list(query->targetList, g);
	(void) glance_walker((Node *) query->jointree, g);
	(void) glance_walker(query->havingQual, g);
	(void) glance_walker(query->limitOffset, g);
	(void) glance_walker(query->limitCount, g);
	(void) glance_walker((Node *) query->groupClause, g);
	(void) glance_walker((Node *) query->sortClause, g);
	(void) glance_walker((Node *) query->distinctClause, g);
	glance_at_tables(query->rtable, g);
}

/* The nodes that most queries consist of are walked here, the others by PostgreSQL. */
static bool
glance_walker(Node *node, void *context)
{
	GcGlance   *g = context;

	if (node && IsA(node, TargetEntry))
		node = (Node *) ((TargetEntry *) node)->expr;
	if (node == NULL)
		return false;
	mix(g, (uint64) nodeTag(node) << 52 ^ told_by(node));
	switch (nodeTag(node))
	{
		case T_List:
			return glance_at_list((List *) node, g);
		case T_Const:
			look_at_const(g, (Const *) node);
			return false;
		case T_Var:
		case T_Param:
		case T_RangeTblRef:
		case T_SortGroupClause:
			return false;
		case T_FromExpr:
			(void) glance_at_list(((FromExpr *) node)->fromlist, g);
			return glance_walker(((FromExpr *) node)->quals, context);
		case T_BoolExpr:
			return glance_at_list(((BoolExpr *) node)->args, g);
		case T_RangeTblEntry:
			look_at_entry(g, (RangeTblEntry *) node);
			return false;
		case T_Query:
			glance_at_query((Query *) node, g);
			return false;
		default:
			break;
	}
	if (!g->storage && may_call_storage(node))
		g->storage = gc_is_storage_call(node);
	if (IsA(node, OpExpr))
		return glance_at_list(((OpExpr *) node)->args, g);
	return expression_tree_walker(node, glance_walker, context);
}

void
gc_glance(Query *query, GcGlance *glance)
{
	memset(glance, 0, sizeof(*glance));
	(void) glance_walker((Node *) query, glance);
}
