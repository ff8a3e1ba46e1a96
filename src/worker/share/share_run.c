/*-------------------------------------------------------------------------
 *
 * share_run.c
 *	  What shared scans keep of a request.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "share_run.h"

#include "../memory/device_memory.h"

GcShareRun *
gc_share_run_create(const GcRun *run)
{
	return MemoryContextAllocZero(run->cxt, sizeof(GcShareRun));
}

static u64
test_word(const GcShareRun *share, const GcArgWord *w)
{
	const GcPredicateBitmap *t = w->type == GC_ARG_DIRECT ? &share->direct_tables[w->index] : &share->predicates[w->index];

	switch (w->part)
	{
		case GC_PREDICATE_BITS:
			return t->bits;
		case GC_PREDICATE_BASE:
			return (u64) t->base;
		default:
			return t->range;
	}
}

static u64
selection_word(const GcShareRun *share, u8 part)
{
	switch (part)
	{
		case GC_SELECTION_DATA:
			return share->sel_bitmap;
		case GC_SELECTION_BYTES:
			return share->sel_bitmap_bytes;
		case GC_SELECTION_SUMMARY:
			return share->summary;
		default:
			return share->sel_bitmap_bit;
	}
}

u64
gc_share_run_word(const GcShareRun *share, const GcArgWord *w)
{
	return w->type == GC_ARG_SELECTION ? selection_word(share, w->part) : test_word(share, w);
}

void
gc_share_run_give_back(GcRun *run)
{
	gc_device_free(run->schedule.share->predicate_bits);
	run->schedule.share->predicate_bits = 0;
}
