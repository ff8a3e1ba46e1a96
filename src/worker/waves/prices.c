/*-------------------------------------------------------------------------
 *
 * prices.c
 *	  Which members a wave serves with a chunk beside its leader (waves.c), and what that costs.
 *
 * All costs are bytes of copies over the link, or of copies that take as long as reading a column in the host's
 * memory.  A member is served along if the wave costs clearly less with it than both cost by themselves.  Else each
 * waits for what the other reads, and the link moves no byte less.
 *
 * This is done for each chunk of each wave.  So what is the same for all members is looked up once for a chunk.  A member
 * whose columns are all in memory is not priced at all.
 *
 * The worker's main thread.  Prices are those of the chunk that was looked at last.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

#include "../memory/device_memory.h"

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
	if (!gc_link_pays(p->cell, bytes, true))
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

/* Is it cheaper for the member to have the chunk from a wave that is made for others?  Clearly, since they wait longer. */
static bool
shares(WaveTable *t, GcWaveMember *m, u32 chunk)
{
	return added_cost(t, m, chunk) <= m->alone / 2;
}

static void
begin_pricing(WaveTable *t, GcWaveMember *leader, u32 chunk)
{
	t->pricing++;
	t->priced = chunk + 1;
	t->nblocks = 0;
	(void) added_cost(t, leader, chunk);
}

/* Where a member's first wave begins: with others with which it shares, if there are any. */
u32
gc_wave_first_place(WaveTable *t, GcWaveMember *m)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		GcWaveMember *other = dlist_container(GcWaveMember, node, iter.cur);

		if (other == m || !other->placed || other->left == 0 || !gc_wave_wants(other, other->at) || !gc_wave_wants(m, other->at))
			continue;
		begin_pricing(t, other, other->at);
		take(t, other, other->at);
		if (m->source_of[other->at] && shares(t, m, other->at) && m->alone > 0)
			return other->at;
	}
	return t->at;
}

/* Is a chunk's column, which is not in memory, to be read in the host's? */
bool
gc_wave_stays(WaveTable *t, u32 chunk, int number)
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
 * Would an empty wave have room for this chunk in the memory of each member, if it served this one, too?  The member's reads
 * may make a copy of a column that was to stay in the host's memory for all others.  Then members with other memory need
 * room for it, too.  added_cost() has looked at the member.
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
 * something by that.  A scan that is to read little is not held up by one that reads much.  Each member's columns are looked
 * at a few times, however many members there are.
 */
void
gc_wave_price_chunk(WaveTable *t, GcWaveMember *leader, u32 chunk)
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
