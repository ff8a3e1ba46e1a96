/*-------------------------------------------------------------------------
 *
 * bind.c
 *	  From the planned program to the bound one: facts about columns, parameters and IN lists
 *	  as raw values, registers, how each build and the groups are kept.
 *
 * Runs in a backend, under the guard of its request slot.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "catalog/pg_type_d.h"
#include "pgtime.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "lookup.h"
#include "../columns/encode/pgkinds.h"
#include "../columns/store/numeric.h"

/*
 * A dense build's key range may be DENSE_BUILD_FACTOR times its rows, or DENSE_BUILD_MIN if that is more, but at most
 * DENSE_BUILD_MAX.  It may be more on a large device, a key for each DENSE_BUILD_PART bytes of its memory, up to
 * DENSE_GREATEST_MAX.  TPC-H's orders at scale 100 have 150 million rows, and keys up to 600 million.  A set takes one
 * bit for a key; in a hash build a row takes more than 200.
 */
#define DENSE_BUILD_FACTOR		32
#define DENSE_BUILD_MIN			(1 << 16)
#define DENSE_BUILD_MAX			((int64) 1 << 28)
#define DENSE_BUILD_PART		64
#define DENSE_SET_FACTOR		192
#define DENSE_SET_MAX			((int64) 1 << 31)
#define DENSE_GREATEST_MAX		((int64) 1 << 30)

/* Dense groups: always up to the first, and up to the second if worth it. */
#define DENSE_GROUPS_ALWAYS		(1 << 14)
#define DENSE_GROUPS_MAX		((int64) 1 << 30)
#define DENSE_GROUPS_FACTOR		4
/* Beyond the second, a table may take this part of the device's memory. */
#define DENSE_GROUPS_SMALL		(1 << 20)
#define DENSE_GROUPS_PART		8
/* Beyond this part a hash table is better, since it can be split (worker/run/passes.c). */
#define DENSE_GROUPS_MOST_PART	4

/* Pairs that a pipeline other than the main one may try, and rows that may be tried one by one. */
#define MOST_PAIRS				1e12
#define MOST_PAIRS_HOST			1e10
#define MOST_TRIED				(1 << 20)

#define HASH_GROUPS_MIN			1024

/* First room for groups of which nothing is known: to clear it takes no time. */
#define GUESSED_GROUPS			(1 << 20)

/*
 * First room for rows and groups, by kind of device, or by what is expected: estimates are often far too
 * low.  Beyond what is expected it takes no more than this part of the device's memory.
 */
#define FIRST_ROOM				(1 << 18)
#define FIRST_ROOM_HOST			(1 << 16)
#define FIRST_ROOM_FACTOR		4
#define FIRST_ROOM_PART			1024
#define ROWS_MAX				((uint64) 1 << 31)

/* Room for rows of which the first few are wanted, by kind of device. */
#define CHOSEN_ROWS				(1 << 19)
#define CHOSEN_ROWS_HOST		(1 << 16)
/* At first it takes no more than this part of the device's memory. */
#define CHOSEN_ROWS_PART		8

/*
 * Rows that later pipelines read have twice the room that is expected to be needed, if all of it
 * takes no more than this part.
 */
#define KEPT_ROWS_PART			2

/* A copy of the program, and room for facts and values of its parts. */
static void
binding_init(GcBinding *b)
{
	const GcProgram *p = b->node->logical;

	b->program = palloc(p->size);
	memcpy(b->program, p, p->size);
	b->column_facts = palloc0((p->ncolumns + 1) * sizeof(GcFact));
	b->param_facts = palloc0((p->nparams + 1) * sizeof(GcFact));
	b->lut_facts = palloc0((p->nluts + 1) * sizeof(GcFact));
	b->list_flags = palloc0((p->nlists + 1) * sizeof(uint8));
	b->lists = palloc0((p->nlists + 1) * sizeof(int64 *));
	b->list_counts = palloc0((p->nlists + 1) * sizeof(uint64));
	b->params = palloc0((p->nparams + 1) * sizeof(GcParamValue));
	b->lookups = palloc0((p->nluts + 1) * sizeof(GcLookup *));
	b->space_values = palloc0((p->ncolumns + p->nluts + 1) * sizeof(uint32));
	b->ranges = palloc0((p->nexprs + 1) * sizeof(GcRange));
	b->row_ids = palloc0((p->ninputs + 1) * sizeof(GcRowIds));
	b->sinks = palloc0(p->npipelines * sizeof(GcSinkValue));
	b->group_keys = palloc0(p->npipelines * GC_MAX_KEYS * sizeof(GcGroupKeyValue));
}

/*-------------------------------------------------------------------------
 * Facts about columns
 *-------------------------------------------------------------------------
 */

/* The scale of numeric(p,s); else 0. */
static int16
type_scale(const GcPlanColumn *column)
{
	return column->typid == NUMERICOID ? gc_typmod_scale(column->typmod, 0) : 0;
}

/* The facts about a column from all chunks that this request reads. */
static GcCode
column_fact(GcBinding *b, GcInputState *in, int c)
{
	GcFact	   *f = &b->column_facts[in->first + c];
	const GcKind kind = in->specs[c].kind;
	uint8		widths = 0;
	GcSpan		span = GC_NO_SPAN;

	if (in->dir && in->served.nchunks > 0)
	{
		const GcDirColumn *d = &in->dir->columns[in->dir_column[c]];

		span = d->span;
		f->nullable = d->has_nulls;
		widths = d->widths;
	}
	if (in->private)
	{
		const GcEncodedColumn *e = &in->encoded[c];

		if (!gc_span_join(&span, e->span))
			return gc_fail(&b->err, GC_NOT_CACHEABLE, "Numeric values of a column differ in scale and have too many digits.");
		f->nullable = f->nullable || e->has_nulls;
		widths |= e->width;
	}
	f->range = (GcRange) {span.min, span.max};
	if (widths == 0)
		widths = GC_KIND_IS_FLOAT(kind) ? gc_kinds[kind].bytes : 1;
	/* Where no table of an append input has a column of floats, there are only bytes in the place of it. */
	f->width = (widths & (widths - 1)) == 0 && !(GC_KIND_IS_FLOAT(kind) && widths == 1) ? widths : 0;
	/* Without a value the type gives the scale, so that arms of UNION ALL agree. */
	f->scale = span.dscale >= 0 ? span.dscale : type_scale(&b->plan->columns[in->first + c]);
	f->scale_spread = span.dscale - span.min_dscale;
	return GC_OK;
}

/* Facts of all inputs' columns and row ids. */
static GcCode
column_facts(GcBinding *b)
{
	GcCode		code = GC_OK;

	for (int i = 0; i < b->plan->ninputs; i++)
	{
		if (gc_inputs(b->program)[i].groups_of)
			continue;
		b->row_ids[i] = gc_row_ids(&b->node->inputs[i]);
		for (int c = 0; c < b->node->inputs[i].ncols && code == GC_OK; c++)
			code = column_fact(b, &b->node->inputs[i], c);
	}
	return code;
}

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

/* A parameter's value, as a code or raw value. */
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

/* Values and facts of all parameters. */
static GcCode
bind_params(GcBinding *b)
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
 * A numeric element at the scale of the column that it is compared with.  False if no column value can equal it.
 * *wide: it is beyond 64 bits, and some might.  *unknown: with its display scale it is beyond 128, so that even
 * 1.000... might.
 */
static bool
numeric_at_scale(Datum value, int16 scale, int64 *raw, bool *wide, bool *unknown)
{
	i128		v;
	int16		s;

	if (!gc_numeric_to_int128(value, &v, &s))
	{
		*unknown |= gc_numeric_is_finite(value);
		return false;
	}
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
	if (v >= PG_INT64_MIN && v <= PG_INT64_MAX)
		return true;
	*wide = true;
	return false;
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

/* Is an IN's left side a column whose values, at its scale, have 64 bits? */
static bool
has_narrow_values(GcBinding *b, u16 e)
{
	const u16	column = gc_origin_column(b->program, e, false);

	return column != GC_NONE && gc_range_within(&b->column_facts[column].range, PG_INT64_MIN, PG_INT64_MAX);
}

/* The values of an IN list, as codes or raw values in the column's scale. */
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
	bool		wide = false;
	bool		unknown = false;
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
		else if (kind == GC_NUMERIC ? numeric_at_scale(elems[k], scale, raw, &wide, &unknown)
				 : kind == GC_INTERVAL ? gc_interval_compared(DatumGetIntervalP(elems[k]), raw)
				 : gc_datum_to_raw(elemkind, elems[k], raw, &unused))
			b->list_counts[i]++;
	}
	if (unknown)
		return gc_fail(&b->err, GC_UNSUPPORTED, "A numeric of an IN list has too many digits.");
	if (wide && !has_narrow_values(b, b->plan->lists[i].arg))
		return gc_fail(&b->err, GC_UNSUPPORTED, "IN is applied to numeric values beyond 64 bits.");
	qsort(b->lists[i], b->list_counts[i], sizeof(int64), compare_int64);
	return GC_OK;
}

/* The values of all IN lists. */
static GcCode
bind_lists(GcBinding *b)
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

/*-------------------------------------------------------------------------
 * Builds
 *-------------------------------------------------------------------------
 */

static uint64
next_pow2(uint64 n)
{
	uint64		p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/* The cached column that a build's only key is, if it is one. */
static GcColState *
key_column_state(GcBinding *b, const GcPBuild *build)
{
	const GcExpr *x = &gc_exprs(b->program)[gc_refs(b->program)[build->first_key]];
	GcInputState *in;

	if (x->op != GC_OP_COLUMN || gc_inputs(b->program)[gc_columns(b->program)[x->ref].input].groups_of)
		return NULL;
	in = &b->node->inputs[gc_columns(b->program)[x->ref].input];
	return in->dir ? in->dir->columns[in->dir_column[x->ref - in->first]].state : NULL;
}

/* Can a build be indexed by its key?  *range: the key's. */
static bool
dense_possible(GcBinding *b, int i, uint64 rows, GcRange *range)
{
	const GcPBuild *build = &gc_builds(b->program)[i];
	GcColState *state;
	int64		most,
				factor;
	u16			key;

	if (build->nkeys != 1 || build->keeps)
		return false;
	key = gc_refs(b->program)[build->first_key];
	if (gc_exprs(b->program)[key].reg == GC_I128)
		return false;
	*range = b->ranges[key];
	most = build->set && build->npayloads == 0 ? DENSE_SET_MAX : DENSE_GREATEST_MAX;
	if (!build->set)
		most = Min(most, Max(DENSE_BUILD_MAX, (int64) (gc_device_status()->info.memory_bytes / DENSE_BUILD_PART)));
	factor = build->set && build->npayloads == 0 ? DENSE_SET_FACTOR : DENSE_BUILD_FACTOR;
	if (range->hi - range->lo >= Min(most, Max(DENSE_BUILD_MIN, (i128) rows * factor)))
		return false;
	if (build->unique || build->set)
		return true;
	if (b->plan->build_duplicates[i])
		return false;

	/* Not proven unique: try, unless it is known not to be. */
	state = key_column_state(b, build);
	if (b->hints->no_dense & 1u << i)
	{
		if (state)
			pg_atomic_write_u32(&state->duplicates, 1);
		return false;
	}
	return state == NULL || pg_atomic_read_u32(&state->duplicates) == 0;
}

/*
 * Room for what pipeline n puts into its sink, at most so many rows, each of so many bytes.  *expected: rows;
 * more, if an earlier attempt has told so.
 */
static uint64
first_room(const GcBinding *b, int n, uint64 rows, double bytes, double *expected)
{
	const GcDeviceInfo *info = &gc_device_status()->info;
	double		room;

	*expected = Max(Min(Max(*expected, b->hints->rows_needed[n]), rows), 1);
	room = Max(info->host_memory ? FIRST_ROOM_HOST : FIRST_ROOM, *expected * FIRST_ROOM_FACTOR);
	room = Max(Min(room, info->memory_bytes / FIRST_ROOM_PART / bytes), *expected);
	return Min(Min((uint64) room, rows), ROWS_MAX);
}

static double
build_row_bytes(const GcProgram *p, const GcPBuild *build)
{
	double		bytes = sizeof(u64) * (3 + build->nkeys) + sizeof(u32);

	for (int i = 0; i < build->npayloads; i++)
		bytes += gc_payloads(p)[build->first_payload + i].width;
	return bytes;
}

/* Whether a build is dense, a hash table or a list, and its size. */
static void
choose_build(GcBinding *b, int i)
{
	GcPBuild   *build = &gc_builds(b->program)[i];
	GcBuildValue *v = &b->builds[i];
	const uint64 rows = Max(b->rows_into[build->pipeline], 1);
	double		expected = b->plan->build_rows[i] * 2 + 1024;
	GcRange		range;

	memset(v, 0, sizeof(*v));
	if (dense_possible(b, i, b->rows_expected[build->pipeline], &range))
	{
		build->mode = GC_BUILD_DENSE;
		build->unique = !build->set;
		v->base = (int64) range.lo;
		v->range = (uint64) (range.hi - range.lo) + 1;
		return;
	}
	build->mode = build->nkeys == 0 ? GC_BUILD_LIST : GC_BUILD_HASH;
	if (b->hints->no_dense & 1u << i)
		build->unique = 0;
	/* The bound of the rows may be many times what there is, behind a probe with several matches. */
	v->cap = first_room(b, build->pipeline, rows, build_row_bytes(b->program, build), &expected);
	v->expected = (uint64) expected;
	/* Each row of a list is tried. */
	if (build->nkeys == 0)
		v->cap = v->expected;
	else
		v->slots = next_pow2(2 * v->cap);
}

/*
 * A probe of a list tries each of its rows.  In an inner join of the main pipeline the scan is launched in
 * pieces of any size (worker/kernels/pairs.c).  Elsewhere a launch may be long, and nobody can end it.  So it
 * is in the rests of the pipeline, which take up to `kept` of the rows.
 */
static GcCode
check_pairs(GcBinding *b, const GcPPipeline *pl, int s, double rows, double kept)
{
	const GcPStep *step = &gc_steps(b->program)[pl->first_step + s];
	const double list = b->builds[step->build].cap;
	const bool	fast = gc_device_status()->info.own_processors;
	const bool	groups = gc_inputs(b->program)[pl->input].groups_of > 0;
	const bool	main = pl == &gc_pipelines(b->program)[b->program->npipelines - 1];

	if (gc_builds(b->program)[step->build].nkeys > 0)
		return GC_OK;
	if ((!main || groups ? rows : kept) * list > (fast ? MOST_PAIRS : MOST_PAIRS_HOST))
		return gc_fail(&b->err, GC_UNSUPPORTED, "A part of the query tries too many pairs of rows.");
	if ((step->join != GC_JOIN_INNER || s != gc_first_list_probe(b->program, pl)) && list > MOST_TRIED)
		return gc_fail(&b->err, GC_UNSUPPORTED, "Too many rows are tried for each row.");
	return GC_OK;
}

/* A probe whose keys all lie in a dense build needs no range check. */
static GcCode
bind_probe(GcBinding *b, GcPStep *step)
{
	const GcPBuild *build = &gc_builds(b->program)[step->build];
	const GcBuildValue *v = &b->builds[step->build];

	for (int k = 0; k < build->nkeys; k++)
	{
		const GcExpr *pk = &gc_exprs(b->program)[gc_refs(b->program)[step->first_key + k]];
		const GcExpr *bk = &gc_exprs(b->program)[gc_refs(b->program)[build->first_key + k]];

		if (pk->reg == GC_I128 || bk->reg == GC_I128)
			return gc_fail(&b->err, GC_UNSUPPORTED, "A join key does not fit in 64 bits.");
		if (pk->kind == GC_NUMERIC &&
			(pk->scale != bk->scale || pk->min_scale != pk->scale || bk->min_scale != bk->scale))
			return gc_fail(&b->err, GC_UNSUPPORTED, "Numeric join keys differ in scale.");
	}
	if (build->mode == GC_BUILD_DENSE)
	{
		const GcRange *r = &b->ranges[gc_refs(b->program)[step->first_key]];

		step->in_range = r->lo >= v->base && r->hi < v->base + (i128) v->range;
	}
	return GC_OK;
}

/*-------------------------------------------------------------------------
 * Groups
 *-------------------------------------------------------------------------
 */

/* Number of groups if every combination of key values had one; 0: too many. */
static uint64
dense_groups(GcBinding *b, u16 n)
{
	const GcPPipeline *pl = &gc_pipelines(b->program)[n];
	i128		total = 1;

	for (int k = pl->nkeys - 1; k >= 0; k--)
	{
		u16			e = gc_refs(b->program)[pl->first_key + k];
		bool		nullable = (gc_exprs(b->program)[e].flags & GC_NULLABLE) != 0;
		GcGroupKeyValue *key = &b->group_keys[GC_GROUP_KEY_INDEX(n, k)];

		if (GC_KIND_IS_FLOAT(gc_exprs(b->program)[e].kind))
			return 0;
		key->base = (int64) b->ranges[e].lo;
		key->stride = (uint64) total;
		total *= b->ranges[e].hi - b->ranges[e].lo + 1 + nullable;
		if (total > DENSE_GROUPS_MAX)
			return 0;
	}
	return (uint64) total;
}

uint64
gc_room_of(const GcBinding *b, int n)
{
	const GcPPipeline *pl = &gc_pipelines(b->program)[n];

	if (pl->sink == GC_SINK_BUILD)
		return b->builds[pl->build].cap;
	if (pl->sink == GC_SINK_SELECT)
		return b->sinks[b->program->npipelines - 1].rows_cap;
	return pl->sink == GC_SINK_ROWS ? b->sinks[n].rows_cap : b->sinks[n].ngroups;
}

/* Groups or rows that a pipeline may have at most, for others to read. */
static uint64
groups_out(const GcBinding *b, u16 n)
{
	return Max(Min(gc_room_of(b, n), Max(b->rows_into[n], 1)), 1);
}

/*
 * Is a table with a place for each combination of keys better than a hash table?  Estimates of the
 * number of groups are often far too low.  But as many rows as there are places cost more than to
 * clear the places, wherever they fall.
 */
static bool
worth_dense(GcBinding *b, u16 n, uint64 dense, double estimate)
{
	const GcPPipeline *pl = &gc_pipelines(b->program)[n];
	const double bytes = (double) dense * (1 + 2 * pl->naggs) * sizeof(u64);
	const uint64 memory = gc_device_status()->info.memory_bytes;
	const int	passed = pl->survive;

	if (memory > 0 && bytes > memory / DENSE_GROUPS_MOST_PART)
		return false;
	if (memory > 0 && bytes > memory / DENSE_GROUPS_PART)
		return dense <= DENSE_GROUPS_SMALL && dense <= estimate * DENSE_GROUPS_FACTOR;
	return dense <= Max(estimate * DENSE_GROUPS_FACTOR, 2.0 * (b->rows_expected[n] >> passed));
}

/*
 * Are there pairs of rows, in groups by an expression of both?  The planner then takes nearly every
 * pair for a group of its own, while there are few mostly.
 */
static bool
groups_are_guessed(const GcBinding *b, const GcPPipeline *pl)
{
	if (gc_first_list_probe(b->program, pl) < 0)
		return false;
	for (int k = 0; k < pl->nkeys; k++)
	{
		const GcExpr *e = &gc_exprs(b->program)[gc_refs(b->program)[pl->first_key + k]];

		if (e->op != GC_OP_COLUMN && e->op != GC_OP_PAYLOAD)
			return true;
	}
	return false;
}

/* How a pipeline's groups are kept, and how many there is room for. */
static void
bind_groups(GcBinding *b, u16 n)
{
	GcPPipeline *pl = &gc_pipelines(b->program)[n];
	GcSinkValue *sink = &b->sinks[n];
	uint64		rows = Max(b->rows_into[n], 1);
	uint64		dense;
	double		estimate = Max(b->plan->groups[n], 1);

	*sink = (GcSinkValue) {.ngroups = 1,.expected = 1};
	pl->group_mode = GC_GROUP_NONE;
	if (pl->nkeys == 0)
		return;
	/* The number of groups is known of hash tables alone. */
	dense = pl->needs_group ? 0 : dense_groups(b, n);
	if (dense > 0 && (dense <= DENSE_GROUPS_ALWAYS || worth_dense(b, n, dense, estimate)))
	{
		pl->group_mode = GC_GROUP_DENSE;
		sink->ngroups = dense;
		sink->expected = (u32) dense;
		return;
	}
	pl->group_mode = GC_GROUP_HASH;
	estimate = Max(estimate * 2, HASH_GROUPS_MIN);
	if (groups_are_guessed(b, pl))
		estimate = Min(estimate, GUESSED_GROUPS);
	sink->ngroups = first_room(b, n, rows, sizeof(u64) * (3 + 2 * (pl->nkeys + pl->naggs)), &estimate);
	sink->expected = (u32) Min(estimate, ROWS_MAX);
	sink->group_slots = next_pow2(2 * sink->ngroups);
}

/* As many rows as each pipeline that keeps rows for others may have spare room for. */
static double
spare_rows(const GcBinding *b, int n)
{
	const GcProgram *p = b->program;
	u64			bytes = gc_row_words(p, &gc_pipelines(p)[n]) * sizeof(u64) +
		(gc_has_windows(p, n) ? GC_WINDOW_BYTES(1) - GC_WINDOW_BYTES(0) : 0);
	int			nkept = 0;

	for (int k = 0; k < p->npipelines - 1; k++)
		nkept += gc_pipelines(p)[k].sink == GC_SINK_ROWS && !gc_pipelines(p)[k].rest_of;
	return (double) gc_device_status()->info.memory_bytes / KEPT_ROWS_PART / nkept / bytes;
}

/* The room that a row sink has, or that groups chosen of the main ones have. */
static void
bind_rows(GcBinding *b, int n)
{
	const GcPPipeline *pl = &gc_pipelines(b->program)[n];
	const bool	main = n == b->program->npipelines - 1;
	const bool	chooses = pl->sink == GC_SINK_AGGREGATE && b->program->select > 0;
	const GcDeviceInfo *info = &gc_device_status()->info;
	uint64		rows = b->rows_into[n];
	const double expected = main ? b->plan->rows_out : b->plan->groups[n];
	double		estimate = expected * 2 + 4096;

	if (!main && pl->sink == GC_SINK_ROWS)
		estimate = Min(estimate, Max(expected / 8 * 9, spare_rows(b, n)));
	/* Threads that run at the same time keep rows before they know of each other's. */
	if (pl->sink == GC_SINK_ROWS && pl->nkeys > 0)
		estimate = Max(estimate, Min(info->host_memory ? CHOSEN_ROWS_HOST : CHOSEN_ROWS,
									 info->memory_bytes / CHOSEN_ROWS_PART / (gc_row_words(b->program, pl) * sizeof(u64))));
	if (pl->sink == GC_SINK_AGGREGATE)
		rows = groups_out(b, n);
	b->sinks[n].rows_cap = first_room(b, chooses ? b->program->select - 1 : n, Max(rows, 1),
									  gc_row_words(b->program, pl) * sizeof(u64), &estimate);
	if (pl->sink != GC_SINK_ROWS)
		return;
	b->sinks[n].expected = (u32) Min(estimate, ROWS_MAX);
	/* Windows are computed in as many launches as the room wants. */
	if (gc_has_windows(b->program, n))
		b->sinks[n].rows_cap = b->sinks[n].expected;
}

/* May one row find several in the build, and be taken on with each? */
static bool
probe_multiplies(const GcProgram *p, const GcPStep *step)
{
	return step->join != GC_JOIN_SEMI && step->join != GC_JOIN_ANTI && !gc_builds(p)[step->build].unique;
}

/* The expected part of the groups or rows that pipeline groups_of - 1 has at most; 0: a pipeline reads no groups. */
static double
expected_part(const GcBinding *b, u16 groups_of)
{
	return groups_of == 0 ? 1 : Min(1.0, b->sinks[groups_of - 1].expected / (double) groups_out(b, groups_of - 1));
}

/*
 * Bind the pipeline's probes.  *rows bounds the rows that reach its sink, with those of its full and right joins'
 * rests; *expected is as many as are likely.  A probe by a key that repeats finds each row of its build about once.
 */
static GcCode
bind_steps(GcBinding *b, const GcPPipeline *pl, double *rows, double *expected)
{
	const u16	groups_of = gc_inputs(b->program)[pl->input].groups_of;
	double		kept = 0;
	double		times = 1;		/* as which a row of the input may have come through so far */
	GcCode		code = GC_OK;

	*rows = groups_of ? groups_out(b, groups_of - 1) : gc_input_rows(&b->node->inputs[pl->input]);
	*expected = *rows * expected_part(b, groups_of);
	for (int s = 0; s < pl->nsteps && code == GC_OK; s++)
	{
		GcPStep    *step = &gc_steps(b->program)[pl->first_step + s];
		const GcPBuild *build;
		double		built;

		if (step->type != GC_STEP_PROBE)
			continue;
		code = bind_probe(b, step);
		if (code == GC_OK)
			code = check_pairs(b, pl, s, *rows, kept);
		build = &gc_builds(b->program)[step->build];
		built = b->rows_into[build->pipeline];
		if (probe_multiplies(b->program, step))
		{
			const double before = *rows;

			*rows *= Max(1, built);
			kept *= Max(1, built);
			*expected = build->nkeys > 0 ? Max(*expected, b->rows_expected[build->pipeline])
				: *expected * Max(1, built);
			if (b->plan->build_finds_once[step->build])
				*rows = Min(*rows, built * times + (step->join == GC_JOIN_INNER ? 0 : before));
			times *= Max(1, built);
		}
		if (gc_join_keeps(step->join))
		{
			*rows += built;
			kept += built;
			*expected += built;
		}
	}
	return code;
}

/*
 * Pipelines in order: the rows that can reach each sink decide how builds are
 * kept.  rows_into[n] bounds the rows that reach the sink of pipeline n, each round of a row
 * counted, and those of its arms.
 */
static GcCode
bind_pipelines(GcBinding *b)
{
	GcCode		code = GC_OK;

	for (int n = 0; n < b->program->npipelines && code == GC_OK; n++)
	{
		GcPPipeline *pl = &gc_pipelines(b->program)[n];
		double		all = 0,
					expected = 0;

		/* The one that chooses among the main pipeline's groups changes none of them; rests share a sink. */
		if (pl->sink == GC_SINK_SELECT || pl->rest_of)
			continue;

		for (int k = 0; k < b->program->npipelines && code == GC_OK; k++)
		{
			double		rows,
						likely;

			if (k != n && !gc_is_arm_of(b->program, k, n))
				continue;
			code = bind_steps(b, &gc_pipelines(b->program)[k], &rows, &likely);
			all += rows;
			expected += likely;
		}
		b->rows_into[n] = (uint64) Min(all * gc_sink_visits(pl), 1e15);
		b->rows_expected[n] = (uint64) Min(expected * gc_sink_visits(pl), 1e15);
		if (code == GC_OK && pl->sink == GC_SINK_BUILD)
			choose_build(b, pl->build);
		else if (code == GC_OK && pl->sink == GC_SINK_AGGREGATE)
			bind_groups(b, n);
		else if (code == GC_OK && n < b->program->npipelines - 1)
			bind_rows(b, n);
	}
	gc_bind_rests(b->program);
	return code;
}

/*-------------------------------------------------------------------------
 * All of it
 *-------------------------------------------------------------------------
 */

/* Type once more; what an earlier typing has decided is forgotten. */
static GcCode
retype(GcBinding *b, const GcFacts *facts)
{
	memcpy(b->program, b->node->logical, b->node->logical->size);
	return gc_program_type(b->program, facts, b->ranges, &b->err);
}

/* Raise the rows that types were found with to the rows that builds and groups were chosen with. */
static bool
more_rows(const GcBinding *b, u64 *rows)
{
	bool		more = false;

	for (int n = 0; n < b->program->npipelines; n++)
	{
		more |= b->rows_into[n] > rows[n];
		rows[n] = Max(rows[n], b->rows_into[n]);
	}
	return more;
}

/*
 * Rows are needed to type sums, builds to bound rows, types to choose builds.  A first typing as
 * if each sink had one row serves the builds, a second one is final.  Where a later pipeline reads
 * sums, wider ones may make more groups, whose sums are wider again: until rows stay as they are.
 */
static GcCode
type_and_bind(GcBinding *b, GcFacts *facts)
{
	u64			rows[GC_MAX_PIPELINES];
	bool		sums_read = false;
	bool		more = true;
	GcCode		code;

	for (int i = 0; i < b->program->ninputs; i++)
		sums_read |= gc_inputs(b->program)[i].groups_of != 0;
	facts->rows = 1;
	if ((code = gc_program_type(b->program, facts, b->ranges, &b->err)) != GC_OK)
		return code;
	gc_skip_chunks(b);
	if ((code = bind_pipelines(b)) != GC_OK)
		return code;
	facts->rows_into = rows;
	for (int n = 0; n < b->program->npipelines; n++)
		rows[n] = Max(b->rows_into[n], 1);
	for (int i = 0; sums_read && more; i++)
	{
		if (i > 2 * b->program->npipelines)
			return gc_fail(&b->err, GC_UNSUPPORTED, "The rows of its groups have no bound.");
		if ((code = retype(b, facts)) != GC_OK || (code = bind_pipelines(b)) != GC_OK)
			return code;
		more = more_rows(b, rows);
	}
	return gc_program_type_aggs(b->program, facts, b->ranges, &b->err);
}

GcCode
gc_bind(GcBinding *b)
{
	GcFacts		facts = {0};
	GcCode		code;

	binding_init(b);
	if ((code = gc_serve_inputs(b)) != GC_OK ||
		(code = column_facts(b)) != GC_OK ||
		(code = gc_make_lookups(b)) != GC_OK ||
		(code = bind_params(b)) != GC_OK ||
		(code = bind_lists(b)) != GC_OK)
		return code;

	facts.columns = b->column_facts;
	facts.params = b->param_facts;
	facts.luts = b->lut_facts;
	facts.list_flags = b->list_flags;
	facts.row_ids = b->row_ids;
	if ((code = type_and_bind(b, &facts)) != GC_OK || (code = gc_check_lookups(b)) != GC_OK)
		return code;
	bind_rows(b, b->program->npipelines - 1);
	for (int n = 0; n < b->program->npipelines; n++)
		b->sinks[n] = b->sinks[gc_sink_owner(b->program, n)];
	return GC_OK;
}
