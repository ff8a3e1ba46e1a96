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

extern PGDLLEXPORT void gc_worker_main(Datum arg);
extern void gc_worker_register(void);

#endif							/* GC_WORKER_H */
