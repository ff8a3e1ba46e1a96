/*-------------------------------------------------------------------------
 *
 * device_lookups.c
 *	  Dictionaries and lookup tables on the device.
 *
 * Each shared table that a request reads is copied once, and the copy stays for later requests.
 * It is known by the region id of the table, like the copy of a column chunk.  It goes when the
 * table was dropped (device_cache.c tells), or when memory is short and no request uses it.  On a
 * device that reads host memory there is no copy: kernels are given the table's own address.
 *
 * Some tables are computed on the device itself, of a dictionary.  They are known by the identities of the dictionary
 * and of the text program, and extended when the dictionary has grown.
 *
 * The kernel that computes one reads the dictionary, which only grows.  So a copy is extended by the values that came
 * behind it.  Where it has no room for that, a larger one takes its place, and the old one goes with its last user.
 *
 * The worker's main thread.  Requests hold the tables and dictionaries that they use.
 *
 *-------------------------------------------------------------------------
 */
#include "device_lookups.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "device_cache.h"
#include "../../queue/queue.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/*-------------------------------------------------------------------------
 * Dictionaries
 *-------------------------------------------------------------------------
 */

struct GcDeviceDict
{
	u64			id;
	u32			count;			/* values that are there */
	u32			capacity;
	u64			bytes_capacity;
	GcAddr		memory;			/* 0: none of its own */
	GcAddr		starts;
	GcAddr		bytes;
	u32			users;
	bool		doomed;			/* not in the list any more: free at last release */
	uint64		last_used;
	GcEvent	   *ready;			/* follows the last copy; NULL once that is done */
	GcDeviceDict *next;
};

static GcDeviceDict *dicts = NULL;

/* Nobody uses the copy and the device is done with it. */
static void
dict_free(GcDeviceDict *d)
{
	if (d->ready)
		gc_worker.ops->event_put(gc_worker.dev, d->ready);
	gc_device_free(d->memory);
	pfree(d);
}

/* Take a dictionary out of the list; it goes now, or with its last user. */
static void
doom_dict(GcDeviceDict *d)
{
	for (GcDeviceDict **p = &dicts; *p; p = &(*p)->next)
	{
		if (*p == d)
		{
			*p = d->next;
			break;
		}
	}
	d->doomed = true;
	if (d->users == 0)
		dict_free(d);
}

/* The copy of the dictionary with this identity, or NULL. */
static GcDeviceDict *
find_dict(u64 id)
{
	GcDeviceDict *d;

	for (d = dicts; d && d->id != id; d = d->next)
		;
	return d;
}

/* An empty copy with room for the values, and for a quarter more. */
static GcDeviceDict *
make_dict(u64 id, u32 count, u64 bytes, GcError *err)
{
	GcDeviceDict *d;
	u32			capacity = count + count / 4;
	u64			bytes_capacity = bytes + bytes / 4;
	u64			starts = TYPEALIGN64(256, ((u64) capacity + 1) * sizeof(u64));
	GcAddr		memory = gc_device_alloc(starts + bytes_capacity);

	if (memory == 0)
	{
		gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a dictionary of %llu kB.",
				(unsigned long long) (starts + bytes_capacity) / 1024);
		return NULL;
	}
	gc_device_label(memory, GC_MEMORY_LOOKUPS);
	d = MemoryContextAllocZero(TopMemoryContext, sizeof(GcDeviceDict));
	*d = (GcDeviceDict) {.id = id,.capacity = capacity,.bytes_capacity = bytes_capacity,
	.memory = memory,.starts = memory,.bytes = memory + starts,.next = dicts};
	dicts = d;
	return d;
}

/* Queue copies of the values that are not there yet. */
static GcCode
extend_dict(GcDeviceDict *d, const GcDictContents *c, u32 count, GcStream *stream, GcCopies *copies, u64 *copied,
			GcError *err)
{
	u64			from = c->start[d->count];
	u64			bytes = c->start[count] - from;
	Size		starts = (count - d->count + 1) * sizeof(u64);
	GcCode		code;

	gc_copies_begin(copies, stream);
	code = gc_copy_in(stream, d->starts + d->count * sizeof(u64), c->start + d->count, starts, err);
	if (code == GC_OK && bytes > 0)
		code = gc_copy_in(stream, d->bytes + from, c->bytes + from, bytes, err);
	if (code != GC_OK)
		return code;
	*copied += starts + bytes;
	d->count = count;
	if (d->ready)
		gc_worker.ops->event_put(gc_worker.dev, d->ready);
	d->ready = gc_worker.ops->event(stream, err);
	return d->ready ? GC_OK : err->code;
}

/* The values where they are, for a device that reads host memory. */
static GcDeviceDict *
dict_in_place(const GcDictContents *c)
{
	GcDeviceDict *d = MemoryContextAllocZero(TopMemoryContext, sizeof(GcDeviceDict));

	d->starts = (GcAddr) c->start;
	d->bytes = (GcAddr) c->bytes;
	d->users = 1;
	d->doomed = true;
	return d;
}

/* A dictionary's uses are remembered by its identity; no other use has that key. */
static u64
dict_key(const GcDeviceDict *d)
{
	return gc_history_key(d->id, 1, 0);
}

GcDeviceDict *
gc_device_dict_use(const GcDict *dict, u32 count, GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
{
	GcDictContents c = gc_dict_contents(dict);
	GcDeviceDict *d = find_dict(c.id);

	if (gc_worker.dev->info.host_memory)
		return dict_in_place(&c);
	if (d && (d->capacity < count || d->bytes_capacity < c.start[count]))
	{
		doom_dict(d);
		d = NULL;
	}
	if (d == NULL && (d = make_dict(c.id, count, c.start[count], err)) == NULL)
		return NULL;
	d->users++;
	d->last_used = ++gc_worker.clock;
	gc_note_use(dict_key(d));

	/* Another request's copies come before this one's. */
	if ((d->ready && gc_worker.ops->stream_wait(stream, d->ready, err) != GC_OK) ||
		(d->count < count && extend_dict(d, &c, count, stream, copies, copied, err) != GC_OK))
	{
		/* The bytes there are not known; the caller drains the device before memory is used again. */
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		d->users--;
		doom_dict(d);
		return NULL;
	}
	return d;
}

void
gc_device_dict_release(GcDeviceDict *d)
{
	d->users--;
	if (d->users == 0 && d->doomed)
		dict_free(d);
}

GcAddr
gc_device_dict_bytes(const GcDeviceDict *d)
{
	return d->bytes;
}

GcAddr
gc_device_dict_starts(const GcDeviceDict *d)
{
	return d->starts;
}

/* The dictionary with this identity has left the column cache; 0: any may have. */
static void
dict_dropped(u64 id)
{
	GcDeviceDict *next;

	for (GcDeviceDict *d = dicts; d; d = next)
	{
		next = d->next;
		if (id == 0 || d->id == id)
			doom_dict(d);
	}
}

/* A GcEvictor's: offer dictionaries that no request uses. */
static void
offer_dicts(GcEvictor *self)
{
	for (GcDeviceDict *d = dicts; d; d = d->next)
	{
		const u64	bytes = d->bytes - d->memory + d->bytes_capacity;

		if (d->users == 0)
			gc_offer_victim(&(GcVictim) {.bytes = bytes,.cost = bytes,.uses = gc_uses_of(dict_key(d)),
							.used = d->last_used,.what = d});
	}
}

/* A GcEvictor's: drop the dictionary that was chosen, if it is still there and unused.  Returns its bytes, or 0. */
static u64
drop_dict(const GcVictim *victim, u64 need)
{
	for (GcDeviceDict *d = dicts; d; d = d->next)
	{
		if (d != victim->what || d->users > 0)
			continue;
		doom_dict(d);
		pg_atomic_fetch_add_u64(&gc_stats()->evictions, 1);
		return victim->bytes;
	}
	return 0;
}

/*-------------------------------------------------------------------------
 * Shared lookup tables
 *-------------------------------------------------------------------------
 */

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

/* Nobody uses the copy.  Memory of a table in place is not the device's. */
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

/* The table that is known by this, or NULL. */
static GcDeviceLookup *
find_lookup(const LookupId *id)
{
	LookupEntry *entry = hash_search(lookups, id, HASH_FIND, NULL);

	return entry ? entry->lookup : NULL;
}

/* Put a table into the hash, as a copy of the sketch. */
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

/* A table of which there is no copy: make one, or refer to the host's where the device reads that.  NULL: err set. */
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
			/* Part of it may be on its way: the next contents there must not be overwritten by it. */
			if (sketch.data)
				(void) gc_worker.ops->drain(gc_worker.dev, NULL);
			gc_device_free(sketch.data);
			return NULL;
		}
		*copied += table->bytes;
	}
	return enter(&sketch);
}

/* Its uses are remembered by its inputs; no other use has that key. */
static u64
use_key(const GcDeviceLookup *l)
{
	return gc_history_key(l->id.id, l->id.function.h[0], 2);
}

/* One user more, who releases it (gc_device_lookup_release). */
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
	else if (!gc_await_copy(&l->ready, stream, err))
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
	else if (!gc_await_copy(&l->ready, stream, err))
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

/* Where the entries lie, for kernels. */
GcAddr
gc_device_lookup_data(const GcDeviceLookup *l)
{
	return l->data;
}

/* Where a byte for each entry lies that says whether it is NULL. */
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

	dict_dropped(id);
	hash_seq_init(&seq, lookups);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (id == 0 || entry->id.id == id)
			doom(entry->lookup);
	}
}

/* A GcEvictor's: offer tables that no request uses. */
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

/* A GcEvictor's: drop the table that was chosen, if it is still there and unused.  Returns its bytes, or 0. */
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

/* Begin with no table, and hear of dictionaries that leave the column cache. */
void
gc_device_lookups_init(void)
{
	static GcEvictor tables = {.offer = offer,.drop = drop};
	static GcEvictor dictionaries = {.offer = offer_dicts,.drop = drop_dict};
	HASHCTL		ctl = {.keysize = sizeof(LookupId),.entrysize = sizeof(LookupEntry)};

	lookups = hash_create("gpuconc lookup tables", 256, &ctl, HASH_ELEM | HASH_BLOBS);
	gc_regions_watch(region_dropped);
	gc_evictor_register(&tables);
	gc_evictor_register(&dictionaries);
}
