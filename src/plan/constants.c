/*-------------------------------------------------------------------------
 *
 * constants.c
 *	  Constants that a query's columns are compared with, as parameters.
 *
 * Two statements that differ by such constants alone have one plan, where these have no influence on which plan is the
 * best (repeated.c).  PostgreSQL plans for parameters in prepared statements: the plan is right for all values.
 *
 * An execution of a statement without parameters is given none by its caller.  So the values travel with the plan, which
 * may be copied: as the rows of an entry of its range table that nothing reads.  They are given to the executor when it
 * starts.
 *
 * Runs in backends, in the planner and at the start of executions.
 *
 *-------------------------------------------------------------------------
 */
#include "constants.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* Names the entry that has the values. */
#define ENTRY_NAME	"gpuconc parameters"

static ExecutorStart_hook_type prev_start_hook = NULL;

/*-------------------------------------------------------------------------
 * In a query
 *-------------------------------------------------------------------------
 */

/* By the function that estimates it, which all comparisons of a kind have. */
static bool
is_comparison(const OpExpr *op)
{
	if (list_length(op->args) != 2 || op->opresulttype != BOOLOID)
		return false;
	switch (get_oprrest(op->opno))
	{
		case F_EQSEL:
		case F_NEQSEL:
		case F_SCALARLTSEL:
		case F_SCALARLESEL:
		case F_SCALARGTSEL:
		case F_SCALARGESEL:
			return true;
		default:
			return false;
	}
}

static inline bool
is_within(int64 value, int64 limit)
{
	return value > -limit && value < limit;
}

/* Dates of that many days before and after 2000 are further from the first one than all parts of such an interval reach. */
#define MOST_DAYS		INT64CONST(500000)
#define MOST_MONTHS		5000
#define MOST_TIME		(MOST_DAYS * USECS_PER_DAY)

/* Is it so far from the ends of its type that what is computed below cannot get there? */
static bool
is_moderate(const Const *c)
{
	const Interval *interval;

	if (c->constisnull)
		return false;
	switch (c->consttype)
	{
		case INT4OID:
			return is_within(DatumGetInt32(c->constvalue), 1 << 15);
		case DATEOID:
			return is_within(DatumGetDateADT(c->constvalue), MOST_DAYS);
		case TIMESTAMPOID:
			return is_within(DatumGetTimestamp(c->constvalue), MOST_TIME);
		case INTERVALOID:
			interval = DatumGetIntervalP(c->constvalue);
			return is_within(interval->time, MOST_TIME) && is_within(interval->day, MOST_DAYS) && is_within(interval->month, MOST_MONTHS);
		case TEXTOID:
			return VARSIZE_ANY(DatumGetPointer(c->constvalue)) < 1024 * 1024;
		default:
			return false;
	}
}

/* Functions that conditions are commonly written with, and that raise no error for moderate arguments. */
static bool
is_harmless(Oid function)
{
	switch (function)
	{
		case F_INT4PL:
		case F_INT4MI:
		case F_INT4MUL:
		case F_DATE_PLI:
		case F_DATE_MII:
		case F_DATE_PL_INTERVAL:
		case F_DATE_MI_INTERVAL:
		case F_TIMESTAMP_PL_INTERVAL:
		case F_TIMESTAMP_MI_INTERVAL:
		case F_TIMESTAMP_DATE:
		case F_INT8_INT4:
		case F_NUMERIC_INT4:
		case F_TEXTCAT:
			return true;
		default:
			return false;
	}
}

static Const *computed(Node *node);

static bool
are_moderate(const List *arguments)
{
	ListCell   *lc;

	foreach(lc, arguments)
	{
		const Const *c = computed(lfirst(lc));

		if (c == NULL || !is_moderate(c))
			return false;
	}
	return true;
}

/*
 * The value of an expression of constants alone; NULL: there are columns in it, or computing it may fail.  PostgreSQL does
 * not compute all of them: AND may end before, and CASE leaves out branches.
 */
static Const *
computed(Node *node)
{
	bool		harmless;

	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Const:
			return (Const *) node;
		case T_RelabelType:
			harmless = computed((Node *) ((RelabelType *) node)->arg) != NULL;
			break;
		case T_CoerceViaIO:
			harmless = exprType((Node *) ((CoerceViaIO *) node)->arg) == INT4OID && ((CoerceViaIO *) node)->resulttype == TEXTOID &&
				computed((Node *) ((CoerceViaIO *) node)->arg) != NULL;
			break;
		case T_OpExpr:
			harmless = is_harmless(get_opcode(((OpExpr *) node)->opno)) && are_moderate(((OpExpr *) node)->args);
			break;
		case T_FuncExpr:
			harmless = is_harmless(((FuncExpr *) node)->funcid) && are_moderate(((FuncExpr *) node)->args);
			break;
		default:
			return NULL;
	}
	if (harmless)
		node = eval_const_expressions(NULL, node);
	return IsA(node, Const) ? (Const *) node : NULL;
}

/* The value of an argument, or NULL: it is computed from more than constants, or is one that decides on the plan. */
static Const *
value_of(Node *argument)
{
	Const	   *c = computed(argument);

	return c == NULL || c->constisnull || c->consttype == BOOLOID ? NULL : c;
}

static Param *
parameter_for(const Const *value, int number)
{
	Param	   *param = makeNode(Param);

	param->paramkind = PARAM_EXTERN;
	param->paramid = number;
	param->paramtype = value->consttype;
	param->paramtypmod = value->consttypmod;
	param->paramcollid = value->constcollid;
	param->location = -1;
	return param;
}

static void
take_arguments(OpExpr *op, GcConstants *taken)
{
	for (int i = 0; i < 2; i++)
	{
		ListCell   *cell = list_nth_cell(op->args, i);
		Const	   *value = value_of(lfirst(cell));

		if (value == NULL)
			continue;
		taken->values = lappend(taken->values, value);
		taken->places = lappend(taken->places, op->args);
		taken->arguments = lappend(taken->arguments, lfirst(cell));
		taken->which = lappend_int(taken->which, i);
		lfirst(cell) = parameter_for(value, list_length(taken->values));
	}
}

/* Conditions of one query level, and its subqueries. */
static bool
take_conditions(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
	{
		gc_constants_take((Query *) node, context);
		return false;
	}
	if (IsA(node, OpExpr) && is_comparison((OpExpr *) node))
		take_arguments((OpExpr *) node, context);
	return expression_tree_walker(node, take_conditions, context);
}

void
gc_constants_take(Query *query, GcConstants *taken)
{
	ListCell   *lc;

	(void) take_conditions((Node *) query->jointree, taken);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY)
			gc_constants_take(rte->subquery, taken);
	}
}

void
gc_constants_put_back(const GcConstants *taken)
{
	ListCell   *place,
			   *argument,
			   *which;

	forthree(place, taken->places, argument, taken->arguments, which, taken->which)
		lfirst(list_nth_cell(lfirst(place), lfirst_int(which))) = lfirst(argument);
}

Oid *
gc_constants_types(const GcConstants *taken)
{
	Oid		   *types = palloc((list_length(taken->values) + 1) * sizeof(Oid));

	for (int i = 0; i < list_length(taken->values); i++)
		types[i] = list_nth_node(Const, taken->values, i)->consttype;
	return types;
}

/*-------------------------------------------------------------------------
 * In a plan
 *-------------------------------------------------------------------------
 */

void
gc_constants_give(PlannedStmt *stmt, const GcConstants *taken)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_VALUES;
	rte->values_lists = list_make1(taken->values);
	rte->eref = makeAlias(ENTRY_NAME, NIL);
	stmt->rtable = lappend(list_copy(stmt->rtable), rte);
}

/* The values for a statement's parameters; NULL: it has none that we gave it. */
static List *
given_values(const PlannedStmt *stmt)
{
	const RangeTblEntry *rte;

	if (stmt->commandType != CMD_SELECT || stmt->rtable == NIL)
		return NIL;
	rte = llast_node(RangeTblEntry, stmt->rtable);
	/* A user's entry has columns. */
	if (rte->rtekind != RTE_VALUES || rte->eref->colnames != NIL || strcmp(rte->eref->aliasname, ENTRY_NAME) != 0)
		return NIL;
	return linitial(rte->values_lists);
}

static ParamListInfo
parameters_of(const List *values)
{
	ParamListInfo params = makeParamList(list_length(values));

	for (int i = 0; i < params->numParams; i++)
	{
		const Const *value = list_nth_node(Const, values, i);

		params->params[i] = (ParamExternData) {.value = value->constvalue,.pflags = PARAM_FLAG_CONST,.ptype = value->consttype};
	}
	return params;
}

/* A function may execute a statement very often in memory that lives as long as its caller's statement. */
static void
free_with_execution(MemoryContext execution, void *memory)
{
	MemoryContextCallback *callback = MemoryContextAlloc(execution, sizeof(MemoryContextCallback));

	callback->func = pfree;
	callback->arg = memory;
	MemoryContextRegisterResetCallback(execution, callback);
}

static void
start_executor(QueryDesc *query, int eflags)
{
	const List *values = given_values(query->plannedstmt);

	/* There may be arguments of the function that the statement is in, which it does not name. */
	if (values != NIL)
		query->params = parameters_of(values);
	if (prev_start_hook)
		prev_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (values != NIL)
		free_with_execution(query->estate->es_query_cxt, query->params);
}

void
gc_constants_install(void)
{
	prev_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
