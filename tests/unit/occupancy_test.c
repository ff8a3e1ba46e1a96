/*-------------------------------------------------------------------------
 *
 * occupancy_test.c
 *	  The occupancy model against NVIDIA's calculator and the cases of Li, Yu, Kumar, Tu 2014.
 *
 * Built without cuda_occupancy.h, the comparison with the calculator is skipped.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <limits.h>

#ifdef GC_HAVE_CUDA_OCCUPANCY_H
#include <cuda_occupancy.h>
#endif

#include "../../src/sched/model/occupancy.h"

/* Devices by architecture: what the driver would tell of them. */
static const struct
{
	int			arch;
	int			warps;
	int			blocks;
	int			shared_per_sm;
	int			shared_per_block;
	int			reserved;
}			devices[] = {
	{30, 64, 16, 49152, 49152, 0},
	{35, 64, 16, 49152, 49152, 0},
	{52, 64, 32, 98304, 49152, 0},
	{61, 64, 32, 98304, 49152, 0},
	{70, 64, 32, 98304, 98304, 0},
	{75, 32, 16, 65536, 65536, 0},
	{80, 64, 32, 167936, 166912, 1024},
	{86, 48, 16, 102400, 101376, 1024},
	{89, 48, 24, 102400, 101376, 1024},
	{90, 64, 32, 233472, 232448, 1024},
	{100, 64, 32, 233472, 232448, 1024},
};

#define NDEVICES ((int) (sizeof(devices) / sizeof(devices[0])))

static GcProfile
device_profile(int i)
{
	GcProfile	p = {.sms = 10,.max_warps = devices[i].warps,.max_blocks = devices[i].blocks,
		.registers = 65536,.shared_per_sm = devices[i].shared_per_sm,
		.shared_per_block = devices[i].shared_per_block,
	.shared_reserved = devices[i].reserved};

	gc_profile_granules(&p, devices[i].arch);
	return p;
}

/*
 * Blocks of one kernel are resident as long as gc_blocks_need() of them stays within
 * gc_sm_limits().
 */
static bool
needs_agree(const GcProfile *p, int registers, int threads, int shared)
{
	int			n = gc_occupancy(p, registers, threads, shared);
	int			limit[GC_NEEDS];
	int			need[GC_NEEDS];

	gc_sm_limits(p, limit);
	if (n == 0)
		return !gc_blocks_need(p, registers, threads, shared, 1, need) ||
			!gc_needs_fit(need, limit);
	return gc_blocks_need(p, registers, threads, shared, n, need) &&
		gc_needs_fit(need, limit) &&
		gc_blocks_need(p, registers, threads, shared, n + 1, need) &&
		!gc_needs_fit(need, limit);
}

#ifdef GC_HAVE_CUDA_OCCUPANCY_H
static int
cuda_occupancy(int device, int registers, int threads, int shared)
{
	cudaOccDeviceProp prop = {0};
	cudaOccFuncAttributes func = {0};
	cudaOccDeviceState state = {0};
	cudaOccResult result;
	int			arch = devices[device].arch;

	prop.computeMajor = arch / 10;
	prop.computeMinor = arch % 10;
	prop.maxThreadsPerBlock = 1024;
	prop.maxThreadsPerMultiprocessor = devices[device].warps * 32;
	prop.regsPerBlock = 65536;
	prop.regsPerMultiprocessor = 65536;
	prop.warpSize = 32;
	prop.sharedMemPerBlock = 49152;
	prop.sharedMemPerMultiprocessor = devices[device].shared_per_sm;
	prop.numSms = 10;
	prop.sharedMemPerBlockOptin = devices[device].shared_per_block;
	prop.reservedSharedMemPerBlock = devices[device].reserved;
	func.maxThreadsPerBlock = 1024;
	func.numRegs = registers;
	func.partitionedGCConfig = PARTITIONED_GC_OFF;
	func.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
	func.maxDynamicSharedSizeBytes = devices[device].shared_per_block;
	func.numBlockBarriers = 1;
	state.cacheConfig = CACHE_PREFER_NONE;
	state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
	if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &prop, &func, &state, threads,
												shared) != CUDA_OCC_SUCCESS)
		return -1;
	return result.activeBlocksPerMultiprocessor;
}
#else
static int
cuda_occupancy(int device, int registers, int threads, int shared)
{
	(void) device, (void) registers, (void) threads, (void) shared;
	return -1;
}
#endif

static long compared;
static long differing;
static long disagreeing;

static void
compare(int device, const GcProfile *p, int registers, int threads, int shared)
{
	int			ours = gc_occupancy(p, registers, threads, shared);
	int			theirs = cuda_occupancy(device, registers, threads, shared);

	/* Their calculator knows of 255 registers only, sm_30 has 63. */
	if (registers > p->max_registers)
		theirs = 0;
	if (ours != theirs && differing++ < 5)
		tap_note("sm_%d, %d registers, %d threads, %d bytes: %d, theirs %d",
				 devices[device].arch, registers, threads, shared, ours, theirs);
	compared++;
	if (!needs_agree(p, registers, threads, shared))
		disagreeing++;
}

static void
sweep(int device)
{
	GcProfile	p = device_profile(device);
	static const int shared[] = {0, 1, 128, 700, 1500, 3072, 5000, 7168, 12288, 16384,
	24576, 31000, 33000, 49151, 49152, 49153, 65536, 80000, 98304, 101376, 115200, 166912, 232448};

	compared = differing = disagreeing = 0;
	for (int registers = 1; registers <= 255; registers++)
	{
		for (int warps = 1; warps <= 32; warps++)
		{
			for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
			{
				if (shared[i] <= p.shared_per_block)
					compare(device, &p, registers, warps * 32, shared[i]);
			}
		}
	}
	/* Blocks that are no whole number of warps. */
	for (int registers = 1; registers <= 255; registers += 3)
	{
		for (int threads = 1; threads <= 1024; threads++)
			compare(device, &p, registers, threads, 0);
	}
	/* Every size of shared memory, and a little more than there is. */
	for (int bytes = 0; bytes <= p.shared_per_block + 300; bytes += 37)
	{
		compare(device, &p, 32, 32, bytes);
		compare(device, &p, 40, 96, bytes);
		compare(device, &p, 32, 256, bytes);
		compare(device, &p, 64, 1000, bytes);
	}
	for (int bytes = p.shared_per_block - 600; bytes <= p.shared_per_block + 300; bytes++)
		compare(device, &p, 32, 128, bytes);
	compare(device, &p, 32, 1025, 0);
	compare(device, &p, 0, 64, 0);
	ok(disagreeing == 0, "sm_%d: needs and occupancy agree in %ld cases",
	   devices[device].arch, compared);
	if (cuda_occupancy(device, 32, 32, 0) < 0)
		tap_skip("sm_%d: no calculator to compare with", devices[device].arch);
	else
		ok(differing == 0, "sm_%d: NVIDIA's calculator agrees in %ld cases",
		   devices[device].arch, compared);
}

/* Li, Yu, Kumar, Tu 2014, tables I and III: kernels A to F on a GTX 680. */
static const struct
{
	int			registers;
	int			threads;
	int			shared;
	double		occupancy;		/* as the table has it, in percent */
}			kernels[] = {
	{11, 1024, 0, 100}, {33, 1024, 0, 50}, {11, 256, 0, 100}, {44, 256, 0, 63},
	{11, 256, 24576, 100}, {44, 256, 24576, 63},
};

/* Do so many blocks of kernels i and j fit together? */
static bool
together(const GcProfile *p, int i, int ni, int j, int nj)
{
	int			free[GC_NEEDS];
	int			a[GC_NEEDS];
	int			b[GC_NEEDS];

	gc_sm_limits(p, free);
	if (!gc_blocks_need(p, kernels[i].registers, kernels[i].threads, kernels[i].shared, ni, a) ||
		!gc_blocks_need(p, kernels[j].registers, kernels[j].threads, kernels[j].shared, nj, b))
		return false;
	for (int k = 0; k < GC_NEEDS; k++)
		free[k] -= a[k];
	return gc_needs_fit(b, free);
}

enum
{
	A, B, C, D, E, F
};

static void
test_paper(void)
{
	const GcProfile *p = gc_profile_known("GTX 680");
	int			need[GC_NEEDS];

	is(gc_warp_registers(p, 11), 16 * 32, "11 registers count as 16");
	is(gc_warp_registers(p, 33), 40 * 32, "33 registers count as 40");
	is(gc_warp_registers(p, 44), 48 * 32, "44 registers count as 48");
	for (int i = 0; i < 4; i++)
	{
		double		got = 100.0 * gc_occupancy(p, kernels[i].registers, kernels[i].threads, kernels[i].shared) *
			kernels[i].threads / (p->warp_size * p->max_warps);

		ok(got > kernels[i].occupancy - 1 && got < kernels[i].occupancy + 1,
		   "kernel %c: %.1f %% of the threads, the paper has %.0f %%", 'A' + i, got,
		   kernels[i].occupancy);
	}
	/* The table leaves the shared memory of E and F out of their occupancy. */
	is(gc_occupancy(p, kernels[E].registers, 256, 24576), 2, "shared memory allows two blocks of E");
	is(gc_occupancy(p, kernels[A].registers, 1024, 0), 2, "two blocks of A");
	is(gc_occupancy(p, kernels[B].registers, 1024, 0), 1, "one block of B");

	gc_blocks_need(p, kernels[A].registers, 1024, 0, 1, need);
	is(need[GC_NEED_REGISTERS], 16384, "A takes 16384 registers");
	is(need[GC_NEED_WARPS], 32, "A takes 32 warps");
	gc_blocks_need(p, kernels[B].registers, 1024, 0, 1, need);
	is(need[GC_NEED_REGISTERS], 40960, "B takes 40960 registers");
	gc_blocks_need(p, kernels[D].registers, 256, 0, 5, need);
	is(need[GC_NEED_REGISTERS], 61440, "five blocks of D take 61440 registers");
	is(need[GC_NEED_WARPS], 40, "five blocks of D take 40 warps");

	ok(together(p, A, 1, B, 1), "a block of A and one of B fit together");
	ok(!together(p, A, 2, B, 1), "warps keep a second block of A out");
	ok(!together(p, A, 1, B, 2), "there is no room for a second block of B");
	ok(together(p, C, 1, D, 5), "a block of C and five of D fit together");
	ok(!together(p, C, 2, D, 5), "registers keep a second block of C out");
	ok(!together(p, C, 1, D, 6), "registers keep a sixth block of D out");
	ok(together(p, E, 1, F, 1), "a block of E and one of F fit together");
	ok(!together(p, E, 2, F, 1), "shared memory keeps a second block of E out");
	ok(!together(p, E, 1, F, 2), "shared memory keeps a second block of F out");
}

static void
test_bad(void)
{
	GcProfile	none = {0};
	GcProfile	odd = *gc_profile_known("H200");
	int			need[GC_NEEDS];
	int			limit[GC_NEEDS];
	const GcProfile *h = gc_profile_known("H200");

	is(gc_occupancy(&none, 32, 32, 0), 0, "a device without anything holds nothing");
	ok(!gc_blocks_need(&none, 32, 32, 0, 1, need) && need[GC_NEED_WARPS] == INT_MAX, "and needs do not fit");
	gc_sm_limits(&none, limit);
	ok(limit[GC_NEED_WARPS] == 0 && limit[GC_NEED_SHARED] == 0, "it has nothing to give");

	odd.register_unit = odd.shared_unit = odd.shared_reserved = INT_MAX;
	is(gc_occupancy(&odd, 32, 32, 0), 0, "granules larger than the device hold nothing");
	odd = *h;
	odd.registers = odd.max_registers = odd.shared_per_sm = odd.shared_per_block = INT_MAX;
	ok(gc_occupancy(&odd, INT_MAX, 1024, INT_MAX) >= 0, "a giant device");

	is(gc_occupancy(h, -1, 32, 0), 0, "negative registers");
	is(gc_occupancy(h, 32, 0, 0), 0, "no threads");
	is(gc_occupancy(h, 32, -32, 0), 0, "negative threads");
	is(gc_occupancy(h, 32, INT_MAX, 0), 0, "too many threads");
	is(gc_occupancy(h, 32, 32, -1), 0, "negative shared memory");
	is(gc_occupancy(h, 32, 32, INT64_MAX), 0, "too much shared memory");
	ok(!gc_blocks_need(h, 32, 32, 0, 0, need), "no blocks");
	ok(gc_blocks_need(h, 32, 1024, 9999, INT_MAX, need) && need[GC_NEED_REGISTERS] == INT_MAX &&
	   need[GC_NEED_BLOCKS] == INT_MAX, "needs beyond counting");
}

int
main(void)
{
	tap_start();
	for (int i = 0; i < NDEVICES; i++)
		sweep(i);
	test_paper();
	test_bad();
	return tap_done();
}
