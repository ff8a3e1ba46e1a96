/*-------------------------------------------------------------------------
 *
 * device_status.h
 *	  The state of each device, which its worker tells all processes.
 *
 * In main shared memory, an entry for each device of gpuconc.devices.  Its worker writes it, and queue.c its backlog.
 * A reader may find it changed a moment later.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_STATUS_H
#define GC_DEVICE_STATUS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "port/atomics.h"

#include "../device/device.h"
#include "../device_names.h"

typedef enum GcWorkerState
{
	GC_WORKER_STARTING,
	GC_WORKER_READY,
	GC_WORKER_NO_DEVICE,		/* running, but nothing to run on */
	GC_WORKER_STOPPED
} GcWorkerState;

/* Programs whose kernels are being compiled; each has one place. */
#define GC_MOST_COMPILING	256

/* Builds that are on the device; each has one place. */
#define GC_BUILD_NOTES		512

/* Purposes of device memory. */
typedef enum GcMemoryKind
{
	GC_MEMORY_OTHER,			/* requests' parameters and visible rows, packets, selections */
	GC_MEMORY_COLUMNS,			/* columns' chunks that stay, and columns derived of them */
	GC_MEMORY_LOOKUPS,			/* dictionaries and lookup tables */
	GC_MEMORY_BUILDS,
	GC_MEMORY_GROUPS,			/* group tables, and results of other sinks */
	GC_MEMORY_WAVES,			/* where waves are copied to */
	GC_MEMORY_KINDS
} GcMemoryKind;

typedef struct GcDeviceStatus
{
	pg_atomic_uint32 state;		/* GcWorkerState */
	char		kind[16];		/* "cuda", "host" */
	char		reason[512];	/* why there is no device, or not cuda */
	GcDeviceInfo info;
	pg_atomic_uint64 requests;	/* that it has answered, since the server's start */
	pg_atomic_uint32 assigned;	/* requests that were submitted to it and are not over */
	pg_atomic_uint64 backlog_us;	/* predicted time of these */
	pg_atomic_uint64 memory_used;
	pg_atomic_uint64 memory_used_for[GC_MEMORY_KINDS];
	pg_atomic_uint64 memory_free;
	pg_atomic_uint64 memory_largest_free;	/* in one piece */
	pg_atomic_uint64 regions;	/* column chunks on the device */
	pg_atomic_uint64 shared_builds;
	pg_atomic_uint32 running;
	pg_atomic_uint32 worker_pid;
	pg_atomic_uint32 compilations_asked;	/* of kernels that requests wait for (compiling.h) */
	pg_atomic_uint32 compilations_ended;	/* of these */
	pg_atomic_uint64 compiling[GC_MOST_COMPILING];	/* programs that found theirs not to be there; 0: none */
	pg_atomic_uint64 builds[GC_BUILD_NOTES];	/* half of a build's hash (route.h); 0: none */
	TimestampTz started_at;
	pg_atomic_uint64 evicted_at;	/* TimestampTz at which data last left device memory for others; 0: never */
	double		link_bytes;		/* copied to the device per second, at most; 0: nothing is copied */
	pg_atomic_uint32 link_costs_failed; /* a worker failed when it measured kernels' reads
										 * over the link (link_costs.c) */
} GcDeviceStatus;

/* This process is the worker of a device, from now on; which one's it is; -1: it is none's. */
extern void gc_become_worker(int device);
extern int	gc_my_device(void);

/* The status of the worker's own device.  Elsewhere, of the first that is ready, which stands for all. */
extern GcDeviceStatus *gc_device_status(void);
extern GcDeviceStatus *gc_device_status_of(int device);

/* STOPPED also when the worker should have started long ago, *reason then says why. */
extern GcWorkerState gc_device_state(int device, const char **reason);

/* The best state of all devices. */
extern GcWorkerState gc_worker_state(const char **reason);

/* Changes whenever there is another worker with a device. */
extern uint64 gc_workers_stamp(void);

/* Sessions in gc_device_await() look again: a device has another state. */
extern void gc_device_state_changed(void);

/*
 * Wait while no device is ready and one may become so, for ms milliseconds at most; -1: until one
 * is ready, or none will be.
 */
extern void gc_device_await(double ms);

/* Is there a device, or may there be one soon? */
extern bool gc_device_may_answer(void);

extern void gc_device_status_shmem(void);

#endif							/* GC_DEVICE_STATUS_H */
