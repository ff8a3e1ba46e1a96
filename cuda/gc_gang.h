/*-------------------------------------------------------------------------
 *
 * gc_gang.h
 *	  Which member of a gang launch a block works for.
 *
 * Device cuda only: on device host the launch itself gives each block its member's arguments.
 *
 *-------------------------------------------------------------------------
 */
#if GC_CUDA && defined(GC_GANG)

/* The first member whose blocks end behind this one; `end` as in GcGang. */
GC_FN u32
gc_gang_member(const u32 *end, u32 block)
{
	u32			m = 0;

	GC_UNROLL for (u32 step = GC_GANG_MOST / 2; step > 0; step /= 2)
	{
		if (block >= end[m + step - 1])
			m += step;
	}
	return m;
}

#endif
