/*-------------------------------------------------------------------------
 *
 * queue.c
 *	  Slots, the devices' rings of queued requests, and the statistics.
 *
 * Runs in backends and in the workers' main threads.  See queue.h for states,
 * ownership and locks.
 *
 *-------------------------------------------------------------------------
 */
#include "queue.h"

#include <math.h>

#include <sys/resource.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "../columns/store/arena.h"
#include "../compat.h"
#include "../cpus.h"
#include "../shmem.h"
#include "../columns/load/job.h"
#include "../columns/store/epoch.h"
#include "../device_names.h"
#include "device_status.h"
#include "route.h"

typedef enum GcSlotState
{
	SLOT_FREE,
	SLOT_FILLING,
	SLOT_QUEUED,
	SLOT_RUNNING,
	SLOT_DONE,
	SLOT_ABANDONED
} GcSlotState;

typedef struct GcSlot
{
	pg_atomic_uint32 state;		/* GcSlotState */
	pg_atomic_uint32 compiling; /* its kernels are being compiled */
	pg_atomic_uint64 begun;		/* TimestampTz since when the device is at work for it; 0: not yet */
	int			next_free;
	int			owner_pid;
	int			device;			/* that it was submitted to last */
	uint32		predicted_us;	/* its part of that device's backlog */
	Latch	   *owner;			/* backend to wake */
	GcRequest  *request;
	GcResult   *result;
	GcError		err;
	TimestampTz submitted;
	GcRunInfo	info;
} GcSlot;

/* A device's worker, and its ring. */
typedef struct GcDeviceQueue
{
	bool		worker_present;
	Latch	   *worker;
	void	   *worker_memory;
	char		card[sizeof(((GcDeviceInfo *) 0)->card)];	/* claimed */
	uint64		head;			/* ring positions: taken up to, filled up to */
	uint64		tail;
	int		   *ring;			/* nslots entries: a slot is in it at most once */
} GcDeviceQueue;

typedef struct GcQueue
{
	slock_t		lock;
	int			first_free;
	GcDeviceQueue devices[GC_MAX_DEVICES];
	GcStats		stats;
	int			nslots;
	GcSlot		slots[FLEXIBLE_ARRAY_MEMBER];
} GcQueue;

static GcQueue *queue = NULL;

/* Longest time that a backend spins before it sleeps, in microseconds. */
#define SPIN_US			1000

/* Waits for which a backend does not spin after it has lost its processor to another process. */
#define WAITS_WITHOUT_SPIN	8

/* Slots that this process has acquired and not yet released: one for each part of a request. */
#define MAX_OWN_SLOTS	GC_MAX_DEVICES
static int	own_slots[MAX_OWN_SLOTS];
static int	n_own_slots = 0;
static bool exit_callback_registered = false;

/* The number of slots; it is fixed from the server's start on. */
int
gc_request_slots(void)
{
	/* One per backend and device, and as many again for abandoned requests that the worker still holds. */
	return 2 * MaxBackends * gc_ndevices;
}

/* Statistics are a run of counters, from the first field to the last. */
static void
init_stats(GcStats *s)
{
	for (pg_atomic_uint64 *a = &s->requests; a <= &s->lookups_shared; a++)
		pg_atomic_init_u64(a, 0);
}

/* All slots, at first in the list of free ones, and a ring of as many for each device. */
void
gc_queue_shmem(void)
{
	const int	n = gc_request_slots();
	const Size	slots = MAXALIGN(add_size(offsetof(GcQueue, slots), mul_size(n, sizeof(GcSlot))));
	const Size	ring = MAXALIGN(mul_size(n, sizeof(int)));
	bool		made;

	queue = gc_shmem("gpuconc queue", add_size(slots, mul_size(gc_ndevices, ring)), &made);
	if (queue)
		gc_pages_loaded = &queue->stats.pages_loaded;
	if (!made)
		return;
	SpinLockInit(&queue->lock);
	queue->nslots = n;
	for (int d = 0; d < gc_ndevices; d++)
		queue->devices[d].ring = (int *) ((char *) queue + slots + d * ring);
	for (int i = 0; i < n; i++)
	{
		pg_atomic_init_u32(&queue->slots[i].compiling, false);
		pg_atomic_init_u64(&queue->slots[i].begun, 0);
		pg_atomic_init_u32(&queue->slots[i].state, SLOT_FREE);
		queue->slots[i].next_free = i + 1 < n ? i + 1 : -1;
	}
	init_stats(&queue->stats);
	queue->stats.reset_at = GetCurrentTimestamp();
}

/* The statistics of all devices, in shared memory: counters are added to without a lock. */
GcStats *
gc_stats(void)
{
	return &queue->stats;
}

void
gc_stats_reset(void)
{
	pg_atomic_uint64 *a;

	for (a = &queue->stats.requests; (char *) a < (char *) &queue->stats.reset_at; a++)
		pg_atomic_write_u64(a, 0);
	queue->stats.reset_at = GetCurrentTimestamp();
}

void
gc_count_decision(GcDecisionStats *decisions, double us)
{
	const uint64 ns = (uint64) (us * 1000);

	pg_atomic_fetch_add_u64(&decisions->made, 1);
	pg_atomic_fetch_add_u64(&decisions->ns, ns);
	for (uint64 most = pg_atomic_read_u64(&decisions->most_ns); ns > most;)
	{
		/* Another device's worker may change it, too. */
		if (pg_atomic_compare_exchange_u64(&decisions->most_ns, &most, ns))
			break;
	}
}

/*-------------------------------------------------------------------------
 * Common to both sides
 *-------------------------------------------------------------------------
 */

void
gc_result_put(GcResult *result)
{
	const Size	size = result->size;

	if (pg_atomic_sub_fetch_u32(&result->holders, 1) == 0)
		gc_arena_free(result, size);
}

/* Give back all that a slot owns, and the slot.  The caller owns the slot. */
static void
slot_free(int slot)
{
	GcSlot	   *s = &queue->slots[slot];

	if (s->request)
		gc_arena_free(s->request, s->request->size);
	if (s->result)
		gc_result_put(s->result);
	s->request = NULL;
	s->result = NULL;
	gc_guard_leave_request(slot);
	pg_atomic_write_u32(&s->state, SLOT_FREE);

	SpinLockAcquire(&queue->lock);
	s->next_free = queue->first_free;
	queue->first_free = slot;
	SpinLockRelease(&queue->lock);
}

/* Change a slot's state if it is still `from`.  False: another process was first. */
static bool
slot_move(int slot, GcSlotState from, GcSlotState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&queue->slots[slot].state, &expected, to);
}

/*-------------------------------------------------------------------------
 * Backend's side
 *-------------------------------------------------------------------------
 */

/* A session gives back its slots as it exits; the worker frees those whose requests it still has. */
static void
release_at_exit(int code, Datum arg)
{
	while (n_own_slots > 0)
		gc_slot_release(own_slots[n_own_slots - 1]);
}

int
gc_slot_acquire(void)
{
	int			slot;

	/* The cleanup is registered before there is anything to clean up. */
	if (!exit_callback_registered)
	{
		before_shmem_exit(release_at_exit, (Datum) 0);
		exit_callback_registered = true;
	}
	if (n_own_slots == MAX_OWN_SLOTS)
		return -1;

	SpinLockAcquire(&queue->lock);
	slot = queue->first_free;
	if (slot >= 0)
		queue->first_free = queue->slots[slot].next_free;
	SpinLockRelease(&queue->lock);
	if (slot < 0)
		return -1;

	own_slots[n_own_slots++] = slot;
	queue->slots[slot].owner = MyLatch;
	queue->slots[slot].owner_pid = MyProcPid;
	queue->slots[slot].err = (GcError) {GC_OK, ""};
	memset(&queue->slots[slot].info, 0, sizeof(GcRunInfo));
	pg_atomic_write_u32(&queue->slots[slot].state, SLOT_FILLING);
	gc_guard_enter_request(slot);
	return slot;
}

u32
gc_queue_devices(void)
{
	u32			present = 0;
	u32			ready = 0;

	/* A single device is looked at by submit_to(). */
	if (gc_ndevices == 1)
		return 1;
	SpinLockAcquire(&queue->lock);
	for (int d = 0; d < gc_ndevices; d++)
	{
		const GcDeviceQueue *q = &queue->devices[d];

		if (!q->worker_present)
			continue;
		present |= 1u << d;
		if (pg_atomic_read_u32(&gc_device_status_of(d)->state) == GC_WORKER_READY)
			ready |= 1u << d;
	}
	SpinLockRelease(&queue->lock);
	return ready ? ready : present;
}

/* False: its worker has just left. */
static bool
submit_to(int slot, int device)
{
	GcDeviceQueue *q = &queue->devices[device];
	GcDeviceStatus *d = gc_device_status_of(device);
	GcSlot	   *s = &queue->slots[slot];
	Latch	   *worker = NULL;

	/* The device comes before the state: a process that sees the state sees the device. */
	s->device = device;
	s->info.device = device;
	pg_write_barrier();
	SpinLockAcquire(&queue->lock);
	if (q->worker_present)
	{
		pg_atomic_fetch_add_u32(&d->assigned, 1);
		pg_atomic_fetch_add_u64(&d->backlog_us, s->predicted_us);
		pg_atomic_write_u32(&s->state, SLOT_QUEUED);
		q->ring[q->tail % queue->nslots] = slot;
		q->tail++;
		worker = q->worker;
	}
	SpinLockRelease(&queue->lock);
	if (worker)
		SetLatch(worker);
	return worker != NULL;
}

GcCode
gc_slot_submit(int slot, GcRequest *request, u32 avoid, GcError *err)
{
	GcSlot	   *s = &queue->slots[slot];

	Assert(pg_atomic_read_u32(&s->state) == SLOT_FILLING);
	s->request = request;
	s->predicted_us = gc_ndevices > 1 ? gc_route_predict(request) : 0;
	s->submitted = GetCurrentTimestamp();
	pg_atomic_write_u32(&s->compiling, false);
	pg_atomic_write_u64(&s->begun, 0);

	for (u32 left; (left = gc_queue_devices() & ~avoid) != 0;)
	{
		const int	device = gc_ndevices > 1 ? gc_route(request, s->predicted_us, left) : 0;

		if (submit_to(slot, device))
			return GC_OK;
		avoid |= 1u << device;
	}
	return gc_fail(err, GC_WORKER_GONE, "The gpuconc worker is not running.");
}

int
gc_slot_device(int slot)
{
	return queue->slots[slot].device;
}

bool
gc_slot_begun(int slot)
{
	return pg_atomic_read_u64(&queue->slots[slot].begun) != 0;
}

/*
 * Have other processes wanted this one's processor lately?  The kernel counts how often it was taken away.  Each time
 * stands for some waits, as a wait is short.
 */
static bool
processor_is_wanted(void)
{
	static long taken_before = 0;
	static int	waits = 0;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return false;
	if (usage.ru_nivcsw != taken_before)
		waits = WAITS_WITHOUT_SPIN;
	taken_before = usage.ru_nivcsw;
	if (waits == 0)
		return false;
	waits--;
	return true;
}

/* Requests that all devices compute: their sessions spin on the same processors. */
static uint32
running_requests(void)
{
	uint32		running = 0;

	for (int d = 0; d < gc_ndevices; d++)
		running += pg_atomic_read_u32(&gc_device_status_of(d)->running);
	return running;
}

/*
 * A kernel often takes less time than waking a process.  So as long as processors are idle, the
 * backend spins for a while before it sleeps.
 */
static void
spin_for_result(GcSlot *s)
{
	static int	processors = 0;
	GcDeviceStatus *d = gc_device_status_of(s->device);
	instr_time	start,
				now;

	if (processors == 0)
		processors = gc_count_cpus();
	if (!d->info.own_processors || processor_is_wanted())
		return;
	INSTR_TIME_SET_CURRENT(start);
	do
	{
		if (!d->info.own_processors || running_requests() > processors / 3)
			return;
		for (int i = 0; i < 50; i++)
		{
			if (pg_atomic_read_u32(&s->state) == SLOT_DONE || InterruptPending)
				return;
			SPIN_DELAY();
		}
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
	} while (INSTR_TIME_GET_MICROSEC(now) < SPIN_US);
}

/* Whole milliseconds, up to a minute. */
static double
patience_left(instr_time start, double patience_ms)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return ceil(Max(Min(patience_ms - INSTR_TIME_GET_MILLISEC(now), 60000), 0));
}

/* The rest of the time that the device may take; all of it as long as it has not begun. */
static double
limit_left(GcSlot *s, double limit_ms)
{
	const TimestampTz begun = (TimestampTz) pg_atomic_read_u64(&s->begun);

	return begun == 0 ? limit_ms : Max(limit_ms - (GetCurrentTimestamp() - begun) / 1000.0, 0);
}

GcCode
gc_slot_wait(int slot, double patience_ms, double limit_ms, GcError *err)
{
	static uint32 wait_event = 0;
	GcSlot	   *s = &queue->slots[slot];
	instr_time	start;

	spin_for_result(s);

	/* No timeout but these: a worker that exits finishes the requests that it leaves, and tells of kernels. */
	INSTR_TIME_SET_CURRENT(start);
	while (pg_atomic_read_u32(&s->state) != SLOT_DONE)
	{
		bool		limited = limit_ms >= 0;
		double		left = limited ? limit_left(s, limit_ms) : 0;

		if (limited && left == 0)
			return gc_fail(err, GC_TOO_SLOW, "The device did not answer in %.0f ms, and PostgreSQL's own plan was expected to take far less.", limit_ms);
		if (patience_ms >= 0 && pg_atomic_read_u32(&s->compiling))
		{
			const double patience = patience_left(start, patience_ms);

			if (patience == 0)
				return gc_fail(err, GC_LOADING, "Kernels are being compiled.");
			left = limited ? Min(left, patience) : patience;
			limited = true;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (limited ? WL_TIMEOUT : 0),
						 (long) Min(ceil(left), 60000), GC_WAIT_EVENT(wait_event, "GpuconcRequest"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	pg_read_barrier();
	if (s->err.code != GC_OK && err)
		*err = s->err;
	return s->err.code;
}

const GcResult *
gc_slot_result(int slot)
{
	return queue->slots[slot].result;
}

const GcRunInfo *
gc_slot_info(int slot)
{
	return &queue->slots[slot].info;
}

/* Wake the worker of a device, so that it frees all that it holds for an abandoned request. */
static void
wake_worker(int device)
{
	Latch	   *worker;

	SpinLockAcquire(&queue->lock);
	worker = queue->devices[device].worker;
	SpinLockRelease(&queue->lock);
	if (worker)
		SetLatch(worker);
}

void
gc_slot_release(int slot)
{
	/* A slot that is given up may be another session's before the worker is woken. */
	const int	device = queue->slots[slot].device;

	for (int i = 0; i < n_own_slots; i++)
	{
		if (own_slots[i] == slot)
		{
			own_slots[i] = own_slots[--n_own_slots];
			break;
		}
	}

	/* The worker may change the state at the same time: try until one change succeeds. */
	for (;;)
	{
		switch (pg_atomic_read_u32(&queue->slots[slot].state))
		{
			case SLOT_QUEUED:
				if (slot_move(slot, SLOT_QUEUED, SLOT_ABANDONED))
					return;
				break;
			case SLOT_RUNNING:
				if (slot_move(slot, SLOT_RUNNING, SLOT_ABANDONED))
				{
					wake_worker(device);
					return;
				}
				break;
			case SLOT_FILLING:
			case SLOT_DONE:
				/* Behind the state comes the result's address: of one that nobody has waited for, too. */
				pg_read_barrier();
				slot_free(slot);
				return;
			default:
				return;
		}
	}
}

/*-------------------------------------------------------------------------
 * Worker's side
 *-------------------------------------------------------------------------
 */

bool
gc_queue_claim_card(const char *card)
{
	bool		taken = false;

	SpinLockAcquire(&queue->lock);
	for (int d = 0; d < gc_ndevices; d++)
		taken = taken || (d != gc_my_device() && strcmp(queue->devices[d].card, card) == 0);
	if (!taken)
		strlcpy(queue->devices[gc_my_device()].card, card, sizeof(queue->devices[gc_my_device()].card));
	SpinLockRelease(&queue->lock);
	return !taken;
}

void
gc_queue_give_card_back(void)
{
	SpinLockAcquire(&queue->lock);
	queue->devices[gc_my_device()].card[0] = '\0';
	SpinLockRelease(&queue->lock);
}

/* The worker of this process' device takes requests from now on, and is woken by the latch. */
void
gc_queue_worker_start(Latch *latch)
{
	GcDeviceQueue *q = &queue->devices[gc_my_device()];

	/* A former worker has finished all that it left (gc_queue_worker_stop). */
	SpinLockAcquire(&queue->lock);
	q->worker = latch;
	q->worker_present = true;
	q->head = q->tail;
	SpinLockRelease(&queue->lock);
}

/* A request of this device, which no process moves on but its session. */
static bool
is_mine(const GcSlot *s)
{
	/*
	 * After its state was read.  A session that chose me did so before I left, and its slot is FILLING until it sees
	 * that.  So a slot that was another device's in another state is not mine now.
	 */
	pg_read_barrier();
	return s->device == gc_my_device();
}

/*
 * The worker exits, and its device is closed: its requests that are left end with GC_WORKER_GONE.  Others find no
 * worker here.
 */
void
gc_queue_worker_stop(void)
{
	static const GcError gone = {GC_WORKER_GONE, "The gpuconc worker has exited."};
	GcDeviceQueue *q = &queue->devices[gc_my_device()];

	SpinLockAcquire(&queue->lock);
	q->worker_present = false;
	q->worker = NULL;
	q->card[0] = '\0';
	q->head = q->tail;
	SpinLockRelease(&queue->lock);

	for (int i = 0; i < queue->nslots; i++)
	{
		const GcSlotState state = pg_atomic_read_u32(&queue->slots[i].state);

		if (!is_mine(&queue->slots[i]))
			continue;
		switch (state)
		{
			case SLOT_QUEUED:
				slot_move(i, SLOT_QUEUED, SLOT_RUNNING);
				/* FALLTHROUGH */
			case SLOT_RUNNING:
			case SLOT_ABANDONED:
				gc_slot_finish(i, &gone, NULL);
				break;
			default:
				break;
		}
	}
}

void *
gc_queue_worker_memory(Size size)
{
	GcDeviceQueue *q = &queue->devices[gc_my_device()];

	if (q->worker_memory == NULL)
		q->worker_memory = gc_arena_alloc(size);
	if (q->worker_memory)
		memset(q->worker_memory, 0, size);
	return q->worker_memory;
}

/* A request leaves its device, done or given up. */
static void
leave_device(GcSlot *s)
{
	GcDeviceStatus *d = gc_device_status_of(s->device);

	pg_atomic_fetch_sub_u32(&d->assigned, 1);
	pg_atomic_fetch_sub_u64(&d->backlog_us, s->predicted_us);
}

int
gc_queue_take(int *slots, int max)
{
	GcDeviceQueue *q = &queue->devices[gc_my_device()];
	int			n = 0;

	while (n < max)
	{
		int			slot = -1;

		SpinLockAcquire(&queue->lock);
		if (q->head < q->tail)
			slot = q->ring[q->head++ % queue->nslots];
		SpinLockRelease(&queue->lock);
		if (slot < 0)
			break;
		if (slot_move(slot, SLOT_QUEUED, SLOT_RUNNING))
		{
			slots[n++] = slot;
			continue;
		}
		/* Abandoned before it was taken. */
		leave_device(&queue->slots[slot]);
		slot_free(slot);
	}
	return n;
}

/* The request in a slot that the caller holds, or that the worker has taken. */
GcRequest *
gc_slot_request(int slot)
{
	return queue->slots[slot].request;
}

/* The worker's notes of the request, for EXPLAIN; the session reads them once the slot is DONE. */
GcRunInfo *
gc_slot_run_info(int slot)
{
	return &queue->slots[slot].info;
}

void
gc_slot_note_compiling(int slot, bool compiling)
{
	GcSlot	   *s = &queue->slots[slot];

	if (pg_atomic_exchange_u32(&s->compiling, compiling) == compiling || !compiling)
		return;
	/* The session may not want to wait for kernels. */
	if (pg_atomic_read_u32(&s->state) == SLOT_RUNNING)
		SetLatch(s->owner);
}

void
gc_slot_note_begun(int slot)
{
	uint64		never = 0;

	if (pg_atomic_read_u64(&queue->slots[slot].begun) == 0)
		(void) pg_atomic_compare_exchange_u64(&queue->slots[slot].begun, &never, (uint64) GetCurrentTimestamp());
}

bool
gc_slot_compiling(int slot)
{
	return pg_atomic_read_u32(&queue->slots[slot].compiling);
}

/* Has the session left its request?  It may leave at any time, so a false answer can be out of date. */
bool
gc_slot_abandoned(int slot)
{
	return pg_atomic_read_u32(&queue->slots[slot].state) == SLOT_ABANDONED;
}

/* When the session submitted the request. */
TimestampTz
gc_slot_submitted(int slot)
{
	return queue->slots[slot].submitted;
}

int
gc_slot_pid(int slot)
{
	return queue->slots[slot].owner_pid;
}

void
gc_slot_finish(int slot, const GcError *err, GcResult *result)
{
	GcSlot	   *s = &queue->slots[slot];
	Latch	   *owner = s->owner;

	s->err = *err;
	s->result = result;
	s->info.total_ms = (GetCurrentTimestamp() - s->submitted) / 1000.0;
	leave_device(s);
	if (err->code == GC_OK)
		pg_atomic_fetch_add_u64(&gc_device_status_of(s->device)->requests, 1);
	pg_write_barrier();
	if (slot_move(slot, SLOT_RUNNING, SLOT_DONE))
		SetLatch(owner);
	else
		slot_free(slot);
}
