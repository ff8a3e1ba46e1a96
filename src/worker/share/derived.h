/*-------------------------------------------------------------------------
 *
 * derived.h
 *	  Columns that the device derives from a scan set's columns.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DERIVED_H
#define GC_DERIVED_H

#include "scan_members.h"

/*
 * A column that the device derives from others (derived.c).  All 0: there is none now.  Its codes
 * never change once the first scan that reads a chunk has written them.
 */
typedef struct GcDerived
{
	u32			nchunks;
	GcAddr	   *place;			/* of each chunk's codes */
	GcAddr		cols;			/* GcCol[2 * nchunks]: to be read, and to be written next */
	GcCol	   *host;			/* `cols` on the host */
	u32			unwritten;		/* number of chunks */
	GcEvent	   *ready;			/* behind the last chunk written */
} GcDerived;

/* Rows of the first nchunks chunks, padding included. */
extern u64	gc_derived_rows(const GcDirectory *dir, u32 nchunks);

/*
 * Lay out a derived column of the first nchunks chunks, of which nothing is written yet.  width: of its codes, of which
 * the first lies at `data`.  False: no memory to spare.
 */
extern bool gc_derived_lay_out(GcDerived *d, const GcDirectory *dir, u32 nchunks, u8 width, GcAddr data);
extern void gc_derived_free(GcDerived *d);

/*
 * Queue kernel k, which writes the missing chunks that members in `readers` read.  args: what k
 * needs, except w[1], the address of the GcCols to be written.
 */
extern GcCode gc_derived_write(GcScanMembers *scan, GcDerived *d, u32 readers, const GcPipelineKernel *k,
							   GcArgs *args, int nwords);

#endif							/* GC_DERIVED_H */
