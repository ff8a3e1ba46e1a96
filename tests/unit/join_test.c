/*-------------------------------------------------------------------------
 *
 * join_test.c [host|cuda]
 *	  Left, semi, anti, full and right joins, and conditions on matches: which rows come out, and
 *	  how often.
 *
 * Each kind of join probes dense and hash builds, with keys that are unique or repeat, sets, and
 * builds without a row.  Keys of the probing rows are NULL, or lie outside of the build's range,
 * or occur.  Conditions on a match are true, false or NULL.  The probe is made in every form that
 * a kernel's steps have: on whole vectors, row by row, on gathered rows, behind a selection
 * bitmap; into rows, and into sums.  What must come out is computed here.  Of full and right joins,
 * the matches that were noted are counted, too.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

/* Around what a thread, a warp and a tile take. */
#define NCHUNKS			12
#define CHUNK_SIZES		{0, 1, 7, 8, 31, 32, 33, 257, 16383, 16384, 16385, 20000}

#include "rows_util.h"

#include "../../src/device/nvrtc.h"

#define ALL_CHUNKS		((1u << NCHUNKS) - 1)

/* Inputs of the build: the dimension, with unique keys, or the table with repeated ones. */
typedef enum Build
{
	DIM_DENSE,
	DIM_HASH,					/* of keys below HASH_KEYS */
	MANY_DENSE,					/* a set */
	MANY_HASH
} Build;

#define HASH_KEYS		500
#define KEYS			6300	/* of all that is joined; KEY_BASE is the least */
#define KEY_BASE		(-300)

/* How rows come to the probe, and from there to the sink. */
typedef enum Form
{
	FORM_ALL,					/* all of them */
	FORM_HALF,					/* behind a filter */
	FORM_FEW,					/* behind filters that leave so few that they are gathered */
	FORM_SELECTED,				/* behind a selection bitmap */
	FORM_SUMS,					/* all of them, into one group */
	FORMS
} Form;

static const char *const form_names[FORMS] = {"all", "half", "few", "selected", "summed"};

typedef struct Request
{
	const char *name;
	u8			join;
	Build		build;
	bool		set;
	bool		condition;
	bool		empty;
	i16			key;
	bool		differs;		/* the condition: a value differs from the row's; the build keeps the greatest */
} Request;

static const Request requests[] = {
	{"left, dense", GC_JOIN_LEFT, DIM_DENSE, false, false, false, C_KEY, false},
	{"left, dense, NULL keys", GC_JOIN_LEFT, DIM_DENSE, false, false, false, C_NULL, false},
	{"left, dense, condition", GC_JOIN_LEFT, DIM_DENSE, false, true, false, C_KEY, false},
	{"left, hash", GC_JOIN_LEFT, DIM_HASH, false, false, false, C_NULL, false},
	{"left, hash, condition", GC_JOIN_LEFT, DIM_HASH, false, true, false, C_NULL, false},
	{"left, repeated keys", GC_JOIN_LEFT, MANY_HASH, false, false, false, C_NULL, false},
	{"left, repeated keys, condition", GC_JOIN_LEFT, MANY_HASH, false, true, false, C_SMALL, false},
	{"left, nothing built", GC_JOIN_LEFT, MANY_HASH, false, false, true, C_NULL, false},
	{"left, nothing built, dense", GC_JOIN_LEFT, DIM_DENSE, false, true, true, C_KEY, false},
	{"semi, dense set", GC_JOIN_SEMI, MANY_DENSE, true, false, false, C_NULL, false},
	{"semi, dense set, in range", GC_JOIN_SEMI, MANY_DENSE, true, false, false, C_SMALL, false},
	{"semi, dense, condition", GC_JOIN_SEMI, DIM_DENSE, false, true, false, C_KEY, false},
	{"semi, hash set", GC_JOIN_SEMI, MANY_HASH, true, false, false, C_NULL, false},
	{"semi, repeated keys, condition", GC_JOIN_SEMI, MANY_HASH, false, true, false, C_SMALL, false},
	{"semi, hash, condition", GC_JOIN_SEMI, DIM_HASH, false, true, false, C_NULL, false},
	{"semi, nothing built", GC_JOIN_SEMI, MANY_HASH, true, false, true, C_SMALL, false},
	{"anti, dense set", GC_JOIN_ANTI, MANY_DENSE, true, false, false, C_NULL, false},
	{"anti, dense set, in range", GC_JOIN_ANTI, MANY_DENSE, true, false, false, C_SMALL, false},
	{"anti, dense, condition", GC_JOIN_ANTI, DIM_DENSE, false, true, false, C_KEY, false},
	{"anti, hash set", GC_JOIN_ANTI, MANY_HASH, true, false, false, C_NULL, false},
	{"anti, repeated keys, condition", GC_JOIN_ANTI, MANY_HASH, false, true, false, C_SMALL, false},
	{"anti, hash, condition", GC_JOIN_ANTI, DIM_HASH, false, true, false, C_NULL, false},
	{"semi, differing, dense", GC_JOIN_SEMI, MANY_DENSE, true, true, false, C_SMALL, true},
	{"semi, differing, hash", GC_JOIN_SEMI, MANY_HASH, true, true, false, C_NULL, true},
	{"anti, differing, dense", GC_JOIN_ANTI, MANY_DENSE, true, true, false, C_NULL, true},
	{"anti, differing, hash", GC_JOIN_ANTI, MANY_HASH, true, true, false, C_SMALL, true},
	{"anti, differing, nothing built", GC_JOIN_ANTI, MANY_DENSE, true, true, true, C_SMALL, true},
	{"anti, nothing built", GC_JOIN_ANTI, MANY_DENSE, true, false, true, C_NULL, false},
	{"full, unique", GC_JOIN_FULL, DIM_HASH, false, false, false, C_NULL, false},
	{"full, unique, condition", GC_JOIN_FULL, DIM_HASH, false, true, false, C_NULL, false},
	{"full, repeated keys", GC_JOIN_FULL, MANY_HASH, false, false, false, C_NULL, false},
	{"full, repeated keys, condition", GC_JOIN_FULL, MANY_HASH, false, true, false, C_SMALL, false},
	{"full, nothing built", GC_JOIN_FULL, MANY_HASH, false, false, true, C_NULL, false},
	{"right, unique", GC_JOIN_RIGHT, DIM_HASH, false, false, false, C_NULL, false},
	{"right, unique, condition", GC_JOIN_RIGHT, DIM_HASH, false, true, false, C_NULL, false},
	{"right, repeated keys", GC_JOIN_RIGHT, MANY_HASH, false, false, false, C_NULL, false},
	{"right, repeated keys, condition", GC_JOIN_RIGHT, MANY_HASH, false, true, false, C_SMALL, false},
};

#define NREQUESTS	((int) (sizeof(requests) / sizeof(requests[0])))

static Member members[NREQUESTS][FORMS];

/* Rows of the build with one key: the last, + 1, and the one before each, + 1. */
static int	newest[2][KEYS];
static int	before[2][DIM_ROWS];

/* Rows of the build that something matched, of what was wanted last. */
static bool noted[DIM_ROWS];

/* ---------- the requests ---------- */

static bool
of_dim(const Request *q)
{
	return q->build == DIM_DENSE || q->build == DIM_HASH;
}

/* Does a row come out with each of its matches? */
static bool
returns_matches(const Request *q)
{
	return q->join != GC_JOIN_SEMI && q->join != GC_JOIN_ANTI;
}

static bool
returns_unmatched(const Request *q)
{
	return q->join == GC_JOIN_LEFT || q->join == GC_JOIN_FULL || q->join == GC_JOIN_ANTI;
}

static u16
below(Maker *m, u16 column, i64 limit)
{
	return maker_test(m, GC_OP_LT, column, maker_param(m, GC_INT4, limit, 0));
}

/* The compared expression where values differ: a column, of which few values are left. */
static u16
some_of(Maker *m, u16 column, i64 divisor)
{
	return maker_expr(m, GC_OP_DIV, GC_INT4, column, maker_param(m, GC_INT4, divisor, 0), GC_NONE);
}

static u16
negated(Maker *m, u16 e)
{
	return maker_expr(m, GC_OP_NEG, GC_INT8, e, GC_NONE, GC_NONE);
}

/* The greatest and the negated least value of each key. */
static void
keep_greatest(Maker *m, u16 b, u16 value)
{
	m->builds[b].first_payload = m->head.npayloads;
	m->builds[b].npayloads = 2;
	m->payloads[m->head.npayloads++] = (GcPPayload) {.build = b,.expr = value,.kind = GC_INT4,.greatest = 1};
	m->payloads[m->head.npayloads++] = (GcPPayload) {.build = b,.expr = negated(m, value),.kind = GC_INT8,.greatest = 1};
}

static u16
make_build(Maker *m, const Request *q)
{
	u16			input = maker_input(m);
	u16			key = read_column(m, of_dim(q) ? C_DKEY : C_HKEY, false);
	u16			value = read_column(m, of_dim(q) ? C_DVAL : C_HVAL, false);
	u16			b = maker_build(m, input, q->build == DIM_DENSE || q->build == MANY_DENSE ? GC_BUILD_DENSE : GC_BUILD_HASH,
								of_dim(q), key, q->set ? GC_NONE : value);

	m->builds[b].set = q->set;
	m->builds[b].keeps = gc_join_keeps(q->join);
	if (q->differs)
		keep_greatest(m, b, some_of(m, value, 500));
	if (q->empty || q->build == DIM_HASH)
		maker_filter(m, below(m, key, q->empty ? 0 : HASH_KEYS), 0);
	return b;
}

/* A dense set of the repeated keys, which is probed besides. */
static u16
make_other(Maker *m)
{
	static const Request other = {"", GC_JOIN_SEMI, MANY_DENSE, true, false, false, C_SMALL, false};

	return make_build(m, &other);
}

static u16
make_difference(Maker *m, u16 b)
{
	const u16	first = m->builds[b].first_payload;
	u16			y = some_of(m, read_column(m, C_NULL, false), 200);
	u16			greatest = maker_expr(m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, first);
	u16			least = maker_expr(m, GC_OP_PAYLOAD, GC_INT8, GC_NONE, GC_NONE, first + 1);

	return maker_test(m, GC_OP_OR, maker_test(m, GC_OP_NE, greatest, y), maker_test(m, GC_OP_NE, least, negated(m, y)));
}

/* true, false or NULL of a match */
static u16
make_condition(Maker *m, const Request *q, u16 b)
{
	u16			payload;

	if (q->differs)
		return make_difference(m, b);
	payload = maker_expr(m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, m->builds[b].first_payload);
	return maker_test(m, GC_OP_LT, payload, read_column(m, of_dim(q) ? C_SMALL : C_NULL, false));
}

static void
make_outs(Maker *m, const Request *q, u16 b, u16 first)
{
	if (returns_matches(q))
		first = maker_expr(m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, m->builds[b].first_payload);
	maker_out(m, first);
	maker_out(m, read_column(m, C_NULL, false));
	maker_out(m, read_column(m, C_FLOAT, false));
	maker_out(m, read_column(m, C_BIG, false));
}

static void
make_request(Maker *m, const Request *q, Form form)
{
	static const int survive[FORMS] = {0, 1, 7, 1, 0};
	u16			b = make_build(m, q);
	u16			other = form == FORM_FEW ? make_other(m) : GC_NONE;
	u16			input = maker_input(m);
	u16			key = read_column(m, C_KEY, false);
	u16			probe = q->key == C_KEY ? key : read_column(m, q->key, false);
	u16			condition = q->condition ? make_condition(m, q, b) : GC_NONE;

	maker_pipeline(m, input, form == FORM_SUMS ? GC_SINK_AGGREGATE : GC_SINK_ROWS, survive[form]);
	if (form == FORM_HALF || form == FORM_SELECTED)
		maker_filter(m, below(m, key, 3000), 1);
	if (form == FORM_FEW)
		maker_filter(m, below(m, key, 300), 4);
	maker_probe(m, b, probe, returns_matches(q) ? 0 : 1, q->build == MANY_DENSE && q->key == C_SMALL);
	m->steps[m->head.nsteps - 1].join = q->join;
	m->steps[m->head.nsteps - 1].expr = condition;
	if (form == FORM_FEW)
	{
		maker_probe(m, other, read_column(m, C_SMALL, false), 1, true);
		m->steps[m->head.nsteps - 1].join = GC_JOIN_SEMI;
	}
	if (form != FORM_SUMS)
	{
		make_outs(m, q, b, probe);
		return;
	}
	maker_group(m, GC_GROUP_NONE, 0, 0, 0);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, returns_matches(q) ?
			  maker_expr(m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, m->builds[b].first_payload) : probe);
}

/* ---------- what must come out ---------- */

static void
index_builds(void)
{
	for (int many = 0; many < 2; many++)
	{
		const TableColumn *key = find_column(many ? C_HKEY : C_DKEY);

		for (u32 r = 0; r < key->cols[0].nrows; r++)
		{
			int		   *last = &newest[many][key->value[0][r] - KEY_BASE];

			before[many][r] = *last;
			*last = (int) r + 1;
		}
	}
}

/* Does the build have this row, and does it match row r of chunk c, whose key is equal? */
static bool
matches(const Request *q, int row, int c, u32 r)
{
	const TableColumn *value = find_column(of_dim(q) ? C_DVAL : C_HVAL);
	const TableColumn *limit = find_column(of_dim(q) ? C_SMALL : C_NULL);
	const TableColumn *key = find_column(q->key);

	if (q->empty || (q->build == DIM_HASH && key->value[c][r] >= HASH_KEYS))
		return false;
	if (q->differs)
		return !limit->null[c][r] && value->value[0][row] / 500 != limit->value[c][r] / 200;
	return !q->condition || (!value->null[0][row] && !limit->null[c][r] && value->value[0][row] < limit->value[c][r]);
}

/* Add one result row. */
static u64
add_out(const Request *q, int c, u32 r, int match, Out *outs, u64 n)
{
	const TableColumn *value = find_column(of_dim(q) ? C_DVAL : C_HVAL);
	Out			o = {{0}};

	if (!returns_matches(q))
		o.w[0] = code_of(q->key, c, r, 0, &o.w[MAX_OUTS]);
	else if (match < 0 || value->null[0][match])
		o.w[MAX_OUTS] = 1;
	else
		o.w[0] = (u64) value->value[0][match];
	o.w[1] = code_of(C_NULL, c, r, 1, &o.w[MAX_OUTS]);
	o.w[2] = code_of(C_FLOAT, c, r, 2, &o.w[MAX_OUTS]);
	o.w[3] = code_of(C_BIG, c, r, 3, &o.w[MAX_OUTS]);
	outs[n] = o;
	return n + 1;
}

static u64
add_row(const Request *q, int c, u32 r, Out *outs, u64 n)
{
	const TableColumn *key = find_column(q->key);
	const int	many = !of_dim(q);
	u64			found = 0;

	for (int row = key->null[c][r] ? 0 : newest[many][key->value[c][r] - KEY_BASE]; row; row = before[many][row - 1])
	{
		if (!matches(q, row - 1, c, r))
			continue;
		found++;
		noted[row - 1] = true;
		if (returns_matches(q))
			n = add_out(q, c, r, row - 1, outs, n);
	}
	if (q->join == GC_JOIN_SEMI ? found > 0 : returns_unmatched(q) && found == 0)
		n = add_out(q, c, r, -1, outs, n);
	return n;
}

static bool
comes_to_probe(Form form, int c, u32 r)
{
	const i64	key = find_column(C_KEY)->value[c][r];

	switch (form)
	{
		case FORM_HALF:
		case FORM_SELECTED:
			return key < 3000;
		case FORM_FEW:
			return key < 300 && newest[1][find_column(C_SMALL)->value[c][r] - KEY_BASE];
		default:
			return true;
	}
}

/* All rows of these chunks, sorted; malloc'd. */
static Out *
wanted_rows(const Request *q, Form form, u32 chunks, u64 *n)
{
	u64			most = 1;
	Out		   *outs;

	for (int c = 0; c < NCHUNKS; c++)
		most += chunks >> c & 1 ? (u64) CHUNK_ROWS[c] * (returns_matches(q) && !of_dim(q) ? 20 : 1) : 0;
	outs = malloc(most * sizeof(Out));
	*n = 0;
	memset(noted, 0, sizeof(noted));
	for (int c = 0; c < NCHUNKS; c++)
	{
		for (u32 r = 0; chunks >> c & 1 && r < CHUNK_ROWS[c]; r++)
		{
			if (comes_to_probe(form, c, r))
				*n = add_row(q, c, r, outs, *n);
		}
	}
	if (*n > most)
		tap_bail("more matches than expected");
	qsort(outs, *n, sizeof(Out), compare_outs);
	return outs;
}

/* The one group has the count and sum of the wanted rows. */
static bool
check_sums(const Member *m, const Out *wanted, u64 n)
{
	const GcPPipeline *pl = &gc_pipelines(m->p)[m->pipeline];
	const GcPAgg *aggs = gc_aggs(m->p) + pl->first_agg;
	u64			words[8];
	u64			sum = 0;

	for (u64 r = 0; r < n; r++)
		sum += wanted[r].w[0];
	must(ops->copy_out(stream, words, m->sink + m->part[0], pl->group_words * sizeof(u64), NULL));
	must(finish(stream, NULL));
	if (words[aggs[0].word] == n && words[aggs[1].word] == sum)
		return true;
	tap_note("%llu rows wanted, %llu counted", (unsigned long long) n, (unsigned long long) words[aggs[0].word]);
	return false;
}

/* Are as many rows of the build noted as something matched?  They lie in any order. */
static bool
check_noted(const Member *m, const Request *q)
{
	u8			bytes[BUILD_CAP];
	int			wanted = 0;
	int			got = 0;

	if (!gc_join_keeps(q->join))
		return true;
	must(ops->copy_out(stream, bytes, m->build[0][5], BUILD_CAP, NULL));
	must(finish(stream, NULL));
	for (int r = 0; r < DIM_ROWS; r++)
		wanted += noted[r];
	for (int r = 0; r < BUILD_CAP; r++)
		got += bytes[r];
	if (wanted != got)
		tap_note("%d matches wanted, %d noted", wanted, got);
	return wanted == got;
}

/* ---------- runs ---------- */

/* One kernel, over no chunk, each alone, and all. */
static void __attribute__((unused))
check_kernel(int i, Form form, const Loaded *k, const GcKernelSource *source, const char *how)
{
	static const u32 threads[] = {32, 96, 256};
	const Request *q = &requests[i];
	Member	   *m = &members[i][form];
	int			wrong = 0;
	u64			rows = 0;

	for (int c = 0; c <= NCHUNKS + 1; c++)
	{
		const GcAddr begin = top;
		u64			n;
		const u32	chunks = c < NCHUNKS ? 1u << c : c == NCHUNKS ? 0 : ALL_CHUNKS;
		Out		   *wanted = wanted_rows(q, form, chunks, &n);

		prepare_sink(m, n);
		if (form == FORM_SUMS)
			must(ops->fill(stream, m->sink, 0, m->part[4], NULL));
		must(ops->fill(stream, m->build[0][5], 0, BUILD_CAP, NULL));
		run_member(m, k, source, chunks, threads[c % 3], c);
		wrong += form == FORM_SUMS ? !check_sums(m, wanted, n) : !check_sink(m, wanted, n);
		wrong += !check_noted(m, q);
		rows += n;
		free(wanted);
		top = begin;
	}
	ok(wrong == 0, "%s, %s, %s: %llu rows", q->name, form_names[form], how, (unsigned long long) rows);
}

static void
generate_for(int i, Form form, int vec, GcKernelSource *source)
{
	const Member *m = &members[i][form];
	GcError		err = {GC_OK, ""};
	GcVariant	v = m->variant;

	v.vec = vec;
	if (gc_generate(m->p, m->pipeline, &v, source, &err) != GC_OK)
		tap_bail(err.detail);
}

static void __attribute__((unused))
test_request(int i, Form form)
{
	for (int vec = on_host ? 0 : 8; vec <= (on_host ? 0 : 16); vec += 8)
	{
		GcKernelSource source;
		Loaded		k;

		generate_for(i, form, vec, &source);
		k = load_with(source.text, GC_COMPILE_FULL);
		check_kernel(i, form, &k, &source, on_host ? "on the host" : vec == 8 ? "8 rows a thread" : "16 rows a thread");
		unload(&k);
		free(source.text);
	}
}

/* ---------- members ---------- */

/* A selection bitmap of the rows that pass the first step. */
static void
make_selection(Member *m)
{
	const u64	per_chunk = padded(20000) / 8;
	u8		   *bits = calloc(NCHUNKS, per_chunk);

	for (int c = 0; c < NCHUNKS; c++)
	{
		for (u32 r = 0; r < CHUNK_ROWS[c]; r++)
			bits[c * per_chunk + (r >> 3)] |= (u8) (comes_to_probe(FORM_SELECTED, c, r) << (r & 7));
	}
	m->sel_bitmap = put(bits, NCHUNKS * per_chunk);
	m->sel_bitmap_bytes = per_chunk;
	m->summary = take(NCHUNKS * per_chunk);
	must(ops->fill(stream, m->summary, 0xff, NCHUNKS * per_chunk, NULL));
	m->sel_bitmap_bit = 3;
	free(bits);
}

static void
make_member(int i, Form form)
{
	const Request *q = &requests[i];
	Member	   *m = &members[i][form];

	make_request(&m->maker, q, form);
	m->p = maker_finish(&m->maker, 1000000);
	m->pipeline = m->p->npipelines - 1;
	m->variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = 256,.selection = form == FORM_SELECTED};
	m->chunks = ALL_CHUNKS;
	m->ngroups = form == FORM_SUMS;
	for (int b = 0; b < m->p->nbuilds; b++)
		m->ranges[b] = b == 0 && of_dim(q) ? DIM_RANGE : 80;
	if (form == FORM_SELECTED)
		make_selection(m);
	run_builds(m);
}

/* No build has raised a flag, though keys of sets came twice; and no set has more rows than keys. */
static void __attribute__((unused))
test_builds(int i)
{
	const Member *m = &members[i][FORM_ALL];
	u32			flags[GC_NFLAGS];

	must(ops->copy_out(stream, flags, m->build[0][4], sizeof(flags), NULL));
	must(finish(stream, NULL));
	ok(flags[GC_FLAG_BUILD_FULL] == 0 && flags[GC_FLAG_DATA] == 0 &&
	   (flags[GC_FLAG_DUPLICATE] == 0 || (requests[i].build == MANY_HASH && !requests[i].set)) &&
	   (!requests[i].set || flags[GC_FLAG_BUILT] <= 80 * HOST_THREADS), "%s: built", requests[i].name);
}

/* ---------- programs that are none ---------- */

/* A copy of a program, spoiled by the statements that follow, is refused. */
#define REFUSED(p, what, ...) \
	do { \
		GcProgram  *c = malloc((p)->size); \
		GcError		err = {GC_OK, ""}; \
\
		memcpy(c, (p), (p)->size); \
		__VA_ARGS__; \
		ok(gc_program_check(c, c->size, &err) == GC_BAD_PROGRAM, "refused: %s", (what)); \
		free(c); \
	} while (0)

/* Kernels would read what their pipelines have not, or the generator would look up what is not in a table. */
static void __attribute__((unused))
test_check(int i)
{
	const GcProgram *rows = members[i][FORM_ALL].p;
	const GcProgram *sums = members[i][FORM_SUMS].p;
	const GcPPipeline *pl = &gc_pipelines(rows)[members[i][FORM_ALL].pipeline];
	const u16	probe = pl->first_step;
	const u16	key = gc_refs(rows)[gc_steps(rows)[probe].first_key];
	const u16	theirs = gc_inputs(rows)[gc_pipelines(rows)[0].input].first_column;
	const GcPPipeline *group = &gc_pipelines(sums)[members[i][FORM_SUMS].pipeline];
	u16			last = group->first_agg + group->naggs - 1;

	REFUSED(rows, "a column of another input", gc_exprs(c)[key].ref = theirs);
	REFUSED(rows, "a payload of a build that is not probed", gc_pipelines(c)[members[i][FORM_ALL].pipeline].nsteps = 0);
	REFUSED(rows, "a payload behind a semi join", gc_steps(c)[probe].join = GC_JOIN_SEMI);
	REFUSED(rows, "a column in no input", gc_columns(c)[theirs].input = pl->input);
	REFUSED(rows, "a code of three bytes", gc_payloads(c)[0].width = 3);
	REFUSED(rows, "a register that there is not", gc_columns(c)[theirs].reg = GC_F64X2 + 1);
	REFUSED(rows, "keys of groups in a build", gc_pipelines(c)[0].nkeys = UINT8_MAX);
	REFUSED(rows, "an estimate of nothing", gc_steps(c)[probe].selectivity = UINT8_MAX);
	REFUSED(rows, "an input that there is not", gc_pipelines(c)[0].input = GC_NONE);
	REFUSED(rows, "a choice behind the last pipeline", c->select = c->npipelines + 1);
	REFUSED(sums, "an accumulator behind its group", gc_aggs(c)[last].word = group->group_words);
	REFUSED(sums, "groups of no mode", gc_pipelines(c)[members[i][FORM_SUMS].pipeline].group_mode = 0);
}

/* ---------- texts ---------- */

static void __attribute__((unused))
test_nvrtc(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (int i = 0; i < NREQUESTS; i++)
	{
		for (int form = 0; form < FORMS; form++)
		{
			GcKernelSource source;

			generate_for(i, form, i % 2 ? 8 : 16, &source);
			compiles_for_gpu(nvrtc, form % 2 ? 80 : 90, source.text, GC_COMPILE_QUICK, requests[i].name);
			free(source.text);
		}
	}
}

#ifndef JOIN_TEST_MAIN
int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	for (int i = 0; i < NTABLE; i++)
		make_column(&table[i]);
	index_builds();
	for (int i = 0; i < NREQUESTS; i++)
	{
		for (int form = 0; form < FORMS; form++)
		{
			make_member(i, form);
			test_request(i, form);
		}
		test_builds(i);
	}
	test_check(0);
	test_nvrtc();
	for (int i = 0; i < NREQUESTS * FORMS; i++)
		free(members[i / FORMS][i % FORMS].p);
	free_columns();
	stop_device();
	return tap_done();
}
#endif
