/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  What happens to a request beside its own kernels, in rooms above this one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_HOOKS_H
#define GC_RUN_HOOKS_H

#include "postgres.h"

#include "../../codegen/codegen.h"

struct GcRun;
struct GcShareRun;

/* All are called on the worker's main thread; schedule.c sets them before the first request. */
typedef struct GcRunHooks
{
	/* It was made: what shared scans keep of it, in its context. */
	struct GcShareRun *(*begins) (const struct GcRun *run);
	/*
	 * It is READY and waits for its turn.  others: requests that have work on the device.  May
	 * queue more on its stream, and end it (gc_run_fail_start).
	 */
	void		(*waits) (struct GcRun *run, int others);
	/* A word of a kernel's parameter that only shared scans know. */
	u64			(*arg_word) (const struct GcShareRun *share, const GcArgWord *word);
	/* It is not in its launch after all, and READY again. */
	void		(*leaves) (struct GcRun *run);
	/* It gives back all that it has on the device. */
	void		(*gives_back) (struct GcRun *run);
	/* It is over; its launch and times are still there. */
	void		(*ends) (struct GcRun *run);
} GcRunHooks;

extern const GcRunHooks *gc_run_hooks;

#endif							/* GC_RUN_HOOKS_H */
