/*-------------------------------------------------------------------------
 *
 * marked_scan.c
 *	  One marked scan: from its members to their results.
 *
 * On the stream of the first member, once the others' testers are done: the combiner and
 * the marker, over the chunks that any member reads.  Then every member, on its own stream
 * and side by side with the others: its own kernel over its cached chunks' marks, and its
 * result.  A member's private chunks are read by its ordinary kernel, into the same sink.
 *
 * The worker's main thread.  The launch owns the sources, and tables and marks in one
 * piece of device memory, until the last member is done.
 *
 *-------------------------------------------------------------------------
 */
#include "marked_scan.h"

#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "../run/launch.h"
#include "../run/result.h"
#include "marked.h"
#include "scan_set.h"
#include "share_launch.h"

/* Blocks and threads of the combiner: it reads a few MB. */
#define COMBINER_BLOCKS		264
#define COMBINER_THREADS	256

/*
 * Threads per multiprocessor of the members' own kernels: so many in all, since they run
 * side by side, but at least so many each.
 */
#define THREADS_OF_ALL		4096
#define THREADS_OF_ONE		512

/* The launch's memory begins with words for misfits, where flags would be, and times. */
#define MISFITS_BYTES		256
StaticAssertDecl(GC_MAX_TESTED * sizeof(u32) <= GC_TIMES_AT, "times lie behind the misfits");

/* Members that read a column, and those that accept every value of it. */
static u32
readers(const GcScanMembers *scan, i16 dir_column, u32 *accepting)
{
	u32			read = 0;

	for (int m = 0; m < scan->n; m++)
	{
		const GcScanShape *s = scan->run[m]->share->scan_shape;

		for (int q = 0; q < s->tests.ncolumns; q++)
		{
			if (scan->run[m]->share->tests[q].dir_column == dir_column)
				read |= 1u << scan->body[m];
		}
	}
	*accepting = ~read;
	return read;
}

/*
 * The launch's memory: a word per column for misfit, its table by class, all tables by
 * value, the marks' digest, and marks.
 */
static GcAddr
misfit(const GcScanMembers *scan, int k)
{
	return scan->launch->share->marks + k * sizeof(u32);
}

static GcAddr
class_table(const GcScanMembers *scan, int k)
{
	return scan->launch->share->marks + MISFITS_BYTES + k * GC_MARK_TABLE_BYTES(GC_MAX_CLASSES);
}

static GcAddr
value_tables(const GcScanMembers *scan)
{
	return class_table(scan, scan->f->nphysical);
}

/* The combiner's tables, one per column of the marker. */
static void
fill_tables(GcScanMembers *scan, void *to, void *arg)
{
	GcMarkTable *table = to;
	u64			at = value_tables(scan);

	for (int k = 0; k < scan->f->nphysical; k++)
	{
		const GcSetColumn *c = &scan->run[0]->share->scan_shape->set->column[scan->f->physical[k]];
		u32			accepting;

		/* of a column that nobody reads, one entry */
		table[k].table = at;
		table[k].range = readers(scan, scan->f->physical[k], &accepting) ? c->range : 0;
		at += GC_MARK_TABLE_BYTES(c->range);
		if (scan->launch->share->classed[k])
		{
			table[k].classes = scan->launch->share->classed[k]->classes;
			table[k].members = scan->launch->share->classed[k]->members;
			table[k].class_table = class_table(scan, k);
			table[k].misfit = misfit(scan, k);
		}
		for (int m = 0; m < scan->n; m++)
		{
			const GcScanShape *s = scan->run[m]->share->scan_shape;

			for (int q = 0; q < s->tests.ncolumns; q++)
			{
				if (scan->run[m]->share->tests[q].dir_column == scan->f->physical[k])
					table[k].bits[scan->body[m]] = scan->run[m]->share->tests[q].bits;
			}
		}
	}
}

/* Where what a scan writes lies in the launch's memory. */
typedef struct MarksRoom
{
	GcAddr		digest;
	GcAddr		marks;			/* of the first request */
	u64			per_chunk;		/* bytes of them */
	u64			per_member;
} MarksRoom;

/* Memory of tables, digest and marks. */
static GcCode
allocate(GcScanMembers *scan, MarksRoom *room)
{
	const GcRun *first = scan->run[0];
	const GcDirectory *dir = first->request->inputs[first->main->input].dir;
	u64			tables = value_tables(scan) - scan->launch->share->marks;
	u64			digest;
	u32			max_rows = 0;

	for (int k = 0; k < scan->f->nphysical; k++)
		tables += GC_MARK_TABLE_BYTES(first->share->scan_shape->set->column[scan->f->physical[k]].range);
	for (int m = 0; m < scan->n; m++)
		max_rows = Max(max_rows, scan->run[m]->request->inputs[scan->run[m]->main->input].max_rows);
	room->per_chunk = TYPEALIGN64(GC_PAD_ROWS, max_rows) / 8;
	room->per_member = room->per_chunk * dir->nchunks;
	tables = TYPEALIGN64(256, tables);
	digest = TYPEALIGN64(256, GC_DIGEST_BYTES(room->per_member));
	scan->launch->share->marks = gc_device_alloc(tables + digest + room->per_member * scan->n);
	if (scan->launch->share->marks == 0)
		return gc_fail(scan->err, GC_DEVICE_MEMORY, "No device memory for the marks of a shared scan.");
	room->digest = scan->launch->share->marks + tables;
	room->marks = room->digest + digest;
	return GC_OK;
}

/* Column k's words of the marker; its tables are in the order of the columns. */
static void
fill_column(const GcScanMembers *scan, int k, GcAddr table, u64 *w)
{
	const i16	dir_column = scan->f->physical[k];
	const GcSetColumn *c = &scan->run[0]->share->scan_shape->set->column[dir_column];
	const GcClassed *classed = scan->launch->share->classed[k];
	u32			accepting;
	u32			read = readers(scan, dir_column, &accepting);

	w[0] = read ? gc_scan_column(scan, dir_column) : 0;
	w[1] = table;
	w[2] = (u64) c->base;
	w[3] = c->range;
	w[4] = (u64) read << 32 | accepting;
	if (classed == NULL)
		return;
	w[5] = classed->column.cols;
	w[6] = class_table(scan, k);
	w[7] = classed->n;
	w[8] = misfit(scan, k);
}

/* Shared memory of the marker: tables by class, and those by value that are copied. */
static u64
shared_bytes(const GcScanMembers *scan)
{
	u64			bytes = 0;

	for (int k = 0; k < scan->f->nphysical; k++)
	{
		const GcClassed *classed = scan->launch->share->classed[k];
		const GcSetColumn *c = &scan->run[0]->share->scan_shape->set->column[scan->f->physical[k]];

		if (classed)
			bytes += GC_MARK_SHARED_BYTES(classed->n, gc_table_copies(&scan->f->column[k]));
		else if (scan->f->column[k].shared && scan->f->column[k].class_width == 0)
			bytes += GC_MARK_SHARED_BYTES(c->range + 1, gc_table_copies(&scan->f->column[k]));
	}
	return bytes;
}

/* Queue combiner and marker. */
static GcCode
launch_marker(GcScanMembers *scan, GcAddr records, const MarksRoom *room)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcMainLaunch *l = scan->launch;
	GcStream   *stream = scan->run[0]->stream;
	bool		failed;
	const GcPipelineKernel *combiner = gc_combiner(scan->err, &failed);
	GcLaunch	launch = {.blocks = COMBINER_BLOCKS,.threads = Min(COMBINER_THREADS, combiner->info.max_threads)};
	GcArgs		args = {0};
	GcAddr		table = value_tables(scan);
	u64			dynamic = shared_bytes(scan);
	GcCode		code;

	args.w[0] = records;
	args.w[1] = scan->f->nphysical;
	if ((code = ops->fill(stream, l->share->marks, 0, MISFITS_BYTES, scan->err)) != GC_OK ||
		(code = ops->launch(stream, combiner->kernel, &launch, &args, GC_COMBINER_WORDS, scan->err)) != GC_OK)
		return code;
	args.scan = gc_scan_args(scan);
	args.scan.flags = l->share->marks;
	args.w[0] = l->share->bodies;
	args.w[1] = room->marks;
	args.w[2] = room->per_chunk;
	args.w[3] = room->per_member;
	args.w[4] = room->digest;
	for (int k = 0; k < scan->f->nphysical; k++)
	{
		fill_column(scan, k, table, &args.w[GC_MARKER_WORDS(k)]);
		table += GC_MARK_TABLE_BYTES(args.w[GC_MARKER_WORDS(k) + 3]);
	}
	l->ntiles = args.scan.ntiles;
	l->shape = gc_sched_full(&gc_worker.profile, l->shape.threads,
							 ops->occupancy(scan->f->kernel, l->shape.threads, dynamic), l->ntiles);
	l->shared_bytes = dynamic + scan->f->info.shared_static;
	launch = (GcLaunch) {.blocks = l->shape.blocks,.threads = l->shape.threads,.shared_bytes = dynamic};
	return ops->launch(stream, scan->f->kernel, &launch, &args, GC_MARKER_WORDS(scan->f->nphysical), scan->err);
}

/* Write what the scan needs of class columns that is not there yet. */
static GcCode
write_classes(GcScanMembers *scan)
{
	GcCode		code = GC_OK;

	for (int k = 0; k < scan->f->nphysical && code == GC_OK; k++)
	{
		const i16	dir_column = scan->f->physical[k];
		u32			accepting;
		u32			read = readers(scan, dir_column, &accepting);

		if (scan->launch->share->classed[k] && read)
			code = gc_classes_write(scan, k, gc_scan_column(scan, dir_column), read);
	}
	return code;
}

static GcCode
launch_scan(GcScanMembers *scan)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcMainLaunch *l = scan->launch;
	GcStream   *stream = scan->run[0]->stream;
	MarksRoom	room = {0};
	Size		size = scan->f->nphysical * sizeof(GcMarkTable);
	Size		records;
	GcCode		code;

	for (int k = 0; k < scan->f->nphysical; k++)
	{
		u32			accepting;

		if (readers(scan, scan->f->physical[k], &accepting))
			gc_classes_reserve(scan, k);
	}
	gc_records_reserve(scan);
	if ((code = allocate(scan, &room)) != GC_OK ||
		(code = gc_scan_upload(scan, NULL, size + MISFITS_BYTES, &records, fill_tables, NULL)) != GC_OK)
		return code;
	l->share->misfits = (u32 *) ((char *) l->share->staging + records + size);
	for (int m = 0; m < scan->n; m++)
	{
		scan->run[m]->share->marks = room.marks + room.per_member * scan->body[m];
		scan->run[m]->share->marks_bytes = room.per_chunk;
		scan->run[m]->share->digest = room.digest;
		scan->run[m]->share->marks_bit = scan->body[m];
		if (m > 0 && (code = gc_scan_wait(scan, m)) != GC_OK)
			return code;
	}
	if ((code = write_classes(scan)) != GC_OK || (code = gc_records_write(scan)) != GC_OK)
		return code;
	if ((code = launch_marker(scan, l->share->sources + records, &room)) != GC_OK)
		return code;
	l->share->computed = ops->mark(stream, scan->err);
	if (l->share->computed == NULL)
		return scan->err->code;
	return gc_copy_out(stream, l->share->misfits, l->share->marks, MISFITS_BYTES, scan->err);
}

/* Blocks per multiprocessor of one of n members. */
static int
own_blocks(int n, int threads)
{
	int			each = Max(THREADS_OF_ALL / n, THREADS_OF_ONE);

	return Max(each / threads, 1);
}

/* A member's own kernel and what comes behind it. */
static GcCode
follow_scan(GcScanMembers *scan, int m)
{
	GcRun	   *run = scan->run[m];
	GcMainLaunch *l = scan->launch;
	const GcInputValue *in = &run->request->inputs[run->main->input];
	GcPipelineKernel *k = run->share->scan_shape->marked;
	GcScanPart	part = {.n = in->nsources - in->nprivate,.timed = true,.before = l->share->marks,.last = true};
	int			threads = Min(k->variant.threads, k->info.max_threads);
	int			per_sm = gc_run_occupancy(k, threads, gc_run_shared_bytes(run, &k->variant));
	GcShape		shape;
	GcCode		code;

	if ((code = gc_scan_private(run)) != GC_OK ||
		(m > 0 && (code = gc_worker.ops->stream_wait(run->stream, l->share->computed, &run->err)) != GC_OK))
		return code;
	shape = gc_sched_full(&gc_worker.profile, threads, Min(per_sm, own_blocks(scan->n, threads)),
						  part.n * ((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS));
	if ((code = gc_run_launch(run, run->p->npipelines - 1, k, &shape, &part, run->sink)) != GC_OK)
		return code;
	gc_slot_run_info(run->slot)->kernels++;
	pg_atomic_fetch_add_u64(&gc_stats()->builds_placed, run->share->scan_shape->tests.nplaced);
	return gc_run_queue_result(run);
}

/*
 * The same members, those with most marks first.  So of the eight whose marks the marker puts together
 * either most have some, or mostly none has; and the last to be launched are short, so that no long one
 * is left over when there is nothing beside it any more.
 */
static GcStart
most_marks_first(const GcStart *start, GcRun *const *runs)
{
	GcStart		sorted = *start;
	double		us[GC_MAX_MEMBERS];
	int			order[GC_MAX_MEMBERS];

	for (int m = 0; m < start->nitems; m++)
		us[m] = runs[start->item[m]]->share->scan_shape->marked_us;
	gc_longest_first(us, start->nitems, order);
	for (int m = 0; m < start->nitems; m++)
	{
		sorted.item[m] = start->item[order[m]];
		sorted.body[m] = m;
	}
	return sorted;
}

void
gc_marked_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs)
{
	const GcStart sorted = most_marks_first(start, runs);
	GcScanMembers scan;
	GcError		err;

	gc_scan_begin(&scan, launch, f, &sorted, runs, &err);
	for (int m = 0; m < scan.n; m++)
	{
		launch->share->shapes[m] = scan.run[m]->share->scan_shape;
		launch->share->columns |= gc_marked_columns(scan.run[m]);
	}
	gc_scan_started(&scan, launch_scan(&scan), follow_scan);
}
