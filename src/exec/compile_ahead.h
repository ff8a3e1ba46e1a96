/*-------------------------------------------------------------------------
 *
 * compile_ahead.h
 *	  Kernels of a node that a session has left behind (columns/load/cold_plans.h).
 *
 * Runs in loaders.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COMPILE_AHEAD_H
#define GC_COMPILE_AHEAD_H

#include "postgres.h"

/* A GcColdPlanCompile. */
extern bool gc_compile_ahead(const char *text, Oid user);

#endif							/* GC_COMPILE_AHEAD_H */
