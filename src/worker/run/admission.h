/*-------------------------------------------------------------------------
 *
 * admission.h
 *	  How many requests have data in device memory at a time: a decision.
 *
 * Pure functions over a state that the caller keeps: no device and no PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ADMISSION_H
#define GC_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

/* gpuconc.admission: the policies of Wang et al. 2014, section 7.5 */
typedef enum GcAdmissionPolicy
{
	GC_ADMIT_FIX_1,				/* one request at a time */
	GC_ADMIT_FIX_2,
	GC_ADMIT_FIX_3,
	GC_ADMIT_PEAK,				/* as many as fit by the most that each takes at a time */
	GC_ADMIT_WEIGHT				/* as many as fit by the weighted demand of each */
} GcAdmissionPolicy;

/* One phase of a request: how long it is, in any unit, and the device memory that it takes. */
typedef struct GcDemandPhase
{
	double		time;
	uint64_t	bytes;
} GcDemandPhase;

/* Bytes that a request counts for under the policy: phases that are over are left out by the caller. */
extern uint64_t gc_demand(GcAdmissionPolicy policy, const GcDemandPhase *phases, int n);

/* Requests that were admitted.  All 0 at first. */
typedef struct GcAdmission
{
	GcAdmissionPolicy policy;
	uint64_t	memory;			/* device memory for all */
	uint64_t	demand;			/* of the requests that are admitted */
	uint32_t	admitted;		/* their number */
	uint64_t	total;			/* requests admitted so far */
	bool		closed;			/* an older request has waited long: no later one is admitted */
} GcAdmission;

/* Requests that wait ask next, the oldest first.  demand: of the `admitted` requests, as it is now. */
extern void gc_admission_begin(GcAdmission *a, GcAdmissionPolicy policy, uint64_t memory, uint32_t admitted,
							   uint64_t demand);

/*
 * May a request begin?  refused_at is 0 when the request asks first, and kept for it.  The only request
 * of all may always begin.
 */
extern bool gc_admission_ask(GcAdmission *a, uint64_t demand, uint64_t *refused_at);

/* The request waits without asking, in its turn: no later one is admitted if it has waited long. */
extern void gc_admission_wait(GcAdmission *a, uint64_t *refused_at);

#endif							/* GC_ADMISSION_H */
