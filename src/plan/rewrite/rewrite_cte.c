/*-------------------------------------------------------------------------
 *
 * rewrite_cte.c
 *	  CTEs that are read more than once, in the place of each reference.
 *
 * PostgreSQL materializes such a CTE, and its readers scan the result.  Inlined, it is part of the join or aggregate
 * that is offloaded.  Its rows must repeat exactly, and conditions of its readers must not fail where they are applied
 * to more rows than before.  Nor may its outputs fail where it is joined, unless it reads one grouped subquery, and its
 * own conditions stay before its readers'.
 *
 * PostgreSQL pushes conditions of each reader down into the subquery.  Where readers ask for different values
 * of the same group keys, that makes different subqueries of it.  They stay one, which is computed once
 * (relations/subquery.c), if the CTE itself has all rows that any reader asks for, and LIMIT ALL.
 *
 * A CTE of one grouped subquery, with an output that may fail, mostly is not a part of the device's request.  It may
 * stay a CTE of PostgreSQL's, computed once, but of the rows alone that its readers ask for by the subquery's keys.
 *
 * LIMIT ALL also keeps a CTE apart that is MATERIALIZED, or that might fail as a part of its readers.  Then nothing is
 * pushed down, and it is computed as it was.  But outputs that nobody reads are not.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

#include "../base/source.h"
#include "rewrite_tree.h"

typedef struct Readers
{
	const char *name;			/* of the CTE */
	const GcQueryLevel *level;	/* of the query that is looked at */
	int			depth;			/* of that query below the one that defines the CTE */
	ParamListInfo params;		/* of the statement, if no level is above */
	bool		grouped;		/* the CTE is a planning unit of its own, or its subquery is */
	const Query *source;		/* the latter, where the CTE's outputs may fail; else NULL */
	Query	   *cte;
	const GcQueryLevel *of;		/* the level whose CTE it is */
	bool		may_raise;
	int			sublinks;		/* that the query which is looked at is in */
	const Query *query;			/* the CTE's, if one grouping can serve all readers; else NULL */
	Bitmapset  *asked;			/* its outputs that the first reader's conditions are on */
	List	   *wanted;			/* each reader's condition: Node, over the rows that the CTE groups */
	Bitmapset  *read;			/* outputs that readers compute something of in any case: for a condition,
								 * or for a column of the statement */
} Readers;

/* Relations that inlined CTEs may bring along, counted for each reader; TPC-DS has up to 54. */
#define MOST_COPIES	64

/* One that comes to a reader's joins, rather than to groups of its own, makes the search for their order longer. */
#define JOINED_COPY	3

/* A walk over the relations that PostgreSQL is to plan. */
typedef struct Copying
{
	const GcQueryLevel *level;	/* of the query that is looked at */
	int			weight;			/* of its relations; 0: they are of no CTE that several readers have inlined */
	int			room;			/* for relations by their weights */
} Copying;

bool
gc_may_inline(const CommonTableExpr *cte)
{
	return cte->ctematerialized != CTEMaterializeNever && cte->cterefcount > 1 && !cte->cterecursive &&
		((Query *) cte->ctequery)->commandType == CMD_SELECT;
}

/* A query, and the CTEs that it may read. */
typedef struct Behind
{
	const GcQueryLevel *level;
	int			depth;
} Behind;

#define MOST_DEPTH	8

/*
 * Does the query read a CTE, by this name, whose rows may be others when it is executed once more?  PostgreSQL inlines
 * it, where this is its only reader, and then it is executed with each reader of the query.
 */
static bool
reads_differing(Node *node, Behind *behind)
{
	const RangeTblEntry *rte = (const RangeTblEntry *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_differing, behind, QTW_EXAMINE_RTES_BEFORE);
	if (!IsA(node, RangeTblEntry) || rte->rtekind != RTE_CTE)
		return !IsA(node, RangeTblEntry) && expression_tree_walker(node, reads_differing, behind);
	for (const GcQueryLevel *level = behind->level; level; level = level->parent)
	{
		foreach(lc, level->query->cteList)
		{
			const CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);
			bool		differs;

			if (strcmp(cte->ctename, rte->ctename) != 0)
				continue;
			if (behind->depth == MOST_DEPTH || gc_repeats_differ(cte->ctequery))
				return true;
			behind->depth++;
			differs = reads_differing(cte->ctequery, behind);
			behind->depth--;
			if (differs)
				return true;
		}
	}
	return false;
}

/* Is there an ordinary table below, and nothing that is not one? */
static bool
reads_tables(const Query *query)
{
	ListCell   *lc;
	bool		found = false;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		switch (rte->rtekind)
		{
			case RTE_RELATION:
				if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW &&
					rte->relkind != RELKIND_PARTITIONED_TABLE && rte->relkind != RELKIND_VIEW)
					return false;
				found |= rte->relid >= FirstNormalObjectId;
				break;
			case RTE_SUBQUERY:
				found |= reads_tables(rte->subquery);
				break;
			case RTE_JOIN:
			case RTE_RESULT:
				break;
			case RTE_CTE:
				if (rte->self_reference)
					return false;
				found = true;
				break;
			default:
				return false;
		}
	}
	return found;
}

/* Does PostgreSQL plan this subquery apart from its reader? */
static bool
is_grouped(const Query *query)
{
	return query->hasAggs || query->groupClause || query->groupingSets || query->distinctClause ||
		query->hasWindowFuncs || query->setOperations;
}

static bool output_may_raise(Query *query, AttrNumber number, const GcQueryLevel *above);

static bool expr_may_raise(Node *expr, const GcQueryLevel *level);

/*
 * May a column fail that PostgreSQL replaces by an output of a subquery or of another CTE, or by a join's expression?
 */
static bool
source_may_raise(const Var *var, const GcQueryLevel *level)
{
	const RangeTblEntry *rte = rt_fetch(var->varno, level->query->rtable);
	GcQueryLevel room;
	const GcQueryLevel *of;
	const CommonTableExpr *cte;
	Node	   *behind;

	switch (rte->rtekind)
	{
		case RTE_SUBQUERY:
			return output_may_raise(rte->subquery, var->varattno, level);
		case RTE_CTE:
			cte = gc_level_cte(level, rte, &of);
			return cte == NULL || cte->cterecursive ||
				output_may_raise(castNode(Query, cte->ctequery), var->varattno, of);
		case RTE_JOIN:
			behind = gc_level_resolve(level, var, &room, &of);
			return behind == NULL || expr_may_raise(behind, of);
		default:
			return false;
	}
}

/* May an expression fail, or a column that it is computed of? */
static bool
expr_may_raise(Node *expr, const GcQueryLevel *level)
{
	ListCell   *lc;

	if (contain_agg_clause(expr) || contain_window_function(expr))
		return false;
	foreach(lc, pull_vars_of_level(expr, 0))
	{
		if (source_may_raise(lfirst_node(Var, lc), level))
			return true;
	}
	return !gc_cannot_raise(expr, level);
}

/*
 * May an output fail for rows that the query does not group?  A condition on it moves below the query's own joins.
 * Conditions on aggregates stay above these.
 */
static bool
output_may_raise(Query *query, AttrNumber number, const GcQueryLevel *above)
{
	GcQueryLevel here = {query, above, NULL};
	TargetEntry *tle = get_tle_by_resno(query->targetList, number);
	ListCell   *lc;

	if (query->setOperations == NULL)
		return tle == NULL || expr_may_raise((Node *) tle->expr, &here);
	foreach(lc, query->rtable)
	{
		Query	   *arm = lfirst_node(RangeTblEntry, lc)->subquery;

		if (arm && output_may_raise(arm, number, &here))
			return true;
	}
	return false;
}

/* May the outputs of the CTE fail that a reader's condition reads?  The CTE is the reader's entry rti. */
static bool
outputs_may_raise(const Readers *readers, Node *condition, int rti)
{
	ListCell   *lc;

	foreach(lc, pull_vars_of_level(condition, 0))
	{
		const Var  *var = lfirst_node(Var, lc);

		if (var->varno == rti && output_may_raise(readers->cte, var->varattno, readers->of))
			return true;
	}
	return false;
}

/*
 * A condition of a reader whose entry rti the CTE is: is it on group keys of the CTE's subquery alone?  It moves below
 * the groups then.  Others come beside the CTE's own conditions, which may keep them from failing.
 */
static bool
is_on_source_keys(const Readers *readers, Node *condition, int rti)
{
	ListCell   *lc;

	foreach(lc, pull_vars_of_level(condition, 0))
	{
		const Var  *var = lfirst_node(Var, lc);
		const TargetEntry *output = get_tle_by_resno(readers->cte->targetList, var->varattno);
		const TargetEntry *key;

		/* A column of a named join may stand for an output. */
		if (var->varno != rti && rt_fetch(var->varno, readers->level->query->rtable)->rtekind != RTE_JOIN)
			continue;
		if (var->varno != rti || output == NULL || !IsA(output->expr, Var))
			return false;
		key = get_tle_by_resno(readers->source->targetList, ((Var *) output->expr)->varattno);
		if (key == NULL || contain_agg_clause((Node *) key->expr))
			return false;
	}
	return true;
}

static bool
contains_or(Node *node, void *context)
{
	return node && (is_orclause(node) || expression_tree_walker(node, contains_or, context));
}

/* A query that reads the CTE as its entry rti: may one of its conditions fail once that is inlined? */
static bool
conditions_may_raise(const Readers *readers, int rti)
{
	List	   *conditions = gc_list_conditions(readers->level->query);
	ListCell   *lc;

	/* HAVING without aggregates moves into WHERE. */
	foreach(lc, make_ands_implicit((Expr *) readers->level->query->havingQual))
	{
		if (!contain_agg_clause(lfirst(lc)))
			conditions = lappend(conditions, lfirst(lc));
	}
	foreach(lc, conditions)
	{
		if (readers->grouped && outputs_may_raise(readers, lfirst(lc), rti))
			return true;
		/* Only a condition of one relation moves into a grouped subquery, or one that PostgreSQL takes out of an OR. */
		if (readers->grouped && bms_membership(gc_relations_of(lfirst(lc))) == BMS_MULTIPLE &&
			!contains_or(lfirst(lc), NULL))
			continue;
		if (readers->source && !is_on_source_keys(readers, lfirst(lc), rti))
			return true;
		if (!gc_cannot_raise(lfirst(lc), readers->level))
			return true;
	}
	return false;
}

/*-------------------------------------------------------------------------
 * Rows that readers ask for
 *-------------------------------------------------------------------------
 */

/* Does it group, and nothing else that conditions on its keys would change the rows of? */
static bool
is_plain_grouping(const Query *query)
{
	return (query->groupClause || query->distinctClause) && !query->groupingSets && !query->hasWindowFuncs &&
		!query->setOperations && !query->hasDistinctOn && !query->hasTargetSRFs && !query->limitCount &&
		!query->limitOffset;
}

/* The one subquery that the query computes rows of, if that groups; else NULL. */
static Query *
grouped_source(const Query *query)
{
	const Node *from = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	Query	   *source;

	if (from == NULL || !IsA(from, RangeTblRef) || is_grouped(query) || query->hasSubLinks || query->hasTargetSRFs ||
		query->sortClause || query->limitCount || query->limitOffset)
		return NULL;
	source = rt_fetch(((const RangeTblRef *) from)->rtindex, query->rtable)->subquery;
	return source && is_plain_grouping(source) ? source : NULL;
}

/* A condition on the CTE's outputs, over the rows that it groups. */
static Node *
output_mutator(Node *node, void *context)
{
	const Query *query = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		TargetEntry *tle = get_tle_by_resno(query->targetList, ((Var *) node)->varattno);

		/* A whole row stays one, which is_on_keys() refuses. */
		return (Node *) copyObject(tle ? (Node *) tle->expr : node);
	}
	return expression_tree_mutator(node, output_mutator, context);
}

/* Is this condition of a reader, whose entry rti the CTE is, one on group keys alone? */
static bool
is_on_keys(Node *condition, int rti, const Query *query)
{
	ListCell   *lc;

	if (contain_subplans(condition) || contain_volatile_functions(condition) || gc_refers_above(condition) ||
		bms_membership(gc_relations_of(condition)) != BMS_SINGLETON || !bms_is_member(rti, gc_relations_of(condition)))
		return false;
	foreach(lc, pull_var_clause(condition, 0))
	{
		TargetEntry *tle = get_tle_by_resno(query->targetList, lfirst_node(Var, lc)->varattno);

		if (tle == NULL || contain_agg_clause((Node *) tle->expr) || contain_subplans((Node *) tle->expr) ||
			gc_refers_above((Node *) tle->expr))
			return false;
	}
	return true;
}

/* Note a reader's condition; it is no use if that is true of all rows, or if another one is on other keys. */
static void
add_wanted(Readers *readers, Query *reader, int rti)
{
	List	   *conditions = NIL;
	Bitmapset  *asked = NULL;
	ListCell   *lc,
			   *lv;

	foreach(lc, gc_is_inner(reader, rti) ? gc_list_conjuncts(reader) : NIL)
	{
		if (!is_on_keys(lfirst(lc), rti, readers->query))
			continue;
		conditions = lappend(conditions, output_mutator(lfirst(lc), (void *) readers->query));
		foreach(lv, pull_var_clause(lfirst(lc), 0))
			asked = bms_add_member(asked, lfirst_node(Var, lv)->varattno);
	}
	if (conditions == NIL || (readers->wanted != NIL && !bms_equal(asked, readers->asked)))
		readers->query = NULL;
	readers->asked = asked;
	readers->wanted = lappend(readers->wanted, gc_quals(conditions));
}

/* A condition for the rows that any reader asks for: such as k = 1 OR k = 2. */
static Node *
wanted_by_any(List *wanted)
{
	List	   *different = NIL;
	ListCell   *lc;

	foreach(lc, wanted)
		different = list_append_unique(different, lfirst(lc));
	return list_length(different) == 1 ? linitial(different) : (Node *) makeBoolExpr(OR_EXPR, different, -1);
}

/* Let the CTE, which stays one, have no other rows than readers ask for.  PostgreSQL moves that below its groups. */
static void
narrow_cte(Query *query, List *wanted)
{
	query->jointree->quals = gc_quals(lappend(gc_conjuncts(query->jointree->quals), wanted_by_any(wanted)));
}

/* Make the CTE all rows that any reader asks for, and keep PostgreSQL from asking for each reader's own. */
static void
ask_for_all(Query *query, List *wanted)
{
	Node	   *any = wanted_by_any(wanted);

	if (equal(any, linitial(wanted)))
		return;
	if (query->groupClause)
		query->havingQual = gc_quals(lappend(gc_conjuncts(query->havingQual), any));
	else
		query->jointree->quals = gc_quals(lappend(gc_conjuncts(query->jointree->quals), any));
	query->limitCount = (Node *) makeNullConst(INT8OID, -1, InvalidOid);
}

/* Note the outputs of the CTE, entry rti, that an expression reads. */
static void
note_columns(Readers *readers, Node *expr, int rti)
{
	ListCell   *lc;

	foreach(lc, pull_vars_of_level(expr, 0))
	{
		const Var  *var = lfirst_node(Var, lc);

		if (var->varno == rti && var->varattno > 0)
			readers->read = bms_add_member(readers->read, var->varattno);
	}
}

/* A query reads the CTE as its entry rti. */
static void
note_reader(Readers *readers, Query *query, int rti, bool uppermost)
{
	ListCell   *lc;

	readers->may_raise |= conditions_may_raise(readers, rti);
	if (readers->sublinks > 0)
		readers->query = NULL;
	if (readers->query)
		add_wanted(readers, query, rti);
	foreach(lc, gc_list_conditions(query))
		note_columns(readers, lfirst(lc), rti);
	if (uppermost)
		note_columns(readers, (Node *) query->targetList, rti);
}

/* A tree walker: count the CTE's readers, and note the columns that each reads of it. */
static bool
readers_walker(Node *node, Readers *readers)
{
	const GcQueryLevel *outer = readers->level;
	GcQueryLevel level;
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	/* Conditions of a subquery in an expression are left to other rules. */
	if (IsA(node, SubLink))
		readers->sublinks++;
	if (!IsA(node, Query))
	{
		(void) expression_tree_walker(node, readers_walker, readers);
		readers->sublinks -= IsA(node, SubLink);
		return false;
	}
	level = (GcQueryLevel) {query, outer, outer ? NULL : readers->params};
	readers->level = &level;
	readers->depth++;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup == readers->depth &&
			strcmp(rte->ctename, readers->name) == 0)
			note_reader(readers, query, foreach_current_index(lc) + 1, outer == NULL);
	}
	(void) query_tree_walker(query, readers_walker, readers, 0);
	readers->depth--;
	readers->level = outer;
	return false;
}

/*-------------------------------------------------------------------------
 * CTEs that are kept apart
 *-------------------------------------------------------------------------
 */

/* May an output that nobody reads fail for a row, or for a group? */
static bool
unread_may_raise(Query *query, const TargetEntry *output, const GcQueryLevel *level)
{
	const GcQueryLevel here = {query, level, NULL};

	if (query->setOperations == NULL &&
		(contain_agg_clause((Node *) output->expr) || contain_window_function((Node *) output->expr)))
		return !gc_cannot_raise((Node *) output->expr, &here);
	return output_may_raise(query, output->resno, level);
}

/* Could an error of an output be lost with it, as nobody reads it? */
static bool
loses_error(const Readers *readers)
{
	ListCell   *lc;

	foreach(lc, readers->cte->targetList)
	{
		const TargetEntry *output = lfirst_node(TargetEntry, lc);

		if (!bms_is_member(output->resno, readers->read) && unread_may_raise(readers->cte, output, readers->of))
			return true;
	}
	return false;
}

/* Let it be computed apart from its readers, once for all of them. */
static bool
keep_cte(const Readers *readers)
{
	Query	   *query = readers->cte;

	if (query->limitCount != NULL || query->limitOffset != NULL || loses_error(readers))
		return false;
	query->limitCount = (Node *) makeNullConst(INT8OID, -1, InvalidOid);
	return true;
}

/*-------------------------------------------------------------------------
 * How often inlined CTEs are planned
 *-------------------------------------------------------------------------
 */

/* Does PostgreSQL plan the CTE in the place of each of its readers? */
static bool
is_inlined(const CommonTableExpr *cte)
{
	return !cte->cterecursive && (cte->ctematerialized == CTEMaterializeNever ||
								  (cte->ctematerialized == CTEMaterializeDefault && cte->cterefcount == 1));
}

static bool copies_walker(Node *node, Copying *copying);

static bool
is_beyond(Copying *copying)
{
	copying->room -= copying->weight;
	return copying->room < 0;
}

/* A reader of a CTE: the relations of that, if it is inlined; else it is a relation itself. */
static bool
copies_of_cte(const RangeTblEntry *rte, Copying *copying)
{
	const Copying outer = *copying;
	const GcQueryLevel *of;
	const CommonTableExpr *cte = gc_level_cte(copying->level, rte, &of);
	bool		many;

	if (cte == NULL || !is_inlined(cte))
		return is_beyond(copying);
	copying->level = of;
	if (cte->cterefcount > 1)
		copying->weight = JOINED_COPY;
	many = copies_walker(cte->ctequery, copying);
	copying->level = outer.level;
	copying->weight = outer.weight;
	return many;
}

/* A query, with those of its CTEs that are planned apart. */
static bool
copies_of_query(Query *query, Copying *copying)
{
	const GcQueryLevel here = {query, copying->level, NULL};
	const int	weight = copying->weight;
	bool		many;
	ListCell   *lc;

	copying->level = &here;
	if (weight > 0 && is_grouped(query))
		copying->weight = 1;
	many = query_tree_walker(query, copies_walker, copying, QTW_EXAMINE_RTES_BEFORE | QTW_IGNORE_CTE_SUBQUERIES);
	foreach(lc, query->cteList)
	{
		const CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		many = many || (!is_inlined(cte) && copies_walker(cte->ctequery, copying));
	}
	copying->level = here.parent;
	copying->weight = weight;
	return many;
}

/* Is there room for fewer relations than are copied? */
static bool
copies_walker(Node *node, Copying *copying)
{
	const RangeTblEntry *rte = (const RangeTblEntry *) node;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
		return copies_of_query((Query *) node, copying);
	if (!IsA(node, RangeTblEntry))
		return expression_tree_walker(node, copies_walker, copying);
	if (rte->rtekind == RTE_CTE)
		return copies_of_cte(rte, copying);
	/* A view was expanded; such an entry only names it. */
	return rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW && is_beyond(copying);
}

/* CTEs that read others twice, which read others twice, would be planned very often. */
static bool
copies_too_many(CommonTableExpr *cte, const GcQueryLevel *level)
{
	const CTEMaterialize was = cte->ctematerialized;
	Copying		copying = {level->parent, 0, MOST_COPIES};
	bool		many;

	cte->ctematerialized = CTEMaterializeNever;
	many = copies_walker((Node *) level->query, &copying);
	cte->ctematerialized = was;
	return many;
}

/* Let it be inlined, if the CTE's rows and its readers' results are the same then. */
static bool
inline_cte(CommonTableExpr *cte, const GcQueryLevel *level, GcCteChoice *ctes)
{
	Query	   *query = (Query *) cte->ctequery;
	Readers		readers = {.name = cte->ctename,.level = level->parent,.depth = -1,.params = level->params,
	.grouped = is_grouped(query),.cte = query,.of = level,.query = is_plain_grouping(query) ? query : NULL};
	bool		apart = cte->ctematerialized == CTEMaterializeAlways;

	if (!reads_tables(query) || gc_locks_rows((Node *) query) || gc_repeats_differ((Node *) query) ||
		contain_volatile_functions((Node *) query) || reads_differing((Node *) query, &(Behind) {level, 0}) ||
		copies_too_many(cte, level))
		return false;
	if (!apart && !readers.grouped && !gc_query_cannot_raise(query, level))
	{
		readers.source = grouped_source(query);
		readers.grouped = true;
		readers.query = readers.source ? query : NULL;
		apart = readers.source == NULL;
	}
	(void) readers_walker((Node *) level->query, &readers);
	if (apart || readers.may_raise)
	{
		if (!keep_cte(&readers))
			return false;
	}
	else if (readers.source && readers.query)
	{
		ctes->narrowable = true;
		if (ctes->narrow)
		{
			narrow_cte(query, readers.wanted);
			return true;
		}
	}
	else if (readers.query && readers.wanted)
		ask_for_all(query, readers.wanted);
	cte->ctematerialized = CTEMaterializeNever;
	return true;
}

void
gc_inline_ctes(const GcQueryLevel *level, GcCteChoice *ctes, bool *changed)
{
	ListCell   *lc;

	foreach(lc, level->query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (gc_may_inline(cte) && inline_cte(cte, level, ctes))
			*changed = true;
	}
}
