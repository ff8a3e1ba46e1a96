/*-------------------------------------------------------------------------
 *
 * selection_test.c [host|cuda]
 *	  Kernels of selection scans: predicate kernel, merge kernel, selection kernel, and those that visit marks.
 *
 * Sixteen requests over one table, each with chunks, rows and constants of its own.  Who
 * passes is computed here, row by row, and compared with the marks of scans for one set
 * of requests after another.  Then each request's kernel visits its marks; what is in its
 * sink must be what its ordinary kernel leaves there.  As in fused_test.c, columns of
 * chunks that no reader of the column reads are at an address that cannot be read.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too, each for one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "selection_scan.h"

static void
test_requests(void)
{
	for (int i = 0; i < NALL; i++)
	{
		const Member *m = &members[i];
		const GcPredicates *t = &m->tests;
		size_t		set = 0;
		int			n = 0;

		for (size_t b = GC_NFLAGS * 4; b < m->wanted.size; b++)
			set += m->wanted.bytes[b] != 0;
		ok((set > 0) == ((requests[i].passes != pass_constant || !requests[i].odd) && !requests[i].fails),
		   "request %d (%s) has a result: %zu bytes, %zu of them not 0", i, requests[i].name, m->wanted.size, set);
		for (int f = 0; f <= GC_FLAG_ROWS_FULL; f++)
			n += ((const u32 *) m->wanted.bytes)[f] != 0;
		is(n, requests[i].fails, "and raises no flag, or one");
		is(((const u32 *) m->wanted.bytes)[GC_FLAG_DATA], requests[i].fails, "which says that a value was wrong");
		is(t->steps, requests[i].steps, "its tests are known");
		is(t->direct, requests[i].direct, "and its direct builds");
		is(t->nlookups, __builtin_popcountll(t->direct), "each of them");
		n = 0;
		while (n < 3 && requests[i].column[n] != 0)
			n++;
		is(t->ncolumns, n, "and how many columns they read");
		for (int q = 0; q < t->ncolumns && q < n; q++)
			ok(m->maker.source[t->column[q]] == requests[i].column[q], "and which: number %d", q);
	}
}

/*
 * Lookups of builds that a thread's rows do together, if there are several: places, payloads where
 * the place has them not, and payloads of dense builds.  Not by a key that may fail, nor where few of the rows that have marks
 * are expected to pass what else is tested.
 */
static void
test_look_ups(void)
{
	for (int i = 0; i < NALL; i++)
	{
		const Member *m = &members[i];
		GcKernelSource source;
		GcError		err = {GC_OK, ""};
		const char *at;
		int			n = 0;

		if (gc_generate(m->p, m->pipeline, &selection_variant[i], &source, &err) != GC_OK)
			tap_bail(err.detail);
		for (at = source.text; (at = strstr(at, "GC_LOOK_UP(gc_j)")) != NULL; at++)
			n++;
		ok(n == requests[i].look_ups, "%s: %d times, rows look something up together", requests[i].name, n);
		free(source.text);
	}
}

/* Ordinary kernels whose blocks keep the groups that they meet leave the same. */
static void
test_cells(void)
{
	int			n = 0;

	for (int i = 0; i < 2 * NALL; i++)
	{
		Member	   *m = &members[i / 2];
		GcVariant	v = m->variant;
		GcKernelSource source;
		Loaded		k;

		if (gc_pipelines(m->p)[m->pipeline].group_mode != GC_GROUP_DENSE)
			continue;
		v.group_local = false;
		v.group_copies = 0;
		v.group_cells = i % 2 ? MANY_CELLS : FEW_CELLS;
		generate_kernel(m, m->pipeline, &v, &source, &k);
		empty_sink(m);
		run_kernel(m, m->pipeline, &k, &source, gc_shared_bytes(m->p, m->pipeline, &v, m->ranges, m->ngroups), m->sink, m->chunks, false);
		ok(same_result(m), "%s: %d cells for %llu groups", requests[i / 2].name, v.group_cells, m->ngroups);
		unload(&k);
		n++;
	}
	ok(n >= 4, "%d kernels have cells", n);
}

static void
make_selector(Marker *mk, int nshared, bool exact)
{
	describe_selector(mk, nshared, exact);
	load_selector(mk);
}

/* All tables are in shared memory. */
static void
make_fast_selector(Marker *mk, int n, bool exact)
{
	describe_selector(mk, n, exact);
	mk->n = n;
	load_selector(mk);
}

/* One scan for these requests: as begin_scan. */
static void
check_scan(const Marker *mk, u32 who, u32 chunks, int shift, u32 turn)
{
	const GcAddr begin = top;
	Scan		scan;

	begin_scan(&scan, who, chunks, shift);
	run_predicate_kernels(&scan);
	run_merge_kernel(&scan);
	run_selector(mk, &scan, turn);
	ok(check_scan_selection(&scan) == 0, "requests 0x%x, %d tables in shared memory: selection bitmaps and results are right",
	   who, mk->nshared);
	top = begin;
}

/* Any of the numbers. */
static u32
draw_set(void)
{
	return draw(1u << 16) | draw(1u << 16) << 16;
}

static void
test_scans(void)
{
	static const int nshared[] = {0, NSHARED, 3};
	Marker		mk;

	for (int k = 0; k < 3; k++)
	{
		make_selector(&mk, nshared[k], k != 2);
		check_scan(&mk, UINT32_MAX, ALL_CHUNKS, 0, k);
		check_scan(&mk, 0xffff, ALL_CHUNKS, 5, k + 1);
		check_scan(&mk, 0xffff0000, ALL_CHUNKS, 0, k);
		check_scan(&mk, UINT32_MAX, draw(ALL_CHUNKS), 9, k);
		for (int i = k; i < NREQUESTS; i += 3)
			check_scan(&mk, 1u << i, ALL_CHUNKS, k * 8 + i, i);
		for (int i = 0; i < 4; i++)
			check_scan(&mk, draw_set() & draw_set(), ALL_CHUNKS, i, i);
		unload(&mk.kernel);
	}
}

/* Does request i test none but the first n of `tested`? */
static bool
tests_first(int i, int n)
{
	for (int k = n; k < NTESTED; k++)
	{
		if (bits_of(&members[i], tested[k]))
			return false;
	}
	return true;
}

/* Selection kernels for the first few columns, and requests that test no others. */
static void
test_fast_scans(void)
{
	for (int n = 2; n <= NSHARED; n++)
	{
		u32			who = 0;
		Marker		mk;

		make_fast_selector(&mk, n, n % 2);
		for (int i = 0; i < NREQUESTS; i++)
			who |= (u32) tests_first(i, n) << i;
		ok(__builtin_popcount(who) > 2, "requests 0x%x test the first %d columns", who, n);
		who |= who << 16;
		check_scan(&mk, who, ALL_CHUNKS, 0, n);
		check_scan(&mk, who, ALL_CHUNKS, 7, n + 1);
		check_scan(&mk, who & draw_set(), draw(ALL_CHUNKS), n, n);
		for (int i = 0; i < NREQUESTS; i++)
		{
			if (who >> i & 1)
				check_scan(&mk, 1u << i, ALL_CHUNKS, n, i);
		}
		unload(&mk.kernel);
	}
}

/* Requests with hash builds, beside each other and others, and alone. */
static void
test_places(void)
{
	Marker		mk;

	make_selector(&mk, NSHARED, true);
	for (int turn = 0; turn < 6; turn++)
	{
		const GcAddr begin = top;
		Scan		scan;

		begin_scan(&scan, UINT32_MAX, ALL_CHUNKS, 0);
		for (int b = 0; b < NALL - NREQUESTS; b++)
			scan.who[(b * 3 + turn) % GC_MAX_SELECTED] = NREQUESTS + b;
		if (turn >= 4)
			scan.mask = draw_set();
		run_predicate_kernels(&scan);
		run_merge_kernel(&scan);
		run_selector(&mk, &scan, turn);
		ok(check_scan_selection(&scan) == 0, "builds found by place, turn %d", turn);
		top = begin;
	}
	for (int i = NREQUESTS; i < NALL; i++)
	{
		const GcAddr begin = top;
		Scan		scan;

		begin_scan(&scan, 1, ALL_CHUNKS, 7);
		scan.who[7] = i;
		run_predicate_kernels(&scan);
		run_merge_kernel(&scan);
		run_selector(&mk, &scan, i);
		ok(check_scan_selection(&scan) == 0, "%s: alone", requests[i].name);
		top = begin;
	}
	unload(&mk.kernel);
}

/* Marks with private chunks beside: the two launches add up. */
static void
test_two_launches(void)
{
	const u32	cached = 0x1f0b5;
	Scan		scan = {.mask = 0xffff,.chunks = cached};
	Marker		mk;

	make_selector(&mk, NSHARED, true);
	for (int i = 0; i < NREQUESTS; i++)
		scan.who[i] = i;
	run_predicate_kernels(&scan);
	run_merge_kernel(&scan);
	run_selector(&mk, &scan, 3);
	for (int i = 0; i < NREQUESTS; i++)
	{
		Member	   *m = &members[i];

		show_marks(m, &scan, i);
		empty_sink(m);
		run_alone(m, m->pipeline, m->sink, m->chunks & ~cached, true);
		run_kernel(m, m->pipeline, &selection[i], &marked_source[i],
				   gc_shared_bytes(m->p, m->pipeline, &selection_variant[i], m->ranges, m->ngroups), m->sink, m->chunks & cached, false);
		ok(same_result(m), "%s: private chunks and selection bitmaps add up", requests[i].name);
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
	GcPredicates		tests;

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
	gc_find_predicates(p, p->npipelines - 1, allowed, &tests);
	is(tests.ncolumns, GC_MAX_PREDICATES, "no more columns are tested than there may be");
	is(tests.steps, (u64) 0xffff << 3 | 1 << 21 | 1, "nor payloads or constants");
	is(tests.direct, 1, "probes of hash builds are direct");
	/* the build has two columns, too */
	allowed[2 + 4] = false;
	gc_find_predicates(p, p->npipelines - 1, allowed, &tests);
	is(tests.steps, ((u64) 0x1ffff << 3 | 1 << 21 | 1) & ~((u64) 1 << 7), "a column that may not be tested makes room");
	memset(allowed, false, sizeof(allowed));
	gc_find_predicates(p, p->npipelines - 1, allowed, &tests);
	ok(tests.steps == 0 && tests.ncolumns == 0, "no column may be tested");
	free(p);
}

/* ---------- texts ---------- */

static void
check_old(const GcNvrtc *nvrtc, char *text, const char *what)
{
	compiles_for_gpu(nvrtc, 75, text, GC_COMPILE_FULL, what);
	free(text);
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
	/* the oldest GPUs have fewer instructions */
	describe_selector(&mk, 2, true);
	check_old(nvrtc, gc_generate_selector(mk.column, NTESTED), "a selector");
	for (int i = 0; i < NALL; i += 5)
	{
		GcVariant	v = selection_variant[i];
		GcKernelSource source;

		v.vec = 8;
		if (gc_generate(members[i].p, members[i].pipeline, &v, &source, &err) != GC_OK)
			tap_bail(err.detail);
		check_old(nvrtc, source.text, "a kernel over selection bitmaps");
	}
	for (int arch = 80; arch <= 90; arch += 10)
	{
		char	   *text = gc_generate_merge_kernel();

		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "the merge_kernel");
		free(text);
		describe_selector(&mk, arch == 80 ? NSHARED : 2, arch == 80);
		text = gc_generate_selector(mk.column, NTESTED);
		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "a selector");
		free(text);
		for (int i = arch / 10 % 2; i < NALL; i += 2)
		{
			const Member *m = &members[i];
			GcVariant	v = selection_variant[i];
			GcKernelSource source;

			v.vec = 8;
			v.threads = 128 << i % 4;
			if (gc_generate_predicate_kernel(m->p, m->pipeline, &m->tests, &source, &err) != GC_OK)
				tap_bail(err.detail);
			compiles_for_gpu(nvrtc, arch, source.text, GC_COMPILE_FULL, "a predicate_kernel");
			free(source.text);
			if (gc_generate(m->p, m->pipeline, &v, &source, &err) != GC_OK)
				tap_bail(err.detail);
			compiles_for_gpu(nvrtc, arch, source.text, GC_COMPILE_FULL, "a kernel over selection bitmaps");
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
	make_all();
	test_requests();
	test_look_ups();
	test_find();
	test_cells();
	test_scans();
	test_fast_scans();
	test_places();
	test_two_launches();
	ok(skipped > 1000, "%llu times a request has no selection bitmaps in rows that have a summary", skipped);
	test_nvrtc();
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
