/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Contents of lookup tables: which there are, and where they come from; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_LOOKUP_H
#define GC_EXEC_LOOKUP_H

#include "exec.h"
#include "compute.h"

/* GC_RETRY_LOAD: a shared table found no room, gc_make_lookup_room() may make some. */
extern GcCode gc_make_lookups(GcBinding *b);
extern bool gc_make_lookup_room(GcScanState *node);

/*
 * Have the tables all integers that kernels will look up?  Kernels do not check that.  Called once types are bound.
 * GC_UNSUPPORTED: one has not.
 */
extern GcCode gc_check_lookups(GcBinding *b);

/* Entry k of a table as a raw value; 0 where it is NULL. */
extern int64 gc_lookup_value(const GcLookup *l, uint32 k);
extern bool gc_lookup_is_null(const GcLookup *l, uint32 k);

#endif							/* GC_EXEC_LOOKUP_H */
