/*-------------------------------------------------------------------------
 *
 * pgkinds.c
 *	  PostgreSQL's types as kinds of values, and its Datums as raw values.
 *
 * Runs in backends and loaders; reads catalogs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "numeric.h"
#include "pgkinds.h"

static const struct
{
	Oid			type;
	GcKind		kind;
}			kind_of_type[] = {
	{BOOLOID, GC_BOOL},
	{INT2OID, GC_INT2},
	{INT4OID, GC_INT4},
	{INT8OID, GC_INT8},
	{FLOAT4OID, GC_FLOAT4},
	{FLOAT8OID, GC_FLOAT8},
	{NUMERICOID, GC_NUMERIC},
	{DATEOID, GC_DATE},
	{TIMESTAMPOID, GC_TIMESTAMP},
	{TIMESTAMPTZOID, GC_TIMESTAMPTZ},
	{TEXTOID, GC_TEXT},
	{VARCHAROID, GC_TEXT},
	{BPCHAROID, GC_TEXT},
};

GcKind
gc_type_kind(Oid typid)
{
	Oid			base = getBaseType(typid);

	for (int i = 0; i < lengthof(kind_of_type); i++)
	{
		if (kind_of_type[i].type == base)
			return kind_of_type[i].kind;
	}
	return GC_KIND_NONE;
}

bool
gc_collation_deterministic(Oid collation)
{
	if (!OidIsValid(collation) || collation == C_COLLATION_OID || collation == DEFAULT_COLLATION_OID)
		return true;
	return get_collation_isdeterministic(collation);
}

bool
gc_datum_to_raw(GcKind kind, Datum value, int64 *raw, int16 *dscale)
{
	*dscale = -1;
	switch (gc_kinds[kind].form)
	{
		case GC_FORM_BOOL:
			*raw = DatumGetBool(value);
			return true;
		case GC_FORM_INT16:
			*raw = DatumGetInt16(value);
			return true;
		case GC_FORM_INT32:
			*raw = DatumGetInt32(value);
			return true;
		case GC_FORM_BITS32:
			*raw = (uint32) DatumGetInt32(value);
			return true;
		case GC_FORM_INT64:
			*raw = DatumGetInt64(value);
			return true;
		case GC_FORM_NUMERIC:
			return gc_numeric_to_int64(value, raw, dscale);
		default:
			return false;
	}
}

Datum
gc_raw_to_datum(GcKind kind, int64 raw, int16 scale)
{
	switch (gc_kinds[kind].form)
	{
		case GC_FORM_BOOL:
			return BoolGetDatum(raw != 0);
		case GC_FORM_INT16:
			return Int16GetDatum((int16) raw);
		case GC_FORM_INT32:
		case GC_FORM_BITS32:
			return Int32GetDatum((int32) raw);
		case GC_FORM_NUMERIC:
			return gc_int128_to_numeric(raw, scale);
		default:
			return Int64GetDatum(raw);
	}
}
