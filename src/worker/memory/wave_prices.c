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

#include "nodes/bitmapset.h"

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
	take(t, leader, chunk);
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

/* Bytes of a chunk's columns that are not in memory, and that members with this block want copied. */
u64
gc_wave_missing_bytes(WaveTable *t, const Block *block, u32 chunk)
{
	Bitmapset  *seen = NULL;
	u64			bytes = 0;
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
	{
		const GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		for (int c = 0; c < m->ncolumns && m->block == block && gc_wave_takes(m, chunk); c++)
		{
			const int	column = m->columns[c].column;

			if (bms_is_member(column, seen))
				continue;
			seen = bms_add_member(seen, column);
			if (!gc_region_there(GC_CELL(m->dir, chunk, column)) && !gc_wave_stays(t, m->dir, chunk, column))
				bytes += cell_bytes(m->dir, chunk, column);
		}
	}
	bms_free(seen);
	return bytes;
}

/*
 * Would an empty wave have room for this chunk, in the memory of each member that it serves?  One member's reads may
 * make a copy of a column that was to stay in the host's memory for all others, and so for members with other memory.
 */
static bool
fits(WaveTable *t, u32 chunk)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
		dlist_container(GcWaveMember, node, iter.cur)->block->fits = false;
	dlist_foreach(iter, &t->members)
	{
		const GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		if (!gc_wave_takes(m, chunk) || m->block->fits)
			continue;
		if (gc_wave_missing_bytes(t, m->block, chunk) > m->block->room)
			return false;
		m->block->fits = true;
	}
	return true;
}

/* The wave is not to serve this member with a chunk: price the columns again. */
static void
leave_out(WaveTable *t, GcWaveMember *leader, GcWaveMember *out, u32 chunk)
{
	dlist_iter	iter;

	out->takes = 0;
	begin_pricing(t, leader, chunk);
	dlist_foreach(iter, &t->members)
	{
		GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		if (m != leader && gc_wave_takes(m, chunk))
			take(t, m, chunk);
	}
}

/*
 * Choose the members that a wave of the leader serves with a chunk, and price its columns: members that save the link
 * something by that.  A scan that is to read little is not held up by one that reads much.
 */
void
gc_wave_price_chunk(WaveTable *t, GcWaveMember *leader, u32 chunk)
{
	dlist_iter	iter;

	dlist_foreach(iter, &t->members)
		dlist_container(GcWaveMember, node, iter.cur)->takes = 0;
	begin_pricing(t, leader, chunk);
	dlist_foreach(iter, &t->members)
	{
		GcWaveMember *m = dlist_container(GcWaveMember, node, iter.cur);

		if (m == leader || !gc_wave_wants(m, chunk) || !shares(t, m, chunk))
			continue;
		take(t, m, chunk);
		if (!fits(t, chunk))
			leave_out(t, leader, m, chunk);
	}
}
