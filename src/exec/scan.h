/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  The custom scan node.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCAN_H
#define GC_SCAN_H

#include "postgres.h"

/* How nodes that plan/ makes are executed. */
extern void gc_register_scan_methods(void);

/* A GcColdPlanCompile: have the kernels of a node that a session has left behind compiled, in a loader. */
extern bool gc_compile_ahead(const char *text, Oid user);

#endif							/* GC_SCAN_H */
