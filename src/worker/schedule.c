/*-------------------------------------------------------------------------
 *
 * schedule.c
 *	  From READY requests to launches: asks sched/ what to start, and starts it.
 *
 * What one decision starts is a batch (batch.c).  The requests' hooks (run/hooks.h) are filled
 * here, since only this room knows both batches and shared scans.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "schedule.h"

#include "utils/memutils.h"

#include "../sched/policy/sched.h"
#include "../force.h"
#include "../settings.h"
#include "batch.h"
#include "memory/state.h"
#include "meter.h"
#include "run/demand.h"
#include "run/launch.h"
#include "run/run.h"
#include "share/share.h"

/*
 * Scans that end sooner are not worth attaching to: by the clock alone, their position
 * is not known well enough to meet in the L2 cache.  Measured on an H200, 16 clients:
 * attaching to scans of 0.2 ms cost a tenth of the throughput.
 */
#define ATTACH_LEAST_US	2000

/* What one decision is made of; static, since it is too large for the stack. */
static struct
{
	GcRun	   *run[GC_MAX_ITEMS];
	GcItem		item[GC_MAX_ITEMS];
	int			nitems;
	GcMainLaunch *launch[GC_MAX_ITEMS];
	GcActive	active[GC_MAX_ITEMS];
	int			nactive;
	int			beside;			/* requests on the device */
	const GcFusedKernel *fused; /* what share/ offers */
	int			nfused;
	GcDecision	decision;
}			now;

static GcDecideWork *work = NULL;

/* GcSchedule's */
static uint64_t lot;
static int	lot_seed = -1;

static void
run_leaves(GcRun *run)
{
	gc_batch_run_leaves(run);
	gc_share_forget(run);
}

static void
run_ends(GcRun *run)
{
	gc_batch_run_ends(run);
	gc_share_forget(run);
}

void
gc_schedule_init(void)
{
	static GcRunHooks hooks = {.leaves = run_leaves,.ends = run_ends};

	gc_share_init(&hooks, gc_meter_marks_pay);
	gc_run_hooks = &hooks;
	if (work == NULL)
		work = (GcDecideWork *) CACHELINEALIGN(MemoryContextAlloc(TopMemoryContext,
																  gc_decide_work_size() + PG_CACHE_LINE_SIZE));
}

/*-------------------------------------------------------------------------
 * What there is
 *-------------------------------------------------------------------------
 */

static void
add_active(GcMainLaunch *launch)
{
	GcActive   *a;

	for (int i = 0; i < now.nactive; i++)
	{
		if (now.launch[i] == launch)
			return;
	}
	if (now.nactive == GC_MAX_ITEMS)
		return;
	now.launch[now.nactive] = launch;
	a = &now.active[now.nactive++];
	*a = (GcActive) {.shape = launch->shape,.registers = launch->registers,
		.shared_bytes = launch->shared_bytes,.scan = launch->scan,.fused = launch->fused,
		.members = launch->members,.marked = launch->marks_done,.left_us = gc_share_left_us(launch),
	.alone_us = launch->alone_us,.resident = launch->issue_share > 0};
}

/* Are two items the same kernel with the same needs? */
static bool
same_type(int a, int b)
{
	return gc_run_own_kernel(now.run[a]) == gc_run_own_kernel(now.run[b]) &&
		now.item[a].option.shared_bytes == now.item[b].option.shared_bytes;
}

/* Of item n, whose needs are known. */
static uint32
item_type(int n)
{
	for (int i = 0; i < n; i++)
	{
		if (same_type(i, n))
			return now.item[i].type;
	}
	return n + 1;
}

/* company: others are here, with whom it might share a scan. */
static void
add_item(GcRun *run, bool company)
{
	GcPipelineKernel *kernel = gc_run_own_kernel(run);
	const GcInputValue *in = &run->request->inputs[run->main->input];
	GcItem	   *item = &now.item[now.nitems];

	gc_share_describe(run, company);
	item->scan = run->scan;
	item->tiles = (in->rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
	item->option = gc_describe_option(run, kernel, kernel->alone_us.samples > 0 ? kernel->alone_us.value
									  : gc_cost_alone(&gc_worker.calibration, gc_slot_run_info(run->slot)->read_bytes));
	gc_describe_loads(run, kernel, item);
	now.run[now.nitems] = run;
	item->type = item_type(now.nitems);
	item->fused = -1;
	item->bodies = 0;
	item->columns = 0;
	item->fused_us = 0;
	now.nitems++;
}

/* Under gpuconc.debug_hold_requests: has it come to its turn? */
static bool
held_back(List *runs)
{
	int			ready = 0;
	ListCell   *lc;

	if (gc_requests_held() == 0)
		return false;
	foreach(lc, runs)
	{
		GcRun	   *run = lfirst(lc);

		if (run->released && run->state != RUN_FINISHED)
			return false;
		ready += run->state == RUN_READY || run->leader != NULL;
	}
	if (ready < gc_requests_held())
		return true;
	foreach(lc, runs)
		((GcRun *) lfirst(lc))->released = true;
	return false;
}

static void
collect(List *runs)
{
	ListCell   *lc;
	int			shared = 0;
	bool		company = list_length(runs) > 1 || gc_sharing_forced();

	now.nitems = now.nactive = now.beside = 0;
	gc_share_begin();
	foreach(lc, runs)
	{
		GcRun	   *run = lfirst(lc);

		if (run->leader)
			continue;
		if (gc_run_on_device(run))
		{
			now.beside++;
			shared += run->launch && run->launch->fused;
		}
		if (run->state == RUN_RUNNING)
			add_active(run->launch);
		else if (run->state == RUN_READY && now.nitems < GC_MAX_ITEMS &&
				 (run->released || gc_requests_held() == 0))
			add_item(run, company);
	}
	gc_meter_turn(now.beside - shared, shared);
	/* Where somebody will wait for them, kernels are asked for before. */
	if (gc_sharing_forced())
		gc_share_improve();
	now.nfused = gc_share_offer(now.run, now.item, now.nitems, &now.fused);
}

/* Under gpuconc.debug_force_shared_scan: is a kernel for these still to come? */
static bool
wait_for_kernels(void)
{
	for (int i = 0; gc_sharing_forced() && i < now.nitems; i++)
	{
		if (gc_share_pending(now.run[i]))
			return true;
	}
	return false;
}

static void
decide(void)
{
	const GcFactors learned = gc_batch_factors();
	GcSchedule	s = {
		.profile = &gc_worker.profile,.calibration = &gc_worker.calibration,
		.policy = gc_schedule,.force_shared = gc_sharing_forced(),
		.force_resident = gc_resident_forced(),
		.beside = learned.beside,.among = learned.among,.together = gc_meter_together(),
		.left = learned.left,.load = gc_meter_load(),.pressure = gc_meter_pressure(),.lot = &lot,
		.nitems = now.nitems,.item = now.item,
		.nactive = now.nactive,.active = now.active,
		.nfused = now.nfused,.fused = now.fused,
	};

	if (lot_seed != gc_schedule_seed)
		lot = lot_seed = gc_schedule_seed;
	gc_decide(&s, work, &now.decision);
}

/*-------------------------------------------------------------------------
 * Starting
 *-------------------------------------------------------------------------
 */

static GcMainLaunch *
new_launch(const GcStart *start, const GcItem *item)
{
	const GcFactors learned = gc_batch_factors();
	GcMainLaunch *launch = MemoryContextAllocZero(TopMemoryContext, sizeof(GcMainLaunch));
	const GcOption *o = start->fused >= 0 ? &now.fused[start->fused].option : &item->option;

	launch->shape = start->shape;
	launch->registers = o->registers;
	launch->shared_bytes = o->shared_bytes;
	launch->whole_shared = start->whole_shared;
	launch->scan = item->scan;
	launch->fused = start->fused >= 0;
	launch->marked = launch->fused && now.fused[start->fused].marked;
	launch->predicted_us = start->predicted_us;
	launch->alone_us = item->option.alone_us;
	launch->undisturbed = now.beside == 0;
	launch->among = now.beside > 0 ? learned.among : 0;
	launch->left_us = launch->fused ? start->left_us : 0;
	launch->left = learned.left;
	launch->issue_share = start->issue_share;
	launch->shared_us = now.beside == 0 ? start->shared_us : 0;
	launch->members = start->nitems;
	INSTR_TIME_SET_CURRENT(launch->started);
	return launch;
}

/*
 * Where a scan of so many tiles should begin: where another scan of the table is now,
 * by the clock; so one of them finds in the L2 cache what the other has just read.
 */
static u32
attach_position(u32 scan, u32 ntiles)
{
	for (int a = 0; a < now.nactive && scan != 0; a++)
	{
		const GcMainLaunch *l = now.launch[a];
		double		done = gc_us_since(l->started);

		if (l->scan == scan && l->ntiles == ntiles && done < l->predicted_us &&
			l->predicted_us >= ATTACH_LEAST_US)
			return (u32) (l->first_tile + (u64) (ntiles * (done / l->predicted_us))) % ntiles;
	}
	return 0;
}

/* One launch of the decision.  Requests that fail go their way, alone. */
static void
start_launch(GcBatch *batch, const GcStart *start)
{
	GcRun	   *first = now.run[start->item[0]];
	GcMainLaunch *launch = new_launch(start, &now.item[start->item[0]]);
	u32			ntiles = gc_run_ntiles(first);

	launch->users = 1;			/* ours, while we work on it */
	launch->number = gc_batch_number(batch);
	launch->alone = now.beside == 0 && now.decision.nstarts == 1;
	launch->first_tile = attach_position(launch->scan, ntiles);
	for (int m = 0; m < start->nitems; m++)
	{
		GcRun	   *run = now.run[start->item[m]];

		run->launch = launch;
		launch->users++;
		launch->runs++;
		gc_batch_add(batch, run, start);
	}
	gc_meter_started(launch);
	if (launch->fused)
		gc_share_start(launch, start, now.run);
	else if (gc_run_start_main(first, gc_run_own_kernel(first), &start->shape, launch->first_tile) != GC_OK)
		gc_run_fail_start(first);
	gc_main_launch_release(launch);
}

static void
start_batch(float decision_us)
{
	const GcDecision *d = &now.decision;
	int			started = 0;
	GcBatch    *batch;

	for (int i = 0; i < d->nstarts; i++)
		started += d->start[i].nitems;
	batch = gc_batch_begin(d, now.beside, now.nitems - started, decision_us);
	for (int a = 0; a < now.nactive; a++)
	{
		now.launch[a]->alone = false;
		now.launch[a]->undisturbed = false;
		now.launch[a]->shared_us = 0;
	}
	gc_share_refused(d, now.run, now.item);
	for (int i = 0; i < d->nstarts; i++)
		start_launch(batch, &d->start[i]);
	for (int i = 0; i < now.nitems; i++)
	{
		GcRunInfo  *info = gc_slot_run_info(now.run[i]->slot);

		if (now.run[i]->batch != batch)
			continue;
		info->batch_kernels = gc_batch_size(batch);
		info->co_running = now.beside + gc_batch_size(batch) - 1;
	}
	gc_batch_release(batch);
}

bool
gc_schedule_news(List *runs)
{
	const GcMainLaunch *asked = NULL;
	bool		any = false;
	ListCell   *lc;

	foreach(lc, runs)
	{
		const GcRun *run = lfirst(lc);
		GcMainLaunch *l = run->launch;

		if (run->state != RUN_RUNNING || !l->marked || l->marks_done || l == asked)
			continue;
		asked = l;				/* its other requests come next, mostly */
		any = gc_share_marks_done(l) || any;
	}
	return any;
}

bool
gc_schedule_runs(List *runs)
{
	instr_time	began;

	if (held_back(runs))
		return false;
	INSTR_TIME_SET_CURRENT(began);
	collect(runs);
	if (now.nitems == 0 || wait_for_kernels())
		return false;
	decide();
	if (now.decision.nstarts > 0)
		start_batch(gc_us_since(began));
	/* For the next ones: the device need not wait for that. */
	if (!gc_sharing_forced())
		gc_share_improve();
	return now.decision.nstarts > 0;
}
