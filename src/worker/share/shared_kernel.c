/*-------------------------------------------------------------------------
 *
 * shared_kernel.c
 *	  A kernel that serves several requests over one table: a fused kernel, or a selection
 *	  kernel.
 *
 * Its set holds it while it is the set's newest of its kind.  Each launch holds it while it runs.
 * The last holder frees it.  It lives in TopMemoryContext.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "shared_kernel.h"

#include "../memory/state.h"

static void
fused_free(GcFused *f)
{
	for (int m = 0; m < f->n; m++)
		pfree((void *) f->member[m].columns);
	if (f->words)
		pfree(f->words);
	if (f->entry)
		gc_kcache_let_go(f->entry);
	pfree(f);
}

void
gc_fused_drop(GcFused *f)
{
	if (f == NULL)
		return;
	f->dropped = true;
	if (f->users == 0)
		fused_free(f);
}

void
gc_fused_release(GcFused *f)
{
	if (--f->users == 0 && f->dropped)
		fused_free(f);
}

bool
gc_fused_take(GcFused **ready, GcFused **pending, bool *failed)
{
	GcFused    *f = *pending;
	GcError		err;

	*failed = false;
	switch (gc_kcache_poll(gc_worker.kernels, f->entry, &f->kernel, &f->info, &err))
	{
		case GC_KERNEL_COMPILING:
			return false;
		case GC_KERNEL_READY:
			if (!gc_kcache_final(f->entry))
				return false;
			gc_fused_drop(*ready);
			*ready = f;
			break;
		default:
			if (gc_kcache_retry(f->entry))
				return false;
			*failed = true;
			gc_fused_drop(f);
			break;
	}
	*pending = NULL;
	return true;
}
