/*-------------------------------------------------------------------------
 *
 * occupancy.h
 *	  Occupancy: the resources of a multiprocessor that blocks take, and how many of them it can hold.
 *
 * The model of Li, Yu, Kumar, Tu 2014, section III (eqs. 2-8), with the granules of a
 * GcProfile in the place of the paper's constants.  For one kernel alone the result is that
 * of NVIDIA's occupancy calculator.  Shared memory is taken to have the largest part of the
 * L1 cache that it can have (launch_order.h says when that is not so).
 *
 * Pure functions.  All of them take any profile: one that gc_profile_problem() objects to
 * holds no block.  On a host profile a multiprocessor is one thread of the CPU and holds
 * one block.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_OCCUPANCY_H
#define GC_OCCUPANCY_H

#include "profile.h"

/* The four things that blocks take of a multiprocessor. */
enum
{
	GC_NEED_WARPS,
	GC_NEED_REGISTERS,
	GC_NEED_SHARED,				/* bytes in granules, with those that the system reserves */
	GC_NEED_BLOCKS,
	GC_NEEDS
};

/*
 * Registers that one warp takes (Li, Yu, Kumar, Tu 2014, eq. 7), or -1 if no thread of the device can
 * have this many.
 */
extern int	gc_warp_registers(const GcProfile *profile, int registers);

/* Bytes that one block takes, or -1 if no block of the device can have this many. */
extern int	gc_block_shared(const GcProfile *profile, int64_t shared_bytes);

/*
 * Resources of an empty multiprocessor.  Registers that do not divide evenly among its parts are left
 * out, since no warp can get them.
 */
extern void gc_sm_limits(const GcProfile *profile, int limit[GC_NEEDS]);

/*
 * Resources that `blocks` (1 or more) blocks of one kernel take of a multiprocessor together.
 * False, and INT_MAX for each, if not one block can run on the device.
 *
 * A multiprocessor's registers are divided into warp_unit parts, and a warp has all of its
 * registers in one part.  So the warps of a kernel, not of each block, are counted in multiples of
 * warp_unit.  For one kernel alone that is exact: blocks are resident as long as their needs stay
 * within gc_sm_limits().  For several kernels it is safe if the hardware spreads each kernel's warps
 * evenly over the parts.  It is not exact where kernels with odd numbers of warps could fill each
 * other's gaps.
 */
extern bool gc_blocks_need(const GcProfile *profile, int registers, int threads,
						   int64_t shared_bytes, int blocks, int need[GC_NEEDS]);

/* Are all needs at most the resources that are free? */
extern bool gc_needs_fit(const int need[GC_NEEDS], const int free[GC_NEEDS]);

/*
 * Resident blocks per multiprocessor (Li, Yu, Kumar, Tu 2014, eqs. 2-8); 0 if the kernel cannot
 * run.  registers: per thread; threads and shared_bytes: per block.
 */
extern int	gc_occupancy(const GcProfile *profile, int registers, int threads,
						 int64_t shared_bytes);

#endif							/* GC_OCCUPANCY_H */
