/*-------------------------------------------------------------------------
 *
 * gc_agg.h
 *	  Accumulators.
 *
 * A group's accumulators are consecutive u64 words, all zero at first: word 0
 * counts its rows (or is 1 once it has any), then one word per accumulator, two
 * for a 128-bit sum (low, high).  Minimum and maximum keep the largest image
 * under an order-preserving map (gc_value.h), reversed for a minimum, so that
 * zero means "nothing yet".  Addition is exact in any order except for floats.
 *
 * _g updates memory that other blocks update too; _l updates a block's own
 * table (shared memory on cuda, where other threads of the block update it; the
 * calling thread's alone on host).
 *
 *-------------------------------------------------------------------------
 */

#define GC_ADD_G(p, v)		((void) GC_ATOMIC_ADD64(p, v))
#define GC_MAX_G(p, v)		((void) GC_ATOMIC_MAX64(p, v))
#define GC_ADDF_G(p, v)		((void) GC_ATOMIC_ADDF64(p, v))

GC_FN void
GC_ADD128_G(u64 *p, i128 v)
{
	const u64	lo = (u64) v;
	const u64	old = GC_ATOMIC_ADD64(p, lo);

	/* Every carry out of the low word is seen by exactly one addition. */
	GC_ATOMIC_ADD64(p + 1, (u64) (v >> 64) + (old + lo < old));
}

#if GC_CUDA

/*
 * Shared memory adds 32 bits at a time by itself, 64 bits only by compare-and-
 * swap in a loop: so the low half first, then the high half with the carry, which
 * is nothing for most small values.
 */
GC_FN void
GC_ADD_L(u64 *p, u64 v)
{
	u32		   *h = (u32 *) p;
	const u32	lo = (u32) v;
	const u32	old = atomicAdd(h, lo);
	const u32	hi = (u32) (v >> 32) + (old + lo < old);

	if (hi)
		atomicAdd(h + 1, hi);
}

GC_FN void
GC_ADD128_L(u64 *p, i128 v)
{
	u32		   *h = (u32 *) p;
	u64			carry = 0;

	GC_UNROLL for (int i = 0; i < 4; i++)
	{
		const u64	add = (u64) (u32) ((u128) v >> (32 * i)) + carry;
		const u32	old = (u32) add ? atomicAdd(h + i, (u32) add) : 0;

		/* one carry at most: add is at most 2^32 */
		carry = (add >> 32) + ((u32) add && old + (u32) add < old);
	}
}

#define GC_MAX_L(p, v)		GC_MAX_G(p, v)
#define GC_ADDF_L(p, v)		GC_ADDF_G(p, v)
/* Losing a race costs a second store of the same value. */
#define GC_MARK(p)			do { if (!*(const u64 *) (p)) *(u64 *) (p) = 1; } while (0)

/* Sum of one value per thread over the block, valid in thread 0. */
#define GC_DEFINE_BLOCK_REDUCE(name, T, COMBINE) \
GC_FN_ONCE T name(T v) \
{ \
	__shared__ T part[32]; \
	GC_NO_UNROLL for (int o = 16; o; o >>= 1) \
	{ \
		const T w = __shfl_down_sync(0xffffffffu, v, o); \
		v = COMBINE; \
	} \
	__syncthreads(); \
	if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v; \
	__syncthreads(); \
	if (threadIdx.x < 32) \
	{ \
		v = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : (T) 0; \
		GC_NO_UNROLL for (int o = 16; o; o >>= 1) \
		{ \
			const T w = __shfl_down_sync(0xffffffffu, v, o); \
			v = COMBINE; \
		} \
	} \
	return v; \
}
GC_DEFINE_BLOCK_REDUCE(gc_block_add, u64, v + w)
GC_DEFINE_BLOCK_REDUCE(gc_block_max, u64, v > w ? v : w)
GC_DEFINE_BLOCK_REDUCE(gc_block_addf, double, v + w)

GC_FN_ONCE i128
gc_block_add128(i128 v)
{
	/* Three sums of 43-bit digits: none can overflow over a block. */
	const u64	m = ((u64) 1 << 43) - 1;
	const u64	d0 = gc_block_add((u64) v & m);
	const u64	d1 = gc_block_add((u64) (v >> 43) & m);
	const i64	d2 = (i64) gc_block_add((u64) (i64) (v >> 86));

	return (i128) d0 + ((i128) d1 << 43) + (i128) ((u128) (i128) d2 << 86);
}

#else

#define GC_ADD_L(p, v)		(*(p) += (u64) (v))
#define GC_MAX_L(p, v)		(*(p) = *(p) > (u64) (v) ? *(p) : (u64) (v))

GC_FN void
GC_ADDF_L(u64 *p, double v)
{
	*p = (u64) GC_F64_BITS(GC_BITS_F64((i64) *p) + v);
}

GC_FN void
GC_ADD128_L(u64 *p, i128 v)
{
	const u64	old = *p;

	*p = old + (u64) v;
	p[1] += (u64) (v >> 64) + (*p < old);
}

#define GC_MARK(p)			__atomic_store_n((u64 *) (p), 1, __ATOMIC_RELAXED)

#define gc_block_add(v)		(v)
#define gc_block_max(v)		(v)
#define gc_block_addf(v)	(v)
#define gc_block_add128(v)	(v)

#endif
