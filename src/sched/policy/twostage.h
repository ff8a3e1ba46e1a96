/*-------------------------------------------------------------------------
 *
 * twostage.h
 *	  The two-stage policy, as gc_decide calls it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TWOSTAGE_H
#define GC_TWOSTAGE_H

#include "sched.h"

extern void gc_decide_twostage(const GcSchedule *s, GcDecideWork *work, GcDecision *d);

#endif							/* GC_TWOSTAGE_H */
