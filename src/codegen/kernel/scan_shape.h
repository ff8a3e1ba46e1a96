/*-------------------------------------------------------------------------
 *
 * scan_shape.h
 *	  How many rows a scan's threads gather, and how many rounds of loads are in flight.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCAN_SHAPE_H
#define GC_SCAN_SHAPE_H

#include "../expr/state.h"

/* Registers of a row's values above which a thread gathers fewer rows at a time. */
#define MANY_GATHERED		7

/* Rows that a thread gathers at a time, by the registers that each row takes. */
static inline int
cg_lane_rows(const Cg *cg)
{
	return !cg->gather || cg->gathered > 4 * MANY_GATHERED ? 1 : cg->filtered || cg->gathered > MANY_GATHERED ? 2 : 4;
}

/*
 * Rounds of a vector phase whose loads are in flight together: the fewer bytes of a row it reads,
 * the more.
 */
static inline int
cg_filtered_rounds(const Cg *cg)
{
	return cg->loaded_bytes <= 2 ? 4 : cg->loaded_bytes <= 4 ? 2 : 1;
}

#endif							/* GC_SCAN_SHAPE_H */
