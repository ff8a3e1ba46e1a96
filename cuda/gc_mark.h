/*-------------------------------------------------------------------------
 *
 * gc_mark.h
 *	  Marked scans (codegen/marks.c): what a marker does with GC_MARK_ROWS rows, and how a
 *	  request's kernel visits the rows with a mark.
 *
 * Of a marker:
 *
 *	  gc_codes_W(r, d, row)			the codes of the rows, as they lie in memory
 *	  gc_entries_W(at, r, delta)	their places in the column's table
 *	  gc_null_entries(at, d, row, range)	NULL has the last place
 *	  gc_accept_rows(m, at, table), gc_accept(m, at, table, pass)
 *									requests that do not accept a row leave its mask
 *	  gc_look_up_W(m, r, table, copies)	the same from the codes
 *	  gc_put_marks(m, live, to, per_request)
 *
 * for codes of W bytes (0: known only at run time).  m holds the rows' masks, a bit per
 * request.  A value of a chunk is within the column's range, that of padding too (gc_abi.h)
 * where there is any value, so every place is in the table.
 * Cost on device cuda, per row and column: 2 instructions and a lookup, without gc_look_up_W
 * 3; per row, 4 more for every 16 requests, and 4 per request for 16 rows.
 *
 * Of a request's kernel: between GC_MARKED_TILES and GC_END_TILES, once for each stretch of
 * a chunk with marks, and there between GC_MARKED_VECTORS and GC_END_MARKED_VECTORS, a
 * loop GC_MARKED_ROWS over the rows that have a mark and are visible.  On device cuda a
 * warp takes 4,096 rows at a time and queues those with a mark; of these a thread gathers
 * a few at a time (GC_LANE_ROWS), so that as many as 128 wait for memory together, however
 * few of all rows they are.
 *
 *-------------------------------------------------------------------------
 */

/* Rows of a marker's thread at a time: 8, or 16 where few bytes are read of each. */
#ifndef GC_MARK_ROWS
#define GC_MARK_ROWS	8
#endif

/*
 * The rows that a block marks at a time: GC_MARK_RUN tiles, so that columns are described once
 * for many vectors, and of these what one source has; one tile where not all blocks would have
 * as many.  Blocks are near each other, since what they write of many requests is in many
 * places.
 */
#define GC_MARK_RUN		4

#define GC_MARK_RUNS \
	const u32 gc_round = nblocks * GC_MARK_RUN, gc_even = gc_a.scan.ntiles / gc_round * gc_round; \
	u32 gc_next = gc_even ? block * GC_MARK_RUN : block; \
	while (gc_next < gc_a.scan.ntiles) { \
		u32 gc_t = gc_next; \
		const u32 gc_last = gc_t < gc_even ? gc_t + GC_MARK_RUN : gc_t + 1; \
		gc_next += gc_t < gc_even ? gc_round : nblocks; \
		if (gc_t < gc_even && gc_next >= gc_even) gc_next = gc_even + block; \
		while (gc_t < gc_last) { \
			const u32 gc_s = gc_t / gc_a.scan.tiles_per_source; \
			const u32 gc_tile = gc_t - gc_s * gc_a.scan.tiles_per_source; \
			const u32 gc_most = gc_a.scan.tiles_per_source - gc_tile; \
			const u32 gc_ntiles = gc_last - gc_t < gc_most ? gc_last - gc_t : gc_most; \
			gc_t += gc_ntiles; \
			const u32 gc_first = gc_tile * GC_TILE_ROWS; \
			const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_s]; \
			if (gc_first >= gc_src.nrows) continue; \
			const u32 gc_end = gc_src.nrows - gc_first < gc_ntiles * GC_TILE_ROWS ? gc_src.nrows \
				: gc_first + gc_ntiles * GC_TILE_ROWS;
#define GC_END_MARK_RUNS	}}

#define GC_MARK_VECTORS \
	for (u32 gc_row = gc_first + thread * GC_MARK_ROWS; gc_row < gc_end; gc_row += nthreads * GC_MARK_ROWS) {
#define GC_END_MARK_VECTORS	}

/*
 * The same for who writes what markers read: these read up to 16 rows at a time, and each
 * code must have its place in a table.
 */
#define GC_PADDED_VECTORS \
	for (u32 gc_row = gc_first + thread * GC_MARK_ROWS; gc_row < ((gc_end + 15) & ~15u); gc_row += nthreads * GC_MARK_ROWS) {

/* Bits of a thread's rows. */
#if GC_MARK_ROWS == 16
typedef u16 GcMarks;
#else
typedef u8 GcMarks;
#endif

/* N words of memory. */
GC_FN void
gc_codes(u32 *r, const u8 *p, int n)
{
#if GC_CUDA
	if (n < 4)
		*(uint2 *) r = __ldg((const uint2 *) p);
	else
		GC_UNROLL for (int i = 0; i < n / 4; i++)
			((uint4 *) r)[i] = __ldg((const uint4 *) p + i);
#else
	__builtin_memcpy(r, p, n * 4);
#endif
}

#define GC_DEFINE_CODES(W) \
GC_FN void gc_codes_##W(u32 *r, GcCol d, u32 row) \
{ \
	gc_codes(r, (const u8 *) d.data + (u64) row * W, GC_MARK_ROWS / 4 * W); \
}
GC_DEFINE_CODES(1)
GC_DEFINE_CODES(2)
GC_DEFINE_CODES(4)

/* Of 8 bytes the lower half decides: a table has fewer than 2^32 entries. */
GC_FN void
gc_codes_8(u32 *r, GcCol d, u32 row)
{
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
		r[j] = (u32) ((const u64 *) d.data)[row + j];
}

GC_FN void
gc_entries_1(u32 *at, const u32 *r, u32 delta)
{
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
		at[j] = (r[j / 4] >> (8 * (j % 4)) & 0xff) + delta;
}

GC_FN void
gc_entries_2(u32 *at, const u32 *r, u32 delta)
{
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
		at[j] = (r[j / 2] >> (16 * (j % 2)) & 0xffff) + delta;
}

GC_FN void
gc_entries_4(u32 *at, const u32 *r, u32 delta)
{
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
		at[j] = r[j] + delta;
}

#define gc_entries_8(at, r, delta)	gc_entries_4(at, r, delta)
#define gc_entries_0(at, r, delta)	gc_entries_4(at, r, delta)

/* Where chunks differ in width, codes are widened as they are read. */
GC_FN void
gc_codes_0(u32 *r, GcCol d, u32 row)
{
	u32			x[GC_MARK_ROWS];

	switch (d.width)
	{
		case 1:
			gc_codes_1(x, d, row);
			gc_entries_1(r, x, 0);
			break;
		case 2:
			gc_codes_2(x, d, row);
			gc_entries_2(r, x, 0);
			break;
		case 4:
			gc_codes_4(r, d, row);
			break;
		default:
			gc_codes_8(r, d, row);
			break;
	}
}

/* NULLs have an entry of their own.  Where there are any, no code is trusted to lie in the range. */
GC_FN void
gc_null_entries(u32 *at, GcCol d, u32 row, u32 range)
{
	u32			nulls;

	if (!d.nulls)
		return;
	nulls = ((const GcMarks *) d.nulls)[row / GC_MARK_ROWS];
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
		at[j] = nulls >> j & 1 || at[j] > range ? range : at[j];
}

/* In the table, requests that do not test the column accept every value. */
GC_FN void
gc_accept_rows(u32 *m, const u32 *at, const u32 *table)
{
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
		m[j] &= table[at[j]];
}

/*
 * The same with a table in shared memory, straight from codes of 1 or 2 bytes.  The table has
 * every entry `copies` times, a power of two up to 32: each lane has its own, so that fewer
 * lanes ask for different words of one bank.  On device cuda one instruction, a product of
 * bytes, picks a code out of a word and makes an address of it.
 */
#if GC_CUDA
#define GC_DEFINE_LOOK_UP(W, PRODUCT) \
GC_FN void gc_look_up_##W(u32 *m, const u32 *r, const u32 *table, u32 copies) \
{ \
	const u32	at = (u32) __cvta_generic_to_shared(table + threadIdx.x % copies); \
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++) \
		m[j] &= *(const u32 *) __cvta_shared_to_generic(PRODUCT(r[j * W / 4], 4 * copies << (8 * (j % (4 / W))), at)); \
}
GC_DEFINE_LOOK_UP(1, __dp4a)
GC_DEFINE_LOOK_UP(2, __dp2a_lo)
#else
#define GC_DEFINE_LOOK_UP(W) \
GC_FN void gc_look_up_##W(u32 *m, const u32 *r, const u32 *table, u32 copies) \
{ \
	u32			at[GC_MARK_ROWS]; \
	gc_entries_##W(at, r, 0); \
	for (int j = 0; j < GC_MARK_ROWS; j++) \
		m[j] &= table[at[j] * copies]; \
}
GC_DEFINE_LOOK_UP(1)
GC_DEFINE_LOOK_UP(2)
#endif

/*
 * The same with a table in memory, which is asked only if its answer matters, and does not
 * know of the requests in `pass`, which accept all values.
 */
GC_FN void
gc_accept(u32 *m, const u32 *at, const u32 *table, u32 pass)
{
	u32			x[GC_MARK_ROWS];

	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
	{
		x[j] = 0;
		if (m[j] & ~pass)
			x[j] = table[at[j]];
	}
	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
		m[j] &= x[j] | pass;
}

/* Bytes of a and b, numbered from a's lowest, that the digits of `which` name. */
GC_FN u32
gc_bytes(u32 a, u32 b, u32 which)
{
#if GC_CUDA
	return __byte_perm(a, b, which);
#else
	const u64	x = (u64) b << 32 | a;
	u32			r = 0;

	for (int i = 0; i < 4; i++)
		r |= (u32) (x >> (8 * (which >> (4 * i) & 7)) & 0xff) << (8 * i);
	return r;
#endif
}

/*
 * Transpose 8 x 8 bits, of which x[0] has the first 4 bytes: bit i of byte j becomes bit j
 * of byte i.  (Exchange of blocks of 1, 2 and 4 bits across the diagonal; Warren, Hacker's
 * Delight, section 7-3.)
 */
GC_FN void
gc_transpose(u32 *x)
{
	u32			t;

	GC_UNROLL for (int i = 0; i < 2; i++)
	{
		t = (x[i] ^ x[i] >> 7) & 0x00AA00AAu;
		x[i] ^= t ^ t << 7;
		t = (x[i] ^ x[i] >> 14) & 0x0000CCCCu;
		x[i] ^= t ^ t << 14;
	}
	t = (x[0] ^ x[1] << 4) & 0xF0F0F0F0u;
	x[0] ^= t;
	x[1] ^= t >> 4;
}

/* Marks of eight requests, whose bytes of the rows' masks x has; to: those of the first. */
GC_FN void
gc_put_eight(u32 (*x)[2], u32 live, u8 *to, u64 per_request)
{
	GC_UNROLL for (int g = 0; g < GC_MARK_ROWS / 8; g++)
		gc_transpose(x[g]);
	GC_UNROLL for (u32 b = 0; b < 8; b++)
	{
		if (live >> b & 1)
			*(GcMarks *) to = (GcMarks) gc_bytes(x[0][b / 4], x[GC_MARK_ROWS / 8 - 1][b / 4], (4 + b % 4) << 4 | b % 4);
		to += per_request;
	}
}

/* Marks of the requests 16 * half to 16 * half + 15; to: those of the first of them. */
GC_FN void
gc_put_half(const u32 *m, u32 half, u32 live, u8 *to, u64 per_request)
{
	u32			x[2][GC_MARK_ROWS / 8][2];

	GC_UNROLL for (int i = 0; i < GC_MARK_ROWS / 4; i++)
	{
		const u32	a = gc_bytes(m[4 * i], m[4 * i + 1], half ? 0x7362 : 0x5140);
		const u32	b = gc_bytes(m[4 * i + 2], m[4 * i + 3], half ? 0x7362 : 0x5140);

		x[0][i / 2][i % 2] = gc_bytes(a, b, 0x5410);
		x[1][i / 2][i % 2] = gc_bytes(a, b, 0x7632);
	}
	gc_put_eight(x[0], live, to, per_request);
	if (live >> 8)
		gc_put_eight(x[1], live >> 8, to + 8 * per_request, per_request);
}

/* Marks of each request in `live` for these rows; to: those of request 0. */
GC_FN void
gc_put_marks(const u32 *m, u32 live, u8 *to, u64 per_request)
{
	if (live & 0xffff)
		gc_put_half(m, 0, live & 0xffff, to, per_request);
	if (live >> 16)
		gc_put_half(m, 1, live >> 16, to + 16 * per_request, per_request);
}

/*-------------------------------------------------------------------------
 * Rows with a mark
 *-------------------------------------------------------------------------
 */

#if GC_CUDA

#define GC_LANE_WORDS	4
#define GC_WARP_ROWS	(32 * 32 * GC_LANE_WORDS)

/* Rows that a lane queues at a time, and room for those of a warp and what was left: GC_MARKED_SHARED. */
#define GC_LANE_TURN	8
#define GC_QUARTER		8
#define GC_QUEUE_ROWS	(32 * GC_LANE_TURN + 32)

/* So many rows with a mark are many. */
#define GC_DENSE_ROWS	(GC_WARP_ROWS / 8)

/*
 * The lane's words of marks, for the rows from first + 128 * lane on.  marks: address of the
 * chunk's; they, and valid, can be read up to a multiple of GC_PAD_ROWS.
 */
GC_FN void
gc_marked_words(u32 *x, u64 marks, u64 valid, u32 first, u32 end, u32 lane)
{
	const u32	row = first + 32 * GC_LANE_WORDS * lane;

	*(uint4 *) x = ((const uint4 *) marks)[row / (32 * GC_LANE_WORDS)];
	if (valid)
	{
		const uint4 v = ((const uint4 *) valid)[row / (32 * GC_LANE_WORDS)];

		x[0] &= v.x, x[1] &= v.y, x[2] &= v.z, x[3] &= v.w;
	}
	if (first + GC_WARP_ROWS <= end)
		return;
	GC_UNROLL for (u32 i = 0; i < GC_LANE_WORDS; i++)
	{
		const u32	at = row + 32 * i;

		x[i] &= at >= end ? 0 : end - at < 32 ? (1u << (end - at)) - 1 : ~0u;
	}
}

/*
 * Which rows a warp visits next: part `part` of source `source`, and how far it goes on from
 * there.  Parts are numbered as tiles are, from first_tile on (GC_TILES).
 */
typedef struct GcPart
{
	u32			source,
				part,
				sources,
				per_source,
				more_sources,
				more_parts;
} GcPart;

#define GC_TILE_PARTS	(GC_TILE_ROWS / GC_WARP_ROWS)

GC_FN GcPart
gc_part_number(const GcScan *scan, u32 number, u32 step)
{
	GcPart		p;

	number += scan->first_tile * GC_TILE_PARTS;
	if (number >= scan->ntiles * GC_TILE_PARTS)
		number -= scan->ntiles * GC_TILE_PARTS;
	p.per_source = scan->tiles_per_source * GC_TILE_PARTS;
	p.sources = scan->ntiles / scan->tiles_per_source;
	p.source = number / p.per_source;
	p.part = number % p.per_source;
	p.more_sources = step / p.per_source;
	p.more_parts = step % p.per_source;
	return p;
}

GC_FN void
gc_next_part(GcPart *p)
{
	p->source += p->more_sources;
	p->part += p->more_parts;
	if (p->part >= p->per_source)
	{
		p->part -= p->per_source;
		p->source++;
	}
	if (p->source >= p->sources)
		p->source -= p->sources;
}

/* Sum of n over the warp. */
GC_FN u32
gc_warp_sum(u32 n)
{
	return __reduce_add_sync(0xffffffffu, n);
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
 * Queue rows behind the n that wait.  Where few have marks, up to GC_LANE_TURN of each lane,
 * which are taken from x; where many have, all of the next GC_QUARTER lanes in the next
 * word, so that rows which lie together are visited together.
 */
GC_FN u32
gc_queue_rows(u16 *queue, u32 n, u32 *x, u32 lane, u32 dense, u32 turn)
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
			queue[at++] = (u16) (32 * (GC_LANE_WORDS * lane + i) + __ffs(x[i]) - 1);
	}
	return n + __shfl_sync(0xffffffffu, sum, 31);
}

/* Every part of this warp in which there is a mark. */
#define GC_MARKED_TILES(threads, marks, bytes) \
	__shared__ u16 gc_queues[(threads) / 32][GC_QUEUE_ROWS]; \
	u16 *gc_queue = gc_queues[thread / 32]; \
	const u32 gc_lane = thread % 32, gc_step = nblocks * (nthreads / 32); \
	u32 gc_t = block * (nthreads / 32) + thread / 32; \
	GcPart gc_at = gc_part_number(&gc_a.scan, gc_t, gc_step); \
	for (; gc_t < gc_a.scan.ntiles * GC_TILE_PARTS; gc_t += gc_step, gc_next_part(&gc_at)) { \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_at.source]; \
		const u32 gc_first = gc_at.part * GC_WARP_ROWS; \
		if (gc_first >= gc_src.nrows) continue; \
		u32 gc_words[GC_LANE_WORDS]; \
		gc_marked_words(gc_words, (marks) + (u64) gc_src.chunk * (bytes), gc_src.valid, gc_first, gc_src.nrows, gc_lane); \
		const u32 gc_count = gc_warp_sum(__popc(gc_words[0]) + __popc(gc_words[1]) + __popc(gc_words[2]) + __popc(gc_words[3])); \
		if (!gc_count) continue; \
		const u32 gc_few = gc_count <= GC_WARP_ROWS / GC_FEW_PART; (void) gc_few;
#define GC_MARKED_VECTORS \
		u32 gc_n = 0, gc_turn = 0, gc_more; \
		do { \
			gc_n = gc_queue_rows(gc_queue, gc_n, gc_words, gc_lane, gc_count > GC_DENSE_ROWS, gc_turn++); \
			gc_more = __any_sync(0xffffffffu, (gc_words[0] | gc_words[1] | gc_words[2] | gc_words[3]) != 0); \
			__syncwarp(); \
			const u32 gc_take = gc_more ? gc_n & ~31u : gc_n; \
			for (u32 gc_each = gc_lane; gc_each < gc_take; gc_each += 32 * GC_LANE_ROWS) { \
				u32 gc_visited[GC_LANE_ROWS], gc_m = 0; \
				GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) { \
					gc_m |= (u32) (gc_each + 32 * gc_v < gc_take) << gc_v; \
					if (gc_m >> gc_v & 1) gc_visited[gc_v] = gc_first + gc_queue[gc_each + 32 * gc_v]; \
				}
#define GC_MARKED_ARRAY(type, name)	type name[GC_LANE_ROWS]
#define GC_GATHER(W, SUFFIX, v, d, pitch) \
	GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) \
		if (gc_m >> gc_v & 1) v[gc_v] = GC_PITCHED(W, SUFFIX, d, pitch, gc_visited[gc_v])
#define GC_GATHER_NULLS(n, d) \
	u32 n = 0; \
	GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) \
		if (gc_m >> gc_v & 1) n |= GC_NULL_AT(d, gc_visited[gc_v]) << gc_v
#define GC_MARKED_ROWS(j, row) \
			GC_UNROLL for (int j = 0; j < GC_LANE_ROWS; j++) { \
				if (!(gc_m >> j & 1)) continue; \
				const u32 row = gc_visited[j]; (void) row; {
#define GC_END_MARKED_ROWS	}}
/* What is left is fewer than 32, and behind them. */
#define GC_END_MARKED_VECTORS \
			} \
			__syncwarp(); \
			gc_n -= gc_take; \
			if (gc_take && gc_lane < gc_n) gc_queue[gc_lane] = gc_queue[gc_take + gc_lane]; \
			__syncwarp(); \
		} while (gc_more);

#else

/* Rows from first to end with a mark; first is a multiple of 8. */
GC_FN u32
gc_count_marks(const u8 *marks, u32 first, u32 end)
{
	u32			n = 0;

	for (u32 i = first / 8; i < (end + 7) / 8; i++)
		n += __builtin_popcount(marks[i]);
	return n;
}

#define GC_MARKED_TILES(threads, marks, bytes) \
	GC_TILES \
		const u8 *gc_marks = (const u8 *) (marks) + gc_src.chunk * (bytes); \
		const u32 gc_few = gc_count_marks(gc_marks, gc_first, gc_end) <= GC_TILE_ROWS / GC_FEW_PART; (void) gc_few;
#define GC_MARKED_VECTORS \
		GC_VECTORS \
			GC_EACH(gc_v) gc_m[gc_v] &= gc_marks[(gc_row + gc_v) >> 3] >> \
				((gc_row + gc_v) & 7) & 1; \
			GC_SETTLE
#define GC_MARKED_ARRAY(type, name)	GC_ARRAY(type, name)
#define GC_GATHER(W, SUFFIX, v, d, pitch) \
	for (u32 gc_v = 0; gc_v < gc_n; gc_v++) \
		v[gc_sel[gc_v]] = GC_PITCHED(W, SUFFIX, d, pitch, gc_row + gc_sel[gc_v])
#define GC_GATHER_NULLS(n, d)		GC_NULLS(n, d)
#define GC_MARKED_ROWS(j, row)		GC_ROWS_SPARSE(j, row)
#define GC_END_MARKED_ROWS	GC_END_ROWS_SPARSE
#define GC_END_MARKED_VECTORS	GC_END_VECTORS

#endif
