/*-------------------------------------------------------------------------
 *
 * analysis.c
 *	  Facts of a program that hold before anything of it is generated.  No function here has a state; each knows the
 *	  bound program only.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "analysis.h"

/*-------------------------------------------------------------------------
 * Expressions
 *-------------------------------------------------------------------------
 */

bool
cg_checked(const GcProgram *p, u16 e)
{
	const GcExpr *x = &gc_exprs(p)[e];

	if (x->flags & GC_CHECKED)
		return true;
	for (int i = 0; i < 3; i++)
	{
		if (x->arg[i] != GC_NONE && cg_checked(p, x->arg[i]))
			return true;
	}
	return false;
}

bool
cg_columns_only(const GcProgram *p, u16 e)
{
	const GcExpr *x = &gc_exprs(p)[e];

	/* A condition behind a full join must not be tested before it. */
	if (x->op == GC_OP_PAYLOAD || x->op == GC_OP_OUTER)
		return false;
	for (int i = 0; i < 3; i++)
	{
		if (x->arg[i] != GC_NONE && !cg_columns_only(p, x->arg[i]))
			return false;
	}
	return true;
}

/* Does e read exactly one column? *column: that column; GC_NONE before any is found. */
static bool
reads_one_column(const GcProgram *p, u16 e, u16 *column)
{
	const GcExpr *x = &gc_exprs(p)[e];

	if (x->op == GC_OP_PAYLOAD || x->op == GC_OP_OUTER)
		return false;
	if (x->op == GC_OP_COLUMN)
	{
		if (*column != GC_NONE && *column != x->ref)
			return false;
		*column = x->ref;
		return true;
	}
	for (int i = 0; i < 3; i++)
	{
		if (x->arg[i] != GC_NONE && !reads_one_column(p, x->arg[i], column))
			return false;
	}
	return true;
}

/*-------------------------------------------------------------------------
 * Steps
 *-------------------------------------------------------------------------
 */

/* A step's work for a row: n expressions. */
static const u16 *
step_exprs(const GcProgram *p, const GcPStep *step, int *n)
{
	*n = step->type == GC_STEP_PROBE ? gc_builds(p)[step->build].nkeys : 1;
	return step->type == GC_STEP_PROBE ? &gc_refs(p)[step->first_key] : &step->expr;
}

bool
cg_one_column(const GcProgram *p, const GcPStep *step, u16 *column)
{
	int			n;
	const u16  *e = step_exprs(p, step, &n);

	*column = GC_NONE;
	for (int i = 0; i < n; i++)
	{
		if (!reads_one_column(p, e[i], column))
			return false;
	}
	return *column != GC_NONE;
}

bool
cg_may_fail(const GcProgram *p, const GcPStep *step)
{
	int			n;
	const u16  *e = step_exprs(p, step, &n);

	for (int i = 0; i < n; i++)
	{
		if (cg_checked(p, e[i]))
			return true;
	}
	return false;
}

bool
cg_is_hash_probe(const GcProgram *p, const GcPStep *step)
{
	return step->type == GC_STEP_PROBE && gc_builds(p)[step->build].mode == GC_BUILD_HASH;
}

bool
cg_is_list_probe(const GcProgram *p, const GcPStep *step)
{
	return step->type == GC_STEP_PROBE && gc_builds(p)[step->build].mode == GC_BUILD_LIST;
}

bool
cg_scans_pairs(const GcProgram *p, const GcPPipeline *pl)
{
	return cg_groups_of(p, pl) == NULL && cg_unmatched_of(p, pl) == GC_NONE && gc_first_list_probe(p, pl) >= 0;
}

bool
cg_is_test(const GcProgram *p, const GcPStep *step)
{
	return step->type == GC_STEP_FILTER || (gc_builds(p)[step->build].mode == GC_BUILD_DENSE &&
											step->join <= GC_JOIN_ANTI && step->join != GC_JOIN_LEFT &&
											step->expr == GC_NONE);
}

bool
cg_is_vector_step(const GcProgram *p, const GcPStep *step)
{
	return cg_is_test(p, step) &&
		cg_columns_only(p, step->type == GC_STEP_FILTER ? step->expr : gc_refs(p)[step->first_key]);
}

bool
cg_may_multiply(const GcProgram *p, const GcPStep *step)
{
	return (cg_is_hash_probe(p, step) || cg_is_list_probe(p, step)) && step->join != GC_JOIN_SEMI &&
		step->join != GC_JOIN_ANTI;
}

const GcPStep *
cg_find_probe(const GcProgram *p, const GcPPipeline *pl, u16 build)
{
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (step->type == GC_STEP_PROBE && step->build == build)
			return step;
	}
	return NULL;
}

/*-------------------------------------------------------------------------
 * Pipelines
 *-------------------------------------------------------------------------
 */

bool
cg_has_probes(const GcProgram *p, const GcPPipeline *pl)
{
	for (int s = 0; s < pl->nsteps; s++)
	{
		if (gc_steps(p)[pl->first_step + s].type == GC_STEP_PROBE)
			return true;
	}
	return false;
}

bool
cg_few_reach_sink(const GcPPipeline *pl)
{
	return pl->survive > 1;
}

bool
cg_is_ungrouped(const GcPPipeline *pl)
{
	return pl->sink == GC_SINK_AGGREGATE && pl->group_mode == GC_GROUP_NONE;
}

bool
cg_has_nullable_key(const GcProgram *p, const GcPPipeline *pl)
{
	for (u16 i = 0; i < pl->nkeys; i++)
	{
		if (gc_exprs(p)[gc_refs(p)[pl->first_key + i]].flags & GC_NULLABLE)
			return true;
	}
	return false;
}

int
cg_group_key_words(const GcProgram *p, const GcPPipeline *pl)
{
	return pl->nkeys + cg_has_nullable_key(p, pl);
}

const GcPPipeline *
cg_groups_of(const GcProgram *p, const GcPPipeline *pl)
{
	const u16	groups_of = gc_inputs(p)[pl->input].groups_of;

	return groups_of ? &gc_pipelines(p)[groups_of - 1] : NULL;
}

u16
cg_unmatched_of(const GcProgram *p, const GcPPipeline *pl)
{
	const u16	unmatched_of = gc_inputs(p)[pl->input].unmatched_of;

	return unmatched_of ? (u16) (unmatched_of - 1) : GC_NONE;
}
