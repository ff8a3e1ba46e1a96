/*-------------------------------------------------------------------------
 *
 * rollup.c
 *	  Groups of grouping sets, from the finest groups.
 *
 * A set's groups are made of those of another set that leaves out less, the one that has the
 * fewest.  What is put together are accumulators: sums of sums, counts of counts, the extreme of
 * extremes.  So the aggregates that are made of them are those over the rows.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "rollup.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#define FIRST_ROOM		64
#define INTERRUPT_MASK	0xffff

/* All sets together may take this much. */
#define MOST_BYTES		((Size) 1 << 30)

static Size
group_bytes(const GcPPipeline *pl)
{
	return pl->group_words * sizeof(u64) + pl->nkeys * sizeof(i64) + sizeof(uint32);
}

/* Room for n elements in an array that may be NULL yet. */
static void *
enlarged(void *array, uint64 n, Size element)
{
	/* An element may be of size 0: without keys, say. */
	Size		size = n * element + 1;

	return array ? repalloc_huge(array, size) : MemoryContextAllocHuge(CurrentMemoryContext, size);
}

uint64
gc_set_add(GcSetGroups *set, const GcPPipeline *pl)
{
	uint64		g = set->count++;

	if (g == set->room)
	{
		set->room = Max(FIRST_ROOM, 2 * set->room);
		set->words = enlarged(set->words, set->room, pl->group_words * sizeof(u64));
		set->keys = enlarged(set->keys, set->room, pl->nkeys * sizeof(i64));
		set->nulls = enlarged(set->nulls, set->room, sizeof(uint32));
	}
	memset(set->words + g * pl->group_words, 0, pl->group_words * sizeof(u64));
	memset(set->keys + g * pl->nkeys, 0, pl->nkeys * sizeof(i64));
	set->nulls[g] = 0;
	return g;
}

/* Add a group's words to another's; what they hold: cuda/gc_agg.h. */
static void
add_words(const GcPPipeline *pl, const GcPAgg *aggs, u64 *to, const u64 *from)
{
	/* where it counts nothing, it stays what it says: not 0 */
	to[0] += from[0];
	for (u16 i = 0; i < pl->naggs; i++)
	{
		const GcPAgg *agg = &aggs[pl->first_agg + i];

		if (agg->word != 0)
			gc_merge(gc_merge_of(agg), to + agg->word, from + agg->word);
	}
}

/*-------------------------------------------------------------------------
 * Sets
 *-------------------------------------------------------------------------
 */

/* The keys of a group as a set has them: those that it leaves out are 0. */
static void
kept_keys(const GcPPipeline *pl, const GcSetGroups *from, uint64 g, uint32 omitted, i64 *keys, uint32 *nulls)
{
	*nulls = from->nulls[g] & ~omitted;
	for (u16 k = 0; k < pl->nkeys; k++)
		keys[k] = omitted >> k & 1 ? 0 : from->keys[g * pl->nkeys + k];
}

/* The group of these keys, made if need be.  table: 0, or a group's number + 1. */
static uint64
find_group(const GcPPipeline *pl, GcSetGroups *set, uint32 *table, uint64 mask, const i64 *keys, uint32 nulls)
{
	const Size	size = pl->nkeys * sizeof(i64);
	uint64		at = hash_bytes_extended((const unsigned char *) keys, size, nulls) & mask;
	uint64		g;

	for (; table[at] != 0; at = (at + 1) & mask)
	{
		g = table[at] - 1;
		if (set->nulls[g] == nulls && memcmp(set->keys + g * pl->nkeys, keys, size) == 0)
			return g;
	}
	g = gc_set_add(set, pl);
	memcpy(set->keys + g * pl->nkeys, keys, size);
	set->nulls[g] = nulls;
	table[at] = g + 1;
	return g;
}

static void
make_set(const GcPPipeline *pl, const GcPAgg *aggs, const GcSetGroups *from, GcSetGroups *set)
{
	uint64		slots = pg_nextpower2_64(2 * from->count + 2);
	uint32	   *table = MemoryContextAllocExtended(CurrentMemoryContext, slots * sizeof(uint32),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	i64			keys[GC_MAX_KEYS];
	uint32		nulls;

	for (uint64 g = 0; g < from->count; g++)
	{
		uint64		to;

		if ((g & INTERRUPT_MASK) == 0)
			CHECK_FOR_INTERRUPTS();
		kept_keys(pl, from, g, set->omitted, keys, &nulls);
		to = find_group(pl, set, table, slots - 1, keys, nulls);
		add_words(pl, aggs, set->words + to * pl->group_words, from->words + g * pl->group_words);
	}
	pfree(table);
}

/* The smallest of the sets that are made already, and of which this one can be made. */
static const GcSetGroups *
source_of(const GcSetGroups *finest, const GcSetGroups *made, const bool *done, int n, uint32 omitted)
{
	const GcSetGroups *best = finest;

	for (int i = 0; i < n; i++)
	{
		if (done[i] && (made[i].omitted & ~omitted) == 0 && made[i].count <= best->count)
			best = &made[i];
	}
	return best;
}

bool
gc_roll_up(const GcPPipeline *pl, const GcPAgg *aggs, const GcSetGroups *finest, List *sets, GcSetGroups *made)
{
	int			n = list_length(sets);
	bool	   *done = palloc0(n * sizeof(bool));
	Size		bytes = 0;

	/* Sets that leave out fewer keys come first. */
	for (int omitted = 0; omitted <= 32; omitted++)
	{
		for (int i = 0; i < n; i++)
		{
			const GcSetGroups *from;

			if (pg_popcount32((uint32) list_nth_int(sets, i)) != omitted)
				continue;
			made[i] = (GcSetGroups) {.omitted = (uint32) list_nth_int(sets, i)};
			from = source_of(finest, made, done, n, made[i].omitted);
			if (from->omitted == made[i].omitted)
				made[i] = *from;	/* one set stands there twice */
			else
				make_set(pl, aggs, from, &made[i]);
			done[i] = true;
			bytes += made[i].count * group_bytes(pl);
			if (bytes > MOST_BYTES)
				return false;
		}
	}
	return true;
}
