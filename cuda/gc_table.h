/*-------------------------------------------------------------------------
 *
 * gc_table.h
 *	  Tables that kernels build and probe: dense builds, hash builds, hashed
 *	  group tables.
 *
 * Dense build: bitmap of 32-bit words and payload arrays, both by key - base.
 *
 * Hash build: open addressing over u64 slots, linear probing.  A slot is 0, or (upper half of the
 * hash) << 32 | row + 1, for the newest row with that key.  next[row] is the row before it + 1,
 * or 0.  Keys lie in arrays of i64, one per key column.  A slot is published after the keys
 * of the row it names.  At most half of the slots are ever used, so a probe ends.
 *
 * List: a build without keys, of which a probe tries all rows: payload arrays by row.
 *
 * Group table: as a hash build, without chains; a group's keys are nkeys
 * consecutive i64 words, groups are numbered without gaps.
 *
 *-------------------------------------------------------------------------
 */

#define GC_BIT(bits, i)		((((const u32 *) (bits))[(u64) (i) >> 5] >> ((i) & 31)) & 1)

/* Most bits of a set are there already where its keys come often. */
#define GC_SET_BIT(bits, i) \
	do { \
		if (!(GC_LOAD_FRESH32(&((const u32 *) (bits))[(u64) (i) >> 5]) >> ((i) & 31) & 1)) \
			GC_ATOMIC_OR32(&((u32 *) (bits))[(u64) (i) >> 5], 1u << ((i) & 31)); \
	} while (0)

/*
 * Note the number of a dense build's key in a word that is the greatest of all, and was `seen` so by this thread.
 * Others have mostly noted a greater one: so the word, which all threads share, is read a few times only.
 */
GC_FN void
gc_note_greatest(u32 *word, u32 *seen, u32 x)
{
	if (x <= *seen)
		return;
	*seen = GC_LOAD_FRESH32(word);
	if (x <= *seen)
		return;
	GC_ATOMIC_MAX32(word, x);
	*seen = x;
}

#define GC_NOTE_KEY(x) \
	gc_note_greatest(&gc_flags[GC_FLAG_BUILT], &gc_key_most, (u32) (x) + 1); \
	gc_note_greatest(&gc_flags[GC_FLAG_LEAST], &gc_key_least, ~(u32) (x));

#define GC_TAG				0xffffffff00000000ull

GC_FN u64
gc_hash_step(u64 h, i64 key)
{
	h = (h ^ (u64) key) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

GC_FN u64
gc_hash_end(u64 h)
{
	h *= 0xbf58476d1ce4e5b9ull;
	return h ^ (h >> 32);
}

/* Is a row whose keys have hash h in this part of parts?  Slots are found by the hash's lower half. */
GC_FN int
gc_in_part(u64 h, u64 parts, u64 part)
{
	return (h >> 32) * parts >> 32 == part;
}

/* Are the keys of row equal to k?  A row's key c is keys[c * cap + row]. */
GC_FN int
gc_keys_equal(const i64 *keys, u64 cap, u32 row, const i64 *k, int nkeys)
{
	int			equal = 1;

	GC_UNROLL for (int c = 0; c < nkeys; c++)
		equal &= (i64) GC_LOAD_FRESH64(&keys[c * cap + row]) == k[c];
	return equal;
}

/*
 * Enter row, whose keys, payloads are written, into a hash build.  Returns 1 if
 * another row with the same key is there already.
 */
GC_FN int
gc_build_insert(u64 *slots, u64 mask, const i64 *keys, u32 *next, u64 cap,
				u32 row, const i64 *k, int nkeys, u64 h)
{
	u64			s = h & mask;

	for (;;)
	{
		u64			e = GC_LOAD_FRESH64(&slots[s]);

		if (e == 0)
		{
			next[row] = 0;
			GC_FENCE();
			e = GC_ATOMIC_CAS64(&slots[s], 0, (h & GC_TAG) | (row + 1));
			if (e == 0)
				return 0;
		}
		if ((e & GC_TAG) == (h & GC_TAG) && gc_keys_equal(keys, cap, (u32) e - 1, k, nkeys))
		{
			/*
			 * The slot is this key's from now on, whichever row is the newest.  So no comparison is needed, which many
			 * threads with one key would fail again and again.  Nobody follows next before the build is complete.
			 */
			GC_FENCE();
			next[row] = (u32) GC_ATOMIC_EXCH64(&slots[s], (h & GC_TAG) | (row + 1));
			return 1;
		}
		s = (s + 1) & mask;
	}
}

/* Index of a left, semi or anti join's row that has no match. */
#define GC_NO_MATCH		0xffffffffffffffffull

/*
 * The row of a set with keys k, made if need be; at least cap when there is no room.  counter: of
 * rows.  Two threads may make a row for one key; the one that comes second is never found.
 */
GC_FN u64
gc_set_enter(u64 *slots, u64 mask, i64 *keys, u64 cap, u32 *counter, const i64 *k, int nkeys, u64 h)
{
	u64			s = h & mask;
	u64			row = GC_NO_MATCH;

	for (;;)
	{
		u64			e = GC_LOAD_FRESH64(&slots[s]);

		if (e == 0)
		{
			if (row == GC_NO_MATCH)
			{
				row = GC_ATOMIC_ADD32(counter, 1);
				if (row >= cap)
					return row;
				GC_UNROLL for (int c = 0; c < nkeys; c++)
					keys[c * cap + row] = k[c];
				GC_FENCE();
			}
			e = GC_ATOMIC_CAS64(&slots[s], 0, (h & GC_TAG) | (row + 1));
			if (e == 0)
				return row;
		}
		if ((e & GC_TAG) == (h & GC_TAG) && gc_keys_equal(keys, cap, (u32) e - 1, k, nkeys))
			return (u32) e - 1;
		s = (s + 1) & mask;
	}
}

/* The greatest of several codes; most rows do not change it. */
#define GC_KEEP_GREATEST(bits, p, v) \
	do { \
		if (GC_LOAD_FRESH##bits(p) < (u##bits) (v)) \
			GC_ATOMIC_MAX##bits(p, v); \
	} while (0)

/* Newest row with the key, + 1, or 0. */
GC_FN u32
gc_build_find(const u64 *slots, u64 mask, const i64 *keys, u64 cap,
			  const i64 *k, int nkeys, u64 h)
{
	u64			s = h & mask;

	for (;;)
	{
		const u64	e = slots[s];
		int			equal = 1;

		if (e == 0)
			return 0;
		if ((e & GC_TAG) == (h & GC_TAG))
		{
			GC_UNROLL for (int c = 0; c < nkeys; c++)
				equal &= keys[c * cap + (u32) e - 1] == k[c];
			if (equal)
				return (u32) e;
		}
		s = (s + 1) & mask;
	}
}

#define GC_NO_GROUP		0xffffffffu
#define GC_SLOT_BUSY	0xffffffffu	/* lower half: the slot is being filled */
#define GC_SLOT_FULL	0xfffffffeu /* lower half: there was no room for its group */

/*
 * Number of the group with keys k, made if need be; GC_NO_GROUP when the table is full.  The
 * thread that claims an empty slot publishes it after writing the keys.  Other threads that may
 * look for the same key wait for that.  So threads of a warp must make progress independently
 * (sm_70 and later).
 */
GC_FN u32
gc_group_find(u64 *slots, u64 mask, i64 *keys, u32 cap, u32 *counter,
			  const i64 *k, int nkeys, u64 h)
{
	const u64	tag = h & GC_TAG;
	u64			s = h & mask;

	/*
	 * Once the table is full, slots without a group fill up too, so the search ends after one
	 * round.
	 */
	for (u64 step = 0; step <= mask; step++)
	{
		u64			e = GC_LOAD_FRESH64(&slots[s]);

		if (e == 0 && *(volatile u32 *) counter >= cap)
			return GC_NO_GROUP;
		if (e == 0 && (e = GC_ATOMIC_CAS64(&slots[s], 0, tag | GC_SLOT_BUSY)) == 0)
		{
			const u32	g = GC_ATOMIC_ADD32(counter, 1);

			if (g >= cap)
			{
				GC_ATOMIC_EXCH64(&slots[s], tag | GC_SLOT_FULL);
				return GC_NO_GROUP;
			}
			GC_UNROLL for (int c = 0; c < nkeys; c++)
				keys[(u64) g * nkeys + c] = k[c];
			GC_FENCE();
			GC_ATOMIC_EXCH64(&slots[s], tag | (g + 1));
			return g;
		}
		if ((e & GC_TAG) == tag)
		{
			u32			g;
			int			equal = 1;

			while ((u32) e == GC_SLOT_BUSY)
				e = GC_LOAD_FRESH64(&slots[s]);
			if ((u32) e == GC_SLOT_FULL)
				return GC_NO_GROUP;
			g = (u32) e - 1;
			GC_UNROLL for (int c = 0; c < nkeys; c++)
				equal &= (i64) GC_LOAD_FRESH64(&keys[(u64) g * nkeys + c]) == k[c];
			if (equal)
				return g;
		}
		s = (s + 1) & mask;
	}
	return GC_NO_GROUP;
}
