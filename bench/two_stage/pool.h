/*-------------------------------------------------------------------------
 *
 * pool.h
 *	  Kernels to schedule: thirteen with the character of the engine's own, and the
 *	  five synthetic ones of Li, Tu, Zeng (conference), table I.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BENCH_POOL_H
#define GC_BENCH_POOL_H

#include "common.h"

#define POOL_KERNELS	13
#define POOL_SYNTHETIC	5

typedef struct PoolKernel
{
	BenchKernel k;
	GcArgs		args;
	u32			shared_bytes;	/* per block, dynamic */
	u64			tiles;			/* 0: its threads are counted, not its blocks */
	u64			bytes;			/* that it reads of the table */
	const char *columns;		/* which: a digit each */
	u64			lookup_bytes;	/* of what it looks up in device memory at random */
	int			max_threads;

	/* By pool_measure(): its best size alone. */
	GcLaunch	best;
	int			best_per_sm;
	double		alone_us;

	/* By pool_measure_issue(): of that, what it would take if memory took no time. */
	double		issue_part;
} PoolKernel;

/*
 * Make table and kernels.  rows: of the table; 0: 48 million, or 2 million on a host.
 * Less where the device has no room.
 */
extern void pool_make(PoolKernel pool[POOL_KERNELS], u64 rows);

/*
 * scale: of shared memory, percent of the table's bytes.  Every thread of one of these
 * has the same work, and pool_set_total() says how many threads there are.
 */
extern void pool_make_synthetic(PoolKernel pool[POOL_SYNTHETIC], int scale);
extern void pool_set_total(PoolKernel *k, u64 threads);

/* Bytes of shared memory of a block, static ones included. */
extern u32	pool_shared(const PoolKernel *k);

/* The launch of so many blocks of so many warps on every multiprocessor. */
extern GcLaunch pool_shape(const PoolKernel *k, int blocks_per_sm, int warps);

/* The launch of `threads` threads (more for a whole last block) in blocks of so many warps. */
extern GcLaunch pool_spread(const PoolKernel *k, u64 threads, int warps);

/* Try sizes, set best and alone_us; prints a table. */
extern void pool_measure(PoolKernel *pool, int n, int runs);

/* Measure each beside itself; set issue_part; prints a table.  After pool_measure(). */
extern void pool_measure_issue(PoolKernel *pool, int n, int runs);

/* Description of a kernel for the scheduler, as of one that waits; type: its number, not 0. */
extern void pool_item(const PoolKernel *k, uint32_t type, GcCandidate *candidate);

extern BenchLaunch pool_launch(const PoolKernel *k, GcLaunch grid, int batch);

#endif							/* GC_BENCH_POOL_H */
