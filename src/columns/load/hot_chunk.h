/*-------------------------------------------------------------------------
 *
 * hot_chunk.h
 *	  Reading hot pages into a hot chunk.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOT_CHUNK_H
#define GC_HOT_CHUNK_H

#include "chunk_internal.h"

/* Begin to read a hot chunk of reading->npages pages, which is in chunk_context. */
extern void gc_hot_begin(GcReading *reading, GcJobHotPage *wanted);

/*
 * Read or copy the pages that are not refused into the set's encoder, which is empty.  False if a
 * page had a value that a column cannot take; it is refused from now on.  Needs a guard.
 */
extern bool gc_hot_read(GcLoader *loader, GcReading *reading);

/*
 * Read the set's columns for the rows of a hot chunk of the base.  False if that
 * cannot be, or a column cannot take a value.  Needs a guard.
 */
extern bool gc_hot_add(GcLoader *loader, GcReading *reading);

/* The chunk of what was read, without its columns; NULL without memory. */
extern GcChunk *gc_hot_make_chunk(const GcReading *reading);

#endif							/* GC_HOT_CHUNK_H */
