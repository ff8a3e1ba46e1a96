/*-------------------------------------------------------------------------
 *
 * packed_rows.h
 *	  Columns of a table, row by row.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_PACKED_ROWS_H
#define GC_SHARE_PACKED_ROWS_H

#include "derived.h"

/* Columns of a table's packed rows. */
#define GC_MAX_PACKED_ROW_COLUMNS	16

/*
 * A table's packed rows: as many of the wanted columns as have room, in the order in which they
 * were wanted (packed_rows.c).
 */
typedef struct GcPackedRows
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	GcAddr		data;			/* of all chunks */
	u32			taken;			/* bytes of a packed row, one bit each */
	int			ncolumns;
	struct
	{
		i16			dir_column;
		GcDerived	column;
	}			column[GC_MAX_PACKED_ROW_COLUMNS];
} GcPackedRows;

struct GcScanSet;

/*
 * Have the scan's requests read packed rows where they can.  The launch holds them
 * (launch->packed_rows) until gc_packed_rows_release.
 *
 * gc_packed_rows_write: queue the writing of missing chunks.  Call it once no failure can mean
 * that nothing was launched.
 */
extern void gc_packed_rows_reserve(GcScanMembers *scan);
extern GcCode gc_packed_rows_write(GcScanMembers *scan);
extern void gc_packed_rows_release(GcPackedRows *r);

extern void gc_packed_rows_forget(struct GcScanSet *set);
extern bool gc_packed_rows_evict(struct GcScanSet *set);

#endif							/* GC_SHARE_PACKED_ROWS_H */
