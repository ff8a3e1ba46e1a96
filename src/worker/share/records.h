/*-------------------------------------------------------------------------
 *
 * records.h
 *	  Columns of a table, row by row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RECORDS_H
#define GC_RECORDS_H

#include "derived.h"

/* Columns of a table's records. */
#define GC_MAX_RECORD_COLUMNS	16

/*
 * A table's records: of each row's columns, as many as have room, in the order in which they
 * were wanted (records.c).
 */
typedef struct GcRecords
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	GcAddr		data;			/* of all chunks */
	u32			taken;			/* bytes of a record, one bit each */
	int			ncolumns;
	struct
	{
		i16			dir_column;
		GcDerived	column;
	}			column[GC_MAX_RECORD_COLUMNS];
} GcRecords;

struct GcScanSet;

/*
 * Have the scan's requests read records where they can: the launch holds them
 * (launch->records) until gc_records_release.  gc_records_write, once no failure can mean that
 * nothing was launched: queue the writing of what is missing.
 */
extern void gc_records_reserve(GcScanMembers *scan);
extern GcCode gc_records_write(GcScanMembers *scan);
extern void gc_records_release(GcRecords *r);

extern void gc_records_forget(struct GcScanSet *set);
extern bool gc_records_evict(struct GcScanSet *set);

#endif							/* GC_RECORDS_H */
