/*-------------------------------------------------------------------------
 *
 * cold_loader.c
 *	  Loading columns in the background.  See cold_loader.h.
 *
 * A table's loader has a place in shared memory, from the moment that a session asks for it.  Sessions run
 * what asks for a load; the rest runs in loaders.  The places' spinlock is held for a few instructions only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "cold_loader.h"
#include "../../settings.h"
#include "../../shmem.h"
#include "../encode/spec.h"
#include "../store/directory.h"
#include "../store/epoch.h"
#include "../store/store.h"

/* A loader that has not come by then is not waited for; and after a failure, the next may come. */
#define START_AGAIN_MS	10000

#define WISH_WORDS		(MaxHeapAttributeNumber / 64 + 1)

typedef enum GcPlaceState
{
	PLACE_FREE,
	PLACE_STARTING,				/* a loader was asked for */
	PLACE_RUNNING,
	PLACE_RESTING				/* its load has failed */
} GcPlaceState;

typedef struct GcColdLoader
{
	GcPlaceState state;
	int			pid;			/* RUNNING */
	TimestampTz since;			/* of the state */
	GcRelKey	key;
	uint64		wishes[WISH_WORDS]; /* columns, by number */
} GcColdLoader;

typedef struct GcColdLoaders
{
	slock_t		lock;
	GcColdLoader loaders[GC_COLD_LOADERS];
} GcColdLoaders;

static GcColdLoaders *shared = NULL;
static GcColdLoader *mine = NULL;

/* The places of loaders, free at first. */
void
gc_cold_loader_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc cold loaders", sizeof(GcColdLoaders), &made);
	if (made)
		SpinLockInit(&shared->lock);
}

/*-------------------------------------------------------------------------
 * Asking
 *-------------------------------------------------------------------------
 */

/* Has its time as a place that starts, or rests, passed? */
static bool
is_over(const GcColdLoader *l, TimestampTz now)
{
	return l->state != PLACE_RUNNING && TimestampDifferenceExceeds(l->since, now, START_AGAIN_MS);
}

/* The table's place, or one that it can have, or NULL.  Under the spinlock. */
static GcColdLoader *
find_place(const GcRelKey *key, TimestampTz now)
{
	GcColdLoader *place = NULL;

	for (int i = 0; i < GC_COLD_LOADERS; i++)
	{
		GcColdLoader *l = &shared->loaders[i];

		if (l->state != PLACE_FREE && memcmp(&l->key, key, sizeof(GcRelKey)) == 0)
			return l;
		if (l->state == PLACE_FREE || is_over(l, now) || (l->state == PLACE_RESTING && place == NULL))
			place = l;
	}
	return place;
}

/* Is what the place was asked for there by now?  Its loader may have been about to end. */
static bool
are_loaded(Relation rel, int ncols, const GcColSpec *specs)
{
	const GcDirectory *dir;
	bool		loaded;

	gc_guard_enter();
	dir = gc_directory(rel);
	loaded = dir != NULL;
	for (int c = 0; c < ncols && loaded; c++)
		loaded = gc_directory_column(dir, &specs[c]) >= 0;
	gc_guard_leave();
	return loaded;
}

/* No loader comes. */
static void
give_back(GcColdLoader *place, TimestampTz since)
{
	SpinLockAcquire(&shared->lock);
	if (place->state == PLACE_STARTING && place->since == since)
		place->state = PLACE_FREE;
	SpinLockRelease(&shared->lock);
}

/* Note what a session wants, in the place of the table's loader.  A new loader is started outside of the lock. */
static GcColdLoad
ask_for_columns(Relation rel, const GcRelKey *key, int ncols, const GcColSpec *specs)
{
	const TimestampTz now = GetCurrentTimestamp();
	GcColdLoad	answer = GC_COLD_BUSY;
	GcColdLoader *place;
	bool		start = false;

	SpinLockAcquire(&shared->lock);
	place = find_place(key, now);
	if (place)
	{
		const bool	other = memcmp(&place->key, key, sizeof(GcRelKey)) != 0;

		start = place->state == PLACE_FREE || other || is_over(place, now);
		answer = !start && place->state == PLACE_RESTING ? GC_COLD_RESTS : GC_COLD_LOADING;
		if (start)
			*place = (GcColdLoader) {.state = PLACE_STARTING,.since = now,.key = *key};
		for (int c = 0; c < ncols; c++)
			place->wishes[specs[c].attnum / 64] |= UINT64CONST(1) << specs[c].attnum % 64;
	}
	SpinLockRelease(&shared->lock);

	if (!start)
		return answer;
	if (!are_loaded(rel, ncols, specs))
	{
		if (gc_loader_start_cold(key))
			return GC_COLD_LOADING;
		answer = GC_COLD_NO_WORKER;
	}
	give_back(place, now);
	return answer;
}

bool
gc_may_load_in_background(Relation rel)
{
	const char *reason;

	return gc_rel_loadable(rel, &reason);
}

GcColdLoad
gc_load_columns_in_background(Relation rel, int ncols, const GcColSpec *specs)
{
	GcRelKey	key;

	if (!gc_may_load_in_background(rel))
		return GC_COLD_NO_WORKER;
	gc_rel_key(rel, &key);
	return ask_for_columns(rel, &key, ncols, specs);
}

/*-------------------------------------------------------------------------
 * The loader
 *-------------------------------------------------------------------------
 */

/* Under the spinlock. */
static bool
is_mine(const GcColdLoader *l)
{
	return l->state == PLACE_RUNNING && l->pid == MyProcPid;
}

/* The loader's task is over; after a failure none is started for some time. */
static void
leave_place(bool failed)
{
	const TimestampTz now = GetCurrentTimestamp();

	SpinLockAcquire(&shared->lock);
	if (is_mine(mine))
	{
		mine->state = failed ? PLACE_RESTING : PLACE_FREE;
		mine->since = now;
	}
	SpinLockRelease(&shared->lock);
}

/* However the process ends. */
static void
leave_at_exit(int code, Datum arg)
{
	leave_place(code != 0);
}

/* Take the place that was made for this loader.  False: it is another's by now. */
static bool
take_place(const GcRelKey *key)
{
	SpinLockAcquire(&shared->lock);
	for (int i = 0; i < GC_COLD_LOADERS && mine == NULL; i++)
	{
		GcColdLoader *l = &shared->loaders[i];

		if (l->state == PLACE_STARTING && memcmp(&l->key, key, sizeof(GcRelKey)) == 0)
			mine = l;
	}
	if (mine)
	{
		mine->state = PLACE_RUNNING;
		mine->pid = MyProcPid;
	}
	SpinLockRelease(&shared->lock);
	if (mine)
		before_shmem_exit(leave_at_exit, 0);
	return mine != NULL;
}

/* Columns that were asked for; none: the place is left in the same moment, so that no wish is lost. */
static int
take_wishes(AttrNumber *attnums)
{
	uint64		wishes[WISH_WORDS] = {0};
	int			n = 0;

	SpinLockAcquire(&shared->lock);
	memcpy(wishes, mine->wishes, sizeof(wishes));
	memset(mine->wishes, 0, sizeof(wishes));
	for (int w = 0; w < WISH_WORDS && n == 0; w++)
		n = wishes[w] != 0;
	if (n == 0)
		mine->state = PLACE_FREE;
	SpinLockRelease(&shared->lock);

	n = 0;
	for (int a = 1; a <= MaxHeapAttributeNumber; a++)
	{
		if (wishes[a / 64] & UINT64CONST(1) << a % 64)
			attnums[n++] = a;
	}
	return n;
}

int
gc_cold_loader_helpers(void)
{
	int			running = 0;

	SpinLockAcquire(&shared->lock);
	for (int i = 0; i < GC_COLD_LOADERS; i++)
		running += shared->loaders[i].state == PLACE_RUNNING;
	SpinLockRelease(&shared->lock);
	return gc_loader_workers / Max(running, 1);
}

void
gc_cold_loader_run(const GcLoaderArgs *args, bool (*load) (const GcLoaderArgs *args, int ncols, const AttrNumber *attnums))
{
	AttrNumber	attnums[MaxHeapAttributeNumber];
	int			n;

	if (!take_place(&args->key))
		return;
	while ((n = take_wishes(attnums)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (!load(args, n, attnums))
		{
			leave_place(true);
			return;
		}
	}
}
