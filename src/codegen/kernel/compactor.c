/*-------------------------------------------------------------------------
 *
 * compactor.c
 *	  The compactor: collects the existing groups of a dense group table.
 *
 * Pure C, called on the worker's main thread.  The text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "../codegen.h"
#include "prologue.h"

char *
gc_generate_compactor(void)
{
	Text		t = {0};

	cg_prologue(&t, GC_COMPACTOR_WORDS, 8, 256);
	text_addf(&t, "const u64 *table = (const u64 *) gc_a.w[0];\n"
			  "u32 *flags = (u32 *) gc_a.scan.flags;\n"
			  "for (u64 g = (u64) block * nthreads + thread; g < gc_a.w[1]; g += (u64) nblocks * nthreads) {\n"
			  "const u64 *from = table + g * gc_a.w[2];\n"
			  "if (!from[0]) continue;\n"
			  "const u64 n = GC_ATOMIC_ADD32(&flags[GC_FLAG_GROUPS], 1);\n"
			  "u64 *to = (u64 *) gc_a.w[3] + n * gc_a.w[2];\n"
			  "((u64 *) gc_a.w[4])[n] = g;\n"
			  "for (u64 i = 0; i < gc_a.w[2]; i++) to[i] = from[i];\n"
			  "}\n}\n");
	return t.s;
}
