/*-------------------------------------------------------------------------
 *
 * fused_test.c [host|cuda]
 *	  Fused kernels do what their members' own kernels do.
 *
 * Sixteen requests of all sinks over one table, each with chunks, rows and constants of
 * its own, are run by kernels of their own, and then by fused kernels for one set of
 * them after another.  What is in each sink and its flags must be the same; of requests
 * that take no part, nothing may change.  In every run, words that nobody should look
 * at are 0, and columns of chunks that no reader of the column reads are at an address
 * that cannot be read.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "fused_util.h"

#include "../../src/device/nvrtc.h"

#define NMEMBERS	GC_MAX_FUSED

static Member members[NMEMBERS];
static int	max_vectors = GC_FUSED_ALL_VECTORS;

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

/* The same kind of expression, on values that pass every check. */
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

static void
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

static void
make_fused(Fused *f, int n, const int *who)
{
	GcError		err = {GC_OK, ""};

	describe(f, n, who, on_host ? 0 : 8);
	if (gc_generate_fused(f->m, n, max_vectors, &f->source, &err) != GC_OK)
		tap_bail(err.detail);
	f->kernel = load_text(f->source.text);
}

static void
free_fused(Fused *f)
{
	unload(&f->kernel);
	free(f->source.text);
}

/* Members of the launch that read this column. */
static u32
readers_of(const Fused *f, i16 column)
{
	u32			readers = 0;

	for (int i = 0; i < f->n; i++)
	{
		const Member *m = &members[f->who[i]];

		for (int c = 0; c < m->p->ncolumns; c++)
			readers |= (u32) (m->columns[c] == column) << i;
	}
	return readers;
}

/* Descriptions of a column's chunks; of those that none of its readers reads, bad ones. */
static GcAddr
put_column(const Fused *f, i16 column, u32 mask, const u32 *live)
{
	GcCol		cols[NCHUNKS];
	u32			readers = readers_of(f, column);

	if (!(readers & mask))
		return 0;
	memcpy(cols, find_column(column)->cols, sizeof(cols));
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (!(live[c] & readers))
			cols[c] = (GcCol) {POISON, POISON, 0, 8, cols[c].nrows};
	}
	return put(cols, sizeof(cols));
}

/* The member's u64 per source; 0 where it sees all. */
static GcAddr
put_visible(const Member *m, const u32 *chunk, u32 n)
{
	u64			visible[NCHUNKS + 1] = {0};
	bool		any = false;

	for (u32 s = 0; s < n; s++)
	{
		/* what it does not read, it must not look at */
		visible[s] = m->chunks >> chunk[s] & 1 ? m->valid[chunk[s]] : POISON;
		any |= visible[s] > POISON;
	}
	return any ? put(visible, sizeof(visible)) : 0;
}

/* Run the members in `mask` over those of their chunks that are in `chunks`. */
static void
run_fused(const Fused *f, u32 mask, u32 chunks, u32 turn)
{
	const u64	from = host_ns();
	GcSource	sources[NCHUNKS + 1];
	u32			chunk[NCHUNKS];
	u32			live[NCHUNKS] = {0};
	u32			n = 0;
	GcArgs		args;
	const u64  *ranges[GC_MAX_FUSED];
	u64			ngroups[GC_MAX_FUSED];
	u64			starts[GC_MAX_FUSED];
	u64			shared;
	GcAddr		event = top;

	memset(&args, 0, sizeof(args));
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (int i = 0; i < f->n; i++)
			live[c] |= (chunks >> c & 1 && members[f->who[i]].chunks >> c & 1 && mask >> i & 1) ? 1u << i : 0;
		if (live[c] == 0)
			continue;
		/* members that do not take part may be named, too */
		chunk[n] = c;
		sources[n++] = (GcSource) {live[c] | (turn % 2 ? ~mask : 0), c, CHUNK_ROWS[c]};
	}
	for (int i = 0; i < f->n; i++)
	{
		ranges[i] = members[f->who[i]].ranges;
		ngroups[i] = members[f->who[i]].ngroups;
	}
	shared = gc_fused_shared_bytes(f->m, f->n, mask, ranges, ngroups, starts);
	for (int i = 0; i < f->source.nwords; i++)
	{
		const GcFusedWord *w = &f->source.words[i];
		const Member *m;

		if (w->member == GC_FUSED_ANY)
		{
			args.w[i] = w->word.type == GC_ARG_MEMBERS ? mask : put_column(f, w->word.index, mask, live);
			continue;
		}
		m = &members[f->who[w->member]];
		if (!(mask >> w->member & 1))
			continue;
		if (w->word.type == GC_ARG_SHARED)
			args.w[i] = starts[w->member];
		else if (w->word.type == GC_ARG_VISIBLE)
			args.w[i] = put_visible(m, chunk, n);
		else
			args.w[i] = member_word(m, &w->word);
	}
	args.scan.timed = 1;
	launch_scan(&f->kernel, &args, f->source.nwords, sources, n, shared, 256, turn);
	if (kept.gathering)
		return;
	for (int i = 0; i < f->n; i++)
	{
		if (mask >> i & 1)
			check_times(members[f->who[i]].sink, from, false);
	}
	top = event;
}

/* One launch into empty sinks: those in the mask as wanted, the others untouched. */
static void
check_run(const Fused *f, u32 mask, u32 turn)
{
	int			wrong = -1;

	for (int i = 0; i < f->n; i++)
		empty_sink(&members[f->who[i]]);
	run_fused(f, mask, ~0u, turn);
	for (int i = 0; i < f->n; i++)
	{
		Member	   *m = &members[f->who[i]];

		if (mask >> i & 1)
		{
			if (!same_result(m))
				wrong = i;
		}
		else
		{
			Result		r = fetch(m);

			for (size_t b = 0; b < r.size; b++)
				wrong = r.bytes[b] != 0 ? i : wrong;
			free(r.bytes);
		}
	}
	ok(wrong < 0, "%d members, set 0x%x: sinks and flags are as of kernels of their own", f->n, mask);
	if (wrong >= 0)
		tap_note("wrong: member %d, request %d (%s)", wrong, f->who[wrong], names[f->who[wrong] % 8]);
}

static void
test_sets(void)
{
	static const int all[GC_MAX_FUSED] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	Fused		f;

	make_fused(&f, GC_MAX_FUSED, all);
	for (int i = 0; i < GC_MAX_FUSED; i++)
		check_run(&f, 1u << i, i);
	for (int i = 0; i < 12; i++)
		check_run(&f, draw(1u << 16) & draw(1u << 16), 20 + i);
	for (int i = 0; i < 4; i++)
		check_run(&f, 0xffff, 40 + i);
	check_run(&f, 0, 0);
	check_run(&f, 0, 1);
	free_fused(&f);
}

/* Each request in a kernel for one, and the same request twice or more in a kernel. */
static void
test_few(void)
{
	Fused		f;

	for (int i = 0; i < 8; i++)
	{
		make_fused(&f, 1, &i);
		check_run(&f, 1, i);
		free_fused(&f);
	}
	for (int i = 0; i < 4; i++)
	{
		const int	who[] = {8 + i, i, 15 - i};

		max_vectors = i;
		make_fused(&f, 3, who);
		max_vectors = GC_FUSED_ALL_VECTORS;
		for (u32 mask = 1; mask < 8; mask++)
			check_run(&f, mask, mask);
		free_fused(&f);
	}
}

/*
 * A launch of a member's own kernel over private chunks and one of a fused kernel over
 * the others, in either order, leave what one launch over all would.
 */
static void
test_two_launches(void)
{
	static const int who[] = {0, 1, 2, 3, 4, 9, 10};
	const int	n = sizeof(who) / sizeof(who[0]);
	const u32	first = 0x0b5;
	Fused		f;

	make_fused(&f, n, who);
	for (int order = 0; order < 2; order++)
	{
		for (int i = 0; i < n; i++)
			empty_sink(&members[who[i]]);
		if (order == 1)
			run_fused(&f, (1u << n) - 1, ~first, 3);
		for (int i = 0; i < n; i++)
			run_alone(&members[who[i]], members[who[i]].pipeline, members[who[i]].sink,
					  members[who[i]].chunks & first, true);
		if (order == 0)
			run_fused(&f, (1u << n) - 1, ~first, 4);
		for (int i = 0; i < n; i++)
			ok(same_result(&members[who[i]]), "request %d (%s), %s chunks of its own: the two launches add up",
			   who[i], names[who[i] % 8], order == 0 ? "after" : "before");
	}
	free_fused(&f);
}

/* ---------- texts ---------- */

static GcCode
generate(Fused *f, GcError *err)
{
	GcCode		code;

	*err = (GcError) {GC_OK, ""};
	code = gc_generate_fused(f->m, f->n, max_vectors, &f->source, err);
	if (code != GC_OK)
	{
		ok(f->source.text == NULL && err->code == code && err->detail[0] != '\0', "refused: %s", err->detail);
		f->source.text = NULL;
	}
	return code;
}

/* Several launches of a fused kernel, as of fused scans of several tables, as one. */
static void
test_gang(void)
{
	static const int who[] = {0, 1, 2, 3, 4, 9, 10};
	static const u32 masks[][KEPT_MOST] = {{0x41, 0x0a, 0x14, 0x20}, {0x7f, 0, 0, 0}, {0x0f, 0x70, 0, 0}};
	Loaded		gang;
	Fused		f;

	make_fused(&f, sizeof(who) / sizeof(who[0]), who);
	gang = load_gang(f.source.text, f.source.nwords);
	for (size_t w = 0; w < sizeof(masks) / sizeof(masks[0]); w++)
	{
		const GcAddr begin = top;
		u32			asked = 0;
		int			wrong = -1;

		for (int i = 0; i < f.n; i++)
			empty_sink(&members[who[i]]);
		kept.gathering = true;
		for (int m = 0; m < KEPT_MOST; m++)
		{
			run_fused(&f, masks[w][m], ~0u, m);
			asked |= masks[w][m];
		}
		launch_kept(&gang, 256);
		for (int i = 0; i < f.n; i++)
			wrong = asked >> i & 1 && !same_result(&members[who[i]]) ? i : wrong;
		ok(wrong < 0, "a gang of sets 0x%x, 0x%x, 0x%x, 0x%x: sinks and flags are as of kernels of their own",
		   masks[w][0], masks[w][1], masks[w][2], masks[w][3]);
		if (wrong >= 0)
			tap_note("wrong: request %d (%s)", who[wrong], names[who[wrong] % 8]);
		top = begin;
	}
	unload(&gang);
	free_fused(&f);
}

static void
test_refusals(void)
{
	static const int two[] = {0, 8};
	static Maker maker;
	GcFusedMember many[GC_MAX_FUSED + 1];
	GcFusedSource source;
	GcProgram  *p;
	GcError		err;
	Fused		f;
	i16			columns[MAKER_MAX];
	u16			column;

	describe(&f, 2, two, 8);
	f.n = 0;
	is(generate(&f, &err), GC_UNSUPPORTED, "no member");
	for (int i = 0; i <= GC_MAX_FUSED; i++)
		many[i] = f.m[0];
	is(gc_generate_fused(many, GC_MAX_FUSED + 1, 0, &source, &err), GC_UNSUPPORTED, "too many members");

	describe(&f, 2, two, 8);
	f.m[1] = (GcFusedMember) {members[1].p, 0, members[1].variant, members[1].columns};
	is(generate(&f, &err), GC_UNSUPPORTED, "a build");
	f.m[1].pipeline = 7;
	is(generate(&f, &err), GC_BAD_PROGRAM, "a pipeline that does not exist");

	describe(&f, 2, two, 8);
	memcpy(columns, f.m[1].columns, sizeof(columns));
	f.m[1].columns = columns;
	columns[1] = -1;
	is(generate(&f, &err), GC_BAD_PROGRAM, "a column that is not cached");
	columns[1] = GC_MAX_COLUMNS;
	is(generate(&f, &err), GC_BAD_PROGRAM, "a number that is too large");
	columns[1] = columns[0];
	is(generate(&f, &err), GC_UNSUPPORTED, "one physical column in two types");

	/* 34 parameters each: 16 members have too many, 12 do not */
	maker_input(&maker);
	column = read_column(&maker, C_SMALL, false);
	maker_pipeline(&maker, 0, GC_SINK_AGGREGATE, 1);
	for (int i = 0; i < 34; i++)
		maker_filter(&maker, maker_test(&maker, GC_OP_NE, column, maker_param(&maker, GC_INT4, i, 0)), 0);
	maker_group(&maker, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(&maker, GC_AGG_COUNT, GC_NONE);
	p = maker_finish(&maker, 1000);
	for (int i = 0; i < GC_MAX_FUSED; i++)
		f.m[i] = (GcFusedMember) {p, 0, {.vec = 8,.threads = 256}, maker.source};
	f.n = GC_MAX_FUSED;
	is(generate(&f, &err), GC_UNSUPPORTED, "too many words");
	f.n = 12;
	is(generate(&f, &err), GC_OK, "with fewer members there are enough");
	ok(f.source.nwords > 12 * 34 && f.source.nwords <= GC_MAX_ARG_WORDS, "%d of them", f.source.nwords);
	free(f.source.text);
	free(p);
}

static void
test_text(void)
{
	static const int four[] = {0, 1, 9, 2};
	GcError		err;
	Fused		f,
				g;
	u64			starts[4];
	const u64  *ranges[4];
	u64			ngroups[4];
	u64			one,
				nine;

	describe(&f, 4, four, 16);
	is(generate(&f, &err), GC_OK, "a text");
	ok(strstr(f.source.text, "#define GC_CUDA_VEC 16\n") && strstr(f.source.text, "GC_KERNEL(512)"),
	   "has the members' rows per thread and the largest of their blocks");
	ok(strstr(f.source.text, "GC_ARRAY(i32, c3);\nif (gc_live & 0x6u) GC_LOAD(4, i32, c3, d3);\n") &&
	   strstr(f.source.text, "GC_ARRAY(i32, c12);\nif (gc_live & 0xeu) GC_LOAD_ANY(i32, c12, d12);\n"),
	   "loads vectors that two members want once");
	max_vectors = 1;
	describe(&g, 4, four, 16);
	is(generate(&g, &err), GC_OK, "one with a vector in common");
	ok(strstr(g.source.text, "if (gc_live & 0xeu) GC_LOAD_ANY(i32, c12, d12);\n") &&
	   !strstr(g.source.text, "if (gc_live & 0x6u) GC_LOAD"), "has that which most members want");
	free(g.source.text);
	max_vectors = GC_FUSED_ALL_VECTORS;
	describe(&g, 4, four, 16);
	g.m[2].variant.vec = 8;
	is(generate(&g, &err), GC_OK, "one whose members differ in rows per thread");
	ok(strstr(g.source.text, "#define GC_CUDA_VEC 8\n") != NULL, "takes 8");
	free(g.source.text);
	describe(&g, 4, four, 16);
	is(generate(&g, &err), GC_OK, "the same members again");
	is(strcmp(f.source.text, g.source.text), 0, "give the same text");
	free(f.source.text);
	free(g.source.text);

	for (int i = 0; i < 4; i++)
	{
		ranges[i] = members[four[i]].ranges;
		ngroups[i] = members[four[i]].ngroups;
	}
	one = gc_shared_bytes(f.m[1].p, f.m[1].pipeline, &f.m[1].variant, ranges[1], ngroups[1]);
	nine = gc_shared_bytes(f.m[2].p, f.m[2].pipeline, &f.m[2].variant, ranges[2], ngroups[2]);
	ok(one > 0 && nine > 0, "two of them use shared memory");
	is(gc_fused_shared_bytes(f.m, 4, 0xf, ranges, ngroups, starts), one + nine, "together what each uses");
	ok(starts[1] == 0 && starts[2] == one / 8, "one behind the other");
	is(gc_fused_shared_bytes(f.m, 4, 0xd, ranges, ngroups, starts), nine, "without the first of them");
	is(starts[2], 0, "the second moves up");
	is(gc_fused_shared_bytes(f.m, 4, 0x9, ranges, ngroups, starts), 0, "without both, none");
}

/* Physical columns that the member's own kernel reads, or its member beside another like it. */
static u64
columns_read(const GcFusedMember *m, bool as_body)
{
	const GcFusedMember two[2] = {*m, *m};
	GcKernelSource own;
	GcFusedSource fused;
	GcError		err = {GC_OK, ""};
	u64			columns = 0;

	if ((as_body ? gc_generate_fused(two, 2, GC_FUSED_ALL_VECTORS, &fused, &err)
		 : gc_generate(m->p, m->pipeline, &m->variant, &own, &err)) != GC_OK)
		tap_bail(err.detail);
	for (int i = 0; i < (as_body ? fused.nwords : own.nwords); i++)
	{
		const GcArgWord *w = as_body ? &fused.words[i].word : &own.words[i];

		if (w->type == GC_ARG_COLUMN && (!as_body || fused.words[i].readers & 1))
			columns |= (u64) 1 << (as_body ? w->index : m->columns[w->index]);
	}
	free(as_body ? fused.text : own.text);
	return columns;
}

/*
 * A member may read what the request's own kernel does, which is what is on the device for it; and what
 * is counted is read only if it can be NULL, or computing it can fail.
 */
static void
test_reads(void)
{
	for (int survive = 1; survive < 12; survive += 5)
	{
		Maker		maker = {0};
		GcFusedMember m = {.pipeline = 0,.variant = {.vec = 8,.threads = 256},.columns = maker.source};
		u16			small;
		u16			vary;

		maker_input(&maker);
		small = read_column(&maker, C_SMALL, false);
		maker_pipeline(&maker, 0, GC_SINK_AGGREGATE, (u8) survive);
		maker_filter(&maker, maker_test(&maker, GC_OP_LT, small, maker_param(&maker, GC_INT4, 20, 0)), (u8) survive);
		maker_group(&maker, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
		maker_agg(&maker, GC_AGG_COUNT, read_column(&maker, C_KEY, false));
		maker_agg(&maker, GC_AGG_COUNT, read_column(&maker, C_NULL, false));
		vary = read_column(&maker, C_VARY, false);
		maker_agg(&maker, GC_AGG_COUNT, maker_expr(&maker, GC_OP_MUL, GC_INT4, vary, vary, GC_NONE));
		m.p = maker_finish(&maker, 1000000);
		for (int as_body = 0; as_body < 2; as_body++)
			ok(columns_read(&m, as_body) == ((u64) 1 << C_SMALL | (u64) 1 << C_NULL | (u64) 1 << C_VARY),
			   "1 row in 2^%d counted, %s: what has to be looked at is read", survive, as_body ? "a body" : "a kernel");
		free((void *) m.p);
	}
	for (int i = 0; i < NMEMBERS; i++)
	{
		GcFusedMember m = {members[i].p, members[i].pipeline, members[i].variant, members[i].columns};

		m.variant.vec = 8;
		ok((columns_read(&m, true) & ~columns_read(&m, false)) == 0, "request %d: its body reads nothing else", i);
	}
}

static void
test_nvrtc(void)
{
	static const int all[GC_MAX_FUSED] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	static const struct
	{
		int			first;
		int			n;
		int			vec;
		int			arch;
		GcCompileEffort effort;
	}			ways[] = {
		{0, 16, 8, 80, GC_COMPILE_FULL}, {0, 16, 8, 90, GC_COMPILE_QUICK},
		{8, 4, 16, 90, GC_COMPILE_FULL}, {4, 1, 16, 80, GC_COMPILE_QUICK},
	};
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
	{
		Fused		f;

		describe(&f, ways[i].n, all + ways[i].first, ways[i].vec);
		if (generate(&f, &err) != GC_OK)
			tap_bail(err.detail);
		compiles_for_gpu(nvrtc, ways[i].arch, f.source.text, ways[i].effort, "a kernel of many members");
		if (i > 0)
		{
			int			most;
			char	   *gang = gc_gang_text(f.source.text, f.source.nwords, &most);

			compiles_for_gpu(nvrtc, ways[i].arch, gang, GC_COMPILE_QUICK, "the same for a gang");
			free(gang);
		}
		free(f.source.text);
	}
}

int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	for (int i = 0; i < NTABLE; i++)
		make_column(&table[i]);
	for (int i = 0; i < NMEMBERS; i++)
		make_member(i);
	test_wanted();
	test_sets();
	test_few();
	test_two_launches();
	test_gang();
	test_refusals();
	test_text();
	test_reads();
	test_nvrtc();
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
