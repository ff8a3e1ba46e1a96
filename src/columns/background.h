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

#include "columns.h"

typedef enum GcLoaderTask
{
	GC_LOADER_HELP,				/* with the table's job */
	GC_LOADER_REFRESH,
	GC_LOADER_HOT				/* load hot pages whenever that is asked for (hot_loader.h) */
} GcLoaderTask;

/* What a loader is told, in bgw_extra. */
typedef struct GcLoaderArgs
{
	GcRelKey	key;
	GcLoaderTask task;
} GcLoaderArgs;

/* Have up to n workers help with the job of this relation. */
extern void gc_loader_start_workers(const GcRelKey *key, int n);

/*
 * Have what is cached of rel brought up to date, without waiting: a background
 * worker loads every chunk anew that more than a few pages would profit from.
 */
extern void gc_load_in_background(Relation rel);

/* Start the loader of a table's hot pages; false: there is no room for a worker. */
extern bool gc_loader_start_hot(const GcRelKey *key);

#endif							/* GC_BACKGROUND_H */
