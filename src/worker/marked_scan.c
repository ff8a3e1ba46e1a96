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
#include "fused.h"

/* Blocks and threads of the combiner: it reads a few MB. */
#define COMBINER_BLOCKS		264
#define COMBINER_THREADS	256

/*
 * Threads per multiprocessor of the members' own kernels: so many in all, since they run
 * side by side, but at least so many each.
 */
#define THREADS_OF_ALL		4096
#define THREADS_OF_ONE		512

/* Members that read a column, and those that accept every value of it. */
static u32
readers(const GcScanMembers *scan, i16 dir_column, u32 *accepting)
{
	u32			read = 0;

	for (int m = 0; m < scan->n; m++)
	{
		const GcScanShape *s = scan->run[m]->scan_shape;

		for (int q = 0; q < s->tests.ncolumns; q++)
		{
			if (scan->run[m]->tests[q].dir_column == dir_column)
				read |= 1u << scan->body[m];
		}
	}
	*accepting = ~read & 0xffff;
	return read;
}

/* The combiner's tables, one per column of the marker. */
static void
fill_tables(GcScanMembers *scan, void *to, void *arg)
{
	GcMarkTable *table = to;
	u64			at = *(const u64 *) arg;

	for (int k = 0; k < scan->f->nphysical; k++)
	{
		const GcSetColumn *c = &scan->run[0]->scan_shape->set->column[scan->f->physical[k]];

		table[k].table = at;
		table[k].range = c->range;
		at += GC_MARK_TABLE_BYTES(c->range);
		for (int m = 0; m < scan->n; m++)
		{
			const GcScanShape *s = scan->run[m]->scan_shape;

			for (int q = 0; q < s->tests.ncolumns; q++)
			{
				if (scan->run[m]->tests[q].dir_column == scan->f->physical[k])
					table[k].bits[scan->body[m]] = scan->run[m]->tests[q].bits;
			}
		}
	}
}

/* Memory of tables and marks; *tables: bytes of the tables. */
static GcCode
allocate(GcScanMembers *scan, u64 *tables, u64 *per_chunk, u64 *per_member)
{
	const GcRun *first = scan->run[0];
	const GcDirectory *dir = first->request->inputs[first->main->input].dir;
	u32			max_rows = 0;

	*tables = 0;
	for (int k = 0; k < scan->f->nphysical; k++)
		*tables += GC_MARK_TABLE_BYTES(first->scan_shape->set->column[scan->f->physical[k]].range);
	for (int m = 0; m < scan->n; m++)
		max_rows = Max(max_rows, scan->run[m]->request->inputs[scan->run[m]->main->input].max_rows);
	*per_chunk = TYPEALIGN64(GC_PAD_ROWS, max_rows) / 8;
	*per_member = *per_chunk * dir->nchunks;
	*tables = TYPEALIGN64(256, *tables);
	scan->launch->marks = gc_device_alloc(*tables + *per_member * scan->n);
	if (scan->launch->marks == 0)
		return gc_fail(scan->err, GC_DEVICE_MEMORY, "No device memory for the marks of a shared scan.");
	return GC_OK;
}

/* Queue combiner and marker. */
static GcCode
launch_marker(GcScanMembers *scan, GcAddr records, u64 tables, u64 per_chunk, u64 per_member)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcMainLaunch *l = scan->launch;
	GcStream   *stream = scan->run[0]->stream;
	bool		failed;
	const GcPipelineKernel *combiner = gc_combiner(scan->err, &failed);
	GcLaunch	launch = {.blocks = COMBINER_BLOCKS,.threads = Min(COMBINER_THREADS, combiner->info.max_threads)};
	GcArgs		args = {0};
	GcAddr		table = l->marks;
	GcCode		code;

	args.w[0] = records;
	args.w[1] = scan->f->nphysical;
	code = ops->launch(stream, combiner->kernel, &launch, &args, GC_COMBINER_WORDS, scan->err);
	if (code != GC_OK)
		return code;
	args.scan = gc_scan_args(scan);
	args.w[0] = l->bodies;
	args.w[1] = l->marks + tables;
	args.w[2] = per_chunk;
	args.w[3] = per_member;
	for (int k = 0; k < scan->f->nphysical; k++)
	{
		const i16	dir_column = scan->f->physical[k];
		const GcSetColumn *c = &scan->run[0]->scan_shape->set->column[dir_column];
		u64		   *w = &args.w[GC_MARKER_WORDS(k)];
		u32			accepting;
		u32			read = readers(scan, dir_column, &accepting);

		w[0] = read ? gc_scan_column(scan, dir_column) : 0;
		w[1] = table;
		w[2] = (u64) c->base;
		w[3] = c->range;
		w[4] = (u64) read << 16 | accepting;
		table += GC_MARK_TABLE_BYTES(c->range);
	}
	l->ntiles = args.scan.ntiles;
	l->shape = gc_sched_full(&gc_worker.profile, l->shape.threads,
							 ops->occupancy(scan->f->kernel, l->shape.threads, scan->f->shared_bytes), l->ntiles);
	l->shared_bytes = scan->f->shared_bytes + scan->f->info.shared_static;
	launch = (GcLaunch) {.blocks = l->shape.blocks,.threads = l->shape.threads,
	.shared_bytes = scan->f->shared_bytes};
	return ops->launch(stream, scan->f->kernel, &launch, &args, GC_MARKER_WORDS(scan->f->nphysical), scan->err);
}

static GcCode
launch_scan(GcScanMembers *scan)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcMainLaunch *l = scan->launch;
	GcStream   *stream = scan->run[0]->stream;
	u64			tables,
				per_chunk,
				per_member;
	Size		records;
	GcCode		code;

	if ((code = allocate(scan, &tables, &per_chunk, &per_member)) != GC_OK ||
		(code = gc_scan_upload(scan, NULL, scan->f->nphysical * sizeof(GcMarkTable), &records,
							   fill_tables, &l->marks)) != GC_OK)
		return code;
	for (int m = 0; m < scan->n; m++)
	{
		scan->run[m]->marks = l->marks + tables + per_member * scan->body[m];
		scan->run[m]->marks_bytes = per_chunk;
		if (m > 0 && (code = ops->stream_wait(stream, scan->run[m]->built, scan->err)) != GC_OK)
			return code;
	}
	l->launched = ops->mark(stream, scan->err);
	code = launch_marker(scan, l->sources + records, tables, per_chunk, per_member);
	if (code == GC_OK && (!l->launched || (l->computed = ops->mark(stream, scan->err)) == NULL))
		code = GC_DEVICE_FAILED;
	return code;
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
	GcPipelineKernel *k = run->scan_shape->marked;
	GcScanPart	part = {.n = in->nsources - in->nprivate};
	int			threads = Min(k->variant.threads, k->info.max_threads);
	int			per_sm = gc_run_occupancy(k, threads, gc_run_shared_bytes(run, &k->variant));
	GcShape		shape;
	GcCode		code;

	if ((code = gc_scan_private(run)) != GC_OK ||
		(m > 0 && (code = gc_worker.ops->stream_wait(run->stream, l->computed, &run->err)) != GC_OK))
		return code;
	shape = gc_sched_full(&gc_worker.profile, threads, Min(per_sm, own_blocks(scan->n, threads)),
						  part.n * ((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS));
	if ((code = gc_run_launch(run, run->p->npipelines - 1, k, &shape, &part, run->sink)) != GC_OK)
		return code;
	gc_slot_run_info(run->slot)->kernels++;
	run->computed = gc_worker.ops->mark(run->stream, &run->err);
	return run->computed ? gc_run_queue_result(run) : GC_DEVICE_FAILED;
}

void
gc_marked_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs)
{
	GcScanMembers scan;
	GcError		err;

	gc_scan_begin(&scan, launch, f, start, runs, &err);
	for (int m = 0; m < scan.n; m++)
	{
		launch->shapes[m] = scan.run[m]->scan_shape;
		launch->columns |= gc_marked_columns(scan.run[m]);
	}
	gc_scan_started(&scan, launch_scan(&scan), follow_scan);
}
