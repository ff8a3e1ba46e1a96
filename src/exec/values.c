/*-------------------------------------------------------------------------
 *
 * values.c
 *	  Parameters and IN lists: expressions without Vars, which PostgreSQL has computed
 *	  (ahead.c), as the raw values that kernels are given.
 *
 * Runs in backends, while binding.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "pgtime.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "lookup.h"

#include "../columns/encode/interval.h"
#include "../columns/encode/pgkinds.h"
#include "../columns/store/numeric.h"

/*-------------------------------------------------------------------------
 * Parameters
 *-------------------------------------------------------------------------
 */

/* Code of a value in the dictionary it is compared with; -1: not in it. */
static int64
value_code(GcBinding *b, GcKind kind, uint16 space, Datum value)
{
	GcValueBytes bytes;

	gc_datum_bytes(kind, value, &bytes);
	return gc_dict_lookup(gc_space_dict(b, space), bytes.bytes, bytes.len);
}

static void
set_raw(GcBinding *b, int i, i128 v)
{
	b->param_facts[i].range = (GcRange) {v, v};
	b->params[i].lo = (u64) v;
	b->params[i].hi = (u64) (v >> 64);
}

static GcCode
set_param(GcBinding *b, int i, Datum value)
{
	GcKind		kind = gc_params(b->program)[i].kind;
	GcFact	   *fact = &b->param_facts[i];
	i128		v;
	int64		raw;

	if (GC_KIND_IS_CODE(kind))
		v = value_code(b, kind, b->plan->params[i].space, value);
	else if (kind == GC_NUMERIC)
	{
		if (!gc_numeric_to_int128(value, &v, &fact->scale))
			return gc_fail(&b->err, GC_UNSUPPORTED,
						   "A numeric constant is NaN, infinite or beyond 128 bits.");
	}
	else
	{
		if (!gc_datum_to_raw(kind, value, &raw, &fact->scale))
			return gc_fail(&b->err, GC_UNSUPPORTED, "A constant has no raw form.");
		v = raw;
	}
	set_raw(b, i, v);
	return GC_OK;
}

GcCode
gc_bind_params(GcBinding *b)
{
	GcCode		code = GC_OK;
	long		offset;

	if (b->plan->fixed_zone && !pg_get_timezone_offset(session_timezone, &offset))
		return gc_fail(&b->err, GC_UNSUPPORTED, "Time zone %s has several offsets from UTC.", pg_get_timezone_name(session_timezone));
	for (int i = 0; i < b->plan->nparams && code == GC_OK; i++)
	{
		const GcPlanParam *param = &b->plan->params[i];
		const int	e = param->expr;

		if (e < 0)
		{
			set_raw(b, i, (i128) gc_space_values(b, param->space) + param->more);
			continue;
		}
		b->param_facts[i].nullable = b->node->isnull[e];
		if (!b->node->isnull[e])
			code = set_param(b, i, b->node->values[e]);
	}
	return code;
}

/*-------------------------------------------------------------------------
 * IN lists
 *-------------------------------------------------------------------------
 */

static int
compare_int64(const void *x, const void *y)
{
	int64		a = *(const int64 *) x;
	int64		b = *(const int64 *) y;

	return a < b ? -1 : a > b;
}

/*
 * A numeric element at the scale of the column that it is compared with.  False if
 * no column value can equal it.
 */
static bool
numeric_at_scale(Datum value, int16 scale, int64 *raw)
{
	i128		v;
	int16		s;

	if (!gc_numeric_to_int128(value, &v, &s))
		return false;
	for (; s > scale; s--)
	{
		if (v % 10 != 0)
			return false;
		v /= 10;
	}
	for (; s < scale; s++)
	{
		if (__builtin_mul_overflow(v, (i128) 10, &v))
			return false;
	}
	*raw = (int64) v;
	return v >= PG_INT64_MIN && v <= PG_INT64_MAX;
}

/* Scale of the values of an IN's left side: known before typing if they are a column's, or sums of these. */
static bool
column_scale(GcBinding *b, u16 e, int16 *scale)
{
	const u16	column = gc_origin_column(b->program, e, true);

	if (column == GC_NONE)
		return false;
	*scale = b->column_facts[column].scale;
	return true;
}

static GcCode
set_list(GcBinding *b, int i, ArrayType *array)
{
	GcKind		kind = gc_lists(b->program)[i].kind;
	Oid			elemtype = ARR_ELEMTYPE(array);
	GcKind		elemkind = gc_type_kind(elemtype);
	int16		len,
				scale = 0,
				unused;
	bool		byval;
	char		align;
	Datum	   *elems;
	bool	   *nulls;
	int			n;

	if (kind == GC_NUMERIC && !column_scale(b, b->plan->lists[i].arg, &scale))
		return gc_fail(&b->err, GC_UNSUPPORTED, "IN is applied to a numeric expression.");
	get_typlenbyvalalign(elemtype, &len, &byval, &align);
	deconstruct_array(array, elemtype, len, byval, align, &elems, &nulls, &n);
	/* By all elements: those that no value of the left side can equal are not in the list. */
	if (n == 0)
		b->list_flags[i] = GC_LIST_EMPTY;
	b->lists[i] = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(int64));
	for (int k = 0; k < n; k++)
	{
		int64	   *raw = &b->lists[i][b->list_counts[i]];

		if (nulls[k])
			b->list_flags[i] |= GC_LIST_NULL;
		else if (kind == GC_NUMERIC ? numeric_at_scale(elems[k], scale, raw)
				 : kind == GC_INTERVAL ? gc_interval_compared(DatumGetIntervalP(elems[k]), raw)
				 : gc_datum_to_raw(elemkind, elems[k], raw, &unused))
			b->list_counts[i]++;
	}
	qsort(b->lists[i], b->list_counts[i], sizeof(int64), compare_int64);
	return GC_OK;
}

GcCode
gc_bind_lists(GcBinding *b)
{
	GcCode		code = GC_OK;

	for (int i = 0; i < b->plan->nlists && code == GC_OK; i++)
	{
		int			e = b->plan->lists[i].expr;

		/* A NULL array: the result is NULL for every row. */
		if (b->node->isnull[e])
			b->list_flags[i] = GC_LIST_NULL;
		else
			code = set_list(b, i, DatumGetArrayTypeP(b->node->values[e]));
	}
	return code;
}
