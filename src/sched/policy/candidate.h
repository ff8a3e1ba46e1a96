/*-------------------------------------------------------------------------
 *
 * candidate.h
 *	  The input of a decision: ready kernels, kernels of shared scans, and active launches.
 *
 * Pure functions.  The caller owns everything here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CANDIDATE_H
#define GC_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "../model/cost.h"
#include "../model/profile.h"
#include "../model/variant.h"

/* A kernel that is compiled and loaded. */
typedef struct GcKernelNeeds
{
	int			registers;		/* per thread */
	int			max_threads;	/* per block */
	int			threads;		/* per block, when it has the device to itself */
	int			occupancy;		/* blocks of `threads` threads that one multiprocessor can hold */
	uint32_t	shared_bytes;	/* per block */
	double		alone_us;		/* time with the device to itself */
	double		issue_part;		/* part of alone_us that it would take if memory took no time */
	uint32_t	warp_flight;	/* bytes that one warp has in flight; 0: not known */
} GcKernelNeeds;

/* A column that a kernel streams. */
typedef struct GcColumnLoad
{
	uint32_t	column;			/* number within its table */
	float		bytes;
} GcColumnLoad;

#define GC_LOAD_COLUMNS	12		/* of one candidate; the last has the bytes of all further columns */

/* A main kernel that is ready to start. */
typedef struct GcCandidate
{
	uint32_t	type;			/* equal: the same kernel with the same needs */
	uint32_t	scan;			/* equal, not 0: streams the same columns' chunks */
	uint64_t	gang;			/* equal, not 0: kernels of one text, which can be one launch */
	uint64_t	tiles;
	GcKernelNeeds	needs;
	int			nloads;			/* columns that it streams */
	GcColumnLoad load[GC_LOAD_COLUMNS];
	double		lookup_bytes;	/* device memory in which it looks up at random */
	int			fused;			/* shared scan's kernel that can serve it; -1: none */
	uint32_t	member_mask;	/* members of that kernel that can, one bit each; not used by a
								 * selection kernel */
	uint32_t	columns;		/* shared columns that the scan reads for it, one bit each */
	double		fused_us;		/* its additional time in a shared scan besides these columns */
} GcCandidate;

/* A kernel of shared scans that is compiled and loaded. */
typedef struct GcFusedKernel
{
	GcKernelNeeds	needs;		/* shared_bytes: the most that any choice of members takes */
	int			most;			/* requests that one scan may serve */
	bool		selection;		/* a selection kernel: each request's own kernel follows it */
	const GcScanTimes *times;
} GcFusedKernel;

/* A launch that is on the device. */
typedef struct GcActive
{
	GcGrid		grid;
	int			registers;
	uint32_t	shared_bytes;
	uint32_t	scan;
	uint64_t	gang;			/* as GcCandidate's */
	bool		fused;
	int			members;		/* requests that it answers */
	bool		selection;		/* a selection scan whose bitmaps are done: only its requests'
								 * own kernels still run */
	double		residual_us;	/* then: time that these kernels are expected to take yet */
	double		alone_us;		/* its time with the device to itself */
	bool		coresident;		/* one of a co-resident batch */
} GcActive;

/* Bytes of the columns that a candidate streams. */
extern double gc_item_bytes(const GcCandidate *candidate);

/* Is the candidate bound by reading memory, rather than by lookups and instructions? */
extern bool gc_memory_bound(const GcCalibration *c, const GcCandidate *candidate, const GcKernelNeeds *o);

/* Warps that a kernel has on one multiprocessor when it is alone. */
extern int	gc_full_warps(const GcProfile *profile, const GcKernelNeeds *o);

#endif							/* GC_CANDIDATE_H */
