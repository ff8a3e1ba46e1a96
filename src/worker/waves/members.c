/*-------------------------------------------------------------------------
 *
 * members.c
 *	  Members of the waves of a table (waves.c): joining, memory, leaving; and waves that are over.
 *
 * Events tell times from one to another only.  So a table's stream has an event of which the server's time
 * is known: it is recorded while the stream is idle.  Differences are of type float.  Where they get large,
 * an event of a wave takes its place.
 *
 * Events with times cost the thread several times as much as others.  Where waves are many, most of them are not
 * logged; each record says how many before it were left out.
 *
 * The worker's main thread.  A table has streams as long as it has members.  A block of memory lives as long
 * as a member uses it, or a wave that reads it.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "../../queue/batchlog.h"
#include "../memory/device_memory.h"
#include "../memory/eviction.h"
#include "../memory/state.h"

/* Memory that nothing uses is kept for so many requests. */
#define KEPT_REQUESTS	256

/* Memory for descriptions has room for so many members more. */
#define MEMBERS_AT_ONCE	8

/* Tables without members that are kept, at most, for their directories' facts. */
#define MOST_ASLEEP		8

static WaveTable *wave_tables = NULL;

/*
 * Memory for columns that nothing uses at present, and the request in which it was used last.  It is in one piece: to
 * have as much again, many chunks here and there would have to go until those that go are neighbours.
 */
static Block *kept = NULL;
static u64	kept_in = 0;

/*-------------------------------------------------------------------------
 * When waves copied and computed, for the timeline (queue/batchlog.h)
 *-------------------------------------------------------------------------
 */

/* Milliseconds after which the clock's event is replaced. */
#define CLOCK_MS	1000

/* Waves that may be logged one after the other, and microseconds after which one more may be. */
#define MOST_AT_ONCE	256
#define APART_US		5000

static double may_log = MOST_AT_ONCE;
static TimestampTz looked_at = 0;
static u32	unlogged = 0;		/* waves since the one that was logged last */

/* An event and the server's time of it, by which events of waves get times. */
static void
clock_start(WaveTable *t)
{
	t->clock = gc_worker.ops->event_timed(t->copies, NULL);
	t->clock_at = GetCurrentTimestamp();
}

/* Without an event, the next wave starts the clock. */
static void
clock_stop(WaveTable *t)
{
	if (t->clock)
		gc_worker.ops->event_put(gc_worker.dev, t->clock);
	t->clock = NULL;
}

/* The wave's begin is the clock's from now on, so that times are counted from near. */
static void
put_forward(WaveTable *t, Wave *w, TimestampTz at)
{
	clock_stop(t);
	t->clock = w->began;
	t->clock_at = at;
	w->began = NULL;
}

/* A wave is about to be made: is it to be logged? */
void
gc_wave_log_begin(WaveTable *t, Wave *w)
{
	const TimestampTz now = GetCurrentTimestamp();

	may_log = Min(may_log + (double) Max(now - looked_at, 0) / APART_US, MOST_AT_ONCE);
	looked_at = now;
	if (t->clock && may_log >= 1)
		w->began = gc_worker.ops->event_timed(w->stream, NULL);
	w->logged = w->began != NULL;
	if (!w->logged)
	{
		unlogged++;
		return;
	}
	may_log -= 1;
	w->unlogged = unlogged;
	unlogged = 0;
}

/* The events of the wave are done. */
static void
log_wave(WaveTable *t, Wave *w)
{
	float		since;
	GcWaveRecord r = {.chunks = w->nchunks,.requests = list_length(w->served),.bytes = w->bytes,.shared = w->shared,
	.unlogged = w->unlogged,.device = gc_my_device()};

	if (t->clock == NULL || w->began == NULL || w->copied == NULL)
		return;
	since = gc_worker.ops->event_ms(t->clock, w->began);
	r.began = t->clock_at + (TimestampTz) (since * 1000.0);
	r.copies_us = gc_worker.ops->event_ms(w->began, w->copied) * 1000;
	if (w->over)
		r.kernels_us = Max(gc_worker.ops->event_ms(w->copied, w->over) * 1000, 0);
	gc_wavelog_add(&r);
	if (since > CLOCK_MS)
		put_forward(t, w, r.began);
}

/*-------------------------------------------------------------------------
 * Members and their memory
 *-------------------------------------------------------------------------
 */

u64
gc_wave_bytes(u64 chunk_bytes, int ncolumns)
{
	return DESCRIBED_SLOTS * described_bytes(1, ncolumns) + SLOTS * (chunk_bytes + ncolumns * align_up(1));
}

/* No kernel reads the block any more. */
static void
block_free(Block *block)
{
	for (int i = 0; i < block->slots; i++)
		gc_device_free(block->slot[i]);
	pfree(block);
}

/* Free the memory that is kept for the next waves; false: there was none. */
static bool
give_back(void)
{
	Block	   *block = kept;

	kept = NULL;
	if (block)
		block_free(block);
	return block != NULL;
}

/* Keep no more memory for waves than column chunks take, since it is there to have their columns copied. */
static void
keep_at_most(u64 most)
{
	if (kept && kept->slots * kept->room > most)
		(void) give_back();
}

/* Memory for columns is kept if it is the largest. */
static void
block_release(Block *block)
{
	if (--block->users > 0)
		return;
	if (block->slots != SLOTS || (kept && kept->room >= block->room))
	{
		block_free(block);
		return;
	}
	(void) give_back();
	kept = block;
	kept_in = gc_present_request();
}

/*
 * Memory for waves, of so many slots with room for a chunk each: the one that is kept, if it is large enough.
 * NULL: none.
 */
static Block *
get_block(u64 room, int slots)
{
	Block	   *block = kept;

	if (slots == SLOTS && kept && kept->room >= room)
	{
		kept = NULL;
		block->users = 1;
		/* Another table may have priced it: each counts for itself. */
		block->pricing = 0;
		return block;
	}
	if (slots == SLOTS)
		(void) give_back();
	block = MemoryContextAllocZero(TopMemoryContext, sizeof(Block));
	block->users = 1;
	block->room = room;
	for (; block->slots < slots; block->slots++)
	{
		/* Descriptions stay as long as the table has any member. */
		block->slot[block->slots] = slots == SLOTS ? gc_device_alloc(room) : gc_device_alloc_to_stay(room);
		if (block->slot[block->slots] == 0)
		{
			block_free(block);
			return NULL;
		}
		gc_device_label(block->slot[block->slots], GC_MEMORY_WAVES);
	}
	return block;
}

/* Memory of another member that has at least this room, or NULL. */
static Block *
shared_block(WaveTable *t, u64 room)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		Block	   *block = dlist_container(GcWaveMember, node, iter.cur)->block;

		if (block && block->room >= room)
			return block;
	}
	return NULL;
}

/*
 * Have memory for descriptions of all members' sources and columns.  It grows by some members at once, if it can.
 * Waves hold the former memory while they use it.
 */
static bool
describe_more(WaveTable *t)
{
	const u64	least = described_bytes(t->nmembers, t->ncolumns);
	Block	   *block;

	if (t->described && t->described->room >= least)
		return true;
	block = get_block(described_bytes(t->nmembers + MEMBERS_AT_ONCE, t->ncolumns), DESCRIBED_SLOTS);
	if (block == NULL)
		block = get_block(least, DESCRIBED_SLOTS);
	if (block == NULL)
		return false;
	if (t->described)
		block_release(t->described);
	t->described = block;
	return true;
}

/*
 * Get memory for waves that are as large as is of use, or else of one chunk each.  Or share the memory of another
 * member, which may then be served by the same waves (waves.c).  Else many members' memory would be in the place
 * of columns.
 */
static bool
get_memory(WaveTable *t, GcWaveMember *m, GcError *err)
{
	const u64	pool = gc_pool_size(gc_worker.pool);
	u64			most = 0,
				all = 0,
				room;

	for (u32 s = 0; s < m->nsources; s++)
	{
		const u32	chunk = m->sources[s].chunk;
		u64			bytes = 0;

		for (int c = 0; c < m->ncolumns && !(chunk & GC_PRIVATE_CHUNK); c++)
			bytes += cell_bytes(cell_of(t, m->columns[c].number, chunk));
		most = Max(most, bytes);
		all += bytes;
	}
	room = Max(most, Min(align_up(all / 4), Min(WAVE_BYTES, pool / WAVE_PART)));
	/* A scan may read no column at all. */
	most = Max(most, LEAST_ROOM);
	room = Max(Max(room, LEAST_ROOM), t->widest <= pool / WIDEST_PART ? t->widest : 0);
	if ((m->block = shared_block(t, most)) != NULL)
		m->block->users++;
	else
		m->block = get_block(room, SLOTS);
	if (m->block == NULL && room > most)
		m->block = get_block(most, SLOTS);
	if (m->block && describe_more(t))
		return true;
	gc_fail(err, GC_DEVICE_MEMORY, "No device memory for two waves of %llu kB.", (unsigned long long) most / 1024);
	return false;
}

/* Bytes of the largest chunk with all its columns. */
static u64
widest_chunk(const GcDirectory *dir)
{
	u64			most = 0;

	for (u32 i = 0; i < dir->nchunks; i++)
	{
		u64			bytes = 0;

		for (uint32 c = 0; c < dir->ncolumns && dir->chunks[i]; c++)
			bytes += GC_CELL(dir, i, c) ? cell_bytes(GC_CELL(dir, i, c)) : 0;
		most = Max(most, bytes);
	}
	return most;
}

/* The table's number of a column of its directory, which has one from now on. */
static int
column_number(WaveTable *t, const GcDirectory *dir, int column)
{
	const int	n = t->number_of[column];
	GcChunkColumn *cells;

	if (n >= 0)
		return n;
	cells = MemoryContextAllocZero(t->cxt, (t->nchunks + 1) * sizeof(GcChunkColumn));
	for (u32 i = 0; i < t->nchunks; i++)
	{
		if (GC_CELL(dir, i, column))
			cells[i] = *GC_CELL(dir, i, column);
	}
	t->cells[t->ncolumns] = cells;
	t->prices[t->ncolumns] = (Price) {0};
	return t->number_of[column] = t->ncolumns++;
}

/* A directory's place for waves, without members and streams. */
static WaveTable *
table_make(const GcDirectory *dir)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "gpuconc waves", ALLOCSET_SMALL_SIZES);
	WaveTable  *t = MemoryContextAllocZero(cxt, sizeof(WaveTable));

	t->dir_id = dir->id;
	t->nchunks = dir->nchunks;
	t->widest = widest_chunk(dir);
	t->cxt = cxt;
	t->prices = MemoryContextAllocZero(cxt, (dir->ncolumns + 1) * sizeof(Price));
	t->cells = MemoryContextAllocZero(cxt, (dir->ncolumns + 1) * sizeof(GcChunkColumn *));
	t->number_of = MemoryContextAlloc(cxt, (dir->ncolumns + 1) * sizeof(int));
	memset(t->number_of, -1, (dir->ncolumns + 1) * sizeof(int));
	dlist_init(&t->members);
	dlist_init(&t->waves);
	t->next = wave_tables;
	wave_tables = t;
	return t;
}

/* Nothing is queued on them any more. */
static void
put_streams(WaveTable *t)
{
	gc_worker.ops->stream_put(gc_worker.dev, t->copies);
	if (t->notes)
		gc_worker.ops->stream_put(gc_worker.dev, t->notes);
	if (t->ends)
		gc_worker.ops->stream_put(gc_worker.dev, t->ends);
	t->copies = t->notes = t->ends = NULL;
}

/* A table is about to get its first member. */
static bool
table_wake(WaveTable *t, GcError *err)
{
	t->copies = gc_worker.ops->stream_get(gc_worker.dev, err);
	if (t->copies == NULL)
		return false;
	t->notes = gc_worker.ops->stream_get(gc_worker.dev, err);
	t->ends = t->notes ? gc_worker.ops->stream_get(gc_worker.dev, err) : NULL;
	if (t->ends == NULL)
	{
		put_streams(t);
		return false;
	}
	t->at = t->number = 0;
	clock_start(t);
	return true;
}

/* The directory's place for waves, with streams.  NULL: err set. */
static WaveTable *
table_of(const GcDirectory *dir, GcError *err)
{
	WaveTable  *t = wave_tables;

	while (t && t->dir_id != dir->id)
		t = t->next;
	if (t == NULL)
		t = table_make(dir);
	return t->copies || table_wake(t, err) ? t : NULL;
}

WaveTable *
gc_wave_tables(void)
{
	return wave_tables;
}

/* The place has neither members nor waves. */
static void
table_free(WaveTable *t)
{
	for (WaveTable **p = &wave_tables; *p; p = &(*p)->next)
	{
		if (*p == t)
		{
			*p = t->next;
			break;
		}
	}
	MemoryContextDelete(t->cxt);
}

/*
 * A table has no member any more.  Facts of the directory are kept for the next member, for a few tables.  To read it
 * again takes as long as to make some waves.
 */
static void
table_sleep(WaveTable *t)
{
	static u64	slept = 0;
	WaveTable  *longest = NULL;
	int			n = 0;

	clock_stop(t);
	if (t->described)
		block_release(t->described);
	t->described = NULL;
	put_streams(t);
	t->slept = ++slept;
	for (WaveTable *other = wave_tables; other; other = other->next)
	{
		if (other->copies)
			continue;
		n++;
		if (longest == NULL || other->slept < longest->slept)
			longest = other;
	}
	if (n > MOST_ASLEEP)
		table_free(longest);
}

GcWaveMember *
gc_wave_join(const GcDirectory *dir, const GcWaveColumn *columns, int ncolumns, const GcSource *sources, u32 nsources,
			 GcWaveLaunch launch, void *arg, GcError *err)
{
	WaveTable  *t = table_of(dir, err);
	GcWaveMember *m;

	if (t == NULL)
		return NULL;
	m = MemoryContextAllocZero(t->cxt, sizeof(GcWaveMember));
	m->table = t;
	m->dir = dir;
	m->sources = sources;
	m->nsources = nsources;
	m->ncolumns = ncolumns;
	m->columns = MemoryContextAlloc(t->cxt, (ncolumns + 1) * sizeof(MemberColumn));
	for (int c = 0; c < ncolumns; c++)
		m->columns[c] = (MemberColumn) {.number = column_number(t, dir, columns[c].column),.late = columns[c].link.late,
		.rates = gc_link_rates(&columns[c].link),.of = columns[c]};
	m->source_of = MemoryContextAllocZero(t->cxt, (dir->nchunks + 1) * sizeof(u32));
	m->to_do = MemoryContextAllocZero(t->cxt, (nsources + 1) * sizeof(bool));
	m->launch = launch;
	m->arg = arg;
	for (u32 s = 0; s < nsources; s++)
	{
		if (!(sources[s].chunk & GC_PRIVATE_CHUNK))
			m->source_of[sources[s].chunk] = s + 1;
	}
	dlist_push_tail(&t->members, &m->node);
	t->nmembers++;
	if (get_memory(t, m, err))
		return m;
	gc_wave_leave(m);
	return NULL;
}

/* The least that was moved for any other member with a scan under way. */
static double
least_got(const GcWaveMember *of)
{
	double		least = -1;
	dlist_iter	iter;

	dlist_foreach(iter, &of->table->members)
	{
		const GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		if (m != of && m->left > 0 && (least < 0 || m->claim.got < least))
			least = m->claim.got;
	}
	return Max(least, 0);
}

void
gc_wave_begin(GcWaveMember *m, GcStream *stream)
{
	memset(m->to_do, true, m->nsources);
	m->left = m->nsources;
	m->looked_at = 0;
	m->placed = false;
	m->claim.begun_in = m->table->number;
	m->claim.got = least_got(m);
	m->stream = stream;
	memset(&m->failure, 0, sizeof(m->failure));
}

u32
gc_wave_left(const GcWaveMember *m)
{
	return m->left;
}

void
gc_wave_stop(GcWaveMember *m)
{
	m->left = 0;
}

GcCode
gc_wave_failure(const GcWaveMember *m, GcError *err)
{
	if (m->failure.code != GC_OK)
		*err = m->failure;
	return m->failure.code;
}

void
gc_wave_fail(GcWaveMember *m, const GcError *err)
{
	if (m->failure.code == GC_OK)
		m->failure = *err;
	m->left = 0;
}

/*-------------------------------------------------------------------------
 * Waves that are over
 *-------------------------------------------------------------------------
 */

/* The device is done with the wave: log it, and give back regions, memory and events. */
static void
wave_free(WaveTable *t, Wave *w)
{
	ListCell   *lc;

	log_wave(t, w);
	for (u32 i = 0; i < w->nchunks; i++)
	{
		for (int n = 0; n < w->ncolumns; n++)
		{
			if (w->chunks[i].cells[n].region)
				gc_region_put(w->chunks[i].cells[n].region);
		}
	}
	foreach(lc, w->served)
		block_release(((Served *) lfirst(lc))->block);
	block_release(w->described);
	if (w->over)
		gc_worker.ops->event_put(gc_worker.dev, w->over);
	if (w->copied)
		gc_worker.ops->event_put(gc_worker.dev, w->copied);
	if (w->began)
		gc_worker.ops->event_put(gc_worker.dev, w->began);
	dlist_delete(&w->node);
	t->nwaves--;
	t->ncopying -= w->stream == t->copies;
	MemoryContextDelete(w->cxt);
}

/* Are all kernels of the wave done? */
static bool
is_over(const Wave *w)
{
	bool		done = true;
	GcError		err;

	/* After a failure only draining the device tells that nothing is read any more. */
	if (w->over && gc_worker.ops->event_done(w->over, &done, &err) != GC_OK)
	{
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		done = true;
	}
	return done;
}

/* Wait until a wave is over. */
static void
await(const Wave *w)
{
	GcError		err;

	if (w->over && gc_worker.ops->event_wait(w->over, &err) != GC_OK)
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
}

bool
gc_waves_retire(WaveTable *t)
{
	bool		any = false;
	bool		copying = false;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &t->waves)
	{
		Wave	   *w = dlist_container(Wave, node, iter.cur);
		const bool	copies = w->stream == t->copies;

		/* To ask the device costs more than all else here: behind one that copies, others that do are hardly over. */
		if (!w->made || (copies && copying))
			continue;
		if (is_over(w))
		{
			wave_free(t, w);
			any = true;
		}
		else
			copying = copying || copies;
	}
	return any;
}

/* Wait until the waves that are queued are over; false: there were none. */
static bool
await_waves(void)
{
	bool		any = false;

	for (WaveTable *t = wave_tables; t; t = t->next)
	{
		dlist_iter	iter;

		dlist_foreach(iter, &t->waves)
		{
			const Wave *w = dlist_container(Wave, node, iter.cur);

			if (w->made)
				await(w);
		}
		any = gc_waves_retire(t) || any;
	}
	return any;
}

/* Blocks that only finished waves hold may leave device memory, and memory that no wave wanted for long. */
static bool
drop_waves(void)
{
	bool		any = gc_present_request() - kept_in > KEPT_REQUESTS && give_back();

	for (WaveTable *t = wave_tables; t; t = t->next)
		any = gc_waves_retire(t) || any;
	return any;
}

void
gc_waves_init(void)
{
	static GcEvictor evictor = {.drop_derived = drop_waves,.give_back = give_back,.await = await_waves,
	.cached = keep_at_most};

	gc_evictor_register(&evictor);
}

void
gc_wave_leave(GcWaveMember *m)
{
	WaveTable  *t = m->table;
	dlist_mutable_iter iter;

	dlist_delete(&m->node);
	t->nmembers--;
	gc_waves_retire(t);
	if (dlist_is_empty(&t->members))
	{
		dlist_foreach_modify(iter, &t->waves)
		{
			Wave	   *w = dlist_container(Wave, node, iter.cur);

			await(w);
			wave_free(t, w);
		}
	}
	if (m->block)
		block_release(m->block);
	pfree(m->columns);
	pfree(m->source_of);
	pfree(m->to_do);
	pfree(m);
	if (dlist_is_empty(&t->members))
		table_sleep(t);
}
