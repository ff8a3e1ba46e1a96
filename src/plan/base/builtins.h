/*-------------------------------------------------------------------------
 *
 * builtins.h
 *	  Properties of PostgreSQL's built-in functions, aggregates, window functions and operators': one table, by Oid.
 *
 * Who decides by an Oid has a column of it here, and asks gc_builtin().  Of a function that is not in the table nothing
 * is known: all its columns are 0.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BUILTINS_H
#define GC_BUILTINS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "../../program/program.h"

/* How kernels compute a call. */
typedef enum GcBuiltinHow
{
	GC_HOW_UNKNOWN = 0,
	/* Functions of one argument; the others are constants (expr/functions.c). */
	GC_HOW_CALL,				/* GcFunction `with` */
	GC_HOW_ABS,
	GC_HOW_SIGN,				/* of numeric */
	GC_HOW_ROUND,				/* numeric to a number of digits; `with`: GC_CAST_DOWN, GC_CAST_UP */
	GC_HOW_WHOLE,				/* to an integer, as `with` says */
	GC_HOW_TYPMOD,				/* to a precision and scale */
	GC_HOW_FIELD,				/* of a timestamp */
	GC_HOW_DATE_FIELD,
	GC_HOW_TIME_FIELD,			/* of a time or an interval */
	GC_HOW_TRUNCATE,			/* a timestamp */
	GC_HOW_TIME_OF_DAY,
	GC_HOW_DATE,				/* of a timestamptz */
	GC_HOW_LOCAL,				/* timestamptz to timestamp */
	GC_HOW_INSTANT,				/* the other way */
	GC_HOW_FINITE,
	/* Functions of several arguments. */
	GC_HOW_WIDTH_BUCKET,
	GC_HOW_DATE_BIN,
	GC_HOW_AGE,
	/* Intervals (expr/instants.c). */
	GC_HOW_MAKE_INTERVAL,
	GC_HOW_DIFFERENCE,			/* of timestamps */
	GC_HOW_ADD_INTERVAL,		/* to a date, time or timestamp; `with`: GcOp */
	GC_HOW_SPAN,				/* intervals added, subtracted, negated; `with`: GcOp */
	GC_HOW_PRODUCT,				/* an interval, which is argument `with`, times a float */
	/* Casts that another call looks through. */
	GC_HOW_FLOAT_AS_NUMERIC,
	GC_HOW_INT_AS_FLOAT			/* exact */
} GcBuiltinHow;

/* By which time zone a timestamptz is a timestamp in it, or becomes one. */
typedef enum GcBuiltinZone
{
	GC_ZONE_NONE = 0,
	GC_ZONE_OF_SESSION,
	GC_ZONE_FIRST,				/* that of its first argument */
	GC_ZONE_THIRD
} GcBuiltinZone;

/* When a timestamp's date is all that it sees (expr/dates.c). */
typedef enum GcBuiltinDate
{
	GC_DATE_NEVER = 0,
	GC_DATE_ALWAYS,
	GC_DATE_BY_FIELD,			/* that the first argument names */
	GC_DATE_BY_UNIT,			/* likewise, of date_trunc() */
	GC_DATE_BY_FORMAT			/* of to_char() */
} GcBuiltinDate;

/* When its result is within centuries of now (expr/instants.c). */
typedef enum GcBuiltinNear
{
	GC_NEAR_UNKNOWN = 0,
	GC_NEAR_NOW,
	GC_NEAR_FIRST,				/* if that argument is */
	GC_NEAR_SECOND,
	GC_NEAR_IF_SHORT			/* if the first is, and the second is short */
} GcBuiltinNear;

/* The argument of a text program's operation, if it is no text (exec/text_program.c). */
typedef enum GcBuiltinText
{
	GC_OF_TEXT = 0,
	GC_OF_PADDED,				/* character(n), of which the blanks do not matter */
	GC_OF_BYTES
} GcBuiltinText;

/* The text itself: beside the operations of cuda/gc_text.h. */
#define GC_TEXT_SAME	15

/* Where its calls raise no error; GcBuiltinIf says of which arguments. */
#define GC_SAFE_OF_TEXTS	0x01	/* over values of cached texts, and integers (expr/text_calls.c) */
#define GC_SAFE_MOVED		0x02	/* over any values (rewrite/cannot_raise.c) */
#define GC_SAFE_OF_GROUPS	0x04	/* over any values that a node returns (group/choice.c) */
/* Others. */
#define GC_IS_TOLD_CODE		0x08	/* its arguments' values say which code it runs: a type's input, a view's query */
#define GC_SEES_STORAGE		0x10	/* it looks at how a value is stored */
#define GC_SEES_ZONE		0x200	/* called immutable, it sees the session's zone, or one by its name */
#define GC_IS_AVERAGE		0x20	/* avg() */
#define GC_IS_VARIANCE		0x40	/* of integers or numerics; or, with the next two, */
#define GC_IS_OF_SAMPLE		0x80	/* of a sample */
#define GC_IS_ROOT			0x100	/* its square root, a standard deviation */
#define GC_MADE_OF_SUMS		(GC_IS_AVERAGE | GC_IS_VARIANCE | GC_IS_OF_SAMPLE | GC_IS_ROOT)

typedef enum GcBuiltinIf
{
	GC_IF_ANY = 0,
	GC_IF_TEXTS,				/* of other types it calls output functions */
	GC_IF_PATTERN,				/* a constant pattern without an escape */
	GC_IF_POSITIVE,				/* a constant number */
	GC_IF_LENGTH,				/* a constant length that is not negative */
	GC_IF_MODEST				/* constant dates and intervals near us */
} GcBuiltinIf;

/* Digits before the point of a numeric result (rewrite/cannot_raise.c). */
typedef enum GcBuiltinDigits
{
	GC_DIGITS_MANY = 0,
	GC_DIGITS_OF_INTEGER,
	GC_DIGITS_OF_ARGUMENT,
	GC_DIGITS_OF_SUM,			/* of two */
	GC_DIGITS_OF_PRODUCT,
	GC_DIGITS_OF_QUOTIENT,
	GC_DIGITS_OF_ROWS,			/* of a sum or average */
	GC_DIGITS_OF_INTEGER_ROWS
} GcBuiltinDigits;

typedef struct GcBuiltin
{
	uint8		how;			/* GcBuiltinHow */
	uint8		of;				/* how is of one: number of that argument, from 1; else 0 */
	uint8		with;
	uint8		zone;			/* GcBuiltinZone */
	uint8		date;			/* GcBuiltinDate */
	uint8		near;			/* GcBuiltinNear */
	uint8		text;			/* its operation in a text program (cuda/gc_text.h); 0: none */
	uint8		text_with;		/* which trimming, folding, comparison or LIKE */
	uint8		text_of;		/* GcBuiltinText */
	uint16		flags;			/* GC_SAFE_*, GC_IS_*, GC_SEES_* */
	uint8		safe_if;		/* GcBuiltinIf */
	uint8		digits;			/* GcBuiltinDigits */
	uint8		over;			/* how its values over a window come about: GcOver; GC_OVER_NONE: not known */
} GcBuiltin;

/* Never NULL. */
extern const GcBuiltin *gc_builtin(Oid function);

/* How the values of a query's window function come about; GC_OVER_NONE: not known, or not by the frame alone. */
extern GcOver gc_window_over(const Query *query, const WindowFunc *func);

/* gc_builtin() of the function that a node calls, and its arguments; of other nodes nothing is known. */
extern const GcBuiltin *gc_builtin_called(const Node *node, List **args);

/* A constant among arguments; NULL: it is none, or NULL. */
static inline const Const *
gc_constant(const List *args, int n)
{
	const Const *c = list_nth(args, n);

	return IsA(c, Const) && !c->constisnull ? c : NULL;
}

#endif							/* GC_BUILTINS_H */
