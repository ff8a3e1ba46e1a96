/*-------------------------------------------------------------------------
 *
 * memory_demand.c
 *	  Demands of requests for device memory, and which of them may begin (admission.c decides).
 *
 * A request's phases are its pipelines, the main one last.  Each takes the columns that it reads and the table that it
 * fills, beside tables of earlier phases.  Nothing is given back before the end.  The time of a phase goes by the bytes
 * that it reads.  A column or build that another request already uses counts for that one only.  A request that does
 * not fit as a whole reads its columns in waves.  They count as a part of memory, or not at all if an admitted request
 * reads the same chunks.  So it is where its columns would put others out of memory.  Then columns that are in memory
 * already count for nothing (wave_scan.c).
 *
 * A request's demand is its pipelines' until its main kernel is launched, then the main pipeline's,
 * then its sink.
 *
 * Requests that wait are to read columns soon.  Eviction is told which (eviction.h).
 *
 * The worker's main thread.  A run is in one of both lists, or in none.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "utils/memutils.h"

#include "../../force.h"
#include "../../settings.h"
#include "../memory/eviction.h"
#include "../memory/state.h"
#include "../waves/waves.h"
#include "admission.h"

/* Columns that are read in waves take one part in so many of the pool. */
#define WAVES_PART	4

static GcAdmission admission;
static bool new_turn = true;
static List *admitted = NIL;	/* GcRun */
static List *waiting = NIL;		/* GcRun: refused so far */

/* Counts events that may let a request begin that was refused. */
static u64	changes = 1;

/*-------------------------------------------------------------------------
 * Sizes
 *-------------------------------------------------------------------------
 */

u64
gc_lay_out_sink(const GcRequest *request, int pipeline, GcAddr memory, GcSinkMemory *sink)
{
	const GcPPipeline *pl = &gc_pipelines(request->program)[pipeline];
	const GcSinkValue *v = &request->sinks[pipeline];
	u64			groups = 0,
				slots = 0,
				keys = 0,
				rows = 0,
				windows = 0;

	if (pl->sink == GC_SINK_ROWS)
	{
		windows = gc_has_windows(request->program, pipeline) ? GC_WINDOW_BYTES(v->rows_cap) : 0;
		rows = (u64) gc_row_words(request->program, pl) * v->rows_cap * 8;
		groups = pl->nkeys > 0 ? gc_sink_align(GC_FIRST_BYTES) : 0;
	}
	else
		groups = gc_sink_align(v->ngroups * pl->group_words * 8);
	if (pl->sink == GC_SINK_AGGREGATE && pl->group_mode == GC_GROUP_HASH)
	{
		slots = gc_sink_align(v->group_slots * 8);
		keys = gc_sink_align(v->ngroups * v->key_words * 8);
	}
	sink->memory = memory;
	sink->groups = memory + GC_FLAGS_ROOM;
	sink->group_slots = sink->groups + groups;
	sink->group_keys = sink->group_slots + slots;
	sink->rows = sink->group_keys + keys;
	sink->windows = sink->rows + rows;
	sink->zero = GC_FLAGS_ROOM + groups + slots;
	return GC_FLAGS_ROOM + groups + slots + keys + rows + windows;
}

GcChosenMemory
gc_chosen_memory(const GcRequest *request, bool gather, bool choose)
{
	const int	main = request->program->npipelines - 1;
	const GcPPipeline *pl = &gc_pipelines(request->program)[main];
	const GcSinkValue *v = &request->sinks[main];
	const u64	chosen = gather ? v->ngroups : choose ? v->rows_cap : 0;
	const u64	key_words = pl->group_mode == GC_GROUP_DENSE ? 1 : v->key_words;

	return (GcChosenMemory) {.top = choose ? gc_sink_align(GC_TOP_BYTES) : 0,
		.words = gc_sink_align(chosen * pl->group_words * 8),.keys = chosen * key_words * 8};
}

/* Are matches of the build's rows noted? */
static bool
is_kept(const GcProgram *p, int b)
{
	return gc_builds(p)[b].keeps;
}

u64
gc_bytes_of_build(const GcRequest *r, int b)
{
	return gc_build_bytes(r, b) + (is_kept(r->program, b) ? r->builds[b].cap : 0);
}

/* Bytes of the sink of a pipeline that does not fill a build. */
u64
gc_bytes_of_sink(const GcRequest *r, int pipeline, bool gather, bool choose)
{
	GcSinkMemory sketch;
	u64			bytes = gc_sink_align(gc_lay_out_sink(r, pipeline, 0, &sketch));

	if (pipeline == r->program->npipelines - 1)
	{
		const GcChosenMemory chosen = gc_chosen_memory(r, gather, choose);

		bytes += chosen.top + chosen.words + chosen.keys;
	}
	return bytes;
}

/* Does the pipeline have a sink of its own, other than a build? */
static bool
has_sink(const GcProgram *p, int pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];

	return !pl->rest_of && (pl->sink == GC_SINK_AGGREGATE || pl->sink == GC_SINK_ROWS);
}

u64
gc_bytes_of_request(const GcRequest *r, bool gather, bool choose)
{
	u64			bytes = r->nvisible > 0 ? r->bitmap_bytes : 0;

	if (!gc_worker.dev->info.host_memory)
		bytes += r->device_bytes;
	for (int b = 0; b < r->program->nbuilds; b++)
		bytes += gc_bytes_of_build(r, b);
	for (int n = 0; n < r->program->npipelines; n++)
		bytes += has_sink(r->program, n) ? gc_bytes_of_sink(r, n, gather, choose) : 0;
	return bytes;
}

/* Bytes of the columns that are read, NULL bitmaps included. */
static u64
bytes_of_columns(const GcRequest *r)
{
	const GcProgram *p = r->program;
	u64			bytes = 0;

	if (gc_worker.dev->info.host_memory)
		return 0;
	for (int c = 0; c < p->ncolumns; c++)
	{
		const GcPColumn *column = &gc_columns(p)[c];

		if (r->columns[c].dir_column >= 0 && r->inputs[column->input].dir)
			bytes += r->inputs[column->input].rows * gc_most_width(column) +
				(column->nullable ? r->inputs[column->input].rows / 8 : 0);
	}
	return bytes;
}

/* Memory to scan each input's columns in waves, or all of them at once if that takes less. */
u64
gc_bytes_of_waves(const GcRequest *r)
{
	const GcProgram *p = r->program;
	u64			bytes = 0;

	for (int i = 0; i < p->ninputs && !gc_worker.dev->info.host_memory; i++)
	{
		const GcInputValue *in = &r->inputs[i];
		const u64	rows = ((u64) in->max_rows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * GC_PAD_ROWS;
		u64			whole = 0,
					chunk = 0;
		int			n = 0;

		for (int c = 0; c < p->ncolumns && in->dir; c++)
		{
			const GcPColumn *column = &gc_columns(p)[c];
			const u64	width = gc_most_width(column);

			if (column->input != i || r->columns[c].dir_column < 0)
				continue;
			whole += in->rows * width + (column->nullable ? in->rows / 8 : 0);
			chunk += rows * width + (column->nullable ? rows / 8 : 0);
			n++;
		}
		bytes += Min(whole, gc_wave_bytes(chunk, n));
	}
	return bytes;
}

/*-------------------------------------------------------------------------
 * Demands of requests
 *-------------------------------------------------------------------------
 */

/* Bytes of an input's columns. */
typedef struct InputBytes
{
	u64			all;
	u64			own;			/* of columns that no request uses yet */
	u64			missing;		/* about as much as is not in device memory */
} InputBytes;

/* Bytes of an input's columns; on a device that reads the host's memory none is missing. */
static InputBytes
input_bytes(const GcRun *run, int input)
{
	const GcInputValue *in = &run->request->inputs[input];
	const GcPInput *pin = &gc_inputs(run->p)[input];
	const GcPColumn *columns = gc_columns(run->p);
	const GcSource *sources = (const GcSource *) (run->request->device_part + in->sources_off);
	InputBytes	bytes = {0};

	for (int c = pin->first_column; in->dir && c < pin->first_column + pin->ncolumns; c++)
	{
		const GcPColumn *column = &columns[c];
		const int	dir_column = run->request->columns[c].dir_column;
		u64			size;
		bool		in_use;

		if (dir_column < 0)
			continue;
		size = in->rows * gc_most_width(column) + (column->nullable ? in->rows / 8 : 0);
		bytes.all += size;
		if (gc_worker.dev->info.host_memory)
			continue;
		bytes.missing += gc_table_missing(in->dir, dir_column, sources, gc_cached_sources(in), &in_use);
		bytes.own += in_use ? 0 : size;
	}
	return bytes;
}

u64
gc_run_missing_bytes(const GcRun *run)
{
	u64			bytes = 0;

	for (int n = 0; n < run->p->npipelines; n++)
		bytes += input_bytes(run, gc_pipelines(run->p)[n].input).missing;
	return bytes;
}

/* Bytes that a pipeline fills: a build, groups or rows.  *there: the build is there already. */
static u64
filled_bytes(const GcRun *run, int n, bool *there)
{
	const GcPPipeline *pl = &gc_pipelines(run->p)[n];

	*there = false;
	if (pl->rest_of)
		return 0;
	if (pl->sink == GC_SINK_AGGREGATE || pl->sink == GC_SINK_ROWS)
		return gc_bytes_of_sink(run->request, n, run->result.gather, run->result.choose);
	if (pl->sink != GC_SINK_BUILD)
		return 0;
	*there = gc_build_known(run->request->builds[pl->build].share);
	return gc_bytes_of_build(run->request, pl->build);
}

u64
gc_run_state_bytes(const GcRun *run)
{
	u64			bytes = 0;
	bool		there;

	for (int n = 0; n < run->p->npipelines - 1; n++)
	{
		const u64	filled = filled_bytes(run, n, &there);

		bytes += there ? 0 : filled;
	}
	return bytes;
}

/* Does an admitted request read the same chunks? */
static bool
reads_with_another(const GcRun *run)
{
	ListCell   *lc;

	foreach(lc, admitted)
	{
		const GcRun *other = lfirst(lc);

		if (other->schedule.scan == run->schedule.scan && run->schedule.scan != 0)
			return true;
	}
	return false;
}

/* As gc_wave_scan_wanted() will decide, about. */
static bool
goes_in_waves(u64 state, u64 columns, u64 missing, u64 unused)
{
	return state + columns > gc_pool_size(gc_worker.pool) ||
		(gc_replacement == GC_REPLACE_VALUE && missing > 0 && state + missing > unused);
}

/* Fill in run->memory.claim: demands by the phases that are left, and columns that are missing now. */
static void
describe_demand(GcRun *run)
{
	const u64	pool = gc_pool_size(gc_worker.pool);
	const u64	unused = pool - gc_pool_used(gc_worker.pool);
	const u64	waves = reads_with_another(run) ? 0 : pool / WAVES_PART;
	const int	main = run->p->npipelines - 1;
	GcDemandPhase phases[GC_MAX_PIPELINES];
	u64			state = run->request->nvisible > 0 ? run->request->bitmap_bytes : 0;
	u64			columns = 0;
	u64			missing = 0;
	u64			filled = 0;

	if (!gc_worker.dev->info.host_memory)
		state += run->request->device_bytes;
	run->memory.claim.bytes = state;
	run->memory.claim.state_bytes = 0;
	for (int n = 0; n <= main; n++)
	{
		const InputBytes input = input_bytes(run, gc_pipelines(run->p)[n].input);
		bool		there;

		filled = filled_bytes(run, n, &there);
		run->memory.claim.bytes += filled;
		filled = there ? 0 : filled;
		run->memory.claim.state_bytes += n < main ? filled : 0;
		state += filled;
		columns += input.own;
		missing += input.missing;
		phases[n].time = (double) input.all + 1;
		phases[n].bytes = Min(state + (goes_in_waves(state, columns, missing, unused) ? Min(columns, waves) :
									 gc_replacement == GC_REPLACE_VALUE ? Min(columns, missing) : columns), pool);
	}
	run->memory.claim.missing = missing;
	run->memory.claim.demand[GC_DEMAND_WHOLE] = gc_demand(gc_admission, phases, main + 1);
	run->memory.claim.demand[GC_DEMAND_MAIN] = phases[main].bytes;
	run->memory.claim.demand[GC_DEMAND_FETCHING] = filled;
}

/* The demand of an admitted request now; less once its phases are over. */
static u64
present_demand(const GcRun *run)
{
	return run->memory.claim.demand[run->state == RUN_FETCHING ? GC_DEMAND_FETCHING :
					   run->state == RUN_RUNNING ? GC_DEMAND_MAIN : GC_DEMAND_WHOLE];
}

/*-------------------------------------------------------------------------
 * Which may begin
 *-------------------------------------------------------------------------
 */

void
gc_admission_turn(void)
{
	new_turn = true;
}

/* Add up the demands of those that are admitted, once in a turn of the worker's loop. */
static void
begin_turn(void)
{
	u64			demand = 0;
	ListCell   *lc;

	foreach(lc, admitted)
		demand += present_demand(lfirst(lc));
	gc_admission_begin(&admission, gc_admission, gc_pool_size(gc_worker.pool), list_length(admitted), demand);
	new_turn = false;
}

/* Append to a list that outlives the run's context. */
static List *
with_run(List *list, GcRun *run)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	list = list_append_unique_ptr(list, run);
	MemoryContextSwitchTo(old);
	return list;
}

/* May the request begin?  The time of the decision is counted. */
static bool
ask(GcRun *run)
{
	instr_time	began;
	bool		yes;

	INSTR_TIME_SET_CURRENT(began);
	describe_demand(run);
	/* Requests that are held back wait until a number of them are ready: so all must be admitted. */
	yes = gc_requests_held() > 0 ||
		gc_admission_ask(&admission, run->memory.claim.demand[GC_DEMAND_WHOLE], &run->memory.claim.refused_at);
	gc_count_decision(&gc_stats()->admitting, gc_us_since(began));
	return yes;
}

bool
gc_run_admit(GcRun *run)
{
	if (run->memory.claim.admitted)
		return true;
	/* One that found too little memory waits until another has given back some. */
	if (new_turn)
		begin_turn();
	if (admitted != NIL && run->memory.claim.refused_change == changes)
	{
		gc_admission_wait(&admission, &run->memory.claim.refused_at);
		return false;
	}
	if (!ask(run))
	{
		run->memory.claim.refused_change = changes;
		waiting = with_run(waiting, run);
		return false;
	}
	run->memory.claim.admitted = true;
	run->memory.claim.refused_at = 0;
	waiting = list_delete_ptr(waiting, run);
	admitted = with_run(admitted, run);
	return true;
}

void
gc_run_leave_admitted(GcRun *run, bool failed)
{
	waiting = list_delete_ptr(waiting, run);
	if (!run->memory.claim.admitted)
		return;
	run->memory.claim.admitted = false;
	admitted = list_delete_ptr(admitted, run);
	new_turn = true;
	if (failed)
		run->memory.claim.refused_change = changes;
	else
		changes++;
}

void
gc_run_takes_less(const GcRun *run)
{
	new_turn = new_turn || run->memory.claim.admitted;
	changes += run->memory.claim.admitted;
}

/*
 * Tell the device cache which columns requests that wait will read.  Each gets on while all others read as
 * many bytes, so a large one comes to the end of a column late.
 */
static void
mark_wanted(void)
{
	const int	in_flight = list_length(admitted) + list_length(waiting);
	double		mean = 1;
	ListCell   *lc;

	foreach(lc, waiting)
		mean += (double) bytes_of_columns(((GcRun *) lfirst(lc))->request) / list_length(waiting);
	foreach(lc, waiting)
	{
		const GcRun *run = lfirst(lc);
		const double requests = (double) bytes_of_columns(run->request) / mean * in_flight;

		for (int c = 0; c < run->p->ncolumns; c++)
		{
			const GcInputValue *in = &run->request->inputs[gc_columns(run->p)[c].input];

			if (in->dir && run->request->columns[c].dir_column >= 0)
				gc_table_want(in->dir, run->request->columns[c].dir_column, (float) requests + 0.1f);
		}
	}
}

void
gc_admission_init(void)
{
	gc_before_decisions(mark_wanted);
}
