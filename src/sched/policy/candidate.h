/*-------------------------------------------------------------------------
 *
 * candidate.h
 *	  What a decision chooses from: kernels that are ready, what serves several of them, and
 *	  what is on the device.
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
	int			occupancy;		/* blocks of so many that one multiprocessor can hold */
	uint32_t	shared_bytes;	/* per block */
	double		alone_us;		/* time with the device to itself */
	double		issue_part;		/* of that, what it would take if memory took no time */
	uint32_t	warp_flight;	/* bytes that a warp of it has in flight; 0: not known */
} GcKernelNeeds;

/* A column that a kernel streams. */
typedef struct GcColumnLoad
{
	uint32_t	column;			/* number within its table */
	float		bytes;
} GcColumnLoad;

#define GC_LOAD_COLUMNS	12		/* of one item; the last has the bytes of those beyond */

/* A main kernel that is ready to start. */
typedef struct GcCandidate
{
	uint32_t	type;			/* equal: the same kernel with the same needs */
	uint32_t	scan;			/* equal, not 0: streams the same columns' chunks */
	uint64_t	tiles;
	GcKernelNeeds	needs;
	int			nloads;			/* columns that it streams, beside which it looks up at */
	GcColumnLoad load[GC_LOAD_COLUMNS];
	double		lookup_bytes;	/* random in so many bytes of device memory */
	int			fused;			/* fused kernel that has a member for it; -1: none */
	uint32_t	member_mask;			/* of that, if it is no marker: which, one bit each */
	uint32_t	columns;		/* shared columns that the scan then reads, one bit each */
	double		fused_us;		/* what it adds to a shared scan beside these */
} GcCandidate;

/* A kernel of shared scans that is compiled and loaded. */
typedef struct GcFusedKernel
{
	GcKernelNeeds	needs;			/* shared_bytes: at most, whoever takes part */
	int			most;			/* requests that one scan may serve */
	bool		selection;			/* it marks: they have kernels of their own behind it */
	const GcScanTimes *times;
} GcFusedKernel;

/* A launch that is on the device. */
typedef struct GcActive
{
	GcGrid		grid;
	int			registers;
	uint32_t	shared_bytes;
	uint32_t	scan;
	bool		fused;
	int			members;		/* requests that it answers */
	bool		selection;			/* a selection scan whose marks are done: what is left of it
								 * are its requests' own kernels, */
	double		residual_us;		/* which are expected to take so long yet */
	double		alone_us;		/* its time with the device to itself */
	bool		coresident;		/* one of a co-resident batch */
} GcActive;

/* Bytes of the columns that it streams. */
extern double gc_item_bytes(const GcCandidate *candidate);

/* Is it bound by reading memory, rather than by lookups and instructions? */
extern bool gc_memory_bound(const GcCalibration *c, const GcCandidate *candidate, const GcKernelNeeds *o);

/* Warps that a kernel has per multiprocessor when alone. */
extern int	gc_full_warps(const GcProfile *profile, const GcKernelNeeds *o);

#endif							/* GC_CANDIDATE_H */
