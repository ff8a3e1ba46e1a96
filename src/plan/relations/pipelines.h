/*-------------------------------------------------------------------------
 *
 * pipelines.h
 *	  From the tree of leaves to the steps of pipelines; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PIPELINES_H
#define GC_PIPELINES_H

#include "../base/translate.h"

/* Pipelines of all leaves of the tree; false, with tr->reason, if one cannot be. */
extern bool gc_translate_steps(GcTranslation *tr);

#endif							/* GC_PIPELINES_H */
