/*-------------------------------------------------------------------------
 *
 * hot_loader.c
 *	  Loading hot pages in the background.  See hot_loader.h.
 *
 * A table's loader has a place in shared memory.  Sessions run gc_ask_hot_load() under a guard; the rest runs in
 * the loader.  The places' spinlock is held for a few instructions only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/spin.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "hot_loader.h"
#include "../../compat.h"
#include "../../shmem.h"

/* Tables that can have a loader at a time. */
#define MAX_LOADERS		8

/* A session asks once for a directory, or again if none has taken its place for so long. */
#define ASK_AGAIN_MS	50

/* A loader without work ends.  One that did not come, or has failed, is not started again before. */
#define IDLE_MS			2000
#define START_AGAIN_MS	10000

/* The longest pause behind a load. */
#define MOST_PAUSE_MS	10000

typedef struct GcHotLoader
{
	bool		in_use;
	bool		wanted;
	GcRelKey	key;
	Latch	   *latch;			/* NULL: not yet, or no longer */
	TimestampTz started_at;
} GcHotLoader;

typedef struct GcHotLoaders
{
	slock_t		lock;
	GcHotLoader loaders[MAX_LOADERS];
} GcHotLoaders;

static GcHotLoaders *shared = NULL;
static GcHotLoader *mine = NULL;

/* The places of loaders, free at first. */
void
gc_hot_loader_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc hot loaders", sizeof(GcHotLoaders), &made);
	if (made)
		SpinLockInit(&shared->lock);
}

/*-------------------------------------------------------------------------
 * Asking
 *-------------------------------------------------------------------------
 */

/* The table's place, or a free one, or NULL.  Under the spinlock. */
static GcHotLoader *
find_place(const GcRelKey *key)
{
	GcHotLoader *place = NULL;

	for (int i = 0; i < MAX_LOADERS; i++)
	{
		GcHotLoader *l = &shared->loaders[i];

		if (l->in_use && memcmp(&l->key, key, sizeof(GcRelKey)) == 0)
			return l;
		if (!l->in_use)
			place = l;
	}
	return place;
}

bool
gc_ask_hot_load(GcDirectory *dir)
{
	const TimestampTz now = GetCurrentTimestamp();
	uint64		asked = pg_atomic_read_u64(&dir->hot_asked_at);
	GcHotLoader *place;
	Latch	   *latch = NULL;
	bool		start = false;

	if (!TimestampDifferenceExceeds((TimestampTz) asked, now, ASK_AGAIN_MS) ||
		!pg_atomic_compare_exchange_u64(&dir->hot_asked_at, &asked, (uint64) now))
		return true;
	SpinLockAcquire(&shared->lock);
	place = find_place(&dir->key);
	if (place)
	{
		start = !place->in_use ||
			(place->latch == NULL && TimestampDifferenceExceeds(place->started_at, now, START_AGAIN_MS));
		if (start)
			*place = (GcHotLoader) {.in_use = true,.key = dir->key,.started_at = now};
		place->wanted = true;
		latch = place->latch;
	}
	SpinLockRelease(&shared->lock);

	if (latch)
		SetLatch(latch);
	if (!start || gc_loader_start_hot(&dir->key))
		return place != NULL;
	SpinLockAcquire(&shared->lock);
	if (place->latch == NULL && place->started_at == now)
		place->in_use = false;
	SpinLockRelease(&shared->lock);
	return false;
}

/*-------------------------------------------------------------------------
 * The loader
 *-------------------------------------------------------------------------
 */

/* The place stays taken for a while if the loader was thrown out by an error. */
static void
leave_place(int code, Datum arg)
{
	SpinLockAcquire(&shared->lock);
	if (mine->latch == MyLatch)
	{
		mine->latch = NULL;
		mine->in_use = code != 0;
	}
	SpinLockRelease(&shared->lock);
}

/* Take the place that was made for this loader.  False: another loader has it. */
static bool
take_place(const GcRelKey *key)
{
	SpinLockAcquire(&shared->lock);
	mine = find_place(key);
	if (mine && (!mine->in_use || mine->latch))
		mine = NULL;
	if (mine)
		mine->latch = MyLatch;
	SpinLockRelease(&shared->lock);
	if (mine)
		before_shmem_exit(leave_place, 0);
	return mine != NULL;
}

/* Does a session want hot pages to be read?  Asked once for each wish. */
static bool
take_wish(void)
{
	bool		wanted;

	SpinLockAcquire(&shared->lock);
	wanted = mine->wanted;
	mine->wanted = false;
	SpinLockRelease(&shared->lock);
	return wanted;
}

/* Wait for at most so long, and look for interrupts. */
static void
wait_for(int events, double ms)
{
	static uint32 wait_event = 0;

	(void) WaitLatch(MyLatch, events | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Max((long) ms, 1),
					 GC_WAIT_EVENT(wait_event, "GpuconcHotLoader"));
	if (events & WL_LATCH_SET)
		ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Interrupts end a wait for the latch alone. */
static void
pause_for(double ms)
{
	const TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (int64) Min(Max(ms, 1), MOST_PAUSE_MS));
	long		left;

	while ((left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until)) > 0)
		wait_for(WL_LATCH_SET, left);
}

void
gc_hot_loader_run(const GcLoaderArgs *args, double (*load) (const GcLoaderArgs *args))
{
	TimestampTz worked_at = GetCurrentTimestamp();

	if (!take_place(&args->key))
		return;
	for (;;)
	{
		if (take_wish())
		{
			pause_for(load(args));
			worked_at = GetCurrentTimestamp();
		}
		else if (TimestampDifferenceExceeds(worked_at, GetCurrentTimestamp(), IDLE_MS))
			return;
		else
			wait_for(WL_LATCH_SET, IDLE_MS);
	}
}
