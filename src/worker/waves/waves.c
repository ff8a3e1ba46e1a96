/*-------------------------------------------------------------------------
 *
 * waves.c
 *	  Scans of tables whose columns do not fit into device memory: waves of chunks.  Their members and memory
 *	  are in members.c.
 *
 * Waves belong to a table, which has a stream of copies while any request scans it in waves.  A wave is a few chunks.
 * The columns of them that are not in device memory are copied, once.  Then a kernel of each member that wants these
 * chunks is launched.  Copies go to a stream of their own, so the next wave is copied while the kernels of this one
 * run.  A member keeps account of its chunks that are still to do.  So it joins where others are, and wraps around at
 * its end.  A wave is led by the member whose turn it is, and serves with it the members that share most of their
 * reads.  So one that reads little is not held up by one that reads much.
 *
 * A member brings memory for two waves, which waves take turns in, or shares another one's that has room for
 * its own columns.  So no scan waits for memory once it has begun.  A copy waits, on the device, for
 * the kernels that read its memory before.  The chunks of a wave that copies nothing are there, so it has a stream of
 * its own and waits for no copies of others.  Where memory is to spare, chunks are copied there instead, and stay
 * cached.  Waves drop cached columns only for columns that are worth clearly more.  They drop no more of them than a
 * part of the bytes that they move: in a cyclic scan these would come next.  Chunks that are in memory when a member
 * begins are visited first, in place.
 *
 * A column that kernels read only for the few rows that pass earlier steps may be left in the host's memory.  It is
 * if that moves less over the link, for all that the wave serves, than one copy (link_reads.c).  It must stay there
 * until these kernels are done, as for a copy: members hold the directory.
 *
 * Waves are short, and the thread that makes them may limit them.  So nothing here takes longer the more members or
 * columns there are beside those that a wave is of.  Calls of the driver are few.  One event tells that all kernels of
 * a wave are done: that of a stream which waits for them.
 *
 * The worker's main thread.  A table's streams live as long as it has members.  A wave lives until its kernels
 * are done, and holds the regions and the memory that they read.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

#include "utils/memutils.h"

#include "../../queue/queue.h"
#include "../memory/device_memory.h"
#include "../memory/eviction.h"
#include "../memory/state.h"

/* By all tables. */
static GcDisplaced displaced;

/*-------------------------------------------------------------------------
 * Which members a wave serves with a chunk beside its leader, and the cost of that
 *
 * All costs are bytes of copies over the link, or of copies that take as long as reading a column in the host's
 * memory.  A member is served along if the wave costs clearly less with it than both cost by themselves.  Else each
 * waits for the other's reads, and the link moves no byte less.
 *
 * This is done for each chunk of each wave.  So facts that are the same for all members are looked up once for a chunk.
 * A member whose columns are all in memory is not priced at all.  Prices are those of the chunk that was looked at
 * last.
 *-------------------------------------------------------------------------
 */

/* Nothing of it is wanted yet. */
static void
begin_price(WaveTable *t, Price *p, int number, u32 chunk)
{
	p->pricing = t->pricing;
	p->cell = cell_of(t, number, chunk);
	p->region = gc_region_find(p->cell);
	p->wanted = p->asked = p->copied = false;
	p->late = true;
	p->copy = (double) (p->cell->data_bytes + p->cell->null_bytes);
	p->bytes = p->cost = 0;
	p->blocks = 0;
}

/* The price of a column of the chunk that is priced, for the members chosen until now. */
static inline Price *
price_of(WaveTable *t, int number, u32 chunk)
{
	Price	   *p = &t->prices[number];

	if (p->pricing != t->pricing)
		begin_price(t, p, number, chunk);
	return p;
}

/* Is the column, which is read late, to be read in the host's memory at this price? */
static inline bool
stays(Price *p, double bytes)
{
	if (!gc_link_pays(p->cell, bytes))
		return false;
	if (!p->asked)
		p->reached = gc_kernels_reach((const void *) p->cell->desc.data, p->cell->data_bytes + p->cell->null_bytes);
	p->asked = true;
	return p->reached;
}

/* Cost that a column adds which is not in memory, as added_cost(). */
static inline double
added_for_column(Price *p, const MemberColumn *column, double *alone)
{
	double		own;

	p->late_with = p->late && column->late;
	p->bytes_with = p->bytes;
	p->copied_with = true;
	p->cost_with = p->copy;
	/* One that a member reads for all rows is copied, whatever it costs to read it in place. */
	if (!column->late)
	{
		*alone += p->copy;
		return p->cost_with - p->cost;
	}
	own = gc_link_price(&column->rates, p->cell);
	p->bytes_with += own;
	if (p->late_with && stays(p, p->bytes_with))
	{
		p->copied_with = false;
		p->cost_with = p->bytes_with;
	}
	*alone += stays(p, own) ? own : p->copy;
	return p->cost_with - p->cost;
}

/*
 * A chunk's additional cost if the wave serves this member with it, too; and its cost for the member alone.  Notes how
 * many of its columns are not in memory.
 */
static double
added_cost(WaveTable *t, GcWaveMember *m, u32 chunk)
{
	double		added = 0;

	m->alone = 0;
	m->missing = 0;
	for (int c = 0; c < m->ncolumns; c++)
	{
		Price	   *p = price_of(t, m->columns[c].number, chunk);

		if (p->region)
			continue;
		m->missing++;
		added += added_for_column(p, &m->columns[c], &m->alone);
	}
	return added;
}

/* The wave is to serve the member that added_cost() looked at. */
static void
take(WaveTable *t, GcWaveMember *m, u32 chunk)
{
	for (int c = 0; c < m->ncolumns && m->missing > 0; c++)
	{
		Price	   *p = price_of(t, m->columns[c].number, chunk);

		if (p->region)
			continue;
		p->wanted = true;
		p->late = p->late_with;
		p->copied = p->copied_with;
		p->bytes = p->bytes_with;
		p->cost = p->cost_with;
	}
	m->takes = chunk + 1;
}

/*
 * Is it cheaper for the member to have the chunk from a wave that is made for others?  Clearly, since they wait longer.
 */
static bool
shares(WaveTable *t, GcWaveMember *m, u32 chunk)
{
	return added_cost(t, m, chunk) <= m->alone / 2;
}

/* Price a chunk for its leader first, whose blocks are the first to be counted. */
static void
begin_pricing(WaveTable *t, GcWaveMember *leader, u32 chunk)
{
	t->pricing++;
	t->priced = chunk + 1;
	t->nblocks = 0;
	(void) added_cost(t, leader, chunk);
}

/* Where a member's first wave begins: with others with which it shares, if there are any. */
/* Where a member's first wave begins: with others with which it shares, if there are any. */
static u32
first_place(WaveTable *t, GcWaveMember *m)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		GcWaveMember *other = dlist_container(GcWaveMember, node, iter.cur);

		if (other == m || !other->placed || other->left == 0 || !gc_wave_wants(other, other->at) ||
			!gc_wave_wants(m, other->at))
			continue;
		begin_pricing(t, other, other->at);
		take(t, other, other->at);
		if (m->source_of[other->at] && shares(t, m, other->at) && m->alone > 0)
			return other->at;
	}
	return t->at;
}

/* Is a chunk's column, which is not in memory, to be read in the host's? */
/* By these prices: is a chunk's column, which is not in memory, to be read in the host's? */
static bool
stays_in_host(WaveTable *t, u32 chunk, int number)
{
	Price	   *p = &t->prices[number];

	return t->priced == chunk + 1 && p->pricing == t->pricing && p->late && stays(p, p->bytes);
}

/* The member's memory takes part in the pricing of the chunk.  False: that of too many others does. */
static bool
use_block(WaveTable *t, Block *block)
{
	if (block->pricing == t->pricing)
		return true;
	if (t->nblocks == MOST_BLOCKS)
		return false;
	block->pricing = t->pricing;
	block->number = t->nblocks;
	block->missing = 0;
	t->blocks[t->nblocks++] = block;
	return true;
}

/*
 * Would an empty wave have room for this chunk in the memory of each member, if it served this one, too?  The member's
 * reads may make a copy of a column that was to stay in the host's memory for all others.  Then members with other
 * memory need room for it, too.  added_cost() has looked at the member.
 */
static bool
fits_with(WaveTable *t, const GcWaveMember *m, u32 chunk)
{
	Block	   *own = m->block;
	bool		fits = use_block(t, own);

	/* Those before fit. */
	if (m->missing == 0)
		return fits;
	for (int b = 0; b < t->nblocks; b++)
		t->blocks[b]->with = t->blocks[b]->missing;
	for (int c = 0; c < m->ncolumns && fits; c++)
	{
		const Price *p = price_of(t, m->columns[c].number, chunk);
		u64			bytes;

		if (p->region || !p->copied_with)
			continue;
		bytes = cell_bytes(p->cell);
		if (!(p->blocks & (UINT64CONST(1) << own->number)))
			own->with += bytes;
		for (int b = 0; b < t->nblocks && p->wanted && !p->copied; b++)
			t->blocks[b]->with += p->blocks & (UINT64CONST(1) << b) ? bytes : 0;
	}
	for (int b = 0; b < t->nblocks; b++)
		fits = fits && t->blocks[b]->with <= t->blocks[b]->room;
	return fits;
}

/* The wave is to serve the member that fits_with() looked at. */
static void
choose(WaveTable *t, GcWaveMember *m, u32 chunk)
{
	for (int b = 0; b < t->nblocks && m->missing > 0; b++)
		t->blocks[b]->missing = t->blocks[b]->with;
	for (int c = 0; c < m->ncolumns && m->missing > 0; c++)
		price_of(t, m->columns[c].number, chunk)->blocks |= UINT64CONST(1) << m->block->number;
	take(t, m, chunk);
}

/*
 * Choose the members that a wave of the leader serves with a chunk, and price its columns: members that save the link
 * something by that.  A scan that is to read little is not held up by one that reads much.  Each member's columns are
 * looked at a few times, however many members there are.
 */
/*
 * Choose the members that a wave of the leader serves with a chunk, and price its columns (gc_wave_takes).
 * Missing columns of the chunk are noted in their blocks, t->blocks.
 */
static void
price_chunk(WaveTable *t, GcWaveMember *leader, u32 chunk)
{
	for (int i = 0; i < t->nscanning; i++)
		t->scanning[i]->takes = 0;
	begin_pricing(t, leader, chunk);
	(void) fits_with(t, leader, chunk);
	choose(t, leader, chunk);
	for (int i = 0; i < t->nscanning; i++)
	{
		GcWaveMember *m = t->scanning[i];

		if (m != leader && gc_wave_wants(m, chunk) && shares(t, m, chunk) && fits_with(t, m, chunk))
			choose(t, m, chunk);
	}
}

/*-------------------------------------------------------------------------
 * Which chunks
 *-------------------------------------------------------------------------
 */

/* Are the chunk's columns that the member reads all in memory? */
static bool
is_there(const GcWaveMember *m, u32 chunk)
{
	for (int c = 0; c < m->ncolumns; c++)
	{
		if (gc_region_find(cell_of(m->table, m->columns[c].number, chunk)) == NULL)
			return false;
	}
	return true;
}

/* Is there room for the missing columns of the chunk that was priced?  The first chunk of a wave always fits. */
static bool
has_room(const WaveTable *t)
{
	for (int b = 0; b < t->nblocks; b++)
	{
		if (t->blocks[b]->missing > t->blocks[b]->room - t->blocks[b]->used)
			return false;
	}
	return true;
}

/* The wave's copies from now on wait, on the device, for the kernels of one before. */
static GcCode
wait_for(const Wave *w, const Wave *before, GcError *err)
{
	return before->over ? gc_worker.ops->stream_wait(w->stream, before->over, err) : GC_OK;
}

/* The wave takes its turn with members' memory.  Waves that copied nothing there have none. */
static GcCode
take_slot(WaveTable *t, Wave *w, GcError *err)
{
	GcCode		code = GC_OK;
	dlist_iter	iter;

	w->slot = t->slot++ % SLOTS;
	dlist_foreach(iter, &t->waves)
	{
		const Wave *before = dlist_container(Wave, node, iter.cur);

		if (before->has_slot && before->slot == w->slot && code == GC_OK)
			code = wait_for(w, before, err);
	}
	w->has_slot = true;
	return code;
}

/* Descriptions go where earlier waves had theirs. */
static GcCode
wait_for_descriptions(WaveTable *t, const Wave *w, GcError *err)
{
	GcCode		code = GC_OK;
	dlist_iter	iter;

	dlist_foreach(iter, &t->waves)
	{
		const Wave *before = dlist_container(Wave, node, iter.cur);

		if (before != w && (w->number - before->number) % DESCRIBED_SLOTS == 0 && code == GC_OK)
			code = wait_for(w, before, err);
	}
	return code;
}

/*
 * Cache a column's chunk, where there is memory to spare or others can go for it.  One that kernels can read in the
 * host's memory takes only victims that are worth it.
 */
static GcCode
keep_cell(Wave *w, GcWaveMember *m, u32 chunk, Cell *cell, MemberColumn *column, GcError *err)
{
	const WaveTable *t = m->table;
	const GcChunkColumn *from = cell_of(t, column->number, chunk);
	const u64	bytes = gc_cell_bytes(from);
	/* Columns that were worth less when the scan began may be gone, or in use. */
	const bool	displace = column->of.displace >= bytes && gc_may_displace(&displaced, gc_pool_size(gc_worker.pool)) &&
		gc_eviction_pays(bytes, &column->of.uses, cell->in_place ? GC_WORTH_BOTH : GC_WORTH_A_COPY) >= bytes;
	GcCode		code;

	/* A displacement that did not pay for this chunk is not asked for the next ones. */
	if (!displace)
		column->of.displace = 0;
	if (cell->in_place && !displace && !gc_link_copy_free(from, t->prices[column->number].bytes))
		return GC_OK;
	code = gc_region_keep(m->dir, column->of.column, chunk, displace, w->stream, &cell->region, err);
	if (cell->region)
	{
		column->of.displace -= displace ? bytes : 0;
		gc_note_displaced(&displaced, displace ? bytes : 0);
		cell->addr = gc_region_addr(cell->region);
		cell->copied = bytes;
		w->bytes += bytes;
	}
	return code;
}

/* Use a column's chunk that is in memory. */
static GcCode
take_cell(const Wave *w, Cell *cell, GcRegion *region, GcError *err)
{
	GcCode		code = gc_region_take(region, w->stream, err);

	cell->had = true;
	cell->region = code == GC_OK ? region : NULL;
	cell->addr = gc_region_addr(region);
	return code;
}

/*
 * Have one column of a chunk where kernels can read it: in memory already; cached; left in the host's; or in the
 * member's memory.
 */
static GcCode
have_cell(Wave *w, GcWaveMember *m, u32 chunk, Cell *cell, MemberColumn *column, GcError *err)
{
	WaveTable  *t = m->table;
	const GcChunkColumn *from = cell_of(t, column->number, chunk);
	GcRegion   *region = gc_region_find(from);
	GcCode		code;

	if (region)
		return take_cell(w, cell, region, err);
	cell->had = true;
	cell->in_place = stays_in_host(t, chunk, column->number);
	code = keep_cell(w, m, chunk, cell, column, err);
	if (code != GC_OK || cell->region)
	{
		cell->in_place = false;
		return code;
	}
	if (cell->in_place)
	{
		cell->addr = from->desc.data;
		w->price += t->prices[column->number].bytes;
		return GC_OK;
	}
	cell->copied = gc_cell_bytes(from);
	w->bytes += cell->copied;
	if (m->block->used + align_up(cell->copied) > m->block->room)
		return gc_fail(err, GC_DEVICE_MEMORY, "A wave has no room for a column chunk.");
	if (!w->has_slot && (code = take_slot(t, w, err)) != GC_OK)
		return code;
	cell->addr = m->block->slot[w->slot] + m->block->used;
	m->block->used += align_up(cell->copied);
	return gc_copy_in(w->stream, cell->addr, (const void *) from->desc.data, cell->copied, err);
}

/* The wave's entry for a member, made with the first chunk that it serves that one with. */
static Served *
served_of(Wave *w, GcWaveMember *m)
{
	Served	   *s = m->served;

	if (s)
		return s;
	s = m->served = palloc(sizeof(Served));
	s->member = m;
	s->n = 0;
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
		Cell	   *cell = &wc->cells[m->columns[c].number];

		if (!cell->had)
			code = have_cell(w, m, wc->chunk, cell, &m->columns[c], err);
		cell->readers++;
	}
	serve(w, m, m->source_of[wc->chunk] - 1, wc);
	return code;
}

static bool
in_reach(const Wave *w, u32 chunk)
{
	return w->nchunks == 0 || (chunk > w->chunks[w->nchunks - 1].chunk && chunk < w->chunks[0].chunk + MOST_CHUNKS);
}

/* One more chunk of the wave, of whose columns nothing is known yet. */
static WaveChunk *
new_chunk(Wave *w, u32 chunk)
{
	WaveChunk  *wc = &w->chunks[w->nchunks++];

	wc->chunk = chunk;
	wc->cells = palloc0((w->ncolumns + 1) * sizeof(Cell));
	return wc;
}

/*
 * Take columns of a new chunk that are in memory, before anything is dropped for the rest of it: has_room() did not
 * count them.
 */
static GcCode
take_there(const WaveTable *t, const Wave *w, WaveChunk *wc, GcError *err)
{
	GcCode		code = GC_OK;

	for (int i = 0; i < t->nscanning; i++)
	{
		const GcWaveMember *m = t->scanning[i];

		for (int c = 0; c < m->ncolumns && code == GC_OK && gc_wave_takes(m, wc->chunk); c++)
		{
			const int	number = m->columns[c].number;
			GcRegion   *region = t->prices[number].region;

			if (region && !wc->cells[number].had)
				code = take_cell(w, &wc->cells[number], region, err);
		}
	}
	return code;
}

/* Chunks that a member finds in memory when it begins come first. */
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
	const u32	at = leader->placed ? leader->at : first_place(t, leader);
	GcCode		code = GC_OK;

	for (u32 i = 0; i < nchunks && (double) w->bytes + w->price < (double) leader->block->room && code == GC_OK; i++)
	{
		const u32	chunk = (at + i) % nchunks;
		WaveChunk  *wc;

		if (!gc_wave_wants(leader, chunk))
			continue;
		if (!in_reach(w, chunk))
			break;
		price_chunk(t, leader, chunk);
		if (!has_room(t))
			break;
		t->at = (chunk + 1) % nchunks;
		wc = new_chunk(w, chunk);
		code = take_there(t, w, wc, err);
		for (int n = 0; n < t->nscanning; n++)
		{
			GcWaveMember *m = t->scanning[n];

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
 * Arguments of kernels
 *-------------------------------------------------------------------------
 */

/* The chunks' numbers from a wave's first to its last. */
static u32
span_of(const Wave *w)
{
	return w->nchunks > 0 ? w->chunks[w->nchunks - 1].chunk - w->chunks[0].chunk + 1 : 0;
}

/* Tell a part which columns it reads, and count the bytes that they move. */
static void
count_part(Wave *w, const Served *s, GcWavePart *part)
{
	const GcWaveMember *m = s->member;

	for (u32 i = 0; i < s->n; i++)
	{
		for (int c = 0; c < m->ncolumns && s->chunk[i]; c++)
		{
			const MemberColumn *column = &m->columns[c];
			const GcChunkColumn *of = cell_of(m->table, column->number, s->chunk[i]->chunk);
			const Cell *cell = &s->chunk[i]->cells[column->number];

			if (!cell->in_place)
			{
				part->read_bytes += of->data_bytes;
				part->copied += cell->copied;
				part->shared += cell->readers > 1 ? cell->copied : 0;
				continue;
			}
			part->in_place++;
			part->in_place_price += gc_link_price(&column->rates, of);
			part->in_place_bytes += (u64) gc_link_bytes(&column->of.link, of);
		}
	}
	w->in_place += part->in_place;
	w->in_place_bytes += part->in_place_bytes;
}

/*
 * Number the columns that the wave's members read in the order of their descriptions: in order[], by the table's
 * number; -1: none reads it.  Returns how many.
 */
static int
order_columns(const Wave *w, int *order)
{
	int			n = 0;
	ListCell   *lc;

	memset(order, -1, w->ncolumns * sizeof(int));
	foreach(lc, w->served)
	{
		const GcWaveMember *m = ((Served *) lfirst(lc))->member;

		for (int c = 0; c < m->ncolumns; c++)
		{
			if (order[m->columns[c].number] < 0)
				order[m->columns[c].number] = n++;
		}
	}
	return n;
}

static void
describe_columns(const WaveTable *t, const Wave *w, const int *order, GcCol *cols)
{
	const u32	span = span_of(w);

	for (u32 i = 0; i < w->nchunks; i++)
	{
		const WaveChunk *wc = &w->chunks[i];

		for (int n = 0; n < w->ncolumns; n++)
		{
			const GcChunkColumn *of = cell_of(t, n, wc->chunk);
			GcCol	   *col = &cols[order[n] * (u64) span + wc->chunk - w->chunks[0].chunk];

			if (!wc->cells[n].had)
				continue;
			*col = of->desc;
			col->data = wc->cells[n].addr;
			col->nulls = of->desc.nulls ? wc->cells[n].addr + of->data_bytes : 0;
		}
	}
}

/*
 * Describe the wave's chunks, in the table's memory, copied at once for all members and read until the wave is over.
 * First come the members' sources, one after the other, and then each column's chunks from the first to the last.
 */
static GcCode
describe(WaveTable *t, Wave *w, GcWavePart *parts, GcError *err)
{
	const u32	span = span_of(w);
	int		   *order = palloc((w->ncolumns + 1) * sizeof(int));
	const int	ncolumns = order_columns(w, order);
	const GcAddr to = w->described->slot[w->number % DESCRIBED_SLOTS];
	u64			nsources = 0;
	u64			bytes;
	GcSource   *source;
	char	   *from;
	ListCell   *lc;

	foreach(lc, w->served)
		nsources += ((Served *) lfirst(lc))->n;
	bytes = nsources * sizeof(GcSource) + (u64) ncolumns * span * sizeof(GcCol);
	from = palloc0(bytes);
	source = (GcSource *) from;
	foreach(lc, w->served)
	{
		const Served *s = lfirst(lc);
		const GcWaveMember *m = s->member;
		GcAddr	   *columns = palloc((m->ncolumns + 1) * sizeof(GcAddr));
		GcWavePart *part = &parts[foreach_current_index(lc)];

		*part = (GcWavePart) {.sources = to + ((char *) source - from),.nsources = s->n,.columns = columns,.last = m->left == 0};
		for (u32 i = 0; i < s->n; i++)
		{
			*source = m->sources[s->source[i]];
			part->rows += source++->nrows;
		}
		/* The address of chunk 0's description, which is there or not. */
		for (int c = 0; c < m->ncolumns; c++)
			columns[c] = to + nsources * sizeof(GcSource) +
				((u64) order[m->columns[c].number] * span - (w->nchunks > 0 ? w->chunks[0].chunk : 0)) * sizeof(GcCol);
		count_part(w, s, part);
	}
	describe_columns(t, w, order, (GcCol *) source);
	return gc_worker.ops->copy_in(w->stream, to, from, bytes, err);
}

/*-------------------------------------------------------------------------
 * One wave
 *-------------------------------------------------------------------------
 */

/* Launch a member's kernel behind the copies.  The member fails by itself. */
static void
launch(const Wave *w, const Served *s, const GcWavePart *part)
{
	GcWaveMember *m = s->member;
	GcError		err = {GC_OK, ""};

	if (gc_worker.ops->stream_wait(m->stream, w->copied, &err) != GC_OK || m->launch(m->arg, part, &err) != GC_OK)
		gc_wave_fail(m, &err);
}

/* The table's stream of ends waits for a member's stream. */
static void
join_end(WaveTable *t, GcWaveMember *m)
{
	GcError		err = {GC_OK, ""};
	GcEvent    *ran = gc_worker.ops->event(m->stream, &err);

	if (ran == NULL || gc_worker.ops->stream_wait(t->ends, ran, &err) != GC_OK)
	{
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		gc_wave_fail(m, &err);
	}
	if (ran)
		gc_worker.ops->event_put(gc_worker.dev, ran);
}

/*
 * Launch the kernels of all that the wave serves.  It is over where one member's stream is, or
 * where those of several are.
 */
static void
launch_all(WaveTable *t, Wave *w, const GcWavePart *parts)
{
	const bool	alone = list_length(w->served) == 1;
	GcStream   *end = alone ? ((Served *) linitial(w->served))->member->stream : t->ends;
	GcError		err = {GC_OK, ""};
	ListCell   *lc;

	foreach(lc, w->served)
	{
		launch(w, lfirst(lc), &parts[foreach_current_index(lc)]);
		if (!alone)
			join_end(t, ((Served *) lfirst(lc))->member);
	}
	w->over = w->logged ? gc_worker.ops->event_timed(end, &err) : gc_worker.ops->event(end, &err);
	if (w->over)
		return;
	(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	foreach(lc, w->served)
		gc_wave_fail(((Served *) lfirst(lc))->member, &err);
}

/* The wave is made: add it to the statistics, and to the bytes that waves moved. */
static void
count(Wave *w)
{
	for (u32 i = 0; i < w->nchunks && w->bytes > 0; i++)
	{
		for (int n = 0; n < w->ncolumns; n++)
			w->shared += w->chunks[i].cells[n].readers > 1 ? w->chunks[i].cells[n].copied : 0;
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
	GcCode		code = GC_OK;
	GcWavePart *parts;
	ListCell   *lc;

	w->stream = t->notes;
	if (leader->looked_at < leader->nsources)
		code = choose_resident(w, leader, err);
	if (code == GC_OK && w->served == NIL)
	{
		w->stream = t->copies;
		t->ncopying++;
		gc_wave_log_begin(t, w);
		code = choose_next(t, w, leader, err);
	}
	else
		gc_wave_log_begin(t, w);
	if (code == GC_OK && w->served == NIL)
		code = gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a wave.");
	parts = palloc((list_length(w->served) + 1) * sizeof(GcWavePart));
	if (code == GC_OK)
		code = wait_for_descriptions(t, w, err);
	if (code == GC_OK)
		code = describe(t, w, parts, err);
	if (code == GC_OK)
	{
		w->copied = w->logged ? gc_worker.ops->event_timed(w->stream, err) : gc_worker.ops->event(w->stream, err);
		code = w->copied ? GC_OK : err->code;
	}
	if (code == GC_OK)
		launch_all(t, w, parts);
	foreach(lc, w->served)
	{
		if (code != GC_OK)
			gc_wave_fail(((Served *) lfirst(lc))->member, err);
	}
	return code;
}

/* Members that have something left to do, in their order; no wave is made of their memory yet. */
static void
gather(WaveTable *t)
{
	dlist_iter	iter;

	t->scanning = palloc((t->nmembers + 1) * sizeof(GcWaveMember *));
	t->nscanning = 0;
	dlist_foreach(iter, &t->members)
	{
		GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		m->block->used = 0;
		m->served = NULL;
		if (m->left > 0)
			t->scanning[t->nscanning++] = m;
	}
}

GcCode
gc_wave_step(GcWaveMember *m, GcError *err)
{
	WaveTable  *t = m->table;
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "gpuconc wave", ALLOCSET_SMALL_SIZES);
	Wave	   *w = MemoryContextAllocZero(cxt, sizeof(Wave));
	MemoryContext old = MemoryContextSwitchTo(cxt);
	GcCode		code;

	w->cxt = cxt;
	w->number = t->number++;
	w->ncolumns = t->ncolumns;
	w->described = t->described;
	w->described->users++;
	t->priced = 0;
	dlist_push_tail(&t->waves, &w->node);
	t->nwaves++;
	gather(t);
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

/*
 * May the member have a wave, beside those that are under way?  A wave of chunks that are in memory waits for no
 * copies.
 */
static bool
may_step(const WaveTable *t, const GcWaveMember *m)
{
	return t->nwaves < DESCRIBED_SLOTS && (t->ncopying < MOST_COPYING || m->looked_at < m->nsources);
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
		if (turn && (t == m->table || may_step(t, turn)))
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
	if (!may_step(t, m))
		return gc_wave_failure(m, err);
	*stepped = true;
	return gc_wave_step(m, err);
}
