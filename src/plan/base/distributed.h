/*-------------------------------------------------------------------------
 *
 * distributed.h
 *	  Tables and functions that Citus has distributed, by its catalogs alone; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DISTRIBUTED_H
#define GC_DISTRIBUTED_H

#include "postgres.h"

#include "nodes/parsenodes.h"

extern void gc_distributed_install(void);

/* Does a query read a table, at any depth, whose rows are in shards?  That is for Citus to plan. */
extern bool gc_reads_distributed(Query *query);

/*
 * Does an expression, or a query, call a volatile function other than those that read Citus' results for the statement?
 * These return the same rows each time.
 */
extern bool gc_contains_volatile(Node *node);

#endif							/* GC_DISTRIBUTED_H */
