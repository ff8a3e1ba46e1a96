/*-------------------------------------------------------------------------
 *
 * give_back.c
 *	  What a run gives back, and when: its memory on the device, its launch, its result.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "give_back.h"

#include "../../columns/store/arena.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "edge_launch.h"
#include "hooks.h"
#include "memory_demand.h"
#include "result.h"
#include "wave_scan.h"

bool
gc_run_nobody_waits(GcRun *run)
{
	if (!gc_slot_abandoned(run->slot) || run->followers != NIL)
		return false;
	gc_fail(&run->err, GC_CANCELLED, "The request was abandoned.");
	return true;
}

static void
leave_launch(GcRun *run)
{
	if (run->schedule.launch == NULL)
		return;
	if (--run->schedule.launch->runs == 0)
		gc_main_launch_strip(run->schedule.launch);
	gc_main_launch_release(run->schedule.launch);
	run->schedule.launch = NULL;
	run->schedule.ganged = false;
}

void
gc_run_unstart(GcRun *run)
{
	leave_launch(run);
	gc_run_hooks->leaves(run);
	run->state = RUN_READY;
}

void
gc_run_release_device(GcRun *run)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcEvent	  **events[] = {&run->memory.copies.began, &run->result.fetch.began, &run->memory.copied, &run->memory.built, &run->memory.prepared, &run->scan.done};

	run->scan.streaming = false;
	run->memory.copied_columns = run->memory.copied_lookups = 0;
	gc_wave_scans_leave(run);
	for (int i = 0; i < run->p->ncolumns; i++)
	{
		if (run->memory.tables[i])
			gc_table_release(run->memory.tables[i]);
		run->memory.tables[i] = NULL;
	}
	for (int i = 0; i < run->p->nbuilds; i++)
	{
		if (run->memory.builds[i])
			gc_build_release(run->memory.builds[i]);
		run->memory.builds[i] = NULL;
		gc_device_free(run->memory.matched[i]);
		run->memory.matched[i] = 0;
	}
	for (int i = 0; i < run->p->nluts; i++)
	{
		if (run->memory.lookups[i])
			gc_device_lookup_release(run->memory.lookups[i]);
		if (run->memory.dicts[i])
			gc_device_dict_release(run->memory.dicts[i]);
		run->memory.lookups[i] = NULL;
		run->memory.dicts[i] = NULL;
	}
	if (run->memory.device_part_owned)
		gc_device_free(run->memory.device_part);
	run->memory.device_part_owned = false;
	gc_device_free(run->memory.bitmaps);
	run->memory.bitmaps = 0;
	for (int i = 0; i < run->p->npipelines; i++)
	{
		if (i < run->p->npipelines - 1)
			gc_device_free(run->memory.sinks[i].memory);
		run->memory.sinks[i].memory = 0;
	}
	gc_device_free(run->memory.sink);
	run->memory.sink = 0;
	gc_edge_free(run);
	gc_run_hooks->gives_back(run);
	leave_launch(run);
	for (int i = 0; i < lengthof(events); i++)
	{
		if (*events[i])
			ops->event_put(gc_worker.dev, *events[i]);
		*events[i] = NULL;
	}
	if (run->memory.stream)
		ops->stream_put(gc_worker.dev, run->memory.stream);
	run->memory.stream = NULL;
	gc_run_free_parts(run);
	gc_run_leave_admitted(run, false);
}

GcEvent *
gc_run_prepared(GcRun *run)
{
	if (run->memory.prepared == NULL)
		run->memory.prepared = gc_worker.ops->event(run->memory.stream, &run->err);
	return run->memory.prepared;
}

void
gc_run_not_prepared(GcRun *run)
{
	if (run->memory.prepared)
		gc_worker.ops->event_put(gc_worker.dev, run->memory.prepared);
	run->memory.prepared = NULL;
}

void
gc_run_give_back(GcRun *run)
{
	if (run->result.block)
		gc_result_put(run->result.block);
	run->result.block = NULL;
	gc_run_release_device(run);
}

void
gc_run_await(GcRun *run)
{
	GcEvent	   *event = run->memory.stream ? gc_worker.ops->event(run->memory.stream, NULL) : NULL;

	if (event == NULL)
	{
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		return;
	}
	/* Where work has failed, it is over as well. */
	(void) gc_worker.ops->event_wait(event, NULL);
	gc_worker.ops->event_put(gc_worker.dev, event);
}

/* May something of the run be on other streams: waves, or a launch that it shares? */
static bool
on_other_streams(const GcRun *run)
{
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (run->scan.waves[n])
			return true;
	}
	return run->schedule.launch != NULL;
}

/* Others' kernels may run for long, and the worker serves nobody while it waits for them. */
void
gc_run_back_out(GcRun *run)
{
	if (run->memory.stream && !on_other_streams(run))
		gc_run_await(run);
	else if (run->memory.stream)
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	gc_run_give_back(run);
}

void
gc_run_fail_start(GcRun *run)
{
	gc_run_back_out(run);
	run->state = RUN_FINISHED;
}

void
gc_run_forget(GcRun *run)
{
	if (run->result.block)
		gc_result_put(run->result.block);
	run->result.block = NULL;
	gc_run_free_parts(run);
	if (run->schedule.launch)
		gc_main_launch_forget(run->schedule.launch);
}
