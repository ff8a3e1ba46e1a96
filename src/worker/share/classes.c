/*-------------------------------------------------------------------------
 *
 * classes.c
 *	  Class columns (codegen/classes.c): which columns have them, by which attributes
 *	  their values are classed, and their memory.
 *
 * A column of a scan set whose values are keys of another table, and too many for a small
 * table by value, is classed by what requests test of that table: the columns that the
 * filters of its dense builds read.  The first request that tests such a column has the
 * refiner run behind its tester; what comes of it is taken over later, and a marker that
 * reads classes is then asked for (marked.c).  A chunk's classes are written
 * by the first marked scan that reads the chunk.
 *
 * Class columns are a convenience: they take memory that is free, are the first to go
 * where it is short, and a scan does without where there are none.
 *
 * The worker's main thread.  A set owns its refinements and holds a reference to its
 * classes; a launch holds one to those that it reads.
 *
 *-------------------------------------------------------------------------
 */
#include "classes.h"

#include "utils/memutils.h"

#include "../../codegen/key_groups.h"
#include "../../columns/arena.h"
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

/* Misfits in a row after which a changed table is looked at again, or classes are given up. */
#define MISFITS_BORNE		4
#define MISFITS_GIVEN_UP	64

#define REFINER_BLOCKS		264
#define CLASS_THREADS		256

/* What the refiner works on: attribute, slots, ids, counts, and classes to begin with. */
typedef struct GcRefinement
{
	GcAddr		work;
	GcClassed  *result;
	u64		   *count;			/* on the host, in the arena: as the refiner's w[8] */
	GcMark	   *done;
} GcRefinement;

static int	under_way = 0;		/* refinements, in all sets */

bool
gc_classes_refining(void)
{
	return under_way > 0;
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

static void
classed_free(GcClassed *c)
{
	gc_device_free(c->classes);
	gc_device_free(c->data);
	gc_derived_free(&c->column);
	pfree(c);
}

static void
classed_drop(GcClassed *c)
{
	if (c == NULL)
		return;
	c->dropped = true;
	if (c->users == 0)
		classed_free(c);
}

void
gc_classed_release(GcClassed *c)
{
	if (--c->users == 0 && c->dropped)
		classed_free(c);
}

static void
refinement_free(GcRefinement *r)
{
	if (r == NULL)
		return;
	under_way--;
	gc_device_free(r->work);
	if (r->result)
		classed_free(r->result);
	if (r->count)
		gc_arena_free(r->count, 2 * sizeof(u64));
	if (r->done)
		gc_worker.ops->mark_put(gc_worker.dev, r->done);
	pfree(r);
}

void
gc_classes_abandon(GcSetColumn *column)
{
	GcRefinement *r = column->refining;

	if (r && r->count)
		gc_arena_free(r->count, 2 * sizeof(u64));
	column->refining = NULL;
}

void
gc_classes_forget(GcSetColumn *column)
{
	classed_drop(column->classed);
	refinement_free(column->refining);
	column->classed = NULL;
	column->refining = NULL;
}

/* Give back a class column's memory, to be written again when there is some to spare. */
bool
gc_classed_evict(GcSetColumn *column)
{
	GcClassed  *c = column->classed;

	if (c == NULL || c->data == 0 || c->users > 0)
		return false;
	gc_device_free(c->data);
	gc_derived_free(&c->column);
	c->data = 0;
	return true;
}

/*-------------------------------------------------------------------------
 * Refining
 *-------------------------------------------------------------------------
 */

static bool
begin_refinement(GcSetColumn *column, GcRefinement *r, u64 work)
{
	u64			classes = aligned((column->range + 1) * sizeof(u16));

	r->result = MemoryContextAllocZero(TopMemoryContext, sizeof(GcClassed));
	r->count = gc_arena_alloc(2 * sizeof(u64));
	r->work = gc_device_alloc_spare(work);
	r->result->classes = gc_device_alloc_spare(classes + GC_MAX_CLASSES * sizeof(u32));
	r->result->members = r->result->classes + classes;
	return r->count && r->work && r->result->classes;
}

/* Queue the refiner's three steps, and the copy of what they counted. */
static GcCode
launch_refiner(GcRun *run, const GcPipelineKernel *k, GcSetColumn *column, GcRefinement *r,
			   const GcInputValue *in, GcArgs *args)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcStream   *stream = run->stream;
	GcLaunch	launch = {.blocks = REFINER_BLOCKS,.threads = Min(CLASS_THREADS, k->info.max_threads)};
	u64			attributes = aligned((column->range + 1) * sizeof(u32));
	u64			slots = GC_CLASS_SLOTS * sizeof(u64);
	u64			ids = GC_CLASS_SLOTS * sizeof(u32);
	GcCode		code;

	args->w[4] = r->work;
	args->w[6] = args->w[4] + attributes;
	args->w[7] = args->w[6] + slots;
	args->w[8] = args->w[7] + ids;
	args->w[5] = column->classed ? column->classed->classes : args->w[8] + 256;
	args->w[9] = r->result->classes;
	args->w[10] = r->result->members;
	args->w[11] = (u64) column->base;
	args->w[12] = column->range;
	args->scan.sources = run->device_part + in->sources_off;
	args->scan.nsources = in->nsources - in->nprivate;
	args->scan.tiles_per_source = (in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
	args->scan.ntiles = args->scan.nsources * args->scan.tiles_per_source;
	if ((code = ops->fill(stream, args->w[4], 0, attributes, &run->err)) != GC_OK ||
		(code = ops->fill(stream, args->w[6], 0xff, slots, &run->err)) != GC_OK ||
		(code = ops->fill(stream, args->w[8], 0, 256 + (column->classed ? 0 : (column->range + 1) * sizeof(u16)),
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
 * Refine the column's classes by an attribute of the table that input `in` of the run is.
 * False: the run failed.  Where there is no memory to spare, it is left for another time.
 */
static bool
refine(GcRun *run, GcSetColumn *column, int input, int key, int attribute)
{
	const GcInputValue *in = &run->request->inputs[input];
	GcError		err;
	bool		failed;
	const GcPipelineKernel *k = gc_refiner(&err, &failed);
	GcRefinement *r;
	GcArgs		args = {0};
	u64			work = aligned((column->range + 1) * sizeof(u32)) +
		GC_CLASS_SLOTS * (sizeof(u64) + sizeof(u32)) + 256 + (column->range + 1) * sizeof(u16);

	/* A run that shares its builds with others did not need them. */
	if (k == NULL || gc_run_have_column(run, input, key, run->stream, &err) != GC_OK ||
		(attribute >= 0 && gc_run_have_column(run, input, attribute, run->stream, &err) != GC_OK))
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
	args.w[1] = gc_table_array(run->tables[key]);
	args.w[2] = attribute < 0 ? 0 : gc_table_array(run->tables[attribute]);
	args.w[3] = attribute < 0 ? 0 : (u64) in->dir->columns[run->request->columns[attribute].dir_column].min;
	if (launch_refiner(run, k, column, r, in, &args) != GC_OK ||
		(r->done = gc_worker.ops->mark(run->stream, &run->err)) == NULL)
		return false;
	gc_run_not_prepared(run);
	return true;
}

/*
 * Are the column's values classed by this attribute already?  By what its table was like
 * at some time: only when that no longer fits are they classed anew.
 */
static bool
is_known(GcSetColumn *column, const GcDirectory *dir, i16 dir_column)
{
	for (int i = 0; i < column->nattributes; i++)
	{
		const GcAttribute *a = &column->attribute[i];

		if (a->column != dir_column || a->relid != dir->key.relid || a->dbid != dir->key.dbid)
			continue;
		if (a->dir_id == dir->id || column->misfits < MISFITS_BORNE)
			return true;
		column->nattributes = 0;
		column->misfits = 0;
		classed_drop(column->classed);
		column->classed = NULL;
	}
	return column->nattributes == GC_MAX_ATTRIBUTES;
}

/* A program's columns, as a set. */
typedef struct ColumnSet
{
	bool		has[GC_MAX_COLUMNS];
} ColumnSet;

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

		if (step->type == GC_STEP_FILTER)
			add_columns(p, step->expr, set);
		for (int k = 0; step->type == GC_STEP_PROBE && k < gc_builds(p)[step->build].nkeys; k++)
			add_columns(p, gc_refs(p)[step->first_key + k], set);
	}
}

/* Has the column few enough values, all of them integers? */
static bool
is_attribute(const GcRun *run, const GcInputValue *in, int c)
{
	const GcDirColumn *d = &in->dir->columns[run->request->columns[c].dir_column];
	const u8	reg = gc_columns(run->p)[c].reg;

	return d->problem == GC_COL_OK && d->min <= d->max &&
		(u64) d->max - (u64) d->min < PG_INT32_MAX && (reg == GC_I32 || reg == GC_I64);
}

/* The column that expression e is; -1: it is something else. */
static int
plain_column(const GcProgram *p, u16 e)
{
	return gc_exprs(p)[e].op == GC_OP_COLUMN ? gc_exprs(p)[e].ref : -1;
}

/* Refine the column's classes by one attribute, if this probe's build has a new one. */
static bool
look_at_probe(GcRun *run, GcSetColumn *column, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(run->p)[step->build];
	const GcPPipeline *pl = &gc_pipelines(run->p)[build->pipeline];
	const GcInputValue *in = &run->request->inputs[pl->input];
	int			key = plain_column(run->p, gc_refs(run->p)[build->first_key]);
	ColumnSet	set;
	bool		any = false;

	if (build->mode != GC_BUILD_DENSE || in->dir == NULL || in->nsources == in->nprivate || key < 0)
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
	/* All rows are taken: what counts is which keys there are. */
	if (!any && !is_known(column, in->dir, -1))
		return refine(run, column, pl->input, key, -1);
	return true;
}

/* Columns that have few values are tested by value. */
bool
gc_classes_worth(const GcSetColumn *column)
{
	const u64	least = gc_marks_forced() ? LEAST_VALUES_FORCED : LEAST_VALUES;

	return !column->given_up && column->range >= least;
}

bool
gc_classes_learn(GcSetColumn *column, bool misfit)
{
	pg_atomic_fetch_add_u64(&gc_stats()->class_scans, 1);
	pg_atomic_fetch_add_u64(&gc_stats()->class_misfits, misfit);
	column->misfits = misfit ? column->misfits + 1 : 0;
	if (column->misfits < MISFITS_GIVEN_UP || column->refining || column->given_up)
		return false;
	/* Its requests tell values apart by what no attribute says. */
	column->given_up = true;
	gc_classes_forget(column);
	return true;
}

bool
gc_classes_look(GcRun *run)
{
	GcScanShape *s = run->share->scan_shape;
	const GcPPipeline *pl = &gc_pipelines(run->p)[s->pipeline];
	GcError		err;
	bool		failed;
	bool		again;

	if (run->share->classes_seen)
		return true;
	again = gc_refiner(&err, &failed) == NULL && !failed;
	for (int i = 0; i < pl->nsteps && i < 64 && gc_enable_class_columns; i++)
	{
		const GcPStep *step = &gc_steps(run->p)[pl->first_step + i];
		GcSetColumn *column;
		int			c;

		if (!(s->tests.steps >> i & 1) || step->type != GC_STEP_PROBE ||
			(c = plain_column(run->p, gc_refs(run->p)[step->first_key])) < 0)
			continue;
		column = &s->set->column[s->columns[c]];
		if (column->refining == NULL && gc_classes_worth(column) && !look_at_probe(run, column, step))
			return false;
		again = again || column->refining;
		s->set->marks_asked = s->set->marks_asked || column->refining;
	}
	/* One attribute at a time; where there is no memory to spare, another run tries. */
	run->share->classes_seen = !again;
	return true;
}

bool
gc_classes_poll(GcSetColumn *column)
{
	GcRefinement *r = column->refining;
	bool		done = false;
	GcError		err;

	if (r == NULL)
		return false;
	if (r->done && gc_worker.ops->mark_done(r->done, &done, &err) == GC_OK && !done)
		return false;
	/* Too many: the attribute counts as known, and they stay as they were. */
	if (done && r->count[1] == 0)
	{
		classed_drop(column->classed);
		column->classed = r->result;
		column->classed->n = r->count[0];
		column->classed->width = r->count[0] <= 256 ? 1 : 2;
		column->misfits = 0;
		r->result = NULL;
	}
	column->refining = NULL;
	refinement_free(r);
	return true;
}

/*-------------------------------------------------------------------------
 * Class columns
 *-------------------------------------------------------------------------
 */

/* Memory for all chunks of the directory; none of them is written. */
static bool
lay_out(GcClassed *c, const GcDirectory *dir)
{
	c->data = gc_device_alloc_spare(Max(gc_derived_rows(dir) * c->width, 1));
	if (c->data != 0 && gc_derived_lay_out(&c->column, dir, c->width, c->data, c->width))
		return true;
	gc_device_free(c->data);
	c->data = 0;
	return false;
}

void
gc_classes_reserve(GcScanMembers *scan, int k)
{
	GcSetColumn *column = &scan->run[0]->share->scan_shape->set->column[scan->f->physical[k]];
	GcClassed  *c = column->classed;
	const GcRun *first = scan->run[0];
	bool		failed;
	GcError		err;

	if (c == NULL || c->width != scan->f->column[k].class_width || c->n > scan->f->entries[k] ||
		!gc_enable_class_columns ||
		gc_class_writer(&err, &failed) == NULL ||
		(c->data == 0 && !lay_out(c, first->request->inputs[first->main->input].dir)))
		return;
	scan->launch->share->classed[k] = c;
	c->users++;
}

GcCode
gc_classes_write(GcScanMembers *scan, int k, GcAddr source, u32 readers)
{
	const GcSetColumn *column = &scan->run[0]->share->scan_shape->set->column[scan->f->physical[k]];
	GcClassed  *c = scan->launch->share->classed[k];
	GcArgs		args = {0};
	bool		failed;

	args.w[0] = source;
	args.w[2] = (u64) column->base;
	args.w[3] = column->range;
	args.w[4] = c->classes;
	return gc_derived_write(scan, &c->column, readers, gc_class_writer(scan->err, &failed), &args,
							GC_CLASS_WRITER_WORDS);
}
