/*-------------------------------------------------------------------------
 *
 * log.c
 *	  When waves copied and computed, for the timeline (queue/wavelog.h).
 *
 * Events tell times from one to another only.  So a table's stream has an event of which the server's time
 * is known: it is recorded while the stream is idle.  Differences are of type float.  Where they get large,
 * an event of a wave takes its place.
 *
 * Events with times cost the thread several times as much as others.  Where waves are many, most of them are not logged;
 * each record says how many before it were left out.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "waves_internal.h"

#include "utils/timestamp.h"

#include "../../queue/wavelog.h"
#include "../memory/state.h"

/* Milliseconds after which the clock's event is replaced. */
#define CLOCK_MS	1000

/* Waves that may be logged one after the other, and microseconds after which one more may be. */
#define MOST_AT_ONCE	256
#define APART_US		5000

static double may_log = MOST_AT_ONCE;
static TimestampTz looked_at = 0;
static u32	unlogged = 0;		/* waves since the one that was logged last */

void
gc_wave_clock_start(WaveTable *t)
{
	t->clock = gc_worker.ops->event_timed(t->copies, NULL);
	t->clock_at = GetCurrentTimestamp();
}

void
gc_wave_clock_stop(WaveTable *t)
{
	if (t->clock)
		gc_worker.ops->event_put(gc_worker.dev, t->clock);
	t->clock = NULL;
}

static void
put_forward(WaveTable *t, Wave *w, TimestampTz at)
{
	gc_wave_clock_stop(t);
	t->clock = w->began;
	t->clock_at = at;
	w->began = NULL;
}

/* A wave is about to be made: is it to be logged? */
void
gc_wave_log_begin(WaveTable *t, Wave *w)
{
	const TimestampTz now = GetCurrentTimestamp();

	may_log = Min(may_log + (double) Max(now - looked_at, 0) / APART_US, MOST_AT_ONCE);
	looked_at = now;
	if (t->clock && may_log >= 1)
		w->began = gc_worker.ops->event_timed(w->stream, NULL);
	w->logged = w->began != NULL;
	if (!w->logged)
	{
		unlogged++;
		return;
	}
	may_log -= 1;
	w->unlogged = unlogged;
	unlogged = 0;
}

/* The events of the wave are done. */
void
gc_wave_log(WaveTable *t, Wave *w)
{
	float		since;
	GcWaveRecord r = {.chunks = w->nchunks,.requests = list_length(w->served),.bytes = w->bytes,.shared = w->shared,
	.unlogged = w->unlogged};

	if (t->clock == NULL || w->began == NULL || w->copied == NULL)
		return;
	since = gc_worker.ops->event_ms(t->clock, w->began);
	r.began = t->clock_at + (TimestampTz) (since * 1000.0);
	r.copies_us = gc_worker.ops->event_ms(w->began, w->copied) * 1000;
	if (w->over)
		r.kernels_us = Max(gc_worker.ops->event_ms(w->copied, w->over) * 1000, 0);
	gc_wavelog_add(&r);
	if (since > CLOCK_MS)
		put_forward(t, w, r.began);
}
