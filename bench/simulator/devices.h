/*-------------------------------------------------------------------------
 *
 * devices.h
 *	  What clients would get of several devices, by the policy that routes their requests.
 *
 * A closed system: each client asks, waits for the answer, and asks again.  A request is a scan of some columns of one
 * table.  The policy (sched/policy/device_choice.h) assigns it to a device.  There it passes the worker's thread, waits
 * until its columns are there, and is in a batch.
 *
 * A batch is a pattern of the cutting-stock problem (sched/model/batch_model.h).  Each device is a bin type of its own,
 * by its profile; an item is a table's scan, which all requests that wait for the table share.  A batch takes what its
 * scans take in sum, as they are bound by the device's memory.  Columns that are missing are copied for all requests
 * that wait for the table; those that were used longest ago make room.  Copies run beside batches.
 *
 * Times are microseconds, amounts bytes.  Same input, same outcome.  One caller at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SIM_DEVICES_H
#define GC_SIM_DEVICES_H

#include "../../src/sched/model/profile.h"
#include "../../src/sched/policy/device_choice.h"

#define GC_SIM_MAX_CLIENTS	256
#define GC_SIM_MAX_TABLES	16
#define GC_SIM_MAX_COLUMNS	8
#define GC_SIM_MAX_QUERIES	8

typedef struct GcSimDevice
{
	const GcProfile *profile;
	double		read_bytes;		/* per microsecond */
	double		link_bytes;		/* likewise, copied to it */
	double		memory_bytes;	/* for columns */
} GcSimDevice;

typedef struct GcSimClients
{
	int			ndevices;
	GcSimDevice devices[GC_CHOICE_MAX_DEVICES];
	GcRoute		policy;
	int			nclients;
	int			nrequests;		/* after which the simulation ends; the first fifth, of four clients, is not measured */
	double		session_us;		/* from an answer to the client's next request */
	double		thread_us;		/* of a worker's thread for a request */
	double		launch_us;		/* of a batch, besides its scans */
	double		member_part;	/* of its time alone that one more member adds to a scan */
	int			ntables;
	double		hot;			/* part of the requests that are about the first table, whatever the others */
	int			ncolumns;
	double		column_bytes[GC_SIM_MAX_COLUMNS];
	int			nqueries;
	uint32_t	queries[GC_SIM_MAX_QUERIES];	/* columns that they read, as bits */
} GcSimClients;

typedef struct GcSimThroughput
{
	double		per_second;		/* requests */
	double		copied_bytes;	/* per request */
	int			requests[GC_CHOICE_MAX_DEVICES];
	int			batches[GC_CHOICE_MAX_DEVICES];
} GcSimThroughput;

/* False: the input makes no sense. */
extern bool gc_simulate_devices(const GcSimClients *load, GcSimThroughput *result);

#endif							/* GC_SIM_DEVICES_H */
