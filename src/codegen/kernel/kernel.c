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
#include "../codegen.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/values.h"
#include "../sink/sinks.h"
#include "../sink/sink.h"
#include "../step/pairs.h"
#include "pipeline.h"
#include "prologue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read columns' next vectors into registers before this vector's rows are worked at. */
static void
emit_reads_ahead(const AheadColumn *ahead, int n, Text *t, const char *row)
{
	text_addf(t, "GC_READ_FROM(%s)\n", row);
	for (int i = 0; i < n; i++)
		text_addf(t, "GC_READ_AHEAD(%d, ahead%d, d%d)\n", ahead[i].width, ahead[i].k, ahead[i].k);
	text_addf(t, "GC_END_READ\n");
}

/* Begin the loop over a tile's vectors, with n columns read one vector ahead. */
static void
begin_vectors(const AheadColumn *ahead, int n, Text *t)
{
	if (n == 0)
	{
		text_addf(t, "GC_VECTORS\n");
		return;
	}
	for (int i = 0; i < n; i++)
		text_addf(t, "GC_AHEAD_ARRAY(%d, ahead%d)\n", ahead[i].width, ahead[i].k);
	emit_reads_ahead(ahead, n, t, "GC_FIRST_VECTOR");
	text_addf(t, "GC_SHARED_VECTORS\n");
	for (int i = 0; i < n; i++)
		text_addf(t, "GC_TAKE_AHEAD(%d, ahead%d, w%d)\n", ahead[i].width, ahead[i].k, ahead[i].k);
	emit_reads_ahead(ahead, n, t, "GC_VECTOR_AHEAD");
	text_addf(t, "GC_VECTOR_LIVE(gc_src.valid, gc_row)\n");
}

/*
 * Emit a scan of the rows in a selection bitmap; `word` is the first of the words that describe
 * the bitmap.
 */
static void
emit_selected_scan(const Cg *cg, Text *t, int word)
{
	text_addf(t, "#define GC_LANE_ROWS GC_GATHERED_TOGETHER(%d)\n"
			  "GC_SELECTED_TILES(%d, gc_a.w[%d], gc_a.w[%d], gc_a.w[%d], gc_a.w[%d])\n%sGC_SELECTED_VECTORS\n"
			  "%sGC_END_SELECTED_VECTORS\n", cg_lane_rows(cg), cg->variant->threads, word,
			  word + GC_SELECTION_BYTES, word + GC_SELECTION_SUMMARY, word + GC_SELECTION_BIT, text_of(&cg->descs), text_of(&cg->body));
}

/* Emit a scan whose vector phase leaves few rows, which are gathered. */
static void
emit_filtered_scan(const Cg *cg, Text *t)
{
	text_addf(t, "#define GC_LANE_ROWS GC_GATHERED_TOGETHER(%d)\n#define GC_FILTERED_ROUNDS %d\n"
			  "GC_FILTERED_TILES(%d)\n%sGC_FILTERED_VECTORS\n%sGC_END_FILTERED_VECTORS\n", cg_lane_rows(cg),
			  cg_filtered_rounds(cg), cg->variant->threads, text_of(&cg->descs), text_of(&cg->body));
}

/* A scan that tries pairs, in units; w: the first of its words. */
static void
emit_pair_scan(Cg *cg, Text *t, int w)
{
	text_addf(t, "GC_PAIR_UNITS(gc_a.w[%d], gc_a.w[%d], gc_a.w[%d], gc_a.w[%d])\n",
			  w + GC_PAIRS_FROM, w + GC_PAIRS_COUNT, w + GC_PAIRS_SLICES, w + GC_PAIRS_PARTS);
	cg_emit_slices(cg, t);
	text_addf(t, "%sGC_PAIR_VECTORS\n%sGC_END_VECTORS\n", text_of(&cg->descs), text_of(&cg->body));
}

/* A scan by vectors, through all tiles. */
static void
emit_scan(const Cg *cg, Text *t)
{
	text_addf(t, "GC_TILES\n%s", text_of(&cg->descs));
	begin_vectors(cg->ahead, cg->nahead, t);
	text_addf(t, "%sGC_END_VECTORS\n", text_of(&cg->body));
}

/*-------------------------------------------------------------------------
 * Scans with an edge
 *-------------------------------------------------------------------------
 */

/* A thread's number of gathered rows is that of one part of the kernel from here on. */
static void
define_lane_rows(Text *t, int rows)
{
	text_addf(t, "#undef GC_LANE_ROWS\n#define GC_LANE_ROWS GC_GATHERED_TOGETHER(%d)\n", rows);
}

static void
begin_producer(const Cg *cg, Text *t)
{
	define_lane_rows(t, cg->producer.lane_rows);
	if (cg->producer.filtered)
		text_addf(t, "#define GC_FILTERED_ROUNDS %d\nGC_PART_QUEUES(%d)\n", cg->producer.rounds,
				  cg->variant->threads);
}

/*
 * The producer's loop over tiles from .. to - 1, every `step`-th; where rows are gathered, a warp takes a part of one.
 * slot: the expression for the slot's place.
 */
static void
emit_producer(const Cg *cg, Text *t, const char *from, const char *to, const char *step, bool whole_block,
			  const char *slot)
{
	const Producer *p = &cg->producer;

	if (p->filtered)
		text_addf(t, whole_block ? "GC_PARTS_OF((%s) * GC_TILE_PARTS + GC_PART_WARP, (%s) * GC_TILE_PARTS, (%s) * GC_PART_WARPS)\n"
				  : "GC_PARTS_OF((%s) * GC_PART_WARPS + GC_PART_WARP, (%s) * GC_TILE_PARTS, (%s) * GC_PART_WARPS)\n", from, to, step);
	else
		text_addf(t, "GC_TILES_OF(%s, %s, %s)\n", from, to, step);
	text_addf(t, "%s%s", slot, text_of(&p->descs));
	if (p->filtered)
		text_addf(t, "GC_FILTERED_VECTORS\n%sGC_END_FILTERED_VECTORS\n", text_of(&p->body));
	else
	{
		begin_vectors(p->ahead, p->nahead, t);
		text_addf(t, "%sGC_END_VECTORS\n", text_of(&p->body));
	}
	text_addf(t, "GC_END_TILES\n");
}

/* The consumer's loop over packets of the current slot. */
static void
emit_consumer(const Cg *cg, Text *t, const char *first, const char *end, const char *step)
{
	define_lane_rows(t, cg_lane_rows(cg));
	text_addf(t, "%sGC_PACKET_VECTORS(%s, %s, %s)\n%sGC_END_PACKET_VECTORS\n", text_of(&cg->descs), first, end, step,
			  text_of(&cg->body));
}

/* All blocks take jobs until none is left. */
static void
emit_channel(const Cg *cg, Text *t)
{
	const int	w = cg->edge_words;

	begin_producer(cg, t);
	text_addf(t, "GC_BLOCK_ARRAY(GcJob, gc_jobs, 1);\nGC_BLOCK_ARRAY(u32, gc_tiles, 1);\nGC_BLOCK_ARRAY(u32, gc_counts, 1);\n"
			  "GcChannel gc_channel;\ngc_channel_open(&gc_channel, gc_edge, gc_nslots, &gc_a.scan, block);\n"
			  "GC_NO_UNROLL for (;;) {\n"
			  "if (thread == 0) { gc_channel_next(&gc_channel, block, block < gc_a.w[%d], gc_jobs); gc_counts[0] = 0; }\nGC_BARRIER();\n"
			  "const GcJob gc_job = gc_jobs[0];\nif (gc_job.kind == GC_JOB_END) break;\n"
			  "const u64 gc_packets = gc_packet_slots + gc_job.slot * gc_slot_bytes;\n"
			  "if (gc_job.kind == GC_JOB_FILL) {\nu32 *gc_npackets = gc_counts;\nGC_NO_UNROLL for (;;) {\n"
			  "if (thread == 0) gc_tiles[0] = gc_channel_tile(&gc_channel, gc_counts[0], (u32) gc_a.w[%d], (u32) gc_a.w[%d]);\n"
			  "GC_BARRIER();\nconst u32 gc_next_tile = gc_tiles[0];\nif (gc_next_tile == GC_NO_TILE) break;\n",
			  w + GC_EDGE_WORD_FILLERS, w + GC_EDGE_WORD_ENOUGH, w + GC_EDGE_WORD_TILES);
	emit_producer(cg, t, "gc_next_tile", "GC_END_OF_STEP(gc_job.source, gc_next_tile)", "1", true, "");
	text_addf(t, "GC_BARRIER();\n}\n"
			  "if (thread == 0) { GC_NOTE_PACKETS(gc_counts[0], gc_channel.held) gc_channel_publish(&gc_channel, &gc_job, gc_counts[0]); }\n} else {\n"
			  "GC_PACKETS_SOURCE(gc_job.source)\n");
	emit_consumer(cg, t, "thread", "gc_job.n", "nthreads");
	text_addf(t, "GC_BARRIER();\nif (thread == 0) { GC_PACKETS_GONE(gc_job.n, gc_channel.held) gc_channel_free(&gc_channel, gc_job.slot); }\n}\n}\n");
}

/*
 * Each block has tiles of its own, some at a time.  It fills its slot with the rows that are left of them.  It does so
 * while they are of one chunk and that is not enough for all of its threads.  Then it goes on with full warps.
 */
static void
emit_refill(const Cg *cg, Text *t)
{
	const int	w = cg->edge_words;

	begin_producer(cg, t);
	text_addf(t, "GC_BLOCK_ARRAY(u32, gc_counts, 1);\nu32 *gc_npackets = gc_counts;\n"
			  "const u64 gc_packets = gc_packet_slots + block * gc_slot_bytes;\nconst u32 gc_step = GC_REFILL_%s(%d);\n"
			  "const u32 gc_last_tile = GC_REFILL_TILE(block + 1);\nu32 gc_next_tile = GC_REFILL_TILE(block);\n"
			  "GC_NO_UNROLL while (gc_next_tile < gc_last_tile) {\n"
			  "const u32 gc_chunk = gc_next_tile / gc_a.scan.tiles_per_source;\nu32 gc_filled;\n"
			  "if (thread == 0) gc_counts[0] = 0;\nGC_BARRIER();\nGC_NO_UNROLL do {\n"
			  "const u32 gc_step_end = GC_MIN(GC_MIN(gc_next_tile + gc_step, gc_last_tile), (gc_chunk + 1) * gc_a.scan.tiles_per_source);\n",
			  cg->producer.filtered ? "PARTS" : "VECTORS", cg->variant->threads);
	emit_producer(cg, t, "gc_next_tile", "gc_step_end", "1", true, "");
	/* The second barrier: nobody adds to the count before all have read it. */
	text_addf(t, "gc_next_tile = gc_step_end;\nGC_BARRIER();\ngc_filled = gc_counts[0];\nGC_BARRIER();\n"
			  "} while (gc_next_tile < gc_last_tile && gc_next_tile / gc_a.scan.tiles_per_source == gc_chunk && "
			  "gc_filled < gc_a.w[%d] && gc_filled + gc_step * GC_TILE_ROWS <= gc_cap);\n"
			  "if (thread == 0) { GC_NOTE_PACKETS(gc_filled, (u32 *) gc_edge) }\n"
			  "GC_PACKETS_SOURCE(gc_chunk)\n", w + GC_EDGE_WORD_ENOUGH);
	emit_consumer(cg, t, "thread", "gc_filled", "nthreads");
	text_addf(t, "GC_BARRIER();\nif (thread == 0) { GC_PACKETS_GONE(gc_filled, (u32 *) gc_edge) }\n}\n");
}

/* A scan with an edge, by the kind of edge and the side that this kernel is. */
static void
emit_cut_scan(const Cg *cg, Text *t)
{
	if (cg->variant->edge == GC_EDGE_REFILL)
	{
		emit_refill(cg, t);
		return;
	}
	if (cg->variant->edge == GC_EDGE_CHANNEL)
	{
		emit_channel(cg, t);
		return;
	}
	if (cg->variant->edge_side == GC_EDGE_PRODUCER)
	{
		begin_producer(cg, t);
		emit_producer(cg, t, "block", "gc_a.scan.ntiles", "nblocks", false, "GC_SLOT_OF_RUN\n");
		return;
	}
	text_addf(t, "GC_SLOT_UNITS\n");
	emit_consumer(cg, t, "GC_UNIT_FIRST", "GC_UNIT_END", "GC_UNIT_STEP");
	text_addf(t, "GC_END_SLOT_UNITS\n");
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

/*
 * When a build that each row needs is empty, there is nothing to scan.  One that takes all rows of its table is not
 * asked.  Returns the condition; "" if there is no such build.
 */
static void
empty_condition(Cg *cg, Text *cond)
{
	for (u16 s = 0; s < cg->pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(cg->p)[cg->pl->first_step + s];

		if (step->type != GC_STEP_PROBE || (step->join != GC_JOIN_INNER && step->join != GC_JOIN_SEMI) ||
			gc_pipelines(cg->p)[gc_builds(cg->p)[step->build].pipeline].nsteps == 0)
			continue;
		text_addf(cond, "%s((const u32 *) gc_a.w[%d])[GC_FLAG_BUILT] == 0", cond->len > 0 ? " || " : "",
				  cg_word(cg, GC_ARG_BUILD, step->build, GC_BUILD_PART_FLAGS));
	}
}

/* Put a pipeline's parts together: declarations, shared memory, scan, end. */
static void
assemble(Cg *cg, Text *t)
{
	const bool	selection = cg->variant->selection != 0;
	const bool	single = cg_groups_of(cg->p, cg->pl) || cg->unmatched != GC_NONE;
	const int	sel_bitmap = selection ? mark_words(cg) : 0;
	const int	pairs = cg_scans_pairs(cg->p, cg->pl) ? cg_pair_words(cg) : -1;
	const bool	cut = cg->produces || cg->consumes;
	Text		empty = {0};

	if (cg->unmatched == GC_NONE)
		empty_condition(cg, &empty);
	if (selection)
		text_addf(t, "#define GC_LEAST_BLOCKS %d\n", GC_SELECTED_BLOCKS(cg->variant->threads));
	cg_prologue(t, cg->src->nwords, cg->variant->vec, cg->variant->threads);
	text_addf(t, "i32 gc_bad = 0;\nu32 *gc_flags = (u32 *) gc_a.scan.flags; (void) gc_flags;\n");
	text_addf(t, "GC_BEGAN(gc_flags)\n");
	if (selection)
		text_addf(t, "GC_CAME_AFTER(gc_flags, gc_a.scan.before)\n");
	cg_scope(cg, t, "0");
	if (cut)
		cg_edge_constants(cg, t);
	sink_state(cg, t);
	cg_fill_shared(cg, t);
	text_addf(t, "GC_BARRIER();\n");
	if (empty.len > 0)
		text_addf(t, "const i32 gc_empty = %s;\nif (gc_empty) {\nif (thread == 0) gc_flags[GC_FLAG_EMPTY] = 1;\n} else {\n", text_of(&empty));
	if (cut)
		emit_cut_scan(cg, t);
	else if (cg->unmatched != GC_NONE)
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
	if (!cut)
		text_addf(t, single ? "}\n" : "GC_END_TILES\n");
	if (empty.len > 0)
		text_addf(t, "}\n");
	text_free(&empty);
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
	cg_add_library(&text);
	return cg_finish(&cg, &text);
}

char *
gc_gang_text(const char *text, int nwords, int *most)
{
	const size_t members = GC_GANG_MEMBERS(nwords);
	const size_t size = strlen(text) + sizeof("#define GC_GANG 32\n");
	char	   *gang = members < 2 ? NULL : malloc(size);

	*most = members < GC_GANG_MOST ? (int) members : GC_GANG_MOST;
	if (gang)
		snprintf(gang, size, "#define GC_GANG %d\n%s", *most, text);
	return gang;
}
