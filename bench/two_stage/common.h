/*-------------------------------------------------------------------------
 *
 * common.h
 *	  What the programs that measure the models of src/sched on a device share.
 *
 * One process, one thread, one device; state is global, since these are programs and
 * not a library.  Whatever fails ends the program with a message.  A watchdog ends it
 * also when a kernel never does: see bench_open().  Options and reports: options.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BENCH_COMMON_H
#define GC_BENCH_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device/device.h"
#include "sched/model/occupancy.h"
#include "sched/policy/sched.h"

#include "options.h"

#define BENCH_STREAMS	32		/* hardware queues that device cuda asks for; one joins */
#define BENCH_LAUNCHES	256		/* of one measurement */
#define MEGABYTE		((u64) 1 << 20)

typedef struct BenchKernel
{
	char		name[32];
	GcKernel   *kernel;
	GcKernelInfo info;
	int			vec;			/* rows of a thread at a time */
} BenchKernel;

/* One launch of a measurement. */
typedef struct BenchLaunch
{
	const BenchKernel *kernel;
	const GcArgs *args;
	GcLaunch	grid;
	int			batch;			/* ascending from 0; a batch starts when the last ended */
} BenchLaunch;

typedef struct BenchColumn
{
	int			width;			/* bytes of a code */
	u64			mod;			/* codes are 0 .. mod - 1, at random */
	u32			bases;			/* chunks' frames of reference are 0 .. bases - 1, in turns; 0: all 0 */
} BenchColumn;

typedef struct BenchTable
{
	u64			rows;
	GcScan		scan;
	int			ncolumns;
	u64			columns[32];	/* GcCol[] of each */
	int			width[32];
} BenchTable;

extern const GcDeviceOps *bench_ops;
extern GcDevice *bench_dev;
extern GcProfile bench_profile;
extern GcCalibration bench_calibration;

/*
 * Read the options (argv is left with what is not one of them; returns how many), open
 * the device, begin the report.  defaults: what options not given are.  More than
 * limit_s seconds after this the process is ended, whatever it does, with status 3.
 */
extern int	bench_open(int argc, char **argv, const BenchOptions *defaults, int limit_s);
extern void bench_close(void);

/*-------------------------------------------------------------------------
 * Device
 *-------------------------------------------------------------------------
 */

/* Memory of the pool, which is never given back. */
extern GcAddr bench_memory(u64 bytes);
extern u64	bench_memory_left(void);
extern void bench_copy_in(GcAddr to, const void *from, size_t bytes);
extern void bench_copy_out(void *to, GcAddr from, size_t bytes);
extern void bench_fill_bytes(GcAddr to, int byte, size_t bytes);
extern void bench_drain(void);

/*
 * Compile and load.  body: everything behind the device library; vec: GC_CUDA_VEC.
 * Malloc'd bodies stay the caller's.
 */
extern BenchKernel bench_kernel(const char *name, int vec, const char *member_no);

/* A kernel that is to have room for so many blocks on a multiprocessor (gc_target.h); 0: as the compiler likes. */
extern BenchKernel bench_kernel_for(const char *name, int vec, int least_blocks, const char *member_no);

/* Whole text, as the code generator writes it; false (with a note): it does not compile. */
extern bool bench_try_text(const char *name, const char *text, BenchKernel *out);

/* Threads that a block of it may have. */
extern int	bench_max_threads(const BenchKernel *k);

/* Random values below mod, of `width` bytes; mod 0: bytes of which few bits are set. */
extern void bench_fill_random(GcAddr to, u64 values, int width, u64 mod, u32 seed);
extern BenchTable bench_table(u64 rows, int ncolumns, const BenchColumn *columns, u32 seed);

/*-------------------------------------------------------------------------
 * Measuring
 *-------------------------------------------------------------------------
 */

typedef enum BenchOrder
{
	BENCH_ONE_STREAM,			/* one after another */
	BENCH_STREAMS_EACH,			/* a stream for each, batch after batch */
	BENCH_STREAMS_IN_TURN		/* batch after batch, and within one they start in this order, as one
								 * who launches them starts them */
} BenchOrder;

/*
 * Microseconds from the first start to the last end, by the device's clock.  All is queued
 * behind a gate, a kernel that takes as long as queueing does.  So the time is the device's own
 * and not that of the calls.
 */
extern double bench_us(const BenchLaunch *launches, int n, BenchOrder order);

/* Run it once behind a gate of so long (0: none), and wait until all of it is done. */
extern void bench_run(const BenchLaunch *launches, int n, BenchOrder order, double gate_us);

/* Median of `runs` (at most 64) of these, after one that does not count. */
extern double bench_median_us(const BenchLaunch *launches, int n, BenchOrder order, int runs);

/* Memory that gc_decide() works in. */
extern GcDecideWork *bench_decide_work(void);

/* Queue one launch and nothing else, on stream s (0 to BENCH_STREAMS - 1). */
extern void bench_queue(int s, const BenchKernel *k, GcLaunch grid, const GcArgs *args);

/* The launch that gc_sched_full makes of so many blocks per multiprocessor. */
extern GcLaunch bench_full(int threads, int per_sm, u32 shared_bytes, u64 tiles);

/* A decision's start as a launch with so much dynamic shared memory. */
extern GcLaunch bench_shape(const GcStart *start, u32 shared_bytes);

extern double bench_median(double *values, int n);	/* sorts them */
extern double bench_quantile(double *values, int n, double part);	/* of sorted ones */

extern u32	bench_random(u32 below);
extern void bench_seed(u64 seed);

#endif							/* GC_BENCH_COMMON_H */
