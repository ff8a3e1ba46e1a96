/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  The plan that the planner hands to the executor in a gpuconc custom scan.
 *
 * A CustomScan node of ours carries:
 *	- custom_plans: PostgreSQL's own plan for the same subtree (the fallback),
 *	  then one plan per row source, in the order of GcPlanInput.child;
 *	- custom_scan_tlist: the columns that the device path produces, in the order of
 *	  GcPlanOutput; behind them every Var that lookup expressions read;
 *	- custom_exprs: expressions to evaluate at execution (parameters, lookup expressions, lists), then clauses that only
 *	  EXPLAIN prints, then arguments of window functions, evaluated for each row that the device returns;
 *	- custom_private: one bytea constant, a GcPlan (flat, without pointers);
 *	  one GC_DISPLAY_TAG integer per printed clause; for each grouping set, the bits
 *	  of the keys that it leaves out; for each GROUPING(), the numbers of its keys; of
 *	  printed clauses of lower query levels their GC_DISPLAY_TAGs, their levels (0 ..), the
 *	  clauses, and by level a range table with names; for each GcPlanGuess its clauses, whose
 *	  Vars are of relation 1; Oids of functions that the user must be permitted to call;
 *	  NULL, or another bytea constant, a GcPlanWindows.
 *
 * "Space" names the dictionary that a text value's code belongs to.  It is a column of the program (0 ..), a lookup
 * table with text results (GC_SPACE_LUT + n), or constants of CASE and its like (GC_SPACE_CONSTANTS).
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_H
#define GC_PLAN_H

#include "postgres.h"

#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "../../program/hash.h"
#include "../../program/program.h"

/* Roles of a printed clause: a filter of the pipeline, a key of build b, a condition on its matches, a group key. */
#define GC_DISPLAY_FILTER			0
#define GC_DISPLAY_KEY(b)			(1 + (b))
#define GC_DISPLAY_CONDITION(b)		(32 + (b))
#define GC_DISPLAY_GROUP_KEY		60
#define GC_DISPLAY_TAG(pipeline, what)	((pipeline) * 64 + (what))
#define GC_DISPLAY_PIPELINE(tag)		((tag) / 64)
#define GC_DISPLAY_WHAT(tag)			((tag) % 64)

#define GC_SPACE_NONE	0xFFFF
#define GC_SPACE_LUT	0x4000
#define GC_SPACE_CONSTANTS	0x8000

typedef struct GcPlanInput
{
	Oid			relid;			/* table read through the column cache; or 0: */
	int			child;			/* index into custom_plans of a row source */
	int			first_part;		/* of an append input, whose relid is the parent's, or 0 of UNION ALL */
	int			nparts;			/* 0: it is none */
	int			natts;			/* columns of the append input */
	double		rows;			/* estimate after its filters */
	double		tuples;			/* estimate before */
} GcPlanInput;

/* In the place of a table's attribute: the column is the table's number among those of its input. */
#define GC_ATTNUM_PART	(-1)

/* A table of an append input. */
typedef struct GcPlanPart
{
	Oid			relid;
	int			first_attnum;	/* among GC_PLAN_ATTNUMS: for each column of the input the
								 * table's; 0: it has none; GC_ATTNUM_PART */
} GcPlanPart;

typedef struct GcPlanColumn
{
	Oid			typid;			/* type as the plan was made for */
	int32		typmod;
	Oid			collation;
	bool		late;			/* no kernel reads it: it is fetched by row id (group/late.c) */
} GcPlanColumn;

typedef struct GcPlanParam
{
	int			expr;			/* custom_exprs; or -1: the number of values of that dictionary, and `more` */
	uint16		space;			/* text: where its code is looked up */
	uint8		more;
	bool		apart;			/* a constant of a condition, which is no other one's even if equal */
} GcPlanParam;

typedef enum GcLutType
{
	GC_LUT_EXPR,				/* an expression of one Var, or of two with a text each */
	GC_LUT_TRANSLATE,			/* code in `space` -> code in `to_space` */
	GC_LUT_RANK,				/* code in `space` -> rank in sort order */
	GC_LUT_ADD,					/* as GC_LUT_TRANSLATE; values that are not in `to_space` are added */
	GC_LUT_RANKED,				/* rank, by the table `rank` -> code */
	GC_LUT_ZONE,				/* date in UTC -> the time zone's offsets on it, GcZonePart `rank` */
	GC_LUT_UNIFY				/* code of an append input's column, where equal texts of two
								 * tables have two codes -> one code for each text */
} GcLutType;

/* A time zone's offset from UTC, which it changes once in a day at most. */
typedef enum GcZonePart
{
	GC_ZONE_BEFORE,				/* as the day begins, microseconds */
	GC_ZONE_AFTER,				/* as it ends */
	GC_ZONE_CHANGE				/* when it changes, a timestamp in UTC; the day's begin if it does not */
} GcZonePart;

typedef struct GcPlanLut
{
	uint8		type;			/* GcLutType */
	bool		cacheable;		/* immutable, but for the session's time zone, and free of parameters */
	bool		zoned;			/* GC_LUT_EXPR: depends on the session's time zone */
	bool		of_rows;		/* GC_LUT_EXPR: to be evaluated only for values that rows of the statement have */
	uint16		space;			/* text argument: its dictionary */
	uint16		to_space;		/* GC_LUT_TRANSLATE, GC_LUT_ADD, GC_LUT_RANKED */
	int			expr;			/* GC_LUT_EXPR: custom_exprs.  GC_LUT_ZONE: the time zone's name there, or -1: the
								 * session's */
	int			attno;			/* the Var's place in custom_scan_tlist */
	Oid			argtype;
	uint8		kinds[2];		/* GC_LUT_EXPR of two Vars: their GcKind, else none; */
	uint16		second;			/* of the second one: its dictionary, and */
	int			second_attno;	/* its place */
	Oid			collation;		/* GC_LUT_RANK */
	u16			rank;			/* GC_LUT_RANKED: a GC_LUT_RANK before it.  GC_LUT_RANK: one of those that are
								 * not the same, or 0 */
	GcHash		hash;			/* GC_LUT_EXPR: of the expression */
	u16			arg;			/* expression of the program, for its range */
} GcPlanLut;

/*
 * Is it of two texts?  Its argument is then an integer: the first one's code, times one more than the second
 * dictionary's number of values, plus the second one's code.  In the place of a NULL is the number of values.
 */
#define GC_LUT_IS_PAIR(lut)		((lut)->kinds[0] != GC_KIND_NONE)

/* The range of integers or dates that a table may have. */
#define GC_MAX_INTEGER_VALUES	(1 << 17)

/* Pairs, those with NULL included, that a table may have. */
#define GC_MAX_PAIRS	(1 << 16)

typedef struct GcPlanList
{
	int			expr;			/* custom_exprs: an array */
	u16			arg;			/* expression compared with its elements */
} GcPlanList;

typedef enum GcOutputType
{
	GC_OUT_NONE,				/* only there for lookup expressions */
	GC_OUT_VALUE,				/* group key or row output number `ref` */
	GC_OUT_QUOTIENT,			/* of numerics: row output `ref` over row output `ref2` */
	GC_OUT_COUNT,				/* accumulator `ref` */
	GC_OUT_SUM,					/* sum `ref` */
	GC_OUT_AVG,					/* sum `ref` over count `ref2` */
	GC_OUT_PLAIN,				/* value of accumulator `ref`; text: rank, through `lut` */
	GC_OUT_GROUPING,			/* GROUPING() number `ref` */
	GC_OUT_VARIANCE,			/* of sum `ref`, count `ref2` and sum of squares `square_ref` */
	GC_OUT_INTERVAL_SUM,		/* days `ref`, times `square_ref` of `ref2` intervals; sums[]: the least, the
								 * greatest */
	GC_OUT_INTERVAL_AVG,		/* as GC_OUT_INTERVAL_SUM, over their number */
	GC_OUT_REGRESSION,			/* of a state of floats: count `ref`, and `sums` */
	GC_OUT_FETCHED,				/* column `ref2` of the row whose id is group key or row output `ref` */
	GC_OUT_WINDOW				/* a window function's result (GcPlanWindowFn) */
} GcOutputType;

/* Sums in PostgreSQL's states of floats: of x, squares of x; and of y, squares of y, products. */
#define GC_VARIANCE_SUMS	2
#define GC_REGRESSION_SUMS	5

typedef struct GcPlanOutput
{
	uint8		type;			/* GcOutputType */
	u16			ref;
	u16			ref2;			/* count of non-NULL inputs, or a float sum's greatest input: result
								 * is NULL if 0 */
	u16			scale_ref;		/* sums, group keys: accumulator of the largest display scale;
								 * GC_OUT_PLAIN: of GC_OP_TAG */
	u16			square_ref;		/* GC_OUT_VARIANCE: sum of squares; of intervals: of times; group keys: of the smallest
								 * display scale; GC_OUT_PLAIN: of the other GC_OP_TAG */
	u16			sums[2 * GC_REGRESSION_SUMS];	/* GC_OUT_REGRESSION, of intervals: accumulators, nsums of them */
	uint8		nsums;
	bool		in_halves;		/* they are of the higher halves of precise sums; those of the lower ones
								 * follow */
	Oid			finalfn;		/* GC_OUT_VARIANCE, GC_OUT_REGRESSION: PostgreSQL's function of them */
	u16			lut;			/* GC_LUT_RANK of a text minimum or maximum, or of a text that is
								 * sorted by */
	uint16		space;			/* text: dictionary of the code */
	Oid			typid;			/* SQL type of the result */
	Oid			argtype;		/* of an aggregate's argument */
} GcPlanOutput;

/*
 * A grouping set's omissions are an integer.  It has a bit for each key by its number, and others for constants.
 * This bit is the empty set's, which has a group even if there is no row.
 */
#define GC_EMPTY_SET	((uint32) 1 << 31)

/* One column of the order in which PostgreSQL will sort the node's rows. */
#define GC_MAX_ORDER	8
typedef struct GcPlanOrder
{
	uint16		output;
	bool		descending;
	bool		nulls_first;
	Oid			operator;		/* of a whole order: PostgreSQL's, by which it sorts */
	Oid			collation;
} GcPlanOrder;

/*-------------------------------------------------------------------------
 * Window functions, which the executor computes of decoded rows
 *-------------------------------------------------------------------------
 */

#define GC_MAX_WINDOWS		16
#define GC_MAX_WINDOW_FNS	64

/* A column that rows of a window are sorted by. */
typedef struct GcPlanWindowKey
{
	GcPlanOrder order;			/* without an output */
	int16		expr;
	uint8		kind;			/* GcKind, if its words are in this order; else GC_KIND_NONE */
} GcPlanWindowKey;

typedef struct GcPlanWindow
{
	int			npartition;		/* the first of the keys */
	int			nkeys;
	GcPlanWindowKey keys[GC_MAX_ORDER];
	int			frame;			/* PostgreSQL's FRAMEOPTION_ bits */
	int16		start_offset;	/* expression, evaluated once; or -1 */
	int16		end_offset;
	Oid			start_in_range; /* of RANGE with an offset: PostgreSQL's functions */
	Oid			end_in_range;
	Oid			in_range_collation;
	bool		in_range_ascending;
	bool		in_range_nulls_first;
	bool		sort;			/* else rows are in its order, since they were sorted for a window before it */
} GcPlanWindow;

#define GC_WINDOW_FN_ARGS	3

typedef struct GcPlanWindowFn
{
	uint8		over;			/* GcOver; GC_OVER_NONE: the first value by `operator`, or what
								 * `transition` and `final` make */
	uint8		window;
	uint16		flags;			/* what is made of GC_OVER_SUM: GC_MADE_OF_SUMS of builtins.h */
	uint16		output;
	int16		args[GC_WINDOW_FN_ARGS];	/* expressions; or -1 */
	int16		filter;
	Oid			argtype;		/* of the first */
	Oid			operator;
	Oid			transition;		/* PostgreSQL's functions of an aggregate's state, which are strict, */
	Oid			final;			/* which may be none, */
	int16		initial;		/* the expression of the state before any value; */
	int16		state_length;	/* lengths of the state and the result; 0: passed by value */
	int16		result_length;
	Oid			collation;
} GcPlanWindowFn;

typedef struct GcPlanWindows
{
	int			first_expr;		/* their expressions in custom_exprs, */
	int			nexprs;
	int16		having;			/* of which one is a condition on the rows that windows are of; or -1 */
	int			nwindows;
	int			nfns;
	GcPlanWindow windows[GC_MAX_WINDOWS];	/* in the order in which they are sorted for */
	GcPlanWindowFn fns[GC_MAX_WINDOW_FNS];
	GcHash		identity;		/* of all that and the expressions: equal ones, equal results of equal
								 * rows, but for parameters */
	bool		parameterised;	/* expressions read parameters */
} GcPlanWindows;

/*
 * Memory that windows of a row take.  Columns count twice, as they are put in order, and expressions with the words
 * that they are sorted by.  Beside them are functions' results, places of all kinds, and sums.  Measured, and rounded
 * up.
 */
#define GC_WINDOW_COLUMN_BYTES		18
#define GC_WINDOW_EXPR_BYTES		30
#define GC_WINDOW_FN_BYTES			24
#define GC_WINDOW_ROW_BYTES			50

/* They may take this, or as much as a hash table if that is more.  PostgreSQL spills rows to disk. */
#define GC_LEAST_WINDOW_MEMORY		(256.0 * 1024 * 1024)

/* Bytes that rows of window functions may take in a session. */
static inline double
gc_window_memory(void)
{
	return Max((double) get_hash_memory_limit(), GC_LEAST_WINDOW_MEMORY);
}

/* Do so many rows fit, by the planner's widths of their columns? */
static inline bool
gc_windows_fit(const GcPlanWindows *windows, int ncolumns, double rows)
{
	const double row = GC_WINDOW_ROW_BYTES + (double) ncolumns * GC_WINDOW_COLUMN_BYTES +
		windows->nexprs * GC_WINDOW_EXPR_BYTES + windows->nfns * GC_WINDOW_FN_BYTES;

	return rows <= PG_INT32_MAX && rows * row <= gc_window_memory();
}

/*
 * Conditions of a table that leave a share of its rows which was guessed, since values of parameters were not known
 * (cost/guesses.c).
 */
#define GC_MAX_GUESSES	8
typedef struct GcPlanGuess
{
	Oid			relid;
	Oid			user;			/* who reads it, if that is not the session's user */
	char		relkind;
	bool		inherits;		/* its children are read, too */
	bool		secured;		/* under row security */
	bool		rows;			/* the rows that come out of PostgreSQL's joins depend on it */
	double		share;			/* as guessed */
	double		ms;				/* of PostgreSQL's own plan, which depend on it alone */
} GcPlanGuess;

typedef struct GcPlan
{
	uint32		size;
	uint32		program_size;
	int			ninputs;
	int			ncolumns;
	int			nparams;
	int			nluts;
	int			nlists;
	int			nparts;
	int			nattnums;
	int			noutputs;		/* entries of custom_scan_tlist */
	int			nexprs;			/* custom_exprs to evaluate; the rest is display */
	bool		grouped;		/* GROUP BY: no group without rows */
	uint64		wanted;			/* number of groups that are needed, with their ties; 0: all */
	bool		chooses_all;	/* the choice among groups tests all of the node's filter, where the device makes it */
	bool		malformed;		/* a bug: the program is none, and the node falls back */
	bool		float_aggs;		/* results depend on gpuconc.enable_float_aggs */
	bool		fixed_zone;		/* the session's time zone must have a single offset */
	bool		windowed;		/* window functions are computed of its rows, before they are put in order */
	double		groups[GC_MAX_PIPELINES];	/* estimates, by pipeline */
	double		rows_out;
	double		ms;				/* that the node is estimated to take, where nothing is lacking */
	double		own_ms;			/* that PostgreSQL's own plan is estimated to take */
	uint64		key;			/* of what is remembered of its planning (plan_memory.h) */
	int			nguesses;		/* 0: the node is the better plan; else the executor decides which is: */
	GcPlanGuess guesses[GC_MAX_GUESSES];
	double		rows_ms;		/* of ms, and */
	double		above_ms;		/* the part of own_ms that depends on all guesses of rows */
	double		build_rows[GC_MAX_BUILDS];
	bool		build_duplicates[GC_MAX_BUILDS];	/* statistics say keys repeat */
	bool		build_finds_once[GC_MAX_BUILDS];	/* each of its rows matches one row of the probing leaf at most */
	/* Into the same piece of memory, from `arrays` on; while it is translated, apart (gc_plan_settle()): */
	GcPlanInput *inputs;
	GcPlanColumn *columns;
	GcPlanParam *params;
	GcPlanLut  *luts;
	GcPlanList *lists;
	uint32		arrays;			/* where they begin */
	bool		sorted;			/* rows are returned exactly in this order: */
	uint64		limit;			/* and no more than this number of them is wanted; 0: all */
	int			norder;
	GcPlanOrder order[GC_MAX_ORDER];
	GcPlanOutput outputs[FLEXIBLE_ARRAY_MEMBER];
	/*
	 * The program follows, MAXALIGNed; then GcPlanPart of append inputs, and int16 attnums; then the arrays, from
	 * `arrays` on.
	 */
} GcPlan;

#define GC_PLAN_PROGRAM(plan) \
	((GcProgram *) ((char *) (plan) + MAXALIGN(offsetof(GcPlan, outputs) + \
												(plan)->noutputs * sizeof(GcPlanOutput))))

#define GC_PLAN_PARTS(plan) \
	((GcPlanPart *) ((char *) GC_PLAN_PROGRAM(plan) + MAXALIGN((plan)->program_size)))

#define GC_PLAN_ATTNUMS(plan) \
	((int16 *) (GC_PLAN_PARTS(plan) + (plan)->nparts))

/* Make a plan that is in one piece of memory find its arrays there, wherever that is now.  Returns its size. */
static inline Size
gc_plan_settle(GcPlan *plan)
{
	char	   *at = (char *) plan + plan->arrays;

	plan->inputs = (GcPlanInput *) at;
	at += MAXALIGN(plan->ninputs * sizeof(GcPlanInput));
	plan->columns = (GcPlanColumn *) at;
	at += MAXALIGN(plan->ncolumns * sizeof(GcPlanColumn));
	plan->params = (GcPlanParam *) at;
	at += MAXALIGN(plan->nparams * sizeof(GcPlanParam));
	plan->luts = (GcPlanLut *) at;
	at += MAXALIGN(plan->nluts * sizeof(GcPlanLut));
	plan->lists = (GcPlanList *) at;
	at += MAXALIGN(plan->nlists * sizeof(GcPlanList));
	return at - (char *) plan;
}

/*
 * Names of the node, for EXPLAIN, and of the fallback's stand-in for a row source (custom_private: its place in
 * custom_plans).  exec/ registers how a node of each name is executed.
 */
#define GC_SCAN_NODE		"GpuconcScan"
#define GC_JOIN_NODE		"GpuconcJoin"
#define GC_AGGREGATE_NODE	"GpuconcAggregate"
#define GC_WINDOW_NODE		"GpuconcWindow"
#define GC_INPUT_NODE		"GpuconcInput"

#endif							/* GC_PLAN_H */
