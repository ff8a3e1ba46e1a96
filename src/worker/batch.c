/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  The launches that one decision started: their record, and lessons from their times.
 *
 * A batch lives until the last of its requests ends.  Then its record goes to the log
 * (queue/batchlog.h), and the cost model learns from its kernels' times.  Requests hold their
 * batch; schedule.c holds it while it starts them.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "batch.h"

#include <math.h>

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "../queue/batchlog.h"
#include "../sched/policy/coresident.h"
#include "../settings.h"
#include "memory/state.h"
#include "meter.h"
#include "share/share.h"

/* The residual part is learned where the last scan's residual time is more than this part of the next scan. */
#define LEFT_LEAST		0.2

struct GcBatch
{
	GcBatchRecord record;
	int			users;
	int			entries;		/* of the record, handed out to requests */
	u32			launches;
	u64			first_ns;		/* start of the first kernel, by the device's clock; 0: none yet */
	u64			last_ns;		/* end of the last one */
	u64			start_ns[GC_BATCHLOG_KERNELS];	/* by entry; 0: not known */

	double		factor;			/* GcSchedule.idle_overlap, when it was decided */
	int			in_sequence;	/* kernels that are done and ran in sequence, with nothing else
								 * on the device */

	/* Co-resident kernels, undisturbed so far, whose issue parts are learned from the batch. */
	int			nresident;
	GcLearned  *issue_part[GC_CORESIDENT_MAX];
	GcKernelSet *set[GC_CORESIDENT_MAX];	/* of these, held */
	double		share[GC_CORESIDENT_MAX]; /* as gc_coresident_learn wants it */
	double		shared_us;		/* as GcStart's */
};

static GcLearned idle_overlap;
static GcLearned busy_overlap;
static GcLearned residual_part;

/* A learned factor above 1 says nothing about kernels: other kernels, or the thread, delayed them. */
static double
factor_of(const GcLearned *learned, double first)
{
	return learned->samples > 0 ? Min(Max(learned->value, 0.05), 1) : first;
}

/* As learned, or the calibration's until something was. */
static double
idle_overlap_factor(void)
{
	return factor_of(&idle_overlap, gc_sequence_factor(&gc_worker.calibration));
}

/* As idle_overlap_factor(), for launches that begin beside others. */
static double
busy_overlap_factor(void)
{
	return factor_of(&busy_overlap, gc_sequence_factor(&gc_worker.calibration));
}

/* As learned, or a constant until something was. */
static double
residual_factor(void)
{
	return factor_of(&residual_part, GC_RESIDUAL_OF_SCAN);
}

/* Factors of the cost model as they are learned so far. */
GcFactors
gc_batch_factors(void)
{
	return (GcFactors) {.idle_overlap = idle_overlap_factor(),.busy_overlap = busy_overlap_factor(),
		.residual_part = residual_factor()};
}

GcBatch *
gc_batch_begin(const GcDecision *d, int on_device, int waiting, float decision_us)
{
	GcBatch    *batch = MemoryContextAllocZero(TopMemoryContext, sizeof(GcBatch));
	GcBatchRecord *r = &batch->record;

	r->id = gc_batchlog_next_id();
	r->began = GetCurrentTimestamp();
	r->device = gc_my_device();
	r->policy = gc_schedule;
	r->patterns = d->patterns;
	r->planned = d->planned;
	r->others = on_device;
	batch->factor = idle_overlap_factor();
	r->predicted_us = d->predicted_us;
	r->decision_us = decision_us;
	r->waiting = waiting;
	batch->users = 1;
	return batch;
}

u32
gc_batch_number(GcBatch *batch)
{
	return ++batch->launches;
}

int
gc_batch_size(const GcBatch *batch)
{
	return batch->record.nkernels;
}

void
gc_batch_add(GcBatch *batch, GcRun *run, const GcStart *start)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcBatchRecord *r = &batch->record;

	run->schedule.batch = batch;
	run->schedule.batch_entry = batch->entries < GC_BATCHLOG_KERNELS ? batch->entries++ : -1;
	r->nkernels++;
	batch->users++;
	info->batch = r->id;
	info->policy = r->policy;
	info->scan_members = start->ncandidates;
	info->predicted_ms = start->predicted_us / 1000;
}

/*-------------------------------------------------------------------------
 * How it went
 *-------------------------------------------------------------------------
 */

/* A kernel of a co-resident batch is done. */
static void
note_coresident(GcBatch *batch, const GcRun *run, const GcMainLaunch *l, GcPipelineKernel *k)
{
	if (l->shared_us == 0 || l->alone_us <= 0 || batch->nresident == GC_CORESIDENT_MAX)
		return;
	batch->issue_part[batch->nresident] = &k->issue_part;
	batch->set[batch->nresident] = gc_kernels_hold(run->kernels.set);
	batch->share[batch->nresident++] = l->issue_share / l->alone_us;
	batch->shared_us = l->shared_us;
}

/* Convert entry i of the record to the batch's clock, which begins with its first kernel. */
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
 * Learn from a batch whose kernels all ran in sequence, with nothing else on the device.  Where
 * launching takes longer than the kernels, the batch's time says nothing about the device.
 */
static void
learn_in_sequence(const GcBatch *batch)
{
	const int	own[GC_HOST_KINDS] = {[GC_HOST_OWN] = batch->in_sequence};
	const double sum_us = batch->record.predicted_us / batch->factor;

	if (sum_us > gc_host_us(own) * Max(gc_meter_slowness(), 1))
		gc_learn(&idle_overlap, batch->record.actual_us / sum_us);
}

void
gc_batch_release(GcBatch *batch)
{
	if (--batch->users > 0)
		return;
	batch->record.actual_us = (batch->last_ns - batch->first_ns) / 1000.0;
	for (int i = 0; i < batch->entries; i++)
		place(batch, i);
	if (batch->in_sequence > 1 && batch->in_sequence == batch->record.nkernels)
		learn_in_sequence(batch);
	if (batch->nresident > 1 && batch->nresident == batch->record.nkernels)
		gc_coresident_learn(batch->issue_part, batch->share, batch->nresident, batch->record.actual_us,
							batch->shared_us);
	for (int i = 0; i < batch->nresident; i++)
		gc_kernels_let_go(batch->set[i]);
	batch->record.nkept = batch->entries;
	gc_batchlog_add(&batch->record);
	pfree(batch);
}

/*
 * Note which session asked for which kernel, with which grid.  A request that failed is noted too, so
 * that its owner may see it; without a launch it has no grid.
 */
static void
note_kernel(const GcRun *run, GcBatch *batch)
{
	const GcMainLaunch *l = run->schedule.launch;
	const GcPipelineKernel *k = gc_run_own_kernel(run);
	GcBatchKernel *e;

	if (run->schedule.batch_entry < 0)
		return;
	e = &batch->record.kernel[run->schedule.batch_entry];
	e->pid = gc_slot_pid(run->slot);
	e->kernel = k->hash;
	e->kind = GC_BATCH_ALONE;
	e->members = 1;
	e->queued_us = batch->record.began - gc_slot_submitted(run->slot);
	if (l == NULL)
		return;
	if (l->fused)
	{
		e->kernel = gc_share_hash(l);
		e->kind = l->selection ? GC_BATCH_SELECTION : GC_BATCH_FUSED;
		e->scan = l->number;
	}
	e->members = l->members;
	e->blocks = l->grid.blocks;
	e->threads = l->grid.threads;
	e->shared_bytes = l->shared_bytes;
	e->first_tile = l->first_tile;
	e->ntiles = l->ntiles;
	e->predicted_us = l->predicted_us;
}

/* Note when the request's kernel ran. */
static void
note_times(const GcRun *run, GcBatch *batch)
{
	const GcMainLaunch *l = run->schedule.launch;
	const u64	ended = l->began_ns + (u64) (run->result.main_us * 1000);
	GcBatchKernel *e;

	if (batch->first_ns == 0 || l->began_ns < batch->first_ns)
		batch->first_ns = l->began_ns;
	batch->last_ns = Max(batch->last_ns, ended);
	if (run->schedule.batch_entry < 0)
		return;
	e = &batch->record.kernel[run->schedule.batch_entry];
	batch->start_ns[run->schedule.batch_entry] = l->began_ns;
	e->end_us = run->result.main_us;	/* since the kernel's start; place() changes that */
	e->select_us = l->selection ? l->kernel_us : 0;
	e->done_us = GetCurrentTimestamp() - batch->record.began;
}

/*
 * The prediction's error, as a part of the real time.  That time begins with the batch for a request's
 * own kernel, and with the scan itself for a shared scan.  Negative: not known, since other kernels
 * were on the device.
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

/* Add to the totals of the kernel, and let the cost model learn; once per launch. */
static void
learn(GcRun *run, GcBatch *batch, float time_us)
{
	GcMainLaunch *l = run->schedule.launch;
	GcPipelineKernel *k = gc_run_own_kernel(run);
	GcKernelLog log = {
		.kernel = l->fused ? gc_share_hash(l) : k->hash,
		.kind = l->selection ? GC_BATCH_SELECTION : l->fused ? GC_BATCH_FUSED : GC_BATCH_ALONE,
		.device = gc_my_device(),
		.launches = 1,.requests = l->members,.time_us = time_us,.best_us = time_us,
		.error = time_us > 0 ? error_of(l, batch, time_us) : -1,
		.registers = l->registers,.shared_bytes = l->shared_bytes,.threads = l->grid.threads,
		.max_blocks = l->fused ? 0 : k->occupancy,.last_launch = GetCurrentTimestamp(),
	};

	if (l->learned || time_us <= 0)
		return;
	l->learned = true;
	if (l->gang)
	{
		log.launches = !l->gang->counted;
		l->gang->counted = true;
	}
	/* With little residual time, the error of the rest is as large as the time that residual_part stands for. */
	if (l->residual_us > l->predicted_us * LEFT_LEAST)
		gc_learn(&residual_part,
				 gc_residual_part(time_us, l->predicted_us - l->residual_us * l->residual_part, l->residual_us));
	if (l->fused)
		gc_share_learn(l, time_us);
	else if (l->alone)
		gc_kernel_ran(k, l->effort, time_us, l->ntiles);
	else if (l->issue_share > 0)
		note_coresident(batch, run, l, k);
	/* The members of a gang overlap otherwise than launches do. */
	else if (batch->record.policy == GC_POLICY_TWOSTAGE && k->alone_us.samples > 0 && l->gang == NULL)
	{
		if (l->undisturbed)
			batch->in_sequence++;
		else if (l->busy_overlap > 0 && l->predicted_us > 0)
			gc_learn(&busy_overlap, time_us / l->predicted_us * l->busy_overlap);
	}
	if (!l->fused)
		gc_meter_ran(l->alone_us);
	log.alone_us = l->fused ? 0 : k->alone_us.value;
	gc_kernellog_add(&log);
}

void
gc_batch_run_leaves(GcRun *run)
{
	GcBatch    *batch = run->schedule.batch;

	run->schedule.batch = NULL;
	if (batch == NULL)
		return;
	batch->record.nkernels--;
	gc_batch_release(batch);
}

void
gc_batch_run_ends(GcRun *run)
{
	GcBatch    *batch = run->schedule.batch;

	if (batch == NULL)
		return;
	run->schedule.batch = NULL;
	note_kernel(run, batch);
	if (run->err.code == GC_OK && run->schedule.launch)
	{
		GcMainLaunch *l = run->schedule.launch;

		if (run->result.main_us > 0)
			note_times(run, batch);
		/* A selection scan is over with its last request. */
		l->total_us = Max(l->total_us, run->result.main_us);
		if (!l->selection || l->runs == 1)
			learn(run, batch, l->total_us);
	}
	else
		batch->record.failed++;
	gc_batch_release(batch);
}
