/*-------------------------------------------------------------------------
 *
 * waves.c
 *	  Scans of tables whose columns do not fit into device memory: waves of chunks.
 *
 * Waves belong to a table, which has one stream of copies while any request scans it in waves.  A wave is a
 * few chunks: the columns of them that are not in device memory are copied, once, and then a kernel of each
 * member that wants these chunks is launched.  Copies go to a stream of their own, so the next wave is copied
 * while the kernels of this one run.  A member keeps account of its chunks that are still to do.  So it joins
 * at the table's present position, and wraps around at its end.  Members take turns in choosing the next
 * wave: one that wants few chunks is not held up by one that wants all.
 *
 * A member brings memory for two waves, which waves take turns in, or shares another one's that has room for
 * all columns of a chunk.  So no scan waits for memory once it has begun.  A copy waits, on the device, for
 * the kernels that read its memory before.  Where memory is to spare, chunks are copied there instead, and
 * stay cached.  Waves drop what is cached only for columns that are needed clearly sooner: in a cyclic scan it
 * would be what comes next.  What is in
 * memory when a member begins is visited first, in place.
 *
 * Descriptions of a wave's chunks lie in the member's memory, too: one for each chunk from the wave's first to
 * its last, since kernels know chunks by their numbers in the directory.
 *
 * The worker's main thread.  A table's stream lives as long as it has members.  A wave lives until its kernels
 * are done, and holds the regions and the memory that they read.
 *
 *-------------------------------------------------------------------------
 */
#include "waves.h"

#include "lib/ilist.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"

#include "../../queue/queue.h"
#include "device_cache.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/* Chunks from a wave's first to its last, at most; and the sources of a member. */
#define MOST_CHUNKS		64

/* A wave copies about this much, or this part of the pool if that is less; but one chunk at least. */
#define WAVE_BYTES		((u64) 32 << 20)
#define WAVE_PART		32

/* Waves that are queued ahead of those that are done: one is copied, one computes, one waits. */
#define MOST_UNDER_WAY	3

#define LEAST_ROOM		256

/* Pieces of memory that waves take turns in. */
#define SLOTS			2

/* Memory for two waves.  Members use it, and so does each wave that reads it. */
typedef struct Block
{
	GcAddr		slot[SLOTS];
	u64			room;			/* bytes of each slot */
	u64			used;			/* of that, by the wave that is being made */
	u32			chunk;			/* 1 + the chunk for which it was last seen to have room; 0: none */
	int			users;
} Block;

typedef struct WaveTable
{
	uint64		dir_id;
	u64			widest;			/* bytes of all columns of the chunk that has most */
	GcStream   *copies;
	u32			at;				/* chunk where the next wave begins */
	u32			number;			/* of the next wave */
	dlist_head	members;		/* whose turn it is comes first */
	dlist_head	waves;			/* oldest first */
	int			nwaves;
	MemoryContext cxt;
	struct WaveTable *next;
} WaveTable;

struct GcWaveMember
{
	dlist_node	node;
	WaveTable  *table;
	const GcDirectory *dir;
	const GcSource *sources;
	u32			nsources;
	int		   *columns;
	bool	   *displace;		/* per column: its chunks are cached in place of others */
	int			ncolumns;
	u32		   *source_of;		/* per chunk: 1 + its source; 0: it is not read */
	bool	   *to_do;			/* per source */
	u32			left;
	u32			looked_at;		/* sources before this one that were in memory at first are visited */
	GcStream   *stream;
	GcWaveLaunch launch;
	void	   *arg;
	Block	   *described;		/* the member's own, for descriptions */
	Block	   *block;			/* for columns; it may be shared */
	GcError		failure;
};

/* One column of a chunk in a wave. */
typedef struct Cell
{
	int			column;
	GcAddr		addr;
	GcRegion   *region;			/* NULL: it lies in a member's memory */
	u64			copied;			/* bytes */
	int			readers;
} Cell;

typedef struct WaveChunk
{
	u32			chunk;
	List	   *cells;			/* Cell */
} WaveChunk;

/* A member that a wave serves. */
typedef struct Served
{
	GcWaveMember *member;		/* to be used only while the wave is made */
	Block	   *described;
	Block	   *block;
	GcEvent    *ran;			/* behind its kernel; NULL: that was not queued */
	u32			n;				/* its sources */
	u32			source[MOST_CHUNKS];
	WaveChunk  *chunk[MOST_CHUNKS];	/* NULL: a private chunk */
} Served;

typedef struct Wave
{
	dlist_node	node;
	u32			number;
	WaveChunk	chunks[MOST_CHUNKS];
	u32			nchunks;
	u64			bytes;			/* copied */
	bool		made;			/* all of it is queued */
	List	   *served;			/* Served */
	GcEvent    *copied;
	MemoryContext cxt;
} Wave;

static WaveTable *wave_tables = NULL;

/*-------------------------------------------------------------------------
 * Members and their memory
 *-------------------------------------------------------------------------
 */

static u64
align_up(u64 n)
{
	return (n + 255) & ~(u64) 255;
}

/* Bytes of the descriptions of a wave, in a slot. */
static u64
described_bytes(int ncolumns)
{
	return align_up(MOST_CHUNKS * (sizeof(GcSource) + ncolumns * sizeof(GcCol)));
}

u64
gc_wave_bytes(u64 chunk_bytes, int ncolumns)
{
	return SLOTS * (described_bytes(ncolumns) + chunk_bytes + ncolumns * align_up(1));
}

static u64
cell_bytes(const GcDirectory *dir, u32 chunk, int column)
{
	const GcChunkColumn *cell = GC_CELL(dir, chunk, column);

	return align_up(cell->data_bytes + cell->null_bytes);
}

static void
block_release(Block *block)
{
	if (--block->users > 0)
		return;
	for (int i = 0; i < SLOTS; i++)
		gc_device_free(block->slot[i]);
	pfree(block);
}

static Block *
get_block(u64 room)
{
	Block	   *block = MemoryContextAllocZero(TopMemoryContext, sizeof(Block));

	block->users = 1;
	block->room = room;
	for (int i = 0; i < SLOTS; i++)
	{
		block->slot[i] = gc_device_alloc(room);
		if (block->slot[i] == 0)
		{
			block_release(block);
			return NULL;
		}
	}
	return block;
}

/* Memory of another member that has room for all columns of any chunk, or NULL. */
static Block *
shared_block(WaveTable *t)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		Block	   *block = dlist_container(GcWaveMember, node, iter.cur)->block;

		if (block && block->room >= t->widest)
			return block;
	}
	return NULL;
}

/*
 * Get memory for waves that are as large as is of use, or else of one chunk each.  Room for all columns of a
 * chunk lets later members share it.
 */
static bool
get_memory(WaveTable *t, GcWaveMember *m, GcError *err)
{
	const u64	pool = gc_pool_size(gc_worker.pool);
	u64			most = 0,
				all = 0,
				room;

	if ((m->block = shared_block(t)) != NULL)
		m->block->users++;
	for (u32 s = 0; s < m->nsources; s++)
	{
		u64			bytes = 0;

		for (int c = 0; c < m->ncolumns && !(m->sources[s].chunk & GC_PRIVATE_CHUNK); c++)
			bytes += cell_bytes(m->dir, m->sources[s].chunk, m->columns[c]);
		most = Max(most, bytes);
		all += bytes;
	}
	room = Max(most, Min(align_up(all / 4), Min(WAVE_BYTES, pool / WAVE_PART)));
	/* A scan may read no column at all. */
	most = Max(most, LEAST_ROOM);
	room = Max(Max(room, LEAST_ROOM), t->widest <= pool / WAVE_PART ? t->widest : 0);
	m->described = get_block(described_bytes(m->ncolumns));
	if (m->described && m->block == NULL)
		m->block = get_block(room);
	if (m->described && m->block == NULL && room > most)
		m->block = get_block(most);
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
	dlist_init(&t->members);
	dlist_init(&t->waves);
	t->next = wave_tables;
	wave_tables = t;
	return t;
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
	gc_worker.ops->stream_put(gc_worker.dev, t->copies);
	MemoryContextDelete(t->cxt);
}

GcWaveMember *
gc_wave_join(const GcDirectory *dir, const int *columns, const bool *displace, int ncolumns, const GcSource *sources,
			 u32 nsources, GcWaveLaunch launch, void *arg, GcError *err)
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
	m->columns = MemoryContextAlloc(t->cxt, (ncolumns + 1) * sizeof(int));
	memcpy(m->columns, columns, ncolumns * sizeof(int));
	m->displace = MemoryContextAlloc(t->cxt, ncolumns + 1);
	memcpy(m->displace, displace, ncolumns);
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

void
gc_wave_begin(GcWaveMember *m, GcStream *stream)
{
	memset(m->to_do, true, m->nsources);
	m->left = m->nsources;
	m->looked_at = 0;
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

/* The scan of the member has failed: the request finds the error when it asks. */
static void
fail(GcWaveMember *m, const GcError *err)
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

/* Free waves that are over; false: there were none. */
static bool
retire(WaveTable *t)
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

/* What only waves that are over hold may leave device memory. */
static bool
drop_waves(void)
{
	bool		any = false;

	for (WaveTable *t = wave_tables; t; t = t->next)
		any = retire(t) || any;
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
	retire(t);
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
	pfree(m->displace);
	pfree(m->source_of);
	pfree(m->to_do);
	pfree(m);
}

/*-------------------------------------------------------------------------
 * Which chunks
 *-------------------------------------------------------------------------
 */

static bool
wants(const GcWaveMember *m, u32 chunk)
{
	return m->left > 0 && m->source_of[chunk] > 0 && m->to_do[m->source_of[chunk] - 1];
}

static Cell *
find_cell(const WaveChunk *wc, int column)
{
	ListCell   *lc;

	foreach(lc, wc->cells)
	{
		Cell	   *cell = lfirst(lc);

		if (cell->column == column)
			return cell;
	}
	return NULL;
}

/* Are the chunk's columns that the member reads all in memory? */
static bool
is_there(const GcWaveMember *m, u32 chunk)
{
	for (int c = 0; c < m->ncolumns; c++)
	{
		if (!gc_region_there(GC_CELL(m->dir, chunk, m->columns[c])))
			return false;
	}
	return true;
}

/* Bytes of a chunk's columns that are not in memory, and that members with this block want. */
static u64
missing_bytes(WaveTable *t, const Block *block, u32 chunk)
{
	Bitmapset  *seen = NULL;
	u64			bytes = 0;
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		const GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		for (int c = 0; c < m->ncolumns && m->block == block && wants(m, chunk); c++)
		{
			if (bms_is_member(m->columns[c], seen))
				continue;
			seen = bms_add_member(seen, m->columns[c]);
			if (!gc_region_there(GC_CELL(m->dir, chunk, m->columns[c])))
				bytes += cell_bytes(m->dir, chunk, m->columns[c]);
		}
	}
	bms_free(seen);
	return bytes;
}

/* Is there room for what is missing of the chunk?  The first chunk of a wave always fits. */
static bool
has_room(WaveTable *t, u32 chunk)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		const GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);
		Block	   *block = m->block;

		if (!wants(m, chunk) || block->chunk == chunk + 1)
			continue;
		if (missing_bytes(t, block, chunk) > block->room - block->used)
			return false;
		block->chunk = chunk + 1;
	}
	return true;
}

/* Where a member's chunks of the wave are described. */
static GcAddr
slot_of(const GcWaveMember *m, const Wave *w)
{
	return m->described->slot[w->number % SLOTS];
}

/*
 * Have one column of a chunk in memory: where it is; cached, where there is memory to spare or others can go;
 * or in the member's.
 */
static GcCode
have_cell(Wave *w, GcWaveMember *m, u32 chunk, Cell *cell, bool displace, GcError *err)
{
	const GcChunkColumn *from = GC_CELL(m->dir, chunk, cell->column);
	GcStream   *copies = m->table->copies;
	GcCode		code = gc_region_take(from, copies, &cell->region, err);

	if (code != GC_OK || cell->region)
	{
		cell->addr = cell->region ? gc_region_addr(cell->region) : 0;
		return code;
	}
	cell->copied = from->data_bytes + from->null_bytes;
	w->bytes += cell->copied;
	code = gc_region_keep(m->dir, cell->column, chunk, displace, copies, &cell->region, err);
	if (code != GC_OK || cell->region)
	{
		cell->addr = cell->region ? gc_region_addr(cell->region) : 0;
		return code;
	}
	if (m->block->used + align_up(cell->copied) > m->block->room)
		return gc_fail(err, GC_DEVICE_MEMORY, "A wave has no room for a column chunk.");
	cell->addr = m->block->slot[w->number % SLOTS] + m->block->used;
	m->block->used += align_up(cell->copied);
	return gc_copy_in(copies, cell->addr, (const void *) from->desc.data, cell->copied, err);
}

static Served *
served_of(Wave *w, GcWaveMember *m)
{
	Served	   *s;
	ListCell   *lc;

	foreach(lc, w->served)
	{
		s = lfirst(lc);
		if (s->member == m)
			return s;
	}
	s = palloc0(sizeof(Served));
	s->member = m;
	s->described = m->described;
	s->described->users++;
	s->block = m->block;
	s->block->users++;
	w->served = lappend(w->served, s);
	return s;
}

/* The wave serves the member with this source; wc: its chunk in the wave, or NULL. */
static void
serve(Wave *w, GcWaveMember *m, u32 source, WaveChunk *wc)
{
	Served	   *s = served_of(w, m);

	s->source[s->n] = source;
	s->chunk[s->n++] = wc;
	m->to_do[source] = false;
	m->left--;
}

/* Add a chunk for a member; the wave has it for others already if they want it, too. */
static GcCode
add_chunk(Wave *w, GcWaveMember *m, WaveChunk *wc, GcError *err)
{
	GcCode		code = GC_OK;

	for (int c = 0; c < m->ncolumns && code == GC_OK; c++)
	{
		Cell	   *cell = find_cell(wc, m->columns[c]);

		if (cell == NULL)
		{
			cell = palloc0(sizeof(Cell));
			cell->column = m->columns[c];
			wc->cells = lappend(wc->cells, cell);
			code = have_cell(w, m, wc->chunk, cell, m->displace[c], err);
		}
		cell->readers++;
	}
	serve(w, m, m->source_of[wc->chunk] - 1, wc);
	return code;
}

/* May the chunk be the wave's next? */
static bool
in_reach(const Wave *w, u32 chunk)
{
	return w->nchunks == 0 || (chunk > w->chunks[w->nchunks - 1].chunk && chunk < w->chunks[0].chunk + MOST_CHUNKS);
}

static WaveChunk *
new_chunk(Wave *w, u32 chunk)
{
	WaveChunk  *wc = &w->chunks[w->nchunks++];

	wc->chunk = chunk;
	return wc;
}

/*
 * Take what is in memory of a new chunk, before anything is dropped for the rest of it: has_room() did not count
 * that.
 */
static GcCode
take_there(WaveTable *t, WaveChunk *wc, GcError *err)
{
	GcCode		code = GC_OK;
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		const GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		for (int c = 0; c < m->ncolumns && code == GC_OK && wants(m, wc->chunk); c++)
		{
			const GcChunkColumn *from = GC_CELL(m->dir, wc->chunk, m->columns[c]);
			Cell	   *cell;

			if (find_cell(wc, m->columns[c]) || !gc_region_there(from))
				continue;
			cell = palloc0(sizeof(Cell));
			cell->column = m->columns[c];
			code = gc_region_take(from, t->copies, &cell->region, err);
			cell->addr = cell->region ? gc_region_addr(cell->region) : 0;
			wc->cells = lappend(wc->cells, cell);
		}
	}
	return code;
}

/* What a member finds in memory when it begins comes first. */
static GcCode
choose_resident(Wave *w, GcWaveMember *m, GcError *err)
{
	GcCode		code = GC_OK;
	u32			n = 0;

	for (; m->looked_at < m->nsources && n < MOST_CHUNKS && code == GC_OK; m->looked_at++)
	{
		const u32	chunk = m->sources[m->looked_at].chunk;

		if (!m->to_do[m->looked_at])
			continue;
		if (!(chunk & GC_PRIVATE_CHUNK) && !in_reach(w, chunk))
			break;
		if (chunk & GC_PRIVATE_CHUNK)
			serve(w, m, m->looked_at, NULL);
		else if (is_there(m, chunk))
			code = add_chunk(w, m, new_chunk(w, chunk), err);
		else
			continue;
		n++;
	}
	return code;
}

/* The next chunks that the leader wants, from the table's position on, for all members that want them. */
static GcCode
choose_next(WaveTable *t, Wave *w, GcWaveMember *leader, GcError *err)
{
	const u32	nchunks = leader->dir->nchunks;
	const u32	at = t->at;
	GcCode		code = GC_OK;

	for (u32 i = 0; i < nchunks && w->bytes < leader->block->room && code == GC_OK; i++)
	{
		const u32	chunk = (at + i) % nchunks;
		dlist_iter	iter;
		WaveChunk  *wc;

		if (!wants(leader, chunk))
			continue;
		if (!in_reach(w, chunk) || !has_room(t, chunk))
			break;
		t->at = (chunk + 1) % nchunks;
		wc = new_chunk(w, chunk);
		code = take_there(t, wc, err);
		dlist_foreach(iter, &t->members)
		{
			GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

			if (code == GC_OK && wants(m, chunk))
				code = add_chunk(w, m, wc, err);
		}
	}
	return code;
}

/*-------------------------------------------------------------------------
 * One wave
 *-------------------------------------------------------------------------
 */

/* Copies to memory that earlier waves used wait for the kernels that read it. */
static GcCode
wait_for_slot(WaveTable *t, const Wave *w, GcError *err)
{
	GcCode		code = GC_OK;
	dlist_iter	iter;

	dlist_foreach(iter, &t->waves)
	{
		const Wave *before = dlist_container(Wave, node, iter.cur);
		ListCell   *lc;

		if (before->number + SLOTS != w->number)
			continue;
		foreach(lc, before->served)
		{
			const Served *s = lfirst(lc);

			if (s->ran && code == GC_OK)
				code = gc_worker.ops->stream_wait(t->copies, s->ran, err);
		}
	}
	return code;
}

/* Describe a member's chunks in its memory. */
static GcCode
describe(WaveTable *t, Wave *w, const Served *s, GcWavePart *part, GcAddr *columns, GcError *err)
{
	const GcWaveMember *m = s->member;
	const u32	first = w->nchunks > 0 ? w->chunks[0].chunk : 0;
	const u32	nchunks = w->nchunks > 0 ? w->chunks[w->nchunks - 1].chunk - first + 1 : 0;
	const u64	bytes = s->n * sizeof(GcSource) + (u64) m->ncolumns * nchunks * sizeof(GcCol);
	char	   *from = palloc0(bytes);
	GcSource   *sources = (GcSource *) from;
	GcCol	   *cols = (GcCol *) (sources + s->n);

	*part = (GcWavePart) {.sources = slot_of(m, w),.nsources = s->n,.columns = columns,.last = m->left == 0};
	for (u32 i = 0; i < s->n; i++)
	{
		sources[i] = m->sources[s->source[i]];
		part->rows += sources[i].nrows;
		for (int c = 0; c < m->ncolumns && s->chunk[i]; c++)
		{
			const GcChunkColumn *of = GC_CELL(m->dir, s->chunk[i]->chunk, m->columns[c]);
			const Cell *cell = find_cell(s->chunk[i], m->columns[c]);
			GcCol	   *col = &cols[c * nchunks + s->chunk[i]->chunk - first];

			*col = of->desc;
			col->data = cell->addr;
			col->nulls = of->desc.nulls ? cell->addr + of->data_bytes : 0;
			part->copied += cell->copied;
			part->shared += cell->readers > 1 ? cell->copied : 0;
		}
	}
	/* The address of chunk 0's description, which is there or not. */
	for (int c = 0; c < m->ncolumns; c++)
		columns[c] = part->sources + s->n * sizeof(GcSource) + ((u64) c * nchunks - first) * sizeof(GcCol);
	return gc_worker.ops->copy_in(t->copies, part->sources, from, bytes, err);
}

/* Launch a member's kernel behind the copies.  The member fails by itself. */
static void
launch(Wave *w, Served *s, const GcWavePart *part)
{
	GcWaveMember *m = s->member;
	GcError		err = {GC_OK, ""};

	if (gc_worker.ops->stream_wait(m->stream, w->copied, &err) != GC_OK || m->launch(m->arg, part, &err) != GC_OK)
		fail(m, &err);
	s->ran = gc_worker.ops->event(m->stream, &err);
	if (s->ran == NULL)
	{
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		fail(m, &err);
	}
}

static void
count(const Wave *w)
{
	u64			shared = 0;

	for (u32 i = 0; i < w->nchunks; i++)
	{
		ListCell   *lc;

		foreach(lc, w->chunks[i].cells)
		{
			const Cell *cell = lfirst(lc);

			shared += cell->readers > 1 ? cell->copied : 0;
		}
	}
	pg_atomic_fetch_add_u64(&gc_stats()->waves, 1);
	pg_atomic_fetch_add_u64(&gc_stats()->wave_bytes, w->bytes);
	pg_atomic_fetch_add_u64(&gc_stats()->wave_bytes_shared, shared);
}

/* Fill and launch a wave. */
static GcCode
make_wave(WaveTable *t, Wave *w, GcWaveMember *leader, GcError *err)
{
	GcCode		code = wait_for_slot(t, w, err);
	int			n = 0;
	GcWavePart *parts;
	ListCell   *lc;

	if (code == GC_OK && leader->looked_at < leader->nsources)
		code = choose_resident(w, leader, err);
	if (code == GC_OK && w->served == NIL)
		code = choose_next(t, w, leader, err);
	if (code == GC_OK && w->served == NIL)
		code = gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a wave.");
	parts = palloc((list_length(w->served) + 1) * sizeof(GcWavePart));
	foreach(lc, w->served)
	{
		Served	   *s = lfirst(lc);

		if (code == GC_OK)
			code = describe(t, w, s, &parts[n++], palloc((s->member->ncolumns + 1) * sizeof(GcAddr)), err);
	}
	if (code == GC_OK && (w->copied = gc_worker.ops->event(t->copies, err)) == NULL)
		code = err->code;
	n = 0;
	foreach(lc, w->served)
	{
		Served	   *s = lfirst(lc);

		if (code == GC_OK)
			launch(w, s, &parts[n++]);
		else
			fail(s->member, err);
	}
	return code;
}

GcCode
gc_wave_step(GcWaveMember *m, GcError *err)
{
	WaveTable  *t = m->table;
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "gpuconc wave", ALLOCSET_SMALL_SIZES);
	Wave	   *w = MemoryContextAllocZero(cxt, sizeof(Wave));
	MemoryContext old = MemoryContextSwitchTo(cxt);
	dlist_iter	iter;
	GcCode		code;

	w->cxt = cxt;
	w->number = t->number++;
	dlist_push_tail(&t->waves, &w->node);
	t->nwaves++;
	dlist_foreach(iter, &t->members)
	{
		Block	   *block = dlist_container(GcWaveMember, node, iter.cur)->block;

		block->used = block->chunk = 0;
	}
	code = make_wave(t, w, m, err);
	w->made = true;
	MemoryContextSwitchTo(old);
	count(w);
	/* The others' turn comes first. */
	dlist_delete(&m->node);
	dlist_push_tail(&t->members, &m->node);
	return code == GC_OK ? gc_wave_failure(m, err) : code;
}

GcCode
gc_wave_drive(GcWaveMember *m, bool *stepped, GcError *err)
{
	WaveTable  *t = m->table;
	dlist_iter	iter;

	*stepped = false;
	retire(t);
	if (m->left == 0 || t->nwaves >= MOST_UNDER_WAY)
		return gc_wave_failure(m, err);
	dlist_foreach(iter, &t->members)
	{
		const GcWaveMember *turn = dlist_container(GcWaveMember, node, iter.cur);

		if (turn->left == 0)
			continue;
		if (turn != m)
			return GC_OK;
		*stepped = true;
		return gc_wave_step(m, err);
	}
	return GC_OK;
}
