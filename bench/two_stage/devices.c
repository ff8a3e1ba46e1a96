/*-------------------------------------------------------------------------
 *
 * devices.c
 *	  Predict what clients get of 1 to 8 H200s by each routing policy, by bench/simulator.
 *
 *	  devices [THREAD_US [SESSION_US]]
 *
 * The load is that of bench/scale_out/devices --rows 10000000: four tables, half of the requests about the first one.
 * Two times are taken from measured figures.  THREAD_US is what one device takes for a request of many clients,
 * SESSION_US what 16 clients on two devices leave for sessions.  Where a figure was measured (docs/results.md), the
 * table has it beside the prediction; the others are predictions alone.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "../simulator/devices.h"

/* Of an H200: read_bandwidth of its calibration; what a link of 56 GB/s copies. */
#define READ_BYTES	4400576.0
#define LINK_BYTES	56000.0

#define MEGABYTE	1e6

static const char *const policies[] = {
	[GC_ROUTE_ROUND_ROBIN] = "round robin",
	[GC_ROUTE_REQUESTS] = "least requests",
	[GC_ROUTE_AFFINITY] = "affinity",
	[GC_ROUTE_PREDICTED] = "predicted"
};

/* Queries a second, by devices (1, 2) and clients (16, 64), under `predicted`; and with 300 MB of memory, by `affinity`. */
static const int measured[2][2] = {{41651, 40799}, {58618, 72837}};
static const int measured_short[2][2] = {{7743, 16337}, {47159, 52869}};

static GcSimClients load = {
	.nrequests = 20000,.launch_us = 10,.member_part = 0.2,.ntables = 4,.hot = 0.5,
	/* id, g, v, n: 540 MB in all */
	.ncolumns = 4,.column_bytes = {40 * MEGABYTE, 10 * MEGABYTE, 20 * MEGABYTE, 65 * MEGABYTE},
	/* the four queries */
	.nqueries = 4,.queries = {0xc, 0xe, 0xd, 0x6}
};

static void
print_line(int devices, double memory, GcRoute policy)
{
	const bool	is_short = memory < 540 * MEGABYTE;

	printf("| %d | %.0f | %s |", devices, memory / MEGABYTE, policies[policy]);
	for (int i = 0; i < 2; i++)
	{
		GcSimThroughput result;
		int			figure = 0;

		load.policy = policy;
		load.ndevices = devices;
		load.nclients = i == 0 ? 16 : 64;
		for (int d = 0; d < devices; d++)
			load.devices[d] = (GcSimDevice) {gc_profile_known("H200"), READ_BYTES, LINK_BYTES, memory};
		if (!gc_simulate_devices(&load, &result))
			exit(1);
		if (devices <= 2 && (policy == (is_short ? GC_ROUTE_AFFINITY : GC_ROUTE_PREDICTED) || devices == 1))
			figure = (is_short ? measured_short : measured)[devices - 1][i];
		printf(" %.0f |", result.per_second);
		if (figure > 0)
			printf(" %d | %+.0f %% |", figure, 100 * (result.per_second / figure - 1));
		else
			printf(" | |");
	}
	printf("\n");
}

int
main(int argc, char **argv)
{
	load.thread_us = argc > 1 ? atof(argv[1]) : 24;
	load.session_us = argc > 2 ? atof(argv[2]) : 210;
	printf("| devices | MB each | policy | 16 clients | measured | error | 64 clients | measured | error |\n");
	printf("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
	for (int k = 0; k < 2; k++)
	{
		for (int devices = 1; devices <= 8; devices *= 2)
		{
			for (GcRoute policy = GC_ROUTE_ROUND_ROBIN; policy <= GC_ROUTE_PREDICTED; policy++)
			{
				if (devices > 1 || policy == GC_ROUTE_PREDICTED)
					print_line(devices, (k == 0 ? 1000 : 300) * MEGABYTE, policy);
			}
		}
	}
	return 0;
}
