/*-------------------------------------------------------------------------
 *
 * main_launch.h
 *	  A launch of a main kernel: one request's, or a shared scan's.  A request's place among others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MAIN_LAUNCH_H
#define GC_MAIN_LAUNCH_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "portability/instr_time.h"

#include "../../device/device.h"
#include "../../sched/model/efforts.h"
#include "../../sched/model/variant.h"

struct GcMainLaunch;
struct GcShareRun;
typedef struct GcRun GcRun;		/* run.h */

/*
 * Additional steps of a shared scan's launch.  All are called on the main thread, with
 * launch->share as gc_share_start left it.
 */
typedef struct GcLaunchOps
{
	/*
	 * No request needs the launch's kernel any more: give back all that only that needed.  May be called twice.
	 */
	void		(*strip) (struct GcMainLaunch *launch);
	/* Free the launch's part, after a strip. */
	void		(*free) (struct GcMainLaunch *launch);
	/* The device is closed, and the worker exits: give back all that lies in shared memory. */
	void		(*forget) (struct GcMainLaunch *launch);
	/*
	 * When the run's own kernel began and ended, counted from the launch's begin; 0: not known.
	 */
	void		(*member_ran) (GcRun *run, float begin_us, float end_us);
} GcLaunchOps;

/*
 * One launch of a kernel for several requests' own kernels (gang.h).
 * Freed with the last of their launches.
 */
typedef struct GcGangLaunch
{
	int			users;			/* launches, and the starter while it starts them */
	int			members;		/* requests */
	GcStream   *stream;			/* of its own, since members end one by one */
	bool		counted;		/* a member was counted as the launch in the kernel's totals */
} GcGangLaunch;

/* Freed with the last of the requests that it answers. */
typedef struct GcMainLaunch
{
	int			users;			/* requests, and the schedule while it starts the launch */
	int			runs;			/* requests among them */
	GcGrid		grid;
	int			registers;
	GcEffort	effort;			/* of its first request's own kernel */
	u32			shared_bytes;
	bool		whole_shared;	/* as GcLaunch's */
	const GcKernel *kernel;		/* its request's own, which may be in a gang; NULL: none such */
	u64			gang_id;		/* as GcCandidate's gang */
	GcGangLaunch *gang;			/* that it is in; NULL: a launch of its own */
	const GcLaunchOps *ops;		/* of a shared scan; NULL for one request */
	struct GcShareLaunch *share;	/* of a shared scan: share/'s part of it */
	u32			scan;			/* number of its table's scan, as in GcCandidate */
	u32			ticket;			/* fused: written to the word of stop_slot, it stops the kernel (stop.c); else 0 */
	int			stop_slot;		/* a member's slot */
	bool		fused;			/* a shared scan, fused or by selection */
	bool		selection;
	bool		select_done;	/* selection: whether its bitmaps were done when last looked at */
	double		total_us;		/* selection: until the last of its finished requests was done */
	u64			began_ns;		/* when it began, by the device's clock; 0: not known */
	float		kernel_us;		/* and how long it took; selection: the selection kernel */
	u32			ntiles;
	u32			first_tile;
	double		predicted_us;
	double		alone_us;		/* of its first request's own kernel */
	instr_time	started;		/* by the worker's clock */
	double		issue_share;	/* as GcStart's */
	double		shared_us;		/* as GcStart's; 0: no issue part can be learned */
	int			members;		/* requests that it answers */
	u32			number;			/* within its batch */
	bool		alone;			/* nothing else was on the device while it ran */
	bool		undisturbed;	/* nothing but its batch was */
	double		busy_overlap;	/* GcSchedule's; 0: it began on an idle device */
	double		residual_us;	/* of a shared scan: as GcStart's */
	double		residual_part;	/* GcSchedule's at the start */
	bool		learned;		/* the cost model has learned from it */
} GcMainLaunch;

/* Its place among other requests: the launch that it is in, and shared scans' part of it. */
typedef struct GcRunSchedule
{
	TimestampTz taken;
	bool		begun;			/* it has asked for device memory before */
	bool		released;		/* from gpuconc.debug_hold_requests */
	GcMainLaunch *launch;
	bool		ganged;			/* its main kernel is on the stream of its launch's gang */
	struct GcBatch *batch;		/* the batch in which it was started */
	int			batch_entry;	/* its place in the batch's record; -1: not kept */
	u32			scan;			/* number of its table's scan, as in GcCandidate; 0: none */
	u32			scan_chunks;	/* number of its directory's first chunks, which a shared scan reads */
	struct GcShareRun *share;	/* shared scans' part of it (share/); in cxt */
	u32			ticket;			/* that no other request or launch has */
	bool		stopped;		/* its kernels were told to end early */
} GcRunSchedule;

/* A gang without members, which the caller holds.  NULL: err set. */
extern GcGangLaunch *gc_gang_launch_new(GcError *err);
extern void gc_gang_launch_release(GcGangLaunch *gang);

/* The launch is one of the gang's.  members: its requests. */
extern void gc_gang_launch_join(GcGangLaunch *gang, GcMainLaunch *launch, int members);

/* A holder is done with the launch; the last one frees it. */
extern void gc_main_launch_release(GcMainLaunch *launch);

/* A request is in its launch no more. */
extern void gc_main_launch_leave(GcRunSchedule *schedule);

#endif							/* GC_MAIN_LAUNCH_H */
