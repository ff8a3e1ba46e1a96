/*-------------------------------------------------------------------------
 *
 * gc_visit.h
 *	  Visiting the few rows of a table that are left.
 *
 * Either a selection scan's selection kernel has selected the rows (gc_selection.h), or the
 * kernel's own vector phase does, which then only clears bits:
 *
 *	  GC_SELECTED_TILES .. GC_SELECTED_VECTORS .. GC_END_SELECTED_VECTORS .. GC_END_TILES
 *	  GC_FILTERED_TILES .. GC_FILTERED_VECTORS .. GC_FILTERED_SELECTION .. GC_END_FILTERED_VECTORS
 *		.. GC_END_TILES
 *
 * Behind the first macro stand the columns' descriptions.  Between GC_FILTERED_VECTORS and
 * GC_FILTERED_SELECTION stands a vector phase (gc_target.h).  Before the end stand stages over
 * gathered rows:
 *
 *	  GC_SELECTED_ARRAY, GC_GATHER, GC_GATHER_NULLS	columns of the rows that are still live
 *	  GC_EACH_VISITED .. GC_KEEP_VISITED_IF .. GC_END_VISITED	test them
 *	  GC_LOOK_UP .. GC_END_LOOK_UP					batched lookups (codegen/step/batched_lookup.c)
 *	  GC_SELECTED_ROWS .. GC_END_SELECTED_ROWS		what is done with each
 *
 * On device cuda a warp takes 4,096 rows at a time and queues the rows that are left.  A thread
 * gathers a few of them at a time (GC_LANE_ROWS).  So as many as 128 wait for memory together,
 * however few of all rows they are.
 *
 * With a selection bitmap, the block summary gives the warp these 4,096 rows, in a span of up to
 * 32,768.  They are sixteen times GC_SUMMARY_ROWS of which any are selected.  Rows wait from one
 * 4,096 of a span to the next until there are as many as can be gathered together.  Where rows
 * are few, a span takes a warp hardly longer than one of its rows does.
 *
 * In a quick kernel a thread visits each row that its vector phase leaves.  There is no queue of
 * these, since that took half of the time to compile.
 *
 *-------------------------------------------------------------------------
 */
#if GC_CUDA

/* GC_LANE_ROWS of a program for which the full kernel's threads gather n rows at a time. */
#ifdef GC_QUICK
#define GC_GATHERED_TOGETHER(n)	1
#else
#define GC_GATHERED_TOGETHER(n)	(n)
#endif

#define GC_LANE_WORDS	4
#define GC_WARP_ROWS	(32 * 32 * GC_LANE_WORDS)

/*
 * Rows that a lane queues at a time.  Where many rows are selected, a quarter of the lanes queue a
 * word each, as many rows in all.  GC_QUEUE_ROWS: room for a warp's rows of one turn and for rows
 * that wait (GC_VISIT_SHARED).
 */
#define GC_LANE_TURN	8
#define GC_QUARTER		8
#define GC_QUEUE_ROWS	(32 * (GC_LANE_TURN + GC_LANE_ROWS))

/* From so many selected rows on, many rows are selected. */
#define GC_DENSE_ROWS	(GC_WARP_ROWS / 8)

/*
 * Words of a selection bitmap for rows from `row` on, without rows from `end` on.  sel_bitmap:
 * address of the chunk's part; it and valid can be read up to a multiple of GC_PAD_ROWS.
 */
GC_FN void
gc_selection_words(u32 *x, u64 sel_bitmap, u64 valid, u32 row, u32 end)
{
	x[0] = x[1] = x[2] = x[3] = 0;
	if (row >= end)
		return;
	*(uint4 *) x = ((const uint4 *) sel_bitmap)[row / (32 * GC_LANE_WORDS)];
	if (valid)
	{
		const uint4 v = ((const uint4 *) valid)[row / (32 * GC_LANE_WORDS)];

		x[0] &= v.x, x[1] &= v.y, x[2] &= v.z, x[3] &= v.w;
	}
	if (row + 32 * GC_LANE_WORDS <= end)
		return;
	GC_UNROLL for (u32 i = 0; i < GC_LANE_WORDS; i++)
	{
		const u32	at = row + 32 * i;

		x[i] &= at >= end ? 0 : end - at < 32 ? (1u << (end - at)) - 1 : ~0u;
	}
}

/* Words of the block summary that each lane looks at; and rows that these words cover. */
#define GC_LANE_SUMMARY	4
#define GC_SPAN_ROWS	(32 * GC_LANE_SUMMARY * GC_SUMMARY_ROWS)
#define GC_SPAN_SUMMARY	(GC_SPAN_ROWS / GC_SUMMARY_ROWS)

/*
 * Rows of a warp's parts: a span's, halved down to GC_WARP_ROWS while there are fewer parts than
 * warps.
 */
GC_FN u32
gc_span_rows(const GcScan *scan, u32 warps)
{
	u32			rows = GC_SPAN_ROWS;

	while (rows > GC_WARP_ROWS && (u64) scan->ntiles * GC_ROWS_OF_TILE(*scan) < (u64) warps * rows)
		rows /= 2;
	return rows;
}

/* Parts of so many rows that a source has. */
GC_FN u32
gc_parts_of_source(const GcScan *scan, u32 rows)
{
	return (scan->tiles_per_source * GC_ROWS_OF_TILE(*scan) + rows - 1) / rows;
}

/* Parts of all sources. */
GC_FN u32
gc_parts(const GcScan *scan, u32 rows)
{
	return scan->ntiles / scan->tiles_per_source * gc_parts_of_source(scan, rows);
}

/*
 * Find part `number` of all: its source, and its first row there.  Parts begin as tiles do, with
 * first_tile (GC_TILES).  Nothing is kept from one part to the next, since registers are scarce.
 */
GC_FN u32
gc_find_part(const GcScan *scan, u32 number, u32 rows, u32 *first)
{
	const u32	per_source = gc_parts_of_source(scan, rows);
	const u32	all = gc_parts(scan, rows);

	number += (u32) ((u64) scan->first_tile * GC_ROWS_OF_TILE(*scan) / rows);
	if (number >= all)
		number -= all;
	*first = number % per_source * rows;
	return number / per_source;
}

/* Sum of n over the warp. */
GC_FN u32
gc_warp_sum(u32 n)
{
	return GC_REDUCE_ADD(0xffffffffu, n);
}

/* Sum of n over this lane and those before it. */
GC_FN u32
gc_lane_sum(u32 n, u32 lane)
{
	GC_UNROLL for (int d = 1; d < 32; d *= 2)
	{
		const u32	before = __shfl_up_sync(0xffffffffu, n, d);

		if (lane >= d)
			n += before;
	}
	return n;
}

/*
 * Queue rows behind the n that wait.  x: the lane's words, from row `from` on.  Where few rows are
 * selected, up to GC_LANE_TURN of each lane are queued and taken from x.  Where many are, all rows
 * in the next word of the next GC_QUARTER lanes are.  So rows that lie together are visited
 * together.
 */
GC_FN u32
gc_queue_rows(u16 *queue, u32 n, u32 *x, u32 from, u32 lane, u32 dense, u32 turn)
{
	u32			mine = 0;
	u32			sum,
				at;

	GC_UNROLL for (u32 i = 0; i < GC_LANE_WORDS; i++)
	{
		if (!dense || (i == turn / 4 && lane / GC_QUARTER == turn % 4))
			mine += __popc(x[i]);
	}
	if (!dense && mine > GC_LANE_TURN)
		mine = GC_LANE_TURN;
	sum = gc_lane_sum(mine, lane);
	at = n + sum - mine;
	GC_UNROLL for (u32 i = 0; i < GC_LANE_WORDS; i++)
	{
		if (dense && i != turn / 4)
			continue;
		GC_NO_UNROLL for (; x[i] && at < n + sum; x[i] &= x[i] - 1)
			queue[at++] = (u16) (from + 32 * i + __ffs(x[i]) - 1);
	}
	return n + __shfl_sync(0xffffffffu, sum, 31);
}

/*
 * Find the parts of GC_SUMMARY_ROWS, from row `first` on and before `end`, of which the request
 * wants any row: their numbers, and how many.  summary: of the chunk.
 */
GC_FN u32
gc_find_selected(u8 *selection, const u32 *summary, u32 bit, u32 first, u32 end, u32 lane)
{
	const u32	row = first + lane * (GC_LANE_SUMMARY * GC_SUMMARY_ROWS);
	u32			mine = 0;
	u32			at,
				n;

	if (row < end)
	{
		const uint4 d = *(const uint4 *) (summary + row / GC_SUMMARY_ROWS);
		const u32	left = (end - row + GC_SUMMARY_ROWS - 1) / GC_SUMMARY_ROWS;

		mine = (d.x >> bit & 1) | (d.y >> bit & 1) << 1 | (d.z >> bit & 1) << 2 | (d.w >> bit & 1) << 3;
		mine &= left < GC_LANE_SUMMARY ? (1u << left) - 1 : ~0u;
	}
	at = gc_lane_sum(__popc(mine), lane);
	n = __shfl_sync(0xffffffffu, at, 31);
	at -= __popc(mine);
	GC_NO_UNROLL for (; mine; mine &= mine - 1)
		selection[at++] = (u8) (lane * GC_LANE_SUMMARY + __ffs(mine) - 1);
	return n;
}

/* Every part of this warp, of `rows` rows. */
#define GC_PARTS(threads, rows) \
	__shared__ __align__(16) u16 gc_queues[GC_WARPS(threads)][GC_QUEUE_ROWS]; \
	u16 *gc_queue = gc_queues[thread / 32]; \
	const u32 gc_lane = thread % 32, gc_step = nblocks * (nthreads / 32), gc_part_rows = (rows); \
	for (u32 gc_t = block * (nthreads / 32) + thread / 32; gc_t < gc_parts(&gc_a.scan, gc_part_rows); gc_t += gc_step) { \
		u32 gc_first; \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_find_part(&gc_a.scan, gc_t, gc_part_rows, &gc_first)]; \
		if (gc_first >= gc_src.nrows) continue;
#define GC_SELECTION_OF(words)	gc_warp_sum(__popc((words)[0]) + __popc((words)[1]) + __popc((words)[2]) + __popc((words)[3]))

/* sel_bitmap, bytes, summary, bit: as GC_ARG_SELECTION's parts (codegen.h). */
#define GC_SELECTED_TILES(threads, sel_bitmap, bytes, summary, bit) \
	__shared__ u8 gc_selected_all[GC_WARPS(threads)][GC_SPAN_SUMMARY]; \
	u8 *gc_selected = gc_selected_all[thread / 32]; \
	GC_PARTS(threads, gc_span_rows(&gc_a.scan, nblocks * (nthreads / 32))) \
		const u32 gc_end = GC_MIN(gc_src.nrows, gc_first + gc_part_rows); \
		const u64 gc_selection = (sel_bitmap) + (u64) gc_src.chunk * (bytes); \
		const u32 gc_nmarked = gc_find_selected(gc_selected, (const u32 *) ((summary) + (u64) gc_src.chunk * GC_SUMMARY_BYTES(bytes)), \
											  (u32) (bit), gc_first, gc_end, gc_lane); \
		if (!gc_nmarked) continue; \
		__syncwarp(); \
		u32 gc_some = 0, gc_from, gc_words[GC_LANE_WORDS]; \
		GC_TAKE_SELECTED \
		u32 gc_count = GC_SELECTION_OF(gc_words);

/* Take the selection bitmap's words for the next GC_WARP_ROWS that have selected rows. */
#define GC_TAKE_SELECTED \
		{ \
			const u32 gc_which = gc_some + gc_lane / (32 * GC_SUMMARY_ROWS / GC_WARP_ROWS); \
			const u32 gc_there = gc_which < gc_nmarked; \
			gc_from = (gc_there ? gc_selected[gc_which] * GC_SUMMARY_ROWS : 0) + gc_lane * (32 * GC_LANE_WORDS) % GC_SUMMARY_ROWS; \
			gc_selection_words(gc_words, gc_selection, gc_src.valid, gc_first + gc_from, gc_there ? gc_end : 0); \
			gc_some += GC_WARP_ROWS / GC_SUMMARY_ROWS; \
		}
#define GC_SELECTED_VECTORS		GC_QUEUED_VECTORS(gc_some < gc_nmarked, GC_TAKE_SELECTED)
#define GC_END_SELECTED_VECTORS	GC_END_QUEUED_VECTORS

/*
 * Rows wait until each lane has GC_LANE_ROWS to gather, or there are no more.  again: whether
 * there are other words.  take: take these words, which may be in flight while rows are gathered,
 * and are counted only then (gc_more 2).
 */
#define GC_QUEUED_VECTORS(again, take) \
		u32 gc_n = 0, gc_turn = 0, gc_more = 1; \
		do { \
			if (gc_more == 2) gc_count = GC_SELECTION_OF(gc_words); \
			gc_n = gc_queue_rows(gc_queue, gc_n, gc_words, gc_from, gc_lane, gc_count > GC_DENSE_ROWS, gc_turn++); \
			gc_more = __any_sync(0xffffffffu, (gc_words[0] | gc_words[1] | gc_words[2] | gc_words[3]) != 0); \
			if (!gc_more && (again)) { \
				take \
				gc_turn = 0; \
				gc_more = 2; \
			} \
			__syncwarp(); \
			const u32 gc_take = !gc_more ? gc_n : gc_n >= 32 * GC_LANE_ROWS ? gc_n & ~31u : 0; \
			for (u32 gc_each = gc_lane; gc_each < gc_take; gc_each += 32 * GC_LANE_ROWS) { \
				u32 gc_visited[GC_LANE_ROWS], gc_m = 0; \
				GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) { \
					gc_m |= (u32) (gc_each + 32 * gc_v < gc_take) << gc_v; \
					if (gc_m >> gc_v & 1) gc_visited[gc_v] = gc_first + gc_queue[gc_each + 32 * gc_v]; \
				}

#ifdef GC_QUICK

#define GC_FILTERED_TILES(threads)	GC_TILES
#define GC_FILTERED_VECTORS			GC_VECTORS
#define GC_FILTERED_SELECTION		GC_SETTLE { const u32 gc_visited[1] = {gc_row};
#define GC_END_FILTERED_VECTORS		} GC_END_VECTORS

#else

/*
 * The vector phase runs in all lanes together and without a branch, so that several rounds' loads
 * can be in flight (GC_FILTERED_ROUNDS).  Its result is stored as words, in the memory that the
 * queue uses later.  A part lies within a tile, so behind the last row there is padding to read.
 */
#define GC_FILTERED_TILES(threads)	GC_PARTS(threads, GC_WARP_ROWS)
#define GC_FILTERED_VECTORS \
		const u32 gc_end = GC_MIN(gc_src.nrows, gc_first + GC_WARP_ROWS); \
		__syncwarp(); \
		GC_UNROLL_BY(GC_FILTERED_ROUNDS) for (u32 gc_i = 0; gc_i < GC_WARP_ROWS / (32 * GC_VEC); gc_i++) { \
			const u32 gc_row = gc_first + (32 * gc_i + gc_lane) * GC_VEC; \
			u32 gc_m = gc_row + GC_VEC <= gc_end ? (1u << GC_VEC) - 1 : gc_row < gc_end ? (1u << (gc_end - gc_row)) - 1 : 0; \
			if (gc_src.valid) gc_m &= GC_VECTOR_BITS(gc_src.valid, gc_row);
#define GC_FILTERED_SELECTION \
			gc_put_left(gc_queue, gc_row - gc_first, gc_m, gc_lane); \
		} \
		__syncwarp(); \
		const u32 gc_from = gc_lane * (32 * GC_LANE_WORDS); \
		u32 gc_words[GC_LANE_WORDS]; \
		*(uint4 *) gc_words = ((const uint4 *) gc_queue)[gc_lane]; \
		__syncwarp(); \
		u32 gc_count = GC_SELECTION_OF(gc_words); \
		if (!gc_count) continue; \
		GC_QUEUED_VECTORS(0,)
#define GC_END_FILTERED_VECTORS		GC_END_QUEUED_VECTORS

#endif							/* GC_QUICK */

/* Store the result of a lane's vector, whose rows begin at `row` of the part. */
GC_FN void
gc_put_left(u16 *to, u32 row, u32 left, u32 lane)
{
#if GC_VEC == 16
	to[row / 16] = (u16) left;
#elif GC_VEC == 8
	((u8 *) to)[row / 8] = (u8) left;
#else
	const u32	all = __ballot_sync(0xffffffffu, left);

	if (lane == 0)
		((u32 *) to)[row / 32] = all;
#endif
}

#define GC_EACH_VISITED(j)		GC_UNROLL for (int j = 0; j < GC_LANE_ROWS; j++) if (gc_m >> j & 1) {
#define GC_KEEP_VISITED_IF(j, cond)	gc_m &= ~((u32) !(cond) << j)
#define GC_END_VISITED			} if (!gc_m) continue;
#define GC_SELECTED_ARRAY(type, name)	type name[GC_LANE_ROWS]
#ifdef GC_QUICK

/*
 * Here the one row is left: stages without a live row have ended.  Asking again before each column is gathered took
 * long to compile.
 */
#define GC_GATHER(W, SUFFIX, v, d)	v[0] = GC_AT(W, SUFFIX, d, gc_visited[0])
#define GC_TAG_GATHERED(v, d)	v[0] = GC_WITH_SCALE(v[0], d);
#define GC_GATHER_NULLS(n, d)	const u32 n = GC_NULL_AT(d, gc_visited[0])
#define GC_SELECTED_ROWS(j, row) \
			if (gc_m) do { \
				const u32 j = 0; const u32 row = gc_visited[0]; (void) j; (void) row; {
#define GC_END_SELECTED_ROWS	}} while (0);

#else

#define GC_GATHER(W, SUFFIX, v, d) \
	GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) \
		if (gc_m >> gc_v & 1) v[gc_v] = GC_AT(W, SUFFIX, d, gc_visited[gc_v])
#define GC_TAG_GATHERED(v, d) \
	GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) \
		if (gc_m >> gc_v & 1) v[gc_v] = GC_WITH_SCALE(v[gc_v], d);
#define GC_GATHER_NULLS(n, d) \
	u32 n = 0; \
	GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) \
		if (gc_m >> gc_v & 1) n |= GC_NULL_AT(d, gc_visited[gc_v]) << gc_v
#define GC_SELECTED_ROWS(j, row) \
			GC_UNROLL for (int j = 0; j < GC_LANE_ROWS; j++) { \
				if (!(gc_m >> j & 1)) continue; \
				const u32 row = gc_visited[j]; (void) row; {
#define GC_END_SELECTED_ROWS	}}

#endif							/* GC_QUICK */

#define GC_LOOK_UP(j)			GC_UNROLL for (int j = 0; j < GC_LANE_ROWS; j++) if (gc_m >> j & 1) {
#define GC_END_LOOK_UP			}
/* Rows left in the queue are fewer than 32, and behind those taken. */
#define GC_END_QUEUED_VECTORS \
			} \
			__syncwarp(); \
			gc_n -= gc_take; \
			if (gc_take && gc_lane < gc_n) gc_queue[gc_lane] = gc_queue[gc_take + gc_lane]; \
			__syncwarp(); \
		} while (gc_more);

#else

/*
 * Copy a tile's part of the selection bitmap, from row first to end, to memory with room for as
 * many rows.  It is zero where the block summary has no rows.  sel_bitmap, summary: of the chunk.
 */
GC_FN void
gc_take_selection(u8 *to, const u8 *sel_bitmap, const u32 *summary, u32 bit, u32 first, u32 end)
{
	for (u32 row = first; row < end; row += GC_SUMMARY_ROWS)
	{
		u8		   *here = to + (row - first) / 8;

		if (summary[row / GC_SUMMARY_ROWS] >> bit & 1)
			__builtin_memcpy(here, sel_bitmap + row / 8, GC_SUMMARY_ROWS / 8);
		else
			__builtin_memset(here, 0, GC_SUMMARY_ROWS / 8);
	}
}

#define GC_SELECTED_TILES(threads, sel_bitmap, bytes, summary, bit) \
	GC_TILES \
		u8 gc_selection[GC_TILE_ROWS / 8]; \
		gc_take_selection(gc_selection, (const u8 *) (sel_bitmap) + gc_src.chunk * (bytes), \
						  (const u32 *) ((summary) + gc_src.chunk * GC_SUMMARY_BYTES(bytes)), (u32) (bit), gc_first, gc_end);
#define GC_SELECTED_VECTORS \
		GC_VECTORS \
			GC_EACH(gc_v) gc_m[gc_v] &= gc_selection[(gc_row - gc_first + gc_v) >> 3] >> \
				((gc_row + gc_v) & 7) & 1; \
			GC_SETTLE
#define GC_FILTERED_TILES(threads)	GC_TILES
#define GC_FILTERED_VECTORS			GC_VECTORS {
#define GC_FILTERED_SELECTION			GC_SETTLE }
#define GC_END_FILTERED_VECTORS		GC_END_VECTORS
#define GC_EACH_VISITED(j)			GC_EACH_LIVE(j)
#define GC_KEEP_VISITED_IF(j, cond)	GC_KEEP_LIVE_IF(j, cond)
#define GC_END_VISITED				GC_END_LIVE
#define GC_SELECTED_ARRAY(type, name)	GC_ARRAY(type, name)
#define GC_GATHER(W, SUFFIX, v, d) \
	for (u32 gc_v = 0; gc_v < gc_n; gc_v++) \
		v[gc_sel[gc_v]] = GC_AT(W, SUFFIX, d, gc_row + gc_sel[gc_v])
#define GC_TAG_GATHERED(v, d)		GC_TAG_LATE(v, d)
#define GC_GATHER_NULLS(n, d)		GC_NULLS(n, d)
#define GC_LOOK_UP(j)				for (u32 gc_v = 0; gc_v < gc_n; gc_v++) { const u32 j = gc_sel[gc_v];
#define GC_END_LOOK_UP				}
#define GC_SELECTED_ROWS(j, row)		GC_ROWS_SPARSE(j, row)
#define GC_END_SELECTED_ROWS	GC_END_ROWS_SPARSE
#define GC_END_SELECTED_VECTORS	GC_END_VECTORS

#endif
