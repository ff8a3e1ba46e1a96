/*-------------------------------------------------------------------------
 *
 * result.h
 *	  From accumulators and raw values to datums; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RESULT_H
#define GC_RESULT_H

#include "exec.h"

extern GcCode gc_decode(GcBinding *b, const GcResult *result, GcRows *rows);

#endif							/* GC_RESULT_H */
