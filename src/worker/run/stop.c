/*-------------------------------------------------------------------------
 *
 * stop.c
 *	  Kernels that are told to end early (cuda/gc_stop.h).
 *
 * How long a kernel takes is decided by the data: a row may match a million others.  So a session that has left would
 * hold the device, and so would a worker that is to exit.  Each request slot has two words which kernels read: for
 * its run, and for the launch of a shared scan that begins with it.  A word is the ticket of the run or launch that
 * was stopped last, and never cleared, as no later one has that ticket.
 *
 * Tables that a stopped run was filling are worth nothing.  So a run is not stopped while another one, for which a
 * session waits, uses a build or lookup table that is being filled.  Later runs do not find these.
 *
 * Kernels of a device with a memory of its own read that, as one that reads the host's would be slowed down.  The words
 * are written there by copies on a stream of their own, which run beside kernels.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "utils/memutils.h"

#include "../memory/state.h"
#include "stop.h"

static u32 *words;				/* as last written */
static GcAddr kernels_words;	/* the words that kernels read; 0: nothing can be stopped */
static GcStream *stream;		/* to write them; NULL: kernels read `words` */
static u32	last_ticket;

Size
gc_stop_bytes(void)
{
	return TYPEALIGN(GC_POOL_ALIGN, (2 * gc_request_slots() + 1) * sizeof(u32));
}

void
gc_stop_init(GcAddr room)
{
	const Size	bytes = gc_stop_bytes();

	words = MemoryContextAllocZero(TopMemoryContext, bytes);
	kernels_words = (GcAddr) words;
	if (gc_worker.dev->info.host_memory)
		return;
	kernels_words = room;
	stream = gc_worker.ops->stream_get(gc_worker.dev, NULL);
	if (stream == NULL || gc_worker.ops->fill(stream, kernels_words, 0, bytes, NULL) != GC_OK ||
		gc_worker.ops->drain(gc_worker.dev, NULL) != GC_OK)
		kernels_words = 0;
}

u32
gc_stop_ticket(void)
{
	if (++last_ticket == 0)
		++last_ticket;
	return last_ticket;
}

/* The scan's kernel is to read this word, and to end when it has the ticket. */
static void
describe(int word, u32 ticket, GcScan *scan)
{
	scan->stop = kernels_words ? kernels_words + word * sizeof(u32) : 0;
	scan->ticket = ticket;
}

void
gc_stop_with_run(const GcRun *run, GcScan *scan)
{
	describe(2 * run->slot, run->schedule.ticket, scan);
}

void
gc_stop_with_all(const GcRun *first, GcMainLaunch *launch, GcScan *scan)
{
	launch->stop_slot = first->slot;
	launch->ticket = gc_stop_ticket();
	describe(2 * first->slot + 1, launch->ticket, scan);
}

void
gc_stop_with_worker(GcScan *scan)
{
	describe(2 * gc_request_slots(), 1, scan);
}

/* Where it fails, kernels run to their end. */
static void
write_word(int word, u32 ticket)
{
	__atomic_store_n(&words[word], ticket, __ATOMIC_RELAXED);
	if (stream && kernels_words)
		(void) gc_worker.ops->copy_in(stream, kernels_words + word * sizeof(u32), &words[word], sizeof(u32), NULL);
}

/* Is this table of the run, or of a text program's results, still being filled?  A part of a build may come again. */
static bool
filling_build(const GcRun *run, const GcBuildTable *t)
{
	return t && !t->checked && (run->scan.passes || gc_build_pending(t));
}

/* Is a kernel still to fill some of the table? */
static bool
filling_lookup(const GcDeviceLookup *l)
{
	return l && gc_device_lookup_pending(l);
}

/* Does a run that is wanted use what this one may be filling? */
static bool
needed(const GcRun *run, List *runs)
{
	ListCell   *lc;

	foreach(lc, runs)
	{
		const GcRun *other = lfirst(lc);

		if (other == run || other->leader || !gc_run_wanted(other))
			continue;
		for (int b = 0; b < run->p->nbuilds; b++)
		{
			for (int o = 0; o < other->p->nbuilds && filling_build(run, run->memory.builds[b]); o++)
			{
				if (other->memory.builds[o] == run->memory.builds[b])
					return true;
			}
		}
		for (int l = 0; l < run->p->nluts; l++)
		{
			for (int o = 0; o < other->p->nluts && filling_lookup(run->memory.lookups[l]); o++)
			{
				if (other->memory.lookups[o] == run->memory.lookups[l])
					return true;
			}
		}
	}
	return false;
}

/* Are all runs of this launch stopped?  Each is in the list until it is over. */
static bool
all_stopped(const GcMainLaunch *launch, List *runs)
{
	ListCell   *lc;

	foreach(lc, runs)
	{
		const GcRun *run = lfirst(lc);

		if (run->schedule.launch == launch && !run->schedule.stopped)
			return false;
	}
	return true;
}

/*
 * Nobody waits for the run: tables that it fills are spoilt, and its kernels end.  A shared launch ends with its last
 * request.
 */
static void
stop(GcRun *run, List *runs)
{
	for (int b = 0; b < run->p->nbuilds; b++)
	{
		if (filling_build(run, run->memory.builds[b]))
			run->memory.builds[b]->bad = true;
	}
	for (int l = 0; l < run->p->nluts; l++)
	{
		if (filling_lookup(run->memory.lookups[l]))
			gc_device_lookup_spoil(run->memory.lookups[l]);
	}
	run->schedule.stopped = true;
	write_word(2 * run->slot, run->schedule.ticket);
	if (run->schedule.launch && run->schedule.launch->ticket && all_stopped(run->schedule.launch, runs))
		write_word(2 * run->schedule.launch->stop_slot + 1, run->schedule.launch->ticket);
}

void
gc_stop_abandoned(List *runs)
{
	ListCell   *lc;

	foreach(lc, runs)
	{
		GcRun	   *run = lfirst(lc);

		if (!run->schedule.stopped && run->memory.stream && !gc_run_wanted(run) && !needed(run, runs))
			stop(run, runs);
	}
}

void
gc_stop_all(List *runs)
{
	ListCell   *lc;

	if (words == NULL)
		return;
	foreach(lc, runs)
		stop(lfirst(lc), runs);
	write_word(2 * gc_request_slots(), 1);
}
