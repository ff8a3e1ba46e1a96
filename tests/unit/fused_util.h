/*-------------------------------------------------------------------------
 *
 * fused_util.h
 *	  For fused_test.c, filter_aggregate_test.c, selection_test.c and key_groups_test.c: a table in device
 *	  memory, and requests over it that can be run by kernels of their own or share a scan.
 *
 * The table has a chunk of every size that could matter (CHUNK_ROWS) and a column of
 * every width, with and without NULLs.  A request (Member) reads some of the chunks,
 * of some of them only some of the rows, and has flags and a sink of its own.  What is
 * in the sink afterwards comes out as bytes in one order (Result), so that results can
 * be compared whatever order the device's threads worked in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_UTIL_H
#define GC_FUSED_UTIL_H

#include <time.h>

#include "device_util.h"
#include "program_util.h"

#include "../../src/codegen/fused.h"
#include "../../src/codegen/selection.h"

#ifndef NCHUNKS
#define NCHUNKS			9
#define CHUNK_SIZES		{1, 31, 32, 33, 0, 16383, 16384, 16385, 40000}
#endif
#define TILES			3		/* of the largest chunk */
#define ROWS_CAP		20000	/* of a row sink */
#define HASH_GROUPS		8192
#define HASH_SLOTS		32768
#define BUILD_SLOTS		1024	/* of a hash build */
#define BUILD_CAP		400
#define DIM_ROWS		3000
#define DIM_RANGE		5000	/* keys of the dense build: 2 .. 5001 */
#define POISON			16		/* an address that nobody may read from */

static const u32 CHUNK_ROWS[NCHUNKS] = CHUNK_SIZES;

/* Physical columns of the table; numbers with gaps, as a request may have them. */
enum
{
	C_KEY = 3, C_SMALL = 4, C_NULL = 10, C_BIG = 11, C_VARY = 12, C_FLOAT = 50,
	C_NUM = 51, C_GROUP = 199, C_DKEY = 120, C_DVAL, C_HKEY, C_HVAL,
	C_WIDE = 60, C_SHIFT, C_GAPS
};

typedef struct TableColumn
{
	i16			number;
	u8			kind;
	u8			width;			/* 0: differs between chunks */
	bool		nullable;
	i64			lo;
	i64			hi;
	i16			scale;
	GcCol		cols[NCHUNKS];
	GcAddr		array;			/* those, on the device */
	i64		   *value[NCHUNKS];
	u8		   *null[NCHUNKS];
	GcAddr		packed_rows;		/* GcCol[NCHUNKS], or 0: there are none */
} TableColumn;

/*
 * Of C_DKEY to C_HVAL a build's input has two each, the others are the table's.  C_SHIFT
 * has other values in every chunk, C_GAPS none at all in some.
 */
static TableColumn table[] = {
	{C_KEY, GC_INT4, 4, false, 0, 5999, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_SMALL, GC_INT4, 1, false, 0, 49, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_NULL, GC_INT4, 2, true, -300, 300, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_BIG, GC_INT8, 8, false, -1000000000000, 1000000000000, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_VARY, GC_INT4, 0, false, 0, 1000000, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_FLOAT, GC_FLOAT8, 8, false, -100, 100, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_NUM, GC_NUMERIC, 4, true, -5000000, 5000000, 2, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_GROUP, GC_INT4, 1, true, 0, 9, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_DKEY, GC_INT4, 2, false, 2, 5001, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_DVAL, GC_INT4, 1, true, 0, 6, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_HKEY, GC_INT4, 1, false, 0, 79, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_HVAL, GC_INT4, 2, false, 0, 999, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_WIDE, GC_INT8, 8, true, 5000000000, 5000000900, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_SHIFT, GC_INT4, 0, false, -70000, 70000, 0, {{0}}, 0, {NULL}, {NULL}, 0},
	{C_GAPS, GC_INT4, 2, true, 1000, 3000, 0, {{0}}, 0, {NULL}, {NULL}, 0},
};

#define NTABLE	((int) (sizeof(table) / sizeof(table[0])))

typedef struct Result
{
	size_t		size;
	unsigned char *bytes;
} Result;

typedef struct Member
{
	Maker		maker;
	GcProgram  *p;
	GcVariant	variant;
	u16			pipeline;
	i16			columns[MAKER_MAX];
	u64			ranges[GC_MAX_BUILDS];
	u64			ngroups;
	u64			stride[2];
	i64			base[2];
	u64			rows_cap;
	bool		loose;			/* overflows: which rows it leaves depends on the order */
	u32			chunks;			/* bit c: reads chunk c */
	GcAddr		valid[NCHUNKS];
	GcAddr		build[GC_MAX_BUILDS][6];	/* bits or slots, keys, next, payload, flags, matches */
	bool		compiled;
	Loaded		own;			/* the main pipeline's kernel */
	GcKernelSource source;
	GcAddr		sink;			/* flags, groups, slots, keys, rows */
	u64			part[5];		/* where each of these begins, and the end */
	Result		wanted;
	GcPredicates		tests;			/* selection scans: its tests, */
	GcAddr		predicate_bits[GC_MAX_PREDICATES];	/* their bitmaps, */
	GcAddr		direct_tables[GC_MAX_DIRECT_LOOKUPS];	/* places of its hash builds, */
	GcAddr		sel_bitmap;			/* and what came of them */
	u64			sel_bitmap_bytes;
	GcAddr		summary;
	u32			sel_bitmap_bit;
} Member;

/* ---------- device memory: never given back, but what is behind a mark ---------- */

static GcAddr top;
static GcStream *stream;

static GcAddr
take(u64 size)
{
	GcAddr		addr = top;

	top += (size + 255) & ~(u64) 255;
	if (top > pool_base + pool_size)
		tap_bail("the device's pool is too small for this test");
	return addr;
}

static void
must(GcCode code)
{
	if (code != GC_OK)
		tap_bail("a device call failed");
}

static GcAddr
put(const void *data, u64 size)
{
	GcAddr		addr = take(size);

	must(ops->copy_in(stream, addr, data, size, NULL));
	must(finish(stream, NULL));
	return addr;
}

#include "deliver_util.h"

/* ---------- the table ---------- */

static u64	random_state = 88172645463325252ull;

static u32
draw(u32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32) ((random_state >> 32) % n);
}

static u64
padded(u32 rows)
{
	return ((u64) rows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * GC_PAD_ROWS;
}

/* One chunk of one column, with these values (floats: of them) and NULLs. */
static GcCol
put_chunk(const TableColumn *c, u32 rows, u32 width, const i64 *value, const u8 *null)
{
	GcCol		col = {.width = width,.nrows = rows,.base = rows > 0 ? INT64_MAX : 0};
	unsigned char *codes = calloc(padded(rows) + 1, width);
	unsigned char *bits = calloc(padded(rows) + 8, 1);
	bool		any = false;

	for (u32 r = 0; r < rows; r++)
		col.base = !null[r] && value[r] < col.base ? value[r] : col.base;
	if (col.base == INT64_MAX)
		col.base = 0;			/* as columns/encode.c does */
	for (u32 r = 0; r < rows; r++)
	{
		u64			code = (u64) (value[r] - col.base);
		double		f = (double) value[r];

		if (c->kind == GC_FLOAT8)
			memcpy(&code, &f, 8);
		if (null[r])
		{
			bits[r >> 3] |= 1 << (r & 7);
			any = true;
		}
		else
			memcpy(codes + (u64) r * width, &code, width);
	}
	col.data = put(codes, padded(rows) * width + 1);
	if (any)
		col.nulls = put(bits, padded(rows) / 8 + 8);
	free(codes);
	free(bits);
	return col;
}

static bool
of_build(const TableColumn *c)
{
	return c->number >= C_DKEY && c->number <= C_HVAL;
}

/* Values and NULLs of the column's chunk number k. */
static void
make_values(TableColumn *c, int k, u32 rows, u32 width)
{
	i64			lo = c->number == C_SHIFT ? c->lo + k * 2000 : c->lo;
	i64			hi = c->width == 0 && width < 4 && lo + (1ll << 8 * width) <= c->hi ? lo + (1ll << 8 * width) - 1 : c->hi;

	c->value[k] = calloc(rows + 1, sizeof(i64));
	c->null[k] = calloc(rows + 1, 1);
	for (u32 r = 0; r < rows; r++)
	{
		i64			v = lo + (i64) (((u64) draw(1u << 31) << 31 | draw(1u << 31)) % (u64) (hi - lo + 1));

		/* the dense build's keys are unique: 2, 3, 5, 6, 8 ... in another order */
		if (c->number == C_DKEY)
			v = 2 + (i64) ((u64) r * 1009 % DIM_ROWS) * 5 / 3;
		c->null[k][r] = c->nullable && (draw(5) == 0 || (c->number == C_GAPS && k % 3 == 0));
		c->value[k][r] = c->null[k][r] ? c->lo : v;
	}
}

static void __attribute__((unused))
make_column(TableColumn *c)
{
	for (int k = 0; k < NCHUNKS; k++)
	{
		u32			rows = of_build(c) ? (k > 0 ? 0 : c->number <= C_DVAL ? DIM_ROWS : 300) : CHUNK_ROWS[k];
		u32			width = c->width ? c->width : 1 << k % 3;

		make_values(c, k, rows, width);
		c->cols[k] = put_chunk(c, rows, width, c->value[k], c->null[k]);
	}
	c->array = put(c->cols, sizeof(c->cols));
}

static void __attribute__((unused))
free_columns(void)
{
	for (int i = 0; i < NTABLE; i++)
	{
		for (int k = 0; k < NCHUNKS; k++)
		{
			free(table[i].value[k]);
			free(table[i].null[k]);
		}
	}
}

static const TableColumn *
find_column(i16 number)
{
	for (int i = 0; i < NTABLE; i++)
	{
		if (table[i].number == number)
			return &table[i];
	}
	tap_bail("no such column");
}

/* Add a column of the table to a program; `any`: as one whose width is not known. */
static u16 __attribute__((unused))
read_column(Maker *m, i16 number, bool any)
{
	const TableColumn *c = find_column(number);
	const GcFact fact = {.range = {c->lo, c->hi},.nullable = c->nullable,.scale = c->scale,
	.width = any && c->kind != GC_FLOAT8 ? 0 : c->width};

	return maker_read(m, maker_column(m, number, c->kind, &fact));
}

/* The bitmap of the rows that are visible, one byte each. */
static GcAddr __attribute__((unused))
put_visible_rows(const u8 *visible, u32 rows)
{
	u8		   *bits = calloc(padded(rows) / 8 + 8, 1);
	GcAddr		addr;

	for (u32 r = 0; r < rows; r++)
		bits[r >> 3] |= visible[r] << (r & 7);
	addr = put(bits, padded(rows) / 8 + 8);
	free(bits);
	return addr;
}

/* ---------- requests ---------- */

/* A filter that may fail, so that it is tested of live rows only; they all pass. */
static void __attribute__((unused))
filter_live(Maker *k, u16 column)
{
	u16			e = maker_expr(k, GC_OP_DIV, GC_INT4, column, maker_param(k, GC_INT4, 3, 0), GC_NONE);

	maker_filter(k, maker_test(k, GC_OP_GE, e, maker_param(k, GC_INT4, 0, 0)), 0);
}

static void
lay_out_sink(Member *m)
{
	const GcPPipeline *pl = &gc_pipelines(m->p)[m->pipeline];

	m->part[0] = 256;
	m->part[1] = m->part[0] + m->ngroups * gc_pipelines(m->p)[m->pipeline].group_words * 8;
	m->part[2] = m->part[1] + (pl->group_mode == GC_GROUP_HASH ? HASH_SLOTS * 8 : 0);
	m->part[3] = m->part[2] + m->ngroups * 3 * 8;
	m->part[4] = m->part[3] + m->rows_cap * gc_row_words(pl) * 8;
	m->sink = take(m->part[4]);
}

static u64
build_word(const Member *m, const GcArgWord *w)
{
	bool		dense = gc_builds(m->p)[w->index].mode == GC_BUILD_DENSE;

	switch (w->part)
	{
		case GC_BUILD_PART_BITMAP:
		case GC_BUILD_PART_SLOTS:
			return m->build[w->index][0];
		case GC_BUILD_PART_BASE:
			return dense && m->ranges[w->index] == DIM_RANGE ? 2 : 0;
		case GC_BUILD_PART_RANGE:
			return m->ranges[w->index];
		case GC_BUILD_PART_MASK:
			return BUILD_SLOTS - 1;
		case GC_BUILD_PART_KEYS:
			return m->build[w->index][1];
		case GC_BUILD_PART_NEXT:
			return m->build[w->index][2];
		case GC_BUILD_PART_FLAGS:
			return m->build[w->index][4];
		case GC_BUILD_PART_MATCHED:
			return m->build[w->index][5];
		default:
			return BUILD_CAP;
	}
}

/* Of the build's places. */
static u64
place_word(const Member *m, const GcArgWord *w)
{
	for (int i = 0; i < m->tests.nlookups; i++)
	{
		const TableColumn *c = find_column(m->maker.source[m->tests.lookup[i].column]);

		if (m->tests.lookup[i].build != w->index)
			continue;
		if (w->part == GC_PREDICATE_BITS)
			return m->direct_tables[i];
		return w->part == GC_PREDICATE_BASE ? (u64) c->lo : (u64) (c->hi - c->lo + 1);
	}
	tap_bail("direct_tables of a build that has none");
}

static u64
test_word(const Member *m, const GcArgWord *w)
{
	const TableColumn *c = find_column(m->maker.source[m->tests.column[w->index]]);

	if (w->part == GC_PREDICATE_BITS)
		return m->predicate_bits[w->index];
	return w->part == GC_PREDICATE_BASE ? (u64) c->lo : (u64) (c->hi - c->lo + 1);
}

/* The program is complete, and its result is one group; valid: which rows it sees, by chunk. */
static void __attribute__((unused))
finish_ungrouped(Member *m, const GcAddr *valid)
{
	const Maker *k = &m->maker;

	m->p = maker_finish(&m->maker, 1000000);
	m->pipeline = m->p->npipelines - 1;
	for (int c = 0; c < k->head.ncolumns; c++)
		m->columns[c] = k->columns[c].input == gc_pipelines(m->p)[m->pipeline].input ? k->source[c] : -1;
	m->ngroups = 1;
	m->variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = 256};
	memcpy(m->valid, valid, sizeof(m->valid));
	lay_out_sink(m);
}

/* What a word of a member's own kernel holds; columns also as private ones. */
static u64
member_word(const Member *m, const GcArgWord *w)
{
	const GcPPayload *pay = &gc_payloads(m->p)[w->index];

	switch (w->type)
	{
		case GC_ARG_COLUMN:
			if (w->part == GC_COLUMN_PACKED_ROWS)
				return find_column(m->maker.source[w->index])->packed_rows;
			return find_column(m->maker.source[w->index])->array;
		case GC_ARG_PARAM:
			return (u64) m->maker.values[w->index];
		case GC_ARG_LUT:
			return m->maker.lut_words[w->index][w->part];
		case GC_ARG_LIST:
			return m->maker.list_words[w->index][w->part];
		case GC_ARG_PREDICATE:
			return test_word(m, w);
		case GC_ARG_DIRECT:
			return place_word(m, w);
		case GC_ARG_SELECTION:
			return w->part == GC_SELECTION_DATA ? m->sel_bitmap : w->part == GC_SELECTION_BYTES ? m->sel_bitmap_bytes
				: w->part == GC_SELECTION_SUMMARY ? m->summary : m->sel_bitmap_bit;
		case GC_ARG_BUILD:
			return build_word(m, w);
		case GC_ARG_PAYLOAD:
			if (w->part == 0)
				return m->build[pay->build][3] + (w->index - gc_builds(m->p)[pay->build].first_payload) * 8 * 3000;
			return (u64) (i64) m->maker.ranges[pay->expr].lo - pay->nullable;
		case GC_ARG_GROUP:
			switch (w->part)
			{
				case GC_GROUP_PART_TABLE:
					return m->sink + m->part[0];
				case GC_GROUP_PART_COUNT:
					return m->ngroups;
				case GC_GROUP_PART_SLOTS:
					return m->sink + m->part[1];
				case GC_GROUP_PART_MASK:
					return HASH_SLOTS - 1;
				default:
					return m->sink + m->part[2];
			}
		case GC_ARG_GROUP_KEY:
			return w->part == 1 ? m->stride[w->index % GC_MAX_KEYS] : (u64) m->base[w->index % GC_MAX_KEYS];
		case GC_ARG_ROWS:
			return w->part == 1 ? m->rows_cap : m->sink + m->part[3];
		case GC_ARG_FLAGS:
			return m->sink;
		default:
			tap_bail("a word that the test cannot fill");
	}
}

/* ---------- device ---------- */

static bool
start_device(const char *device, GcError *err)
{
	const GcDeviceOptions options = {HOST_THREADS, 256 * MEGABYTE, 0, NULL, NULL};

	on_host = strcmp(device, "cuda") != 0;
	ops = on_host ? &gc_host_ops : &gc_cuda_ops;
	if (ops->open(&dev, &options, err) != GC_OK)
		return false;
	ops->pool(dev, &pool_base, &pool_size);
	top = pool_base;
	stream = get_stream();
	return true;
}

static void
stop_device(void)
{
	ops->stream_put(dev, stream);
	ops->close(dev);
}

/* ---------- kernels ---------- */

/* How kernels are compiled from now on. */
static GcCompileEffort compile_effort = GC_COMPILE_FULL;

static Loaded __attribute__((unused))
load_text(const char *text)
{
	return load_with(text, compile_effort);
}

/* Launches that are members of a gang: while they are gathered, launch_scan leaves them here. */
#define KEPT_MOST	4

static struct
{
	bool		gathering;
	int			n;
	GcArgs		args[KEPT_MOST];
	u32			blocks[KEPT_MOST];
	u32			shared;			/* the most of them */
	int			nwords;
}			kept;

/* The gang's kernel that is made of a kernel's text. */
static Loaded __attribute__((unused))
load_gang(const char *text, int nwords)
{
	int			most;
	char	   *gang = gc_gang_text(text, nwords, &most);
	Loaded		k = load_text(gang);

	ok(most >= KEPT_MOST, "%d members have room", most);
	free(gang);
	return k;
}

/* Launch what was gathered. */
static void __attribute__((unused))
launch_kept(const Loaded *gang, u32 threads)
{
	GcGangMember members[KEPT_MOST];
	const GcLaunch all = {.threads = threads,.shared_bytes = kept.shared};

	for (int m = 0; m < kept.n; m++)
		members[m] = (GcGangMember) {.args = &kept.args[m],.blocks = kept.blocks[m]};
	must(ops->launch_gang(stream, gang->kernel, &all, members, kept.n, kept.nwords, NULL));
	must(finish(stream, NULL));
	kept.gathering = false;
	kept.n = 0;
	kept.shared = 0;
}

static void
launch_scan(const Loaded *k, GcArgs *args, int nwords, const GcSource *sources, u32 n, u64 shared,
			u32 threads, u32 turn)
{
	GcLaunch	shape = {5 + turn % 3, threads, (u32) shared, 0};

	args->scan.sources = put(sources, (n + 1) * sizeof(GcSource));
	args->scan.nsources = n;
	args->scan.tiles_per_source = TILES;
	args->scan.ntiles = n * TILES;
	args->scan.first_tile = n > 0 ? turn * 7 % args->scan.ntiles : 0;
	if (kept.gathering)
	{
		kept.args[kept.n] = *args;
		kept.blocks[kept.n++] = shape.blocks;
		kept.shared = shared > kept.shared ? (u32) shared : kept.shared;
		kept.nwords = nwords;
		return;
	}
	must(ops->launch(stream, k->kernel, &shape, args, nwords, NULL));
	must(finish(stream, NULL));
}

/* ---------- when kernels ran ---------- */

/* Flags of the selection kernel behind which marked kernels come; 0: there is none. */
static GcAddr selector_flags;
static int	timed,
			badly_timed;
static u64	began_ns;

static u64
host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64) t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * A kernel with these flags was launched after `from`: are its times between then and now?
 * Where the device's clock is another one, at least it took no longer than this program did.
 */
static void
check_times(GcAddr flags, u64 from, bool selection)
{
	u64			t[GC_NTIMES];
	u64			first,
				last;

	must(ops->copy_out(stream, t, flags + GC_TIMES_AT, sizeof(t), NULL));
	must(finish(stream, NULL));
	first = ~t[GC_TIME_BEGAN];
	last = t[GC_TIME_ENDED];
	began_ns = began_ns ? began_ns : from;
	timed++;
	if (t[GC_TIME_BEGAN] == 0 || first > last || last - first > host_ns() ||
		(on_host && (last < from || last > host_ns())) ||
		(!on_host && last - first > host_ns() - began_ns) ||
		(selection && (~t[GC_TIME_BEFORE_BEGAN] > t[GC_TIME_BEFORE_ENDED] || t[GC_TIME_BEFORE_BEGAN] == 0 ||
					t[GC_TIME_BEFORE_ENDED] > last)) ||
		(!selection && (t[GC_TIME_BEFORE_BEGAN] != 0 || t[GC_TIME_BEFORE_ENDED] != 0)))
		badly_timed++;
}

static void __attribute__((unused))
test_times(void)
{
	ok(timed > 0 && badly_timed == 0, "%d of %d kernels ran when they cannot have", badly_timed, timed);
	ok((delivered > 0 || !dev->info.host_pointers) && badly_delivered == 0, "%d of %d results were not delivered as they are",
	   badly_delivered, delivered);
}

/* Is it the kernel of a selection scan? */
static bool
has_marks(const GcKernelSource *source)
{
	for (int i = 0; i < source->nwords; i++)
	{
		if (source->words[i].type == GC_ARG_SELECTION)
			return true;
	}
	return false;
}

/* A kernel of one of the member's pipelines over those of its chunks that are in `chunks`. */
static void
run_kernel(const Member *m, u16 pipeline, const Loaded *k, const GcKernelSource *source, u64 shared,
		   GcAddr flags, u32 chunks, bool private)
{
	const TableColumn *first = find_column(m->maker.source[gc_inputs(m->p)[gc_pipelines(m->p)[pipeline].input].first_column]);
	GcSource	sources[NCHUNKS + 1];
	GcArgs		args;
	u32			n = 0;
	const u64	from = host_ns();
	const bool	is_marked = has_marks(source);

	memset(&args, 0, sizeof(args));
	for (int i = 0; i < source->nwords; i++)
		args.w[i] = member_word(m, &source->words[i]);
	args.scan.flags = flags;
	args.scan.timed = flags == m->sink;
	args.scan.before = is_marked ? selector_flags : 0;
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		if (chunks >> c & 1)
			sources[n++] = (GcSource) {pipeline == m->pipeline ? m->valid[c] : 0, private ? c | GC_PRIVATE_CHUNK : c,
				first->cols[c].nrows};
	}
	if (flags == m->sink)
		ask_delivery(&args.scan, m->part[4], 0);
	launch_scan(k, &args, source->nwords, sources, n, shared, 256, 0);
	if (args.scan.timed)
		check_times(flags, from, is_marked);
	check_delivery(&args.scan, 0);
	if (flags == m->sink)
		must(ops->fill(stream, flags + GC_BLOCKS_AT, 0, sizeof(u32), NULL));
}

static void
generate_kernel(const Member *m, u16 pipeline, const GcVariant *variant, GcKernelSource *source, Loaded *k)
{
	GcError		err = {GC_OK, ""};

	if (gc_generate(m->p, pipeline, variant, source, &err) != GC_OK)
		tap_bail(err.detail);
	*k = load_text(source->text);
	free(source->text);
}

/* The member's own kernel, or that of one of its builds. */
static void
run_alone(Member *m, u16 pipeline, GcAddr flags, u32 chunks, bool private)
{
	if (pipeline != m->pipeline)
	{
		const GcVariant variant = {.vec = m->variant.vec,.threads = 256};
		GcKernelSource source;
		Loaded		k;

		generate_kernel(m, pipeline, &variant, &source, &k);
		run_kernel(m, pipeline, &k, &source, 0, flags, chunks, private);
		unload(&k);
		return;
	}
	if (!m->compiled)
		generate_kernel(m, pipeline, &m->variant, &m->source, &m->own);
	m->compiled = true;
	run_kernel(m, pipeline, &m->own, &m->source, gc_shared_bytes(m->p, pipeline, &m->variant, m->ranges, m->ngroups),
			   flags, chunks, private);
}

static void __attribute__((unused))
run_builds(Member *m)
{
	for (u16 b = 0; b < m->p->nbuilds; b++)
	{
		static const u64 bytes[6] = {BUILD_SLOTS * 8, BUILD_CAP * 8, BUILD_CAP * 4, 8 * 6000, 256, BUILD_CAP};

		for (int i = 0; i < 6; i++)
		{
			m->build[b][i] = take(bytes[i]);
			must(ops->fill(stream, m->build[b][i], 0, bytes[i], NULL));
		}
		run_alone(m, gc_builds(m->p)[b].pipeline, m->build[b][4], 1, false);
	}
}

/* A fused kernel, in which the members of `run` take part; in chunk c, those of reading[c]. */
static void __attribute__((unused))
run_some_fused(const GcFusedSource *source, const Loaded *k, Member *const *who, u32 run, const u32 *reading, u32 turn)
{
	GcSource	sources[NCHUNKS + 1];
	GcArgs		args;

	memset(&args, 0, sizeof(args));
	for (u32 c = 0; c < NCHUNKS; c++)
		sources[c] = (GcSource) {reading[c], c, CHUNK_ROWS[c]};
	for (int i = 0; i < source->nwords; i++)
	{
		const GcFusedWord *w = &source->words[i];

		if (w->word.type == GC_ARG_MEMBERS)
			args.w[i] = run;
		else if (w->member == GC_FUSED_ANY)
			args.w[i] = find_column(w->word.index)->array;
		else if (w->word.type == GC_ARG_VISIBLE)
			args.w[i] = put(who[w->member]->valid, sizeof(who[w->member]->valid));
		else
			args.w[i] = member_word(who[w->member], &w->word);
	}
	launch_scan(k, &args, source->nwords, sources, NCHUNKS, 0, 256, turn);
}

/* All n members take part in every chunk, of which they see the same rows. */
static void __attribute__((unused))
run_all_fused(const GcFusedSource *source, const Loaded *k, Member *const *who, int n, u32 turn)
{
	u32			reading[NCHUNKS];

	for (int c = 0; c < NCHUNKS; c++)
		reading[c] = (1u << n) - 1;
	run_some_fused(source, k, who, (1u << n) - 1, reading, turn);
}

/* ---------- results ---------- */

static size_t sort_size;

static int
compare_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sort_size);
}

/* n things of `words` words each, taken from parts of the sink; sorted. */
static void
add_sorted(Result *r, const u64 *a, int a_words, const u64 *b, int b_words, u64 n)
{
	sort_size = (a_words + b_words) * 8;
	r->bytes = realloc(r->bytes, r->size + n * sort_size + 1);
	for (u64 i = 0; i < n; i++)
	{
		unsigned char *to = r->bytes + r->size + i * sort_size;

		memcpy(to, a + i * a_words, a_words * 8);
		memcpy(to + a_words * 8, b + i * b_words, b_words * 8);
	}
	qsort(r->bytes + r->size, n, sort_size, compare_bytes);
	r->size += n * sort_size;
}

static Result
fetch(const Member *m)
{
	const GcPPipeline *pl = &gc_pipelines(m->p)[m->pipeline];
	unsigned char *sink = malloc(m->part[4]);
	u32		   *flags = (u32 *) sink;
	Result		r = {0, NULL};

	must(ops->copy_out(stream, sink, m->sink, m->part[4], NULL));
	must(finish(stream, NULL));
	r.bytes = malloc(GC_NFLAGS * 4);
	r.size = GC_NFLAGS * 4;
	memcpy(r.bytes, flags, r.size);
	if (m->loose)
		;
	else if (pl->sink == GC_SINK_ROWS)
	{
		const u64  *columns = (const u64 *) (sink + m->part[3]);
		const int	words = gc_row_words(pl);
		u64		   *rows = malloc(flags[GC_FLAG_ROWS] * words * 8 + 8);

		for (u64 i = 0; i < flags[GC_FLAG_ROWS]; i++)
		{
			for (int w = 0; w < words; w++)
			{
				u64			v = columns[w * m->rows_cap + i];
				bool		null = w < pl->nouts && columns[(pl->nouts + w / 64) * m->rows_cap + i] >> w % 64 & 1;

				rows[i * words + w] = null ? 0 : v;
			}
		}
		add_sorted(&r, rows, words, rows, 0, flags[GC_FLAG_ROWS]);
		free(rows);
	}
	else if (pl->group_mode == GC_GROUP_HASH)
	{
		int			words = pl->nkeys;

		for (u16 i = 0; i < pl->nkeys; i++)
		{
			if (gc_exprs(m->p)[gc_refs(m->p)[pl->first_key + i]].flags & GC_NULLABLE)
				words = pl->nkeys + 1;
		}
		add_sorted(&r, (u64 *) (sink + m->part[2]), words, (u64 *) (sink + m->part[0]),
				   gc_pipelines(m->p)[m->pipeline].group_words, flags[GC_FLAG_GROUPS]);
	}
	else
	{
		r.bytes = realloc(r.bytes, r.size + m->part[1] - m->part[0]);
		memcpy(r.bytes + r.size, sink + m->part[0], m->part[1] - m->part[0]);
		r.size += m->part[1] - m->part[0];
	}
	free(sink);
	return r;
}

static void __attribute__((unused))
empty_sink(const Member *m)
{
	must(ops->fill(stream, m->sink, 0, m->part[4], NULL));
}

/* Is what the sink contains what the member's own kernel left there? */
static bool __attribute__((unused))
same_result(const Member *m)
{
	Result		r = fetch(m);
	bool		same = r.size == m->wanted.size && memcmp(r.bytes, m->wanted.bytes, r.size) == 0;

	free(r.bytes);
	return same;
}

#endif							/* GC_FUSED_UTIL_H */
