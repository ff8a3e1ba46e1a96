/*-------------------------------------------------------------------------
 *
 * device_dicts.c
 *	  Dictionaries on the device, for kernels that compute something of each value.
 *
 * A dictionary only grows, so a copy is extended by what came behind it.  Where it has no room for
 * that, a larger one takes its place, and the old one goes with its last user.  On a device that
 * reads host memory there is no copy.
 *
 * The worker's main thread.  Requests hold the dictionaries that they use.
 *
 *-------------------------------------------------------------------------
 */
#include "device_dicts.h"

#include "utils/memutils.h"

#include "../../queue/queue.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

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
doom(GcDeviceDict *d)
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
extend(GcDeviceDict *d, const GcDictContents *c, u32 count, GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
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
in_place(const GcDictContents *c)
{
	GcDeviceDict *d = MemoryContextAllocZero(TopMemoryContext, sizeof(GcDeviceDict));

	d->starts = (GcAddr) c->start;
	d->bytes = (GcAddr) c->bytes;
	d->users = 1;
	d->doomed = true;
	return d;
}

/* Its uses are remembered by its identity; no other use has that key. */
static u64
use_key(const GcDeviceDict *d)
{
	return gc_history_key(d->id, 1, 0);
}

GcDeviceDict *
gc_device_dict_use(const GcDict *dict, u32 count, GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
{
	GcDictContents c = gc_dict_contents(dict);
	GcDeviceDict *d = find_dict(c.id);

	if (gc_worker.dev->info.host_memory)
		return in_place(&c);
	if (d && (d->capacity < count || d->bytes_capacity < c.start[count]))
	{
		doom(d);
		d = NULL;
	}
	if (d == NULL && (d = make_dict(c.id, count, c.start[count], err)) == NULL)
		return NULL;
	d->users++;
	d->last_used = ++gc_worker.clock;
	gc_note_use(use_key(d));

	/* Another request's copies come before this one's. */
	if ((d->ready && gc_worker.ops->stream_wait(stream, d->ready, err) != GC_OK) ||
		(d->count < count && extend(d, &c, count, stream, copies, copied, err) != GC_OK))
	{
		/* It is not known what is there; the caller drains the device before memory is used again. */
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		d->users--;
		doom(d);
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

/*-------------------------------------------------------------------------
 * Replacement
 *-------------------------------------------------------------------------
 */

void
gc_device_dict_dropped(u64 id)
{
	GcDeviceDict *next;

	for (GcDeviceDict *d = dicts; d; d = next)
	{
		next = d->next;
		if (id == 0 || d->id == id)
			doom(d);
	}
}

static void
offer(GcEvictor *self)
{
	for (GcDeviceDict *d = dicts; d; d = d->next)
	{
		const u64	bytes = d->bytes - d->memory + d->bytes_capacity;

		if (d->users == 0)
			gc_offer_victim(&(GcVictim) {.bytes = bytes,.cost = bytes,.uses = gc_uses_of(use_key(d)),
							.used = d->last_used,.what = d});
	}
}

static u64
drop(const GcVictim *victim, u64 need)
{
	for (GcDeviceDict *d = dicts; d; d = d->next)
	{
		if (d != victim->what || d->users > 0)
			continue;
		doom(d);
		pg_atomic_fetch_add_u64(&gc_stats()->evictions, 1);
		return victim->bytes;
	}
	return 0;
}

void
gc_device_dicts_init(void)
{
	static GcEvictor evictor = {.offer = offer,.drop = drop};

	gc_evictor_register(&evictor);
}
