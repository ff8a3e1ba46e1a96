/*-------------------------------------------------------------------------
 *
 * gc_window.h
 *	  Window functions over rows that are kept in device memory: a sort of their numbers, and segmented scans.
 *
 * Rows lie column by column (codegen/sink/sink_rows.c).  A step of a launch does one phase of one window: a loop over
 * units that do not depend on each other.  Where rows are few, one block takes several steps.
 *
 * The keys that a row is sorted by are packed into a word: of the first ones as many as find room.  Each has as many
 * bits as the values that there are take.  Rows whose words are equal are compared by their keys, unless all found
 * room.  Two arrays of words and row numbers take turns in the sort, which merges runs of twice the length in each
 * launch.  A unit of it writes GC_WINDOW_RUN places, wherever the runs begin.  Behind the sort, the numbers that are
 * not in order are the marks of places: where partitions and groups of peers begin.
 *
 * A scan has three phases: the total of each chunk of places, the total before each chunk, the state at each place.  A
 * state is a partition's result up to a place.  Where a frame begins with its partition, the state at its end is the
 * function's value.  Else the state before it is taken from that, of sums and counts.  A frame that leaves out rows is
 * in up to three spans, which are added up.  The first scan numbers partitions and peers.
 *
 * Extremes of other frames have a tree in the place of states (Fenwick 1994).  Places are numbered from 1 on.  The
 * state at one is of as many places up to it as the largest power of 2 that divides its number.  A span is made of a
 * few states.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WINDOW_H
#define GC_WINDOW_H

#define GC_WINDOW_BEGINS	(1ull << 63)	/* in GcWindowState.n: a partition begins within */

/* One launch, as it comes in argument words. */
typedef struct GcWindow
{
	u64		   *rows;
	u64			cap;
	u64			count;
	u64		   *ranges;			/* of each key, the greatest image, and of the images' complements */
	const u64  *packed;			/* words, in order and in the other one */
	u64		   *other_packed;
	const u32  *order;			/* row numbers */
	u32		   *other;
	u32		   *peers;			/* number of a place's peers, of its partition, and where each begins */
	u32		   *partition;
	u32		   *first_peer;
	u32		   *first_place;
	GcWindowState *states;
	GcWindowState *before;
	const u64  *keys;
	u32			npartition;
	u32			nkeys;
	u32			fn;
	u32			frame;
	u32			exclude;
	u64			start;
	u64			end;
	u64			by;
	u64			arg;
	u64			second;
	u64			result;
} GcWindow;

/* which: the array of row numbers that is read. */
GC_FN GcWindow
gc_window(const u64 *w, u32 which)
{
	const u64	cap = w[GC_WINDOW_CAP];
	const u64	rows = ((const u32 *) w[GC_WINDOW_FLAGS])[GC_FLAG_ROWS];
	GcWindow	x;
	u64		   *packed;
	u32		   *words;

	x.rows = (u64 *) w[GC_WINDOW_ROWS];
	x.cap = cap;
	x.count = rows < cap ? rows : cap;
	x.states = (GcWindowState *) w[GC_WINDOW_SCRATCH];
	x.before = x.states + cap;
	x.ranges = (u64 *) (x.before + GC_WINDOW_CHUNKS);
	packed = x.ranges + 2 * 16;
	x.packed = packed + which * cap;
	x.other_packed = packed + (which ^ 1) * cap;
	words = (u32 *) (packed + 2 * cap);
	x.order = words + which * cap;
	x.other = words + (which ^ 1) * cap;
	x.peers = words + 2 * cap;
	x.partition = words + 3 * cap;
	x.first_peer = words + 4 * cap;
	x.first_place = words + 5 * cap + 1;
	x.keys = w + GC_WINDOW_KEYS;
	x.npartition = (u32) w[GC_WINDOW_NPARTITION];
	x.nkeys = (u32) w[GC_WINDOW_NKEYS];
	x.fn = (u32) w[GC_WINDOW_FN];
	x.frame = (u32) w[GC_WINDOW_FRAME];
	x.exclude = (u32) w[GC_WINDOW_EXCLUDE];
	x.start = w[GC_WINDOW_START];
	x.end = w[GC_WINDOW_END];
	x.by = w[GC_WINDOW_BY];
	x.arg = w[GC_WINDOW_ARG];
	x.second = w[GC_WINDOW_SECOND];
	x.result = w[GC_WINDOW_RESULT];
	return x;
}

/*-------------------------------------------------------------------------
 * Values
 *-------------------------------------------------------------------------
 */

GC_FN int
gc_window_is_null(const GcWindow *x, u64 column, u32 row)
{
	const u32	word = GC_WINDOW_NULL_WORD(column);

	return word != GC_WINDOW_NO_WORD && (x->rows[word * x->cap + row] >> GC_WINDOW_NULL_BIT(column) & 1);
}

GC_FN i128
gc_window_value(const GcWindow *x, u64 column, u32 row)
{
	const u64	low = x->rows[GC_WINDOW_WORD(column) * x->cap + row];

	if (GC_WINDOW_HIGH_WORD(column) == GC_WINDOW_NO_WORD)
		return (i64) low;
	return (i128) ((u128) x->rows[GC_WINDOW_HIGH_WORD(column) * x->cap + row] << 64 | low);
}

/* The low 64 bits of a key's value, such that values that have no more sort as these do, without sign.  -0 is 0. */
GC_FN u64
gc_window_image(const GcWindow *x, u64 key, u32 row)
{
	const u64	low = x->rows[GC_WINDOW_WORD(key) * x->cap + row];

	if (GC_WINDOW_FLOAT(key) == 1)
		return gc_order_f64(GC_BITS_F64((i64) low) + 0.0);
	if (GC_WINDOW_FLOAT(key) == 2)
		return gc_order_f64((double) GC_BITS_F32((i32) low) + 0.0);
	return GC_WINDOW_HIGH_WORD(key) == GC_WINDOW_NO_WORD ? GC_ORDER_I64(low) : low;
}

/* A value, or of a float an integer that sorts as it does. */
GC_FN i128
gc_window_number_of(const GcWindow *x, u64 column, u32 row)
{
	return GC_WINDOW_FLOAT(column) ? (i128) gc_window_image(x, column, row) : gc_window_value(x, column, row);
}

/* Below 0, 0, or above it: does row a come before b, by this key? */
GC_FN int
gc_window_compare_key(const GcWindow *x, u64 key, u32 a, u32 b)
{
	const int	a_null = gc_window_is_null(x, key, a);
	const int	b_null = gc_window_is_null(x, key, b);
	const u64	high = GC_WINDOW_HIGH_WORD(key) * x->cap;
	u64			va,
				vb;

	if (a_null || b_null)
		return (a_null - b_null) * (key & GC_WINDOW_NULLS_FIRST ? -1 : 1);
	va = gc_window_image(x, key, a);
	vb = gc_window_image(x, key, b);
	if (GC_WINDOW_HIGH_WORD(key) != GC_WINDOW_NO_WORD && x->rows[high + a] != x->rows[high + b])
	{
		va = GC_ORDER_I64(x->rows[high + a]);
		vb = GC_ORDER_I64(x->rows[high + b]);
	}
	return ((va > vb) - (va < vb)) * (key & GC_WINDOW_DESCENDING ? -1 : 1);
}

/* Likewise by all keys; *k: number of the first that differs, or nkeys. */
GC_FN int
gc_window_compare(const GcWindow *x, u32 a, u32 b, u32 *k)
{
	for (*k = 0; *k < x->nkeys; (*k)++)
	{
		const int	c = gc_window_compare_key(x, x->keys[*k], a, b);

		if (c != 0)
			return c;
	}
	return 0;
}

/*-------------------------------------------------------------------------
 * Packing
 *-------------------------------------------------------------------------
 */

/* Note the ranges of keys in a chunk of rows. */
GC_FN void
gc_window_ranges(const GcWindow *x, u64 chunk)
{
	const u64	from = chunk * GC_WINDOW_PLACES;
	const u64	to = from + GC_WINDOW_PLACES < x->count ? from + GC_WINDOW_PLACES : x->count;

	for (u32 k = 0; k < x->nkeys; k++)
	{
		u64			most = 0;
		u64			least = 0;

		for (u64 row = from; row < to; row++)
		{
			const u64	image = gc_window_image(x, x->keys[k], (u32) row);

			if (gc_window_is_null(x, x->keys[k], (u32) row))
				continue;
			most = image > most ? image : most;
			least = ~image > least ? ~image : least;
		}
		GC_ATOMIC_MAX64(&x->ranges[2 * k], most);
		GC_ATOMIC_MAX64(&x->ranges[2 * k + 1], least);
	}
}

/* Bits of key k in a packed word: its codes are from 1 on, and NULL is before or behind them.  65: more than 64. */
GC_FN u32
gc_window_bits(const GcWindow *x, u32 k)
{
	const u64	most = x->ranges[2 * k];
	const u64	least = ~x->ranges[2 * k + 1];

	if (GC_WINDOW_HIGH_WORD(x->keys[k]) != GC_WINDOW_NO_WORD || (most >= least && most - least >= 1ull << 62))
		return 65;
	return 64 - GC_CLZ64(most < least ? 2 : most - least + 2);
}

/* How many keys find room in a word. */
GC_FN u32
gc_window_npacked(const GcWindow *x)
{
	u32			bits = 0;

	for (u32 k = 0; k < x->nkeys; k++)
	{
		bits += gc_window_bits(x, k);
		if (bits > 64)
			return k;
	}
	return x->nkeys;
}

GC_FN void
gc_window_pack(const GcWindow *x, u32 row, u32 npacked)
{
	u64			word = 0;

	for (u32 k = 0; k < npacked; k++)
	{
		const u64	key = x->keys[k];
		const u64	least = ~x->ranges[2 * k + 1];
		const u64	behind = x->ranges[2 * k] - least + 2;
		const u64	code = gc_window_image(x, key, row) - least + 1;
		const u32	bits = gc_window_bits(x, k);

		word <<= bits;
		if (gc_window_is_null(x, key, row))
			word |= key & GC_WINDOW_NULLS_FIRST ? 0 : x->ranges[2 * k] < least ? 1 : behind;
		else
			word |= key & GC_WINDOW_DESCENDING ? behind - code : code;
	}
	x->other_packed[row] = word;
	x->other[row] = row;
}

/* Does a row come before another one, or behind it, by their words and, if these do not have all, by their keys? */
GC_FN int
gc_window_compare_packed(const GcWindow *x, u64 word_a, u32 a, u64 word_b, u32 b, int exact)
{
	u32			k;

	if (word_a != word_b)
		return word_a < word_b ? -1 : 1;
	return exact ? 0 : gc_window_compare(x, a, b, &k);
}

/*-------------------------------------------------------------------------
 * Sorting
 *-------------------------------------------------------------------------
 */

/* Sort the rows of one run, by insertion. */
GC_FN void
gc_window_sort_run(const GcWindow *x, u64 unit, int exact)
{
	const u64	from = unit * GC_WINDOW_RUN;
	const u64	to = from + GC_WINDOW_RUN < x->count ? from + GC_WINDOW_RUN : x->count;

	for (u64 n = from; n < to; n++)
	{
		const u64	word = x->other_packed[n];
		u64			at = n;

		for (; at > from && gc_window_compare_packed(x, x->other_packed[at - 1], x->other[at - 1], word, (u32) n, exact) > 0; at--)
		{
			x->other_packed[at] = x->other_packed[at - 1];
			x->other[at] = x->other[at - 1];
		}
		x->other_packed[at] = word;
		x->other[at] = (u32) n;
	}
}

/* Does the row at place a come no later than that at place b? */
GC_FN int
gc_window_first(const GcWindow *x, u64 a, u64 b, int exact)
{
	return gc_window_compare_packed(x, x->packed[a], x->order[a], x->packed[b], x->order[b], exact) <= 0;
}

/* Write the places of one unit, of two sorted runs of `width` places that become one. */
GC_FN void
gc_window_merge(const GcWindow *x, u64 unit, u64 width, int exact)
{
	const u64	from = unit * GC_WINDOW_RUN;
	const u64	pair = from / (2 * width) * (2 * width);
	const u64	middle = pair + width < x->count ? pair + width : x->count;
	const u64	end = pair + 2 * width < x->count ? pair + 2 * width : x->count;
	const u64	to = from + GC_WINDOW_RUN < end ? from + GC_WINDOW_RUN : end;
	const u64	place = from - pair;
	u64			a = place > end - middle ? place - (end - middle) : 0;
	u64			most = place < middle - pair ? place : middle - pair;
	u64			b;

	if (from >= x->count)
		return;
	/* So many of the first run come before. */
	while (a < most)
	{
		const u64	m = (a + most) / 2;

		if (gc_window_first(x, pair + m, middle + place - m - 1, exact))
			a = m + 1;
		else
			most = m;
	}
	b = middle + place - a;
	a += pair;
	for (u64 n = from; n < to; n++)
	{
		const u64	next = b >= end || (a < middle && gc_window_first(x, a, b, exact)) ? a++ : b++;

		x->other_packed[n] = x->packed[next];
		x->other[n] = x->order[next];
	}
}

/* Bit 0: a partition begins at the place; bit 1: peers do. */
GC_FN void
gc_window_mark(const GcWindow *x, u64 n)
{
	u32			k = 0;

	if (n > 0)
		(void) gc_window_compare(x, x->order[n - 1], x->order[n], &k);
	x->other[n] = n == 0 || k < x->npartition ? 3 : k < x->nkeys ? 2 : 0;
}

/*-------------------------------------------------------------------------
 * Scans
 *-------------------------------------------------------------------------
 */

/* The state of one place alone. */
GC_FN GcWindowState
gc_window_place(const GcWindow *x, u64 n)
{
	const u32	mark = x->other[n];
	GcWindowState s = {mark >> 1, mark & 1, 0};
	i128		value;

	if (x->fn == GC_OVER_NONE)
		return s;
	s.low = s.high = 0;
	s.n = mark & 1 ? GC_WINDOW_BEGINS : 0;
	if (gc_window_is_null(x, x->arg, x->order[n]))
		return s;
	s.n++;
	value = gc_window_value(x, x->arg, x->order[n]);
	s.low = (u64) value;
	s.high = (u64) (value >> 64);
	return s;
}

/* The state behind b, where a is that before. */
GC_FN GcWindowState
gc_window_add(u32 fn, GcWindowState a, GcWindowState b)
{
	const i128	va = (i128) ((u128) a.high << 64 | a.low);
	const i128	vb = (i128) ((u128) b.high << 64 | b.low);
	i128		v = va + vb;

	if (fn == GC_OVER_NONE)
	{
		a.low += b.low;
		a.high += b.high;
		return a;
	}
	if (b.n & GC_WINDOW_BEGINS)
		return b;
	if (fn == GC_OVER_MIN || fn == GC_OVER_MAX)
		v = b.n == 0 ? va : (a.n & ~GC_WINDOW_BEGINS) == 0 ? vb : (fn == GC_OVER_MIN) == (va < vb) ? va : vb;
	a.low = (u64) v;
	a.high = (u64) (v >> 64);
	a.n += b.n;
	return a;
}

/* Total of a chunk of places; or, after `write`, the states at them. */
GC_FN void
gc_window_scan(const GcWindow *x, u64 chunk, u64 places, int write)
{
	const u64	from = chunk * places < x->count ? chunk * places : x->count;
	const u64	to = from + places < x->count ? from + places : x->count;
	const GcWindowState none = {0, 0, 0};
	GcWindowState s = write ? x->before[chunk] : none;

	for (u64 n = from; n < to; n++)
	{
		s = gc_window_add(x->fn, s, gc_window_place(x, n));
		if (write)
			x->states[n] = s;
	}
	if (!write)
		x->before[chunk] = s;
}

/* Replace each of some totals by the total of those before it, behind s; returns the total of all. */
GC_FN GcWindowState
gc_window_before(u32 fn, GcWindowState s, GcWindowState *totals, u64 n)
{
	for (u64 i = 0; i < n; i++)
	{
		const GcWindowState total = totals[i];

		totals[i] = s;
		s = gc_window_add(fn, s, total);
	}
	return s;
}

/* The state before each chunk, of the chunks' totals: by a block, whose threads have a part of the chunks each. */
GC_FN void
gc_window_carry(const GcWindow *x, GcWindowState *parts, u64 chunks, u32 thread, u32 nthreads)
{
	const GcWindowState none = {0, 0, 0};
	const u64	most = (chunks + nthreads - 1) / nthreads;
	const u64	from = thread * most < chunks ? thread * most : chunks;
	const u64	n = from + most < chunks ? most : chunks - from;

	parts[thread] = none;
	for (u64 c = from; c < from + n; c++)
		parts[thread] = gc_window_add(x->fn, parts[thread], x->before[c]);
	GC_BARRIER();
	if (thread == 0)
		(void) gc_window_before(x->fn, none, parts, nthreads);
	GC_BARRIER();
	(void) gc_window_before(x->fn, parts[thread], x->before + from, n);
}

/* Have a state of the tree cover `width` places, where two states cover a half each. */
GC_FN void
gc_window_cover(const GcWindow *x, u64 unit, u64 width)
{
	const u64	n = (unit + 1) * width - 1;

	if (n < x->count)
		x->states[n] = width == 1 ? gc_window_place(x, n) :
			gc_window_add(x->fn, x->states[n - width / 2], x->states[n]);
}

/*-------------------------------------------------------------------------
 * Frames
 *-------------------------------------------------------------------------
 */

typedef struct GcWindowSpan
{
	u64			begin;
	u64			behind;
} GcWindowSpan;

/* A number at a distance from another one, or the nearest of those from `first` to `end`. */
GC_FN u64
gc_window_at(u64 n, i64 distance, u64 first, u64 end)
{
	const i64	at = (i64) n + distance;

	return at < (i64) first ? first : at > (i64) end ? end : (u64) at;
}

/*
 * The first place of a partition that is not before a bound's value; of an end: that is behind it.  NULLs come before
 * all values, or behind them.
 */
GC_FN u64
gc_window_bound(const GcWindow *x, u64 first, u64 end, i128 bound, int is_end)
{
	const u64	key = x->keys[x->npartition];

	while (first < end)
	{
		const u64	m = (first + end) / 2;
		const u32	row = x->order[m];
		const i128	value = gc_window_number_of(x, x->by, row);
		const int	before = gc_window_is_null(x, x->by, row) ? (key & GC_WINDOW_NULLS_FIRST) != 0 :
			(is_end && value == bound) || (key & GC_WINDOW_DESCENDING ? value > bound : value < bound);

		if (before)
			first = m + 1;
		else
			end = m;
	}
	return first;
}

/* The frame of a place by a range of values, in a partition.  That of a NULL has NULLs. */
GC_FN GcWindowSpan
gc_window_range(const GcWindow *x, u64 n, GcWindowSpan partition)
{
	const u32	row = x->order[n];
	const int	isnull = gc_window_is_null(x, x->by, row);
	GcWindowSpan s = partition;

	if (GC_WINDOW_WORD(x->start) != GC_WINDOW_NO_WORD)
		s.begin = isnull ? x->first_peer[x->peers[n]] :
			gc_window_bound(x, partition.begin, partition.behind, gc_window_number_of(x, x->start, row), 0);
	if (GC_WINDOW_WORD(x->end) != GC_WINDOW_NO_WORD)
		s.behind = isnull ? x->first_peer[x->peers[n] + 1] :
			gc_window_bound(x, partition.begin, partition.behind, gc_window_number_of(x, x->end, row), 1);
	return s;
}

/* The frame of a place, in a partition, before rows are left out.  It may end before it begins. */
GC_FN GcWindowSpan
gc_window_frame(const GcWindow *x, u64 n, GcWindowSpan partition)
{
	const u32	row = x->order[n];
	const u32	peers = x->peers[n];
	const u64	least = x->peers[partition.begin];
	const u64	most = (u64) x->peers[partition.behind - 1] + 1;
	GcWindowSpan s = partition;

	switch (x->frame)
	{
		case GC_FRAME_PEERS:
			s.behind = x->first_peer[peers + 1];
			break;
		case GC_FRAME_ROWS:
			s.behind = n + 1;
			break;
		case GC_FRAME_BETWEEN:
			s.begin = gc_window_at(n, (i64) gc_window_value(x, x->start, row), partition.begin, partition.behind);
			s.behind = gc_window_at(n + 1, (i64) gc_window_value(x, x->end, row), partition.begin, partition.behind);
			break;
		case GC_FRAME_GROUPS:
			s.begin = x->first_peer[gc_window_at(peers, (i64) gc_window_value(x, x->start, row), least, most)];
			s.behind = x->first_peer[gc_window_at((u64) peers + 1, (i64) gc_window_value(x, x->end, row), least, most)];
			break;
		case GC_FRAME_RANGE:
			return gc_window_range(x, n, partition);
		default:
			break;
	}
	return s;
}

/* Add the rows of a frame from one place to before another one, if any. */
GC_FN u32
gc_window_span(GcWindowSpan frame, u64 from, u64 to, GcWindowSpan *spans, u32 n)
{
	spans[n].begin = from > frame.begin ? from : frame.begin;
	spans[n].behind = to < frame.behind ? to : frame.behind;
	return n + (spans[n].begin < spans[n].behind);
}

/* The spans, of which there are up to three, that are left of the frame of a place; returns their number. */
GC_FN u32
gc_window_spans(const GcWindow *x, u64 n, GcWindowSpan partition, GcWindowSpan *spans)
{
	const GcWindowSpan frame = gc_window_frame(x, n, partition);
	const u64	from = x->exclude == GC_EXCLUDE_ROW ? n : x->first_peer[x->peers[n]];
	const u64	behind = x->exclude == GC_EXCLUDE_ROW ? n + 1 : x->first_peer[x->peers[n] + 1];
	u32			count;

	if (x->exclude == GC_EXCLUDE_NONE)
		return gc_window_span(frame, frame.begin, frame.behind, spans, 0);
	count = gc_window_span(frame, frame.begin, from, spans, 0);
	if (x->exclude == GC_EXCLUDE_TIES)
		count = gc_window_span(frame, n, n + 1, spans, count);
	return gc_window_span(frame, behind, frame.behind, spans, count);
}

/* The place of number `nth` of a frame's rows, from 0 on; or x->count. */
GC_FN u64
gc_window_nth(const GcWindow *x, const GcWindowSpan *spans, u32 nspans, u64 nth)
{
	for (u32 i = 0; i < nspans; i++)
	{
		if (nth < spans[i].behind - spans[i].begin)
			return spans[i].begin + nth;
		nth -= spans[i].behind - spans[i].begin;
	}
	return x->count;
}

/* The sum of the places of a span, in a partition that begins at `first`. */
GC_FN GcWindowState
gc_window_between(const GcWindow *x, u64 first, GcWindowSpan span)
{
	GcWindowState s = x->states[span.behind - 1];
	u128		sum;

	s.n &= ~GC_WINDOW_BEGINS;
	if (span.begin == first)
		return s;
	sum = ((u128) s.high << 64 | s.low) - ((u128) x->states[span.begin - 1].high << 64 | x->states[span.begin - 1].low);
	s.low = (u64) sum;
	s.high = (u64) (sum >> 64);
	s.n -= x->states[span.begin - 1].n & ~GC_WINDOW_BEGINS;
	return s;
}

/* The extreme of the places of a span, by the tree. */
GC_FN GcWindowState
gc_window_extreme(const GcWindow *x, GcWindowSpan span)
{
	GcWindowState s = {0, 0, 0};

	while (span.behind > span.begin)
	{
		const u64	covered = span.behind & (0 - span.behind);
		const int	within = covered <= span.behind - span.begin;

		s = gc_window_add(x->fn, within ? x->states[span.behind - 1] : gc_window_place(x, span.behind - 1), s);
		span.behind -= within ? covered : 1;
	}
	s.n &= ~GC_WINDOW_BEGINS;
	return s;
}

/*-------------------------------------------------------------------------
 * Results
 *-------------------------------------------------------------------------
 */

/* Note the number of a place's partition and peers, and where they begin.  The last ones end with the rows. */
GC_FN void
gc_window_number(const GcWindow *x, u64 n)
{
	const u32	mark = x->other[n];
	const u32	peers = (u32) x->states[n].low;
	const u32	partition = (u32) x->states[n].high;

	x->peers[n] = peers - 1;
	x->partition[n] = partition - 1;
	if (mark & 2)
		x->first_peer[peers - 1] = (u32) n;
	if (mark & 1)
		x->first_place[partition - 1] = (u32) n;
	if (n + 1 == x->count)
	{
		x->first_peer[peers] = (u32) x->count;
		x->first_place[partition] = (u32) x->count;
	}
}

/* Write a value of a row, or NULL. */
GC_FN void
gc_window_write(const GcWindow *x, u32 row, i128 value, int isnull)
{
	if (isnull)
	{
		x->rows[GC_WINDOW_NULL_WORD(x->result) * x->cap + row] |= 1ull << GC_WINDOW_NULL_BIT(x->result);
		return;
	}
	x->rows[GC_WINDOW_WORD(x->result) * x->cap + row] = (u64) value;
	if (GC_WINDOW_HIGH_WORD(x->result) != GC_WINDOW_NO_WORD)
		x->rows[GC_WINDOW_HIGH_WORD(x->result) * x->cap + row] = (u64) (value >> 64);
}

/* ntile(): the bucket of a place in a partition.  The first buckets have one row more than the others. */
GC_FN i128
gc_window_ntile(u64 rows, u64 place, u64 buckets)
{
	const u64	each = rows / buckets;
	const u64	larger = rows % buckets;

	if (place < larger * (each + 1))
		return (i128) (place / (each + 1) + 1);
	return (i128) (larger + (place - larger * (each + 1)) / each + 1);
}

/* Write a function's value that places alone decide; 0 of another function. */
GC_FN int
gc_window_by_place(const GcWindow *x, u64 n, GcWindowSpan partition)
{
	const u32	row = x->order[n];
	const u64	first = partition.begin;
	const u64	rows = partition.behind - first;
	const u64	before = x->first_peer[x->peers[n]] - first;

	switch (x->fn)
	{
		case GC_OVER_ROW_NUMBER:
			gc_window_write(x, row, (i128) (n - first + 1), 0);
			return 1;
		case GC_OVER_RANK:
			gc_window_write(x, row, (i128) (before + 1), 0);
			return 1;
		case GC_OVER_DENSE_RANK:
			gc_window_write(x, row, (i128) (x->peers[n] - x->peers[first] + 1), 0);
			return 1;
		case GC_OVER_PERCENT_RANK:
			gc_window_write(x, row, GC_F64_BITS(rows > 1 ? (double) before / (double) (rows - 1) : 0.0), 0);
			return 1;
		case GC_OVER_CUME_DIST:
			gc_window_write(x, row, GC_F64_BITS((double) (x->first_peer[x->peers[n] + 1] - first) / (double) rows), 0);
			return 1;
		case GC_OVER_NTILE:
			gc_window_write(x, row, gc_window_ntile(rows, n - first, (u64) gc_window_value(x, x->arg, row)), 0);
			return 1;
		default:
			return 0;
	}
}

/* Write the total of the rows of a frame, in these spans. */
GC_FN void
gc_window_total(const GcWindow *x, u32 row, u64 first, const GcWindowSpan *spans, u32 nspans)
{
	GcWindowState s = {0, 0, 0};
	u64			rows = 0;

	for (u32 i = 0; i < nspans; i++)
	{
		rows += spans[i].behind - spans[i].begin;
		if (x->fn == GC_OVER_ROWS)
			continue;
		s = gc_window_add(x->fn, s, GC_WINDOW_HAS_TREE(x->fn, x->frame, x->exclude) ? gc_window_extreme(x, spans[i])
						  : gc_window_between(x, first, spans[i]));
	}
	if (x->fn == GC_OVER_ROWS || x->fn == GC_OVER_COUNT)
		gc_window_write(x, row, (i128) (x->fn == GC_OVER_ROWS ? rows : s.n), 0);
	else
		gc_window_write(x, row, (i128) ((u128) s.high << 64 | s.low), s.n == 0);
}

/* Write the function's value for the row at a place. */
GC_FN void
gc_window_result(const GcWindow *x, u64 n)
{
	const u32	row = x->order[n];
	const GcWindowSpan partition = {x->first_place[x->partition[n]], x->first_place[x->partition[n] + 1]};
	GcWindowSpan spans[3];
	u32			nspans;
	u64			from;

	if (gc_window_by_place(x, n, partition))
		return;
	if (x->fn == GC_OVER_LAG || x->fn == GC_OVER_LEAD)
	{
		const i64	distance = (i64) gc_window_value(x, x->second, row);
		const i64	at = x->fn == GC_OVER_LAG ? (i64) n - distance : (i64) n + distance;

		from = at < (i64) partition.begin || at >= (i64) partition.behind || gc_window_is_null(x, x->second, row) ? x->count : (u64) at;
	}
	else
	{
		nspans = gc_window_spans(x, n, partition, spans);
		if (x->fn <= GC_OVER_MAX)
		{
			gc_window_total(x, row, partition.begin, spans, nspans);
			return;
		}
		from = x->fn == GC_OVER_LAST ? (nspans > 0 ? spans[nspans - 1].behind - 1 : x->count) :
			gc_window_nth(x, spans, nspans, x->fn == GC_OVER_NTH ? (u64) gc_window_value(x, x->second, row) - 1 : 0);
	}
	if (from < x->count)
		gc_window_write(x, row, gc_window_value(x, x->arg, x->order[from]), gc_window_is_null(x, x->arg, x->order[from]));
	else
		gc_window_write(x, row, 0, 1);
}

/* One unit of a phase.  npacked: keys that packed words have, where the phase sorts. */
GC_FN void
gc_window_unit(const GcWindow *x, u32 phase, u64 unit, u64 width, u32 npacked)
{
	switch (phase)
	{
		case GC_WINDOW_CLEAR:
			for (u32 k = 0; k < 2 * x->nkeys; k++)
				x->ranges[k] = 0;
			break;
		case GC_WINDOW_RANGES:
			gc_window_ranges(x, unit);
			break;
		case GC_WINDOW_SORT:
			gc_window_sort_run(x, unit, npacked == x->nkeys);
			break;
		case GC_WINDOW_MERGE:
			gc_window_merge(x, unit, width, npacked == x->nkeys);
			break;
		case GC_WINDOW_TOTALS:
		case GC_WINDOW_STATES:
			gc_window_scan(x, unit, width, phase == GC_WINDOW_STATES);
			break;
		case GC_WINDOW_TREE:
			gc_window_cover(x, unit, width);
			break;
		default:
			if (unit >= x->count)
				break;
			if (phase == GC_WINDOW_PACK)
				gc_window_pack(x, (u32) unit, npacked);
			else if (phase == GC_WINDOW_MARK)
				gc_window_mark(x, unit);
			else if (phase == GC_WINDOW_NUMBER)
				gc_window_number(x, unit);
			else
				gc_window_result(x, unit);
	}
}

#endif							/* GC_WINDOW_H */
