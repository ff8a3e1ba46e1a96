/*-------------------------------------------------------------------------
 *
 * pgkinds.h
 *	  PostgreSQL's types as kinds of values, and its Datums as raw values; intervals (interval.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PGKINDS_H
#define GC_PGKINDS_H

#include "postgres.h"

#include "access/transam.h"
#include "datatype/timestamp.h"
#include "utils/lsyscache.h"

#include "../../program/kinds.h"

/* The type behind a domain, or the type itself.  PostgreSQL's own types are none, and to ask the catalog takes long. */
static inline Oid
gc_base_type(Oid type)
{
	return type < FirstGenbkiObjectId ? type : getBaseType(type);
}

/* Domains are looked through. */
extern GcKind gc_type_kind(Oid typid);

/*
 * Under a deterministic collation, equal means equal bytes: codes may be compared
 * instead of values.
 */
extern bool gc_collation_deterministic(Oid collation);

/*
 * Raw form of a non-NULL value: integers, dates, times, timestamps sign-extended; oid, "char" zero-extended; bool 0/1.
 * Floats are their bits (float4 in the low half), numerics times 10^dscale.  Not for codes.  False if the value
 * has none.  (A numeric is NaN, infinite or beyond 64 bits, an interval not as interval.c says, a timetz of a
 * zone of more than 18 hours.)
 */
extern bool gc_datum_to_raw(GcKind kind, Datum value, int64 *raw, int16 *dscale);

/* The opposite; scale for a numeric alone, which may be GC_SCALE_TAGGED, and beyond 64 bits. */
extern Datum gc_raw_to_datum(GcKind kind, int128 raw, int16 scale);

/* By which bytes a dictionary knows a value.  They may lie in the structure itself. */
typedef struct GcValueBytes
{
	const char *bytes;
	uint32		len;
	Oid			oid;			/* an enum's */
} GcValueBytes;

/* Bytes of a value whose kind has codes.  Detoasts it if need be. */
extern void gc_datum_bytes(GcKind kind, Datum value, GcValueBytes *b);

/* The opposite, in CurrentMemoryContext; a text with so many blanks behind it. */
extern Datum gc_bytes_datum(GcKind kind, const char *bytes, uint32 len, uint32 blanks);

/* A month of an age. */
#define GC_AGE_MONTH	(31 * USECS_PER_DAY)

/* False: it has not this form. */
extern bool gc_interval_to_int64(const Interval *interval, int64 *us);

/* The interval's value in comparisons, whatever its form; false: beyond 64 bits. */
extern bool gc_interval_compared(const Interval *interval, int64 *us);

/* In CurrentMemoryContext. */
extern Interval *gc_int64_to_interval(int64 us);

/* A result of age(): it has at most 30 days beside its months, and all of its parts have one sign. */
extern Interval *gc_age_to_interval(int64 age);

#endif							/* GC_PGKINDS_H */
