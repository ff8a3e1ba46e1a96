/*-------------------------------------------------------------------------
 *
 * eviction.c
 *	  Data that leaves device memory when it is short: which is offered, and how often it was used.
 *
 * Each file that caches data on the device registers how to drop it (GcEvictor).  That is column
 * chunks (device_cache.c), builds (builds.c), lookup tables, dictionaries, and derived columns of
 * shared scans (share/).  replacement.c decides what goes, by gpuconc.replacement.
 *
 * A decision is made for more bytes than are needed now.  Victims that it chose go only as memory is needed, until
 * another request begins.  So a request that needs much memory costs few decisions.
 *
 * Uses are remembered by relation and column, so that a new directory has the history of the old one.
 * A request mostly reads all chunks of a column, or a run of them.  So histories are kept for a few
 * places of a column, each of which stands for a run of chunks.  As long as each request read all of them, there is
 * one history for all.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "eviction.h"

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "../../queue/queue.h"
#include "../../settings.h"
#include "state.h"

/* No file that uses it is below this one. */
GcWorker	gc_worker;

/* A decision is made for at least one part in this many of the pool. */
#define DECISION_PART	32

/* Histories that are kept. */
#define HISTORIES		32768

static GcEvictor *evictors = NULL;
static GcHistory *history = NULL;

/* Requests that have begun: the time of histories. */
static u64	requests = 0;

static u64	decisions = 0;
static void (*before_decisions) (void) = NULL;

/* Victims that may go, and those chosen: chosen[next .. nchosen - 1] are still to go. */
static struct
{
	GcVictim   *victims;
	GcChosen   *chosen;
	int			n;
	int			room;
	int			nchosen;
	int			next;
	u64			left;			/* bytes of these */
	u64			request;		/* that it was made for */
}			plan;

/* A history of uses, for data that has gone. */
void
gc_eviction_init(void)
{
	history = gc_history_create(HISTORIES);
}

/* Evictors stay for the worker's life. */
void
gc_evictor_register(GcEvictor *evictor)
{
	evictor->next = evictors;
	evictors = evictor;
}

void
gc_request_begins(void)
{
	requests++;
}

u64
gc_present_request(void)
{
	return requests;
}

/* Remember uses.  Where there was no memory for a history, they are forgotten. */
static void
keep_uses(u64 key, const GcUses *uses)
{
	if (history)
		gc_history_keep(history, key, uses);
}

void
gc_note_use(u64 key)
{
	if (history)
		(void) gc_history_note(history, key, requests);
}

GcUses
gc_uses_of(u64 key)
{
	return history ? gc_history_find(history, key) : (GcUses) {0};
}

/* Called by evictors while a plan is made: this may go. */
void
gc_offer_victim(const GcVictim *victim)
{
	if (plan.n == plan.room)
	{
		plan.room = Max(2 * plan.room, 256);
		plan.victims = plan.victims ? repalloc_huge(plan.victims, plan.room * sizeof(GcVictim))
			: MemoryContextAllocHuge(TopMemoryContext, plan.room * sizeof(GcVictim));
		plan.chosen = plan.chosen ? repalloc_huge(plan.chosen, plan.room * sizeof(GcChosen))
			: MemoryContextAllocHuge(TopMemoryContext, plan.room * sizeof(GcChosen));
	}
	plan.victims[plan.n++] = *victim;
}

void
gc_before_decisions(void (*tell) (void))
{
	before_decisions = tell;
}

u64
gc_decision(void)
{
	return decisions;
}

/* Choose the next victims. */
static void
decide(u64 need)
{
	instr_time	began;

	INSTR_TIME_SET_CURRENT(began);
	plan.n = plan.next = 0;
	decisions++;
	if (before_decisions)
		before_decisions();
	plan.request = requests;
	for (GcEvictor *e = evictors; e; e = e->next)
	{
		if (e->offer)
		{
			const int	first = plan.n;

			e->offer(e);
			for (int i = first; i < plan.n; i++)
				plan.victims[i].owner = e;
		}
	}
	plan.nchosen = plan.n == 0 ? 0 :
		gc_replacement_choose(gc_replacement, plan.victims, plan.n,
							  Max(need, gc_pool_size(gc_worker.pool) / DECISION_PART), requests, plan.chosen);
	plan.left = 0;
	for (int i = 0; i < plan.nchosen; i++)
		plan.left += plan.victims[plan.chosen[i].victim].bytes;
	gc_count_decision(&gc_stats()->evicting, gc_us_since(began));
}

/* Drop the plan's remaining victims until that has freed `need` bytes; returns the bytes freed. */
static u64
drop_chosen(u64 need)
{
	u64			dropped = 0;

	while (plan.next < plan.nchosen && dropped < need)
	{
		GcVictim   *v = &plan.victims[plan.chosen[plan.next].victim];
		const u64	bytes = ((GcEvictor *) v->owner)->drop(v, need - dropped);
		const u64	planned = bytes == 0 ? v->bytes : Min(bytes, v->bytes);

		dropped += bytes;
		plan.left -= planned;
		if (planned > 0)
			v->cost -= (u64) ((double) v->cost * (double) planned / (double) v->bytes);
		v->bytes -= planned;
		if (bytes == 0)
			plan.next++;
	}
	return dropped;
}

u64
gc_eviction_pays(u64 need, const GcUses *uses, double factor)
{
	const double worth = (double) gc_uses_cost(uses, need) / (double) need / gc_uses_expected(uses, requests);
	u64			bytes = 0;

	/* As for victims: a request's waves ask for one chunk after the other. */
	if (plan.request != requests || plan.left < need)
		decide(need);
	for (int i = plan.next; i < plan.nchosen && bytes < need; i++)
	{
		const GcVictim *v = &plan.victims[plan.chosen[i].victim];
		const double cost = v->bytes > 0 ? (double) v->cost / (double) v->bytes : 0;
		const double later = gc_uses_expected(&v->uses, requests);

		if (cost / (v->soon > 0 ? Min(v->soon, later) : later) * factor > worth)
			break;
		bytes += v->bytes;
	}
	return Min(bytes, need);
}

bool
gc_evict(u64 need)
{
	GcStats    *s = gc_stats();
	u64			dropped;

	for (GcEvictor *e = evictors; e; e = e->next)
	{
		if (e->drop_derived && e->drop_derived())
			return true;
	}
	dropped = plan.request == requests ? drop_chosen(need) : 0;
	if (dropped < need)
	{
		decide(need - dropped);
		dropped += drop_chosen(need - dropped);
	}
	pg_atomic_fetch_add_u64(&s->evicted_bytes, dropped);
	if (dropped > 0)
		pg_atomic_write_u64(&gc_device_status()->evicted_at, (u64) GetCurrentTimestamp());
	return dropped > 0;
}

bool
gc_evictors_give_back(void)
{
	for (GcEvictor *e = evictors; e; e = e->next)
	{
		if (e->give_back && e->give_back())
			return true;
	}
	return false;
}

bool
gc_evictors_await(void)
{
	bool		any = false;

	for (GcEvictor *e = evictors; e; e = e->next)
		any = (e->await && e->await()) || any;
	return any;
}

void
gc_evictors_cached(u64 bytes)
{
	for (GcEvictor *e = evictors; e; e = e->next)
	{
		if (e->cached)
			e->cached(bytes);
	}
}

/*-------------------------------------------------------------------------
 * Uses of parts of columns
 *-------------------------------------------------------------------------
 */

/* The key under which the uses of a place are kept (gc_uses_of). */
static u64
place_key(const GcColumnUses *uses, u32 place)
{
	return gc_history_key(uses->key, place, 3);
}

u64
gc_column_key(const GcDirectory *dir, int col)
{
	return gc_history_key((u64) dir->key.dbid << 32 | dir->key.relid, (u64) dir->columns[col].spec.attnum, 4);
}

u64
gc_chunk_use_key(const GcDirectory *dir, int col, u32 chunk)
{
	return gc_history_key(gc_column_key(dir, col), gc_place_of(dir->nchunks, chunk), 3);
}

/* Uses of a column's places, as they are remembered. */
void
gc_column_uses_recall(GcColumnUses *uses, const GcDirectory *dir, int col)
{
	uses->key = gc_column_key(dir, col);
	uses->of.nplaces = Min(dir->nchunks, GC_PLACES);
	for (u32 place = 0; place < uses->of.nplaces; place++)
		uses->of.place[place] = gc_uses_of(place_key(uses, place));
	gc_place_uses_filled(&uses->of);
}

/* Remember uses of a column's places, where there were any. */
void
gc_column_uses_keep(const GcColumnUses *uses)
{
	for (u32 place = 0; place < uses->of.nplaces; place++)
	{
		const GcUses *of = gc_uses_of_place(&uses->of, place);

		if (of->count > 0)
			keep_uses(place_key(uses, place), of);
	}
}

/* A bit for each place in which one of these chunks lies. */
static u32
places_of(const GcColumnUses *uses, const GcDirectory *dir, const GcSource *sources, u32 nsources)
{
	u32			places = 0;

	if (nsources == dir->nchunks)
		return gc_all_places(&uses->of);
	for (u32 s = 0; s < nsources; s++)
		places |= (u32) 1 << gc_place_of(dir->nchunks, sources[s].chunk);
	return places;
}

void
gc_column_used(GcColumnUses *uses, const GcDirectory *dir, int col, const GcSource *sources, u32 nsources, float spared)
{
	gc_place_uses_note(&uses->of, places_of(uses, dir, sources, nsources), gc_present_request(), spared);
}

GcUses
gc_column_used_in_waves(const GcDirectory *dir, int col, const GcSource *sources, u32 nsources, float spared)
{
	GcColumnUses uses;
	GcUses		most = {0};

	gc_column_uses_recall(&uses, dir, col);
	gc_column_used(&uses, dir, col, sources, nsources, spared);
	gc_column_uses_keep(&uses);
	for (u32 place = 0; place < uses.of.nplaces; place++)
	{
		if (gc_uses_of_place(&uses.of, place)->count > most.count)
			most = *gc_uses_of_place(&uses.of, place);
	}
	return most;
}
