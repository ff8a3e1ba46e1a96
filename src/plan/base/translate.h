/*-------------------------------------------------------------------------
 *
 * translate.h
 *	  From PostgreSQL's description of a join and an aggregate to a program;
 *	  private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TRANSLATE_H
#define GC_TRANSLATE_H

#include "plan.h"

/* Levels of one expression.  Compilers take seconds for deeper ones. */
#define GC_MAX_DEPTH	500

/* A pipeline's place among the others: behind `n` of them, as the `nth` that was put there. */
#define GC_PLACE(n, nth)	((n) * (GC_MAX_PIPELINES + 1) + (nth))

struct GcLeaf;
struct GcTranslation;

/* An aggregation whose groups a later pipeline scans; or a join whose rows it does. */
typedef struct GcGroups
{
	PlannerInfo *root;			/* its query level */
	List	   *leaves;			/* GcLeaf: the rows that it aggregates */
	struct GcLeaf *streamed;
	int			pipeline;
	int			input;			/* that holds the groups */
	bool		rows;			/* a row for each that is joined; its outputs are its keys */
	struct GcGroups *over;		/* groups that it aggregates, with `streamed` over them; or NULL */
	List	   *distinct;		/* GcDistinct: values that are among its keys, for a second level of
								 * groups (group/groups.c) */
	const Query *query;			/* of a subquery: as it was before it was planned, */
	List	   *tlist;			/* TargetEntry, its columns */
	List	   *by;				/* Node, its group keys, of a subquery or where `distinct` is */
	bool		shared;			/* they are another subquery's, too, for which they were opened */

	/*
	 * While an expression over groups is translated: is this part of it a key, or an aggregate?  *e
	 * is its number in the program, or GC_NO_EXPR with a reason (group/groups.c).
	 */
	bool		(*part) (struct GcTranslation *tr, Expr *expr, int *e);

	/* A subquery's column, in the pipeline of its leaf (relations/subquery.c). */
	int			(*column) (struct GcTranslation *tr, struct GcLeaf *leaf, Var *var);
} GcGroups;

/* A table of an append input. */
typedef struct GcAppendPart
{
	PlannerInfo *root;			/* its query level */
	RelOptInfo *rel;
	Oid			relid;
	List	   *exprs;			/* the relation's columns, as expressions of this table; NULL: dropped */
	List	   *quals;			/* conditions of this table alone */
	List	   *conditions;		/* the relation's conditions, as far as they are not among these */
	int16	   *attnums;		/* its attributes that are the input's columns; 0: none is */
} GcAppendPart;

/*
 * Several tables that are one relation.  The input has the relation's columns.  Behind them are some that have no name
 * in the query: the number of the table, and columns that expressions read.
 */
typedef struct GcAppend
{
	List	   *parts;			/* GcAppendPart */
	int			natts;			/* of the relation */
	int			ninput;			/* columns of the input */
	Expr	  **columns;		/* natts: expressions of the relation's columns; NULL: cannot be read */
	Var		  **unnamed;		/* ninput - natts */
	List	   *filters;		/* RestrictInfo: conditions of single tables */
	bool		conditioned;	/* the relation's conditions are among these */
} GcAppend;

/* A SELECT of UNION ALL, whose rows come out of pipelines of its own. */
typedef struct GcArm
{
	PlannerInfo *root;			/* its query level, or the union's */
	RelOptInfo *rel;			/* its relations: a join, or one */
	List	   *exprs;			/* the union's columns, as expressions of that */
	List	   *leaves;			/* GcLeaf */
	struct GcLeaf *streamed;
	List	   *pipelines;		/* int: those that its rows come out of */
} GcArm;

/* UNION ALL of anything but tables (relations/subquery.c). */
typedef struct GcUnion
{
	List	   *arms;			/* GcArm; the union's pipeline begins with the first one's */
	List	   *empty;			/* PlannerInfo: levels of SELECTs without a row, which are no arms */
	bool		filtered;		/* the arms apply all conditions on the union's columns */
	int			(*column) (struct GcTranslation *tr, struct GcLeaf *leaf, Var *var);
} GcUnion;

/*
 * A base relation, an append input, a row source, an aggregated subquery or a UNION ALL, while it is
 * being translated.
 */
typedef struct GcLeaf
{
	RelOptInfo *rel;
	Relids		relids;
	Oid			relid;			/* 0: row source, or: */
	GcAppend   *append;			/* of an append input */
	GcGroups   *groups;			/* of the subquery that it is */
	List	   *having;			/* conditions on these groups, of the subquery's level */
	GcUnion    *arms;			/* of the UNION ALL that it is */
	const char *refusal;		/* why the UNION ALL that it is became a row source */
	Path	   *path;			/* of a row source */
	double		tuples;
	double		rows;			/* after its own filters */
	double		share;			/* of its tuples that survive, joins below included */
	List	   *filters;		/* clauses on this leaf alone */
	List	   *filter_steps;	/* of these, once they are asked for (relations/steps.c) */
	struct GcLeaf *parent;		/* whose pipeline probes it; NULL: streamed */
	List	   *children;		/* GcLeaf */
	List	   *keys;			/* GcJoinKey, to the parent's side; NIL: a list, of which each row
								 * is tried */
	GcJoinKind	join;			/* how the parent's pipeline probes it */
	List	   *conditions;		/* clauses on a match; none of an inner join */
	double		outer_share;	/* of the parent's rows that a semi or anti join leaves */
	bool		unique;			/* a unique index covers the key */
	List	   *residuals;		/* clauses of several leaves, applied in this pipeline */
	List	   *above;			/* clauses to be applied in it behind its full joins */
	int			phase;			/* the parent probes it behind all with a lower one */
	List	   *full;			/* GcLeaf: full joins that its pipeline has probed so far */
	int			after_full;		/* of those of its parent: number of the first that it came before */
	int			input;			/* number in the program, or -1 */
	int			pipeline;
	int			build;			/* -1: streamed */
} GcLeaf;

typedef struct GcJoinKey
{
	Expr	   *build_side;
	Expr	   *probe_side;
} GcJoinKey;

/* Inner-joined leaves, and cores that other joins attach to them. */
typedef struct GcCore
{
	List	   *leaves;			/* GcLeaf */
	List	   *clauses;		/* RestrictInfo */
	List	   *attached;		/* GcCore, in order */
	List	   *above;			/* RestrictInfo: behind the full joins among these */
	int			phase;			/* odd: a full join is attached next, or was attached last */
	Relids		relids;			/* of all leaves here and below */
	GcLeaf	   *streamed;
	bool		is_attached;
	/* An attached one has: */
	GcJoinKind	join;
	List	   *keys;			/* GcJoinKey */
	List	   *conditions;		/* RestrictInfo */
	double		share;			/* of the outer rows that come through; left join: 1 */
} GcCore;

typedef struct GcBuildPayload
{
	int			build;
	u16			expr;
	bool		greatest;		/* as GcPPayload's */
} GcBuildPayload;

/* A program under construction, with all that a GcPlan needs besides it. */
typedef struct GcTranslation
{
	PlannerInfo *top;			/* the query level of the node; root may be one below */
	List	   *lower;			/* PlannerInfo: levels below it of which lookup tables are made */
	PlannerInfo *root;
	List	   *init_plans;		/* SubPlan: InitPlans of levels below the node's */
	List	   *leaves;			/* GcLeaf, of all cores */
	List	   *appends;		/* GcLeaf: append inputs of all levels */
	List	   *subqueries;		/* GcGroups: of aggregated subqueries of all levels, each once */
	GcLeaf	   *streamed;
	GcGroups   *groups;			/* expressions are over its keys and aggregates; NULL: over rows */
	/*
	 * Make the subquery that a leaf stands for a part of the program.  False, and the translation is
	 * as it was, if that cannot be (relations/subquery.c).
	 */
	bool		(*embed) (struct GcTranslation *tr, GcLeaf *leaf);
	/* gc_translate_expr(), for the files of which expr/expr.c is made. */
	int			(*translate) (struct GcTranslation *tr, GcLeaf *leaf, Expr *expr);
	bool		in_condition;	/* of WHERE or a join */
	GcLeaf	   *matching;		/* whose conditions on a match are being translated */
	bool		has_optional;	/* outer joins may make columns NULL */
	bool		leaky_forbidden;	/* row security: lookups only of leakproof calls */
	bool		untried;		/* no filter was tried alone, as none was in the way before */
	bool		float_aggs;

	GcPlan	   *plan;			/* arrays are filled as we go; outputs separately */
	List	   *outputs;		/* GcPlanOutput *, one per scan_tlist entry */
	List	   *scan_tlist;
	List	   *exprs;			/* custom_exprs to evaluate */
	bool		lists_source;	/* a row source is joined without an equality */
	List	   *display;		/* custom_exprs for EXPLAIN, and for each ... */
	List	   *display_tags;	/* GC_DISPLAY_TAG */
	List	   *lower_display;	/* clauses of lower levels for EXPLAIN (display.c) */
	List	   *guessed;		/* List of clauses: of each of the plan's guesses */

	/* Program parts; see program.h.  All palloc'd at their maximum size. */
	int			ninputs,
				ncolumns,
				nexprs,
				npipelines,
				nbuilds,
				npayloads,
				naggs,
				nparams,
				nluts,
				nlists,
				nkept_windows;
	GcPColumn  *columns;
	GcExpr	   *pexprs;
	uint16	   *space;			/* of each text expression */
	uint16		last_exprs[256];	/* by hash: the last expression, or GC_NONE */
	uint16	   *exprs_before;	/* of each expression: the one before it of that hash */
	GcPPipeline *pipelines;
	List	   *steps[GC_MAX_PIPELINES];	/* GcPStep *, per pipeline */
	List	   *step_keys[GC_MAX_PIPELINES];	/* IntList of key exprs per step */
	GcPBuild   *builds;
	List	   *build_keys[GC_MAX_BUILDS];	/* int expr */
	double		lut_values[GC_MAX_LUTS];	/* that each is computed for, by estimate */
	double		lut_operators[GC_MAX_LUTS]; /* that each value takes, by estimate */
	double		kept_bytes;		/* of rows that are expected to be kept */
	double		fewer;			/* the part of PostgreSQL's estimate of rows that groups of subqueries leave */
	GcBuildPayload *payloads;
	GcPAgg	   *aggs;
	int			agg_pipeline[GC_MAX_AGGS];
	List	   *group_keys[GC_MAX_PIPELINES];	/* int expr; of rows that others read: outputs */
	List	   *key_nodes[GC_MAX_PIPELINES];	/* Node: their expressions in SQL */
	u16			groups_of[GC_MAX_INPUTS];	/* as GcPInput's: of groups or rows */
	u16			unmatched_of[GC_MAX_INPUTS];	/* as GcPInput's */
	int			rest_of[GC_MAX_PIPELINES];	/* 1 + pipeline that it is an arm or the rest of; 0: none */
	int			rest_steps[GC_MAX_PIPELINES];	/* steps of that one which it does not have */
	int			place[GC_MAX_PIPELINES];	/* GC_PLACE(), of an arm that was resumed; 0: GC_PLACE(number + 1, 0) */
	int			nresumed;		/* unions whose pipelines were resumed */
	int			choice;			/* 1 + pipeline that chooses among the main one's groups */
	int			main;			/* main pipeline; behind it the choice among its groups, if any */
	GcGroups   *chosen;			/* the main pipeline's groups, for that choice */
	List	   *choice_keys;	/* int expr: the order of that, or of rows, or NIL */
	List	   *having_tested;	/* HAVING, if that choice tests all of it */
	bool		having_left;	/* PostgreSQL tests a part of HAVING after that choice */
	List	   *row_outputs;	/* int expr */
	bool		late;			/* outputs are fetched by row id; columns that only they read are left out */
	GcPWindow  *kept_windows;	/* over rows that later pipelines read (group/kept_windows.c) */
	GcPlanWindows *windows;		/* of the executor's; NULL: none; never changed once it is here */
	List	   *window_exprs;	/* Node: their expressions */
	List	   *sets;			/* int: bits of the keys that each grouping set leaves out */
	List	   *groupings;		/* IntList: numbers of the keys that a GROUPING() is of */
	Node	  **column_nodes;	/* the Var or expression behind each column */
	GcLeaf	  **column_leaf;

	const char *reason;			/* why it failed */
	int			choices;		/* CASEs whose arms are being translated */
	int			depth;			/* levels of the expression above the part that is being translated */
	bool		too_deep;		/* an expression had more than GC_MAX_DEPTH of them */
} GcTranslation;

/* Is it read through the column cache? */
static inline bool
gc_leaf_is_cached(const GcLeaf *leaf)
{
	return OidIsValid(leaf->relid) || leaf->append != NULL;
}

/* Does PostgreSQL compute this leaf's rows? */
static inline bool
gc_leaf_is_source(const GcLeaf *leaf)
{
	return !gc_leaf_is_cached(leaf) && leaf->groups == NULL && leaf->arms == NULL;
}

/* Is it a build without keys, of which each row is tried? */
static inline bool
gc_leaf_is_list(const GcLeaf *leaf)
{
	return leaf->parent != NULL && leaf->keys == NIL;
}

#define GC_NO_EXPR	(-1)

/* equal() of expressions.  Most of them are columns, which differ by their numbers: that takes no call. */
static inline bool
gc_equal(const void *a, const void *b)
{
	if (a == NULL || b == NULL || nodeTag(a) != nodeTag(b))
		return a == b;
	if (IsA(a, Var) && (((const Var *) a)->varattno != ((const Var *) b)->varattno || ((const Var *) a)->varno != ((const Var *) b)->varno))
		return false;
	return equal(a, b);
}

#endif							/* GC_TRANSLATE_H */
