/*-------------------------------------------------------------------------
 *
 * fused_requests.h
 *	  For fused_test.c and fused_text_test.c: sixteen requests of all sinks over one table, each with chunks, rows and
 *	  constants of its own, and fused kernels for sets of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_REQUESTS_H
#define GC_FUSED_REQUESTS_H

#include "fused_util.h"

#define NMEMBERS	GC_MAX_FUSED

static Member members[NMEMBERS];

/* ---------- the requests ---------- */

/* Filter, NULLs, every kind of accumulator in registers. */
static void
make_ungrouped(Maker *m, int odd)
{
	u16			small,
				null,
				big,
				num,
				f;

	maker_input(m);
	small = read_column(m, C_SMALL, false);
	null = read_column(m, C_NULL, odd);
	big = read_column(m, C_BIG, false);
	num = read_column(m, C_NUM, false);
	f = read_column(m, C_FLOAT, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1 + odd);
	maker_filter(m, maker_test(m, GC_OP_LT, small, maker_param(m, GC_INT4, 20 + odd, 0)), 1);
	maker_filter(m, maker_test(m, GC_OP_OR, maker_test(m, GC_OP_ISNULL, null, GC_NONE),
							   maker_test(m, GC_OP_GE, null, maker_param(m, GC_INT4, -100, 0))), 0);
	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, null);
	maker_agg(m, GC_AGG_SUM, maker_expr(m, GC_OP_MUL, GC_NUMERIC, num, num, GC_NONE));
	maker_agg(m, GC_AGG_SUM, maker_expr(m, GC_OP_CAST, GC_NUMERIC, big, GC_NONE, GC_NONE));
	maker_agg(m, GC_AGG_SUM, f);
	maker_agg(m, GC_AGG_MIN, null);
	maker_agg(m, GC_AGG_MAX, num);
	maker_agg(m, GC_AGG_MIN, f);
	maker_agg(m, GC_AGG_BIT_OR, null);
	maker_agg(m, GC_AGG_BIT_XOR, null);
}

/* The dimension of the dense builds; its keys are in the fact's range only if `within`. */
static u16
make_dense_build(Maker *m, int limit)
{
	u16			input = maker_input(m);
	u16			key = read_column(m, C_DKEY, false);
	u16			val = read_column(m, C_DVAL, false);
	u16			b = maker_build(m, input, GC_BUILD_DENSE, true, key, val);

	maker_filter(m, maker_test(m, GC_OP_LT, key, maker_param(m, GC_INT4, limit, 0)), 1);
	return b;
}

static u16
payload_of(Maker *m, u16 b)
{
	return maker_expr(m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, m->builds[b].first_payload);
}

/* Probe, then groups by a column and by what the probe found (NULL, too). */
static void
make_joined(Maker *m, int odd)
{
	u16			b = make_dense_build(m, odd ? 4000 : 2500);
	u16			key,
				small,
				vary,
				null;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	small = read_column(m, C_SMALL, odd);
	vary = read_column(m, C_VARY, false);
	null = read_column(m, C_NULL, false);
	maker_pipeline(m, 1, GC_SINK_AGGREGATE, odd ? 1 : 3);
	maker_probe(m, b, key, 1, odd);
	maker_filter(m, maker_test(m, GC_OP_LT, vary, maker_param(m, GC_INT4, 60000, 0)), 1);
	maker_group(m, GC_GROUP_DENSE, 2, small, payload_of(m, b));
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, vary);
	maker_agg(m, GC_AGG_MAX, null);
	maker_agg(m, GC_AGG_SUM, maker_expr(m, GC_OP_MUL, GC_NUMERIC,
										maker_expr(m, GC_OP_CAST, GC_NUMERIC, read_column(m, C_BIG, false), GC_NONE, GC_NONE),
										maker_param(m, GC_NUMERIC, 1000000000, 0), GC_NONE));
}

/* Groups by one column with NULLs, nothing counted: existence is marked. */
static void
make_dense(Maker *m, int odd)
{
	u16			group,
				vary,
				num;

	maker_input(m);
	vary = read_column(m, C_VARY, false);
	group = read_column(m, C_GROUP, false);
	num = read_column(m, C_NUM, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	maker_filter(m, maker_test(m, GC_OP_GT, vary, maker_param(m, GC_INT4, 100 + odd, 0)), 1);
	maker_group(m, GC_GROUP_DENSE, 1, group, GC_NONE);
	maker_agg(m, GC_AGG_SUM, num);
	maker_agg(m, GC_AGG_MIN, vary);
	maker_agg(m, GC_AGG_BIT_AND, vary);
	maker_agg(m, GC_AGG_BIT_OR, vary);
	maker_agg(m, GC_AGG_BIT_XOR, vary);
}

/* Hash groups, in half of the cases after the probe of a hash build with duplicates. */
static void
make_hashed(Maker *m, int odd)
{
	u16			b = GC_NONE,
				small,
				null,
				f,
				first;

	if (odd)
	{
		u16			input = maker_input(m);
		u16			key = read_column(m, C_HKEY, false);

		b = maker_build(m, input, GC_BUILD_HASH, false, key, read_column(m, C_HVAL, false));
	}
	maker_input(m);
	small = read_column(m, C_SMALL, false);
	null = read_column(m, C_NULL, false);
	f = read_column(m, C_FLOAT, false);
	maker_pipeline(m, odd, GC_SINK_AGGREGATE, 2);
	maker_filter(m, maker_test(m, GC_OP_LT, small, maker_param(m, GC_INT4, 15, 0)), 2);
	if (odd)
		maker_probe(m, b, small, 0, false);
	first = odd ? payload_of(m, b) : small;
	maker_group(m, GC_GROUP_HASH, odd ? 1 : 2, first, null);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, f);
	maker_agg(m, GC_AGG_MIN, null);
	maker_agg(m, GC_AGG_BIT_AND, null);
}

static void
make_rows(Maker *m, int odd)
{
	u16			key,
				vary,
				out[6];

	maker_input(m);
	key = read_column(m, C_KEY, odd);
	vary = read_column(m, C_VARY, false);
	out[0] = key;
	out[1] = read_column(m, C_NULL, false);
	out[2] = read_column(m, C_FLOAT, false);
	out[3] = read_column(m, C_NUM, false);
	out[4] = read_column(m, C_BIG, false);
	out[5] = vary;
	maker_pipeline(m, 0, GC_SINK_ROWS, 4);
	maker_filter(m, maker_test(m, GC_OP_LT, key, maker_param(m, GC_INT4, 600, 0)), 3);
	maker_filter(m, maker_test(m, GC_OP_NE, vary, maker_param(m, GC_INT4, 7, 0)), 0);
	for (int i = 0; i < 6; i++)
		maker_out(m, out[i]);
}

/* Divides by a column that contains 0 (GC_FLAG_DATA), or adds up to more than int4. */
static void
make_failing(Maker *m, int odd)
{
	u16			small,
				big,
				e;

	maker_input(m);
	small = read_column(m, C_SMALL, false);
	big = read_column(m, C_BIG, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	if (odd)
		e = maker_expr(m, GC_OP_CAST, GC_INT4, big, GC_NONE, GC_NONE);
	else
		e = maker_expr(m, GC_OP_DIV, GC_INT4, maker_param(m, GC_INT4, 100, 0), small, GC_NONE);
	maker_filter(m, maker_test(m, GC_OP_GE, small, maker_param(m, GC_INT4, 0, 0)), 0);
	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_SUM, e);
}

/* Such an expression on values that pass every check. */
static void
make_checked(Maker *m, int odd)
{
	u16			small,
				key,
				e;

	maker_input(m);
	small = read_column(m, C_SMALL, false);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 1);
	e = maker_expr(m, GC_OP_DIV, GC_INT4, key, small, GC_NONE);
	maker_filter(m, maker_test(m, GC_OP_GT, small, maker_param(m, GC_INT4, 3 * odd, 0)), 0);
	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_SUM, e);
}

/* Everything, without a filter. */
static void
make_all(Maker *m, int odd)
{
	u16			num;

	maker_input(m);
	num = read_column(m, C_NUM, false);
	(void) odd;
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 0);
	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, num);
}

static void (*const makers[]) (Maker *, int) = {
	make_ungrouped, make_joined, make_dense, make_hashed, make_rows, make_failing, make_checked, make_all
};

static const char *const names[] = {"ungrouped", "joined", "dense", "hashed", "rows", "failing", "checked", "all"};

/* Rows of a chunk that a request may see: all (0), or about three in four. */
static GcAddr
make_valid(u32 rows, int kind)
{
	unsigned char *bits;
	GcAddr		addr;

	if (kind != 0)
		return 0;
	bits = calloc(padded(rows) / 8 + 8, 1);
	for (u32 r = 0; r < rows; r++)
		bits[r >> 3] |= (draw(4) > 0) << (r & 7);
	addr = put(bits, padded(rows) / 8 + 8);
	free(bits);
	return addr;
}

static void
make_member(int i)
{
	Member	   *m = &members[i];
	Maker	   *maker = &m->maker;
	const bool	odd = i >= 8;
	const GcPPipeline *pl;

	makers[i % 8] (maker, odd);
	m->p = maker_finish(maker, 1000000);
	m->pipeline = m->p->npipelines - 1;
	pl = &gc_pipelines(m->p)[m->pipeline];
	for (int c = 0; c < maker->head.ncolumns; c++)
		m->columns[c] = maker->columns[c].input == pl->input ? maker->source[c] : -1;
	m->ngroups = pl->group_mode == GC_GROUP_HASH ? HASH_GROUPS : pl->group_mode == GC_GROUP_NONE;
	m->rows_cap = pl->sink == GC_SINK_ROWS ? ROWS_CAP : 0;
	m->variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = odd ? 256 : 512};
	if (i % 8 == 1)
	{
		/* keys up to 5999 are probed: out of a range of 5000, within one of 6000 */
		m->ranges[0] = odd ? 6000 : DIM_RANGE;
		m->variant.shared_builds = odd ? 0 : 1;
		m->variant.group_local = true;
		m->variant.group_copies = odd ? 2 : 1;
		m->ngroups = 50 * 8;
		m->stride[0] = 8;
		m->stride[1] = 1;
	}
	if (i % 8 == 2)
	{
		m->variant.group_local = odd;
		m->variant.group_copies = odd ? 4 : 0;
		m->ngroups = 11;
		m->stride[0] = 1;
	}
	if (i == 12)
	{
		m->rows_cap = 100;		/* of thousands */
		m->loose = true;
	}
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (i % 8 == 7 || (i * 7 + c * 3) % 5 != 0)
			m->chunks |= 1u << c;
		m->valid[c] = i == 7 ? 0 : make_valid(CHUNK_ROWS[c], (i + c) % 3);
	}
	lay_out_sink(m);
	run_builds(m);
	empty_sink(m);
	run_alone(m, m->pipeline, m->sink, m->chunks, false);
	m->wanted = fetch(m);
}

static bool
flag_of(const Member *m, int flag)
{
	return ((const u32 *) m->wanted.bytes)[flag] != 0;
}

static void __attribute__((unused))
test_wanted(void)
{
	for (int i = 0; i < NMEMBERS; i++)
	{
		const Member *m = &members[i];
		size_t		set = 0;

		for (size_t b = GC_NFLAGS * 4; b < m->wanted.size; b++)
			set += m->wanted.bytes[b] != 0;
		ok(set > 0 || m->loose, "request %d (%s) has a result: %zu bytes, %zu of them not 0", i, names[i % 8],
		   m->wanted.size, set);
		is(flag_of(m, GC_FLAG_DATA), i % 8 == 5, "and raises GC_FLAG_DATA only if it should");
		is(flag_of(m, GC_FLAG_ROWS_FULL), i == 12, "and GC_FLAG_ROWS_FULL");
	}
}

/* ---------- fused runs ---------- */

typedef struct Fused
{
	int			n;
	int			who[GC_MAX_FUSED];
	GcFusedMember m[GC_MAX_FUSED];
	GcFusedSource source;
	Loaded		kernel;
} Fused;

static void
describe(Fused *f, int n, const int *who, int vec)
{
	f->n = n;
	for (int i = 0; i < n; i++)
	{
		const Member *m = &members[who[i]];

		f->who[i] = who[i];
		f->m[i] = (GcFusedMember) {m->p, m->pipeline, m->variant, m->columns};
		f->m[i].variant.vec = vec;
	}
}

static void __attribute__((unused))
make_fused(Fused *f, int n, const int *who)
{
	GcError		err = {GC_OK, ""};

	describe(f, n, who, on_host ? 0 : 8);
	if (gc_generate_fused(f->m, n, &f->source, &err) != GC_OK)
		tap_bail(err.detail);
	f->kernel = load_text(f->source.text);
}

static void __attribute__((unused))
free_fused(Fused *f)
{
	unload(&f->kernel);
	free(f->source.text);
}

/* Members of the launch that read this column. */

#endif							/* GC_FUSED_REQUESTS_H */
