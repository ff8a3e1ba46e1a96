/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  Probes of lists: builds without keys, of which each row is tried.
 *
 * A list's rows are numbered, and all threads of a warp read the same row at a time.  The first list
 * of an inner join is cut into slices: a unit of the scan tries one of them (cuda/gc_pair.h).  What
 * left, semi and anti joins do with lists is in match.c.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "pairs.h"

#include "analysis.h"
#include "emit.h"

int
cg_pair_words(Cg *cg)
{
	if (cg->pair_words == 0)
	{
		cg->pair_words = 1 + cg_word(cg, GC_ARG_PAIRS, 0, 0);
		for (int part = 1; part < GC_PAIRS_WORDS; part++)
			(void) cg_word(cg, GC_ARG_PAIRS, 0, part);
	}
	return cg->pair_words - 1;
}

void
cg_count_list(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	/* A list that is too short holds fewer rows than were counted; its request is made again. */
	text_addf(cg->out, "const u32 built%d = ((const u32 *) b%d_flags)[GC_FLAG_BUILT];\n"
			  "const u32 list%d = built%d < b%d_cap ? built%d : (u32) b%d_cap;\n", b, b, b, b, b, b, b);
}

/* Is it the probe whose list the units of the scan are slices of? */
static bool
is_sliced(const Cg *cg, const GcPStep *step)
{
	return cg_scans_pairs(cg->p, cg->pl) &&
		step == &gc_steps(cg->p)[cg->pl->first_step + gc_first_list_probe(cg->p, cg->pl)];
}

int
cg_list_probe(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	cg_count_list(cg, step);
	cg->index[step->build] = true;
	if (is_sliced(cg, step))
	{
		const int	rows = cg_pair_words(cg) + GC_PAIRS_SLICE_ROWS;

		text_addf(cg->out, "const u64 end%d = (gc_slice + 1) * gc_a.w[%d] < list%d ? (gc_slice + 1) * gc_a.w[%d] : list%d;\n"
				  "for (u64 x%d = gc_slice * gc_a.w[%d]; x%d < end%d; x%d++) {\n", b, rows, b, rows, b, b, rows, b, b, b);
	}
	else
		text_addf(cg->out, "for (u64 x%d = 0; x%d < list%d; x%d++) {\n", b, b, b, b);
	return 1;
}
