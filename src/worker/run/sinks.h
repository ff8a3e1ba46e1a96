/*-------------------------------------------------------------------------
 *
 * sinks.h
 *	  Where the parts of a pipeline's sink lie in device memory.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SINKS_OF_RUN_H
#define GC_SINKS_OF_RUN_H

#include "args.h"

/* Sizes in device memory are rounded up to this. */
static inline u64
gc_sink_align(u64 n)
{
	return (n + 255) & ~(u64) 255;
}

/* Lay out a pipeline's sink behind its flags, which are at `memory`; returns the bytes of all. */
extern u64	gc_lay_out_sink(const GcRequest *request, int pipeline, GcAddr memory, GcSinkMemory *sink);

/* What is chosen or collected of the main pipeline's groups, behind its sink. */
typedef struct GcChosenMemory
{
	u64			top;			/* bytes of GC_TOP_BYTES, or 0 */
	u64			words;
	u64			keys;
} GcChosenMemory;

extern GcChosenMemory gc_chosen_memory(const GcRequest *request, bool gather, bool choose);

#endif							/* GC_SINKS_OF_RUN_H */
