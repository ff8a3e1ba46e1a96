/*-------------------------------------------------------------------------
 *
 * prologue.c
 *	  The beginning of every kernel's text: the device library, and the kernel's head.
 *
 * The library is that of cuda/, as one C string (embed.sh).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "prologue.h"

#include "../devlib_text.h"

void
cg_prologue(Text *t, int nwords, int vec, int threads)
{
	text_addf(t, "#define GC_MAX_ARG_WORDS %d\n#define GC_CUDA_VEC %d\n", nwords > 0 ? nwords : 1, vec);
	text_add(t, devlib_text, sizeof(devlib_text) - 1);
	text_addf(t, "\nGC_KERNEL(%d)\n{\nGC_PROLOGUE\nGC_COUNT_TURNS\n", threads);
}
