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
 *	  gc_accept_shared, gc_accept(m, at, table, pass)
 *									requests that do not accept a row leave its mask
 *	  gc_put_marks(m, live, to, per_request)
 *
 * for codes of W bytes (0: known only at run time).  m holds the masks of two rows per
 * word, the first in the low half.  A value of a chunk is within the column's range,
 * that of padding too (gc_abi.h) where there is any value, so every place is in the table.
 * Cost on device cuda, per row and column: 3 instructions and a lookup; per row, 3 more
 * for every 8 requests, and 4 per request for 16 rows.
 *
 * Of a request's kernel: between GC_MARKED_VECTORS and GC_END_VECTORS, a loop GC_MARKED_ROWS
 * over the rows that have a mark and are visible.  On device cuda a warp takes 2,048 rows
 * at a time and deals those with a mark out to its threads, so that 32 of them wait for
 * memory together, however few of all rows they are.
 *
 *-------------------------------------------------------------------------
 */

/* Rows of a marker's thread at a time: 8, or 16 where few bytes are read of each. */
#ifndef GC_MARK_ROWS
#define GC_MARK_ROWS	8
#endif

#define GC_MARK_VECTORS \
	for (u32 gc_row = gc_first + thread * GC_MARK_ROWS; gc_row < gc_end; gc_row += nthreads * GC_MARK_ROWS) {
#define GC_END_MARK_VECTORS	}

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

/*
 * A chunk without any value has frame of reference 0, so that rows of padding, which are
 * not NULL, may be anywhere.
 */
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

/* Both halves of a word. */
#define GC_TWICE(mask)		((mask) * 0x10001u)

GC_FN void
gc_accept_shared(u32 *m, const u32 *at, const u16 *table, u32 pass)
{
	GC_UNROLL for (int i = 0; i < GC_MARK_ROWS / 2; i++)
		m[i] &= ((u32) table[at[2 * i]] | (u32) table[at[2 * i + 1]] << 16) | GC_TWICE(pass);
}

/* The same with a table in memory, which is asked only if its answer matters. */
GC_FN void
gc_accept(u32 *m, const u32 *at, const u16 *table, u32 pass)
{
	u32			x[GC_MARK_ROWS];

	GC_UNROLL for (int j = 0; j < GC_MARK_ROWS; j++)
	{
		x[j] = 0;
		if (m[j / 2] >> (16 * (j % 2)) & 0xffff & ~pass)
			x[j] = table[at[j]];
	}
	GC_UNROLL for (int i = 0; i < GC_MARK_ROWS / 2; i++)
		m[i] &= (x[2 * i] | x[2 * i + 1] << 16) | GC_TWICE(pass);
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

/* Marks of the requests 8 * half to 8 * half + 7; to: those of the first of them. */
GC_FN void
gc_put_half(const u32 *m, u32 half, u32 live, u8 *to, u64 per_request)
{
	u32			x[GC_MARK_ROWS / 8][2];

	GC_UNROLL for (int g = 0; g < GC_MARK_ROWS / 8; g++)
	{
		GC_UNROLL for (int i = 0; i < 2; i++)
			x[g][i] = gc_bytes(m[4 * g + 2 * i], m[4 * g + 2 * i + 1], half ? 0x7531 : 0x6420);
		gc_transpose(x[g]);
	}
	GC_UNROLL for (u32 b = 0; b < 8; b++)
	{
		if (live >> b & 1)
			*(GcMarks *) to = (GcMarks) gc_bytes(x[0][b / 4], x[GC_MARK_ROWS / 8 - 1][b / 4], (4 + b % 4) << 4 | b % 4);
		to += per_request;
	}
}

/* Marks of each request in `live` for these rows; to: those of request 0. */
GC_FN void
gc_put_marks(const u32 *m, u32 live, u8 *to, u64 per_request)
{
	gc_put_half(m, 0, live, to, per_request);
	if (live >> 8)
		gc_put_half(m, 1, live >> 8, to + 8 * per_request, per_request);
}

/*-------------------------------------------------------------------------
 * Rows with a mark
 *-------------------------------------------------------------------------
 */

#if GC_CUDA

#define GC_LANE_ROWS	64

/* marks: address of the chunk's. */
GC_FN u64
gc_marked_lane(u64 marks, u64 valid, u32 row, u32 end)
{
	u64			m;

	if (row >= end)
		return 0;
	m = ((const u64 *) marks)[row / GC_LANE_ROWS];
	if (valid)
		m &= ((const u64 *) valid)[row / GC_LANE_ROWS];
	return end - row < GC_LANE_ROWS ? m & (((u64) 1 << (end - row)) - 1) : m;
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

/* Place of bit number k (from 0) among those that are set in x. */
GC_FN u32
gc_nth_bit(u64 x, u32 k)
{
	u32			at = 0;

	GC_UNROLL for (int w = 32; w > 0; w /= 2)
	{
		const u32	below = __popcll(x >> at & (((u64) 1 << w) - 1));

		if (k >= below)
		{
			k -= below;
			at += w;
		}
	}
	return at;
}

/* Row number i of those that the warp's lanes have in m; sum: gc_lane_sum of their numbers. */
GC_FN u32
gc_dealt_row(u64 m, u32 sum, u32 i)
{
	u32			from = 0;
	u32			before;

	GC_UNROLL for (int d = 16; d > 0; d /= 2)
	{
		if (__shfl_sync(0xffffffffu, sum, from + d - 1) <= i)
			from += d;
	}
	m = __shfl_sync(0xffffffffu, m, from);
	before = __shfl_sync(0xffffffffu, sum, from) - __popcll(m);
	return from * GC_LANE_ROWS + gc_nth_bit(m, i - before);
}

#define GC_MARKED_VECTORS(marks, bytes) \
		for (u32 gc_row = gc_first + (thread & ~31u) * GC_LANE_ROWS; gc_row < gc_end; gc_row += nthreads * GC_LANE_ROWS) { \
			const u32 gc_lane = thread & 31; \
			const u64 gc_m = gc_marked_lane((marks) + (u64) gc_src.chunk * (bytes), gc_src.valid, \
				gc_row + gc_lane * GC_LANE_ROWS, gc_end); \
			const u32 gc_sum = gc_lane_sum(__popcll(gc_m), gc_lane); \
			const u32 gc_all = __shfl_sync(0xffffffffu, gc_sum, 31);
#define GC_MARKED_ROWS(row) \
			for (u32 gc_i = 0; gc_i < gc_all; gc_i += 32) { \
				const u32 row = gc_row + gc_dealt_row(gc_m, gc_sum, gc_i + gc_lane); \
				if (gc_i + gc_lane >= gc_all) continue; {
#define GC_END_MARKED_ROWS	}}

#else

#define GC_MARKED_VECTORS(marks, bytes) \
		GC_VECTORS \
			GC_EACH(gc_k) gc_m[gc_k] &= ((const u8 *) (marks))[gc_src.chunk * (bytes) + ((gc_row + gc_k) >> 3)] >> \
				((gc_row + gc_k) & 7) & 1; \
			GC_SETTLE
#define GC_MARKED_ROWS(row)	GC_ROWS_SPARSE(gc_j, row)
#define GC_END_MARKED_ROWS	GC_END_ROWS_SPARSE

#endif
