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
	const GcTestValue *t = w->type == GC_ARG_PLACE ? &share->places[w->index] : &share->tests[w->index];

	switch (w->part)
	{
		case GC_TEST_BITS:
			return t->bits;
		case GC_TEST_BASE:
			return (u64) t->base;
		default:
			return t->range;
	}
}

static u64
marks_word(const GcShareRun *share, u8 part)
{
	switch (part)
	{
		case GC_MARKS_DATA:
			return share->marks;
		case GC_MARKS_BYTES:
			return share->marks_bytes;
		case GC_MARKS_DIGEST:
			return share->digest;
		default:
			return share->marks_bit;
	}
}

u64
gc_share_run_word(const GcShareRun *share, const GcArgWord *w)
{
	if (w->type == GC_ARG_MARKS)
		return marks_word(share, w->part);
	if (w->type == GC_ARG_TEST || w->type == GC_ARG_PLACE)
		return test_word(share, w);
	/* a column, in records */
	return share->records ? share->records[w->index] : 0;
}

void
gc_share_run_give_back(GcRun *run)
{
	gc_device_free(run->share->test_bits);
	run->share->test_bits = 0;
}
