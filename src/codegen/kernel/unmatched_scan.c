/*-------------------------------------------------------------------------
 *
 * unmatched_scan.c
 *	  The rest of a full or right join: the build's rows that nothing matched.
 *
 * The pipeline with the join has noted each match (step/match.c).  This one takes the other rows through
 * the steps behind the join, into the same sink.  What came before the join is NULL here
 * (GC_OP_OUTER); the build's payloads are read at the row's own number, as after a match.
 *
 * As in a group scan, a thread takes one row after another.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "unmatched_scan.h"

#include "../expr/emit.h"

void
cg_declare_unmatched(Cg *cg)
{
	const int	b = cg_build(cg, cg->unmatched);
	const int	flags = cg_word(cg, GC_ARG_BUILD, cg->unmatched, GC_BUILD_PART_FLAGS);
	const int	matched = cg_word(cg, GC_ARG_BUILD, cg->unmatched, GC_BUILD_PART_MATCHED);

	text_addf(&cg->decls, "const u8 *gc_matched = (const u8 *) gc_a.w[%d];\n", matched);
	text_addf(&cg->decls, "u64 gc_nbuilt = ((const u32 *) gc_a.w[%d])[GC_FLAG_BUILT];\n"
			  "if (gc_nbuilt > b%d_cap) gc_nbuilt = b%d_cap;\n", flags, b, b);
	cg->index[cg->unmatched] = true;
}

void
cg_emit_unmatched_scan(Cg *cg, Text *t)
{
	const int	b = cg_build(cg, cg->unmatched);

	text_addf(t, "GC_NO_UNROLL for (u64 x%d = (u64) block * nthreads + thread; x%d < gc_nbuilt; x%d += (u64) nblocks * nthreads) {\n"
			  "if (!GC_GO_ON) break;\nif (gc_matched[x%d]) continue;\n%s", b, b, b, b, text_of(&cg->body));
}
