/*-------------------------------------------------------------------------
 *
 * gang_kernel.h
 *	  Kernels of gangs: of requests' own kernels (gang.h), and of shared scans' (share/scan_gang.h).
 *
 * The worker's main thread.  Whatever owns the kernel that is launched for one owns what it knows of the gang's, too;
 * the kernel cache owns the kernel.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_GANG_KERNEL_H
#define GC_RUN_GANG_KERNEL_H

#include "../../device/kcache.h"

/* The kernel that does in one launch what several launches of another one do. */
typedef struct GcGangKernel
{
	GcCachedKernel *entry;		/* NULL: not asked for, or given up */
	GcKernel   *kernel;			/* NULL until it is ready, in its final form */
	GcKernelInfo info;
	int			nwords;
	int			most;			/* members */
	bool		given_up;		/* there will be none */
	struct GcGangKernel *next;	/* of the kernels that are being compiled (kernels.c) */
} GcGangKernel;

/* Ask for the gang's kernel of a kernel with this text, of nwords argument words; once.  text: NULL, or malloc'd, which is freed. */
extern void gc_gang_kernel_ask(GcGangKernel *gang, char *text, int nwords);

/* Is it being compiled?  And has it come just now, or was it given up? */
extern bool gc_gang_kernel_pending(const GcGangKernel *gang);
extern bool gc_gang_kernel_poll(GcGangKernel *gang);

#endif							/* GC_RUN_GANG_KERNEL_H */
