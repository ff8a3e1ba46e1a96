/*-------------------------------------------------------------------------
 *
 * ahead.h
 *	  What PostgreSQL computes before the request; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_AHEAD_H
#define GC_AHEAD_H

#include "exec.h"

extern void gc_find_init_params(GcScanState *node);
extern GcCode gc_compute_ahead(GcScanState *node, GcError *err);

/* Run callback in a subtransaction of its own; false if it raised an error, which is then in err. */
extern bool gc_guarded(void (*callback) (void *arg), void *arg, GcError *err);

#endif							/* GC_AHEAD_H */
