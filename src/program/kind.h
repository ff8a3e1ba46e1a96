/*-------------------------------------------------------------------------
 *
 * kind.h
 *	  Kinds of values: what the columns, the programs and the kernels agree on
 *	  about a value, whatever its PostgreSQL type.  Includes nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KIND_H
#define GC_KIND_H

typedef enum GcKind
{
	GC_KIND_NONE = 0,			/* not supported */
	GC_BOOL,					/* 0 or 1 */
	GC_INT2,
	GC_INT4,
	GC_INT8,
	GC_FLOAT4,					/* IEEE bits */
	GC_FLOAT8,
	GC_NUMERIC,					/* integer, times 10^-scale; scale kept beside */
	GC_DATE,					/* days since 2000-01-01, as DateADT */
	GC_TIMESTAMP,				/* microseconds since 2000-01-01, as Timestamp */
	GC_TIMESTAMPTZ,
	GC_TEXT,					/* code into a dictionary: text, varchar, bpchar */
	GC_NKINDS
} GcKind;

#define GC_KIND_IS_FLOAT(k)		((k) == GC_FLOAT4 || (k) == GC_FLOAT8)
#define GC_KIND_IS_INT(k)		((k) == GC_INT2 || (k) == GC_INT4 || (k) == GC_INT8)

#endif							/* GC_KIND_H */
