/*-------------------------------------------------------------------------
 *
 * share_launch.c
 *	  What a shared scan's launch has in addition to any launch.
 *
 * It owns the merged sources, on host and device, and the memory of its selection bitmaps.  It
 * holds its kernel and key groups.  All but `computed` is given back once its last
 * request has its result.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "share_launch.h"

#include "utils/memutils.h"

#include "../../columns/store/arena.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "share_run.h"

static void
give_staging_back(GcMainLaunch *launch)
{
	GcShareLaunch *s = launch->share;

	if (s->staging)
		gc_arena_free(s->staging, s->staging_size);
	s->staging = NULL;
}

static void
strip(GcMainLaunch *launch)
{
	GcShareLaunch *s = launch->share;

	gc_device_free(s->memory);
	gc_device_free(s->sel_bitmap);
	s->memory = s->sel_bitmap = 0;
	give_staging_back(launch);
	if (s->kernel)
		gc_fused_release(s->kernel);
	s->kernel = NULL;
	for (int k = 0; k < GC_MAX_PREDICATES; k++)
	{
		if (s->group_coded[k])
			gc_group_coded_release(s->group_coded[k]);
		s->group_coded[k] = NULL;
	}
}

static void
free_share(GcMainLaunch *launch)
{
	if (launch->share->computed)
		gc_worker.ops->event_put(gc_worker.dev, launch->share->computed);
	pfree(launch->share);
	launch->share = NULL;
}

/* The members of a fused scan have no kernels of their own. */
static void
member_ran(GcRun *run, float begin_us, float end_us)
{
	GcMainLaunch *launch = run->schedule.launch;

	if (!launch->selection)
		return;
	launch->share->begin_us[run->schedule.share->scan_member] = Max(launch->kernel_us, begin_us);
	launch->share->end_us[run->schedule.share->scan_member] = end_us;
}

void
gc_share_launch_attach(GcMainLaunch *launch)
{
	static const GcLaunchOps ops = {
		.strip = strip,.free = free_share,.forget = give_staging_back,.member_ran = member_ran,
	};

	launch->share = MemoryContextAllocZero(TopMemoryContext, sizeof(GcShareLaunch));
	launch->ops = &ops;
}
