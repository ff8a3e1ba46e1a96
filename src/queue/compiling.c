/*-------------------------------------------------------------------------
 *
 * compiling.c
 *	  Programs whose kernels were being compiled when this session last asked for them.
 *
 * Backend-local: a handful of entries, replaced round-robin.  The counts are the device's, in shared memory; they go
 * round, so only differences are compared.
 *
 * Runs in backends, apart from the worker's functions.
 *
 *-------------------------------------------------------------------------
 */
#include "compiling.h"

#include "miscadmin.h"

#include "queue.h"

#define MOST_NOTED	64

typedef struct Noted
{
	GcHash		key;			/* all 0: none */
	uint32		asked;			/* compilations, when the request gave up */
} Noted;

static Noted noted[MOST_NOTED];
static int	next_noted = 0;

/* The worker's: what was published before it began. */
static uint32 before = 0;

GcHash
gc_program_key(const GcProgram *logical)
{
	return gc_hash_bytes(logical, logical->size, MyDatabaseId);
}

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
gc_compiling_note(const GcHash *key)
{
	Noted	   *entry = find(key);

	if (entry == NULL)
	{
		entry = &noted[next_noted];
		next_noted = (next_noted + 1) % MOST_NOTED;
	}
	entry->key = *key;
	entry->asked = pg_atomic_read_u32(&gc_device_status()->compilations_asked);
}

void
gc_compiling_forget(const GcHash *key)
{
	Noted	   *entry = find(key);

	if (entry)
		memset(entry, 0, sizeof(*entry));
}

bool
gc_compiling_noted(const GcHash *key)
{
	return find(key) != NULL;
}

bool
gc_compiling_goes_on(const GcHash *key)
{
	const Noted *entry = find(key);

	return entry && (int32) (pg_atomic_read_u32(&gc_device_status()->compilations_ended) - entry->asked) < 0;
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
