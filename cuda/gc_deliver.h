/*-------------------------------------------------------------------------
 *
 * gc_deliver.h
 *	  A result that its kernel brings to the host by itself.
 *
 * Where gc_a.scan.deliver_to says so, the last block that is done writes the flags, and
 * gc_a.scan.delivered words of 64 bits from there on in all, to the host's memory, and then the
 * word at GC_DONE_AT of it.  A copy and a mark behind the kernel took the worker's thread nearly as
 * long as the launch.
 *
 * GC_DELIVER comes last, behind a barrier.  Blocks are counted at GC_BLOCKS_AT behind the flags, 0
 * before.  Whatever else is written to the sink has to be done when this launch begins.
 *
 *-------------------------------------------------------------------------
 */
#define GC_DELIVER \
	if (gc_a.scan.deliver_to) \
		gc_deliver(gc_a.scan.flags, gc_a.scan.deliver_to, gc_a.scan.delivered, thread, nthreads, nblocks);

#if GC_CUDA

/*
 * Of one thread: what its block has written up to the last barrier is seen by whoever sees what comes
 * next, and what others had written before what it has just seen is seen by the block.  Weaker than
 * GC_FENCE, whose one order of all fences is not needed.
 */
GC_FN void
gc_order(void)
{
	asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/*
 * One thread fences for its block, behind a barrier.  Not a function that is called: around a barrier in
 * one, the compiler has loops over few rows yield, and kernels with groups in shared memory took up to
 * twice as long (an H200, SSB Q4.1).
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
