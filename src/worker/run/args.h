/*-------------------------------------------------------------------------
 *
 * args.h
 *	  The words of a kernel's parameter.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ARGS_H
#define GC_ARGS_H

#include "postgres.h"

#include "../memory/builds.h"
#include "../memory/device_cache.h"
#include "../memory/device_lookups.h"
#include "../kernels/kernels.h"
#include "../kernels/pairs.h"

/* Where a pipeline's sink is.  The main pipeline's lies in the run's sink; others have their own. */
typedef struct GcSinkMemory
{
	GcAddr		memory;			/* flags first; 0: nothing is there, or not yet */
	GcAddr		groups;
	GcAddr		group_slots;
	GcAddr		group_keys;
	GcAddr		rows;
	u64			zero;			/* bytes to be zeroed */
} GcSinkMemory;

typedef struct GcArgSource
{
	const GcRequest *request;
	GcTable   **tables;			/* per column of the program; NULL: no cached chunk */
	const GcAddr *wave;			/* of a launch in waves: GcCols, per column of the program */
	GcBuildTable **builds;		/* per build */
	const GcAddr *matched;		/* GcRun's */
	GcDeviceLookup **lookups;	/* per lookup table; NULL: it travels with the request */
	GcAddr		device_part;	/* where the request's device part is */
	const GcSinkMemory *sinks;	/* per pipeline */
	GcAddr		gathered;		/* GcRun's */
	GcAddr		gathered_keys;
	GcAddr		top;
	u32			pass;
	GcPairs		pairs;			/* of the pipeline that is launched */
	const u64  *edge;			/* by GC_EDGE_WORD_*; NULL: no packets are read or written */
	const struct GcPasses *passes;	/* NULL: there is one pass */
	const struct GcShareRun *share; /* for words that only shared scans know (hooks.h) */
} GcArgSource;

extern u64	gc_arg_word(const GcArgSource *src, const GcArgWord *word);
extern void gc_fill_args(const GcArgSource *src, const GcPipelineKernel *kernel, GcArgs *args);

#endif							/* GC_ARGS_H */
