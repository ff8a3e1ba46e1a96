/*-------------------------------------------------------------------------
 *
 * meter.h
 *	  Times of the device and of the worker's thread, learned over many launches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_METER_H
#define GC_METER_H

#include "run/main_launch.h"

/* The fields of GcSchedule with these names. */
extern double gc_meter_together(void);
extern double gc_meter_utilisation(void);

/* To be called once in each turn: is a request on the device from now on? */
extern void gc_meter_occupied(bool occupied);

/* How slow the thread is, and the host pressure: how much of its time counts (cost.h). */
extern double gc_meter_slowness(void);
extern double gc_meter_host_pressure(void);

/* The requests on the device have changed: `own` by their own kernels, `others` in shared scans. */
extern void gc_meter_turn(int own, int others);

/* A request's own kernel is done, which takes alone_us alone. */
extern void gc_meter_ran(double alone_us);
extern void gc_meter_started(const GcMainLaunch *launch);

/* The worker's thread was at work for this long, not waiting. */
extern void gc_meter_busy(double us);

/*
 * Are n requests predicted to take less time in a selection scan of scan_us than by their own
 * kernels, which take own_us in sequence?
 */
extern bool gc_meter_selection_pays(int n, double scan_us, double own_us);

#endif							/* GC_METER_H */
