/*-------------------------------------------------------------------------
 *
 * sched.h
 *	  The scheduler's seam: who runs now, beside whom, in which shape.
 *
 * The worker asks two questions.  When a request comes: which variant of each of its
 * kernels to have (gc_sched_variant).  And whenever something became ready or
 * finished: which of the ready main kernels to start now, with how many blocks of how
 * many threads (gc_decide).  Main kernels only: builds are shared between requests and
 * small.
 *
 * The decision, by policy, stands in policy.c; the models that it asks are the
 * kernel model (kernel_model.h), the batch model (batch_model.h) and the cost model
 * (cost.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCHED_H
#define GC_SCHED_H

#include <stddef.h>

#include "../model/cost.h"
#include "../model/profile.h"

/* How requests are put on the device (gpuconc.schedule). */
typedef enum GcPolicy
{
	GC_POLICY_SEQUENTIAL,		/* one at a time, each with the whole device */
	GC_POLICY_STREAMS,			/* all at once, each with a grid for the whole device */
	GC_POLICY_RANDOM,			/* together as they fit, sizes drawn by lot */
	GC_POLICY_KERNEL,			/* together in order of arrival, sizes by the kernel model */
	GC_POLICY_TWOSTAGE			/* batches by the batch model, sizes by the kernel model */
} GcPolicy;

typedef struct GcShape
{
	uint32_t	blocks;			/* of the grid */
	uint32_t	threads;		/* per block */
} GcShape;

/* What a kernel asks for. */
typedef struct GcDemand
{
	int			registers;		/* per thread */
	int			max_threads;	/* per block */
	uint64_t	shared_bytes;	/* per block */
	uint64_t	tiles;			/* work to hand out to blocks */
	uint64_t	rows;
} GcDemand;

/*-------------------------------------------------------------------------
 * Variants
 *-------------------------------------------------------------------------
 */

/* What the choice of a variant depends on. */
typedef struct GcPipelineDemand
{
	uint64_t	rows;			/* to be scanned */
	uint64_t	survivors;		/* estimate: rows that reach the sink */
	int			nbitmaps;		/* candidates for shared memory, as they are probed */
	uint64_t	bitmap_bytes[32];
	uint64_t	ngroups;		/* dense group table; 0: none */
	uint64_t	group_bytes;	/* of one copy of it */
	uint64_t	spare_bytes;	/* besides, of all copies */
	bool		cells;			/* else, groups that are met may be kept */
	uint64_t	queue_bytes;	/* of shared memory that is not to be had: static */
	uint64_t	kept_bytes;		/* and, of a member of a fused kernel, for each warp */
} GcPipelineDemand;

/* Which structures of a pipeline go to shared memory, and how it is compiled. */
typedef struct GcVariantChoice
{
	uint32_t	bitmaps;		/* bit i: bitmap i */
	int			group_copies;	/* 0: the group table stays in global memory */
	int			group_cells;	/* then, of as many groups as a block meets there is one in shared
								 * memory, too; 0: of none */
	int			threads;		/* per block */
	int			vec;			/* rows per thread and step; host: 0 */
} GcVariantChoice;

/*
 * The fastest variant that takes at most so many bytes of shared memory per block.
 */
extern GcVariantChoice gc_sched_variant(const GcProfile *profile, const GcPipelineDemand *demand,
										uint64_t room);

/* Threads of a block that takes so much shared memory: where few blocks fit, they have to be large. */
extern int	gc_sched_variant_threads(const GcProfile *profile, uint64_t shared_bytes);

/* Bytes of shared memory that a block of this variant takes, about. */
extern uint64_t gc_sched_variant_bytes(const GcPipelineDemand *demand, const GcVariantChoice *choice);

/*
 * Grid of a kernel with the device to itself.  occupancy: blocks of `threads` threads
 * that one multiprocessor can hold; tiles: pieces of work to hand out.
 */
extern GcShape gc_sched_full(const GcProfile *profile, int threads, int occupancy, uint64_t tiles);

/*-------------------------------------------------------------------------
 * Decisions
 *-------------------------------------------------------------------------
 */

/* Ready kernels that one decision looks at; those that came later wait. */
#define GC_MAX_ITEMS	128

/* Requests that one shared scan serves. */
#define GC_MAX_MEMBERS	32

/*
 * What a marked scan costs the one request that it serves beside its predicted time: the
 * tester, and the worker's time for more launches (an H200).
 */
#define GC_SCAN_OF_ONE_US	150

/* A kernel that is compiled and loaded. */
typedef struct GcOption
{
	int			registers;		/* per thread */
	int			max_threads;	/* per block */
	int			threads;		/* per block, when it has the device to itself */
	int			occupancy;		/* blocks of so many that one multiprocessor can hold */
	uint32_t	shared_bytes;	/* per block */
	double		alone_us;		/* time with the device to itself */
	double		issue_part;		/* of that, what it would take if memory took no time */
	uint32_t	warp_flight;	/* bytes that a warp of it has in flight; 0: not known */
} GcOption;

/* A column that a kernel streams. */
typedef struct GcColumnLoad
{
	uint32_t	column;			/* number within its table */
	float		bytes;
} GcColumnLoad;

#define GC_LOAD_COLUMNS	12		/* of one item; the last has the bytes of those beyond */

/* A main kernel that is ready to start. */
typedef struct GcItem
{
	uint32_t	type;			/* equal: the same kernel with the same needs */
	uint32_t	scan;			/* equal, not 0: streams the same columns' chunks */
	uint64_t	tiles;
	GcOption	option;
	int			nloads;			/* columns that it streams, beside which it looks up at */
	GcColumnLoad load[GC_LOAD_COLUMNS];
	double		lookup_bytes;	/* random in so many bytes of device memory */
	int			fused;			/* fused kernel that has a body for it; -1: none */
	uint32_t	bodies;			/* of that, if it is no marker: which, one bit each */
	uint32_t	columns;		/* shared columns that the scan then reads, one bit each */
	double		fused_us;		/* what it adds to a shared scan beside these */
} GcItem;

/* A kernel of shared scans that is compiled and loaded. */
typedef struct GcFusedKernel
{
	GcOption	option;			/* shared_bytes: at most, whoever takes part */
	int			most;			/* requests that one scan may serve */
	bool		marked;			/* it marks: they have kernels of their own behind it */
	const GcScanTimes *times;
} GcFusedKernel;

/* A launch that is on the device. */
typedef struct GcActive
{
	GcShape		shape;
	int			registers;
	uint32_t	shared_bytes;
	uint32_t	scan;
	bool		fused;
	int			members;		/* requests that it answers */
	bool		marked;			/* a marked scan whose marks are done: what is left of it
								 * are its requests' own kernels, */
	double		left_us;		/* which are expected to take so long yet */
	double		alone_us;		/* its time with the device to itself */
	bool		resident;		/* one of a resident batch */
} GcActive;

typedef struct GcSchedule
{
	const GcProfile *profile;
	const GcCalibration *calibration;	/* NULL: times of resident batches are not predicted */
	GcPolicy	policy;
	bool		force_shared;	/* shared scans wherever there can be one */
	bool		force_resident; /* the same of kernels that are resident together */
	double		beside;			/* time of kernels side by side, as a part of the sum of
								 * their times alone, from the first one's begin to the last
								 * one's end; learned */
	double		among;			/* the same of one that starts beside active ones, from its
								 * own begin to its own end; learned */
	double		together;		/* time in which the device does all that kernels side by
								 * side ask of it, as a part of the same; learned */
	double		left;			/* of the time that a marked scan's requests will still take, how
								 * much the next one takes longer that begins beside them; learned */
	double		load;			/* part of the time in which something is on the device */
	double		pressure;		/* of the thread that launches (cost.h); 0: it takes no time */
	uint64_t   *lot;			/* state of the random numbers */
	int			nitems;			/* oldest first */
	const GcItem *item;
	int			nactive;
	const GcActive *active;
	int			nfused;
	const GcFusedKernel *fused;
} GcSchedule;

/* One launch: a kernel alone, or the members of a shared scan. */
typedef struct GcStart
{
	int			nitems;
	int			item[GC_MAX_MEMBERS];
	int			body[GC_MAX_MEMBERS];	/* of the fused kernel */
	int			fused;			/* fused kernel; -1: the item's own kernel */
	GcShape		shape;
	bool		whole_shared;	/* as GcLaunch's (launch_order.h) */
	double		predicted_us;	/* of the kernel, beside the others */
	double		left_us;		/* of a shared scan: what marked scans of its table will still take, of
								 * which a part is in predicted_us */
	double		issue_share;	/* resident together with others: of their instructions, the
								 * part that is its own; else 0 */
	double		shared_us;		/* then: what all else takes of the predicted time */
} GcStart;

typedef struct GcDecision
{
	int			nstarts;
	GcStart		start[GC_MAX_ITEMS];
	int			patterns;		/* of the batch model's plan; 0: it was not asked */
	int			planned;		/* batches of that plan */
	double		predicted_us;	/* until all of them are done */
} GcDecision;

typedef struct GcDecideWork GcDecideWork;

/*
 * Bytes that gc_decide works in: from the caller, who keeps them between calls, at a
 * multiple of 64 (the models work on vectors).
 */
extern size_t gc_decide_work_size(void);

/*
 * Which of the ready kernels to start now.  Something is started whenever nothing is
 * active and something is ready.  Never fails: a kernel that no model can place is
 * started by itself once the device is idle.
 */
extern void gc_decide(const GcSchedule *schedule, GcDecideWork *work, GcDecision *decision);

#endif							/* GC_SCHED_H */
