/*-------------------------------------------------------------------------
 *
 * table_loader.c
 *	  Loading columns and hot pages in the background.  See table_loader.h.
 *
 * For either, a table's loader has a place in shared memory, from the moment that a session asks for it.  Sessions run
 * the functions that ask for a load; the rest runs in loaders.  The places' spinlock is held for a few instructions
 * only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/spin.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "table_loader.h"
#include "../../compat.h"
#include "../../settings.h"
#include "../../shmem.h"
#include "../encode/spec.h"
#include "../store/directory.h"
#include "../store/epoch.h"
#include "../store/store.h"

/* Tables that can have a loader of columns, and of hot pages, at a time. */
#define COLD_LOADERS	4
#define HOT_LOADERS		8

/* A loader that has not come by then is not waited for; and after a failure, the next may come. */
#define START_AGAIN_MS	10000

/* Hot pages: a session asks once for a directory, or again if none has taken its place for so long. */
#define ASK_AGAIN_MS	50

/* Their loader ends without work for so long.  The longest pause behind a load. */
#define IDLE_MS			2000
#define MOST_PAUSE_MS	10000

#define WISH_WORDS		(MaxHeapAttributeNumber / 64 + 1)

typedef enum GcPlaceState
{
	PLACE_FREE,
	PLACE_STARTING,				/* a loader was asked for */
	PLACE_RUNNING,
	PLACE_RESTING				/* its load has failed */
} GcPlaceState;

typedef struct GcTableLoader
{
	GcPlaceState state;
	Latch	   *latch;			/* RUNNING: the loader's; else NULL */
	TimestampTz since;			/* of the state */
	GcRelKey	key;
	uint64		wishes[WISH_WORDS]; /* columns, by number; hot pages are 0 */
} GcTableLoader;

typedef struct GcTableLoaders
{
	slock_t		lock;
	GcTableLoader loaders[COLD_LOADERS + HOT_LOADERS];	/* of columns first */
} GcTableLoaders;

static GcTableLoaders *shared = NULL;
static GcTableLoader *mine = NULL;

/* The places of loaders, free at first. */
void
gc_table_loader_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc loaders of tables", sizeof(GcTableLoaders), &made);
	if (made)
		SpinLockInit(&shared->lock);
}

/* The places of a task, from the first one up to the end. */
static GcTableLoader *
places_of(GcLoaderTask task, GcTableLoader **end)
{
	GcTableLoader *hot = shared->loaders + COLD_LOADERS;

	*end = task == GC_LOADER_COLD ? hot : hot + HOT_LOADERS;
	return task == GC_LOADER_COLD ? shared->loaders : hot;
}

/*-------------------------------------------------------------------------
 * Asking
 *-------------------------------------------------------------------------
 */

/* The place of a table's loader as a session has found it, and left it. */
typedef struct AskedPlace
{
	GcTableLoader *place;		/* NULL: as many other tables have loaders as may */
	bool		start;			/* a loader is to be started */
	bool		rests;			/* none comes for now */
	Latch	   *latch;			/* of the loader that is there, or NULL */
} AskedPlace;

/* Has its time as a place that starts, or rests, passed? */
static bool
is_over(const GcTableLoader *l, TimestampTz now)
{
	return l->state != PLACE_RUNNING && TimestampDifferenceExceeds(l->since, now, START_AGAIN_MS);
}

/* The table's place, or one that it can have, or NULL.  Under the spinlock. */
static GcTableLoader *
find_place(GcLoaderTask task, const GcRelKey *key, TimestampTz now)
{
	GcTableLoader *place = NULL;
	GcTableLoader *end;

	for (GcTableLoader *l = places_of(task, &end); l < end; l++)
	{
		if (l->state != PLACE_FREE && memcmp(&l->key, key, sizeof(GcRelKey)) == 0)
			return l;
		if (l->state == PLACE_FREE || is_over(l, now) || (l->state == PLACE_RESTING && place == NULL))
			place = l;
	}
	return place;
}

/* Note a session's wish: columns, or hot pages (ncols 0). */
static AskedPlace
ask(GcLoaderTask task, const GcRelKey *key, int ncols, const GcColSpec *specs, TimestampTz now)
{
	AskedPlace	a = {0};

	SpinLockAcquire(&shared->lock);
	a.place = find_place(task, key, now);
	if (a.place)
	{
		a.start = a.place->state == PLACE_FREE || memcmp(&a.place->key, key, sizeof(GcRelKey)) != 0 ||
			is_over(a.place, now);
		a.rests = !a.start && a.place->state == PLACE_RESTING;
		if (a.start)
			*a.place = (GcTableLoader) {.state = PLACE_STARTING,.since = now,.key = *key};
		a.place->wishes[0] |= task == GC_LOADER_HOT;
		for (int c = 0; c < ncols; c++)
			a.place->wishes[specs[c].attnum / 64] |= UINT64CONST(1) << specs[c].attnum % 64;
		a.latch = a.place->latch;
	}
	SpinLockRelease(&shared->lock);
	return a;
}

/* No loader comes. */
static void
give_back(GcTableLoader *place, TimestampTz since)
{
	SpinLockAcquire(&shared->lock);
	if (place->state == PLACE_STARTING && place->since == since)
		place->state = PLACE_FREE;
	SpinLockRelease(&shared->lock);
}

/* Start the loader of a place.  False: PostgreSQL has no worker left. */
static bool
start(GcTableLoader *place, GcLoaderTask task, const GcRelKey *key, TimestampTz now)
{
	if (gc_loader_start(key, task))
		return true;
	give_back(place, now);
	return false;
}

/* Are the columns that the place was asked for there by now?  Its loader may have been about to end. */
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

bool
gc_may_load_in_background(Relation rel)
{
	const char *reason;

	return gc_rel_loadable(rel, &reason);
}

GcColdLoad
gc_load_columns_in_background(Relation rel, int ncols, const GcColSpec *specs)
{
	const TimestampTz now = GetCurrentTimestamp();
	GcRelKey	key;
	AskedPlace	a;

	if (!gc_may_load_in_background(rel))
		return GC_COLD_NOT_TRIED;
	gc_rel_key(rel, &key);
	a = ask(GC_LOADER_COLD, &key, ncols, specs, now);
	if (!a.start)
		return a.place == NULL ? GC_COLD_BUSY : a.rests ? GC_COLD_RESTS : GC_COLD_LOADING;
	if (!are_loaded(rel, ncols, specs))
		return start(a.place, GC_LOADER_COLD, &key, now) ? GC_COLD_LOADING : GC_COLD_NO_WORKER;
	give_back(a.place, now);
	return GC_COLD_LOADING;
}

bool
gc_ask_hot_load(GcDirectory *dir)
{
	const TimestampTz now = GetCurrentTimestamp();
	uint64		asked = pg_atomic_read_u64(&dir->hot_asked_at);
	AskedPlace	a;

	if (!TimestampDifferenceExceeds((TimestampTz) asked, now, ASK_AGAIN_MS) ||
		!pg_atomic_compare_exchange_u64(&dir->hot_asked_at, &asked, (uint64) now))
		return true;
	a = ask(GC_LOADER_HOT, &dir->key, 0, NULL, now);
	if (a.latch)
		SetLatch(a.latch);
	return a.start ? start(a.place, GC_LOADER_HOT, &dir->key, now) : a.place != NULL;
}

/*-------------------------------------------------------------------------
 * The loader
 *-------------------------------------------------------------------------
 */

/* The loader's task is over; after a failure none is started for some time. */
static void
leave_place(bool failed)
{
	const TimestampTz now = GetCurrentTimestamp();

	SpinLockAcquire(&shared->lock);
	if (mine->latch == MyLatch)
	{
		mine->state = failed ? PLACE_RESTING : PLACE_FREE;
		mine->since = now;
		mine->latch = NULL;
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
take_place(const GcLoaderArgs *args)
{
	GcTableLoader *end;

	SpinLockAcquire(&shared->lock);
	for (GcTableLoader *l = places_of(args->task, &end); l < end && mine == NULL; l++)
	{
		if (l->state == PLACE_STARTING && memcmp(&l->key, &args->key, sizeof(GcRelKey)) == 0)
			mine = l;
	}
	if (mine)
	{
		mine->state = PLACE_RUNNING;
		mine->latch = MyLatch;
	}
	SpinLockRelease(&shared->lock);
	if (mine)
		before_shmem_exit(leave_at_exit, 0);
	return mine != NULL;
}

/*
 * The columns and pages that were asked for, once for each wish.  leave: if that is nothing, the place is left at
 * once, so that none is lost.
 */
static bool
take_wishes(uint64 *wishes, bool leave)
{
	bool		any = false;

	SpinLockAcquire(&shared->lock);
	for (int w = 0; w < WISH_WORDS; w++)
	{
		wishes[w] = mine->wishes[w];
		mine->wishes[w] = 0;
		any = any || wishes[w] != 0;
	}
	if (!any && leave)
	{
		mine->state = PLACE_FREE;
		mine->latch = NULL;
	}
	SpinLockRelease(&shared->lock);
	return any;
}

int
gc_cold_loader_helpers(void)
{
	int			running = 0;

	SpinLockAcquire(&shared->lock);
	for (int i = 0; i < COLD_LOADERS; i++)
		running += shared->loaders[i].state == PLACE_RUNNING;
	SpinLockRelease(&shared->lock);
	return gc_loader_workers / Max(running, 1);
}

void
gc_cold_loader_run(const GcLoaderArgs *args,
				   bool (*load) (const GcLoaderArgs *args, int ncols, const AttrNumber *attnums))
{
	AttrNumber	attnums[MaxHeapAttributeNumber];
	uint64		wishes[WISH_WORDS];

	if (!take_place(args))
		return;
	while (take_wishes(wishes, true))
	{
		int			n = 0;

		for (int a = 1; a <= MaxHeapAttributeNumber; a++)
		{
			if (wishes[a / 64] & UINT64CONST(1) << a % 64)
				attnums[n++] = a;
		}
		CHECK_FOR_INTERRUPTS();
		if (!load(args, n, attnums))
		{
			leave_place(true);
			return;
		}
	}
}

/* Wait for at most so long, and look for interrupts. */
static void
wait_for(double ms)
{
	static uint32 wait_event = 0;

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Max((long) ms, 1),
					 GC_WAIT_EVENT(wait_event, "GpuconcHotLoader"));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Interrupts end a wait for the latch alone. */
static void
pause_for(double ms)
{
	const TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
														  (int64) Min(Max(ms, 1), MOST_PAUSE_MS));
	long		left;

	while ((left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until)) > 0)
	{
		wait_for(Min(left, GC_LOOK_MS));
		gc_leave_wanted_database();
	}
}

void
gc_hot_loader_run(const GcLoaderArgs *args, double (*load) (const GcLoaderArgs *args))
{
	TimestampTz worked_at = GetCurrentTimestamp();
	uint64		wishes[WISH_WORDS];

	if (!take_place(args))
		return;
	for (;;)
	{
		if (take_wishes(wishes, false))
		{
			pause_for(load(args));
			worked_at = GetCurrentTimestamp();
		}
		else if (TimestampDifferenceExceeds(worked_at, GetCurrentTimestamp(), IDLE_MS))
			return;
		else
			wait_for(IDLE_MS);
	}
}
