/*-------------------------------------------------------------------------
 *
 * packets.c
 *	  Sink: packets, before an edge; and reads of them behind it (cuda/gc_packet.h).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "sinks.h"

#include "../expr/emit.h"
#include "../step/steps.h"

#include <stdio.h>

void
cg_edge_words(Cg *cg)
{
	cg->edge_words = cg_word(cg, GC_ARG_EDGE, 0, 0);
	for (int part = 1; part < GC_EDGE_WORDS; part++)
		(void) cg_word(cg, GC_ARG_EDGE, 0, part);
}

void
cg_edge_constants(const Cg *cg, Text *t)
{
	const int	w = cg->edge_words;

	text_addf(t, "const u64 gc_packet_slots = gc_a.w[%d], gc_edge = gc_a.w[%d];\n"
			  "const u32 gc_cap = (u32) gc_a.w[%d], gc_runs = (u32) gc_a.w[%d], gc_nslots = (u32) gc_a.w[%d];\n"
			  "const u64 gc_slot_bytes = (u64) gc_cap * %u;\n"
			  "(void) gc_packet_slots; (void) gc_edge; (void) gc_runs; (void) gc_nslots; (void) gc_slot_bytes;\n",
			  w + GC_EDGE_WORD_SLOTS, w + GC_EDGE_WORD_CONTROL, w + GC_EDGE_WORD_CAP, w + GC_EDGE_WORD_RUNS,
			  w + GC_EDGE_WORD_NSLOTS, cg_packet_bytes(cg->p, cg->passed));
}

static const char *
match_type(const Cg *cg, u16 build)
{
	return cg_match_bytes(cg->p, build) == 4 ? "u32" : "u64";
}

/* Where in a slot the build's matches begin: bytes for each packet that there is room for. */
static u32
match_at(const Cg *cg, u16 build)
{
	return cg_packet_bytes(cg->p, cg->passed & ((1u << build) - 1));
}

void
cg_declare_matches(Cg *cg)
{
	for (u16 b = 0; b < cg->p->nbuilds; b++)
	{
		const bool	narrow = cg_match_bytes(cg->p, b) == 4;
		char		value[120];
		int			k;

		if (!(cg->passed >> b & 1))
			continue;
		k = cg_build(cg, b);
		snprintf(value, sizeof(value), "GC_PACKET_PART_OF(%s, gc_packets + (u64) gc_cap * %u, GC_PACKET_AT(gc_j))",
				 match_type(cg, b), match_at(cg, b));
		if (narrow)
			text_addf(cg->out, "const u32 gc_p%d = %s;\nconst u64 x%d = gc_p%d == 0xffffffffu ? GC_NO_MATCH : gc_p%d; (void) x%d;\n",
					  k, value, k, k, k, k);
		else
			text_addf(cg->out, "const u64 x%d = %s; (void) x%d;\n", k, value, k);
		cg->index[b] = true;
	}
}

/* Nothing is declared here: the kernel has the edge's words (cg_edge_words). */
static void
prepare(Cg *cg)
{
	(void) cg;
}

/* Nothing: a row's number and its matches are there already. */
static void
require(Cg *cg)
{
	(void) cg;
}

/* Write the row's number and its matches to the next place of the packets. */
static void
emit_row(Cg *cg)
{
	text_addf(cg->out, "const u32 gc_place = gc_packet_place(gc_npackets);\n((u32 *) gc_packets)[gc_place] = gc_r;\n");
	for (u16 b = 0; b < cg->p->nbuilds; b++)
	{
		if (cg->passed >> b & 1)
			text_addf(cg->out, "((%s *) (gc_packets + (u64) gc_cap * %u))[gc_place] = (%s) x%d;\n", match_type(cg, b),
					  match_at(cg, b), match_type(cg, b), cg_build(cg, b));
	}
}

const Sink	sink_packets = {
	.prepare = prepare,
	.require = require,
	.row = emit_row,
};
