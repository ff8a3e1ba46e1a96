/*-------------------------------------------------------------------------
 *
 * few_values.c
 *	  How many groups there can be at most, by the statistics of columns.
 *
 * PostgreSQL takes an expression for as distinct as its columns.  So months of a column of timestamps are taken for
 * as many as its rows.  But an expression has no more values than its arguments have, or than there are months
 * in the range of the column.
 *
 * NULL is counted as a value.  It is for estimates: statistics are of a sample, and rows come later.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "groups.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "../../columns/encode/pgkinds.h"
#include "../../program/functions.h"

#define USECS_PER_YEAR	(365 * (double) USECS_PER_DAY)

/* Estimates of an expression's values. */
typedef struct Values
{
	double		count;
	double		span;			/* of dates and timestamps: the greatest raw value less the least one */
} Values;

static const Values unknown = {INFINITY, INFINITY};

/* Functions of a timestamp: how far results lie apart, or how many there are. */
static const struct
{
	GcFunction	function;
	double		unit;
	double		most;
}			calls[] = {
	{GC_CALL_TRUNC_MILLENNIUM, 1000 * USECS_PER_YEAR}, {GC_CALL_TRUNC_CENTURY, 100 * USECS_PER_YEAR},
	{GC_CALL_TRUNC_DECADE, 10 * USECS_PER_YEAR}, {GC_CALL_TRUNC_YEAR, USECS_PER_YEAR},
	{GC_CALL_TRUNC_QUARTER, 90.0 * USECS_PER_DAY}, {GC_CALL_TRUNC_MONTH, 28.0 * USECS_PER_DAY},
	{GC_CALL_TRUNC_WEEK, 7.0 * USECS_PER_DAY}, {GC_CALL_TRUNC_DAY, USECS_PER_DAY}, {GC_CALL_TRUNC_HOUR, USECS_PER_HOUR},
	{GC_CALL_TRUNC_MINUTE, USECS_PER_MINUTE}, {GC_CALL_TRUNC_SECOND, USECS_PER_SEC},
	{GC_CALL_TRUNC_MILLISECOND, 1000},
	{GC_CALL_MILLENNIUM, 1000 * USECS_PER_YEAR}, {GC_CALL_CENTURY, 100 * USECS_PER_YEAR},
	{GC_CALL_DECADE, 10 * USECS_PER_YEAR}, {GC_CALL_YEAR, USECS_PER_YEAR}, {GC_CALL_ISOYEAR, USECS_PER_YEAR},
	{GC_CALL_QUARTER, 0, 4}, {GC_CALL_MONTH, 0, 12}, {GC_CALL_DAY, 0, 31}, {GC_CALL_DOW, 0, 7}, {GC_CALL_ISODOW, 0, 7},
	{GC_CALL_DOY, 0, 366}, {GC_CALL_WEEK, 0, 53}, {GC_CALL_HOUR, 0, 24}, {GC_CALL_MINUTE, 0, 60},
};

static Values values_of(const GcTranslation *tr, int e);

typedef struct Column
{
	GcKind		kind;
	double		count;
	double		min;
	double		max;
} Column;

/* Extend the range by the values that statistics have in a slot. */
static void
add_range(HeapTuple stats, int slot_kind, Column *column)
{
	AttStatsSlot slot;

	if (!get_attstatsslot(&slot, stats, slot_kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return;
	for (int i = 0; i < slot.nvalues; i++)
	{
		int64		raw;
		int16		scale;

		if (!gc_datum_to_raw(column->kind, slot.values[i], &raw, &scale))
			continue;
		column->min = Min(column->min, raw);
		column->max = Max(column->max, raw);
	}
	free_attstatsslot(&slot);
}

/* Add what statistics say of a table's column; that of several tables may differ. */
static void
add_table(Oid relid, int attnum, double tuples, Column *column)
{
	HeapTuple	stats = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(attnum),
										BoolGetDatum(false));
	double		distinct = HeapTupleIsValid(stats) ? ((Form_pg_statistic) GETSTRUCT(stats))->stadistinct : 0;

	/* 0: not known. */
	column->count += distinct > 0 ? distinct : distinct < 0 ? -distinct * tuples : INFINITY;
	if (!HeapTupleIsValid(stats))
		return;
	if (GC_KIND_IS_INSTANT(column->kind) || column->kind == GC_DATE)
	{
		add_range(stats, STATISTIC_KIND_HISTOGRAM, column);
		add_range(stats, STATISTIC_KIND_MCV, column);
	}
	ReleaseSysCache(stats);
}

/* How many values a column has, and over which span, by its tables' statistics. */
static Values
column_values(const GcTranslation *tr, int e)
{
	const GcPColumn *c = &tr->columns[tr->pexprs[e].ref];
	const GcLeaf *leaf = tr->column_leaf[tr->pexprs[e].ref];
	const int	groups_of = tr->groups_of[c->input];
	Column		column = {.kind = c->kind,.min = INFINITY,.max = -INFINITY};
	ListCell   *lc;

	if (groups_of > 0)
		return c->agg == GC_NONE ? values_of(tr, list_nth_int(tr->group_keys[groups_of - 1], c->attnum)) : unknown;
	if (leaf == NULL || !gc_leaf_is_cached(leaf) || c->attnum <= 0)
		return unknown;
	if (OidIsValid(leaf->relid))
		add_table(leaf->relid, c->attnum, leaf->tuples, &column);
	foreach(lc, leaf->append ? leaf->append->parts : NIL)
	{
		const GcAppendPart *part = lfirst(lc);

		if (part->attnums == NULL || part->attnums[c->attnum - 1] <= 0)
			return unknown;
		add_table(part->relid, part->attnums[c->attnum - 1], part->rel->tuples, &column);
	}
	return (Values) {column.count + 1, column.min <= column.max ? column.max - column.min : INFINITY};
}

/* Values that lie a unit apart, of a range; as many as there were before, at most. */
static Values
apart(Values of, double unit)
{
	return (Values) {Min(of.count, of.span / unit + 3), of.span};
}

/* How many values a function has, by its argument's or by how many there can be at all. */
static Values
call_values(Values all, Values argument, int function)
{
	for (int i = 0; i < lengthof(calls); i++)
	{
		if (calls[i].function != function)
			continue;
		if (calls[i].unit > 0)
			return apart(argument, calls[i].unit);
		return (Values) {Min(all.count, calls[i].most + 1), INFINITY};
	}
	return all;
}

/* A cast to dates has a value for each day; others keep the count. */
static Values
cast_values(Values of, GcKind from, GcKind to)
{
	if (GC_KIND_IS_INSTANT(from) && to == GC_DATE)
	{
		of = apart(of, USECS_PER_DAY);
		of.span /= USECS_PER_DAY;
	}
	else if (from == GC_DATE && GC_KIND_IS_INSTANT(to))
		of.span *= USECS_PER_DAY;
	else if (!GC_KIND_IS_INSTANT(from) || !GC_KIND_IS_INSTANT(to))
		of.span = INFINITY;
	return of;
}

/* The values of an expression that is made of other expressions, and nothing else. */
static Values
values_of(const GcTranslation *tr, int e)
{
	const GcExpr *x = &tr->pexprs[e];
	Values		first = unknown;
	Values		all = {1, 0};

	if (x->op == GC_OP_COLUMN)
		return column_values(tr, e);
	if (x->op == GC_OP_PAYLOAD)
		return values_of(tr, tr->payloads[x->ref].expr);
	if (x->op == GC_OP_PARAM || x->op == GC_OP_NULL)
		return all;
	if (x->arg[0] == GC_NONE || x->op == GC_OP_ARM)
		return unknown;
	for (int i = 0; i < lengthof(x->arg) && x->arg[i] != GC_NONE; i++)
	{
		Values		v = values_of(tr, x->arg[i]);

		if (i == 0)
			first = v;
		all.count *= v.count;
		all.span += v.span;
	}
	if (x->op == GC_OP_CALL)
		return call_values(all, first, x->ref);
	if (x->op == GC_OP_CAST)
		return cast_values(first, tr->pexprs[x->arg[0]].kind, x->kind);
	if (x->op != GC_OP_ADD && x->op != GC_OP_SUB && x->op != GC_OP_OUTER)
		all.span = INFINITY;
	if (x->kind == GC_BOOL)
		all.count = Min(all.count, 3);
	return all;
}

/* Is it a table's column, maybe through builds? */
static bool
is_column(const GcTranslation *tr, int e)
{
	while (tr->pexprs[e].op == GC_OP_PAYLOAD)
		e = tr->payloads[tr->pexprs[e].ref].expr;
	return tr->pexprs[e].op == GC_OP_COLUMN && tr->groups_of[tr->columns[tr->pexprs[e].ref].input] == 0;
}

double
gc_most_groups(const GcTranslation *tr, int pipeline)
{
	double		most = 1;
	bool		computed = tr->group_keys[pipeline] == NIL;
	ListCell   *lc;

	/* PostgreSQL knows as much of columns. */
	foreach(lc, tr->group_keys[pipeline])
		computed |= !is_column(tr, lfirst_int(lc));
	if (!computed)
		return INFINITY;
	foreach(lc, tr->group_keys[pipeline])
		most *= values_of(tr, lfirst_int(lc)).count;
	return most;
}
