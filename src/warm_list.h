/*-------------------------------------------------------------------------
 *
 * warm_list.h
 *	  The list of tables in gpuconc.warm_tables.
 *
 * Any process; the postmaster has the list checked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WARM_LIST_H
#define GC_WARM_LIST_H

#include "postgres.h"

typedef struct GcWarmTable
{
	char	   *names[3];		/* database, schema, table */
	Oid			relid;
	int64		scans;
	int			place;			/* in the list */
} GcWarmTable;

/* The tables of a list, palloc'd; NULL: not each item is database.schema.table. */
extern GcWarmTable *gc_warm_list(const char *text, int *n);

#endif							/* GC_WARM_LIST_H */
