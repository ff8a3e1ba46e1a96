/*-------------------------------------------------------------------------
 *
 * values.h
 *	  Parameters and IN lists, as raw values; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VALUES_H
#define GC_VALUES_H

#include "exec.h"

extern GcCode gc_bind_params(GcBinding *b);
extern GcCode gc_bind_lists(GcBinding *b);

#endif							/* GC_VALUES_H */
