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

/* Chunks of the largest device before owners repeat. */
#define GC_MOST_SHARE	16

/* The chunks or groups of each device, the same for all parts of a request. */
typedef struct GcStripes
{
	u32			devices;		/* that share the request, as bits */
	u32			groups;			/* 1 + pipeline whose groups belong to devices, by their keys; 0: chunks do */
	u32			n;				/* chunks after which owners repeat */
	u8			owners[GC_MAX_DEVICES * GC_MOST_SHARE];
} GcStripes;

/* Shall several devices share the request?  `avoided` ones, as bits, have failed it. */
extern bool gc_split(const GcBinding *b, u32 avoided, GcStripes *stripes);

/*
 * Devices whose memory is too small for the whole request, as bits; 0 if that leaves none besides the `avoided` ones.
 */
extern u32	gc_too_small(const GcBinding *b, u32 avoided);

/* Write the part of the request that one of the devices gets, as gc_make_request() writes the whole. */
extern GcCode gc_make_part(GcBinding *b, const GcStripes *stripes, int device);

/* The parts' results as the whole request's, in the current memory context; and give it back. */
extern GcResult *gc_merge_results(const GcBinding *b, const GcResult *const *parts, int nparts);
extern void gc_free_merged(GcResult *result);

/* Add the times and counts of a part's run to those of the parts before it. */
extern void gc_merge_run_info(GcRunInfo *info, const GcRunInfo *part);

#endif							/* GC_SPLIT_H */
