/*-------------------------------------------------------------------------
 *
 * link_reads.c
 *	  The kernel that reads the host's memory over the link, to be timed.
 *
 * Pure C, called on the worker's main thread.  The text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "../codegen.h"
#include "prologue.h"

char *
gc_generate_link_kernel(void)
{
	Text		t = {0};

	cg_prologue(&t, GC_LINK_WORDS, 8, 256);
	text_addf(&t, "u32 found = 0;\n"
			  "for (u64 i = (u64) block * nthreads + thread; i < gc_a.w[1]; i += (u64) nblocks * nthreads)\n"
			  "found |= *(const u32 *) (gc_a.w[0] + i * gc_a.w[2]);\n"
	/* So that the reads are not left out. */
			  "if (found == 0x5eed5eedu) *(u32 *) gc_a.w[3] = found;\n"
			  "}\n");
	return t.s;
}
