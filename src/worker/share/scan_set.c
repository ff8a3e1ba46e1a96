/*-------------------------------------------------------------------------
 *
 * scan_set.c
 *	  The shapes that recur over a table.
 *
 * For every directory that requests stream (one table's chunks, at one time) there is a
 * scan set: the shapes of the main kernels that came for it, and the kernels that scan it for
 * several of them (fused.c, marked.c).
 *
 * The worker's main thread.  Sets live in TopMemoryContext: shapes are copied, for kernels.c may
 * forget its own.
 *
 *-------------------------------------------------------------------------
 */
#include "fused.h"

#include "utils/memutils.h"

static GcScanSet *sets[GC_MAX_SCAN_SETS];

GcScanSet *
gc_scan_set(int place)
{
	return sets[place];
}

static void
set_free(GcScanSet *set)
{
	for (int k = 0; k < GC_BODY_KINDS; k++)
	{
		gc_fused_drop(set->bodies[k].ready);
		gc_fused_drop(set->bodies[k].pending);
	}
	gc_fused_drop(set->marker);
	gc_fused_drop(set->marker_pending);
	for (int i = 0; i < set->nshapes; i++)
	{
		gc_marked_forget_shape(set->shape[i]);
		pfree(set->shape[i]->p);
		pfree(set->shape[i]->columns);
		pfree(set->shape[i]);
	}
	gc_marked_forget_set(set);
	pfree(set);
}

/*
 * Forget the sets of a table's former directories, as far as no request is left of them:
 * nobody will come for their class columns and records again.
 */
static void
forget_former(const GcDirectory *dir)
{
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = sets[i];

		if (set == NULL || set->users > 0 || set->dir_id >= dir->id ||
			set->dbid != dir->key.dbid || set->relid != dir->key.relid)
			continue;
		set_free(set);
		sets[i] = NULL;
	}
}

GcScanSet *
gc_scan_set_of(const GcRun *run)
{
	const u32	scan = run->scan;
	const GcDirectory *dir = run->request->inputs[run->main->input].dir;
	int			place = 0;

	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		if (sets[i] && sets[i]->scan == scan && sets[i]->nshapes == GC_MAX_SCAN_SHAPES && sets[i]->users == 0)
		{
			set_free(sets[i]);	/* what recurs will come again */
			sets[i] = NULL;
		}
		if (sets[i] && sets[i]->scan == scan)
			return sets[i];
		if (sets[place] && (sets[i] == NULL || sets[i]->last_used < sets[place]->last_used))
			place = i;
	}
	if (sets[place] && sets[place]->users > 0)
		return NULL;
	forget_former(dir);
	if (sets[place])
		set_free(sets[place]);
	sets[place] = MemoryContextAllocZero(TopMemoryContext, sizeof(GcScanSet));
	sets[place]->scan = scan;
	sets[place]->dbid = dir->key.dbid;
	sets[place]->relid = dir->key.relid;
	sets[place]->dir_id = dir->id;
	for (int k = 0; k < GC_BODY_KINDS; k++)
		sets[place]->bodies[k].times.scan_us = gc_worker.calibration.launch_us;
	gc_set_columns(sets[place], dir);
	return sets[place];
}

bool
gc_scan_sets_evict(void)
{
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		if (sets[i] && gc_marked_evict(sets[i]))
			return true;
	}
	return false;
}

void
gc_scan_sets_abandon(void)
{
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		for (int c = 0; sets[i] && c < sets[i]->ncolumns; c++)
			gc_classes_abandon(&sets[i]->column[c]);
	}
}

/* Which of the directory's columns is each column that the main pipeline reads? */
static void
map_columns(const GcRun *run, i16 *columns)
{
	const GcPInput *in = &gc_inputs(run->p)[run->main->input];

	for (int c = 0; c < run->p->ncolumns; c++)
		columns[c] = -1;
	for (int c = in->first_column; c < in->first_column + in->ncolumns; c++)
		columns[c] = (i16) run->request->columns[c].dir_column;
}

static bool
same_shape(const GcScanShape *s, const GcRun *run, const i16 *columns)
{
	return s->p->size == run->p->size && memcmp(s->p, run->p, run->p->size) == 0 &&
		memcmp(s->columns, columns, run->p->ncolumns * sizeof(i16)) == 0;
}

/*
 * Does a fused scan pay for this pipeline?  A fused kernel's bodies run one after
 * another in the same threads: what waits for memory on its own (probes of tables, rows
 * that go to groups in global memory) then waits once per body, and nothing else runs
 * meanwhile.  Measured on an H200: seven bodies with joins and groups took 28 ms together,
 * 2 ms one after another.  Filters and sums are what it is for, and groups in shared
 * memory where most rows come to one: these read all columns anyway, and two bodies took 1.15
 * times what one does (docs/measurements.md).  And ranges that tables test for all at once.
 */
static GcBodyKind
kind_of(const GcProgram *p, int pipeline, const GcVariantDemand *demand)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	int			probes = 0;

	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (step->type != GC_STEP_PROBE)
			continue;
		if (gc_builds(p)[step->build].mode != GC_BUILD_DENSE || ++probes > 1)
			return GC_NO_BODIES;
	}
	if (pl->sink != GC_SINK_AGGREGATE)
		return GC_NO_BODIES;
	if (pl->group_mode == GC_GROUP_NONE)
		return gc_pipeline_traits(p, (u16) pipeline).by_sets ? GC_SET_BODIES : GC_SUM_BODIES;
	if (pl->group_mode == GC_GROUP_DENSE && pl->survive <= 1 && probes == 0 &&
		gc_choose_variant(&gc_worker.profile, demand, gc_worker.profile.shared_per_block - 1024).group_local)
		return GC_GROUP_BODIES;
	return GC_NO_BODIES;
}

GcScanShape *
gc_scan_set_shape(GcScanSet *set, const GcRun *run)
{
	i16			columns[GC_MAX_COLUMNS];
	GcScanShape *s;

	map_columns(run, columns);
	for (int i = 0; i < set->nshapes; i++)
	{
		if (same_shape(set->shape[i], run, columns))
			return set->shape[i];
	}
	if (set->nshapes == GC_MAX_SCAN_SHAPES)
		return NULL;
	s = MemoryContextAllocZero(TopMemoryContext, sizeof(GcScanShape));
	s->set = set;
	s->p = MemoryContextAlloc(TopMemoryContext, run->p->size);
	memcpy(s->p, run->p, run->p->size);
	s->pipeline = run->p->npipelines - 1;
	s->columns = MemoryContextAlloc(TopMemoryContext, (run->p->ncolumns + 1) * sizeof(i16));
	memcpy(s->columns, columns, run->p->ncolumns * sizeof(i16));
	gc_variant_demand(run->request, s->pipeline, &s->demand);
	s->kind = kind_of(s->p, s->pipeline, &s->demand);
	set->shape[set->nshapes++] = s;
	return s;
}
