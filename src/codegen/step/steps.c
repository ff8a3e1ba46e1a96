/*-------------------------------------------------------------------------
 *
 * steps.c
 *	  How a pipeline's steps are divided: on whole vectors, on gathered rows, row by row.
 *
 * Only the planner's estimates decide, so that a kernel signature has one text.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "steps.h"
#include "../expr/analysis.h"
#include "../expr/arms.h"
#include "packed.h"

#include <stdlib.h>
#include <string.h>

/* At most one row in 2^FEW_LEFT is live: too few for another stage on whole vectors. */
#define FEW_LEFT			5

/*
 * Survivors are gathered where a stage leaves at most one row in 2^GATHER_LEFT and at least
 * GATHER_JOINS joins come after it.  Else whole vectors take less time (an H200, the queries of
 * the Star Schema Benchmark).
 */
#define GATHER_LEFT			4
#define GATHER_JOINS		2

/*
 * Which steps are tested on whole vectors, and which row by row on the survivors?  Vectors pay
 * while steps drop rows.  Once few rows are left, or the rest drops hardly any, one row's loads
 * together take less time than one more stage.
 */
void
cg_divide_steps(const GcProgram *p, const GcPPipeline *pl, const GcVariant *variant, StepLists *lists)
{
	const u64	selection = variant ? variant->selection : 0;
	int			useful = 0;
	int			passed = 0;

	memset(lists, 0, sizeof(*lists));
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		/* A selection bitmap leaves few rows, so stages on whole vectors have nothing to do. */
		if (selection != 0 || !cg_is_vector_step(p, step) || passed >= FEW_LEFT)
			continue;
		passed += step->selectivity;
		if (step->selectivity > 0 || step->type == GC_STEP_FILTER)
			useful = s + 1;
	}
	passed = 0;
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		/* The step stays although its rows are selected, since it may find several matches. */
		if (s < 64 && selection >> s & 1 &&
			(!(variant->direct >> s & 1) || gc_builds(p)[step->build].unique))
			continue;
		if (s < useful && cg_is_vector_step(p, step) && passed < FEW_LEFT)
		{
			passed += step->selectivity;
			lists->vector[lists->nvector++] = step;
		}
		else
			lists->row[lists->nrow++] = step;
	}
}

/*
 * Divide the steps of a kernel of its own whose sink few rows reach.  One stage on whole vectors
 * tests the filters on packed codes, and one other step if too many rows are left.  Other tests of
 * columns follow on gathered rows (cuda/gc_visit.h).  False if that does not pay.
 */
bool
cg_divide_filtered(const GcProgram *p, const GcPPipeline *pl, StepLists *lists)
{
	const GcPStep *late[MAX_STEPS];
	int			nlate = 0;
	int			passed = 0;
	int			joins = 0;
	int			packs;

	memset(lists, 0, sizeof(*lists));
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (!cg_is_packed(p, step))
			continue;
		passed += step->selectivity;
		lists->vector[lists->nvector++] = step;
	}
	packs = lists->nvector;
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (cg_is_packed(p, step))
			continue;
		if (!cg_is_vector_step(p, step) || (step->type == GC_STEP_PROBE && step->selectivity == 0))
			late[nlate++] = step;
		else if (passed < GATHER_LEFT && lists->nvector == packs && !cg_may_fail(p, step))
		{
			passed += step->selectivity;
			lists->vector[lists->nvector++] = step;
		}
		else
			lists->row[lists->ngathered++] = step;
	}
	memcpy(lists->row + lists->ngathered, late, nlate * sizeof(late[0]));
	lists->nrow = lists->ngathered + nlate;
	for (int i = 0; i < lists->nrow; i++)
		joins += lists->row[i]->type == GC_STEP_PROBE;
	return passed >= GATHER_LEFT && joins >= GATHER_JOINS;
}

bool
gc_tries_pairs(const GcProgram *p, u16 pipeline)
{
	return cg_scans_pairs(p, &gc_pipelines(p)[pipeline]);
}

static GcPipelineTraits
traits_of(const GcProgram *p, u16 pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	StepLists	lists;
	GcPipelineTraits traits = {.gathers = cg_few_reach_sink(pl) && !cg_scans_pairs(p, pl) && cg_divide_filtered(p, pl, &lists),
	.pairs = cg_scans_pairs(p, pl),.group_key_words = cg_group_key_words(p, pl),.per_warp_words = cg_per_warp_words(p, pl)};

	if (!traits.gathers)
		cg_divide_steps(p, pl, NULL, &lists);
	for (int i = 0; i < lists.nvector + lists.ngathered; i++)
	{
		const GcPStep *step = i < lists.nvector ? lists.vector[i] : lists.row[i - lists.nvector];

		if (step->type == GC_STEP_PROBE)
			traits.candidates |= 1u << step->build;
	}
	return traits;
}

GcPipelineTraits
gc_pipeline_traits(const GcProgram *p, u16 pipeline)
{
	GcProgram  *settled;
	GcPipelineTraits traits;
	GcError		err;

	/* Without memory, nothing special is known of it: generating will fail, too. */
	if (cg_settle_arms(p, pipeline, &settled, &err) != GC_OK)
		return (GcPipelineTraits) {0};
	traits = traits_of(settled ? settled : p, pipeline);
	free(settled);
	return traits;
}
