/*-------------------------------------------------------------------------
 *
 * hot_loader.h
 *	  Loading hot pages in the background: one loader worker for a table that is being written to.
 *
 * Sessions ask for a load, and go on: they read the few pages that no hot chunk has.  The
 * loader does what was asked for since its last load, all at once, and a moment later at the earliest.  It
 * ends when nobody has asked for a while.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOT_LOADER_H
#define GC_HOT_LOADER_H

#include "postgres.h"

#include "../store/columns.h"
#include "background.h"

extern void gc_hot_loader_shmem(void);

/* Ask for a load of the hot pages of a directory's table, soon; false: there can be no loader. */
extern bool gc_ask_hot_load(GcDirectory *dir);

/* The loader's main loop, outside of a transaction.  load: one load; ms until the next one may begin. */
extern void gc_hot_loader_run(const GcLoaderArgs *args, double (*load) (const GcLoaderArgs *args));

#endif							/* GC_HOT_LOADER_H */
