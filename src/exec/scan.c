/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  The custom scan node: offload, or PostgreSQL's own plan.
 *
 * Runs in backends.  The whole result is there before the first row is returned.  So the fallback
 * plan answers anything that goes wrong before, and is initialised only then.  If PostgreSQL has
 * to say that something is not permitted, it is initialised at once (plan/base/permitted.c).
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "port/pg_bitutils.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compute.h"
#include "hints.h"
#include "lookup.h"
#include "scan.h"
#include "split.h"
#include "window.h"
#include "../columns/encode/spec.h"
#include "../columns/store/arena.h"
#include "../columns/store/store.h"
#include "../columns/store/epoch.h"
#include "../columns/store/reserve.h"
#include "../compat.h"
#include "../plan/cached_plans.h"
#include "../plan/plan_memory.h"
#include "../plan/base/permitted.h"
#include "../queue/compiling.h"
#include "../queue/reasons.h"
#include "../report.h"
#include "../force.h"
#include "../settings.h"

/* Each group table and each build may want a few of these. */
#define MAX_ATTEMPTS	16

/* Why PostgreSQL's own plan answers, where no device was asked. */
#define GC_SOONER	"PostgreSQL's own plan is estimated to be sooner with these parameters"

static Node *create_scan_state(CustomScan *cscan);
static void begin_scan(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *css);
static void end_scan(CustomScanState *css);
static void rescan(CustomScanState *css);

#define SCAN_METHODS(name)	{.CustomName = (name), .CreateCustomScanState = create_scan_state}

static const CustomScanMethods scan_methods[] = {
	SCAN_METHODS(GC_SCAN_NODE),
	SCAN_METHODS(GC_JOIN_NODE),
	SCAN_METHODS(GC_AGGREGATE_NODE),
	SCAN_METHODS(GC_WINDOW_NODE),
};

static const CustomExecMethods exec_methods = {
	.CustomName = "Gpuconc",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = gc_explain,
};

void
gc_register_scan_methods(void)
{
	for (int i = 0; i < lengthof(scan_methods); i++)
		RegisterCustomScanMethods(&scan_methods[i]);
	gc_register_input_scan_methods();
}

static Node *
create_scan_state(CustomScan *cscan)
{
	GcScanState *node = palloc0(sizeof(GcScanState));

	node->css.ss.ps.type = T_CustomScanState;
	node->css.methods = &exec_methods;
	return (Node *) node;
}

/*
 * The statement's tables are in use from here on, as those of PostgreSQL's scans are.  So the session can neither
 * truncate nor alter what a cursor will read.  The executor closes them.
 */
static void
use_tables(EState *estate)
{
	for (Index rti = 1; rti <= estate->es_range_table_size && !IsParallelWorker(); rti++)
	{
		const RangeTblEntry *rte = exec_rt_fetch(rti, estate);

		if (rte->rtekind == RTE_RELATION && RELKIND_HAS_TABLE_AM(rte->relkind))
			(void) GC_OPEN_RELATION(estate, rti);
	}
}

/* BeginCustomScan: the plan, expressions, inputs and PostgreSQL's own plan. */
static void
begin_scan(CustomScanState *css, EState *estate, int eflags)
{
	GcScanState *node = (GcScanState *) css;
	CustomScan *cscan = (CustomScan *) css->ss.ps.plan;
	bytea	   *packed = DatumGetByteaPP(linitial_node(Const, cscan->custom_private)->constvalue);

	use_tables(estate);
	node->cxt = AllocSetContextCreate(estate->es_query_cxt, "gpuconc scan", ALLOCSET_DEFAULT_SIZES);
	node->filter = css->ss.ps.qual;
	/* The constant's bytes lie at any address: copy them to an aligned one. */
	node->plan = palloc(VARSIZE_ANY_EXHDR(packed));
	memcpy(node->plan, VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
	(void) gc_plan_settle(node->plan);
	node->logical = GC_PLAN_PROGRAM(node->plan);
	node->display_tags = (List *) lsecond(cscan->custom_private);
	node->sets = (List *) lthird(cscan->custom_private);
	node->groupings = (List *) lfourth(cscan->custom_private);
	node->lower_display = list_nth(cscan->custom_private, 4);

	node->exprs = palloc0((node->plan->nexprs + 1) * sizeof(ExprState *));
	for (int i = 0; i < node->plan->nexprs; i++)
		node->exprs[i] = ExecInitExpr(list_nth(cscan->custom_exprs, i), &css->ss.ps);
	gc_find_init_params(node);
	node->windows = gc_window_plan(node);

	node->inputs = palloc0((node->plan->ninputs + 1) * sizeof(GcInputState));
	node->keep_fallback_rows = (eflags & EXEC_FLAG_BACKWARD) != 0;
	/* Row sources are executed elsewhere (ahead.c): these are to be shown. */
	for (int i = 0; i < node->plan->ninputs; i++)
	{
		int			child = node->plan->inputs[i].child;

		if (child < 0 || (!(eflags & EXEC_FLAG_EXPLAIN_ONLY) && !estate->es_instrument))
			continue;
		node->shown_sources = lappend(node->shown_sources,
									  ExecInitNode(list_nth(cscan->custom_plans, child), estate, eflags));
	}
	css->custom_ps = list_copy(node->shown_sources);
	/* EXPLAIN without ANALYZE shows the plan that would run.  PostgreSQL reports functions that are not permitted. */
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) || gc_others_watch_objects() ||
		!gc_are_permitted(list_nth(cscan->custom_private, 6)))
		gc_fallback_init(node, eflags);
}

/*-------------------------------------------------------------------------
 * The device path
 *-------------------------------------------------------------------------
 */

/* May this execution go to the device?  Plans are cached, so decided here. */
static GcCode
check_execution(GcScanState *node, GcError *err)
{
	if (!gc_preloaded || !gc_enabled)
		return gc_fail(err, GC_UNSUPPORTED, "gpuconc.enabled is off.");
	if (gc_offload_forbidden())
		return gc_fail(err, GC_UNSUPPORTED, "gpuconc.debug_offload forbids it.");
	if (gc_in_lookup)
		return gc_fail(err, GC_UNSUPPORTED, "A function in an expression that is tabulated runs a query.");
	if (IsParallelWorker())
		return gc_fail(err, GC_UNSUPPORTED, "The scan runs in a parallel worker.");
	if (node->plan->malformed)
		return gc_fail(err, GC_BAD_PROGRAM, "The planner has packed it wrongly.");
	if (node->plan->float_aggs && !gc_enable_float_aggs)
		return gc_fail(err, GC_UNSUPPORTED, "gpuconc.enable_float_aggs is off.");
	if (node->css.ss.ps.state->es_epq_active != NULL)
		return gc_fail(err, GC_UNSUPPORTED, "Row versions are being rechecked.");
	return GC_OK;
}

/*
 * Rows of a pipeline's source; of another pipeline's groups, if its kernel has counted those.  Plus 1; 0: not counted.
 */
static uint64
rows_in(const GcScanState *node, const GcBinding *b, const GcRunInfo *info, int n)
{
	const int	input = gc_pipelines(b->program)[n].input;
	const GcPInput *in = &gc_inputs(b->program)[input];

	if (in->groups_of)
		return info->rows_made[in->groups_of - 1];
	return in->unmatched_of ? 0 : gc_input_rows(&node->inputs[input]) + 1;
}

/* Keep for EXPLAIN how many rows came into each pipeline, and how many left it. */
static void
note_pipelines(GcScanState *node, const GcBinding *b, const GcRunInfo *info)
{
	static const char *const modes[] = {[GC_GROUP_NONE] = "one", [GC_GROUP_DENSE] = "dense",
	[GC_GROUP_HASH] = "hashed"};
	const int	last = b->program->npipelines - 1;

	for (int n = 0; n <= last; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(b->program)[n];

		node->stats.pipelines[n] = (GcPipelineStats) {
			.rows_in = rows_in(node, b, info, n),
			.rows_out = n == last ? node->rows.count + 1 : info->rows_made[n],
			.group_mode = pl->sink == GC_SINK_AGGREGATE ? modes[pl->group_mode] : NULL,
			.group_room = b->sinks[n].ngroups
		};
	}
}

/* Keep for EXPLAIN how a run that has returned its rows went. */
static void
note_run(GcScanState *node, const GcBinding *b, const GcRunInfo *info)
{
	node->stats.run = *info;
	note_pipelines(node, b, info);
}

/* The node's rows are there, and its windows are computed: PostgreSQL's plan will not answer. */
static void
count_success(GcScanState *node)
{
	const GcRunInfo *info = &node->stats.run;
	GcStats    *s = gc_stats();

	node->stats.offloaded++;
	pg_atomic_fetch_add_u64(&s->offloaded, 1);
	pg_atomic_fetch_add_u64(&s->queue_us, (uint64) (info->queue_ms * 1000));
	pg_atomic_fetch_add_u64(&s->compile_us, (uint64) (info->compile_ms * 1000));
	pg_atomic_fetch_add_u64(&s->copy_us, (uint64) (info->copy_ms * 1000));
	pg_atomic_fetch_add_u64(&s->run_us, (uint64) (info->run_ms * 1000));
	pg_atomic_fetch_add_u64(&s->copied_bytes, info->copied_bytes);
	pg_atomic_fetch_add_u64(&s->read_bytes, info->read_bytes);
	pg_atomic_fetch_add_u64(&s->kernels, info->kernels);
	pg_atomic_fetch_add_u64(&s->kernels_compiled, info->compiled);
	if (info->passes > 1)
		pg_atomic_fetch_add_u64(&s->in_passes, 1);
	pg_atomic_fetch_add_u64(&s->builds_run, info->builds_run);
	pg_atomic_fetch_add_u64(&s->builds_shared, info->builds_shared);
	pg_atomic_fetch_add_u64(&s->results_shared, info->shared_result);
	pg_atomic_fetch_add_u64(&s->rows_delta, node->stats.rows_delta);
	pg_atomic_fetch_add_u64(&s->rows_versioned, node->stats.rows_versioned);
	pg_atomic_fetch_add_u64(&s->pages_delta, node->stats.pages_delta);
	pg_atomic_fetch_add_u64(&s->pages_looked_at, node->stats.pages_looked_at);
}

/* Has an attempt taught with what the next one is to be bound? */
static bool
is_retry(GcCode code)
{
	return code >= GC_RETRY_DUPLICATE && code <= GC_RETRY_ROWS;
}

/* Do kernels count all rows that come to the sink, and not only those for which there is room? */
static bool
counts_all(const GcProgram *p, const GcPPipeline *pl)
{
	return pl->sink == GC_SINK_BUILD ? !gc_builds(p)[pl->build].set : pl->sink != GC_SINK_AGGREGATE;
}

/* Does a pipeline that fills the sink of pipeline n read what one of these has made? */
static bool
reads_any(const GcProgram *p, int n, uint64 these)
{
	for (int k = 0; k < p->npipelines; k++)
	{
		const GcPPipeline *pl = &gc_pipelines(p)[k];
		const uint16 groups_of = gc_inputs(p)[pl->input].groups_of;

		if (gc_sink_owner(p, k) != n)
			continue;
		if (groups_of > 0 && these >> (groups_of - 1) & 1)
			return true;
		for (int s = 0; s < pl->nsteps; s++)
		{
			const GcPStep *step = &gc_steps(p)[pl->first_step + s];

			if (step->type == GC_STEP_PROBE && these >> gc_builds(p)[step->build].pipeline & 1)
				return true;
		}
	}
	return false;
}

/*
 * Learn from a failed attempt what sinks need that had no room, among them `full`.  That is what was counted, or 8
 * times as much where a part was.  So it is of sinks that read such a part, as rows may not have come to them.  In
 * passes, at most `counted` is known, of `full`.
 */
static void
learn_room(const GcBinding *b, const GcRunInfo *info, int full, uint64 counted)
{
	uint64		parts = 0;		/* a bit for each pipeline that has made a part */

	for (int n = 0; n < b->program->npipelines; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(b->program)[n];
		const uint64 room = gc_room_of(b, n);
		const bool	all = counts_all(b->program, pl);
		const uint64 told = n == full && counted > 0 ? counted : Max(info->rows_made[n], 1) - 1;
		/* Threads that found no room for a group have counted it, too, more of them in one attempt than in another. */
		const uint64 made = all ? told : Min(told, room);
		const bool	lacked = n == full || (room < b->rows_into[n] && info->rows_made[n] > room + all);
		const bool	partly = reads_any(b->program, n, parts);
		const uint64 needed = all && !partly && made > room ? made / 8 * 9 + 8 :
			Max(made, lacked ? room : 0) * 8;

		if ((lacked || partly) && needed > room)
			b->hints->rows_needed[n] = (uint32) Min(needed, PG_INT32_MAX);
		parts |= (uint64) (lacked || partly) << n;
	}
}

/* Learn from a failed attempt what the next one is bound with. */
static void
learn(const GcBinding *b, const GcRunInfo *info, GcCode code)
{
	const GcProgram *p = b->program;
	const uint64 number = b->err.number;
	uint64		full = GC_NONE,
				counted = 0;

	if (code == GC_RETRY_DUPLICATE && number < p->nbuilds)
		b->hints->no_dense |= 1u << number;
	else if (code == GC_RETRY_BUILD_FULL && number < p->nbuilds)
		full = gc_builds(p)[number].pipeline;
	else if (code == GC_RETRY_GROUPS)
		full = number;
	else if (code == GC_RETRY_ROWS)
	{
		full = number >> 32;
		counted = number & PG_UINT32_MAX;
		if (full == p->npipelines - 1 && p->select > 0)
			full = p->select - 1;
	}
	learn_room(b, info, full, counted);
}

/*
 * The device has failed the request; true if there is another one that may answer.  A request that may have killed its
 * device is tried on one other device alone, as it may kill that, too.  So is one that was split.  For want of memory,
 * larger devices are tried.
 */
static bool
goes_elsewhere(GcScanState *node, GcCode code)
{
	bool		another = false;
	u64			memory;

	if (node->device < 0 || (code != GC_WORKER_GONE && code != GC_DEVICE_FAILED && code != GC_DEVICE_MEMORY))
		return false;
	if ((code == GC_DEVICE_FAILED || (code == GC_WORKER_GONE && node->begun)) && ++node->devices_lost > 1)
		return false;
	memory = gc_device_status_of(node->device)->info.memory_bytes;
	for (int d = 0; d < gc_ndevices; d++)
	{
		const char *reason;

		if (d == node->device || (code == GC_DEVICE_MEMORY && gc_device_status_of(d)->info.memory_bytes <= memory))
			node->avoided |= 1u << d;
		if ((node->avoided & 1u << d) == 0 && gc_device_state(d, &reason) == GC_WORKER_READY)
			another = true;
	}
	return another;
}

static double
ms_since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return INSTR_TIME_GET_MILLISEC(now);
}

/* Have n slots, one for each device; false: there are too few. */
static bool
take_slots(GcScanState *node, int n)
{
	while (node->nslots < n)
	{
		const int	slot = gc_slot_acquire();

		if (slot < 0)
			return false;
		node->slots[node->nslots++] = slot;
	}
	return true;
}

/* Submit the request, or a part of it to each of several devices. */
static GcCode
submit(GcScanState *node, GcBinding *b)
{
	GcStripes	stripes;
	GcCode		code = GC_OK;
	int			n = 0;

	if (node->undivided || node->devices_lost > 0 || !gc_split(b, node->avoided, &stripes) ||
		!take_slots(node, pg_popcount32(stripes.devices)))
	{
		while (node->nslots > 1)
			gc_slot_release(node->slots[--node->nslots]);
		return gc_slot_submit(node->slots[0], b->request, node->avoided | gc_too_small(b, node->avoided), &b->err);
	}
	node->stats.devices = stripes.devices;
	gc_arena_free(b->request, b->request->size);
	for (int d = 0; d < gc_ndevices && code == GC_OK; d++)
	{
		if ((stripes.devices & 1u << d) == 0)
			continue;
		node->device = d;
		node->begun = false;
		code = gc_make_part(b, &stripes, d);
		if (code == GC_OK)
			code = gc_slot_submit(node->slots[n++], b->request, ~(1u << d), &b->err);
	}
	return code;
}

/* For who asks for DEBUG2: how an attempt went, as EXPLAIN tells of the last one alone. */
static void
tell_attempt(GcCode code, const GcRunInfo *info)
{
	ereport(DEBUG2,
			(errmsg_internal("gpuconc's device has answered: %s, queue=%.3f compile=%.3f kernels=%.3f device=%.3f compiled=%u",
							 gc_code_name(code), info->queue_ms, info->compile_ms, info->run_ms, info->total_ms, info->compiled)));
}

/* Wait for what a slot carries. */
static GcCode
await(GcScanState *node, GcBinding *b, int slot)
{
	GcHints    *hints = b->hints;
	const double patience = gc_compile_patience(node, gc_compiling_noted(&hints->key));
	GcCode		code = gc_slot_wait(slot, 0, node->limit_ms, &b->err);

	hints->asked = true;
	if (code == GC_LOADING && !node->only_compiles)
	{
		gc_compile_others(node);
		code = gc_slot_wait(slot, patience, node->limit_ms, &b->err);
	}
	if (code == GC_LOADING)
		gc_compiling_note(&hints->key, gc_slot_device(slot), !node->only_compiles);
	else
		gc_compiling_forget(&hints->key, gc_slot_device(slot));
	node->device = gc_slot_device(slot);
	node->begun = gc_slot_begun(slot);
	if (is_retry(code))
		learn(b, gc_slot_info(slot), code);
	tell_attempt(code, gc_slot_info(slot));
	/* So it would be, each time that this is asked for. */
	if (code == GC_DATA && b->identity.h[0] != 0)
		gc_hints_note_refusal(hints, &b->identity);
	return code;
}

/* Decode the result, put together if it is of several devices, and keep how it went. */
static GcCode
take_result(GcScanState *node, GcBinding *b)
{
	const GcResult *parts[GC_MAX_DEVICES];
	GcRunInfo	info = *gc_slot_info(node->slots[0]);
	GcResult   *merged = NULL;
	uint64		total = 0;
	instr_time	start;
	GcCode		code;

	INSTR_TIME_SET_CURRENT(start);
	for (int i = 0; i < node->nslots; i++)
	{
		parts[i] = gc_slot_result(node->slots[i]);
		total += parts[i]->count;
		if (i > 0)
			gc_merge_run_info(&info, gc_slot_info(node->slots[i]));
	}
	/* Rows are numbered by 32 bits from here on. */
	if (total > PG_UINT32_MAX)
		return gc_fail(&b->err, GC_RESULT_TOO_LARGE, "The devices' results have %llu rows.", (unsigned long long) total);
	if (node->nslots > 1)
		merged = gc_merge_results(b, parts, node->nslots);
	code = gc_decode(b, merged ? merged : parts[0], &node->rows);
	if (merged)
		gc_free_merged(merged);
	node->stats.decode_ms = ms_since(start);
	if (code == GC_OK)
		note_run(node, b, &info);
	return code;
}

/* One attempt, with a slot and its guard held. */
static GcCode
attempt(GcScanState *node, GcHints *hints, GcError *err)
{
	GcBinding	b = {.node = node,.plan = node->plan,.hints = hints};
	instr_time	start;
	GcCode		code;

	INSTR_TIME_SET_CURRENT(start);
	node->device = -1;
	node->stats.devices = 0;
	code = gc_bind(&b);
	/* Its columns are guarded from here on. */
	if (code == GC_OK)
		gc_reserve_end();
	if (code == GC_OK)
		code = gc_make_request(&b);
	node->stats.bind_ms = ms_since(start);
	node->asked = b.identity;
	if (code == GC_OK)
		code = submit(node, &b);
	for (int i = 0; code == GC_OK && i < node->nslots; i++)
		code = await(node, &b, node->slots[i]);
	if (code == GC_OK && !node->only_compiles)
		code = take_result(node, &b);
	*err = b.err;
	return code;
}

/* An attempt with a request slot, under a guard; both are given back however it ends. */
static GcCode
attempt_with_slot(GcScanState *node, GcHints *hints, GcError *err)
{
	volatile GcCode code = GC_OK;

	node->nslots = 0;
	if (!take_slots(node, 1))
		return gc_fail(err, GC_NO_SLOT, "All request slots are in use.");
	/* Ours while we read shared objects; the slot's outlives us if we abandon it. */
	gc_guard_enter();
	PG_TRY();
	{
		code = attempt(node, hints, err);
	}
	PG_FINALLY();
	{
		gc_in_lookup = false;
		while (node->nslots > 0)
			gc_slot_release(node->slots[--node->nslots]);
		gc_guard_leave();
	}
	PG_END_TRY();
	return code;
}

/* Have the node's kernels compiled, and wait for nothing. */
static void
ask_for_kernels(GcScanState *node)
{
	GcError		err = {GC_OK, ""};
	GcCode		code = node->plan->malformed ? gc_fail(&err, GC_BAD_PROGRAM, "The planner has packed it wrongly.") :
		gc_open_inputs(node, &err);

	node->lacks = code == GC_OK && gc_lacks_columns(node);
	if (node->lacks)
		return;
	node->limit_ms = -1;
	if (code == GC_OK)
		code = gc_compute_ahead(node, &err);
	if (code == GC_OK)
		code = attempt_with_slot(node, gc_hints(node->logical), &err);
	ereport(DEBUG1,
			(errmsg_internal("gpuconc has asked for kernels ahead: %s", gc_code_name(code)),
			 code != GC_OK && err.detail[0] ? errdetail_internal("%s", err.detail) : 0));
}

/*
 * Compute the windows of an attempt's rows.  What cannot be computed of these will not be of equal ones, unless
 * they may take more memory.
 */
static GcCode
compute_windows(GcScanState *node, GcHints *hints, GcError *err)
{
	const GcCode code = gc_compute_windows(node, err);

	if (code != GC_OK && node->asked.h[0] != 0 && !node->windows->windows->parameterised && !node->windows->no_room)
		gc_hints_note_refusal(hints, &node->asked);
	return code;
}

/* Compute the whole result on the device. */
static GcCode
run_on_device(GcScanState *node, GcError *err)
{
	GcHints    *hints = gc_hints(node->logical);
	const char *reason;
	GcCode		code = GC_OK;

	node->limit_ms = gc_device_limit(node, hints);
	node->avoided = 0;
	node->devices_lost = 0;
	node->undivided = false;
	if (gc_own_plan_has_won(hints))
		return gc_fail(err, GC_TOO_SLOW, "It took longer than PostgreSQL's own plan, less than ten minutes ago.");
	code = gc_open_inputs(node, err);
	if (code == GC_OK)
		code = gc_look_if_cold(node, err);
	/* A GPU takes a second after the server's start.  Columns that are to be waited for are loaded meanwhile. */
	if (code == GC_OK && gc_worker_state(&reason) == GC_WORKER_STARTING && gc_lacks_columns(node))
		code = gc_load_inputs(node, err);
	if (code == GC_OK)
		gc_device_await(gc_compile_patience(node, false));
	if (code == GC_OK)
		code = gc_compute_ahead(node, err);
	for (int i = 0; code == GC_OK && i < MAX_ATTEMPTS; i++)
	{
		GcCode		outcome = attempt_with_slot(node, hints, err);

		if (outcome == GC_OK)
			outcome = compute_windows(node, hints, err);
		if (outcome == GC_OK)
		{
			count_success(node);
			return GC_OK;
		}
		if (outcome == GC_RETRY_LOAD)
			code = gc_make_lookup_room(node) ? GC_OK : gc_load_inputs(node, err);
		/* Each part has a copy of the session's own rows, and returns all groups. */
		else if ((outcome == GC_CACHE_FULL || outcome == GC_RESULT_TOO_LARGE) && node->stats.devices != 0 && !node->undivided)
			node->undivided = true;
		else if (goes_elsewhere(node, outcome))
			pg_atomic_fetch_add_u64(&gc_stats()->retries, 1);
		else if (is_retry(outcome))
		{
			gc_hints_share(hints);
			pg_atomic_fetch_add_u64(&gc_stats()->retries, 1);
		}
		else
			code = outcome;
	}
	gc_reserve_end();
	if (code == GC_TOO_SLOW)
		gc_limit_reached(node, hints);
	/* Each attempt has failed in a way that another one may not. */
	return code == GC_OK ? gc_fail(err, GC_UNSUPPORTED, "It failed too often.") : code;
}

/* Count why PostgreSQL's own plan answers, for each table that the node reads. */
static void
count_reason(const GcScanState *node, bool fallback, const char *reason)
{
	const GcPlan *plan = node->plan;

	for (int i = 0; i < plan->ninputs; i++)
	{
		const GcPlanInput *in = &plan->inputs[i];

		if (OidIsValid(in->relid))
			(void) gc_reason_count(in->relid, fallback, reason);
		for (int k = 0; k < in->nparts && !OidIsValid(in->relid); k++)
			(void) gc_reason_count(GC_PLAN_PARTS(plan)[in->first_part + k].relid, fallback, reason);
	}
}

static void
fall_back(GcScanState *node)
{
	gc_fallback_init(node, 0);
	node->falling_back = true;
}

/* One execution: the device's rows, or the node falls back. */
static void
start(GcScanState *node)
{
	GcError		err = {GC_OK, ""};
	GcCode		code;
	MemoryContext old;

	node->started = true;
	node->falling_back = false;
	node->own_plan_timed = false;
	node->stats.loops++;
	code = check_execution(node, &err);
	/* No device is asked, so it is neither a request nor a fallback. */
	if (code == GC_OK && gc_own_plan_is_sooner(node))
	{
		node->stats.left++;
		count_reason(node, false, GC_SOONER);
		ereport(DEBUG1,
				(errmsg_internal("gpuconc leaves it: %s", GC_SOONER)));
		fall_back(node);
		return;
	}
	old = MemoryContextSwitchTo(node->cxt);
	node->loads = 0;
	node->lookup_room = 0;
	node->made_lookup_room = false;
	node->position = 0;
	pg_atomic_fetch_add_u64(&gc_stats()->requests, 1);
	if (code == GC_OK)
		code = run_on_device(node, &err);
	MemoryContextSwitchTo(old);
	node->stats.last_code = code;
	node->css.ss.ps.qual = code == GC_OK && node->rows.filtered ? NULL : node->filter;
	if (code == GC_OK)
		return;

	strlcpy(node->stats.last_reason, err.detail, sizeof(node->stats.last_reason));
	node->stats.fallbacks++;
	pg_atomic_fetch_add_u64(&gc_stats()->fallbacks[code], 1);
	count_reason(node, true, gc_code_name(code));
	/* Around a node that decides, another plan is no better. */
	if ((gc_was_cold(code) && node->plan->nguesses == 0) || !gc_device_may_answer() || gc_reads_are_tracked())
		gc_cached_plans_failed();
	if (code == GC_DATA || code == GC_UNSUPPORTED)
		gc_plan_memory_unsettle(node->plan->key);
	ereport(DEBUG1,
			(errmsg_internal("gpuconc runs PostgreSQL's own plan: %s", gc_code_name(code)),
			 err.detail[0] ? errdetail_internal("%s", err.detail) : 0));
	if (gc_enabled && gc_offload_required() && code != GC_DATA)
		gc_report_required(code, &err);
	fall_back(node);
}

/*-------------------------------------------------------------------------
 * Rows
 *-------------------------------------------------------------------------
 */

/*
 * The row to return next, in a direction; false behind the last and before the first.
 * The position is that of the row returned last, plus one.  It is 0 before the first
 * row, and one more than the count behind the last.
 */
static bool
step(GcScanState *node, bool forward, uint64 *row)
{
	if (forward)
	{
		if (node->position <= node->rows.count)
			node->position++;
	}
	else if (node->position > 0)
		node->position--;
	*row = node->position - 1;
	return node->position > 0 && node->position <= node->rows.count;
}

/* ExecScanAccessMtd: the next decoded row in the scan's direction. */
static TupleTableSlot *
next_tuple(ScanState *ss)
{
	GcScanState *node = (GcScanState *) ss;
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;
	const GcRows *rows = &node->rows;
	uint64		row;
	Size		at;

	ExecClearTuple(slot);
	if (!step(node, ScanDirectionIsForward(ss->ps.state->es_direction), &row))
		return slot;
	at = row * (Size) rows->ncols;
	memcpy(slot->tts_values, &rows->values[at], rows->ncols * sizeof(Datum));
	memcpy(slot->tts_isnull, &rows->isnull[at], rows->ncols * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

static bool
recheck_tuple(ScanState *ss, TupleTableSlot *slot)
{
	return true;
}

/* PostgreSQL's own plan, timed. */
static TupleTableSlot *
next_of_own_plan(GcScanState *node)
{
	TupleTableSlot *slot;
	instr_time	from,
				to;

	INSTR_TIME_SET_CURRENT(from);
	slot = gc_fallback_next(node);
	INSTR_TIME_SET_CURRENT(to);
	INSTR_TIME_ACCUM_DIFF(node->own_plan_time, to, from);
	if (TupIsNull(slot) && ScanDirectionIsForward(node->css.ss.ps.state->es_direction))
		gc_limit_own_plan_ended(node);
	return slot;
}

static TupleTableSlot *
exec_scan(CustomScanState *css)
{
	GcScanState *node = (GcScanState *) css;

	if (node->only_compiles)
	{
		ask_for_kernels(node);
		return NULL;
	}
	if (!node->started)
		start(node);
	if (node->falling_back)
		return node->own_plan_timed ? next_of_own_plan(node) : gc_fallback_next(node);
	return ExecScan(&css->ss, next_tuple, recheck_tuple);
}

/* ReScanCustomScan: the next execution begins with the next row that is asked for. */
static void
rescan(CustomScanState *css)
{
	GcScanState *node = (GcScanState *) css;

	ExecScanReScan(&css->ss);

	gc_fallback_rescan(node);
	/* Unchanged parameters: the same rows again. */
	if (node->started && css->ss.ps.chgParam == NULL)
	{
		node->position = 0;
		return;
	}
	gc_close_inputs(node);
	MemoryContextReset(node->cxt);
	memset(&node->rows, 0, sizeof(node->rows));
	node->started = false;
}

/* EndCustomScan: close inputs and plans below. */
static void
end_scan(CustomScanState *css)
{
	GcScanState *node = (GcScanState *) css;

	ListCell   *lc;

	/* The plan has returned all rows that are wanted.  After an error nobody comes here. */
	if (node->own_plan_timed && node->plan->limit > 0)
		gc_limit_own_plan_ended(node);
	gc_close_inputs(node);
	foreach(lc, node->shown_sources)
		ExecEndNode(lfirst(lc));
	gc_fallback_end(node);
	MemoryContextDelete(node->cxt);
}
