/*-------------------------------------------------------------------------
 *
 * fused_text_test.c [host|cuda]
 *	  Texts of fused kernels: what is refused, what of a member stands in them, and which columns each reads.
 *
 * Where there is NVRTC, texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "fused_requests.h"

#include "../../src/device/nvrtc.h"

static GcCode
generate(Fused *f, GcError *err)
{
	GcCode		code;

	*err = (GcError) {GC_OK, ""};
	code = gc_generate_fused(f->m, f->n, &f->source, err);
	if (code != GC_OK)
	{
		ok(f->source.text == NULL && err->code == code && err->detail[0] != '\0', "refused: %s", err->detail);
		f->source.text = NULL;
	}
	return code;
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
	is(gc_generate_fused(many, GC_MAX_FUSED + 1, &source, &err), GC_UNSUPPORTED, "too many members");

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

	if ((as_body ? gc_generate_fused(two, 2, &fused, &err)
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
 * A member may read the columns of the request's own kernel, which are on the device for it.  A counted
 * value is read only if it can be NULL, or computing it can fail.
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
	test_refusals();
	test_text();
	test_reads();
	test_nvrtc();
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
