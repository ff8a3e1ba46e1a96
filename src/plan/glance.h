/*-------------------------------------------------------------------------
 *
 * glance.h
 *	  What one walk over a query, before it is planned, tells of it; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GLANCE_H
#define GC_GLANCE_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* Tables of a query, counted at most. */
#define GC_GLANCE_TABLES	16

typedef struct GcGlance
{
	uint64		shape;			/* hash of the query without its constants */
	bool		storage;		/* it looks at how values are stored */
	int			ntables;		/* not of the system; each once */
	Oid			tables[GC_GLANCE_TABLES];
} GcGlance;

extern void gc_glance(Query *query, GcGlance *glance);

#endif							/* GC_GLANCE_H */
