/*-------------------------------------------------------------------------
 *
 * wave_prices.c
 *	  Which members a wave serves with a chunk beside its leader (waves.c), and what that costs.
 *
 * All costs are bytes of copies over the link, or of copies that take as long as reading a column in the host's
 * memory.  A member is served along if the wave costs clearly less with it than both cost by themselves.  Else each
 * waits for what the other reads, and the link moves no byte less.
 *
 * The worker's main thread.  Prices are those of the chunk that was looked at last.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

/* Counts chunks that were priced. */
static u64	pricing = 0;

bool
gc_wave_wants(const GcWaveMember *m, u32 chunk)
{
	return m->left > 0 && m->source_of[chunk] > 0 && m->to_do[m->source_of[chunk] - 1];
}

/* What a chunk's column costs at this price: bytes of copies that take as long. */
static double
cost_of(const Price *p, const GcChunkColumn *cell)
{
	if (!p->wanted || p->there)
		return 0;
	return gc_link_pays(cell, p->bytes, p->late) ? p->bytes : (double) (cell->data_bytes + cell->null_bytes);
}

/* Is a column at this price copied, if it is not in memory? */
static bool
is_copied(const Price *p, const GcChunkColumn *cell)
{
	return !p->there && !gc_link_pays(cell, p->bytes, p->late);
}

/* The price of a column, given that the member reads it, too. */
static Price
price_with(const Price *p, const GcWaveColumn *column, const GcChunkColumn *cell)
{
	return (Price) {.wanted = true,.late = p->late && column->link.late,
		.there = p->wanted ? p->there : gc_region_there(cell),
		.bytes = p->bytes + gc_link_price(&column->link, cell)};
}

/* What a chunk costs more if the wave serves this member with it, too; and what it costs the member alone. */
static double
added_cost(const WaveTable *t, const GcWaveMember *m, u32 chunk, double *alone)
{
	double		added = 0;

	*alone = 0;
	for (int c = 0; c < m->ncolumns; c++)
	{
		const GcChunkColumn *cell = GC_CELL(m->dir, chunk, m->columns[c].column);
		const Price *p = &t->prices[m->columns[c].column];
		const Price with = price_with(p, &m->columns[c], cell);
		Price		own = price_with(&(Price) {.late = true,.wanted = true,.there = with.there}, &m->columns[c], cell);

		added += cost_of(&with, cell) - cost_of(p, cell);
		*alone += cost_of(&own, cell);
	}
	return added;
}

static void
take(WaveTable *t, GcWaveMember *m, u32 chunk)
{
	for (int c = 0; c < m->ncolumns; c++)
	{
		Price	   *p = &t->prices[m->columns[c].column];

		*p = price_with(p, &m->columns[c], GC_CELL(m->dir, chunk, m->columns[c].column));
	}
	m->takes = chunk + 1;
}

/* Is it cheaper for the member to have the chunk from a wave that is made for others?  Clearly, since they wait longer. */
static bool
shares(const WaveTable *t, GcWaveMember *m, u32 chunk)
{
	return added_cost(t, m, chunk, &m->alone) <= m->alone / 2;
}

static void
begin_pricing(WaveTable *t, GcWaveMember *leader, u32 chunk)
{
	for (u32 c = 0; c < leader->dir->ncolumns; c++)
		t->prices[c] = (Price) {.late = true};
	t->priced = chunk + 1;
	(void) added_cost(t, leader, chunk, &leader->alone);
}

/* Does the wave that is made serve the member with this chunk? */
bool
gc_wave_takes(const GcWaveMember *m, u32 chunk)
{
	return m->takes == chunk + 1 && gc_wave_wants(m, chunk);
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
gc_wave_stays(const WaveTable *t, const GcDirectory *dir, u32 chunk, int column)
{
	const Price *price = &t->prices[column];

	return t->priced == chunk + 1 && gc_link_pays(GC_CELL(dir, chunk, column), price->bytes, price->late);
}

/*
 * Would an empty wave have room for this chunk in the memory of each member, if it served this one, too?  The member's reads
 * may make a copy of a column that was to stay in the host's memory for all others, and so for members with other memory.
 */
static bool
fits_with(WaveTable *t, const GcWaveMember *m, u32 chunk)
{
	Block	   *own = m->block;
	bool		fits = true;
	ListCell   *lc;

	if (own->pricing != pricing)
	{
		own->pricing = pricing;
		own->columns = NULL;
		own->missing = 0;
		t->blocks = lappend(t->blocks, own);
	}
	foreach(lc, t->blocks)
		((Block *) lfirst(lc))->with = ((Block *) lfirst(lc))->missing;
	for (int c = 0; c < m->ncolumns; c++)
	{
		const int	column = m->columns[c].column;
		const GcChunkColumn *cell = GC_CELL(m->dir, chunk, column);
		const Price *p = &t->prices[column];
		const Price with = price_with(p, &m->columns[c], cell);
		const u64	bytes = cell_bytes(m->dir, chunk, column);

		if (!is_copied(&with, cell))
			continue;
		if (!bms_is_member(column, own->columns))
			own->with += bytes;
		if (p->wanted && !is_copied(p, cell))
		{
			foreach(lc, t->blocks)
				((Block *) lfirst(lc))->with += bms_is_member(column, ((Block *) lfirst(lc))->columns) ? bytes : 0;
		}
	}
	foreach(lc, t->blocks)
		fits = fits && ((Block *) lfirst(lc))->with <= ((Block *) lfirst(lc))->room;
	return fits;
}

/* The wave is to serve the member that fits_with() looked at. */
static void
choose(WaveTable *t, GcWaveMember *m, u32 chunk)
{
	ListCell   *lc;

	foreach(lc, t->blocks)
		((Block *) lfirst(lc))->missing = ((Block *) lfirst(lc))->with;
	for (int c = 0; c < m->ncolumns; c++)
		m->block->columns = bms_add_member(m->block->columns, m->columns[c].column);
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
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
		dlist_container(GcWaveMember, node, iter.cur)->takes = 0;
	/* Lists of an earlier chunk are in the memory of its wave. */
	pricing++;
	t->blocks = NIL;
	begin_pricing(t, leader, chunk);
	(void) fits_with(t, leader, chunk);
	choose(t, leader, chunk);
	dlist_foreach(iter, &t->members)
	{
		GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		if (m != leader && gc_wave_wants(m, chunk) && shares(t, m, chunk) && fits_with(t, m, chunk))
			choose(t, m, chunk);
	}
}
