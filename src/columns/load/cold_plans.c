/*-------------------------------------------------------------------------
 *
 * cold_plans.c
 *	  Nodes of statements that wait for columns.  See cold_plans.h.
 *
 * Places in shared memory of a fixed size, so that nothing is held for a session that ends, or a load that fails.
 * Sessions fill them, the oldest first; loaders empty them.  Two loaders may compile one plan, which does no harm.  But
 * neither may miss it, since each may see only its own columns.  So it stays in its place until one of them has seen
 * all.
 *
 * Lock: GC_LOCK_COLD_PLANS, with no other.
 *
 *-------------------------------------------------------------------------
 */
#include "cold_plans.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "../store/lock.h"
#include "../../shmem.h"

#define PLACES		16
#define MOST_BYTES	(128 * 1024)
#define KEPT_MS		600000

typedef struct KeptPlan
{
	TimestampTz since;			/* 0: it is free */
	Oid			database;
	Oid			user;
	char		text[MOST_BYTES];
} KeptPlan;

static KeptPlan *places = NULL;
static GcColdPlanCompile compiler = NULL;

/* The places of plans that wait, free at first. */
void
gc_cold_plans_shmem(void)
{
	bool		made;

	places = gc_shmem_unset("gpuconc cold plans", PLACES * sizeof(KeptPlan), &made);
	for (int i = 0; i < PLACES && made; i++)
		places[i].since = 0;
}

/* With the lock. */
static bool
is_kept(const KeptPlan *place, Oid user, const char *text)
{
	return place->since != 0 && place->database == MyDatabaseId && place->user == user &&
		strcmp(place->text, text) == 0;
}

void
gc_cold_plan_keep(const char *text)
{
	const TimestampTz now = GetCurrentTimestamp();
	KeptPlan   *place = &places[0];

	if (strlen(text) >= MOST_BYTES)
		return;
	LWLockAcquire(gc_lock(GC_LOCK_COLD_PLANS), LW_EXCLUSIVE);
	for (int i = 1; i < PLACES; i++)
	{
		if (places[i].since < place->since)
			place = &places[i];
	}
	for (int i = 0; i < PLACES; i++)
	{
		if (is_kept(&places[i], GetUserId(), text))
			place = &places[i];
	}
	place->since = now;
	place->database = MyDatabaseId;
	place->user = GetUserId();
	strlcpy(place->text, text, MOST_BYTES);
	LWLockRelease(gc_lock(GC_LOCK_COLD_PLANS));
}

/* The plan of a place, copied; false: there is none for this database. */
static bool
copy_plan(int i, Oid *user, char **text)
{
	KeptPlan   *place = &places[i];
	bool		found;

	LWLockAcquire(gc_lock(GC_LOCK_COLD_PLANS), LW_EXCLUSIVE);
	if (place->since != 0 && TimestampDifferenceExceeds(place->since, GetCurrentTimestamp(), KEPT_MS))
		place->since = 0;
	found = place->since != 0 && place->database == MyDatabaseId;
	*user = place->user;
	*text = found ? pstrdup(place->text) : NULL;
	LWLockRelease(gc_lock(GC_LOCK_COLD_PLANS));
	return found;
}

/* The plan's kernels were asked for, unless another plan has the place by now. */
static void
leave_place(int i, Oid user, const char *text)
{
	LWLockAcquire(gc_lock(GC_LOCK_COLD_PLANS), LW_EXCLUSIVE);
	if (is_kept(&places[i], user, text))
		places[i].since = 0;
	LWLockRelease(gc_lock(GC_LOCK_COLD_PLANS));
}

/* Note the function that asks for a plan's kernels; it is of a room above. */
void
gc_cold_plans_compiler(GcColdPlanCompile compile)
{
	compiler = compile;
}

bool
gc_cold_plans_compile(int *place)
{
	Oid			user;
	char	   *text;

	while (*place < PLACES)
	{
		const int	i = (*place)++;

		if (!copy_plan(i, &user, &text))
			continue;
		if (compiler(text, user))
			leave_place(i, user, text);
		return true;
	}
	return false;
}
