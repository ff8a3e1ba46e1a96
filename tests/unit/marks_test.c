/*-------------------------------------------------------------------------
 *
 * marks_test.c [host|cuda]
 *	  Kernels of marked scans: tester, combiner, marker, and those that visit marks.
 *
 * Sixteen requests over one table, each with chunks, rows and constants of its own.  Who
 * passes is computed here, row by row, and compared with the marks of scans for one set
 * of requests after another.  Then each request's kernel visits its marks; what is in its
 * sink must be what its ordinary kernel leaves there.  As in fused_test.c, columns of
 * chunks that no reader of the column reads are at an address that cannot be read.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

/* Around what a thread, a warp and a tile take; every third has no value of C_GAPS. */
#define NCHUNKS			17
#define CHUNK_SIZES		{13, 16385, 0, 1, 7, 8, 9, 63, 64, 65, 40000, 2047, 2048, 2049, 16383, 16384, 3}

#include "marks_requests.h"

#include "../../src/device/nvrtc.h"

#define GARBAGE			0xAA
#define ALL_CHUNKS		((1u << NCHUNKS) - 1)

static Member members[NREQUESTS];
static Loaded testers[NREQUESTS];
static GcKernelSource tester_source[NREQUESTS];
static Loaded marked[NREQUESTS];
static GcKernelSource marked_source[NREQUESTS];
static GcVariant marked_variant[NREQUESTS];
static Loaded combiner;

/* Columns of the markers, smallest first; of the last, tables are too large to share. */
static const i16 tested[] = {C_GROUP, C_SMALL, C_NULL, C_WIDE, C_GAPS, C_KEY, C_SHIFT, C_VARY};
#define NTESTED		((int) (sizeof(tested) / sizeof(tested[0])))
#define NSHARED		6

static u64
range_of(const TableColumn *c)
{
	return (u64) (c->hi - c->lo + 1);
}

static GcAddr
make_valid(u32 rows)
{
	unsigned char *bits = calloc(padded(rows) / 8 + 8, 1);
	GcAddr		addr;

	for (u32 r = 0; r < rows; r++)
		bits[r >> 3] |= (draw(4) > 0) << (r & 7);
	addr = put(bits, padded(rows) / 8 + 8);
	free(bits);
	return addr;
}

/* Sinks and builds, as the executor would lay them out. */
static void
choose_sizes(Member *m, int i)
{
	const GcPPipeline *pl = &gc_pipelines(m->p)[m->pipeline];
	const bool	odd = requests[i].odd;

	m->variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = 256};
	m->ngroups = pl->group_mode == GC_GROUP_HASH ? HASH_GROUPS : pl->group_mode == GC_GROUP_NONE;
	m->rows_cap = pl->sink == GC_SINK_ROWS ? ROWS_CAP : 0;
	if (m->p->nbuilds > 0)
	{
		/* keys up to 5999 are probed: out of a range of 5000, within one of 6000 */
		m->ranges[0] = odd ? 6000 : DIM_RANGE;
		m->variant.shared_builds = odd ? 0 : 1;
	}
	if (pl->group_mode != GC_GROUP_DENSE)
		return;
	m->ngroups = pl->nkeys == 2 ? 50 * 8 : 11;
	m->stride[0] = pl->nkeys == 2 ? 8 : 1;
	m->stride[1] = 1;
	m->variant.group_local = !odd;
	m->variant.group_copies = odd ? 0 : 2;
}

static void
find_tests(Member *m)
{
	bool		allowed[MAKER_MAX];

	for (int c = 0; c < m->p->ncolumns; c++)
		allowed[c] = m->columns[c] >= 0 && m->columns[c] != C_BIG;
	gc_find_tests(m->p, m->pipeline, allowed, &m->tests);
}

static void
make_kernels(int i)
{
	Member	   *m = &members[i];
	GcError		err = {GC_OK, ""};

	marked_variant[i] = m->variant;
	marked_variant[i].shared_builds = 0;
	marked_variant[i].marked = m->tests.steps;
	generate_kernel(m, m->pipeline, &marked_variant[i], &marked_source[i], &marked[i]);
	if (gc_generate_tester(m->p, m->pipeline, &m->tests, &tester_source[i], &err) != GC_OK)
		tap_bail(err.detail);
	testers[i] = load_text(tester_source[i].text);
	free(tester_source[i].text);
}

static void
make_member(int i)
{
	Member	   *m = &members[i];
	const GcPPipeline *pl;

	requests[i].make(&m->maker, requests[i].odd);
	m->p = maker_finish(&m->maker, 1000000);
	m->pipeline = m->p->npipelines - 1;
	pl = &gc_pipelines(m->p)[m->pipeline];
	for (int c = 0; c < m->maker.head.ncolumns; c++)
		m->columns[c] = m->maker.columns[c].input == pl->input ? m->maker.source[c] : -1;
	choose_sizes(m, i);
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (i % 8 == 0 || (i * 7 + c * 3) % 5 != 0)
			m->chunks |= 1u << c;
		m->valid[c] = (i + c) % 3 == 0 ? make_valid(CHUNK_ROWS[c]) : 0;
	}
	lay_out_sink(m);
	run_builds(m);
	empty_sink(m);
	run_alone(m, m->pipeline, m->sink, m->chunks, false);
	m->wanted = fetch(m);
	find_tests(m);
	for (int q = 0; q < m->tests.ncolumns; q++)
		m->test_bits[q] = take(range_of(find_column(m->maker.source[m->tests.column[q]])) / 8 + 8);
	make_kernels(i);
}

static void
test_requests(void)
{
	for (int i = 0; i < NREQUESTS; i++)
	{
		const Member *m = &members[i];
		const GcTests *t = &m->tests;
		size_t		set = 0;
		int			n = 0;

		for (size_t b = GC_NFLAGS * 4; b < m->wanted.size; b++)
			set += m->wanted.bytes[b] != 0;
		ok((set > 0) == (requests[i].passes != pass_constant || !requests[i].odd),
		   "request %d (%s) has a result: %zu bytes, %zu of them not 0", i, requests[i].name, m->wanted.size, set);
		for (int f = 0; f <= GC_FLAG_ROWS_FULL; f++)
			n += ((const u32 *) m->wanted.bytes)[f] != 0;
		is(n, 0, "and raises no flag");
		is(t->steps, requests[i].steps, "its tests are known");
		n = 0;
		while (n < 3 && requests[i].column[n] != 0)
			n++;
		is(t->ncolumns, n, "and how many columns they read");
		for (int q = 0; q < t->ncolumns && q < n; q++)
			ok(m->maker.source[t->column[q]] == requests[i].column[q], "and which: number %d", q);
	}
}

/* ---------- scans ---------- */

typedef struct Marker
{
	int			nshared;
	GcMarkerColumn column[NTESTED];
	Loaded		kernel;
} Marker;

/* A scan's members: request who[b] is its number b. */
typedef struct Scan
{
	u32			mask;			/* of the numbers */
	int			who[GC_MAX_MARKED];
	u32			chunks;
	GcAddr		tables[NTESTED];
	GcAddr		marks;
	u64			per_chunk;
	u64			per_request;
} Scan;

static void
describe_marker(Marker *mk, int nshared, bool exact)
{
	mk->nshared = nshared;
	for (int k = 0; k < NTESTED; k++)
	{
		const TableColumn *c = find_column(tested[k]);

		mk->column[k] = (GcMarkerColumn) {.width = exact ? c->width : 0,.nullable = c->nullable || !exact,
			.shared = k < nshared};
	}
}

static void
make_marker(Marker *mk, int nshared, bool exact)
{
	char	   *text;

	describe_marker(mk, nshared, exact);
	text = gc_generate_marker(mk->column, NTESTED);
	mk->kernel = load_text(text);
	free(text);
}

static GcAddr
take_garbage(u64 size)
{
	GcAddr		addr = take(size);

	must(ops->fill(stream, addr, GARBAGE, size, NULL));
	return addr;
}

static void
run_plain(const Loaded *k, const GcArgs *args, int nwords)
{
	GcLaunch	shape = {7, 128, 0};

	must(ops->launch(stream, k->kernel, &shape, args, nwords, NULL));
	must(finish(stream, NULL));
}

static void
run_testers(const Scan *scan)
{
	for (int b = 0; b < GC_MAX_MARKED; b++)
	{
		const int	i = scan->who[b];
		const Member *m = &members[i];
		GcArgs		args;

		if (!(scan->mask >> b & 1))
			continue;
		memset(&args, 0, sizeof(args));
		for (int q = 0; q < m->tests.ncolumns; q++)
			must(ops->fill(stream, m->test_bits[q], GARBAGE, range_of(find_column(m->maker.source[m->tests.column[q]])) / 8 + 8, NULL));
		for (int w = 0; w < tester_source[i].nwords; w++)
			args.w[w] = member_word(m, &tester_source[i].words[w]);
		run_plain(&testers[i], &args, tester_source[i].nwords);
	}
}

/* The member's bitmap of this column; 0: it does not test it. */
static GcAddr
bits_of(const Member *m, i16 column)
{
	for (int q = 0; q < m->tests.ncolumns; q++)
	{
		if (m->maker.source[m->tests.column[q]] == column)
			return m->test_bits[q];
	}
	return 0;
}

static u32
readers_of(const Scan *scan, i16 column)
{
	u32			readers = 0;

	for (int b = 0; b < GC_MAX_MARKED; b++)
	{
		if (scan->mask >> b & 1 && bits_of(&members[scan->who[b]], column))
			readers |= 1u << b;
	}
	return readers;
}

static void
run_combiner(Scan *scan)
{
	GcMarkTable records[NTESTED];
	GcArgs		args;

	memset(&args, 0, sizeof(args));
	memset(records, 0, sizeof(records));
	for (int k = 0; k < NTESTED; k++)
	{
		const u64	range = range_of(find_column(tested[k]));

		scan->tables[k] = take_garbage(GC_MARK_TABLE_BYTES(range));
		records[k].table = scan->tables[k];
		records[k].range = range;
		for (int b = 0; b < GC_MAX_MARKED; b++)
			records[k].bits[b] = scan->mask >> b & 1 ? bits_of(&members[scan->who[b]], tested[k]) : 0;
	}
	args.w[0] = put(records, sizeof(records));
	args.w[1] = NTESTED;
	run_plain(&combiner, &args, GC_COMBINER_WORDS);
}

/* Descriptions of a column's chunks; of those that none of its readers reads, bad ones. */
static GcAddr
put_cols(i16 column, u32 readers, const u32 *live)
{
	GcCol		cols[NCHUNKS];

	if (readers == 0)
		return 0;
	memcpy(cols, find_column(column)->cols, sizeof(cols));
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (!(live[c] & readers))
			cols[c] = (GcCol) {POISON, POISON, 0, 8, cols[c].nrows};
	}
	return put(cols, sizeof(cols));
}

static bool
reads(const Scan *scan, int b, u32 chunk)
{
	return scan->mask >> b & 1 && members[scan->who[b]].chunks >> chunk & 1 && scan->chunks >> chunk & 1;
}

static void
run_marker(const Marker *mk, Scan *scan, u32 turn)
{
	GcSource	sources[NCHUNKS + 1];
	u32			live[NCHUNKS] = {0};
	u32			n = 0;
	u64			shared = 0;
	GcArgs		args;

	memset(&args, 0, sizeof(args));
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (int b = 0; b < GC_MAX_MARKED; b++)
			live[c] |= (u32) reads(scan, b, c) << b;
		/* members that do not take part may be named, too */
		if (live[c] != 0 || turn % 2)
			sources[n++] = (GcSource) {live[c] | (turn % 2 ? ~scan->mask : 0), c, CHUNK_ROWS[c]};
	}
	scan->per_chunk = padded(40000) / 8;
	scan->per_request = scan->per_chunk * NCHUNKS;
	scan->marks = take_garbage(scan->per_request * GC_MAX_MARKED);
	args.w[0] = scan->mask;
	args.w[1] = scan->marks;
	args.w[2] = scan->per_chunk;
	args.w[3] = scan->per_request;
	for (int k = 0; k < NTESTED; k++)
	{
		const TableColumn *c = find_column(tested[k]);
		const u32	readers = readers_of(scan, tested[k]);
		u64		   *w = &args.w[GC_MARKER_WORDS(k)];

		w[0] = put_cols(tested[k], readers, live);
		w[1] = scan->tables[k];
		w[2] = (u64) c->lo;
		w[3] = range_of(c);
		w[4] = (u64) readers << 16 | (~readers & 0xffff);
		shared += mk->column[k].shared ? GC_MARK_TABLE_BYTES(range_of(c)) : 0;
	}
	launch_scan(&mk->kernel, &args, GC_MARKER_WORDS(NTESTED), sources, n, shared, 256, turn);
}

/* Is what the scan wrote for its number b as it should be?  Else a row that is not. */
static bool
check_marks(const Scan *scan, int b, const u8 *marks, Row *wrong)
{
	const Request *rq = &requests[scan->who[b]];

	for (u32 c = 0; c < NCHUNKS; c++)
	{
		const u8   *m = marks + b * scan->per_request + c * scan->per_chunk;
		const bool	written = reads(scan, b, c);

		for (u32 r = 0; r < scan->per_chunk * 8; r++)
		{
			const bool	set = m[r >> 3] >> (r & 7) & 1;

			*wrong = (Row) {c, r};
			/* behind the last row, a byte may have been written to its end */
			if (written ? r < CHUNK_ROWS[c] && set != rq->passes(*wrong, rq->odd)
				: set != (GARBAGE >> (r & 7) & 1))
				return false;
			if (written && r / 8 > CHUNK_ROWS[c] / 8 && set != (GARBAGE >> (r & 7) & 1))
				return false;
		}
	}
	return true;
}

/* Each member's own kernel, over its marks: the same result? */
static bool
check_result(const Scan *scan, int b)
{
	const int	i = scan->who[b];
	Member	   *m = &members[i];

	m->marks = scan->marks + b * scan->per_request;
	m->marks_bytes = scan->per_chunk;
	empty_sink(m);
	run_kernel(m, m->pipeline, &marked[i], &marked_source[i],
			   gc_shared_bytes(m->p, &marked_variant[i], m->ranges, m->ngroups), m->sink, m->chunks, false);
	return same_result(m);
}

/* One scan for these requests; request i is its number (i + shift) % 16. */
static void
check_scan(const Marker *mk, u32 who, u32 chunks, int shift, u32 turn)
{
	Scan		scan = {.chunks = chunks};
	GcAddr		begin = top;
	u8		   *marks;
	int			wrong = 0;

	for (int i = 0; i < NREQUESTS; i++)
	{
		scan.who[(i + shift) % GC_MAX_MARKED] = i;
		scan.mask |= (who >> i & 1) << (i + shift) % GC_MAX_MARKED;
	}
	run_testers(&scan);
	run_combiner(&scan);
	run_marker(mk, &scan, turn);
	marks = malloc(scan.per_request * GC_MAX_MARKED);
	must(ops->copy_out(stream, marks, scan.marks, scan.per_request * GC_MAX_MARKED, NULL));
	must(finish(stream, NULL));
	for (int b = 0; b < GC_MAX_MARKED; b++)
	{
		Row			at;

		if (!check_marks(&scan, b, marks, &at))
		{
			wrong++;
			tap_note("%s: row %u of chunk %u (%u rows)", requests[scan.who[b]].name, at.row, at.chunk, CHUNK_ROWS[at.chunk]);
		}
		else if (scan.mask >> b & 1 && chunks == ALL_CHUNKS && !check_result(&scan, b))
		{
			wrong++;
			tap_note("%s: another result", requests[scan.who[b]].name);
		}
	}
	free(marks);
	top = begin;
	ok(wrong == 0, "requests 0x%x, %d tables in shared memory: marks and results are right", who, mk->nshared);
}

static void
test_scans(void)
{
	static const int nshared[] = {0, NSHARED, 3};
	Marker		mk;

	for (int k = 0; k < 3; k++)
	{
		make_marker(&mk, nshared[k], k != 2);
		check_scan(&mk, 0xffff, ALL_CHUNKS, 0, k);
		check_scan(&mk, 0xffff, ALL_CHUNKS, 5, k + 1);
		check_scan(&mk, 0xffff, draw(ALL_CHUNKS), 9, k);
		for (int i = k; i < NREQUESTS; i += 3)
			check_scan(&mk, 1u << i, ALL_CHUNKS, k * 8, i);
		for (int i = 0; i < 4; i++)
			check_scan(&mk, draw(1u << 16) & draw(1u << 16), ALL_CHUNKS, i, i);
		unload(&mk.kernel);
	}
}

/* Marks with private chunks beside: the two launches add up. */
static void
test_two_launches(void)
{
	const u32	cached = 0x1f0b5;
	Scan		scan = {.mask = 0xffff,.chunks = cached};
	Marker		mk;

	make_marker(&mk, NSHARED, true);
	for (int i = 0; i < NREQUESTS; i++)
		scan.who[i] = i;
	run_testers(&scan);
	run_combiner(&scan);
	run_marker(&mk, &scan, 3);
	for (int i = 0; i < NREQUESTS; i++)
	{
		Member	   *m = &members[i];

		m->marks = scan.marks + i * scan.per_request;
		m->marks_bytes = scan.per_chunk;
		empty_sink(m);
		run_alone(m, m->pipeline, m->sink, m->chunks & ~cached, true);
		run_kernel(m, m->pipeline, &marked[i], &marked_source[i],
				   gc_shared_bytes(m->p, &marked_variant[i], m->ranges, m->ngroups), m->sink, m->chunks & cached, false);
		ok(same_result(m), "%s: private chunks and marks add up", requests[i].name);
	}
	unload(&mk.kernel);
}

/* ---------- what is a test ---------- */

static void
test_find(void)
{
	static Maker m;
	const GcFact fact = {.range = {0, 99},.width = 1};
	bool		allowed[MAKER_MAX];
	u16			build,
				column[18];
	GcProgram  *p;
	GcTests		tests;

	build = maker_input(&m);
	column[0] = read_column(&m, C_HKEY, false);
	build = maker_build(&m, build, GC_BUILD_HASH, false, column[0], read_column(&m, C_HVAL, false));
	maker_input(&m);
	for (int c = 0; c < 18; c++)
		column[c] = maker_read(&m, maker_column(&m, c, GC_INT4, &fact));
	maker_pipeline(&m, 1, GC_SINK_AGGREGATE, 1);
	maker_probe(&m, build, column[0], 1, false);
	maker_filter(&m, maker_test(&m, GC_OP_LT, maker_expr(&m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, 0), int4(&m, 5)), 1);
	maker_filter(&m, maker_test(&m, GC_OP_LT, int4(&m, 3), int4(&m, 5)), 1);
	for (int c = 0; c < 18; c++)
		maker_filter(&m, maker_test(&m, GC_OP_LT, column[c], int4(&m, 50)), 1);
	maker_filter(&m, maker_test(&m, GC_OP_NE, column[2], int4(&m, 7)), 1);
	maker_filter(&m, maker_test(&m, GC_OP_LT, column[2], maker_expr(&m, GC_OP_PAYLOAD, GC_INT4, GC_NONE, GC_NONE, 0)), 1);
	maker_group(&m, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
	maker_agg(&m, GC_AGG_COUNT, GC_NONE);
	p = maker_finish(&m, 1000);
	memset(allowed, true, sizeof(allowed));
	gc_find_tests(p, p->npipelines - 1, allowed, &tests);
	is(tests.ncolumns, GC_MAX_TESTED, "no more columns are tested than there may be");
	is(tests.steps, (u64) 0xffff << 3 | 1 << 21, "nor probes of hash builds, payloads or constants");
	/* the build has two columns, too */
	allowed[2 + 4] = false;
	gc_find_tests(p, p->npipelines - 1, allowed, &tests);
	is(tests.steps, ((u64) 0x1ffff << 3 | 1 << 21) & ~((u64) 1 << 7), "a column that may not be tested makes room");
	memset(allowed, false, sizeof(allowed));
	gc_find_tests(p, p->npipelines - 1, allowed, &tests);
	ok(tests.steps == 0 && tests.ncolumns == 0, "no column may be tested");
	free(p);
}

/* ---------- texts ---------- */

static void
compile_text(const GcNvrtc *nvrtc, int arch, const char *text, const char *what)
{
	GcError		err = {GC_OK, ""};
	GcImage		image = {NULL, 0};
	char	   *log = NULL;

	ok(text != NULL && gc_nvrtc_compile(nvrtc, arch, text, GC_COMPILE_FULL, &image, &log, &err) == GC_OK,
	   "%s compiles for sm_%d", what, arch);
	if (log)
		tap_note("%.2000s", log);
	free(log);
	free(image.bytes);
}

static void
test_nvrtc(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);
	Marker		mk;

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (int arch = 80; arch <= 90; arch += 10)
	{
		char	   *text = gc_generate_combiner();

		compile_text(nvrtc, arch, text, "the combiner");
		free(text);
		describe_marker(&mk, arch == 80 ? NSHARED : 2, arch == 80);
		text = gc_generate_marker(mk.column, NTESTED);
		compile_text(nvrtc, arch, text, "a marker");
		free(text);
		for (int i = 0; i < NREQUESTS; i++)
		{
			const Member *m = &members[i];
			GcVariant	v = marked_variant[i];
			GcKernelSource source;

			v.vec = 8;
			if (gc_generate_tester(m->p, m->pipeline, &m->tests, &source, &err) != GC_OK)
				tap_bail(err.detail);
			compile_text(nvrtc, arch, source.text, "a tester");
			free(source.text);
			if (gc_generate(m->p, m->pipeline, &v, &source, &err) != GC_OK)
				tap_bail(err.detail);
			compile_text(nvrtc, arch, source.text, "a kernel over marks");
			free(source.text);
		}
	}
}

static void
make_all(void)
{
	const TableColumn *key;
	char	   *text = gc_generate_combiner();

	combiner = load_text(text);
	free(text);
	for (int i = 0; i < NTABLE; i++)
		make_column(&table[i]);
	key = find_column(C_DKEY);
	for (u32 r = 0; r < key->cols[0].nrows; r++)
	{
		dim_key[0][key->value[0][r]] = key->value[0][r] < 2500;
		dim_key[1][key->value[0][r]] = key->value[0][r] < 4000;
	}
	for (int i = 0; i < NREQUESTS; i++)
		make_member(i);
}

int
main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "host";
	GcDeviceOptions options = {HOST_THREADS, 256 * MEGABYTE, 0, NULL};
	GcError		err = {GC_OK, ""};

	tap_start();
	on_host = strcmp(device, "cuda") != 0;
	ops = on_host ? &gc_host_ops : &gc_cuda_ops;
	if (ops->open(&dev, &options, &err) != GC_OK)
		return tap_skip_all(err.detail);
	ops->pool(dev, &pool_base, &pool_size);
	top = pool_base;
	stream = get_stream();
	make_all();
	test_requests();
	test_find();
	test_scans();
	test_two_launches();
	test_nvrtc();
	free_columns();
	ops->stream_put(dev, stream);
	ops->close(dev);
	return tap_done();
}
