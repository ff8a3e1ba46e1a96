/*-------------------------------------------------------------------------
 *
 * main_launch.c
 *	  A launch of a main kernel: one request's, or a shared scan's; and kernels that are told to end early
 *	  (cuda/gc_stop.h).
 *
 * Its requests hold it, and so does its starter while it starts the launch.  The last holder
 * frees it.
 *
 * How long a kernel takes is decided by the data: a row may match a million others.  So a session that has left would
 * hold the device, and so would a worker that is to exit.  Each request slot has two words which kernels read: for
 * its run, and for the launch of a shared scan that begins with it.  A word is the ticket of what was stopped
 * last, and never cleared, as no later run has that ticket.
 *
 * Tables that a stopped run was filling are worth nothing.  So a run is not stopped while another one, for which a session
 * waits, uses a build or lookup table that is being filled; and later runs do not find these.
 *
 * Kernels of a device with a memory of its own read that, as one that reads the host's would be slowed down.  The words are
 * written there by copies on a stream of their own, which run beside kernels.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "utils/memutils.h"

#include "../memory/state.h"

const GcRunHooks *gc_run_hooks = NULL;

/* Give back memory that only the kernel needed, once its requests are done with that. */
static void
main_launch_strip(GcMainLaunch *launch)
{
	if (launch->ops)
		launch->ops->strip(launch);
}

GcGangLaunch *
gc_gang_launch_new(GcError *err)
{
	GcStream   *stream = gc_worker.ops->stream_get(gc_worker.dev, err);
	GcGangLaunch *gang;

	if (stream == NULL)
		return NULL;
	gang = MemoryContextAllocZero(TopMemoryContext, sizeof(GcGangLaunch));
	gang->users = 1;
	gang->stream = stream;
	return gang;
}

void
gc_gang_launch_join(GcGangLaunch *gang, GcMainLaunch *launch, int members)
{
	launch->gang = gang;
	gang->users++;
	gang->members += members;
}

/* With the last holder: all members' requests are over, or the device was drained, so none of its kernels is running. */
void
gc_gang_launch_release(GcGangLaunch *gang)
{
	if (--gang->users > 0)
		return;
	gc_worker.ops->stream_put(gc_worker.dev, gang->stream);
	pfree(gang);
}

void
gc_main_launch_release(GcMainLaunch *launch)
{
	if (--launch->users > 0)
		return;
	main_launch_strip(launch);
	if (launch->gang)
		gc_gang_launch_release(launch->gang);
	if (launch->ops)
		launch->ops->free(launch);
	pfree(launch);
}

void
gc_main_launch_forget(GcMainLaunch *launch)
{
	if (launch->ops)
		launch->ops->forget(launch);
}

/*-------------------------------------------------------------------------
 * Kernels that are told to end early
 *-------------------------------------------------------------------------
 */

static u32 *words;				/* as last written */
static GcAddr kernels_words;	/* what kernels read; 0: nothing can be stopped */
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

/* A number that no other request or launch has. */
static u32
new_ticket(void)
{
	if (++last_ticket == 0)
		++last_ticket;
	return last_ticket;
}

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
	launch->ticket = new_ticket();
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

static bool
wanted(const GcRun *run)
{
	return !gc_slot_abandoned(run->slot) || run->followers != NIL;
}

bool
gc_run_nobody_waits(GcRun *run)
{
	if (wanted(run))
		return false;
	gc_fail(&run->err, GC_CANCELLED, "The request was abandoned.");
	return true;
}

/* Is this table of the run, or what is computed of a text, still being filled?  A part of a build may come again. */
static bool
filling_build(const GcRun *run, const GcBuildTable *t)
{
	return t && !t->checked && (run->scan.passes || gc_build_pending(t));
}

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

		if (other == run || other->leader || !wanted(other))
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

		if (!run->schedule.stopped && run->memory.stream && !wanted(run) && !needed(run, runs))
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

/*-------------------------------------------------------------------------
 * A request's place among others
 *-------------------------------------------------------------------------
 */

/*
 * Requests with the same number can share a scan.  It is a scan of the same chunks of the heap, or,
 * where no page is in one, of the same directory.
 */
static void
number_scan(GcRun *run)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];
	const GcSource *sources = (const GcSource *) (run->request->device_part + in->sources_off);
	const GcDirectory *dir = in->dir;
	bool		hot;

	if (dir == NULL)
		return;
	hot = gc_cached_sources(in) > 0 && sources[0].chunk >= dir->nheap;
	run->schedule.scan = (u32) ((hot ? 2 * dir->id + 1 : 2 * dir->heap_id) % PG_UINT32_MAX) + 1;
	run->schedule.scan_chunks = hot ? dir->nchunks : dir->nheap;
}

void
gc_run_begin_schedule(GcRun *run)
{
	number_scan(run);
	run->schedule.ticket = new_ticket();
	run->schedule.share = gc_run_hooks->begins(run);
}

void
gc_run_leave_launch(GcRun *run)
{
	if (run->schedule.launch == NULL)
		return;
	if (--run->schedule.launch->runs == 0)
		main_launch_strip(run->schedule.launch);
	gc_main_launch_release(run->schedule.launch);
	run->schedule.launch = NULL;
	run->schedule.ganged = false;
}
