/*-------------------------------------------------------------------------
 *
 * groups_test.c [host|cuda]
 *	  Scans of groups: every group comes to the sink once, with its keys and accumulators.
 *
 * Group tables are made by hand: dense ones with cells that no row came into, hashed ones, and a
 * table of one group.  They have from no group to several thousand; keys and arguments are NULL in
 * some.  Pipelines scan them into rows, one group, dense and hashed groups, and builds.  They also
 * choose groups, all that pass a filter or the first few in an order.  What must come out is
 * computed here.  Float sums that are not finite must raise a flag, whether anything reads them or
 * not.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#define NCHUNKS			1
#define CHUNK_SIZES		{0}

#include "groups_util.h"

#include "../../src/device/nvrtc.h"

/* ---------- what must come out ---------- */

static bool
passes(const Scan *s, const Group *g)
{
	return g->exists && (!is_filtered(s) || (g->rows > 2 && g->nsum > 0 && g->sum > 0));
}

static bool
check_rows(Scan *s, const Loaded *k, const GcKernelSource *source, u32 turn)
{
	Out		   *outs = calloc(s->cells + 1, sizeof(Out));
	u64			n = 0;
	bool		right;

	for (u32 c = 0; c < s->cells; c++)
	{
		const Group *g = &s->groups[c];

		if (!passes(s, g))
			continue;
		outs[n].w[0] = g->k0_null ? 0 : (u64) g->k0;
		outs[n].w[1] = (u64) g->k1;
		outs[n].w[2] = g->nmin ? (u64) g->min : 0;
		memcpy(&outs[n].w[3], &g->fmax, 8);
		if (isnan(g->fmax))
			outs[n].w[3] = 0x7ff8000000000000ull;
		outs[n].w[4] = (u64) g->k0_null | (u64) (g->nmin == 0) << 2;
		n++;
	}
	qsort(outs, n, sizeof(Out), compare_outs);
	prepare_sink(&s->m, n);
	run_scan(s, k, source, turn);
	right = check_sink(&s->m, outs, n);
	free(outs);
	return right;
}

/* Totals of the groups that a predicate says; -1: all. */
static bool
check_total(const Scan *s, const u64 *words, int k1)
{
	const GcPPipeline *pl = &gc_pipelines(s->m.p)[s->m.pipeline];
	const GcPAgg *a = gc_aggs(s->m.p) + pl->first_agg;
	u64			n = 0,
				rows = 0;
	i64			sum = 0;

	for (u32 c = 0; c < s->cells; c++)
	{
		const Group *g = &s->groups[c];

		if (!g->exists || (k1 >= 0 && g->k1 + 3 != k1))
			continue;
		n++;
		rows += g->rows;
		sum += g->sum;
	}
	return words[a[0].word] == n && words[a[1].word] == rows && words[a[2].word] == (u64) sum &&
		(a[2].acc != GC_I128 || words[a[2].word + 1] == (u64) (sum >> 63));
}

/* Each hashed group has the totals of the groups with its key, and there are all keys. */
static bool
check_hashed(const Scan *s, const u64 *words, const i64 *keys, u32 n)
{
	const GcPPipeline *pl = &gc_pipelines(s->m.p)[s->m.pipeline];
	const GcPAgg *a = gc_aggs(s->m.p) + pl->first_agg;
	u64			total = 0;

	for (u32 i = 0; i < n; i++)
	{
		u64			members = 0,
					rows = 0;

		for (u32 c = 0; c < s->cells; c++)
		{
			const Group *g = &s->groups[c];

			if (!g->exists || g->k0 != keys[3 * i] || g->min != keys[3 * i + 1] || ((i64) g->k0_null | (i64) (g->nmin == 0) << 1) != keys[3 * i + 2])
				continue;
			members++;
			rows += g->rows;
		}
		if (members == 0 || words[i * pl->group_words + a[0].word] != members || words[i * pl->group_words + a[1].word] != rows)
			return false;
		total += members;
	}
	return total == s->n;
}

static bool
check_groups(Scan *s, const Loaded *k, const GcKernelSource *source, u32 turn)
{
	const int	words = gc_pipelines(s->m.p)[s->m.pipeline].group_words;
	u64		   *sink;
	bool		right = true;
	u32			flags;

	s->m.ngroups = s->consumer == INTO_ONE ? 1 : s->consumer == INTO_DENSE ? K1_VALUES : s->cells + 1;
	s->m.stride[0] = 1;
	s->m.base[0] = -3;
	lay_out_sink(&s->m);
	must(ops->fill(stream, s->m.sink, 0, s->m.part[4], NULL));
	run_scan(s, k, source, turn);
	sink = malloc(s->m.part[4]);
	must(ops->copy_out(stream, sink, s->m.sink, s->m.part[4], NULL));
	must(finish(stream, NULL));
	flags = ((u32 *) sink)[GC_FLAG_DATA] | ((u32 *) sink)[GC_FLAG_GROUPS_FULL];
	if (s->consumer == INTO_HASH)
		right = check_hashed(s, sink + s->m.part[0] / 8, (i64 *) (sink + s->m.part[2] / 8), ((u32 *) sink)[GC_FLAG_GROUPS]);
	else
	{
		for (u64 i = 0; i < s->m.ngroups; i++)
			right &= check_total(s, sink + s->m.part[0] / 8 + i * words, s->consumer == INTO_ONE ? -1 : (int) i);
	}
	free(sink);
	return right && flags == 0;
}

/* The minimum as the payload has it at a place. */
static i64
payload_at(const Scan *s, const u8 *payload, u64 place)
{
	const GcPPayload *pay = &gc_payloads(s->m.p)[0];
	u64			code = 0;

	memcpy(&code, payload + place * pay->width, pay->width);
	return code == 0 && pay->nullable ? INT64_MIN : (i64) code + (i64) s->m.maker.ranges[pay->expr].lo - pay->nullable;
}

static int
compare_pairs(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(i64));
}

static bool
check_build(Scan *s, const Loaded *k, const GcKernelSource *source, u32 turn)
{
	const bool	dense = s->consumer == INTO_DENSE_BUILD;
	const GcRange range = s->m.maker.ranges[gc_refs(s->m.p)[gc_builds(s->m.p)[0].first_key]];
	const u64	places = (u64) (range.hi - range.lo) + 1;
	const u64	room = dense ? places : s->cells + 1;
	const u64	bytes[5] = {dense ? (places + 63) / 64 * 8 : next_slots(s) * 8, room * 8, room * 4, room * 8, 256};
	i64		   *got = calloc(2 * (room + s->cells + 1), sizeof(i64));
	i64		   *wanted = calloc(2 * (s->cells + 1), sizeof(i64));
	u8		   *mem[5];
	u64			n = 0,
				ngot = 0;
	bool		right;

	for (int i = 0; i < 5; i++)
	{
		s->m.build[0][i] = take(bytes[i]);
		must(ops->fill(stream, s->m.build[0][i], 0, bytes[i], NULL));
		mem[i] = malloc(bytes[i]);
	}
	s->m.ranges[0] = places;
	s->m.sink = s->m.build[0][4];
	run_scan(s, k, source, turn);
	for (int i = 0; i < 5; i++)
		must(ops->copy_out(stream, mem[i], s->m.build[0][i], bytes[i], NULL));
	must(finish(stream, NULL));
	for (u32 c = 0; c < s->cells; c++)
	{
		const Group *g = &s->groups[c];

		if (!g->exists || g->k0_null)
			continue;
		wanted[2 * n] = dense ? g->k0 * K1_VALUES + g->k1 : g->k0;
		wanted[2 * n + 1] = g->nmin ? g->min : INT64_MIN;
		n++;
	}
	for (u64 p = 0; p < room && !dense && p < ((u32 *) mem[4])[GC_FLAG_BUILT]; p++)
	{
		got[2 * ngot] = ((i64 *) mem[1])[p];
		got[2 * ngot++ + 1] = payload_at(s, mem[3], p);
	}
	for (u64 p = 0; p < places && dense; p++)
	{
		if (!(((u32 *) mem[0])[p >> 5] >> (p & 31) & 1))
			continue;
		got[2 * ngot] = (i64) p + (i64) range.lo;
		got[2 * ngot++ + 1] = payload_at(s, mem[3], p);
	}
	qsort(got, ngot, 2 * sizeof(i64), compare_pairs);
	qsort(wanted, n, 2 * sizeof(i64), compare_pairs);
	right = n == ngot && memcmp(got, wanted, 2 * n * sizeof(i64)) == 0 && ((u32 *) mem[4])[GC_FLAG_DATA] == 0 &&
		(!dense || ((u32 *) mem[4])[GC_FLAG_DUPLICATE] == 0);
	for (int i = 0; i < 5; i++)
		free(mem[i]);
	free(got);
	free(wanted);
	return right;
}

/* ---------- choices ---------- */

/* A group's place in the order, compared with another's: as SQL has it. */
static int
compare_in_order(const Scan *s, const Group *a, const Group *b)
{
	const bool	a_null = s->order == O_SUM ? a->nsum == 0 : s->order == O_MIN && a->nmin == 0;
	const bool	b_null = s->order == O_SUM ? b->nsum == 0 : s->order == O_MIN && b->nmin == 0;
	int			c = 0;

	if (a_null || b_null)
		return a_null == b_null ? 0 : a_null == s->nulls_first ? -1 : 1;
	if (s->order == O_FSUM || s->order == O_FMAX)
	{
		const double x = s->order == O_FSUM ? a->fsum : a->fmax;
		const double y = s->order == O_FSUM ? b->fsum : b->fmax;

		c = isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
	}
	else if (s->order != O_ZERO)
	{
		const i64	x = s->order == O_ROWS ? (i64) a->rows : s->order == O_SUM ? a->sum : s->order == O_MIN ? a->min : a->k1;
		const i64	y = s->order == O_ROWS ? (i64) b->rows : s->order == O_SUM ? b->sum : s->order == O_MIN ? b->min : b->k1;

		c = (x > y) - (x < y);
	}
	return s->descending ? -c : c;
}

/* The cell of a chosen group; -1: its key or its words are wrong. */
static i64
chosen_cell(const Scan *s, const u64 *words, const i64 *key)
{
	const int	n = gc_pipelines(s->m.p)[s->from].group_words;
	u64			w[32] = {0};
	i64			cell = s->mode == GC_GROUP_HASH ? (key[2] ? 0 : key[0] + 1) * K1_VALUES + key[1] + 3 : key[0];

	if (cell < 0 || cell >= s->cells || !s->groups[cell].exists)
		return -1;
	put_words(s, &s->groups[cell], w);
	return memcmp(w, words, n * 8) == 0 ? cell : -1;
}

/* Is each chosen group one of those that pass, none twice, and none left out that comes before one? */
static bool
check_chosen(const Scan *s, const bool *chosen, u64 n)
{
	const Group *last = NULL;
	u64			passed = 0;

	for (u32 c = 0; c < s->cells; c++)
	{
		passed += passes(s, &s->groups[c]);
		if (chosen[c] && !passes(s, &s->groups[c]))
			return false;
		if (chosen[c] && (last == NULL || compare_in_order(s, last, &s->groups[c]) < 0))
			last = &s->groups[c];
	}
	if (s->consumer == CHOICE)
		return n == (s->wanted == 0 || passed < s->wanted ? passed : s->wanted);
	/* ties with the last are chosen, too */
	for (u32 c = 0; c < s->cells && last; c++)
	{
		if (passes(s, &s->groups[c]) && !chosen[c] && compare_in_order(s, &s->groups[c], last) <= 0)
			return false;
	}
	return n >= (passed < s->wanted ? passed : s->wanted);
}

static bool
check_choice(Scan *s, const Loaded *k, const GcKernelSource *source, u32 turn)
{
	const int	words = gc_pipelines(s->m.p)[s->from].group_words;
	const int	key_words = s->mode == GC_GROUP_HASH ? 3 : 1;
	u64		   *w = malloc((s->cells + 1) * words * 8);
	i64		   *keys = malloc((s->cells + 1) * 3 * 8);
	bool	   *chosen = calloc(s->cells + 1, 1);
	u32			flags[64];
	bool		right = true;

	s->room = s->cells;
	s->m.sink = take(256);
	s->chosen = take((s->cells + 1) * words * 8);
	s->chosen_keys = take((s->cells + 1) * 3 * 8);
	s->memory = take(TOP_ROOM);
	must(ops->fill(stream, s->m.sink, 0, 256, NULL));
	must(ops->fill(stream, s->memory, 0, TOP_ROOM, NULL));
	for (s->pass = s->consumer == FIRST ? 0 : 2; s->pass < 3; s->pass++)
		run_scan(s, k, source, turn + s->pass);
	must(ops->copy_out(stream, flags, s->m.sink, 256, NULL));
	must(ops->copy_out(stream, w, s->chosen, (s->cells + 1) * words * 8, NULL));
	must(ops->copy_out(stream, keys, s->chosen_keys, (s->cells + 1) * 3 * 8, NULL));
	must(finish(stream, NULL));
	if (flags[GC_FLAG_DATA] || flags[GC_FLAG_ROWS_FULL] || flags[GC_FLAG_ROWS] > s->n)
		right = false;
	for (u32 i = 0; right && i < flags[GC_FLAG_ROWS]; i++)
	{
		const i64	c = chosen_cell(s, w + i * words, keys + i * key_words);

		right = c >= 0 && !chosen[c];
		if (right)
			chosen[c] = true;
	}
	right = right && check_chosen(s, chosen, flags[GC_FLAG_ROWS]);
	free(w);
	free(keys);
	free(chosen);
	return right;
}

/* No room for all of them: the flag says so, and how many there are. */
static bool
check_full(Scan *s, const Loaded *k, const GcKernelSource *source)
{
	const int	words = gc_pipelines(s->m.p)[s->from].group_words;
	u32			flags[64];
	u64			behind;

	s->room = 3;
	s->m.sink = take(256);
	s->chosen = take(s->room * words * 8 + 8);
	s->chosen_keys = take(s->room * 3 * 8);
	must(ops->fill(stream, s->m.sink, 0, 256, NULL));
	must(ops->fill(stream, s->chosen, GARBAGE, s->room * words * 8 + 8, NULL));
	s->pass = 2;
	run_scan(s, k, source, 1);
	must(ops->copy_out(stream, flags, s->m.sink, 256, NULL));
	must(ops->copy_out(stream, &behind, s->chosen + s->room * words * 8, 8, NULL));
	must(finish(stream, NULL));
	return flags[GC_FLAG_ROWS_FULL] && flags[GC_FLAG_ROWS] > 3 && behind == 0x0101010101010101ull * GARBAGE;
}

/* ---------- tests ---------- */

static bool
check_scan(Scan *s, const Loaded *k, const GcKernelSource *source, u32 turn)
{
	switch (s->consumer)
	{
		case INTO_ROWS:
		case INTO_SOME_ROWS:
			return check_rows(s, k, source, turn);
		case INTO_ONE:
		case INTO_DENSE:
		case INTO_HASH:
			return check_groups(s, k, source, turn);
		case INTO_BUILD:
		case INTO_DENSE_BUILD:
			return check_build(s, k, source, turn);
		default:
			return check_choice(s, k, source, turn);
	}
}

static const char *
mode_name(u8 mode)
{
	return mode == GC_GROUP_NONE ? "one group" : mode == GC_GROUP_DENSE ? "dense groups" : "hashed groups";
}

static void
generate_for(const Scan *s, int vec, GcKernelSource *source)
{
	GcError		err = {GC_OK, ""};
	GcVariant	v = s->m.variant;

	v.vec = (u8) vec;
	if (gc_generate(s->m.p, s->m.pipeline, &v, source, &err) != GC_OK)
		tap_bail(err.detail);
}

/* A float sum that is not finite, in one group of all. */
static bool
check_infinite(Scan *s, const Loaded *k, const GcKernelSource *source)
{
	u32			flags[64];

	s->groups[s->cells / 2].exists = true;
	s->groups[s->cells / 2].fsum = s->cells % 2 ? INFINITY : NAN;
	put_table(s);
	if (s->consumer <= INTO_SOME_ROWS)
	{
		prepare_sink(&s->m, s->cells);
		run_scan(s, k, source, 0);
	}
	else
		(void) check_scan(s, k, source, 0);
	must(ops->copy_out(stream, flags, s->m.sink, 256, NULL));
	must(finish(stream, NULL));
	return flags[GC_FLAG_DATA] != 0;
}

/* One kind of scan, over tables of all sizes. */
static void
test_scan(Scan *like, const GcNvrtc *nvrtc)
{
	static const u64 wanted[] = {1, 5, 33, 1000, 100000, 0};	/* 0: all, without an order */
	GcKernelSource source = {0};
	Loaded		k = {0};
	char	   *text = NULL;
	int			wrong = 0,
				compiled = 0;

	for (int i = 0; i < NSIZES; i++)
	{
		const GcAddr begin = top;
		Scan	   *s = calloc(1, sizeof(Scan));

		*s = *like;
		s->cells = s->mode == GC_GROUP_NONE ? 1 : (sizes[i] + K1_VALUES - 1) / K1_VALUES * K1_VALUES;
		s->cells = s->mode == GC_GROUP_DENSE && s->cells == 0 ? K1_VALUES : s->cells;
		make_program(s);
		draw_groups(s);
		put_table(s);
		generate_for(s, s->m.variant.vec, &source);
		/* ranges decide on registers, so that there are a few texts */
		if (text == NULL || strcmp(text, source.text) != 0)
		{
			if (compiled++)
				unload(&k);
			k = load_with(source.text, GC_COMPILE_FULL);
			free(text);
			text = strdup(source.text);
			if (nvrtc)
			{
				GcKernelSource other;

				generate_for(s, 8, &other);
				compiles_for_gpu(nvrtc, compiled % 2 ? 80 : 90, other.text, GC_COMPILE_QUICK, consumer_names[s->consumer]);
				free(other.text);
			}
		}
		for (int n = 0; n < (s->consumer == FIRST ? 5 : s->consumer == CHOICE ? 6 : 1); n++)
		{
			s->wanted = wanted[n];
			wrong += !check_scan(s, &k, &source, (u32) (i + n));
		}
		if (s->consumer == CHOICE && s->n > 100)
			wrong += !check_full(s, &k, &source);
		if (s->cells > 0)
			wrong += !check_infinite(s, &k, &source);
		free(source.text);
		free(s->groups);
		free(s->m.p);
		free(s);
		top = begin;
	}
	unload(&k);
	free(text);
	if (like->consumer == FIRST)
		ok(wrong == 0, "%s%s, the first by %s%s%s", mode_name(like->mode), like->wide ? ", wide sums" : "", order_names[like->order],
		   like->descending ? ", descending" : "", like->nulls_first ? ", NULLs first" : "");
	else
		ok(wrong == 0, "%s%s, %s", mode_name(like->mode), like->wide ? ", wide sums" : "", consumer_names[like->consumer]);
}

int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc;

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	nvrtc = gc_nvrtc_open(13, &err);
	if (nvrtc == NULL)
		tap_skip("%s", err.detail);
	for (int mode = GC_GROUP_NONE; mode <= GC_GROUP_HASH; mode++)
	{
		for (int c = 0; c < CONSUMERS; c++)
		{
			/* one group is not chosen among, nor has keys to build on */
			if (mode == GC_GROUP_NONE && c > INTO_ONE)
				continue;
			for (int v = 0; v < (c == FIRST ? 8 : 2); v++)
			{
				for (int o = 0; o < (c == FIRST ? ORDERS : 1); o++)
				{
					Scan		s = {.mode = (u8) mode,.consumer = (Consumer) c,.wide = v & 1,.descending = v >> 1 & 1,.nulls_first = v >> 2 & 1,.order = (Order) o};

					test_scan(&s, nvrtc);
				}
			}
		}
	}
	stop_device();
	return tap_done();
}
