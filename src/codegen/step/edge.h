/*-------------------------------------------------------------------------
 *
 * edge.h
 *	  Where a pipeline may be cut, and which of its steps lie before and behind the cut.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_EDGE_H
#define GC_CODEGEN_EDGE_H

#include "../expr/state.h"
#include "steps.h"

/* How the steps of the pipeline's own kernel are divided; *filtered: it gathers survivors. */
extern void cg_divide_own(const GcProgram *p, const GcPPipeline *pl, StepLists *lists, bool *filtered);

/* Of n steps of the row phase, those before step `edge_step` of the pipeline: how many. */
extern int	cg_before_edge(const GcProgram *p, const GcPPipeline *pl, const GcPStep **steps, int n, int edge_step);

/*
 * Builds whose matches the packets have, since later steps or the sink need them.  Of n steps of the row phase,
 * `before` are before the edge.
 */
extern u32	cg_passed_builds(const GcProgram *p, const GcPPipeline *pl, const GcPStep **steps, int before, int n);

/* Bytes of a match in a packet, and of a packet. */
extern int	cg_match_bytes(const GcProgram *p, u16 build);
extern u32	cg_packet_bytes(const GcProgram *p, u32 passed);

#endif							/* GC_CODEGEN_EDGE_H */
