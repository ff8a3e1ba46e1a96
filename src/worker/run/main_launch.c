/*-------------------------------------------------------------------------
 *
 * main_launch.c
 *	  A launch of a main kernel: one request's, or a shared scan's.
 *
 * Its requests hold it, and so does its starter while it starts the launch.  The last holder
 * frees it.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

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
