/*-------------------------------------------------------------------------
 *
 * selection_scan.c
 *	  One selection scan: from its members to their results.
 *
 * The merge kernel and the selection kernel run on the first member's stream, over the chunks
 * that any member reads.  They wait for the other members' predicate kernels.  Then every member's
 * own kernel visits its selected rows in its cached chunks, on its own stream.  It is co-resident
 * with the other members' kernels.  Its result comes behind it.  A member's ordinary kernel reads
 * its hot and private chunks, into the same sink.
 *
 * The worker's main thread.  The launch owns the sources, and one piece of device memory for
 * tables and selection bitmaps, until the last member is done.
 *
 *-------------------------------------------------------------------------
 */
#include "scan_members.h"

#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "../run/launch.h"
#include "selection.h"
#include "scan_set.h"
#include "share_launch.h"

/* Grid of the merge kernel, which reads a few MB. */
#define MERGE_BLOCKS		264
#define MERGE_THREADS	256

/*
 * Threads per multiprocessor of the members' own kernels.  They are co-resident, so they share the
 * first number; each has at least the second.
 */
#define THREADS_OF_ALL		4096
#define THREADS_OF_ONE		512

/*
 * The launch's memory begins with the words for mismatches, where a kernel has flags, and times.
 */
#define MISMATCHES_BYTES		256
StaticAssertDecl(GC_MAX_PREDICATES * sizeof(u32) <= GC_TIMES_AT, "times lie behind the mismatches");

/* Members that read a column, and those that accept every value of it. */
static u32
readers(const GcScanMembers *scan, i16 dir_column, u32 *accepting)
{
	u32			read = 0;

	for (int m = 0; m < scan->n; m++)
	{
		const GcScanShape *s = scan->run[m]->schedule.share->scan_shape;

		for (int q = 0; q < s->predicates.ncolumns; q++)
		{
			if (scan->run[m]->schedule.share->predicates[q].dir_column == dir_column)
				read |= 1u << scan->member_no[m];
		}
	}
	*accepting = ~read;
	return read;
}

/*
 * The launch's memory: a mismatch word per column, each column's table by key group, all tables
 * by value, the block summary, and the selection bitmaps.
 */
static GcAddr
mismatch(const GcScanMembers *scan, int k)
{
	return scan->launch->share->sel_bitmap + k * sizeof(u32);
}

/* Where the table of members by key group lies, for the kernel's column k. */
static GcAddr
key_group_table(const GcScanMembers *scan, int k)
{
	return scan->launch->share->sel_bitmap + MISMATCHES_BYTES + k * GC_SELECT_TABLE_BYTES(GC_MAX_KEY_GROUPS);
}

/* Tables of members by value lie behind those by key group. */
static GcAddr
value_tables(const GcScanMembers *scan)
{
	return key_group_table(scan, scan->f->nphysical);
}

/* Describe the merge kernel's tables, one per column of the selection kernel. */
static void
fill_tables(GcScanMembers *scan, void *to, void *arg)
{
	GcSelectTable *table = to;
	u64			at = value_tables(scan);

	for (int k = 0; k < scan->f->nphysical; k++)
	{
		const GcSetColumn *c = &scan->run[0]->schedule.share->scan_shape->set->column[scan->f->physical[k]];
		u32			accepting;

		/* a column that no member reads has one entry */
		table[k].table = at;
		table[k].range = readers(scan, scan->f->physical[k], &accepting) ? c->range : 0;
		at += GC_SELECT_TABLE_BYTES(c->range);
		if (scan->launch->share->group_coded[k])
		{
			table[k].key_groups = scan->launch->share->group_coded[k]->key_groups;
			table[k].members = scan->launch->share->group_coded[k]->members;
			table[k].key_group_table = key_group_table(scan, k);
			table[k].mismatch = mismatch(scan, k);
		}
		for (int m = 0; m < scan->n; m++)
		{
			const GcScanShape *s = scan->run[m]->schedule.share->scan_shape;

			for (int q = 0; q < s->predicates.ncolumns; q++)
			{
				if (scan->run[m]->schedule.share->predicates[q].dir_column == scan->f->physical[k])
					table[k].bits[scan->member_no[m]] = scan->run[m]->schedule.share->predicates[q].bits;
			}
		}
	}
}

/* Allocate tables, block summary and selection bitmaps. */
static GcCode
allocate(GcScanMembers *scan)
{
	GcSelectionRoom *room = &scan->room;
	const GcRun *first = scan->run[0];
	u64			tables = value_tables(scan) - scan->launch->share->sel_bitmap;
	u64			summary;
	u32			max_rows = 0;

	for (int k = 0; k < scan->f->nphysical; k++)
		tables += GC_SELECT_TABLE_BYTES(first->schedule.share->scan_shape->set->column[scan->f->physical[k]].range);
	for (int m = 0; m < scan->n; m++)
		max_rows = Max(max_rows, scan->run[m]->request->inputs[scan->run[m]->main->input].max_rows);
	room->per_chunk = TYPEALIGN64(GC_PAD_ROWS, max_rows) / 8;
	room->per_member = room->per_chunk * first->schedule.scan_chunks;
	tables = TYPEALIGN64(256, tables);
	summary = TYPEALIGN64(256, GC_SUMMARY_BYTES(room->per_member));
	scan->launch->share->sel_bitmap = gc_device_alloc(tables + summary + room->per_member * scan->n);
	if (scan->launch->share->sel_bitmap == 0)
		return gc_fail(scan->err, GC_DEVICE_MEMORY, "No device memory for the selection bitmaps of a shared scan.");
	room->summary = scan->launch->share->sel_bitmap + tables;
	room->sel_bitmap = room->summary + summary;
	return GC_OK;
}

/* Fill the selection kernel's words for column k; its tables are in the order of the columns. */
static void
fill_column(const GcScanMembers *scan, int k, GcAddr table, u64 *w)
{
	const i16	dir_column = scan->f->physical[k];
	const GcSetColumn *c = &scan->run[0]->schedule.share->scan_shape->set->column[dir_column];
	const GcGroupCoded *group_coded = scan->launch->share->group_coded[k];
	u32			accepting;
	u32			read = readers(scan, dir_column, &accepting);

	w[0] = read ? gc_scan_column(scan, dir_column) : 0;
	w[1] = table;
	w[2] = (u64) c->base;
	w[3] = c->range;
	w[4] = (u64) read << 32 | accepting;
	if (group_coded == NULL)
		return;
	w[5] = group_coded->column.cols;
	w[6] = key_group_table(scan, k);
	w[7] = group_coded->n;
	w[8] = mismatch(scan, k);
}

/*
 * Shared memory of the selection kernel: tables by key group, and the tables by value that are
 * copied.
 */
static u64
shared_bytes(const GcScanMembers *scan)
{
	u64			bytes = 0;

	for (int k = 0; k < scan->f->nphysical; k++)
	{
		const GcGroupCoded *group_coded = scan->launch->share->group_coded[k];
		const GcSetColumn *c = &scan->run[0]->schedule.share->scan_shape->set->column[scan->f->physical[k]];

		if (group_coded)
			bytes += GC_SELECT_SHARED_BYTES(group_coded->n, gc_table_copies(&scan->f->column[k]));
		else if (scan->f->column[k].shared && scan->f->column[k].key_group_width == 0)
			bytes += GC_SELECT_SHARED_BYTES(c->range + 1, gc_table_copies(&scan->f->column[k]));
	}
	return bytes;
}

static GcCode
describe_merge(GcScanMembers *scan, GcLaunch *launch, GcArgs *args)
{
	bool		failed;
	const GcPipelineKernel *merge_kernel = gc_fixed_kernel(GC_FIXED_MERGE, scan->err, &failed);

	if (merge_kernel == NULL)
		return scan->err->code;
	memset(args, 0, sizeof(GcArgs));
	args->w[0] = scan->tables;
	args->w[1] = scan->f->nphysical;
	*launch = (GcLaunch) {.blocks = MERGE_BLOCKS,.threads = Min(MERGE_THREADS, merge_kernel->info.max_threads)};
	return GC_OK;
}

/* Describe the selection kernel's launch. */
static void
describe(GcScanMembers *scan, GcLaunch *launch, GcArgs *args)
{
	GcMainLaunch *l = scan->launch;
	const GcSelectionRoom *room = &scan->room;
	GcAddr		table = value_tables(scan);
	u64			dynamic = shared_bytes(scan);

	memset(args, 0, sizeof(GcArgs));
	args->scan = gc_scan_args(scan);
	args->scan.flags = l->share->sel_bitmap;
	args->w[0] = l->share->member_mask;
	args->w[1] = room->sel_bitmap;
	args->w[2] = room->per_chunk;
	args->w[3] = room->per_member;
	args->w[4] = room->summary;
	for (int k = 0; k < scan->f->nphysical; k++)
	{
		fill_column(scan, k, table, &args->w[GC_SELECTOR_WORDS(k)]);
		table += GC_SELECT_TABLE_BYTES(args->w[GC_SELECTOR_WORDS(k) + 3]);
	}
	l->ntiles = args->scan.ntiles;
	l->grid = gc_sched_full(&gc_worker.profile, l->grid.threads,
							gc_worker.ops->occupancy(scan->f->kernel, l->grid.threads, dynamic), l->ntiles);
	l->shared_bytes = dynamic + scan->f->info.shared_static;
	*launch = (GcLaunch) {.blocks = l->grid.blocks,.threads = l->grid.threads,.shared_bytes = dynamic};
}

/* Write the missing chunks that the scan needs of group-coded columns. */
static GcCode
write_key_groups(GcScanMembers *scan)
{
	GcCode		code = GC_OK;

	for (int k = 0; k < scan->f->nphysical && code == GC_OK; k++)
	{
		const i16	dir_column = scan->f->physical[k];
		u32			accepting;
		u32			read = readers(scan, dir_column, &accepting);

		if (scan->launch->share->group_coded[k] && read)
			code = gc_key_groups_write(scan, k, gc_scan_column(scan, dir_column), read);
	}
	return code;
}

/* Queue what comes before the merge kernel, on the first member's stream. */
static GcCode
prepare(GcScanMembers *scan)
{
	GcMainLaunch *l = scan->launch;
	Size		size = scan->f->nphysical * sizeof(GcSelectTable);
	Size		tables;
	GcCode		code;

	for (int k = 0; k < scan->f->nphysical; k++)
	{
		u32			accepting;

		if (readers(scan, scan->f->physical[k], &accepting))
			gc_key_groups_reserve(scan, k);
	}
	if ((code = allocate(scan)) != GC_OK ||
		(code = gc_scan_upload(scan, NULL, size + MISMATCHES_BYTES, &tables, fill_tables, NULL)) != GC_OK)
		return code;
	scan->tables = l->share->sources + tables;
	l->share->mismatches = (u32 *) ((char *) l->share->staging + tables + size);
	for (int m = 0; m < scan->n; m++)
	{
		scan->run[m]->schedule.share->sel_bitmap = scan->room.sel_bitmap + scan->room.per_member * scan->member_no[m];
		scan->run[m]->schedule.share->sel_bitmap_bytes = scan->room.per_chunk;
		scan->run[m]->schedule.share->summary = scan->room.summary;
		scan->run[m]->schedule.share->sel_bitmap_bit = scan->member_no[m];
		if (m > 0 && (code = gc_scan_wait(scan, m)) != GC_OK)
			return code;
	}
	if ((code = gc_scan_complete(scan)) != GC_OK || (code = write_key_groups(scan)) != GC_OK)
		return code;
	return gc_worker.ops->fill(scan->run[0]->memory.stream, l->share->sel_bitmap, 0, MISMATCHES_BYTES, scan->err);
}

/* Behind the selection kernel: bring its words for mismatches to the host. */
static GcCode
fetch_mismatches(GcScanMembers *scan, GcStream *stream)
{
	const GcShareLaunch *s = scan->launch->share;
	bool		any = false;

	/* Without key groups there are none. */
	for (int k = 0; k < scan->f->nphysical; k++)
		any = any || s->group_coded[k];
	return any ? gc_copy_out(stream, s->mismatches, s->sel_bitmap, MISMATCHES_BYTES, scan->err) : GC_OK;
}

/* Queue the merge of members' predicates, the selection kernel, and an event behind it. */
static GcCode
launch_scan(GcScanMembers *scan)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcStream   *stream = scan->run[0]->memory.stream;
	bool		failed;
	GcLaunch	launch;
	GcArgs		args;
	GcCode		code;

	if ((code = prepare(scan)) != GC_OK ||
		(code = describe_merge(scan, &launch, &args)) != GC_OK ||
		(code = ops->launch(stream, gc_fixed_kernel(GC_FIXED_MERGE, scan->err, &failed)->kernel, &launch, &args, GC_MERGE_WORDS, scan->err)) != GC_OK)
		return code;
	describe(scan, &launch, &args);
	pg_atomic_fetch_add_u64(&gc_stats()->main_launches, 1);
	code = ops->launch(stream, scan->f->kernel, &launch, &args, GC_SELECTOR_WORDS(scan->f->nphysical), scan->err);
	if (code != GC_OK)
		return code;
	scan->launch->share->computed = ops->event(stream, scan->err);
	if (scan->launch->share->computed == NULL)
		return scan->err->code;
	return fetch_mismatches(scan, stream);
}

/* Blocks per multiprocessor for each of n members. */
static int
own_blocks(int n, int threads)
{
	int			each = Max(THREADS_OF_ALL / n, THREADS_OF_ONE);

	return Max(each / threads, 1);
}

/* Rows that member m's own kernel visits, and the grid that is best for it.  Counts the launch, which is to follow. */
static GcScanPart
visit(GcScanMembers *scan, int m, GcGrid *grid)
{
	GcRun	   *run = scan->run[m];
	const GcInputValue *in = &run->request->inputs[run->main->input];
	GcPipelineKernel *k = run->schedule.share->scan_shape->selection;
	GcScanPart	part = {.n = in->nsources - in->nalone,.timed = true,.before = scan->launch->share->sel_bitmap,
	.last = true};
	int			threads = Min(k->variant.threads, k->info.max_threads);
	int			per_sm = gc_run_occupancy(k, threads, gc_run_shared_bytes(run, run->p->npipelines - 1, &k->variant));

	*grid = gc_sched_full(&gc_worker.profile, threads, Min(per_sm, own_blocks(scan->n, threads)),
						  part.n * ((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS));
	gc_slot_run_info(run->slot)->kernels++;
	pg_atomic_fetch_add_u64(&gc_stats()->direct_lookups, run->schedule.share->scan_shape->predicates.nlookups);
	return part;
}

/* Queue member m's own kernel, and what comes behind it. */
static GcCode
follow(GcScanMembers *scan, int m)
{
	GcRun	   *run = scan->run[m];
	GcMainLaunch *l = scan->launch;
	GcScanPart	part;
	GcGrid		grid;
	GcCode		code;

	if ((code = gc_scan_alone(run)) != GC_OK ||
		(m > 0 && (code = gc_worker.ops->stream_wait(run->memory.stream, l->share->computed, &run->err)) != GC_OK))
		return code;
	part = visit(scan, m, &grid);
	code = gc_run_launch(run, run->p->npipelines - 1, run->schedule.share->scan_shape->selection, &grid, &part,
						 run->memory.sink);
	return code == GC_OK ? gc_run_queue_result(run) : code;
}

/*
 * Order the members by the time of their own kernels, longest first: mostly those with the most
 * selected rows.  The selection kernel writes eight selection bitmaps together, of which then
 * most or none have rows.  Also the kernels launched last are short, so no long one is left alone
 * at the end.
 */
static GcStart
most_selected_first(const GcStart *start, GcRun *const *runs)
{
	GcStart		sorted = *start;
	double		us[GC_MAX_MEMBERS];
	int			order[GC_MAX_MEMBERS];

	for (int m = 0; m < start->ncandidates; m++)
		us[m] = runs[start->candidate[m]]->schedule.share->scan_shape->selection_us;
	gc_longest_first(us, start->ncandidates, order);
	for (int m = 0; m < start->ncandidates; m++)
	{
		sorted.candidate[m] = start->candidate[order[m]];
		sorted.member_no[m] = m;
	}
	return sorted;
}

/* As gc_scan_begin. */
static void
begin(GcScanMembers *scan, GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs, GcError *err)
{
	const GcStart sorted = most_selected_first(start, runs);

	gc_scan_begin(scan, launch, f, &sorted, runs, err);
	for (int m = 0; m < scan->n; m++)
	{
		launch->share->shapes[m] = scan->run[m]->schedule.share->scan_shape;
		launch->share->columns |= gc_selection_columns(scan->run[m]);
	}
}

void
gc_selection_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs)
{
	GcScanMembers scan;
	GcError		err;

	begin(&scan, launch, f, start, runs, &err);
	gc_scan_started(&scan, launch_scan(&scan), follow);
}
