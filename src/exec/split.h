/*-------------------------------------------------------------------------
 *
 * split.h
 *	  One request as a part for each of several devices.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SPLIT_H
#define GC_SPLIT_H

#include "exec.h"

/* gpuconc.debug_split */
typedef enum GcSplit
{
	GC_SPLIT_NEVER,
	GC_SPLIT_PREDICTED,			/* what does not fit a device, or takes long */
	GC_SPLIT_ALWAYS				/* whatever can be */
} GcSplit;

/* The devices that are to share the request, as bits; 0: it stays whole.  `avoided` ones have failed it. */
extern u32	gc_split_devices(const GcBinding *b, u32 avoided);

/* Write the part of the request that one of the devices gets, as gc_make_request() writes the whole. */
extern GcCode gc_make_part(GcBinding *b, u32 devices, int device);

/* The parts' results as the whole request's, in the current memory context; and give it back. */
extern GcResult *gc_merge_results(const GcBinding *b, const GcResult *const *parts, int nparts);
extern void gc_free_merged(GcResult *result);

/* Add what is known of a part's run to that of those before it. */
extern void gc_merge_run_info(GcRunInfo *info, const GcRunInfo *part);

#endif							/* GC_SPLIT_H */
