/*-------------------------------------------------------------------------
 *
 * share.h
 *	  Shared scans, as the schedule and the loop know them: one scan of a table for several
 *	  requests.
 *
 * There are two kinds.  In a fused scan (fused.c, shared_scan.c) one kernel contains the
 * requests' members.  In a selection scan (selection.c, selection_scan.c) one kernel tests for
 * all, and each request's own kernel visits the rows that pass.
 *
 * A decision calls, in this order: begin; describe for every READY request; offer for the kernels that serve them;
 * start for those that were chosen.  Learn comes after a scan, forget after a request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_H
#define GC_SHARE_H

#include "../../sched/policy/sched.h"
#include "../run/run.h"
#include "selection.h"

/*
 * Called before the first request.  Fills the hooks of shared scans: begins, waits, arg_word,
 * gives_back.
 */
extern void gc_share_init(GcRunHooks *hooks, GcSelectionPays pays);

/* The worker ends, and the device is closed: give back all that outlives both. */
extern void gc_share_abandon(void);

/* To be called often: has a kernel come that was asked for? */
extern bool gc_share_poll(void);

/* Does the device work on something that gc_share_poll has to ask for? */
extern bool gc_share_working(void);

/* A decision begins: nothing is described yet. */
extern void gc_share_begin(void);

/*
 * Count a run's scan shape.  has_peers: there are other requests, with which it might share a
 * scan.
 */
extern void gc_share_describe(GcRun *run, bool has_peers);

/*
 * Ask for kernels that would serve the requests better: not between offer and start.  Writing the
 * texts takes longer than a decision.
 */
extern void gc_share_improve(void);

/* Is a kernel being made for shared scans of the run's table? */
extern bool gc_share_pending(const GcRun *run);

/*
 * Which kernel serves each request, if any, and at which cost: fills that part of its candidate.  *kernels: all that
 * are offered, until the next decision.  Returns their number.
 */
extern int	gc_share_offer(GcRun *const *runs, GcCandidate *candidates, int ncandidates, const GcFusedKernel **kernels);

/*
 * Start a scan by the offered kernel start->fused.  Its requests are RUNNING then.  On failure they
 * are FINISHED with an error each, or READY again.
 */
extern void gc_share_start(GcMainLaunch *launch, const GcStart *start, GcRun *const *runs);

/* Hash of a launch's kernel. */
extern GcHash gc_share_hash(const GcMainLaunch *launch);

/* A selection scan's selection bitmaps were not done: are they now? */
extern bool gc_share_selection_done(GcMainLaunch *launch);

/*
 * For a selection scan whose bitmaps are done: the expected time that its requests' kernels will still take.
 */
extern double gc_share_left_us(const GcMainLaunch *launch);

/* Learn from a scan that is over: the time until its last request was done. */
extern void gc_share_learn(GcMainLaunch *launch, double time_us);

/* Requests that might have been in a shared scan, or in another one, and will not be. */
extern void gc_share_refused(const GcDecision *d, GcRun *const *runs, const GcCandidate *candidates);

/* The request is over, or not in its scan after all: its scan shape has one user less. */
extern void gc_share_forget(GcRun *run);

#endif							/* GC_SHARE_H */
