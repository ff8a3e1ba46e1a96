/*-------------------------------------------------------------------------
 *
 * functions.h
 *	  Functions of the device library that a GC_OP_CALL calls: the table of them.
 *
 * To add one: an entry in GcFunction, its line in functions.c, and the function itself in
 * cuda/, with the semantics of PostgreSQL's.  plan/base/builtins.c says which SQL function needs it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUNCTIONS_H
#define GC_FUNCTIONS_H

#include "program.h"
#include "range.h"

struct GcTyper;

typedef enum GcFunction
{
	/* A field of a timestamp, as int4. */
	GC_CALL_YEAR = 0,
	GC_CALL_DECADE,
	GC_CALL_CENTURY,
	GC_CALL_MILLENNIUM,
	GC_CALL_QUARTER,
	GC_CALL_MONTH,
	GC_CALL_DAY,
	GC_CALL_DOW,
	GC_CALL_ISODOW,
	GC_CALL_DOY,
	GC_CALL_ISOYEAR,
	GC_CALL_WEEK,
	GC_CALL_HOUR,
	GC_CALL_MINUTE,
	GC_CALL_USEC,				/* of the minute */
	/* A timestamp truncated. */
	GC_CALL_TRUNC_MILLENNIUM,
	GC_CALL_TRUNC_CENTURY,
	GC_CALL_TRUNC_DECADE,
	GC_CALL_TRUNC_YEAR,
	GC_CALL_TRUNC_QUARTER,
	GC_CALL_TRUNC_MONTH,
	GC_CALL_TRUNC_WEEK,
	GC_CALL_TRUNC_DAY,
	GC_CALL_TRUNC_HOUR,
	GC_CALL_TRUNC_MINUTE,
	GC_CALL_TRUNC_SECOND,
	GC_CALL_TRUNC_MILLISECOND,
	GC_CALL_ADD_MONTHS,			/* timestamp, int4 */
	GC_CALL_AGE,				/* of two timestamps */
	GC_CALL_BIN,				/* int8, timestamp, timestamp: date_bin() */
	/* Functions of float8. */
	GC_CALL_FLOOR,
	GC_CALL_CEIL,
	GC_CALL_TRUNC,
	GC_CALL_RINT,
	GC_CALL_SQRT,
	GC_CALL_SIGN,
	/* width_bucket(): how far a value lies behind the first bound, how far the second does, the bucket. */
	GC_CALL_BUCKET_AT,
	GC_CALL_BUCKETS_WIDTH,
	GC_CALL_BUCKET,				/* as PostgreSQL 15 has it */
	GC_CALL_BUCKET_CUT,			/* as later versions have it */
	/* float8, digits that it has, those behind the point: numeric, times 10^these, as int8. */
	GC_CALL_FLOAT_ROUND,
	GC_CALL_FLOAT_CUT,
	/* Near values (cuda/gc_near.h): of an integer or numeric, of a float8 parameter, arithmetic. */
	GC_CALL_NEAR,
	GC_CALL_NEAR_PARAM,
	GC_CALL_NEAR_SUM,
	GC_CALL_NEAR_PRODUCT,
	GC_CALL_NEAR_QUOTIENT,
	GC_CALL_NEAR_SPREAD,		/* a count, the sum of values and that of their squares */
	GC_CALL_NEAR_ROOT,
	GC_CALL_NEAR_COALESCE,
	GC_CALL_NEAR_NULLIF,
	GC_CALL_NEAR_MAY,			/* of two: is one of these results of a comparison possible? */
	GC_NCALLS
} GcFunction;

/* The function's result for an infinite timestamp. */
typedef enum GcOfInfinite
{
	GC_INFINITE_ASKED = 0,		/* PostgreSQL decides */
	GC_INFINITE_NULL,
	GC_INFINITE_SELF			/* that timestamp */
} GcOfInfinite;

typedef struct GcFunctionTraits
{
	const char *name;			/* in the device library; sqrt's and such are a macro's */
	u8			nargs;
	bool		of_time;		/* the first argument is a timestamp */
	u8			infinite;		/* of_time: GcOfInfinite */
	bool		notes;			/* its last parameter is gc_bad's address: PostgreSQL decides on some arguments */
	bool		of_scale;		/* its last parameter is 10 to the power of the last argument's scale */
	const char *bad;			/* value of the argument for which PostgreSQL raises an error, as a condition
								 * on "%s"; NULL: none */
	i64			(*value) (i64); /* of_time: the function, where it is monotone; else NULL */
	i32			lo;				/* of_time, else: range of the result */
	i32			hi;
} GcFunctionTraits;

extern const GcFunctionTraits gc_functions[GC_NCALLS];

/* Range and checks of a call. */
extern GcCode gc_type_call(struct GcTyper *t, GcExpr *e, GcRange *r);

#endif							/* GC_FUNCTIONS_H */
