/*-------------------------------------------------------------------------
 *
 * table_loader.h
 *	  Loading in the background: one loader worker for a table that queries find cold, and one for a table that is being
 *	  written to.
 *
 * Sessions ask for columns, and have PostgreSQL's plan answer.  The table's loader loads columns that were asked for
 * since it began, and ends when none are left.  A few tables at a time have a loader: the others wait for their turn.
 * After a load that failed the table has none for a while.
 *
 * Sessions ask for a load of hot pages, and go on: they read the few pages that no hot chunk has.  The loader of hot
 * pages reads those that were asked for since its last load, all at once, and a moment later at the earliest.  It ends
 * when nobody has asked for a while.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TABLE_LOADER_H
#define GC_TABLE_LOADER_H

#include "postgres.h"

#include "utils/relcache.h"

#include "../store/columns.h"
#include "background.h"

extern void gc_table_loader_shmem(void);

/* A wish for columns, and its outcome. */
typedef enum GcColdLoad
{
	GC_COLD_LOADING,			/* the table's loader has been told */
	GC_COLD_BUSY,				/* as many other tables are being loaded as may be */
	GC_COLD_RESTS,				/* it could not be loaded a moment ago */
	GC_COLD_NO_WORKER,			/* no worker is free */
	GC_COLD_NOT_TRIED			/* a load may not be tried (gc_may_load_in_background()) */
} GcColdLoad;

/* May a load be tried: is the table not changed by this transaction, say? */
extern bool gc_may_load_in_background(Relation rel);

/* Have columns of rel loaded, without waiting. */
extern GcColdLoad gc_load_columns_in_background(Relation rel, int ncols, const GcColSpec *specs);

/* Helpers that the loader of a table may have: it shares gpuconc.loader_workers with those of other tables. */
extern int	gc_cold_loader_helpers(void);

/* The loader's main loop, outside of a transaction.  load: these columns; false: they could not be loaded. */
extern void gc_cold_loader_run(const GcLoaderArgs *args,
							   bool (*load) (const GcLoaderArgs *args, int ncols, const AttrNumber *attnums));

/* Ask for a load of the hot pages of a directory's table, soon; false: there can be no loader. */
extern bool gc_ask_hot_load(GcDirectory *dir);

/* The main loop of the loader of hot pages, likewise.  load: one load; ms until the next one may begin. */
extern void gc_hot_loader_run(const GcLoaderArgs *args, double (*load) (const GcLoaderArgs *args));

#endif							/* GC_TABLE_LOADER_H */
