/*-------------------------------------------------------------------------
 *
 * ordinal.h
 *	  Values of small types as 64-bit integers in the order of their type.
 *
 * Equal values have equal integers and one spelling, and the lesser value has the lesser integer.  So
 * kernels compare, group, join and take extremes of these as of any integer, and know nothing of the type.
 *
 * A "time with time zone" is compared by the instant it is in UTC, then by its zone.  It is equal to another
 * only if both are.  Zones of more than about 18 hours, which AT TIME ZONE can make, have no integer.
 *
 * Runs in backends and loaders.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ORDINAL_H
#define GC_ORDINAL_H

#include "postgres.h"

#include "../../program/kinds.h"

/* Of a value whose kind has GC_FORM_ORDINAL; false: it has none. */
extern bool gc_datum_to_ordinal(GcKind kind, Datum value, int64 *ordinal);

/* The opposite, in CurrentMemoryContext. */
extern Datum gc_ordinal_to_datum(GcKind kind, int64 ordinal);

#endif							/* GC_ORDINAL_H */
