/*-------------------------------------------------------------------------
 *
 * bind.h
 *	  From the planned program to the bound one; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BIND_H
#define GC_BIND_H

#include "exec.h"

extern GcCode gc_bind(GcBinding *b);

#endif							/* GC_BIND_H */
