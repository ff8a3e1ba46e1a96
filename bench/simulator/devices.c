/*-------------------------------------------------------------------------
 *
 * devices.c
 *	  Discrete-event simulation of clients on several devices.
 *
 * The next event is the end of what a client does, of a batch, or of a copy.
 *
 *-------------------------------------------------------------------------
 */
#include "devices.h"

#include <math.h>
#include <string.h>

#include "../../src/sched/model/batch_model.h"

/* As in src/queue/route.c: the least time of a request, and how long a device is short of memory. */
#define LEAST_US	50
#define SHORT_US	1e6

/* Clients that ask at first, as in bench/scale_out/devices. */
#define WARM_CLIENTS	4

/* A scan's kernel on each multiprocessor: two blocks of 256 threads, 40 registers each. */
#define SCAN_BLOCKS	2
#define SCAN_WARPS	16
#define SCAN_REGISTERS	(SCAN_WARPS * 32 * 40)

typedef enum Step
{
	THINKING,					/* until client->at */
	AT_THREAD,					/* likewise */
	WAITING,
	COPYING,
	RUNNING
} Step;

typedef struct Client
{
	Step		step;
	double		at;				/* when the step ends; since when it waits */
	int			asked;			/* requests so far */
	int			device;
	int			table;
	uint32_t	columns;
	double		us;				/* of its scan alone */
	double		predicted_us;
	bool		there;			/* its columns were, or were copied for it */
} Client;

typedef struct Device
{
	double		thread_free;
	double		run_end;		/* of the batch; INFINITY: none runs */
	double		copy_end;		/* INFINITY: nothing is copied */
	int			copied_table;
	uint32_t	copied_columns;
	double		used_at[GC_SIM_MAX_TABLES][GC_SIM_MAX_COLUMNS]; /* -1: the column is not there */
	double		evicted_at;		/* -1: never */
	double		used;			/* bytes */
	double		backlog;
	int			assigned;
} Device;

typedef struct Simulation
{
	const GcSimClients *load;
	GcSimThroughput *result;
	double		now;
	uint64_t	random;
	int			ended;
	Client		clients[GC_SIM_MAX_CLIENTS];
	Device		devices[GC_CHOICE_MAX_DEVICES];
	GcBatchWork work;
	GcBatchPlan plan;
} Simulation;

static double
random_part(Simulation *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (double) (s->random >> 11) / (1ULL << 53);
}

/* Bytes of a table's columns; of those alone that are not on the device, if one is given. */
static double
bytes_of(const Simulation *s, int table, uint32_t columns, const Device *without)
{
	double		bytes = 0;

	for (int c = 0; c < s->load->ncolumns; c++)
	{
		if ((columns & 1u << c) && (without == NULL || without->used_at[table][c] < 0))
			bytes += s->load->column_bytes[c];
	}
	return bytes;
}

/* A client asks: its request goes to a device's thread. */
static void
ask(Simulation *s, Client *client)
{
	const GcSimClients *load = s->load;
	GcDeviceOffer offers[GC_CHOICE_MAX_DEVICES];
	Device	   *device;

	client->table = random_part(s) < load->hot ? 0 : (int) (random_part(s) * load->ntables);
	client->columns = load->queries[(int) (random_part(s) * load->nqueries)];
	for (int d = 0; d < load->ndevices; d++)
	{
		device = &s->devices[d];
		offers[d] = (GcDeviceOffer) {
			.candidate = true,
			.is_short = device->evicted_at >= 0 && s->now - device->evicted_at < SHORT_US,
			.missing = bytes_of(s, client->table, client->columns, device),
			.link = load->devices[d].link_bytes,
			.backlog = device->backlog,
			.requests = device->assigned,
			.memory_used = device->used
		};
	}
	/* Alone, it takes as long on any device as on the first: sessions predict by program. */
	client->predicted_us = fmax(LEAST_US, bytes_of(s, client->table, client->columns, NULL) / load->devices[0].read_bytes);
	client->device = gc_choose_device(offers, load->ndevices, client->predicted_us,
									  (uint32_t) (client - s->clients) + client->asked++, load->policy);
	client->us = bytes_of(s, client->table, client->columns, NULL) / load->devices[client->device].read_bytes;
	device = &s->devices[client->device];
	device->backlog += client->predicted_us;
	device->assigned++;
	device->thread_free = fmax(device->thread_free, s->now) + load->thread_us;
	client->step = AT_THREAD;
	client->at = device->thread_free;
	client->there = false;
}

/* The table of the request that waits longest on a device, with its columns there or not; -1: there is none. */
static int
oldest_table(const Simulation *s, int device, bool there)
{
	const Client *oldest = NULL;

	for (const Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->step == WAITING && c->device == device && c->there == there && (oldest == NULL || c->at < oldest->at))
			oldest = c;
	}
	return oldest ? oldest->table : -1;
}

/* A copy has brought columns of the table. */
static void
add_columns(Simulation *s, Device *device)
{
	for (int c = 0; c < s->load->ncolumns; c++)
	{
		double	   *used_at = &device->used_at[device->copied_table][c];

		if ((device->copied_columns & 1u << c) == 0)
			continue;
		device->used += *used_at < 0 ? s->load->column_bytes[c] : 0;
		*used_at = s->now;
	}
}

/* A scan reads columns.  Those that have left since they came for it were its own, as those of a wave are. */
static void
use_columns(Simulation *s, Device *device, const Client *client)
{
	for (int c = 0; c < s->load->ncolumns; c++)
	{
		if ((client->columns & 1u << c) && device->used_at[client->table][c] >= 0)
			device->used_at[client->table][c] = s->now;
	}
}

/* Columns that were used longest ago leave the device, until so many bytes are free or nothing of other tables is there. */
static void
make_room(Simulation *s, int d, int table, double bytes)
{
	Device	   *device = &s->devices[d];

	while (device->used + bytes > s->load->devices[d].memory_bytes)
	{
		double	   *oldest = NULL;
		int			column = 0;

		for (int t = 0; t < s->load->ntables; t++)
		{
			for (int c = 0; c < s->load->ncolumns && t != table; c++)
			{
				if (device->used_at[t][c] >= 0 && (oldest == NULL || device->used_at[t][c] < *oldest))
				{
					oldest = &device->used_at[t][c];
					column = c;
				}
			}
		}
		if (oldest == NULL)
			return;
		*oldest = -1;
		device->used -= s->load->column_bytes[column];
		device->evicted_at = s->now;
	}
}

/* Copy what is missing for a table, for all requests that wait for it. */
static void
start_copy(Simulation *s, int d)
{
	Device	   *device = &s->devices[d];
	const int	table = oldest_table(s, d, false);
	uint32_t	columns = 0;
	double		bytes;

	if (table < 0 || !isinf(device->copy_end))
		return;
	for (Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->step == WAITING && c->device == d && c->table == table && !c->there)
		{
			columns |= c->columns;
			c->step = COPYING;
		}
	}
	bytes = bytes_of(s, table, columns, device);
	make_room(s, d, table, bytes);
	device->copied_table = table;
	device->copied_columns = columns;
	device->copy_end = s->now + bytes / s->load->devices[d].link_bytes;
	s->result->copied_bytes += bytes;
}

/* The tables that one batch of a device can scan, of those that wait. */
static int
room_for_scans(Simulation *s, int d, int waiting)
{
	const GcProfile *p = s->load->devices[d].profile;
	const GcItemType scan = {.need = {SCAN_WARPS, SCAN_REGISTERS, 0, SCAN_BLOCKS},.demand = waiting};
	const GcBatchProblem problem = {
		.capacity = {p->max_warps, p->registers, p->shared_per_sm, p->max_blocks},.ntypes = 1,.types = &scan
	};

	if (gc_batch_plan(&problem, &s->work, &s->plan) != GC_BATCH_OK)
		return 1;
	return s->plan.pattern[0].count[0];
}

/* Start a scan for all requests that wait for the table; returns its time. */
static double
start_scan(Simulation *s, int d, int table)
{
	double		most = 0;
	double		sum = 0;

	for (Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->step != WAITING || c->device != d || c->table != table || !c->there)
			continue;
		use_columns(s, &s->devices[d], c);
		most = fmax(most, c->us);
		sum += c->us;
		c->step = RUNNING;
	}
	return most + (sum - most) * s->load->member_part;
}

static void
start_batch(Simulation *s, int d)
{
	Device	   *device = &s->devices[d];
	bool		waits[GC_SIM_MAX_TABLES] = {false};
	int			waiting = 0;
	double		us = 0;

	if (!isinf(device->run_end))
		return;
	for (const Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->step == WAITING && c->device == d && c->there && !waits[c->table])
		{
			waits[c->table] = true;
			waiting++;
		}
	}
	if (waiting == 0)
		return;
	for (int n = room_for_scans(s, d, waiting); n > 0; n--)
		us += start_scan(s, d, oldest_table(s, d, true));
	device->run_end = s->now + s->load->launch_us + us;
	s->result->batches[d]++;
}

/* The batch of a device is done. */
static void
end_batch(Simulation *s, int d)
{
	Device	   *device = &s->devices[d];

	device->run_end = INFINITY;
	for (Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->step != RUNNING || c->device != d)
			continue;
		c->step = THINKING;
		c->at = s->now + s->load->session_us;
		device->backlog -= c->predicted_us;
		device->assigned--;
		s->result->requests[d]++;
		s->ended++;
	}
}

static void
end_copy(Simulation *s, int d)
{
	Device	   *device = &s->devices[d];

	device->copy_end = INFINITY;
	add_columns(s, device);
	for (Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->step == COPYING && c->device == d)
		{
			c->step = WAITING;
			c->there = true;
		}
	}
}

/* Let time pass until the next event; do all that is due then. */
static void
pass_time(Simulation *s)
{
	double		next = INFINITY;

	for (const Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->step == THINKING || c->step == AT_THREAD)
			next = fmin(next, c->at);
	}
	for (int d = 0; d < s->load->ndevices; d++)
		next = fmin(next, fmin(s->devices[d].run_end, s->devices[d].copy_end));
	s->now = next;
	for (int d = 0; d < s->load->ndevices; d++)
	{
		if (s->devices[d].run_end <= s->now)
			end_batch(s, d);
		if (s->devices[d].copy_end <= s->now)
			end_copy(s, d);
	}
	for (Client *c = s->clients; c < s->clients + s->load->nclients; c++)
	{
		if (c->at > s->now)
			continue;
		if (c->step == THINKING)
			ask(s, c);
		else if (c->step == AT_THREAD)
		{
			c->step = WAITING;
			c->there = bytes_of(s, c->table, c->columns, &s->devices[c->device]) == 0;
		}
	}
	for (int d = 0; d < s->load->ndevices; d++)
	{
		start_copy(s, d);
		start_batch(s, d);
	}
}

static bool
makes_sense(const GcSimClients *load)
{
	if (load->ndevices < 1 || load->ndevices > GC_CHOICE_MAX_DEVICES || load->nclients < 1 || load->nclients > GC_SIM_MAX_CLIENTS ||
		load->ntables < 1 || load->ntables > GC_SIM_MAX_TABLES || load->ncolumns < 1 || load->ncolumns > GC_SIM_MAX_COLUMNS ||
		load->nqueries < 1 || load->nqueries > GC_SIM_MAX_QUERIES || load->nrequests < 5)
		return false;
	for (int d = 0; d < load->ndevices; d++)
	{
		const GcSimDevice *device = &load->devices[d];

		if (device->profile == NULL || gc_profile_problem(device->profile) != NULL || !(device->read_bytes > 0) || !(device->link_bytes > 0))
			return false;
	}
	return load->thread_us > 0 && load->session_us >= 0 && load->launch_us >= 0;
}

bool
gc_simulate_devices(const GcSimClients *load, GcSimThroughput *result)
{
	static Simulation s;
	const int	warm = load->nrequests / 5;
	double		began;

	if (!makes_sense(load))
		return false;
	memset(&s, 0, sizeof(s));
	memset(result, 0, sizeof(*result));
	s.load = load;
	s.result = result;
	s.random = 88172645463325252ULL;
	for (int d = 0; d < load->ndevices; d++)
	{
		s.devices[d] = (Device) {.run_end = INFINITY,.copy_end = INFINITY,.evicted_at = -1};
		for (int t = 0; t < load->ntables; t++)
		{
			for (int c = 0; c < load->ncolumns; c++)
				s.devices[d].used_at[t][c] = -1;
		}
	}
	for (int c = WARM_CLIENTS; c < load->nclients; c++)
		s.clients[c].at = INFINITY;
	while (s.ended < warm)
		pass_time(&s);
	for (int c = WARM_CLIENTS; c < load->nclients; c++)
		s.clients[c].at = s.now;
	memset(result, 0, sizeof(*result));
	s.ended = 0;
	began = s.now;
	while (s.ended < load->nrequests - warm)
		pass_time(&s);
	for (int d = 0; d < load->ndevices; d++)
		result->per_second += result->requests[d] / (s.now - began) * 1e6;
	result->copied_bytes /= s.ended;
	return true;
}
