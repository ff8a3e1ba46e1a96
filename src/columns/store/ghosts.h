/*-------------------------------------------------------------------------
 *
 * ghosts.h
 *	  Ghosts: sizes and failed loads of columns that are not in the cache any more, or could not be brought into it.
 *
 * The word is that of replacement policies (Megiddo, Modha: ARC, 2003).
 *
 * So a load that cannot fit is not begun, and one whose columns were brought in vain asks for more than the last one
 * did.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GHOSTS_H
#define GC_GHOSTS_H

#include "postgres.h"

#include "access/attnum.h"
#include "datatype/timestamp.h"

#include "columns.h"

/* Columns that are remembered at a time; the one that was noted first makes room. */
#define GC_GHOST_COLUMNS		1024

typedef struct GcGhost
{
	Size		bytes;			/* that the column takes; 0: not known */
	int			in_vain;		/* how often lately it was loaded, or nearly so, and soon missed again */
	TimestampTz failed_at;		/* when its last load found no room; 0: it did not fail */
} GcGhost;

extern void gc_ghost_shmem(void);

/* A column of npages is evicted, and gives back so many bytes.  The caller holds GC_LOCK_STORE exclusively. */
extern void gc_ghost_note_evicted(const GcRelKey *key, AttrNumber attnum, Size bytes, BlockNumber npages);

/* A load found no room for a column, which would have taken about so many bytes. */
extern void gc_ghost_note_failed(const GcRelKey *key, AttrNumber attnum, Size bytes, BlockNumber npages);

/* All of a table, or of a database (relid 0), is forgotten: this, too. */
extern void gc_ghost_forget(Oid dbid, Oid relid);

/*
 * A query asks for a column that is not there, of a table of npages now.  If it was evicted lately, its last load was
 * in vain.
 */
extern GcGhost gc_ghost_ask(const GcRelKey *key, AttrNumber attnum, BlockNumber npages);

#endif							/* GC_GHOSTS_H */
