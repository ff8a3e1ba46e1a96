/*-------------------------------------------------------------------------
 *
 * gc_sets.h
 *	  Filters on codes of 1 or 2 bytes that many requests of one scan have.
 *
 * Where many members of a fused kernel ask whether a column's code lies in a range of theirs
 * (gc_packed.h), a table in shared memory says for each code which of them it suits.  A row's
 * members are then those that all its codes suit: one lookup for each column, for all members
 * together, as in shared scans that carry with each tuple the set of queries that want it.
 *
 * A set is such a column, number s.  Its table depends on the chunk's frame of reference alone,
 * and is filled anew where that changes, by the whole block:
 *
 * GC_SETS(n), GC_SET_TABLE(s, width, type)
 *							room: n sets; type: of so many bits as there are members, u8 or u16
 * GC_SET_CLEAR(s, width)	before the barrier behind which tiles begin
 * GC_SETS_TILE, GC_SET_STALE(s, d, users), GC_SETS_LIMITS, GC_SET_LIMIT(s, k, width, first, end)
 * of members, GC_SETS_FILL, GC_SET_FILL(s, width, d, users), GC_SETS_FILLED
 *							in a tile
 * GC_SET_NONE(s)			members of which no code is in the range have nothing to do in the tile
 * GC_SET_LOAD(s, width, d, users), GC_SETS_ROWS(n), GC_SET_LOOK(s, width), GC_SETS_LOOKED(n)
 *							in a vector; n: members
 * GC_SET_TEST(s, width, k), GC_SETS_PASS(k)
 *							in member k's part: only rows that pass its ranges are live
 *
 * or, where few rows suit any member, these are taken one by one, by all members that want them:
 *
 * GC_SETS_TILE_SEEN, GC_SET_PARTLY(k, valid)
 *							in a tile: members that may not see all of its rows; valid as for GC_MEMBER
 * GC_SETS_EACH(n), GC_SET_ASK(s, users), GC_SET_ASK_NULL(d, users), GC_SETS_SEEN, GC_SET_SEE(k, valid)
 * .., GC_SETS_SEEN_END	loop over rows: row gc_r, number gc_j of the vector, is wanted by gc_in
 * GC_SET_MEMBER(k) .. GC_END_SET_MEMBER, GC_END_SETS_EACH
 *							what member k does with it; `continue` ends that
 *
 * The table has room for all codes that there are (GcPColumn.few), but from the largest limit on
 * they suit the same members, so that no more are filled.  A set that no live member reads may
 * not be there: what is then looked up is no live member's.  On device host each member compares
 * codes with its limits.
 *
 *-------------------------------------------------------------------------
 */

/* Of member k: codes from limit[2 * k] on, limit[2 * k + 1] of them. */
typedef struct GcSet
{
	i64			base;			/* of the codes for which the table is, if it is filled */
	u32			filled;
	u32			none;			/* members that no code suits */
	u32			last;			/* codes from this one on suit the same members */
	u32			limit[32];
} GcSet;

GC_FN void
gc_set_limit(GcSet *set, u32 k, u32 first, u32 end)
{
	set->limit[2 * k] = first;
	set->limit[2 * k + 1] = first < end ? end - first : 0;
}

#define GC_SET_NONE(s)			gc_live &= ~gc_set[s].none;

#define GC_SETS_TILE_SEEN		u32 gc_partly = 0;
#define GC_SET_PARTLY(k, valid) \
	if ((gc_live >> (k) & 1) && (valid) && ((const u64 *) (valid))[gc_s]) gc_partly |= 1u << (k);
#define GC_SET_ASK_NULL(d, users)	if (GC_NULL_AT(d, gc_r)) gc_in &= ~(users);
#define GC_SETS_SEEN			if (gc_in & gc_partly) {
#define GC_SET_SEE(k, valid) \
	if ((gc_in & gc_partly) >> (k) & 1) \
		gc_in &= ~((u32) !(((const u8 *) ((const u64 *) (valid))[gc_s])[gc_r >> 3] >> (gc_r & 7) & 1) << (k));
#define GC_SETS_SEEN_END		}
#define GC_END_SET_MEMBER		} while (0);
#define GC_END_SETS_EACH		}

#if !GC_CUDA

#define GC_SETS(n)				GcSet gc_set[n];
#define GC_SET_TABLE(s, width, type)
#define GC_SET_CLEAR(s, width)
#define GC_SETS_TILE
#define GC_SET_STALE(s, d, users)	gc_set[s].none = 0;
#define GC_SETS_LIMITS			{
#define GC_SET_LIMIT(s, k, width, first, end) \
	gc_set_limit(&gc_set[s], k, first, GC_MIN(end, GC_SET_CODES_##width)); \
	if (!gc_set[s].limit[2 * (k) + 1]) gc_set[s].none |= 1u << (k);
#define GC_SETS_FILL
#define GC_SET_FILL(s, width, d, users)
#define GC_SETS_FILLED			}
#define GC_SET_LOAD(s, width, d, users) \
	const u##width##_codes *gc_codes##s = gc_live & (users) ? (const u##width##_codes *) (d).data + gc_row : 0; \
	(void) gc_codes##s;
#define GC_SETS_ROWS(n)
#define GC_SET_LOOK(s, width)
#define GC_SETS_LOOKED(n)
#define GC_SET_TEST(s, width, k) \
	{ const u32 gc_f = gc_set[s].limit[2 * (k)], gc_l = gc_set[s].limit[2 * (k) + 1]; \
		GC_EACH(gc_j) gc_m[gc_j] &= (u32) gc_codes##s[gc_j] - gc_f < gc_l; }
#define GC_SETS_PASS(k)
#define GC_SETS_EACH(n) \
	for (u32 gc_j = 0; gc_j < gc_cnt; gc_j++) \
	{ \
		const u32	gc_r = gc_row + gc_j; \
		u32			gc_in = gc_live;
#define GC_SET_MEMBER(k)		if (gc_in >> (k) & 1) do {
#define GC_SET_ASK(s, users)	if (gc_codes##s) gc_in = gc_set_asked(&gc_set[s], gc_in, users, gc_codes##s[gc_j]);

/* Members that do not ask, or whose limits the code is within. */
GC_FN u32
gc_set_asked(const GcSet *set, u32 members, u32 users, u32 code)
{
	for (u32 k = 0; k < 16; k++)
		if ((users >> k & 1) && !(code - set->limit[2 * k] < set->limit[2 * k + 1]))
			members &= ~(1u << k);
	return members;
}

#else							/* device cuda */

#define GC_SETS(n)				__shared__ GcSet gc_set[n];
#define GC_SET_TABLE(s, width, type)	__shared__ type gc_suits##s[GC_SET_CODES_##width];

/* Before it is filled a table is not to take from what is live. */
#define GC_SET_CLEAR(s, width) \
	for (u32 i = thread; i < GC_SET_CODES_##width; i += nthreads) gc_suits##s[i] = ~0; \
	if (thread == 0) gc_set[s].filled = gc_set[s].none = gc_set[s].last = 0;

#define GC_SETS_TILE			bool gc_stale = false;
#define GC_SET_STALE(s, d, users) \
	const bool gc_stale##s = gc_live & (users) && !(gc_set[s].filled && gc_set[s].base == (d).base); \
	gc_stale |= gc_stale##s;
#define GC_SETS_LIMITS			if (gc_stale) { GC_BARRIER();
#define GC_SET_LIMIT(s, k, width, first, end) \
	if (thread == 0 && gc_stale##s) gc_set_limit(&gc_set[s], k, first, GC_MIN(end, GC_SET_CODES_##width));
#define GC_SETS_FILL			GC_BARRIER();
#define GC_SET_FILL(s, width, d, users) \
	if (gc_stale##s) \
	{ \
		const u32	last = gc_set_last(gc_set[s].limit, gc_run & (users), GC_SET_CODES_##width); \
		for (u32 i = thread; i < (width == 1 ? GC_SET_CODES_1 : last + 1); i += nthreads) \
			gc_suits##s[i] = gc_suited(gc_set[s].limit, gc_run & (users), i); \
		if (thread == 0) \
			gc_set[s].base = (d).base, gc_set[s].filled = 1, gc_set[s].last = last, \
			gc_set[s].none = gc_set_none(gc_set[s].limit, gc_run & (users)); \
	}
#define GC_SETS_FILLED			GC_BARRIER(); }

/* Number of the next of the members, of which there is one. */
#define GC_NEXT_MEMBER(rest)	(__ffs(rest) - 1)

/* The largest limit, of those that are not beyond the table. */
GC_FN u32
gc_set_last(const u32 *limit, u32 members, u32 codes)
{
	u32			last = 0;

	GC_NO_UNROLL for (; members; members &= members - 1)
	{
		const u32	k = GC_NEXT_MEMBER(members);
		const u32	end = limit[2 * k] + limit[2 * k + 1];

		last = GC_MAX(last, limit[2 * k] < codes ? limit[2 * k] : 0);
		last = GC_MAX(last, end < codes ? end : 0);
	}
	return last;
}

GC_FN u32
gc_set_none(const u32 *limit, u32 members)
{
	u32			none = 0;

	GC_NO_UNROLL for (; members; members &= members - 1)
		none |= (u32) !limit[2 * GC_NEXT_MEMBER(members) + 1] << GC_NEXT_MEMBER(members);
	return none;
}

/* Members that the code suits, among which are all that do not ask. */
GC_FN u32
gc_suited(const u32 *limit, u32 members, u32 code)
{
	u32			suited = ~members;

	GC_NO_UNROLL for (; members; members &= members - 1)
	{
		const u32	k = GC_NEXT_MEMBER(members);

		suited |= (u32) (code - limit[2 * k] < limit[2 * k + 1]) << k;
	}
	return suited;
}

/* A vector's codes, of which one is asked for by number. */
#if GC_VEC == 1
#define GC_SET_WORDS(width)				1
#define gc_set_words_1(w, p)			gc_raw_1(w, p)
#define gc_set_words_2(w, p)			gc_raw_2(w, p)
#define GC_SET_CODE(w, width, j)		((w)[0])
#else
#define GC_SET_WORDS(width)				(GC_VEC * (width) / 4)
#define gc_set_words_1(w, p)			gc_words_1(w, p)
#define gc_set_words_2(w, p)			gc_words_2(w, p)
#define GC_SET_CODE(w, width, j) \
	((w)[(j) * (width) / 4] >> (8 * (width) * ((j) % (4 / (width)))) & (GC_CODES_END(width) - 1))
#endif

#define GC_SET_LOAD(s, width, d, users) \
	u32 gc_codes##s[GC_SET_WORDS(width)]; \
	if (gc_live & (users)) gc_set_words_##width(gc_codes##s, (const u8 *) (d).data + (u64) gc_row * width); \
	else { GC_UNROLL for (int gc_j = 0; gc_j < GC_SET_WORDS(width); gc_j++) gc_codes##s[gc_j] = 0; }
#define GC_SET_LOOK(s, width) \
	GC_UNROLL for (int gc_j = 0; gc_j < GC_SET_STEP; gc_j++) \
		gc_look[gc_j] &= gc_suits##s[GC_SET_PLACE_##width(s, GC_SET_CODE(gc_codes##s, width, GC_SET_STEP * gc_i + gc_j))];
#define GC_SET_PLACE_1(s, code)	(code)
#define GC_SET_PLACE_2(s, code)	GC_MIN(code, gc_set[s].last)
#define GC_SET_TEST(s, width, k)

#if GC_VEC == 1

#define GC_SET_STEP				1
#define GC_SETS_ROWS(n)			u32 gc_look[1] = {~0u}; { const int gc_i = 0;
#define GC_SETS_LOOKED(n)		}
#define GC_SETS_PASS(k)			gc_m = gc_look[0] >> (k) & 1 ? gc_m : 0;
#define gc_rows_wanted(n)		((gc_look[0] & gc_live) != 0)
#define gc_members_of(n, j)		gc_look[0]

#else

/* Four rows at a time, of which eight members' bits come to lie in a word. */
#define GC_SET_STEP				4
#define GC_SETS_ROWS(n) \
	u32 gc_eight[((n) + 7) / 8][GC_VEC / 4]; \
	GC_UNROLL for (int gc_i = 0; gc_i < GC_VEC / 4; gc_i++) \
	{ \
		u32			gc_look[4] = {~0u, ~0u, ~0u, ~0u};
#define GC_SETS_LOOKED(n) \
		GC_UNROLL for (int gc_j = 0; gc_j < ((n) + 7) / 8; gc_j++) gc_eight[gc_j][gc_i] = gc_four_bytes(gc_look, gc_j); \
	}
#define GC_SETS_PASS(k)			gc_m &= gc_rows_in(gc_eight[(k) / 8], (k) % 8);

/* Byte b of each of four words. */
GC_FN u32
gc_four_bytes(const u32 *x, int b)
{
	const u32	two = b | (4 + b) << 4;

	return __byte_perm(__byte_perm(x[0], x[1], two), __byte_perm(x[2], x[3], two), 0x5410);
}

/* A row's bit in the vector's mask from bit k of its byte. */
GC_FN u32
gc_rows_in(const u32 *f, int k)
{
	const u32	bit = 0x01010101u << k;
	u32			rows = __dp4a(f[1] & bit, 0x80402010u, __dp4a(f[0] & bit, 0x08040201u, 0u));

#if GC_VEC == 16
	rows |= __dp4a(f[3] & bit, 0x80402010u, __dp4a(f[2] & bit, 0x08040201u, 0u)) << 8;
#endif
	return rows >> k;
}

#define gc_rows_wanted(n)		gc_rows_of(gc_eight, ((n) + 7) / 8, gc_live)
#define gc_members_of(n, j)		gc_row_of(gc_eight, ((n) + 7) / 8, j)

/* Rows that a live member wants; eight[b]: of members 8 * b and up. */
GC_FN u32
gc_rows_of(const u32 (*eight)[GC_VEC / 4], int n, u32 live)
{
	u32			rows = 0;

	GC_UNROLL for (int i = 0; i < GC_VEC / 4; i++)
	{
		u32			x = 0;

		GC_UNROLL for (int b = 0; b < n; b++)
			x |= eight[b][i] & (live >> 8 * b & 0xff) * 0x01010101u;
		/* the high bit of each byte that is not 0 */
		x = (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
		rows |= (__dp4a(x, 0x08040201u, 0u) >> 7) << 4 * i;
	}
	return rows;
}

/* Members that row j suits: no index that is not known, which would put the words into memory. */
GC_FN u32
gc_row_of(const u32 (*eight)[GC_VEC / 4], int n, u32 j)
{
	u32			members = 0;

	GC_UNROLL for (int b = 0; b < n; b++)
	{
		u32			x = j & 4 ? eight[b][1] : eight[b][0];

#if GC_VEC == 16
		x = j & 8 ? j & 4 ? eight[b][3] : eight[b][2] : x;
#endif
		members |= (x >> 8 * (j & 3) & 0xff) << 8 * b;
	}
	return members;
}

#endif							/* GC_VEC */

#define GC_SETS_EACH(n) \
	for (u32 gc_wanted = gc_rows_wanted(n) & gc_rows_here; gc_wanted; gc_wanted &= gc_wanted - 1) \
	{ \
		const u32	gc_j = __ffs(gc_wanted) - 1, gc_r = gc_row + gc_j; \
		u32			gc_in = gc_members_of(n, gc_j) & gc_live;
#define GC_SET_ASK(s, users)
#define GC_SET_MEMBER(k)		if (gc_in & GC_OPAQUE(1u << (k))) do {

#endif							/* device */
