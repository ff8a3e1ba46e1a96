/*-------------------------------------------------------------------------
 *
 * gang_test.c [host|cuda]
 *	  A gang launch does what its members' own launches do.
 *
 * Requests of one text have chunks, rows and constants of their own.  They are run one by one, and then by one launch
 * of the gang's kernel.  What is in each sink and its flags must be the same; one of them reads no chunk and has no
 * block, and of those that divide, one divides by zero.  The sinks are one group, groups in shared memory and in a
 * table, hashed groups, and rows, of which one has no room.
 *
 * Where there is NVRTC, the same texts are compiled for a GPU, too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "fused_util.h"

#include "../../src/device/nvrtc.h"

/* Device cuda's side of what finds a block's member. */
#define GC_GANG		1
#define GC_CUDA		1
#define GC_FN		static inline
#define GC_UNROLL
#include "../../cuda/gc_gang.h"

#define NMEMBERS	8
#define EMPTY		3			/* reads nothing */
#define FAILS		5			/* divides by zero, or has no room for its rows */

enum
{
	DIVIDED, LOCAL, DENSE, HASHED, ROWS, NSHAPES
};

static const char *const shapes[NSHAPES] = {"one group, of quotients", "groups in shared memory", "groups in a table",
"hashed groups", "rows"};
static Member members[NSHAPES][NMEMBERS];

/* ---------- the requests ---------- */

/* Rows that a request sees: all, one in three not, or most of them not. */
static GcAddr
make_valid(u32 rows, int how)
{
	u8		   *visible = calloc(rows + 1, 1);
	GcAddr		addr = 0;

	for (u32 r = 0; r < rows; r++)
		visible[r] = how == 1 ? r % 3 > 0 : r % 100 == 0;
	if (how > 0)
		addr = put_visible_rows(visible, rows);
	free(visible);
	return addr;
}

static void
add_sink(Maker *k, int shape, int i)
{
	const u16	small = read_column(k, C_SMALL, false);
	const u16	null = read_column(k, C_NULL, false);
	const u16	vary = read_column(k, C_VARY, false);
	const u16	group = read_column(k, C_GROUP, false);

	maker_pipeline(k, 0, shape == ROWS ? GC_SINK_ROWS : GC_SINK_AGGREGATE, shape == ROWS ? 4 : 1);
	maker_filter(k, maker_test(k, GC_OP_LT, vary, maker_param(k, GC_INT4, shape == ROWS ? 20000 * (i + 1) : 100000 * (i + 1), 0)), 1);
	if (shape == ROWS)
	{
		maker_out(k, small);
		maker_out(k, null);
		maker_out(k, vary);
		return;
	}
	if (shape == DIVIDED)
	{
		const u16	divisor = maker_expr(k, GC_OP_SUB, GC_INT4, small, maker_param(k, GC_INT4, i == FAILS ? 7 : 100 + i, 0), GC_NONE);

		maker_group(k, GC_GROUP_NONE, 0, GC_NONE, GC_NONE);
		maker_agg(k, GC_AGG_SUM, maker_expr(k, GC_OP_DIV, GC_INT4, vary, divisor, GC_NONE));
	}
	else
		maker_group(k, shape == HASHED ? GC_GROUP_HASH : GC_GROUP_DENSE, shape == HASHED ? 2 : 1, group, null);
	maker_agg(k, GC_AGG_COUNT, GC_NONE);
	maker_agg(k, GC_AGG_SUM, vary);
	maker_agg(k, GC_AGG_MIN, null);
	maker_agg(k, GC_AGG_MAX, small);
}

static void
make_member(int shape, int i)
{
	Member	   *m = &members[shape][i];

	maker_input(&m->maker);
	add_sink(&m->maker, shape, i);
	m->p = maker_finish(&m->maker, 1000000);
	m->pipeline = m->p->npipelines - 1;
	m->ngroups = shape == DIVIDED ? 1 : shape == HASHED ? HASH_GROUPS : shape == ROWS ? 0 : 11;
	m->stride[0] = 1;
	m->variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = 256,.group_local = shape == LOCAL,.group_copies = shape == LOCAL ? 2 : 0};
	if (shape == ROWS)
	{
		m->rows_cap = i == FAILS ? 100 : ROWS_CAP;
		m->loose = i == FAILS;
	}
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (i != EMPTY && (i * 7 + c * 3) % 5 != 0)
			m->chunks |= 1u << c;
		m->valid[c] = i == 1 ? 0 : make_valid(CHUNK_ROWS[c], (i + c) % 3);
	}
	lay_out_sink(m);
	empty_sink(m);
	run_alone(m, m->pipeline, m->sink, m->chunks, false);
	m->wanted = fetch(m);
	if (i > 0)
		unload(&m->own);
}

/* ---------- gangs ---------- */

/* The arguments of a member, for its own chunks. */
static void
fill_args(const Member *m, int i, GcArgs *args)
{
	const TableColumn *first = find_column(m->maker.source[0]);
	GcSource	sources[NCHUNKS + 1];
	u32			n = 0;

	memset(args, 0, sizeof(*args));
	for (int w = 0; w < m->source.nwords; w++)
		args->w[w] = member_word(m, &m->source.words[w]);
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		if (m->chunks >> c & 1)
			sources[n++] = (GcSource) {m->valid[c], c, first->cols[c].nrows};
	}
	args->scan = (GcScan) {.flags = m->sink,.timed = 1,.nsources = n,.tiles_per_source = TILES,.ntiles = n * TILES,
		.sources = put(sources, (n + 1) * sizeof(GcSource)),.first_tile = n > 0 ? i % (n * TILES) : 0};
	ask_delivery(&args->scan, m->part[4], i);
}

/* The kernel for one of these, whose text the caller frees. */
static void
describe_kernel(const Member *m, const GcVariant *variant, GcKernelSource *source)
{
	GcError		err = {GC_OK, ""};

	if (gc_generate(m->p, m->pipeline, variant, source, &err) != GC_OK)
		tap_bail(err.detail);
}

/* The gang's kernel that is made of a kernel's text. */
static Loaded
load_gang(const char *text, int nwords)
{
	int			most;
	char	   *gang = gc_gang_text(text, nwords, &most);
	Loaded		k = load_text(gang);

	ok(most >= NMEMBERS, "%d members have room", most);
	free(gang);
	return k;
}

static void
test_gang(int shape, int vec)
{
	static GcArgs args[NMEMBERS];
	Member	   *who = members[shape];
	GcGangMember gang[NMEMBERS];
	GcVariant	variant = who[0].variant;
	GcKernelSource source;
	Loaded		k;
	GcLaunch	launch = {.threads = 256,.shared_bytes = (u32) gc_shared_bytes(who[0].p, who[0].pipeline, &variant, who[0].ranges, who[0].ngroups)};
	const u64	from = host_ns();

	variant.vec = vec;
	describe_kernel(&who[0], &variant, &source);
	k = load_gang(source.text, source.nwords);
	free(source.text);
	ok(source.nwords == who[0].source.nwords, "%s: a gang's kernel has as many words", shapes[shape]);
	ok(memcmp(source.words, who[0].source.words, source.nwords * sizeof(GcArgWord)) == 0, "in the same order");
	for (int i = 0; i < NMEMBERS; i++)
	{
		empty_sink(&who[i]);
		fill_args(&who[i], i, &args[i]);
		gang[i] = (GcGangMember) {.args = &args[i],.blocks = i == EMPTY ? 0 : 1 + i % 4};
	}
	must(ops->launch_gang(stream, k.kernel, &launch, gang, NMEMBERS, source.nwords, NULL));
	memset(args, 0xEE, sizeof(args));	/* they were copied */
	must(finish(stream, NULL));
	for (int i = 0; i < NMEMBERS; i++)
	{
		fill_args(&who[i], i, &args[i]);
		ok(same_result(&who[i]), "%s: member %d has its own result%s", shapes[shape], i, i == FAILS ? ", or failure" : "");
		if (i != EMPTY)
			check_times(who[i].sink, from, false);
	}
	unload(&k);
}

/* Each member's result is brought to the host by its own last block. */
static void
test_delivery(int shape)
{
	Member	   *who = members[shape];
	GcGangMember gang[NMEMBERS];
	static GcArgs args[NMEMBERS];
	GcVariant	variant = who[0].variant;
	GcKernelSource source;
	Loaded		k;
	GcLaunch	launch = {.threads = 256,.shared_bytes = (u32) gc_shared_bytes(who[0].p, who[0].pipeline, &variant, who[0].ranges, who[0].ngroups)};
	int			n = 0;

	describe_kernel(&who[0], &variant, &source);
	k = load_gang(source.text, source.nwords);
	free(source.text);
	for (int i = EMPTY + 1; i < NMEMBERS; i++, n++)
	{
		empty_sink(&who[i]);
		fill_args(&who[i], n, &args[n]);
		gang[n] = (GcGangMember) {.args = &args[n],.blocks = 2 + n};
	}
	must(ops->launch_gang(stream, k.kernel, &launch, gang, n, source.nwords, NULL));
	must(finish(stream, NULL));
	for (int i = 0; i < n; i++)
		check_delivery(&args[i].scan, i);
	unload(&k);
}

static void
test_limits(void)
{
	static GcArgs args;
	GcGangMember gang[GC_GANG_MOST + 1];
	const GcLaunch launch = {.threads = 32};
	const Loaded *k = &members[DIVIDED][0].own;

	for (int m = 0; m <= GC_GANG_MOST; m++)
		gang[m] = (GcGangMember) {.args = &args,.blocks = 0};
	is(ops->launch_gang(stream, k->kernel, &launch, gang, 2, 3, NULL), GC_OK, "a gang without blocks is nothing");
	is(ops->launch_gang(stream, k->kernel, &launch, gang, GC_GANG_MOST + 1, 1, NULL), GC_BAD_PROGRAM, "too many members");
	is(ops->launch_gang(stream, k->kernel, &launch, gang, 10, GC_MAX_ARG_WORDS, NULL), GC_BAD_PROGRAM, "too many words for them");
	ok(GC_GANG_MEMBERS(100) >= GC_GANG_MOST, "all members of a hundred words fit");
	ok(GC_GANG_MEMBERS(300) * (sizeof(GcScan) + 2400) + GC_GANG_MOST * sizeof(u32) <= GC_GANG_BYTES, "a gang's size");
	must(finish(stream, NULL));
}

/* Device cuda finds a block's member by bisection. */
static void
test_members(void)
{
	int			wrong = 0;

	for (int round = 0; round < 200; round++)
	{
		const int	n = 1 + (int) draw(GC_GANG_MOST);
		u32			end[GC_GANG_MOST];
		u32			blocks = 0;
		u32			m = 0;

		for (int i = 0; i < GC_GANG_MOST; i++)
			end[i] = i < n ? (blocks += draw(4)) : ~0u;
		for (u32 b = 0; b < blocks; b++)
		{
			while (end[m] <= b)
				m++;
			wrong += gc_gang_member(end, b) != m;
		}
	}
	is(wrong, 0, "each block finds its member");
}

/* ---------- texts ---------- */

static void
test_texts(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);

	for (int shape = 0; shape < NSHAPES; shape++)
	{
		const Member *m = &members[shape][0];
		GcVariant	variant = m->variant;
		GcKernelSource source;
		char	   *text;
		int			most;

		variant.vec = 8;
		describe_kernel(m, &variant, &source);
		text = gc_gang_text(source.text, source.nwords, &most);
		free(source.text);
		for (int arch = 80; nvrtc != NULL && arch <= 90; arch += 10)
			compiles_for_gpu(nvrtc, arch, text, arch == 90 ? GC_COMPILE_QUICK : GC_COMPILE_FULL, shapes[shape]);
		free(text);
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
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		for (int i = 0; i < NMEMBERS; i++)
			make_member(shape, i);
		test_gang(shape, on_host ? 0 : 8);
		if (!on_host)
			test_gang(shape, 16);
	}
	ok(((const u32 *) members[DIVIDED][FAILS].wanted.bytes)[GC_FLAG_DATA] != 0, "one member divides by zero");
	ok(((const u32 *) members[ROWS][FAILS].wanted.bytes)[GC_FLAG_ROWS_FULL] != 0, "one has no room for its rows");
	test_delivery(LOCAL);
	test_delivery(DENSE);
	test_limits();
	test_members();
	test_texts();
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
