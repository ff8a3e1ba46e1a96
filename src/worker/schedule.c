/*-------------------------------------------------------------------------
 *
 * schedule.c
 *	  From READY requests to launches: asks sched/ which of them to start, and starts these.
 *
 * The launches of one decision are a batch (batch.c).  The requests' hooks (run/run.h) are filled here, since only this
 * room includes both batches and shared scans.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "worker.h"

#include "utils/memutils.h"

#include "../sched/policy/sched.h"
#include "../force.h"
#include "../settings.h"
#include "batch.h"
#include "memory/state.h"
#include "meter.h"
#include "run/gang.h"
#include "run/launch.h"
#include "run/run.h"
#include "run/wave_scan.h"
#include "share/share.h"

/*
 * Scans with less time left are not worth attaching to.  A position that is computed from the
 * clock is too inexact to meet in the L2 cache.  Measured on an H200 with 16 clients: attaching to
 * scans of 0.2 ms cost a tenth of the throughput.
 */
#define ATTACH_LEAST_US	2000

/* The decision state; static, since it is too large for the stack. */
static struct
{
	GcRun	   *run[GC_MAX_CANDIDATES];
	GcCandidate		candidate[GC_MAX_CANDIDATES];
	int			ncandidates;
	GcMainLaunch *launch[GC_MAX_CANDIDATES];
	GcActive	active[GC_MAX_CANDIDATES];
	int			nactive;
	int			others;			/* requests on the device */
	const GcFusedKernel *fused; /* shared scans' kernels that share/ offers */
	int			nfused;
	GcDecision	decision;
}			decision;

static GcDecideWork *work = NULL;

/* GcSchedule.random_state, and the setting that it was made from. */
static uint64_t random_state;
static int	random_seed = -1;

/* The run was started, and is not in its launch after all. */
static void
run_leaves(GcRun *run)
{
	gc_batch_run_leaves(run);
	gc_share_forget(run);
}

/* The run is over: its batch learns of it. */
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

	gc_share_init(&hooks, gc_meter_selection_pays);
	gc_run_hooks = &hooks;
	if (work == NULL)
		work = (GcDecideWork *) CACHELINEALIGN(MemoryContextAlloc(TopMemoryContext,
																  gc_decide_work_size() + PG_CACHE_LINE_SIZE));
}

/*-------------------------------------------------------------------------
 * The decision state
 *-------------------------------------------------------------------------
 */

/* A launch that is on the device, once, however many requests it answers. */
static void
add_active(GcMainLaunch *launch)
{
	GcActive   *a;

	for (int i = 0; i < decision.nactive; i++)
	{
		if (decision.launch[i] == launch)
			return;
	}
	if (decision.nactive == GC_MAX_CANDIDATES)
		return;
	decision.launch[decision.nactive] = launch;
	a = &decision.active[decision.nactive++];
	*a = (GcActive) {.grid = launch->grid,.registers = launch->registers,
		.shared_bytes = launch->shared_bytes,.scan = launch->scan,.gang = launch->gang_id,.fused = launch->fused,
		.members = launch->members,.selection = launch->select_done,.residual_us = gc_share_left_us(launch),
	.alone_us = launch->alone_us,.coresident = launch->issue_share > 0};
}

/* Are two candidates the same kernel with the same needs? */
static bool
same_type(int a, int b)
{
	return gc_run_own_kernel(decision.run[a]) == gc_run_own_kernel(decision.run[b]) &&
		decision.candidate[a].needs.shared_bytes == decision.candidate[b].needs.shared_bytes;
}

/* Type of candidate n, whose needs are known. */
static uint32
item_type(int n)
{
	for (int i = 0; i < n; i++)
	{
		if (same_type(i, n))
			return decision.candidate[i].type;
	}
	return n + 1;
}

/* Baselines of the scheduler launch each kernel by itself. */
static bool
gangs_possible(void)
{
	return gc_gangs_allowed() && gc_schedule == GC_POLICY_TWOSTAGE;
}

/* The gang that the run's main kernel can be launched in: 0 without. */
static u64
gang_of_run(const GcRun *run)
{
	return gangs_possible() && gc_gang_possible(run) ? gc_gang_id(run) : 0;
}

/* has_peers: other requests are in the worker, which might share a scan with this one. */
static void
add_item(GcRun *run, bool has_peers)
{
	GcPipelineKernel *kernel = gc_run_own_kernel(run);
	const GcInputValue *in = &run->request->inputs[run->main->input];
	GcCandidate	   *candidate = &decision.candidate[decision.ncandidates];

	gc_share_describe(run, has_peers);
	candidate->scan = run->schedule.scan;
	candidate->gang = gang_of_run(run);
	candidate->tiles = run->scan.pairs.slices > 0 ? gc_run_ntiles(run) : (in->rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
	candidate->needs = gc_describe_needs(run, kernel, kernel->alone_us.samples > 0 ? kernel->alone_us.value
									  : gc_cost_alone(&gc_worker.calibration, gc_slot_run_info(run->slot)->read_bytes));
	gc_describe_loads(run, kernel, candidate);
	decision.run[decision.ncandidates] = run;
	candidate->type = item_type(decision.ncandidates);
	candidate->fused = -1;
	candidate->member_mask = 0;
	candidate->columns = 0;
	candidate->fused_us = 0;
	decision.ncandidates++;
}

/*
 * Under gpuconc.debug_hold_requests: are too few requests ready to start any?  One that found too little device memory
 * gets it only when others are over.
 */
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

		if (run->schedule.released && run->state != RUN_FINISHED)
			return false;
		ready += run->state == RUN_READY || run->leader != NULL || (run->state == RUN_WAITING && run->schedule.begun);
	}
	if (ready < gc_requests_held())
		return true;
	foreach(lc, runs)
		((GcRun *) lfirst(lc))->schedule.released = true;
	return false;
}

/* Fill in `decision`: requests that could start, launches that are active, and shared scans that are possible. */
static void
collect(List *runs)
{
	ListCell   *lc;
	int			shared = 0;
	bool		has_peers = list_length(runs) > 1 || gc_sharing_forced();

	decision.ncandidates = decision.nactive = decision.others = 0;
	gc_share_begin();
	foreach(lc, runs)
	{
		GcRun	   *run = lfirst(lc);

		if (run->leader)
			continue;
		if (gc_run_on_device(run))
		{
			decision.others++;
			shared += run->schedule.launch && run->schedule.launch->fused;
		}
		if (run->state == RUN_RUNNING && !gc_run_in_waves(run))
			add_active(run->schedule.launch);
		else if (run->state == RUN_READY && !gc_run_in_waves(run) && decision.ncandidates < GC_MAX_CANDIDATES &&
				 (run->schedule.released || gc_requests_held() == 0))
			add_item(run, has_peers);
	}
	gc_meter_turn(decision.others - shared, shared);
	/* Forced sharing waits for its kernels (wait_for_kernels), so they are asked for first. */
	if (gc_sharing_forced())
		gc_share_improve();
	decision.nfused = gc_share_offer(decision.run, decision.candidate, decision.ncandidates, &decision.fused);
}

/* Is another kernel of this one's text ready or active, over another table? */
static bool
has_gang(int i)
{
	const GcRun *run = decision.run[i];
	const GcKernel *kernel = gc_run_own_kernel(run)->kernel;

	for (int k = 0; k < decision.ncandidates; k++)
	{
		if (decision.candidate[k].scan != run->schedule.scan && gc_run_own_kernel(decision.run[k])->kernel == kernel)
			return true;
	}
	for (int a = 0; a < decision.nactive; a++)
	{
		if (decision.launch[a]->kernel == kernel && decision.launch[a]->scan != run->schedule.scan)
			return true;
	}
	return false;
}

/* Ask for the kernels of gangs that could have been. */
static void
want_gangs(void)
{
	for (int i = 0; gangs_possible() && i < decision.ncandidates; i++)
	{
		if (gc_run_own_kernel(decision.run[i])->gang == NULL && gc_gang_possible(decision.run[i]) && has_gang(i))
			gc_gang_want(decision.run[i]);
	}
}

/*
 * Under gpuconc.debug_force_shared_scan, and debug_gang = wait: is a kernel for these candidates still being
 * compiled?
 */
static bool
wait_for_kernels(void)
{
	if (gc_gangs_forced())
	{
		want_gangs();
		for (int i = 0; gangs_possible() && i < decision.ncandidates; i++)
		{
			if (gc_gang_pending(decision.run[i]))
				return true;
			/* one that was asked for just now can have been there */
			decision.candidate[i].gang = gang_of_run(decision.run[i]);
		}
	}
	for (int i = 0; gc_sharing_forced() && i < decision.ncandidates; i++)
	{
		if (gc_share_pending(decision.run[i]))
			return true;
	}
	return false;
}

/* Have the policy decide.  The state of random sizes begins anew where the seed was changed. */
static void
decide(void)
{
	const GcFactors learned = gc_batch_factors();
	GcSchedule	s = {
		.profile = &gc_worker.profile,.calibration = &gc_worker.calibration,
		.policy = gc_schedule,.force_shared = gc_sharing_forced(),
		.force_coresident = gc_coresident_forced(),.force_gang = gc_gangs_forced(),
		.idle_overlap = learned.idle_overlap,.busy_overlap = learned.busy_overlap,.together = gc_meter_together(),
		.residual_part = learned.residual_part,.utilisation = gc_meter_utilisation(),
		.host_pressure = gc_meter_host_pressure(),.random_state = &random_state,
		.ncandidates = decision.ncandidates,.candidate = decision.candidate,
		.nactive = decision.nactive,.active = decision.active,
		.nfused = decision.nfused,.fused = decision.fused,
	};

	if (random_seed != gc_debug_schedule_seed)
		random_state = random_seed = gc_debug_schedule_seed;
	gc_decide(&s, work, &decision.decision);
}

/*-------------------------------------------------------------------------
 * Starting
 *-------------------------------------------------------------------------
 */

/* A launch as it was decided, without requests; the caller holds it. */
static GcMainLaunch *
new_launch(const GcStart *start, const GcCandidate *candidate)
{
	const GcFactors learned = gc_batch_factors();
	GcMainLaunch *launch = MemoryContextAllocZero(TopMemoryContext, sizeof(GcMainLaunch));
	const GcKernelNeeds *o = start->fused >= 0 ? &decision.fused[start->fused].needs : &candidate->needs;

	launch->grid = start->grid;
	launch->registers = o->registers;
	launch->shared_bytes = o->shared_bytes;
	launch->whole_shared = start->whole_shared;
	launch->scan = candidate->scan;
	launch->gang_id = start->fused < 0 ? candidate->gang : 0;
	launch->fused = start->fused >= 0;
	launch->selection = launch->fused && decision.fused[start->fused].selection;
	launch->predicted_us = start->predicted_us;
	launch->alone_us = candidate->needs.alone_us;
	launch->undisturbed = decision.others == 0;
	launch->busy_overlap = decision.others > 0 ? learned.busy_overlap : 0;
	launch->residual_us = launch->fused ? start->residual_us : 0;
	launch->residual_part = learned.residual_part;
	launch->issue_share = start->issue_share;
	launch->shared_us = decision.others == 0 ? start->shared_us : 0;
	launch->members = start->ncandidates;
	INSTR_TIME_SET_CURRENT(launch->started);
	return launch;
}

/*
 * The tile where a scan of ntiles tiles should begin: the present position of another scan of the
 * table, computed from the clock.  Then one scan finds rows in the L2 cache that the other has just read.
 */
static u32
attach_position(u32 scan, u32 ntiles)
{
	for (int a = 0; a < decision.nactive && scan != 0; a++)
	{
		const GcMainLaunch *l = decision.launch[a];
		double		done = gc_us_since(l->started);

		if (l->scan == scan && l->ntiles == ntiles && done < l->predicted_us &&
			l->predicted_us >= ATTACH_LEAST_US)
			return gc_sched_tile_of(l->first_tile, ntiles, done / l->predicted_us);
	}
	return 0;
}

/* A launch of the decision, which its requests have then.  The caller holds it, too. */
static GcMainLaunch *
begin_launch(GcBatch *batch, const GcStart *start)
{
	GcRun	   *first = decision.run[start->candidate[0]];
	GcMainLaunch *launch = new_launch(start, &decision.candidate[start->candidate[0]]);

	launch->users = 1;			/* the caller */
	launch->kernel = launch->fused ? NULL : gc_run_own_kernel(first)->kernel;
	launch->number = gc_batch_number(batch);
	launch->alone = decision.others == 0 && decision.decision.nstarts == 1;
	launch->first_tile = launch->fused ? 0 : attach_position(launch->scan, gc_run_ntiles(first));
	for (int m = 0; m < start->ncandidates; m++)
	{
		GcRun	   *run = decision.run[start->candidate[m]];

		run->schedule.launch = launch;
		launch->users++;
		launch->runs++;
		gc_batch_add(batch, run, start);
	}
	gc_meter_started(launch);
	return launch;
}

/* Start one launch of the decision.  A request that fails ends without the others. */
static void
start_launch(GcBatch *batch, const GcStart *start)
{
	GcRun	   *first = decision.run[start->candidate[0]];
	GcMainLaunch *launch = begin_launch(batch, start);

	if (launch->fused)
		gc_share_start(launch, start, decision.run);
	else if (gc_run_start_main(first, gc_run_own_kernel(first), &start->grid, launch->first_tile) != GC_OK)
		gc_run_fail_start(first);
	gc_main_launch_release(launch);
}

/* Equal, not 0, for starts of requests' own kernels that can be one launch. */
static u64
gang_id(const GcStart *start)
{
	return start->fused < 0 ? decision.candidate[start->candidate[0]].gang : 0;
}

/*
 * The starts that can be one launch with start i: kernels of its text over several tables, in blocks of one size.  At
 * least two, or none.
 */
static int
gang_of(const GcDecision *d, int i, const bool *begun, int *members)
{
	const GcStart *first = &d->start[i];
	const u64	id = gang_id(first);
	bool		several = false;
	int			n = 0;
	int			most;

	if (id == 0)
		return 0;
	most = gc_gang_most(decision.run[first->candidate[0]]);
	for (int k = i; k < d->nstarts && n < most; k++)
	{
		const GcStart *start = &d->start[k];

		if (begun[k] || gang_id(start) != id || start->grid.threads != first->grid.threads)
			continue;
		several = several ||
			decision.candidate[start->candidate[0]].scan != decision.candidate[first->candidate[0]].scan;
		members[n++] = k;
	}
	return several ? n : 0;
}

/* Start several of a decision's launches, of kernels of one text, as one. */
static void
start_gang(GcBatch *batch, const GcDecision *d, const int *members, int n)
{
	GcMainLaunch *launch[GC_GANG_MOST];
	GcRun	   *runs[GC_GANG_MOST];

	for (int m = 0; m < n; m++)
	{
		const GcStart *start = &d->start[members[m]];

		runs[m] = decision.run[start->candidate[0]];
		launch[m] = begin_launch(batch, start);
	}
	gc_gang_start(runs, n);
	for (int m = 0; m < n; m++)
		gc_main_launch_release(launch[m]);
}

/* Start all launches of the decision.  Launches that can be one are one. */
static void
start_launches(GcBatch *batch, const GcDecision *d)
{
	bool		begun[GC_MAX_CANDIDATES] = {false};
	int			members[GC_GANG_MOST];

	for (int i = 0; i < d->nstarts; i++)
	{
		const int	n = begun[i] ? 0 : gang_of(d, i, begun, members);

		for (int m = 0; m < n; m++)
			begun[members[m]] = true;
		if (n > 0)
			start_gang(batch, d, members, n);
		else if (!begun[i])
			start_launch(batch, &d->start[i]);
	}
}

/* Start all that was decided, as one batch.  Launches that were active are not undisturbed any more. */
static void
start_batch(float decision_us)
{
	const GcDecision *d = &decision.decision;
	int			started = 0;
	GcBatch    *batch;

	for (int i = 0; i < d->nstarts; i++)
		started += d->start[i].ncandidates;
	batch = gc_batch_begin(d, decision.others, decision.ncandidates - started, decision_us);
	for (int a = 0; a < decision.nactive; a++)
	{
		decision.launch[a]->alone = false;
		decision.launch[a]->undisturbed = false;
		decision.launch[a]->shared_us = 0;
	}
	gc_share_refused(d, decision.run, decision.candidate);
	start_launches(batch, d);
	for (int i = 0; i < decision.ncandidates; i++)
	{
		GcRunInfo  *info = gc_slot_run_info(decision.run[i]->slot);

		if (decision.run[i]->schedule.batch != batch)
			continue;
		info->batch_kernels = gc_batch_size(batch);
		info->co_running = decision.others + gc_batch_size(batch) - 1;
	}
	gc_batch_release(batch);
}

/*
 * Start the requests whose main pipelines are scanned in waves.  They wait for copies most of the time, so
 * nothing is to be decided for them.  Other kernels are scheduled as if they were not there.
 */
static bool
start_waves(List *runs)
{
	bool		any = false;
	ListCell   *lc;

	foreach(lc, runs)
	{
		GcRun	   *run = lfirst(lc);
		GcRunInfo  *info = gc_slot_run_info(run->slot);
		GcPipelineKernel *k;

		if (run->leader || run->state != RUN_READY || !gc_run_in_waves(run) ||
			(!run->schedule.released && gc_requests_held() > 0))
			continue;
		k = gc_run_own_kernel(run);
		run->schedule.launch = MemoryContextAllocZero(TopMemoryContext, sizeof(GcMainLaunch));
		run->schedule.launch->users = run->schedule.launch->runs = run->schedule.launch->members = 1;
		run->schedule.launch->registers = k->info.registers;
		run->schedule.launch->grid = gc_run_whole_grid(run, run->p->npipelines - 1, k, gc_run_ntiles(run));
		INSTR_TIME_SET_CURRENT(run->schedule.launch->started);
		info->scan_members = 1;
		info->policy = gc_schedule;
		if (gc_run_start_main(run, k, &run->schedule.launch->grid, 0) != GC_OK)
			gc_run_fail_start(run);
		any = true;
	}
	return any;
}

bool
gc_schedule_due(List *runs)
{
	const GcMainLaunch *asked = NULL;
	bool		any = false;
	ListCell   *lc;

	foreach(lc, runs)
	{
		const GcRun *run = lfirst(lc);
		GcMainLaunch *l = run->schedule.launch;

		if (run->state != RUN_RUNNING || !l->selection || l->select_done || l == asked)
			continue;
		asked = l;				/* the launch's other requests mostly come next */
		any = gc_share_selection_done(l) || any;
	}
	return any;
}

/* Decide once which requests start, and start them.  True if any did, or began its waves. */
bool
gc_schedule_runs(List *runs)
{
	instr_time	began;
	bool		waves;

	if (held_back(runs))
		return false;
	INSTR_TIME_SET_CURRENT(began);
	waves = start_waves(runs);
	collect(runs);
	if (decision.ncandidates == 0 || wait_for_kernels())
		return waves;
	decide();
	if (decision.decision.nstarts > 0)
		start_batch(gc_us_since(began));
	want_gangs();
	/* Kernels for later scans are asked for last, so that the device does not wait for that. */
	if (!gc_sharing_forced())
		gc_share_improve();
	return waves || decision.decision.nstarts > 0;
}
