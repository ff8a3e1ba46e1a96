/*-------------------------------------------------------------------------
 *
 * selection_dense_requests.h
 *	  For selection_requests.h: requests without builds or with dense ones, and which rows pass the tests of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SELECTION_DENSE_REQUESTS_H
#define GC_SELECTION_DENSE_REQUESTS_H

#include "fused_util.h"

static bool dim_key[2][8192];	/* keys of the dense build, even and odd */

/* ---------- rows ---------- */

typedef struct Row
{
	u32			chunk;
	u32			row;
} Row;

static i64
value_of(Row r, i16 column)
{
	return find_column(column)->value[r.chunk][r.row];
}

static bool
null_of(Row r, i16 column)
{
	return find_column(column)->null[r.chunk][r.row];
}

/* ---------- the requests ---------- */

static u16
int4(Maker *m, i64 value)
{
	return maker_param(m, GC_INT4, value, 0);
}

static void
count_and_sum(Maker *m)
{
	u16			num = read_column(m, C_NUM, false);
	u16			null = read_column(m, C_NULL, false);

	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, num);
	maker_agg(m, GC_AGG_MAX, null);
}

static void
make_small(Maker *m, int odd)
{
	u16			small,
				null;

	maker_input(m);
	small = read_column(m, C_SMALL, false);
	null = read_column(m, C_NULL, odd);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_LT, small, int4(m, 20 + odd)), 1);
	maker_filter(m, maker_test(m, GC_OP_OR, maker_test(m, GC_OP_ISNULL, null, GC_NONE),
							   maker_test(m, GC_OP_GE, null, int4(m, -100))), 0);
	count_and_sum(m);
}

static bool
pass_small(Row r, int odd)
{
	return value_of(r, C_SMALL) < 20 + odd && (null_of(r, C_NULL) || value_of(r, C_NULL) >= -100);
}

/* Builds with keys below a limit; half of the probing keys are out of its range. */
static u16
make_dense_build(Maker *m, int odd)
{
	u16			input = maker_input(m);
	u16			key = read_column(m, C_DKEY, false);
	u16			val = read_column(m, C_DVAL, false);
	u16			b = maker_build(m, input, GC_BUILD_DENSE, true, key, val);

	maker_filter(m, maker_test(m, GC_OP_LT, key, int4(m, odd ? 4000 : 2500)), 1);
	return b;
}

static void
make_joined(Maker *m, int odd)
{
	u16			b = make_dense_build(m, odd);
	u16			key,
				small,
				vary;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	small = read_column(m, C_SMALL, odd);
	vary = read_column(m, C_VARY, false);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_probe(m, b, key, 1, odd);
	maker_filter(m, maker_test(m, GC_OP_LT, vary, int4(m, 60000)), 1);
	maker_group(m, GC_GROUP_DENSE, 2, small,
				maker_expr(m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, m->builds[b].first_payload));
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, vary);
}

static bool
pass_joined(Row r, int odd)
{
	return dim_key[odd][value_of(r, C_KEY)] && value_of(r, C_VARY) < 60000;
}

/* The probing key is NULL in some rows, and no key at all in some chunks. */
static void
make_joined_nulls(Maker *m, int odd)
{
	u16			b = make_dense_build(m, odd);

	maker_input(m);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_probe(m, b, read_column(m, C_GAPS, false), 1, false);
	count_and_sum(m);
}

static bool
pass_joined_nulls(Row r, int odd)
{
	return !null_of(r, C_GAPS) && dim_key[odd][value_of(r, C_GAPS)];
}

static void
make_rows(Maker *m, int odd)
{
	u16			wide,
				key,
				out[4];

	maker_input(m);
	wide = read_column(m, C_WIDE, odd);
	key = read_column(m, C_KEY, false);
	out[0] = wide;
	out[1] = read_column(m, C_NULL, false);
	out[2] = read_column(m, C_FLOAT, false);
	out[3] = key;
	maker_pipeline(m, 0, GC_SINK_ROWS, 4);
	maker_filter(m, maker_test(m, GC_OP_GE, wide, maker_param(m, GC_INT8, 5000000450, 0)), 1);
	maker_filter(m, maker_test(m, GC_OP_LT, key, int4(m, 600)), 3);
	for (int i = 0; i < 4; i++)
		maker_out(m, out[i]);
}

static bool
pass_rows(Row r, int odd)
{
	(void) odd;
	return !null_of(r, C_WIDE) && value_of(r, C_WIDE) >= 5000000450 && value_of(r, C_KEY) < 600;
}

static const i64 listed[] = {-299, -3, 7, 100, 101, 102, 300};
#define NLISTED		((int) (sizeof(listed) / sizeof(listed[0])))

static void
make_listed(Maker *m, int odd)
{
	u16			null,
				key,
				in;

	maker_input(m);
	null = read_column(m, C_NULL, false);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 3);
	in = maker_in(m, null, odd);
	m->list_words[0][0] = put(listed, sizeof(listed));
	m->list_words[0][1] = NLISTED;
	maker_filter(m, in, 5);
	maker_filter(m, maker_test(m, GC_OP_NE, key, int4(m, 17)), 0);
	count_and_sum(m);
}

static bool
pass_listed(Row r, int odd)
{
	bool		found = false;

	(void) odd;
	for (int i = 0; i < NLISTED; i++)
		found |= value_of(r, C_NULL) == listed[i];
	return !null_of(r, C_NULL) && found && value_of(r, C_KEY) != 17;
}

/* f(NULL), f(0) .. f(9); f(3) is NULL. */
static const u8 looked_up[] = {1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1};
static const u8 looked_up_null[] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};

static void
make_looked_up(Maker *m, int odd)
{
	const GcFact fact = {.range = {0, 1},.nullable = true};
	u16			group,
				small,
				null;

	(void) odd;
	maker_input(m);
	group = read_column(m, C_GROUP, false);
	small = read_column(m, C_SMALL, false);
	null = read_column(m, C_NULL, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 2);
	m->lut_words[0][GC_LUT_DATA] = put(looked_up, sizeof(looked_up));
	m->lut_words[0][GC_LUT_NULLS] = put(looked_up_null, sizeof(looked_up_null));
	maker_filter(m, maker_lut(m, group, GC_BOOL, &fact), 1);
	maker_filter(m, maker_test(m, GC_OP_LT, small, int4(m, 5)), 3);
	maker_group(m, GC_GROUP_HASH, 2, small, null);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_MIN, null);
}

static bool
pass_looked_up(Row r, int odd)
{
	i64			v = value_of(r, C_GROUP);

	(void) odd;
	return (null_of(r, C_GROUP) || (v != 3 && looked_up[v + 1])) && value_of(r, C_SMALL) < 5;
}

/* Widths and frames of reference differ; groups. */
static void
make_shifted(Maker *m, int odd)
{
	u16			shift,
				gaps,
				group;

	maker_input(m);
	shift = read_column(m, C_SHIFT, false);
	gaps = read_column(m, C_GAPS, odd);
	group = read_column(m, C_GROUP, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 2);
	maker_filter(m, maker_test(m, GC_OP_AND, maker_test(m, GC_OP_GE, shift, int4(m, -68000 + odd)),
							   maker_test(m, GC_OP_LT, shift, int4(m, -45500))), 1);
	maker_filter(m, maker_test(m, GC_OP_ISNULL, gaps, GC_NONE), 1);
	maker_group(m, GC_GROUP_DENSE, 1, group, GC_NONE);
	maker_agg(m, GC_AGG_SUM, shift);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
}

static bool
pass_shifted(Row r, int odd)
{
	return value_of(r, C_SHIFT) >= -68000 + odd && value_of(r, C_SHIFT) < -45500 && null_of(r, C_GAPS);
}

static void
make_gaps(Maker *m, int odd)
{
	u16			gaps;

	maker_input(m);
	gaps = read_column(m, C_GAPS, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	maker_filter(m, odd ? maker_test(m, GC_OP_NOTNULL, gaps, GC_NONE)
				 : maker_test(m, GC_OP_GT, gaps, int4(m, 2000)), 1);
	count_and_sum(m);
}

static bool
pass_gaps(Row r, int odd)
{
	return !null_of(r, C_GAPS) && (odd || value_of(r, C_GAPS) > 2000);
}

/* Tests, beside what is none: two columns, a division that may fail, too many values. */
static void
make_mixed(Maker *m, int odd)
{
	u16			small,
				key,
				big;

	(void) odd;
	maker_input(m);
	small = read_column(m, C_SMALL, false);
	key = read_column(m, C_KEY, false);
	big = read_column(m, C_BIG, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_GT, small, int4(m, 0)), 0);
	maker_filter(m, maker_test(m, GC_OP_GT, key, small), 0);
	maker_filter(m, maker_test(m, GC_OP_GT, maker_expr(m, GC_OP_DIV, GC_INT4, int4(m, 100), small, GC_NONE),
							   int4(m, 3)), 1);
	maker_filter(m, maker_test(m, GC_OP_LT, key, int4(m, 3000)), 1);
	maker_filter(m, maker_test(m, GC_OP_GT, big, maker_param(m, GC_INT8, 0, 0)), 1);
	count_and_sum(m);
}

static bool
pass_mixed(Row r, int odd)
{
	(void) odd;
	return value_of(r, C_SMALL) > 0 && value_of(r, C_KEY) < 3000;
}

/* NULL passes. */
static void
make_distinct(Maker *m, int odd)
{
	u16			null,
				gaps;

	maker_input(m);
	null = read_column(m, C_NULL, false);
	gaps = read_column(m, C_GAPS, odd);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_DISTINCT, null, int4(m, 5)), 0);
	maker_filter(m, maker_test(m, GC_OP_LT, maker_expr(m, GC_OP_COALESCE, GC_INT4, gaps, int4(m, 1200), GC_NONE),
							   int4(m, 1500)), 1);
	count_and_sum(m);
}

static bool
pass_distinct(Row r, int odd)
{
	(void) odd;
	return (null_of(r, C_NULL) || value_of(r, C_NULL) != 5) && (null_of(r, C_GAPS) || value_of(r, C_GAPS) < 1500);
}

/* Every row, or none. */
static void
make_constant(Maker *m, int odd)
{
	u16			small;

	maker_input(m);
	small = read_column(m, C_SMALL, odd);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 0);
	maker_filter(m, maker_test(m, odd ? GC_OP_LT : GC_OP_GE, small, int4(m, 0)), 0);
	count_and_sum(m);
}

static bool
pass_constant(Row r, int odd)
{
	(void) r;
	return !odd;
}

/* Two tests of one column; of floats there are none. */
static void
make_negated(Maker *m, int odd)
{
	u16			null,
				group,
				f;

	(void) odd;
	maker_input(m);
	f = read_column(m, C_FLOAT, false);
	null = read_column(m, C_NULL, false);
	group = read_column(m, C_GROUP, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_GT, f, maker_expr(m, GC_OP_CAST, GC_FLOAT8, int4(m, 0), GC_NONE, GC_NONE)), 1);
	maker_filter(m, maker_test(m, GC_OP_NOT, maker_test(m, GC_OP_GT, null, int4(m, 0)), GC_NONE), 1);
	maker_filter(m, maker_test(m, GC_OP_NOTNULL, group, GC_NONE), 0);
	maker_filter(m, maker_test(m, GC_OP_NE, null, int4(m, -77)), 0);
	count_and_sum(m);
}

static bool
pass_negated(Row r, int odd)
{
	(void) odd;
	return !null_of(r, C_NULL) && value_of(r, C_NULL) <= 0 && value_of(r, C_NULL) != -77 && !null_of(r, C_GROUP);
}

#endif							/* GC_SELECTION_DENSE_REQUESTS_H */
