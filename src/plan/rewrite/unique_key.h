/*-------------------------------------------------------------------------
 *
 * unique_key.h
 *	  Queries that select a row by its key; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_UNIQUE_KEY_H
#define GC_UNIQUE_KEY_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/*
 * Does this query, for one row of the query around it, select at most one row of a
 * table?  So it does if its conditions give each column of a unique index one value.
 */
extern bool gc_returns_one_row(Query *query);

#endif							/* GC_UNIQUE_KEY_H */
