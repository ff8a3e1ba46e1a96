/*-------------------------------------------------------------------------
 *
 * gc_time.h
 *	  When a kernel ran, by the device's clock.
 *
 * Behind the flags that a kernel writes, at GC_TIMES_AT, are GC_NTIMES words of 64 bits, zero
 * before.  Where gc_a.scan.timed says so, GC_BEGAN notes there when the kernel's first block
 * began, and GC_ENDED when its last one ended.  The begin is kept as its complement, so that the
 * greatest is the earliest.  GC_CAME_AFTER notes the times of the kernel before.  So times come
 * with the result.  Times from CUDA's events took the worker's thread longer than the launch did.
 *
 * The unit is nanoseconds, on an H200 in steps of 32.  A block's threads meet in a barrier at its
 * end, so that none is still at work.
 *
 *-------------------------------------------------------------------------
 */
#if GC_CUDA

GC_FN u64
gc_now(void)
{
	u64			ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

#else							/* device host */

struct gc_timespec
{
	long		s;
	long		ns;
};
extern int	clock_gettime(int clock, struct gc_timespec *t);

GC_FN u64
gc_now(void)
{
	struct gc_timespec t;

	clock_gettime(1, &t);		/* CLOCK_MONOTONIC */
	return (u64) t.s * 1000000000 + (u64) t.ns;
}

#endif							/* target */

#define GC_TIMES(flags)		((u64 *) ((u64) (flags) + GC_TIMES_AT))

#define GC_BEGAN(flags) \
	if (gc_a.scan.timed && thread == 0) GC_ATOMIC_MAX64(GC_TIMES(flags) + GC_TIME_BEGAN, ~gc_now());

/* Behind a barrier. */
#define GC_ENDED(flags) \
	if (gc_a.scan.timed && thread == 0) GC_ATOMIC_MAX64(GC_TIMES(flags) + GC_TIME_ENDED, gc_now());

#define GC_CAME_AFTER(flags, before) \
	if (gc_a.scan.timed && block == 0 && thread == 0) \
	{ \
		GC_TIMES(flags)[GC_TIME_BEFORE_BEGAN] = GC_TIMES(before)[GC_TIME_BEGAN]; \
		GC_TIMES(flags)[GC_TIME_BEFORE_ENDED] = GC_TIMES(before)[GC_TIME_ENDED]; \
	}
