/*-------------------------------------------------------------------------
 *
 * link_costs.c
 *	  The cost of kernels' reads of the host's memory, measured once.
 *
 * A kernel reads the arena's first window, which is page-locked: once one word of each eighth sector, and once all
 * words.  link_reads.c decides by that time, divided by that of a copy of the sectors (gc_link_measure).  It is
 * measured when the worker has nothing to do, after the kernel was compiled.  Until then, and where it fails,
 * link_reads.c has an estimate.  A device that is only pretended, or that reads host memory as its own, is not
 * measured.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "kernels.h"

#include "../../columns/store/arena.h"
#include "../memory/device_memory.h"
#include "../memory/link_reads.h"
#include "../memory/state.h"

#define SECTOR			32
#define SPARSE			(8 * SECTOR)	/* bytes from one sector that is read to the next */
#define THREADS			256
#define BLOCKS_PER_SM	8

/* The window is read piece by piece, so that no cache has it.  The fastest counts. */
#define WINDOW			((Size) 64 << 20)
#define PIECES			4

static bool done = false;

void
gc_link_costs_init(void)
{
	done = gc_worker.dev->info.host_memory || !gc_worker.dev->info.own_processors || gc_worker.link <= 0;
}

/* Milliseconds for n words, each `stride` bytes behind the one before; 0: it failed, and *err says why. */
static double
time_reads(GcStream *stream, const GcPipelineKernel *k, GcAddr from, u64 n, u64 stride, GcAddr out, GcError *err)
{
	GcLaunch	launch = {.blocks = gc_worker.dev->info.sms * BLOCKS_PER_SM,
	.threads = Min(THREADS, k->info.max_threads)};
	GcEvent    *began = gc_worker.ops->event_timed(stream, err);
	GcEvent    *ended = NULL;
	GcArgs		args = {.w = {from, n, stride, out}};
	double		ms = 0;

	if (began && gc_worker.ops->launch(stream, k->kernel, &launch, &args, GC_LINK_WORDS, err) == GC_OK)
		ended = gc_worker.ops->event_timed(stream, err);
	if (ended && gc_worker.ops->event_wait(ended, err) == GC_OK && (ms = gc_worker.ops->event_ms(began, ended)) <= 0)
		gc_fail(err, GC_DEVICE_FAILED, "The device has no time of it.");
	if (began)
		gc_worker.ops->event_put(gc_worker.dev, began);
	if (ended)
		gc_worker.ops->event_put(gc_worker.dev, ended);
	return ms;
}

/* Bytes per second at which sectors are read, one of each `stride` bytes; 0: it failed, and is not tried further. */
static double
read_speed(GcStream *stream, const GcPipelineKernel *k, u64 stride, GcAddr out, GcError *err)
{
	const Size	piece = Min(WINDOW, gc_arena_size()) / PIECES;
	const u64	words = piece / stride;
	const double bytes = (double) words * Min(stride, SECTOR);
	double		best = 0;

	for (int i = 0; i < PIECES; i++)
	{
		const double ms = time_reads(stream, k, (GcAddr) (uintptr_t) gc_arena_base() + i * piece, words, stride, out,
									 err);

		if (ms <= 0)
			return 0;
		best = Max(best, bytes * 1000 / ms);
	}
	return best;
}

/* Take the costs over, unless they are beyond belief, and log them. */
static void
report(double sectors, double whole)
{
	/* Not as an argument of the message, which may not be wanted. */
	const bool	believed = gc_link_set_costs(gc_worker.link / sectors, gc_worker.link / whole);

	ereport(LOG,
			(errmsg("gpuconc: over the link, copies move %.1f GB/s, kernels that read all sectors %.1f, single sectors %.1f%s",
					gc_worker.link / 1e9, whole / 1e9, sectors / 1e9,
					believed ? "" : ", which is not believed")));
}

/* False: a kernel has failed. */
static bool
measure(const GcPipelineKernel *k, GcError *err)
{
	GcStream   *stream = gc_worker.ops->stream_get(gc_worker.dev, err);
	const GcAddr out = gc_device_alloc_free(sizeof(u32));
	double		sectors = 0;
	double		whole = 0;
	bool		ok = true;

	if (stream && out && gc_kernels_reach(gc_arena_base(), Min(WINDOW, gc_arena_size())))
	{
		sectors = read_speed(stream, k, SPARSE, out, err);
		whole = sectors > 0 ? read_speed(stream, k, sizeof(u32), out, err) : 0;
		ok = whole > 0;
	}
	if (stream)
		gc_worker.ops->stream_put(gc_worker.dev, stream);
	gc_device_free(out);
	if (whole > 0)
		report(sectors, whole);
	return ok;
}

bool
gc_link_costs_poll(GcError *err)
{
	pg_atomic_uint32 *failed_before = &gc_device_status()->link_costs_failed;
	const GcPipelineKernel *k;
	GcError		first = {GC_OK, ""};
	bool		failed = false;

	if (done)
		return true;
	k = gc_fixed_kernel(GC_FIXED_LINK, &first, &failed);
	if (k == NULL && !failed)
		return true;
	done = true;
	if (k == NULL)
		return true;
	if (pg_atomic_read_u32(failed_before))
	{
		ereport(LOG,
				(errmsg("gpuconc: kernels' reads over the link are not measured, as that has failed before")));
		return true;
	}
	/* Already now: should this worker end in the midst of it, another must not try. */
	pg_atomic_write_u32(failed_before, true);
	if (measure(k, &first))
	{
		pg_atomic_write_u32(failed_before, false);
		return true;
	}
	ereport(LOG,
			(errmsg("gpuconc: kernels' reads over the link could not be measured"),
			 errdetail("%s", first.detail)));
	/* Is the device lost, too? */
	return gc_worker.ops->drain(gc_worker.dev, err) == GC_OK;
}
