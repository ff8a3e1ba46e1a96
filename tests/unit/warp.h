/*-------------------------------------------------------------------------
 *
 * warp.h
 *	  A warp of a GPU, pretended: what device cuda's side of cuda/ headers asks of one, on a CPU.
 *
 * So loops over rows that only a GPU runs are tested where there is none.  The 32 lanes of a warp are contexts of
 * one thread (ucontext.h).  _longjmp() enters them again, since swapcontext() makes two system calls to save signal
 * masks.  Each runs until the next operation that the warp does together, in an order drawn anew each time.  So a
 * lane which reads what another has yet to write, for lack of a __syncwarp(), mostly reads something else.  A lane
 * that is at another operation than others, or has ended while an operation's mask names it, fails the test: device
 * code must not diverge there.
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

#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

#include "harness.h"

#define WARP_LANES		32
#define WARP_STACK		(128 * 1024)

/* Sanitizers have to be told of other stacks, as swapcontext() tells them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WARP_JUMPS		0
#else
#define WARP_JUMPS		1
#endif

typedef struct Lane
{
	ucontext_t	context;
	jmp_buf		jump;
	bool		started;		/* so that jump is set */
	char	   *stack;
	int			at;				/* line of the operation that it waits in; 0: none */
	uint32_t	mask;			/* of the lanes that are to be there */
	bool		done;
	uint32_t	value;			/* what it brings to that operation */
} Lane;

static struct
{
	Lane		lane[WARP_LANES];
	ucontext_t	scheduler;
	jmp_buf		scheduler_jump;
	int			running;
	void		(*run) (uint32_t lane, void *arg);
	void	   *arg;
	uint64_t	random;
}			warp = {.random = 1};

static uint32_t
warp_draw(uint32_t n)
{
	warp.random = warp.random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t) (warp.random >> 33) % n;
}

/* Let a lane run until it waits or has ended. */
static void __attribute__((noinline))
warp_resume(Lane *l)
{
	if (!WARP_JUMPS || !l->started)
	{
		l->started = true;
		if (!WARP_JUMPS || _setjmp(warp.scheduler_jump) == 0)
			swapcontext(&warp.scheduler, &l->context);
	}
	else if (_setjmp(warp.scheduler_jump) == 0)
		_longjmp(l->jump, 1);
}

/* Back to warp_turn(). */
static void __attribute__((noinline))
warp_yield(Lane *me)
{
	if (!WARP_JUMPS)
		swapcontext(&me->context, &warp.scheduler);
	else if (_setjmp(me->jump) == 0)
		_longjmp(warp.scheduler_jump, 1);
}

static void
warp_lane(void)
{
	const int	me = warp.running;

	warp.run((uint32_t) me, warp.arg);
	warp.lane[me].done = true;
	warp_yield(&warp.lane[me]);
}

/* All lanes that have not ended, in some order, to their next operation; false: all have. */
static bool
warp_turn(void)
{
	int			order[WARP_LANES];
	uint32_t	there = 0;
	int			first = 0;

	for (int i = 0; i < WARP_LANES; i++)
	{
		const int	j = (int) warp_draw((uint32_t) i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i < WARP_LANES; i++)
	{
		warp.running = order[i];
		if (!warp.lane[order[i]].done)
			warp_resume(&warp.lane[order[i]]);
	}
	for (int i = 0; i < WARP_LANES; i++)
	{
		if (warp.lane[i].done)
			continue;
		if (there == 0)
			first = i;
		there |= 1u << i;
		if (warp.lane[i].at != warp.lane[first].at)
			tap_bail("the lanes of a warp are at different operations");
	}
	for (int i = 0; i < WARP_LANES; i++)
	{
		if (there >> i & 1 && (warp.lane[i].mask & ~there || !(warp.lane[i].mask >> i & 1)))
			tap_bail("a lane waits for one that has ended, or is not named by its own mask");
	}
	return there != 0;
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
		l->started = false;
		l->at = 0;
		getcontext(&l->context);
		l->context.uc_stack.ss_sp = l->stack;
		l->context.uc_stack.ss_size = WARP_STACK;
		l->context.uc_link = NULL;
		makecontext(&l->context, warp_lane, 0);
	}
	while (warp_turn())
		;
}

/* Wait for these lanes, this one among them; line: which operation it is. */
static void
warp_meet(uint32_t mask, int line)
{
	Lane	   *me = &warp.lane[warp.running];

	me->at = line;
	me->mask = mask;
	warp_yield(me);
}

/* The value of each of these lanes, to all[]; 0 for others. */
static void
warp_exchange(uint32_t mask, uint32_t value, uint32_t *all, int line)
{
	warp.lane[warp.running].value = value;
	warp_meet(mask, line);
	for (int i = 0; i < WARP_LANES; i++)
		all[i] = mask >> i & 1 ? warp.lane[i].value : 0;
	warp_meet(mask, -line);
}

/* The value of the lane that is `up` before this one, or this one's own if there is none. */
static uint32_t __attribute__((unused))
warp_from_above(uint32_t mask, uint32_t value, int up, int line)
{
	uint32_t	all[WARP_LANES];

	warp_exchange(mask, value, all, line);
	return warp.running >= up ? all[warp.running - up] : value;
}

static uint32_t __attribute__((unused))
warp_of_lane(uint32_t mask, uint32_t value, int lane, int line)
{
	uint32_t	all[WARP_LANES];

	warp_exchange(mask, value, all, line);
	return all[lane % WARP_LANES];
}

/* Sum, or bitwise or, of what these lanes bring. */
static uint32_t __attribute__((unused))
warp_reduce(uint32_t mask, uint32_t value, bool sum, int line)
{
	uint32_t	all[WARP_LANES];
	uint32_t	x = 0;

	warp_exchange(mask, value, all, line);
	for (int i = 0; i < WARP_LANES; i++)
		x = sum ? x + all[i] : x | all[i];
	return x;
}

/* Bytes of a and b, numbered from a's lowest, that the digits of `which` name. */
static uint32_t __attribute__((unused))
warp_byte_perm(uint32_t a, uint32_t b, uint32_t which)
{
	const uint64_t x = (uint64_t) b << 32 | a;
	uint32_t	r = 0;

	for (int i = 0; i < 4; i++)
		r |= (uint32_t) (x >> (8 * (which >> (4 * i) & 7)) & 0xff) << (8 * i);
	return r;
}

/* Sum of the products of bytes, or of a's lower and upper half with b's lower two bytes, and c. */
static uint32_t __attribute__((unused))
warp_dp4a(uint32_t a, uint32_t b, uint32_t c)
{
	for (int i = 0; i < 32; i += 8)
		c += (a >> i & 0xff) * (b >> i & 0xff);
	return c;
}

static uint32_t __attribute__((unused))
warp_dp2a_lo(uint32_t a, uint32_t b, uint32_t c)
{
	return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}

/* Addresses of shared memory are of 32 bits: from the object that a test says it is. */
static char *warp_shared __attribute__((unused));

#define __syncwarp()					warp_meet(UINT32_MAX, __LINE__)
#define __any_sync(mask, x)				(warp_reduce(mask, (x) != 0, false, __LINE__) != 0)
#define __ballot_sync(mask, x)			warp_reduce(mask, (uint32_t) ((x) != 0) << warp.running, false, __LINE__)
#define __shfl_up_sync(mask, x, up)		warp_from_above(mask, x, up, __LINE__)
#define __shfl_sync(mask, x, lane)		warp_of_lane(mask, x, lane, __LINE__)
#define GC_REDUCE_ADD(mask, x)			warp_reduce(mask, x, true, __LINE__)
#define GC_REDUCE_OR(mask, x)			warp_reduce(mask, x, false, __LINE__)
#define __byte_perm(a, b, which)		warp_byte_perm(a, b, which)
#define __dp4a(a, b, c)					warp_dp4a(a, b, c)
#define __dp2a_lo(a, b, c)				warp_dp2a_lo(a, b, c)
#define __ldg(p)						(*(p))
#define __cvta_generic_to_shared(p)		((uint32_t) ((const char *) (p) - warp_shared))
#define __cvta_shared_to_generic(x)		((const void *) (warp_shared + (x)))
#define threadIdx						((struct {uint32_t x;}) {(uint32_t) warp.running})
#define __popc(x)						((uint32_t) __builtin_popcount(x))
#define __ffs(x)						__builtin_ffs((int) (x))
#define __shared__						static
#define __align__(n)					__attribute__((aligned(n)))

typedef struct uint2
{
	uint32_t	x,
				y;
} __attribute__((aligned(8))) uint2;

typedef struct uint4
{
	uint32_t	x,
				y,
				z,
				w;
} __attribute__((aligned(16))) uint4;

#endif							/* GC_WARP_H */
