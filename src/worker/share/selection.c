/*-------------------------------------------------------------------------
 *
 * selection.c
 *	  Kernels of selection scans: which kernels a table's requests need, and when they are made
 *	  (codegen/kernel/selection.c).
 *
 * A scan shape that recurs gets a predicate kernel and a variant of its own kernel that reads a
 * selection bitmap.  A scan set gets a selection kernel for the columns that its scan shapes
 * test.  All are compiled in the background, and a scan shape takes part once all three are
 * there.  predicates.c runs the requests' predicate kernels.
 *
 * The worker's main thread.  A scan shape owns its predicate kernel and its kernel over selection
 * bitmaps.
 *
 *-------------------------------------------------------------------------
 */
#include "selection.h"

#include "utils/memutils.h"

#include "../../force.h"
#include "../../settings.h"
#include "../memory/state.h"
#include "share_launch.h"

/* Predicate tables of one selection kernel, in all: as much as the L2 cache holds in addition to a scan. */
#define MAX_TABLES_BYTES	((u64) 24 << 20)

/* Shared memory that is left to other kernels on a multiprocessor. */
#define SHARED_LEFT			(8 * 1024)

/*
 * Tables are copied more than once where this many bytes have room for all.  Two blocks then
 * leave half of a multiprocessor's shared memory to the last scan's requests.  A table of at most
 * ENTRIES_OF_ONE_COPY entries has one copy: its entries already lie in as many banks.
 */
#define COPIES_ROOM			(56 * 1024)
#define COPIES_MOST			16
#define ENTRIES_OF_ONE_COPY	64

/* The selection bitmaps of one scan take at most one part in SELECTION_TILES_PART of all memory. */
#define SELECTION_TILES_PART			16

/*
 * One more request's part of the selection kernel's time, in bytes per row that could be read
 * meanwhile.  It pays for writing the selection bitmap (an H200: 5 us for 120 million rows).
 */
#define SELECT_BYTES			0.19

/*
 * Cost of a lookup in a table in the L2 cache, in bytes of memory that could be read meanwhile.
 * (An H200: 0.4 ms for 120 million.)  A lookup in shared memory is taken to cost nothing.  So a
 * selection kernel of unknown time is tried, and a slow one is soon known.
 */
#define L2_LOOKUP			12

/*-------------------------------------------------------------------------
 * Kernels of a scan shape
 *-------------------------------------------------------------------------
 */

/* The scan shape cannot be in selection scans after all. */
static void
give_up(GcScanShape *s)
{
	gc_selection_forget_shape(s);
	s->predicates.ncolumns = 0;
}

/* The variant of a member's own kernel over rows that were selected for it. */
static GcVariant
selection_variant(const GcScanShape *s, const GcProfile *profile)
{
	GcVariantDemand d = s->demand;
	GcVariant	v;

	d.demand.nbitmaps = 0;
	d.demand.queue_bytes = GC_VISIT_SHARED;
	d.demand.cells = true;
	v = gc_choose_variant(profile, &d, profile->shared_per_block - 1024);
	v.selection = s->predicates.steps;
	v.direct = s->predicates.direct;
	v.vec = profile->scalar ? 0 : 8;
	return v;
}

/* For tests without a GPU: write the texts that a GPU would be given. */
static void
write_gpu_text(const GcScanShape *s)
{
	GcVariant	v = selection_variant(s, gc_profile_known("H200"));
	GcKernelSource source;
	GcError		err;

	if (gc_generate(s->p, s->pipeline, &v, &source, &err) == GC_OK)
		gc_write_gpu_text(source.text);
	free(source.text);
}

/* The scan shape has the kernel from now on. */
static bool
ask_kept(GcPipelineKernel *k, const GcVariant *variant, GcKernelSource *source)
{
	if (!gc_kernel_ask(k, variant, source))
		return false;
	gc_kcache_keep(k->entry);
	return true;
}

/* Ask for the two kernels with which a shape takes part: its predicates', and its own over selected rows. */
static void
ask_kernels(GcScanShape *s)
{
	static const GcVariant none;
	bool		allowed[GC_MAX_COLUMNS] = {false};
	GcVariant	v;
	GcKernelSource source;
	GcError		err;

	s->asked = true;
	for (int c = 0; c < s->p->ncolumns; c++)
		allowed[c] = s->columns[c] >= 0 && s->set->column[s->columns[c]].range > 0 &&
			gc_columns(s->p)[c].min_scale == gc_columns(s->p)[c].scale;
	gc_find_predicates(s->p, s->pipeline, allowed, &s->predicates);
	if (s->predicates.ncolumns == 0)
		return;
	s->predicate_kernel = MemoryContextAllocZero(TopMemoryContext, sizeof(GcPipelineKernel));
	s->selection = MemoryContextAllocZero(TopMemoryContext, sizeof(GcPipelineKernel));
	v = selection_variant(s, &gc_worker.profile);
	if (gc_generate_predicate_kernel(s->p, s->pipeline, &s->predicates, &source, &err) != GC_OK)
	{
		give_up(s);
		return;
	}
	gc_write_gpu_text(source.text);
	if (!ask_kept(s->predicate_kernel, &none, &source) ||
		gc_generate(s->p, s->pipeline, &v, &source, &err) != GC_OK ||
		!ask_kept(s->selection, &v, &source))
		give_up(s);
	else if (gc_gpu_texts_wanted())
		write_gpu_text(s);
}

/* Are both kernels of the scan shape there? */
bool
gc_selection_shape_ready(GcScanShape *s)
{
	bool		failed[2];
	bool		ready;

	if (s->predicates.ncolumns == 0)
		return false;
	ready = gc_kernel_ready(s->predicate_kernel, &failed[0]);
	ready = gc_kernel_ready(s->selection, &failed[1]) && ready;
	if (failed[0] || failed[1])
		give_up(s);
	return ready;
}

/*-------------------------------------------------------------------------
 * Selection kernels
 *-------------------------------------------------------------------------
 */

/* Number of the directory's column in the selection kernel; -1: it is not there. */
static int
column_number(const GcFused *f, i16 dir_column)
{
	for (int k = 0; f && k < f->nphysical; k++)
	{
		if (f->physical[k] == dir_column)
			return k;
	}
	return -1;
}

/* Does the selection kernel test this column? */
static bool
has_column(const GcFused *f, i16 dir_column)
{
	return column_number(f, dir_column) >= 0;
}

/* Does the selection kernel test all columns that a scan shape tests? */
bool
gc_selection_covers(const GcFused *f, const GcScanShape *s)
{
	for (int q = 0; q < s->predicates.ncolumns; q++)
	{
		if (!has_column(f, s->columns[s->predicates.column[q]]))
			return false;
	}
	return f != NULL;
}

/* Bytes of the tables that a selection kernel reads, for all columns that it tests. */
static u64
tables_bytes(const GcScanSet *set, const GcFused *f)
{
	u64			bytes = 0;

	for (int k = 0; k < f->nphysical; k++)
		bytes += GC_SELECT_TABLE_BYTES(set->column[f->physical[k]].range);
	return bytes;
}

/* Width of the key groups that a selection kernel may read instead of the column; 0: none. */
static u8
key_group_width(const GcSetColumn *c)
{
	return c->group_coded && gc_debug_key_groups ? c->group_coded->width : 0;
}

/*
 * Entries of the table that is looked up first; a table of key groups has room for those that may
 * come soon.
 */
static u64
entries(const GcSetColumn *c)
{
	u64			n = 256;

	if (key_group_width(c) == 0)
		return c->range + 1;
	while (n < c->group_coded->n)
		n *= 2;
	return n;
}

/* Is the selection kernel made for the key groups that there are now? */
static bool
knows_key_groups(const GcScanSet *set, const GcFused *f)
{
	for (int k = 0; f && k < f->nphysical; k++)
	{
		const GcSetColumn *c = &set->column[f->physical[k]];

		if (key_group_width(c) != f->column[k].key_group_width ||
			(key_group_width(c) > 0 && entries(c) > f->entries[k]))
			return false;
	}
	return true;
}

/* Add a scan shape's columns, if there is room for all. */
static void
add_columns(const GcScanSet *set, GcFused *f, const GcScanShape *s)
{
	const int	before = f->nphysical;

	for (int q = 0; q < s->predicates.ncolumns; q++)
	{
		i16			c = s->columns[s->predicates.column[q]];

		if (has_column(f, c))
			continue;
		if (f->nphysical < GC_MAX_PREDICATES)
			f->physical[f->nphysical++] = c;
	}
	if (!gc_selection_covers(f, s) || tables_bytes(set, f) > MAX_TABLES_BYTES)
		f->nphysical = before;
}

/* Make as many copies of the tables as have room, the smallest tables first. */
static void
choose_copies(GcFused *f)
{
	for (;;)
	{
		GcSelectorColumn *best = NULL;
		u64			least = COPIES_ROOM;

		for (int k = 0; k < f->nphysical; k++)
		{
			GcSelectorColumn *c = &f->column[k];
			GcSelectorColumn more = *c;
			u64			bytes = GC_SELECT_SHARED_BYTES(f->entries[k], c->copies);

			more.copies *= 2;
			if (f->entries[k] <= ENTRIES_OF_ONE_COPY || c->copies == COPIES_MOST ||
				gc_table_copies(&more) == c->copies || bytes > least || f->shared_bytes + bytes > COPIES_ROOM)
				continue;
			least = bytes;
			best = c;
		}
		if (best == NULL)
			return;
		best->copies *= 2;
		f->shared_bytes += least;
	}
}

/*
 * Choose the columns of the scan shapes that recur, the most used scan shapes first.  Order them
 * as they are tested: smallest tables first, which includes those in shared memory.
 */
static void
choose_columns(const GcScanSet *set, GcFused *f)
{
	u64			room = gc_worker.profile.scalar ? 0 : gc_worker.profile.shared_per_block - SHARED_LEFT;
	uint64		least = gc_shape_least_uses();
	bool		taken[GC_MAX_SCAN_SHAPES] = {false};

	for (;;)
	{
		int			best = -1;

		for (int i = 0; i < set->nshapes; i++)
		{
			const GcScanShape *s = set->shape[i];

			if (!taken[i] && s->predicates.ncolumns > 0 && s->uses >= least &&
				(best < 0 || s->uses > set->shape[best]->uses))
				best = i;
		}
		if (best < 0)
			break;
		taken[best] = true;
		add_columns(set, f, set->shape[best]);
	}
	for (int k = 0; k < f->nphysical; k++)
	{
		for (int i = k; i > 0 && entries(&set->column[f->physical[i]]) < entries(&set->column[f->physical[i - 1]]); i--)
		{
			i16			t = f->physical[i];

			f->physical[i] = f->physical[i - 1];
			f->physical[i - 1] = t;
		}
	}
	for (int k = 0; k < f->nphysical; k++)
	{
		const GcSetColumn *c = &set->column[f->physical[k]];
		u64			bytes = GC_SELECT_SHARED_BYTES(entries(c), 1);
		u8			width = key_group_width(c) ? key_group_width(c) : c->width ? c->width : 2;

		f->entries[k] = entries(c);
		f->column[k] = (GcSelectorColumn) {.width = c->width,.nullable = c->nullable,
		.key_group_width = key_group_width(c),.shared = key_group_width(c) || f->shared_bytes + bytes <= room,
		.copies = 1};
		if (f->column[k].shared)
			f->shared_bytes += bytes;
		f->times.column_us[k] = gc_cost_alone(&gc_worker.calibration, set->rows *
										(width + (f->column[k].shared ? 0 : L2_LOOKUP)));
	}
	if (!gc_worker.profile.scalar)
		choose_copies(f);
	f->times.scan_us = gc_worker.calibration.launch_us;
}

/* Ask for a selection kernel that tests more columns, or knows more key groups, than the set's one. */
static void
ask_selector(GcScanSet *set)
{
	GcFused    *f = MemoryContextAllocZero(TopMemoryContext, sizeof(GcFused));
	char	   *text;
	bool		more = !knows_key_groups(set, set->selector);
	bool		failed;

	f->selector = true;
	choose_columns(set, f);
	for (int k = 0; k < f->nphysical; k++)
		more = more || !has_column(set->selector, f->physical[k]);
	text = more ? gc_generate_selector(f->column, f->nphysical) : NULL;
	if (text)
	{
		f->hash = gc_hash_bytes(text, strlen(text), 0);
		f->entry = gc_kcache_get_ahead(gc_worker.kernels, text);
		gc_write_gpu_text(text);
		free(text);
	}
	if (f->entry)
	{
		set->selector_pending = f;
		set->selection_asked = true;
		/* a kernel that was already compiled sends no notice */
		(void) gc_fused_take(&set->selector, &set->selector_pending, &failed);
	}
	else
		gc_fused_drop(f);
}

void
gc_selection_improve(GcScanSet *set)
{
	uint64		least = gc_shape_least_uses();
	bool		wanted = !knows_key_groups(set, set->selector);

	set->selection_dirty = set->selection_dirty || set->key_groups_on != gc_debug_key_groups;
	set->key_groups_on = gc_debug_key_groups;
	if (!set->selection_dirty || set->selector_pending || !gc_selection_allowed())
		return;
	set->selection_dirty = false;
	for (int i = 0; i < set->nshapes; i++)
	{
		GcScanShape *s = set->shape[i];

		if (s->uses < least)
			continue;
		if (!s->asked)
		{
			ask_kernels(s);
			set->selection_asked = true;
		}
		wanted = wanted || (s->predicates.ncolumns > 0 && !gc_selection_covers(set->selector, s));
	}
	if (wanted)
		ask_selector(set);
}

/* Are kernels pending that gpuconc.debug_force_shared_scan has to wait for? */
bool
gc_selection_pending(const GcScanSet *set)
{
	if (set->selector_pending)
		return true;
	for (int c = 0; c < set->ncolumns; c++)
	{
		if (set->column[c].refining)
			return true;
	}
	for (int i = 0; i < set->nshapes && gc_selection_forced(); i++)
	{
		GcScanShape *s = set->shape[i];

		if (s->predicates.ncolumns > 0 && !gc_selection_shape_ready(s) && s->predicates.ncolumns > 0)
			return true;
	}
	return gc_selection_forced() && gc_debug_shared_selection && set->selection_dirty;
}

bool
gc_selection_poll(GcScanSet *set)
{
	bool		failed;

	if (set->selector_pending)
		(void) gc_fused_take(&set->selector, &set->selector_pending, &failed);
	for (int c = 0; c < set->ncolumns; c++)
		set->selection_dirty = gc_key_groups_poll(&set->column[c]) || set->selection_dirty;
	gc_selection_improve(set);
	if (gc_selection_pending(set))
		return false;
	set->selection_asked = false;
	return true;
}

/*-------------------------------------------------------------------------
 * Requests
 *-------------------------------------------------------------------------
 */

int
gc_selection_most(const GcScanSet *set)
{
	const u64	room = gc_pool_size(gc_worker.pool) / SELECTION_TILES_PART;

	return (int) Max(2, Min(room / Max(set->sel_bitmap_bytes, 1), GC_MAX_SELECTED));
}

bool
gc_selection_can(const GcRun *run)
{
	/*
	 * A request that a failed scan gave back has predicate bitmaps, but no scan shape any more.
	 */
	return run->schedule.share->predicate_bits != 0 && run->schedule.share->scan_shape != NULL &&
		gc_debug_shared_selection &&
		gc_selection_covers(run->schedule.share->scan_shape->set->selector, run->schedule.share->scan_shape);
}

u32
gc_selection_columns(const GcRun *run)
{
	const GcScanShape *s = run->schedule.share->scan_shape;
	u32			columns = 0;

	for (int q = 0; q < s->predicates.ncolumns; q++)
		columns |= 1u << column_number(s->set->selector, s->columns[s->predicates.column[q]]);
	return columns;
}

/*-------------------------------------------------------------------------
 * Times
 *-------------------------------------------------------------------------
 */

double
gc_selection_own_us(const GcRun *run)
{
	const GcPipelineKernel *k = gc_run_own_kernel(run);

	return k->alone_us.samples > 0 ? k->alone_us.value : 0;
}

double
gc_marks_write_us(const GcScanSet *set)
{
	return set->rows * SELECT_BYTES / gc_worker.calibration.read_bandwidth;
}

double
gc_selection_adds(const GcScanShape *s)
{
	return s->selection_us + gc_marks_write_us(s->set);
}

/*
 * Learn the selection kernel's time, and that of its requests' own kernels
 * (launch->share->begin_us to end_us).
 */
void
gc_selection_learn(GcMainLaunch *launch, double select_us)
{
	GcFused    *f = launch->share->kernel;
	GcScanSet  *set = launch->share->shapes[0]->set;
	double	   *us[GC_MAX_MEMBERS];
	double		took_us[GC_MAX_MEMBERS];

	for (int k = 0; k < f->nphysical; k++)
	{
		if (launch->share->group_coded[k] &&
			gc_key_groups_learn(&set->column[f->physical[k]], launch->share->mismatches[k] != 0))
			set->selection_dirty = set->selection_asked = true;
	}
	gc_scan_learn(&f->times, launch->share->columns, Max(select_us - launch->members * gc_marks_write_us(set), 1),
				  launch->alone);
	for (int m = 0; m < launch->members; m++)
	{
		us[m] = &launch->share->shapes[m]->selection_us;
		launch->share->shapes[m]->selection_sure = launch->alone;
	}
	gc_members_took(launch->share->begin_us, launch->share->end_us, launch->members, took_us);
	gc_members_learn(us, took_us, launch->members, launch->alone);
}

void
gc_selection_doubt(GcRun *run, u32 columns)
{
	GcScanShape *s = run->schedule.share->scan_shape;
	const double first = gc_selection_own_us(run) * GC_SELECTION_PART;

	if (s->selection_us > first && first > 0)
		s->selection_us = gc_forget_refused(s->selection_us, first, s->selection_sure);
	gc_scan_refused(&s->set->selector->times, columns);
}

/*
 * Columns that the refused runs of run i's set would have read; 0: a run before i is of that set.
 */
static u32
refused_columns(GcRun *const *runs, int n, int i)
{
	u32			columns = 0;

	for (int k = 0; k < n; k++)
	{
		if (runs[k]->schedule.share->scan_shape->set != runs[i]->schedule.share->scan_shape->set)
			continue;
		if (k < i)
			return 0;
		columns |= gc_selection_columns(runs[k]);
	}
	return columns;
}

void
gc_selection_refused(GcRun *const *runs, int n)
{
	for (int i = 0; i < n; i++)
		gc_selection_doubt(runs[i], refused_columns(runs, n, i));
}

