/*-------------------------------------------------------------------------
 *
 * typer.h
 *	  The common part of the files that type a program; private to program/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TYPER_H
#define GC_TYPER_H

#include "typing.h"

#define I128_MAX	((i128) (((u128) 1 << 127) - 1))
#define I128_MIN	(-I128_MAX - 1)

/* Valid finite dates: IS_VALID_DATE in datetime.h, as days since 2000-01-01. */
#define DATE_LO		(-2451545)
#define DATE_HI		(2147483494 - 2451545 - 1)
#define USECS_PER_DAY	86400000000LL

/* Valid finite timestamps: MIN_TIMESTAMP .. END_TIMESTAMP - 1. */
#define TIMESTAMP_LO	(-211813488000000000LL)
#define TIMESTAMP_HI	(9223371331200000000LL - 1)

/* One program while it is typed. */
typedef struct GcTyper
{
	GcProgram  *p;
	GcExpr	   *exprs;
	const GcFacts *facts;
	GcRange    *ranges;
	GcError    *err;
} GcTyper;

/* The range of a value that never is. */
extern const GcRange gc_empty_as_zero;

extern GcCode gc_too_wide(GcTyper *t);

/* Upper bound of the rows that come into a pipeline's sink. */
static inline u64
gc_typer_rows(const GcTyper *t, u16 pipeline)
{
	return t->facts->rows_into ? t->facts->rows_into[pipeline] : t->facts->rows;
}

/* Integer, date and timestamp results: cut the range to the kind's, or check. */
extern void gc_clip_to_kind(GcExpr *e, GcRange *r);

/* Widen *r by the infinite timestamps that a range has. */
extern void gc_add_infinities(const GcRange *from, GcRange *r);

/* Range, scale and checks of a cast. */
extern GcCode gc_type_cast(GcTyper *t, GcExpr *e, GcRange *r);

/* Registers and scales of columns, parameters and the like that expressions refer to, for the code generator. */
extern void gc_lay_out_values(GcTyper *t);

/* How payloads are stored, once expressions are typed. */
extern GcCode gc_lay_out_payloads(GcTyper *t);

/* Accumulators, and where each lies in a group's words. */
extern GcCode gc_lay_out_aggs(GcTyper *t);

/* Group keys and row outputs must each fit in one word. */
extern GcCode gc_check_outputs(GcTyper *t);

#endif							/* GC_TYPER_H */
