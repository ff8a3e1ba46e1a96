/*-------------------------------------------------------------------------
 *
 * scans.h
 *	  Scans of one table that differ in constants alone, as kernels of their own and as
 *	  bodies of one kernel.
 *
 * Four columns, filter on three, sum of products.  Words: w0 the results, 8 bytes a
 * body, to which its sum and its number of rows are added; w1 to w4 the columns'
 * descriptions; from SCAN_LIMIT_WORD(k, c) on: the least value of column c that body k wants,
 * and the least that it does not want again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BENCH_SCANS_H
#define GC_BENCH_SCANS_H

#include "common.h"

#define SCAN_COLUMNS	4

typedef struct ScanKind
{
	const char *name;			/* of the kernels, before the number of their bodies */
	BenchColumn columns[SCAN_COLUMNS];
	int			from[SCAN_COLUMNS - 1]; /* what is wanted of each column but the last: these and
								 * above (INT_MIN: all); the first one's are of each body */
	int			end[SCAN_COLUMNS - 1];	/* and these no more (INT_MAX: all) */
	const char *value;			/* what is summed of row j of the columns a to d: GC_PART_ROWS
								 * of it fit in 32 bits */
	const char *rare;			/* that sum of row `row`, read anew; NULL: most vectors have rows
								 * that pass, and all is one stage */
	int			vec;			/* with one body: GC_CUDA_VEC */
	int			threads;		/* and the most threads of a block */
	int			fused_vec;		/* with several: GC_CUDA_VEC */
} ScanKind;

extern const ScanKind scan_narrow;	/* 8 bytes a row */
extern const ScanKind scan_wide;	/* 16 bytes a row */

extern BenchKernel scan_kernel(const ScanKind *kind, int member_mask);

#define SCAN_LIMIT_WORD(k, c)	(8 + (k) * 2 * (SCAN_COLUMNS - 1) + 2 * (c))

/* Body k wants what is in [from, end) of the first column. */
extern void scan_limits(const ScanKind *kind, GcArgs *args, int k, u64 from, u64 end);

#endif							/* GC_BENCH_SCANS_H */
