/*-------------------------------------------------------------------------
 *
 * advice.c
 *	  SQL functions under gpuconc_advise(): what columns would take, what kept queries of a
 *	  table from being offloaded, and what they would not read if it were sorted.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_statistic.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "columns/encode/pgkinds.h"
#include "columns/encode/spec.h"
#include "compat.h"
#include "queue/reasons.h"
#include "report.h"

PG_FUNCTION_INFO_V1(gpuconc_estimate_columns);
PG_FUNCTION_INFO_V1(gpuconc_stat_get_reasons);
PG_FUNCTION_INFO_V1(gpuconc_stat_get_orders);

/* A dictionary's entry beside its bytes: offset, hash, and room to grow. */
#define ENTRY_BYTES		40

/*-------------------------------------------------------------------------
 * Bytes of a column
 *-------------------------------------------------------------------------
 */

/* The least and the largest of the statistics' values, if there are any; infinite: beyond 64 bits. */
static void
widen(const AttStatsSlot *slot, GcKind kind, double *least, double *most)
{
	for (int i = 0; i < slot->nvalues; i++)
	{
		int64		raw;
		int16		scale;

		if (!gc_datum_to_raw(kind, slot->values[i], &raw, &scale))
		{
			if (kind == GC_NUMERIC)
				*most = INFINITY;
			continue;
		}
		*least = Min(*least, (double) raw);
		*most = Max(*most, (double) raw);
	}
}

/* Bytes of a value that is stored as its distance to the smallest one. */
static double
width_of_range(HeapTuple statistics, GcKind kind)
{
	static const int kinds[] = {STATISTIC_KIND_HISTOGRAM, STATISTIC_KIND_MCV};
	double		least = INFINITY;
	double		most = -INFINITY;

	for (int i = 0; HeapTupleIsValid(statistics) && i < lengthof(kinds); i++)
	{
		AttStatsSlot slot;

		if (get_attstatsslot(&slot, statistics, kinds[i], InvalidOid, ATTSTATSSLOT_VALUES))
		{
			widen(&slot, kind, &least, &most);
			free_attstatsslot(&slot);
		}
	}
	if (most < least)
		return gc_kinds[kind].bytes;
	if (most - least <= PG_UINT8_MAX)
		return 1;
	if (most - least <= PG_UINT16_MAX)
		return 2;
	return most - least <= PG_UINT32_MAX ? 4 : isinf(most) ? sizeof(int128) : 8;
}

/* Codes, and the dictionary with all distinct values. */
static double
bytes_of_texts(HeapTuple statistics, double rows)
{
	Form_pg_statistic s = HeapTupleIsValid(statistics) ? (Form_pg_statistic) GETSTRUCT(statistics) : NULL;
	double		distinct = s ? s->stadistinct : -1;
	double		length = s ? s->stawidth : 32;

	if (distinct < 0)
		distinct *= -rows;
	return rows * (distinct <= PG_UINT8_MAX ? 1 : distinct <= PG_UINT16_MAX ? 2 : 4) +
		distinct * (length + ENTRY_BYTES);
}

/* Bytes that a column would take in the cache, by its statistics. */
static double
estimate_column(Relation rel, const GcColSpec *spec, double rows)
{
	HeapTuple	statistics = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(rel)),
											 Int16GetDatum(spec->attnum), BoolGetDatum(false));
	double		bytes;

	if (GC_KIND_IS_CODE(spec->kind))
		bytes = bytes_of_texts(statistics, rows);
	else if (spec->kind == GC_BOOL)
		bytes = rows;
	else if (GC_KIND_IS_FLOAT(spec->kind))
		bytes = rows * gc_kinds[spec->kind].bytes;
	else
		bytes = rows * width_of_range(statistics, spec->kind);
	if (HeapTupleIsValid(statistics))
	{
		if (((Form_pg_statistic) GETSTRUCT(statistics))->stanullfrac > 0)
			bytes += rows / 8;
		ReleaseSysCache(statistics);
	}
	return bytes;
}

/* Column by column: bytes that it would take, or why it cannot be cached.  No row without a right to select. */
Datum
gpuconc_estimate_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = PG_GETARG_OID(0);
	const char *refusal;
	Relation	rel;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, 3);
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return (Datum) 0;
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
	{
		bool		plannable = gc_rel_plannable(rel, &refusal);

		for (AttrNumber a = 1; a <= RelationGetNumberOfAttributes(rel); a++)
		{
			Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), a - 1);
			GcColSpec	spec;
			bool		good = plannable && gc_col_spec(rel, a, &spec, &refusal);
			double		rows = rel->rd_rel->reltuples;
			Datum		values[3] = {NameGetDatum(&att->attname), (Datum) 0, (Datum) 0};
			bool		nulls[3] = {false, !good || rows < 0, good};

			if (att->attisdropped)
				continue;
			if (!nulls[1])
				values[1] = Int64GetDatum((int64) estimate_column(rel, &spec, rows));
			if (!nulls[2])
				values[2] = CStringGetTextDatum(refusal);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

/*-------------------------------------------------------------------------
 * Reasons
 *-------------------------------------------------------------------------
 */

/* Reasons name functions and operators of others' queries: a table's owner may know them. */
static bool
may_know(Oid relid)
{
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		return false;
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		GC_OWNS_RELATION(relid, GetUserId());
}

/* SQL: reasons why statements were not offloaded, of tables that the user may know of. */
Datum
gpuconc_stat_get_reasons(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	GcReason   *reasons;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, 4);
	reasons = gc_reasons_read(&n);
	for (int i = 0; i < n; i++)
	{
		const GcReasonKey *key = &reasons[i].key;
		Datum		values[4] = {ObjectIdGetDatum(key->relid), BoolGetDatum(key->executed != 0),
			CStringGetTextDatum(key->text), Int64GetDatum((int64) pg_atomic_read_u64(&reasons[i].count))};
		bool		nulls[4] = {0};

		if (may_know(key->relid))
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*-------------------------------------------------------------------------
 * Orders
 *-------------------------------------------------------------------------
 */

/*
 * By column with conditions: bytes that requests with them read, and that they would not if the
 * table were sorted by it.
 */
Datum
gpuconc_stat_get_orders(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	GcOrder    *orders;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, 4);
	orders = gc_orders_read(&n);
	for (int i = 0; i < n; i++)
	{
		const GcOrderKey *key = &orders[i].key;
		Datum		values[4] = {ObjectIdGetDatum(key->relid), Int16GetDatum((int16) key->attnum),
			Int64GetDatum((int64) pg_atomic_read_u64(&orders[i].read)), Int64GetDatum((int64) pg_atomic_read_u64(&orders[i].spared))};
		bool		nulls[4] = {0};

		if (may_know(key->relid))
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
