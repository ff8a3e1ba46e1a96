/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  Hooks for what rooms above this one do with a request.
 *
 * The worker's main thread.
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
	/* A run was made; returns what shared scans keep of it, in the run's context. */
	struct GcShareRun *(*begins) (const struct GcRun *run);
	/*
	 * The run is READY and waits for its turn.  others: requests that have work on the device.  The
	 * hook may queue more on the run's stream, and end the run (gc_run_fail_start).
	 */
	void		(*waits) (struct GcRun *run, int others);
	/* A word of a kernel's parameter that only shared scans know. */
	u64			(*arg_word) (const struct GcShareRun *share, const GcArgWord *word);
	/* The run is not in its launch after all, and READY again. */
	void		(*leaves) (struct GcRun *run);
	/* The run gives back all that it has on the device. */
	void		(*gives_back) (struct GcRun *run);
	/* The run is over; its launch and times are still there. */
	void		(*ends) (struct GcRun *run);
} GcRunHooks;

extern const GcRunHooks *gc_run_hooks;

#endif							/* GC_RUN_HOOKS_H */
