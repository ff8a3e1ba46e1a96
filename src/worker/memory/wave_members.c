/*-------------------------------------------------------------------------
 *
 * wave_members.c
 *	  What takes part in the waves of a table (waves.c): joining, memory, leaving; and waves that are over.
 *
 * The worker's main thread.  A table's stream lives as long as it has members.  A block of memory lives as long
 * as a member uses it, or a wave that reads it.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

#include "utils/memutils.h"

#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/* Memory that nothing uses is kept for so many requests. */
#define KEPT_REQUESTS	256

static WaveTable *wave_tables = NULL;

/*
 * Memory for columns that nothing uses at present, and the request in which it was used last.  It is in one piece: to
 * have as much again, many chunks here and there would have to go until those that go are neighbours.
 */
static Block *kept = NULL;
static u64	kept_in = 0;

/*-------------------------------------------------------------------------
 * Members and their memory
 *-------------------------------------------------------------------------
 */

u64
gc_wave_bytes(u64 chunk_bytes, int ncolumns)
{
	return DESCRIBED_SLOTS * described_bytes(ncolumns) + SLOTS * (chunk_bytes + ncolumns * align_up(1));
}

static void
block_free(Block *block)
{
	for (int i = 0; i < block->slots; i++)
		gc_device_free(block->slot[i]);
	pfree(block);
}

bool
gc_waves_give_back(void)
{
	Block	   *block = kept;

	kept = NULL;
	if (block)
		block_free(block);
	return block != NULL;
}

void
gc_waves_keep(u64 most)
{
	if (kept && kept->slots * kept->room > most)
		(void) gc_waves_give_back();
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
	(void) gc_waves_give_back();
	kept = block;
	kept_in = gc_present_request();
}

static Block *
get_block(u64 room, int slots)
{
	Block	   *block = kept;

	if (slots == SLOTS && kept && kept->room >= room)
	{
		kept = NULL;
		block->users = 1;
		return block;
	}
	if (slots == SLOTS)
		(void) gc_waves_give_back();
	block = MemoryContextAllocZero(TopMemoryContext, sizeof(Block));
	block->users = 1;
	block->room = room;
	for (; block->slots < slots; block->slots++)
	{
		block->slot[block->slots] = gc_device_alloc(room);
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
 * Get memory for waves that are as large as is of use, or else of one chunk each; or share that of another member, which
 * may then be served by the same waves (wave_prices.c).  Else many members' memory would be in the place of columns.
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
		u64			bytes = 0;

		for (int c = 0; c < m->ncolumns && !(m->sources[s].chunk & GC_PRIVATE_CHUNK); c++)
			bytes += cell_bytes(m->dir, m->sources[s].chunk, m->columns[c].column);
		most = Max(most, bytes);
		all += bytes;
	}
	room = Max(most, Min(align_up(all / 4), Min(WAVE_BYTES, pool / WAVE_PART)));
	/* A scan may read no column at all. */
	most = Max(most, LEAST_ROOM);
	room = Max(Max(room, LEAST_ROOM), t->widest <= pool / WIDEST_PART ? t->widest : 0);
	if ((m->block = shared_block(t, most)) != NULL)
		m->block->users++;
	m->described = get_block(described_bytes(m->ncolumns), DESCRIBED_SLOTS);
	if (m->described && m->block == NULL)
		m->block = get_block(room, SLOTS);
	if (m->described && m->block == NULL && room > most)
		m->block = get_block(most, SLOTS);
	if (m->block == NULL || m->described == NULL)
		gc_fail(err, GC_DEVICE_MEMORY, "No device memory for two waves of %llu kB.", (unsigned long long) most / 1024);
	return m->block != NULL && m->described != NULL;
}

static u64
widest_chunk(const GcDirectory *dir)
{
	u64			most = 0;

	for (u32 i = 0; i < dir->nchunks; i++)
	{
		u64			bytes = 0;

		for (uint32 c = 0; c < dir->ncolumns && dir->chunks[i]; c++)
			bytes += GC_CELL(dir, i, c) ? cell_bytes(dir, i, c) : 0;
		most = Max(most, bytes);
	}
	return most;
}

static WaveTable *
table_of(const GcDirectory *dir, GcError *err)
{
	MemoryContext cxt;
	WaveTable  *t;
	GcStream   *copies;

	for (t = wave_tables; t; t = t->next)
	{
		if (t->dir_id == dir->id)
			return t;
	}
	copies = gc_worker.ops->stream_get(gc_worker.dev, err);
	if (copies == NULL)
		return NULL;
	cxt = AllocSetContextCreate(TopMemoryContext, "gpuconc waves", ALLOCSET_SMALL_SIZES);
	t = MemoryContextAllocZero(cxt, sizeof(WaveTable));
	t->dir_id = dir->id;
	t->widest = widest_chunk(dir);
	t->copies = copies;
	t->cxt = cxt;
	t->prices = MemoryContextAllocZero(cxt, (dir->ncolumns + 1) * sizeof(Price));
	dlist_init(&t->members);
	dlist_init(&t->waves);
	gc_wave_clock_start(t);
	t->next = wave_tables;
	wave_tables = t;
	return t;
}

WaveTable *
gc_wave_tables(void)
{
	return wave_tables;
}

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
	gc_wave_clock_stop(t);
	gc_worker.ops->stream_put(gc_worker.dev, t->copies);
	MemoryContextDelete(t->cxt);
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
	m->columns = MemoryContextAlloc(t->cxt, (ncolumns + 1) * sizeof(GcWaveColumn));
	memcpy(m->columns, columns, ncolumns * sizeof(GcWaveColumn));
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

static void
wave_free(WaveTable *t, Wave *w)
{
	ListCell   *lc;

	gc_wave_log(t, w);
	for (u32 i = 0; i < w->nchunks; i++)
	{
		foreach(lc, w->chunks[i].cells)
		{
			Cell	   *cell = lfirst(lc);

			if (cell->region)
				gc_region_put(cell->region);
		}
	}
	foreach(lc, w->served)
	{
		Served	   *s = lfirst(lc);

		if (s->ran)
			gc_worker.ops->event_put(gc_worker.dev, s->ran);
		block_release(s->described);
		block_release(s->block);
	}
	if (w->copied)
		gc_worker.ops->event_put(gc_worker.dev, w->copied);
	if (w->began)
		gc_worker.ops->event_put(gc_worker.dev, w->began);
	dlist_delete(&w->node);
	t->nwaves--;
	MemoryContextDelete(w->cxt);
}

static bool
is_over(const Wave *w)
{
	ListCell   *lc;

	foreach(lc, w->served)
	{
		const Served *s = lfirst(lc);
		bool		done = true;
		GcError		err;

		/* After a failure only draining the device tells that nothing is read any more. */
		if (s->ran && gc_worker.ops->event_done(s->ran, &done, &err) != GC_OK)
		{
			(void) gc_worker.ops->drain(gc_worker.dev, NULL);
			done = true;
		}
		if (!done)
			return false;
	}
	return true;
}

/* Wait until a wave is over. */
static void
await(const Wave *w)
{
	ListCell   *lc;

	foreach(lc, w->served)
	{
		const Served *s = lfirst(lc);
		GcError		err;

		if (s->ran && gc_worker.ops->event_wait(s->ran, &err) != GC_OK)
			(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	}
}

bool
gc_waves_retire(WaveTable *t)
{
	bool		any = false;

	while (!dlist_is_empty(&t->waves))
	{
		Wave	   *w = dlist_head_element(Wave, node, &t->waves);

		if (!w->made || !is_over(w))
			break;
		wave_free(t, w);
		any = true;
	}
	return any;
}

bool
gc_waves_await(void)
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

/* What only waves that are over hold may leave device memory, and memory that no wave wanted for long. */
static bool
drop_waves(void)
{
	bool		any = gc_present_request() - kept_in > KEPT_REQUESTS && gc_waves_give_back();

	for (WaveTable *t = wave_tables; t; t = t->next)
		any = gc_waves_retire(t) || any;
	return any;
}

void
gc_waves_init(void)
{
	static GcEvictor evictor = {.drop_derived = drop_waves};

	gc_evictor_register(&evictor);
}

void
gc_wave_leave(GcWaveMember *m)
{
	WaveTable  *t = m->table;
	dlist_mutable_iter iter;

	dlist_delete(&m->node);
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
	if (m->described)
		block_release(m->described);
	if (m->block)
		block_release(m->block);
	if (dlist_is_empty(&t->members))
	{
		table_free(t);
		return;
	}
	pfree(m->columns);
	pfree(m->source_of);
	pfree(m->to_do);
	pfree(m);
}
