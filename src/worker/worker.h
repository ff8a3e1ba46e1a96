/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background workers; each owns a device.
 *
 * A worker is a static background worker without a database; it owns one device.  All of
 * worker/ runs on its main thread.  That thread may use palloc, hash tables and latches, but
 * takes no part in transactions.  It raises no error for a request: a request ends with a
 * status.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WORKER_H
#define GC_WORKER_H

#include "postgres.h"

#include "nodes/pg_list.h"

extern PGDLLEXPORT void gc_worker_main(Datum arg);
extern void gc_worker_register(void);

/* Start those of the READY requests that are to start now, together or not (schedule.c).  False: none. */
extern bool gc_schedule_runs(List *runs);

/* To be called often: has an event on the device made another decision worth while? */
extern bool gc_schedule_due(List *runs);
extern void gc_schedule_init(void);

#endif							/* GC_WORKER_H */
