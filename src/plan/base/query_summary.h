/*-------------------------------------------------------------------------
 *
 * query_summary.h
 *	  A summary of a query, by one walk over it before it is planned; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_QUERY_SUMMARY_H
#define GC_QUERY_SUMMARY_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* Tables of a query, counted at most. */
#define GC_SUMMARY_TABLES	16

typedef struct GcQuerySummary
{
	uint64		shape;			/* hash of the query without its constants */
	bool		storage;		/* it looks at how values are stored */
	bool		parameters;		/* it has some, $1 and so on */
	bool		users_calls;	/* it calls functions of users, which may be planned in */
	int			ntables;		/* not of the system; each once */
	Oid			tables[GC_SUMMARY_TABLES];
} GcQuerySummary;

/* Add a value to a hash of a shape. */
static inline uint64
gc_summary_mix(uint64 hash, uint64 value)
{
	hash = (hash ^ value) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

extern void gc_summarise_query(Query *query, GcQuerySummary *summary);

#endif							/* GC_QUERY_SUMMARY_H */
