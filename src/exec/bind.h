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

/* Rows of all that an input is read from. */
extern uint64 gc_input_rows(const GcInputState *in);

#endif							/* GC_BIND_H */
