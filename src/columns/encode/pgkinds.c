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
#include "fmgr.h"
#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "../store/numeric.h"
#include "pgkinds.h"

/*-------------------------------------------------------------------------
 * Values of small types as 64-bit integers in the order of their type
 *
 * Equal values have equal integers and one spelling, and the lesser value has the lesser integer.  So
 * kernels compare, group, join and take extremes of these as of any integer, and know nothing of the type.
 *
 * A "time with time zone" is compared by the instant it is in UTC, then by its zone.  It is equal to another
 * only if both are.  Zones of more than about 18 hours, which AT TIME ZONE can make, have no integer.
 *-------------------------------------------------------------------------
 */

/* Puts unsigned integers of 64 bits in the order of signed ones. */
#define SIGN_BIT		UINT64CONST(0x8000000000000000)

/* A zone's seconds, made positive, lie in the low bits. */
#define ZONE_BITS		17
#define ZONE_BIAS		(1 << (ZONE_BITS - 1))
#define ZONE_MASK		((1 << ZONE_BITS) - 1)

#define BYTE_BITS		8

/* A time with its zone as a number of the same order.  False: the zone is out of range. */
static bool
timetz_ordinal(const TimeTzADT *t, int64 *ordinal)
{
	if (t->zone < -ZONE_BIAS || t->zone >= ZONE_BIAS)
		return false;
	/* timetz_cmp_internal() */
	*ordinal = (t->time + t->zone * USECS_PER_SEC) * (1 << ZONE_BITS) + (t->zone + ZONE_BIAS);
	return true;
}

/* The time of such a number, palloc'd. */
static TimeTzADT *
ordinal_timetz(int64 ordinal)
{
	TimeTzADT  *t = palloc(sizeof(TimeTzADT));

	t->zone = (int32) (ordinal & ZONE_MASK) - ZONE_BIAS;
	t->time = (ordinal >> ZONE_BITS) - t->zone * USECS_PER_SEC;
	return t;
}

/* Bytes of an address as a number, the first one highest: their order is that of macaddr_cmp_internal(). */
static uint64
bytes_number(const unsigned char *bytes, int n)
{
	uint64		number = 0;

	for (int i = 0; i < n; i++)
		number = number << BYTE_BITS | bytes[i];
	return number;
}

/* The lowest n bytes of a number, the highest first, palloc'd. */
static Datum
number_bytes(uint64 number, int n)
{
	unsigned char *bytes = palloc(n);

	for (int i = n - 1; i >= 0; i--, number >>= BYTE_BITS)
		bytes[i] = number & 0xff;
	return PointerGetDatum(bytes);
}

/* The integer of a value whose kind has GC_FORM_ORDINAL; false: it has none. */
static bool
datum_to_ordinal(GcKind kind, Datum value, int64 *ordinal)
{
	switch (kind)
	{
		case GC_TIMETZ:
			return timetz_ordinal(DatumGetTimeTzADTP(value), ordinal);
		case GC_MACADDR:
			*ordinal = bytes_number((const unsigned char *) DatumGetMacaddrP(value), sizeof(macaddr));
			return true;
		case GC_MACADDR8:
			*ordinal = bytes_number((const unsigned char *) DatumGetMacaddr8P(value), sizeof(macaddr8)) ^ SIGN_BIT;
			return true;
		case GC_LSN:
			*ordinal = DatumGetLSN(value) ^ SIGN_BIT;
			return true;
		default:
			return false;
	}
}

/* The opposite, in CurrentMemoryContext. */
static Datum
ordinal_to_datum(GcKind kind, int64 ordinal)
{
	switch (kind)
	{
		case GC_TIMETZ:
			return TimeTzADTPGetDatum(ordinal_timetz(ordinal));
		case GC_MACADDR:
			return number_bytes(ordinal, sizeof(macaddr));
		case GC_MACADDR8:
			return number_bytes(ordinal ^ SIGN_BIT, sizeof(macaddr8));
		default:
			Assert(kind == GC_LSN);
			return LSNGetDatum(ordinal ^ SIGN_BIT);
	}
}

/*-------------------------------------------------------------------------
 * Kinds of types, and raw values
 *-------------------------------------------------------------------------
 */

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
	{OIDOID, GC_OID},
	{REGCLASSOID, GC_OID},
	{REGPROCOID, GC_OID},
	{REGTYPEOID, GC_OID},
	{REGROLEOID, GC_OID},
	{REGNAMESPACEOID, GC_OID},
	{CHAROID, GC_CHAR},
	{TIMEOID, GC_TIME},
	{INTERVALOID, GC_INTERVAL},
	{UUIDOID, GC_UUID},
	{JSONBOID, GC_DOCUMENT},
	{JSONOID, GC_DOCUMENT},
	{BYTEAOID, GC_BYTES},
	{INETOID, GC_BYTES},
	{CIDROID, GC_BYTES},
	{NAMEOID, GC_NAME},
	{MONEYOID, GC_MONEY},
	{TIMETZOID, GC_TIMETZ},
	{MACADDROID, GC_MACADDR},
	{MACADDR8OID, GC_MACADDR8},
	{PG_LSNOID, GC_LSN},
	{BOOLARRAYOID, GC_DOCUMENT},
	{INT2ARRAYOID, GC_DOCUMENT},
	{INT4ARRAYOID, GC_DOCUMENT},
	{INT8ARRAYOID, GC_DOCUMENT},
	{FLOAT4ARRAYOID, GC_DOCUMENT},
	{FLOAT8ARRAYOID, GC_DOCUMENT},
	{NUMERICARRAYOID, GC_DOCUMENT},
	{TEXTARRAYOID, GC_DOCUMENT},
	{VARCHARARRAYOID, GC_DOCUMENT},
	{BPCHARARRAYOID, GC_DOCUMENT},
	{DATEARRAYOID, GC_DOCUMENT},
	{TIMESTAMPARRAYOID, GC_DOCUMENT},
	{TIMESTAMPTZARRAYOID, GC_DOCUMENT},
	{UUIDARRAYOID, GC_DOCUMENT},
	{INT4RANGEOID, GC_DOCUMENT},
	{INT8RANGEOID, GC_DOCUMENT},
	{NUMRANGEOID, GC_DOCUMENT},
	{DATERANGEOID, GC_DOCUMENT},
	{TSRANGEOID, GC_DOCUMENT},
	{TSTZRANGEOID, GC_DOCUMENT},
	{TSVECTOROID, GC_DOCUMENT},
};

/* The kind of a built-in type, or GC_KIND_NONE. */
static GcKind
kind_of(Oid type)
{
	for (int i = 0; i < lengthof(kind_of_type); i++)
	{
		if (kind_of_type[i].type == type)
			return kind_of_type[i].kind;
	}
	return GC_KIND_NONE;
}

GcKind
gc_type_kind(Oid typid)
{
	GcKind		kind = kind_of(typid);
	Oid			base;

	/* Nearly every type is no domain; to ask for that takes far longer. */
	if (kind != GC_KIND_NONE)
		return kind;
	base = gc_base_type(typid);
	kind = kind_of(base);
	return kind != GC_KIND_NONE ? kind : type_is_enum(base) ? GC_ENUM : GC_KIND_NONE;
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
		case GC_FORM_UINT8:
			*raw = (uint8) DatumGetChar(value);
			return true;
		case GC_FORM_UINT32:
			*raw = DatumGetObjectId(value);
			return true;
		case GC_FORM_NUMERIC:
			return gc_numeric_to_int64(value, raw, dscale);
		case GC_FORM_INTERVAL:
			return gc_interval_to_int64(DatumGetIntervalP(value), raw);
		case GC_FORM_ORDINAL:
			return datum_to_ordinal(kind, value, raw);
		default:
			return false;
	}
}

Datum
gc_raw_to_datum(GcKind kind, int128 raw, int16 scale)
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
			return scale == GC_SCALE_TAGGED ? gc_int128_to_numeric(GC_TAG_DIGITS(raw), GC_TAG_SCALE(raw)) :
				gc_int128_to_numeric(raw, scale);
		case GC_FORM_INTERVAL:
			return IntervalPGetDatum(gc_int64_to_interval(raw));
		case GC_FORM_ORDINAL:
			return ordinal_to_datum(kind, raw);
		case GC_FORM_AGE:
			return IntervalPGetDatum(gc_age_to_interval(raw));
		case GC_FORM_UINT8:
			return CharGetDatum((char) raw);
		case GC_FORM_UINT32:
			return ObjectIdGetDatum((Oid) raw);
		default:
			return Int64GetDatum(raw);
	}
}

void
gc_datum_bytes(GcKind kind, Datum value, GcValueBytes *b)
{
	struct varlena *t;

	switch (kind)
	{
		case GC_UUID:
			b->bytes = (const char *) DatumGetUUIDP(value)->data;
			b->len = UUID_LEN;
			break;
		case GC_ENUM:
			b->oid = DatumGetObjectId(value);
			b->bytes = (const char *) &b->oid;
			b->len = sizeof(Oid);
			break;
		case GC_NAME:
			b->bytes = NameStr(*DatumGetName(value));
			b->len = strlen(b->bytes);
			break;
		default:
			t = PG_DETOAST_DATUM_PACKED(value);
			b->bytes = VARDATA_ANY(t);
			b->len = VARSIZE_ANY_EXHDR(t);
			break;
	}
}

Datum
gc_bytes_datum(GcKind kind, const char *bytes, uint32 len, uint32 blanks)
{
	Oid			oid;
	pg_uuid_t  *uuid;
	Name		name;
	struct varlena *t;

	switch (kind)
	{
		case GC_UUID:
			Assert(len == UUID_LEN);
			uuid = palloc(sizeof(pg_uuid_t));
			memcpy(uuid->data, bytes, UUID_LEN);
			return UUIDPGetDatum(uuid);
		case GC_ENUM:
			Assert(len == sizeof(Oid));
			memcpy(&oid, bytes, sizeof(Oid));
			return ObjectIdGetDatum(oid);
		case GC_NAME:
			Assert(len < NAMEDATALEN);
			name = palloc0(NAMEDATALEN);
			memcpy(NameStr(*name), bytes, len);
			return NameGetDatum(name);
		default:
			t = palloc(VARHDRSZ + len + blanks);
			SET_VARSIZE(t, VARHDRSZ + len + blanks);
			memcpy(VARDATA(t), bytes, len);
			memset(VARDATA(t) + len, ' ', blanks);
			return PointerGetDatum(t);
	}
}
