/*-------------------------------------------------------------------------
 *
 * background.h
 *	  Starting loader workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BACKGROUND_H
#define GC_BACKGROUND_H

#include "postgres.h"

#include "utils/relcache.h"

#include "../store/columns.h"

/* What a loader is told, in bgw_extra. */
typedef enum GcLoaderTask
{
	GC_LOADER_HELP,				/* with the table's job */
	GC_LOADER_REFRESH,			/* what is cached of it */
	GC_LOADER_COLD,				/* load columns that are asked for (cold_loader.h) */
	GC_LOADER_HOT				/* load hot pages whenever that is asked for (hot_loader.h) */
} GcLoaderTask;

typedef struct GcLoaderArgs
{
	GcRelKey	key;
	uint8		task;			/* GcLoaderTask */
} GcLoaderArgs;

/* Have up to n workers help with the job of this relation. */
extern void gc_loader_start_workers(const GcRelKey *key, int n);

/*
 * Have what is cached of rel brought up to date, without waiting.  A
 * background worker loads every chunk anew that more than a few pages would
 * profit from.
 */
extern void gc_load_in_background(Relation rel);

/* Start the loader of a table's hot pages, or of its cold columns; false: there is no room for a worker. */
extern bool gc_loader_start_hot(const GcRelKey *key);
extern bool gc_loader_start_cold(const GcRelKey *key);

/* What becomes of a wish for columns. */
typedef enum GcColdLoad
{
	GC_COLD_LOADING,			/* the table's loader has been told */
	GC_COLD_BUSY,				/* as many other tables are being loaded as may be */
	GC_COLD_RESTS,				/* it could not be loaded a moment ago */
	GC_COLD_NO_WORKER			/* no worker is free, or a load may not be tried (gc_may_load_in_background()) */
} GcColdLoad;

/* May a load be tried: is the table not changed by this transaction, say? */
extern bool gc_may_load_in_background(Relation rel);

/* Have columns of rel loaded, without waiting. */
extern GcColdLoad gc_load_columns_in_background(Relation rel, int ncols, const GcColSpec *specs);

#endif							/* GC_BACKGROUND_H */
