/*-------------------------------------------------------------------------
 *
 * describe.c
 *	  What kernels are told of a wave (waves.c): sources, and columns of chunks.
 *
 * Descriptions lie in the table's memory, and are copied at once for all members.  There is one for each column and
 * chunk from the wave's first to its last, since kernels know chunks by their numbers in the directory.
 *
 * The worker's main thread.  They are read until the wave is over.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

#include "../memory/state.h"

/* The chunks' numbers from a wave's first to its last. */
static u32
span_of(const Wave *w)
{
	return w->nchunks > 0 ? w->chunks[w->nchunks - 1].chunk - w->chunks[0].chunk + 1 : 0;
}

/* What a part is told of the columns that it reads, and what they move. */
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
 * Number the columns that the wave's members read in the order of their descriptions: in order[], by the table's number;
 * -1: none reads it.  Returns how many.
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

/* Describe the columns of the wave's chunks. */
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
 * Describe what the wave serves, in the table's memory.  First come the members' sources, one after the other, and then
 * each column's chunks from the first to the last.
 */
GcCode
gc_wave_describe(WaveTable *t, Wave *w, GcWavePart *parts, GcError *err)
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
