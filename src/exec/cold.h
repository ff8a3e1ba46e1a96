/*-------------------------------------------------------------------------
 *
 * cold.h
 *	  Queries over columns that are not loaded; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLD_H
#define GC_COLD_H

#include "exec.h"

/*
 * GC_LOADING if PostgreSQL's plan is to answer while columns are loaded in the background, which this
 * starts; GC_CACHE_FULL if they do not fit.  The node's tables are open, and no guard is held.
 */
extern GcCode gc_look_if_cold(GcScanState *node, GcError *err);

/*
 * Reserve room for all that the node's tables lack, before the first of them is loaded (columns/store/reserve.h).
 * GC_CACHE_FULL if there is none, unless offloading is forced.  gc_reserve_end() once the node has its columns, or
 * gives up.  No guard is held.
 */
extern GcCode gc_reserve_inputs(GcScanState *node, GcError *err);

/* Are columns missing?  The node's tables are open, and no guard is held. */
extern bool gc_lacks_columns(GcScanState *node);

/* Did a request fail for want of columns or kernels that the planner would find lacking, too? */
extern bool gc_was_cold(GcCode code);

/*
 * Milliseconds to wait for kernels to be compiled or for a device that starts, before PostgreSQL's plan is to answer;
 * -1: for ever.  waited: the session has waited for them before.
 */
extern double gc_compile_patience(const GcScanState *node, bool waited);

#endif							/* GC_COLD_H */
