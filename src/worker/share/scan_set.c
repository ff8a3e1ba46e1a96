/*-------------------------------------------------------------------------
 *
 * scan_set.c
 *	  The scan shapes that recur over a table, and the kernels that serve them.
 *
 * All directories with the same columns and the same chunks of the heap have one scan set.  A scan
 * set knows the scan shapes that came for such directories, and the kernels that scan them for
 * several of them (fused.c, selection.c).  It also has the columns derived for these
 * (key_groups.c).
 *
 * The worker's main thread.  Sets live in TopMemoryContext: scan shapes are copies, since
 * kernels.c may forget its own signatures.  A set owns all that it refers to, except what
 * launches still hold.  Requests with a scan shape of a set keep the set.
 *
 *-------------------------------------------------------------------------
 */
#include "scan_set.h"

#include "utils/memutils.h"

#include "../../force.h"
#include "../../settings.h"
#include "../memory/eviction.h"
#include "../memory/state.h"
#include "../run/wave_scan.h"

/* Columns with more values than this have no predicate table. */
#define MAX_VALUES			((u64) 1 << 22)

static GcScanSet *sets[GC_MAX_SCAN_SETS];
static int	nplaces = 0;

void
gc_selection_forget_shape(GcScanShape *s)
{
	GcPipelineKernel *kernels[] = {s->predicate_kernel, s->selection};

	for (int i = 0; i < lengthof(kernels); i++)
	{
		if (kernels[i] && kernels[i]->entry)
			gc_kcache_let_go(kernels[i]->entry);
		if (kernels[i])
			pfree(kernels[i]);
	}
	s->predicate_kernel = s->selection = NULL;
}

/* Nothing of the set is in use; kernels go with their last launches. */
static void
set_free(GcScanSet *set)
{
	for (int k = 0; k < GC_MEMBER_KINDS; k++)
	{
		gc_fused_drop(set->by_kind[k].ready);
		gc_fused_drop(set->by_kind[k].pending);
	}
	gc_fused_drop(set->selector);
	gc_fused_drop(set->selector_pending);
	for (int i = 0; i < set->nshapes; i++)
	{
		gc_selection_forget_shape(set->shape[i]);
		pfree(set->shape[i]->p);
		pfree(set->shape[i]->columns);
		pfree(set->shape[i]);
	}
	for (int c = 0; c < set->ncolumns; c++)
		gc_key_groups_forget(&set->column[c]);
	pfree(set->column);
	pfree(set);
}

/* Facts of a column by the first nchunks chunks. */
static void
set_column(GcSetColumn *column, const GcDirectory *dir, u32 nchunks, uint32 c)
{
	const GcCellRange *ranges = GC_COLUMN_RANGES(dir, c);
	i64			min = 1;
	i64			max = 0;
	u8			widths = 0;

	for (uint32 i = 0; i < nchunks && dir->columns[c].problem == GC_COL_OK; i++)
	{
		const GcChunkColumn *cell = GC_CELL(dir, i, c);

		if (cell == NULL)
			continue;
		widths |= cell->desc.width;
		column->nullable = column->nullable || cell->null_bytes > 0;
		if (ranges[i].min > ranges[i].max)
			continue;
		if (min > max)
		{
			min = ranges[i].min;
			max = ranges[i].max;
		}
		min = Min(min, ranges[i].min);
		max = Max(max, ranges[i].max);
	}
	column->width = (widths & (widths - 1)) == 0 ? widths : 0;
	column->base = min;
	if (min <= max && (u64) max - (u64) min < MAX_VALUES)
		column->range = (u64) max - (u64) min + 1;
}

/* Facts of a table that are known before any row is read.  Shared scans read its first nchunks chunks. */
static void
set_columns(GcScanSet *set, const GcDirectory *dir, u32 nchunks)
{
	u32			most = 0;

	for (u32 i = 0; i < nchunks; i++)
	{
		most = Max(most, dir->facts[i].nrows);
		set->rows += dir->facts[i].nrows;
	}
	set->sel_bitmap_bytes = TYPEALIGN64(GC_PAD_ROWS, most) / 8 * nchunks;
	set->ncolumns = dir->ncolumns;
	set->column = MemoryContextAllocZero(TopMemoryContext, (dir->ncolumns + 1) * sizeof(GcSetColumn));
	for (uint32 c = 0; c < dir->ncolumns; c++)
		set_column(&set->column[c], dir, nchunks, c);
}

int
gc_scan_set_places(void)
{
	return nplaces;
}

GcScanSet *
gc_scan_set(int place)
{
	return sets[place];
}

/*
 * Forget the sets of a table's former directories, unless requests still use them.  No new request
 * can use their derived columns.
 */
static void
forget_former(const GcDirectory *dir)
{
	for (int i = 0; i < nplaces; i++)
	{
		GcScanSet  *set = sets[i];

		if (set == NULL || set->users > 0 || set->state_id >= (set->hot ? dir->id : dir->heap_id) ||
			set->dbid != dir->key.dbid || set->relid != dir->key.relid)
			continue;
		set_free(set);
		sets[i] = NULL;
	}
}

bool
gc_scan_sets_on(void)
{
	return gc_enable_shared_scan && gc_schedule == GC_POLICY_TWOSTAGE;
}

/* A place without a set: it is freed of the set that was not used for longest, if need be.  -1: all sets have users. */
static int
free_place(void)
{
	int			oldest = -1;

	for (int i = 0; i < nplaces; i++)
	{
		if (sets[i] == NULL)
			return i;
		if (sets[i]->users == 0 && (oldest < 0 || sets[i]->last_used < sets[oldest]->last_used))
			oldest = i;
	}
	if (nplaces < GC_MAX_SCAN_SETS)
		return nplaces++;
	if (oldest >= 0)
	{
		set_free(sets[oldest]);
		sets[oldest] = NULL;
	}
	return oldest;
}

/* The scan set of a run's scan, made if need be; NULL: the maximal number of sets is in use. */
static GcScanSet *
set_of(const GcRun *run)
{
	const u32	scan = run->schedule.scan;
	const GcDirectory *dir = run->request->inputs[run->main->input].dir;
	int			place;

	for (int i = 0; i < nplaces; i++)
	{
		if (sets[i] == NULL || sets[i]->scan != scan)
			continue;
		if (sets[i]->nshapes < GC_MAX_SCAN_SHAPES || sets[i]->users > 0)
			return sets[i];
		set_free(sets[i]);		/* scan shapes that recur will come again */
		sets[i] = NULL;
		break;
	}
	forget_former(dir);
	place = free_place();
	if (place < 0)
		return NULL;
	sets[place] = MemoryContextAllocZero(TopMemoryContext, sizeof(GcScanSet));
	sets[place]->scan = scan;
	sets[place]->dbid = dir->key.dbid;
	sets[place]->relid = dir->key.relid;
	sets[place]->hot = run->schedule.scan_chunks != dir->nheap;
	sets[place]->state_id = sets[place]->hot ? dir->id : dir->heap_id;
	for (int k = 0; k < GC_MEMBER_KINDS; k++)
		sets[place]->by_kind[k].times.scan_us = gc_worker.calibration.launch_us;
	set_columns(sets[place], dir, run->schedule.scan_chunks);
	return sets[place];
}

/* Drop one derived column of the set that no launch reads.  False: it has none. */
static bool
set_evict(GcScanSet *set)
{
	for (int c = 0; c < set->ncolumns; c++)
	{
		if (gc_group_coded_evict(&set->column[c]))
			return true;
	}
	return false;
}

/* A GcEvictor's: drop one derived column of any set. */
static bool
evict(void)
{
	for (int i = 0; i < nplaces; i++)
	{
		if (sets[i] && set_evict(sets[i]))
			return true;
	}
	return false;
}

void
gc_scan_sets_init(void)
{
	static GcEvictor evictor = {.drop_derived = evict};

	gc_evictor_register(&evictor);
}

void
gc_scan_sets_abandon(void)
{
	for (int i = 0; i < nplaces; i++)
	{
		for (int c = 0; sets[i] && c < sets[i]->ncolumns; c++)
			gc_key_groups_abandon(&sets[i]->column[c]);
	}
}

/*-------------------------------------------------------------------------
 * Scan shapes
 *-------------------------------------------------------------------------
 */

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

/* Does the run ask for this shape: the same program over the same columns? */
static bool
same_shape(const GcScanShape *s, const GcRun *run, const i16 *columns)
{
	return s->p->size == run->p->size && memcmp(s->p, run->p, run->p->size) == 0 &&
		memcmp(s->columns, columns, run->p->ncolumns * sizeof(i16)) == 0;
}

/*
 * Does a fused scan pay for this pipeline?
 *
 * A fused kernel's members run one after another in the same threads.  Probes, and groups in
 * global memory, wait for memory.  In a fused kernel they wait once per member, and nothing else
 * runs meanwhile.  Measured on an H200: seven members with joins and groups took 28 ms together, 2
 * ms one after another.
 *
 * Filters with sums gain from fusion.  So do groups in shared memory where most rows reach one.
 * Such kernels read all columns anyway, and two members took 1.15 times the time of one.
 */
static GcMemberKind
kind_of(const GcProgram *p, int pipeline, const GcVariantDemand *demand)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	int			probes = 0;

	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (step->type != GC_STEP_PROBE)
			continue;
		if (gc_builds(p)[step->build].mode != GC_BUILD_DENSE || step->join == GC_JOIN_LEFT ||
			gc_join_keeps(step->join) || step->expr != GC_NONE || ++probes > 1)
			return GC_NO_MEMBERS;
	}
	if (pl->sink != GC_SINK_AGGREGATE)
		return GC_NO_MEMBERS;
	if (pl->group_mode == GC_GROUP_NONE)
		return GC_UNGROUPED_MEMBERS;
	if (pl->group_mode == GC_GROUP_DENSE && pl->survive <= 1 && probes == 0 &&
		gc_choose_variant(&gc_worker.profile, demand, gc_worker.profile.shared_per_block - 1024).group_local)
		return GC_GROUPED_MEMBERS;
	return GC_NO_MEMBERS;
}

/* The run's scan shape, made if need be; NULL: the set has too many. */
static GcScanShape *
find_shape(GcScanSet *set, const GcRun *run)
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

/*
 * Do selection scans serve the scan shape in less time?  A scan shape with groups in shared
 * memory may also have members: most of its rows are assumed to pass.
 */
static bool
for_selection(const GcScanShape *s)
{
	return gc_debug_shared_selection && !gc_sharing_forced() && s->predicates.ncolumns > 0 &&
		s->kind != GC_GROUPED_MEMBERS;
}

GcMemberKind
gc_scan_shape_bodies(const GcScanShape *s)
{
	if (for_selection(s))
		return GC_NO_MEMBERS;
	switch (gc_forced_sharing())
	{
		case GC_FORCE_FUSED:
			return GC_UNGROUPED_MEMBERS;
		case GC_FORCE_GROUPS:
			return s->kind == GC_GROUPED_MEMBERS ? s->kind : GC_NO_MEMBERS;
		default:
			return s->kind;
	}
}

void
gc_scan_shape_dirty(const GcScanShape *s)
{
	if (gc_scan_shape_bodies(s) != GC_NO_MEMBERS)
		s->set->by_kind[gc_scan_shape_bodies(s)].dirty = true;
}

/* Does this run scan chunks of a heap? */
static bool
has_shape(const GcRun *run)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];

	/* Only one arm's scan of a UNION ALL could be shared. */
	return run->schedule.scan != 0 && run->scan.pairs.slices == 0 && run->scan.passes == NULL &&
		!gc_run_in_waves(run) && !gc_has_arms(run->p, run->p->npipelines - 1) &&
		run->main->sink != GC_SINK_BUILD && in->nsources > in->nalone;
}

/* Find the run's scan shape and count it, once. */
static void
count_shape(GcRun *run)
{
	GcScanSet  *set;
	GcScanShape *s;

	run->schedule.share->scan_asked = true;
	set = set_of(run);
	s = set ? find_shape(set, run) : NULL;
	if (s == NULL)
		return;
	run->schedule.share->scan_shape = s;
	set->users++;
	set->requests++;
	if (++s->uses == GC_SHAPE_RECURS || (gc_sharing_forced() && !s->asked))
	{
		gc_scan_shape_dirty(s);
		set->selection_dirty = true;
	}
}

GcScanShape *
gc_scan_shape_of(GcRun *run)
{
	if (!gc_scan_sets_on())
		return NULL;
	if (!run->schedule.share->scan_asked && has_shape(run))
		count_shape(run);
	return run->schedule.share->scan_shape;
}

void
gc_scan_shape_leave(GcRun *run)
{
	if (run->schedule.share->scan_shape)
		run->schedule.share->scan_shape->set->users--;
	run->schedule.share->scan_shape = NULL;
}
