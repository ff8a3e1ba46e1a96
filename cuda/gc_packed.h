/*-------------------------------------------------------------------------
 *
 * gc_packed.h
 *	  Filters on packed codes, of 1 or 2 bytes, several of which lie in a word.
 *
 * A comparison of a column with a parameter is a range of codes, first <= code < end.  The range
 * is the same for all rows of a chunk.  gc_codes_below and gc_codes_upto find its ends.  So no
 * value has to be widened, and no base has to be added to it.  Device cuda tests a word of 4 or 2
 * codes at once.  Each code has its part of the word, its lane.  The lane's highest bit shows the
 * outcome of a sum or difference that no other lane sees.  On device host the C compiler does as
 * much with a loop over the codes.
 *
 * The ends of many members' ranges are computed between GC_FILL_PER_WARP and GC_PER_WARP for a
 * tile.  They are per-warp words in shared memory, since in registers they would leave room for
 * nothing else.
 *
 * GC_PER_WARP_WORDS(n, threads)	room for n words, of blocks of at most so many threads
 * GC_KEEP_WORD(i, value)		word i is `value`
 * GC_TAKE_WORDS(i, n)			n words from i on, a multiple of 4, as gc_word[0] .. [n - 1]
 *
 * GC_WORD_ARRAY, GC_LOAD_WORDS	the vector's codes, as they are
 * GC_AHEAD_ARRAY, GC_READ_AHEAD, GC_TAKE_AHEAD	these codes, read while the vector before is tested
 * GC_PACKED .. GC_END_PACKED	tests, after which only rows that pass all of them are live:
 *		GC_CODES(w, width, spare, how, from, to)
 *								how: FROM (from is a limit), BEFORE (to is), WITHIN (both)
 *		GC_CODES_THERE(d)		rows that are not NULL
 *
 * GC_FIRST_OF and GC_END_OF make from and to of the range's ends.  The range must not be
 * empty (GC_SOME_CODES).  spare: high bit free, even in the codes of NULLs, which saves half of
 * the instructions. (Codes behind the last row may have the bit, and spoil only codes that come
 * even later.)
 *
 *-------------------------------------------------------------------------
 */

/* One more than the largest code of so many bytes. */
#define GC_CODES_END(width)		(1u << (8 * (width)))

/* Codes of values that are less than p, and that are at most p; 2^16 at most. */
#define GC_DEFINE_CODES(R, UR, SUFFIX) \
GC_FN u32 gc_codes_below_##SUFFIX(R p, R base) \
{ \
	const UR n = (UR) p - (UR) base; \
	return p <= base ? 0 : n > 0x10000 ? 0x10000 : (u32) n; \
} \
GC_FN u32 gc_codes_upto_##SUFFIX(R p, R base) \
{ \
	const UR n = (UR) p - (UR) base; \
	return p < base ? 0 : n >= 0xffff ? 0x10000 : (u32) n + 1; \
}
GC_DEFINE_CODES(i32, u32, i32)
GC_DEFINE_CODES(i64, u64, i64)

/*
 * Leave this tile where the range is empty; in a kernel that serves several requests, member k
 * does.
 */
#define GC_NO_CODES(width, first, end)			((first) >= (end) || (first) >= GC_CODES_END(width))
#define GC_SOME_CODES(width, first, end)		if (GC_NO_CODES(width, first, end)) continue;
#define GC_MEMBER_CODES(k, width, first, end)	if (GC_NO_CODES(width, first, end)) gc_live &= ~(1u << (k));

#if !GC_CUDA

#define GC_WORD_ARRAY(width, w)			const u##width##_codes *w = 0
#define GC_LOAD_WORDS(width, w, d)	w = (const u##width##_codes *) (d).data + gc_row
#define GC_AHEAD_ARRAY(width, ahead)	const u##width##_codes *ahead = 0;
#define GC_READ_AHEAD(width, ahead, d)	ahead = (const u##width##_codes *) (d).data + gc_at;
#define GC_TAKE_AHEAD(width, ahead, w)	const u##width##_codes *const w = ahead;
typedef u8 u1_codes;
typedef u16 u2_codes;

#define GC_PER_WARP_WORDS(n, threads)		u32 gc_per_warp[n];
#define GC_FILL_PER_WARP
#define GC_KEEP_WORD(i, value)			gc_per_warp[i] = (value);
#define GC_PER_WARP
#define GC_TAKE_WORDS(i, n)				const u32 *gc_word = gc_per_warp + (i);

#define GC_FIRST_OF(width, spare, first)	(first)
#define GC_END_OF(width, spare, end)		((end) - 1)
#define GC_PACKED						{
#define GC_CODES(w, width, spare, how, from, to)	GC_CODES_##how(w, width, from, to)
#define GC_CODES_FROM(w, width, from, to) \
	{ const u##width##_codes gc_f = (from); GC_EACH(gc_j) gc_m[gc_j] &= (w)[gc_j] >= gc_f; }
#define GC_CODES_BEFORE(w, width, from, to) \
	{ const u##width##_codes gc_l = (to); GC_EACH(gc_j) gc_m[gc_j] &= (w)[gc_j] <= gc_l; }
#define GC_CODES_WITHIN(w, width, from, to) \
	GC_CODES_FROM(w, width, from, to) GC_CODES_BEFORE(w, width, from, to)
#define GC_CODES_THERE(d) \
	if ((d).nulls) { GC_NULLS(gc_u, d); GC_EACH(gc_j) gc_m[gc_j] &= !GC_IS_NULL(gc_u, gc_j); }
#define GC_END_PACKED					}

#else							/* device cuda */

#define GC_PER_WARP_WORDS(n, threads) \
	__shared__ uint4 gc_per_warp_by_all[((n) + 3) / 4 * GC_WARPS(threads)]; \
	uint4 *const gc_per_warp = gc_per_warp_by_all + thread / GC_WARP * (((n) + 3) / 4);
#define GC_FILL_PER_WARP							__syncwarp();
#define GC_KEEP_WORD(i, value)			if (thread % GC_WARP == 0) ((u32 *) gc_per_warp)[i] = (value);
#define GC_PER_WARP							__syncwarp();
#define GC_TAKE_WORDS(i, n) \
	u32 gc_word[((n) + 3) / 4 * 4]; \
	gc_take_words(gc_word, gc_per_warp + (i) / 4, ((n) + 3) / 4, gc_row);

/*
 * The words seem to the compiler to depend on the row, so that it does not keep them in
 * registers.
 */
GC_FN void
gc_take_words(u32 *to, const uint4 *from, int n, u32 row)
{
	u32			none;

	asm("mov.b32 %0, 0; // %1" : "=r"(none) : "r"(row));
	GC_UNROLL for (int i = 0; i < n; i++)
	{
		const uint4 x = from[none + i];

		to[4 * i] = x.x, to[4 * i + 1] = x.y, to[4 * i + 2] = x.z, to[4 * i + 3] = x.w;
	}
}

#if GC_VEC == 1

#define GC_WORD_ARRAY(width, w)			u32 w[1]
#define GC_WORDS_FROM(width, w, d, row)	gc_raw_##width(w, (const u8 *) (d).data + (u64) (row) * width)
#define GC_FIRST_OF(width, spare, first)	(first)
#define GC_END_OF(width, spare, end)		((end) - 1)
#define GC_PACKED						{
#define GC_CODES(w, width, spare, how, from, to)	gc_m = GC_CODES_##how((w)[0], from, to) ? gc_m : 0;
#define GC_CODES_FROM(x, from, to)		((x) >= (from))
#define GC_CODES_BEFORE(x, from, to)	((x) <= (to))
#define GC_CODES_WITHIN(x, from, to)	((x) >= (from) && (x) <= (to))
#define GC_CODES_THERE(d)				if ((d).nulls) gc_m &= ~GC_VECTOR_BITS((d).nulls, gc_row);
#define GC_END_PACKED					}

#else

#define GC_WORD_ARRAY(width, w)			u32 w[GC_VEC * width / 4]
#define GC_WORDS_FROM(width, w, d, row)	gc_words_##width(w, (const u8 *) (d).data + (u64) (row) * width)

/* Lowest and highest bit of each lane. */
#define GC_LANES(width)					((width) == 1 ? 0x01010101u : 0x00010001u)
#define GC_HIGH(width)					((width) == 1 ? 0x80808080u : 0x80008000u)

/* Bit by bit, the majority of the three. */
#define GC_MOST(x, y, z)				(((x) & (y)) | ((z) & ((x) | (y))))

/*
 * The range's ends in all lanes of a word, once for all words of a chunk.  The compiler does not
 * see that it could compute them again.  Where the high bit is free, the limit is its distance to
 * that bit, so that one addition tests.
 */
#define GC_TO_HIGH(width, end)			(GC_HIGH(width) - GC_MIN(end, GC_CODES_END(width) / 2) * GC_LANES(width))
#define GC_FIRST_OF(width, spare, first) \
	GC_OPAQUE((spare) ? GC_TO_HIGH(width, first) : (first) * GC_LANES(width))
#define GC_END_OF(width, spare, end) \
	GC_OPAQUE((spare) ? GC_TO_HIGH(width, end) : ((end) - 1) * GC_LANES(width))

/*
 * In the highest bit of each lane: is the code at least `first`?  Where the high bit is not free,
 * the lower bits are compared alone.  They decide if the highest bits do not.
 */
GC_FN u32
gc_lanes_from(u32 x, u32 first, int width, int spare)
{
	const u32	high = GC_HIGH(width);

	if (spare)
		return GC_OPAQUE(x + first);
	return GC_MOST(x, (x | high) - (first & ~high), ~first);
}

/*
 * Is the code `end` or more?  Where the high bit is not free, the test is for more than end - 1.
 */
GC_FN u32
gc_lanes_beyond(u32 x, u32 end, int width, int spare)
{
	const u32	high = GC_HIGH(width);

	if (spare)
		return GC_OPAQUE(x + end);
	return ~GC_MOST(~x, (end | high) - (x & ~high), end);
}

/*
 * The rows' bits in the vector's mask, from the highest bit of each of 4 lanes; no other bit may
 * be set.
 */
GC_FN u32
gc_lanes_rows(const u32 *f)
{
	const u32	low = __dp4a(f[1], 0x80402010u, __dp4a(f[0], 0x08040201u, 0u)) >> 7;
#if GC_VEC == 16
	return low | __dp4a(f[3], 0x80402010u, __dp4a(f[2], 0x08040201u, 0u)) << 1;
#else
	return low;
#endif
}

#define GC_PACKED \
	{ u32 gc_f[GC_VEC / 4]; GC_UNROLL for (int gc_j = 0; gc_j < GC_VEC / 4; gc_j++) gc_f[gc_j] = GC_OPAQUE(GC_HIGH(1));
#define GC_CODES(w, width, spare, how, from, to) \
	GC_UNROLL for (int gc_j = 0; gc_j < GC_VEC / 4; gc_j++) \
		gc_f[gc_j] &= GC_CODES_##how(w, gc_j, width, spare, from, to);
#define GC_CODES_FROM(w, i, width, spare, from, to)		GC_FOUR_##width(gc_lanes_from, w, i, from, spare)
#define GC_CODES_BEFORE(w, i, width, spare, from, to)	~GC_FOUR_##width(gc_lanes_beyond, w, i, to, spare)
#define GC_CODES_WITHIN(w, i, width, spare, from, to) \
	GC_CODES_FROM(w, i, width, spare, from, to) & GC_CODES_BEFORE(w, i, width, spare, from, to)
/* For four rows: a word of four lanes, or the highest bytes of two lanes of two words. */
#define GC_FOUR_1(test, w, i, end, spare)	test((w)[i], end, 1, spare)
#define GC_FOUR_2(test, w, i, end, spare) \
	__byte_perm(test((w)[2 * (i)], end, 2, spare), test((w)[2 * (i) + 1], end, 2, spare), 0x7531)
#define GC_CODES_THERE(d)				if ((d).nulls) gc_m &= ~GC_VECTOR_BITS((d).nulls, gc_row);
#define GC_END_PACKED					gc_m &= gc_lanes_rows(gc_f); }

#endif							/* GC_VEC */

#define GC_LOAD_WORDS(width, w, d)		GC_WORDS_FROM(width, w, d, gc_row)

/*
 * The words of a column one vector ahead (GC_READ_FROM, gc_tile.h), and the words that were read
 * so before.
 */
#define GC_AHEAD_ARRAY(width, ahead)	GC_WORD_ARRAY(width, ahead);
#define GC_READ_AHEAD(width, ahead, d)	GC_WORDS_FROM(width, ahead, d, gc_at);
#define GC_TAKE_AHEAD(width, ahead, w) \
	GC_WORD_ARRAY(width, w); \
	GC_UNROLL for (u32 gc_j = 0; gc_j < sizeof(w) / sizeof(w[0]); gc_j++) w[gc_j] = ahead[gc_j];

#endif							/* device */
