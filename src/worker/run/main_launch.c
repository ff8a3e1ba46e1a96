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
#include "main_launch.h"

#include "../memory/state.h"

void
gc_main_launch_strip(GcMainLaunch *launch)
{
	if (launch->ops)
		launch->ops->strip(launch);
}

/* No kernel of the gang is running: all of its members' requests are over, or the device was drained. */
static void
leave_gang(GcGangLaunch *gang)
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
	gc_main_launch_strip(launch);
	if (launch->gang)
		leave_gang(launch->gang);
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
