/*-------------------------------------------------------------------------
 *
 * typing.h
 *	  From a logical program and facts of its values to a bound one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TYPING_H
#define GC_TYPING_H

#include "program.h"
#include "range.h"

/* A fact: the executor's knowledge of a column, parameter or lookup table. */
typedef struct GcFact
{
	GcRange		range;			/* of raw values; not for floats */
	bool		nullable;		/* column, table: NULL occurs; param: is NULL */
	bool		null_of_null;	/* table: the result for a NULL argument is NULL */
	i16			scale;			/* numeric: the largest display scale */
	i16			scale_spread;	/* numeric: that, minus the smallest */
	u8			width;			/* column: code width, 0 if it varies */
} GcFact;

/* The executor's knowledge of the row ids of an input. */
typedef struct GcRowIds
{
	GcRange		range;
	u8			bits;			/* of a row's number in its chunk */
} GcRowIds;

typedef struct GcFacts
{
	const GcFact *columns;		/* ncolumns */
	const GcFact *params;		/* nparams */
	const GcFact *luts;			/* nluts: of the results */
	const u8   *list_flags;		/* nlists: GC_LIST_NULL, GC_LIST_EMPTY */
	u64			rows;			/* upper bound of rows into a sink, for the width of sums */
	const u64  *rows_into;		/* that bound by pipeline; NULL: `rows` for all of them */
	const GcRowIds *row_ids;	/* ninputs; NULL: no expression is a row id */
} GcFacts;

/*
 * Fill in the bound fields of columns, expressions, payloads, params, luts and
 * aggregates, in place.  Build and group modes are not among them: the caller decides
 * on these with the ranges.  ranges: nexprs entries, out.
 * GC_UNSUPPORTED with a reason when a value cannot be represented (numeric wider
 * than 128 bits, group key whose scale varies, ...).
 */
extern GcCode gc_program_type(GcProgram *p, const GcFacts *facts, GcRange *ranges, GcError *err);

/* Bytes of an entry of a lookup table whose results are of a kind and range. */
extern u8	gc_lut_width(u8 kind, const GcRange *range);

/*
 * The last part of it again, once facts->rows is known: accumulators, and where
 * each lies in a group's words.
 */
extern GcCode gc_program_type_aggs(GcProgram *p, const GcFacts *facts, GcRange *ranges,
								   GcError *err);

#endif							/* GC_TYPING_H */
