/*-------------------------------------------------------------------------
 *
 * gang_kernel.c
 *	  Kernels of gangs: asked for, and there.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "gang_kernel.h"

#include "../memory/state.h"
#include "kernels.h"

bool
gc_gang_kernel_pending(const GcGangKernel *gang)
{
	return gang->entry != NULL && gang->kernel == NULL;
}

bool
gc_gang_kernel_poll(GcGangKernel *gang)
{
	GcKernel   *kernel;
	GcError		err;

	if (!gc_gang_kernel_pending(gang))
		return false;
	switch (gc_kcache_poll(gc_worker.kernels, gang->entry, &kernel, &gang->info, &err))
	{
		case GC_KERNEL_COMPILING:
			return false;
		case GC_KERNEL_READY:
			if (!gc_kcache_final(gang->entry))
				return false;
			gang->kernel = kernel;
			return true;
		default:
			if (gc_kcache_retry(gang->entry))
				return false;
			gang->entry = NULL;
			gang->given_up = true;
			return true;
	}
}

void
gc_gang_kernel_ask(GcGangKernel *gang, char *text, int nwords)
{
	char	   *all;

	if (gang->entry || gang->given_up)
	{
		free(text);
		return;
	}
	all = text ? gc_gang_text(text, nwords, &gang->most) : NULL;
	gang->nwords = nwords;
	if (all)
	{
		gc_write_gpu_text(all);
		gang->entry = gc_kcache_get_ahead(gc_worker.kernels, all);
	}
	gang->given_up = gang->entry == NULL;
	free(all);
	free(text);
	(void) gc_gang_kernel_poll(gang);	/* one that is there already wakes nobody */
}
