/*-------------------------------------------------------------------------
 *
 * link_reads.c
 *	  The link: how fast copies are, and how many bytes kernels' reads of columns in the host's memory move over it.
 *
 * The arena is page-locked for copies, and then kernels reach it by the host's addresses.  A column that a kernel
 * reads only for rows that passed earlier steps need not be copied.  The kernel then reads the sectors that these rows
 * lie in.  This is the lazy transfer of Wang et al., "Concurrent Analytical Query Processing with GPUs" (VLDB 2014), at
 * the grain of sectors.
 *
 * The estimate takes rows that pass for independent of each other.  Where they lie together, less is moved.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "link_reads.h"

#include <math.h>

#include "../../columns/store/arena.h"
#include "../../settings.h"
#include "device_memory.h"
#include "state.h"

/* Bytes of a sector, by which kernels read host memory. */
#define SECTOR			32

/*
 * How many times as long as a copy of the same bytes a kernel's reads of single sectors take.  Each read crosses
 * the link with a header and a request of its own.  Where it was not measured: an estimate.
 */
#define SECTOR_COST		2.6

/* Measurements outside of these bounds are not believed. */
#define LEAST_COST		0.8
#define MOST_COST		32

/* Costs of single sectors, and of all sectors one after the other. */
static double sector_cost = SECTOR_COST;
static double whole_cost = SECTOR_COST;

/* Where memory is free, a column is copied if this many reads in place would take as long. */
#define COPY_FOR_READS	16

GcLinkRead
gc_link_read(double rows, int together)
{
	GcLinkRead	read = {.late = rows < 1};

	for (int i = 0; i < 4; i++)
		read.part[i] = rows < 1 ? (float) (1 - pow(1 - rows, Max(together, SECTOR >> i))) : 1;
	read.nulls = rows < 1 ? (float) (1 - pow(1 - rows, SECTOR * 8)) : 1;
	return read;
}

/* The part of sectors that are read of a column of that many bytes a value. */
static float
part_of_width(const GcLinkRead *read, int width)
{
	return read->part[width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3];
}

double
gc_link_bytes(const GcLinkRead *read, const GcChunkColumn *cell)
{
	return (double) cell->data_bytes * part_of_width(read, cell->desc.width) + (double) cell->null_bytes * read->nulls;
}

/*
 * Bytes of copies that take as long as reading this part of one byte of each.  The larger the
 * part, the less each costs.
 */
static double
price_of(double part)
{
	return part * (sector_cost + (whole_cost - sector_cost) * part);
}

/* Prices of one byte by width, in bytes of copies. */
GcLinkRates
gc_link_rates(const GcLinkRead *read)
{
	GcLinkRates rates = {.nulls = price_of(read->nulls)};

	for (int i = 0; i < 4; i++)
		rates.part[i] = price_of(read->part[i]);
	return rates;
}

bool
gc_link_set_costs(double sector, double whole)
{
	if (!(sector >= LEAST_COST && sector <= MOST_COST && whole >= LEAST_COST))
		return false;
	sector_cost = sector;
	whole_cost = Min(whole, sector);
	return true;
}

float
gc_link_spared(const GcLinkRead *read, int width)
{
	if (!read->late || gc_debug_link_reads == GC_LINK_READS_OFF)
		return 1;
	return (float) Min(1, price_of(part_of_width(read, width)));
}

bool
gc_link_copy_free(const GcChunkColumn *cell, double price)
{
	return gc_debug_link_reads == GC_LINK_READS_AUTO && price * COPY_FOR_READS >= cell->data_bytes + cell->null_bytes;
}

/*-------------------------------------------------------------------------
 * How fast data is copied to the device
 *-------------------------------------------------------------------------
 */

/* One copy, at most; a window of the arena. */
#define LINK_PIECE		((Size) 64 << 20)

/* A device that is only pretended copies with the CPU: it is given less. */
#define LINK_PIECE_CPU	((Size) 1 << 20)

#define LINK_COPIES		10

/* No further copy once they have taken this long.  Some are made anyway, as one may have waited for a processor. */
#define LINK_US			15000
#define LEAST_LINK_COPIES	4

/* Milliseconds that one copy takes on the device; 0: it failed. */
static double
time_copy(GcStream *stream, GcAddr to, Size size)
{
	GcEvent    *from = gc_worker.ops->event_timed(stream, NULL);
	GcEvent    *done = NULL;
	double		ms = 0;

	if (from && gc_copy_in_uncounted(stream, to, gc_arena_base(), size, NULL) == GC_OK)
		done = gc_worker.ops->event_timed(stream, NULL);
	if (done && gc_worker.ops->event_wait(done, NULL) == GC_OK)
		ms = gc_worker.ops->event_ms(from, done);
	if (from)
		gc_worker.ops->event_put(gc_worker.dev, from);
	if (done)
		gc_worker.ops->event_put(gc_worker.dev, done);
	return ms;
}

double
gc_link_measure(void)
{
	const Size	most = gc_worker.dev->info.own_processors ? LINK_PIECE : LINK_PIECE_CPU;
	const Size	size = Min(Min(most, gc_arena_size()), gc_pool_size(gc_worker.pool) / 2);
	instr_time	began;
	GcStream   *stream;
	GcAddr		to;
	double		best = 0;

	if (gc_worker.dev->info.host_memory || (to = gc_device_alloc(size)) == 0)
		return 0;
	stream = gc_worker.ops->stream_get(gc_worker.dev, NULL);
	if (stream)
	{
		/* The first copy page-locks, and does not count. */
		(void) time_copy(stream, to, size);
		INSTR_TIME_SET_CURRENT(began);
		for (int i = 0; i < LINK_COPIES && (i < LEAST_LINK_COPIES || gc_us_since(began) < LINK_US); i++)
		{
			const double ms = time_copy(stream, to, size);

			if (ms > 0)
				best = Max(best, size * 1000.0 / ms);
		}
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		gc_worker.ops->stream_put(gc_worker.dev, stream);
	}
	gc_device_free(to);
	return best;
}
