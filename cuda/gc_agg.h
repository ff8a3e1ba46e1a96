/*-------------------------------------------------------------------------
 *
 * gc_agg.h
 *	  Accumulators.
 *
 * A group's accumulators are consecutive u64 words, all zero at first.  Word 0 counts its rows
 * (or is 1 once it has any).  Then comes one word per accumulator, two for a 128-bit sum (low,
 * high).  Minimum and maximum keep the largest image under an order-preserving map (gc_value.h),
 * reversed for a minimum.  BIT_OR keeps the bits that any value has, BIT_AND those that any value
 * lacks, BIT_XOR those that an odd number of values have.  So zero means "nothing yet".  Addition
 * is exact in any order except for floats.  A precise sum of floats has two words: the sum, and the rounding errors of
 * its additions.
 *
 * _G updates memory that other blocks update too.  _L updates a block's own table.  On cuda that
 * is in shared memory, where other threads of the block update it; on host it is the calling
 * thread's.  Such a table has gc_cells cells: one for each group or, where it is small, several
 * copies of it side by side.  Behind them are GC_SPARE_CELLS that nothing reads; gc_stride cells
 * in all.  gc_cell is the one to update, gc_cell_words the words of a cell.
 *
 * On device cuda a cell's words are not side by side.  First comes word 0 of all cells, then word
 * 1; for words that are added up, first the low halves of all cells.  So 32 lanes that update 32
 * groups meet in shared memory's 32 banks at random.  With a cell's two words side by side they
 * would meet in eight.  A row that does not count updates a spare cell, since a branch around
 * each addition takes longer.
 *
 * The groups' domain may be too large for such a table, while rows mostly meet few groups.  Then
 * the block's table has cells for the groups that come first (gc_find_cell), with tags that name
 * each cell's group.  Other groups are updated in global memory.
 *
 *-------------------------------------------------------------------------
 */

#define GC_ADD_G(p, v)		((void) GC_ATOMIC_ADD64(p, v))
#define GC_MAX_G(p, v)		((void) GC_ATOMIC_MAX64(p, v))
#define GC_OR_G(p, v)		((void) GC_ATOMIC_OR64(p, v))
#define GC_XOR_G(p, v)		((void) GC_ATOMIC_XOR64(p, v))
#define GC_ADDF_G(p, v)		((void) GC_ATOMIC_ADDF64(p, v))

GC_FN void
GC_ADD128_G(u64 *p, i128 v)
{
	const u64	lo = (u64) v;
	const u64	old = GC_ATOMIC_ADD64(p, lo);

	/* Every carry out of the low word is seen by exactly one addition. */
	GC_ATOMIC_ADD64(p + 1, (u64) (v >> 64) + (old + lo < old));
}

/* A float as two doubles, which together have about twice the digits of one. */
typedef struct f64x2
{
	double		hi;
	double		lo;
} f64x2;

GC_FN f64x2
gc_f64x2(double x)
{
	f64x2		r;

	r.hi = x;
	r.lo = 0;
	return r;
}

/* The part of a + b that is lost, if that comes to sum. */
GC_FN double
gc_lost(double a, double b, double sum)
{
	const double c = sum - a;

	return (a - (sum - c)) + (b - c);
}

GC_FN f64x2
gc_f64x2_add(f64x2 a, f64x2 b)
{
	f64x2		r;

	r.hi = a.hi + b.hi;
	r.lo = a.lo + b.lo + gc_lost(a.hi, b.hi, r.hi);
	return r;
}

GC_FN f64x2
gc_f64x2_mul(double a, double b)
{
	f64x2		r;

	r.hi = a * b;
#if GC_CUDA
	r.lo = __fma_rn(a, b, -r.hi);
#else
	{
		/* halves of 26 bits multiply exactly */
		const double s = a * 134217729.0;
		const double t = b * 134217729.0;
		const double ah = s - (s - a);
		const double bh = t - (t - b);
		const double al = a - ah;
		const double bl = b - bh;

		r.lo = ((ah * bh - r.hi) + ah * bl + al * bh) + al * bl;
	}
#endif
	return r;
}

/* Every addition to hi sees its own rounding error. */
GC_FN void
gc_add_f64x2(u64 *hi, u64 *lo, f64x2 v)
{
	const double old = GC_ATOMIC_ADDF64(hi, v.hi);

	(void) GC_ATOMIC_ADDF64(lo, v.lo + gc_lost(old, v.hi, old + v.hi));
}

#define GC_ADDF64X2_G(p, v)	gc_add_f64x2((u64 *) (p), (u64 *) (p) + 1, v)

GC_FN f64x2
gc_f64x2_at(const u64 *hi, const u64 *lo)
{
	f64x2		r;

	r.hi = GC_BITS_F64((i64) *hi);
	r.lo = GC_BITS_F64((i64) *lo);
	return r;
}

#define GC_NO_CELL			0xffffffffu

/* Cells that a group may have: so many, beginning with the one that its number gives. */
#define GC_CELL_PROBES		4

#if GC_CUDA
#define GC_CLAIM_TAG(p, tag)	atomicCAS((u32 *) (p), 0u, (u32) (tag))
#else
#define GC_CLAIM_TAG(p, tag)	(*(p) ? *(p) : (*(p) = (tag), 0))
#endif

/*
 * The cell of group gno, or GC_NO_CELL: other groups have all that it may have.  cells: a power of
 * two.  tags: one for each cell, 0 or its group's number + 1.
 */
GC_FN u32
gc_find_cell(u32 *tags, u32 cells, u32 gno)
{
	u32			cell = (u32) ((u64) (gno * 0x9e3779b1u) * cells >> 32);

	GC_NO_UNROLL for (u32 i = 0; i < GC_CELL_PROBES; i++)
	{
		u32			tag = ((volatile u32 *) tags)[cell];

		if (tag == 0)
			tag = GC_CLAIM_TAG(tags + cell, gno + 1);
		if (tag == 0 || tag == gno + 1)
			return cell;
		cell = (cell + 1) & (cells - 1);
	}
	return GC_NO_CELL;
}

/* Tag of a cell whose key is being written. */
#define GC_CELL_BUSY		0xffffffffu

GC_FN u32
gc_first_key_cell(u64 h, u32 cells)
{
	return (u32) (h >> 20) & (cells - 1);
}

/* The cell of the hashed group with keys k, or GC_NO_CELL: it has none (yet).  keys: nkeys for each cell. */
GC_FN u32
gc_find_key_cell(const u32 *tags, const i64 *keys, u32 cells, const i64 *k, int nkeys, u64 h)
{
	u32			cell = gc_first_key_cell(h, cells);

	GC_NO_UNROLL for (u32 i = 0; i < GC_CELL_PROBES; i++)
	{
		const u32	tag = ((const volatile u32 *) tags)[cell];
		int			equal = tag != GC_CELL_BUSY;

		if (tag == 0)
			break;
		GC_UNROLL for (int c = 0; c < nkeys; c++)
			equal &= ((const volatile i64 *) keys)[cell * nkeys + c] == k[c];
		if (equal)
			return cell;
		cell = (cell + 1) & (cells - 1);
	}
	return GC_NO_CELL;
}

/*
 * Take a cell for that group, whose number is gno; GC_NO_CELL: others have all that it may have.  Two
 * threads may take one each: both are added to the group in the end.
 */
GC_FN u32
gc_claim_key_cell(u32 *tags, i64 *keys, u32 cells, const i64 *k, int nkeys, u64 h, u32 gno)
{
	u32			cell = gc_first_key_cell(h, cells);

	GC_NO_UNROLL for (u32 i = 0; i < GC_CELL_PROBES; i++)
	{
		if (((volatile u32 *) tags)[cell] == 0 && GC_CLAIM_TAG(tags + cell, GC_CELL_BUSY) == 0)
		{
			GC_UNROLL for (int c = 0; c < nkeys; c++)
				((volatile i64 *) keys)[cell * nkeys + c] = k[c];
			GC_FENCE_BLOCK();
			((volatile u32 *) tags)[cell] = gno + 1;
			return cell;
		}
		cell = (cell + 1) & (cells - 1);
	}
	return GC_NO_CELL;
}

#if GC_CUDA

/* Part of word w of this cell that has 32 bits, and the whole word. */
#define GC_HALF_L(w, part)	((u32 *) (gc_table + (u32) (w) * gc_stride) + (u32) (part) * gc_stride + gc_cell)
#define GC_WORD_L(w)		(gc_table + (u32) (w) * gc_stride + gc_cell)

/*
 * Shared memory adds 32 bits by itself, 64 bits only by compare-and-swap in a loop.  So the low
 * half is added first, then the high half with the carry, which is 0 for most small values.
 */
GC_FN void
gc_add_halves(u32 *low, u32 *high, u64 v)
{
	const u32	lo = (u32) v;
	const u32	old = atomicAdd(low, lo);
	const u32	hi = (u32) (v >> 32) + (old + lo < old);

	if (hi)
		atomicAdd(high, hi);
}

/* part: the lowest one of four, which are `stride` apart. */
GC_FN void
gc_add_quarters(u32 *part, u32 stride, i128 v)
{
	u64			carry = 0;

	GC_UNROLL for (int i = 0; i < 4; i++)
	{
		const u64	add = (u64) (u32) ((u128) v >> (32 * i)) + carry;
		const u32	old = (u32) add ? atomicAdd(part + i * stride, (u32) add) : 0;

		/* one carry at most: add is at most 2^32 */
		carry = (add >> 32) + ((u32) add && old + (u32) add < old);
	}
}

#define GC_ADD_L(w, v)		gc_add_halves(GC_HALF_L(w, 0), GC_HALF_L(w, 1), v)
/*
 * Counts a row, where each row comes once: a block has fewer than 2^32 of these
 * (sched/model/variant.c).
 */
#define GC_COUNT_L(w)		((void) atomicAdd(GC_HALF_L(w, 0), 1u))
#define GC_ADD128_L(w, v)	gc_add_quarters(GC_HALF_L(w, 0), gc_stride, v)
#define GC_MAX_L(w, v)		GC_MAX_G(GC_WORD_L(w), v)
#define GC_OR_L(w, v)		GC_OR_G(GC_WORD_L(w), v)
#define GC_ATOMIC_XOR64(p, v)	atomicXor((u64 *) (p), (u64) (v))
#define GC_XOR_L(w, v)		GC_XOR_G(GC_WORD_L(w), v)
#define GC_ADDF_L(w, v)		GC_ADDF_G(GC_WORD_L(w), v)
#define GC_ADDF64X2_L(w, v)	gc_add_f64x2(GC_WORD_L(w), GC_WORD_L((w) + 1), v)
/* Losing a race costs a second store of the same value. */
#define GC_NOTE_GROUP_L(w)		do { if (!*(const u32 *) GC_HALF_L(w, 0)) *GC_HALF_L(w, 0) = 1; } while (0)
#define GC_NOTE_GROUP(p)			do { if (!*(const u64 *) (p)) *(u64 *) (p) = 1; } while (0)

/* Totals of a cell: words that were added up, and other words. */
#define GC_SUM_L(w)			(*GC_HALF_L(w, 0) | (u64) *GC_HALF_L(w, 1) << 32)
#define GC_SUM128_L(w)		((i128) ((u128) (*GC_HALF_L(w, 2) | (u64) *GC_HALF_L(w, 3) << 32) << 64 | GC_SUM_L(w)))

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
GC_DEFINE_BLOCK_REDUCE(gc_block_or, u64, v | w)
GC_DEFINE_BLOCK_REDUCE(gc_block_xor, u64, v ^ w)
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

GC_FN_ONCE f64x2
gc_block_addf64x2(f64x2 v)
{
	__shared__ f64x2 part[32];

	GC_NO_UNROLL for (int o = 16; o; o >>= 1)
	{
		f64x2		w;

		w.hi = __shfl_down_sync(0xffffffffu, v.hi, o);
		w.lo = __shfl_down_sync(0xffffffffu, v.lo, o);
		v = gc_f64x2_add(v, w);
	}
	__syncthreads();
	if ((threadIdx.x & 31) == 0)
		part[threadIdx.x >> 5] = v;
	__syncthreads();
	if (threadIdx.x == 0)
	{
		GC_NO_UNROLL for (u32 i = 1; i < (blockDim.x + 31) / 32; i++)
			v = gc_f64x2_add(v, part[i]);
	}
	return v;
}

#else

#define GC_WORD_L(w)		(gc_table + (u64) gc_cell * gc_cell_words + (w))
#define GC_ADD_L(w, v)		((void) (*GC_WORD_L(w) += (u64) (v)))
#define GC_COUNT_L(w)		GC_ADD_L(w, 1)
#define GC_MAX_L(w, v)		((void) (*GC_WORD_L(w) = GC_MAX(*GC_WORD_L(w), (u64) (v))))
#define GC_OR_L(w, v)		((void) (*GC_WORD_L(w) |= (u64) (v)))
#define GC_ATOMIC_XOR64(p, v)	__atomic_fetch_xor((u64 *) (p), (u64) (v), __ATOMIC_RELAXED)
#define GC_XOR_L(w, v)		((void) (*GC_WORD_L(w) ^= (u64) (v)))
#define GC_ADDF_L(w, v)		((void) (*GC_WORD_L(w) = (u64) GC_F64_BITS(GC_BITS_F64((i64) *GC_WORD_L(w)) + (v))))
#define GC_ADDF64X2_L(w, v)	gc_add_words_f64x2(GC_WORD_L(w), v)
#define GC_NOTE_GROUP_L(w)		((void) (*GC_WORD_L(w) = 1))
#define GC_SUM_L(w)			(*GC_WORD_L(w))
#define GC_SUM128_L(w)		((i128) ((u128) GC_WORD_L(w)[1] << 64 | *GC_WORD_L(w)))

GC_FN void
gc_add_words(u64 *p, i128 v)
{
	const u64	old = *p;

	*p = old + (u64) v;
	p[1] += (u64) (v >> 64) + (*p < old);
}
#define GC_ADD128_L(w, v)	gc_add_words(GC_WORD_L(w), v)

GC_FN void
gc_add_words_f64x2(u64 *p, f64x2 v)
{
	const f64x2 sum = gc_f64x2_add(gc_f64x2_at(p, p + 1), v);

	p[0] = (u64) GC_F64_BITS(sum.hi);
	p[1] = (u64) GC_F64_BITS(sum.lo);
}

#define GC_NOTE_GROUP(p)			__atomic_store_n((u64 *) (p), 1, __ATOMIC_RELAXED)

#define gc_block_add(v)		(v)
#define gc_block_max(v)		(v)
#define gc_block_or(v)		(v)
#define gc_block_xor(v)		(v)
#define gc_block_addf(v)	(v)
#define gc_block_add128(v)	(v)
#define gc_block_addf64x2(v)	(v)

#endif
