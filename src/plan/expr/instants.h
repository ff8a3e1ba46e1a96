/*-------------------------------------------------------------------------
 *
 * instants.h
 *	  Differences of timestamps, intervals, ages, time zones, and dates of timestamps (dates.c); private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_INSTANTS_H
#define GC_INSTANTS_H

#include "../base/translate.h"

#include "datatype/timestamp.h"

/*
 * Do values of these kinds add up to a timestamp, or differ by an interval?  *a and *b become what kernels
 * add or subtract.
 */
extern bool gc_is_time_arithmetic(GcTranslation *tr, GcOp what, GcKind result, int *a, int *b);

/* A call of age() of timestamps, of which one is a row's?  It has a kind of its own. */
extern bool gc_is_age(const Expr *expr);

/* age() of its two translated arguments; and that as a span that can be compared with intervals. */
extern int	gc_translate_age(GcTranslation *tr, const FuncExpr *f, int a, int b);
extern int	gc_age_span(GcTranslation *tr, int age);

/*
 * An operator of intervals whose result is as long as those of its arguments say: args[0] GC_OP_ADD, GC_OP_SUB args[1],
 * where args[0] is NULL for 0, or args[0] GC_OP_MUL the constant args[1], a whole number.  0: it is none.
 */
extern GcOp gc_span_operator(const OpExpr *op, Expr **args);

/* So many times a constant interval. */
typedef struct GcScaledInterval
{
	Interval	unit;
	Expr	   *factor;			/* an integer; or a float, of a unit without days and months; NULL: once */
	bool		exact;			/* times are multiplied as integers, not as floats */
} GcScaledInterval;

/* A timestamp, date or time and such an interval: `+`, or `-`. */
extern bool gc_adds_interval(const OpExpr *op, GcScaledInterval *interval);

/* That operator of the translated first argument and factor; factor: GC_NO_EXPR if there is none. */
extern int	gc_translate_add_interval(GcTranslation *tr, const OpExpr *op, const GcScaledInterval *interval, int a,
									  int factor);

/*
 * Is it such an interval of rows, and as a value spelled as kernels know it?  Then the factor is
 * translated, and gives it.
 */
extern bool gc_scales_days(const Expr *expr, GcScaledInterval *interval);
extern int	gc_translate_days(GcTranslation *tr, const GcScaledInterval *interval, int factor);

/* A constant interval that equals this one, in the form that kernels know; or else what it was. */
extern Expr *gc_comparable_interval(Expr *expr);

/* NULL, or what is against a constant interval as a value of its own. */
extern const char *gc_interval_refusal(const Expr *expr);

/*
 * An expression without Vars that is compared with a timestamptz, as one: a date is one in the session's
 * time zone.  Or else what it was.
 */
extern Expr *gc_comparable_instant(Expr *expr, Oid other);

/*
 * A timestamptz as a timestamp, or the opposite, in the time zone that is named, or the session's if zone is NULL.
 * gc_build_offset: the difference that is added to the first.  GC_NO_EXPR with a reason: the zone is not constant.  Or
 * it has several offsets, and the timestamptz is not that of a column, or it is the opposite.
 */
extern int	gc_build_local(GcTranslation *tr, int e, Expr *zone);
extern int	gc_build_instant(GcTranslation *tr, int e, Expr *zone);
extern int	gc_build_offset(GcTranslation *tr, int e, Expr *zone);

/* Is an expression, of one Var of type timestamp or timestamptz, the same for all values of a day? */
extern bool gc_depends_on_date(Expr *expr);

/*
 * A copy to ask for mutable functions, and for nothing else.  PostgreSQL calls functions stable that are less than that
 * here.  Calls of to_char(timestamp, text) that no setting has an influence on are left out.  Where only
 * the session's time zone has, an immutable function is in the place of the called one, and *zoned is set.
 */
extern Node *gc_without_stable(Expr *expr, bool *zoned);

/*
 * Has a time zone an influence on it that PostgreSQL does not tell?  That is the session's, or one that it names: a
 * session has abbreviations of its own, and keeps what it has read of a zone.
 */
extern bool gc_sees_zone(Node *node, void *context);

/* The field (DTK_...) that a text names, as timestamp_part_common() finds it; -1: none. */
extern int	gc_field_named(const Const *name);

/* The device's function for a field, where it is a whole number; and for truncation to it; -1: none. */
extern int	gc_field_call(int field);
extern int	gc_trunc_call(int field);

/* Is it a field of the date alone, other than the epoch?  Does truncation to it leave a date? */
extern bool gc_is_date_field(int field);
extern bool gc_truncates_to_date(int field);

#endif							/* GC_INSTANTS_H */
