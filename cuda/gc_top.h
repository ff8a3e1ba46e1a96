/*-------------------------------------------------------------------------
 *
 * gc_top.h
 *	  The first few of many, in an order: which candidates may be among them.
 *
 * Each candidate has an image of 64 bits, larger for one that comes earlier.  Three launches look at all candidates.
 * The first finds the largest image and the least, NULLs apart.  The second counts candidates by their distance to the
 * nearer one, in bins whose width grows with the distance: four for each power of two.  Of sums 1000000, 900, 800 and a
 * million of 1 to 9, the first three have bins of their own.  A NULL goes with the value next to it.  The third launch
 * takes the candidates of the first bins that together have as many as are wanted.  So it takes some more, ties among
 * them, and PostgreSQL sorts these.
 *
 * Memory of a choice, all zero at first: the largest image, the largest of all complements, then GC_TOP_COPIES times
 * GC_TOP_BINS counters of 32 bits.  Blocks count in different copies.
 *
 * Rows of a scan are looked at once.  So their distance is that to the image of the end of the key's
 * range.  A row is dropped if rows of smaller bins that were kept are enough already.
 *
 *-------------------------------------------------------------------------
 */

/*
 * An image of two keys.  The highest bits of the second one's image are where the range of the first one's leaves room.
 * NULLs are one beyond a range, at most.  Without a range, the first key is all.
 */
GC_FN u64
gc_top_pair(u64 first, u64 first_lo, u64 first_hi, u64 second, u64 second_lo, u64 second_hi)
{
	const u32	room = GC_CLZ64((first_hi - first_lo) | 1);
	const u32	bits = 64 - GC_CLZ64((second_hi - second_lo) | 1);

	if (room == 0)
		return first;
	first = GC_MIN(GC_MAX(first, first_lo), first_hi) - first_lo;
	second = GC_MIN(GC_MAX(second, second_lo), second_hi) - second_lo;
	return first << room | (bits > room ? second >> (bits - room) : second);
}

/* The bin of an image, after the first launch. */
GC_FN u32
gc_top_bin(const u64 *top, u64 image)
{
	const u64	within = GC_MIN(GC_MAX(image, ~top[1]), top[0]);
	const u64	from_best = top[0] - within;
	const u64	from_last = within - ~top[1];
	const u64	distance = GC_MIN(from_best, from_last);
	u32			bin = 0;

	if (distance > 0)
	{
		const u32	log = 63 - GC_CLZ64(distance);

		bin = 1 + log * 4 + (u32) ((log >= 2 ? distance >> (log - 2) : distance << (2 - log)) & 3);
	}
	return from_best <= from_last ? bin : GC_TOP_BINS - 1 - bin;
}

#define GC_TOP_COUNTERS(top)	((u32 *) ((top) + 2))
#define GC_TOP_COUNT(top, image, block) \
	((void) GC_ATOMIC_ADD32(GC_TOP_COUNTERS(top) + ((block) % GC_TOP_COPIES) * GC_TOP_BINS + gc_top_bin(top, image), 1))

/* The last bin that is taken, for all threads of the block. */
GC_FN_ONCE u32
gc_top_last_bin(const u64 *top, u64 wanted)
{
	GC_BLOCK_ARRAY(u32, count, GC_TOP_BINS + 1);
	u64			n = 0;
	u32			bin = 0;

	for (u32 b = GC_THREAD; b < GC_TOP_BINS; b += GC_NTHREADS)
	{
		u32			sum = 0;

		for (u32 c = 0; c < GC_TOP_COPIES; c++)
			sum += GC_TOP_COUNTERS(top)[c * GC_TOP_BINS + b];
		count[b] = sum;
	}
	GC_BARRIER();
	if (GC_THREAD == 0)
	{
		GC_NO_UNROLL for (; bin < GC_TOP_BINS - 1; bin++)
		{
			n += count[bin];
			if (n >= wanted)
				break;
		}
		count[GC_TOP_BINS] = bin;
	}
	GC_BARRIER();
	return count[GC_TOP_BINS];
}

/*
 * Memory of a choice among rows, as 32-bit words.  First is how many of the last bins are dropped.
 * Then come rows by power of two of the distance, and rows by bin, GC_FIRST_PARTS for each power of
 * two.
 */
#define GC_FIRST_COUNT(top, power)		((top) + 1 + (power))
#define GC_FIRST_BIN_COUNT(top, bin)	((top) + 1 + GC_FIRST_POWERS + (bin))

/* The last bin that has to be kept if rows up to this power of two are enough; else GC_FIRST_BINS. */
GC_FN u32
gc_first_last_bin(const u32 *top, u32 power, u64 wanted)
{
	u64			n = 0;
	u32			p = 0;

	GC_NO_UNROLL for (; p <= power; p++)
	{
		const u32	more = GC_LOAD_FRESH32(GC_FIRST_COUNT(top, p));

		if (n + more >= wanted)
			break;
		n += more;
	}
	if (p > power)
		return GC_FIRST_BINS;
	p *= GC_FIRST_PARTS;
	GC_NO_UNROLL for (u32 i = 0; i < GC_FIRST_PARTS - 1; i++, p++)
	{
		n += GC_LOAD_FRESH32(GC_FIRST_BIN_COUNT(top, p));
		if (n >= wanted)
			break;
	}
	return p;
}

/* May a row be among the first?  One that may is counted, so it must be kept. */
GC_FN_ONCE int
gc_first_keep(u32 *top, u64 best, u64 image, u64 wanted)
{
	const u64	distance = image >= best ? 0 : best - image;
	const u32	power = distance == 0 ? 0 : 64 - GC_CLZ64(distance);
	u32			bin = power * GC_FIRST_PARTS;
	u32			last;

	if (power > GC_FIRST_LOG)
		bin += (u32) (distance >> (power - 1 - GC_FIRST_LOG)) & (GC_FIRST_PARTS - 1);
	else if (power > 0)
		bin += (u32) (distance << (GC_FIRST_LOG + 1 - power)) & (GC_FIRST_PARTS - 1);
	if (bin + GC_LOAD_FRESH32(top) >= GC_FIRST_BINS)
		return 0;
	(void) GC_ATOMIC_ADD32(GC_FIRST_BIN_COUNT(top, bin), 1);
	/* If many rows are wanted, not each one looks whether there are enough. */
	if (GC_ATOMIC_ADD32(GC_FIRST_COUNT(top, power), 1) & (wanted < 64 ? 0 : wanted < 1024 ? 7 : 63))
		return 1;
	last = gc_first_last_bin(top, power, wanted);
	if (last < GC_FIRST_BINS)
		(void) GC_ATOMIC_MAX32(top, GC_FIRST_BINS - 1 - last);
	return 1;
}
