/*-------------------------------------------------------------------------
 *
 * route.h
 *	  Which of several devices a request goes to.
 *
 * The session decides as it submits, by numbers in shared memory.  These are each device's backlog, the bytes of each
 * column that the device's worker has there, and the builds.  All of it may be old by a moment, and a decision by old
 * numbers costs time alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ROUTE_H
#define GC_ROUTE_H

#include "postgres.h"

#include "queue.h"
#include "../sched/policy/device_choice.h"

/* Bytes of a build on the device, about. */
extern double gc_route_build_bytes(const GcBuildValue *build);

/* Backends: microseconds that the request will take, copies left out. */
extern uint32 gc_route_predict(const GcRequest *request);

/* Backends: one of the candidates, which are bits, for a request that takes that long. */
extern int	gc_route(const GcRequest *request, uint32 us, u32 candidates);

/* Workers: how long kernels of a request took. */
extern void gc_route_learn(const GcRequest *request, double us);

/* Workers: a build that requests may share is on the device now, or not any more; none is. */
extern void gc_route_note_build(GcHash share, bool there);
extern void gc_route_forget_builds(void);

extern void gc_route_shmem(void);

#endif							/* GC_ROUTE_H */
