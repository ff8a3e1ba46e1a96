/*-------------------------------------------------------------------------
 *
 * packed_rows.c
 *	  The kernel that writes packed rows (cuda/gc_packed_row.h).
 *
 * A selection scan leaves few rows for a request, whose kernel reads several columns of each.
 * Every such read takes a sector of 32 bytes, for a code of 1 to 4.  With the columns of a row
 * side by side in one sector, the second column costs nothing.  Kernels over selection bitmaps
 * read packed rows where few rows are selected, and columns where many are; the codes are the
 * same.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "../packed_rows.h"
#include "prologue.h"

char *
gc_generate_packed_row_writer(void)
{
	Text		t = {0};

	cg_prologue(&t, GC_PACKED_ROW_WRITER_WORDS, 8, 256);
	text_addf(&t, "GC_TILES\n"
			  "const GcCol from = ((const GcCol *) gc_a.w[0])[gc_src.chunk];\n"
			  "const GcCol to = ((const GcCol *) gc_a.w[1])[gc_src.chunk];\n"
			  "if (!to.data) continue;\n"
			  "for (u32 row = gc_first + thread; row < gc_end; row += nthreads)\n"
			  "gc_write_packed_row(to.data, from, row);\n"
			  "GC_END_TILES\n}\n");
	return t.s;
}
