/*-------------------------------------------------------------------------
 *
 * hot_plan.c
 *	  Which hot pages a load reads, and which hot chunks it merges.
 *
 * Runs in sessions and loaders that plan a load, under a guard.
 *
 * A page that was changed since is read into a new hot chunk, and its place in the old one is
 * void.  So hot chunks would become many and hollow.  They are merged as in a log-structured
 * merge tree (O'Neil, Cheng, Gawlick, O'Neil 1996).  A chunk that is not much larger than what is
 * merged anyway, or is half hollow, is copied into the new one.  Copying does not read the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "../serve/fresh.h"
#include "hot_plan.h"
#include "../../settings.h"
#include "../serve/patches.h"
#include "../serve/versions.h"

/* A chunk is merged if it has at most this many times the pages that are merged without it. */
#define MERGE_FACTOR	2

/* A hot chunk of the base, and what of it is still good. */
typedef struct GcHotLive
{
	uint32		chunk;
	uint32		npages;			/* of the chunk */
	uint32		nlive;
	GcJobHotPage *live;			/* ascending by block */
} GcHotLive;

static int
by_live(const void *a, const void *b)
{
	const GcHotLive *x = a;
	const GcHotLive *y = b;

	return x->nlive < y->nlive ? -1 : x->nlive > y->nlive;
}

static int
by_block(const void *a, const void *b)
{
	const GcJobHotPage *x = a;
	const GcJobHotPage *y = b;

	return x->block < y->block ? -1 : x->block > y->block;
}

/* Take out what the load puts into chunks of the heap: all-visible pages of chunks loaded anew. */
static void
take_reloaded(Relation rel, const GcLoadPlan *plan, GcBlockSet *delta)
{
	for (uint32 c = 0; c < plan->nchunks; c++)
	{
		uint32		npages = gc_chunk_length(c, plan->nblocks);
		uint8	   *bits;
		XLogRecPtr	lsn;

		if (plan->work[c] != GC_WORK_FULL)
			continue;
		bits = palloc(GC_PRESENT_BYTES(npages));
		gc_map_copy(rel, c, npages, bits, &lsn);
		for (uint32 page = 0; lsn != InvalidXLogRecPtr && page < npages; page++)
		{
			int64		n;

			if (!((bits[page / 4] >> (page % 4 * 2)) & 1))
				continue;
			n = gc_blocks_find(delta, c * (BlockNumber) gc_chunk_pages + page);
			if (n >= 0)
				GC_BLOCK_TAKE(delta, n);
		}
		pfree(bits);
	}
}

/* Will the heap's chunk still be there that has the page's other rows? */
static bool
stays_patched(const GcLoadPlan *plan, const GcHotPages *hot, uint32 page)
{
	const uint32 c = GC_HEAP_CHUNK(hot->blocks[page]);

	return gc_patch_holds(plan->base, hot, page) &&
		(hot->patches[page].chunk_id == 0 || (c < plan->nchunks && plan->work[c] != GC_WORK_FULL));
}

/* The pages of a hot chunk that are wanted, not known to have changed, and not had from another one. */
static void
find_live(const GcLoadPlan *plan, uint32 chunkno, GcBlockSet *delta, GcHotLive *live)
{
	const GcChunk *chunk = plan->base->chunks[chunkno];

	live->chunk = chunkno;
	live->npages = chunk->npages;
	live->nlive = 0;
	live->live = palloc_extended((chunk->npages + 1) * sizeof(GcJobHotPage), MCXT_ALLOC_HUGE);
	gc_blocks_rewind(delta);
	for (uint32 page = 0; page < chunk->npages; page++)
	{
		BlockNumber block = chunk->hot->blocks[page];
		int64		n = gc_blocks_find(delta, block);

		if (n < 0 || GC_BLOCK_TAKEN(delta, n) || chunk->hot->changed[page] || !stays_patched(plan, chunk->hot, page))
			continue;
		GC_BLOCK_TAKE(delta, n);
		live->live[live->nlive++] = (GcJobHotPage) {block, (int32) chunkno, page};
	}
}

static uint32
find_all_live(const GcLoadPlan *plan, GcBlockSet *delta, GcHotLive *lives)
{
	const GcDirectory *base = plan->base;
	uint32		n = 0;

	for (uint32 c = base ? base->nchunks : 0; base && c > base->nheap; c--)
	{
		if (base->chunks[c - 1])
			find_live(plan, c - 1, delta, &lives[n++]);
	}
	return n;
}

static void
add_pages(GcHotPlan *hot, const GcJobHotPage *pages, uint32 n, bool read)
{
	for (uint32 i = 0; i < n; i++)
	{
		GcJobHotPage *page = &hot->pages[hot->npages++];

		*page = pages[i];
		if (read)
			page->chunk = -1;
	}
}

/* Pages that no chunk has: to be read. */
static void
add_unread(GcHotPlan *hot, GcBlockSet *delta)
{
	BlockNumber n = 0;

	for (uint32 r = 0; r < delta->nranges; r++)
	{
		for (BlockNumber i = 0; i < delta->ranges[r].count; i++, n++)
		{
			if (!GC_BLOCK_TAKEN(delta, n))
				hot->pages[hot->npages++] = (GcJobHotPage) {delta->ranges[r].first + i, -1, 0};
		}
	}
}

/*
 * Keep the hot chunks that are worth it; the live pages of the others come into new ones.  New columns
 * are added to those that are kept.
 */
static void
merge(GcLoadPlan *plan, GcHotLive *lives, uint32 nlives)
{
	GcHotPlan  *hot = &plan->hot;
	const bool	add = plan->nnew > 0;

	qsort(lives, nlives, sizeof(GcHotLive), by_live);
	for (uint32 i = 0; i < nlives; i++)
	{
		const GcHotLive *l = &lives[i];

		if (l->nlive == 0)
			continue;
		/* What lacks columns cannot be copied. */
		if (2 * l->nlive < l->npages)
			add_pages(hot, l->live, l->nlive, add);
		else if (!add && l->nlive <= MERGE_FACTOR * hot->npages)
			add_pages(hot, l->live, l->nlive, false);
		else
		{
			hot->kept_pages[hot->nkept] = l->npages;
			hot->kept[hot->nkept++] = l->chunk;
			plan->pages += add ? l->npages : 0;
			plan->ntodo += add;
		}
	}
	qsort(hot->pages, hot->npages, sizeof(GcJobHotPage), by_block);
}

/* Keep all hot chunks as they are. */
static void
keep_all(GcLoadPlan *plan)
{
	const GcDirectory *base = plan->base;

	plan->hot.nkept = plan->hot.npages = 0;
	for (uint32 c = base ? base->nheap : 0; base && plan->nnew == 0 && c < base->nchunks; c++)
	{
		if (base->chunks[c])
		{
			plan->hot.kept_pages[plan->hot.nkept] = base->chunks[c]->npages;
			plan->hot.kept[plan->hot.nkept++] = c;
		}
	}
}

void
gc_plan_hot(GcProof *proof, GcLoadPlan *plan, const GcServed *delta)
{
	const GcDirectory *base = plan->base;
	const uint32 nhot = base ? base->nchunks - base->nheap : 0;
	GcHotPlan  *hot = &plan->hot;
	GcHotLive  *lives = palloc((nhot + 1) * sizeof(GcHotLive));
	GcBlockSet	set;
	uint32		nlives;

	hot->kept = palloc((nhot + 1) * sizeof(int32));
	hot->kept_pages = palloc((nhot + 1) * sizeof(uint32));
	if (!gc_debug_versioned_pages)
	{
		keep_all(plan);
		return;
	}
	gc_blocks_init(&set, delta->ranges, delta->nranges);
	hot->pages = palloc_extended((Size) (set.npages + 1) * sizeof(GcJobHotPage), MCXT_ALLOC_HUGE);
	take_reloaded(proof->rel, plan, &set);
	if (base)
		gc_prove_hot(proof);
	nlives = find_all_live(plan, &set, lives);
	add_unread(hot, &set);
	if (hot->npages < plan->least_hot && plan->nnew == 0 && plan->ntodo == 0 && base != NULL)
	{
		keep_all(plan);
		return;
	}
	hot->nunread = hot->npages;
	merge(plan, lives, nlives);
	plan->pages += hot->npages;
	plan->ntodo += gc_hot_chunks(hot->npages);
}
