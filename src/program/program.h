/*-------------------------------------------------------------------------
 *
 * program.h
 *	  The pipeline program: the computations of a plan subtree, free of PostgreSQL.
 *
 * A program is a DAG of pipelines, in execution order; the last one is the main
 * pipeline.  A pipeline scans one input: a relation's chunks, the private chunk of
 * a row source, or the groups or rows of an earlier pipeline.  It applies its steps to each
 * row: filters, and probes of earlier pipelines' builds.  It ends in a sink: a build
 * (hash table or direct-address array), an aggregate, or rows.  An aggregate or rows that are
 * not the main pipeline's are read by later pipelines, as an input of each.
 *
 * One pipeline, `select`, may come after the main one in execution, though not in
 * order.  It reads the main pipeline's groups, and says which of them are returned
 * (HAVING, and the first few in an order).
 *
 * Several pipelines may end in one sink: that of the pipeline which they name (rest_of).  They follow it
 * in execution, in their order.  Such a pipeline is an arm of UNION ALL, with an input and first steps
 * of its own.  Or it is the rest of a full or right join, which scans the build's rows that nothing
 * matched.
 *
 * It is one flat block of memory without pointers.  It travels in a plan node, through
 * shared memory to the worker, and is hashed and compared as bytes.  It comes in two
 * forms.  The planner makes the logical form.  The bound form is a copy of it in
 * which the executor has filled in everything marked "bound" below.  It does so from the
 * columns' actual encodings and value ranges.  Neither holds a constant of the query:
 * constants are parameters, and their values travel next to the program (queue.h).  So
 * equal bytes mean equal kernels.
 *
 * Indexes are u16; GC_NONE means none.  Unused bytes are zero, always.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROGRAM_H
#define GC_PROGRAM_H

#include "../../cuda/gc_abi.h"
#include "../status.h"
#include "accumulators.h"
#include "kinds.h"

#define GC_NONE			0xFFFFu

#define GC_MAX_INPUTS	32
#define GC_MAX_COLUMNS	200
#define GC_MAX_EXPRS	2000
#define GC_MAX_BUILDS	24
#define GC_MAX_PIPELINES	48
#define GC_MAX_KEYS		16		/* of one build or of one GROUP BY */
#define GC_MAX_PAYLOADS 48		/* of one build */
#define GC_MAX_AGGS		400		/* of all pipelines */
#define GC_MAX_OUTPUTS	200		/* of a row sink */
#define GC_MAX_PARAMS	200
#define GC_MAX_LUTS		48
#define GC_MAX_LISTS	32
#define GC_MAX_WINDOWS_KEPT	16	/* of all kept rows */
#define GC_MAX_SETS		4096	/* grouping sets: of more columns than 12, PostgreSQL makes no CUBE */

/* How a value is held in a kernel: bound. */
typedef enum GcReg
{
	GC_I32 = 0,
	GC_I64,
	GC_I128,
	GC_F32,
	GC_F64,
	GC_F64X2					/* of accumulators: two doubles, which together are the sum */
} GcReg;

typedef enum GcOp
{
	GC_OP_COLUMN = 1,			/* ref: column of the pipeline's input */
	GC_OP_PAYLOAD,				/* ref: payload of a build probed before */
	GC_OP_PARAM,				/* ref: parameter */
	GC_OP_NULL,					/* NULL; bound form of a parameter that is NULL */
	/* Arithmetic; numeric, integer and float kinds. */
	GC_OP_ADD,
	GC_OP_SUB,
	GC_OP_MUL,
	GC_OP_DIV,					/* integers truncate, as PostgreSQL's; floats */
	GC_OP_MOD,
	GC_OP_NEG,
	GC_OP_ABS,
	/* Comparisons of two values of one kind. */
	GC_OP_EQ,
	GC_OP_NE,
	GC_OP_LT,
	GC_OP_LE,
	GC_OP_GT,
	GC_OP_GE,
	GC_OP_DISTINCT,				/* IS DISTINCT FROM */
	/* Logic, three-valued. */
	GC_OP_AND,
	GC_OP_OR,
	GC_OP_NOT,
	GC_OP_ISNULL,
	GC_OP_NOTNULL,
	GC_OP_ISTRUE,
	GC_OP_NOTTRUE,
	GC_OP_ISFALSE,
	GC_OP_NOTFALSE,
	/* Choice: args condition, then, else.  Untaken arms are not evaluated. */
	GC_OP_IF,
	GC_OP_COALESCE,				/* two arguments */
	GC_OP_GREATEST,				/* two arguments, NULLs ignored */
	GC_OP_LEAST,
	GC_OP_CAST,					/* to kind (numeric: rounded to scale) */
	GC_OP_IN,					/* ref: list of values */
	GC_OP_LUT,					/* ref: lookup table, computed by PostgreSQL */
	GC_OP_SCALE,				/* display scale of a numeric argument, as int4 */
	GC_OP_TAG,					/* ref: 0 or 1; a numeric.  Of equal ones, that of the smallest display
								 * scale is the least, or that of the largest one.  Where the argument has one
								 * scale it is the argument; else the value is tagged, at the largest scale */
	GC_OP_AVG,					/* numeric sum over int8 count, as numeric_div() has it */
	GC_OP_STDDEV,				/* ref: GC_VARIANCE_*; numeric sum, sum of squares and int8 count, as
								 * numeric_stddev_internal() has it */
	GC_OP_ROUND,				/* is it round number `ref` of the row? (GcPPipeline) */
	GC_OP_CALL,					/* ref: GcFunction (functions.h); one to three arguments */
	GC_OP_SET,					/* bool: does the row come for a grouping set before number `ref`? int4: the
								 * number of that set, of `ref` sets (GcPPipeline) */
	GC_OP_OUTER,				/* ref: build of a full or right join; the argument, which was
								 * there before that join: NULL in a build's row without a match */
	GC_OP_ROW_ID,				/* ref: the pipeline's input: which of its rows it is, as a chunk's
								 * number and a row's in it (gc_tile.h, GC_ROW_ID) */
	GC_OP_SHOWN,				/* a numeric sum, and as int4 its display scale: the largest of its inputs' */
	GC_OP_NUMBER,				/* a numeric of the same value, with the largest display scale */
	GC_OP_ARM,					/* ref: pipeline; in its kernel the first argument, else the second */
	GC_OP_WINDOW,				/* ref: window; cast_scale: GcOver; its value for each row of the window's pipeline,
								 * written once all rows are there.  An output of that pipeline, and nothing else */
	GC_NOPS
} GcOp;

/* GcExpr.flags */
#define GC_NULLABLE		0x01	/* bound: may be NULL */
#define GC_CHECKED		0x02	/* bound: may leave its type's range, or divide by 0 */
#define GC_LIST_NULL	0x04	/* bound: the IN list contains a NULL */
#define GC_WIDE			0x04	/* bound, numeric: stored in 128 bits (tagged.h) */
#define GC_LIST_EMPTY	0x08	/* bound: it has no element: nothing is in it, not even NULL */
#define GC_COMPARE_WIDE	0x08	/* bound: an argument of a comparison leaves 128 bits where it is rescaled */
#define GC_CAST_SCALE	0x08	/* CAST to numeric(p,s): round to cast_scale */
#define GC_CAST_FINITE	0x10	/* bound: date/timestamp argument is never infinite */
#define GC_CAST_DOWN	0x20	/* with GC_CAST_SCALE: round down; */
#define GC_CAST_UP		0x40	/* up; both: towards zero */
#define GC_INFINITE		0x80	/* bound: a timestamp among the arguments may be infinite: it is the result, or makes
								 * it NULL (functions.h) */

typedef struct GcExpr
{
	u8			op;				/* GcOp */
	u8			kind;			/* GcKind of the value */
	u8			reg;			/* bound: GcReg */
	u8			flags;
	u16			arg[3];			/* expressions, or GC_NONE */
	u16			ref;			/* by op, or GC_NONE */
	i16			scale;			/* bound, numeric: display scale if the same for
								 * every row, else the largest */
	i16			min_scale;		/* bound, numeric: smallest */
	u8			rescale[2];		/* bound: arg[i] is multiplied by 10^rescale[i] */
	i16			cast_scale;		/* GC_CAST_SCALE; GC_OP_ROW_ID, bound: bits of a row's number; GC_OP_WINDOW: GcOver */
	i16			cast_precision;
	u8			opreg;			/* bound: register in which the arguments, rescaled,
								 * and the unchecked result are exact */
	u8			small;			/* bound, of an aggregate's argument: GC_PART_ROWS values add up within 32 bits */
} GcExpr;

typedef struct GcPColumn
{
	u16			input;
	i16			attnum;			/* relation: attribute; row source: target entry; groups: number of
								 * the key, or of the word of a precise sum; rows: of the output */
	u16			agg;			/* groups: the accumulator; GC_NONE: a key, or rows */
	u16			count;			/* groups: accumulator that counts the values which went
								 * into agg; GC_NONE: agg is never NULL */
	u8			kind;
	u8			rtrim;			/* text: trailing blanks do not count */
	u8			width;			/* bound: 1, 2, 4, 8, 16; 0: differs between chunks */
	u8			reg;			/* bound */
	u8			nullable;		/* bound */
	u8			high_bit_free;			/* bound: no code has the highest bit of its width */
	i16			scale;			/* bound */
	i16			min_scale;		/* bound; below scale: registers have tagged values (cuda/gc_abi.h) */
} GcPColumn;

/* The most bytes that a code of a bound column may take. */
static inline u32
gc_most_width(const GcPColumn *c)
{
	return c->width > 0 ? c->width : c->reg == GC_I128 ? 16 : 8;
}

typedef struct GcPInput
{
	u16			first_column;
	u16			ncolumns;
	u16			groups_of;		/* 1 + pipeline whose groups are scanned, or whose rows if these are
								 * its sink; 0: a relation or a row source, or: */
	u16			unmatched_of;	/* 1 + build whose rows without a match are scanned */
} GcPInput;

/* The most that an estimate of passing rows is halved. */
#define GC_MOST_HALVINGS	30

typedef enum GcStepType
{
	GC_STEP_FILTER = 1,
	GC_STEP_PROBE
} GcStepType;

/*
 * Kinds of probes, by which rows they pass on.  A match is a row of the build with equal keys for which the step's
 * condition, if it has one, is true.  An inner probe has none: a filter behind it is the same.
 */
typedef enum GcJoinKind
{
	GC_JOIN_INNER = 0,			/* on, once per match */
	GC_JOIN_LEFT,				/* on, once per match; or once with NULL payloads */
	GC_JOIN_SEMI,				/* on, once, if there is a match; no payload is read */
	GC_JOIN_ANTI,				/* on, if there is none */
	GC_JOIN_FULL,				/* as left; rows of the build without a match come later */
	GC_JOIN_RIGHT				/* as inner, with a condition; such rows come later, too */
} GcJoinKind;

/* Is each match noted, so that another pipeline can take on the rows of the build that have none? */
static inline bool
gc_join_keeps(u8 join)
{
	return join == GC_JOIN_FULL || join == GC_JOIN_RIGHT;
}

typedef struct GcPStep
{
	u8			type;			/* GcStepType */
	u8			selectivity;	/* estimate: rows pass 1 in 2^selectivity */
	u16			expr;			/* filter: condition; probe: condition on a match, or
								 * GC_NONE */
	u16			build;			/* probe */
	u16			first_key;		/* probe: refs[first_key ..], as many as the
								 * build has keys */
	u8			in_range;		/* bound: probe key always within a dense build */
	u8			join;			/* GcJoinKind of a probe */
} GcPStep;

typedef enum GcBuildMode
{
	GC_BUILD_DENSE = 1,			/* bound: bitmap and payload arrays by key - base */
	GC_BUILD_HASH,				/* bound: open addressing, chains of duplicates */
	GC_BUILD_LIST				/* bound: all rows, without a key: a probe tries each */
} GcBuildMode;

typedef struct GcPBuild
{
	u16			pipeline;		/* that fills it */
	u16			first_key;		/* refs */
	u16			nkeys;
	u16			first_payload;
	u16			npayloads;
	u8			mode;			/* bound: GcBuildMode */
	u8			unique;			/* no key twice; dense: checked while building;
								 * hash: proven by the planner */
	u8			set;			/* only asked whether a key is there, or for the greatest of
								 * its values: it may come twice */
	u8			keeps;			/* it has all rows, also those with a NULL key, which match
								 * nothing: some full or right join probes it */
} GcPBuild;

typedef struct GcPPayload
{
	u16			build;
	u16			expr;			/* in the build's pipeline */
	u8			kind;
	u8			width;			/* bound: bytes stored per key */
	u8			reg;			/* bound */
	u8			nullable;		/* bound: code 0 is NULL, values from 1; floats:
								 * GC_NULL_F32, GC_NULL_F64 (cuda/gc_value.h) */
	i16			scale;			/* bound */
	i16			min_scale;		/* bound; below scale: tagged values */
	u8			greatest;		/* of a set: the greatest value of all rows with a key; rows
								 * where it is NULL do not count */
	u8			pad;
} GcPPayload;

typedef enum GcSink
{
	GC_SINK_BUILD = 1,
	GC_SINK_AGGREGATE,
	GC_SINK_ROWS,
	GC_SINK_SELECT				/* of GcProgram.select alone: groups to be returned */
} GcSink;

typedef enum GcGroupMode
{
	GC_GROUP_NONE = 1,			/* one group: registers */
	GC_GROUP_DENSE,				/* bound: group number computed from the keys */
	GC_GROUP_HASH				/* bound: hash table of groups */
} GcGroupMode;

typedef struct GcPPipeline
{
	u16			input;
	u16			first_step;
	u16			nsteps;
	u16			build;			/* GC_SINK_BUILD */
	u16			first_key;		/* refs: group keys; GC_SINK_SELECT, GC_SINK_ROWS: what is ordered by */
	u16			nkeys;
	u16			first_out;		/* GC_SINK_ROWS: outputs, refs */
	u16			nouts;
	u16			first_agg;		/* GC_SINK_AGGREGATE */
	u16			naggs;
	u16			group_words;	/* bound: 64-bit words per group; the first is the row
								 * count, or not 0 if the group exists */
	u16			rest_of;		/* 1 + pipeline into whose sink this one's rows go, too, once that
								 * one is done; 0: none.  It is an arm of UNION ALL, or the rest
								 * of a full or right join. */
	u8			sink;			/* GcSink */
	u8			group_mode;		/* bound: GcGroupMode */
	u8			survive;		/* estimate: 1 in 2^survive rows reach the sink */
	u8			descending;		/* bit by key of these: the first few are the largest */
	u8			nulls_first;	/* bit by key */
	u8			rounds;			/* GC_SINK_AGGREGATE: a row comes to the sink this number of
								 * times, with keys that GC_OP_ROUND chooses; 0: once */
	u16			sets;			/* GC_SINK_AGGREGATE: a row comes to the sink for each of these
								 * grouping sets, in each round, with keys that GC_OP_SET chooses; 0: none */
	u8			needs_group;	/* GC_SINK_AGGREGATE: a grouping set without columns has a group of no row, which the
								 * device does not make: without any group, PostgreSQL's plan answers */
	u8			pad;
} GcPPipeline;

/* Is it stored in 128 bits? */
static inline bool
gc_is_wide(const GcExpr *e)
{
	return e->kind == GC_NUMERIC && (e->flags & GC_WIDE);
}

/*
 * A row of a row sink has a 64-bit word for each output.  Then come the words of their NULL flags, then the high words
 * of wide outputs.  Output i's flag is bit i % 64 of word i / 64.  There is always one such word.
 */
#define GC_NULL_WORDS(nouts)	((nouts) > 64 ? ((nouts) + 63) / 64 : 1)

/* The first ref that later pipelines read of a pipeline: of the keys of groups, or of the outputs of rows. */
static inline u16
gc_first_read(const GcPPipeline *pl)
{
	return pl->sink == GC_SINK_ROWS ? pl->first_out : pl->first_key;
}

/* How often a row comes to the pipeline's sink. */
static inline u32
gc_sink_visits(const GcPPipeline *pl)
{
	return (pl->rounds > 1 ? pl->rounds : 1) * (u32) (pl->sets > 1 ? pl->sets : 1);
}

/* Where an array over pipelines and keys has key `key` of the groups of a pipeline. */
#define GC_GROUP_KEY_INDEX(pipeline, key)	((pipeline) * GC_MAX_KEYS + (key))

/*
 * One accumulator.  An aggregate of SQL is one or more of these (avg is a sum and a count), combined by the executor.
 */
typedef struct GcPAgg
{
	u8			fn;				/* GcAggFn */
	u8			acc;			/* bound: GcReg of the accumulator */
	u16			arg;
	u16			factor;			/* GC_AGG_PRECISE_SUM: of products; or GC_NONE */
	u16			word;			/* bound: first 64-bit word in the group's row */
	u8			nwords;			/* bound: 2 for GC_I128 and GC_F64X2, else 1 */
	u8			exact;			/* count: the number matters, not only whether it is 0 */
} GcPAgg;

/* The entry of the table of accumulators. */
static inline const GcAccumulator *
gc_accumulator_of(const GcPAgg *agg)
{
	return &gc_accumulators[agg->fn];
}

/* How two of these accumulators become one: bound. */
static inline GcMerge
gc_merge_of(const GcPAgg *agg)
{
	const GcMerge merge = gc_accumulator_of(agg)->merge;

	if (merge != GC_MERGE_ADD)
		return merge;
	return agg->acc == GC_I128 ? GC_MERGE_ADD128 : agg->acc == GC_F64 ? GC_MERGE_ADDF : GC_MERGE_ADD;
}

typedef struct GcPParam
{
	u8			kind;
	u8			reg;			/* bound */
	i16			scale;			/* bound */
} GcPParam;

/* Table of f(x) for every x that an argument can be; entry 0 is f(NULL). */
typedef struct GcPLut
{
	u8			kind;			/* of f(x) */
	u8			width;			/* bound: bytes per entry: 1, 4 or 8 */
	u8			reg;			/* bound */
	u8			nullable;		/* bound: some entry is NULL */
	i16			scale;			/* bound */
	i16			min_scale;		/* bound; below scale: tagged values */
} GcPLut;

typedef struct GcPList
{
	u8			kind;
	u8			pad[3];
} GcPList;

#define GC_NO_BOUND	0xff

/*
 * A window over the rows that a pipeline keeps for others: its sink is GC_SINK_ROWS, and it is not the main one.
 */
typedef struct GcPWindow
{
	u16			pipeline;
	u8			npartition;		/* the first keys: of PARTITION BY */
	u8			nkeys;
	u8			frame;			/* GC_FRAME_* */
	u8			exclude;		/* GC_EXCLUDE_* */
	u8			start;			/* outputs: distances from the row, or a range's bounds, or GC_NO_BOUND */
	u8			end;
	u8			by;				/* GC_FRAME_RANGE: output that is compared with them */
	u8			pad;
	u16			descending;		/* bit by key */
	u16			nulls_first;	/* bit by key */
	u8			keys[GC_MAX_KEYS];	/* outputs of the pipeline */
} GcPWindow;

/* Has a window function (GcOver) a distance or a number beside its argument? */
static inline bool
gc_over_has_second(int over)
{
	return over == GC_OVER_LAG || over == GC_OVER_LEAD || over == GC_OVER_NTH;
}

typedef struct GcProgram
{
	u32			size;			/* bytes, this header included */
	u16			ninputs;
	u16			ncolumns;
	u16			nexprs;
	u16			nsteps;
	u16			npipelines;
	u16			nbuilds;
	u16			npayloads;
	u16			naggs;			/* of all pipelines */
	u16			nparams;
	u16			nluts;
	u16			nlists;
	u16			nwindows;
	u16			nrefs;
	u16			select;			/* 1 + pipeline that chooses among the main one's groups;
								 * 0: none */
	u16			bound;			/* 0 logical, 1 bound */
} GcProgram;

/* The arrays behind the header, in this order, each aligned to 8 bytes. */
extern GcPInput *gc_inputs(const GcProgram *p);
extern GcPColumn *gc_columns(const GcProgram *p);
extern GcExpr *gc_exprs(const GcProgram *p);
extern GcPStep *gc_steps(const GcProgram *p);
extern GcPPipeline *gc_pipelines(const GcProgram *p);
extern GcPBuild *gc_builds(const GcProgram *p);
extern GcPPayload *gc_payloads(const GcProgram *p);
extern GcPAgg *gc_aggs(const GcProgram *p);
extern GcPParam *gc_params(const GcProgram *p);
extern GcPLut *gc_luts(const GcProgram *p);
extern GcPList *gc_lists(const GcProgram *p);
extern GcPWindow *gc_windows(const GcProgram *p);
extern u16 *gc_refs(const GcProgram *p);

/* The word of a row sink's row that has the high half of output i, which is wide. */
extern u32	gc_wide_word(const GcProgram *p, const GcPPipeline *pl, u16 i);

/* 64-bit words of a row sink's row. */
extern u32	gc_row_words(const GcProgram *p, const GcPPipeline *pl);

/* Bytes that a program with the counts in *p takes. */
extern u32	gc_program_size(const GcProgram *p);

/* The first of the pipeline's probes that tries every row of its build, or -1. */
extern int	gc_first_list_probe(const GcProgram *p, const GcPPipeline *pl);

/*
 * Does a step probe a list whose rows it takes the current row on with?  Then a unit of a scan may try a slice of them.
 */
extern bool gc_is_sliced(const GcProgram *p, const GcPStep *step);

/* The number of an expression among the outputs of a row sink; -1: it is none. */
extern int	gc_output_of(const GcProgram *p, const GcPPipeline *pl, u16 e);

/* Has a pipeline windows? */
extern bool gc_has_windows(const GcProgram *p, u16 pipeline);

/* The pipeline that a pipeline's sink is of: itself, or the one that it is the rest of. */
static inline u16
gc_sink_owner(const GcProgram *p, u16 pipeline)
{
	const u16	rest_of = gc_pipelines(p)[pipeline].rest_of;

	return rest_of ? rest_of - 1 : pipeline;
}

/* Pipelines' sinks, as they are bound, hold for the rests of them, too. */
extern void gc_bind_rests(GcProgram *p);

/* Is pipeline n an arm of UNION ALL whose rows go to the sink of another one, `owner`? */
static inline bool
gc_is_arm_of(const GcProgram *p, u16 n, u16 owner)
{
	return gc_pipelines(p)[n].rest_of == owner + 1 && gc_inputs(p)[gc_pipelines(p)[n].input].unmatched_of == 0;
}

/*
 * The column of a relation or a row source that has all of an expression's values.  They may have come by way of
 * builds, keys of groups, and extremes in groups.  GC_NONE: there is none, since they are computed.  sums: go on with a
 * sum's argument, which has the same scale.
 */
extern u16	gc_origin_column(const GcProgram *p, u16 e, bool sums);

/* The values of a column of groups, as an expression of the pipeline whose groups they are; GC_NONE: of none. */
extern u16	gc_group_origin(const GcProgram *p, const GcPColumn *c, bool sums);

/* Has a pipeline arms besides itself? */
extern bool gc_has_arms(const GcProgram *p, u16 pipeline);

/* Is the build probed by a left or full join?  Then its payloads may be NULL, whatever they hold. */
extern bool gc_build_is_optional(const GcProgram *p, u16 build);

/*
 * Check every index and count, and that pipelines read what they have, so that nothing later need do so.  The worker
 * runs it on programs that arrive through shared memory.  GC_BAD_PROGRAM says which one is wrong.
 */
extern GcCode gc_program_check(const GcProgram *p, size_t size, GcError *err);

/* ref of GC_OP_STDDEV: the variance of a sample, which is NULL of one value; its root, a standard deviation. */
#define GC_VARIANCE_OF_SAMPLE	1
#define GC_VARIANCE_ROOT		2

#endif							/* GC_PROGRAM_H */
