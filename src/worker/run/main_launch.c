/*-------------------------------------------------------------------------
 *
 * main_launch.c
 *	  The life of a launch of a main kernel, and of a gang of launches.
 *
 * A launch is held by its requests, and by its starter while it starts the launch.  The last holder frees it.  A gang
 * is held by its launches, and by its starter likewise.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "main_launch.h"

#include "utils/memutils.h"

#include "../memory/state.h"

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

/*
 * With the last holder: all members' requests are over, or the device was drained, so none of its kernels is running.
 */
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
gc_main_launch_leave(GcRunSchedule *schedule)
{
	if (schedule->launch == NULL)
		return;
	if (--schedule->launch->runs == 0)
		main_launch_strip(schedule->launch);
	gc_main_launch_release(schedule->launch);
	schedule->launch = NULL;
	schedule->ganged = false;
}
