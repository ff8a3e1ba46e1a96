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
 * The worker's main thread.  Requests hold the tables that they use.
 *
 *-------------------------------------------------------------------------
 */
#include "device_lookups.h"

#include "utils/hsearch.h"

#include "device_cache.h"
#include "device_memory.h"
#include "state.h"

struct GcDeviceLookup
{
	u64			id;				/* key */
	GcAddr		data;
	GcAddr		nulls;
	u32			users;
	bool		dropped;		/* the shared table is gone: free at last release */
	uint64		last_used;
	GcEvent	   *ready;			/* follows the copy; NULL once that is done */
};

static HTAB *lookups = NULL;

static void
lookup_free(GcDeviceLookup *l)
{
	if (l->ready)
		gc_worker.ops->event_put(gc_worker.dev, l->ready);
	if (!gc_worker.dev->info.host_memory)
		gc_device_free(l->data);
	hash_search(lookups, &l->id, HASH_REMOVE, NULL);
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
copy_table(GcDeviceLookup *l, const GcSharedLookup *table, GcStream *stream, GcError *err)
{
	GcCode		code;

	l->data = gc_device_alloc(table->bytes);
	if (l->data == 0)
		return gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a lookup table of %zu kB.",
					   table->bytes / 1024);
	l->nulls = l->data + (table->nulls - (const uint8 *) table->data);
	code = gc_copy_in(stream, l->data, table->data, table->bytes, err);
	if (code == GC_OK && (l->ready = gc_worker.ops->event(stream, err)) == NULL)
		code = err->code;
	return code;
}

static GcDeviceLookup *
make_lookup(const GcSharedLookup *table, GcStream *stream, u64 *copied, GcError *err)
{
	GcDeviceLookup sketch = {.id = table->obj.region_id,.data = (GcAddr) table->data,.nulls = (GcAddr) table->nulls};
	GcDeviceLookup *l;

	if (!gc_worker.dev->info.host_memory)
	{
		if (copy_table(&sketch, table, stream, err) != GC_OK)
		{
			/* Part of it may be on its way: what else is queued must not be overwritten by it. */
			if (sketch.data)
				(void) gc_worker.ops->drain(gc_worker.dev, NULL);
			gc_device_free(sketch.data);
			return NULL;
		}
		*copied += table->bytes;
	}
	l = hash_search(lookups, &sketch.id, HASH_ENTER, NULL);
	*l = sketch;
	return l;
}

GcDeviceLookup *
gc_device_lookup_use(const GcSharedLookup *table, GcStream *stream, u64 *copied, GcError *err)
{
	GcDeviceLookup *l = hash_search(lookups, &table->obj.region_id, HASH_FIND, NULL);

	if (l == NULL)
		l = make_lookup(table, stream, copied, err);
	else if (!wait_for_copy(l, stream, err))
		return NULL;
	if (l == NULL)
		return NULL;
	l->users++;
	l->last_used = ++gc_worker.clock;
	return l;
}

void
gc_device_lookup_release(GcDeviceLookup *l)
{
	l->users--;
	if (l->users == 0 && l->dropped)
		lookup_free(l);
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

static void
drop(GcDeviceLookup *l)
{
	l->dropped = true;
	if (l->users == 0)
		lookup_free(l);
}

/* The shared table of a region is gone; id 0: any may be. */
static void
region_dropped(u64 id)
{
	HASH_SEQ_STATUS seq;
	GcDeviceLookup *l;

	if (id != 0)
	{
		l = hash_search(lookups, &id, HASH_FIND, NULL);
		if (l)
			drop(l);
		return;
	}
	hash_seq_init(&seq, lookups);
	while ((l = hash_seq_search(&seq)) != NULL)
		drop(l);
}

static GcDeviceLookup *
oldest_lookup(void)
{
	HASH_SEQ_STATUS seq;
	GcDeviceLookup *l;
	GcDeviceLookup *oldest = NULL;

	hash_seq_init(&seq, lookups);
	while ((l = hash_seq_search(&seq)) != NULL)
	{
		if (l->users == 0 && (oldest == NULL || l->last_used < oldest->last_used))
			oldest = l;
	}
	return oldest;
}

static uint64
oldest_use(void)
{
	const GcDeviceLookup *oldest = oldest_lookup();

	/* What has no copy takes no memory. */
	return oldest && !gc_worker.dev->info.host_memory ? oldest->last_used : GC_NEVER_USED;
}

static bool
drop_oldest(void)
{
	GcDeviceLookup *oldest = oldest_lookup();

	if (oldest)
		lookup_free(oldest);
	return oldest != NULL;
}

void
gc_device_lookups_init(void)
{
	static GcEvictor evictor = {.oldest = oldest_use,.drop = drop_oldest};
	HASHCTL		ctl = {.keysize = sizeof(u64),.entrysize = sizeof(GcDeviceLookup)};

	lookups = hash_create("gpuconc lookup tables", 256, &ctl, HASH_ELEM | HASH_BLOBS);
	gc_regions_watch(region_dropped);
	gc_evictor_register(&evictor);
}
