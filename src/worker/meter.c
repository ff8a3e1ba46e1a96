/*-------------------------------------------------------------------------
 *
 * meter.c
 *	  What the device and the worker's thread are seen to do, beside single launches.
 *
 * Of the device: how much of their times alone it takes for kernels that share it with
 * others of their own, and how much of the time there is something on it.  Of the thread: how
 * slow it is at launching, by how long it is at work for what it launches, and how much of the
 * time it is at work.  Decisions rest on these (sched.h).
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

/*
 * What the device does while only kernels of their own are on it, at least so many: their
 * times alone, against the time that it took.
 */
#define METER_LEAST			4
#define METER_US			20000
#define METER_START			0.7	/* an H200 under random SSB queries */

/* How much of the time something is on the device is learned of so much time, at least. */
#define LOAD_US				20000

/* Requests of which the thread's time is learned at once. */
#define THREAD_REQUESTS		128

/*
 * What the thread does for a request between the decision and its kernel, as a part of all it does for
 * it: that is in the way even of requests that come to an idle thread.
 */
#define LAUNCH_PART			0.4

static struct
{
	bool		running;		/* since `from` */
	instr_time	from;
	double		time_us;
	double		alone_us;
	GcLearned	together;
	bool		occupied;		/* since `seen` */
	instr_time	seen;
	double		occupied_us;
	double		all_us;
	GcLearned	load;
}			device;

static struct
{
	int			n[GC_HOST_KINDS];	/* started */
	int			requests;
	double		us;				/* at work meanwhile */
	instr_time	since;
	GcLearned	slowness;
	GcLearned	busy;			/* part of the time */
}			thread;

double
gc_meter_together(void)
{
	return device.together.samples > 0 ? Max(device.together.value, 0.05) : METER_START;
}

void
gc_meter_occupied(bool occupied)
{
	const double us = INSTR_TIME_IS_ZERO(device.seen) ? LOAD_US : gc_us_since(device.seen);

	if (occupied == device.occupied && us < LOAD_US)
		return;
	device.all_us += us;
	device.occupied_us += device.occupied ? us : 0;
	device.occupied = occupied;
	INSTR_TIME_SET_CURRENT(device.seen);
	if (device.all_us < LOAD_US)
		return;
	gc_learn(&device.load, device.occupied_us / device.all_us);
	device.all_us = device.occupied_us = 0;
}

/* A device that computes by threads of the host is always loaded: somebody else wants them. */
double
gc_meter_load(void)
{
	return gc_worker.profile.host || device.load.samples == 0 ? 1 : device.load.value;
}

void
gc_meter_turn(int own, int others)
{
	if (device.running)
		device.time_us += gc_us_since(device.from);
	device.running = own >= METER_LEAST && others == 0;
	INSTR_TIME_SET_CURRENT(device.from);
	if (device.time_us < METER_US)
		return;
	if (device.alone_us > 0)
		gc_learn(&device.together, device.time_us / device.alone_us);
	device.time_us = device.alone_us = 0;
}

void
gc_meter_ran(double alone_us)
{
	if (device.running)
		device.alone_us += alone_us;
}

void
gc_meter_started(const GcMainLaunch *launch)
{
	if (launch->fused)
		thread.n[GC_HOST_SCAN]++;
	thread.n[launch->marked ? GC_HOST_MARKED : launch->fused ? GC_HOST_BODY : GC_HOST_OWN] += launch->members;
	thread.requests += launch->members;
}

void
gc_meter_busy(double us)
{
	thread.us += us;
	if (thread.requests < THREAD_REQUESTS)
		return;
	gc_host_learn(&thread.slowness, thread.n, thread.us);
	if (!INSTR_TIME_IS_ZERO(thread.since))
		gc_learn(&thread.busy, Min(thread.us / Max(gc_us_since(thread.since), 1), 1));
	INSTR_TIME_SET_CURRENT(thread.since);
	memset(thread.n, 0, sizeof(thread.n));
	thread.requests = 0;
	thread.us = 0;
}

/* A device that computes by threads of the host takes more of it than this one does. */
double
gc_meter_slowness(void)
{
	return gc_worker.profile.host ? 0 : thread.slowness.samples > 0 ? thread.slowness.value : 1;
}

double
gc_meter_pressure(void)
{
	return gc_meter_slowness() * (thread.busy.samples > 0 ? Max(thread.busy.value, LAUNCH_PART) : 1);
}

bool
gc_meter_marks_pay(int n, double scan_us, double own_us)
{
	const GcSharing sharing = {.n = n,.marked = true,.scan_us = scan_us,
	.own_us = own_us * gc_beside_each_other(gc_meter_together(), n),.slowness = gc_meter_pressure()};

	return gc_sharing_pays(&sharing);
}
