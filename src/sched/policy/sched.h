/*-------------------------------------------------------------------------
 *
 * sched.h
 *	  The scheduler's interface: which kernels run now, next to which others, with which grid.
 *
 * The worker asks two questions.  When a request comes: which variant should each of its
 * kernels be (model/variant.h)?  Whenever something became ready or finished: which of the
 * ready main kernels start now, with which launch grid (gc_decide)?  Builds are not scheduled:
 * requests share them, and they are small.
 *
 * The policies are in policy.c and twostage.c.  They ask the kernel model
 * (model/kernel_model.h), the batch model (model/batch_model.h) and the cost model
 * (model/cost.h).
 *
 * Pure functions.  The worker's main thread calls them, and owns all that they work on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCHED_H
#define GC_SCHED_H

#include <stddef.h>

#include "candidate.h"

/* How requests are put on the device (gpuconc.schedule). */
typedef enum GcPolicy
{
	GC_POLICY_SEQUENTIAL,		/* one at a time, each with the whole device */
	GC_POLICY_STREAMS,			/* all at once, each with a grid for the whole device */
	GC_POLICY_RANDOM,			/* together as they fit, sizes at random */
	GC_POLICY_KERNEL,			/* together in order of arrival, sizes by the kernel model */
	GC_POLICY_TWOSTAGE			/* batches by the batch model, sizes by the kernel model */
} GcPolicy;

/* Ready kernels that one decision looks at; kernels that came later wait. */
#define GC_MAX_CANDIDATES	128

/* Requests that one shared scan serves. */
#define GC_MAX_MEMBERS	32

typedef struct GcSchedule
{
	const GcProfile *profile;
	const GcCalibration *calibration;	/* NULL: times of co-resident batches are not predicted */
	GcPolicy	policy;
	bool		force_shared;	/* shared scans wherever there can be one */
	bool		force_coresident;	/* co-resident kernels wherever they fit */
	bool		force_gang;		/* candidates wait for launches of their text, whatever these take */
	double		idle_overlap;	/* learned: time of kernels that start together on an idle
								 * device, as a part of the sum of their times alone */
	double		busy_overlap;	/* learned: the same of a kernel that starts while others are
								 * active, from its own start to its own end */
	double		together;		/* learned: time in which the device does the work of many
								 * concurrent kernels, as a part of the same sum */
	double		residual_part;	/* learned: additional time of a selection scan that starts
								 * while requests of the last one run, as a part of the time
								 * that they will still take */
	double		utilisation;	/* part of the time in which something is on the device */
	double		host_pressure;	/* how much of the launching thread's time counts (cost.h);
								 * 0: nothing */
	uint64_t   *random_state;	/* of the random numbers */
	int			ncandidates;	/* oldest first */
	const GcCandidate *candidate;
	int			nactive;
	const GcActive *active;
	int			nfused;
	const GcFusedKernel *fused;
} GcSchedule;

/* One launch: a kernel alone, or the members of a shared scan. */
typedef struct GcStart
{
	int			ncandidates;
	int			candidate[GC_MAX_MEMBERS];
	int			member_no[GC_MAX_MEMBERS];	/* of the fused kernel */
	int			fused;			/* shared scan's kernel; -1: the candidate's own kernel */
	GcGrid		grid;
	bool		whole_shared;	/* as GcLaunch's (launch_order.h) */
	double		predicted_us;	/* of the kernel, next to the others */
	double		residual_us;	/* shared scan: time that active selection scans of its table
								 * will still take; predicted_us includes a part of it */
	double		issue_share;	/* co-resident: this kernel's part of the batch's issue; else 0 */
	double		shared_us;		/* co-resident: the part of memory and latency in the predicted time */
} GcStart;

typedef struct GcDecision
{
	int			nstarts;
	GcStart		start[GC_MAX_CANDIDATES];
	int			patterns;		/* of the batch model's plan; 0: it was not asked */
	int			planned;		/* batches of that plan */
	double		predicted_us;	/* until all of them are done */
} GcDecision;

typedef struct GcDecideWork GcDecideWork;

/*
 * Bytes that gc_decide works in.  The caller owns them and keeps them between calls; their address
 * is a multiple of 64, since the models work on vectors.
 */
extern size_t gc_decide_work_size(void);

/*
 * Which of the ready kernels to start now.  Something is started whenever nothing is
 * active and something is ready.  Never fails: a kernel that no model can place
 * starts alone once the device is idle.
 */
extern void gc_decide(const GcSchedule *schedule, GcDecideWork *work, GcDecision *decision);

#endif							/* GC_SCHED_H */
