/*-------------------------------------------------------------------------
 *
 * gc_deliver.h
 *	  A result that its kernel brings to the host by itself.
 *
 * Where gc_a.scan.deliver_to says so, the last block that is done writes to the host's memory.
 * It writes the flags and the words behind them, gc_a.scan.delivered words of 64 bits in all.  After them it writes the
 * word at GC_DONE_AT.  A copy and an event behind the kernel took the worker's thread nearly as long as the launch.
 *
 * GC_DELIVER comes last, behind a barrier.  Blocks are counted at GC_BLOCKS_AT behind the flags,
 * 0 before.  Any other kernel that writes to the sink has to be done when this launch begins.
 *
 *-------------------------------------------------------------------------
 */
#define GC_DELIVER \
	if (gc_a.scan.deliver_to) \
		gc_deliver(gc_a.scan.flags, gc_a.scan.deliver_to, gc_a.scan.delivered, thread, nthreads, nblocks);

#if GC_CUDA

/*
 * Called by one thread.  Writes of its block up to the last barrier are seen by every thread that sees this thread's
 * next writes.  Writes of other threads that came before one which this thread has seen are seen by its block.  It is
 * weaker than GC_FENCE, whose single order of all fences is not needed.
 */
GC_FN void
gc_order(void)
{
	asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/*
 * One thread fences for its block, behind a barrier.  The barrier is not inside a function that is
 * called.  Around a barrier in one, the compiler lets loops over few rows yield.  Kernels with
 * groups in shared memory then took up to twice as long (an H200, SSB Q4.1).
 */
GC_FN void
gc_deliver(u64 flags, u64 deliver_to, u32 words, u32 thread, u32 nthreads, u32 nblocks)
{
	const volatile u64 *from = (const volatile u64 *) flags;
	u32			last = 0;

	if (thread == 0)
	{
		gc_order();
		last = GC_ATOMIC_ADD32(flags + GC_BLOCKS_AT, 1) == nblocks - 1;
		gc_order();
	}
	if (!__syncthreads_or(last))
		return;
	GC_NO_UNROLL for (u32 i = thread; i < words; i += nthreads)
		((u64 *) deliver_to)[i] = from[i];
	__syncthreads();
	if (thread == 0)
	{
		__threadfence_system();
		*(volatile u32 *) (deliver_to + GC_DONE_AT) = 1;
	}
}

#else							/* device host */

GC_FN void
gc_deliver(u64 flags, u64 deliver_to, u32 words, u32 thread, u32 nthreads, u32 nblocks)
{
	(void) thread;
	(void) nthreads;
	GC_FENCE();
	if (GC_ATOMIC_ADD32(flags + GC_BLOCKS_AT, 1) != nblocks - 1)
		return;
	GC_FENCE();
	for (u32 i = 0; i < words; i++)
		((u64 *) deliver_to)[i] = ((const u64 *) flags)[i];
	__atomic_store_n((u32 *) (deliver_to + GC_DONE_AT), 1, __ATOMIC_RELEASE);
}

#endif							/* target */
