/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  Probes of lists: builds without keys, of which each row is tried.
 *
 * A list's rows are numbered, and all threads of a warp read the same row at a time.  Lists of inner and
 * left joins are cut into slices: a unit of the scan tries one slice of each (cuda/gc_pair.h).  Left, semi and anti
 * joins with lists are in probe.c.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "pairs.h"

#include "../expr/analysis.h"
#include "../expr/emit.h"

int
cg_pair_words(Cg *cg)
{
	if (cg->pair_words > 0)
		return cg->pair_words - 1;
	cg->pair_words = 1 + cg_word(cg, GC_ARG_PAIRS, 0, 0);
	for (int part = 1; part < GC_PAIRS_WORDS; part++)
		(void) cg_word(cg, GC_ARG_PAIRS, 0, part);
	for (int s = 0; s < cg->pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(cg->p)[cg->pl->first_step + s];

		for (int part = GC_PAIRS_WORDS; part < GC_PAIRS_END && gc_is_sliced(cg->p, step); part++)
			(void) cg_word(cg, GC_ARG_PAIRS, step->build, part);
	}
	return cg->pair_words - 1;
}

/* A word of those that describe a list that is cut. */
static int
list_word(Cg *cg, const GcPStep *step, int part)
{
	int			word = cg_pair_words(cg) + part;

	for (const GcPStep *before = &gc_steps(cg->p)[cg->pl->first_step]; before < step; before++)
		word += gc_is_sliced(cg->p, before) ? GC_PAIRS_END - GC_PAIRS_WORDS : 0;
	return word;
}

void
cg_emit_slices(Cg *cg, Text *t)
{
	text_addf(t, "u64 gc_slices_left = gc_slice; (void) gc_slices_left;\n");
	for (int s = cg->pl->nsteps - 1; s >= 0; s--)
	{
		const GcPStep *step = &gc_steps(cg->p)[cg->pl->first_step + s];
		int			slices;

		if (!gc_is_sliced(cg->p, step))
			continue;
		slices = list_word(cg, step, GC_PAIRS_LIST_SLICES);
		text_addf(t, "const u64 slice%d = gc_slices_left %% gc_a.w[%d] * gc_a.w[%d];\ngc_slices_left /= gc_a.w[%d];\n",
				  cg_build(cg, step->build), slices, list_word(cg, step, GC_PAIRS_LIST_ROWS), slices);
	}
}

void
cg_count_list(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	/* A list that is too short holds fewer rows than were counted; its request is made again. */
	text_addf(cg->out, "const u32 built%d = ((const u32 *) b%d_flags)[GC_FLAG_BUILT];\n"
			  "const u32 list%d = built%d < b%d_cap ? built%d : (u32) b%d_cap;\n", b, b, b, b, b, b, b);
}

void
cg_slice_of_list(Cg *cg, const GcPStep *step)
{
	const int	b = cg_build(cg, step->build);

	cg_count_list(cg, step);
	if (!cg_scans_pairs(cg->p, cg->pl))
		text_addf(cg->out, "const u64 slice%d = 0, slice_end%d = list%d;\n", b, b, b);
	else
		text_addf(cg->out, "const u64 slice_end%d = GC_MIN(slice%d + gc_a.w[%d], (u64) list%d);\n", b, b,
				  list_word(cg, step, GC_PAIRS_LIST_ROWS), b);
}

/* A unit's slice is short enough. */
const char *
cg_turn_of_list(const Cg *cg)
{
	return cg_scans_pairs(cg->p, cg->pl) ? "" : "if (!GC_GO_ON) break;\n";
}

int
cg_list_probe(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	cg_slice_of_list(cg, step);
	cg->index[step->build] = true;
	text_addf(cg->out, "for (u64 x%d = slice%d; x%d < slice_end%d; x%d++) {\n%s", b, b, b, b, b, cg_turn_of_list(cg));
	return 1;
}
