/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  What a pipeline's kernel has in shared memory: bitmaps of builds, and its groups.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "shared.h"
#include "../sink/cells.h"
#include "../sink/sink.h"

/* Must agree with gc_shared_bytes, and so must the tables of the sinks. */
void
cg_scope(Cg *cg, Text *t, const char *top)
{
	text_addf(t, "%su64 gc_top = %s; (void) gc_top;\n", text_of(&cg->decls), top);
	for (u16 b = 0; b < cg->p->nbuilds; b++)
	{
		int			k = cg->build[b];

		if (!(cg->variant->shared_builds & 1u << b))
			continue;
		text_addf(t, "u32 *b%d_at = (u32 *) (gc_shared + gc_top);\n", k);
		text_addf(t, "gc_top += (b%d_range + 63) / 64;\n", k);
	}
	sink_table(cg, t);
}

/* Copy the bitmaps that the variant keeps in shared memory; empty the group table. */
void
cg_fill_shared(Cg *cg, Text *t)
{
	for (u16 b = 0; b < cg->p->nbuilds; b++)
	{
		int			k = cg->build[b];

		if (cg->variant->shared_builds & 1u << b)
			text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < (u32) ((b%d_range + 31) / 32); i += nthreads)\n"
					  "b%d_at[i] = ((const u32 *) b%d_bits)[i];\n", k, k, k);
	}
	sink_clear(cg, t);
}

bool
cg_uses_shared(const Cg *cg)
{
	return cg->variant->shared_builds != 0 || sink_uses_shared(cg);
}

u64
gc_shared_bytes(const GcProgram *p, u16 pipeline, const GcVariant *variant, const u64 *ranges, u64 ngroups)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	u64			words = 0;

	for (u16 b = 0; b < p->nbuilds; b++)
	{
		if (variant->shared_builds & 1u << b)
			words += (ranges[b] + 63) / 64;
	}
	/* Packets are no groups. */
	if (variant->edge_side == GC_EDGE_PRODUCER)
		return words * 8;
	if (variant->group_local)
		words += (variant->group_copies * ngroups + GC_SPARE_CELLS) * pl->group_words;
	words += variant->group_cells * (pl->group_words + cg_cell_key_words(p, pl)) + variant->group_cells / 2;
	return words * 8;
}
