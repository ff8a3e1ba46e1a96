/*-------------------------------------------------------------------------
 *
 * packed_rows.h
 *	  The kernel that writes packed rows.
 *
 * Pure C, called on the worker's main thread.  The caller owns, and frees, the texts that it is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_PACKED_ROWS_H
#define GC_CODEGEN_PACKED_ROWS_H

/* Fewest columns of a kernel over marks that gains by reading them in records. */
#define GC_LEAST_PACKED_ROW_COLUMNS	2

/*
 * The record writer writes a column's codes to records: w[0] is the address of its GcCols,
 * w[1] of those of the records, whose data is the place in the chunk's first record, or 0:
 * nothing is written.  The same for all programs.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_packed_row_writer(void);
#define GC_PACKED_ROW_WRITER_WORDS	2

#endif							/* GC_CODEGEN_PACKED_ROWS_H */
