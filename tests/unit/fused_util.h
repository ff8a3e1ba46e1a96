/*-------------------------------------------------------------------------
 *
 * fused_util.h
 *	  For fused_test.c, filter_aggregate_test.c, selection_test.c and key_groups_test.c: a table in device
 *	  memory, and requests over it that can be run by kernels of their own or share a scan.
 *
 * A request (Member) reads some of the table's chunks, and some only in part.  It has flags and a sink of its
 * own.  What is in the sink afterwards comes out as bytes in one order (Result).  So results can be compared,
 * whatever order the device's threads worked in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_UTIL_H
#define GC_FUSED_UTIL_H

#include <time.h>

#include "fused_table.h"

#include "../../src/codegen/fused.h"
#include "../../src/codegen/selection.h"
#include "../../src/program/tagged.h"

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

#include "deliver_util.h"

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
	m->part[4] = m->part[3] + m->rows_cap * gc_row_words(m->p, pl) * 8;
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

/* Slots of the build's places. */
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

/* The contents of a word of a member's own kernel; columns also as private ones. */
static u64
member_word(const Member *m, const GcArgWord *w)
{
	const GcPPayload *pay = &gc_payloads(m->p)[w->index];

	switch (w->type)
	{
		case GC_ARG_COLUMN:
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
			return (u64) (i64) gc_stored_range(&gc_exprs(m->p)[pay->expr], &m->maker.ranges[pay->expr]).lo - pay->nullable;
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

static void
launch_scan(const Loaded *k, GcArgs *args, int nwords, const GcSource *sources, u32 n, u64 shared,
			u32 threads, u32 turn)
{
	GcLaunch	shape = {5 + turn % 3, threads, (u32) shared, 0};

	args->scan.sources = put(sources, (n + 1) * sizeof(GcSource));
	args->scan.nsources = n;
	args->scan.tile_shift = turn % 3;
	args->scan.tiles_per_source = TILES << args->scan.tile_shift;
	args->scan.ntiles = n * args->scan.tiles_per_source;
	args->scan.first_tile = n > 0 ? turn * 7 % args->scan.ntiles : 0;
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
		const int	words = gc_row_words(m->p, pl);
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
