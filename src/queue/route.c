/*-------------------------------------------------------------------------
 *
 * route.c
 *	  Which of several devices a request goes to.
 *
 * Sessions gather here their knowledge of each device.  sched/policy/device_choice.h chooses by that.
 *
 * Runs in backends, apart from what workers tell.  Times by program are words that workers write and sessions read:
 * half of a hash, and microseconds.  A split request counts with the time of all its parts.
 *
 *-------------------------------------------------------------------------
 */
#include "route.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "../settings.h"
#include "../shmem.h"
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

StaticAssertDecl(GC_CHOICE_MAX_DEVICES == GC_MAX_DEVICES, "offers have room for all devices");

static GcRouteShared *shared = NULL;

/* Programs' times, at first 0: not known. */
void
gc_route_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc routes", sizeof(GcRouteShared), &made);
	for (int i = 0; i < PROGRAMS && made; i++)
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
	/* Each of the parts by keys reads all rows, so their times do not add up to the whole. */
	if (us > 0 && gc_ndevices > 1 && request->split_groups == 0)
		pg_atomic_write_u64(place_of(request),
							tag_of(request) | (uint32) Min(Max(us * request->nparts, LEAST_US), PG_INT32_MAX));
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
	return Max(4.0 * build->expected, (double) build->range / 8) * sizeof(u64);
}

/*
 * Bytes of the builds that requests may share and that are not on the device: about as much as it reads and writes for
 * them.
 */
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
	/* A part by keys reads all rows. */
	const uint32 nparts = request->split_groups == 0 ? request->nparts : 1;

	if (word != 0 && (word & ~(uint64) PG_UINT32_MAX) == tag_of(request))
		return (uint32) word / nparts;
	return (uint32) Min(LEAST_US + column_bytes(request, -1) / speed / nparts, PG_INT32_MAX);
}

/* Has data had to go from a device a moment ago? */
static bool
is_short_of_memory(GcDeviceStatus *status, TimestampTz now)
{
	const TimestampTz evicted = (TimestampTz) pg_atomic_read_u64(&status->evicted_at);

	return evicted != 0 && !TimestampDifferenceExceeds(evicted, now, SHORT_MS);
}

int
gc_route(const GcRequest *request, uint32 us, u32 candidates)
{
	static uint32 turn = 0;		/* of round robin; it begins differently from session to session */
	const TimestampTz now = GetCurrentTimestamp();
	GcDeviceOffer offers[GC_MAX_DEVICES] = {{0}};

	if (turn == 0)
		turn = MyProcPid;
	for (int d = 0; d < gc_ndevices; d++)
	{
		GcDeviceStatus *status = gc_device_status_of(d);

		if ((candidates & 1u << d) == 0)
			continue;
		offers[d] = (GcDeviceOffer) {
			.candidate = true,
			.is_short = is_short_of_memory(status, now),
			.missing = build_bytes(request, d) + (status->info.host_memory ? 0 : column_bytes(request, d)),
			.link = status->link_bytes > 0 ? status->link_bytes / 1e6 : LINK_SPEED,
			.backlog = pg_atomic_read_u64(&status->backlog_us),
			.requests = pg_atomic_read_u32(&status->assigned),
			.memory_used = pg_atomic_read_u64(&status->memory_used)
		};
	}
	return gc_choose_device(offers, gc_ndevices, us, ++turn, gc_debug_route);
}
