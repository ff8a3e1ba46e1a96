/*-------------------------------------------------------------------------
 *
 * load.h
 *	  Loading columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LOAD_H
#define GC_LOAD_H

#include "postgres.h"

#include "utils/relcache.h"

#include "../store/columns.h"
#include "../../status.h"
#include "../serve/visibility.h"
#include "job.h"

typedef struct GcLoadStats
{
	uint32		chunks_loaded;
	uint64		pages_read;
	uint32		pages_refused;	/* hot pages that could not be kept */
	int			workers;		/* background workers that took part */
	double		ms;
} GcLoadStats;

/*
 * Make sure that the columns are cached for every chunk of rel, and that the
 * chunks for which worth_reload() holds are loaded anew.  Starts up to
 * gpuconc.loader_workers background workers, takes part itself, and waits,
 * interruptibly.  If another session is loading the same relation, joins it.
 * Caller holds a lock on rel and an active snapshot, and no guard.
 * Not an error: a column that has a problem (see the directory).
 * GC_CACHE_FULL: the columns do not fit, even when all else is evicted.
 */
extern GcCode gc_load_columns(Relation rel, int ncols, const GcColSpec *specs,
							  GcLoadStats *stats, GcError *err);

/*
 * Load these columns, and those that a refresh in the background would load anew.  So queries that come next ask for no
 * such refresh, whose new directory could come between two of them.
 */
extern GcCode gc_load_and_refresh(Relation rel, int ncols, const GcColSpec *specs, GcError *err);

/* Do as gc_load_columns() for the sake of hot pages, however few they are. */
extern GcCode gc_load_hot_pages(Relation rel, int ncols, const GcColSpec *specs,
								GcLoadStats *stats, GcError *err);

/*
 * Work at the job with n more workers until it is over, then leave it.  A process that is
 * no session does not wait for claims of others.
 */
extern GcCode gc_job_participate(Relation rel, bool session, int nworkers,
								 GcLoadStats *stats, GcError *err);

/* Load hot pages in a loader, of a table that is cached; false: it could not be done. */
extern bool gc_load_hot_in_background(Relation rel, GcLoadStats *stats);

/* Bring the cached columns of rel up to date (gc_load_in_background). */
extern void gc_load_refresh(Relation rel);

/*
 * Load columns in a loader, if they fit beside columns in use.  refresh: and those that a refresh in the background
 * would load anew.
 */
extern GcCode gc_load_alone(Relation rel, int ncols, const GcColSpec *specs, bool refresh, GcError *err);

#endif							/* GC_LOAD_H */
