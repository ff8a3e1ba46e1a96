/*-------------------------------------------------------------------------
 *
 * host_module.h
 *	  Shared objects of kernels for device host.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOST_MODULE_H
#define GC_HOST_MODULE_H

#include "device.h"

/* Load a shared object from memory; *handle is one of dlopen's.  Main thread. */
extern GcCode gc_host_dlopen(const GcImage *image, void **handle, GcError *err);

#endif							/* GC_HOST_MODULE_H */
