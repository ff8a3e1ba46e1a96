/*-------------------------------------------------------------------------
 *
 * text_kernel.c
 *	  The kernel that fills a lookup table with what a text program makes of each value of a
 *	  dictionary.
 *
 * Pure C, called on the worker's main thread.  The text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "../codegen.h"
#include "prologue.h"

char *
gc_generate_text_kernel(void)
{
	Text		t = {0};

	cg_prologue(&t, GC_TEXT_WORDS, 8, 256);
	text_addf(&t, "const u8 *bytes = (const u8 *) gc_a.w[0];\n"
			  "const u64 *start = (const u64 *) gc_a.w[1];\n"
			  "const u8 *program = (const u8 *) gc_a.w[6];\n"
			  "const u32 nops = (u32) gc_a.w[7], utf8 = (u32) gc_a.w[8];\n"
			  "for (u64 first = gc_a.w[4] + (u64) block * %d; first < gc_a.w[5]; first += (u64) nblocks * %d) {\n"
			  "const u64 end = first + %d < gc_a.w[5] ? first + %d : gc_a.w[5];\n"
			  "for (u64 c = first + thread; c < end && !GC_STOPPED; c += nthreads) {\n"
			  "GcText t = {0, bytes + start[c], 0, 0, start[c + 1] - start[c], 0, 0};\n"
			  "const i64 value = gc_text_execute(&t, program, nops, utf8);\n"
			  "if (gc_a.w[3] == 1)\n"
			  "((u8 *) gc_a.w[2])[c + 1] = (u8) value;\n"
			  "else\n"
			  "((i32 *) gc_a.w[2])[c + 1] = (i32) value;\n"
			  "}\n}\n}\n",
			  GC_TEXT_VALUES, GC_TEXT_VALUES, GC_TEXT_VALUES, GC_TEXT_VALUES);
	return t.s;
}
