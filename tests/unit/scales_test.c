/*-------------------------------------------------------------------------
 *
 * scales_test.c [host|cuda]
 *	  Numerics whose display scale differs from row to row: values, scales, and what is stored of them.
 *
 * Of a numeric column some chunks have one scale, others another, and in the rest each value has its own.  Such
 * columns are filtered, put out by themselves and in expressions, and looked up in a table of results that are
 * numerics.  They are also brought along from a join, and aggregated.  Kernels run alone and fused.  What must come
 * of it is computed here by numeric.c's rules for display scales.
 *
 * Typing has tests of what cannot be stored.  Where there is NVRTC, the kernels' texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#define MAX_OUTS		10

#include "rows_util.h"

#include "../../src/device/nvrtc.h"

#define MOST_SCALE		4		/* of the columns and results */
#define MOST_DIGITS		50000
#define LIMIT			1234	/* times 10^-1: what a filter compares with */
#define DIM_LIMIT		3000
#define ALL_CHUNKS		((1u << NCHUNKS) - 1)

/* A numeric as PostgreSQL has it; digits are those of its own scale. */
typedef struct Numeric
{
	bool		null;
	i64			digits;
	int			scale;
} Numeric;

enum
{
	ROWS, STAGED, FEW, JOINED, GATHERED, TOTALS, NSHAPES
};

/* Words of TOTALS: a sum, counts, and extremes. */
enum
{
	W_COUNT, W_VALUES, W_SUM, W_LEAST, W_GREATEST, W_MOST_SCALE, W_LEAST_SCALE, W_LEAST_SMALL, W_LEAST_LARGE, W_GREATEST_LARGE,
	W_GREATEST_SMALL, NWORDS
};

static const char *const shapes[NSHAPES] = {"rows", "rows in stages", "few rows", "rows of a join",
"rows of two joins, gathered", "aggregates"};
static Member members[NSHAPES];
static i64	results[51];		/* of the table, by C_SMALL, behind that of NULL */
static u8	no_result[51];

/* ---------- numerics ---------- */

static i64
scaled(Numeric n, int scale)
{
	for (; n.scale < scale; n.scale++)
		n.digits *= 10;
	return n.digits;
}

/* As kernels store it, and 0 for NULL. */
static u64
stored(Numeric n, int number, u64 *nulls)
{
	*nulls |= (u64) n.null << number;
	return n.null ? 0 : (u64) GC_TAGGED(n.digits, n.scale);
}

/* ---------- the table ---------- */

static int
chunk_scale(int k)
{
	return k % 3 == 0 ? GC_SCALE_TAGGED : k % 3 == 1 ? 2 : 0;
}

static Numeric
cell(const TableColumn *c, int k, u32 r)
{
	const i64	v = c->value[k][r];

	if (c->null[k][r])
		return (Numeric) {true, 0, 0};
	return c->cols[k].scale == GC_SCALE_TAGGED ? (Numeric) {false, GC_TAG_DIGITS(v), GC_TAG_SCALE(v)} :
		(Numeric) {false, v, c->cols[k].scale};
}

/* A column as make_column() makes it, of numerics. */
static void
make_numerics(TableColumn *c)
{
	*c = (TableColumn) {.number = c->number,.kind = GC_NUMERIC,.width = 4,.nullable = true,.lo = -MOST_DIGITS * 10000,
	.hi = MOST_DIGITS * 10000};
	for (int k = 0; k < NCHUNKS; k++)
	{
		const u32	rows = c->number != C_DVAL ? CHUNK_ROWS[k] : k > 0 ? 0 : DIM_ROWS;

		c->value[k] = calloc(rows + 1, sizeof(i64));
		c->null[k] = calloc(rows + 1, 1);
		for (u32 r = 0; r < rows; r++)
		{
			const i64	digits = (i64) draw(r % 3 ? 20 : 2 * MOST_DIGITS + 1) - (r % 3 ? 10 : MOST_DIGITS);

			c->null[k][r] = draw(5) == 0;
			if (!c->null[k][r])
				c->value[k][r] = chunk_scale(k) == GC_SCALE_TAGGED ? GC_TAGGED(digits, draw(MOST_SCALE + 1)) : digits;
		}
		c->cols[k] = put_chunk(c, rows, 4, c->value[k], c->null[k]);
		c->cols[k].scale = (i16) chunk_scale(k);
	}
	c->array = put(c->cols, sizeof(c->cols));
}

static const GcFact varying = {.range = {-MOST_DIGITS * 10000, MOST_DIGITS * 10000},.nullable = true,.scale = MOST_SCALE,
.scale_spread = MOST_SCALE,.width = 4};

static u16
read_numerics(Maker *m, i16 number, bool any)
{
	GcFact		fact = varying;

	fact.width = any ? 0 : 4;
	return maker_read(m, maker_column(m, number, GC_NUMERIC, &fact));
}

static Numeric
result_of(i64 small)
{
	const i64	v = results[small + 1];

	return no_result[small + 1] ? (Numeric) {true, 0, 0} : (Numeric) {false, GC_TAG_DIGITS(v), GC_TAG_SCALE(v)};
}

static void
make_results(void)
{
	no_result[0] = 1;
	for (int i = 0; i < 50; i++)
	{
		no_result[i + 1] = i % 7 == 3;
		results[i + 1] = no_result[i + 1] ? 0 : GC_TAGGED(i * 31 - 700, i % (MOST_SCALE + 1));
	}
}

/* ---------- requests ---------- */

static u16
numeric_expr(Maker *m, u8 op, u16 a, u16 b)
{
	return maker_expr(m, op, GC_NUMERIC, a, b, GC_NONE);
}

static void
put_outs(Maker *m, u16 x, u16 small, u16 brought)
{
	const u16	param = maker_param(m, GC_NUMERIC, 25, 2);
	const u16	looked_up = maker_lut(m, small, GC_NUMERIC, &varying);
	u16			choice,
				product;

	m->lut_words[0][GC_LUT_DATA] = put(results, sizeof(results));
	m->lut_words[0][GC_LUT_NULLS] = put(no_result, sizeof(no_result));
	maker_out(m, x);
	maker_out(m, numeric_expr(m, GC_OP_ADD, x, param));
	maker_out(m, numeric_expr(m, GC_OP_NEG, x, GC_NONE));
	maker_out(m, looked_up);
	maker_out(m, numeric_expr(m, GC_OP_MUL, x, looked_up));
	choice = numeric_expr(m, GC_OP_IF, maker_test(m, GC_OP_LT, small, maker_param(m, GC_INT4, 25, 0)), x);
	m->exprs[choice].arg[2] = brought;
	maker_out(m, choice);
	maker_out(m, brought);
	maker_out(m, maker_expr(m, GC_OP_SCALE, GC_INT4, x, GC_NONE, GC_NONE));
	product = numeric_expr(m, GC_OP_MUL, looked_up, numeric_expr(m, GC_OP_GREATEST, x, param));
	maker_out(m, maker_expr(m, GC_OP_SCALE, GC_INT4, product, GC_NONE, GC_NONE));
	maker_out(m, maker_expr(m, GC_OP_ROW_ID, GC_INT8, GC_NONE, GC_NONE, m->head.ninputs - 1));
}

static u16
tag_of(Maker *m, u16 x, u16 way)
{
	return maker_expr(m, GC_OP_TAG, GC_NUMERIC, x, GC_NONE, way);
}

static void
put_aggs(Maker *m, u16 x)
{
	const u16	scale = maker_expr(m, GC_OP_SCALE, GC_INT4, x, GC_NONE, GC_NONE);

	maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_COUNT, x);
	maker_agg(m, GC_AGG_SUM, x);
	maker_agg(m, GC_AGG_MIN, x);
	maker_agg(m, GC_AGG_MAX, x);
	maker_agg(m, GC_AGG_MAX, scale);
	maker_agg(m, GC_AGG_MIN, scale);
	maker_agg(m, GC_AGG_MIN, tag_of(m, x, 0));
	maker_agg(m, GC_AGG_MIN, tag_of(m, x, 1));
	maker_agg(m, GC_AGG_MAX, tag_of(m, x, 0));
	maker_agg(m, GC_AGG_MAX, tag_of(m, x, 1));
}

static void
make_member(int shape)
{
	static const u8 survive[NSHAPES] = {1, 4, 7, 1, 6, 1},
				first_filter[NSHAPES] = {0, 2, 6, 0, 4, 0};
	static const GcAddr all[NCHUNKS];
	Member	   *m = &members[shape];
	Maker	   *k = &m->maker;
	const int	joins = shape == JOINED ? 1 : shape == GATHERED ? 2 : 0;
	u16			b[2] = {GC_NONE, GC_NONE},
				x,
				small;

	for (int i = 0; i < joins; i++)
	{
		const u16	input = maker_input(k);
		const u16	key = read_column(k, C_DKEY, false);

		b[i] = maker_build(k, input, GC_BUILD_DENSE, true, key, i == 0 ? read_numerics(k, C_DVAL, false) : GC_NONE);
		maker_filter(k, maker_test(k, GC_OP_LT, key, maker_param(k, GC_INT4, DIM_LIMIT, 0)), 1);
		m->ranges[i] = DIM_RANGE;
	}
	maker_input(k);
	x = read_numerics(k, C_NUM, shape == ROWS);
	small = read_column(k, C_SMALL, false);
	maker_pipeline(k, joins, shape == TOTALS ? GC_SINK_AGGREGATE : GC_SINK_ROWS, survive[shape]);
	/* All rows pass. */
	if (first_filter[shape] > 0)
		maker_filter(k, maker_test(k, GC_OP_GE, small, maker_param(k, GC_INT4, 0, 0)), first_filter[shape]);
	for (int i = 0; i < joins && shape == GATHERED; i++)
		maker_probe(k, b[i], read_column(k, C_KEY, false), 1, false);
	/* It may fail, so that it is computed of live rows only. */
	if (shape == STAGED)
		maker_filter(k, maker_test(k, GC_OP_LT, numeric_expr(k, GC_OP_DIV, x, maker_param(k, GC_NUMERIC, 3, 0)),
								   maker_param(k, GC_NUMERIC, MOST_DIGITS, 0)), 0);
	maker_filter(k, maker_test(k, GC_OP_LT, x, maker_param(k, GC_NUMERIC, LIMIT, 1)), shape == STAGED || shape == FEW ? 2 : 1);
	if (shape == JOINED)
		maker_probe(k, b[0], read_column(k, C_KEY, false), 1, false);
	if (shape == TOTALS)
		put_aggs(k, x);
	else
		put_outs(k, x, small, joins == 0 ? numeric_expr(k, GC_OP_ABS, x, GC_NONE)
				 : maker_expr(k, GC_OP_PAYLOAD, GC_NUMERIC, GC_NONE, GC_NONE, k->builds[b[0]].first_payload));
	finish_ungrouped(m, all);
	run_builds(m);
}

/* ---------- what is right ---------- */

/* The row of the other table whose key that is; -1: none. */
static int
match_of(i64 key)
{
	const TableColumn *d = find_column(C_DKEY);

	for (int r = 0; r < DIM_ROWS && key < DIM_LIMIT; r++)
	{
		if (d->value[0][r] == key)
			return r;
	}
	return -1;
}

static Out
wanted_row(Numeric x, i64 small, Numeric brought, int c, u32 r)
{
	const Numeric y = result_of(small);
	const int	sum_scale = x.scale > 2 ? x.scale : 2;
	Numeric		sum = {false, scaled(x, sum_scale) + scaled((Numeric) {false, 25, 2}, sum_scale), sum_scale};
	Numeric		product = {y.null, x.digits * y.digits, x.scale + y.scale};
	Out			o = {{0}};
	u64		   *nulls = &o.w[MAX_OUTS];

	o.w[0] = stored(x, 0, nulls);
	o.w[1] = stored(sum, 1, nulls);
	o.w[2] = stored((Numeric) {false, -x.digits, x.scale}, 2, nulls);
	o.w[3] = stored(y, 3, nulls);
	o.w[4] = stored(product, 4, nulls);
	o.w[5] = stored(small < 25 ? x : brought, 5, nulls);
	o.w[6] = stored(brought, 6, nulls);
	o.w[7] = (u64) x.scale;
	/* GREATEST has the first of equal ones. */
	o.w[8] = y.null ? 0 : (u64) (y.scale + (scaled(x, MOST_SCALE) >= 2500 ? x.scale : 2));
	*nulls |= (u64) y.null << 8;
	o.w[9] = (u64) (c + 1) << MAKER_ROW_BITS | r;
	return o;
}

static u64
wanted_rows(int shape, Out *outs)
{
	const TableColumn *x = find_column(C_NUM);
	const bool	joined = shape == JOINED || shape == GATHERED;
	u64			n = 0;

	for (int c = 0; c < NCHUNKS; c++)
	{
		for (u32 r = 0; r < CHUNK_ROWS[c]; r++)
		{
			const Numeric v = cell(x, c, r);
			const int	match = joined ? match_of(find_column(C_KEY)->value[c][r]) : 0;

			if (v.null || scaled(v, MOST_SCALE) >= LIMIT * 1000 || match < 0)
				continue;
			outs[n++] = wanted_row(v, find_column(C_SMALL)->value[c][r], joined ? cell(find_column(C_DVAL), 0, match)
								   : (Numeric) {false, v.digits < 0 ? -v.digits : v.digits, v.scale}, c, r);
		}
	}
	qsort(outs, n, sizeof(Out), compare_outs);
	return n;
}

static void
note_greatest(u64 *word, i64 v)
{
	const u64	u = (u64) v ^ (u64) 1 << 63;

	*word = u > *word ? u : *word;
}

static void
note_least(u64 *word, i64 v)
{
	const u64	u = ~((u64) v ^ (u64) 1 << 63);

	*word = u > *word ? u : *word;
}

static void
wanted_words(u64 *w)
{
	const TableColumn *x = find_column(C_NUM);

	memset(w, 0, NWORDS * sizeof(u64));
	for (int c = 0; c < NCHUNKS; c++)
	{
		for (u32 r = 0; r < CHUNK_ROWS[c]; r++)
		{
			const Numeric n = cell(x, c, r);
			const i64	v = scaled(n, MOST_SCALE);

			if (n.null || v >= LIMIT * 1000)
				continue;
			w[W_COUNT]++;
			w[W_VALUES]++;
			w[W_SUM] += (u64) v;
			note_least(&w[W_LEAST], v);
			note_greatest(&w[W_GREATEST], v);
			note_greatest(&w[W_MOST_SCALE], n.scale);
			note_least(&w[W_LEAST_SCALE], n.scale);
			note_least(&w[W_LEAST_SMALL], GC_TAGGED(v, n.scale));
			note_least(&w[W_LEAST_LARGE], GC_TAGGED(v, GC_TAG_SCALES - 1 - n.scale));
			note_greatest(&w[W_GREATEST_LARGE], GC_TAGGED(v, n.scale));
			note_greatest(&w[W_GREATEST_SMALL], GC_TAGGED(v, GC_TAG_SCALES - 1 - n.scale));
		}
	}
}

static void
check_totals(const Member *m, const char *how)
{
	Result		r = fetch(m);
	u64			wanted[NWORDS];
	int			wrong = -1;

	wanted_words(wanted);
	if (r.size != GC_NFLAGS * 4 + sizeof(wanted))
		tap_bail("the sink has other words than the test thinks");
	for (int i = 0; i < NWORDS; i++)
	{
		u64			got;

		memcpy(&got, r.bytes + GC_NFLAGS * 4 + i * 8, 8);
		if (got != wanted[i])
			wrong = i;
	}
	ok(wrong < 0, "aggregates, %s: %llu rows (word %d)", how, (unsigned long long) wanted[W_COUNT], wrong);
	free(r.bytes);
}

static void
check(int shape, const char *how)
{
	static Out	outs[200000];
	u64			n;

	if (shape == TOTALS)
	{
		check_totals(&members[shape], how);
		return;
	}
	n = wanted_rows(shape, outs);
	ok(n > 1000 && check_sink(&members[shape], outs, n), "%s, %s: %llu rows", shapes[shape], how, (unsigned long long) n);
}

/* ---------- runs ---------- */

static void
prepare(Member *m, int shape)
{
	if (shape != TOTALS)
		prepare_sink(m, 200000);
	else
		empty_sink(m);
}

static void
test_alone(int vec, bool private)
{
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		Member	   *m = &members[shape];
		const GcAddr begin = top;

		m->variant.vec = vec;
		m->compiled = false;
		prepare(m, shape);
		run_alone(m, m->pipeline, m->sink, ALL_CHUNKS, private);
		unload(&m->own);
		if (!private || shape == TOTALS)
			check(shape, private ? "of private chunks" : "alone");
		top = begin;
	}
}

static void
test_fused(int vec)
{
	GcFusedMember from[NSHAPES];
	GcFusedSource source;
	GcError		err = {GC_OK, ""};
	Member	   *who[NSHAPES];
	Loaded		k;

	for (int i = 0; i < NSHAPES; i++)
	{
		who[i] = &members[i];
		from[i] = (GcFusedMember) {who[i]->p, who[i]->pipeline, who[i]->variant, who[i]->columns};
		from[i].variant.vec = vec;
		prepare(who[i], i);
	}
	if (gc_generate_fused(from, NSHAPES, &source, &err) != GC_OK)
		tap_bail(err.detail);
	k = load_text(source.text);
	run_all_fused(&source, &k, who, NSHAPES, 1);
	unload(&k);
	free(source.text);
	for (int i = 0; i < NSHAPES; i++)
		check(i, "fused");
}

/* ---------- typing ---------- */

/* A column of such values is put out, compared, or brought along from a join. */
static GcCode
type_program(const GcFact *fact, u8 what, Maker *m, GcProgram **p)
{
	GcFacts		facts = {.rows = 1000};
	GcError		err = {GC_OK, ""};
	u16			x,
				b;

	*m = (Maker) {0};
	maker_input(m);
	x = maker_read(m, maker_column(m, C_NUM, GC_NUMERIC, fact));
	if (what == GC_SINK_BUILD)
	{
		b = maker_build(m, 0, GC_BUILD_DENSE, true, read_column(m, C_KEY, false), x);
		maker_input(m);
		maker_pipeline(m, 1, GC_SINK_AGGREGATE, 0);
		maker_probe(m, b, read_column(m, C_KEY, false), 1, false);
		maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
		maker_agg(m, GC_AGG_COUNT, maker_expr(m, GC_OP_PAYLOAD, GC_NUMERIC, GC_NONE, GC_NONE, m->builds[b].first_payload));
	}
	else
	{
		maker_pipeline(m, 0, what, 0);
		if (what == GC_SINK_ROWS)
			maker_out(m, x);
		else
		{
			maker_group(m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
			maker_agg(m, GC_AGG_MIN, tag_of(m, x, 0));
			maker_agg(m, GC_AGG_MAX, maker_expr(m, GC_OP_SCALE, GC_INT4, x, GC_NONE, GC_NONE));
		}
	}
	facts.columns = m->column_facts;
	facts.params = m->param_facts;
	facts.luts = m->lut_facts;
	m->head.size = gc_program_size(&m->head);
	*p = calloc(1, m->head.size);
	**p = m->head;
	memcpy(gc_inputs(*p), m->inputs, m->head.ninputs * sizeof(GcPInput));
	memcpy(gc_columns(*p), m->columns, m->head.ncolumns * sizeof(GcPColumn));
	memcpy(gc_exprs(*p), m->exprs, m->head.nexprs * sizeof(GcExpr));
	memcpy(gc_steps(*p), m->steps, m->head.nsteps * sizeof(GcPStep));
	memcpy(gc_pipelines(*p), m->pipelines, m->head.npipelines * sizeof(GcPPipeline));
	memcpy(gc_builds(*p), m->builds, m->head.nbuilds * sizeof(GcPBuild));
	memcpy(gc_payloads(*p), m->payloads, m->head.npayloads * sizeof(GcPPayload));
	memcpy(gc_aggs(*p), m->aggs, m->head.naggs * sizeof(GcPAgg));
	memcpy(gc_refs(*p), m->refs, m->head.nrefs * sizeof(u16));
	return gc_program_type(*p, &facts, m->ranges, &err);
}

static void
test_typing(void)
{
	static const u8 whats[] = {GC_SINK_ROWS, GC_SINK_BUILD, GC_SINK_AGGREGATE};
	static const char *const names[] = {"an output", "a payload", "a tag"};
	Maker	   *m = malloc(sizeof(Maker));
	GcProgram  *p;

	for (int i = 0; i < 3; i++)
	{
		GcFact		fact = {.range = {-GC_TAG_LIMIT + 1, GC_TAG_LIMIT - 1},.scale = 31,.scale_spread = 31,.width = 8};

		ok(type_program(&fact, whats[i], m, &p) == GC_OK, "%s may have all digits and scales", names[i]);
		ok(gc_columns(p)[0].min_scale == 0 && gc_columns(p)[0].reg == GC_I64, "its column's values are tagged");
		if (i == 1)
			ok(gc_payloads(p)[0].min_scale == 0 && gc_payloads(p)[0].scale == 31 && gc_payloads(p)[0].width == 8 &&
			   gc_payloads(p)[0].reg == GC_I64, "so is the payload");
		if (i == 2)
			ok(gc_aggs(p)[0].word != gc_aggs(p)[1].word && m->ranges[gc_aggs(p)[0].arg].hi == INT64_MAX, "and the tag fits");
		free(p);
		fact.range.hi++;
		for (int less = 0; less < 2; less++, fact.range = (GcRange) {-GC_TAG_LIMIT, 0})
		{
			const GcCode code = type_program(&fact, whats[i], m, &p);

			ok(code == (i == 2 ? GC_UNSUPPORTED : GC_OK) && gc_columns(p)[0].reg == GC_I128, "others have 128 bits, and no tag");
			if (i == 1)
				ok(gc_payloads(p)[0].width == 16 && gc_payloads(p)[0].reg == GC_I128, "so has the payload");
			if (i == 0)
				ok(gc_row_words(p, &gc_pipelines(p)[0]) == 3, "the output has two words");
			free(p);
		}
		fact.range = (GcRange) {-GC_TAG_LIMIT_WIDE + 1, GC_TAG_LIMIT_WIDE - 1};
		ok(type_program(&fact, whats[i], m, &p) == (i == 2 ? GC_UNSUPPORTED : GC_OK), "up to a limit");
		free(p);
		fact.range.hi++;
		ok(type_program(&fact, whats[i], m, &p) == GC_UNSUPPORTED, "and not beyond it");
		free(p);
		fact.range = (GcRange) {-GC_TAG_LIMIT, 0};
		fact.scale_spread = 0;
		ok(type_program(&fact, whats[i], m, &p) == GC_OK && gc_columns(p)[0].min_scale == 31, "of one scale it may be");
		if (i == 1)
			ok(gc_payloads(p)[0].min_scale == 31, "and is not tagged");
		if (i == 2)
			ok(gc_exprs(p)[gc_aggs(p)[0].arg].scale == 31 &&
			   m->ranges[gc_aggs(p)[0].arg].lo == -GC_TAG_LIMIT && gc_pipelines(p)[0].group_words == 1,
			   "and scales that are known have no place in groups");
		free(p);
		fact = (GcFact) {.range = {0, 5},.scale = 32,.scale_spread = 1,.width = 1};
		ok(type_program(&fact, whats[i], m, &p) == GC_UNSUPPORTED, "no scale is above 31");
		free(p);
	}
	free(m);
}

static void
test_ranges(void)
{
	const GcExpr one = {.kind = GC_NUMERIC,.scale = 2,.min_scale = 2},
				two = {.kind = GC_NUMERIC,.scale = 2,.min_scale = 1};
	GcRange		r = {-100, 250};

	ok(!gc_is_varying(&one) && gc_is_varying(&two) && !gc_is_varying(&(GcExpr) {.kind = GC_INT4,.scale = 2}), "which expressions vary");
	r = gc_stored_range(&one, &r);
	ok(r.lo == -100 && r.hi == 250, "values of one scale are stored as they are");
	r = gc_stored_range(&two, &r);
	ok(r.lo == -3200 && r.hi == 250 * 32 + 31, "others with their scales");
	r = (GcRange) {100, 250};
	r = gc_stored_range(&two, &r);
	ok(r.lo == 0 && r.hi == 250 * 32 + 31, "of which fewer digits are less");
	r = (GcRange) {-250, -100};
	r = gc_stored_range(&two, &r);
	ok(r.lo == -250 * 32 && r.hi == 31, "or more");
	ok(gc_stored_range(&two, &r).lo == r.lo * 32 && !gc_taggable(&two, &(GcRange) {0, GC_TAG_LIMIT}) &&
	   gc_taggable(&two, &(GcRange) {-GC_TAG_LIMIT + 1, GC_TAG_LIMIT - 1}), "within limits");
}

/* ---------- texts ---------- */

static void
test_texts(void)
{
	static const char *const loads[NSHAPES] = {"\nGC_TAG_VECTOR(", "\nGC_TAG_LATE(", "= GC_WITH_SCALE(GC_AT(", "\nGC_TAG_VECTOR(",
	"\nGC_TAG_GATHERED(", "\nGC_TAG_VECTOR("};
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (int i = 0; i < NSHAPES * 2; i++)
	{
		const GcVariant variant = {.vec = i % 2 ? 16 : 8,.threads = 256};
		GcKernelSource source;

		if (gc_generate(members[i / 2].p, members[i / 2].pipeline, &variant, &source, &err) != GC_OK)
			tap_bail(err.detail);
		ok(strstr(source.text, loads[i / 2]) != NULL, "%s: scales are known where values are loaded", shapes[i / 2]);
		compiles_for_gpu(nvrtc, i % 2 ? 90 : 80, source.text, GC_COMPILE_FULL, shapes[i / 2]);
		free(source.text);
	}
}

int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};

	tap_start();
	test_ranges();
	test_typing();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	for (int i = 0; i < NTABLE; i++)
	{
		if (table[i].number == C_NUM || table[i].number == C_DVAL)
			make_numerics(&table[i]);
		else
			make_column(&table[i]);
	}
	make_results();
	for (int shape = 0; shape < NSHAPES; shape++)
		make_member(shape);
	for (int vec = on_host ? 0 : 8; vec <= (on_host ? 0 : 16); vec += 8)
	{
		test_alone(vec, false);
		test_alone(vec, true);
		test_fused(vec);
	}
	test_texts();
	for (int shape = 0; shape < NSHAPES; shape++)
		free(members[shape].p);
	free_columns();
	stop_device();
	return tap_done();
}
