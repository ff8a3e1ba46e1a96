/*-------------------------------------------------------------------------
 *
 * gc_target.h
 *	  Differences between the two targets of a generated kernel.
 *
 * A kernel's text is written once, in the vocabulary of this file.  It works on vectors of GC_VEC
 * consecutive rows.  On device cuda a vector is one thread's 8 or 16 rows (GC_CUDA_VEC, set by
 * the code generator).  It is kept in registers, and live rows are bits of a mask.  In a quick
 * kernel (GC_QUICK, set by the compiler's options) it is one row, which leaves little to
 * compile.  On device host a vector is a thousand rows in the L1 cache.  The C compiler turns
 * loops over it into vector instructions, and live rows are a selection list.
 *
 * A vector goes through stages.  The first stage tests all rows (GC_EACH, GC_KEEP_IF) and settles
 * which are live (GC_SETTLE).  Later stages look at live rows only (GC_EACH_LIVE .. GC_END_LIVE).
 * Where a test is safe and cheap, they may look at other rows if that is quicker
 * (GC_EACH_CHEAP).  On cuda they then look at all rows, since eight loads at once take less time
 * than one branch after another.  Last, GC_ROWS_* .. GC_END_ROWS_* visits each live row once; inside
 * it, `continue` drops the row.
 *
 * All is one stage where only filters come, most vectors have a live row, and little is done
 * with it.  That stage is GC_FILTER_AGGREGATE .. GC_FILTER_AGGREGATE_KEPT ..
 * GC_END_FILTER_AGGREGATE, in which the text clears gc_pass for rows that it drops.  On cuda a fact of a row then stays
 * in a predicate.  Making a mask's bit of it, and a predicate of that bit, took as many instructions as the tests.
 *
 * GC_VECTOR_ROWS says which rows a vector has.  GC_VECTOR_LIVE begins the stages with the rows
 * that a request may see.  Outside of a stage's own loops, `continue` ends the request's work on this vector: the text
 * around it is a loop's body (gc_tile.h).
 *
 *-------------------------------------------------------------------------
 */
#ifdef __CUDACC_RTC__

#define GC_CUDA		1
#define GC_FN		static __device__ __forceinline__
#ifdef GC_QUICK						/* compile time counts more than run time */
#define GC_VEC		1
#elif GC_CUDA_VEC == 16
#define GC_VEC		16
#else
#define GC_VEC		8				/* also for texts made for device host */
#endif
#define GC_WARP		32
#define GC_WARPS(threads)	(((threads) + GC_WARP - 1) / GC_WARP)

/* GC_LEAST_BLOCKS: a multiprocessor is to have room for so many blocks. */
#ifdef GC_LEAST_BLOCKS
#define GC_BOUNDS(threads)	__launch_bounds__(threads, GC_LEAST_BLOCKS)
#else
#define GC_BOUNDS(threads)	__launch_bounds__(threads)
#endif

/*
 * A gang's kernel (GC_GANG, set by the code generator) is launched for several members.  Each block first finds
 * the member that it works for, and so its arguments.
 */
#ifdef GC_GANG

#define GC_KERNEL(threads) \
	extern "C" __global__ void GC_BOUNDS(threads) gc_kernel(const __grid_constant__ GcGang gc_gang)
#define GC_BLOCKS \
	const u32 gc_member = gc_gang_member(gc_gang.end, blockIdx.x); \
	const GcArgs &gc_a = gc_gang.args[gc_member]; \
	const u32 gc_first_block = gc_member > 0 ? gc_gang.end[gc_member - 1] : 0; \
	const u32 block = blockIdx.x - gc_first_block, nblocks = gc_gang.end[gc_member] - gc_first_block;

#else

#define GC_KERNEL(threads) \
	extern "C" __global__ void GC_BOUNDS(threads) gc_kernel(const __grid_constant__ GcArgs gc_a)
#define GC_BLOCKS \
	const u32 block = blockIdx.x, nblocks = gridDim.x;

#endif							/* GC_GANG */

#define GC_PROLOGUE \
	GC_BLOCKS \
	const u32 thread = threadIdx.x, nthreads = blockDim.x; \
	extern __shared__ u64 gc_shared[]; \
	(void) gc_shared; (void) block; (void) nblocks; (void) thread; (void) nthreads;

#define GC_BARRIER()	__syncthreads()

/*
 * Sum and union over the lanes in `mask`, all of which come here; before sm_80 there is no
 * instruction for that.
 */
#if __CUDA_ARCH__ >= 800
#define GC_REDUCE_ADD(mask, x)	__reduce_add_sync(mask, x)
#define GC_REDUCE_OR(mask, x)	__reduce_or_sync(mask, x)
#else
GC_FN u32
GC_REDUCE_ADD(u32 mask, u32 x)
{
	u32			sum = 0;

	for (int b = 0; b < 32; b++)
		sum += (u32) __popc(__ballot_sync(mask, x >> b & 1)) << b;
	return sum;
}

GC_FN u32
GC_REDUCE_OR(u32 mask, u32 x)
{
	u32			all = 0;

	for (int b = 0; b < 32; b++)
		all |= (u32) (__ballot_sync(mask, x >> b & 1) != 0) << b;
	return all;
}
#endif

#define GC_UNROLL		_Pragma("unroll")
#define GC_PRAGMA(x)	_Pragma(#x)
#define GC_UNROLL_BY(n)	GC_PRAGMA(unroll n)
/* For code that runs once per block: compile time counts more than run time. */
#define GC_FN_ONCE		static __device__ __noinline__
#define GC_THREAD		threadIdx.x
#define GC_NTHREADS		blockDim.x
#define GC_BLOCK_ARRAY(type, name, n)	__shared__ type name[n]
#define GC_CLZ64(x)		((u32) __clzll((i64) (x)))
#define GC_NO_UNROLL	_Pragma("unroll 1")

/* A bit for each row of a vector: the part of a bitmap that begins at `row`. */
#if GC_VEC == 16
#define GC_VECTOR_BITS(bits, row)	((u32) ((const u16 *) (bits))[(row) / 16])
#elif GC_VEC == 8
#define GC_VECTOR_BITS(bits, row)	((u32) ((const u8 *) (bits))[(row) / 8])
#else
#define GC_VECTOR_BITS(bits, row)	((u32) (((const u8 *) (bits))[(row) >> 3] >> ((row) & 7)))
#endif
#if GC_VEC == 1
#define GC_VECTOR_ROWS(row, nrows)	const u32 gc_rows_here = 1;
#else
#define GC_VECTOR_ROWS(row, nrows) \
	const u32 gc_rows_here = (row) + GC_VEC <= (nrows) ? (1u << GC_VEC) - 1 : (1u << ((nrows) - (row))) - 1;
#endif
#define GC_VECTOR_LIVE(valid, row) \
	u32 gc_m = gc_rows_here; \
	if (valid) \
	{ \
		gc_m &= GC_VECTOR_BITS(valid, row); \
		if (!gc_m) continue; \
	}
/* Live rows of one request of several: valid is an array by source, or 0. */
#define GC_MEMBER_LIVE(valid, source, row) \
	u32 gc_m = gc_rows_here; \
	if (valid) \
	{ \
		const u64 gc_valid = ((const u64 *) (valid))[source]; \
		if (gc_valid) gc_m &= GC_VECTOR_BITS(gc_valid, row); \
		if (!gc_m) continue; \
	}
#define GC_ARRAY(type, name)	type name[GC_VEC]
#define GC_EACH(j)				GC_UNROLL for (int j = 0; j < GC_VEC; j++)

/*
 * x, hidden from the compiler's front half, so that it does not rewrite its uses; the assembler
 * sees x again.  One instruction then tests a bit and gives a predicate, not three (shift, mask,
 * comparison).  An addition or a mask under a condition stays one instruction under a predicate.
 */
GC_FN u32
GC_OPAQUE(u32 x)
{
	u32			y;

	asm("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
	return y;
}

#if GC_VEC == 1
#define GC_IS_LIVE(j)			(gc_m != 0)
#define GC_KEEP_IF(j, cond)		gc_m = (cond) ? gc_m : 0
#else
#define GC_IS_LIVE(j)			((gc_m & GC_OPAQUE(1u << (j))) != 0)
#define GC_KEEP_IF(j, cond)		gc_m = (cond) ? gc_m : gc_m & GC_OPAQUE(~(1u << (j)))
#endif
#define GC_SETTLE				if (!gc_m) continue;
#define GC_EACH_LIVE(j)			GC_UNROLL for (int j = 0; j < GC_VEC; j++) if (GC_IS_LIVE(j)) {
#define GC_EACH_CHEAP(j)		GC_EACH(j) {
#define GC_KEEP_LIVE_IF(j, cond)	GC_KEEP_IF(j, cond)
#define GC_END_LIVE				} if (!gc_m) continue;

#if GC_VEC == 1

/* The one row.  A loop takes longer to compile.  `continue` drops the row here, too. */
#define GC_ROWS_ALL(j, row) \
	do { const u32 j = 0, gc_pass = gc_m; const u32 row = gc_row; (void) j; (void) row; {
#define GC_END_ROWS_ALL			}} while (0);
#define GC_ROWS_SPARSE(j, row)	if (gc_m) GC_ROWS_ALL(j, row) (void) gc_pass;
#define GC_END_ROWS_SPARSE		GC_END_ROWS_ALL
#define GC_ROWS_DENSE(j, row)	GC_ROWS_SPARSE(j, row)
#define GC_END_ROWS_DENSE		GC_END_ROWS_ALL
#define GC_FILTER_AGGREGATE(j)				do { const u32 j = 0; bool gc_pass = gc_m;
#define GC_FILTER_AGGREGATE_KEPT(j, row)	if (!gc_pass) continue; const u32 row = gc_row; (void) j; (void) row; {
#define GC_END_FILTER_AGGREGATE				}} while (0);

#else

/* Rows one at a time, from memory: for sinks that few rows reach. */
#define GC_ROWS_SPARSE(j, row) \
	while (gc_m) { const u32 j = __ffs(gc_m) - 1; const u32 row = gc_row + j; gc_m &= gc_m - 1; {
#define GC_END_ROWS_SPARSE		}}
/* Rows one at a time, from the vectors already loaded. */
#define GC_ROWS_DENSE(j, row) \
	GC_EACH(j) { if (!GC_IS_LIVE(j)) continue; const u32 row = gc_row + j; (void) row; {
#define GC_END_ROWS_DENSE		}}
/* All rows; gc_pass: does this one count? */
#define GC_ROWS_ALL(j, row) \
	GC_EACH(j) { const u32 gc_pass = GC_IS_LIVE(j); const u32 row = gc_row + j; (void) row; {
#define GC_END_ROWS_ALL			}}
/* Tests, and the code for rows that pass, in one stage. */
#define GC_FILTER_AGGREGATE(j)				GC_EACH(j) { bool gc_pass = GC_IS_LIVE(j);
#define GC_FILTER_AGGREGATE_KEPT(j, row)	if (!gc_pass) continue; const u32 row = gc_row + j; (void) row; {
#define GC_END_FILTER_AGGREGATE				}}

#endif							/* GC_VEC */

/*
 * GC_PART: sum over one vector of values of which GC_PART_ROWS add up within 32 bits; added to
 * its accumulator once per vector.  GC_COUNT: number of a thread's rows; a warp's rows may be more
 * than fit in 32 bits.  They are counted one by one, or all live rows together.
 */
#define GC_PART					i32
#define GC_COUNT				u32
#define GC_COUNT_ROW(n)			(n) += GC_OPAQUE(1)
#define GC_COUNT_LIVE(n)		(n) += __popc(gc_m)
#if GC_VEC > GC_PART_ROWS
#error "a vector has more rows than add up within 32 bits"
#endif

#define GC_ATOMIC_ADD32(p, v)	atomicAdd((u32 *) (p), (u32) (v))
#define GC_ATOMIC_ADD64(p, v)	atomicAdd((u64 *) (p), (u64) (v))
#define GC_ATOMIC_MAX32(p, v)	atomicMax((u32 *) (p), (u32) (v))
#define GC_ATOMIC_MAX64(p, v)	atomicMax((u64 *) (p), (u64) (v))
#define GC_ATOMIC_OR64(p, v)	atomicOr((u64 *) (p), (u64) (v))
#define GC_ATOMIC_ADDF64(p, v)	atomicAdd((double *) (p), (double) (v))
#define GC_ATOMIC_OR32(p, v)	atomicOr((u32 *) (p), (u32) (v))
#define GC_ATOMIC_CAS64(p, c, v)	atomicCAS((u64 *) (p), (u64) (c), (u64) (v))
#define GC_ATOMIC_EXCH64(p, v)	atomicExch((u64 *) (p), (u64) (v))
#define GC_FENCE()				__threadfence()
#define GC_FENCE_BLOCK()		__threadfence_block()
#define GC_LOAD_FRESH64(p)		(*(const volatile u64 *) (p))
#define GC_LOAD_FRESH32(p)		(*(const volatile u32 *) (p))

/* Integer <-> float bits, round to nearest even, and the like. */
#define GC_F64_BITS(x)			((i64) __double_as_longlong(x))
#define GC_BITS_F64(x)			__longlong_as_double(x)
#define GC_F32_BITS(x)			((i32) __float_as_int(x))
#define GC_BITS_F32(x)			__int_as_float(x)
#define GC_RINT(x)				rint(x)
#define GC_FLOOR(x)				floor(x)
#define GC_CEIL(x)				ceil(x)
#define GC_TRUNC(x)				trunc(x)
#define GC_SQRT(x)				__dsqrt_rn(x)
#define GC_ISINF(x)				isinf(x)
#define GC_ISNAN(x)				isnan(x)
#define GC_ISFINITE(x)			isfinite(x)

#else							/* device host */

#define GC_CUDA		0
#define GC_FN		static inline __attribute__((always_inline))
#define GC_FN_ONCE	static __attribute__((unused))
#define GC_THREAD	0
#define GC_NTHREADS	1
#define GC_BLOCK_ARRAY(type, name, n)	type name[n]
#define GC_CLZ64(x)	((u32) __builtin_clzll(x))
#define GC_VEC		1024
#define GC_WARP		1

#define GC_KERNEL(threads) \
	void gc_kernel(const GcArgs *gc_args, u32 block, u32 nblocks, void *gc_scratch)

#define gc_a		(*gc_args)
#define GC_PROLOGUE \
	const u32 thread = 0, nthreads = 1; \
	u64 *gc_shared = (u64 *) gc_scratch; \
	(void) gc_shared; (void) thread; (void) nthreads;

#define GC_BARRIER()	((void) 0)
#define GC_UNROLL
#define GC_NO_UNROLL

#define GC_VECTOR_ROWS(row, nrows) \
	const u32 gc_cnt = (row) + GC_VEC <= (nrows) ? GC_VEC : (nrows) - (row);
#define GC_VECTOR_LIVE(valid, row) \
	u8 gc_m[GC_VEC]; u16 gc_sel[GC_VEC]; u32 gc_n = 0; (void) gc_sel; (void) gc_n; \
	if (!gc_live_rows(gc_m, (const u8 *) (valid), (row), gc_cnt)) continue;
#define GC_MEMBER_LIVE(valid, source, row) \
	const u64 gc_valid = (valid) ? ((const u64 *) (valid))[source] : 0; \
	GC_VECTOR_LIVE(gc_valid, row)
#define GC_ARRAY(type, name)	type name[GC_VEC]
#define GC_EACH(j)				for (u32 j = 0; j < gc_cnt; j++)
#define GC_KEEP_IF(j, cond)		gc_m[j] &= (u8) ((cond) != 0)
#define GC_SETTLE				if (!(gc_n = gc_select(gc_sel, gc_m, gc_cnt))) continue;
#define GC_EACH_LIVE(j)			{ u32 gc_nlive = 0; for (u32 gc_v = 0; gc_v < gc_n; gc_v++) { \
									const u32 j = gc_sel[gc_v];
#define GC_EACH_CHEAP(j)		GC_EACH_LIVE(j)
#define GC_KEEP_LIVE_IF(j, cond)	gc_sel[gc_nlive] = j; gc_nlive += (cond) != 0
#define GC_END_LIVE				} if (!(gc_n = gc_nlive)) continue; }

#define GC_ROWS_SPARSE(j, row) \
	for (u32 gc_v = 0; gc_v < gc_n; gc_v++) { const u32 j = gc_sel[gc_v]; const u32 row = gc_row + j; \
		(void) row; {
#define GC_END_ROWS_SPARSE		}}
#define GC_ROWS_DENSE(j, row)	GC_ROWS_SPARSE(j, row)
#define GC_END_ROWS_DENSE		GC_END_ROWS_SPARSE
#define GC_ROWS_ALL(j, row)		GC_ROWS_SPARSE(j, row) const u32 gc_pass = 1;
#define GC_END_ROWS_ALL			GC_END_ROWS_SPARSE
#define GC_FILTER_AGGREGATE(j)				GC_EACH(j) { i32 gc_pass = 1;
#define GC_FILTER_AGGREGATE_KEPT(j, row)	GC_KEEP_IF(j, gc_pass); } GC_SETTLE GC_ROWS_DENSE(j, row)
#define GC_END_FILTER_AGGREGATE				GC_END_ROWS_DENSE
#define GC_PART					i64			/* vectors are long */
#define GC_COUNT				u64			/* and threads few */
#define GC_COUNT_ROW(n)			(n)++
#define GC_COUNT_LIVE(n)		(n) += gc_n

#define GC_ATOMIC_ADD32(p, v)	__atomic_fetch_add((u32 *) (p), (u32) (v), __ATOMIC_RELAXED)
#define GC_ATOMIC_ADD64(p, v)	__atomic_fetch_add((u64 *) (p), (u64) (v), __ATOMIC_RELAXED)
#define GC_ATOMIC_MAX32(p, v)	gc_atomic_max32((u32 *) (p), (u32) (v))
#define GC_ATOMIC_MAX64(p, v)	gc_atomic_max64((u64 *) (p), (u64) (v))
#define GC_ATOMIC_OR64(p, v)	__atomic_fetch_or((u64 *) (p), (u64) (v), __ATOMIC_RELAXED)
#define GC_ATOMIC_ADDF64(p, v)	gc_atomic_addf64((u64 *) (p), (v))
#define GC_ATOMIC_OR32(p, v)	__atomic_fetch_or((u32 *) (p), (u32) (v), __ATOMIC_RELAXED)
#define GC_ATOMIC_CAS64(p, c, v)	gc_atomic_cas64((u64 *) (p), (u64) (c), (u64) (v))
#define GC_ATOMIC_EXCH64(p, v)	__atomic_exchange_n((u64 *) (p), (u64) (v), __ATOMIC_ACQ_REL)
#define GC_FENCE()				__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define GC_FENCE_BLOCK()		((void) 0)
#define GC_LOAD_FRESH64(p)		__atomic_load_n((const u64 *) (p), __ATOMIC_ACQUIRE)
#define GC_LOAD_FRESH32(p)		__atomic_load_n((const u32 *) (p), __ATOMIC_RELAXED)

GC_FN i64
GC_F64_BITS(double x)
{
	i64			r;

	__builtin_memcpy(&r, &x, 8);
	return r;
}

GC_FN double
GC_BITS_F64(i64 x)
{
	double		r;

	__builtin_memcpy(&r, &x, 8);
	return r;
}

GC_FN i32
GC_F32_BITS(float x)
{
	i32			r;

	__builtin_memcpy(&r, &x, 4);
	return r;
}

GC_FN float
GC_BITS_F32(i32 x)
{
	float		r;

	__builtin_memcpy(&r, &x, 4);
	return r;
}

#define GC_RINT(x)				__builtin_rint(x)
#define GC_FLOOR(x)				__builtin_floor(x)
#define GC_CEIL(x)				__builtin_ceil(x)
#define GC_TRUNC(x)				__builtin_trunc(x)
#define GC_SQRT(x)				__builtin_sqrt(x)
#define GC_ISINF(x)				__builtin_isinf(x)
#define GC_ISNAN(x)				__builtin_isnan(x)
#define GC_ISFINITE(x)			__builtin_isfinite(x)

GC_FN u64
gc_atomic_cas64(u64 *p, u64 expected, u64 desired)
{
	__atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return expected;
}

GC_FN double
gc_atomic_addf64(u64 *p, double v)
{
	u64			old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(p, &old, (u64) GC_F64_BITS(GC_BITS_F64(old) + v), 1,
										__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return GC_BITS_F64(old);
}

GC_FN void
gc_atomic_max32(u32 *p, u32 v)
{
	u32			old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (old < v &&
		   !__atomic_compare_exchange_n(p, &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

GC_FN void
gc_atomic_max64(u64 *p, u64 v)
{
	u64			old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (old < v &&
		   !__atomic_compare_exchange_n(p, &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Each of eight bits as a byte, the lowest first. */
GC_FN u64
gc_bits_to_bytes(u8 bits)
{
	const u64	one_each = bits * 0x0101010101010101ull & 0x8040201008040201ull;

	return (one_each + 0x7f7f7f7f7f7f7f7full & 0x8080808080808080ull) >> 7;
}

/*
 * Rows of a vector that the request may see; false if none.  A vector begins at a byte of the bitmap,
 * and mostly all of its rows are seen.
 */
GC_FN int
gc_live_rows(u8 *m, const u8 *valid, u32 row, u32 cnt)
{
	u64			any = 0;
	u64			all = ~0ull;
	u32			j = 0;

	if (valid)
	{
		valid += row >> 3;
		for (; j + 64 <= cnt; j += 64)
		{
			u64			word;

			__builtin_memcpy(&word, valid + (j >> 3), 8);
			any |= word;
			all &= word;
		}
		for (; j < cnt; j++)
		{
			const u64	bit = valid[j >> 3] >> (j & 7) & 1;

			any |= bit;
			all &= -bit;
		}
	}
	if (!valid || all == ~0ull)
	{
		__builtin_memset(m, 1, cnt);
		return 1;
	}
	if (!any)
		return 0;
	for (j = 0; j + 8 <= cnt; j += 8)
	{
		const u64	bytes = gc_bits_to_bytes(valid[j >> 3]);

		__builtin_memcpy(m + j, &bytes, 8);
	}
	for (; j < cnt; j++)
		m[j] = valid[j >> 3] >> (j & 7) & 1;
	return 1;
}

GC_FN u32
gc_select(u16 *sel, const u8 *m, u32 cnt)
{
	u32			n = 0;

	for (u32 j = 0; j < cnt; j++)
	{
		sel[n] = j;
		n += m[j];
	}
	return n;
}

#endif							/* target */
