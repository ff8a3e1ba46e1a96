/*-------------------------------------------------------------------------
 *
 * simulator_devices_test.c
 *	  Simulated clients on 1 to 8 devices, against what must hold of any closed system.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>

#include "../../bench/simulator/devices.h"

#define MEGABYTE	1e6
#define POLICIES	4

static GcSimThroughput result;

/* Two columns of 20 MB in each of four tables, and queries that read one or both. */
static GcSimClients
load_of(int devices, int clients, double memory, GcRoute policy)
{
	GcSimClients load = {
		.ndevices = devices,.policy = policy,.nclients = clients,.nrequests = 5000,
		.session_us = 200,.thread_us = 20,.launch_us = 10,.member_part = 0.2,.ntables = 4,.hot = 0.5,
		.ncolumns = 2,.column_bytes = {20 * MEGABYTE, 20 * MEGABYTE},.nqueries = 2,.queries = {1, 3}
	};

	for (int d = 0; d < GC_CHOICE_MAX_DEVICES; d++)
		load.devices[d] = (GcSimDevice) {gc_profile_known("H200"), 4e6, 5e4, memory};
	return load;
}

static bool
simulate(const GcSimClients *load)
{
	memset(&result, 0xa5, sizeof(result));
	return gc_simulate_devices(load, &result);
}

static bool
is_about(double got, double wanted)
{
	return fabs(got - wanted) < 0.001 * wanted;
}

/* What one client has is the sum of all times; many have what the threads of devices leave. */
static void
test_limits(void)
{
	GcSimClients load = load_of(1, 1, INFINITY, GC_ROUTE_PREDICTED);
	const double least = 200 + 20 + 10 + 5; /* the shorter scan */

	load.nqueries = 1;
	ok(simulate(&load) && is_about(result.per_second, 1e6 / least), "one client: %g a second", result.per_second);
	for (int devices = 1; devices <= GC_CHOICE_MAX_DEVICES; devices++)
	{
		for (int policy = 0; policy < POLICIES; policy++)
		{
			int			sum = 0;

			load = load_of(devices, 64, INFINITY, (GcRoute) policy);
			if (!ok(simulate(&load), "%d devices, policy %d", devices, policy))
				continue;
			for (int d = 0; d < devices; d++)
				sum += result.requests[d];
			ok(sum >= 4000 && result.per_second <= devices * 1e6 / 20 * 1.001 && result.per_second <= 64 * 1e6 / least * 1.001,
			   "... no more than threads and clients allow: %g", result.per_second);
		}
	}
	load = load_of(2, 64, INFINITY, GC_ROUTE_PREDICTED);
	ok(simulate(&load) && result.per_second > 0.95 * 2 * 1e6 / 20, "two devices have twice what one's thread allows: %g", result.per_second);
}

static void
test_policies(void)
{
	GcSimClients load = load_of(4, 64, INFINITY, GC_ROUTE_ROUND_ROBIN);
	double		alone;

	simulate(&load);
	for (int d = 1; d < 4; d++)
		ok(abs(result.requests[d] - result.requests[0]) < 100, "round robin: device %d has as many as the first", d);

	/* Half of the columns fit: those of two tables. */
	load = load_of(2, 32, 80 * MEGABYTE, GC_ROUTE_AFFINITY);
	simulate(&load);
	alone = result.per_second;
	is(result.copied_bytes, 0, "affinity: what fits two devices is not copied");
	for (int policy = 0; policy < 2; policy++)
	{
		load.policy = (GcRoute) policy;
		simulate(&load);
		ok(result.copied_bytes > 0 && result.per_second < alone, "policy %d copies, and has less: %g", policy, result.per_second);
	}
	load = load_of(1, 32, 80 * MEGABYTE, GC_ROUTE_PREDICTED);
	simulate(&load);
	ok(result.copied_bytes > 0 && result.per_second < alone / 2, "one device copies, and has less than half: %g", result.per_second);
}

/* Each device is a bin type: one that holds fewer scans at a time needs more batches. */
static void
test_bins(void)
{
	GcSimClients load = load_of(2, 64, INFINITY, GC_ROUTE_ROUND_ROBIN);
	GcProfile	half = *gc_profile_known("H200");

	half.max_warps /= 2;
	load.session_us = 0;
	load.ntables = 16;
	load.hot = 0;
	load.thread_us = 1;
	load.devices[1].profile = &half;
	simulate(&load);
	ok(result.batches[1] > 1.2 * result.batches[0], "half a multiprocessor: %d batches, a whole one %d", result.batches[1], result.batches[0]);
}

static void
test_input(void)
{
	GcSimClients load = load_of(3, 20, 60 * MEGABYTE, GC_ROUTE_PREDICTED);
	GcSimThroughput first;
	GcProfile	none = {0};

	simulate(&load);
	first = result;
	simulate(&load);
	ok(memcmp(&first, &result, sizeof(first)) == 0, "the same again");
	load.ndevices = 9;
	ok(!simulate(&load), "nine devices");
	load = load_of(2, 257, 0, GC_ROUTE_PREDICTED);
	ok(!simulate(&load), "too many clients");
	load = load_of(2, 4, 0, GC_ROUTE_PREDICTED);
	load.devices[1].profile = &none;
	ok(!simulate(&load), "a device that makes no sense");
	load = load_of(2, 4, 0, GC_ROUTE_PREDICTED);
	ok(simulate(&load) && result.copied_bytes > 0, "no memory: all is copied, always");
}

int
main(void)
{
	tap_start();
	test_limits();
	test_policies();
	test_bins();
	test_input();
	return tap_done();
}
