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

/* Fewest columns of a kernel over a selection bitmap that gains by reading packed rows. */
#define GC_LEAST_PACKED_ROW_COLUMNS	2

/*
 * Generate the kernel that writes a column's codes to packed rows.  w[0] is the address of the
 * column's GcCols, w[1] of those of the packed rows.  Their data is the column's address in the
 * chunk's first packed row, or 0: nothing is written.  The text is the same for all programs.
 * malloc'd; NULL when out of memory.
 */
extern char *gc_generate_packed_row_writer(void);
#define GC_PACKED_ROW_WRITER_WORDS	2

#endif							/* GC_CODEGEN_PACKED_ROWS_H */
