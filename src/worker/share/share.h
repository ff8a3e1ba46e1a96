/*-------------------------------------------------------------------------
 *
 * share.h
 *	  Shared scans, as the schedule and the loop know them: one scan of a table for several
 *	  requests.
 *
 * There are two kinds: fused scans (fused.c, shared_scan.c), where the requests' members stand
 * in one kernel, and selection scans (selection.c, selection_scan.c), where one kernel tests for all, and
 * each request's own visits the rows that pass.
 *
 * In one decision, in this order: begin; describe every READY request; offer the kernels that
 * serve them; start what was decided.  When a scan is over, learn; when a request is, forget.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_H
#define GC_SHARE_H

#include "../../sched/policy/sched.h"
#include "../run/hooks.h"
#include "../run/run.h"
#include "predicates.h"

/*
 * Before the first request.  Fills the hooks that are shared scans' own: begins, waits, arg_word,
 * gives_back.
 */
extern void gc_share_init(GcRunHooks *hooks, GcSelectionPays pays);

/* The worker ends, and the device is closed: give back what outlives both. */
extern void gc_share_abandon(void);

/* To be called often: has a kernel come that was asked for? */
extern bool gc_share_poll(void);

/* Does the device work on something that is to be asked for (gc_share_poll)? */
extern bool gc_share_working(void);

/* A decision begins: nothing is described yet. */
extern void gc_share_begin(void);

/* Counts its shape.  company: others are here, with whom it might share a scan. */
extern void gc_share_describe(GcRun *run, bool has_peers);

/*
 * Ask for kernels that would serve them better: not between offer and start.  It writes
 * texts, which takes longer than a decision.
 */
extern void gc_share_improve(void);

/* Is a kernel being made for its table's shared scans? */
extern bool gc_share_pending(const GcRun *run);

/*
 * Which kernel serves each request, if any, and at what cost: fills that part of its item.
 * *kernels: all that are offered, until the next decision.  Returns their number.
 */
extern int	gc_share_offer(GcRun *const *runs, GcCandidate *candidates, int ncandidates, const GcFusedKernel **kernels);

/*
 * Start a scan by the kernel start->fused of those offered.  Its requests are RUNNING then; where
 * that failed, FINISHED with an error each, or READY again.
 */
extern void gc_share_start(GcMainLaunch *launch, const GcStart *start, GcRun *const *runs);

/* Hash of a launch's kernel. */
extern GcHash gc_share_hash(const GcMainLaunch *launch);

/* A selection scan's marks were not done: are they now? */
extern bool gc_share_selection_done(GcMainLaunch *launch);

/* Of a selection scan whose marks are done: what its requests' kernels are expected to take yet. */
extern double gc_share_left_us(const GcMainLaunch *launch);

/* A scan is over, and took so long until its last request was done. */
extern void gc_share_learn(GcMainLaunch *launch, double time_us);

/* Requests that might have been in a shared scan, or in another one, and will not. */
extern void gc_share_refused(const GcDecision *d, GcRun *const *runs, const GcCandidate *candidates);

/* The request is over, or not in its scan after all: its shape has one user less. */
extern void gc_share_forget(GcRun *run);

#endif							/* GC_SHARE_H */
