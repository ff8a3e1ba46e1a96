/*-------------------------------------------------------------------------
 *
 * exec.h
 *	  State of a gpuconc custom scan at execution, and of one binding; private to exec/.
 *
 * One execution goes: ahead (InitPlans, parameters, row sources) -> slot and guard -> bind
 * -> submit and wait -> decode into local memory -> slot released -> rows returned.  To
 * bind is visibility, delta, lookup tables, parameters, typing, and the request.
 * Everything up to the first returned row may fail into the fallback plan.
 *
 * Memory: `cxt` (child of the query's context) holds one execution's data and is reset by
 * a rescan.  Text of results is copied into it before the guard is left.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_H
#define GC_EXEC_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "portability/instr_time.h"

#include "../columns/encode/encode.h"
#include "../columns/serve/combined.h"
#include "../columns/serve/visibility.h"
#include "../columns/store/columns.h"
#include "../columns/store/dict.h"
#include "../columns/store/lookups.h"
#include "../plan/base/plan.h"
#include "../program/typing.h"
#include "../queue/queue.h"
#include "hints.h"

/* One input while it is bound. */
typedef struct GcInputState
{
	Relation	rel;			/* cached table; open for the node's life */
	int			nparts;			/* append input: its tables, and how they are put together; */
	struct GcInputState *parts; /* dir, served and private are of all of them */
	GcCombination combination;
	int			ncols;			/* columns of the program: first_column .. */
	int			first;
	GcColSpec  *specs;
	int		   *dir_column;		/* in the directory; -1 if no chunk is cached */
	GcDirectory *dir;
	GcServed	served;
	GcHash		rows;			/* gc_rows_key() */
	bool		for_versions;	/* it is loaded for the sake of hot pages only */
	GcEncoder  *private;		/* delta or row source rows; NULL if none */
	uint32		private_rows;
	const GcEncodedColumn *encoded;
	GcDictView **dicts;			/* per column; NULL unless text */
	uint32		nsources;		/* after skipping: chosen chunks, private last */
	bool	   *skipped;		/* per served chunk: its values cannot match */
} GcInputState;

/*
 * A lookup table's contents: entry 0 is f(NULL), entry i is f(base + i - 1).  Entries below
 * `first` are those of the shared table; the others are this request's own.
 */
typedef struct GcLookup
{
	uint32		count;			/* entries, with entry 0 */
	uint32		first;
	int64		base;
	const GcSharedLookup *shared;	/* NULL: first is 0 */
	int64	   *values;			/* count - first */
	bool	   *nulls;
	uint32	   *order;			/* rankings: code of each rank */
	bool		any_null;		/* beyond entry 0 */
	bool		null_of_null;
	int16		scale;			/* numeric results: of all, or GC_SCALE_TAGGED; -1: none */
	GcSpan		span;			/* of the results */
	GcHash		hash;			/* of the contents */
	GcDictView *dict;			/* text results: their dictionary */
	const struct GcTextProgram *program;	/* the device executes it: nothing of it is here */
	const GcDictView *program_from; /* of these values */
	GcHash		function;		/* and this is its identity there */
} GcLookup;

/* Rows that the device delivered, decoded, as they are to be returned. */
typedef struct GcRows
{
	uint64		count;
	int			ncols;
	Datum	   *values;			/* count * ncols */
	bool	   *isnull;
	bool		filtered;		/* the device has tested all of the node's filter */
} GcRows;

/* Where the entries of a lookup table come from. */
typedef enum GcLookupOrigin
{
	GC_LOOKUP_SHARED,			/* another execution */
	GC_LOOKUP_EVALUATED,		/* PostgreSQL's evaluation of an expression */
	GC_LOOKUP_COMPUTED,			/* this session, of a dictionary's bytes */
	GC_LOOKUP_DEVICE,			/* a text program on the device, now or before */
	GC_LOOKUP_WORKERS			/* PostgreSQL's evaluation, in parallel workers, too */
} GcLookupOrigin;

#define GC_LOOKUP_ORIGINS	5

/* Counts of a pipeline's last execution. */
typedef struct GcPipelineStats
{
	uint64		rows_in;		/* of its source's chunks that it scanned, and 1; 0: not counted */
	uint64		rows_out;		/* into its sink, and 1; 0: not counted */
	const char *group_mode;		/* NULL: it makes no groups */
	uint64		group_room;		/* in the group table */
} GcPipelineStats;

/* Numbers of a node's executions, for EXPLAIN (ANALYZE). */
typedef struct GcScanStats
{
	long		loops;
	long		offloaded;
	long		fallbacks;
	long		left;			/* to PostgreSQL's own plan, which was estimated to be sooner */
	GcCode		last_code;
	char		last_reason[512];
	GcRunInfo	run;			/* of the last offloaded execution */
	uint32		devices;		/* that shared it, as bits; 0: one had it */
	uint64		pages_served;
	uint64		pages_versioned;
	uint64		pages_looked_at;
	uint64		rows_versioned;
	uint64		pages_delta;
	uint64		rows_delta;
	uint64		rows_source;
	uint32		chunks;
	uint32		chunks_skipped;
	uint32		chunks_loaded;
	uint64		pages_loaded;
	double		load_ms;
	double		bind_ms;
	double		decode_ms;
	uint32		lookups[GC_LOOKUP_ORIGINS];	/* tables of the last execution */
	GcPipelineStats pipelines[GC_MAX_PIPELINES];
} GcScanStats;

typedef struct GcScanState
{
	CustomScanState css;
	GcPlan	   *plan;
	GcProgram  *logical;
	List	   *display_tags;
	List	   *lower_display;	/* printed clauses of lower levels (plan.h) */
	List	   *sets;			/* int: bits of the keys that each grouping set leaves out */
	List	   *groupings;		/* IntList: keys of each GROUPING() */
	ExprState **exprs;			/* plan->nexprs */
	struct GcWindowPlan *windows;	/* NULL: none */
	GcHash		asked;			/* GcBinding.identity of the last request */
	Bitmapset  *init_params;	/* InitPlan outputs that they read */
	Datum	   *values;			/* of the exprs that are parameters or lists */
	bool	   *isnull;
	GcInputState *inputs;
	List	   *shown_sources;	/* PlanState of row sources, for EXPLAIN alone */
	PlanState  *fallback;		/* initialised when first needed */
	ExprState  *filter;			/* of rows that the device has not tested */
	bool		keep_fallback_rows; /* it may be scanned backward */
	Tuplestorestate *fallback_rows; /* rows that it returned so far; NULL: not kept */
	TupleTableSlot *fallback_slot;	/* for them */
	bool		fallback_done;	/* it has returned all */
	bool		started;
	bool		judged;			/* what was guessed was estimated by the values of parameters (judge.c) */
	bool		only_compiles;	/* its request is given up once its kernels are being compiled (compile_ahead.c) */
	bool		lacks;			/* and it had none, as columns are still to be loaded */
	bool		falling_back;	/* PostgreSQL's own plan answers */
	int			device;			/* that the last attempt was submitted to; -1: it was not */
	bool		begun;			/* that device was at work for it */
	uint32		avoided;		/* devices that have failed the execution, as bits */
	int			devices_lost;	/* at work for it */
	bool		undivided;		/* it is not split, as its parts took too much shared memory */
	int			nslots;			/* held by an attempt: one, or if the request is split one for each part */
	int			slots[GC_MAX_DEVICES];
	double		limit_ms;		/* how long the request may take (limit.c); -1: as long as it does */
	bool		own_plan_timed; /* as a request took longer; false: it did not, or that plan has ended */
	instr_time	own_plan_time;	/* that it has taken so far */
	int			loads;			/* times that columns were loaded for this execution */
	Size		lookup_room;	/* what a shared lookup table found no room for */
	bool		made_lookup_room;	/* room was made for one in this execution */
	MemoryContext cxt;
	GcRows		rows;
	uint64		position;		/* scan.c, step() */
	GcScanStats stats;
} GcScanState;

/* Everything that binding works out. */
typedef struct GcBinding
{
	GcScanState *node;
	GcPlan	   *plan;
	GcProgram  *program;		/* copy, becoming the bound form */
	GcHints    *hints;
	GcError		err;
	GcFact	   *column_facts;
	GcFact	   *param_facts;
	GcFact	   *lut_facts;
	GcRowIds   *row_ids;		/* ninputs */
	uint8	   *list_flags;
	GcRange    *ranges;			/* nexprs */
	GcParamValue *params;
	GcLookup  **lookups;
	int64	  **lists;
	uint64	   *list_counts;
	GcDictView *constants;		/* texts that are results; their own space */
	uint32	   *space_values;	/* ncolumns + nluts + 1: gc_space_values() and 1; 0: not asked for */
	GcBuildValue builds[GC_MAX_BUILDS];
	GcGroupKeyValue *group_keys;	/* npipelines * GC_MAX_KEYS */
	GcSinkValue *sinks;			/* npipelines */
	uint64		rows_into[GC_MAX_PIPELINES];	/* bound, per pipeline */
	uint64		rows_expected[GC_MAX_PIPELINES];	/* rows that are likely to reach it */
	GcHash		share;			/* GcRequest's */
	GcHash		identity;		/* of the request with its program and windows: equal ones,
								 * equal answers; 0: it has none */
	GcRequest  *request;
} GcBinding;

/* One attempt, part by part (README.md has the files).  First, the program's widths, registers and checks. */
extern GcCode gc_bind(GcBinding *b);

/* Rows, or groups, that pipeline n's sink has room for. */
extern uint64 gc_room_of(const GcBinding *b, int n);

/* One arena block with the bound program and its values; and the same once more, of what inputs have now. */
extern GcCode gc_make_request(GcBinding *b);
extern GcCode gc_write_request(GcBinding *b);

/* Raw values to datums, in the order in which rows are returned. */
extern GcCode gc_decode(GcBinding *b, const GcResult *result, GcRows *rows);

/* Have kernels of the statement's other nodes compiled beside this one's, which are waited for (compile_ahead.c). */
extern void gc_compile_others(GcScanState *node);

/* PostgreSQL's own plan of a node. */
extern void gc_fallback_init(GcScanState *node, int eflags);
extern TupleTableSlot *gc_fallback_next(GcScanState *node);
extern void gc_fallback_rescan(GcScanState *node);
extern void gc_fallback_end(GcScanState *node);

/* How what stands in a fallback for a row source is executed. */
extern void gc_register_input_scan_methods(void);

/* How long this request may be on the device, in ms; -1: as long as it takes. */
extern double gc_device_limit(const GcScanState *node, const GcHints *hints);

/* Was a request of this program stopped lately, and did PostgreSQL's own plan then take less? */
extern bool gc_own_plan_has_won(const GcHints *hints);

/* The request was stopped, and PostgreSQL's own plan begins; and that plan has returned its last row. */
extern void gc_limit_reached(GcScanState *node, GcHints *hints);
extern void gc_limit_own_plan_ended(GcScanState *node);

/* A CustomExecMethods' ExplainCustomScan. */
extern void gc_explain(CustomScanState *css, List *ancestors, struct ExplainState *es);

/* What PostgreSQL computes before the request (ahead.c). */
extern void gc_find_init_params(GcScanState *node);
extern GcCode gc_compute_ahead(GcScanState *node, GcError *err);

/* Run callback in a subtransaction of its own; false if it raised an error, which is then in err. */
extern bool gc_guarded(void (*callback) (void *arg), void *arg, GcError *err);

/* Inputs: tables, loads, the delta (gather.c).  GC_OK, or the reason for the fallback. */
extern GcCode gc_open_inputs(GcScanState *node, GcError *err);
extern void gc_close_inputs(GcScanState *node);
extern GcCode gc_load_inputs(GcScanState *node, GcError *err);
extern GcCode gc_serve_inputs(GcBinding *b);

/*
 * Is PostgreSQL's own plan estimated to be sooner?  Where the planner guessed, own_ms and ms of the node's plan become
 * what the values make of them.  False where nothing was guessed, or is known better.
 */
extern bool gc_own_plan_is_sooner(GcScanState *node);

/* Mark the served chunks that cannot contribute to the pipeline reading them; wants the parameters' facts. */
extern void gc_skip_chunks(GcBinding *b);

/* Mark chunks that have no key of a build that rows must match, where its keys are known; wants the builds' hashes. */
extern void gc_skip_by_builds(GcBinding *b);

/* Rows of all that an input is read from, without those of skipped chunks. */
extern uint64 gc_input_rows(const GcInputState *in);

/*
 * Put the tables of an append input together, once their pages are judged: its directory, what is
 * served of it, and its dictionaries.
 */
extern GcCode gc_append_combine(GcScanState *node, int input, GcError *err);

/* Bytes of its directory in a request; and write it there. */
extern Size gc_append_size(const GcInputState *in);
extern const GcDirectory *gc_append_write(const GcInputState *in, void *memory);

/* The row ids that an input can have: of rows of its served chunks, and of its private chunk. */
extern GcRowIds gc_row_ids(const GcInputState *in);

/*
 * Raw value of a column of the program in the row with an id (gc_tile.h, GC_ROW_ID); false if it is
 * NULL.  The request's slot and guard are held.
 */
extern bool gc_fetch_value(const GcBinding *b, u16 column, int64 id, i128 *value);

/*
 * GC_LOADING if PostgreSQL's plan is to answer while columns are loaded in the background, which this
 * starts; GC_CACHE_FULL if they do not fit.  The node's tables are open, and no guard is held.
 */
extern GcCode gc_look_if_cold(GcScanState *node, GcError *err);

/*
 * Reserve room for all that the node's tables lack, before the first of them is loaded (columns/store/reserve.h).
 * GC_CACHE_FULL if there is none, unless offloading is forced.  gc_reserve_end() once the node has its columns, or
 * gives up.  No guard is held.
 */
extern GcCode gc_reserve_inputs(GcScanState *node, GcError *err);

/* Are columns missing?  The node's tables are open, and no guard is held. */
extern bool gc_lacks_columns(GcScanState *node);

/* Did a request fail for want of columns or kernels that the planner would find lacking, too? */
extern bool gc_was_cold(GcCode code);

/*
 * Milliseconds to wait for kernels to be compiled or for a device that starts, before PostgreSQL's plan is to answer;
 * -1: for ever.  waited: the session has waited for them before.
 */
extern double gc_compile_patience(const GcScanState *node, bool waited);

#endif							/* GC_EXEC_H */
