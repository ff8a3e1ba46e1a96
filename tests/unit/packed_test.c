/*-------------------------------------------------------------------------
 *
 * packed_test.c [host|cuda]
 *	  Filters on packed codes pass the rows that they are to pass.
 *
 * Columns of 1 and 2 bytes, whose codes use their highest bit or spare it, with NULLs, and of values that need 64
 * bits; each chunk has another frame of reference.  Requests have one to four comparisons, drawn at random: with
 * ends of the column's and of chunks' ranges, with what lies just outside, and with the ends of the parameters' own
 * ranges.  So ranges of codes are empty, full, or end anywhere.  They run in one stage, in several, with few
 * rows left, and fused, up to as many as a kernel may have.  Vectors have 8 and 16 rows, and kernels are compiled in
 * a hurry, too.
 *
 * Where there is NVRTC, texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "fused_util.h"

#include "../../src/device/nvrtc.h"

#define EACH			16		/* requests of a shape */
#define MOST_TESTS		4
#define NPACKED			6
#define TOGETHER		4		/* members of a fused kernel */

enum
{
	FOLD, STAGES, SPARSE, NSHAPES
};

typedef struct Test
{
	i16			column;
	u8			op;
	i64			value;
} Test;

typedef struct Request
{
	Member		member;
	Test		tests[MOST_TESTS];
	int			ntests;
	i16			summed;			/* column */
} Request;

static const char *const shapes[NSHAPES] = {"one stage", "several stages", "few rows"};

/* In place of what the table has under these numbers. */
static const TableColumn packed_columns[NPACKED] = {
	{C_SMALL, GC_INT4, 1, false, 0, 49, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_GROUP, GC_INT4, 1, true, -100, 155, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_SHIFT, GC_INT4, 1, false, 1000, 1127, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_GAPS, GC_INT4, 2, true, -16000, 16767, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_NULL, GC_INT4, 2, false, -30000, 35535, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_WIDE, GC_INT8, 2, true, 5000000000, 5000004095, 0, {{0}}, 0, {NULL}, {NULL}},
};
static Request requests[NSHAPES][EACH];
static GcAddr visible_bits[NCHUNKS];
static u8  *visible[NCHUNKS];

/* ---------- the table ---------- */

/* A chunk's values begin and end somewhere in the column's range; of one chunk they fill it. */
static void
make_packed(TableColumn *c, const TableColumn *as)
{
	*c = *as;
	for (int k = 0; k < NCHUNKS; k++)
	{
		const u32	rows = CHUNK_ROWS[k];
		const u32	span = (u32) (c->hi - c->lo) + 1;
		const u32	first = k % 2 ? draw(span / 2) : 0;
		const u32	n = k % 2 ? 1 + draw(span - first) : span;

		c->value[k] = calloc(rows + 1, sizeof(i64));
		c->null[k] = calloc(rows + 1, 1);
		for (u32 r = 0; r < rows; r++)
		{
			c->null[k][r] = c->nullable && draw(7) == 0;
			c->value[k][r] = c->lo + first + draw(n);
		}
		c->cols[k] = put_chunk(c, rows, c->width, c->value[k], c->null[k]);
	}
	c->array = put(c->cols, sizeof(c->cols));
}

/* Not all rows of every third chunk. */
static void
make_visible(int k)
{
	const u32	rows = CHUNK_ROWS[k];

	if (k % 3 != 2)
		return;
	visible[k] = calloc(rows + 1, 1);
	for (u32 r = 0; r < rows; r++)
		visible[k][r] = draw(5) > 0;
	visible_bits[k] = put_visible_rows(visible[k], rows);
}

/* ---------- requests ---------- */

static i64
draw_value(const TableColumn *c, u8 kind)
{
	const GcCol *chunk = &c->cols[draw(NCHUNKS)];
	i64			v;

	switch (draw(8))
	{
		case 0:
			return kind == GC_INT8 ? INT64_MIN : INT32_MIN;
		case 1:
			return kind == GC_INT8 ? INT64_MAX : INT32_MAX;
		case 2:
			v = c->lo - 1 + draw(3);
			break;
		case 3:
			v = c->hi - 1 + draw(3);
			break;
		case 4:
			v = chunk->base - 1 + draw(3);
			break;
		default:
			v = c->lo + draw((u32) (c->hi - c->lo) + 1);
			break;
	}
	return v;
}

/* A comparison, its column on either side, with a parameter as wide as the column or wider. */
static u16
make_test(Maker *k, int of, Test *t)
{
	static const u8 ops[] = {GC_OP_EQ, GC_OP_LT, GC_OP_LE, GC_OP_GT, GC_OP_GE};
	static const u8 as_turned[] = {GC_OP_EQ, GC_OP_GT, GC_OP_GE, GC_OP_LT, GC_OP_LE};
	const TableColumn *c = find_column(packed_columns[of].number);
	const u8	kind = c->kind == GC_INT8 || draw(3) == 0 ? GC_INT8 : GC_INT4;
	const u32	op = draw(draw(4) == 0 ? 5 : 4) + 1;
	u16			column,
				param;

	*t = (Test) {c->number, ops[op % 5], draw_value(c, kind)};
	for (int i = 0; i < k->head.ncolumns; i++)
	{
		if (k->source[i] == c->number)
		{
			column = maker_read(k, (u16) i);
			param = maker_param(k, kind, t->value, 0);
			return draw(2) ? maker_test(k, ops[op % 5], column, param) : maker_test(k, as_turned[op % 5], param, column);
		}
	}
	tap_bail("no such column in the request");
}

static void
make_request(int shape, int number)
{
	Request    *q = &requests[shape][number];
	Member	   *m = &q->member;
	Maker	   *k = &m->maker;
	u16			key;
	u16			summed;

	maker_input(k);
	key = read_column(k, C_KEY, false);
	for (int i = 0; i < NPACKED; i++)
		(void) read_column(k, packed_columns[i].number, false);
	/* some sum up another one, which has NULLs */
	q->summed = number % 3 == 2 ? C_GROUP : C_KEY;
	summed = q->summed == C_KEY ? key : maker_read(k, 2);
	maker_pipeline(k, 0, GC_SINK_AGGREGATE, shape == SPARSE ? 6 : 0);
	q->ntests = 1 + number % MOST_TESTS;
	for (int i = 0; i < q->ntests; i++)
	{
		u16			e = make_test(k, draw(NPACKED), &q->tests[i]);

		if (i + 1 < q->ntests && draw(3) == 0)
		{
			const u16	other = make_test(k, draw(NPACKED), &q->tests[i + 1]);

			i++;
			e = maker_test(k, GC_OP_AND, e, other);
		}
		maker_filter(k, e, shape == SPARSE ? 1 : 0);
	}
	if (shape == STAGES)
		filter_live(k, key);
	maker_group(k, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(k, GC_AGG_COUNT, GC_NONE);
	maker_agg(k, GC_AGG_SUM, summed);
	finish_ungrouped(m, visible_bits);
}

/* ---------- what is right ---------- */

static bool
passes(const Test *t, int chunk, u32 row)
{
	const TableColumn *c = find_column(t->column);
	const i64	v = c->value[chunk][row];

	if (c->null[chunk][row])
		return false;
	switch (t->op)
	{
		case GC_OP_EQ:
			return v == t->value;
		case GC_OP_LT:
			return v < t->value;
		case GC_OP_LE:
			return v <= t->value;
		case GC_OP_GT:
			return v > t->value;
		default:
			return v >= t->value;
	}
}

/* Rows of the chunks of this request, which are bits of `chunks`. */
static void
expect(const Request *q, u32 chunks, u64 *w)
{
	const TableColumn *summed = find_column(q->summed);

	w[0] = w[1] = 0;
	for (int c = 0; c < NCHUNKS; c++)
	{
		for (u32 r = 0; r < CHUNK_ROWS[c] && chunks >> c & 1; r++)
		{
			bool		pass = !visible[c] || visible[c][r];

			for (int i = 0; i < q->ntests; i++)
				pass = pass && passes(&q->tests[i], c, r);
			w[0] += pass;
			w[1] += pass && !summed->null[c][r] ? (u64) summed->value[c][r] : 0;
		}
	}
}

/* Are the results of n requests right, of which number i has read these chunks?  One line for all. */
static void
check_read(Request *const *q, int n, const u32 *chunks, const char *how, const char *shape)
{
	u64			rows = 0;
	int			wrong = 0;

	for (int i = 0; i < n; i++)
	{
		Result		r = fetch(&q[i]->member);
		u64			wanted[2];
		u64			got[2];

		expect(q[i], chunks[i], wanted);
		memcpy(got, r.bytes + GC_NFLAGS * 4, sizeof(got));
		rows += wanted[0];
		if (memcmp(got, wanted, sizeof(got)) != 0)
		{
			wrong++;
			tap_note("request %d: %llu rows, not %llu", i, (unsigned long long) got[0], (unsigned long long) wanted[0]);
			for (int t = 0; t < q[i]->ntests; t++)
				tap_note("column %d, op %d, %lld", q[i]->tests[t].column, q[i]->tests[t].op,
						 (long long) q[i]->tests[t].value);
		}
		free(r.bytes);
	}
	ok(wrong == 0, "%s, %s: %d requests, %llu rows", how, shape, n, (unsigned long long) rows);
}

static void
check(Request *const *q, int n, const char *how, int shape)
{
	u32			chunks[EACH];

	for (int i = 0; i < n; i++)
		chunks[i] = (1u << NCHUNKS) - 1;
	check_read(q, n, chunks, how, shapes[shape]);
}

static void
test_alone(int vec, GcCompileEffort effort)
{
	char		how[64];

	snprintf(how, sizeof(how), "alone, vectors of %d%s", vec, effort == GC_COMPILE_FULL ? "" : ", in a hurry");
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		Request    *who[EACH];

		for (int i = 0; i < EACH; i++)
		{
			Member	   *m = &requests[shape][i].member;
			const GcVariant variant = {.vec = vec,.threads = 256};
			GcError		err = {GC_OK, ""};
			Loaded		k;

			who[i] = &requests[shape][i];
			empty_sink(m);
			if (gc_generate(m->p, m->pipeline, &variant, &m->source, &err) != GC_OK)
				tap_bail(err.detail);
			if (!strstr(m->source.text, "\nGC_PACKED\n"))
				tap_bail("nothing is packed");
			k = load_with(m->source.text, effort);
			run_kernel(m, m->pipeline, &k, &m->source, 0, m->sink, (1u << NCHUNKS) - 1, i % 2);
			unload(&k);
			free(m->source.text);
		}
		check(who, EACH, how, shape);
	}
}

/* Words that a fused kernel keeps for each warp, and that were said to be the most. */
static void
check_kept(const char *text, Member *const *members, int n)
{
	const char *kept = strstr(strstr(text, "\nGC_PROLOGUE\n"), "\nGC_PER_WARP_WORDS(");
	int			words = 0;
	int			most = 0;

	for (int i = 0; i < n; i++)
		most += gc_pipeline_traits(members[i]->p, members[i]->pipeline).per_warp_words;
	if (kept == NULL || sscanf(kept, "\nGC_PER_WARP_WORDS(%d,", &words) != 1)
		tap_bail("nothing is kept");
	ok(words <= most && 2 * words >= most - 4 * n, "it keeps %d words, %d at most were promised", words, most);
}

static void
test_fused(int vec)
{
	char		how[64];

	snprintf(how, sizeof(how), "fused, vectors of %d", vec);
	for (int first = 0; first + TOGETHER <= EACH; first += TOGETHER)
	{
		Request    *who[TOGETHER];
		Member	   *members[TOGETHER];
		GcFusedMember from[TOGETHER];
		GcFusedSource source;
		GcError		err = {GC_OK, ""};
		Loaded		k;

		for (int i = 0; i < TOGETHER; i++)
		{
			who[i] = &requests[i % NSHAPES][first + i];
			members[i] = &who[i]->member;
			from[i] = (GcFusedMember) {members[i]->p, members[i]->pipeline, {.vec = vec,.threads = 256},
			members[i]->columns};
			empty_sink(members[i]);
		}
		if (gc_generate_fused(from, TOGETHER, &source, &err) != GC_OK)
			tap_bail(err.detail);
		check_kept(source.text, members, TOGETHER);
		k = load_text(source.text);
		run_all_fused(&source, &k, members, TOGETHER, (u32) first);
		unload(&k);
		free(source.text);
		check(who, TOGETHER, how, FOLD);
	}
}

/*
 * n requests of a shape (NSHAPES: of all) in one kernel; one takes no part, and of each chunk but
 * the first some read nothing.
 */
static void
test_together(int vec, int n, int shape, u32 turn, GcCompileEffort effort)
{
	GcFusedMember from[GC_MAX_FUSED];
	Request    *who[GC_MAX_FUSED];
	Member	   *members[GC_MAX_FUSED];
	u32			chunks[GC_MAX_FUSED];
	u32			reading[NCHUNKS];
	const u32	run = (1u << n) - 1 - (1u << draw(n));
	GcFusedSource source;
	GcError		err = {GC_OK, ""};
	char		how[64];
	Loaded		k;

	for (int i = 0; i < n; i++)
	{
		who[i] = &requests[shape == NSHAPES ? i % NSHAPES : shape][(i + turn) % EACH];
		members[i] = &who[i]->member;
		from[i] = (GcFusedMember) {members[i]->p, members[i]->pipeline, {.vec = vec,.threads = 256}, members[i]->columns};
		empty_sink(members[i]);
		chunks[i] = 0;
	}
	for (int c = 0; c < NCHUNKS; c++)
	{
		reading[c] = c == 0 ? (1u << n) - 1 : draw(1u << n);
		for (int i = 0; i < n; i++)
			chunks[i] |= (reading[c] & run) >> i & 1 ? 1u << c : 0;
	}
	if (gc_generate_fused(from, n, &source, &err) != GC_OK)
		tap_bail(err.detail);
	check_kept(source.text, members, n);
	k = load_with(source.text, effort);
	run_some_fused(&source, &k, members, run, reading, turn);
	unload(&k);
	free(source.text);
	snprintf(how, sizeof(how), "%d together, vectors of %d%s", n, vec, effort == GC_COMPILE_FULL ? "" : ", in a hurry");
	check_read(who, n, chunks, how, shape == NSHAPES ? "of all shapes" : shapes[shape]);
}

/* ---------- texts ---------- */

static void
compile_texts(const GcNvrtc *nvrtc, const char *text, bool quick, const char *what)
{
	for (int arch = 80; arch <= 90; arch += 10)
	{
		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, what);
		if (quick)
			compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_QUICK, what);
	}
}

/*
 * All filters of a shape as one kernel, and one of them by itself; quickly, too, each shape in one size of vectors.
 */
static void
test_texts(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	for (int shape = 0; shape < NSHAPES && nvrtc != NULL; shape++)
	{
		for (int vec = 8; vec <= 16; vec += 8)
		{
			const bool	once = vec == (shape == SPARSE ? 8 : 16);
			GcFusedMember from[GC_MAX_FUSED];
			GcFusedSource source;
			GcKernelSource alone;

			for (int i = 0; i < GC_MAX_FUSED; i++)
			{
				const Member *m = &requests[shape][i].member;

				from[i] = (GcFusedMember) {m->p, m->pipeline, {.vec = vec,.threads = 256}, m->columns};
			}
			if (gc_generate_fused(from, TOGETHER, &source, &err) != GC_OK ||
				gc_generate(from[3].p, from[3].pipeline, &from[3].variant, &alone, &err) != GC_OK)
				tap_bail(err.detail);
			compile_texts(nvrtc, source.text, once, "a fused kernel");
			compile_texts(nvrtc, alone.text, once, "one of its own");
			free(source.text);
			free(alone.text);
			if (!once)
				continue;
			if (gc_generate_fused(from, 8 + shape, &source, &err) != GC_OK)
				tap_bail(err.detail);
			compile_texts(nvrtc, source.text, true, "one of many members");
			free(source.text);
		}
	}
}

/* ---------- what is packed ---------- */

/* One filter: a comparison of the column with a parameter by this operator. */
static bool
is_packed(i16 column, bool any, u8 op, bool *spare)
{
	Maker	   *k = calloc(1, sizeof(Maker));
	const GcVariant variant = {.vec = 8,.threads = 256};
	GcKernelSource source;
	GcError		err = {GC_OK, ""};
	GcProgram  *p;
	bool		packed;
	u16			c;

	maker_input(k);
	c = read_column(k, column, any);
	maker_pipeline(k, 0, GC_SINK_AGGREGATE, 0);
	maker_filter(k, maker_test(k, op, c, maker_param(k, GC_INT4, 7, 0)), 1);
	maker_group(k, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(k, GC_AGG_COUNT, GC_NONE);
	p = maker_finish(k, 1000000);
	if (gc_generate(p, p->npipelines - 1, &variant, &source, &err) != GC_OK)
		tap_bail(err.detail);
	packed = strstr(source.text, "\nGC_PACKED\n") != NULL;
	*spare = gc_columns(p)[0].high_bit_free;
	free(source.text);
	free(p);
	free(k);
	return packed;
}

static void
test_choice(void)
{
	bool		spare = false;

	for (int i = 0; i < NPACKED; i++)
	{
		const TableColumn *c = &packed_columns[i];
		const bool	packed = is_packed(c->number, false, GC_OP_LE, &spare);

		ok(packed && spare == (c->hi - c->lo < (1 << (8 * c->width - 1))),
		   "a column of %d bytes with %lld values is packed, its highest bit is %s", c->width,
		   (long long) (c->hi - c->lo + 1), spare ? "spared" : "used");
	}
	ok(!is_packed(C_SMALL, false, GC_OP_NE, &spare), "<> is not packed");
	ok(!is_packed(C_SMALL, true, GC_OP_EQ, &spare) && !spare, "nor is a column whose width varies");
	ok(!is_packed(C_KEY, false, GC_OP_EQ, &spare) && !spare, "nor one of 4 bytes");
}

int
main(int argc, char **argv)
{
	static const int together[] = {2, GC_MAX_FUSED};
	GcError		err = {GC_OK, ""};

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	for (int i = 0; i < NTABLE; i++)
	{
		const TableColumn *as = NULL;

		for (int k = 0; k < NPACKED; k++)
			as = packed_columns[k].number == table[i].number ? &packed_columns[k] : as;
		if (as)
			make_packed(&table[i], as);
		else
			make_column(&table[i]);
	}
	for (int k = 0; k < NCHUNKS; k++)
		make_visible(k);
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		for (int i = 0; i < EACH; i++)
			make_request(shape, i);
	}
	test_choice();
	test_texts();
	/* The host has a vector of its own, and yet runs what is made for a GPU where it pretends to be one. */
	for (int vec = on_host ? 0 : 8; vec <= 16; vec += on_host ? 16 : 8)
		test_alone(vec, GC_COMPILE_FULL);
	if (!on_host)
		test_alone(8, GC_COMPILE_QUICK);
	test_fused(on_host ? 0 : 8);
	if (!on_host)
		test_fused(16);
	for (size_t i = 0; i < sizeof(together) / sizeof(together[0]); i++)
	{
		static const int shape[] = {FOLD, SPARSE, NSHAPES};

		for (u32 turn = 0; turn < EACH; turn += on_host ? 4 : 2)
			test_together(on_host ? 0 : turn / 2 % 2 ? 8 : 16, together[i], shape[turn % 3], turn, GC_COMPILE_FULL);
		for (u32 turn = 0; turn < 2 && !on_host; turn++)
			test_together(8, together[i], turn ? NSHAPES : SPARSE, turn, GC_COMPILE_QUICK);
	}
	for (int k = 0; k < NCHUNKS; k++)
		free(visible[k]);
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
