/*-------------------------------------------------------------------------
 *
 * run_kernels.c
 *	  The kernels of a request: all that it launches, asked for and awaited.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "utils/timestamp.h"

#include "../memory/state.h"
#include "passes.h"

/* How often a request that does not fit is planned, with more passes or more room for each. */
#define MOST_PLANS		12

void
gc_run_ask_kernels(GcRun *run)
{
	for (int i = 0; i < run->p->npipelines && run->state != RUN_FINISHED; i++)
	{
		const GcSplits splits = gc_passes_splits(run->scan.passes, i);

		if (i + 1 == run->p->select && !run->result.choose)
			continue;
		run->kernels.of[i] = gc_signature_kernel(run->request, i, &splits, &run->kernels.fresh[i], &run->err);
		if (run->kernels.of[i] == NULL)
			run->state = RUN_FINISHED;
	}
}

bool
gc_run_ask_again(GcRun *run)
{
	run->request->edge = GC_EDGE_FUSE;
	run->state = RUN_COMPILING;
	gc_run_ask_kernels(run);
	return run->state != RUN_FINISHED;
}

bool
gc_run_plan_passes(GcRun *run, bool less)
{
	if (run->kernels.attempts++ == MOST_PLANS)
		return false;
	if (run->scan.passes == NULL)
		run->scan.passes = gc_passes_make(run->request, run->result.gather, run->result.choose, run->cxt);
	if (!gc_passes_plan(run->scan.passes, run->kernels.attempts > 1, less))
		return false;
	gc_slot_run_info(run->slot)->passes = gc_passes_count(run->scan.passes);
	return gc_run_ask_again(run);
}

/* Are there lookup tables that the device computes itself? */
static bool
computes_lookups(const GcRun *run)
{
	for (int i = 0; i < run->p->nluts; i++)
	{
		if (run->request->luts[i].dict)
			return true;
	}
	return false;
}

/* Is a kernel there?  If it cannot be had, the run is FINISHED. */
static bool
is_ready(GcRun *run, GcPipelineKernel *k)
{
	if (k->final)
		return true;
	switch (gc_kernel_poll(k, &run->err))
	{
		case GC_KERNEL_COMPILING:
			return false;
		case GC_KERNEL_FAILED:
			run->state = RUN_FINISHED;
			return true;
		default:
			return true;
	}
}

bool
gc_run_kernels_ready(GcRun *run)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	const bool	wanted[GC_NFIXED] = {[GC_FIXED_COMPACTOR] = run->result.gather,[GC_FIXED_TEXT] = computes_lookups(run),
	[GC_FIXED_HOLES] = run->request->nvisible > 0,[GC_FIXED_WINDOW] = run->p->nwindows > 0};
	bool		failed;

	for (int i = 0; i < run->p->npipelines; i++)
	{
		for (GcPipelineKernel *k = run->kernels.of[i]; k; k = k->consumer)
		{
			if (!is_ready(run, k))
				return false;
			if (run->state == RUN_FINISHED)
				return true;
		}
	}
	for (int i = 0; i < GC_NFIXED; i++)
	{
		if (!wanted[i] || gc_fixed_kernel(i, &run->err, &failed) != NULL)
			continue;
		if (failed)
			run->state = RUN_FINISHED;
		return failed;
	}
	for (int i = 0; i < run->p->npipelines; i++)
	{
		GcKernelOrigin origin;

		if (!run->kernels.fresh[i])
			continue;
		origin = gc_kcache_origin(run->kernels.of[i]->entry);
		info->compiled += origin == GC_ORIGIN_COMPILED;
		info->from_disk += origin == GC_ORIGIN_DISK;
	}
	info->compile_ms = (GetCurrentTimestamp() - run->schedule.taken) / 1000.0;
	return true;
}

bool
gc_run_reads_column(const GcRun *run, int pipeline, int column)
{
	for (const GcPipelineKernel *k = run->kernels.of[pipeline]; k; k = k->consumer)
	{
		for (int i = 0; i < k->nwords; i++)
		{
			if (k->words[i].type == GC_ARG_COLUMN && k->words[i].index == column)
				return true;
		}
	}
	return false;
}
