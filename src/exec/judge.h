/*-------------------------------------------------------------------------
 *
 * judge.h
 *	  Whether the device or PostgreSQL's own plan is sooner, for the values that parameters have; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_JUDGE_H
#define GC_JUDGE_H

#include "exec.h"

/*
 * Is PostgreSQL's own plan estimated to be sooner?  Where the planner guessed, own_ms and ms of the node's plan become
 * what the values make of them.  False where nothing was guessed, or is known better.
 */
extern bool gc_own_plan_is_sooner(GcScanState *node);

#endif							/* GC_JUDGE_H */
