/*-------------------------------------------------------------------------
 *
 * edge.c
 *	  Where a pipeline may be cut, and which of its steps lie before and behind the cut.
 *
 * An edge that is not fused lies before a step of the row phase, or before the sink.  Steps on whole vectors and
 * on gathered rows always come before it.  No step before it finds several matches for a row.  So no more
 * packets pass the edge than the scan has rows, and room for them can be had before.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "edge.h"
#include "analysis.h"
#include "arms.h"

#include <stdlib.h>

void
cg_divide_own(const GcProgram *p, const GcPPipeline *pl, StepLists *lists, bool *filtered)
{
	*filtered = cg_few_reach_sink(pl) && !cg_scans_pairs(p, pl) && cg_divide_filtered(p, pl, lists);
	if (!*filtered)
		cg_divide_steps(p, pl, NULL, lists);
}

/* The number of a step in its pipeline. */
static int
step_number(const GcProgram *p, const GcPPipeline *pl, const GcPStep *step)
{
	return (int) (step - &gc_steps(p)[pl->first_step]);
}

int
cg_before_edge(const GcProgram *p, const GcPPipeline *pl, const GcPStep **steps, int n, int edge_step)
{
	int			before = 0;

	while (before < n && step_number(p, pl, steps[before]) < edge_step)
		before++;
	return before;
}

/* May the step go on with a row several times? */
static bool
finds_several(const GcProgram *p, const GcPStep *step)
{
	return cg_may_multiply(p, step) && !gc_builds(p)[step->build].unique && !gc_builds(p)[step->build].set;
}

static u64
edges_of(const GcProgram *p, const GcPPipeline *pl)
{
	StepLists	lists;
	bool		filtered;
	u64			steps = 0;

	if (cg_groups_of(p, pl) || cg_unmatched_of(p, pl) != GC_NONE || cg_scans_pairs(p, pl) || pl->nsteps > 63)
		return 0;
	cg_divide_own(p, pl, &lists, &filtered);
	for (int i = lists.ngathered; i < lists.nrow; i++)
	{
		steps |= (u64) 1 << step_number(p, pl, lists.row[i]);
		if (finds_several(p, lists.row[i]))
			return steps;
	}
	return steps | (u64) 1 << pl->nsteps;
}

bool
gc_pipeline_edges(const GcProgram *p, u16 pipeline, u64 *steps)
{
	GcProgram  *settled;
	GcError		err;

	*steps = 0;
	if (cg_settle_arms(p, pipeline, &settled, &err) != GC_OK)
		return false;
	*steps = edges_of(settled ? settled : p, &gc_pipelines(settled ? settled : p)[pipeline]);
	free(settled);
	return *steps != 0;
}
