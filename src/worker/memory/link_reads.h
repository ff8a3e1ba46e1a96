/*-------------------------------------------------------------------------
 *
 * link_reads.h
 *	  Columns that kernels read in the host's memory, over the link: how much that moves, and whether it pays.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LINK_READS_H
#define GC_LINK_READS_H

#include "postgres.h"

#include "../../columns/store/columns.h"
#include "../../device/device.h"
#include "../../settings.h"

/* gpuconc.debug_link_reads */
typedef enum GcLinkReads
{
	GC_LINK_READS_AUTO,			/* where that moves clearly less than a copy */
	GC_LINK_READS_OFF,
	GC_LINK_READS_ON			/* of whatever is read only for rows that passed a step; for tests */
} GcLinkReads;

/* Share of a column's bytes that a kernel reads, by the width of its codes; and of its NULL bitmap. */
typedef struct GcLinkRead
{
	float		part[4];		/* 1, 2, 4 and 8 bytes */
	float		nulls;
	bool		late;			/* it is read only for rows that passed a step */
} GcLinkRead;

/* Reads for this share of the rows, so many of which are read at once.  1: all rows. */
extern GcLinkRead gc_link_read(double rows, int together);

/* Bytes over the link if a kernel reads a chunk's column in place: an estimate. */
extern double gc_link_bytes(const GcLinkRead *read, const GcChunkColumn *cell);

/*
 * Bytes of copies that take as long as a kernel's reads in place, for each byte of a chunk's column: as GcLinkRead's.
 */
typedef struct GcLinkRates
{
	double		part[4];
	double		nulls;
} GcLinkRates;

extern GcLinkRates gc_link_rates(const GcLinkRead *read);

/* The bytes that a copy moves in the time in which a kernel reads a chunk's column in place. */
static inline double
gc_link_price(const GcLinkRates *rates, const GcChunkColumn *cell)
{
	const u32	width = cell->desc.width;

	return (double) cell->data_bytes * rates->part[width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3] +
		(double) cell->null_bytes * rates->nulls;
}

/*
 * Set the measured costs: how many bytes a copy moves in the time in which kernels read one byte.  sector: in single
 * sectors.  whole: in all sectors, one after the other.  False: not believed.
 */
extern bool gc_link_set_costs(double sector, double whole);

/* The share of a copy's time that is spared if a column whose codes have this width is in device memory; 1 at most. */
extern float gc_link_spared(const GcLinkRead *read, int width);

/*
 * Should kernels read the column where it is, if they can?  price: the reads of all kernels that want it, in bytes of
 * copies.
 */
static inline bool
gc_link_pays(const GcChunkColumn *cell, double price)
{
	return gc_debug_link_reads != GC_LINK_READS_OFF &&
		(gc_debug_link_reads == GC_LINK_READS_ON || price < (double) (cell->data_bytes + cell->null_bytes));
}

/* Should a column that is read like this be copied nevertheless, if memory for it is free? */
extern bool gc_link_copy_free(const GcChunkColumn *cell, double price);

/*
 * Bytes per second from page-locked memory; 0: nothing need be copied to this device, or it did not work.
 * Measured by copies of the beginning of the arena, which take some milliseconds.
 */
extern double gc_link_measure(void);

#endif							/* GC_LINK_READS_H */
