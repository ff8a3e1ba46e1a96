/*-------------------------------------------------------------------------
 *
 * gc_selection.h
 *	  Selection scans (codegen/kernel/selection.c): a selection kernel's steps for GC_SELECT_ROWS rows.
 *
 *	  gc_codes_W(r, d, row)			the codes of the rows, as they lie in memory
 *	  gc_entries_W(at, r, delta)	their entries' numbers in the column's table
 *	  gc_null_entries(at, d, row, range)	NULL has the last entry
 *	  gc_accept_rows(m, at, table), gc_accept(m, at, table, pass)
 *									requests that do not accept a row leave its mask
 *	  gc_look_up_W(m, r, table, copies)	the same from the codes
 *	  gc_put_summary(m, live, summary, row, end)	note in the block summary which requests
 *									have rows here, and return them
 *	  gc_put_selection(m, live, to, per_request)	write the rows' bits of selection bitmaps
 *
 * W: bytes of the codes (0: known only at run time).  m holds the rows' query bitmaps.  A value of
 * a chunk lies within the column's range.  So does the value of padding (gc_abi.h), if the chunk
 * has any value.  So every entry is in the table.
 *
 * Cost on device cuda, per row and column: 2 instructions and a lookup; 3 without gc_look_up_W.
 * Per row there are 4 more for every 16 requests, and 4 per request for 16 rows.
 *
 *-------------------------------------------------------------------------
 */

/*
 * Rows that a selection kernel's thread takes at a time: 8, or 16 where it reads few bytes of
 * each.
 */
#ifndef GC_SELECT_ROWS
#define GC_SELECT_ROWS	8
#endif

/*
 * The rows that a block selects at a time are GC_SELECT_RUN tiles, as far as one source has them.
 * So columns are described once for many vectors.  It is one tile where not all blocks would get
 * so many.  Blocks are near each other, since they write the selection bitmaps of many requests,
 * which lie far apart.
 */
#define GC_SELECT_RUN		4

#define GC_SELECT_RUNS \
	const u32 gc_round = nblocks * GC_SELECT_RUN, gc_even = gc_a.scan.ntiles / gc_round * gc_round; \
	u32 gc_next = gc_even ? block * GC_SELECT_RUN : block; \
	while (gc_next < gc_a.scan.ntiles) { \
		u32 gc_t = gc_next; \
		const u32 gc_last = gc_t < gc_even ? gc_t + GC_SELECT_RUN : gc_t + 1; \
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
#define GC_END_SELECT_RUNS	}}

#define GC_SELECT_VECTORS \
	for (u32 gc_row = gc_first + thread * GC_SELECT_ROWS; gc_row < gc_end; gc_row += nthreads * GC_SELECT_ROWS) {
#define GC_END_SELECT_VECTORS	}

/*
 * Vectors of kernels that write columns for selection kernels.  These read up to 16 rows at a time, and each code must
 * have its entry in a table.
 */
#define GC_PADDED_VECTORS \
	for (u32 gc_row = gc_first + thread * GC_SELECT_ROWS; gc_row < ((gc_end + 15) & ~15u); gc_row += nthreads * GC_SELECT_ROWS) {

/* A bit for each of a thread's rows. */
#if GC_SELECT_ROWS == 16
typedef u16 GcSelection;
#else
typedef u8 GcSelection;
#endif

/* Load n words. */
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

#define GC_DEFINE_SELECTION_CODES(W) \
GC_FN void gc_codes_##W(u32 *r, GcCol d, u32 row) \
{ \
	gc_codes(r, (const u8 *) d.data + (u64) row * W, GC_SELECT_ROWS / 4 * W); \
}
GC_DEFINE_SELECTION_CODES(1)
GC_DEFINE_SELECTION_CODES(2)
GC_DEFINE_SELECTION_CODES(4)

/* The lower half of 8 bytes decides: a table has fewer than 2^32 entries. */
GC_FN void
gc_codes_8(u32 *r, GcCol d, u32 row)
{
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		r[j] = (u32) ((const u64 *) d.data)[row + j];
}

GC_FN void
gc_entries_1(u32 *at, const u32 *r, u32 delta)
{
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		at[j] = (r[j / 4] >> (8 * (j % 4)) & 0xff) + delta;
}

GC_FN void
gc_entries_2(u32 *at, const u32 *r, u32 delta)
{
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		at[j] = (r[j / 2] >> (16 * (j % 2)) & 0xffff) + delta;
}

GC_FN void
gc_entries_4(u32 *at, const u32 *r, u32 delta)
{
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		at[j] = r[j] + delta;
}

#define gc_entries_8(at, r, delta)	gc_entries_4(at, r, delta)
#define gc_entries_0(at, r, delta)	gc_entries_4(at, r, delta)

/* Where chunks differ in width, codes are widened as they are read. */
GC_FN void
gc_codes_0(u32 *r, GcCol d, u32 row)
{
	u32			x[GC_SELECT_ROWS];

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
 * NULLs have an entry of their own.  In a chunk with NULLs no code is trusted to lie in the range.
 */
GC_FN void
gc_null_entries(u32 *at, GcCol d, u32 row, u32 range)
{
	u32			nulls;

	if (!d.nulls)
		return;
	nulls = ((const GcSelection *) d.nulls)[row / GC_SELECT_ROWS];
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		at[j] = nulls >> j & 1 || at[j] > range ? range : at[j];
}

/* In the table, requests that do not test the column accept every value. */
GC_FN void
gc_accept_rows(u32 *m, const u32 *at, const u32 *table)
{
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		m[j] &= table[at[j]];
}

/*
 * Acceptance by a table in shared memory, straight from codes of 1 or 2 bytes.  The table has
 * every entry `copies` times, a power of two up to 32.  Each lane reads its own copy, so that
 * fewer lanes ask for different words of one bank.  On device cuda one instruction, a product of
 * bytes, picks a code out of a word and makes an address of it.
 */
#if GC_CUDA
#define GC_DEFINE_LOOK_UP(W, PRODUCT) \
GC_FN void gc_look_up_##W(u32 *m, const u32 *r, const u32 *table, u32 copies) \
{ \
	const u32	at = (u32) __cvta_generic_to_shared(table + threadIdx.x % copies); \
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++) \
		m[j] &= *(const u32 *) __cvta_shared_to_generic(PRODUCT(r[j * W / 4], 4 * copies << (8 * (j % (4 / W))), at)); \
}
GC_DEFINE_LOOK_UP(1, __dp4a)
GC_DEFINE_LOOK_UP(2, __dp2a_lo)
#else
#define GC_DEFINE_LOOK_UP(W) \
GC_FN void gc_look_up_##W(u32 *m, const u32 *r, const u32 *table, u32 copies) \
{ \
	u32			at[GC_SELECT_ROWS]; \
	gc_entries_##W(at, r, 0); \
	for (int j = 0; j < GC_SELECT_ROWS; j++) \
		m[j] &= table[at[j] * copies]; \
}
GC_DEFINE_LOOK_UP(1)
GC_DEFINE_LOOK_UP(2)
#endif

/*
 * Acceptance by a table in global memory, which is read only if its answer matters.  The table does not
 * know the requests in `pass`, which accept all values.
 */
GC_FN void
gc_accept(u32 *m, const u32 *at, const u32 *table, u32 pass)
{
	u32			x[GC_SELECT_ROWS];

	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
	{
		x[j] = 0;
		if (m[j] & ~pass)
			x[j] = table[at[j]];
	}
	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		m[j] &= x[j] | pass;
}

/*
 * The requests in `live` that want any of the GC_SUMMARY_ROWS rows around `row`; the block
 * summary then names them.  `end` is the first row that is not part of the scan.  On device cuda
 * neighbouring lanes have these rows, and all lanes with rows before `end` come here.  On device
 * host a thread takes these rows part by part, so all requests' selection bitmaps are written.
 */
GC_FN u32
gc_put_summary(const u32 *m, u32 live, u32 *summary, u32 row, u32 end)
{
	u32			any = 0;

	GC_UNROLL for (int j = 0; j < GC_SELECT_ROWS; j++)
		any |= m[j];
	any &= live;
#if GC_CUDA
	{
		const u32	lanes = GC_SUMMARY_ROWS / GC_SELECT_ROWS;
		const u32	lane = threadIdx.x % 32, first = lane / lanes * lanes;
		const u32	left = (end - row + GC_SELECT_ROWS - 1) / GC_SELECT_ROWS + lane - first;
		const u32	here = left < lanes ? left : lanes;

		any = GC_REDUCE_OR((here < 32 ? (1u << here) - 1 : ~0u) << first, any);
		if (lane == first)
			summary[row / GC_SUMMARY_ROWS] = any;
		return any;
	}
#else
	(void) end;
	summary[row / GC_SUMMARY_ROWS] = row % GC_SUMMARY_ROWS ? summary[row / GC_SUMMARY_ROWS] | any : any;
	return live;
#endif
}

/* Bytes of a and b that the digits of `which` name, counted from a's lowest byte. */
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

/*
 * Write the selection of eight requests.  x: their bytes of the rows' query bitmaps.  to: the first
 * request's.
 */
GC_FN void
gc_put_eight(u32 (*x)[2], u32 live, u8 *to, u64 per_request)
{
	GC_UNROLL for (int g = 0; g < GC_SELECT_ROWS / 8; g++)
		gc_transpose(x[g]);
	GC_UNROLL for (u32 b = 0; b < 8; b++)
	{
		if (live >> b & 1)
			*(GcSelection *) to = (GcSelection) gc_bytes(x[0][b / 4], x[GC_SELECT_ROWS / 8 - 1][b / 4], (4 + b % 4) << 4 | b % 4);
		to += per_request;
	}
}

/* Write the selection of requests 16 * half to 16 * half + 15.  to: the first request's. */
GC_FN void
gc_put_half(const u32 *m, u32 half, u32 live, u8 *to, u64 per_request)
{
	u32			x[2][GC_SELECT_ROWS / 8][2];

	GC_UNROLL for (int i = 0; i < GC_SELECT_ROWS / 4; i++)
	{
		const u32	a = gc_bytes(m[4 * i], m[4 * i + 1], half ? 0x7362 : 0x5140);
		const u32	b = gc_bytes(m[4 * i + 2], m[4 * i + 3], half ? 0x7362 : 0x5140);

		x[0][i / 2][i % 2] = gc_bytes(a, b, 0x5410);
		x[1][i / 2][i % 2] = gc_bytes(a, b, 0x7632);
	}
	if (live & 0xff)
		gc_put_eight(x[0], live, to, per_request);
	if (live >> 8)
		gc_put_eight(x[1], live >> 8, to + 8 * per_request, per_request);
}

/* Write the selection bitmaps of the requests in `live` for these rows.  to: that of request 0. */
GC_FN void
gc_put_selection(const u32 *m, u32 live, u8 *to, u64 per_request)
{
	if (live & 0xffff)
		gc_put_half(m, 0, live & 0xffff, to, per_request);
	if (live >> 16)
		gc_put_half(m, 1, live >> 16, to + 16 * per_request, per_request);
}
