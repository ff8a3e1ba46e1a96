/*-------------------------------------------------------------------------
 *
 * gc_pair.h
 *	  The scan of a kernel that tries pairs: rows of its table with rows of a build without keys.
 *
 * Work is handed out in units, each of them GC_PAIR_ROWS rows of a chunk with one slice of the rows of
 * each such build.  A unit is one warp's.  So few rows already occupy the device.  A launch can take
 * any part of the units, which is how a long scan is launched in pieces.
 *
 * Unit u is combination u % slices of slices, with part u / slices; in the combinations, the last build's
 * slice changes first.  Part p is part p % parts of source p / parts.  A launch takes `count` units from
 * `from` on.  Once the groups have no room, the request is made again, and no further unit is taken.
 *
 *-------------------------------------------------------------------------
 */
#if GC_CUDA
#define GC_PAIR_WORKERS		((u64) nblocks * (nthreads / GC_WARP))
#define GC_PAIR_WORKER		((u64) block * (nthreads / GC_WARP) + thread / GC_WARP)
#define GC_PAIR_LANE		(thread % GC_WARP)
#else
#define GC_PAIR_WORKERS		nblocks
#define GC_PAIR_WORKER		block
#define GC_PAIR_LANE		0
#endif

#define GC_PAIR_UNITS(from, count, slices, parts) \
	GC_NO_UNROLL for (u64 gc_t = GC_PAIR_WORKER; gc_t < (count); gc_t += GC_PAIR_WORKERS) { \
		if (GC_LOAD_FRESH32(&gc_flags[GC_FLAG_GROUPS_FULL]) || GC_STOPPED) break; \
		const u64 gc_slice = ((from) + gc_t) % (slices); (void) gc_slice; \
		const u64 gc_part = ((from) + gc_t) / (slices); \
		const u32 gc_s = (u32) (gc_part / (parts)); \
		const u32 gc_first = (u32) (gc_part - gc_s * (parts)) * GC_PAIR_ROWS; \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_s]; \
		if (gc_first >= gc_src.nrows) continue; \
		const u32 gc_end = gc_src.nrows - gc_first < GC_PAIR_ROWS ? gc_src.nrows : gc_first + GC_PAIR_ROWS;
#define GC_PAIR_VECTORS \
		for (u32 gc_row = gc_first + GC_PAIR_LANE * GC_VEC; gc_row < gc_end; gc_row += GC_WARP * GC_VEC) { \
			GC_VECTOR_ROWS(gc_row, gc_end) \
			GC_VECTOR_LIVE(gc_src.valid, gc_row)
