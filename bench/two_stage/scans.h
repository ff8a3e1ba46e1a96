/*-------------------------------------------------------------------------
 *
 * scans.h
 *	  Scans of one table that differ in constants alone, as kernels of their own and as
 *	  bodies of one kernel.
 *
 * Four columns, filter on three, sum of products.  Words: w0 the results, 8 bytes a
 * body, to which its sum and its number of rows are added; w1 to w4 the columns'
 * descriptions; w8 + 2k and w9 + 2k the range of the first column that body k wants.
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
	const char *keep;			/* statements: tests of row j of the columns a to d, besides the
								 * range of a */
	const char *value;			/* what is summed: GC_PART_ROWS of it fit in 32 bits */
	const char *rare;			/* the same of row `row`, read anew; NULL: most vectors have rows
								 * that pass, and all is one stage */
	int			vec;			/* with one body: GC_CUDA_VEC */
	int			threads;		/* and the most threads of a block */
} ScanKind;

extern const ScanKind scan_narrow;	/* 8 bytes a row */
extern const ScanKind scan_wide;	/* 16 bytes a row */

extern BenchKernel scan_kernel(const ScanKind *kind, int bodies);

#endif							/* GC_BENCH_SCANS_H */
