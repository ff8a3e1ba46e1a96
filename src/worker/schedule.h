/*-------------------------------------------------------------------------
 *
 * schedule.h
 *	  Which READY requests start now, together, in which shape.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCHEDULE_H
#define GC_SCHEDULE_H

#include "postgres.h"

#include "nodes/pg_list.h"

extern bool gc_schedule_runs(List *runs);

/* To be called often: has the device come to where another decision may be due? */
extern bool gc_schedule_due(List *runs);
extern void gc_schedule_init(void);

#endif							/* GC_SCHEDULE_H */
