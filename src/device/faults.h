/*-------------------------------------------------------------------------
 *
 * faults.h
 *	  Device calls that are made to fail: for tests, of a device that pretends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FAULTS_H
#define GC_FAULTS_H

#include "device.h"

/* Operations on this open device, of which some can be made to fail.  One device per process. */
extern const GcDeviceOps *gc_faults_wrap(GcDevice *dev, const GcDeviceOps *ops);

/*
 * n > 0: of the calls that follow, the n-th that queues something or loads a kernel fails.  It fails for want of device
 * memory, as if another process had taken it.  n < 0: the device is lost with the -n-th call, also one that asks for an
 * event.  All calls fail from then on.  0: none fails.
 */
extern void gc_faults_set(int n);

#endif							/* GC_FAULTS_H */
