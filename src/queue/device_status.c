/*-------------------------------------------------------------------------
 *
 * device_status.c
 *	  The state of each device, which its worker tells all processes.
 *
 * Runs in backends and in the workers' main threads.  No lock: fields that are set once are set before `state`, and the
 * others are atomic.  Sessions that wait for a device sleep on a condition variable.
 *
 *-------------------------------------------------------------------------
 */
#include "device_status.h"

#include "storage/condition_variable.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "../compat.h"
#include "../shmem.h"

/* A worker that has not begun this long after the server's start never will. */
#define WORKER_START_MS	3000

/* A session that waits for a device looks this often whether its worker has started at all. */
#define WAIT_MS			100

static GcDeviceStatus *statuses = NULL;

/* Sessions that wait for a device sleep here; a device that has another state wakes them. */
static ConditionVariable *changed = NULL;

/* The device whose worker this process is. */
static int	my_device = -1;

/* All atomics of one device, before any worker has started. */
static void
init_status(GcDeviceStatus *d)
{
	pg_atomic_init_u32(&d->state, GC_WORKER_STARTING);
	pg_atomic_init_u64(&d->requests, 0);
	pg_atomic_init_u32(&d->assigned, 0);
	pg_atomic_init_u64(&d->backlog_us, 0);
	pg_atomic_init_u64(&d->memory_used, 0);
	for (int i = 0; i < GC_MEMORY_KINDS; i++)
		pg_atomic_init_u64(&d->memory_used_for[i], 0);
	pg_atomic_init_u64(&d->memory_free, 0);
	pg_atomic_init_u64(&d->memory_largest_free, 0);
	pg_atomic_init_u64(&d->regions, 0);
	pg_atomic_init_u64(&d->shared_builds, 0);
	pg_atomic_init_u64(&d->evicted_at, 0);
	pg_atomic_init_u32(&d->running, 0);
	pg_atomic_init_u32(&d->worker_pid, 0);
	pg_atomic_init_u32(&d->link_costs_failed, false);
	pg_atomic_init_u32(&d->compilations_asked, 0);
	pg_atomic_init_u32(&d->compilations_ended, 0);
	for (int i = 0; i < GC_MOST_COMPILING; i++)
		pg_atomic_init_u64(&d->compiling[i], 0);
	for (int i = 0; i < GC_BUILD_NOTES; i++)
		pg_atomic_init_u64(&d->builds[i], 0);
}

/* The states of the devices that are named. */
void
gc_device_status_shmem(void)
{
	bool		made;

	statuses = gc_shmem("gpuconc devices", mul_size(gc_ndevices, sizeof(GcDeviceStatus)), &made);
	for (int d = 0; d < gc_ndevices && made; d++)
		init_status(&statuses[d]);
	changed = gc_shmem("gpuconc devices' changes", sizeof(ConditionVariable), &made);
	if (made)
		ConditionVariableInit(changed);
}

void
gc_become_worker(int device)
{
	my_device = device;
}

int
gc_my_device(void)
{
	return my_device;
}

GcDeviceStatus *
gc_device_status_of(int device)
{
	return &statuses[device];
}

/* A worker that could not be registered is known only by the time that has passed since the start. */
GcWorkerState
gc_device_state(int device, const char **reason)
{
	GcDeviceStatus *d = gc_device_status_of(device);
	GcWorkerState state = pg_atomic_read_u32(&d->state);

	*reason = d->reason;
	if (state == GC_WORKER_STARTING && pg_atomic_read_u32(&d->worker_pid) == 0 &&
		TimestampDifferenceExceeds(PgStartTime, GetCurrentTimestamp(), WORKER_START_MS))
	{
		*reason = "The worker has not started; max_worker_processes may be too small.";
		return GC_WORKER_STOPPED;
	}
	return state;
}

/* The first device in the best state. */
static int
best_device(void)
{
	static const int rank[] = {[GC_WORKER_READY] = 0,[GC_WORKER_STARTING] = 1,[GC_WORKER_NO_DEVICE] = 2,[GC_WORKER_STOPPED] = 3};
	int			best = 0;
	int			best_rank = lengthof(rank);

	for (int d = 0; d < gc_ndevices && best_rank > 0; d++)
	{
		const char *reason;
		const int	r = rank[gc_device_state(d, &reason)];

		if (r >= best_rank)
			continue;
		best = d;
		best_rank = r;
	}
	return best;
}

GcWorkerState
gc_worker_state(const char **reason)
{
	return gc_device_state(best_device(), reason);
}

void
gc_device_state_changed(void)
{
	ConditionVariableBroadcast(changed);
}

void
gc_device_await(double ms)
{
	static uint32 wait_event = 0;
	const TimestampTz start = GetCurrentTimestamp();
	double		left = ms < 0 ? WAIT_MS : ms;
	const char *reason;

	while (left > 0 && gc_worker_state(&reason) == GC_WORKER_STARTING)
	{
		(void) ConditionVariableTimedSleep(changed, Max((long) Min(left, WAIT_MS), 1),
										   GC_WAIT_EVENT(wait_event, "GpuconcStart"));
		if (ms >= 0)
			left = ms - (GetCurrentTimestamp() - start) / 1000.0;
	}
	ConditionVariableCancelSleep();
}

bool
gc_device_may_answer(void)
{
	const char *reason;
	GcWorkerState state = gc_worker_state(&reason);

	return state != GC_WORKER_NO_DEVICE && state != GC_WORKER_STOPPED;
}

GcDeviceStatus *
gc_device_status(void)
{
	return gc_device_status_of(my_device >= 0 ? my_device : gc_ndevices == 1 ? 0 : best_device());
}

uint64
gc_workers_stamp(void)
{
	uint64		sum = 0;

	for (int d = 0; d < gc_ndevices; d++)
	{
		const char *reason;
		const GcWorkerState state = gc_device_state(d, &reason);

		if (state == GC_WORKER_READY || state == GC_WORKER_STARTING)
			sum += pg_atomic_read_u32(&statuses[d].worker_pid);
	}
	return sum;
}
