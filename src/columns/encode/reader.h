/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Rows of heap pages into an encoder.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_READER_H
#define GC_READER_H

#include "access/htup_details.h"
#include "storage/buf.h"

#include "../store/columns.h"
#include "encode.h"

typedef struct GcReader GcReader;

/* A reader of these columns, in CurrentMemoryContext. */
extern GcReader *gc_reader_create(Relation rel, int ncols, const GcColSpec *specs);

extern GcEncoder *gc_reader_encoder(GcReader *reader);

/*
 * Append all rows of a heap page, if it says itself that it is all-visible.
 * False, and nothing appended, if not.  *lsn is the LSN that the page had then, or before its
 * latest hint bits.
 */
extern bool gc_reader_add_page(GcReader *reader, BlockNumber blkno, XLogRecPtr *lsn, OffsetNumber *missing,
							   uint32 *nmissing);

/*
 * Copy a heap page under its share lock, whatever it says of itself; where it was found.
 * Its LSN is the one of before: the copy may be newer by hint bits alone.
 */
extern XLogRecPtr gc_reader_copy_page(GcReader *reader, BlockNumber blkno, Buffer *buffer);

/* Has the page that was copied last never been written? */
extern bool gc_reader_page_is_new(GcReader *reader);

/*
 * Append tuples of the page that was copied last: the tuple at this offset, some tuples, and the end of a page.  NULL
 * if there is no tuple at this offset; *last is the greatest offset.
 */
extern HeapTupleHeader gc_reader_tuple(GcReader *reader, OffsetNumber offset);
extern OffsetNumber gc_reader_last_offset(GcReader *reader);
extern void gc_reader_add_tuples(GcReader *reader, const OffsetNumber *offsets, uint32 n);

#endif							/* GC_READER_H */
