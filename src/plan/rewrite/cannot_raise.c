/*-------------------------------------------------------------------------
 *
 * cannot_raise.c
 *	  Which expressions and queries cannot raise an error.
 *
 * A rewritten query evaluates expressions over rows that the original never looked at.  So only expressions that are
 * known not to fail may move.  That is comparisons of built-in types, boolean logic, LIKE with a constant pattern, and
 * numeric arithmetic whose operands are known to be small.  Integer arithmetic, but of constants, and casts to a
 * narrower type are not among them.  Nor is an expression that depends on the order of rows.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "rewrite_tree.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "port/pg_bitutils.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "../base/source.h"
#include "../expr/raises.h"
#include "../../columns/store/numeric.h"
#include "../../compat.h"

/* Digits before the point that numeric can hold, with a margin; and a number beyond. */
#define MOST_DIGITS		100000
#define MANY_DIGITS		1000000

/* Digits that adding up any number of rows may add. */
#define SUM_DIGITS		20

#define INTEGER_DIGITS	19

/* Queries to be looked at for one answer: CTEs may refer to each other many times. */
#define MOST_QUERIES	200

typedef struct Context
{
	const GcQueryLevel *level;
	int		   *queries;		/* how many more may be looked at */
} Context;

static bool may_raise(Node *node, Context *context);
static bool query_may_raise(Query *query, const GcQueryLevel *parent, int *queries);
static int	digits_of(Node *node, const GcQueryLevel *level);

/*-------------------------------------------------------------------------
 * Numerics
 *-------------------------------------------------------------------------
 */

/* Digits of a constant before the point or, if `scale`, after it. */
static int
const_digits(const Const *con, bool scale)
{
	char	   *text;
	char	   *point;

	if (con->constisnull)
		return 0;
	text = DatumGetCString(DirectFunctionCall1(numeric_out, con->constvalue));
	point = strchr(text, '.');
	if (scale)
		return point ? (int) strlen(point + 1) : 0;
	return point ? (int) (point - text) : (int) strlen(text);
}

/* A constant that numerics can be divided by? */
static bool
is_nonzero(Node *node)
{
	const Const *con = (const Const *) node;
	char	   *text;

	/* An integer's cast is not folded yet. */
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == F_NUMERIC_INT4)
	{
		con = linitial(((FuncExpr *) node)->args);
		return IsA(con, Const) && !con->constisnull && DatumGetInt32(con->constvalue) != 0;
	}
	if (!IsA(con, Const) || con->consttype != NUMERICOID || con->constisnull)
		return false;
	text = DatumGetCString(DirectFunctionCall1(numeric_out, con->constvalue));
	return text[strspn(text, "-0.")] != '\0';
}

/* Digits of the result of a call whose operands are limited. */
static int
call_digits(Oid function, List *args, const GcQueryLevel *level)
{
	const GcBuiltin *b = gc_builtin(function);
	int			left = MANY_DIGITS;

	if (b->digits != GC_DIGITS_MANY && args && exprType(linitial(args)) == NUMERICOID)
		left = digits_of(linitial(args), level);
	switch (b->digits)
	{
		case GC_DIGITS_OF_INTEGER:
			return INTEGER_DIGITS;
		case GC_DIGITS_OF_INTEGER_ROWS:
			return INTEGER_DIGITS + SUM_DIGITS;
		case GC_DIGITS_OF_ROWS:
			return left + SUM_DIGITS;
		case GC_DIGITS_OF_ARGUMENT:
			return left;
		case GC_DIGITS_OF_SUM:
			return Max(left, digits_of(lsecond(args), level)) + 1;
		case GC_DIGITS_OF_PRODUCT:
			return left + digits_of(lsecond(args), level);
		case GC_DIGITS_OF_QUOTIENT:
			if (!is_nonzero(lsecond(args)))
				return MANY_DIGITS;
			return left + 1 + (IsA(lsecond(args), Const) ? const_digits(lsecond(args), true) : 0);
		default:
			return MANY_DIGITS;
	}
}

/* Digits that an aggregate of numerics may need. */
static int
aggregate_digits(const Aggref *agg, const GcQueryLevel *level)
{
	return call_digits(agg->aggfnoid, agg->args ? list_make1(linitial_node(TargetEntry, agg->args)->expr) : NIL, level);
}

/* The digits before the point that a numeric expression may have at most. */
static int
digits_of(Node *node, const GcQueryLevel *level)
{
	GcQueryLevel room;
	const GcQueryLevel *inner;
	Node	   *behind;
	Const	   *con;
	int32		typmod;

	check_stack_depth();
	if (exprType(node) != NUMERICOID)
		return MANY_DIGITS;
	switch (nodeTag(node))
	{
		case T_Const:
			return const_digits((Const *) node, false);
		case T_Param:
			con = gc_level_param(level, (Param *) node);
			return con ? const_digits(con, false) : MANY_DIGITS;
		case T_SubLink:
			if (((SubLink *) node)->subLinkType != EXPR_SUBLINK)
				return MANY_DIGITS;
			room = (GcQueryLevel) {(Query *) ((SubLink *) node)->subselect, level, NULL};
			return digits_of((Node *) linitial_node(TargetEntry, room.query->targetList)->expr, &room);
		case T_Var:
			typmod = ((Var *) node)->vartypmod;
			/* Precision, less the scale. */
			if (typmod >= (int32) VARHDRSZ)
				return (((typmod - VARHDRSZ) >> 16) & 0xffff) - gc_typmod_scale(typmod, 0);
			behind = gc_level_resolve(level, (Var *) node, &room, &inner);
			return behind ? digits_of(behind, inner) : MANY_DIGITS;
		case T_RelabelType:
			return digits_of((Node *) ((RelabelType *) node)->arg, level);
		case T_FuncExpr:
			return call_digits(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args, level);
		case T_OpExpr:
			return call_digits(get_opcode(((OpExpr *) node)->opno), ((OpExpr *) node)->args, level);
		case T_Aggref:
			return aggregate_digits((Aggref *) node, level);
		default:
			return MANY_DIGITS;
	}
}

/*-------------------------------------------------------------------------
 * Functions and operators
 *-------------------------------------------------------------------------
 */

/* Types whose comparisons never fail. */
static bool
is_plain_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case OIDOID:
		case UUIDOID:
		case NAMEOID:
		case MONEYOID:
		case TIMETZOID:
		case MACADDROID:
		case MACADDR8OID:
		case PG_LSNOID:
			return true;
		default:
			return false;
	}
}

/* Is it a comparison of such types, under a known collation? */
static bool
is_comparison(Oid opno, Oid collation)
{
	Oid			left;
	Oid			right;

	if (opno >= FirstUnpinnedObjectId)
		return false;
	op_input_types(opno, &left, &right);
	return is_plain_type(left) && is_plain_type(right) &&
		(OidIsValid(collation) || !type_is_collatable(left)) &&
		get_op_index_interpretation(opno) != NIL;
}

/* Nothing is said of a function's or operator's arguments themselves. */
static bool
function_may_raise(Node *node, Oid funcid, List *args, Oid collation, const GcQueryLevel *level)
{
	const GcBuiltin *b = gc_builtin(funcid);

	if ((b->flags & GC_SAFE_MOVED) && b->safe_if == GC_IF_ANY)
		return false;
	if (exprType(node) == NUMERICOID)
		return digits_of(node, level) > MOST_DIGITS;
	if (!(b->flags & GC_SAFE_MOVED) || !gc_are_harmless(b, args))
		return true;
	return (b->safe_if == GC_IF_PATTERN && !(OidIsValid(collation) && get_collation_isdeterministic(collation))) ||
		(b->safe_if == GC_IF_LENGTH && !IsA(lsecond(args), Const));
}

/* May the aggregate itself raise an error, whatever rows it sees? */
static bool
aggregate_may_raise(const Aggref *agg, const GcQueryLevel *level)
{
	Oid			arg = agg->args ? exprType((Node *) linitial_node(TargetEntry, agg->args)->expr) : InvalidOid;
	char	   *name;

	if (agg->agglevelsup > 0 || agg->aggkind != AGGKIND_NORMAL || agg->aggorder || agg->aggvariadic ||
		(arg && !is_plain_type(arg)) || (agg->aggdistinct && type_is_collatable(arg) && !OidIsValid(agg->inputcollid)))
		return true;
	if (gc_builtin(agg->aggfnoid)->flags & GC_SAFE_MOVED)
		return false;
	if (gc_builtin(agg->aggfnoid)->digits != GC_DIGITS_MANY)
		return aggregate_digits(agg, level) > MOST_DIGITS;
	name = agg->aggfnoid < FirstUnpinnedObjectId ? get_func_name(agg->aggfnoid) : NULL;
	return name == NULL || (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) ||
		(type_is_collatable(arg) &&
		 (!OidIsValid(agg->inputcollid) || !get_collation_isdeterministic(agg->inputcollid)));
}

/*-------------------------------------------------------------------------
 * Expressions and queries
 *-------------------------------------------------------------------------
 */

/* A scalar subquery may find two rows; all may raise the errors of their queries. */
static bool
sublink_may_raise(const SubLink *sublink, Context *context)
{
	Query	   *query = castNode(Query, sublink->subselect);

	switch (sublink->subLinkType)
	{
		case EXPR_SUBLINK:
			/* Two rows are an error. */
			if ((!query->hasAggs || query->groupClause) && !gc_returns_one_row(query))
				return true;
			break;
		case EXISTS_SUBLINK:
		case ANY_SUBLINK:
		case ALL_SUBLINK:
			break;
		default:
			return true;
	}
	return may_raise(sublink->testexpr, context) ||
		query_may_raise(query, context->level, context->queries);
}

/* Can an operator, function or aggregate itself raise an error, apart from its arguments? */
static bool
call_may_raise(Node *node, const GcQueryLevel *level)
{
	switch (nodeTag(node))
	{
		case T_OpExpr:
			{
				OpExpr	   *op = (OpExpr *) node;

				return !is_comparison(op->opno, op->inputcollid) &&
					function_may_raise(node, get_opcode(op->opno), op->args, op->inputcollid, level);
			}
		case T_FuncExpr:
			{
				FuncExpr   *func = (FuncExpr *) node;

				return function_may_raise(node, func->funcid, func->args, func->inputcollid, level);
			}
		case T_DistinctExpr:
		case T_NullIfExpr:
			return !is_comparison(((OpExpr *) node)->opno, ((OpExpr *) node)->inputcollid);
		case T_ScalarArrayOpExpr:
			return !is_comparison(((ScalarArrayOpExpr *) node)->opno, ((ScalarArrayOpExpr *) node)->inputcollid);
		case T_MinMaxExpr:
			return !is_plain_type(((MinMaxExpr *) node)->minmaxtype) ||
				(type_is_collatable(((MinMaxExpr *) node)->minmaxtype) &&
				 !OidIsValid(((MinMaxExpr *) node)->inputcollid));
		case T_Aggref:
			return aggregate_may_raise((Aggref *) node, level);
		default:
			return true;
	}
}

/*
 * Bits that the result of sums, differences and products of constant integers has at most, as of
 * 2001 + 1; 64: it may be any.
 */
static int
constant_bits(const Node *node)
{
	const OpExpr *op = (const OpExpr *) node;
	const char *name;
	int			l,
				r;

	if (node == NULL || (exprType(node) != INT2OID && exprType(node) != INT4OID && exprType(node) != INT8OID))
		return 64;
	if (IsA(node, Const) && !((const Const *) node)->constisnull)
	{
		const int64 v = DatumGetInt64(((const Const *) node)->constvalue);

		return v == 0 ? 0 : v > -PG_INT32_MAX && v < PG_INT32_MAX ? pg_leftmost_one_pos32((uint32) (v < 0 ? -v : v)) + 1
			: 64;
	}
	if (!IsA(node, OpExpr) || list_length(op->args) != 2 || op->opno >= FirstGenbkiObjectId)
		return 64;
	l = constant_bits(linitial(op->args));
	r = constant_bits(lsecond(op->args));
	name = get_opname(op->opno);
	if (strcmp(name, "*") == 0)
		return Min(l + r, 64);
	return strcmp(name, "+") == 0 || strcmp(name, "-") == 0 ? Min(Max(l, r) + 1, 64) : 64;
}

/* Does its type hold that for sure? */
static bool
is_small_constant(const Node *node)
{
	const int	bits = constant_bits(node);

	return bits < (exprType(node) == INT2OID ? 15 : 31);
}

/* Knowledge of each node, for gc_may_raise(). */
static GcRaises
node_raises(Node *node, void *of)
{
	Context    *context = of;

	switch (nodeTag(node))
	{
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN && ((Param *) node)->paramkind != PARAM_SUBLINK ?
				GC_RAISES_ITSELF : GC_RAISES_NOTHING;
		case T_SubLink:
			return sublink_may_raise((SubLink *) node, context) ? GC_RAISES_ITSELF : GC_RAISES_NOTHING;
		case T_ArrayExpr:
		case T_TargetEntry:
		case T_SortGroupClause:
		case T_FromExpr:
		case T_JoinExpr:
		case T_RangeTblRef:
			return GC_RAISES_BELOW;
		case T_OpExpr:
			if (is_small_constant(node))
				return GC_RAISES_NOTHING;
			/* fall through */
		case T_FuncExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_MinMaxExpr:
		case T_Aggref:
			return call_may_raise(node, context->level) ? GC_RAISES_ITSELF : GC_RAISES_BELOW;
		default:
			return GC_RAISES_UNKNOWN;
	}
}

/* May anything in an expression of this level raise an error? */
static bool
may_raise(Node *node, Context *context)
{
	return gc_may_raise(node, node_raises, context);
}

/* May a comparison of the expressions of GROUP BY or DISTINCT fail? */
static bool
clauses_may_raise(List *clauses, List *tlist)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);

		if (!is_comparison(clause->eqop, exprCollation(get_sortgroupclause_expr(clause, tlist))))
			return true;
	}
	return false;
}

static bool
relation_may_raise(RangeTblEntry *rte, Context *context)
{
	const GcQueryLevel *at;
	CommonTableExpr *cte;

	if (rte->securityQuals || rte->tablesample)
		return true;
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			/* A view was expanded; such an entry only names it. */
			return rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW &&
				rte->relkind != RELKIND_PARTITIONED_TABLE && rte->relkind != RELKIND_VIEW;
		case RTE_SUBQUERY:
			return query_may_raise(rte->subquery, context->level, context->queries);
		case RTE_JOIN:
			return may_raise((Node *) rte->joinaliasvars, context);
		case RTE_VALUES:
			return may_raise((Node *) rte->values_lists, context);
		case RTE_CTE:
			cte = gc_level_cte(context->level, rte, &at);
			return cte == NULL || cte->cterecursive || rte->self_reference ||
				query_may_raise(castNode(Query, cte->ctequery), at, context->queries);
		case RTE_RESULT:
			return false;
		default:
			return true;
	}
}

/* Is it UNION ALL of subqueries, and of nothing else? */
static bool
is_append(Node *node)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
		return true;
	return operation->op == SETOP_UNION && operation->all && is_append(operation->larg) && is_append(operation->rarg);
}

/* May anything in the query raise an error?  *queries bounds how many are looked at. */
static bool
query_may_raise(Query *query, const GcQueryLevel *parent, int *queries)
{
	GcQueryLevel level = {query, parent, NULL};
	Context		context = {&level, queries};
	ListCell   *lc;

	check_stack_depth();
	if ((*queries)-- <= 0)
		return true;
	if (query->commandType != CMD_SELECT || query->hasWindowFuncs ||
		(query->setOperations && !is_append(query->setOperations)) ||
		query->hasTargetSRFs || gc_has_limit(query) || query->rowMarks ||
		query->groupingSets || query->hasModifyingCTE || query->hasRecursive || query->hasDistinctOn)
		return true;
	if (clauses_may_raise(query->groupClause, query->targetList) ||
		clauses_may_raise(query->distinctClause, query->targetList) ||
		clauses_may_raise(query->sortClause, query->targetList))
		return true;
	foreach(lc, query->rtable)
	{
		if (relation_may_raise(lfirst_node(RangeTblEntry, lc), &context))
			return true;
	}
	return may_raise((Node *) query->targetList, &context) ||
		may_raise((Node *) query->jointree, &context) || may_raise(query->havingQual, &context);
}

bool
gc_cannot_raise(Node *node, const GcQueryLevel *level)
{
	int			queries = MOST_QUERIES;
	Context		context = {level, &queries};

	return !may_raise(node, &context);
}

bool
gc_query_cannot_raise(Query *query, const GcQueryLevel *parent)
{
	int			queries = MOST_QUERIES;

	return !query_may_raise(query, parent, &queries);
}

static bool
is_of_join(Bitmapset *relations, const Query *query)
{
	int			rti;

	/* Columns of a named join may come from both sides. */
	return bms_membership(relations) == BMS_MULTIPLE ||
		(bms_get_singleton_member(relations, &rti) && rt_fetch(rti, query->rtable)->rtekind == RTE_JOIN);
}

/* As check_functions_in_node() wants it. */
static bool
is_users_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/* Does it become an InitPlan?  For rows, its value is a parameter then. */
static bool
is_init_plan(const SubLink *sublink)
{
	return (sublink->subLinkType == EXPR_SUBLINK || sublink->subLinkType == EXISTS_SUBLINK) &&
		!contain_vars_of_level(sublink->subselect, 1);
}

/* May it cost more than a subquery, so that PostgreSQL evaluates it after that? */
static bool
is_costly(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		return !is_init_plan((SubLink *) node);
	return check_functions_in_node(node, is_users_function, NULL) || expression_tree_walker(node, is_costly, context);
}

/* Does it speak, at any depth, of one of these columns, or of one of a named join, which may stand for one? */
static bool
speaks_of(Node *node, List *vars, const Query *query)
{
	ListCell   *lc,
			   *lv;

	foreach(lc, pull_vars_of_level(node, 0))
	{
		const Var  *var = lfirst_node(Var, lc);

		if (rt_fetch(var->varno, query->rtable)->rtekind == RTE_JOIN)
			return true;
		foreach(lv, vars)
		{
			if (lfirst_node(Var, lv)->varno == var->varno && lfirst_node(Var, lv)->varattno == var->varattno)
				return true;
		}
	}
	return false;
}

/* Are these columns of tables?  Those of a subquery may be other names of one. */
static bool
are_of_tables(const List *vars, const Query *query)
{
	ListCell   *lc;

	foreach(lc, vars)
	{
		if (rt_fetch(lfirst_node(Var, lc)->varno, query->rtable)->rtekind != RTE_RELATION)
			return false;
	}
	return true;
}

/* Is there a join below that adds rows of NULLs? */
static bool
has_outer_join(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return (IsA(node, JoinExpr) && ((JoinExpr *) node)->jointype != JOIN_INNER) ||
		expression_tree_walker(node, has_outer_join, context);
}

/*
 * May PostgreSQL apply a condition with a subquery to another relation, which has a column equal to one of the
 * condition's?  An InitPlan, which fails if it has two rows, would be executed for that one's rows.
 */
static bool
may_spread(Node *condition, List *conjuncts, const Query *query)
{
	List	   *vars = pull_vars_of_level(condition, 0);
	ListCell   *lc;

	/*
	 * Equalities of subqueries, and of outer joins that a strict condition makes inner ones, are
	 * not among these conditions.
	 */
	if (!are_of_tables(vars, query) || has_outer_join((Node *) query->jointree->fromlist, NULL))
		return true;
	foreach(lc, conjuncts)
	{
		if (lfirst(lc) != condition && speaks_of(lfirst(lc), vars, query))
			return true;
	}
	return checkExprHasSubLink((Node *) query->targetList) && speaks_of((Node *) query->targetList, vars, query);
}

bool
gc_joins_cannot_raise(List *conjuncts, const GcQueryLevel *level)
{
	ListCell   *lc;

	foreach(lc, conjuncts)
	{
		if ((is_of_join(gc_relations_of(lfirst(lc)), level->query) || is_costly(lfirst(lc), NULL) ||
			 (checkExprHasSubLink(lfirst(lc)) && may_spread(lfirst(lc), conjuncts, level->query))) &&
			!gc_cannot_raise(lfirst(lc), level))
			return false;
	}
	return true;
}
