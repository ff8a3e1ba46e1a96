/*-------------------------------------------------------------------------
 *
 * zone.h
 *	  What a time zone does on each day; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_ZONE_H
#define GC_EXEC_ZONE_H

#include "compute.h"

/*
 * The hash by which a table's time zone is known in all sessions; an expression's is the session's.  False: not to be
 * had.
 */
extern bool gc_zone_hash(const GcBinding *b, const GcPlanLut *lut, GcHash *hash);

/*
 * Fill a table of dates, from `first` on, with a part of what the zone does on them.
 * GC_UNSUPPORTED: it does more on one.
 */
extern GcCode gc_compute_zone(const GcLookupWork *w, GcLookup *l);

#endif							/* GC_EXEC_ZONE_H */
