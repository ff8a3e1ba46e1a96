/*-------------------------------------------------------------------------
 *
 * state.c
 *	  State that all of the worker uses: the device, its memory and kernels, and a clock.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "state.h"

GcWorker	gc_worker;
