/*-------------------------------------------------------------------------
 *
 * warp.h
 *	  A warp of a GPU, pretended: what device cuda's side of cuda/ headers asks of one, on a CPU.
 *
 * So loops over rows that only a GPU runs are tested where there is none.  The 32 lanes of a warp are
 * contexts of one thread (ucontext.h).  Each runs until the next operation that the warp does together,
 * in an order drawn anew each time, so that a lane which reads what another has yet to write, for lack of
 * a __syncwarp(), mostly reads something else.  A lane that ends while others wait for it, or is at another
 * operation, fails the test: device code must not diverge there.
 *
 *	  warp_run(lane function, argument)		run 32 lanes to their end
 *
 * Include in one source file, before the header to be tested; that header's GC_CUDA is 1.  Shared memory is
 * static: one block, and one warp of it, at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WARP_H
#define GC_WARP_H

#include <stdint.h>
#include <ucontext.h>

#include "harness.h"

#define WARP_LANES		32
#define WARP_STACK		(128 * 1024)

typedef struct Lane
{
	ucontext_t	context;
	char	   *stack;
	int			at;				/* line of the operation that it waits in; 0: none */
	bool		done;
	uint32_t	value;			/* what it brings to that operation */
} Lane;

static struct
{
	Lane		lane[WARP_LANES];
	ucontext_t	scheduler;
	int			running;
	void		(*run) (uint32_t lane, void *arg);
	void	   *arg;
	uint64_t	random;
	uint64_t	operations;
}			warp = {.random = 1};

static uint32_t
warp_draw(uint32_t n)
{
	warp.random = warp.random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t) (warp.random >> 33) % n;
}

static void
warp_lane(void)
{
	const int	me = warp.running;

	warp.run((uint32_t) me, warp.arg);
	warp.lane[me].done = true;
	swapcontext(&warp.lane[me].context, &warp.scheduler);
}

/* All lanes, in some order, to their next operation; false: all have ended. */
static bool
warp_turn(void)
{
	int			order[WARP_LANES];
	int			ended = 0;

	for (int i = 0; i < WARP_LANES; i++)
	{
		const int	j = (int) warp_draw((uint32_t) i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i < WARP_LANES; i++)
	{
		warp.running = order[i];
		swapcontext(&warp.scheduler, &warp.lane[order[i]].context);
	}
	for (int i = 0; i < WARP_LANES; i++)
	{
		ended += warp.lane[i].done;
		if (warp.lane[i].at != warp.lane[0].at)
			tap_bail("the lanes of a warp are at different operations");
	}
	if (ended != 0 && ended != WARP_LANES)
		tap_bail("a lane ended before others");
	return ended == 0;
}

static void
warp_run(void (*run) (uint32_t lane, void *arg), void *arg)
{
	warp.run = run;
	warp.arg = arg;
	for (int i = 0; i < WARP_LANES; i++)
	{
		Lane	   *l = &warp.lane[i];

		if (l->stack == NULL && (l->stack = malloc(WARP_STACK)) == NULL)
			tap_bail("out of memory");
		l->done = false;
		l->at = 0;
		getcontext(&l->context);
		l->context.uc_stack.ss_sp = l->stack;
		l->context.uc_stack.ss_size = WARP_STACK;
		l->context.uc_link = NULL;
		makecontext(&l->context, warp_lane, 0);
	}
	while (warp_turn())
		warp.operations++;
}

/* Wait for all; line: which operation it is. */
static void
warp_meet(int line)
{
	Lane	   *me = &warp.lane[warp.running];

	me->at = line;
	swapcontext(&me->context, &warp.scheduler);
}

/* What each lane brings, to all[]. */
static void
warp_exchange(uint32_t value, uint32_t *all, int line)
{
	warp.lane[warp.running].value = value;
	warp_meet(line);
	for (int i = 0; i < WARP_LANES; i++)
		all[i] = warp.lane[i].value;
	warp_meet(-line);
}

static uint32_t __attribute__((unused))
warp_ballot(bool value, int line)
{
	uint32_t	all[WARP_LANES];
	uint32_t	set = 0;

	warp_exchange(value, all, line);
	for (int i = 0; i < WARP_LANES; i++)
		set |= all[i] << i;
	return set;
}

/* Of the lane that is `up` before this one, which keeps its own if there is none. */
static uint32_t __attribute__((unused))
warp_from_above(uint32_t value, int up, int line)
{
	uint32_t	all[WARP_LANES];

	warp_exchange(value, all, line);
	return warp.running >= up ? all[warp.running - up] : value;
}

static uint32_t __attribute__((unused))
warp_of_lane(uint32_t value, int lane, int line)
{
	uint32_t	all[WARP_LANES];

	warp_exchange(value, all, line);
	return all[lane % WARP_LANES];
}

static uint32_t __attribute__((unused))
warp_sum(uint32_t value, int line)
{
	uint32_t	all[WARP_LANES];
	uint32_t	sum = 0;

	warp_exchange(value, all, line);
	for (int i = 0; i < WARP_LANES; i++)
		sum += all[i];
	return sum;
}

#define __syncwarp()					warp_meet(__LINE__)
#define __any_sync(mask, x)				(warp_ballot((x) != 0, __LINE__) != 0)
#define __ballot_sync(mask, x)			warp_ballot((x) != 0, __LINE__)
#define __shfl_up_sync(mask, x, up)		warp_from_above(x, up, __LINE__)
#define __shfl_sync(mask, x, lane)		warp_of_lane(x, lane, __LINE__)
#define GC_REDUCE_ADD(mask, x)			warp_sum(x, __LINE__)
#define __popc(x)						((uint32_t) __builtin_popcount(x))
#define __ffs(x)						__builtin_ffs((int) (x))
#define __shared__						static
#define __align__(n)					__attribute__((aligned(n)))

typedef struct uint4
{
	uint32_t	x,
				y,
				z,
				w;
} __attribute__((aligned(16))) uint4;

#endif							/* GC_WARP_H */
