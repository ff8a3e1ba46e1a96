/*-------------------------------------------------------------------------
 *
 * steps.h
 *	  How a pipeline's steps are divided: on whole vectors, on gathered rows, row by row; and where it may be cut.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_STEPS_H
#define GC_CODEGEN_STEPS_H

#include "../codegen.h"
#include "../expr/state.h"

#define MAX_STEPS			256

typedef struct StepLists
{
	const GcPStep *vector[MAX_STEPS];
	const GcPStep *row[MAX_STEPS];
	int			nvector;
	int			nrow;
	int			ngathered;		/* row steps, from the first on, that are tested on gathered
								 * rows */
} StepLists;

/* Which steps are tested on whole vectors, and which row by row on the survivors. */
extern void cg_divide_steps(const GcProgram *p, const GcPPipeline *pl, const GcVariant *variant, StepLists *lists);

/* Divide them for a kernel that gathers survivors; false if that does not pay. */
extern bool cg_divide_filtered(const GcProgram *p, const GcPPipeline *pl, StepLists *lists);

/* How the steps of the pipeline's own kernel are divided; *filtered: it gathers survivors. */
extern void cg_divide_own(const GcProgram *p, const GcPPipeline *pl, StepLists *lists, bool *filtered);

/* How many of n steps of the row phase are before step `edge_step` of the pipeline. */
extern int	cg_before_edge(const GcProgram *p, const GcPPipeline *pl, const GcPStep **steps, int n, int edge_step);

/*
 * Builds whose matches the packets have, since later steps or the sink need them.  Of n steps of the row phase,
 * `before` are before the edge.
 */
extern u32	cg_passed_builds(const GcProgram *p, const GcPPipeline *pl, const GcPStep **steps, int before, int n);

/* Bytes of a match in a packet, and of a packet. */
extern int	cg_match_bytes(const GcProgram *p, u16 build);
extern u32	cg_packet_bytes(const GcProgram *p, u32 passed);

#endif							/* GC_CODEGEN_STEPS_H */
