/*-------------------------------------------------------------------------
 *
 * meter.c
 *	  Times of the device and of the worker's thread, learned over many launches.
 *
 * Of the device: its utilisation, and how long it takes for concurrent kernels, as a part of
 * their times alone.  Of the thread: how slow it is at launching, and how much of the time it
 * is at work.  Decisions use these (sched.h).
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "meter.h"

#include "../sched/model/cost.h"
#include "memory/state.h"

/*
 * GcSchedule.together is learned while at least METER_LEAST requests' own kernels, and no shared scan, are on the
 * device.  It is, METER_US at a time, the time passed as a part of their times alone.
 */
#define METER_LEAST			4
#define METER_US			20000
#define METER_START			0.7	/* an H200 under random SSB queries */

/* The thread's time is learned from this many requests at a time. */
#define THREAD_REQUESTS		128

static struct
{
	bool		running;		/* since `from` */
	instr_time	from;
	double		time_us;
	double		alone_us;
	GcLearned	together;
	bool		occupied;		/* since `seen` */
	instr_time	seen;
	GcLoad		load;
}			device;

static struct
{
	int			n[GC_HOST_KINDS];	/* started since it was last learned */
	int			requests;
	double		us;				/* at work in the same time */
	instr_time	seen;			/* when the thread was last at work */
	GcLearned	slowness;
	GcLoad		busy;
}			thread;

double
gc_meter_together(void)
{
	return device.together.samples > 0 ? Max(device.together.value, 0.05) : METER_START;
}

/* Microseconds since *seen, which becomes now; 0 the first time. */
static double
pass(instr_time *seen)
{
	const double us = INSTR_TIME_IS_ZERO(*seen) ? 0 : gc_us_since(*seen);

	INSTR_TIME_SET_CURRENT(*seen);
	return us;
}

void
gc_meter_occupied(bool occupied)
{
	gc_load_passed(&device.load, pass(&device.seen), device.occupied);
	device.occupied = occupied;
}

/* A device that computes on the CPU counts as always busy, since other processes need the CPU. */
double
gc_meter_utilisation(void)
{
	return gc_worker.profile.shares_cpu ? 1 : gc_load_part(&device.load);
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
	thread.n[launch->selection ? GC_HOST_SELECTED : launch->fused ? GC_HOST_BODY : GC_HOST_OWN] += launch->members;
	thread.requests += launch->members;
}

void
gc_meter_busy(double us)
{
	const double all_us = pass(&thread.seen);

	gc_load_passed(&thread.busy, Max(all_us - us, 0), false);
	gc_load_passed(&thread.busy, us, true);
	thread.us += us;
	if (thread.requests < THREAD_REQUESTS)
		return;
	gc_host_learn(&thread.slowness, thread.n, thread.us);
	memset(thread.n, 0, sizeof(thread.n));
	thread.requests = 0;
	thread.us = 0;
}

/* On a device that computes on the CPU the launching thread's time does not count. */
double
gc_meter_slowness(void)
{
	return gc_worker.profile.shares_cpu ? 0 : thread.slowness.samples > 0 ? thread.slowness.value : 1;
}

double
gc_meter_host_pressure(void)
{
	return gc_host_pressure(gc_meter_slowness(), gc_load_part(&thread.busy));
}

bool
gc_meter_selection_pays(int n, double scan_us, double own_us)
{
	const GcSharing sharing = {.n = n,.selection = true,.scan_us = scan_us,
	.own_us = own_us * gc_overlap_part(gc_meter_together(), n),.host_pressure = gc_meter_host_pressure()};

	return gc_sharing_pays(&sharing);
}
