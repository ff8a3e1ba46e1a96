/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Contents of lookup tables; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_LOOKUP_H
#define GC_EXEC_LOOKUP_H

#include "exec.h"

/* Is an expression being evaluated there? */
extern bool gc_in_lookup;

extern GcCode gc_make_lookups(GcBinding *b);
extern GcDictView *gc_space_dict(GcBinding *b, uint16 space);

/* The value of a code, blank-padded where its type is; palloc'd. */
extern Datum gc_text_value(GcBinding *b, uint16 space, uint32 code);

#endif							/* GC_EXEC_LOOKUP_H */
