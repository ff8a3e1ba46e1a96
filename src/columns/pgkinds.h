/*-------------------------------------------------------------------------
 *
 * pgkinds.h
 *	  PostgreSQL's types as kinds of values, and its Datums as raw values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PGKINDS_H
#define GC_PGKINDS_H

#include "postgres.h"

#include "../program/kinds.h"

/* Domains are looked through. */
extern GcKind gc_type_kind(Oid typid);

/*
 * Under a deterministic collation, equal means equal bytes: codes may be compared
 * instead of values.
 */
extern bool gc_collation_deterministic(Oid collation);

/*
 * Raw form of a non-NULL value: integers, dates, timestamps sign-extended; bool
 * 0/1; floats their bits (float4 in the low half); numeric times 10^dscale.
 * Not for text.  False if the value has none (numeric NaN, infinity, beyond
 * 64 bits).
 */
extern bool gc_datum_to_raw(GcKind kind, Datum value, int64 *raw, int16 *dscale);

/* The opposite; scale for a numeric alone. */
extern Datum gc_raw_to_datum(GcKind kind, int64 raw, int16 scale);

#endif							/* GC_PGKINDS_H */
