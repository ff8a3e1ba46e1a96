/*-------------------------------------------------------------------------
 *
 * translate.h
 *	  From PostgreSQL's description of a join and an aggregate to a program;
 *	  private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TRANSLATE_H
#define GC_TRANSLATE_H

#include "../columns/pgkinds.h"
#include "plan.h"

/*
 * What is known of a relation that could be computed by the device: the base
 * relations that it inner-joins and all clauses to be applied.  Built bottom-up
 * in the join hook; one per RelOptInfo, for the duration of planning.
 */
typedef struct GcRelDesc
{
	RelOptInfo *rel;			/* hash key */
	Relids		relids;			/* of rel, and its root: an address may be reused */
	PlannerInfo *root;
	bool		ok;				/* false: refused, for `reason` */
	List	   *leaves;			/* RelOptInfo of each base relation */
	List	   *clauses;		/* RestrictInfo */
	const char *reason;
} GcRelDesc;

/* One base relation, or one row source, while it is being translated. */
typedef struct GcLeaf
{
	RelOptInfo *rel;
	Relids		relids;
	Oid			relid;			/* 0: row source */
	Path	   *path;			/* of a row source */
	double		tuples;
	double		rows;			/* after its own filters */
	double		share;			/* of its tuples that survive, joins below included */
	List	   *filters;		/* clauses on this leaf alone */
	struct GcLeaf *parent;		/* whose pipeline probes it; NULL: streamed */
	List	   *children;		/* GcLeaf */
	List	   *keys;			/* GcJoinKey, to the parent's side */
	bool		unique;			/* a unique index covers the key */
	List	   *residuals;		/* clauses of several leaves, applied in this pipeline */
	int			input;			/* number in the program, or -1 */
	int			pipeline;
	int			build;			/* -1: streamed */
} GcLeaf;

/* One step of a pipeline before it is translated: a probe, or filters on one set of columns. */
typedef struct GcStepPlan
{
	List	   *filters;		/* RestrictInfo, on the same columns ... */
	List	   *vars;			/* ... namely these; or: */
	GcLeaf	   *probe;
	double		share;			/* of the rows that pass */
	double		bytes;			/* cost per row */
} GcStepPlan;

typedef struct GcJoinKey
{
	Expr	   *build_side;
	Expr	   *probe_side;
} GcJoinKey;

typedef struct GcBuildPayload
{
	int			build;
	u16			expr;
} GcBuildPayload;

/* A program under construction, with all that a GcPlan needs beside it. */
typedef struct GcTranslation
{
	PlannerInfo *root;
	List	   *leaves;			/* GcLeaf, in the order of pipelines */
	GcLeaf	   *streamed;
	bool		leaky_forbidden;	/* row security: lookups only of leakproof calls */
	bool		float_aggs;

	GcPlan	   *plan;			/* arrays are filled as we go; outputs separately */
	List	   *outputs;		/* GcPlanOutput *, one per scan_tlist entry */
	List	   *scan_tlist;
	List	   *exprs;			/* custom_exprs to evaluate */
	List	   *display;		/* custom_exprs for EXPLAIN, and for each ... */
	List	   *display_tags;	/* GC_DISPLAY_TAG */

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
				nlists;
	GcPColumn  *columns;
	GcExpr	   *pexprs;
	uint16	   *space;			/* of each text expression */
	GcPPipeline *pipelines;
	List	   *steps[GC_MAX_BUILDS + 1];	/* GcPStep *, per pipeline */
	List	   *step_keys[GC_MAX_BUILDS + 1];	/* IntList of key exprs per step */
	GcPBuild   *builds;
	List	   *build_keys[GC_MAX_BUILDS];	/* int expr */
	GcBuildPayload *payloads;
	GcPAgg	   *aggs;
	List	   *group_keys;		/* int expr */
	List	   *row_outputs;	/* int expr */
	Node	  **column_nodes;	/* the Var or expression behind each column */
	GcLeaf	  **column_leaf;

	const char *reason;			/* why it failed */
} GcTranslation;

#define GC_NO_EXPR	(-1)

/* Refuse: remember the first reason, return GC_NO_EXPR. */
extern int	gc_refuse(GcTranslation *tr, const char *fmt,...) pg_attribute_printf(2, 3);

/*
 * expr.c: translate a scalar expression in the pipeline of `leaf`.  Returns the
 * number of a program expression, or GC_NO_EXPR with tr->reason set.
 */
extern int	gc_translate_expr(GcTranslation *tr, GcLeaf *leaf, Expr *expr);

/* A text expression's value as a code in another dictionary. */
extern int	gc_translate_space(GcTranslation *tr, int expr, uint16 space);

/* Equality of two translated expressions, aligned in kind and dictionary. */
extern bool gc_align_kinds(GcTranslation *tr, int *a, int *b);

/* builder.c */
extern void gc_builder_init(GcTranslation *tr);
extern int	gc_build_expr(GcTranslation *tr, GcOp op, GcKind kind, int a, int b, int c, int ref);
extern int	gc_build_cast(GcTranslation *tr, int arg, GcKind kind);
extern int	gc_build_numeric_cast(GcTranslation *tr, int arg, int precision, int scale);
extern int	gc_build_param(GcTranslation *tr, Expr *expr, GcKind kind, uint16 space);
extern int	gc_build_null(GcTranslation *tr, GcKind kind);
extern int	gc_build_column(GcTranslation *tr, GcLeaf *leaf, Node *node);
extern int	gc_build_lut(GcTranslation *tr, int arg, GcKind kind, const GcPlanLut *lut);
extern int	gc_build_payload(GcTranslation *tr, int build, int expr);
extern int	gc_build_agg(GcTranslation *tr, GcAggFn fn, int arg);
extern void gc_build_filter(GcTranslation *tr, int pipeline, int expr, double selectivity);
extern void gc_build_probe(GcTranslation *tr, int pipeline, int build, List *keys, double selectivity);
extern void gc_build_display(GcTranslation *tr, int pipeline, int what, Expr *expr);
extern int	gc_exec_expr(GcTranslation *tr, Expr *expr);
extern int	gc_scan_attno(GcTranslation *tr, Node *expr);
extern GcPlan *gc_builder_finish(GcTranslation *tr);

/* kinds.c: PostgreSQL types as kinds, and what may be done with them. */

/* relinfo.c */
extern GcRelDesc *gc_rel_desc(PlannerInfo *root, RelOptInfo *rel);
extern bool gc_describe_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
							 RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra);

/* expr.c: is there a parameter in an expression? */
extern bool gc_contains_param(Node *node, void *context);

/*
 * steps.c.  Share of rows that pass clauses, together, since two on one column are often a range;
 * and of those that pass a leaf's filters.
 */
extern double gc_clauses_share(GcTranslation *tr, List *clauses);
extern double gc_filters_share(GcTranslation *tr, GcLeaf *leaf);
extern List *gc_order_steps(GcTranslation *tr, GcLeaf *leaf);

/* tree.c: join tree, pipelines; agg.c: grouping; both leave tr->reason on refusal. */
extern bool gc_translate_tree(GcTranslation *tr, GcRelDesc *desc);
extern bool gc_translate_steps(GcTranslation *tr);
extern bool gc_translate_aggregate(GcTranslation *tr, PathTarget *target, List *having);
extern bool gc_translate_rows(GcTranslation *tr, PathTarget *target);

/* Value of an expression that lives in leaf `from`, in the pipeline of `at`. */
extern int	gc_bring(GcTranslation *tr, GcLeaf *at, GcLeaf *from, int expr);
extern GcLeaf *gc_leaf_of(GcTranslation *tr, Relids relids);

/* hooks.c: record a refusal for DEBUG1, EXPLAIN and gpuconc.debug_offload. */
extern void gc_note_refusal(const char *what, const char *reason);

#endif							/* GC_TRANSLATE_H */
