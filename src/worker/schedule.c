/*-------------------------------------------------------------------------
 *
 * schedule.c
 *	  From READY requests to launches: asks sched/ what to start, starts it, and notes
 *	  how it went.
 *
 * What one decision starts is a batch.  It lives until the last of its requests ends;
 * then it goes to the log (queue/batchlog.h), and what its kernels took teaches the
 * cost model.  The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run/run.h"

#include <math.h>

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "../settings.h"
#include "../queue/batchlog.h"
#include "../sched/policy/coresident.h"
#include "share/fused.h"

/*
 * Scans that end sooner are not worth attaching to: by the clock alone, their position
 * is not known well enough to meet in the L2 cache.  Measured on an H200, 16 clients:
 * attaching to scans of 0.2 ms cost a tenth of the throughput.
 */
#define ATTACH_LEAST_US	2000

/* What is left of a scan teaches how long the next takes if it is more than this part of that. */
#define LEFT_LEAST		0.2

typedef struct GcBatch
{
	GcBatchRecord record;
	int			users;
	int			entries;		/* of the record, handed out to requests */
	u32			launches;
	u64			first_ns;		/* start of the first kernel, by the device's clock; 0: none yet */
	u64			last_ns;		/* end of the last one */
	u64			start_ns[GC_BATCHLOG_KERNELS];	/* by entry; 0: not known */

	double		factor;			/* GcSchedule.beside, when it was decided */
	int			in_line;		/* kernels one behind the other, with nothing else on the device,
								 * that are done */

	/* Resident together, and undisturbed so far: whose issue_part it teaches. */
	int			nresident;
	GcLearned  *issue_part[GC_RESIDENT_MAX];
	double		share[GC_RESIDENT_MAX]; /* as gc_resident_learn wants it */
	double		shared_us;		/* as GcStart's */
} GcBatch;

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
	GcFusedKernel fused[GC_MAX_FUSED_KERNELS];
	GcFused    *kernels[GC_MAX_FUSED_KERNELS];	/* what they are */
	int			nfused;
	GcDecision	decision;
}			now;

static GcDecideWork *work = NULL;

/* GcSchedule's */
static GcLearned beside;
static GcLearned among;
static GcLearned left;
static uint64_t lot;
static int	lot_seed = -1;

void
gc_schedule_init(void)
{
	if (work == NULL)
		work = (GcDecideWork *) CACHELINEALIGN(MemoryContextAlloc(TopMemoryContext,
																  gc_decide_work_size() + PG_CACHE_LINE_SIZE));
}

/* More than the sum is nothing that is known of kernels: others, or the thread, were in their way. */
static double
factor_of(const GcLearned *learned, double first)
{
	return learned->samples > 0 ? Min(Max(learned->value, 0.05), 1) : first;
}

static double
beside_factor(void)
{
	return factor_of(&beside, gc_line_factor(&gc_worker.calibration));
}

static double
among_factor(void)
{
	return factor_of(&among, gc_line_factor(&gc_worker.calibration));
}

static double
left_factor(void)
{
	return factor_of(&left, GC_LEFT_OF_SCAN);
}

/*-------------------------------------------------------------------------
 * What there is
 *-------------------------------------------------------------------------
 */

/* Of a marked scan whose marks are done: what its requests' kernels are expected to take yet. */
static double
left_us(const GcMainLaunch *launch)
{
	double		us = 0;

	if (!launch->marks_done)
		return 0;
	for (int m = 0; m < launch->members; m++)
		us += launch->shapes[m]->marked_us;
	return Max(us - gc_us_since(launch->marks_seen), 0);
}

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
		.members = launch->members,.marked = launch->marks_done,.left_us = left_us(launch),
	.alone_us = launch->alone_us,.resident = launch->issue_share > 0};
}

static GcPipelineKernel *
own_kernel(const GcRun *run)
{
	return run->kernels[run->p->npipelines - 1];
}

/* Are two items the same kernel with the same needs? */
static bool
same_type(int a, int b)
{
	return own_kernel(now.run[a]) == own_kernel(now.run[b]) &&
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
	GcPipelineKernel *kernel = own_kernel(run);
	const GcInputValue *in = &run->request->inputs[run->main->input];
	GcItem	   *item = &now.item[now.nitems];

	if (company || run->test_bits != 0)
		gc_fused_describe(run);
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

	if (gc_debug_hold_requests == 0)
		return false;
	foreach(lc, runs)
	{
		GcRun	   *run = lfirst(lc);

		if (run->released && run->state != RUN_FINISHED)
			return false;
		ready += run->state == RUN_READY || run->leader != NULL;
	}
	if (ready < gc_debug_hold_requests)
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
	bool		company = list_length(runs) > 1 || gc_debug_force_shared_scan != GC_FORCE_NONE;

	now.nitems = now.nactive = now.beside = 0;
	gc_fused_begin();
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
				 (run->released || gc_debug_hold_requests == 0))
			add_item(run, company);
	}
	gc_meter_turn(now.beside - shared, shared);
	/* Where somebody will wait for them, kernels are asked for before. */
	if (gc_debug_force_shared_scan != GC_FORCE_NONE)
		gc_fused_improve();
	now.nfused = gc_fused_kernels(now.fused, now.kernels, now.run, now.item, now.nitems);
}

/* Under gpuconc.debug_force_shared_scan: is a kernel for these still to come? */
static bool
wait_for_kernels(void)
{
	for (int i = 0; gc_debug_force_shared_scan != GC_FORCE_NONE && i < now.nitems; i++)
	{
		if (gc_fused_pending(now.run[i]))
			return true;
	}
	return false;
}

static void
decide(void)
{
	GcSchedule	s = {
		.profile = &gc_worker.profile,.calibration = &gc_worker.calibration,
		.policy = gc_schedule,.force_shared = gc_debug_force_shared_scan != GC_FORCE_NONE,
		.force_resident = gc_debug_force_resident,
		.beside = beside_factor(),.among = among_factor(),.together = gc_meter_together(),
		.left = left_factor(),.load = gc_meter_load(),.pressure = gc_meter_pressure(),.lot = &lot,
		.nitems = now.nitems,.item = now.item,
		.nactive = now.nactive,.active = now.active,
		.nfused = now.nfused,.fused = now.fused,
	};

	if (lot_seed != gc_schedule_seed)
		lot = lot_seed = gc_schedule_seed;
	gc_decide(&s, work, &now.decision);
}

/*-------------------------------------------------------------------------
 * How it went
 *-------------------------------------------------------------------------
 */

/* A kernel of a resident batch is done. */
static void
note_resident(GcBatch *batch, const GcMainLaunch *l, GcPipelineKernel *k)
{
	if (l->shared_us == 0 || l->alone_us <= 0 || batch->nresident == GC_RESIDENT_MAX)
		return;
	batch->issue_part[batch->nresident] = &k->issue_part;
	batch->share[batch->nresident++] = l->issue_share / l->alone_us;
	batch->shared_us = l->shared_us;
}

/* Entry i of the record by the batch's clock, which begins with its first kernel. */
static void
place(GcBatch *batch, int i)
{
	GcBatchKernel *e = &batch->record.kernel[i];

	if (batch->start_ns[i] == 0)
		return;
	e->start_us = (batch->start_ns[i] - batch->first_ns) / 1000.0;
	e->end_us += e->start_us;
}

/*
 * All of its kernels were one behind the other, and nothing else was there.  Where launching them
 * takes longer than they do, their time is the thread's.
 */
static void
learn_in_line(const GcBatch *batch)
{
	const int	own[GC_HOST_KINDS] = {[GC_HOST_OWN] = batch->in_line};
	const double sum_us = batch->record.predicted_us / batch->factor;

	if (sum_us > gc_host_us(own) * Max(gc_meter_slowness(), 1))
		gc_learn(&beside, batch->record.actual_us / sum_us);
}

static void
batch_release(GcBatch *batch)
{
	if (--batch->users > 0)
		return;
	batch->record.actual_us = (batch->last_ns - batch->first_ns) / 1000.0;
	for (int i = 0; i < batch->entries; i++)
		place(batch, i);
	if (batch->in_line > 1 && batch->in_line == batch->record.nkernels)
		learn_in_line(batch);
	if (batch->nresident > 1 && batch->nresident == batch->record.nkernels)
		gc_resident_learn(batch->issue_part, batch->share, batch->nresident, batch->record.actual_us, batch->shared_us);
	batch->record.nkept = batch->entries;
	gc_batchlog_add(&batch->record);
	pfree(batch);
}

/*
 * Who asked for which kernel, in which shape.  Also of a request that failed, so that
 * its owner may see it; one that did not get as far as a launch has no shape.
 */
static void
note_kernel(const GcRun *run, GcBatch *batch)
{
	const GcMainLaunch *l = run->launch;
	const GcPipelineKernel *k = own_kernel(run);
	GcBatchKernel *e;

	if (run->batch_entry < 0)
		return;
	e = &batch->record.kernel[run->batch_entry];
	e->pid = gc_slot_pid(run->slot);
	e->kernel = k->hash;
	e->kind = GC_BATCH_ALONE;
	e->members = 1;
	e->queued_us = batch->record.began - gc_slot_submitted(run->slot);
	if (l == NULL)
		return;
	if (l->fused)
	{
		e->kernel = gc_fused_hash(l->kernel);
		e->kind = l->marked ? GC_BATCH_MARKED : GC_BATCH_FUSED;
		e->scan = l->number;
	}
	e->members = l->members;
	e->blocks = l->shape.blocks;
	e->threads = l->shape.threads;
	e->shared_bytes = l->shared_bytes;
	e->first_tile = l->first_tile;
	e->ntiles = l->ntiles;
	e->predicted_us = l->predicted_us;
}

/* When it ran. */
static void
note_times(const GcRun *run, GcBatch *batch)
{
	const GcMainLaunch *l = run->launch;
	const u64	ended = l->began_ns + (u64) (run->main_us * 1000);
	GcBatchKernel *e;

	if (batch->first_ns == 0 || l->began_ns < batch->first_ns)
		batch->first_ns = l->began_ns;
	batch->last_ns = Max(batch->last_ns, ended);
	if (run->batch_entry < 0)
		return;
	e = &batch->record.kernel[run->batch_entry];
	batch->start_ns[run->batch_entry] = l->began_ns;
	e->end_us = run->main_us;	/* from its start, until place() */
	e->marks_us = l->marked ? l->kernel_us : 0;
	e->done_us = GetCurrentTimestamp() - batch->record.began;
}

/*
 * How far off the prediction was, as a part of the time that it was of: of a kernel of its own
 * since its batch began, of a shared scan from its own begin.  Negative: that is not known,
 * since what else was on the device had begun earlier, or came later.
 */
static float
error_of(const GcMainLaunch *l, const GcBatch *batch, double time_us)
{
	if (!l->fused && !l->undisturbed)
		return -1;
	if (!l->fused)
		time_us += (l->began_ns - batch->first_ns) / 1000.0;
	return fabs(l->predicted_us - time_us) / time_us;
}

/* Totals of the kernel, and what the cost model learns; once per launch. */
static void
learn(GcRun *run, GcBatch *batch, float time_us)
{
	GcMainLaunch *l = run->launch;
	GcPipelineKernel *k = own_kernel(run);
	GcKernelLog log = {
		.kernel = l->fused ? gc_fused_hash(l->kernel) : k->hash,
		.kind = l->marked ? GC_BATCH_MARKED : l->fused ? GC_BATCH_FUSED : GC_BATCH_ALONE,
		.launches = 1,.requests = l->members,.time_us = time_us,.best_us = time_us,
		.error = time_us > 0 ? error_of(l, batch, time_us) : -1,
		.registers = l->registers,.shared_bytes = l->shared_bytes,.threads = l->shape.threads,
		.max_blocks = l->fused ? 0 : k->occupancy,.last_launch = GetCurrentTimestamp(),
	};

	if (l->learned || time_us <= 0)
		return;
	l->learned = true;
	/* Where little was left, the rest's error is as large as what that adds. */
	if (l->left_us > l->predicted_us * LEFT_LEAST)
		gc_learn(&left, gc_left_part(time_us, l->predicted_us - l->left_us * l->left, l->left_us));
	if (l->marked)
		gc_marked_learn(l, l->kernel_us);
	else if (l->fused)
		gc_fused_learn(l, time_us);
	else if (l->alone)
		gc_learn(&k->alone_us, time_us);
	else if (l->issue_share > 0)
		note_resident(batch, l, k);
	else if (batch->record.policy == GC_POLICY_TWOSTAGE && k->alone_us.samples > 0)
	{
		if (l->undisturbed)
			batch->in_line++;
		else if (l->among > 0 && l->predicted_us > 0)
			gc_learn(&among, time_us / l->predicted_us * l->among);
	}
	if (!l->fused)
		gc_meter_ran(l->alone_us);
	log.alone_us = l->fused ? 0 : k->alone_us.value;
	gc_kernellog_add(&log);
}

/* It is not part of the batch after all; its place in the record stays empty. */
void
gc_batch_run_leaves(GcRun *run)
{
	GcBatch    *batch = run->batch;

	run->batch = NULL;
	if (batch == NULL)
		return;
	batch->record.nkernels--;
	batch_release(batch);
}

void
gc_batch_run_ends(GcRun *run)
{
	GcBatch    *batch = run->batch;

	if (batch == NULL)
		return;
	run->batch = NULL;
	note_kernel(run, batch);
	if (run->err.code == GC_OK && run->launch)
	{
		GcMainLaunch *l = run->launch;

		if (run->main_us > 0)
			note_times(run, batch);
		/* A marked scan is over with its last request. */
		l->total_us = Max(l->total_us, run->main_us);
		if (!l->marked || l->runs == 1)
			learn(run, batch, l->total_us);
	}
	else
		batch->record.failed++;
	batch_release(batch);
}

/*-------------------------------------------------------------------------
 * Starting
 *-------------------------------------------------------------------------
 */

static GcMainLaunch *
new_launch(const GcStart *start, const GcItem *item)
{
	GcMainLaunch *launch = MemoryContextAllocZero(TopMemoryContext, sizeof(GcMainLaunch));
	const GcOption *o = start->fused >= 0 ? &now.fused[start->fused].option : &item->option;

	launch->shape = start->shape;
	launch->registers = o->registers;
	launch->shared_bytes = o->shared_bytes;
	launch->whole_shared = start->whole_shared;
	launch->scan = item->scan;
	launch->fused = start->fused >= 0;
	launch->marked = launch->fused && now.kernels[start->fused]->marker;
	launch->predicted_us = start->predicted_us;
	launch->alone_us = item->option.alone_us;
	launch->undisturbed = now.beside == 0;
	launch->among = now.beside > 0 ? among_factor() : 0;
	launch->left_us = launch->fused ? start->left_us : 0;
	launch->left = left_factor();
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

static void
note_start(GcRun *run, GcBatch *batch, const GcStart *start)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcBatchRecord *r = &batch->record;

	run->batch = batch;
	run->batch_entry = batch->entries < GC_BATCHLOG_KERNELS ? batch->entries++ : -1;
	r->nkernels++;
	batch->users++;
	info->batch = r->id;
	info->policy = r->policy;
	info->scan_members = start->nitems;
	info->predicted_ms = start->predicted_us / 1000;
}

/* One launch of the decision.  Requests that fail go their way, alone. */
static void
start_launch(GcBatch *batch, const GcStart *start)
{
	GcRun	   *first = now.run[start->item[0]];
	GcMainLaunch *launch = new_launch(start, &now.item[start->item[0]]);
	u32			ntiles = gc_run_ntiles(first);

	launch->users = 1;			/* ours, while we work on it */
	launch->number = ++batch->launches;
	launch->alone = now.beside == 0 && now.decision.nstarts == 1;
	launch->first_tile = attach_position(launch->scan, ntiles);
	for (int m = 0; m < start->nitems; m++)
	{
		GcRun	   *run = now.run[start->item[m]];

		run->launch = launch;
		launch->users++;
		launch->runs++;
		note_start(run, batch, start);
	}
	gc_meter_started(launch);
	if (launch->marked)
		gc_marked_start(launch, now.kernels[start->fused], start, now.run);
	else if (launch->fused)
		gc_fused_start(launch, now.kernels[start->fused], start, now.run);
	else if (gc_run_start_main(first, own_kernel(first), &start->shape, launch->first_tile) != GC_OK)
		gc_run_fail_start(first);
	gc_main_launch_release(launch);
}

/* Of those in a marked scan, some might have been in a fused one: once for each shape. */
static void
note_unfused(const GcStart *start)
{
	for (int m = 0; m < start->nitems; m++)
	{
		const GcRun *run = now.run[start->item[m]];
		int			k = 0;

		while (now.run[start->item[k]]->scan_shape != run->scan_shape)
			k++;
		if (k == m)
			gc_fused_refused(run, now.item[start->item[m]].option.alone_us);
	}
}

/* Requests that might have been in a shared scan, or in another one, and will not. */
static void
note_refused(const GcDecision *d)
{
	GcRun	   *refused[GC_MAX_ITEMS];
	int			n = 0;

	for (int i = 0; i < d->nstarts; i++)
	{
		GcRun	   *run = now.run[d->start[i].item[0]];

		if (d->start[i].fused >= 0)
		{
			if (now.kernels[d->start[i].fused]->marker)
				note_unfused(&d->start[i]);
			continue;
		}
		gc_fused_refused(run, now.item[d->start[i].item[0]].option.alone_us);
		if (gc_marked_can(run))
			refused[n++] = run;
	}
	if (n > 0)
		gc_marked_refused(refused, n);
}

static void
start_batch(float decision_us)
{
	const GcDecision *d = &now.decision;
	GcBatch    *batch = MemoryContextAllocZero(TopMemoryContext, sizeof(GcBatch));
	GcBatchRecord *r = &batch->record;
	int			started = 0;

	r->id = gc_batchlog_next_id();
	r->began = GetCurrentTimestamp();
	r->policy = gc_schedule;
	r->patterns = d->patterns;
	r->planned = d->planned;
	r->beside = now.beside;
	batch->factor = beside_factor();
	r->predicted_us = d->predicted_us;
	r->decision_us = decision_us;
	for (int i = 0; i < d->nstarts; i++)
		started += d->start[i].nitems;
	r->waiting = now.nitems - started;
	batch->users = 1;
	for (int a = 0; a < now.nactive; a++)
	{
		now.launch[a]->alone = false;
		now.launch[a]->undisturbed = false;
		now.launch[a]->shared_us = 0;
	}
	note_refused(d);
	for (int i = 0; i < d->nstarts; i++)
		start_launch(batch, &d->start[i]);
	for (int i = 0; i < now.nitems; i++)
	{
		GcRunInfo  *info = gc_slot_run_info(now.run[i]->slot);

		if (now.run[i]->batch != batch)
			continue;
		info->batch_kernels = r->nkernels;
		info->co_running = now.beside + r->nkernels - 1;
	}
	batch_release(batch);
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
		bool		done = false;
		GcError		err;

		if (run->state != RUN_RUNNING || !l->marked || l->marks_done || l->computed == NULL || l == asked)
			continue;
		asked = l;				/* its other requests come next, mostly */
		/* Of an error, the requests hear when they ask for their own marks. */
		if (gc_worker.ops->mark_done(l->computed, &done, &err) != GC_OK)
			done = true;
		l->marks_done = done;
		if (done)
			INSTR_TIME_SET_CURRENT(l->marks_seen);
		any = any || done;
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
	if (gc_debug_force_shared_scan == GC_FORCE_NONE)
		gc_fused_improve();
	return now.decision.nstarts > 0;
}
