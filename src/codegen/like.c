/*-------------------------------------------------------------------------
 *
 * like.c
 *	  The kernel that fills a lookup table with LIKE of each value of a dictionary.
 *
 * Pure C, called on the worker's main thread.  The text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "codegen.h"
#include "prologue.h"

char *
gc_generate_like_kernel(void)
{
	Text		t = {0};

	cg_prologue(&t, GC_LIKE_WORDS, 8, 256);
	text_addf(&t, "const u8 *bytes = (const u8 *) gc_a.w[0];\n"
			  "const u64 *start = (const u64 *) gc_a.w[1];\n"
			  "u8 *to = (u8 *) gc_a.w[2];\n"
			  "const u16 *pattern = (const u16 *) gc_a.w[5];\n"
			  "const u32 n = (u32) gc_a.w[6], flags = (u32) gc_a.w[7];\n"
			  "for (u64 first = gc_a.w[3] + (u64) block * %d; first < gc_a.w[4]; first += (u64) nblocks * %d) {\n"
			  "const u64 end = first + %d < gc_a.w[4] ? first + %d : gc_a.w[4];\n"
			  "for (u64 c = first + thread; c < end; c += nthreads)\n"
			  "to[c + 1] = (u8) (gc_like(bytes + start[c], start[c + 1] - start[c], pattern, n, flags) ^ ((flags & GC_LIKE_NOT) != 0));\n"
			  "}\n}\n",
			  GC_LIKE_VALUES, GC_LIKE_VALUES, GC_LIKE_VALUES, GC_LIKE_VALUES);
	return t.s;
}
