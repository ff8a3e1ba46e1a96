/*-------------------------------------------------------------------------
 *
 * variant.c
 *	  The variant of a pipeline's kernel: which tables go to shared memory.
 *
 * Measured on an H200: a scan that probes dimension bitmaps in shared memory is up to three
 * times as fast as one in L2.  So bitmaps go to shared memory while they fit.
 *
 * Pure functions; no state.
 *
 *-------------------------------------------------------------------------
 */
#include "variant.h"

/* Copying bitmaps into every block pays off only for scans of at least this many rows. */
#define SHARED_MIN_ROWS		2000000

/* A group table per thread must stay in the cache of its core. */
#define LOCAL_GROUP_BYTES_HOST	(256 * 1024)

/* Survivors per group and block that make a table per block worth its zeroing and merging. */
#define LOCAL_SURVIVORS			4

/*
 * At least 1 row in this many is taken to survive.  Estimates are far too low where conditions depend
 * on parameters.  Then all rows met at few groups in global memory, which took twice as long as a
 * table per block.  (SSB Q3.1 and Q4.1 prepared, an H200.)
 */
#define SURVIVE_AT_LEAST		48

/*
 * Rows per thread of scans that try pairs, instead of 16.  All that is computed of a pair stands in the kernel once for
 * each of them.  The histogram of distances has 124 registers with 8 rows and 179 with 16.  So a multiprocessor of an
 * H100 holds two blocks instead of one.  And NVRTC 13.0 takes half of the time for it.  The histogram takes 72 ms
 * instead of 151 (100,000 atoms).
 */
#define PAIRS_VEC				8

/* Copies of a small group table, so that a warp's threads do not collide. */
#define GROUP_COPIES			32
#define GROUP_COPIES_BYTES		(24 * 1024)

/*
 * Where there is no such table, a block keeps the groups that it meets, in at most this many bytes.
 * Of a thousand products and seven years a query meets 280 groups.  Measured on an H200 with trial
 * builds: 65 random SSB queries in selection scans take 2.36 ms with these cells and 2.47 without.
 * But SSB Q2.1 by its own kernel takes 0.294 instead of 0.265.  Cells in the place of tables of more
 * than 24 kB are no faster.
 */
#define CELLS_BYTES				(10 * 1024)
#define LEAST_CELLS				64

/* Copies of the group table per block that pay off within `room` bytes. */
static int
group_copies(const GcProfile *profile, const GcPipelineDemand *demand, uint64_t room)
{
	uint64_t	survivors = demand->survivors;

	if (demand->ngroups == 0)
		return 0;
	if (profile->scalar)
		return demand->group_bytes <= LOCAL_GROUP_BYTES_HOST;
	/* A block's table counts rows in 32 bits, and a grid has a block per multiprocessor. */
	if (demand->rows >= (uint64_t) profile->sms << 32)
		return 0;
	if (survivors < demand->rows / SURVIVE_AT_LEAST)
		survivors = demand->rows / SURVIVE_AT_LEAST;
	if (demand->group_bytes + demand->spare_bytes > room ||
		survivors < LOCAL_SURVIVORS * demand->ngroups * profile->sms)
		return 0;
	return demand->group_bytes * GROUP_COPIES <= GROUP_COPIES_BYTES &&
		demand->group_bytes * GROUP_COPIES + demand->spare_bytes <= room ? GROUP_COPIES : 1;
}

/* Shared memory of so many copies of the group table, with the cells of rows that failed. */
static uint64_t
group_table_bytes(const GcPipelineDemand *demand, int copies)
{
	return copies > 0 ? copies * demand->group_bytes + demand->spare_bytes : 0;
}

/* Bytes of a kept group: its words and its number. */
static uint64_t
cell_bytes(const GcPipelineDemand *demand)
{
	return demand->ngroups > 0 ? demand->group_bytes / demand->ngroups + 4 : demand->hash_cell_bytes;
}

/* Cells for groups that a block meets: a power of two, within `room` bytes. */
static int
group_cells(const GcProfile *profile, const GcPipelineDemand *demand, uint64_t room)
{
	int			cells = LEAST_CELLS;

	if (room > CELLS_BYTES)
		room = CELLS_BYTES;
	if (!demand->cells || cell_bytes(demand) == 0 || demand->rows < SHARED_MIN_ROWS ||
		demand->rows >= (uint64_t) profile->sms << 32 || cells * cell_bytes(demand) > room)
		return 0;
	while (2 * cells * cell_bytes(demand) <= room)
		cells *= 2;
	return cells;
}

int
gc_sched_variant_threads(const GcProfile *profile, uint64_t shared_bytes)
{
	if (profile->scalar)
		return 1;
	return shared_bytes > (uint64_t) profile->shared_per_sm / 8 ? 1024 : 256;
}

GcVariantChoice
gc_sched_variant(const GcProfile *profile, const GcPipelineDemand *demand, uint64_t room)
{
	uint64_t	used = 0;
	GcVariantChoice c = {.threads = 1,.vec = 16};

	if (profile->scalar)
	{
		c.vec = 0;
		room = (uint64_t) profile->shared_per_block;
		c.group_copies = group_copies(profile, demand, room);
		c.group_cells = c.group_copies > 0 ? 0 : group_cells(profile, demand, room);
		return c;
	}
	if (demand->pairs)
		c.vec = PAIRS_VEC;
	room -= room < demand->queue_bytes ? room : demand->queue_bytes;
	for (int i = 0; i < demand->nbitmaps && demand->rows >= SHARED_MIN_ROWS; i++)
	{
		if (used + demand->bitmap_bytes[i] <= room)
		{
			c.bitmaps |= 1u << i;
			used += demand->bitmap_bytes[i];
		}
	}
	c.group_copies = group_copies(profile, demand, room - used);
	used += group_table_bytes(demand, c.group_copies);
	c.group_cells = c.group_copies > 0 ? 0 : group_cells(profile, demand, room - used);
	used += c.group_cells * cell_bytes(demand);
	c.threads = gc_sched_variant_threads(profile, used);
	return c;
}

uint64_t
gc_sched_variant_bytes(const GcPipelineDemand *demand, const GcVariantChoice *choice)
{
	uint64_t	bytes = group_table_bytes(demand, choice->group_copies) + choice->group_cells * cell_bytes(demand);

	for (int i = 0; i < demand->nbitmaps; i++)
	{
		if (choice->bitmaps & 1u << i)
			bytes += demand->bitmap_bytes[i];
	}
	return bytes;
}

GcGrid
gc_sched_full(const GcProfile *profile, int threads, int occupancy, uint64_t tiles)
{
	GcGrid		grid = {1, (uint32_t) threads};
	uint64_t	blocks;

	/* Host: several blocks per thread let requests take turns. */
	blocks = (uint64_t) profile->sms * (profile->serial_blocks ? 4 : occupancy > 0 ? occupancy : 1);
	if (blocks > tiles)
		blocks = tiles;
	grid.blocks = blocks > 0 ? (uint32_t) blocks : 1;
	return grid;
}

uint32_t
gc_sched_tile_shift(const GcProfile *profile, uint64_t tiles, uint32_t tile_rows, uint32_t least_rows)
{
	const uint64_t wanted = (uint64_t) profile->sms * GC_TILES_WANTED;
	uint32_t	shift = 0;

	/* Rows of processors' threads are one by one, and their blocks take turns. */
	if (profile->scalar)
		return 0;
	while (tiles << shift < wanted && tile_rows >> (shift + 1) >= least_rows && tile_rows >> (shift + 1) > 0)
		shift++;
	return shift;
}

uint32_t
gc_sched_tile_of(uint32_t first, uint32_t ntiles, double done)
{
	return ntiles > 0 ? (first + (uint64_t) (ntiles * done)) % ntiles : 0;
}
