/*-------------------------------------------------------------------------
 *
 * reasons.c
 *	  Why queries of a table were PostgreSQL's: counts by table and reason.
 *
 * Process and threads: backends.  A hash table in main shared memory, made at server
 * start and never freed.  Lock: its own LWLock, held for a look-up, and exclusively only
 * for a reason that is new.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "reasons.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "../shmem.h"

/* In main shared memory. */
typedef struct Shared
{
	pg_atomic_uint64 resets;	/* how often all were removed; entries stay where they are until then */
} Shared;

static HTAB *reasons = NULL;
static Shared *shared = NULL;
static LWLock *lock = NULL;

/* The counts, none at first. */
void
gc_reasons_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc counts of reasons", sizeof(Shared), &made);
	if (made)
		pg_atomic_init_u64(&shared->resets, 0);
	reasons = gc_shmem_hash("gpuconc reasons", GC_REASONS, sizeof(GcReasonKey), sizeof(GcReason));
	lock = gc_shmem_lock("gpuconc_reasons", 0);
}

/*
 * Count under the exclusive lock, with a new entry if there is none.  NULL: all entries are taken, and it is not
 * counted.
 */
static GcReason *
enter(const GcReasonKey *key)
{
	GcReason   *reason;
	bool		found;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	/* NULL: all are taken. */
	reason = hash_search(reasons, key, HASH_ENTER_NULL, &found);
	if (reason && !found)
		pg_atomic_init_u64(&reason->count, 0);
	if (reason)
		pg_atomic_fetch_add_u64(&reason->count, 1);
	LWLockRelease(lock);
	return reason;
}

bool
gc_reason_count_again(const GcReasonPlace *place)
{
	/* A reset just now may have it counted for what comes in its place. */
	if (place->reason == NULL || place->resets != pg_atomic_read_u64(&shared->resets))
		return false;
	pg_atomic_fetch_add_u64(&place->reason->count, 1);
	return true;
}

GcReasonPlace
gc_reason_count(Oid relid, bool executed, const char *text)
{
	const uint64 resets = pg_atomic_read_u64(&shared->resets);
	GcReasonKey key;
	GcReason   *reason;
	bool		full;

	memset(&key, 0, sizeof(key));
	key.dbid = MyDatabaseId;
	key.relid = relid;
	key.executed = executed;
	strlcpy(key.text, text, sizeof(key.text));
	/* A character that was cut is left out as a whole. */
	if (strlen(text) >= sizeof(key.text))
	{
		int			length = pg_mbcliplen(text, strlen(text), sizeof(key.text) - 1);

		memset(key.text + length, 0, sizeof(key.text) - length);
	}

	LWLockAcquire(lock, LW_SHARED);
	reason = hash_search(reasons, &key, HASH_FIND, NULL);
	if (reason)
		pg_atomic_fetch_add_u64(&reason->count, 1);
	full = hash_get_num_entries(reasons) >= GC_REASONS;
	LWLockRelease(lock);
	if (!reason && !full)
		reason = enter(&key);
	return (GcReasonPlace) {reason, resets};
}

GcReason *
gc_reasons_read(int *n)
{
	GcReason   *result = palloc(GC_REASONS * sizeof(GcReason));
	HASH_SEQ_STATUS scan;
	GcReason   *reason;

	*n = 0;
	LWLockAcquire(lock, LW_SHARED);
	hash_seq_init(&scan, reasons);
	while ((reason = hash_seq_search(&scan)) != NULL)
	{
		if (reason->key.dbid == MyDatabaseId)
			result[(*n)++] = *reason;
	}
	LWLockRelease(lock);
	return result;
}

/* Forget all counts.  Sessions see by `resets` that the entries they remember are gone. */
void
gc_reasons_reset(void)
{
	HASH_SEQ_STATUS scan;
	GcReason   *reason;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	pg_atomic_fetch_add_u64(&shared->resets, 1);
	hash_seq_init(&scan, reasons);
	while ((reason = hash_seq_search(&scan)) != NULL)
		hash_search(reasons, &reason->key, HASH_REMOVE, NULL);
	LWLockRelease(lock);
}
