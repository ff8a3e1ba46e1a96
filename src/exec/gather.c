/*-------------------------------------------------------------------------
 *
 * gather.c
 *	  Inputs of one execution: tables opened, columns loaded, pages judged, the delta
 *	  read.  (Row sources are executed in ahead.c.)
 *
 * Loads come before the request slot is taken, since no guard may be held during a load.
 * Judging pages and reading the delta come after, under the slot's guard.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "access/table.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "../columns/encode/problem.h"
#include "../columns/encode/spec.h"
#include "../columns/load/background.h"
#include "../columns/load/table_loader.h"
#include "../columns/load/job.h"
#include "../columns/load/load.h"
#include "../columns/serve/serving.h"
#include "../columns/store/arena.h"
#include "../columns/store/directory.h"
#include "../columns/store/store.h"
#include "../settings.h"

/* Columns are loaded at most this often for one execution; then all pages are read as delta. */
#define MAX_LOADS	2

/* A load of hot pages that was in vain puts off the next one by this many times what it took. */
#define PUT_OFF_FACTOR	10

/* One that found no room puts off the next one by so long. */
#define NO_ROOM_MS		1000

/* Hot pages that are so many that it is better to wait for another session's load of them. */
#define FALLEN_BEHIND	4096

/*
 * Once sessions have read so many hot pages, each for itself, reading them has taken about as long as
 * a load of them does.  Then a load is due, however few they are.
 */
#define PAGES_WORTH_LOAD	256

/* Begin with an input: its columns' specifications, and nothing served. */
static void
start_input(GcScanState *node, int i, GcInputState *in)
{
	const GcPInput *pin = &gc_inputs(node->logical)[i];

	in->first = pin->first_column;
	in->ncols = pin->ncolumns;
	in->specs = palloc0((in->ncols + 1) * sizeof(GcColSpec));
	in->dir_column = palloc0((in->ncols + 1) * sizeof(int));
	in->dicts = palloc0((in->ncols + 1) * sizeof(GcDictView *));
	in->private = NULL;
	in->private_rows = 0;
	in->encoded = NULL;
	in->for_versions = false;
	in->dir = NULL;
	in->nparts = 0;
	in->parts = NULL;
}

/*
 * The table must still be what the plan was made for; columns may have changed.  attnums: its
 * attributes that are the columns of an append input, else NULL.
 */
static GcCode
open_table(GcScanState *node, GcInputState *in, Oid relid, const int16 *attnums, GcError *err)
{
	const char *reason;

	in->rel = table_open(relid, NoLock);
	if (!RelationIsScannable(in->rel))
		return gc_fail(err, GC_UNSUPPORTED, "A materialized view has not been populated.");
	if (!gc_rel_cacheable(in->rel, node->css.ss.ps.state->es_snapshot, &reason))
		return gc_fail(err, GC_UNSUPPORTED, "Table \"%s\" cannot be read from the column cache: %s.",
					   RelationGetRelationName(in->rel), reason);
	for (int c = 0; c < in->ncols; c++)
	{
		const GcPColumn *col = &gc_columns(node->logical)[in->first + c];
		AttrNumber	attnum = attnums ? attnums[col->attnum - 1] : col->attnum;

		if (attnum <= 0)
		{
			in->specs[c] = (GcColSpec) {.attnum = attnum,.kind = col->kind,.rtrim = col->rtrim};
			continue;
		}
		if (!gc_col_spec(in->rel, attnum, &in->specs[c], &reason))
			return gc_fail(err, GC_UNSUPPORTED, "Column %d of table \"%s\" cannot be cached: %s.",
						   attnum, RelationGetRelationName(in->rel), reason);
		if (in->specs[c].kind != col->kind || in->specs[c].rtrim != (col->rtrim != 0))
			return gc_fail(err, GC_UNSUPPORTED, "Column %d of table \"%s\" has changed its type.",
						   attnum, RelationGetRelationName(in->rel));
	}
	return GC_OK;
}

/* Open the tables of an append input. */
static GcCode
open_parts(GcScanState *node, int i, GcError *err)
{
	GcInputState *in = &node->inputs[i];
	const GcPlanPart *parts = &GC_PLAN_PARTS(node->plan)[node->plan->inputs[i].first_part];
	GcCode		code = GC_OK;

	in->nparts = node->plan->inputs[i].nparts;
	in->parts = palloc0(in->nparts * sizeof(GcInputState));
	for (int k = 0; k < in->nparts && code == GC_OK; k++)
	{
		start_input(node, i, &in->parts[k]);
		code = open_table(node, &in->parts[k], parts[k].relid, GC_PLAN_ATTNUMS(node->plan) + parts[k].first_attnum,
						  err);
	}
	/* A column that some of the tables lack is as another one has it. */
	for (int c = 0; c < in->ncols && code == GC_OK; c++)
	{
		in->specs[c] = in->parts[0].specs[c];
		for (int k = 1; k < in->nparts && in->specs[c].attnum <= 0; k++)
			in->specs[c] = in->parts[k].specs[c];
	}
	return code;
}

GcCode
gc_open_inputs(GcScanState *node, GcError *err)
{
	GcCode		code = GC_OK;

	for (int i = 0; i < node->plan->ninputs && code == GC_OK; i++)
	{
		const GcPlanInput *pin = &node->plan->inputs[i];

		start_input(node, i, &node->inputs[i]);
		if (pin->nparts > 0)
			code = open_parts(node, i, err);
		else if (OidIsValid(pin->relid))
			code = open_table(node, &node->inputs[i], pin->relid, NULL, err);
	}
	return code;
}

/* Close the input's table, and count the scan of it for PostgreSQL's statistics. */
static void
close_table(GcScanState *node, GcInputState *in)
{
	if (in->rel == NULL)
		return;
	/* The fallback's scans are counted by PostgreSQL. */
	if (node->started && !node->falling_back)
		gc_count_scan(in->rel, in->served.rows_served + in->private_rows);
	table_close(in->rel, NoLock);
	in->rel = NULL;
}

void
gc_close_inputs(GcScanState *node)
{
	for (int i = 0; i < node->plan->ninputs; i++)
	{
		GcInputState *in = &node->inputs[i];

		close_table(node, in);
		for (int k = 0; k < in->nparts; k++)
			close_table(node, &in->parts[k]);
		in->nparts = 0;
	}
}

/*-------------------------------------------------------------------------
 * Tables
 *-------------------------------------------------------------------------
 */

/* Load the table's columns, and wait for that. */
static GcCode
load_table(GcScanState *node, GcInputState *in, GcError *err)
{
	GcLoadStats stats = {0};
	GcColSpec  *specs = palloc((in->ncols + 1) * sizeof(GcColSpec));
	GcRelKey	key;
	int			n = 0;
	GcCode		code;

	for (int c = 0; c < in->ncols; c++)
	{
		if (in->specs[c].attnum > 0)
			specs[n++] = in->specs[c];
	}
	code = (in->for_versions ? gc_load_hot_pages : gc_load_columns) (in->rel, n, specs, &stats, err);
	if (in->for_versions)
	{
		/* Its columns are there; hot pages that cannot be kept are read by each session. */
		gc_rel_key(in->rel, &key);
		gc_store_put_off_versions(&key, code != GC_OK ? NO_ROOM_MS :
								  stats.pages_refused > 0 ? PUT_OFF_FACTOR * stats.ms : 0);
		code = GC_OK;
		in->for_versions = false;
	}

	node->stats.chunks_loaded += stats.chunks_loaded;
	node->stats.pages_loaded += stats.pages_read;
	node->stats.load_ms += stats.ms;
	return code;
}

/* Load all tables, or those of an input whose hot pages are wanted. */
static GcCode
load_tables(GcScanState *node, bool for_versions, GcError *err)
{
	GcCode		code = GC_OK;

	for (int i = 0; i < node->plan->ninputs && code == GC_OK; i++)
	{
		GcInputState *in = &node->inputs[i];

		if (in->rel && in->for_versions >= for_versions)
			code = load_table(node, in, err);
		for (int k = 0; k < in->nparts && code == GC_OK; k++)
		{
			if (in->parts[k].for_versions >= for_versions)
				code = load_table(node, &in->parts[k], err);
		}
	}
	return code;
}

GcCode
gc_load_inputs(GcScanState *node, GcError *err)
{
	bool		for_versions = false;
	GcCode		code = gc_reserve_inputs(node, err);

	if (code != GC_OK)
		return code;
	node->loads++;
	for (int i = 0; i < node->plan->ninputs; i++)
	{
		for_versions = for_versions || node->inputs[i].for_versions;
		for (int k = 0; k < node->inputs[i].nparts; k++)
			for_versions = for_versions || node->inputs[i].parts[k].for_versions;
	}
	return load_tables(node, for_versions, err);
}

/* A column's values cannot be encoded: the message names it. */
static GcCode
problem_fail(GcInputState *in, int c, GcColProblem problem, GcError *err)
{
	return gc_fail(err, GC_NOT_CACHEABLE, "Column %d of %s%s%s cannot be used: %s.",
				   in->rel ? in->specs[c].attnum : c + 1,
				   in->rel ? "table \"" : in->nparts > 0 ? "several tables" : "a row source",
				   in->rel ? RelationGetRelationName(in->rel) : "", in->rel ? "\"" : "",
				   gc_problem_text(problem));
}

/* Find the directory's columns.  Missing ones mean: load, or else all delta. */
static GcCode
find_columns(GcScanState *node, GcInputState *in, bool *missing, GcError *err)
{
	*missing = in->dir == NULL;
	for (int c = 0; c < in->ncols && in->dir; c++)
	{
		if (in->specs[c].attnum <= 0)
			continue;
		in->dir_column[c] = gc_directory_column(in->dir, &in->specs[c]);
		if (in->dir_column[c] < 0)
			*missing = true;
		else if (node->loads < MAX_LOADS && gc_worth_retry(in->rel, in->dir, in->dir_column[c]))
			*missing = true;
		else if (in->dir->columns[in->dir_column[c]].problem != GC_COL_OK)
			return problem_fail(in, c, in->dir->columns[in->dir_column[c]].problem, err);
		else
			gc_column_touch(in->dir, in->dir_column[c]);
	}
	return GC_OK;
}

/* Read the rows of a table that are not served from chunks, into the private chunk of its input. */
static GcCode
read_table_delta(GcScanState *node, GcInputState *in, GcInputState *table, int number, GcError *err)
{
	uint32		before = gc_encoder_rows(in->private);
	GcCode		code = gc_delta_scan(table->rel, node->css.ss.ps.state->es_snapshot, &table->served, table->specs,
									 number, in->private, err);

	if (code != GC_OK)
		return code;
	table->private_rows = gc_encoder_rows(in->private) - before;
	node->stats.rows_delta += table->private_rows;
	return GC_OK;
}

/* Read rows that are not served from chunks, into a private chunk. */
static GcCode
read_delta(GcScanState *node, GcInputState *in, GcError *err)
{
	uint8	   *widths = palloc0(in->ncols + 1);
	GcCode		code = GC_OK;

	if ((uint64) in->served.pages_delta * BLCKSZ / 8 > gc_arena_size())
		return gc_fail(err, GC_CACHE_FULL,
					   "%u pages of table \"%s\" are not all-visible, too many to be read for each query.",
					   in->served.pages_delta, RelationGetRelationName(in->rel ? in->rel : in->parts[0].rel));
	for (int c = 0; c < in->ncols; c++)
	{
		if (in->dir && (in->dir->columns[in->dir_column[c]].widths &
						(in->dir->columns[in->dir_column[c]].widths - 1)) == 0)
			widths[c] = in->dir->columns[in->dir_column[c]].widths;
	}
	in->private = gc_encoder_create(in->ncols, in->specs, in->dicts, widths);
	if (in->rel)
		code = read_table_delta(node, in, in, 0, err);
	for (int k = 0; k < in->nparts && code == GC_OK; k++)
	{
		if (gc_has_delta(&in->parts[k].served))
			code = read_table_delta(node, in, &in->parts[k], k, err);
	}
	in->private_rows = code == GC_OK ? gc_encoder_rows(in->private) : 0;
	return code;
}

/*
 * Should hot pages that no chunk has be loaded, since they are many, or have been read by many?
 * What this session has changed it reads itself.
 */
static bool
worth_versions(GcScanState *node, GcInputState *in)
{
	const BlockNumber pages = in->served.pages_delta - in->served.pages_own;
	GcRelKey	key;
	const char *reason;

	if (!gc_debug_versioned_pages || in->dir == NULL || pages == 0 || node->loads > 0)
		return false;
	if (pg_atomic_fetch_add_u32(&in->dir->pages_alone, pages) < PAGES_WORTH_LOAD &&
		pages < (BlockNumber) gc_debug_hot_pages)
		return false;
	if (!gc_rel_loadable(in->rel, &reason))
		return false;
	/* Few of them are loaded in the background, and this session reads them itself. */
	if (pages < FALLEN_BEHIND && gc_loader_workers > 0 && gc_ask_hot_load(in->dir))
		return false;
	gc_rel_key(in->rel, &key);
	/* A session loads them, and the others go on as long as they do not fall behind. */
	if (pages < FALLEN_BEHIND && gc_job_exists(&key))
		return false;
	in->for_versions = gc_store_versions_due(&key, pages >= FALLEN_BEHIND);
	return in->for_versions;
}

/* Has VACUUM made all hot pages all-visible, and have enough requests read them that a refresh pays? */
static bool
refresh_pays(GcInputState *in)
{
	const GcServed *served = &in->served;

	if (in->dir == NULL || served->pages_reloadable == 0 ||
		served->pages_reloadable < served->pages_versioned + served->pages_delta)
		return false;
	pg_atomic_fetch_add_u32(&in->dir->read_apart, 1);
	return GC_REFRESH_PAYS(in->dir, gc_chunk_length(0, served->nblocks));
}

/* Find out which pages of a table are served. */
static GcCode
judge_table(GcScanState *node, GcInputState *in, GcError *err)
{
	bool		missing;
	GcCode		code;

	in->dir = gc_directory(in->rel);
	code = find_columns(node, in, &missing, err);
	if (code != GC_OK)
		return code;
	if (missing && node->loads < MAX_LOADS)
		return gc_fail(err, GC_RETRY_LOAD, "Columns are not loaded.");
	if (missing)
		in->dir = NULL;
	gc_serve(in->rel, in->dir, node->css.ss.ps.state->es_snapshot, &in->served);
	if (in->served.worth_reload && node->loads == 0)
		return gc_fail(err, GC_RETRY_LOAD, "Chunks are out of date.");
	if (worth_versions(node, in))
		return gc_fail(err, GC_RETRY_LOAD, "Pages have been written to.");
	if ((in->served.worth_refresh && !in->served.worth_reload) || refresh_pays(in))
		gc_load_in_background(in->rel);
	node->stats.pages_served += in->served.pages_served;
	node->stats.pages_versioned += in->served.pages_versioned;
	node->stats.pages_looked_at += in->served.pages_looked_at;
	node->stats.rows_versioned += in->served.rows_versioned;
	node->stats.pages_delta += in->served.pages_delta;
	in->private = NULL;
	in->private_rows = 0;
	return GC_OK;
}

/*
 * Have the dictionary of column c of input i.  The planner takes it for one with those of other inputs that read the
 * column of the same table.  All of these have been judged, so it has the values of all their chunks.
 */
static GcCode
have_dictionary(GcScanState *node, int i, int c, GcError *err)
{
	GcInputState *in = &node->inputs[i];
	GcDictView *view = NULL;
	GcColState *state = NULL;

	for (int k = 0; k < node->plan->ninputs; k++)
	{
		GcInputState *other = &node->inputs[k];

		for (int d = 0; other->rel && d < other->ncols; d++)
		{
			GcColState *its = other->dir ? other->dir->columns[other->dir_column[d]].state : NULL;

			if (RelationGetRelid(other->rel) != RelationGetRelid(in->rel) ||
				other->specs[d].attnum != in->specs[c].attnum)
				continue;
			if (state && its && state != its)
				return gc_fail(err, GC_RETRY_LOAD, "A column was loaded anew meanwhile.");
			state = its ? its : state;
			view = k < i ? other->dicts[d] : view;
		}
	}
	in->dicts[c] = view ? view : gc_dict_view(state, in->specs[c].rtrim);
	return GC_OK;
}

/* The dictionaries of a table whose served pages are known; the session reads the others. */
static GcCode
serve_table(GcScanState *node, int i, GcError *err)
{
	GcInputState *in = &node->inputs[i];
	GcCode		code = GC_OK;

	for (int c = 0; c < in->ncols && code == GC_OK; c++)
	{
		if (GC_KIND_IS_CODE(in->specs[c].kind))
			code = have_dictionary(node, i, c, err);
	}
	return code == GC_OK && gc_has_delta(&in->served) ? read_delta(node, in, err) : code;
}

/* The tables of an append input. */
static GcCode
serve_parts(GcScanState *node, int i, GcError *err)
{
	GcInputState *in = &node->inputs[i];
	GcCode		code = GC_OK;

	for (int k = 0; k < in->nparts && code == GC_OK; k++)
		code = judge_table(node, &in->parts[k], err);
	if (code == GC_OK)
		code = gc_append_combine(node, i, err);
	if (code != GC_OK)
		return code;
	for (int c = 0; in->dir && c < in->ncols; c++)
	{
		if (in->dir->columns[in->dir_column[c]].problem != GC_COL_OK)
			return problem_fail(in, c, in->dir->columns[in->dir_column[c]].problem, err);
	}
	in->private = NULL;
	in->private_rows = 0;
	return gc_has_delta(&in->served) ? read_delta(node, in, err) : GC_OK;
}

GcCode
gc_serve_inputs(GcBinding *b)
{
	GcScanState *node = b->node;
	GcCode		code = GC_OK;

	node->stats.pages_served = node->stats.pages_versioned = node->stats.pages_looked_at = 0;
	node->stats.pages_delta = node->stats.rows_delta = node->stats.rows_versioned = 0;
	for (int i = 0; i < node->plan->ninputs && code == GC_OK; i++)
	{
		if (node->inputs[i].rel)
			code = judge_table(node, &node->inputs[i], &b->err);
	}
	for (int i = 0; i < node->plan->ninputs && code == GC_OK; i++)
	{
		GcInputState *in = &node->inputs[i];

		const bool	tables = in->rel || in->nparts > 0;

		if (in->rel)
			code = serve_table(node, i, &b->err);
		else if (tables)
			code = serve_parts(node, i, &b->err);
		if (code != GC_OK || in->private == NULL)
			continue;
		/* A row source's encoder is finished only once, however many attempts. */
		if (tables || in->encoded == NULL)
			in->encoded = gc_encoder_finish(in->private);
		for (int c = 0; c < in->ncols && code == GC_OK; c++)
		{
			if (in->encoded[c].problem != GC_COL_OK)
				code = problem_fail(in, c, in->encoded[c].problem, &b->err);
		}
		if (in->private_rows == 0)
			in->private = tables ? NULL : in->private;
	}
	return code;
}
