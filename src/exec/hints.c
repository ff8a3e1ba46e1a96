/*-------------------------------------------------------------------------
 *
 * hints.c
 *	  What executions of a program have taught, so that a prepared statement, or another
 *	  session, does not repeat the first execution's mistakes.
 *
 * Backend-local, keyed by the logical program's hash; a handful of entries, replaced
 * round-robin.  What a session has just learnt is in main shared memory, too, for ten
 * minutes.  Where connections come from a pool, as Citus' do, each statement may be new to
 * the session that gets it.  Later the data may be others, and one session tries anew.
 *
 * Runs in backends.  Lock: its own LWLock, held while an entry is copied.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "hints.h"

#include "utils/timestamp.h"

#include "../queue/compiling.h"
#include "../shmem.h"

#define NHINTS	64

/* Shared entries; each program has one place. */
#define NSHARED	1024

/* How long other sessions go by what one has learnt, in ms. */
#define LIFE	(10 * 60 * 1000)

typedef struct SharedHints
{
	TimestampTz learnt_at;		/* 0: never */
	GcHints		hints;
} SharedHints;

static GcHints hints[NHINTS];
static int	next_hint = 0;

static SharedHints *shared = NULL;
static LWLock *lock = NULL;

/* The hints of all sessions, none at first. */
void
gc_hints_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc hints", NSHARED * sizeof(SharedHints), &made);
	lock = gc_shmem_lock("gpuconc_hints", 0);
}

/* The place of a plan's hints; other plans may have it, too. */
static SharedHints *
place_of(const GcHash *key)
{
	return &shared[key->h[0] % NSHARED];
}

/* Take over what other sessions have learnt of the plan lately. */
static void
take_shared(GcHints *mine)
{
	SharedHints *theirs = place_of(&mine->key);

	LWLockAcquire(lock, LW_SHARED);
	if (memcmp(&theirs->hints.key, &mine->key, sizeof(GcHash)) == 0 && theirs->learnt_at != 0 &&
		!TimestampDifferenceExceeds(theirs->learnt_at, GetCurrentTimestamp(), LIFE))
	{
		*mine = theirs->hints;
		mine->asked = false;
	}
	LWLockRelease(lock);
}

GcHints *
gc_hints(const GcProgram *logical)
{
	GcHash		key = gc_program_key(logical);

	for (int i = 0; i < NHINTS; i++)
	{
		if (memcmp(&hints[i].key, &key, sizeof(key)) == 0)
			return &hints[i];
	}
	next_hint = (next_hint + 1) % NHINTS;
	memset(&hints[next_hint], 0, sizeof(GcHints));
	hints[next_hint].key = key;
	take_shared(&hints[next_hint]);
	return &hints[next_hint];
}

void
gc_hints_share(const GcHints *mine)
{
	SharedHints *theirs = place_of(&mine->key);

	LWLockAcquire(lock, LW_EXCLUSIVE);
	theirs->hints = *mine;
	theirs->learnt_at = GetCurrentTimestamp();
	LWLockRelease(lock);
}

void
gc_hints_note_refusal(GcHints *mine, const GcHash *request)
{
	SharedHints *theirs = place_of(&mine->key);

	mine->refused = *request;
	mine->refused_at = GetCurrentTimestamp();
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (memcmp(&theirs->hints.key, &mine->key, sizeof(GcHash)) != 0)
	{
		theirs->hints = *mine;
		theirs->learnt_at = mine->refused_at;
	}
	theirs->hints.refused = mine->refused;
	theirs->hints.refused_at = mine->refused_at;
	LWLockRelease(lock);
}

bool
gc_hints_know_refusal(const GcHints *mine, const GcHash *request)
{
	return mine->refused_at != 0 && memcmp(&mine->refused, request, sizeof(GcHash)) == 0 &&
		!TimestampDifferenceExceeds(mine->refused_at, GetCurrentTimestamp(), LIFE);
}
