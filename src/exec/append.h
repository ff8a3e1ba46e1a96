/*-------------------------------------------------------------------------
 *
 * append.h
 *	  Append inputs: tables whose chunks are read as those of one; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_APPEND_H
#define GC_EXEC_APPEND_H

#include "exec.h"

/*
 * Put the tables of an append input together, once their pages are judged: its directory, what is
 * served of it, and its dictionaries.
 */
extern GcCode gc_append_combine(GcScanState *node, int input, GcError *err);

/* Bytes of its directory in a request; and write it there. */
extern Size gc_append_size(const GcInputState *in);
extern const GcDirectory *gc_append_write(const GcInputState *in, void *memory);

#endif							/* GC_EXEC_APPEND_H */
