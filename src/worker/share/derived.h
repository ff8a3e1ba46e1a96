/*-------------------------------------------------------------------------
 *
 * derived.h
 *	  Columns that the device derives from a set's columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DERIVED_H
#define GC_DERIVED_H

#include "scan_members.h"

/*
 * A column that the device derives from another (derived.c).  All 0: there is none now.
 * Never changed, but for chunks that are written as they are first read.
 */
typedef struct GcDerived
{
	u32			nchunks;
	GcAddr	   *place;			/* of each chunk's codes */
	GcAddr		cols;			/* GcCol[2 * nchunks]: to be read, and to be written next */
	GcCol	   *host;			/* the same on the host */
	u32			unwritten;		/* chunks */
	GcEvent	   *ready;			/* behind the last chunk written */
} GcDerived;

/* Rows of all chunks, padding included. */
extern u64	gc_derived_rows(const GcDirectory *dir);

/*
 * Nothing is written yet.  width: of the codes, 0: that of the column they are derived from;
 * a row's is `stride` bytes behind that of the row before, the first chunk's first at `data`.
 * False: no memory to spare.
 */
extern bool gc_derived_lay_out(GcDerived *d, const GcDirectory *dir, u8 width, GcAddr data, u32 stride);
extern void gc_derived_free(GcDerived *d);

/*
 * Queue the writing, by kernel k, of the chunks that `readers` among the members read and that
 * are missing.  args: what k needs, but for w[1], the address of the GcCols to be written.
 */
extern GcCode gc_derived_write(GcScanMembers *scan, GcDerived *d, u32 readers, const GcPipelineKernel *k,
							   GcArgs *args, int nwords);

#endif							/* GC_DERIVED_H */
