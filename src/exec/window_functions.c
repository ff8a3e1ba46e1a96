/*-------------------------------------------------------------------------
 *
 * window_functions.c
 *	  Window functions over the rows that the device returned: each function, for all rows of a window.
 *
 * Sums of frames are differences of sums from the first place on, exact in 128 bits.  Extremes are found by a queue of
 * candidates, as frames never go back.  Floats, and what else has a state of PostgreSQL's, are added to that state.
 *
 * Runs in backends, without a request slot.
 *
 *-------------------------------------------------------------------------
 */
#include "window.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "order.h"
#include "quotient.h"
#include "../plan/base/builtins.h"
#include "../columns/store/numeric.h"

#define NO_PLACE	PG_UINT32_MAX
#define TOO_LARGE	"The values of a window function cannot be added up in 128 bits."

/* The function's value for the n-th row in the window's order. */
static void
put(GcWindowing *w, const GcPlanWindowFn *fn, uint32 n, Datum value, bool isnull)
{
	const Size	at = w->order[n] * (Size) w->rows->ncols + fn->output;

	w->rows->values[at] = isnull ? (Datum) 0 : value;
	w->rows->isnull[at] = isnull;
}

/* The value of an argument for the row at a place. */
static Datum
argument(const GcWindowing *w, const GcPlanWindowFn *fn, int arg, uint32 n, bool *isnull)
{
	*isnull = w->isnull[fn->args[arg]][w->order[n]];
	return w->values[fn->args[arg]][w->order[n]];
}

/* A function's first argument at a place as its result for another one; NO_PLACE: NULL. */
static void
put_value_of(GcWindowing *w, const GcPlanWindowFn *fn, uint32 n, uint32 place)
{
	bool		isnull = true;
	const Datum value = place == NO_PLACE ? (Datum) 0 : argument(w, fn, 0, place, &isnull);

	put(w, fn, n, value, isnull);
}

/*-------------------------------------------------------------------------
 * By places alone
 *-------------------------------------------------------------------------
 */

/* row_number() and its like, which look at partitions and peers alone. */
static void
number_rows(GcWindowing *w, const GcPlanWindowFn *fn)
{
	for (uint32 n = 0; n < w->count; n++)
	{
		const uint32 first = w->partition[n];
		const double rows = w->partition_end[n] - first;
		Datum		value;

		gc_window_interrupts(n);
		switch (fn->over)
		{
			case GC_OVER_ROW_NUMBER:
				value = Int64GetDatum((int64) n - first + 1);
				break;
			case GC_OVER_RANK:
				value = Int64GetDatum((int64) w->peers[n] - first + 1);
				break;
			case GC_OVER_DENSE_RANK:
				value = Int64GetDatum((int64) w->group[n] - w->group[first] + 1);
				break;
			case GC_OVER_PERCENT_RANK:
				value = Float8GetDatum(rows <= 1 ? 0.0 : (w->peers[n] - first) / (rows - 1));
				break;
			default:
				value = Float8GetDatum((w->peers_end[n] - first) / rows);
				break;
		}
		put(w, fn, n, value, false);
	}
}

/*
 * PostgreSQL looks at the argument until it is not NULL, and no further in that partition.  Buckets begin there, and
 * are as large as if they began with the partition.
 */
static void
number_buckets(GcWindowing *w, const GcPlanWindowFn *fn)
{
	bool		isnull = true;
	int64		buckets = 0;
	uint32		begin = 0;

	for (uint32 n = 0; n < w->count; n++)
	{
		const int64 rows = w->partition_end[n] - w->partition[n];
		int64		row;
		int64		small;
		int64		large;

		gc_window_interrupts(n);
		if (n == w->partition[n] || isnull)
		{
			buckets = DatumGetInt32(argument(w, fn, 0, n, &isnull));
			begin = n;
		}
		if (isnull)
		{
			put(w, fn, n, (Datum) 0, true);
			continue;
		}
		if (buckets <= 0)
		{
			w->code = gc_fail(w->err, GC_DATA, "ntile() has no bucket.");
			return;
		}
		/* The first buckets have a row more. */
		row = n - begin;
		small = rows / buckets;
		large = rows % buckets;
		put(w, fn, n, Int32GetDatum(row < large * (small + 1) ? row / (small + 1) + 1
									: large + (row - large * (small + 1)) / small + 1), false);
	}
}

/* lag() and lead(). */
static void
look_around(GcWindowing *w, const GcPlanWindowFn *fn)
{
	for (uint32 n = 0; n < w->count; n++)
	{
		bool		isnull = false;
		int64		offset = 1;
		int64		place;
		Datum		value = (Datum) 0;

		gc_window_interrupts(n);
		if (fn->args[1] >= 0)
			offset = DatumGetInt32(argument(w, fn, 1, n, &isnull));
		place = fn->over == GC_OVER_LAG ? n - offset : n + offset;
		if (isnull)
			put(w, fn, n, (Datum) 0, true);
		else if (place >= w->partition[n] && place < w->partition_end[n])
			put_value_of(w, fn, n, place);
		else
		{
			isnull = true;
			if (fn->args[2] >= 0)
				value = argument(w, fn, 2, n, &isnull);
			put(w, fn, n, value, isnull);
		}
	}
}

static int64
rows_of_frame(const GcWindowing *w, uint32 n)
{
	int64		rows = 0;

	for (int part = 0; part < gc_window_parts(w); part++)
	{
		const GcFramePart span = gc_window_part(w, n, part);

		rows += span.to - span.from;
	}
	return rows;
}

/* The nth place of a frame, from 1 on; NO_PLACE if there is none. */
static uint32
nth_of_frame(const GcWindowing *w, uint32 n, int64 nth)
{
	for (int part = 0; part < gc_window_parts(w); part++)
	{
		const GcFramePart span = gc_window_part(w, n, part);

		if (nth > 0 && nth <= span.to - span.from)
			return span.from + nth - 1;
		nth -= span.to - span.from;
	}
	return NO_PLACE;
}

/* first_value(), last_value(), nth_value(). */
static void
look_in_frame(GcWindowing *w, const GcPlanWindowFn *fn)
{
	for (uint32 n = 0; n < w->count; n++)
	{
		bool		isnull = false;
		int64		nth = 1;

		gc_window_interrupts(n);
		if (fn->over == GC_OVER_LAST)
			nth = rows_of_frame(w, n);
		else if (fn->over == GC_OVER_NTH)
			nth = DatumGetInt32(argument(w, fn, 1, n, &isnull));
		if (fn->over == GC_OVER_NTH && !isnull && nth <= 0)
		{
			w->code = gc_fail(w->err, GC_DATA, "The argument of nth_value() is not positive.");
			return;
		}
		put_value_of(w, fn, n, isnull ? NO_PLACE : nth_of_frame(w, n, nth));
	}
}

/*-------------------------------------------------------------------------
 * Extremes
 *-------------------------------------------------------------------------
 */

/* Does the row at a place count for an aggregate? */
static bool
counts(const GcWindowing *w, const GcPlanWindowFn *fn, uint32 n)
{
	const uint32 row = w->order[n];

	if (fn->filter >= 0 && (w->isnull[fn->filter][row] || !DatumGetBool(w->values[fn->filter][row])))
		return false;
	return fn->args[0] < 0 || !w->isnull[fn->args[0]][row];
}

/* Is the value at place a before that at b?  By a comparison, or the larger number. */
typedef struct Comparison
{
	SortSupport sort;
	const int16 *numbers;		/* by place */
	bool		first;			/* of equal ones, the first is wanted */
} Comparison;

/* Is a row's value to be kept instead of another's: greater for max(), less for min()? */
static bool
is_better(const GcWindowing *w, const GcPlanWindowFn *fn, const Comparison *c, uint32 a, uint32 b)
{
	int			cmp;

	if (c->numbers)
		return c->numbers[a] > c->numbers[b];
	cmp = c->sort->comparator(w->values[fn->args[0]][w->order[a]], w->values[fn->args[0]][w->order[b]], c->sort);
	return c->sort->ssup_reverse ? cmp > 0 : cmp < 0;
}

/* Is the row at the later one of two places to be kept instead of the other one's? */
static bool
replaces(const GcWindowing *w, const GcPlanWindowFn *fn, const Comparison *c, uint32 later, uint32 earlier)
{
	return c->first ? is_better(w, fn, c, later, earlier) : !is_better(w, fn, c, earlier, later);
}

/*
 * best[]: of each place's frame, the place of the best value in this part or an earlier one.  The queue has places
 * whose values are better than all that come behind them, or equal to some if the first of these is wanted.
 */
static void
find_best_of_part(GcWindowing *w, const GcPlanWindowFn *fn, const Comparison *c, int part, uint32 *queue, uint32 *best)
{
	uint32		first = 0;
	uint32		last = 0;
	uint32		next = 0;

	for (uint32 n = 0; n < w->count; n++)
	{
		const GcFramePart span = gc_window_part(w, n, part);

		gc_window_interrupts(n);
		if (n == w->partition[n])
		{
			first = last = 0;
			next = n;
		}
		for (; next < span.to; next++)
		{
			gc_window_interrupts(next);
			if (!counts(w, fn, next))
				continue;
			while (last > first && replaces(w, fn, c, next, queue[last - 1]))
				last--;
			queue[last++] = next;
		}
		while (first < last && queue[first] < span.from)
			first++;
		if (first < last && queue[first] < span.to &&
			(best[n] == NO_PLACE || replaces(w, fn, c, queue[first], best[n])))
			best[n] = queue[first];
	}
}

/* The place of the best value in each place's frame; NO_PLACE if there is none. */
static uint32 *
find_best(GcWindowing *w, const GcPlanWindowFn *fn, const Comparison *c)
{
	uint32	   *best = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) w->count + 1) * sizeof(uint32));
	uint32	   *queue = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) w->count + 1) * sizeof(uint32));

	for (uint32 n = 0; n < w->count; n++)
		best[n] = NO_PLACE;
	for (int part = 0; part < gc_window_parts(w); part++)
		find_best_of_part(w, fn, c, part, queue, best);
	pfree(queue);
	return best;
}

/* PostgreSQL's functions return the last of equal values; for bpchar, which ignores blanks at the end, the first. */
static void
find_extremes(GcWindowing *w, const GcPlanWindowFn *fn)
{
	const GcPlanOrder order = {.operator = fn->operator,.collation = fn->collation};
	const GcOrderColumn column = {.order = &order,.values = w->values[fn->args[0]]};
	const Comparison c = {.sort = gc_order_comparisons(&column, 1),.first = fn->argtype == BPCHAROID};
	uint32	   *best = find_best(w, fn, &c);

	for (uint32 n = 0; n < w->count; n++)
		put_value_of(w, fn, n, best[n]);
	pfree(best);
}

/*-------------------------------------------------------------------------
 * Counts and sums
 *-------------------------------------------------------------------------
 */

/*
 * Sums of all places before one (which are int128, as memory is not aligned for i128), and the
 * number of values in these.
 */
typedef struct Sums
{
	int128	   *sum;			/* NULL: only counts are wanted */
	int128	   *squares;		/* sums of squares, for variances; else NULL */
	uint32	   *count;
	int16	   *scale;			/* numerics: display scale by place; NULL: they all have */
	int16		largest;		/* this one, in which sums are */
	uint32	   *best;			/* the place of the largest one in each frame */
} Sums;

/* A number as an integer at a display scale.  False: it is none, or too large. */
static bool
to_integer(Oid type, Datum value, int128 *integer, int16 *scale)
{
	i128		digits = 0;
	bool		fits;

	*scale = 0;
	switch (type)
	{
		case INT2OID:
			*integer = DatumGetInt16(value);
			return true;
		case INT4OID:
			*integer = DatumGetInt32(value);
			return true;
		case INT8OID:
			*integer = DatumGetInt64(value);
			return true;
		default:
			fits = gc_numeric_to_int128(value, &digits, scale);
			*integer = digits;
			return fits;
	}
}

/* 10 to the power of n. */
static i128
power_of_10(int n)
{
	i128		power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* The largest power of 10 in 128 bits, less the room for a digit. */
#define MOST_DIGITS		37

/* All numerics at their largest display scale.  False if that takes too many digits. */
static bool
rescale(GcWindowing *w, const GcPlanWindowFn *fn, Sums *s)
{
	bool		same = true;

	for (uint32 n = 0; n < w->count; n++)
	{
		int			digits;

		gc_window_interrupts(n);
		if (!counts(w, fn, n))
			continue;
		digits = s->largest - s->scale[n];
		same &= digits == 0;
		if (digits > MOST_DIGITS || __builtin_mul_overflow(s->sum[n + 1], power_of_10(digits), &s->sum[n + 1]))
			return false;
	}
	if (same)
	{
		pfree(s->scale);
		s->scale = NULL;
	}
	else
		s->best = find_best(w, fn, &(Comparison) {.numbers = s->scale});
	return true;
}

/* Make values, from the second element on, running sums.  False: one is too large. */
static bool
run_up(const GcWindowing *w, int128 *sum)
{
	sum[0] = 0;
	for (uint32 n = 0; n < w->count; n++)
	{
		gc_window_interrupts(n);
		if (__builtin_add_overflow(sum[n], sum[n + 1], &sum[n + 1]))
			return false;
	}
	return true;
}

/* Running sums of the squares of values that are not added up yet.  False: one is too large for that. */
static bool
fill_squares(const GcWindowing *w, Sums *s)
{
	s->squares = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) w->count + 1) * sizeof(int128));
	for (uint32 n = 1; n <= w->count; n++)
	{
		gc_window_interrupts(n);
		if (__builtin_mul_overflow(s->sum[n], s->sum[n], &s->squares[n]))
			return false;
	}
	return run_up(w, s->squares);
}

/* Running sums of the values as integers.  False: one is too large for that. */
static bool
fill_sums(GcWindowing *w, const GcPlanWindowFn *fn, Sums *s)
{
	s->sum = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) w->count + 1) * sizeof(int128));
	s->scale = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) w->count + 1) * sizeof(int16));
	s->largest = 0;
	for (uint32 n = 0; n < w->count; n++)
	{
		gc_window_interrupts(n);
		s->sum[n + 1] = 0;
		s->scale[n] = 0;
		if (!counts(w, fn, n))
			continue;
		if (!to_integer(fn->argtype, w->values[fn->args[0]][w->order[n]], &s->sum[n + 1], &s->scale[n]))
			return false;
		s->largest = Max(s->largest, s->scale[n]);
	}
	if (!rescale(w, fn, s))
		return false;
	if ((fn->flags & GC_IS_VARIANCE) && !fill_squares(w, s))
		return false;
	return run_up(w, s->sum);
}

static void
fill_counts(GcWindowing *w, const GcPlanWindowFn *fn, Sums *s)
{
	s->count = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) w->count + 1) * sizeof(uint32));
	s->count[0] = 0;
	for (uint32 n = 0; n < w->count; n++)
		s->count[n + 1] = s->count[n] + counts(w, fn, n);
}

/* sum(), avg() or a variance of the frame of a place, in which there are values.  False if a sum is too large. */
static bool
sum_of_frame(GcWindowing *w, const GcPlanWindowFn *fn, const Sums *s, uint32 n, int64 count, Datum *value)
{
	ExprContext *econtext = w->node->css.ss.ps.ps_ExprContext;
	i128		sum = 0;
	i128		squares = 0;
	int16		scale = s->largest;
	bool		fits = true;
	MemoryContext old;

	for (int part = 0; part < gc_window_parts(w); part++)
	{
		const GcFramePart span = gc_window_part(w, n, part);
		i128		of_part;

		if (__builtin_sub_overflow((i128) s->sum[span.to], (i128) s->sum[span.from], &of_part) ||
			__builtin_add_overflow(sum, of_part, &sum))
			return false;
		/* Running sums of squares never fall. */
		if (s->squares)
			squares += s->squares[span.to] - s->squares[span.from];
	}
	if (fn->flags == 0 && (fn->argtype == INT2OID || fn->argtype == INT4OID))
	{
		*value = Int64GetDatum((int64) sum);
		return true;
	}
	if (s->scale)
	{
		scale = s->scale[s->best[n]];
		sum /= power_of_10(s->largest - scale);
		/* Not by the square of the power, which may be beyond 128 bits. */
		squares = squares / power_of_10(s->largest - scale) / power_of_10(s->largest - scale);
	}
	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (fn->flags & GC_IS_VARIANCE)
		fits = gc_variance(count, sum, squares, scale, (fn->flags & GC_IS_OF_SAMPLE) != 0,
						   (fn->flags & GC_IS_ROOT) != 0, value);
	else
		*value = fn->flags & GC_IS_AVERAGE ? gc_quotient(sum, scale, count, 0) : gc_int128_to_numeric(sum, scale);
	MemoryContextSwitchTo(w->kept);
	if (fits)
		*value = datumCopy(*value, false, -1);
	MemoryContextSwitchTo(old);
	return fits;
}

/* count(), sum(), avg(), variances.  Without EXCLUDE, places with the same frame share their result. */
static void
add_up(GcWindowing *w, const GcPlanWindowFn *fn)
{
	const int64 least = fn->over == GC_OVER_COUNT ? 0 : fn->flags & GC_IS_OF_SAMPLE ? 2 : 1;
	Sums		s = {0};
	Datum		value = (Datum) 0;

	fill_counts(w, fn, &s);
	if (fn->over != GC_OVER_COUNT && !fill_sums(w, fn, &s))
	{
		w->code = gc_fail(w->err, GC_UNSUPPORTED, TOO_LARGE);
		return;
	}
	for (uint32 n = 0; n < w->count; n++)
	{
		const bool	again = gc_window_parts(w) == 1 && n > 0 && w->from[n] == w->from[n - 1] &&
			w->to[n] == w->to[n - 1];
		int64		count = 0;

		for (int part = 0; part < gc_window_parts(w); part++)
		{
			const GcFramePart span = gc_window_part(w, n, part);

			count += s.count[span.to] - s.count[span.from];
		}
		gc_window_interrupts(n);
		if (fn->over == GC_OVER_COUNT)
			value = Int64GetDatum(count);
		else if (count >= least && !again && !sum_of_frame(w, fn, &s, n, count, &value))
		{
			w->code = gc_fail(w->err, GC_UNSUPPORTED, TOO_LARGE);
			return;
		}
		put(w, fn, n, value, count < least);
	}
	pfree(s.count);
	if (s.sum)
		pfree(s.sum);
	if (s.squares)
		pfree(s.squares);
}

/*-------------------------------------------------------------------------
 * States of PostgreSQL's functions
 *-------------------------------------------------------------------------
 */

/* A state while values are added to it, and the functions that do that and make a result of it. */
typedef struct State
{
	FmgrInfo	transition;
	FmgrInfo	final;
	MemoryContext memory;
	Datum		value;
	bool		isnull;
	uint64		calls;
} State;

/* Begin with the state before any value. */
static void
begin_state(const GcWindowing *w, const GcPlanWindowFn *fn, State *s)
{
	MemoryContextReset(s->memory);
	s->isnull = w->isnull[fn->initial][0];
	s->value = w->values[fn->initial][0];
	if (!s->isnull && fn->state_length != 0)
		s->value = datumCopy(s->value, false, fn->state_length);
}

/* Add the value at a place.  Where there is no state, the first value is it, as the function is strict. */
static void
add_to_state(const GcWindowing *w, const GcPlanWindowFn *fn, State *s, uint32 place)
{
	const Datum added = w->values[fn->args[0]][w->order[place]];
	const Datum before = s->value;

	gc_window_interrupts(s->calls++);
	if (!counts(w, fn, place))
		return;
	if (s->isnull)
		s->value = datumCopy(added, fn->state_length == 0, fn->state_length);
	else
		s->value = FunctionCall2Coll(&s->transition, fn->collation, before, added);
	if (!s->isnull && fn->state_length != 0 && s->value != before)
		pfree(DatumGetPointer(before));
	s->isnull = false;
}

/* The result of a state, copied to where rows are. */
static Datum
result_of_state(const GcWindowing *w, const GcPlanWindowFn *fn, State *s, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum		value = s->value;
	MemoryContext old;

	*isnull = s->isnull;
	if (!*isnull && OidIsValid(fn->final))
	{
		InitFunctionCallInfoData(*fcinfo, &s->final, 1, fn->collation, NULL, NULL);
		fcinfo->args[0] = (NullableDatum) {value, false};
		value = FunctionCallInvoke(fcinfo);
		*isnull = fcinfo->isnull;
	}
	if (*isnull || fn->result_length == 0)
		return value;
	old = MemoryContextSwitchTo(w->kept);
	value = datumCopy(value, false, fn->result_length);
	MemoryContextSwitchTo(old);
	return value;
}

/*
 * Floats are added up in PostgreSQL's order and by its functions, as their sums depend on the order.  So a frame that
 * does not begin where the last one began, or leaves out rows, is added up anew, as PostgreSQL does it.
 */
static void
add_to_states(GcWindowing *w, const GcPlanWindowFn *fn)
{
	State		s = {.memory = AllocSetContextCreate(CurrentMemoryContext, "gpuconc state", ALLOCSET_SMALL_SIZES)};
	MemoryContext old = MemoryContextSwitchTo(s.memory);
	Datum		value = (Datum) 0;
	bool		isnull = true;
	uint32		next = 0;

	fmgr_info_cxt(fn->transition, &s.transition, old);
	if (OidIsValid(fn->final))
		fmgr_info_cxt(fn->final, &s.final, old);
	for (uint32 n = 0; n < w->count; n++)
	{
		const bool	anew = n == w->partition[n] || gc_window_parts(w) > 1 || w->from[n] != w->from[n - 1];

		if (anew)
			begin_state(w, fn, &s);
		for (int part = 0; part < gc_window_parts(w); part++)
		{
			const GcFramePart span = gc_window_part(w, n, part);

			for (next = anew ? span.from : next; next < span.to; next++)
				add_to_state(w, fn, &s, next);
		}
		if (anew || w->to[n] != w->to[n - 1])
			value = result_of_state(w, fn, &s, &isnull);
		put(w, fn, n, value, isnull);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(s.memory);
}

/*-------------------------------------------------------------------------
 * All of them
 *-------------------------------------------------------------------------
 */

void
gc_window_function(GcWindowing *w, const GcPlanWindowFn *fn)
{
	switch (fn->over)
	{
		case GC_OVER_NTILE:
			number_buckets(w, fn);
			break;
		case GC_OVER_LAG:
		case GC_OVER_LEAD:
			look_around(w, fn);
			break;
		case GC_OVER_FIRST:
		case GC_OVER_LAST:
		case GC_OVER_NTH:
			look_in_frame(w, fn);
			break;
		case GC_OVER_COUNT:
		case GC_OVER_SUM:
			add_up(w, fn);
			break;
		case GC_OVER_NONE:
			if (OidIsValid(fn->operator))
				find_extremes(w, fn);
			else
				add_to_states(w, fn);
			break;
		default:
			number_rows(w, fn);
			break;
	}
}
