/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Rows of heap pages into an encoder.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_READER_H
#define GC_READER_H

#include "columns.h"
#include "encode.h"

typedef struct GcReader GcReader;

/* A reader of these columns, in CurrentMemoryContext. */
extern GcReader *gc_reader_create(Relation rel, int ncols, const GcColSpec *specs);

extern GcEncoder *gc_reader_encoder(GcReader *reader);

/*
 * Append all rows of a heap page, if it says itself that it is all-visible.
 * False, and nothing appended, if not.
 */
extern bool gc_reader_add_page(GcReader *reader, BlockNumber blkno);

#endif							/* GC_READER_H */
