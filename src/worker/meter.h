/*-------------------------------------------------------------------------
 *
 * meter.h
 *	  What the device and the worker's thread are seen to do, beside single launches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_METER_H
#define GC_METER_H

#include "run/main_launch.h"

/* As GcSchedule's. */
extern double gc_meter_together(void);
extern double gc_meter_utilisation(void);

/* Once in each turn: is there a request on the device from now on? */
extern void gc_meter_occupied(bool occupied);

/* How slow the thread is, and how much of its time counts (cost.h). */
extern double gc_meter_slowness(void);
extern double gc_meter_host_pressure(void);

/* What is on the device has changed: so many requests by their own kernels, and others. */
extern void gc_meter_turn(int own, int others);

/* A request's own kernel is done, which takes so long alone. */
extern void gc_meter_ran(double alone_us);
extern void gc_meter_started(const GcMainLaunch *launch);

/* The worker's thread was at work for so long, not waiting. */
extern void gc_meter_busy(double us);

/*
 * Are n requests predicted to take less time in a selection scan of scan_us than by kernels of
 * their own, which one after another take own_us?
 */
extern bool gc_meter_selection_pays(int n, double scan_us, double own_us);

#endif							/* GC_METER_H */
