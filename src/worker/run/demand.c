/*-------------------------------------------------------------------------
 *
 * demand.c
 *	  What a request's main kernel asks of the device, as sched/ wants to know it.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "demand.h"

#include "../memory/state.h"
#include "launch.h"

GcKernelNeeds
gc_describe_needs(const GcRun *run, GcPipelineKernel *k, double alone_us)
{
	const GcPInput *in = &gc_inputs(run->p)[run->main->input];
	u32			shared = (u32) gc_run_shared_bytes(run, run->p->npipelines - 1, &k->variant);
	int			threads = Min(k->variant.threads, k->info.max_threads);
	int			registers = k->info.registers;
	u32			shared_static = k->info.shared_static;
	u32			row_bytes = 0;

	/* A producer and its consumer come one after the other, with one demand: the greater one of each resource. */
	for (GcPipelineKernel *c = k->consumer; c; c = c->consumer)
	{
		threads = Min(threads, c->info.max_threads);
		registers = Max(registers, c->info.registers);
		shared = Max(shared, (u32) gc_run_shared_bytes(run, run->p->npipelines - 1, &c->variant));
		shared_static = Max(shared_static, c->info.shared_static);
	}
	for (int c = in->first_column; c < in->first_column + in->ncolumns; c++)
		row_bytes += run->memory.tables[c] ? Max(gc_columns(run->p)[c].width, 1) : 0;
	return (GcKernelNeeds) {.issue_part = k->issue_part.samples > 0 ? k->issue_part.value : gc_worker.calibration.overlap_same_table,
		.warp_flight = row_bytes * Max(k->variant.vec, 1) * gc_worker.profile.warp_size,
		.registers = registers,.max_threads = threads,.threads = threads,
		.shared_bytes = shared + shared_static,.occupancy = gc_run_occupancy(k, threads, shared),
		.alone_us = alone_us};
}

void
gc_describe_loads(const GcRun *run, const GcPipelineKernel *k, GcCandidate *candidate)
{
	const GcPInput *in = &gc_inputs(run->p)[run->main->input];
	const double rows = run->request->inputs[run->main->input].rows;

	candidate->nloads = 0;
	candidate->lookup_bytes = 0;
	for (int c = in->first_column; c < in->first_column + in->ncolumns && k->alone_us.samples > 0; c++)
	{
		const GcPColumn *column = &gc_columns(run->p)[c];

		if (run->memory.tables[c] == NULL)
			continue;
		if (candidate->nloads < GC_LOAD_COLUMNS)
			candidate->load[candidate->nloads++] = (GcColumnLoad) {.column = (u32) column->attnum};
		candidate->load[candidate->nloads - 1].bytes += (float) (rows * Max(column->width, 1));
	}
	for (int b = 0; b < run->p->nbuilds; b++)
		candidate->lookup_bytes += run->memory.builds[b] ? run->memory.builds[b]->bytes : 0;
}
