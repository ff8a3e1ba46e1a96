/*-------------------------------------------------------------------------
 *
 * compiling.c
 *	  Programs whose kernels were being compiled when they were last asked for.
 *
 * Backend-local: a handful of entries, replaced round-robin.  For other sessions there is a word for each program in
 * shared memory: half of a hash, and the count.  Two programs that are taken for one cost a wait, or a plan that is
 * PostgreSQL's for a while.  The counts are a device's; they go round, so only differences are compared.
 *
 * Runs in backends, apart from the worker's functions.
 *
 *-------------------------------------------------------------------------
 */
#include "compiling.h"

#include "miscadmin.h"

#include "device_status.h"

#define MOST_NOTED	64

typedef struct Noted
{
	GcHash		key;			/* all 0: none */
	int			device;
	uint32		asked;			/* its compilations, when the request gave up */
	bool		waited;			/* for them */
} Noted;

static Noted noted[MOST_NOTED];
static int	next_noted = 0;

/* The worker's: compilations that were published as asked for before it began. */
static uint32 before = 0;

GcHash
gc_program_key(const GcProgram *logical)
{
	return gc_hash_bytes(logical, logical->size, MyDatabaseId);
}

/* The word of a program in shared memory, for a device, and the value of its upper half. */
static pg_atomic_uint64 *
place_of(const GcHash *key, int device)
{
	return &gc_device_status_of(device)->compiling[key->h[0] % GC_MOST_COMPILING];
}

/* The upper half of a place's word, which tells keys with one place apart; never 0, as an empty place is. */
static uint64
tag_of(const GcHash *key)
{
	return Max(key->h[1] >> 32, 1) << 32;
}

/* This session's own note of the request with that key, or NULL. */
static Noted *
find(const GcHash *key)
{
	for (int i = 0; i < MOST_NOTED; i++)
	{
		if (memcmp(&noted[i].key, key, sizeof(GcHash)) == 0)
			return &noted[i];
	}
	return NULL;
}

void
gc_compiling_note(const GcHash *key, int device, bool waited)
{
	Noted	   *entry = find(key);

	if (entry == NULL)
	{
		entry = &noted[next_noted];
		next_noted = (next_noted + 1) % MOST_NOTED;
	}
	entry->key = *key;
	entry->device = device;
	entry->waited = waited;
	entry->asked = pg_atomic_read_u32(&gc_device_status_of(device)->compilations_asked);
	pg_atomic_write_u64(place_of(key, device), tag_of(key) | entry->asked);
}

void
gc_compiling_forget(const GcHash *key, int device)
{
	Noted	   *entry = find(key);

	if (entry)
		memset(entry, 0, sizeof(*entry));
	if ((pg_atomic_read_u64(place_of(key, device)) & ~(uint64) PG_UINT32_MAX) == tag_of(key))
		pg_atomic_write_u64(place_of(key, device), 0);
}

bool
gc_compiling_noted(const GcHash *key)
{
	const Noted *entry = find(key);

	return entry && entry->waited;
}

/* A device that is not ready, or has gone, compiles nothing. */
static bool
goes_on(int device, uint32 asked)
{
	GcDeviceStatus *d = gc_device_status_of(device);

	return pg_atomic_read_u32(&d->state) == GC_WORKER_READY &&
		(int32) (pg_atomic_read_u32(&d->compilations_ended) - asked) < 0;
}

bool
gc_compiling_goes_on(const GcHash *key)
{
	const Noted *entry = find(key);

	if (entry && goes_on(entry->device, entry->asked))
		return true;
	for (int d = 0; d < gc_ndevices; d++)
	{
		const uint64 word = pg_atomic_read_u64(place_of(key, d));

		if ((word & ~(uint64) PG_UINT32_MAX) == tag_of(key) && goes_on(d, (uint32) word))
			return true;
	}
	return false;
}

bool
gc_compiling_nothing(void)
{
	for (int d = 0; d < gc_ndevices; d++)
	{
		if (goes_on(d, pg_atomic_read_u32(&gc_device_status_of(d)->compilations_asked)))
			return false;
	}
	return true;
}

void
gc_compilations_restart(void)
{
	GcDeviceStatus *d = gc_device_status();

	before = pg_atomic_read_u32(&d->compilations_asked);
	pg_atomic_write_u32(&d->compilations_ended, before);
}

void
gc_compilations_publish(uint32 asked, uint32 ended)
{
	GcDeviceStatus *d = gc_device_status();

	pg_atomic_write_u32(&d->compilations_asked, before + asked);
	pg_atomic_write_u32(&d->compilations_ended, before + ended);
}
