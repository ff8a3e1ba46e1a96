/*-------------------------------------------------------------------------
 *
 * efforts.c
 *	  Full kernels that take longer than the quick ones before them.
 *
 * A quick kernel stays loaded when the full one takes over.  sched/model/efforts.h says when it comes back.  A
 * kernel that came from disk has no quick one.  So where the quick one wins, the disk forgets the full one,
 * and the next server compares them again.
 *
 * The two kernels of an edge that materializes have one time, and are left as they are.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "efforts.h"

#include "../memory/state.h"

void
gc_kernel_ran(GcPipelineKernel *k, GcEffort effort, double us, u32 tiles)
{
	k->spent_us += us;
	if (effort == k->effort)
		gc_learn(&k->alone_us, us);
	if (effort == k->effort && k->model_us > 0)
		gc_learn(&k->off, us / k->model_us);
	if (k->consumer == NULL)
		gc_effort_ran(&k->efforts, effort, us, tiles);
}

/* Exchange the kernel for the other one of its text; false: that is not loaded. */
static bool
exchange(GcPipelineKernel *k)
{
	const GcLearned alone_us = k->alone_us;
	GcKernel   *kernel = k->other.kernel;
	GcKernelInfo info = k->other.info;

	if (kernel == NULL && !gc_kcache_quick(k->entry, &kernel, &info))
		return false;
	k->other.kernel = k->kernel;
	k->other.info = k->info;
	k->alone_us = k->other.alone_us;
	k->other.alone_us = alone_us;
	k->issue_part = k->off = (GcLearned) {0};
	k->kernel = kernel;
	k->info = info;
	k->occupancy = -1;
	k->effort = k->effort == GC_EFFORT_FULL ? GC_EFFORT_QUICK : GC_EFFORT_FULL;
	return true;
}

void
gc_kernel_choose_effort(GcPipelineKernel *k)
{
	if (!k->final || k->consumer)
		return;
	if (gc_effort_next(&k->efforts) != k->effort && !exchange(k))
		k->efforts = (GcEffortTrial) {.decided = true,.keep = k->effort};
	if (k->efforts.decided && k->effort == GC_EFFORT_QUICK && k->other.kernel)
		gc_kcache_prefer_quick(k->entry);
}
