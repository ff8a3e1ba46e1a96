/*-------------------------------------------------------------------------
 *
 * waves.c
 *	  Scans of tables whose columns do not fit into device memory: waves of chunks.  Their members and memory
 *	  are in wave_members.c.
 *
 * Waves belong to a table, which has one stream of copies while any request scans it in waves.  A wave is a
 * few chunks: the columns of them that are not in device memory are copied, once, and then a kernel of each
 * member that wants these chunks is launched.  Copies go to a stream of their own, so the next wave is copied
 * while the kernels of this one run.  A member keeps account of its chunks that are still to do.  So it joins
 * where others are, and wraps around at its end.  A wave is led by the member whose turn it is, and serves with it the
 * members that share most of what they read (wave_prices.c).  So one that reads little is not held up by one that reads much.
 *
 * A member brings memory for two waves, which waves take turns in, or shares another one's that has room for
 * its own columns.  So no scan waits for memory once it has begun.  A copy waits, on the device, for
 * the kernels that read its memory before.  Where memory is to spare, chunks are copied there instead, and
 * stay cached.  Waves drop what is cached only for columns that are worth clearly more.  They drop no more of it than
 * a part of what they move: in a cyclic scan it would be what comes next.  What is in memory when a member begins is
 * visited first, in place.
 *
 * A column that kernels read only for the few rows that pass earlier steps may be left in the host's memory.  It is
 * if that moves less over the link, for all that the wave serves, than one copy (link_reads.c).  It must stay there
 * until these kernels are done, as for a copy: members hold the directory.
 *
 * Descriptions of a wave's chunks lie in the member's memory, too: one for each chunk from the wave's first to
 * its last, since kernels know chunks by their numbers in the directory.
 *
 * The worker's main thread.  A table's stream lives as long as it has members.  A wave lives until its kernels
 * are done, and holds the regions and the memory that they read.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

#include "utils/memutils.h"

#include "../../queue/queue.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/* By all tables. */
static GcDisplaced displaced;

/*-------------------------------------------------------------------------
 * Which chunks
 *-------------------------------------------------------------------------
 */

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
		if (!gc_region_there(GC_CELL(m->dir, chunk, m->columns[c].column)))
			return false;
	}
	return true;
}

/* Is there room for what is missing of the chunk that was priced?  The first chunk of a wave always fits. */
static bool
has_room(WaveTable *t, u32 chunk)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		const GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		if (gc_wave_takes(m, chunk) && m->block->missing > m->block->room - m->block->used)
			return false;
	}
	return true;
}

/* Where a member's chunks of the wave are described. */
static GcAddr
slot_of(const GcWaveMember *m, const Wave *w)
{
	return m->described->slot[w->number % DESCRIBED_SLOTS];
}

/*
 * Copies wait for the kernels of earlier waves that read the same of so many slots.  Waves between that did not copy
 * have not waited for those.
 */
static GcCode
wait_for_slot(WaveTable *t, const Wave *w, u32 slots, GcError *err)
{
	GcCode		code = GC_OK;
	dlist_iter	iter;

	dlist_foreach(iter, &t->waves)
	{
		const Wave *before = dlist_container(Wave, node, iter.cur);
		ListCell   *lc;

		if (before == w || (w->number - before->number) % slots != 0)
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

/*
 * Cache a column's chunk, where there is memory to spare or others can go for it.  One that kernels can read in the
 * host's memory takes only what is worth it.
 */
static GcCode
keep_cell(Wave *w, GcWaveMember *m, u32 chunk, Cell *cell, GcWaveColumn *column, GcError *err)
{
	const GcChunkColumn *from = GC_CELL(m->dir, chunk, cell->column);
	const u64	bytes = from->data_bytes + from->null_bytes;
	/* What was worth less when the scan began may be gone, or in use. */
	const bool	displace = column->displace >= bytes && gc_may_displace(&displaced, gc_pool_size(gc_worker.pool)) &&
		gc_eviction_pays(bytes, &column->uses, cell->in_place ? GC_WORTH_BOTH : GC_WORTH_A_COPY) >= bytes;
	GcCode		code;

	/* What did not pay for this chunk is not asked for the next ones. */
	if (!displace)
		column->displace = 0;
	if (cell->in_place && !displace && !gc_link_copy_free(from, m->table->prices[cell->column].bytes))
		return GC_OK;
	code = gc_region_keep(m->dir, cell->column, chunk, displace, m->table->copies, &cell->region, err);
	if (cell->region)
	{
		column->displace -= displace ? bytes : 0;
		gc_note_displaced(&displaced, displace ? bytes : 0);
		cell->addr = gc_region_addr(cell->region);
		cell->copied = bytes;
		w->bytes += bytes;
	}
	return code;
}

/*
 * Have one column of a chunk where kernels can read it: in memory already; cached; left in the host's; or in the
 * member's memory.
 */
static GcCode
have_cell(Wave *w, GcWaveMember *m, u32 chunk, Cell *cell, GcWaveColumn *column, GcError *err)
{
	const GcChunkColumn *from = GC_CELL(m->dir, chunk, cell->column);
	GcStream   *copies = m->table->copies;
	GcCode		code = gc_region_take(from, copies, &cell->region, err);

	if (code != GC_OK || cell->region)
	{
		cell->addr = cell->region ? gc_region_addr(cell->region) : 0;
		return code;
	}
	cell->in_place = gc_wave_stays(m->table, m->dir, chunk, cell->column);
	code = keep_cell(w, m, chunk, cell, column, err);
	if (code != GC_OK || cell->region)
	{
		cell->in_place = false;
		return code;
	}
	if (cell->in_place)
	{
		cell->addr = from->desc.data;
		w->price += m->table->prices[cell->column].bytes;
		return GC_OK;
	}
	cell->copied = from->data_bytes + from->null_bytes;
	w->bytes += cell->copied;
	if (m->block->used + align_up(cell->copied) > m->block->room)
		return gc_fail(err, GC_DEVICE_MEMORY, "A wave has no room for a column chunk.");
	if (!w->waited && (code = wait_for_slot(m->table, w, SLOTS, err)) != GC_OK)
		return code;
	w->waited = true;
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
		Cell	   *cell = find_cell(wc, m->columns[c].column);

		if (cell == NULL)
		{
			cell = palloc0(sizeof(Cell));
			cell->column = m->columns[c].column;
			wc->cells = lappend(wc->cells, cell);
			code = have_cell(w, m, wc->chunk, cell, &m->columns[c], err);
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

		for (int c = 0; c < m->ncolumns && code == GC_OK && gc_wave_takes(m, wc->chunk); c++)
		{
			const int	column = m->columns[c].column;
			const GcChunkColumn *from = GC_CELL(m->dir, wc->chunk, column);
			Cell	   *cell;

			if (find_cell(wc, column) || !gc_region_there(from))
				continue;
			cell = palloc0(sizeof(Cell));
			cell->column = column;
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
	const u32	at = leader->placed ? leader->at : gc_wave_first_place(t, leader);
	GcCode		code = GC_OK;

	for (u32 i = 0; i < nchunks && (double) w->bytes + w->price < (double) leader->block->room && code == GC_OK; i++)
	{
		const u32	chunk = (at + i) % nchunks;
		dlist_iter	iter;
		WaveChunk  *wc;

		if (!gc_wave_wants(leader, chunk))
			continue;
		if (!in_reach(w, chunk))
			break;
		gc_wave_price_chunk(t, leader, chunk);
		if (!has_room(t, chunk))
			break;
		t->at = (chunk + 1) % nchunks;
		wc = new_chunk(w, chunk);
		code = take_there(t, wc, err);
		dlist_foreach(iter, &t->members)
		{
			GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

			if (code == GC_OK && gc_wave_takes(m, chunk))
			{
				m->claim.got += m->alone;
				m->at = (chunk + 1) % nchunks;
				m->placed = true;
				code = add_chunk(w, m, wc, err);
			}
		}
	}
	return code;
}

/*-------------------------------------------------------------------------
 * One wave
 *-------------------------------------------------------------------------
 */

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
			const GcChunkColumn *of = GC_CELL(m->dir, s->chunk[i]->chunk, m->columns[c].column);
			const Cell *cell = find_cell(s->chunk[i], m->columns[c].column);
			GcCol	   *col = &cols[c * nchunks + s->chunk[i]->chunk - first];

			*col = of->desc;
			col->data = cell->addr;
			col->nulls = of->desc.nulls ? cell->addr + of->data_bytes : 0;
			part->copied += cell->copied;
			part->shared += cell->readers > 1 ? cell->copied : 0;
			part->read_bytes += cell->in_place ? 0 : of->data_bytes;
			part->in_place += cell->in_place;
			part->in_place_price += cell->in_place ? gc_link_price(&m->columns[c].link, of) : 0;
			part->in_place_bytes += cell->in_place ? (u64) gc_link_bytes(&m->columns[c].link, of) : 0;
		}
	}
	w->in_place += part->in_place;
	w->in_place_bytes += part->in_place_bytes;
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
		gc_wave_fail(m, &err);
	/* The last one's time is logged. */
	s->ran = s == llast(w->served) ? gc_worker.ops->event_timed(m->stream, &err) : gc_worker.ops->event(m->stream, &err);
	if (s->ran == NULL)
	{
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		gc_wave_fail(m, &err);
	}
}

static void
count(Wave *w)
{
	for (u32 i = 0; i < w->nchunks; i++)
	{
		ListCell   *lc;

		foreach(lc, w->chunks[i].cells)
		{
			const Cell *cell = lfirst(lc);

			w->shared += cell->readers > 1 ? cell->copied : 0;
		}
	}
	gc_note_moved(&displaced, (double) w->bytes + w->price);
	pg_atomic_fetch_add_u64(&gc_stats()->waves, 1);
	pg_atomic_fetch_add_u64(&gc_stats()->wave_bytes, w->bytes);
	pg_atomic_fetch_add_u64(&gc_stats()->wave_bytes_shared, w->shared);
	pg_atomic_fetch_add_u64(&gc_stats()->link_reads, w->in_place);
	pg_atomic_fetch_add_u64(&gc_stats()->link_read_bytes, w->in_place_bytes);
}

/* Fill and launch a wave. */
static GcCode
make_wave(WaveTable *t, Wave *w, GcWaveMember *leader, GcError *err)
{
	GcCode		code = wait_for_slot(t, w, DESCRIBED_SLOTS, err);
	int			n = 0;
	GcWavePart *parts;
	ListCell   *lc;

	if (code == GC_OK)
		w->began = gc_worker.ops->event_timed(t->copies, NULL);
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
	if (code == GC_OK && (w->copied = gc_worker.ops->event_timed(t->copies, err)) == NULL)
		code = err->code;
	n = 0;
	foreach(lc, w->served)
	{
		Served	   *s = lfirst(lc);

		if (code == GC_OK)
			launch(w, s, &parts[n++]);
		else
			gc_wave_fail(s->member, err);
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
	t->priced = 0;
	dlist_push_tail(&t->waves, &w->node);
	t->nwaves++;
	dlist_foreach(iter, &t->members)
		dlist_container(GcWaveMember, node, iter.cur)->block->used = 0;
	code = make_wave(t, w, m, err);
	/* Copies may be under way that no kernel, and so no event, follows. */
	if (code != GC_OK)
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	w->made = true;
	MemoryContextSwitchTo(old);
	count(w);
	return code == GC_OK ? gc_wave_failure(m, err) : code;
}

/* The member whose turn it is, other than one; NULL: none has anything left. */
static GcWaveMember *
next_turn(WaveTable *t, const GcWaveMember *except)
{
	GcWaveMember *turn = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		if (m->left == 0 || m == except)
			continue;
		if (turn == NULL || gc_wave_comes_before(t->number, &m->claim, &turn->claim))
			turn = m;
	}
	return turn;
}

void
gc_wave_let_others(const GcWaveMember *m)
{
	for (WaveTable *t = gc_wave_tables(); t; t = t->next)
	{
		GcWaveMember *turn = next_turn(t, m);
		GcError		err;

		gc_waves_retire(t);
		/* A failure is the member's: its request asks for it. */
		if (turn && (t == m->table || t->nwaves < MOST_UNDER_WAY))
			(void) gc_wave_step(turn, &err);
	}
}

GcCode
gc_wave_drive(GcWaveMember *m, bool *stepped, GcError *err)
{
	WaveTable  *t = m->table;

	*stepped = false;
	/* To ask the device costs more than all else here: one member does, not each. */
	if (m->left == 0 || next_turn(t, NULL) != m)
		return gc_wave_failure(m, err);
	gc_waves_retire(t);
	if (t->nwaves >= MOST_UNDER_WAY)
		return gc_wave_failure(m, err);
	*stepped = true;
	return gc_wave_step(m, err);
}
