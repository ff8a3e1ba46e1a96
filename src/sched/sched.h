/*-------------------------------------------------------------------------
 *
 * sched.h
 *	  The scheduler's seam: who runs, in which shape.
 *
 * Pure C; no PostgreSQL header and no CUDA header.  The worker asks two questions
 * for every request whose kernels are ready: which variant of its kernels to take,
 * and, at launch, how many blocks of how many threads.  Today a simple policy
 * answers (simple.c); the batch model and the kernel model of papers 000 and 001
 * take its place behind the same functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCHED_H
#define GC_SCHED_H

#include "profile.h"

/* How requests are put on the device (gpuconc.schedule). */
typedef enum GcPolicy
{
	GC_POLICY_SEQUENTIAL,		/* one at a time, each with the whole device */
	GC_POLICY_STREAMS,			/* all at once, each with a grid for the whole device */
	GC_POLICY_RANDOM,			/* together as they fit, sizes drawn by lot */
	GC_POLICY_KERNEL,			/* together in order of arrival, sizes by the kernel model */
	GC_POLICY_TWOSTAGE			/* batches by the batch model, sizes by the kernel model */
} GcPolicy;

/* What a kernel of one variant asks for. */
typedef struct GcDemand
{
	int			registers;		/* per thread */
	int			max_threads;	/* per block */
	uint64_t	shared_bytes;	/* per block */
	uint64_t	tiles;			/* work to hand out to blocks */
	uint64_t	rows;
} GcDemand;

typedef struct GcShape
{
	uint32_t	blocks;
	uint32_t	threads;
} GcShape;

/* What the choice of a variant depends on. */
typedef struct GcPipelineDemand
{
	uint64_t	rows;			/* to be scanned */
	uint64_t	survivors;		/* estimate: rows that reach the sink */
	int			nbitmaps;		/* candidates for shared memory, as they are probed */
	uint64_t	bitmap_bytes[32];
	uint64_t	ngroups;		/* dense group table; 0: none */
	uint64_t	group_bytes;	/* of one copy of it */
} GcPipelineDemand;

/* Which structures of a pipeline go to shared memory, and how it is compiled. */
typedef struct GcVariantChoice
{
	uint32_t	bitmaps;		/* bit i: bitmap i */
	int			group_copies;	/* 0: the group table stays in global memory */
	int			threads;		/* per block */
	int			vec;			/* rows per thread and step; host: 0 */
} GcVariantChoice;

extern GcVariantChoice gc_sched_variant(const GcProfile *profile, const GcPipelineDemand *demand);

/*
 * Grid of a kernel that is launched while `running` others are on the device.
 * occupancy: blocks of `threads` threads that one multiprocessor can hold.
 */
extern GcShape gc_sched_shape(const GcProfile *profile, const GcDemand *demand,
							  int threads, int occupancy, int running);

#endif							/* GC_SCHED_H */
