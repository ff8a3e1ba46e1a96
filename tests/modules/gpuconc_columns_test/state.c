/*-------------------------------------------------------------------------
 *
 * state.c
 *	  SQL-callable functions that test the column cache of gpuconc: what it holds, and its parts by themselves.
 *
 * Runs in backends of superusers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "fmgr.h"
#include "funcapi.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/xid8.h"

#include "columns/encode/spec.h"
#include "columns/load/background.h"
#include "columns/serve/versions.h"
#include "columns/serve/serving.h"
#include "columns/store/arena.h"
#include "columns/store/columns.h"
#include "columns/store/directory.h"
#include "columns/store/epoch.h"
#include "columns/store/numeric.h"
#include "columns/store/store.h"

#include "gpuconc_columns_test.h"

PG_FUNCTION_INFO_V1(gpuconc_columns_test_cells);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_directory);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_reason);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_refresh);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_numeric);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_full_xid);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_arena);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_guard);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_serve_time);

Datum
gpuconc_columns_test_cells(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel;
	GcDirectory *dir;

	columns_test_require_superuser();
	InitMaterializedSRF(fcinfo, 0);
	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	gc_guard_enter();
	dir = columns_test_usable_directory(rel);
	for (uint32 i = 0; dir && i < dir->nchunks; i++)
	{
		const GcChunk *chunk = dir->chunks[i];

		for (uint32 c = 0; chunk && c < dir->ncolumns; c++)
		{
			const GcChunkColumn *cell = GC_CELL(dir, i, c);
			Datum		values[6];
			bool		nulls[6] = {false, false, false, false, cell == NULL, false};

			values[0] = Int32GetDatum(i);
			values[1] = BoolGetDatum(chunk->hot != NULL);
			values[2] = Int32GetDatum(chunk->npresent);
			values[3] = DirectFunctionCall1(namein, CStringGetDatum(get_attname(RelationGetRelid(rel), dir->columns[c].spec.attnum, false)));
			values[4] = Int64GetDatum(cell ? cell->obj.region_id : 0);
			values[5] = Int64GetDatum(chunk->nrows);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	}
	gc_guard_leave();
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

Datum
gpuconc_columns_test_directory(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	GcDirectory *dir;
	int64		id;

	columns_test_require_superuser();
	gc_guard_enter();
	dir = columns_test_usable_directory(rel);
	id = dir ? (int64) dir->id : 0;
	gc_guard_leave();
	relation_close(rel, AccessShareLock);
	if (id == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT64(id);
}

Datum
gpuconc_columns_test_reason(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	const char *reason = NULL;
	bool		ok;

	columns_test_require_superuser();
	if (PG_ARGISNULL(1))
		ok = gc_rel_cacheable(rel, GetActiveSnapshot(), &reason);
	else
	{
		GcColSpec	spec;
		AttrNumber	attnum = get_attnum(RelationGetRelid(rel), NameStr(*PG_GETARG_NAME(1)));

		ok = gc_col_spec(rel, attnum, &spec, &reason);
	}
	relation_close(rel, AccessShareLock);
	if (ok)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(reason));
}

Datum
gpuconc_columns_test_refresh(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);

	columns_test_require_superuser();
	gc_load_in_background(rel);
	relation_close(rel, AccessShareLock);
	PG_RETURN_VOID();
}

Datum
gpuconc_columns_test_numeric(PG_FUNCTION_ARGS)
{
	i128		large;
	int64		small;
	int16		dscale;
	int16		small_dscale;

	columns_test_require_superuser();
	if (!gc_numeric_to_int128(PG_GETARG_DATUM(0), &large, &dscale))
		PG_RETURN_NULL();
	if (gc_numeric_to_int64(PG_GETARG_DATUM(0), &small, &small_dscale) !=
		(large >= PG_INT64_MIN && large <= PG_INT64_MAX))
		elog(ERROR, "the conversions to 64 and 128 bits differ on what fits");
	if (large >= PG_INT64_MIN && large <= PG_INT64_MAX &&
		(small != (int64) large || small_dscale != dscale))
		elog(ERROR, "the conversions to 64 and 128 bits differ");
	PG_RETURN_DATUM(gc_int128_to_numeric(large, dscale));
}

Datum
gpuconc_columns_test_full_xid(PG_FUNCTION_ARGS)
{
	PG_RETURN_FULLTRANSACTIONID(gc_full_xid(PG_GETARG_TRANSACTIONID(0), PG_GETARG_FULLTRANSACTIONID(1)));
}

Datum
gpuconc_columns_test_arena(PG_FUNCTION_ARGS)
{
	Datum		values[3];

	columns_test_require_superuser();
	gc_reclaim();
	values[0] = Int64GetDatum((int64) gc_arena_used());
	values[1] = Int64GetDatum((int64) gc_retired_bytes());
	values[2] = Int64GetDatum((int64) gc_arena_size());
	return columns_test_a_row(fcinfo, values);
}

Datum
gpuconc_columns_test_guard(PG_FUNCTION_ARGS)
{
	columns_test_require_superuser();
	if (PG_GETARG_BOOL(1))
		gc_guard_enter_request(PG_GETARG_INT32(0));
	else
		gc_guard_leave_request(PG_GETARG_INT32(0));
	PG_RETURN_VOID();
}

Datum
gpuconc_columns_test_serve_time(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	int			loops = PG_GETARG_INT32(1);
	instr_time	start;
	instr_time	end;
	GcServed	served;
	double		map_pages = 1;

	columns_test_require_superuser();
	gc_guard_enter();
	INSTR_TIME_SET_CURRENT(start);
	for (int i = 0; i < loops; i++)
	{
		gc_serve(rel, gc_directory(rel), NULL, &served);
		map_pages = (served.nblocks + GC_HEAPBLOCKS_PER_MAPPAGE - 1) / GC_HEAPBLOCKS_PER_MAPPAGE;
		pfree(served.chunks);
		if (served.ranges)
			pfree(served.ranges);
	}
	INSTR_TIME_SET_CURRENT(end);
	gc_guard_leave();
	INSTR_TIME_SUBTRACT(end, start);
	relation_close(rel, AccessShareLock);
	PG_RETURN_FLOAT8(INSTR_TIME_GET_DOUBLE(end) * 1e9 / loops / Max(map_pages, 1));
}
