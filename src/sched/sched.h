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

#include <stdbool.h>
#include <stdint.h>

/* The device as the models see it. */
typedef struct GcProfile
{
	bool		host;			/* CPU threads: one "warp" per multiprocessor */
	int			sms;
	int			warp_size;
	int			max_warps;		/* per multiprocessor */
	int			max_blocks;		/* per multiprocessor */
	int			registers;		/* per multiprocessor */
	int			shared_per_sm;	/* bytes */
	int			shared_per_block;	/* bytes, largest */
	int			shared_reserved;	/* bytes per block taken by the system */
} GcProfile;

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

/*
 * Which structures of a pipeline go to shared memory.  bitmap_bytes[i]: candidate
 * bitmaps in the order they are probed; group_bytes: a dense group table (0: none).
 * Sets *use (bit i: bitmap i) and *group; returns the threads per block to compile
 * for.
 */
extern int	gc_sched_variant(const GcProfile *profile, const uint64_t *bitmap_bytes, int nbitmaps,
							 uint64_t group_bytes, uint64_t rows, uint32_t *use, bool *group);

/*
 * Grid of a kernel that is launched while `running` others are on the device.
 * occupancy: blocks of `threads` threads that one multiprocessor can hold.
 */
extern GcShape gc_sched_shape(const GcProfile *profile, const GcDemand *demand,
							  int threads, int occupancy, int running);

#endif							/* GC_SCHED_H */
