/*-------------------------------------------------------------------------
 *
 * device_choice.h
 *	  Which of several devices a request goes to.
 *
 * A table stays on its device, since requests over it share scans, builds and results there.  Another one gets a
 * request when those before it take longer than its own scan.  The cost of its columns and builds there counts.  Another
 * device that is short of memory gets no request that would copy for longer than it scans.  A copy there drives out
 * columns of others, which are then copied again and again.
 *
 * Pure functions, for sessions (queue/route.c) and the simulator.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_CHOICE_H
#define GC_DEVICE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#define GC_CHOICE_MAX_DEVICES	8

/* gpuconc.debug_route */
typedef enum GcRoute
{
	GC_ROUTE_ROUND_ROBIN,
	GC_ROUTE_REQUESTS,			/* the fewest requests */
	GC_ROUTE_AFFINITY,			/* the fewest bytes to copy */
	GC_ROUTE_PREDICTED			/* where its columns are, unless it waits there for longer than it scans */
} GcRoute;

/* A device as a request finds it. */
typedef struct GcDeviceOffer
{
	bool		candidate;		/* the request may go there */
	bool		is_short;		/* of memory */
	double		missing;		/* bytes to copy or to build */
	double		link;			/* bytes per microsecond that are copied */
	double		backlog;		/* microseconds of the requests assigned to it */
	double		requests;		/* that are assigned */
	double		memory_used;	/* bytes */
} GcDeviceOffer;

/* The device for a request that takes `us` microseconds.  turn: for GC_ROUTE_ROUND_ROBIN.  -1: none is a candidate. */
extern int	gc_choose_device(const GcDeviceOffer *offers, int n, double us, uint32_t turn, GcRoute policy);

/*
 * Are n devices with these backlogs sooner done with a part each than the least busy one is with the whole?  merge_us:
 * to make one result of the parts'.
 */
extern bool gc_parts_are_sooner(const double *backlogs, int n, double us, double merge_us);

#endif							/* GC_DEVICE_CHOICE_H */
