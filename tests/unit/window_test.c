/*-------------------------------------------------------------------------
 *
 * window_test.c [host|cuda]
 *	  The kernel of windows over kept rows: each function's value of each row.
 *
 * Rows are drawn with keys of few and of many values, narrow and wide, floats, NULLs, in both directions, with and without
 * PARTITION BY.  They are around what a thread, a chunk and a block take.  Each step is a launch of its own, of any number
 * of blocks, or all steps are one block's.  Values are computed once more here, over rows that qsort() has sorted.  Where
 * rows may tie, only functions are asked that do not look at the order of ties.
 *
 * Where there is NVRTC, the text for a GPU is compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "device_util.h"
#include "draw.h"

#include "../../src/codegen/codegen.h"
#include "../../src/device/nvrtc.h"

#define MOST_ROWS	70000
#define SLACK_ROWS	5			/* room behind the rows */

/* Words of a row. */
enum
{
	W_FEW,						/* may be NULL */
	W_WIDE, W_WIDE_HIGH,		/* may be NULL */
	W_FLOAT,					/* may be NULL */
	W_ID,						/* no two alike */
	W_ARG, W_ARG_HIGH,			/* may be NULL */
	W_SECOND,					/* a distance, which may be NULL */
	W_START, W_END,				/* distances, the same in all rows */
	W_LOW, W_HIGH,				/* bounds of W_FEW's values */
	W_RESULT, W_RESULT_HIGH,
	W_NULLS,
	NWORDS
};

static const u32 sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097, MOST_ROWS};
#define NSIZES	((u32) (sizeof(sizes) / sizeof(sizes[0])))

static u64	rows[NWORDS][MOST_ROWS + SLACK_ROWS];
static u64	got[NWORDS][MOST_ROWS + SLACK_ROWS];
static u32	order[MOST_ROWS];
static u64	count;
static u64	keys[16];
static u32	nkeys,
			npartition,
			exclude;
static bool unbounded[2];		/* a range's start and end */

static void
must(GcCode code)
{
	if (code != GC_OK)
		tap_bail("the device failed");
}

static u64
column(u32 word, u32 high, u32 is_float)
{
	return GC_WINDOW_COLUMN(word, high, word == W_ID || (word >= W_START && word <= W_HIGH) ? GC_WINDOW_NO_WORD : W_NULLS, word, is_float);
}

static bool
is_null(u64 c, u32 row)
{
	return GC_WINDOW_NULL_WORD(c) != GC_WINDOW_NO_WORD && (rows[W_NULLS][row] >> GC_WINDOW_NULL_BIT(c) & 1);
}

static i128
value(u64 c, u32 row)
{
	const u64	low = rows[GC_WINDOW_WORD(c)][row];

	return GC_WINDOW_HIGH_WORD(c) == GC_WINDOW_NO_WORD ? (i64) low : (i128) ((u128) rows[GC_WINDOW_HIGH_WORD(c)][row] << 64 | low);
}

static int
compare_key(u64 key, u32 a, u32 b)
{
	double		x,
				y;
	int			c;

	if (is_null(key, a) || is_null(key, b))
		return (is_null(key, a) - is_null(key, b)) * (key & GC_WINDOW_NULLS_FIRST ? -1 : 1);
	memcpy(&x, &rows[GC_WINDOW_WORD(key)][a], sizeof(x));
	memcpy(&y, &rows[GC_WINDOW_WORD(key)][b], sizeof(y));
	if (GC_WINDOW_FLOAT(key))
		c = x != x || y != y ? (x != x) - (y != y) : (x > y) - (x < y);
	else
		c = (value(key, a) > value(key, b)) - (value(key, a) < value(key, b));
	return key & GC_WINDOW_DESCENDING ? -c : c;
}

static int
compare_by(u32 n, u32 a, u32 b)
{
	for (u32 k = 0; k < n; k++)
	{
		const int	c = compare_key(keys[k], a, b);

		if (c != 0)
			return c;
	}
	return 0;
}

static int
compare_rows(const void *a, const void *b)
{
	return compare_by(nkeys, *(const u32 *) a, *(const u32 *) b);
}

/* ---------- rows, windows ---------- */

static void
draw_rows(u32 values)
{
	for (u32 i = 0; i < count + SLACK_ROWS; i++)
	{
		const i128	wide = (i128) (i64) draw(values) * ((i128) 1 << 62) - (i128) draw(3);
		const i128	arg = draw(4) ? (i128) draw(2000) - 1000 : ((i128) 1 << 90) * ((int) draw(3) - 1);
		double		real = draw(20) == 0 ? __builtin_nan("") : draw(20) == 0 ? -0.0 : ((double) draw(values) - values / 2) / 4;

		rows[W_FEW][i] = (u64) ((i64) draw(values) - 7);
		rows[W_WIDE][i] = (u64) wide;
		rows[W_WIDE_HIGH][i] = (u64) (wide >> 64);
		memcpy(&rows[W_FLOAT][i], &real, sizeof(real));
		rows[W_ID][i] = (u64) ((i64) (i ^ 0x5a5a) - 1000);
		rows[W_ARG][i] = (u64) arg;
		rows[W_ARG_HIGH][i] = (u64) (arg >> 64);
		rows[W_RESULT][i] = rows[W_RESULT_HIGH][i] = 0;
		rows[W_NULLS][i] = 0;
		rows[W_SECOND][i] = (u64) ((i64) draw(9) - 3);
		for (int w = W_FEW; w <= W_SECOND; w++)
			rows[W_NULLS][i] |= (u64) (draw(9) == 0) << w;
	}
}

/* total: no two rows tie; range: by W_FEW alone. */
static void
draw_window(bool total, bool range)
{
	const u64	known[] = {column(W_FEW, GC_WINDOW_NO_WORD, 0), column(W_WIDE, W_WIDE_HIGH, 0), column(W_FLOAT, GC_WINDOW_NO_WORD, 1)};

	nkeys = draw(4);
	for (u32 k = 0; k < nkeys; k++)
		keys[k] = known[draw(3)] | (draw(2) ? GC_WINDOW_DESCENDING : 0) | (draw(2) ? GC_WINDOW_NULLS_FIRST : 0);
	npartition = draw(nkeys + 1);
	if (range)
	{
		nkeys = npartition + 1;
		keys[npartition] = known[0] | (draw(2) ? GC_WINDOW_DESCENDING : 0) | (draw(2) ? GC_WINDOW_NULLS_FIRST : 0);
	}
	else if (total)
		keys[nkeys++] = column(W_ID, GC_WINDOW_NO_WORD, 0) | (draw(2) ? GC_WINDOW_DESCENDING : 0);
	for (u32 i = 0; i < count; i++)
		order[i] = i;
	qsort(order, count, sizeof(u32), compare_rows);
}

/* Give all rows the same argument, which is above 0. */
static void
draw_buckets(void)
{
	const u64	buckets = 1 + draw(draw(2) ? 20 : 100000);

	for (u32 i = 0; i < count + SLACK_ROWS; i++)
	{
		rows[W_ARG][i] = buckets;
		rows[W_ARG_HIGH][i] = 0;
		rows[W_NULLS][i] &= ~(1ull << W_ARG);
	}
}

/* Give all rows the same number of a frame's row. */
static void
draw_number(void)
{
	const u64	number = 1 + draw(5);

	for (u32 i = 0; i < count + SLACK_ROWS; i++)
	{
		rows[W_SECOND][i] = number;
		rows[W_NULLS][i] &= ~(1ull << W_SECOND);
	}
}

/* Distances of a frame's bounds. */
static void
draw_distances(void)
{
	const i64	start = draw(4) == 0 ? -((i64) 1 << 40) : (i64) draw(20) - 10;
	const i64	end = draw(4) == 0 ? (i64) 1 << 40 : (i64) draw(20) - 10;
	const i64	low = (i64) draw(9) - 6;
	const i64	high = (i64) draw(9) - 3;

	exclude = draw(GC_NEXCLUSIONS);
	unbounded[0] = draw(4) == 0;
	unbounded[1] = draw(4) == 0;

	for (u32 i = 0; i < count + SLACK_ROWS; i++)
	{
		rows[W_START][i] = (u64) start;
		rows[W_END][i] = (u64) end;
		rows[W_LOW][i] = rows[W_FEW][i] + (u64) low;
		rows[W_HIGH][i] = rows[W_FEW][i] + (u64) high;
	}
}

/* ---------- the rule once more ---------- */

/* ntile() as window_ntile() of PostgreSQL counts it, row by row. */
static i128
expect_bucket(u32 nrows, u32 place, u64 buckets)
{
	u64			most = nrows / buckets;
	u64			larger = most > 0 ? nrows % buckets : 0;
	u64			bucket = 1,
				in_bucket = 0;

	most = most == 0 ? 1 : most + (larger > 0);
	for (u32 n = 0; n <= place; n++)
	{
		if (++in_bucket <= most)
			continue;
		if (larger != 0 && bucket == larger)
		{
			larger = 0;
			most--;
		}
		bucket++;
		in_bucket = 1;
	}
	return (i128) bucket;
}

/* A place and its partition, [first, end), with its peers. */
typedef struct Place
{
	u32			n,
				first,
				end,
				first_peer,
				peers_end,
				groups_before;
} Place;

/* Where a key's value lies in the order of a range, against a bound. */
static int
against(u32 row, u32 bound_word, u32 of)
{
	const i64	v = (i64) rows[W_FEW][row];
	const i64	bound = (i64) rows[bound_word][of];

	return ((v > bound) - (v < bound)) * (keys[npartition] & GC_WINDOW_DESCENDING ? -1 : 1);
}

/* Is the row at place i at or behind the start of the frame of a place, and at or before its end? */
static bool
in_range(const Place *p, u32 i)
{
	const u32	row = order[p->n];
	const bool	first = (keys[npartition] & GC_WINDOW_NULLS_FIRST) != 0;
	const bool	here = is_null(keys[npartition], row);
	const bool	there = is_null(keys[npartition], order[i]);
	bool		behind,
				before;

	if (here || there)
	{
		behind = here == there || (there ? !first : first);
		before = here == there || (there ? first : !first);
	}
	else
	{
		behind = against(order[i], W_LOW, row) >= 0;
		before = against(order[i], W_HIGH, row) <= 0;
	}
	return (unbounded[0] || behind) && (unbounded[1] || before);
}

/* Is the row at place i, of so many groups of peers before it in the partition, in the frame of a place? */
static bool
in_frame(const Place *p, u32 i, u32 groups_before, u32 frame)
{
	const u32	row = order[p->n];
	const i64	rows_away = (i64) i - p->n;
	const i64	groups_away = (i64) groups_before - p->groups_before;
	const i64	start = (i64) rows[W_START][row];
	const i64	end = (i64) rows[W_END][row];
	const bool	is_peer = i >= p->first_peer && i < p->peers_end;

	if ((exclude == GC_EXCLUDE_ROW && i == p->n) || (exclude == GC_EXCLUDE_PEERS && is_peer) ||
		(exclude == GC_EXCLUDE_TIES && is_peer && i != p->n))
		return false;
	return frame == GC_FRAME_PARTITION || (frame == GC_FRAME_PEERS && i < p->peers_end) || (frame == GC_FRAME_ROWS && i <= p->n) ||
		(frame == GC_FRAME_BETWEEN && rows_away >= start && rows_away <= end) ||
		(frame == GC_FRAME_GROUPS && groups_away >= start && groups_away <= end) || (frame == GC_FRAME_RANGE && in_range(p, i));
}

static i128
f64_bits(double x)
{
	i64			bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* A function's value for a row whose place alone decides. */
static i128
expect_place(u32 fn, const Place *p)
{
	const double nrows = p->end - p->first;

	switch (fn)
	{
		case GC_OVER_ROW_NUMBER:
			return p->n - p->first + 1;
		case GC_OVER_RANK:
			return p->first_peer - p->first + 1;
		case GC_OVER_DENSE_RANK:
			return p->groups_before + 1;
		case GC_OVER_PERCENT_RANK:
			return f64_bits(nrows <= 1 ? 0 : (p->first_peer - p->first) / (nrows - 1));
		case GC_OVER_CUME_DIST:
			return f64_bits((p->peers_end - p->first) / nrows);
		default:
			return expect_bucket(p->end - p->first, p->n - p->first, rows[W_ARG][order[p->n]]);
	}
}

/* The place whose argument is the value; or `count`. */
static u32
expect_look(u32 fn, const Place *p, u32 frame)
{
	const u32	row = order[p->n];
	const i64	distance = (i64) rows[W_SECOND][row];
	const i64	at = fn == GC_OVER_LAG ? p->n - distance : p->n + distance;
	u32			found = count;
	u32			nth = 0,
				groups = 0;

	if (fn == GC_OVER_LAG || fn == GC_OVER_LEAD)
		return is_null(column(W_SECOND, GC_WINDOW_NO_WORD, 0), row) || at < p->first || at >= p->end ? count : (u32) at;
	for (u32 i = p->first; i < p->end; i++)
	{
		groups += i > p->first && compare_by(nkeys, order[i - 1], order[i]) != 0;
		if (!in_frame(p, i, groups, frame))
			continue;
		nth++;
		if (fn == GC_OVER_LAST || nth == (fn == GC_OVER_NTH ? (u64) distance : 1))
			found = i;
	}
	return found;
}

/* A function's value for the row at a place; false: NULL. */
static bool
expect(u32 fn, const Place *p, u32 frame, i128 *v)
{
	const u64	arg = column(W_ARG, W_ARG_HIGH, 0);
	i128		sum = 0,
				least = 0,
				most = 0;
	u32			in = 0,
				values = 0,
				groups = 0;

	if (fn < GC_OVER_ROWS || fn == GC_OVER_NTILE)
	{
		*v = expect_place(fn, p);
		return true;
	}
	if (fn >= GC_OVER_LAG)
	{
		const u32	at = expect_look(fn, p, frame);

		if (at == count || is_null(arg, order[at]))
			return false;
		*v = value(arg, order[at]);
		return true;
	}
	for (u32 i = p->first; i < p->end; i++)
	{
		const i128	x = value(arg, order[i]);

		groups += i > p->first && compare_by(nkeys, order[i - 1], order[i]) != 0;
		if (!in_frame(p, i, groups, frame))
			continue;
		in++;
		if (is_null(arg, order[i]))
			continue;
		sum += x;
		least = values == 0 || x < least ? x : least;
		most = values == 0 || x > most ? x : most;
		values++;
	}
	*v = fn == GC_OVER_ROWS ? in : fn == GC_OVER_COUNT ? values : fn == GC_OVER_SUM ? sum : fn == GC_OVER_MIN ? least : most;
	return fn <= GC_OVER_COUNT || values > 0;
}

static u64
count_wrong(u32 fn, u32 frame)
{
	u64			wrong = 0;
	Place		p = {0};

	for (p.n = 0; p.n < count; p.n++)
	{
		const u32	row = order[p.n];
		i128		v;
		bool		there;

		if (p.n > 0 && compare_by(npartition, order[p.n - 1], row) != 0)
			p.first = p.n;
		if (p.n == p.first)
			p.groups_before = 0;
		else
			p.groups_before += compare_by(nkeys, order[p.n - 1], row) != 0;
		if (p.n == p.first || compare_by(nkeys, order[p.n - 1], row) != 0)
			p.first_peer = p.n;
		/* A sample of the places: all of a large partition are slow. */
		if (count > 900 && draw(count > 5000 ? 1000 : 10) > 0)
			continue;
		for (p.end = p.n + 1; p.end < count && compare_by(npartition, row, order[p.end]) == 0;)
			p.end++;
		for (p.peers_end = p.n + 1; p.peers_end < p.end && compare_by(nkeys, row, order[p.peers_end]) == 0;)
			p.peers_end++;
		there = expect(fn, &p, frame, &v);
		wrong += there != !(got[W_NULLS][row] >> W_RESULT & 1) ||
			(there && v != (i128) ((u128) got[W_RESULT_HIGH][row] << 64 | got[W_RESULT][row]));
	}
	/* Other words and rows stay as they were. */
	for (u32 w = 0; w < NWORDS; w++)
	{
		for (u32 i = 0; i < count + SLACK_ROWS; i++)
		{
			if (w == W_NULLS)
				wrong += ((got[w][i] ^ rows[w][i]) & ~(i < count ? 1ull << W_RESULT : 0)) != 0;
			else if ((w != W_RESULT && w != W_RESULT_HIGH) || i >= count)
				wrong += got[w][i] != rows[w][i];
		}
	}
	return wrong;
}

/* ---------- launches ---------- */

typedef struct Run
{
	GcStream   *stream;
	const Loaded *k;
	GcArgs		args;
	bool		one_block;
} Run;

static void
launch_steps(Run *r)
{
	const u32	threads = on_host ? 1 : r->one_block ? 256 : 32u << draw(4);
	GcLaunch	shape = {r->one_block ? 1 : 1 + draw(60), threads, 0, false};

	if (r->args.w[GC_WINDOW_NSTEPS] > 0)
		must(ops->launch(r->stream, r->k->kernel, &shape, &r->args, GC_WINDOW_WORDS, NULL));
	r->args.w[GC_WINDOW_NSTEPS] = 0;
}

static void
step(Run *r, u32 phase, u32 which, u64 width, u64 units)
{
	u64		   *words = r->args.w + GC_WINDOW_STEPS + 2 * r->args.w[GC_WINDOW_NSTEPS]++;

	words[0] = GC_WINDOW_STEP(phase, which, width);
	words[1] = units;
	if (!r->one_block || r->args.w[GC_WINDOW_NSTEPS] == GC_WINDOW_MOST_STEPS)
		launch_steps(r);
}

static void
scan(Run *r, u32 which, u64 cap)
{
	const u64	places = 1 + draw(300) + cap / GC_WINDOW_CHUNKS;
	const u64	chunks = (cap + places - 1) / places;

	step(r, GC_WINDOW_TOTALS, which, places, chunks);
	step(r, GC_WINDOW_CARRY, which, chunks, 1);
	step(r, GC_WINDOW_STATES, which, places, chunks);
}

/* Compute a window and one function of it. */
static void
compute(Run *r, u32 fn, u32 frame)
{
	const u64	cap = count + SLACK_ROWS;
	const u64	units = (cap + GC_WINDOW_RUN - 1) / GC_WINDOW_RUN;
	const GcAddr room = pool_base + 4096;
	u32			flags[GC_NFLAGS] = {[GC_FLAG_ROWS] = (u32) count};
	u32			which = 0;

	r->args.w[GC_WINDOW_ROWS] = room;
	r->args.w[GC_WINDOW_CAP] = cap;
	r->args.w[GC_WINDOW_FLAGS] = pool_base;
	r->args.w[GC_WINDOW_SCRATCH] = room + NWORDS * cap * sizeof(u64);
	r->args.w[GC_WINDOW_NPARTITION] = npartition;
	r->args.w[GC_WINDOW_NKEYS] = nkeys;
	r->args.w[GC_WINDOW_FRAME] = frame;
	r->args.w[GC_WINDOW_EXCLUDE] = exclude;
	r->args.w[GC_WINDOW_START] = column(frame == GC_FRAME_RANGE ? W_LOW : W_START, GC_WINDOW_NO_WORD, 0);
	r->args.w[GC_WINDOW_END] = column(frame == GC_FRAME_RANGE ? W_HIGH : W_END, GC_WINDOW_NO_WORD, 0);
	if (frame == GC_FRAME_RANGE && unbounded[0])
		r->args.w[GC_WINDOW_START] = GC_WINDOW_NO_WORD;
	if (frame == GC_FRAME_RANGE && unbounded[1])
		r->args.w[GC_WINDOW_END] = GC_WINDOW_NO_WORD;
	r->args.w[GC_WINDOW_BY] = column(W_FEW, GC_WINDOW_NO_WORD, 0);
	r->args.w[GC_WINDOW_SECOND] = column(W_SECOND, GC_WINDOW_NO_WORD, 0);
	r->args.w[GC_WINDOW_ARG] = column(W_ARG, W_ARG_HIGH, 0);
	r->args.w[GC_WINDOW_RESULT] = column(W_RESULT, W_RESULT_HIGH, 0);
	r->args.w[GC_WINDOW_FN] = GC_OVER_NONE;
	memcpy(r->args.w + GC_WINDOW_KEYS, keys, sizeof(keys));
	must(ops->copy_in(r->stream, pool_base, flags, sizeof(flags), NULL));
	for (int w = 0; w < NWORDS; w++)
		must(ops->copy_in(r->stream, room + w * cap * sizeof(u64), rows[w], cap * sizeof(u64), NULL));
	step(r, GC_WINDOW_CLEAR, 1, 0, 1);
	step(r, GC_WINDOW_RANGES, 1, 0, (cap + GC_WINDOW_PLACES - 1) / GC_WINDOW_PLACES);
	step(r, GC_WINDOW_PACK, 1, 0, cap);
	step(r, GC_WINDOW_SORT, 1, 0, units);
	for (u64 width = GC_WINDOW_RUN; width < cap; width *= 2, which ^= 1)
		step(r, GC_WINDOW_MERGE, which, width, units);
	step(r, GC_WINDOW_MARK, which, 0, cap);
	scan(r, which, cap);
	step(r, GC_WINDOW_NUMBER, which, 0, cap);
	launch_steps(r);
	r->args.w[GC_WINDOW_FN] = fn;
	if (GC_WINDOW_HAS_TREE(fn, frame, exclude))
	{
		for (u64 width = 1; width <= cap; width *= 2)
			step(r, GC_WINDOW_TREE, which, width, cap / width);
	}
	else if (fn >= GC_OVER_COUNT && fn <= GC_OVER_MAX)
		scan(r, which, cap);
	step(r, GC_WINDOW_VALUES, which, 0, cap);
	launch_steps(r);
	for (int w = 0; w < NWORDS; w++)
		must(ops->copy_out(r->stream, got[w], room + w * cap * sizeof(u64), cap * sizeof(u64), NULL));
	must(finish(r->stream, NULL));
}

static void
test_function(Run *r, u32 fn)
{
	/* They look at the order of ties. */
	const bool	total = fn == GC_OVER_ROW_NUMBER || fn >= GC_OVER_LAG;
	int			bad = 0;

	for (u32 s = 0; s < 2 * NSIZES; s++)
	{
		/* The order of a range has one column, and so it has ties. */
		const u32	frame = draw(total ? GC_FRAME_RANGE : GC_NFRAMES);

		count = sizes[s % NSIZES];
		r->one_block = s % 2 == 0;
		draw_rows(1 + draw(s % 3 == 0 ? 3 : 5000));
		if (fn == GC_OVER_NTILE)
			draw_buckets();
		if (fn == GC_OVER_NTH)
			draw_number();
		draw_distances();
		draw_window(total || frame == GC_FRAME_ROWS || frame == GC_FRAME_BETWEEN || draw(2) == 0, frame == GC_FRAME_RANGE);
		compute(r, fn, frame);
		bad += count_wrong(fn, frame) > 0;
	}
	tap_note("function %u", fn);
	is(bad, 0, "windows with a wrong value");
}

static void
test_kernel(void)
{
	Loaded		k;
	Run			r = {0};

	open_device();
	r.stream = get_stream();
	k = load_made(gc_generate_window_kernel());
	r.k = &k;
	for (u32 fn = GC_OVER_ROW_NUMBER; fn < GC_NOVERS; fn++)
		test_function(&r, fn);
	ops->stream_put(dev, r.stream);
	unload(&k);
	ops->close(dev);
}

int
main(int argc, char **argv)
{
	tap_start();
	if (!choose_device(argc > 1 ? argv[1] : "host"))
		return tap_skip_all("there is no such device");
	test_kernel();
	text_compiles(gc_generate_window_kernel(), "the kernel of windows over kept rows");
	return tap_done();
}
