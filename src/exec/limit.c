/*-------------------------------------------------------------------------
 *
 * limit.c
 *	  How long a request may run, as PostgreSQL's own plan could answer meanwhile.
 *
 * A plan is chosen by estimates, and these may be wrong by a factor of thousands.  A join without an index looks cheap
 * where ten rows are expected and a million come.  So a request that takes many times what PostgreSQL's own plan was
 * expected to take is stopped, and that plan answers.  That may have been the wrong estimate instead.  So the own plan
 * is timed, too.  For ten minutes, it answers if it took less than the request had.  Else the limit is many times what
 * it took.  A plan that never came to its end, as its user was tired of it, sets no limit.  One of which a LIMIT above
 * wants no more rows has come to its end.
 *
 *   expected 20 ms, stopped after 5 s, own plan took 30 ms		own plan answers
 *   expected 20 ms, stopped after 5 s, own plan took 60 s		limit of 10 minutes
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "portability/instr_time.h"
#include "utils/timestamp.h"

#include "../force.h"
#include "../settings.h"

/* The limit, as a multiple of the time of PostgreSQL's own plan. */
#define TIMES		10

/* How long that is remembered, in ms. */
#define LIFE_MS		(10 * 60 * 1000)

/* Was a request stopped lately, for taking longer than PostgreSQL's own plan? */
static bool
is_remembered(const GcHints *hints)
{
	return hints->stopped_at != 0 && !TimestampDifferenceExceeds(hints->stopped_at, GetCurrentTimestamp(), LIFE_MS);
}

double
gc_device_limit(const GcScanState *node, const GcHints *hints)
{
	double		own_ms = node->plan->own_ms;

	if (gc_offload_forced())
		return -1;
	if (is_remembered(hints))
	{
		if (hints->own_plan_ms < 0)
			return -1;
		own_ms = Max(own_ms, hints->own_plan_ms);
	}
	/* Others on the device may be what takes so long. */
	return Max(TIMES * own_ms, gc_debug_least_limit);
}

bool
gc_own_plan_has_won(const GcHints *hints)
{
	return !gc_offload_forced() && is_remembered(hints) && hints->own_plan_ms >= 0 &&
		hints->own_plan_ms < hints->stopped_after_ms;
}

void
gc_limit_reached(GcScanState *node, GcHints *hints)
{
	hints->stopped_after_ms = node->limit_ms;
	hints->own_plan_ms = -1;
	hints->stopped_at = GetCurrentTimestamp();
	gc_hints_share(hints);
	node->own_plan_timed = true;
	INSTR_TIME_SET_ZERO(node->own_plan_time);
}

void
gc_limit_own_plan_ended(GcScanState *node)
{
	GcHints    *hints = gc_hints(node->logical);

	node->own_plan_timed = false;
	hints->own_plan_ms = INSTR_TIME_GET_MILLISEC(node->own_plan_time);
	/* The plan may have taken longer than the request is remembered. */
	hints->stopped_at = GetCurrentTimestamp();
	gc_hints_share(hints);
}
