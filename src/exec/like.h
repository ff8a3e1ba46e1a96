/*-------------------------------------------------------------------------
 *
 * like.h
 *	  LIKE with a constant pattern, without PostgreSQL's evaluation of expressions; private to
 *	  exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_LIKE_H
#define GC_EXEC_LIKE_H

#include "compute.h"

/* A pattern as items; see cuda/gc_like.h. */
typedef struct GcLike
{
	uint32		flags;
	uint32		nitems;
	uint16	   *items;			/* palloc'd */
} GcLike;

/*
 * Is table w one of LIKE, NOT LIKE, ILIKE or NOT ILIKE with a constant pattern, whose rules in this
 * encoding and collation are known here?
 */
extern bool gc_like_compile(const GcLookupWork *w, GcLike *like);

/* Set entries from l->first on. */
extern void gc_like_fill(const GcLookupWork *w, const GcLike *like, GcLookup *l);

#endif							/* GC_EXEC_LIKE_H */
