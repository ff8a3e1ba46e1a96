/*-------------------------------------------------------------------------
 *
 * main_launch.h
 *	  A launch of a main kernel: one request's, or a shared scan's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MAIN_LAUNCH_H
#define GC_MAIN_LAUNCH_H

#include "postgres.h"

#include "portability/instr_time.h"

#include "../../device/device.h"
#include "../../sched/model/variant.h"

struct GcMainLaunch;
struct GcRun;

/*
 * What a shared scan's launch does besides.  All are called on the main thread, with
 * launch->share as gc_share_start left it.
 */
typedef struct GcLaunchOps
{
	/* No request needs its kernel any more: give back what only that needed.  May come twice. */
	void		(*strip) (struct GcMainLaunch *launch);
	/* It goes, after a strip. */
	void		(*free) (struct GcMainLaunch *launch);
	/* The device is closed, and the worker exits: give back what lies in shared memory. */
	void		(*forget) (struct GcMainLaunch *launch);
	/* When the run's own kernel began and ended behind it, from the launch's begin; 0: not known. */
	void		(*member_ran) (struct GcRun *run, float begin_us, float end_us);
} GcLaunchOps;

/* It goes with the last of the requests that it answers. */
typedef struct GcMainLaunch
{
	int			users;			/* requests, and the schedule while it starts it */
	int			runs;			/* requests among them */
	GcGrid		grid;
	int			registers;
	u32			shared_bytes;
	bool		whole_shared;	/* as GcLaunch's */
	const GcLaunchOps *ops;		/* of a shared scan; else NULL */
	struct GcShareLaunch *share;	/* then: what share/ keeps of it */
	u32			scan;			/* number of its table's scan, as in GcCandidate */
	bool		fused;			/* a shared scan, fused or marked */
	bool		selection;
	bool		select_done;		/* marked: its marks, when they were last looked at */
	double		total_us;		/* marked: until the last request so far was done */
	u64			began_ns;		/* when it began, by the device's clock; 0: not known */
	float		kernel_us;		/* and how long it took; marked: the marks */
	u32			ntiles;
	u32			first_tile;
	double		predicted_us;
	double		alone_us;		/* of its first request's own kernel */
	instr_time	started;		/* by the worker's clock */
	double		issue_share;	/* as GcStart's */
	double		shared_us;		/* as GcStart's; 0: nothing can be learned of issue */
	int			members;		/* requests that it answers */
	u32			number;			/* within its batch */
	bool		alone;			/* nothing else was on the device while it ran */
	bool		undisturbed;	/* nothing but its batch was */
	double		busy_overlap;			/* GcSchedule's; 0: it began on an idle device */
	double		residual_us;		/* of a shared scan: as GcStart's */
	double		residual_part;			/* GcSchedule's then */
	bool		learned;		/* the cost model has heard of it */
} GcMainLaunch;

/* A user is done with it; the last one frees it. */
extern void gc_main_launch_release(GcMainLaunch *launch);

/* What only its kernel needed, and its requests are done with, is given back. */
extern void gc_main_launch_strip(GcMainLaunch *launch);
extern void gc_main_launch_forget(GcMainLaunch *launch);

#endif							/* GC_MAIN_LAUNCH_H */
