/*-------------------------------------------------------------------------
 *
 * limit.h
 *	  How long a request may run, as PostgreSQL's own plan could answer meanwhile; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_LIMIT_H
#define GC_EXEC_LIMIT_H

#include "exec.h"
#include "hints.h"

/* How long this request may be on the device, in ms; -1: as long as it takes. */
extern double gc_device_limit(const GcScanState *node, const GcHints *hints);

/* Was a request of this program stopped lately, and did PostgreSQL's own plan then take less? */
extern bool gc_own_plan_has_won(const GcHints *hints);

/* The request was stopped, and PostgreSQL's own plan begins; and that plan has returned its last row. */
extern void gc_limit_reached(GcScanState *node, GcHints *hints);
extern void gc_limit_own_plan_ended(GcScanState *node);

#endif							/* GC_EXEC_LIMIT_H */
