/*-------------------------------------------------------------------------
 *
 * rows_test.c [host|cuda]
 *	  Row sinks: every row that passes comes out, once.
 *
 * Requests that keep all rows, half of them or 1 in 200, in every form that a kernel's row
 * phase has: from vectors, from memory, with steps of its own, with several matches a row,
 * over marks, fused.  They run over chunks one by one and together, into sinks that are too
 * large, just large enough, or too small.  Which rows there must be is computed here: all of
 * them, or where there is no room as many as fit, none twice.  The number of all must be
 * right in any case, and behind the sink nothing may be written.
 *
 * Rows are also kept, and read by a second pipeline, whose rows must be the same.
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
#define CHUNK_SIZES		{0, 1, 7, 8, 31, 32, 33, 257, 16383, 16384, 16385, 40000}

#define MAX_OUTS		5

#include "rows_util.h"

#include "../../src/device/nvrtc.h"

#define ALL_CHUNKS		((1u << NCHUNKS) - 1)

typedef struct Request
{
	const char *name;
	void		(*make) (Maker *m);
	int			limit;			/* rows with C_KEY below that are kept */
	u64			selection;			/* steps that marks stand for */
	bool		joined;			/* a row is kept once for each match */
	bool		some;			/* of some chunks, only some rows are visible */
} Request;

/* ---------- the requests ---------- */

static u16
payload_of(Maker *m, u16 b)
{
	return maker_expr(m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, m->builds[b].first_payload);
}

static u16
below(Maker *m, u16 column, i64 limit)
{
	return maker_test(m, GC_OP_LT, column, maker_param(m, GC_INT4, limit, 0));
}

/* Each row's columns and its id, the last one always C_BIG, by which rows are told apart. */
static void
put_out(Maker *m, u16 first)
{
	maker_out(m, first);
	maker_out(m, read_column(m, C_NULL, false));
	maker_out(m, read_column(m, C_FLOAT, false));
	maker_out(m, maker_expr(m, GC_OP_ROW_ID, GC_INT8, GC_NONE, GC_NONE, m->head.ninputs - 1));
	maker_out(m, read_column(m, C_BIG, false));
}

static void
make_all(Maker *m)
{
	u16			key;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 0, GC_SINK_ROWS, 0);
	put_out(m, key);
}

static void
make_half(Maker *m)
{
	u16			key;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 0, GC_SINK_ROWS, 1);
	maker_filter(m, below(m, key, 3000), 1);
	put_out(m, key);
}

static void
make_few(Maker *m)
{
	u16			key;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 0, GC_SINK_ROWS, 7);
	maker_filter(m, below(m, key, 30), 4);
	put_out(m, key);
}

/* In two stages of whole vectors. */
static void
make_staged(Maker *m)
{
	u16			key;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 0, GC_SINK_ROWS, 4);
	maker_filter(m, maker_test(m, GC_OP_LT, read_column(m, C_SMALL, false), maker_param(m, GC_INT4, 50, 0)), 2);
	maker_filter(m, below(m, key, 600), 2);
	put_out(m, key);
}

/* Few are left for a step of the row phase. */
static void
make_stepped(Maker *m)
{
	u16			key;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 0, GC_SINK_ROWS, 7);
	maker_filter(m, maker_test(m, GC_OP_LT, read_column(m, C_SMALL, false), maker_param(m, GC_INT4, 50, 0)), 6);
	maker_filter(m, below(m, key, 1500), 2);
	put_out(m, key);
}

/* Several matches a row. */
static void
make_joined(Maker *m)
{
	u16			input = maker_input(m);
	u16			hkey = read_column(m, C_HKEY, false);
	u16			b = maker_build(m, input, GC_BUILD_HASH, false, hkey, read_column(m, C_HVAL, false));
	u16			key;

	maker_input(m);
	key = read_column(m, C_KEY, false);
	maker_pipeline(m, 1, GC_SINK_ROWS, 1);
	maker_filter(m, below(m, key, 600), 1);
	maker_probe(m, b, read_column(m, C_SMALL, false), 0, false);
	put_out(m, payload_of(m, b));
}

static const Request requests[] = {
	{"all", make_all, 6000, 0, false, false},
	{"all that are visible", make_all, 6000, 0, false, true},
	{"half", make_half, 3000, 0, false, true},
	{"1 in 200", make_few, 30, 0, false, false},
	{"1 in 200 of the visible", make_few, 30, 0, false, true},
	{"in stages", make_staged, 600, 0, false, false},
	{"with a step for rows", make_stepped, 1500, 0, false, false},
	{"joined", make_joined, 600, 0, true, false},
	{"half, selection", make_half, 3000, 1, false, false},
	{"1 in 200, selection", make_few, 30, 1, false, true},
	{"selection, with a step for rows", make_stepped, 1500, 1, false, false},
};

#define NREQUESTS	((int) (sizeof(requests) / sizeof(requests[0])))

static Member members[NREQUESTS];
static u8  *visible[NREQUESTS][NCHUNKS];	/* a byte per row; NULL: all */

/* ---------- what must come out ---------- */

/* Rows of one chunk, added to outs; how many there are then. */
static u64
add_chunk(int i, int c, Out *outs, u64 n)
{
	const TableColumn *key = find_column(C_KEY);
	const TableColumn *small = find_column(C_SMALL);
	const TableColumn *hkey = find_column(C_HKEY);
	const TableColumn *hval = find_column(C_HVAL);

	for (u32 r = 0; r < CHUNK_ROWS[c]; r++)
	{
		Out			o = {{0}};

		if ((visible[i][c] && !visible[i][c][r]) || key->value[c][r] >= requests[i].limit)
			continue;
		o.w[0] = code_of(C_KEY, c, r, 0, &o.w[MAX_OUTS]);
		o.w[1] = code_of(C_NULL, c, r, 1, &o.w[MAX_OUTS]);
		o.w[2] = code_of(C_FLOAT, c, r, 2, &o.w[MAX_OUTS]);
		o.w[3] = (u64) (c + 1) << MAKER_ROW_BITS | r;
		o.w[4] = code_of(C_BIG, c, r, 4, &o.w[MAX_OUTS]);
		for (u32 h = 0; requests[i].joined && h < hkey->cols[0].nrows; h++)
		{
			if (hkey->value[0][h] != small->value[c][r])
				continue;
			o.w[0] = (u64) hval->value[0][h];
			outs[n++] = o;
		}
		if (!requests[i].joined)
			outs[n++] = o;
	}
	return n;
}

/* All rows of these chunks, sorted; malloc'd. */
static Out *
wanted_rows(int i, u32 chunks, u64 *n)
{
	u64			most = 1;
	Out		   *outs;

	for (int c = 0; c < NCHUNKS; c++)
		most += chunks >> c & 1 ? (u64) CHUNK_ROWS[c] * (requests[i].joined ? 20 : 1) : 0;
	outs = malloc(most * sizeof(Out));
	*n = 0;
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (chunks >> c & 1)
			*n = add_chunk(i, c, outs, *n);
	}
	if (*n > most)
		tap_bail("more matches than expected");
	qsort(outs, *n, sizeof(Out), compare_outs);
	return outs;
}

/* ---------- runs ---------- */

static const u64 caps[] = {0, 1, 31, 33};	/* and those around the number of rows */

static u64
cap_of(int k, u64 n)
{
	switch (k)
	{
		case 0:
			return n + 40;
		case 1:
			return n;
		case 2:
			return n > 0 ? n - 1 : 0;
		case 3:
			return n / 2;
		default:
			return caps[k - 4];
	}
}

#define NCAPS	8

/* One kernel, over no chunk, each alone, and all, into sinks of every size. */
static void
check_kernel(int i, const Loaded *k, const GcKernelSource *source, const char *how)
{
	static const u32 threads[] = {32, 96, 256};
	Member	   *m = &members[i];

	for (int c = 0; c <= NCHUNKS + 1; c++)
	{
		const u32	chunks = c < NCHUNKS ? 1u << c : c == NCHUNKS ? 0 : ALL_CHUNKS;
		u64			n;
		Out		   *wanted = wanted_rows(i, chunks, &n);
		int			wrong = 0;

		for (int turn = 0; turn < NCAPS; turn++)
		{
			const GcAddr begin = top;

			prepare_sink(m, cap_of(turn, n));
			run_member(m, k, source, chunks, threads[(c + turn) % 3], turn);
			wrong += !check_sink(m, wanted, n);
			top = begin;
		}
		ok(wrong == 0, "%s, %s, chunks 0x%x: %llu rows, and what of them has room", requests[i].name, how, chunks,
		   (unsigned long long) n);
		free(wanted);
	}
}

/* ---------- kernels ---------- */

static void
generate_for(int i, int vec, GcKernelSource *source)
{
	GcError		err = {GC_OK, ""};
	GcVariant	v = members[i].variant;

	v.vec = vec;
	if (gc_generate(members[i].p, members[i].pipeline, &v, source, &err) != GC_OK)
		tap_bail(err.detail);
}

static void
test_alone(int i)
{
	static const struct
	{
		int			vec;
		GcCompileEffort effort;
		const char *name;
	}			ways[] = {
		{8, GC_COMPILE_FULL, "8 rows a thread"}, {16, GC_COMPILE_FULL, "16 rows a thread"},
		{8, GC_COMPILE_QUICK, "compiled quickly"},
	};

	for (int w = 0; w < 3; w++)
	{
		GcKernelSource source;
		Loaded		k;

		if (on_host && w > 0)
			break;
		generate_for(i, on_host ? 0 : ways[w].vec, &source);
		k = load_with(source.text, ways[w].effort);
		check_kernel(i, &k, &source, on_host ? "on the host" : ways[w].name);
		unload(&k);
		free(source.text);
	}
}

/* Requests that can share a scan, in one kernel; each has room for half of its rows, or all. */
static void
test_fused(void)
{
	static const int who[] = {1, 0, 3, 7, 4, 5, 6};
	const int	n = sizeof(who) / sizeof(who[0]);
	GcFusedMember from[GC_MAX_FUSED];
	GcFusedSource source;
	GcError		err = {GC_OK, ""};
	Loaded		k;

	for (int i = 0; i < n; i++)
		from[i] = (GcFusedMember) {members[who[i]].p, members[who[i]].pipeline, members[who[i]].variant, members[who[i]].columns};
	if (gc_generate_fused(from, n, &source, &err) != GC_OK)
		tap_bail(err.detail);
	k = load_with(source.text, GC_COMPILE_FULL);
	for (int turn = 0; turn < 4; turn++)
	{
		const GcAddr begin = top;
		GcSource	sources[NCHUNKS];
		GcArgs		args = {.w = {0}};
		Out		   *wanted[GC_MAX_FUSED];
		u64			rows[GC_MAX_FUSED];

		for (u32 c = 0; c < NCHUNKS; c++)
			sources[c] = (GcSource) {(1u << n) - 1, c, CHUNK_ROWS[c]};
		for (int i = 0; i < n; i++)
		{
			wanted[i] = wanted_rows(who[i], ALL_CHUNKS, &rows[i]);
			prepare_sink(&members[who[i]], cap_of((i + turn) % 4, rows[i]));
		}
		for (int w = 0; w < source.nwords; w++)
		{
			const GcFusedWord *word = &source.words[w];
			const Member *m = word->member == GC_FUSED_ANY ? NULL : &members[who[word->member]];
			u64			valid[NCHUNKS];

			if (m == NULL)
				args.w[w] = word->word.type == GC_ARG_MEMBERS ? (1u << n) - 1 : find_column(word->word.index)->array;
			else if (word->word.type != GC_ARG_VISIBLE)
				args.w[w] = member_word(m, &word->word);
			else
			{
				memcpy(valid, m->valid, sizeof(valid));
				args.w[w] = put(valid, sizeof(valid));
			}
		}
		launch_scan(&k, &args, source.nwords, sources, NCHUNKS, 0, 128, turn);
		for (int i = 0; i < n; i++)
		{
			ok(check_sink(&members[who[i]], wanted[i], rows[i]), "%s, fused: %llu rows, room for %llu", requests[who[i]].name,
			   (unsigned long long) rows[i], (unsigned long long) members[who[i]].rows_cap);
			free(wanted[i]);
		}
		top = begin;
	}
	unload(&k);
	free(source.text);
}

/* ---------- rows that another pipeline reads ---------- */

/* A pipeline that returns the outputs of the last one so far. */
static void
make_reader(Maker *m)
{
	static const u8 kinds[MAX_OUTS] = {GC_INT4, GC_INT4, GC_FLOAT8, GC_INT8, GC_INT8};
	const GcFact none = {.range = {0, 0}};
	const u16	input = maker_input(m);
	u16			outs[MAX_OUTS];

	m->inputs[input].groups_of = m->head.npipelines;
	for (int i = 0; i < MAX_OUTS; i++)
	{
		const u16	c = maker_column(m, 0, kinds[i], &none);

		m->columns[c].attnum = i;
		m->columns[c].agg = m->columns[c].count = GC_NONE;
		outs[i] = maker_read(m, c);
	}
	maker_pipeline(m, input, GC_SINK_ROWS, 0);
	for (int i = 0; i < MAX_OUTS; i++)
		maker_out(m, outs[i]);
}

/* The reader's kernel, over the rows that are in another one's sink. */
static void
run_reader(const Member *reader, const Member *from, const Loaded *k, const GcKernelSource *source, u32 threads, u32 turn)
{
	GcArgs		args = {.w = {0}};
	const GcSource no_source = {0};

	for (int i = 0; i < source->nwords; i++)
	{
		const GcArgWord *w = &source->words[i];

		args.w[i] = w->type == GC_ARG_GROUP ? from->sink : member_word(w->index == from->pipeline ? from : reader, w);
	}
	args.scan.flags = reader->sink;
	launch_scan(k, &args, source->nwords, &no_source, 0, 0, threads, turn);
}

static u32
rows_in_sink(const Member *m)
{
	u32			flags[GC_NFLAGS];

	must(ops->copy_out(stream, flags, m->sink, sizeof(flags), NULL));
	must(finish(stream, NULL));
	return flags[GC_FLAG_ROWS];
}

static void
generate_kept(Member *kept, Member *reader, GcKernelSource *sources)
{
	GcError		err = {GC_OK, ""};

	if (gc_generate(kept->p, kept->pipeline, &kept->variant, &sources[0], &err) != GC_OK ||
		gc_generate(reader->p, reader->pipeline, &reader->variant, &sources[1], &err) != GC_OK)
		tap_bail(err.detail);
}

/* Without any row, with all of them, and where there was no room for some. */
static void
check_kept(int i, Member *kept, Member *reader, const Loaded *k, const GcKernelSource *sources)
{
	static const u32 threads[] = {32, 96, 256};

	for (int turn = 0; turn < 2 * NCAPS; turn++)
	{
		const u32	chunks = turn % 2 ? ALL_CHUNKS : 1u << (turn / 2);
		const GcAddr begin = top;
		u64			n;
		Out		   *wanted = wanted_rows(i, chunks, &n);
		u64			there;
		bool		right;

		prepare_sink(kept, cap_of(turn / 2, n));
		run_member(kept, &k[0], &sources[0], chunks, threads[turn % 3], turn);
		there = n < kept->rows_cap ? n : kept->rows_cap;
		prepare_sink(reader, there + 3);
		run_reader(reader, kept, &k[1], &sources[1], threads[(turn + 1) % 3], turn);
		right = there < n ? rows_in_sink(reader) == there : check_sink(reader, wanted, n);
		ok(right, "%s, kept: %llu rows, room for %llu, and each read", requests[i].name, (unsigned long long) n,
		   (unsigned long long) kept->rows_cap);
		free(wanted);
		top = begin;
	}
}

static void
test_kept(int i, const GcNvrtc *nvrtc)
{
	static Member kept,
				reader;
	GcKernelSource sources[2];
	Loaded		k[2];

	kept = members[i];
	memset(&kept.maker, 0, sizeof(kept.maker));
	requests[i].make(&kept.maker);
	make_reader(&kept.maker);
	kept.p = maker_finish(&kept.maker, 1000000);
	reader = kept;
	reader.pipeline = kept.p->npipelines - 1;
	generate_kept(&kept, &reader, sources);
	for (int n = 0; n < 2; n++)
		k[n] = load_with(sources[n].text, GC_COMPILE_FULL);
	check_kept(i, &kept, &reader, k, sources);
	for (int n = 0; n < 2; n++)
	{
		unload(&k[n]);
		free(sources[n].text);
	}
	kept.variant.vec = reader.variant.vec = 8;
	generate_kept(&kept, &reader, sources);
	for (int n = 0; n < 2; n++)
	{
		if (nvrtc)
			compiles_for_gpu(nvrtc, 90, sources[n].text, GC_COMPILE_FULL, n ? "reader of rows" : "rows that are read");
		free(sources[n].text);
	}
	free(kept.p);
}

/* A pipeline that reads rows names outputs that exist. */
static void
test_check(void)
{
	static Maker m;
	GcError		err = {GC_OK, ""};
	GcProgram  *p;
	GcPColumn  *c;
	u16			first;

	make_all(&m);
	make_reader(&m);
	p = maker_finish(&m, 1000);
	ok(gc_program_check(p, p->size, &err) == GC_OK, "a program that reads rows");
	first = gc_inputs(p)[p->ninputs - 1].first_column;
	c = &gc_columns(p)[first];
	c->attnum = MAX_OUTS;
	ok(gc_program_check(p, p->size, &err) == GC_BAD_PROGRAM, "an output behind the last one");
	c->attnum = -1;
	ok(gc_program_check(p, p->size, &err) == GC_BAD_PROGRAM, "an output before the first one");
	c->attnum = 0;
	c->agg = 0;
	ok(gc_program_check(p, p->size, &err) == GC_BAD_PROGRAM, "an accumulator of rows");
	c->agg = GC_NONE;
	gc_pipelines(p)[0].nkeys = 1;
	ok(gc_program_check(p, p->size, &err) == GC_BAD_PROGRAM, "the first few of rows that are read");
	gc_pipelines(p)[0].nkeys = 0;
	gc_inputs(p)[p->ninputs - 1].groups_of = p->npipelines;
	ok(gc_program_check(p, p->size, &err) == GC_BAD_PROGRAM, "rows of the pipeline itself");
	free(p);
}

/* ---------- members ---------- */

/* Bits of a chunk's rows, readable as far as kernels may read them. */
static GcAddr
put_bits(const u8 *bytes, u32 rows)
{
	u8		   *bits = calloc(padded(rows) / 8 + 16, 1);
	GcAddr		addr;

	for (u32 r = 0; r < rows; r++)
		bits[r >> 3] |= (u8) (bytes[r] << (r & 7));
	addr = put(bits, padded(rows) / 8 + 16);
	free(bits);
	return addr;
}

/* Marks of the rows that pass the first step. */
static void
make_marks(Member *m, int i)
{
	const u64	per_chunk = padded(40000) / 8;
	const TableColumn *key = find_column(C_KEY);
	u8		   *sel_bitmap = calloc(NCHUNKS, per_chunk);

	for (int c = 0; c < NCHUNKS; c++)
	{
		for (u32 r = 0; r < CHUNK_ROWS[c]; r++)
			sel_bitmap[c * per_chunk + (r >> 3)] |= (u8) ((requests[i].make == make_stepped || key->value[c][r] < requests[i].limit) << (r & 7));
	}
	m->sel_bitmap = put(sel_bitmap, NCHUNKS * per_chunk);
	m->sel_bitmap_bytes = per_chunk;
	/* kernels have to look everywhere */
	m->summary = take(NCHUNKS * per_chunk);
	must(ops->fill(stream, m->summary, 0xff, NCHUNKS * per_chunk, NULL));
	m->sel_bitmap_bit = i % GC_MAX_SELECTED;
	free(sel_bitmap);
}

static void
make_member(int i)
{
	Member	   *m = &members[i];

	requests[i].make(&m->maker);
	m->p = maker_finish(&m->maker, 1000000);
	m->pipeline = m->p->npipelines - 1;
	for (int c = 0; c < m->maker.head.ncolumns; c++)
		m->columns[c] = m->maker.columns[c].input == gc_pipelines(m->p)[m->pipeline].input ? m->maker.source[c] : -1;
	m->variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = 256,.selection = requests[i].selection};
	m->chunks = ALL_CHUNKS;
	for (int c = 0; requests[i].some && c < NCHUNKS; c++)
	{
		if (c % 4 == i % 4)
			continue;
		visible[i][c] = calloc(CHUNK_ROWS[c] + 1, 1);
		for (u32 r = 0; r < CHUNK_ROWS[c]; r++)
			visible[i][c][r] = draw(4) > 0 && r / 64 % 5 != 0;
		m->valid[c] = put_bits(visible[i][c], CHUNK_ROWS[c]);
	}
	if (requests[i].selection)
		make_marks(m, i);
	run_builds(m);
}

static void
free_members(void)
{
	for (int i = 0; i < NREQUESTS; i++)
	{
		for (int c = 0; c < NCHUNKS; c++)
			free(visible[i][c]);
		free(members[i].p);
	}
}

/* ---------- texts ---------- */

static void
test_nvrtc(const GcNvrtc *nvrtc)
{
	static const struct
	{
		int			vec;
		int			arch;
		GcCompileEffort effort;
	}			ways[] = {
		{8, 80, GC_COMPILE_FULL}, {16, 90, GC_COMPILE_FULL}, {8, 90, GC_COMPILE_QUICK},
	};

	for (int i = 0; i < NREQUESTS * 3; i++)
	{
		const int	w = i % 3;
		GcKernelSource source;

		generate_for(i / 3, ways[w].vec, &source);
		compiles_for_gpu(nvrtc, ways[w].arch, source.text, ways[w].effort, requests[i / 3].name);
		free(source.text);
	}
}

int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc;

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	for (int i = 0; i < NTABLE; i++)
		make_column(&table[i]);
	for (int i = 0; i < NREQUESTS; i++)
		make_member(i);
	for (int i = 0; i < NREQUESTS; i++)
		test_alone(i);
	test_fused();
	nvrtc = gc_nvrtc_open(13, &err);
	for (int i = 0; i < NREQUESTS; i++)
	{
		if (requests[i].selection == 0)
			test_kept(i, nvrtc);
	}
	test_check();
	if (nvrtc)
		test_nvrtc(nvrtc);
	else
		tap_skip("%s", err.detail);
	free_members();
	free_columns();
	stop_device();
	return tap_done();
}
