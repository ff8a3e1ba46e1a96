/*-------------------------------------------------------------------------
 *
 * views.c
 *	  SQL-callable functions about the cache.
 *
 * Runs in backends.  Tables that a user may see: all with the rights of pg_read_all_stats, else those of the current
 * database that the user may select from.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "encode/problem.h"
#include "encode/spec.h"
#include "load/job.h"
#include "serve/serving.h"
#include "store/columns.h"
#include "store/epoch.h"
#include "store/store.h"
#include "../compat.h"
#include "../report.h"
#include "../settings.h"

PG_FUNCTION_INFO_V1(gpuconc_evict);
PG_FUNCTION_INFO_V1(gpuconc_cache_columns);
PG_FUNCTION_INFO_V1(gpuconc_load_jobs);

/* Without shared memory there is nothing to show. */
static void
require_preloaded(void)
{
	if (!gc_preloaded)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("gpuconc must be loaded via shared_preload_libraries")));
}

/*-------------------------------------------------------------------------
 * gpuconc_evict
 *-------------------------------------------------------------------------
 */

/* gpuconc_evict(regclass) returns bigint: bytes that were given up. */
Datum
gpuconc_evict(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);

	require_preloaded();

	if (!GC_OWNS_RELATION(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	PG_RETURN_INT64((int64) gc_store_forget(MyDatabaseId, relid));
}

/*-------------------------------------------------------------------------
 * gpuconc_cache
 *-------------------------------------------------------------------------
 */
static bool
may_see(Oid dbid, Oid relid)
{
	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		return true;
	return dbid == MyDatabaseId &&
		SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) &&
		pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* "integer 1, 2 bytes", "dictionary 1 byte", "numeric(scale 2) 4 bytes", ... */
static char *
encoding_text(const GcDirColumn *column)
{
	const GcKind kind = column->spec.kind;
	StringInfoData buf;
	bool		first = true;

	initStringInfo(&buf);
	appendStringInfoString(&buf, gc_kinds[kind].name);
	if (GC_KIND_IS_FLOAT(kind))
		return buf.data;
	if (kind == GC_NUMERIC && column->span.dscale > column->span.min_dscale)
		appendStringInfo(&buf, "(scales %d to %d)", column->span.min_dscale, column->span.dscale);
	else if (kind == GC_NUMERIC)
		appendStringInfo(&buf, "(scale %d)", Max(column->span.dscale, 0));
	for (int width = 1; width <= 16; width *= 2)
	{
		if (column->widths & width)
		{
			appendStringInfo(&buf, "%s %d", first ? "" : ",", width);
			first = false;
		}
	}
	if (!first)
		appendStringInfoString(&buf, column->widths == 1 ? " byte" : " bytes");
	return buf.data;
}

/*
 * Share of the table's pages that a snapshot taken now would be served; -1 if
 * that cannot be told without waiting.
 */
static double
served_share(const GcDirectory *dir)
{
	Relation	rel;
	const char *reason;
	double		share = -1;

	if (dir->key.dbid != MyDatabaseId ||
		!ConditionalLockRelationOid(dir->key.relid, AccessShareLock))
		return -1;
	rel = try_relation_open(dir->key.relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(dir->key.relid, AccessShareLock);
		return -1;
	}
	if (gc_rel_servable(rel, &reason))
	{
		GcServed	served;

		gc_serve(rel, gc_directory(rel), NULL, &served);
		if (served.nblocks > 0)
			share = (double) served.pages_served / served.nblocks;
	}
	relation_close(rel, AccessShareLock);
	return share;
}

/* Facts of a directory, for the rows of all of its columns. */
typedef struct GcDirSummary
{
	int64		chunks;
	int64		pages;
	int64		hot_pages;
	int64		hot_bytes;		/* of hot chunks with their columns */
	double		share;
} GcDirSummary;

#define CACHE_COLUMNS	13

/* Totals of a directory's chunks, for each of its columns' rows. */
static GcDirSummary
summarize(const GcDirectory *dir)
{
	GcDirSummary summary = {.share = served_share(dir)};

	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		const GcChunk *chunk = dir->chunks[i];

		if (chunk == NULL)
			continue;
		summary.chunks++;
		summary.pages += chunk->npresent;
		if (chunk->hot == NULL)
			continue;
		summary.hot_pages += chunk->npresent;
		summary.hot_bytes += chunk->obj.size;
		for (uint32 c = 0; c < dir->ncolumns; c++)
			summary.hot_bytes += GC_CELL(dir, i, c) ? GC_CELL(dir, i, c)->obj.size : 0;
	}
	return summary;
}

/* On all devices. */
static int64
device_bytes(GcColState *state)
{
	uint64		bytes = 0;

	for (int d = 0; d < GC_MAX_DEVICES; d++)
		bytes += pg_atomic_read_u64(&state->device_bytes[d]);
	return (int64) bytes;
}

/* One row of the view; a column of NULL: the directory has none. */
static void
put_column(ReturnSetInfo *rsinfo, const GcDirectory *dir, const GcDirColumn *column,
		   const GcDirSummary *summary)
{
	Datum		values[CACHE_COLUMNS] = {0};
	bool		nulls[CACHE_COLUMNS] = {0};
	char	   *name = NULL;
	int			i = 0;

	if (column && dir->key.dbid == MyDatabaseId)
		name = get_attname(dir->key.relid, column->spec.attnum, true);

	values[i++] = ObjectIdGetDatum(dir->key.dbid);
	values[i++] = ObjectIdGetDatum(dir->key.relid);
	nulls[i] = name == NULL;
	values[i++] = name ? CStringGetTextDatum(name) : (Datum) 0;
	nulls[i] = column == NULL || column->problem != GC_COL_OK;
	values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(encoding_text(column));
	i++;
	values[i++] = Int64GetDatum(summary->chunks);
	values[i++] = Int64GetDatum((int64) dir->nrows);
	values[i++] = Int64GetDatum(column ? (int64) column->bytes : 0);
	values[i++] = Int64GetDatum(column ? device_bytes(column->state) : 0);
	values[i++] = Int64GetDatum(summary->pages);
	values[i++] = Int64GetDatum(summary->hot_pages);
	values[i++] = Int64GetDatum(summary->hot_bytes);
	nulls[i] = summary->share < 0;
	values[i++] = Float8GetDatum(summary->share);
	nulls[i] = column == NULL || column->problem == GC_COL_OK;
	values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(gc_problem_text(column->problem));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* SQL: cached columns, of tables that the user may know of. */
Datum
gpuconc_cache_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	GcDirectory **dirs;
	int			ndirs;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, CACHE_COLUMNS);
	require_preloaded();

	gc_forget_dropped();
	gc_guard_enter();
	dirs = gc_store_list(&ndirs);
	for (int d = 0; d < ndirs; d++)
	{
		GcDirectory *dir = dirs[d];
		GcDirSummary summary;

		if (!may_see(dir->key.dbid, dir->key.relid))
			continue;
		summary = summarize(dir);
		for (uint32 c = 0; c < dir->ncolumns; c++)
			put_column(rsinfo, dir, &dir->columns[c], &summary);

		/* Rows without columns are cached, too, to be counted. */
		if (dir->ncolumns == 0)
			put_column(rsinfo, dir, NULL, &summary);
	}
	gc_guard_leave();
	return (Datum) 0;
}

/*-------------------------------------------------------------------------
 * gpuconc_load_progress
 *-------------------------------------------------------------------------
 */
#define PROGRESS_COLUMNS	8

/* SQL: loads that are under way. */
Datum
gpuconc_load_jobs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	GcLoadJob  *jobs;
	int		   *ncols;
	int			njobs;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, PROGRESS_COLUMNS);
	require_preloaded();

	jobs = gc_job_list(&njobs, &ncols);
	for (int i = 0; i < njobs; i++)
	{
		GcLoadJob  *job = &jobs[i];
		Datum		values[PROGRESS_COLUMNS];
		bool		nulls[PROGRESS_COLUMNS] = {0};

		if (!may_see(job->key.dbid, job->key.relid))
			continue;
		values[0] = Int32GetDatum(job->starter_pid);
		values[1] = ObjectIdGetDatum(job->key.dbid);
		values[2] = ObjectIdGetDatum(job->key.relid);
		values[3] = Int32GetDatum(ncols[i]);
		values[4] = Int64GetDatum((int64) job->chunks_total);
		values[5] = Int64GetDatum((int64) job->chunks_done);
		values[6] = Int32GetDatum(job->nworkers);
		values[7] = TimestampTzGetDatum(job->started_at);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
