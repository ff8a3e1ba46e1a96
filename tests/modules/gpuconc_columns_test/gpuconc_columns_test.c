/*-------------------------------------------------------------------------
 *
 * gpuconc_columns_test.c
 *	  SQL-callable functions that test the column cache of gpuconc: rows, as requests are served them.
 *
 * Runs in backends of superusers.  It reads chunks, dictionaries and the delta as a request
 * does, but decodes them row by row.  So a test can compare the outcome with the table itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/clog.h"
#include "access/commit_ts.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/subtrans.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "columns/encode/encode.h"
#include "columns/encode/pgkinds.h"
#include "columns/encode/spec.h"
#include "columns/load/load.h"
#include "columns/serve/versions.h"
#include "columns/serve/serving.h"
#include "columns/store/columns.h"
#include "columns/store/dict.h"
#include "columns/store/directory.h"
#include "columns/store/epoch.h"
#include "columns/store/store.h"
#include "compat.h"
#include "settings.h"

#include "gpuconc_columns_test.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(gpuconc_columns_test_scan);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_load);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_served);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_versions);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_ended);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_forget);
PG_FUNCTION_INFO_V1(gpuconc_columns_test_flush);

/* One column of one source of rows: a chunk, or the delta. */
typedef struct TestColumn
{
	const GcColSpec *spec;
	GcCol		desc;
	GcDictView *dict;
} TestColumn;

/* Where the rows go. */
typedef struct TestOutput
{
	ReturnSetInfo *rsinfo;
	TupleDesc	desc;			/* of the record whose text is put out */
	Datum	   *values;
	bool	   *isnull;
} TestOutput;

void
columns_test_require_superuser(void)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to test the column cache")));
}

static bool
is_wanted(const char *attname, ArrayType *names)
{
	Datum	   *elems;
	bool	   *nulls;
	int			n;

	if (names == NULL)
		return true;
	deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &elems, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i] && strcmp(NameStr(*DatumGetName(elems[i])), attname) == 0)
			return true;
	}
	return false;
}

/* Specs of the wanted columns, in the order of the table. */
static GcColSpec *
wanted_specs(Relation rel, ArrayType *names, int *n)
{
	TupleDesc	desc = RelationGetDescr(rel);
	GcColSpec  *specs = palloc(Max(desc->natts, 1) * sizeof(GcColSpec));

	*n = 0;
	for (int a = 0; a < desc->natts; a++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, a);
		const char *reason;

		if (att->attisdropped || !is_wanted(NameStr(att->attname), names))
			continue;
		if (!gc_col_spec(rel, a + 1, &specs[*n], &reason))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot cache column \"%s\": %s", NameStr(att->attname), reason)));
		(*n)++;
	}
	return specs;
}

/* A descriptor of the record that holds these columns. */
static TupleDesc
record_desc(Relation rel, int ncols, const GcColSpec *specs)
{
	TupleDesc	desc = CreateTemplateTupleDesc(ncols);

	for (int i = 0; i < ncols; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), specs[i].attnum - 1);

		TupleDescInitEntry(desc, i + 1, NULL, att->atttypid, att->atttypmod, 0);
		TupleDescInitEntryCollation(desc, i + 1, att->attcollation);
	}
	return BlessTupleDesc(desc);
}

static bool
bit_is_set(uint64 bitmap, uint32 row)
{
	return (((const uint8 *) (uintptr_t) bitmap)[row >> 3] >> (row & 7)) & 1;
}

static uint64
code_of(const GcCol *desc, uint32 row)
{
	const void *data = (const void *) (uintptr_t) desc->data;

	switch (desc->width)
	{
		case 1:
			return ((const uint8 *) data)[row];
		case 2:
			return ((const uint16 *) data)[row];
		case 4:
			return ((const uint32 *) data)[row];
		case 8:
			return ((const uint64 *) data)[row];
		default:				/* is it 0? */
			return ((const uint64 *) data)[2 * row] | ((const uint64 *) data)[2 * row + 1];
	}
}

/* The datum that an encoded value stands for. */
static Datum
decode(const TestColumn *col, uint32 row)
{
	uint64		code = code_of(&col->desc, row);
	int64		raw = (int64) ((uint64) col->desc.base + code);
	const char *bytes;
	uint32		len;

	switch (col->spec->kind)
	{
		case GC_BOOL:
			return BoolGetDatum(raw != 0);
		case GC_INT2:
			return Int16GetDatum(raw);
		case GC_INT4:
		case GC_DATE:
			return Int32GetDatum(raw);
		case GC_FLOAT4:
			return Int32GetDatum((int32) code);
		case GC_FLOAT8:
			return Int64GetDatum((int64) code);
		case GC_INT8:
		case GC_TIMESTAMP:
		case GC_TIMESTAMPTZ:
		case GC_TIME:
		case GC_MONEY:
			return Int64GetDatum(raw);
		case GC_OID:
			return ObjectIdGetDatum((Oid) raw);
		case GC_CHAR:
			return CharGetDatum((char) raw);
		case GC_NUMERIC:
			return gc_raw_to_datum(GC_NUMERIC, col->desc.width == sizeof(int128) ? ((const int128 *) (uintptr_t) col->desc.data)[row] : raw,
								   col->desc.scale);
		case GC_INTERVAL:
			return gc_raw_to_datum(GC_INTERVAL, raw, -1);
		case GC_TIMETZ:
		case GC_MACADDR:
		case GC_MACADDR8:
		case GC_LSN:
			return gc_raw_to_datum(col->spec->kind, raw, -1);
		case GC_TEXT:
			bytes = gc_dict_get(col->dict, (uint32) raw, &len);
			if (!col->spec->rtrim)
				return PointerGetDatum(cstring_to_text_with_len(bytes, len));
			return DirectFunctionCall3(bpcharin, CStringGetDatum(pnstrdup(bytes, len)),
									   ObjectIdGetDatum(InvalidOid),
									   Int32GetDatum(col->spec->typmod));
		case GC_UUID:
		case GC_ENUM:
		case GC_NAME:
			bytes = gc_dict_get(col->dict, (uint32) raw, &len);
			return gc_bytes_datum(col->spec->kind, bytes, len, 0);
		default:
			elog(ERROR, "unexpected kind of column: %d", (int) col->spec->kind);
	}
	return (Datum) 0;
}

/* Put out rows of a source; valid may be 0: all of them. */
static void
put_rows(TestOutput *out, int ncols, const TestColumn *cols, uint32 nrows, uint64 valid)
{
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "test row",
													  ALLOCSET_DEFAULT_SIZES);

	for (uint32 row = 0; row < nrows; row++)
	{
		MemoryContext old = MemoryContextSwitchTo(row_context);
		HeapTuple	tuple;
		Datum		text;
		bool		no_null = false;

		if (valid == 0 || bit_is_set(valid, row))
		{
			for (int c = 0; c < ncols; c++)
			{
				out->isnull[c] = cols[c].desc.nulls != 0 && bit_is_set(cols[c].desc.nulls, row);
				if (out->isnull[c] && code_of(&cols[c].desc, row) != 0)
					elog(ERROR, "code of a NULL is not 0");
				out->values[c] = out->isnull[c] ? (Datum) 0 : decode(&cols[c], row);
			}
			tuple = heap_form_tuple(out->desc, out->values, out->isnull);
			text = CStringGetTextDatum(OidOutputFunctionCall(F_RECORD_OUT,
															 HeapTupleGetDatum(tuple)));
			tuplestore_putvalues(out->rsinfo->setResult, out->rsinfo->setDesc, &text, &no_null);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(row_context);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(row_context);
}

static void
check_padding(const GcChunkColumn *cell, uint32 nrows)
{
	uint32		padded = TYPEALIGN(GC_PAD_ROWS, nrows);
	bool		valueless = cell->null_bytes != 0;

	if (cell->desc.nrows != nrows || cell->data_bytes != (Size) padded * cell->desc.width ||
		(cell->null_bytes != 0 && cell->null_bytes != padded / 8))
		elog(ERROR, "wrong size of a cached column");
	for (uint32 row = 0; row < nrows && valueless; row++)
		valueless = bit_is_set(cell->desc.nulls, row);
	for (uint32 row = nrows; row < padded; row++)
	{
		if (code_of(&cell->desc, row) != 0)
			elog(ERROR, "padding of a cached column is not zero");
		if (cell->null_bytes != 0 && bit_is_set(cell->desc.nulls, row) != valueless)
			elog(ERROR, "padding of a cached column is %s", valueless ? "not NULL" : "NULL");
	}
}

/* The rows that are served as a bitmap, as the device makes it; NULL: all. */
static uint8 *
bitmap_of(const GcServedChunk *chunk)
{
	GcHole	   *holes = palloc((chunk->nholes + 1) * sizeof(GcHole));
	uint8	   *bitmap;
	uint32		row = 0;

	if (chunk->nholes == 0)
		return NULL;
	gc_put_holes(chunk, holes);
	bitmap = palloc0(TYPEALIGN(GC_PAD_ROWS, chunk->nrows) / 8);
	for (uint32 h = 0; h <= chunk->nholes; h++)
	{
		uint32		end = h < chunk->nholes ? holes[h].from : chunk->nrows;

		if (h < chunk->nholes && (holes[h].from < row || holes[h].to <= holes[h].from ||
								  (h > 0 && holes[h].from == row)))
			elog(ERROR, "holes of a chunk do not ascend");
		for (; row < end; row++)
			bitmap[row >> 3] |= 1 << (row & 7);
		if (h < chunk->nholes)
			row = holes[h].to;
	}
	return bitmap;
}

/* Rows of the chunks that are served. */
static void
put_chunks(TestOutput *out, const GcDirectory *dir, const GcServed *served,
		   int ncols, const int *dir_cols, TestColumn *cols)
{
	for (uint32 i = 0; i < served->nchunks; i++)
	{
		GcServedChunk *chunk = &served->chunks[i];

		for (int c = 0; c < ncols; c++)
		{
			GcChunkColumn *cell = GC_CELL(dir, chunk->chunk, dir_cols[c]);

			check_padding(cell, chunk->nrows);
			cols[c].desc = cell->desc;
		}
		put_rows(out, ncols, cols, chunk->nrows, (uintptr_t) bitmap_of(chunk));
	}
}

static void
refuse_problem(Relation rel, const GcColSpec *spec, int problem, const char *where)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("column \"%s\" has problem %d in the %s",
					get_attname(RelationGetRelid(rel), spec->attnum, false), problem, where)));
}

/* Rows of the delta, encoded and decoded. */
static void
put_delta(TestOutput *out, Relation rel, const GcServed *served, int ncols,
		  const GcColSpec *specs, TestColumn *cols)
{
	GcDictView **dicts = palloc0(Max(ncols, 1) * sizeof(GcDictView *));
	GcEncoder  *encoder;
	const GcEncodedColumn *enc;
	GcError		err;

	for (int c = 0; c < ncols; c++)
		dicts[c] = cols[c].dict;
	encoder = gc_encoder_create(ncols, specs, dicts, NULL);
	if (gc_delta_scan(rel, GetActiveSnapshot(), served, NULL, 0, encoder, &err) != GC_OK)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("could not read the delta"),
				 errdetail("%s", err.detail)));
	enc = gc_encoder_finish(encoder);
	for (int c = 0; c < ncols; c++)
	{
		char	   *data;

		if (enc[c].problem != GC_COL_OK)
			refuse_problem(rel, &specs[c], enc[c].problem, "delta");
		data = palloc_extended(enc[c].data_bytes + enc[c].null_bytes + 1, MCXT_ALLOC_HUGE);
		gc_encoder_write(encoder, c, data, data + enc[c].data_bytes);
		cols[c].desc.data = (uintptr_t) data;
		cols[c].desc.nulls = enc[c].null_bytes > 0 ? (uintptr_t) (data + enc[c].data_bytes) : 0;
		cols[c].desc.base = enc[c].base;
		cols[c].desc.width = enc[c].width;
		cols[c].desc.scale = enc[c].scale;
	}
	put_rows(out, ncols, cols, gc_encoder_rows(encoder), 0);
}

/* Find the wanted columns in the directory; false if one is missing. */
static bool
find_columns(Relation rel, const GcDirectory *dir, int ncols, const GcColSpec *specs,
			 int *dir_cols)
{
	for (int c = 0; c < ncols; c++)
	{
		dir_cols[c] = gc_directory_column(dir, &specs[c]);
		if (dir_cols[c] < 0)
			return false;
		if (dir->columns[dir_cols[c]].problem != GC_COL_OK)
			refuse_problem(rel, &specs[c], dir->columns[dir_cols[c]].problem, "cache");
	}
	return true;
}

Datum
gpuconc_columns_test_scan(PG_FUNCTION_ARGS)
{
	Relation	rel;
	GcColSpec  *specs;
	int			ncols;
	int		   *dir_cols;
	TestOutput	out;
	TestColumn *cols;
	GcDirectory *dir = NULL;
	GcServed	served;
	GcError		err;
	const char *reason;
	bool		cacheable;

	columns_test_require_superuser();
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	specs = wanted_specs(rel, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), &ncols);

	cacheable = gc_rel_cacheable(rel, GetActiveSnapshot(), &reason);
	if (cacheable && PG_GETARG_BOOL(2) &&
		gc_load_columns(rel, ncols, specs, NULL, &err) != GC_OK &&
		err.code != GC_CACHE_FULL && err.code != GC_NOT_CACHEABLE)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not load"),
				 errdetail("%s", err.detail)));

	out.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	out.desc = record_desc(rel, ncols, specs);
	out.values = palloc(Max(ncols, 1) * sizeof(Datum));
	out.isnull = palloc(Max(ncols, 1) * sizeof(bool));
	cols = palloc0(Max(ncols, 1) * sizeof(TestColumn));
	dir_cols = palloc(Max(ncols, 1) * sizeof(int));

	gc_guard_enter();
	if (cacheable)
		dir = gc_directory(rel);
	if (dir && !find_columns(rel, dir, ncols, specs, dir_cols))
		dir = NULL;
	for (int c = 0; c < ncols; c++)
	{
		cols[c].spec = &specs[c];
		if (GC_KIND_IS_CODE(specs[c].kind))
			cols[c].dict = gc_dict_view(dir ? dir->columns[dir_cols[c]].state : NULL,
										specs[c].rtrim);
	}
	gc_serve(rel, dir, GetActiveSnapshot(), &served);
	if (dir)
		put_chunks(&out, dir, &served, ncols, dir_cols, cols);
	put_delta(&out, rel, &served, ncols, specs, cols);
	gc_guard_leave();

	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* A row of values, of which none is NULL. */
Datum
columns_test_a_row(FunctionCallInfo fcinfo, Datum *values)
{
	TupleDesc	desc;
	bool		nulls[8] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	Assert(desc->natts <= lengthof(nulls));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

Datum
gpuconc_columns_test_load(PG_FUNCTION_ARGS)
{
	Relation	rel;
	GcColSpec  *specs;
	int			ncols;
	GcError		err = {0};
	GcLoadStats stats = {0};
	GcCode		code;
	Datum		values[5];

	columns_test_require_superuser();
	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	specs = wanted_specs(rel, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), &ncols);
	code = gc_load_columns(rel, ncols, specs, &stats, &err);
	relation_close(rel, AccessShareLock);

	values[0] = CStringGetTextDatum(gc_code_name(code));
	values[1] = CStringGetTextDatum(code == GC_OK ? "" : err.detail);
	values[2] = Int64GetDatum(stats.chunks_loaded);
	values[3] = Int64GetDatum((int64) stats.pages_read);
	values[4] = Int32GetDatum(stats.workers);
	return columns_test_a_row(fcinfo, values);
}

/* The directory that a new request would use, or NULL.  Under a guard. */
GcDirectory *
columns_test_usable_directory(Relation rel)
{
	const char *reason;

	if (!gc_rel_cacheable(rel, GetActiveSnapshot(), &reason))
		return NULL;
	return gc_directory(rel);
}

/* Chunks and pages that serve a snapshot (NULL: only what all see) of a table; loads nothing. */
static GcServed
serve(Oid relid, Snapshot snapshot)
{
	Relation	rel;
	GcServed	served;

	columns_test_require_superuser();
	rel = relation_open(relid, AccessShareLock);
	gc_guard_enter();
	gc_serve(rel, columns_test_usable_directory(rel), snapshot, &served);
	gc_guard_leave();
	relation_close(rel, AccessShareLock);
	return served;
}

Datum
gpuconc_columns_test_served(PG_FUNCTION_ARGS)
{
	const GcServed served = serve(PG_GETARG_OID(0), NULL);
	Datum		values[7];

	values[0] = Int64GetDatum(served.nblocks);
	values[1] = Int64GetDatum(served.pages_served);
	values[2] = Int64GetDatum(served.pages_delta);
	values[3] = Int64GetDatum(served.pages_reloadable);
	values[4] = Int64GetDatum(served.nranges);
	values[5] = BoolGetDatum(served.complete);
	values[6] = BoolGetDatum(served.worth_reload);
	return columns_test_a_row(fcinfo, values);
}

/* Flush the WAL, so that sessions find what others have changed and not committed. */
static void
flush_wal(void)
{
	const XLogRecPtr end = GetXLogInsertRecPtr();
	const uint32 in_page = end % XLOG_BLCKSZ;

	if (!RecoveryInProgress())
		XLogFlush(in_page == SizeOfXLogShortPHD || in_page == SizeOfXLogLongPHD ? end - in_page : end);
}

Datum
gpuconc_columns_test_flush(PG_FUNCTION_ARGS)
{
	columns_test_require_superuser();
	flush_wal();
	PG_RETURN_VOID();
}

/* Pages that serve the active snapshot, hot chunks included; loads nothing. */
Datum
gpuconc_columns_test_versions(PG_FUNCTION_ARGS)
{
	GcServed	served;
	Datum		values[8];

	columns_test_require_superuser();
	if (PG_GETARG_BOOL(1))
		flush_wal();
	served = serve(PG_GETARG_OID(0), GetActiveSnapshot());
	values[0] = Int64GetDatum(served.nblocks);
	values[1] = Int64GetDatum(served.pages_served);
	values[2] = Int64GetDatum(served.pages_versioned);
	values[3] = Int64GetDatum(served.pages_looked_at);
	values[4] = Int64GetDatum(served.pages_own);
	values[5] = Int64GetDatum(served.pages_delta);
	values[6] = BoolGetDatum(served.amended);
	values[7] = Int64GetDatum(served.pages_read_before);
	return columns_test_a_row(fcinfo, values);
}

/* As if VACUUM had frozen all rows, and cut the log of commits. */
Datum
gpuconc_columns_test_forget(PG_FUNCTION_ARGS)
{
	columns_test_require_superuser();
	AdvanceOldestClogXid(XidFromFullTransactionId(ReadNextFullTransactionId()));
	PG_RETURN_VOID();
}

/* As if a transaction had begun, got an id, and ended without having done anything. */
Datum
gpuconc_columns_test_ended(PG_FUNCTION_ARGS)
{
	FullTransactionId xid;

	columns_test_require_superuser();
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	LWLockAcquire(XidGenLock, LW_EXCLUSIVE);
	xid = GC_TRANSAM_VARIABLES->nextXid;
	ExtendCLOG(XidFromFullTransactionId(xid));
	ExtendCommitTs(XidFromFullTransactionId(xid));
	ExtendSUBTRANS(XidFromFullTransactionId(xid));
	FullTransactionIdAdvance(&GC_TRANSAM_VARIABLES->nextXid);
	LWLockRelease(XidGenLock);
	if (FullTransactionIdPrecedes(GC_TRANSAM_VARIABLES->latestCompletedXid, xid))
		GC_TRANSAM_VARIABLES->latestCompletedXid = xid;
	GC_TRANSAM_VARIABLES->xactCompletionCount++;
	LWLockRelease(ProcArrayLock);
	PG_RETURN_VOID();
}
