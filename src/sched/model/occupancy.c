/*-------------------------------------------------------------------------
 *
 * occupancy.c
 *	  Occupancy: the resources of a multiprocessor that blocks take, and how many of them it can hold.
 *
 * Arithmetic is in 64 bits, since a profile read from a device may hold any numbers.
 *
 * Pure functions.
 *
 *-------------------------------------------------------------------------
 */
#include "occupancy.h"

#include <limits.h>
#include <stddef.h>

/* The quotient, rounded up; neither is negative. */
static int64_t
divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* The least multiple of unit that is not less. */
static int64_t
round_up(int64_t a, int64_t unit)
{
	return divide_up(a, unit) * unit;
}

int
gc_warp_registers(const GcProfile *p, int registers)
{
	int64_t		n;

	if (gc_profile_problem(p) != NULL || registers < 0)
		return -1;
	if (p->serial_blocks)
		return 0;
	if (registers > p->max_registers)
		return -1;
	n = round_up((int64_t) registers * p->warp_size, p->register_unit);
	return n <= p->registers ? (int) n : -1;
}

int
gc_block_shared(const GcProfile *p, int64_t shared_bytes)
{
	int64_t		n;

	if (gc_profile_problem(p) != NULL || shared_bytes < 0)
		return -1;
	if (p->serial_blocks)
		return 0;
	if (shared_bytes > p->shared_per_block)
		return -1;
	n = round_up(shared_bytes + p->shared_reserved, p->shared_unit);

	/* The last granule has to lie within the limit as well. */
	if (n > (int64_t) p->shared_per_block + p->shared_reserved || n > p->shared_per_sm)
		return -1;
	return (int) n;
}

void
gc_sm_limits(const GcProfile *p, int limit[GC_NEEDS])
{
	for (int i = 0; i < GC_NEEDS; i++)
		limit[i] = 0;
	if (gc_profile_problem(p) != NULL)
		return;
	limit[GC_NEED_WARPS] = p->serial_blocks ? 1 : p->max_warps;
	limit[GC_NEED_REGISTERS] = p->serial_blocks ? 0 : p->registers / p->warp_unit * p->warp_unit;
	limit[GC_NEED_SHARED] = p->serial_blocks ? 0 : p->shared_per_sm;
	limit[GC_NEED_BLOCKS] = p->serial_blocks ? 1 : p->max_blocks;
}

bool
gc_blocks_need(const GcProfile *p, int registers, int threads, int64_t shared_bytes,
			   int blocks, int need[GC_NEEDS])
{
	int			limit[GC_NEEDS];
	int			warp_registers = gc_warp_registers(p, registers);
	int			shared = gc_block_shared(p, shared_bytes);
	int64_t		n[GC_NEEDS];
	int64_t		warps;

	for (int i = 0; i < GC_NEEDS; i++)
		need[i] = INT_MAX;
	if (warp_registers < 0 || shared < 0 || threads < 1 || blocks < 1)
		return false;
	if (!p->serial_blocks && threads > p->max_threads)
		return false;
	warps = p->serial_blocks ? 1 : divide_up(threads, p->warp_size);

	/* One block has to fit into an empty multiprocessor. */
	gc_sm_limits(p, limit);
	if (warps > limit[GC_NEED_WARPS] ||
		(!p->serial_blocks && round_up(warps, p->warp_unit) * warp_registers > limit[GC_NEED_REGISTERS]))
		return false;

	n[GC_NEED_WARPS] = warps * blocks;
	n[GC_NEED_REGISTERS] = p->serial_blocks ? 0 : round_up(warps * blocks, p->warp_unit);
	n[GC_NEED_SHARED] = (int64_t) shared * blocks;
	n[GC_NEED_BLOCKS] = blocks;

	/* Up to 2^10 * 2^31 warps: of all products, this one alone could overflow. */
	if (warp_registers > 0 && n[GC_NEED_REGISTERS] > INT_MAX / warp_registers)
		n[GC_NEED_REGISTERS] = INT_MAX;
	else
		n[GC_NEED_REGISTERS] *= warp_registers;
	for (int i = 0; i < GC_NEEDS; i++)
		need[i] = n[i] < INT_MAX ? (int) n[i] : INT_MAX;
	return true;
}

bool
gc_needs_fit(const int need[GC_NEEDS], const int free[GC_NEEDS])
{
	for (int i = 0; i < GC_NEEDS; i++)
	{
		if (need[i] > free[i])
			return false;
	}
	return true;
}

int
gc_occupancy(const GcProfile *p, int registers, int threads, int64_t shared_bytes)
{
	int			need[GC_NEEDS];
	int			warp_registers;
	int			shared;
	int			warps;
	int64_t		blocks;
	int64_t		n;

	if (!gc_blocks_need(p, registers, threads, shared_bytes, 1, need))
		return 0;
	if (p->serial_blocks)
		return 1;
	warp_registers = gc_warp_registers(p, registers);
	shared = need[GC_NEED_SHARED];
	warps = need[GC_NEED_WARPS];

	/* eq. 8 */
	blocks = p->max_warps / warps;
	if (blocks > p->max_blocks)
		blocks = p->max_blocks;
	/* eqs. 5 and 6 */
	if (warp_registers > 0)
	{
		n = (int64_t) (p->registers / p->warp_unit / warp_registers) * p->warp_unit / warps;
		if (n < blocks)
			blocks = n;
	}
	/* eq. 3 */
	if (shared > 0 && p->shared_per_sm / shared < blocks)
		blocks = p->shared_per_sm / shared;
	return (int) blocks;
}
