/*-------------------------------------------------------------------------
 *
 * prewarm.h
 *	  Loading all columns of tables: gpuconc_prewarm() and its like, and gpuconc.warm_tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PREWARM_H
#define GC_PREWARM_H

#include "postgres.h"

#include "postmaster/bgworker.h"
#include "utils/relcache.h"

#include "../store/columns.h"
#include "../../settings.h"

/* Tables that are being loaded for one caller, each in a loader of its own. */
typedef struct GcWarming
{
	int			ntables;		/* that it is about to load; a loader with few beside it may have helpers */
	bool		at_start;		/* by the worker of warm.c */
	bool		kept;			/* only columns that have files, one table after another */
	int			nloaders;
	BackgroundWorkerHandle *loaders[GC_MOST_LOADER_WORKERS];
} GcWarming;

/*
 * Start a loader of a table's columns, as soon as one more may be.  In a transaction; the current memory
 * context lives as long as w.  Until the transaction's end, no load pushes out columns that are used from now on.  The
 * reason why there is no loader, or NULL.  wait: for others' locks on the table.
 */
extern const char *gc_warming_start(GcWarming *w, Oid relid, bool wait);

/* Wait until one more may be started, or until all have ended. */
extern void gc_warming_wait(GcWarming *w, bool all);

/*
 * Load all columns of a table that a loader has locked, if there is room.  An error says why not.  False: others were
 * in the way.
 */
extern bool gc_prewarm_alone(Relation rel);

/*
 * Register a worker for each database of gpuconc.warm_tables, and one for all that have files of columns.  In the
 * postmaster, as the library is loaded.
 */
extern void gc_warm_register(void);

/* Entry points (bgw_function_name) of the workers for gpuconc.warm_tables, and for databases that have files. */
extern PGDLLEXPORT void gc_warm_main(Datum main_arg);
extern PGDLLEXPORT void gc_kept_databases_main(Datum main_arg);
extern PGDLLEXPORT void gc_kept_main(Datum main_arg);

#endif							/* GC_PREWARM_H */
