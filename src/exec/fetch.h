/*-------------------------------------------------------------------------
 *
 * fetch.h
 *	  Columns that are only carried along, fetched by row id; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_FETCH_H
#define GC_EXEC_FETCH_H

#include "exec.h"

/* The row ids that an input can have: of rows of its served chunks, and of its private chunk. */
extern GcRowIds gc_row_ids(const GcInputState *in);

/*
 * Raw value of a column of the program in the row with an id (gc_tile.h, GC_ROW_ID); false if it is
 * NULL.  The request's slot and guard are held.
 */
extern bool gc_fetch_value(const GcBinding *b, u16 column, int64 id, i128 *value);

#endif							/* GC_EXEC_FETCH_H */
