/*-------------------------------------------------------------------------
 *
 * link.c
 *	  How fast data is copied to the device.
 *
 * The fastest of a few copies counts: others may use the link or the host's memory at the same time.  The
 * source is the arena's first window, which later copies want page-locked, too.
 *
 * The worker's main thread, before the first request.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "link.h"

#include "../../columns/store/arena.h"
#include "device_memory.h"
#include "state.h"

/* One copy, at most; a window of the arena. */
#define LINK_PIECE		((Size) 64 << 20)

/* A device that is only pretended copies with the CPU: it is given less. */
#define LINK_PIECE_CPU	((Size) 1 << 20)

#define LINK_COPIES		10

/* No further copy once they have taken this long. */
#define LINK_US			15000

/* Milliseconds that one copy takes on the device; 0: it failed. */
static double
time_copy(GcStream *stream, GcAddr to, Size size)
{
	GcEvent    *from = gc_worker.ops->event_timed(stream, NULL);
	GcEvent    *done = NULL;
	double		ms = 0;

	if (from && gc_copy_in_uncounted(stream, to, gc_arena_base(), size, NULL) == GC_OK)
		done = gc_worker.ops->event_timed(stream, NULL);
	if (done && gc_worker.ops->event_wait(done, NULL) == GC_OK)
		ms = gc_worker.ops->event_ms(from, done);
	if (from)
		gc_worker.ops->event_put(gc_worker.dev, from);
	if (done)
		gc_worker.ops->event_put(gc_worker.dev, done);
	return ms;
}

double
gc_link_measure(void)
{
	const Size	most = gc_worker.dev->info.own_processors ? LINK_PIECE : LINK_PIECE_CPU;
	const Size	size = Min(Min(most, gc_arena_size()), gc_pool_size(gc_worker.pool) / 2);
	instr_time	began;
	GcStream   *stream;
	GcAddr		to;
	double		best = 0;

	if (gc_worker.dev->info.host_memory || (to = gc_device_alloc(size)) == 0)
		return 0;
	stream = gc_worker.ops->stream_get(gc_worker.dev, NULL);
	if (stream)
	{
		/* The first copy page-locks, and does not count. */
		(void) time_copy(stream, to, size);
		INSTR_TIME_SET_CURRENT(began);
		for (int i = 0; i < LINK_COPIES && gc_us_since(began) < LINK_US; i++)
		{
			const double ms = time_copy(stream, to, size);

			if (ms > 0)
				best = Max(best, size * 1000.0 / ms);
		}
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		gc_worker.ops->stream_put(gc_worker.dev, stream);
	}
	gc_device_free(to);
	return best;
}
