/*-------------------------------------------------------------------------
 *
 * gc_tile.h
 *	  Reading columns: a vector at a time, or one row.
 *
 * For every code width W (1, 2, 4, 8 bytes; 0: known only at run time) and
 * register type R (i32, i64, i128, float, double), and 16 bytes to i128:
 *
 *	  gc_load_W_R(v, p, base)		all rows of the vector at p
 *	  gc_late_W_R(v, p, base, ..)	live rows (through GC_LATE)
 *	  gc_at_W_R(p, row, base)		one row
 *
 * where p is the address of the column's data, base its frame of reference.
 * Loads run past the last row of a chunk up to GC_PAD_ROWS, never further.
 * Cost on device cuda: loads of 16 bytes (8 for 8 codes of 1 byte), GC_VEC * W bytes
 * per thread in all.
 *
 *-------------------------------------------------------------------------
 */

#if GC_CUDA

#if GC_VEC == 1

#define GC_DEFINE_RAW(W, T, RAW) \
GC_FN void gc_raw_##W(RAW *v, const u8 *p) \
{ \
	v[0] = *(const T *) p; \
}
GC_DEFINE_RAW(1, u8, u32)
GC_DEFINE_RAW(2, u16, u32)
GC_DEFINE_RAW(4, u32, u32)
GC_DEFINE_RAW(8, u64, u64)
GC_DEFINE_RAW(16, i128, i128)

#else

/*
 * The codes of one thread's rows, as they are; loaded 16 bytes at a time where there are as many.
 */
GC_FN void
gc_words_1(u32 *x, const u8 *p)
{
#if GC_VEC == 16
	const uint4 y = __ldg((const uint4 *) p);

	x[2] = y.z, x[3] = y.w;
#else
	const uint2 y = __ldg((const uint2 *) p);
#endif
	x[0] = y.x, x[1] = y.y;
}

GC_FN void
gc_words_2(u32 *x, const u8 *p)
{
	GC_UNROLL for (int i = 0; i < GC_VEC / 8; i++)
	{
		const uint4 y = __ldg((const uint4 *) p + i);

		x[4 * i] = y.x, x[4 * i + 1] = y.y, x[4 * i + 2] = y.z, x[4 * i + 3] = y.w;
	}
}

/* The codes, widened. */
GC_FN void
gc_raw_1(u32 *v, const u8 *p)
{
	u32			x[GC_VEC / 4];

	gc_words_1(x, p);
	GC_UNROLL for (int j = 0; j < GC_VEC; j++)
		v[j] = x[j / 4] >> (8 * (j % 4)) & 0xff;
}

GC_FN void
gc_raw_2(u32 *v, const u8 *p)
{
	u32			x[GC_VEC / 2];

	gc_words_2(x, p);
	GC_UNROLL for (int j = 0; j < GC_VEC; j++)
		v[j] = x[j / 2] >> (16 * (j % 2)) & 0xffff;
}

GC_FN void
gc_raw_4(u32 *v, const u8 *p)
{
	GC_UNROLL for (int i = 0; i < GC_VEC / 4; i++)
	{
		const uint4 x = __ldg((const uint4 *) p + i);

		v[4 * i] = x.x, v[4 * i + 1] = x.y, v[4 * i + 2] = x.z, v[4 * i + 3] = x.w;
	}
}

GC_FN void
gc_raw_8(u64 *v, const u8 *p)
{
	GC_UNROLL for (int j = 0; j < GC_VEC / 2; j++)
	{
		const ulonglong2 x = __ldg((const ulonglong2 *) p + j);

		v[2 * j] = x.x;
		v[2 * j + 1] = x.y;
	}
}

GC_FN void
gc_raw_16(i128 *v, const u8 *p)
{
	GC_UNROLL for (int j = 0; j < GC_VEC; j++)
	{
		const ulonglong2 x = __ldg((const ulonglong2 *) p + j);

		v[j] = (i128) ((u128) x.y << 64 | x.x);
	}
}

#endif							/* GC_VEC */

#define GC_DEFINE_WIDENED(HOW, W, RAW, R, SUFFIX) \
GC_FN void gc_##HOW##_##W##_##SUFFIX(R *v, const u8 *p, i64 base) \
{ \
	RAW r[GC_VEC]; \
	gc_raw_##W(r, p); \
	GC_UNROLL for (int j = 0; j < GC_VEC; j++) v[j] = (R) base + (R) r[j]; \
}

#define GC_DEFINE_LOAD(W, RAW, R, SUFFIX) \
GC_DEFINE_WIDENED(load, W, RAW, R, SUFFIX) \
GC_DEFINE_WIDENED(late, W, RAW, R, SUFFIX)

/*
 * Narrow codes to 32 bits.  One instruction, a product of bytes, picks a code out of its word and
 * adds the base.  Otherwise a shift, a mask and an addition do.  Where few rows may need their
 * values, it is not used: other rows then skip the work.  Also, products need registers for
 * operands, which kernels with groups in shared memory lack.
 */
#if GC_VEC == 1
#define GC_DEFINE_NARROW(W, PRODUCT)	GC_DEFINE_LOAD(W, u32, i32, i32)
#else
#define GC_DEFINE_NARROW(W, PRODUCT) \
GC_DEFINE_WIDENED(late, W, u32, i32, i32) \
GC_FN void gc_load_##W##_i32(i32 *v, const u8 *p, i64 base) \
{ \
	u32 x[GC_VEC * W / 4]; \
	gc_words_##W(x, p); \
	GC_UNROLL for (int j = 0; j < GC_VEC; j++) \
		v[j] = (i32) PRODUCT(x[j * W / 4], 1u << (8 * (j % (4 / W))), (u32) base); \
}
#endif

GC_FN void
gc_load_4_f32(float *v, const u8 *p, i64 base)
{
	u32			r[GC_VEC];

	gc_raw_4(r, p);
	GC_UNROLL for (int j = 0; j < GC_VEC; j++)
		v[j] = GC_BITS_F32((i32) r[j]);
}

GC_FN void
gc_load_8_f64(double *v, const u8 *p, i64 base)
{
	u64			r[GC_VEC];

	gc_raw_8(r, p);
	GC_UNROLL for (int j = 0; j < GC_VEC; j++)
		v[j] = GC_BITS_F64((i64) r[j]);
}

#define GC_LOAD(W, SUFFIX, v, d)	gc_load_##W##_##SUFFIX(v, (const u8 *) d.data + (u64) gc_row * W, d.base)
#define GC_LOAD_ANY(SUFFIX, v, d)	gc_load_0_##SUFFIX(v, (const u8 *) d.data + (u64) gc_row * d.width, d.base, d.width)
#define gc_late_4_f32				gc_load_4_f32
#define gc_late_8_f64				gc_load_8_f64
#define GC_LATE(W, SUFFIX, v, d)	gc_late_##W##_##SUFFIX(v, (const u8 *) d.data + (u64) gc_row * W, d.base)
#define GC_LATE_ANY(SUFFIX, v, d)	GC_LOAD_ANY(SUFFIX, v, d)

/* NULL bits of the vector. */
#define GC_NULLS(n, d)			const u32 n = d.nulls ? GC_VECTOR_BITS(d.nulls, gc_row) : 0
#define GC_IS_NULL(n, j)		((n) >> (j) & 1)

#else							/* device host */

#define GC_DEFINE_LOAD(W, RAW, R, SUFFIX) \
GC_FN void gc_load_##W##_##SUFFIX(R *v, const void *p, i64 base, u32 n) \
{ \
	const RAW *r = (const RAW *) p; \
	for (u32 j = 0; j < n; j++) v[j] = (R) base + (R) r[j]; \
}

GC_FN void
gc_load_4_f32(float *v, const void *p, i64 base, u32 n)
{
	__builtin_memcpy(v, p, (u64) n * 4);
}

GC_FN void
gc_load_8_f64(double *v, const void *p, i64 base, u32 n)
{
	__builtin_memcpy(v, p, (u64) n * 8);
}

#define GC_LOAD(W, SUFFIX, v, d)	gc_load_##W##_##SUFFIX(v, (const u8 *) d.data + (u64) gc_row * W, d.base, gc_cnt)
#define GC_LOAD_ANY(SUFFIX, v, d)	gc_load_0_##SUFFIX(v, (const u8 *) d.data + (u64) gc_row * d.width, d.base, d.width, gc_cnt)
#define GC_LATE(W, SUFFIX, v, d) \
	for (u32 gc_v = 0; gc_v < gc_n; gc_v++) \
		v[gc_sel[gc_v]] = gc_at_##W##_##SUFFIX(d.data, gc_row + gc_sel[gc_v], d.base, d.width)
#define GC_LATE_ANY(SUFFIX, v, d)	GC_LATE(0, SUFFIX, v, d)

#define GC_NULLS(n, d)			const u8 *n = d.nulls ? (const u8 *) d.nulls + (gc_row >> 3) : (const u8 *) 0
#define GC_IS_NULL(n, j)		((n) ? (n)[(j) >> 3] >> ((j) & 7) & 1 : 0)

#endif

/*
 * The id of row gc_r, of the private chunk or another one of the input.  It is the number of the
 * chunk, 0 for the private one, above `bits` bits of the row's number in it.
 */
#define GC_ROW_ID(type, bits) \
	((type) ((u64) (gc_src.chunk & GC_PRIVATE_CHUNK ? 0 : gc_src.chunk + 1) << (bits) | gc_r))

/*
 * A column whose values have several scales: its values become tagged where those of its chunk are not, as all of them
 * have one scale.
 */
#define GC_WITH_SCALE(value, d)	((d).scale == GC_SCALE_TAGGED ? (value) : GC_TAGGED(value, (d).scale))
#define GC_TAG_VECTOR(v, d)		GC_EACH(gc_t) v[gc_t] = GC_WITH_SCALE(v[gc_t], d);
#if GC_CUDA
#define GC_TAG_LATE(v, d)		GC_TAG_VECTOR(v, d)
#else
#define GC_TAG_LATE(v, d)		for (u32 gc_v = 0; gc_v < gc_n; gc_v++) v[gc_sel[gc_v]] = GC_WITH_SCALE(v[gc_sel[gc_v]], d);
#endif

/* NULL bit of one row. */
#define GC_NULL_AT(d, row)		((d).nulls ? ((const u8 *) (d).nulls)[(row) >> 3] >> ((row) & 7) & 1 : 0)

#if GC_CUDA
GC_DEFINE_NARROW(1, __dp4a)
GC_DEFINE_NARROW(2, __dp2a_lo)
GC_DEFINE_LOAD(4, u32, i32, i32)
GC_DEFINE_LOAD(8, u64, i32, i32)
GC_DEFINE_LOAD(1, u32, i64, i64)
GC_DEFINE_LOAD(2, u32, i64, i64)
GC_DEFINE_LOAD(4, u32, i64, i64)
GC_DEFINE_LOAD(8, u64, i64, i64)
GC_DEFINE_LOAD(1, u32, i128, i128)
GC_DEFINE_LOAD(2, u32, i128, i128)
GC_DEFINE_LOAD(4, u32, i128, i128)
GC_DEFINE_LOAD(8, u64, i128, i128)
GC_DEFINE_LOAD(16, i128, i128, i128)
#define GC_ANY_ARGS		v, p, base
#define GC_ANY_PARAMS	const u8 *p, i64 base, u32 width
#define GC_ANY_ROWS		GC_VEC
#else
GC_DEFINE_LOAD(1, u8, i32, i32)
GC_DEFINE_LOAD(2, u16, i32, i32)
GC_DEFINE_LOAD(4, u32, i32, i32)
GC_DEFINE_LOAD(8, u64, i32, i32)
GC_DEFINE_LOAD(1, u8, i64, i64)
GC_DEFINE_LOAD(2, u16, i64, i64)
GC_DEFINE_LOAD(4, u32, i64, i64)
GC_DEFINE_LOAD(8, u64, i64, i64)
GC_DEFINE_LOAD(1, u8, i128, i128)
GC_DEFINE_LOAD(2, u16, i128, i128)
GC_DEFINE_LOAD(4, u32, i128, i128)
GC_DEFINE_LOAD(8, u64, i128, i128)
GC_DEFINE_LOAD(16, i128, i128, i128)
#define GC_ANY_ARGS		v, p, base, n
#define GC_ANY_PARAMS	const void *p, i64 base, u32 width, u32 n
#define GC_ANY_ROWS		n
#endif

/* For columns whose chunks differ in width: one test per vector, uniform in a block. */
#define GC_DEFINE_LOAD_ANY(R, SUFFIX, WIDEST) \
GC_FN void gc_load_0_##SUFFIX(R *v, GC_ANY_PARAMS) \
{ \
	switch (width) \
	{ \
		case 1: gc_load_1_##SUFFIX(GC_ANY_ARGS); break; \
		case 2: gc_load_2_##SUFFIX(GC_ANY_ARGS); break; \
		case 4: gc_load_4_##SUFFIX(GC_ANY_ARGS); break; \
		case 8: gc_load_8_##SUFFIX(GC_ANY_ARGS); break; \
		default: gc_load_##WIDEST##_##SUFFIX(GC_ANY_ARGS); break; \
	} \
}
GC_DEFINE_LOAD_ANY(i32, i32, 8)
GC_DEFINE_LOAD_ANY(i64, i64, 8)
GC_DEFINE_LOAD_ANY(i128, i128, 16)

#define GC_DEFINE_AT(W, RAW, R, SUFFIX) \
GC_FN R gc_at_##W##_##SUFFIX(u64 data, u32 row, i64 base, u32 width) \
{ \
	return (R) base + (R) ((const RAW *) data)[row]; \
}
GC_DEFINE_AT(1, u8, i32, i32)
GC_DEFINE_AT(2, u16, i32, i32)
GC_DEFINE_AT(4, u32, i32, i32)
GC_DEFINE_AT(8, u64, i32, i32)
GC_DEFINE_AT(1, u8, i64, i64)
GC_DEFINE_AT(2, u16, i64, i64)
GC_DEFINE_AT(4, u32, i64, i64)
GC_DEFINE_AT(8, u64, i64, i64)
GC_DEFINE_AT(1, u8, i128, i128)
GC_DEFINE_AT(2, u16, i128, i128)
GC_DEFINE_AT(4, u32, i128, i128)
GC_DEFINE_AT(8, u64, i128, i128)
GC_DEFINE_AT(16, i128, i128, i128)

#define GC_DEFINE_AT_ANY(R, SUFFIX, WIDEST) \
GC_FN R gc_at_0_##SUFFIX(u64 data, u32 row, i64 base, u32 width) \
{ \
	switch (width) \
	{ \
		case 1: return gc_at_1_##SUFFIX(data, row, base, width); \
		case 2: return gc_at_2_##SUFFIX(data, row, base, width); \
		case 4: return gc_at_4_##SUFFIX(data, row, base, width); \
		case 8: return gc_at_8_##SUFFIX(data, row, base, width); \
		default: return gc_at_##WIDEST##_##SUFFIX(data, row, base, width); \
	} \
}
GC_DEFINE_AT_ANY(i32, i32, 8)
GC_DEFINE_AT_ANY(i64, i64, 8)
GC_DEFINE_AT_ANY(i128, i128, 16)

GC_FN float
gc_at_4_f32(u64 data, u32 row, i64 base, u32 width)
{
	return ((const float *) data)[row];
}

GC_FN double
gc_at_8_f64(u64 data, u32 row, i64 base, u32 width)
{
	return ((const double *) data)[row];
}

/*
 * Floats of an append input have one width, except in chunks of a table that has no such column.  There zeros of one
 * byte stand for it (columns/serve/combined.c).
 */
#define GC_DEFINE_FLOAT_ANY(W, R, SUFFIX) \
GC_FN void gc_load_0_##SUFFIX(R *v, GC_ANY_PARAMS) \
{ \
	if (width == W) \
		gc_load_##W##_##SUFFIX(GC_ANY_ARGS); \
	else \
		for (u32 j = 0; j < GC_ANY_ROWS; j++) v[j] = 0; \
} \
GC_FN R gc_at_0_##SUFFIX(u64 data, u32 row, i64 base, u32 width) \
{ \
	return width == W ? gc_at_##W##_##SUFFIX(data, row, base, width) : 0; \
}
GC_DEFINE_FLOAT_ANY(4, float, f32)
GC_DEFINE_FLOAT_ANY(8, double, f64)

#define GC_AT(W, SUFFIX, d, row)	gc_at_##W##_##SUFFIX((d).data, row, (d).base, (d).width)

/*
 * Description of column `cached`/`private` (arrays of GcCol) in chunk `chunk`.  One address is chosen, not one
 * description of two, which takes less to compile.
 */
GC_FN GcCol
gc_column(u64 cached, u64 private_, u32 chunk)
{
	const u64	descriptions = chunk & GC_PRIVATE_CHUNK ? private_ : cached;

	return *(const GcCol *) (descriptions + (chunk & ~GC_PRIVATE_CHUNK) * sizeof(GcCol));
}

/*
 * Description of a column in a scan that several requests share.  0 for `wanted`: no request that reads the
 * column reads this chunk, whose codes may then be missing.
 */
GC_FN GcCol
gc_shared_column(u64 cached, u32 chunk, u32 wanted)
{
	const GcCol none = {0};

	return wanted ? ((const GcCol *) cached)[chunk] : none;
}

/*
 * The scan skeleton: every tile of this block, in circular order from first_tile, and in it every
 * vector of this thread.  Between GC_TILES and GC_VECTORS the code generator fetches the chunk's
 * column descriptions.  GC_VECTORS is for a kernel that serves one request.
 *
 * Some columns may be read a vector ahead.  The first reads stand between
 * GC_READ_FROM(GC_FIRST_VECTOR) and GC_END_READ, before GC_SHARED_VECTORS.  The others stand
 * behind it, between GC_READ_FROM(GC_VECTOR_AHEAD) and GC_END_READ, where the codes read before
 * have been taken.  Behind the last vector, some other vector is read again.
 *
 * In a kernel that serves several requests, GC_SHARED_VECTORS is the loop over vectors.  Within it
 * each request's stages stand between GC_MEMBER and GC_END_MEMBER, a loop that runs once.  valid
 * is the address of that request's u64 per source, or 0: all rows are visible.
 */
#define GC_TILES \
	for (u32 gc_t = block; gc_t < gc_a.scan.ntiles && !GC_SCAN_STOPPED; gc_t += nblocks) { \
		u32 gc_tile = gc_t + gc_a.scan.first_tile; \
		if (gc_tile >= gc_a.scan.ntiles) gc_tile -= gc_a.scan.ntiles; \
		const u32 gc_s = gc_tile / gc_a.scan.tiles_per_source; \
		const u32 gc_tile_rows = GC_ROWS_OF_TILE(gc_a.scan); \
		const u32 gc_first = (gc_tile - gc_s * gc_a.scan.tiles_per_source) * gc_tile_rows; \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_s]; \
		if (gc_first >= gc_src.nrows) continue; \
		const u32 gc_end = gc_src.nrows - gc_first < gc_tile_rows ? gc_src.nrows : gc_first + gc_tile_rows;
#define GC_SHARED_VECTORS \
		for (u32 gc_row = gc_first + thread * GC_VEC; gc_row < gc_end; gc_row += nthreads * GC_VEC) { \
			GC_VECTOR_ROWS(gc_row, gc_end)
#define GC_VECTORS \
		GC_SHARED_VECTORS \
			GC_VECTOR_LIVE(gc_src.valid, gc_row)
#define GC_READ_FROM(row)		{ const u32 gc_at = (row) < gc_end ? (row) : gc_first;
#define GC_END_READ				}
#define GC_VECTOR_AHEAD			(gc_row + nthreads * GC_VEC)
#define GC_FIRST_VECTOR			(gc_first + thread * GC_VEC)
#define GC_MEMBER(valid) \
			do { \
				GC_MEMBER_LIVE(valid, gc_s, gc_row)
#define GC_END_MEMBER	} while (0);
#define GC_END_VECTORS	}
#define GC_END_TILES	}
