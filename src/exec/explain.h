/*-------------------------------------------------------------------------
 *
 * explain.h
 *	  What EXPLAIN says about a gpuconc node; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXPLAIN_H
#define GC_EXPLAIN_H

#include "exec.h"

#include "commands/explain.h"

extern void gc_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GC_EXPLAIN_H */
