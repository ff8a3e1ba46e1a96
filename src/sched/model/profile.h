/*-------------------------------------------------------------------------
 *
 * profile.h
 *	  A device as the models see it: what a multiprocessor can hold.
 *
 * Pure C; no PostgreSQL header and no CUDA header, like all of sched/.  Nothing in
 * sched/ allocates memory, takes a lock or keeps state between calls, unless a
 * header says otherwise: what a function needs to work in, its caller brings.
 *
 * Vocabulary, here and in the papers: a multiprocessor (SM, "MP") holds blocks of
 * warps; R registers, S bytes of shared memory, W warps and B blocks are what it
 * has of each.  Granules are the steps in which the hardware hands these out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROFILE_H
#define GC_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct GcProfile
{
	bool		serial_blocks;	/* a multiprocessor runs one block at a time, whatever it
								 * needs: nothing limits how many fit */
	bool		scalar;			/* rows are computed one after another: without warps,
								 * vectors, or memory that a block shares */
	bool		shares_cpu;		/* it computes on the CPU, whose time others want, too */
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
	int			warp_unit;		/* warps of a block count in multiples of this for
								 * registers; also the parts a multiprocessor's
								 * registers are divided into */
	int			max_registers;	/* per thread */
	int			max_threads;	/* per block */
	bool		hyper_q;		/* streams do not wait for those of higher rank */
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
 * Is this a device that kernels could be planned for?  NULL, or what is wrong with it.
 * The models may be given nothing that has not passed this.
 */
extern const char *gc_profile_problem(const GcProfile *profile);

#endif							/* GC_PROFILE_H */
