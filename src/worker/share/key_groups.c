/*-------------------------------------------------------------------------
 *
 * key_groups.c
 *	  Group-coded columns (codegen/kernel/key_groups.c): which columns have them, which attributes form
 *	  the key groups, and their memory.
 *
 * A scan set's column is group-coded if its values are keys of another table and too many for a
 * small table by value.  Its key groups come from attributes of that other table that requests test: the columns that
 * the filters of its dense builds read.
 *
 * The first request that tests such a column has the refinement kernel run behind its predicate
 * kernel.  The worker takes over the result later, and then asks for a selection kernel that
 * reads key groups (selection.c).  The first selection scan that reads a chunk writes the chunk's
 * key groups.  They come from codes that never change, so they are never written again.  Other scans wait for the
 * writer by an event, in stream order.  Chunks that shared scans do not read have none.
 *
 * Group-coded columns are optional.  They take free memory, are evicted first where memory is
 * short, and scans do without them where they are missing.
 *
 * The worker's main thread.  A set owns its refinements and holds a reference to its key groups;
 * a launch holds one to those that it reads.
 *
 *-------------------------------------------------------------------------
 */
#include "key_groups.h"

#include "utils/memutils.h"

#include "../../codegen/key_groups.h"
#include "../../columns/store/arena.h"
#include "../../force.h"
#include "../../settings.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "../run/launch.h"
#include "scan_set.h"
#include "share_launch.h"

/* Columns with fewer values have tables by value that are small enough. */
#define LEAST_VALUES		8192
#define LEAST_VALUES_FORCED 64	/* tests have small tables */

/*
 * After MISMATCHES_BORNE mismatches in a row, key groups of a changed table are made anew.  After
 * MISMATCHES_GIVEN_UP, the column has key groups no more.
 */
#define MISMATCHES_BORNE		4
#define MISMATCHES_GIVEN_UP	64

#define REFINER_BLOCKS		264
#define KEY_GROUP_THREADS		256

/*
 * Arrays of the refinement kernel: attribute, slots, ids, counts, and the key groups before
 * it.
 */
typedef struct GcRefinement
{
	GcAddr		work;
	GcGroupCoded  *result;
	u64		   *count;			/* on the host, in the arena: as the refinement kernel's w[8] */
	GcEvent	   *done;
} GcRefinement;

static int	under_way = 0;		/* refinements, in all sets */

bool
gc_key_groups_refining(void)
{
	return under_way > 0;
}

/*-------------------------------------------------------------------------
 * Columns that the device derives from a scan set's columns
 *-------------------------------------------------------------------------
 */

#define WRITER_BLOCKS		1056
#define WRITER_THREADS		256

/* Rows of the first nchunks chunks, padding included. */
static u64
derived_rows(const GcDirectory *dir, u32 nchunks)
{
	u64			rows = 0;

	for (u32 i = 0; i < nchunks; i++)
		rows += dir->chunks[i] ? TYPEALIGN64(GC_PAD_ROWS, dir->chunks[i]->nrows) : 0;
	return rows;
}

/*
 * Lay out a derived column of the first nchunks chunks, of which nothing is written yet.  width: of its codes, of which
 * the first lies at `data`.  False: no memory to spare.
 */
static bool
lay_out_derived(GcDerived *d, const GcDirectory *dir, u32 nchunks, u8 width, GcAddr data)
{
	d->cols = gc_device_alloc_spare(2 * (nchunks + 1) * sizeof(GcCol), true);
	if (d->cols == 0)
		return false;
	gc_device_label(d->cols, GC_MEMORY_COLUMNS);
	d->nchunks = nchunks;
	d->unwritten = 0;
	d->host = MemoryContextAllocZero(TopMemoryContext, 2 * (nchunks + 1) * sizeof(GcCol));
	d->place = MemoryContextAlloc(TopMemoryContext, (nchunks + 1) * sizeof(GcAddr));
	for (u32 i = 0; i < nchunks; i++)
	{
		d->host[i].width = d->host[d->nchunks + i].width = width;
		d->place[i] = data;
		d->unwritten += dir->chunks[i] != NULL;
		data += dir->chunks[i] ? TYPEALIGN64(GC_PAD_ROWS, dir->chunks[i]->nrows) * width : 0;
	}
	return true;
}

/* Give back the description of a derived column. */
static void
derived_free(GcDerived *d)
{
	gc_device_free(d->cols);
	if (d->host)
	{
		pfree(d->host);
		pfree(d->place);
	}
	if (d->ready)
		gc_worker.ops->event_put(gc_worker.dev, d->ready);
	*d = (GcDerived) {0};
}

/* Choose the chunks that members read of the column and that are not yet written.  False: none. */
static bool
choose_chunks(const GcScanMembers *scan, GcDerived *d, u32 readers)
{
	GcCol	   *to_write = d->host + d->nchunks;
	bool		any = false;

	if (d->unwritten == 0)
		return false;
	for (u32 i = 0; i < d->nchunks; i++)
		to_write[i].data = 0;
	for (int m = 0; m < scan->n; m++)
	{
		for (u32 i = 0; i < scan->nsources[m] && readers >> scan->member_no[m] & 1; i++)
		{
			u32			chunk = scan->sources[m][i].chunk;

			if (d->host[chunk].data != 0 || to_write[chunk].data != 0)
				continue;
			to_write[chunk].data = d->place[chunk];
			any = true;
		}
	}
	return any;
}

/*
 * Write the missing chunks.  Kernels that another scan launched before may still read the
 * descriptions.  So they change behind the writer, in stream order.
 */
static GcCode
write_chunks(GcScanMembers *scan, GcDerived *d, const GcPipelineKernel *k, GcArgs *args, int nwords)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcStream   *stream = scan->run[0]->memory.stream;
	GcLaunch	launch = {.blocks = WRITER_BLOCKS,.threads = Min(WRITER_THREADS, k->info.max_threads)};
	GcAddr		to_write = d->cols + d->nchunks * sizeof(GcCol);
	GcCode		code;

	args->scan = gc_scan_args(scan);
	args->w[1] = to_write;
	code = ops->copy_in(stream, to_write, d->host + d->nchunks, d->nchunks * sizeof(GcCol), scan->err);
	if (code == GC_OK)
	{
		gc_slot_run_info(scan->run[0]->slot)->kernels++;
		code = ops->launch(stream, k->kernel, &launch, args, nwords, scan->err);
	}
	if (code != GC_OK)
		return code;
	for (u32 i = 0; i < d->nchunks; i++)
	{
		if (d->host[d->nchunks + i].data == 0)
			continue;
		d->host[i].data = d->host[d->nchunks + i].data;
		d->unwritten--;
	}
	code = ops->copy_in(stream, d->cols, d->host, d->nchunks * sizeof(GcCol), scan->err);
	/* Without their descriptions on the device these chunks are not there. */
	for (u32 i = 0; code != GC_OK && i < d->nchunks; i++)
	{
		if (d->host[d->nchunks + i].data == 0)
			continue;
		d->host[i].data = 0;
		d->unwritten++;
	}
	if (d->ready)
		ops->event_put(gc_worker.dev, d->ready);
	d->ready = ops->event(stream, scan->err);
	return d->ready ? code : GC_DEVICE_FAILED;
}

/*
 * Queue kernel k, which writes the missing chunks that members in `readers` read.  args: the arguments of k, except
 * w[1], the address of the GcCols to be written.
 */
static GcCode
write_derived(GcScanMembers *scan, GcDerived *d, u32 readers, const GcPipelineKernel *k, GcArgs *args, int nwords)
{
	GcCode		code = GC_OK;

	if (d->ready)
		code = gc_worker.ops->stream_wait(scan->run[0]->memory.stream, d->ready, scan->err);
	if (code == GC_OK && choose_chunks(scan, d, readers))
		code = write_chunks(scan, d, k, args, nwords);
	return code;
}

/*-------------------------------------------------------------------------
 * Memory
 *-------------------------------------------------------------------------
 */

static u64
aligned(u64 bytes)
{
	return TYPEALIGN64(256, bytes);
}

/* No launch reads the column any more. */
static void
group_coded_free(GcGroupCoded *c)
{
	gc_device_free(c->key_groups);
	gc_device_free(c->data);
	derived_free(&c->column);
	pfree(c);
}

/* The set gives the column up; it goes with its last launch. */
static void
group_coded_drop(GcGroupCoded *c)
{
	if (c == NULL)
		return;
	c->dropped = true;
	if (c->users == 0)
		group_coded_free(c);
}

void
gc_group_coded_release(GcGroupCoded *c)
{
	if (--c->users == 0 && c->dropped)
		group_coded_free(c);
}

/* The device is done with the refinement, or was drained. */
static void
refinement_free(GcRefinement *r)
{
	if (r == NULL)
		return;
	under_way--;
	gc_device_free(r->work);
	if (r->result)
		group_coded_free(r->result);
	if (r->count)
		gc_arena_free(r->count, 2 * sizeof(u64));
	if (r->done)
		gc_worker.ops->event_put(gc_worker.dev, r->done);
	pfree(r);
}

void
gc_key_groups_abandon(GcSetColumn *column)
{
	GcRefinement *r = column->refining;

	if (r && r->count)
		gc_arena_free(r->count, 2 * sizeof(u64));
	column->refining = NULL;
}

/* The set gives up the column and a refinement under way; the device no longer works at that. */
void
gc_key_groups_forget(GcSetColumn *column)
{
	group_coded_drop(column->group_coded);
	refinement_free(column->refining);
	column->group_coded = NULL;
	column->refining = NULL;
}

/*
 * Give back a group-coded column's memory, or that of its key groups if it has none.  Both are made again when memory
 * is to spare.
 */
bool
gc_group_coded_evict(GcSetColumn *column)
{
	GcGroupCoded  *c = column->group_coded;

	if (c == NULL || c->users > 0 || (c->data == 0 && column->refining))
		return false;
	if (c->data == 0)
	{
		gc_key_groups_forget(column);
		column->nattributes = 0;
		return true;
	}
	gc_device_free(c->data);
	derived_free(&c->column);
	c->data = 0;
	return true;
}

/*-------------------------------------------------------------------------
 * Refining
 *-------------------------------------------------------------------------
 */

/*
 * Memory for a refinement: all of it is spare.  The set keeps the result's for longer than a request.  False: there is
 * not enough, and the caller frees the rest.
 */
static bool
begin_refinement(GcSetColumn *column, GcRefinement *r, u64 work)
{
	u64			key_groups = aligned((column->range + 1) * sizeof(u16));

	r->result = MemoryContextAllocZero(TopMemoryContext, sizeof(GcGroupCoded));
	r->count = gc_arena_alloc(2 * sizeof(u64));
	r->work = gc_device_alloc_spare(work, false);
	r->result->key_groups = gc_device_alloc_spare(key_groups + GC_MAX_KEY_GROUPS * sizeof(u32), true);
	gc_device_label(r->result->key_groups, GC_MEMORY_LOOKUPS);
	r->result->members = r->result->key_groups + key_groups;
	return r->count && r->work && r->result->key_groups;
}

/* Queue the refinement kernel's three steps, and the copy of their counts. */
static GcCode
launch_refiner(GcRun *run, const GcPipelineKernel *k, GcSetColumn *column, GcRefinement *r,
			   const GcInputValue *in, GcArgs *args)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcStream   *stream = run->memory.stream;
	GcLaunch	launch = {.blocks = REFINER_BLOCKS,.threads = Min(KEY_GROUP_THREADS, k->info.max_threads)};
	u64			attributes = aligned((column->range + 1) * sizeof(u32));
	u64			slots = GC_KEY_GROUP_SLOTS * sizeof(u64);
	u64			ids = GC_KEY_GROUP_SLOTS * sizeof(u32);
	GcCode		code;

	args->w[4] = r->work;
	args->w[6] = args->w[4] + attributes;
	args->w[7] = args->w[6] + slots;
	args->w[8] = args->w[7] + ids;
	args->w[5] = column->group_coded ? column->group_coded->key_groups : args->w[8] + 256;
	args->w[9] = r->result->key_groups;
	args->w[10] = r->result->members;
	args->w[11] = (u64) column->base;
	args->w[12] = column->range;
	args->scan.sources = run->memory.device_part + in->sources_off;
	args->scan.nsources = gc_cached_sources(in);
	args->scan.tiles_per_source = (in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
	args->scan.ntiles = args->scan.nsources * args->scan.tiles_per_source;
	if ((code = ops->fill(stream, args->w[4], 0, attributes, &run->err)) != GC_OK ||
		(code = ops->fill(stream, args->w[6], 0xff, slots, &run->err)) != GC_OK ||
		(code = ops->fill(stream, args->w[8], 0, 256 + (column->group_coded ? 0 : (column->range + 1) * sizeof(u16)),
						  &run->err)) != GC_OK)
		return code;
	for (int step = GC_REFINE_READ; step <= GC_REFINE_ASSIGN && code == GC_OK; step++)
	{
		args->w[0] = step;
		gc_slot_run_info(run->slot)->kernels++;
		code = ops->launch(stream, k->kernel, &launch, args, GC_REFINER_WORDS, &run->err);
	}
	if (code == GC_OK)
		code = gc_copy_out(stream, r->count, args->w[8], 2 * sizeof(u64), &run->err);
	return code;
}

/*
 * Refine the column's key groups by an attribute of the table that input `in` of the run is.
 * Without memory to spare, this is left for another time.  False: the run failed.
 */
static bool
refine(GcRun *run, GcSetColumn *column, int input, int key, int attribute)
{
	const GcInputValue *in = &run->request->inputs[input];
	GcError		err;
	bool		failed;
	const GcPipelineKernel *k = gc_fixed_kernel(GC_FIXED_REFINER, &err, &failed);
	GcRefinement *r;
	GcArgs		args = {0};
	u64			work = aligned((column->range + 1) * sizeof(u32)) +
		GC_KEY_GROUP_SLOTS * (sizeof(u64) + sizeof(u32)) + 256 + (column->range + 1) * sizeof(u16);

	/* A run that shares its builds with others did not need these columns. */
	if (k == NULL || gc_run_have_column(run, input, key, run->memory.stream, &err) != GC_OK ||
		(attribute >= 0 && gc_run_have_column(run, input, attribute, run->memory.stream, &err) != GC_OK))
		return true;
	r = MemoryContextAllocZero(TopMemoryContext, sizeof(GcRefinement));
	under_way++;
	if (!begin_refinement(column, r, work))
	{
		refinement_free(r);
		return true;
	}
	column->refining = r;
	column->attribute[column->nattributes++] = (GcAttribute) {.dbid = in->dir->key.dbid,
	.relid = in->dir->key.relid,.dir_id = in->dir->id,
	.column = attribute < 0 ? -1 : run->request->columns[attribute].dir_column};
	args.w[1] = gc_table_array(run->memory.tables[key]);
	args.w[2] = attribute < 0 ? 0 : gc_table_array(run->memory.tables[attribute]);
	args.w[3] = attribute < 0 ? 0 : (u64) in->dir->columns[run->request->columns[attribute].dir_column].span.min;
	if (launch_refiner(run, k, column, r, in, &args) != GC_OK ||
		(r->done = gc_worker.ops->event(run->memory.stream, &run->err)) == NULL)
		return false;
	gc_run_not_prepared(run);
	return true;
}

/*
 * Do the column's key groups know this attribute already?  They may know it from an older state of
 * its table; they are made anew only once they no longer fit.
 */
static bool
is_known(GcSetColumn *column, const GcDirectory *dir, i16 dir_column)
{
	for (int i = 0; i < column->nattributes; i++)
	{
		const GcAttribute *a = &column->attribute[i];

		if (a->column != dir_column || a->relid != dir->key.relid || a->dbid != dir->key.dbid)
			continue;
		if (a->dir_id == dir->id || column->mismatches < MISMATCHES_BORNE)
			return true;
		column->nattributes = 0;
		column->mismatches = 0;
		group_coded_drop(column->group_coded);
		column->group_coded = NULL;
	}
	return column->nattributes == GC_MAX_ATTRIBUTES;
}

/* A set of a program's columns. */
typedef struct ColumnSet
{
	bool		has[GC_MAX_COLUMNS];
} ColumnSet;

/* Add all columns that an expression reads to the set. */
static void
add_columns(const GcProgram *p, u16 e, ColumnSet *set)
{
	const GcExpr *x = &gc_exprs(p)[e];

	if (x->op == GC_OP_COLUMN)
		set->has[x->ref] = true;
	for (int i = 0; i < 3 && x->op != GC_OP_COLUMN && x->op != GC_OP_PAYLOAD; i++)
	{
		if (x->arg[i] != GC_NONE)
			add_columns(p, x->arg[i], set);
	}
}

/* Columns that decide which rows of its table a build takes. */
static void
find_attributes(const GcProgram *p, const GcPPipeline *pl, ColumnSet *set)
{
	memset(set, 0, sizeof(*set));
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (step->expr != GC_NONE)
			add_columns(p, step->expr, set);
		for (int k = 0; step->type == GC_STEP_PROBE && k < gc_builds(p)[step->build].nkeys; k++)
			add_columns(p, gc_refs(p)[step->first_key + k], set);
	}
}

/* Does the column have few enough values, all of them integers? */
static bool
is_attribute(const GcRun *run, const GcInputValue *in, int c)
{
	const GcDirColumn *d = &in->dir->columns[run->request->columns[c].dir_column];
	const GcPColumn *pc = &gc_columns(run->p)[c];
	const u8	reg = pc->reg;

	return d->problem == GC_COL_OK && d->span.min <= d->span.max && pc->min_scale == pc->scale &&
		(u64) d->span.max - (u64) d->span.min < PG_INT32_MAX && (reg == GC_I32 || reg == GC_I64);
}

/* The column that expression e is; -1: e is something else. */
static int
plain_column(const GcProgram *p, u16 e)
{
	return gc_exprs(p)[e].op == GC_OP_COLUMN ? gc_exprs(p)[e].ref : -1;
}

/* Refine the column's key groups by one attribute, if this probe's build has a new one. */
static bool
look_at_probe(GcRun *run, GcSetColumn *column, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(run->p)[step->build];
	const GcPPipeline *pl = &gc_pipelines(run->p)[build->pipeline];
	const GcInputValue *in = &run->request->inputs[pl->input];
	int			key = plain_column(run->p, gc_refs(run->p)[build->first_key]);
	ColumnSet	set;
	bool		any = false;

	/* A set may have a key several times, with other attributes. */
	if (build->mode != GC_BUILD_DENSE || build->set || in->dir == NULL || gc_cached_sources(in) == 0 || key < 0)
		return true;
	find_attributes(run->p, pl, &set);
	for (int c = 0; c < run->p->ncolumns; c++)
	{
		if (!set.has[c])
			continue;
		any = true;
		if (is_attribute(run, in, c) && !is_known(column, in->dir, run->request->columns[c].dir_column))
			return refine(run, column, pl->input, key, c);
	}
	/* The build takes all rows: only the presence of a key counts. */
	if (!any && !is_known(column, in->dir, -1))
		return refine(run, column, pl->input, key, -1);
	return true;
}

/* Columns with few values are tested by value. */
static bool
is_worth_groups(const GcSetColumn *column)
{
	const u64	least = gc_selection_forced() ? LEAST_VALUES_FORCED : LEAST_VALUES;

	return !column->given_up && column->range >= least;
}

bool
gc_key_groups_learn(GcSetColumn *column, bool mismatch)
{
	pg_atomic_fetch_add_u64(&gc_stats()->key_group_scans, 1);
	pg_atomic_fetch_add_u64(&gc_stats()->key_group_mismatches, mismatch);
	column->mismatches = mismatch ? column->mismatches + 1 : 0;
	if (column->mismatches < MISMATCHES_GIVEN_UP || column->refining || column->given_up)
		return false;
	/* Its requests distinguish values by something that no attribute says. */
	column->given_up = true;
	gc_key_groups_forget(column);
	return true;
}

bool
gc_key_groups_look(GcRun *run)
{
	GcScanShape *s = run->schedule.share->scan_shape;
	const GcPPipeline *pl = &gc_pipelines(run->p)[s->pipeline];
	GcError		err;
	bool		failed;
	bool		again;

	if (run->schedule.share->key_groups_seen)
		return true;
	again = gc_fixed_kernel(GC_FIXED_REFINER, &err, &failed) == NULL && !failed;
	for (int i = 0; i < pl->nsteps && i < 64 && gc_debug_key_groups; i++)
	{
		const GcPStep *step = &gc_steps(run->p)[pl->first_step + i];
		GcSetColumn *column;
		int			c;

		if (!(s->predicates.steps >> i & 1) || step->type != GC_STEP_PROBE ||
			(c = plain_column(run->p, gc_refs(run->p)[step->first_key])) < 0)
			continue;
		column = &s->set->column[s->columns[c]];
		if (column->refining == NULL && is_worth_groups(column) && !look_at_probe(run, column, step))
			return false;
		again = again || column->refining;
		s->set->selection_asked = s->set->selection_asked || column->refining;
	}
	/* One attribute at a time; where memory is short, another run tries. */
	run->schedule.share->key_groups_seen = !again;
	return true;
}

bool
gc_key_groups_poll(GcSetColumn *column)
{
	GcRefinement *r = column->refining;
	bool		done = false;
	GcError		err;

	if (r == NULL)
		return false;
	if (r->done && gc_worker.ops->event_done(r->done, &done, &err) != GC_OK)
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	else if (r->done && !done)
		return false;
	/*
	 * Too many key groups: the attribute counts as known, and the key groups stay as they were.
	 */
	if (done && r->count[1] == 0)
	{
		group_coded_drop(column->group_coded);
		column->group_coded = r->result;
		column->group_coded->n = r->count[0];
		column->group_coded->width = r->count[0] <= 256 ? 1 : 2;
		column->mismatches = 0;
		r->result = NULL;
	}
	column->refining = NULL;
	refinement_free(r);
	return true;
}

/*-------------------------------------------------------------------------
 * Group-coded columns
 *-------------------------------------------------------------------------
 */

/* Get memory for all chunks that the run's shared scans read; none of them is written yet. */
static bool
lay_out(GcGroupCoded *c, const GcRun *run)
{
	const GcDirectory *dir = run->request->inputs[run->main->input].dir;

	c->data = gc_device_alloc_spare(Max(derived_rows(dir, run->schedule.scan_chunks) * c->width, 1), true);
	gc_device_label(c->data, GC_MEMORY_COLUMNS);
	if (c->data != 0 && lay_out_derived(&c->column, dir, run->schedule.scan_chunks, c->width, c->data))
		return true;
	gc_device_drop(&c->data);
	return false;
}

void
gc_key_groups_reserve(GcScanMembers *scan, int k)
{
	GcSetColumn *column = &scan->run[0]->schedule.share->scan_shape->set->column[scan->f->physical[k]];
	GcGroupCoded  *c = column->group_coded;
	bool		failed;
	GcError		err;

	if (c == NULL || c->width != scan->f->column[k].key_group_width || c->n > scan->f->entries[k] ||
		!gc_debug_key_groups ||
		gc_fixed_kernel(GC_FIXED_KEY_GROUP_WRITER, &err, &failed) == NULL ||
		(c->data == 0 && !lay_out(c, scan->run[0])))
		return;
	scan->launch->share->group_coded[k] = c;
	c->users++;
}

GcCode
gc_key_groups_write(GcScanMembers *scan, int k, GcAddr source, u32 readers)
{
	const GcSetColumn *column = &scan->run[0]->schedule.share->scan_shape->set->column[scan->f->physical[k]];
	GcGroupCoded  *c = scan->launch->share->group_coded[k];
	GcArgs		args = {0};
	bool		failed;

	args.w[0] = source;
	args.w[2] = (u64) column->base;
	args.w[3] = column->range;
	args.w[4] = c->key_groups;
	return write_derived(scan, &c->column, readers, gc_fixed_kernel(GC_FIXED_KEY_GROUP_WRITER, scan->err, &failed),
						 &args, GC_KEY_GROUP_WRITER_WORDS);
}
