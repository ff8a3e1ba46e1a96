/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  What happens to a request beside its own kernels, in rooms above this one.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "hooks.h"

const GcRunHooks *gc_run_hooks = NULL;
