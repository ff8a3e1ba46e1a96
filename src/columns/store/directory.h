/*-------------------------------------------------------------------------
 *
 * directory.h
 *	  Directories: their layout, and giving up their chunks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DIRECTORY_H
#define GC_DIRECTORY_H

#include "columns.h"

/* Column of a directory that stands for spec, or -1.  Checks the signature. */
extern int	gc_directory_column(const GcDirectory *dir, const GcColSpec *spec);

/* Note the use of a column, for replacement. */
extern void gc_column_touch(GcDirectory *dir, int col);

/* A cell's range, at the scale of the column, which is not smaller. */
extern GcCellRange gc_cell_range(const GcSpan *cell, const GcSpan *column);

/* Bytes of a directory; and one made of that many, with that id. */
extern Size gc_directory_size(uint32 nchunks, uint32 ncolumns);
extern void gc_directory_init(GcDirectory *dir, Size size, uint64 id, const GcRelKey *key,
							  uint32 nchunks, uint32 nheap, uint32 ncolumns);

/*
 * A directory like dir without column c, or NULL without memory.  Called under
 * GC_LOCK_STORE, so it evicts nothing and does not wait.
 */
extern GcDirectory *gc_directory_without(const GcDirectory *dir, int c, uint64 id);

/* Retire a directory no longer published, and all it has; or one column of it.  Their bytes. */
extern Size gc_directory_retire(GcDirectory *dir);
extern Size gc_directory_retire_column(GcDirectory *dir, int c);

/* Retire a column's state and its dictionary; their bytes (with a guard). */
extern Size gc_colstate_retire(GcColState *state);
extern Size gc_colstate_bytes(const GcColState *state);

#endif							/* GC_DIRECTORY_H */
