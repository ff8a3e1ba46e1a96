/*-------------------------------------------------------------------------
 *
 * sched.h
 *	  The scheduler's seam: who runs now, beside whom, in which shape.
 *
 * The worker asks two questions.  When a request comes: which variant of each of its
 * kernels to have (model/variant.h).  And whenever something became ready or
 * finished: which of the ready main kernels to start now, with how many blocks of how
 * many threads (gc_decide).  Main kernels only: builds are shared between requests and
 * small.
 *
 * The decision, by policy, stands in policy.c; the models that it asks are the kernel
 * model (model/kernel_model.h), the batch model (model/batch_model.h) and the cost model
 * (model/cost.h).
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
	GC_POLICY_RANDOM,			/* together as they fit, sizes drawn by lot */
	GC_POLICY_KERNEL,			/* together in order of arrival, sizes by the kernel model */
	GC_POLICY_TWOSTAGE			/* batches by the batch model, sizes by the kernel model */
} GcPolicy;

/* Ready kernels that one decision looks at; those that came later wait. */
#define GC_MAX_CANDIDATES	128

/* Requests that one shared scan serves. */
#define GC_MAX_MEMBERS	32

typedef struct GcSchedule
{
	const GcProfile *profile;
	const GcCalibration *calibration;	/* NULL: times of co-resident batches are not predicted */
	GcPolicy	policy;
	bool		force_shared;	/* shared scans wherever there can be one */
	bool		force_coresident; /* the same of kernels that are co-resident */
	double		idle_overlap;			/* time of kernels side by side, as a part of the sum of
								 * their times alone, from the first one's begin to the last
								 * one's end; learned */
	double		busy_overlap;			/* the same of one that starts beside active ones, from its
								 * own begin to its own end; learned */
	double		together;		/* time in which the device does all that kernels side by
								 * side ask of it, as a part of the same; learned */
	double		residual_part;			/* of the time that a selection scan's requests will still take, how
								 * much the next one takes longer that begins beside them; learned */
	double		utilisation;			/* part of the time in which something is on the device */
	double		host_pressure;		/* of the thread that launches (cost.h); 0: it takes no time */
	uint64_t   *random_state;			/* state of the random numbers */
	int			ncandidates;			/* oldest first */
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
	int			fused;			/* fused kernel; -1: the item's own kernel */
	GcGrid		grid;
	bool		whole_shared;	/* as GcLaunch's (launch_order.h) */
	double		predicted_us;	/* of the kernel, beside the others */
	double		residual_us;		/* of a shared scan: what selection scans of its table will still take, of
								 * which a part is in predicted_us */
	double		issue_share;	/* co-resident with others: of their instructions, the
								 * part that is its own; else 0 */
	double		shared_us;		/* then: what all else takes of the predicted time */
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
 * Bytes that gc_decide works in: from the caller, who keeps them between calls, at a
 * multiple of 64 (the models work on vectors).
 */
extern size_t gc_decide_work_size(void);

/*
 * Which of the ready kernels to start now.  Something is started whenever nothing is
 * active and something is ready.  Never fails: a kernel that no model can place is
 * started by itself once the device is idle.
 */
extern void gc_decide(const GcSchedule *schedule, GcDecideWork *work, GcDecision *decision);

#endif							/* GC_SCHED_H */
