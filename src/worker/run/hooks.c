/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Hooks for what rooms above this one do with a request.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "hooks.h"

const GcRunHooks *gc_run_hooks = NULL;
