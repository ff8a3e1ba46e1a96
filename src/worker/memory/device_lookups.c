/*-------------------------------------------------------------------------
 *
 * device_lookups.c
 *	  Shared lookup tables on the device.
 *
 * Each shared table that a request reads is copied once, and the copy stays for later requests.
 * It is known by the region id of the table, like the copy of a column chunk.  It goes when the
 * table was dropped (device_cache.c tells), or when memory is short and no request uses it.  On a
 * device that reads host memory there is no copy: kernels are given the table's own address.
 *
 * Some tables are computed on the device itself, of a dictionary.  They are known by the
 * dictionary's identity and by what is computed, and extended when it has grown.
 *
 * The worker's main thread.  Requests hold the tables that they use.
 *
 *-------------------------------------------------------------------------
 */
#include "device_lookups.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "device_cache.h"
#include "device_dicts.h"
#include "../../queue/queue.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

typedef struct LookupId
{
	u64			id;				/* region of a shared table, or identity of a dictionary */
	GcHash		function;		/* computed tables; else 0 */
} LookupId;

struct GcDeviceLookup
{
	LookupId	id;
	u32			capacity;		/* computed tables: values, and of how many it is computed */
	u32			filled;
	bool		in_place;		/* the shared table itself */
	bool		doomed;			/* not in the hash any more: free at last release */
	GcAddr		data;
	GcAddr		nulls;
	u64			size;			/* device memory that it takes */
	u32			users;
	uint64		last_used;
	GcEvent	   *ready;			/* follows the copy; NULL once that is done */
};

typedef struct LookupEntry
{
	LookupId	id;				/* key */
	GcDeviceLookup *lookup;
} LookupEntry;

static HTAB *lookups = NULL;

static void
lookup_free(GcDeviceLookup *l)
{
	if (l->ready)
		gc_worker.ops->event_put(gc_worker.dev, l->ready);
	if (!l->in_place)
		gc_device_free(l->data);
	pfree(l);
}

/* Take a table out of the hash; it goes now, or with its last user. */
static void
doom(GcDeviceLookup *l)
{
	hash_search(lookups, &l->id, HASH_REMOVE, NULL);
	l->doomed = true;
	if (l->users == 0)
		lookup_free(l);
}

static GcDeviceLookup *
find_lookup(const LookupId *id)
{
	LookupEntry *entry = hash_search(lookups, id, HASH_FIND, NULL);

	return entry ? entry->lookup : NULL;
}

static GcDeviceLookup *
enter(const GcDeviceLookup *sketch)
{
	GcDeviceLookup *l = MemoryContextAlloc(TopMemoryContext, sizeof(GcDeviceLookup));
	LookupEntry *entry;

	*l = *sketch;
	entry = hash_search(lookups, &l->id, HASH_ENTER, NULL);
	entry->lookup = l;
	return l;
}

/* Let the stream wait for what another request is still copying. */
static bool
wait_for_copy(GcDeviceLookup *l, GcStream *stream, GcError *err)
{
	bool		done = false;

	if (l->ready == NULL)
		return true;
	if (gc_worker.ops->event_done(l->ready, &done, err) != GC_OK)
		return false;
	if (!done)
		return gc_worker.ops->stream_wait(stream, l->ready, err) == GC_OK;
	gc_worker.ops->event_put(gc_worker.dev, l->ready);
	l->ready = NULL;
	return true;
}

/* Copy a table to the device. */
static GcCode
copy_table(GcDeviceLookup *l, const GcSharedLookup *table, GcStream *stream, GcCopies *copies, GcError *err)
{
	GcCode		code;

	l->data = gc_device_alloc(table->bytes);
	l->size = table->bytes;
	if (l->data == 0)
		return gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a lookup table of %zu kB.",
					   table->bytes / 1024);
	gc_device_label(l->data, GC_MEMORY_LOOKUPS);
	l->nulls = l->data + (table->nulls - (const uint8 *) table->data);
	gc_copies_begin(copies, stream);
	code = gc_copy_in(stream, l->data, table->data, table->bytes, err);
	if (code == GC_OK && (l->ready = gc_worker.ops->event(stream, err)) == NULL)
		code = err->code;
	return code;
}

static GcDeviceLookup *
make_lookup(const GcSharedLookup *table, GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
{
	GcDeviceLookup sketch = {.id = {.id = table->obj.region_id},.data = (GcAddr) table->data,
	.nulls = (GcAddr) table->nulls};

	sketch.in_place = gc_worker.dev->info.host_memory;
	if (!sketch.in_place)
	{
		if (copy_table(&sketch, table, stream, copies, err) != GC_OK)
		{
			/* Part of it may be on its way: what comes next there must not be overwritten by it. */
			if (sketch.data)
				(void) gc_worker.ops->drain(gc_worker.dev, NULL);
			gc_device_free(sketch.data);
			return NULL;
		}
		*copied += table->bytes;
	}
	return enter(&sketch);
}

/* Its uses are remembered by what it is made of; no other use has that key. */
static u64
use_key(const GcDeviceLookup *l)
{
	return gc_history_key(l->id.id, l->id.function.h[0], 2);
}

static GcDeviceLookup *
use(GcDeviceLookup *l)
{
	l->users++;
	l->last_used = ++gc_worker.clock;
	gc_note_use(use_key(l));
	return l;
}

GcDeviceLookup *
gc_device_lookup_use(const GcSharedLookup *table, GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
{
	LookupId	id = {.id = table->obj.region_id};
	GcDeviceLookup *l = find_lookup(&id);

	if (l == NULL)
		l = make_lookup(table, stream, copies, copied, err);
	else if (!wait_for_copy(l, stream, err))
		return NULL;
	return l ? use(l) : NULL;
}

void
gc_device_lookup_release(GcDeviceLookup *l)
{
	l->users--;
	if (l->users == 0 && l->doomed)
		lookup_free(l);
}

/*-------------------------------------------------------------------------
 * Tables that the device computes
 *-------------------------------------------------------------------------
 */

/* An empty table with room for a quarter more values, in which f(NULL) is NULL and nothing else. */
static GcDeviceLookup *
make_computed(const LookupId *id, u32 count, u32 width, GcStream *stream, GcError *err)
{
	GcDeviceLookup sketch = {.id = *id,.capacity = count + count / 4};
	u64			entries = TYPEALIGN64(256, (u64) sketch.capacity + 1);
	u64			bytes = entries * (width + 1);

	sketch.data = gc_device_alloc(bytes);
	sketch.size = bytes;
	if (sketch.data == 0)
	{
		gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a lookup table of %llu kB.",
				(unsigned long long) bytes / 1024);
		return NULL;
	}
	gc_device_label(sketch.data, GC_MEMORY_LOOKUPS);
	sketch.nulls = sketch.data + entries * width;
	if (gc_worker.ops->fill(stream, sketch.data, 0, bytes, err) != GC_OK ||
		gc_worker.ops->fill(stream, sketch.nulls, 1, 1, err) != GC_OK)
	{
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		gc_device_free(sketch.data);
		return NULL;
	}
	return enter(&sketch);
}

GcDeviceLookup *
gc_device_lookup_computed(u64 dict, GcHash function, u32 count, u32 width, u32 *filled, GcStream *stream,
						  GcError *err)
{
	LookupId	id = {.id = dict,.function = function};
	GcDeviceLookup *l = find_lookup(&id);

	if (l && l->capacity < count)
	{
		doom(l);
		l = NULL;
	}
	if (l == NULL)
		l = make_computed(&id, count, width, stream, err);
	else if (!wait_for_copy(l, stream, err))
		return NULL;
	if (l == NULL)
		return NULL;
	*filled = l->filled;
	return use(l);
}

GcCode
gc_device_lookup_filled(GcDeviceLookup *l, u32 count, GcStream *stream, GcError *err)
{
	GcEvent    *ready = gc_worker.ops->event(stream, err);

	if (ready == NULL)
		return err->code;
	if (l->ready)
		gc_worker.ops->event_put(gc_worker.dev, l->ready);
	l->ready = ready;
	l->filled = count;
	return GC_OK;
}

bool
gc_device_lookup_pending(const GcDeviceLookup *l)
{
	bool		done = false;

	return l->id.function.h[0] != 0 && l->ready && (gc_worker.ops->event_done(l->ready, &done, NULL) != GC_OK || !done);
}

void
gc_device_lookup_spoil(GcDeviceLookup *l)
{
	if (!l->doomed)
		doom(l);
}

GcAddr
gc_device_lookup_data(const GcDeviceLookup *l)
{
	return l->data;
}

GcAddr
gc_device_lookup_nulls(const GcDeviceLookup *l)
{
	return l->nulls;
}

/*-------------------------------------------------------------------------
 * Replacement
 *-------------------------------------------------------------------------
 */

/* A shared table or a dictionary is gone; id 0: any may be. */
static void
region_dropped(u64 id)
{
	HASH_SEQ_STATUS seq;
	LookupEntry *entry;

	gc_device_dict_dropped(id);
	hash_seq_init(&seq, lookups);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (id == 0 || entry->id.id == id)
			doom(entry->lookup);
	}
}

static void
offer(GcEvictor *self)
{
	HASH_SEQ_STATUS seq;
	LookupEntry *entry;

	hash_seq_init(&seq, lookups);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		GcDeviceLookup *l = entry->lookup;

		/* Lookup tables in place take no memory. */
		if (l->users == 0 && !l->in_place)
			gc_offer_victim(&(GcVictim) {.bytes = l->size,.cost = l->size,.uses = gc_uses_of(use_key(l)),
							.used = l->last_used,.what = l});
	}
}

/* A table at this address, which is still in the hash, without users; else NULL. */
static GcDeviceLookup *
find_unused(const void *what)
{
	HASH_SEQ_STATUS seq;
	LookupEntry *entry;
	GcDeviceLookup *found = NULL;

	hash_seq_init(&seq, lookups);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (entry->lookup == what && entry->lookup->users == 0 && !entry->lookup->in_place)
			found = entry->lookup;
	}
	return found;
}

static u64
drop(const GcVictim *victim, u64 need)
{
	GcDeviceLookup *l = find_unused(victim->what);

	if (l == NULL)
		return 0;
	doom(l);
	pg_atomic_fetch_add_u64(&gc_stats()->evictions, 1);
	return victim->bytes;
}

void
gc_device_lookups_init(void)
{
	static GcEvictor evictor = {.offer = offer,.drop = drop};
	HASHCTL		ctl = {.keysize = sizeof(LookupId),.entrysize = sizeof(LookupEntry)};

	lookups = hash_create("gpuconc lookup tables", 256, &ctl, HASH_ELEM | HASH_BLOBS);
	gc_regions_watch(region_dropped);
	gc_evictor_register(&evictor);
}
