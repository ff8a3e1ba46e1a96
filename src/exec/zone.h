/*-------------------------------------------------------------------------
 *
 * zone.h
 *	  What a time zone does on each day; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_ZONE_H
#define GC_EXEC_ZONE_H

#include "compute.h"

/* Fill an empty table of dates with a part of what the zone does on them.  GC_UNSUPPORTED: it does more on one. */
extern GcCode gc_compute_zone(const GcLookupWork *w, GcLookup *l);

#endif							/* GC_EXEC_ZONE_H */
