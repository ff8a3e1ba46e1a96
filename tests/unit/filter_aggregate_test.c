/*-------------------------------------------------------------------------
 *
 * filter_aggregate_test.c [host|cuda]
 *	  Ungrouped aggregates, in kernels of their own and fused, are compared with sums computed here.
 *
 * The column that is summed is as wide as a sum of 32 bits per vector allows (GC_PART_ROWS).  Whole vectors of it
 * are its least or its greatest value, or NULL.  Of some chunks a request sees every row, of others none, one in
 * eight, or some; filters pass all rows, half of them, hardly any, or none.  There are kernels in one stage
 * (GC_FILTER_AGGREGATE), in several, with sinks that few rows reach, and with a join.  Others have two joins of rows
 * that are gathered because few are expected, however many there are.
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

#define C_EDGE			C_SHIFT		/* which this test makes another column of */
#define EDGE_LO			(INT32_MIN / GC_PART_ROWS)
#define EDGE_HI			(INT32_MAX / GC_PART_ROWS)
#define NLIMITS			4
#define DIM_LIMIT		3000

/* Sinks of the rows. */
enum
{
	FOLD, STAGES, SPARSE, JOINED, GATHERED, NSHAPES
};

/* Words of the sink. */
enum
{
	W_ROWS, W_VALUES, W_SUM, W_NEGATIVE, W_PRODUCT, W_LEAST, W_GREATEST, W_ALL_BITS, W_ANY_BITS, W_ODD_BITS, NWORDS
};

static const char *const shapes[NSHAPES] = {"one stage", "several stages", "few rows", "a join",
"two joins of gathered rows"};
static const i64 limits[NLIMITS] = {50, 25, 1, 0};
static Member members[NSHAPES][NLIMITS];
static u8  *visible[NCHUNKS];	/* by row; NULL: all */
static GcAddr visible_bits[NCHUNKS];

/* ---------- the table ---------- */

static i64
edge_value(u32 row)
{
	switch (row / 64 % 4)
	{
		case 0:
			return EDGE_HI;
		case 1:
			return EDGE_LO;
		case 2:
			return row % 2 ? EDGE_HI : EDGE_LO;
		default:
			return EDGE_LO + (i64) draw(1u << 28);
	}
}

static void
make_edge(TableColumn *c)
{
	*c = (TableColumn) {.number = C_EDGE,.kind = GC_INT4,.width = 4,.nullable = true,.lo = EDGE_LO,.hi = EDGE_HI};
	for (int k = 0; k < NCHUNKS; k++)
	{
		u32			rows = CHUNK_ROWS[k];

		c->value[k] = calloc(rows + 1, sizeof(i64));
		c->null[k] = calloc(rows + 1, 1);
		for (u32 r = 0; r < rows; r++)
		{
			c->null[k][r] = r / 16 % 5 == 4 || (r / 64 % 4 == 3 && draw(4) == 0);
			c->value[k][r] = edge_value(r);
		}
		c->cols[k] = put_chunk(c, rows, 4, c->value[k], c->null[k]);
	}
	c->array = put(c->cols, sizeof(c->cols));
}

static void
make_visible(int k)
{
	u32			rows = CHUNK_ROWS[k];

	if (k % 4 == 0)
		return;
	visible[k] = calloc(rows + 1, 1);
	for (u32 r = 0; r < rows; r++)
		visible[k][r] = k % 4 == 1 ? draw(8) > 0 : k % 4 == 2 ? r % 8 == 3 : r > 20000;
	visible_bits[k] = put_visible_rows(visible[k], rows);
}

/* ---------- requests ---------- */

static void
make_member(int shape, int limit)
{
	Member	   *m = &members[shape][limit];
	Maker	   *k = &m->maker;
	const int	joins = shape == JOINED ? 1 : shape == GATHERED ? 2 : 0;
	u16			b[2],
				small,
				null,
				key,
				edge,
				product;

	for (int i = 0; i < joins; i++)
	{
		u16			input = maker_input(k);
		u16			dkey = read_column(k, C_DKEY, false);

		b[i] = maker_build(k, input, GC_BUILD_DENSE, true, dkey,
						   shape == GATHERED && i == 0 ? read_column(k, C_DVAL, false) : GC_NONE);
		maker_filter(k, maker_test(k, GC_OP_LT, dkey, maker_param(k, GC_INT4, DIM_LIMIT >> i, 0)), 1);
		m->ranges[i] = DIM_RANGE;
	}
	maker_input(k);
	small = read_column(k, C_SMALL, false);
	null = read_column(k, C_NULL, false);
	key = read_column(k, C_KEY, shape == STAGES);
	edge = read_column(k, C_EDGE, false);
	maker_pipeline(k, joins, GC_SINK_AGGREGATE, shape == SPARSE || shape == GATHERED ? 6 : 0);
	for (int i = 0; i < joins; i++)
		maker_probe(k, b[i], key, 1, false);
	maker_filter(k, maker_test(k, GC_OP_LT, small, maker_param(k, GC_INT4, limits[limit], 0)), shape == GATHERED ? 4 : 1);
	maker_filter(k, maker_test(k, GC_OP_GE, null, maker_param(k, GC_INT4, -200, 0)), 1);
	if (shape == STAGES)
		filter_live(k, key);
	maker_group(k, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(k, GC_AGG_COUNT, GC_NONE);
	maker_agg(k, GC_AGG_COUNT, edge);
	maker_agg(k, GC_AGG_SUM, edge);
	maker_agg(k, GC_AGG_SUM, maker_expr(k, GC_OP_NEG, GC_INT4, edge, GC_NONE, GC_NONE));
	/* of the match's value, which may be NULL */
	product = maker_expr(k, GC_OP_MUL, GC_INT4, small, shape != GATHERED ? key
						 : maker_expr(k, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, k->builds[b[0]].first_payload), GC_NONE);
	maker_agg(k, GC_AGG_SUM, product);
	maker_agg(k, GC_AGG_MIN, edge);
	maker_agg(k, GC_AGG_MAX, product);
	maker_agg(k, GC_AGG_BIT_AND, edge);
	maker_agg(k, GC_AGG_BIT_OR, edge);
	maker_agg(k, GC_AGG_BIT_XOR, edge);
	finish_ungrouped(m, visible_bits);
	run_builds(m);
}

/* ---------- what is right ---------- */

/* The row of the other table whose key that is; -1: none. */
static int
match_of(i64 key, i64 limit)
{
	const TableColumn *d = find_column(C_DKEY);

	for (int r = 0; r < DIM_ROWS && key < limit; r++)
	{
		if (d->value[0][r] == key)
			return r;
	}
	return -1;
}

static u64
larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

static void
expect(int shape, int limit, u64 *w)
{
	const TableColumn *small = find_column(C_SMALL),
			   *null = find_column(C_NULL),
			   *key = find_column(C_KEY),
			   *edge = find_column(C_EDGE),
			   *val = find_column(C_DVAL);

	memset(w, 0, NWORDS * sizeof(u64));
	for (int c = 0; c < NCHUNKS; c++)
	{
		for (u32 r = 0; r < CHUNK_ROWS[c]; r++)
		{
			i64			e = edge->value[c][r];
			i64			factor = key->value[c][r];
			bool		unknown = false;
			i64			product;

			if ((visible[c] && !visible[c][r]) || small->value[c][r] >= limits[limit] ||
				null->null[c][r] || null->value[c][r] < -200 ||
				(shape == JOINED && match_of(factor, DIM_LIMIT) < 0) ||
				(shape == GATHERED && match_of(factor, DIM_LIMIT / 2) < 0))
				continue;
			if (shape == GATHERED)
			{
				const int	match = match_of(factor, DIM_LIMIT / 2);

				factor = val->value[0][match];
				unknown = val->null[0][match];
			}
			product = small->value[c][r] * factor;
			w[W_ROWS]++;
			if (!unknown)
			{
				w[W_PRODUCT] += (u64) product;
				w[W_GREATEST] = larger(w[W_GREATEST], (u64) product ^ (u64) 1 << 63);
			}
			if (edge->null[c][r])
				continue;
			w[W_VALUES]++;
			w[W_SUM] += (u64) e;
			w[W_NEGATIVE] -= (u64) e;
			w[W_LEAST] = larger(w[W_LEAST], ~((u64) e ^ (u64) 1 << 63));
			w[W_ALL_BITS] |= ~(u64) e;
			w[W_ANY_BITS] |= (u64) e;
			w[W_ODD_BITS] ^= (u64) e;
		}
	}
}

static void
check(const Member *m, int shape, int limit, const char *how)
{
	Result		r = fetch(m);
	u64			wanted[NWORDS];
	int			wrong = -1;

	expect(shape, limit, wanted);
	if (r.size != GC_NFLAGS * 4 + sizeof(wanted))
		tap_bail("the sink has other words than the test thinks");
	for (int i = 0; i < NWORDS; i++)
		wrong = memcmp(r.bytes + GC_NFLAGS * 4 + i * 8, &wanted[i], 8) != 0 ? i : wrong;
	ok(wrong < 0, "%s, %s, %llu rows: the aggregates are right", how, shapes[shape],
	   (unsigned long long) wanted[W_ROWS]);
	if (wrong >= 0)
	{
		u64			got;

		memcpy(&got, r.bytes + GC_NFLAGS * 4 + wrong * 8, 8);
		tap_note("word %d is %lld, not %lld", wrong, (long long) got, (long long) wanted[wrong]);
	}
	for (int i = 0; i < GC_NFLAGS * 4; i++)
	{
		if (r.bytes[i] != 0)
			ok(false, "byte %d of the flags is %d", i, r.bytes[i]);
	}
	free(r.bytes);
}

static void
test_alone(int vec)
{
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		for (int l = 0; l < NLIMITS; l++)
		{
			Member	   *m = &members[shape][l];
			char		how[48];

			m->variant.vec = vec;
			m->compiled = false;
			empty_sink(m);
			run_alone(m, m->pipeline, m->sink, (1u << NCHUNKS) - 1, l % 2);
			unload(&m->own);
			snprintf(how, sizeof(how), "alone, vectors of %d%s", vec, compile_effort == GC_COMPILE_FULL ? "" : ", in a hurry");
			check(m, shape, l, how);
		}
	}
}

/* ---------- fused ---------- */

static void
test_fused(int vec)
{
	GcFusedMember from[NLIMITS];
	GcFusedSource source;
	GcError		err = {GC_OK, ""};
	char		how[64];

	for (int shape = 0; shape < NSHAPES; shape++)
	{
		Member	   *who[NLIMITS];
		Loaded		k;

		for (int l = 0; l < NLIMITS; l++)
		{
			/* one member of another shape */
			who[l] = &members[(shape + (l == 3)) % NSHAPES][l];
			from[l] = (GcFusedMember) {who[l]->p, who[l]->pipeline, who[l]->variant, who[l]->columns};
			from[l].variant.vec = vec;
			empty_sink(who[l]);
		}
		if (gc_generate_fused(from, NLIMITS, &source, &err) != GC_OK)
			tap_bail(err.detail);
		k = load_text(source.text);
		run_all_fused(&source, &k, who, NLIMITS, shape);
		unload(&k);
		free(source.text);
		snprintf(how, sizeof(how), "fused, vectors of %d", vec);
		for (int l = 0; l < NLIMITS; l++)
			check(who[l], (shape + (l == 3)) % NSHAPES, l, how);
	}
}

/* ---------- texts ---------- */

static void
test_texts(void)
{
	static const GcVariant variants[] = {{.vec = 8,.threads = 256}, {.vec = 16,.threads = 1024}};
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	for (int shape = 0; shape < NSHAPES; shape++)
	{
		for (int v = 0; v < 2; v++)
		{
			const Member *m = &members[shape][0];
			GcKernelSource source;
			const char *kernel;

			if (gc_generate(m->p, m->pipeline, &variants[v], &source, &err) != GC_OK)
				tap_bail(err.detail);
			kernel = strstr(source.text, "GC_KERNEL(256)\n") ? strstr(source.text, "GC_KERNEL(256)\n")
				: strstr(source.text, "GC_KERNEL(1024)\n");
			ok((strstr(kernel, "GC_FILTER_AGGREGATE(gc_j)") != NULL) == (shape == FOLD), "%s: a fold only if it can be", shapes[shape]);
			ok((strstr(kernel, "GC_FILTERED_TILES") != NULL) == (shape == GATHERED), "rows are gathered where few come to joins");
			ok(strstr(kernel, "GC_LOOK_UP(gc_j)") == NULL, "and without selection bitmaps nothing is looked up together");
			ok((strstr(kernel, "GC_PART s2 = 0;") != NULL) == (shape != SPARSE && shape != GATHERED) && !strstr(kernel, "GC_PART s3"),
			   "whose sum of the column, not of the negative, is added up by vectors if they are dense");
			for (int arch = 80; nvrtc != NULL && arch <= 90; arch += 10)
			{
				const GcCompileEffort effort = v == 0 && arch == 90 ? GC_COMPILE_QUICK : GC_COMPILE_FULL;

				compiles_for_gpu(nvrtc, arch, source.text, effort, shapes[shape]);
			}
			free(source.text);
		}
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
	{
		if (table[i].number == C_EDGE)
			make_edge(&table[i]);
		else
			make_column(&table[i]);
	}
	for (int k = 0; k < NCHUNKS; k++)
		make_visible(k);
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		for (int l = 0; l < NLIMITS; l++)
			make_member(shape, l);
	}
	if (on_host)
		test_alone(0);
	for (int vec = 8; vec <= 16 && !on_host; vec += 8)
		test_alone(vec);
	if (!on_host)
	{
		compile_effort = GC_COMPILE_QUICK;
		test_alone(16);
		compile_effort = GC_COMPILE_FULL;
	}
	test_fused(on_host ? 0 : 8);
	if (!on_host)
		test_fused(16);
	test_texts();
	for (int k = 0; k < NCHUNKS; k++)
		free(visible[k]);
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
