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

/* The same operations on this open device, of which some can be made to fail.  One device per process. */
extern const GcDeviceOps *gc_faults_wrap(GcDevice *dev, const GcDeviceOps *ops);

/*
 * n > 0: of the calls that follow, the n-th that queues something, or loads a kernel, fails for want of device memory, as
 * where another process has taken it.  n < 0: with the -n-th call the device is lost: that one and all behind it fail.  0: none.
 */
extern void gc_faults_set(int n);

#endif							/* GC_FAULTS_H */
