/*-------------------------------------------------------------------------
 *
 * admission.c
 *	  How many requests have data in device memory at a time: a decision.
 *
 * This is the query scheduler of Wang et al., "Concurrent Analytical Query Processing with GPUs" (VLDB
 * 2014), section 5.  A request is a sequence of operators i that take time t_i and memory m_i.  Its
 * weighted demand is m = sum(t_i * m_i) / sum(t_i) (equation 2).  A request begins if its demand does
 * not exceed the memory less the demands of those that have begun.
 *
 * The paper says nothing of fairness.  Here a request that waits is overtaken by smaller ones a number of
 * times only.  Then no later one begins before it.  As all that have begun end, it begins at the latest
 * when it is the only one.
 *
 *-------------------------------------------------------------------------
 */
#include "admission.h"

/* A request that waits is overtaken by so many at most. */
#define MOST_OVERTAKING		16

uint64_t
gc_demand(GcAdmissionPolicy policy, const GcDemandPhase *phases, int n)
{
	double		time = 0;
	double		weighted = 0;
	uint64_t	peak = 0;

	for (int i = 0; i < n; i++)
	{
		time += phases[i].time;
		weighted += phases[i].time * (double) phases[i].bytes;
		peak = phases[i].bytes > peak ? phases[i].bytes : peak;
	}
	return policy == GC_ADMIT_WEIGHT && time > 0 ? (uint64_t) (weighted / time) : peak;
}

void
gc_admission_begin(GcAdmission *a, GcAdmissionPolicy policy, uint64_t memory, uint32_t admitted, uint64_t demand)
{
	a->policy = policy;
	a->memory = memory;
	a->admitted = admitted;
	a->demand = demand;
	a->closed = false;
}

/* May one more begin?  The only one always may. */
static bool
has_room(const GcAdmission *a, uint64_t demand)
{
	if (a->admitted == 0)
		return true;
	switch (a->policy)
	{
		case GC_ADMIT_FIX_1:
		case GC_ADMIT_FIX_2:
		case GC_ADMIT_FIX_3:
			return a->admitted < (uint32_t) (a->policy - GC_ADMIT_FIX_1) + 1;
		default:
			return a->demand < a->memory && demand <= a->memory - a->demand;
	}
}

void
gc_admission_wait(GcAdmission *a, uint64_t *refused_at)
{
	if (*refused_at == 0)
		*refused_at = a->total + 1;
	/* All that were admitted since came before it in this order, or have overtaken it. */
	if (a->total + 1 - *refused_at >= MOST_OVERTAKING)
		a->closed = true;
}

bool
gc_admission_ask(GcAdmission *a, uint64_t demand, uint64_t *refused_at)
{
	if (!a->closed && has_room(a, demand))
	{
		a->admitted++;
		a->demand += demand;
		a->total++;
		return true;
	}
	gc_admission_wait(a, refused_at);
	return false;
}
