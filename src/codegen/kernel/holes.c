/*-------------------------------------------------------------------------
 *
 * holes.c
 *	  The kernel that makes the bitmaps of the rows that a request sees.
 *
 * Pure C, called on the worker's main thread.  The text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "../codegen.h"
#include "prologue.h"

char *
gc_generate_holes_kernel(void)
{
	Text		t = {0};

	cg_prologue(&t, GC_HOLES_KERNEL_WORDS, 8, 256);
	text_addf(&t, "const GcVisible *visible = (const GcVisible *) gc_a.w[0];\n"
			  "const u32 pieces = (u32) gc_a.w[2], each = (%d + nthreads - 1) / nthreads;\n"
			  "for (u64 unit = block; unit < gc_a.w[1] * pieces; unit += nblocks) {\n"
			  "const GcVisible v = visible[unit / pieces];\n"
			  "const u32 words = (v.nrows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * (GC_PAD_ROWS / 64);\n"
			  "const u32 begin = (u32) (unit %% pieces) * %d;\n"
			  "const u32 end = begin + %d < words ? begin + %d : words;\n"
			  "const u32 first = begin + thread * each;\n"
			  "if (first < end) gc_fill_visible(&v, first, first + each < end ? first + each : end);\n"
			  "}\n}\n",
			  GC_HOLES_WORDS, GC_HOLES_WORDS, GC_HOLES_WORDS, GC_HOLES_WORDS);
	return t.s;
}
