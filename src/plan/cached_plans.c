/*-------------------------------------------------------------------------
 *
 * cached_plans.c
 *	  Having plans that a session keeps made again.
 *
 * Prepared statements and functions keep plans.  What the planner found of columns and kernels (cold_choice.c) may be
 * over when a plan is executed.  Columns come: a plan that was made for want of them is made again after a while.
 * Columns go, and nodes fall back one by one: the next execution is planned first, and takes PostgreSQL's own plan.
 *
 * The device comes and goes with the worker.  While it is away, statements are planned without nodes.  So each session
 * has its plans made again when it first executes anything beside another worker that has a device.
 *
 * Plans that are made in a SERIALIZABLE transaction have no nodes either, and a transaction of another level may
 * execute them.  The execution that notices it still runs without nodes.
 *
 * PostgreSQL does not tell which of its kept plans a node belongs to, so all of the session's are made again.  That is
 * done seldom: each time doubles how long it takes until the next one, unless a good while has passed.
 *
 * Runs in backends, in the planner and in executions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cached_plans.h"

#include "executor/executor.h"
#include "port/atomics.h"
#include "utils/plancache.h"
#include "utils/timestamp.h"

#include "../columns/encode/spec.h"
#include "../queue/queue.h"

/*
 * Kept plans are made again after so long.  It doubles where that is wanted soon after the last time, for the same
 * columns or others.
 */
#define FIRST_DELAY_MS	100
#define LAST_DELAY_MS	10000

/* From then on kept plans are to be made again; 0: they are not. */
static TimestampTz made_again_at = 0;
static TimestampTz last_made_again = 0;
static int	delay_ms = FIRST_DELAY_MS;

/* The worker that the session's plans were made beside, if it has a device; 0: not known yet. */
#define NO_WORKER	1
static uint64 plans_beside = 0;

/* Plans were made in SERIALIZABLE transactions, since plans were last made again. */
static bool made_tracked = false;

static ExecutorStart_hook_type prev_start_hook = NULL;

/* The next wait is twice the last one, and starts anew once plans were left alone for long. */
static void
set_delay(TimestampTz now)
{
	delay_ms = TimestampDifferenceExceeds(last_made_again, now, LAST_DELAY_MS) ? FIRST_DELAY_MS
		: Min(2 * delay_ms, LAST_DELAY_MS);
}

/* Those in use stay until their executions end. */
static void
make_again(TimestampTz now)
{
	made_again_at = 0;
	last_made_again = now;
	made_tracked = false;
	ResetPlanCache();
}

void
gc_cached_plans_later(void)
{
	const TimestampTz now = GetCurrentTimestamp();

	if (made_again_at != 0)
		return;
	set_delay(now);
	made_again_at = now + delay_ms * INT64CONST(1000);
}

void
gc_cached_plans_failed(void)
{
	const TimestampTz now = GetCurrentTimestamp();

	if (!TimestampDifferenceExceeds(last_made_again, now, delay_ms))
	{
		gc_cached_plans_later();
		return;
	}
	set_delay(now);
	make_again(now);
}

void
gc_cached_plans_tracked(void)
{
	made_tracked = true;
}

/* A stamp of the workers that are there, or NO_WORKER where no device may answer. */
static uint64
worker_with_device(void)
{
	return gc_device_may_answer() ? gc_workers_stamp() << 1 : NO_WORKER;
}

void
gc_cached_plans_begin(void)
{
	if (plans_beside == 0)
		plans_beside = worker_with_device();
}

/* Is there another worker with a device than the one that the plans were made beside? */
static bool
has_device_come(void)
{
	const uint64 now = worker_with_device();
	const bool	come = now != plans_beside && now != NO_WORKER && plans_beside != 0;

	plans_beside = now;
	return come;
}

/* The hook: make cached plans again where that is due, which the next EXECUTE then finds. */
static void
start_executor(QueryDesc *query, int eflags)
{
	if (has_device_come())
		make_again(GetCurrentTimestamp());
	if (made_tracked && !gc_reads_are_tracked())
		gc_cached_plans_failed();
	if (made_again_at != 0)
	{
		const TimestampTz now = GetCurrentTimestamp();

		if (now >= made_again_at)
			make_again(now);
	}
	if (prev_start_hook)
		prev_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

void
gc_cached_plans_install(void)
{
	prev_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
