/*-------------------------------------------------------------------------
 *
 * profile.h
 *	  A device as the models see it: the limits of a multiprocessor.
 *
 * Pure C; no PostgreSQL header and no CUDA header, like all of sched/.  Nothing in sched/
 * allocates memory, takes a lock or keeps state between calls, unless a header says
 * otherwise.  Callers bring the memory that functions work in.
 *
 * A multiprocessor (SM; "MP" in Li, Tu, Zeng 2019) holds blocks of warps.  It has R
 * registers, S bytes of shared memory, W warps and B blocks.  Granules are the steps in
 * which the hardware hands these out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROFILE_H
#define GC_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct GcProfile
{
	bool		serial_blocks;	/* a multiprocessor runs one block at a time, whatever the
								 * block needs: nothing limits how many fit */
	bool		scalar;			/* rows are computed one by one, without warps, vectors or
								 * shared memory */
	bool		shares_cpu;		/* it computes on the CPU, which other processes need, too */
	int			sms;
	int			warp_size;
	int			max_warps;		/* W, per multiprocessor */
	int			max_blocks;		/* B, per multiprocessor */
	int			registers;		/* R, per multiprocessor */
	int			shared_per_sm;	/* S, bytes */
	int			shared_per_block;	/* bytes, largest */
	int			shared_reserved;	/* bytes per block taken by the system */
	int			shared_unit;	/* granule of a block's shared memory, bytes */
	int			register_unit;	/* granule of a warp's registers */
	int			warp_unit;		/* parts that a multiprocessor's registers are divided into;
								 * for registers, a kernel's warps count in multiples of this */
	int			max_registers;	/* per thread */
	int			max_threads;	/* per block */
	bool		hyper_q;		/* streams do not wait for each other */
	uint64_t	l2_bytes;
} GcProfile;

/* Granules and limits that follow from the architecture (90 for sm_90) alone. */
extern void gc_profile_granules(GcProfile *profile, int arch);

/*
 * A profile by name, for tests and the simulator: "GTX 680", "K40", "TITAN X"
 * (Maxwell), "TITAN X Pascal", "A100", "H100", "H200".  NULL: not known.
 */
extern const GcProfile *gc_profile_known(const char *name);

/*
 * Can kernels be planned for this device?  NULL, or the profile's fault in words.  A profile has to
 * pass this before the policies may use it.
 */
extern const char *gc_profile_problem(const GcProfile *profile);

#endif							/* GC_PROFILE_H */
