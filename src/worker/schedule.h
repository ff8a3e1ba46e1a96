/*-------------------------------------------------------------------------
 *
 * schedule.h
 *	  Which READY requests start now, together with which others, with which grid.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCHEDULE_H
#define GC_SCHEDULE_H

#include "postgres.h"

#include "nodes/pg_list.h"

extern bool gc_schedule_runs(List *runs);

/* To be called often: has an event on the device made another decision worth while? */
extern bool gc_schedule_due(List *runs);
extern void gc_schedule_init(void);

#endif							/* GC_SCHEDULE_H */
