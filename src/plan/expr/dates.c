/*-------------------------------------------------------------------------
 *
 * dates.c
 *	  Expressions of a timestamp that depend on its date alone: to_char() with a format without a time of day, fields of
 *	  dates, truncations to dates, and whatever is made of these.  The table of all fields of timestamps.
 *
 * There are few dates where there are many timestamps, so such an expression can be a lookup table.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "instants.h"

#include "nodes/nodeFuncs.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"

#include "../../program/functions.h"
#include "../base/builtins.h"

/*
 * Patterns of formatting.c that print something of a date; of those that begin alike, the longest first.  They are
 * known in capitals, in small letters, and some with one capital.
 */
static const char *const date_patterns[] = {
	"Y,YYY", "YYYY", "YYY", "YY", "Y", "IYYY", "IYY", "IY", "IDDD", "ID", "IW", "I", "Q", "MONTH", "Month", "MON", "Mon",
	"MM", "DDD", "DD", "DAY", "Day", "DY", "Dy", "D", "WW", "W", "J", "CC", "RM", "BC", "B.C.", "AD", "A.D.", "FM", "TH",
};

/* Patterns that a format of dates has nowhere: times of day, time zones, and names in the language of lc_time. */
static const char *const other_patterns[] = {
	"AM", "A.M.", "PM", "P.M.", "HH", "MI", "SS", "MS", "US", "FF", "TZ", "OF", "TM", "SP", "FX",
};

/* How much of the format the pattern is; 0: it is not there. */
static int
matched(const char *format, const char *pattern)
{
	const int	len = strlen(pattern);
	bool		small = true;

	if (strncmp(format, pattern, len) == 0)
		return len;
	for (int i = 0; i < len && small; i++)
		small = format[i] == pg_tolower((unsigned char) pattern[i]);
	return small ? len : 0;
}

/* Does the format go on with a pattern that prints something of the time of day? */
static bool
is_time_pattern(const char *format)
{
	for (int i = 0; i < lengthof(other_patterns); i++)
	{
		if (pg_strncasecmp(format, other_patterns[i], strlen(other_patterns[i])) == 0)
			return true;
	}
	return false;
}

/* Does a format print a date alone?  Whatever is not known for sure is taken for something else. */
static bool
is_date_format(const char *format)
{
	const char *at = format;

	while (*at)
	{
		int			len = 0;

		/* Quoted text is printed as it is; a backslash may quote the end. */
		if (*at == '"')
		{
			const char *end = strpbrk(at + 1, "\"\\");

			if (end == NULL || *end != '"')
				return false;
			at = end + 1;
			continue;
		}
		for (int i = 0; i < lengthof(date_patterns) && len == 0; i++)
			len = matched(at, date_patterns[i]);
		/* A second FM is a literal F, and what follows is another pattern. */
		if (matched(at, "FM") && matched(at + 2, "FM"))
			return false;
		if (is_time_pattern(at) || *at == '\\' ||
			(len == 0 && ((*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z'))))
			return false;
		at += Max(len, 1);
	}
	return at > format;
}

/* to_char() of a timestamp, in a format of dates. */
static bool
prints_date(Node *node)
{
	FuncExpr   *f = (FuncExpr *) node;
	const Const *format;

	if (!IsA(node, FuncExpr) || gc_builtin(f->funcid)->date != GC_DATE_BY_FORMAT)
		return false;
	format = gc_constant(f->args, 1);
	return format && is_date_format(TextDatumGetCString(format->constvalue));
}

/* The field that a call's first argument names; -1: none that is known. */
static int
constant_field(const FuncExpr *f)
{
	const Const *field = gc_constant(f->args, 0);

	return field ? gc_field_named(field) : -1;
}

/* The Var that a call uses nothing but the date of; NULL: it is no such call. */
static Node *
dated_argument(Node *node)
{
	FuncExpr   *f = (FuncExpr *) node;

	if (!IsA(node, FuncExpr))
		return NULL;
	switch (gc_builtin(f->funcid)->date)
	{
		case GC_DATE_ALWAYS:
			return linitial(f->args);
		case GC_DATE_BY_FIELD:
			return gc_is_date_field(constant_field(f)) ? lsecond(f->args) : NULL;
		case GC_DATE_BY_UNIT:
			return gc_truncates_to_date(constant_field(f)) ? lsecond(f->args) : NULL;
		case GC_DATE_BY_FORMAT:
			return prints_date(node) ? linitial(f->args) : NULL;
		default:
			return NULL;
	}
}

/* Is there a Var that more than its date is used of? */
static bool
uses_time(Node *node, void *context)
{
	Node	   *argument;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return true;
	argument = dated_argument(node);
	if (argument && IsA(argument, Var))
		return false;
	return expression_tree_walker(node, uses_time, context);
}

bool
gc_depends_on_date(Expr *expr)
{
	return !uses_time((Node *) expr, NULL);
}

/* A call that nothing but the session's time zone has an influence on. */
static bool
is_zoned(Node *node)
{
	const GcBuiltin *b = IsA(node, FuncExpr) ? gc_builtin(((FuncExpr *) node)->funcid) : NULL;

	return b && b->zone == GC_ZONE_OF_SESSION && (b->date != GC_DATE_BY_FORMAT || prints_date(node));
}

/* Printed dates give way to their arguments; where the zone matters, date() is called in their place. */
static Node *
without_stable(Node *node, bool *zoned)
{
	FuncExpr   *f;

	if (node == NULL)
		return NULL;
	if (prints_date(node) && !is_zoned(node))
		return without_stable(linitial(((FuncExpr *) node)->args), zoned);
	if (!is_zoned(node))
		return expression_tree_mutator(node, without_stable, zoned);
	*zoned = true;
	f = (FuncExpr *) expression_tree_mutator(node, without_stable, zoned);
	f->funcid = F_DATE_TIMESTAMP;
	return (Node *) f;
}

Node *
gc_without_stable(Expr *expr, bool *zoned)
{
	*zoned = false;
	return without_stable((Node *) expr, zoned);
}

/* Is it a call that sees a zone although it is said to be immutable? */
static bool
is_seeing_zone(Oid funcid, void *context)
{
	return (gc_builtin(funcid)->flags & GC_SEES_ZONE) != 0;
}

bool
gc_sees_zone(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_seeing_zone, NULL) || expression_tree_walker(node, gc_sees_zone, NULL);
}

/*-------------------------------------------------------------------------
 * Fields of timestamps, by name
 *-------------------------------------------------------------------------
 */

typedef struct Field
{
	int			field;
	int			call;			/* GcFunction; -1: none */
	int			truncate;		/* that of date_trunc() */
	bool		of_date;
} Field;

/* The field's entry, or NULL. */
static const Field *
known(int field)
{
	static const Field fields[] = {
		{DTK_MILLENNIUM, GC_CALL_MILLENNIUM, GC_CALL_TRUNC_MILLENNIUM, true},
		{DTK_CENTURY, GC_CALL_CENTURY, GC_CALL_TRUNC_CENTURY, true},
		{DTK_DECADE, GC_CALL_DECADE, GC_CALL_TRUNC_DECADE, true},
		{DTK_YEAR, GC_CALL_YEAR, GC_CALL_TRUNC_YEAR, true},
		{DTK_ISOYEAR, GC_CALL_ISOYEAR, -1, true},
		{DTK_QUARTER, GC_CALL_QUARTER, GC_CALL_TRUNC_QUARTER, true},
		{DTK_MONTH, GC_CALL_MONTH, GC_CALL_TRUNC_MONTH, true},
		{DTK_WEEK, GC_CALL_WEEK, GC_CALL_TRUNC_WEEK, true},
		{DTK_DAY, GC_CALL_DAY, GC_CALL_TRUNC_DAY, true},
		{DTK_DOW, GC_CALL_DOW, -1, true},
		{DTK_ISODOW, GC_CALL_ISODOW, -1, true},
		{DTK_DOY, GC_CALL_DOY, -1, true},
		{DTK_HOUR, GC_CALL_HOUR, GC_CALL_TRUNC_HOUR},
		{DTK_MINUTE, GC_CALL_MINUTE, GC_CALL_TRUNC_MINUTE},
		{DTK_SECOND, -1, GC_CALL_TRUNC_SECOND},
		{DTK_MILLISEC, -1, GC_CALL_TRUNC_MILLISECOND},
		{DTK_MICROSEC, GC_CALL_USEC, -1},
	};
	static const Field none = {.call = -1,.truncate = -1};

	for (int i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].field == field)
			return &fields[i];
	}
	return &none;
}

int
gc_field_named(const Const *name)
{
	char	   *spelled = TextDatumGetCString(name->constvalue);
	char	   *lower = downcase_truncate_identifier(spelled, strlen(spelled), false);
	int			value;
	int			type = DecodeUnits(0, lower, &value);

	if (type == UNKNOWN_FIELD)
		type = DecodeSpecial(0, lower, &value);
	return type == UNITS || (type == RESERV && value == DTK_EPOCH) ? value : -1;
}

int
gc_field_call(int field)
{
	return known(field)->call;
}

int
gc_trunc_call(int field)
{
	return known(field)->truncate;
}

bool
gc_is_date_field(int field)
{
	return known(field)->of_date;
}

bool
gc_truncates_to_date(int field)
{
	return known(field)->of_date && known(field)->truncate >= 0;
}
