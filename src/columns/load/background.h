/*-------------------------------------------------------------------------
 *
 * background.h
 *	  Loader workers: their tasks, and how they are started.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BACKGROUND_H
#define GC_BACKGROUND_H

#include "postgres.h"

#include "postmaster/bgworker.h"
#include "utils/relcache.h"

#include "../store/columns.h"

/* A loader's task, in bgw_extra. */
typedef enum GcLoaderTask
{
	GC_LOADER_HELP,				/* with the table's job */
	GC_LOADER_REFRESH,			/* its cached columns */
	GC_LOADER_COLD,				/* load columns that are asked for (table_loader.h) */
	GC_LOADER_WARM,				/* load all columns (prewarm.h) */
	GC_LOADER_KEPT,				/* load the columns that have files (warm.c) */
	GC_LOADER_KEEP,				/* write cached columns into files (disk.h) */
	GC_LOADER_HOT				/* load hot pages whenever that is asked for (table_loader.h) */
} GcLoaderTask;

typedef struct GcLoaderArgs
{
	GcRelKey	key;
	uint8		task;			/* GcLoaderTask */
	uint8		helpers;		/* of GC_LOADER_WARM and GC_LOADER_KEPT */
} GcLoaderArgs;

/* Have up to n workers help with the job of this relation. */
extern void gc_loader_start_workers(const GcRelKey *key, int n);

/*
 * Have the cached columns of rel brought up to date, without waiting.  A background worker loads every chunk anew that
 * more than a few pages would profit from.
 */
extern void gc_load_in_background(Relation rel);

/* Start a loader for one task; false: there is no room for a worker. */
extern bool gc_loader_start(const GcRelKey *key, GcLoaderTask task);

/* Start a loader with helpers, which tells this process when it starts and ends; false: as above. */
extern bool gc_loader_start_warm(const GcRelKey *key, GcLoaderTask task, int helpers, BackgroundWorkerHandle **handle);

/* In a loader: its task, for pg_stat_activity; and how far it is. */
extern void gc_loader_reports(const char *does);
extern void gc_loader_progress(uint64 chunks_done, uint64 chunks_total);

/* Have the cached columns of a table written into files, if there is room for a worker. */
extern void gc_loader_start_keeper(const GcRelKey *key);

/*
 * Does this worker hold up a session that wants the table, or the database, to itself, to drop it, say?  No lock is
 * granted that conflicts with one which is waited for.  DROP DATABASE has its lock while it waits for others to leave.
 */
extern bool gc_loader_in_the_way(Relation rel);
extern bool gc_database_is_wanted(void);

/*
 * End this worker if a session wants its database to itself.  A worker that waits looks every GC_LOOK_MS: DROP DATABASE
 * waits for five seconds.
 */
extern void gc_leave_wanted_database(void);

#define GC_LOOK_MS		1000

/* Entry point of loader workers (bgw_function_name). */
extern PGDLLEXPORT void gc_loader_main(Datum main_arg);

#endif							/* GC_BACKGROUND_H */
