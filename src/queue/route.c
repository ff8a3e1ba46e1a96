/*-------------------------------------------------------------------------
 *
 * route.c
 *	  Which of several devices a request goes to.
 *
 * A table stays on its device, since requests over it share scans, builds and results there.  Another one gets a
 * request when those before it take longer than its own scan.  What its columns and builds cost there counts.  A device
 * that is short of memory gets none: a copy there drives out what others read, which is then copied again and again.
 *
 * Runs in backends, apart from what workers tell.  Times by program are words that workers write and sessions read:
 * half of a hash, and microseconds; a split request counts with the time of all its parts.
 *
 *-------------------------------------------------------------------------
 */
#include "route.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "../settings.h"
#include "device_status.h"

/* Programs of which the last time is known; each has one place. */
#define PROGRAMS		1024

/* Bytes per microsecond that a program reads which never ran, and that are copied by a link that was not measured. */
#define READ_SPEED		1e6
#define READ_SPEED_HOST	4e3
#define LINK_SPEED		1e4

/* Microseconds that any request takes. */
#define LEAST_US		50

/* Milliseconds for which a device is short of memory after data had to go. */
#define SHORT_MS		1000

typedef struct GcRouteShared
{
	pg_atomic_uint64 programs[PROGRAMS];	/* 0: none */
} GcRouteShared;

static GcRouteShared *shared = NULL;

/* The postmaster's: bytes of shared memory for programs' times. */
Size
gc_route_shmem_size(void)
{
	return MAXALIGN(sizeof(GcRouteShared));
}

/* Attach to the times, in every process.  The first one finds none and makes them 0: not known. */
void
gc_route_shmem_init(void)
{
	bool		found;

	shared = ShmemInitStruct("gpuconc routes", sizeof(GcRouteShared), &found);
	for (int i = 0; i < PROGRAMS && !found; i++)
		pg_atomic_init_u64(&shared->programs[i], 0);
}

/* The word for a program's time.  Programs share words; tag_of() tells them apart. */
static pg_atomic_uint64 *
place_of(const GcRequest *request)
{
	return &shared->programs[request->program_hash.h[0] % PROGRAMS];
}

/* The upper half of a program's word; the lower half is its time. */
static uint64
tag_of(const GcRequest *request)
{
	return request->program_hash.h[1] & ~(uint64) PG_UINT32_MAX;
}

void
gc_route_learn(const GcRequest *request, double us)
{
	if (us > 0 && gc_ndevices > 1)
		pg_atomic_write_u64(place_of(request), tag_of(request) | (uint32) Min(Max(us * request->nparts, LEAST_US), PG_INT32_MAX));
}

/* Where a device's worker notes a build with that key; others may have the place, too. */
static pg_atomic_uint64 *
place_of_build(int device, GcHash share)
{
	return &gc_device_status_of(device)->builds[share.h[0] % GC_BUILD_NOTES];
}

void
gc_route_note_build(GcHash share, bool there)
{
	pg_atomic_uint64 *place = place_of_build(gc_my_device(), share);

	if (share.h[0] == 0)
		return;
	if (there)
		pg_atomic_write_u64(place, share.h[1]);
	else if (pg_atomic_read_u64(place) == share.h[1])
		pg_atomic_write_u64(place, 0);
}

void
gc_route_forget_builds(void)
{
	for (int i = 0; i < GC_BUILD_NOTES; i++)
		pg_atomic_write_u64(&gc_device_status()->builds[i], 0);
}

double
gc_route_build_bytes(const GcBuildValue *build)
{
	return Max((double) (build->cap + build->slots), (double) build->range / 8) * sizeof(u64);
}

/* Bytes of the builds that requests may share and that are not on the device: about what it reads and writes for them. */
static double
build_bytes(const GcRequest *request, int device)
{
	double		bytes = 0;

	for (int b = 0; b < request->program->nbuilds; b++)
	{
		const GcBuildValue *v = &request->builds[b];

		if (v->share.h[0] != 0 && pg_atomic_read_u64(place_of_build(device, v->share)) != v->share.h[1])
			bytes += gc_route_build_bytes(v);
	}
	return bytes;
}

/* Bytes of the cached columns that the request reads; with a device, those that are not there. */
static double
column_bytes(const GcRequest *request, int device)
{
	const GcProgram *p = request->program;
	double		bytes = 0;

	for (int c = 0; c < p->ncolumns; c++)
	{
		const GcDirectory *dir = request->inputs[gc_columns(p)[c].input].dir;
		const int	k = request->columns[c].dir_column;
		double		there = 0;

		if (dir == NULL || k < 0)
			continue;
		/* Columns of several tables put together have no state. */
		if (device >= 0 && dir->columns[k].state)
			there = (double) pg_atomic_read_u64(&dir->columns[k].state->device_bytes[device]);
		bytes += Max((double) dir->columns[k].bytes - there, 0);
	}
	return bytes;
}

uint32
gc_route_predict(const GcRequest *request)
{
	const uint64 word = pg_atomic_read_u64(place_of(request));
	const double speed = gc_device_status()->info.own_processors ? READ_SPEED : READ_SPEED_HOST;

	if (word != 0 && (word & ~(uint64) PG_UINT32_MAX) == tag_of(request))
		return (uint32) word / request->nparts;
	return (uint32) Min(LEAST_US + column_bytes(request, -1) / speed / request->nparts, PG_INT32_MAX);
}

/* Numbers by which a policy compares devices: the least is chosen. */
typedef struct Costs
{
	double		missing[GC_MAX_DEVICES];	/* bytes to copy or to build */
	double		backlog[GC_MAX_DEVICES];
	double		requests[GC_MAX_DEVICES];
} Costs;

/* A device's cost by the policy: requests, bytes that are not there, or microseconds until the request could be done. */
static double
cost_of(const Costs *costs, int device, GcRoute policy)
{
	double		link;

	switch (policy)
	{
		case GC_ROUTE_REQUESTS:
			return costs->requests[device];
		case GC_ROUTE_AFFINITY:
			return costs->missing[device];
		default:
			link = gc_device_status_of(device)->link_bytes;
			return costs->backlog[device] + costs->missing[device] / (link > 0 ? link / 1e6 : LINK_SPEED);
	}
}

/* Is device a better than b?  Of equal ones, fewer requests decide, or else less in memory. */
static bool
is_better(const Costs *costs, int a, int b, GcRoute policy)
{
	const double x = cost_of(costs, a, policy);
	const double y = cost_of(costs, b, policy);

	if (x != y)
		return x < y;
	if (costs->requests[a] != costs->requests[b])
		return costs->requests[a] < costs->requests[b];
	return pg_atomic_read_u64(&gc_device_status_of(a)->memory_used) < pg_atomic_read_u64(&gc_device_status_of(b)->memory_used);
}

/* The device that costs least, among the candidates (a bit each). -1: there are none. */
static int
best_of(const Costs *costs, u32 candidates, GcRoute policy)
{
	int			best = -1;

	for (int d = 0; d < gc_ndevices; d++)
	{
		if ((candidates & 1u << d) && (best < 0 || is_better(costs, d, best, policy)))
			best = d;
	}
	return best;
}

/* The candidates that are not short of memory, and the home of a request. */
static u32
with_room(u32 candidates, int home)
{
	const TimestampTz now = GetCurrentTimestamp();

	for (int d = 0; d < gc_ndevices; d++)
	{
		const TimestampTz evicted = (TimestampTz) pg_atomic_read_u64(&gc_device_status_of(d)->evicted_at);

		if (d != home && evicted != 0 && !TimestampDifferenceExceeds(evicted, now, SHORT_MS))
			candidates &= ~(1u << d);
	}
	return candidates;
}

/* Candidates in turn, from one that differs from session to session. */
static int
in_turn(u32 candidates)
{
	static uint32 turn = 0;

	if (turn == 0)
		turn = MyProcPid;
	turn++;
	for (int n = turn % pg_popcount32(candidates); n > 0; n--)
		candidates &= candidates - 1;
	return pg_rightmost_one_pos32(candidates);
}

int
gc_route(const GcRequest *request, uint32 us, u32 candidates)
{
	Costs		costs = {{0}};
	int			home;

	if (gc_debug_route == GC_ROUTE_ROUND_ROBIN)
		return in_turn(candidates);
	for (int d = 0; d < gc_ndevices; d++)
	{
		GcDeviceStatus *status = gc_device_status_of(d);

		if ((candidates & 1u << d) == 0)
			continue;
		costs.missing[d] = build_bytes(request, d) + (status->info.host_memory ? 0 : column_bytes(request, d));
		costs.backlog[d] = pg_atomic_read_u64(&status->backlog_us);
		costs.requests[d] = pg_atomic_read_u32(&status->assigned);
	}
	if (gc_debug_route != GC_ROUTE_PREDICTED)
		return best_of(&costs, candidates, gc_debug_route);
	home = best_of(&costs, candidates, GC_ROUTE_AFFINITY);
	return costs.backlog[home] <= us ? home : best_of(&costs, with_room(candidates, home), GC_ROUTE_PREDICTED);
}
