/*-------------------------------------------------------------------------
 *
 * gc_top.h
 *	  The first few of many, in an order: which candidates may be among them.
 *
 * Each candidate has an image of 64 bits, larger for what comes earlier.  Three launches look at
 * all candidates.  The first finds the largest image.  The second counts candidates by their
 * distance to it, in bins whose width grows with the distance: four for each power of two.  The
 * third takes the candidates of the first bins that together have as many as are wanted.  So it
 * takes some more, ties among them, and PostgreSQL sorts these.
 *
 * Memory of a choice, all zero at first: the largest image, then GC_TOP_COPIES times GC_TOP_BINS
 * counters of 32 bits.  Blocks count in different copies.
 *
 *-------------------------------------------------------------------------
 */

GC_FN u32
gc_top_bin(u64 distance)
{
	u32			log,
				bin;

	if (distance == 0)
		return 0;
	log = 63 - GC_CLZ64(distance);
	bin = 1 + log * 4 + (u32) ((log >= 2 ? distance >> (log - 2) : distance << (2 - log)) & 3);
	return bin < GC_TOP_BINS ? bin : GC_TOP_BINS - 1;
}

#define GC_TOP_COUNT(top, image, block) \
	((void) GC_ATOMIC_ADD32((u32 *) ((top) + 1) + ((block) % GC_TOP_COPIES) * GC_TOP_BINS + gc_top_bin((top)[0] - (image)), 1))

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
			sum += ((const u32 *) (top + 1))[c * GC_TOP_BINS + b];
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
