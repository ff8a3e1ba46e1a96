/*-------------------------------------------------------------------------
 *
 * kinds.h
 *	  Kinds of values: the properties of a value that columns, programs and kernels know, whatever its PostgreSQL type.
 *	  Includes nothing of PostgreSQL.
 *
 * To add a kind: an entry here, a line in the table of kinds.c, and its types in
 * columns/encode/pgkinds.c.  A kind with a form of its own needs a case in each switch over
 * GcForm, too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KINDS_H
#define GC_KINDS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum GcKind
{
	GC_KIND_NONE = 0,			/* not supported */
	GC_BOOL,					/* 0 or 1 */
	GC_INT2,
	GC_INT4,
	GC_INT8,
	GC_FLOAT4,					/* IEEE bits */
	GC_FLOAT8,
	GC_NUMERIC,					/* integer, times 10^-scale; the scale is kept elsewhere */
	GC_DATE,					/* days since 2000-01-01, as DateADT */
	GC_TIMESTAMP,				/* microseconds since 2000-01-01, as Timestamp */
	GC_TIMESTAMPTZ,
	GC_TEXT,					/* code into a dictionary: text, varchar, bpchar */
	GC_OID,						/* 0 .. 2^32 - 1 */
	GC_CHAR,					/* "char", ordered as an unsigned byte */
	GC_TIME,					/* microseconds since midnight */
	GC_UUID,					/* code into a dictionary of 16 bytes each */
	GC_ENUM,					/* code into a dictionary of the labels' OIDs */
	GC_DOCUMENT,				/* code into a dictionary: jsonb, json, arrays, ranges and the like */
	GC_INTERVAL,				/* microseconds (columns/encode/interval.c) */
	GC_BYTES,					/* code into a dictionary: bytea, inet, cidr */
	GC_NAME,					/* code into a dictionary */
	GC_MONEY,					/* of the smallest unit, as Cash */
	GC_TIMETZ,					/* integers in the type's order (columns/encode/pgkinds.c) */
	GC_MACADDR,
	GC_MACADDR8,
	GC_LSN,
	GC_AGE,						/* interval of age(): microseconds, of months that have 31 days
								 * (columns/encode/interval.c) */
	GC_NKINDS
} GcKind;

/* How a Datum becomes a raw value of 64 bits, and the opposite. */
typedef enum GcForm
{
	GC_FORM_NONE = 0,
	GC_FORM_BOOL,
	GC_FORM_INT16,
	GC_FORM_INT32,
	GC_FORM_BITS32,				/* not sign-extended */
	GC_FORM_INT64,
	GC_FORM_UINT8,
	GC_FORM_UINT32,
	GC_FORM_NUMERIC,
	GC_FORM_INTERVAL,
	GC_FORM_ORDINAL,			/* in the type's order (columns/encode/pgkinds.c) */
	GC_FORM_AGE,
	GC_FORM_CODE,				/* of a dictionary */
} GcForm;

typedef struct GcKindTraits
{
	const char *name;			/* of its encoding, in gpuconc_cache */
	GcForm		form;
	bool		is_int;
	bool		is_float;
	bool		enumerable;		/* values of a column may be few enough to compute a
								 * function of each beforehand */
	bool		opaque;			/* equal values may have different codes: these are not compared,
								 * joined or grouped by */
	bool		has_range;
	int64_t		lo;				/* infinities included */
	int64_t		hi;
	int			bytes;			/* of a raw value before it is packed: 4 or 8 */
	int			usual_bytes;	/* of a packed one, before any is known */
} GcKindTraits;

extern const GcKindTraits gc_kinds[GC_NKINDS];

#define GC_KIND_IS_FLOAT(k)		(gc_kinds[k].is_float)
#define GC_KIND_IS_INT(k)		(gc_kinds[k].is_int)
#define GC_KIND_IS_INSTANT(k)	((k) == GC_TIMESTAMP || (k) == GC_TIMESTAMPTZ)
#define GC_KIND_IS_CODE(k)		(gc_kinds[k].form == GC_FORM_CODE)

#endif							/* GC_KINDS_H */
