/*-------------------------------------------------------------------------
 *
 * kernel.c
 *	  The kernel of one pipeline: the scan skeleton around the output of pipeline.c.
 *
 * pipeline.c gives three texts (kernel-scope declarations, tile-scope descriptions, body), which
 * are joined here.
 *
 * Pure C, called on the worker's main thread.  The text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "codegen.h"
#include "analysis.h"
#include "emit.h"
#include "group_scan.h"
#include "packed_rows.h"
#include "pairs.h"
#include "pipeline.h"
#include "prologue.h"
#include "shared.h"
#include "sink.h"
#include "unmatched_scan.h"

#include <string.h>

/* Registers of a row's values above which a thread gathers fewer rows at a time. */
#define MANY_GATHERED		7

/* Rows that a thread gathers at a time, by the registers that each row takes. */
static int
lane_rows(const Cg *cg)
{
	return !cg->gather || cg->gathered > 4 * MANY_GATHERED ? 1 : cg->filtered || cg->gathered > MANY_GATHERED ? 2 : 4;
}

/*
 * Packed rows are read where at most 1 row in so many is visited.  On an H200
 * (bench/two_stage/selection.c) they are faster there.  A column's own codes are narrower, and
 * packed rows of two columns save less.
 */
static int
few_part(const Cg *cg)
{
	if (!cg->variant->packed_rows || cg->ncolumns < GC_LEAST_PACKED_ROW_COLUMNS)
		return 1 << 20;
	return cg->ncolumns == 2 ? 24 : 12;
}

/*
 * Rounds of a vector phase whose loads are in flight together: the fewer bytes of a row it reads,
 * the more.
 */
static int
filtered_rounds(const Cg *cg)
{
	return cg->loaded_bytes <= 2 ? 4 : cg->loaded_bytes <= 4 ? 2 : 1;
}

static void
emit_reads_ahead(const Cg *cg, Text *t, const char *row)
{
	text_addf(t, "GC_READ_FROM(%s)\n", row);
	for (int i = 0; i < cg->nahead; i++)
		text_addf(t, "GC_READ_AHEAD(%d, ahead%d, d%d)\n", cg->ahead[i].width, cg->ahead[i].k, cg->ahead[i].k);
	text_addf(t, "GC_END_READ\n");
}

/* Begin the loop over a tile's vectors, with some columns read one vector ahead. */
static void
begin_vectors(const Cg *cg, Text *t)
{
	if (cg->nahead == 0)
	{
		text_addf(t, "GC_VECTORS\n");
		return;
	}
	for (int i = 0; i < cg->nahead; i++)
		text_addf(t, "GC_AHEAD_ARRAY(%d, ahead%d)\n", cg->ahead[i].width, cg->ahead[i].k);
	emit_reads_ahead(cg, t, "GC_FIRST_VECTOR");
	text_addf(t, "GC_SHARED_VECTORS\n");
	for (int i = 0; i < cg->nahead; i++)
		text_addf(t, "GC_TAKE_AHEAD(%d, ahead%d, w%d)\n", cg->ahead[i].width, cg->ahead[i].k, cg->ahead[i].k);
	emit_reads_ahead(cg, t, "GC_VECTOR_AHEAD");
	text_addf(t, "GC_VECTOR_LIVE(gc_src.valid, gc_row)\n");
}

/*
 * Emit a scan of the rows in a selection bitmap; `word` is the first of the words that describe
 * the bitmap.
 */
static void
emit_selected_scan(const Cg *cg, Text *t, int word)
{
	text_addf(t, "#define GC_LANE_ROWS %d\n#define GC_FEW_PART %d\n"
			  "GC_SELECTED_TILES(%d, gc_a.w[%d], gc_a.w[%d], gc_a.w[%d], gc_a.w[%d])\n%sGC_SELECTED_VECTORS\n"
			  "%sGC_END_SELECTED_VECTORS\n", lane_rows(cg), few_part(cg), cg->variant->threads, word,
			  word + GC_SELECTION_BYTES, word + GC_SELECTION_SUMMARY, word + GC_SELECTION_BIT, text_of(&cg->descs), text_of(&cg->body));
}

/* Emit a scan whose vector phase leaves few rows, which are gathered. */
static void
emit_filtered_scan(const Cg *cg, Text *t)
{
	text_addf(t, "#define GC_LANE_ROWS %d\n#define GC_FEW_PART %d\n#define GC_FILTERED_ROUNDS %d\n"
			  "GC_FILTERED_TILES(%d)\n%sGC_FILTERED_VECTORS\n%sGC_END_FILTERED_VECTORS\n", lane_rows(cg), few_part(cg),
			  filtered_rounds(cg), cg->variant->threads, text_of(&cg->descs), text_of(&cg->body));
}

/* A scan that tries pairs, in units; w: the first of its words. */
static void
emit_pair_scan(const Cg *cg, Text *t, int w)
{
	text_addf(t, "GC_PAIR_UNITS(gc_a.w[%d], gc_a.w[%d], gc_a.w[%d], gc_a.w[%d])\n%sGC_PAIR_VECTORS\n%sGC_END_VECTORS\n",
			  w + GC_PAIRS_FROM, w + GC_PAIRS_COUNT, w + GC_PAIRS_SLICES, w + GC_PAIRS_PARTS, text_of(&cg->descs),
			  text_of(&cg->body));
}

static void
emit_scan(const Cg *cg, Text *t)
{
	text_addf(t, "GC_TILES\n%s", text_of(&cg->descs));
	begin_vectors(cg, t);
	text_addf(t, "%sGC_END_VECTORS\n", text_of(&cg->body));
}

/* Add the words of the selection bitmap, one after another; returns the first. */
static int
mark_words(Cg *cg)
{
	const int	first = cg_word(cg, GC_ARG_SELECTION, 0, GC_SELECTION_DATA);

	for (int part = 1; part < GC_SELECTION_PARTS; part++)
		(void) cg_word(cg, GC_ARG_SELECTION, 0, part);
	return first;
}

static void
assemble(Cg *cg, Text *t)
{
	const bool	selection = cg->variant->selection != 0;
	const bool	single = cg_groups_of(cg->p, cg->pl) || cg->unmatched != GC_NONE;
	const int	sel_bitmap = selection ? mark_words(cg) : 0;
	const int	pairs = cg_scans_pairs(cg->p, cg->pl) ? cg_pair_words(cg) : -1;

	if (selection)
		text_addf(t, "#define GC_LEAST_BLOCKS %d\n", GC_SELECTED_BLOCKS(cg->variant->threads));
	cg_prologue(t, cg->src->nwords, cg->variant->vec, cg->variant->threads);
	text_addf(t, "i32 gc_bad = 0;\nu32 *gc_flags = (u32 *) gc_a.scan.flags; (void) gc_flags;\n");
	text_addf(t, "GC_BEGAN(gc_flags)\n");
	if (selection)
		text_addf(t, "GC_CAME_AFTER(gc_flags, gc_a.scan.before)\n");
	cg_scope(cg, t, "0");
	sink_state(cg, t);
	cg_fill_shared(cg, t);
	text_addf(t, "GC_BARRIER();\n");
	if (cg->unmatched != GC_NONE)
		cg_emit_unmatched_scan(cg, t);
	else if (single)
		cg_emit_group_scan(cg, t);
	else if (pairs >= 0)
		emit_pair_scan(cg, t, pairs);
	else if (selection)
		emit_selected_scan(cg, t, sel_bitmap);
	else if (cg->filtered)
		emit_filtered_scan(cg, t);
	else
		emit_scan(cg, t);
	text_addf(t, single ? "}\n" : "GC_END_TILES\n");
	sink_end(cg, t);
	text_addf(t, "if (gc_bad) gc_flags[GC_FLAG_DATA] = 1;\nGC_BARRIER();\n"
			  "GC_ENDED(gc_flags)\nGC_DELIVER\n}\n");
}

GcCode
gc_generate(const GcProgram *p, u16 pipeline, const GcVariant *variant,
			GcKernelSource *source, GcError *err)
{
	Cg			cg;
	Text		text = {0};

	memset(source, 0, sizeof(*source));
	if (cg_begin(&cg, p, pipeline, variant, err) != GC_OK)
		return GC_HOST_MEMORY;
	cg.src = source;
	cg_pipeline(&cg);
	assemble(&cg, &text);
	return cg_finish(&cg, &text);
}
