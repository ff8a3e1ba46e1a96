/*-------------------------------------------------------------------------
 *
 * selection_requests.h
 *	  For selection_test.c and key_groups_test.c: sixteen requests
 *	  (selection_dense_requests.h) and some with hash builds, and which rows pass the tests of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MARKS_REQUESTS_H
#define GC_MARKS_REQUESTS_H

#include "selection_dense_requests.h"

#define NREQUESTS		16
#define NALL			(NREQUESTS + 16)

/* ---------- requests with hash builds ---------- */

/* 300 rows with 80 keys; payloads of 2 bytes and of 1. */
static u16
make_hash_build(Maker *m)
{
	u16			input = maker_input(m);
	u16			key = read_column(m, C_HKEY, false);
	u16			b = maker_build(m, input, GC_BUILD_HASH, false, key, read_column(m, C_HVAL, false));

	m->payloads[m->head.npayloads++] = (GcPPayload) {.build = b,.expr = key,.kind = GC_INT4};
	m->builds[b].npayloads = 2;
	return b;
}

static bool
in_hash_build(i64 key)
{
	const TableColumn *c = find_column(C_HKEY);

	for (u32 r = 0; r < c->cols[0].nrows; r++)
	{
		if (c->value[0][r] == key)
			return true;
	}
	return false;
}

/* Expressions of a key: the paper's, one that may leave its type, or none. */
typedef enum Key
{
	KEY_PLAIN, KEY_SURE, KEY_CHECKED
} Key;

static u16
hash_key(Maker *m, u16 column, Key key)
{
	u16			wide;

	if (key == KEY_PLAIN)
		return column;
	wide = maker_expr(m, GC_OP_CAST, GC_INT8, column, GC_NONE, GC_NONE);
	return maker_expr(m, GC_OP_MUL, GC_INT8, wide,
					  key == KEY_SURE ? maker_expr(m, GC_OP_CAST, GC_INT8, int4(m, 1000003), GC_NONE, GC_NONE)
					  : maker_param(m, GC_INT8, 1000003, 0), GC_NONE);
}

/* Keys of the dense build that are below 600, no two of them alike. */
#define UNIQUE_KEYS		600

static u16
make_unique_build(Maker *m, bool unique, Key computed, bool wide)
{
	u16			input = maker_input(m);
	u16			key = read_column(m, C_DKEY, false);
	u16			val = read_column(m, C_DVAL, false);
	u16			b = maker_build(m, input, GC_BUILD_HASH, unique, hash_key(m, key, computed),
								wide ? hash_key(m, key, KEY_SURE) : val);

	maker_filter(m, maker_test(m, GC_OP_LT, key, int4(m, UNIQUE_KEYS)), 2);
	return b;
}

static bool
in_unique_build(i64 key)
{
	return key >= 0 && key < UNIQUE_KEYS && dim_key[0][key];
}

static u16
payload_of(Maker *m, u16 b, int i)
{
	const u16	payload = m->builds[b].first_payload + i;

	return maker_expr(m, GC_OP_PAYLOAD, m->payloads[payload].kind, GC_NONE, GC_NONE, payload);
}

/* Several matches; odd: the probe drops hardly a row, and is no test. */
static void
make_hashed(Maker *m, int odd)
{
	u16			b = make_hash_build(m);
	u16			vary;

	maker_input(m);
	vary = read_column(m, C_VARY, false);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_probe(m, b, read_column(m, C_SMALL, odd), odd ? 0 : 1, false);
	maker_filter(m, maker_test(m, GC_OP_LT, vary, int4(m, 60000)), 1);
	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, payload_of(m, b, 0));
	maker_agg(m, GC_AGG_SUM, payload_of(m, b, 1));
	maker_agg(m, GC_AGG_MAX, vary);
}

static bool
pass_hashed(Row r, int odd)
{
	return value_of(r, C_VARY) < 60000 && (odd || in_hash_build(value_of(r, C_SMALL)));
}

/* One match, of keys that may be NULL; odd: 1: only whether there is one counts, 2: its payload is wide. */
static void
make_hashed_unique(Maker *m, int odd)
{
	u16			b = make_unique_build(m, true, KEY_PLAIN, odd == 2);
	u16			null;

	maker_input(m);
	null = read_column(m, C_NULL, odd == 1);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_probe(m, b, null, 2, false);
	maker_group(m, GC_GROUP_HASH, 2, odd == 1 ? null : payload_of(m, b, 0), read_column(m, C_SMALL, false));
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, null);
}

static bool
pass_hashed_unique(Row r, int odd)
{
	(void) odd;
	return !null_of(r, C_NULL) && in_unique_build(value_of(r, C_NULL));
}

/*
 * By a computed key, nothing else being tested; odd: the probe is still the one test, and
 * the payload is too wide to stand beside the place.
 */
static void
make_hashed_computed(Maker *m, int odd)
{
	u16			b = make_unique_build(m, false, KEY_SURE, odd);
	u16			key;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_probe(m, b, hash_key(m, key, KEY_SURE), odd ? 0 : 3, false);
	maker_group(m, odd ? GC_GROUP_HASH : GC_GROUP_DENSE, 1, payload_of(m, b, 0), GC_NONE);
	maker_agg(m, GC_AGG_SUM, key);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
}

static bool
pass_hashed_computed(Row r, int odd)
{
	(void) odd;
	return in_unique_build(value_of(r, C_KEY));
}

/*
 * Two builds, one with several matches; a third whose key is of two columns.  A key that may
 * fail is no test.
 */
static void
make_hashed_twice(Maker *m, int odd)
{
	u16			many = make_hash_build(m);
	u16			one = make_unique_build(m, true, odd ? KEY_SURE : KEY_CHECKED, false);
	u16			last = make_hash_build(m);
	u16			small,
				key,
				sum;

	maker_input(m);
	small = read_column(m, C_SMALL, false);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 3, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_LT, read_column(m, C_NULL, false), int4(m, 100)), 1);
	maker_probe(m, many, small, 0, false);
	maker_probe(m, one, hash_key(m, key, odd ? KEY_SURE : KEY_CHECKED), 2, false);
	sum = maker_expr(m, GC_OP_ADD, GC_INT8, maker_expr(m, GC_OP_CAST, GC_INT8, small, GC_NONE, GC_NONE),
					 maker_expr(m, GC_OP_CAST, GC_INT8, key, GC_NONE, GC_NONE), GC_NONE);
	maker_probe(m, last, sum, 1, false);
	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, payload_of(m, many, 0));
	maker_agg(m, GC_AGG_MIN, payload_of(m, one, 0));
	maker_agg(m, GC_AGG_MAX, payload_of(m, last, 1));
}

static bool
pass_hashed_twice(Row r, int odd)
{
	return !null_of(r, C_NULL) && value_of(r, C_NULL) < 100 && (!odd || in_unique_build(value_of(r, C_KEY)));
}

/* Most keys leave the type's range. */
static void
make_hashed_failing(Maker *m, int odd)
{
	u16			b = make_unique_build(m, true, KEY_PLAIN, false);
	u16			wide;

	(void) odd;
	maker_input(m);
	wide = maker_expr(m, GC_OP_CAST, GC_INT8, read_column(m, C_KEY, false), GC_NONE, GC_NONE);
	wide = maker_expr(m, GC_OP_MUL, GC_INT8, wide, maker_param(m, GC_INT8, (i64) 1 << 60, 0), GC_NONE);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_LT, read_column(m, C_SMALL, false), int4(m, 40)), 1);
	maker_probe(m, b, wide, 2, false);
	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, payload_of(m, b, 0));
}

static bool
pass_hashed_failing(Row r, int odd)
{
	(void) odd;
	return value_of(r, C_SMALL) < 40;
}

/* A dense build and one with hashed keys, of both of which a payload is wanted. */
static void
make_joined_both(Maker *m, int odd)
{
	u16			dense = make_dense_build(m, odd);
	u16			hashed = make_unique_build(m, true, KEY_PLAIN, false);
	u16			key,
				null;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	null = read_column(m, C_NULL, false);
	maker_pipeline(m, 2, GC_SINK_AGGREGATE, 1);
	maker_probe(m, dense, key, 1, false);
	maker_probe(m, hashed, null, 1, false);
	maker_group(m, GC_GROUP_DENSE, 1, payload_of(m, dense, 0), GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, payload_of(m, hashed, 0));
	maker_agg(m, GC_AGG_MAX, key);
}

static bool
pass_joined_both(Row r, int odd)
{
	return dim_key[odd][value_of(r, C_KEY)] && pass_hashed_unique(r, 0);
}

/* ---------- requests with other joins ---------- */

/* The newest step is a probe: make it another kind of join. */
static void
join_as(Maker *m, u8 join, u16 condition)
{
	m->steps[m->head.nsteps - 1].join = join;
	m->steps[m->head.nsteps - 1].expr = condition;
}

/* A set of the dense build's keys, hashed or dense; odd: an anti join. */
static void
make_in_set(Maker *m, u8 mode, int odd)
{
	u16			input = maker_input(m);
	u16			key = read_column(m, C_DKEY, false);
	u16			b = maker_build(m, input, mode, false, key, GC_NONE);

	m->builds[b].set = 1;
	maker_filter(m, maker_test(m, GC_OP_LT, key, int4(m, UNIQUE_KEYS)), 2);
	maker_input(m);
	key = read_column(m, C_NULL, false);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_probe(m, b, key, 1, false);
	join_as(m, odd ? GC_JOIN_ANTI : GC_JOIN_SEMI, GC_NONE);
	count_and_sum(m);
}

static void
make_in_hash_set(Maker *m, int odd)
{
	make_in_set(m, GC_BUILD_HASH, odd);
}

static void
make_in_dense_set(Maker *m, int odd)
{
	make_in_set(m, GC_BUILD_DENSE, odd);
}

static bool
pass_in_set(Row r, int odd)
{
	return pass_hashed_unique(r, 0) != odd;
}

/* A left join drops no row, and a condition reads more than one column: neither is a test. */
static void
make_beside(Maker *m, int odd)
{
	u16			b = make_unique_build(m, true, KEY_PLAIN, false);
	u16			small,
				payload;

	maker_input(m);
	small = read_column(m, C_SMALL, false);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_LT, small, int4(m, 40)), 1);
	maker_probe(m, b, read_column(m, C_NULL, false), 1, false);
	payload = payload_of(m, b, 0);
	join_as(m, odd ? GC_JOIN_LEFT : GC_JOIN_SEMI, odd ? GC_NONE : maker_test(m, GC_OP_LT, payload, small));
	count_and_sum(m);
	if (odd)
		maker_agg(m, GC_AGG_SUM, payload);
}

/* ---------- what they are ---------- */

typedef struct Request
{
	const char *name;
	void		(*make) (Maker *m, int odd);
	bool		(*passes) (Row r, int odd);
	int			odd;
	u64			steps;			/* that are tests */
	i16			column[3];		/* that are tested; 0: no more */
	u64			direct;			/* steps that are probes of placed builds */
	bool		fails;			/* a key cannot be computed */
	int			look_ups;		/* that rows over its marks make together; none where that would be one */
} Request;

/* Behind those that fill a scan, some with hash builds. */
static const Request requests[NALL] = {
	{"small", make_small, pass_small, 0, 3, {C_SMALL, C_NULL}, 0, false, 0},
	{"joined", make_joined, pass_joined, 0, 3, {C_KEY, C_VARY}, 0, false, 0},
	{"joined, in range", make_joined, pass_joined, 1, 3, {C_KEY, C_VARY}, 0, false, 0},
	{"joined by NULLs", make_joined_nulls, pass_joined_nulls, 0, 1, {C_GAPS}, 0, false, 0},
	{"rows", make_rows, pass_rows, 0, 3, {C_WIDE, C_KEY}, 0, false, 0},
	{"listed", make_listed, pass_listed, 0, 3, {C_NULL, C_KEY}, 0, false, 0},
	{"listed, with NULL", make_listed, pass_listed, 1, 3, {C_NULL, C_KEY}, 0, false, 0},
	{"looked up", make_looked_up, pass_looked_up, 0, 3, {C_GROUP, C_SMALL}, 0, false, 0},
	{"shifted", make_shifted, pass_shifted, 0, 3, {C_SHIFT, C_GAPS}, 0, false, 0},
	{"gaps", make_gaps, pass_gaps, 0, 1, {C_GAPS}, 0, false, 0},
	{"no gaps", make_gaps, pass_gaps, 1, 1, {C_GAPS}, 0, false, 0},
	{"mixed", make_mixed, pass_mixed, 0, 9, {C_SMALL, C_KEY}, 0, false, 0},
	{"distinct", make_distinct, pass_distinct, 0, 3, {C_NULL, C_GAPS}, 0, false, 0},
	{"all", make_constant, pass_constant, 0, 1, {C_SMALL}, 0, false, 0},
	{"none", make_constant, pass_constant, 1, 1, {C_SMALL}, 0, false, 0},
	{"negated", make_negated, pass_negated, 0, 14, {C_NULL, C_GROUP}, 0, false, 0},
	{"hashed", make_hashed, pass_hashed, 0, 3, {C_SMALL, C_VARY}, 1, false, 0},
	{"hashed, not tested", make_hashed, pass_hashed, 1, 2, {C_VARY}, 1, false, 0},
	{"hashed, unique", make_hashed_unique, pass_hashed_unique, 0, 1, {C_NULL}, 1, false, 0},
	{"hashed, without payload", make_hashed_unique, pass_hashed_unique, 1, 1, {C_NULL}, 1, false, 0},
	{"hashed, unique, wide", make_hashed_unique, pass_hashed_unique, 2, 1, {C_NULL}, 1, false, 2},
	{"hashed, computed", make_hashed_computed, pass_hashed_computed, 0, 1, {C_KEY}, 1, false, 0},
	{"hashed, the one test", make_hashed_computed, pass_hashed_computed, 1, 1, {C_KEY}, 1, false, 0},
	{"hashed twice", make_hashed_twice, pass_hashed_twice, 0, 1, {C_NULL}, 6, false, 0},
	{"hashed twice, tested", make_hashed_twice, pass_hashed_twice, 1, 5, {C_NULL, C_KEY}, 6, false, 2},
	{"hashed, failing", make_hashed_failing, pass_hashed_failing, 0, 1, {C_SMALL}, 2, true, 0},
	{"joined, and hashed", make_joined_both, pass_joined_both, 0, 3, {C_KEY, C_NULL}, 2, false, 2},
	{"semi, hash set", make_in_hash_set, pass_in_set, 0, 1, {C_NULL}, 0, false, 0},
	{"anti, hash set", make_in_hash_set, pass_in_set, 1, 1, {C_NULL}, 0, false, 0},
	{"anti, dense set", make_in_dense_set, pass_in_set, 1, 1, {C_NULL}, 0, false, 0},
	{"semi, condition", make_beside, pass_hashed_failing, 0, 1, {C_SMALL}, 0, false, 0},
	{"left", make_beside, pass_hashed_failing, 1, 1, {C_SMALL}, 0, false, 0},
};

#endif							/* GC_MARKS_REQUESTS_H */
