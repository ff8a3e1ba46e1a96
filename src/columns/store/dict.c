/*-------------------------------------------------------------------------
 *
 * dict.c
 *	  Dictionaries of text columns.
 *
 * A shared dictionary is one arena object: values one behind another, where
 * each starts, and an open-addressing table of codes.  Values are only ever
 * appended, by loaders, under the lock of the dictionary's partition.  Readers
 * take no lock: they read the count first (with a barrier) and use only codes
 * below it.  Such a code's value, start and table slot were written before.
 * When it is full, a larger copy replaces it in the column's state and it is
 * retired.  So a reader's guard keeps the one that it began with.
 *
 * Own values of a view lie in local memory in the same form.  A frozen dictionary is a view's
 * values written into memory that someone else answers for.
 *
 * Runs in sessions and loader workers.
 *
 * Locks: GC_LOCK_DICT_* (by address of the GcColState), then GC_LOCK_RETIRE and
 * GC_LOCK_ARENA.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "arena.h"
#include "columns.h"
#include "dict.h"
#include "epoch.h"
#include "lock.h"

/* Sizes of a new dictionary. */
#define DICT_FIRST_VALUES	256
#define DICT_FIRST_BYTES	4096

/* Growth leaves room for half as much again, from so many values on for a quarter; for more if a load has far to go. */
#define DICT_LARGE			(1 << 18)

/* Values that are merged before the lock is released for a moment. */
#define MERGE_AT_ONCE		(1 << 13)

/* Bits of a value's hash that its bucket has beside the code: most values of other hashes are not looked at. */
#define BUCKET_HASH			0xf0000000

/* How many values before its own turn a value's bucket is fetched, as buckets lie anywhere. */
#define FETCH_AHEAD			16

StaticAssertDecl(GC_DICT_MAX_VALUES < ~BUCKET_HASH, "codes and bits of hashes fit a bucket");

#define HASH_FACTOR			UINT64CONST(0x9E3779B97F4A7C15)

/*
 * Values and the table that finds them, wherever they lie.  A bucket holds code + 1 and BUCKET_HASH of the hash, or 0.
 * nbuckets is a power of two, and at least half as much again as capacity.
 */
typedef struct GcValues
{
	uint32		capacity;
	uint32		nbuckets;
	Size		bytes_capacity;
	uint64	   *start;			/* capacity + 1 */
	uint32	   *hash;			/* capacity */
	pg_atomic_uint32 *bucket;
	char	   *bytes;
} GcValues;

struct GcDict
{
	GcObject	obj;
	uint64		uid;			/* gc_new_region_id() of the first; kept by growth */
	pg_atomic_uint32 count;
	GcValues	values;
};

struct GcDictView
{
	MemoryContext context;
	bool		rtrim;
	const GcColState *state;	/* NULL: private or frozen */
	GcDict	   *dict;			/* NULL: private */
	uint32		nshared;
	uint32		nown;
	GcValues	own;
	int			nparts;			/* dictionaries of which the shared values are; 0: dict alone */
	const GcDictView *const *parts;
	const uint32 *first;		/* code of each part's first value; and nshared */
};

/* The lock for writing a column's dictionary: one of 16, by the state's address. */
static LWLock *
dict_lock(const GcColState *state)
{
	int			npartitions = GC_LOCK_DICT_LAST - GC_LOCK_DICT_FIRST + 1;

	/* States are page-aligned. */
	return gc_lock(GC_LOCK_DICT_FIRST + ((uintptr_t) state >> 12) % npartitions);
}

/*-------------------------------------------------------------------------
 * Values
 *-------------------------------------------------------------------------
 */
static inline uint64
load_bytes(const char *p, uint32 n)
{
	uint64		w = 0;

	memcpy(&w, p, n);
	return w;
}

/* A value's hash: of all its bytes, by words of 8. */
static inline uint32
hash_bytes_of(const char *p, uint32 len)
{
	uint64		h = (uint64) len * HASH_FACTOR;

	while (len >= 8)
	{
		h = (h ^ load_bytes(p, 8)) * HASH_FACTOR;
		h ^= h >> 32;
		p += 8;
		len -= 8;
	}
	h = (h ^ load_bytes(p, len)) * HASH_FACTOR;
	h ^= h >> 29;
	h *= HASH_FACTOR;
	return (uint32) (h >> 32);
}

/* Code of these bytes among the first n values, or -1. */
static inline int64
values_find(const GcValues *v, uint32 n, const char *bytes, uint32 len, uint32 hash)
{
	uint32		mask = v->nbuckets - 1;

	for (uint32 b = hash & mask;; b = (b + 1) & mask)
	{
		const uint32 bucket = pg_atomic_read_u32(&v->bucket[b]);
		const uint32 code = (bucket & ~BUCKET_HASH) - 1;

		if (bucket == 0)
			return -1;

		/* Codes from n on are being added just now: not there, for us. */
		if (((bucket ^ hash) & BUCKET_HASH) == 0 && code < n && v->hash[code] == hash &&
			v->start[code + 1] - v->start[code] == len &&
			memcmp(v->bytes + v->start[code], bytes, len) == 0)
			return code;
	}
}

/* Put a code into the first bucket that is free. */
static inline void
put_code(GcValues *v, uint32 code, uint32 hash)
{
	uint32		mask = v->nbuckets - 1;
	uint32		b = hash & mask;

	while (pg_atomic_read_u32(&v->bucket[b]) != 0)
		b = (b + 1) & mask;
	pg_atomic_write_u32(&v->bucket[b], (code + 1) | (hash & BUCKET_HASH));
}

/* Append a value that is not there; the caller has seen to it that it fits. */
static void
values_append(GcValues *v, uint32 code, const char *bytes, uint32 len, uint32 hash)
{
	Assert(code < v->capacity && v->start[code] + len <= v->bytes_capacity);
	memcpy(v->bytes + v->start[code], bytes, len);
	v->start[code + 1] = v->start[code] + len;
	v->hash[code] = hash;

	/* For lock-free readers: the value before the way to it. */
	pg_write_barrier();
	put_code(v, code, hash);
}

/* Is there room for so many values and bytes more? */
static bool
values_fit(const GcValues *v, uint32 count, uint32 more, Size more_bytes)
{
	return v->capacity >= (uint64) count + more &&
		v->bytes_capacity >= v->start[count] + more_bytes;
}

/* Buckets of a table of so many values: a power of 2, two thirds full at most. */
static uint32
buckets_for(uint32 capacity)
{
	return pg_nextpower2_32(capacity + capacity / 2 + 1);
}

/* Memory for a number of values, without their bytes. */
static Size
values_arrays_size(uint32 capacity)
{
	return MAXALIGN((capacity + 1) * sizeof(uint64)) +
		MAXALIGN(capacity * sizeof(uint32)) +
		MAXALIGN(buckets_for(capacity) * sizeof(pg_atomic_uint32));
}

/* Lay the arrays out at p, which has room, and empty the table. */
static void
values_init(GcValues *v, char *p, uint32 capacity, Size bytes_capacity)
{
	v->capacity = capacity;
	v->nbuckets = buckets_for(capacity);
	v->bytes_capacity = bytes_capacity;
	v->start = (uint64 *) p;
	p += MAXALIGN((capacity + 1) * sizeof(uint64));
	v->hash = (uint32 *) p;
	p += MAXALIGN(capacity * sizeof(uint32));
	v->bucket = (pg_atomic_uint32 *) p;
	v->bytes = p + MAXALIGN(v->nbuckets * sizeof(pg_atomic_uint32));
	v->start[0] = 0;
	for (uint32 b = 0; b < v->nbuckets; b++)
		pg_atomic_init_u32(&v->bucket[b], 0);
}

/* Copy the first n values of src into dst, which is empty. */
static void
values_copy(GcValues *dst, const GcValues *src, uint32 n)
{
	memcpy(dst->start, src->start, (n + 1) * sizeof(uint64));
	memcpy(dst->hash, src->hash, n * sizeof(uint32));
	memcpy(dst->bytes, src->bytes, src->start[n]);
	if (dst->nbuckets == src->nbuckets)
	{
		memcpy(dst->bucket, src->bucket, dst->nbuckets * sizeof(pg_atomic_uint32));
		return;
	}
	for (uint32 code = 0; code < n; code++)
		put_code(dst, code, dst->hash[code]);
}

/*-------------------------------------------------------------------------
 * Shared dictionaries
 *-------------------------------------------------------------------------
 */
static Size
dict_size(uint32 capacity, Size bytes_capacity)
{
	return MAXALIGN(sizeof(GcDict)) + values_arrays_size(capacity) + bytes_capacity;
}

/* An empty dictionary in the arena, known by uid.  NULL: no room. */
static GcDict *
dict_create(uint32 capacity, Size bytes_capacity, uint64 uid)
{
	Size		size = dict_size(capacity, bytes_capacity);
	GcDict	   *dict = gc_arena_alloc(size);

	if (dict == NULL)
		dict = gc_arena_take_filed(size);
	if (dict == NULL)
		return NULL;
	memset(dict, 0, sizeof(GcDict));
	dict->obj.size = size;
	dict->uid = uid;
	pg_atomic_init_u32(&dict->count, 0);
	values_init(&dict->values, (char *) dict + MAXALIGN(sizeof(GcDict)),
				capacity, bytes_capacity);
	return dict;
}

bool
gc_dict_attach(GcColState *state, uint32 nvalues, Size bytes)
{
	state->dict_id = gc_new_region_id();
	state->dict = dict_create(Max(nvalues, DICT_FIRST_VALUES), Max(bytes, DICT_FIRST_BYTES), state->dict_id);
	return state->dict != NULL;
}

Size
gc_dict_attached_size(uint32 nvalues, Size bytes)
{
	return dict_size(Max(nvalues, DICT_FIRST_VALUES), Max(bytes, DICT_FIRST_BYTES));
}

/* Buckets lie anywhere, so each would be waited for. */
void
gc_dict_take(GcColState *state, const GcDictPart *part)
{
	GcValues   *v = &state->dict->values;
	const uint32 mask = v->nbuckets - 1;

	memcpy(v->start + part->first + 1, part->ends, part->n * sizeof(uint64));
	memcpy(v->bytes + part->first_byte, part->bytes, part->ends[part->n - 1] - part->first_byte);
	memcpy(v->hash + part->first, part->hashes, part->n * sizeof(uint32));
	for (uint32 i = 0; i < part->n; i++)
	{
		const uint32 hash = part->hashes[i];
		uint32		b = hash & mask;
		uint32		none = 0;

		if (i + FETCH_AHEAD < part->n)
			__builtin_prefetch(&v->bucket[part->hashes[i + FETCH_AHEAD] & mask], 1);
		while (!pg_atomic_compare_exchange_u32(&v->bucket[b], &none, (part->first + i + 1) | (hash & BUCKET_HASH)))
		{
			b = (b + 1) & mask;
			none = 0;
		}
	}
}

void
gc_dict_taken(GcColState *state, uint32 n, uint64 id)
{
	GcValues   *v = &state->dict->values;

	for (uint32 b = 0; n == 0 && b < v->nbuckets; b++)
		pg_atomic_write_u32(&v->bucket[b], 0);
	pg_write_barrier();
	pg_atomic_write_u32(&state->dict->count, n);
	state->kept_id = id;
	state->nkept = n;
}

GcDictPart
gc_dict_part(const GcDictView *view, uint32 first, uint32 n)
{
	const GcValues *v = &view->dict->values;

	Assert(view->nparts == 0 && first + n <= view->nshared);
	return (GcDictPart) {first, n, v->start[first], v->start + first + 1, v->hash + first, v->bytes + v->start[first]};
}

Size
gc_dict_retire(GcColState *state)
{
	Size		bytes = 0;

	if (state->dict == NULL)
		return 0;

	LWLockAcquire(dict_lock(state), LW_EXCLUSIVE);
	if (!state->retired)
	{
		state->retired = true;
		bytes = state->dict->obj.size;
		/* the worker drops its tables of it */
		state->dict->obj.region_id = state->dict->uid;
		gc_retire(&state->dict->obj);
	}
	LWLockRelease(dict_lock(state));
	return bytes;
}

void
gc_dict_free(GcColState *state)
{
	if (state->dict && !state->retired)
		gc_arena_free(state->dict, state->dict->obj.size);
	state->dict = NULL;
}

Size
gc_dict_bytes(const GcColState *state)
{
	return state->dict && !state->retired ? state->dict->obj.size : 0;
}

/* Capacities of a larger dictionary, for as much more in each of so many chunks; but twice its values at most. */
static void
grown_capacity(const GcDict *dict, uint32 count, uint32 more, Size more_bytes, uint32 chunks,
			   uint32 *capacity, Size *bytes_capacity)
{
	uint64		values = (uint64) count + more;
	Size		bytes = dict->values.start[count] + more_bytes;
	int			part = values < DICT_LARGE ? 2 : 4;

	*capacity = Max(values + Max(values / part, Min(values, (uint64) more * chunks)), dict->values.capacity);
	*bytes_capacity = Max(bytes + Max(bytes / part, Min(bytes, more_bytes * chunks)), dict->values.bytes_capacity);
}

Size
gc_dict_merge_bytes(const GcColState *state, const GcDictView *view)
{
	uint32		capacity;
	Size		bytes_capacity;

	if (view->nown == 0)
		return 0;
	grown_capacity(state->dict, pg_atomic_read_u32(&state->dict->count),
				   view->nown, view->own.start[view->nown], 0, &capacity, &bytes_capacity);
	return dict_size(capacity, bytes_capacity);
}

/* Replace the dictionary by a larger one, if need be without room for chunks to come.  Under the dictionary's lock. */
static GcCode
grow(GcColState *state, uint32 more, Size more_bytes, uint32 chunks, GcError *err)
{
	GcDict	   *old = state->dict;
	uint32		count = pg_atomic_read_u32(&old->count);
	uint32		capacity;
	Size		bytes_capacity;
	GcDict	   *dict;

	grown_capacity(old, count, more, more_bytes, chunks, &capacity, &bytes_capacity);

	/* Both are there for a while, and some of the table's other columns. */
	if (dict_size(capacity, bytes_capacity) + old->obj.size > gc_arena_capacity() / 2)
		return chunks > 0 ? grow(state, more, more_bytes, 0, err) :
			gc_fail(err, GC_NOT_CACHEABLE, "A dictionary takes too much of gpuconc.host_cache_size.");
	dict = dict_create(capacity, bytes_capacity, old->uid);
	if (dict == NULL && chunks > 0)
		return grow(state, more, more_bytes, 0, err);
	if (dict == NULL)
		return gc_fail(err, GC_CACHE_FULL,
					   "There is no room for a dictionary of %zu kB.",
					   dict_size(capacity, bytes_capacity) / 1024);
	values_copy(&dict->values, &old->values, count);
	pg_atomic_write_u32(&dict->count, count);

	/* A reader that sees the pointer must see the bytes that it points to. */
	pg_write_barrier();
	state->dict = dict;
	gc_retire(&old->obj);
	return GC_OK;
}

/* Have room for all own values of a view from number i on.  Under the dictionary's lock. */
static GcCode
make_room(GcColState *state, const GcDictView *view, uint32 i, uint32 chunks, GcError *err)
{
	const GcValues *own = &view->own;
	uint32		count = pg_atomic_read_u32(&state->dict->count);
	uint32		more = view->nown - i;
	Size		more_bytes = own->start[view->nown] - own->start[i];

	if (state->retired)
		return gc_fail(err, GC_CANCELLED, "The column was dropped from the cache.");
	if ((uint64) count + more > GC_DICT_MAX_VALUES)
		return gc_fail(err, GC_NOT_CACHEABLE,
					   "A text column has more than %d values.", GC_DICT_MAX_VALUES);
	if (values_fit(&state->dict->values, count, more, more_bytes))
		return GC_OK;
	return grow(state, more, more_bytes, chunks, err);
}

/* Merge own values [i, end) of a view.  Under the dictionary's lock; there is room. */
static void
merge_values(GcColState *state, const GcDictView *view, uint32 i, uint32 end, uint32 *map)
{
	const GcValues *own = &view->own;
	GcValues   *values = &state->dict->values;
	uint32		count = pg_atomic_read_u32(&state->dict->count);

	for (; i < end; i++)
	{
		const char *bytes = own->bytes + own->start[i];
		uint32		len = own->start[i + 1] - own->start[i];
		int64		found;

		__builtin_prefetch(&values->bucket[own->hash[Min(i + FETCH_AHEAD, end - 1)] & (values->nbuckets - 1)]);
		found = values_find(values, count, bytes, len, own->hash[i]);
		if (found < 0)
		{
			values_append(values, count, bytes, len, own->hash[i]);
			found = count++;
		}
		map[i] = found;
	}
	pg_write_barrier();
	pg_atomic_write_u32(&state->dict->count, count);
}

/*
 * The lock is released now and then, for other participants and for interrupts.  If the rest
 * cannot be merged, values that no row has stay behind, which does no harm.
 */
GcCode
gc_dict_merge(GcColState *state, GcDictView *view, uint32 chunks, uint32 **remap, GcError *err)
{
	GcCode		code = GC_OK;
	uint32	   *map;

	*remap = NULL;
	if (view->nown == 0)
		return GC_OK;
	map = MemoryContextAllocHuge(CurrentMemoryContext, view->nown * sizeof(uint32));
	for (uint32 i = 0; i < view->nown && code == GC_OK; i += MERGE_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		LWLockAcquire(dict_lock(state), LW_EXCLUSIVE);
		code = make_room(state, view, i, chunks, err);
		if (code == GC_OK)
			merge_values(state, view, i, Min(view->nown, i + MERGE_AT_ONCE), map);
		LWLockRelease(dict_lock(state));
	}
	if (code != GC_OK)
	{
		pfree(map);
		return code;
	}
	*remap = map;
	return GC_OK;
}

/*-------------------------------------------------------------------------
 * Frozen dictionaries
 *-------------------------------------------------------------------------
 */

/* Bytes of a view's values, shared and own. */
static Size
view_bytes(const GcDictView *view)
{
	Size		shared = view->dict && view->nshared > 0 ? view->dict->values.start[view->nshared] : 0;
	Size		own = view->nown > 0 ? view->own.start[view->nown] : 0;

	for (int i = 0; i < view->nparts; i++)
		shared += view_bytes(view->parts[i]);
	return shared + own;
}

Size
gc_dict_frozen_size(const GcDictView *view)
{
	return MAXALIGN(dict_size(Max(gc_dict_count(view), 1), view_bytes(view)));
}

GcDict *
gc_dict_freeze(const GcDictView *view, void *memory)
{
	GcDict	   *dict = memory;
	uint32		n = gc_dict_count(view);

	memset(dict, 0, sizeof(GcDict));
	dict->obj.size = gc_dict_frozen_size(view);
	dict->uid = view->dict && !gc_dict_is_part(view) ? view->dict->uid : gc_new_region_id();
	values_init(&dict->values, (char *) memory + MAXALIGN(sizeof(GcDict)), Max(n, 1), view_bytes(view));
	for (uint32 code = 0; code < n; code++)
	{
		uint32		len;
		const char *bytes = gc_dict_get(view, code, &len);

		values_append(&dict->values, code, bytes, len, hash_bytes_of(bytes, len));
	}
	pg_atomic_init_u32(&dict->count, n);
	return dict;
}

GcDictView *
gc_dict_frozen_view(GcDict *dict, uint32 n)
{
	GcDictView *view = palloc0(sizeof(GcDictView));

	view->context = CurrentMemoryContext;
	view->dict = dict;
	view->nshared = Min(pg_atomic_read_u32(&dict->count), n);
	return view;
}

bool
gc_dict_is_part(const GcDictView *view)
{
	return view->state == NULL && view->dict && view->nshared < pg_atomic_read_u32(&view->dict->count);
}

/*-------------------------------------------------------------------------
 * Views
 *-------------------------------------------------------------------------
 */
GcDictView *
gc_dict_view(GcColState *state, bool rtrim)
{
	GcDictView *view = palloc0(sizeof(GcDictView));

	view->context = CurrentMemoryContext;
	view->rtrim = rtrim;
	view->state = state;
	if (state)
	{
		Assert(gc_guard_held());
		view->dict = *(GcDict *volatile *) &state->dict;
		pg_read_barrier();
		view->nshared = pg_atomic_read_u32(&view->dict->count);
		pg_read_barrier();
	}
	return view;
}

GcDictView *
gc_dict_concatenated(const GcDictView *const *views, int n, bool rtrim, uint32 *first)
{
	GcDictView *view = gc_dict_view(NULL, rtrim);
	const GcDictView **parts = palloc((n + 1) * sizeof(GcDictView *));
	uint32	   *ends = palloc((n + 1) * sizeof(uint32));

	for (int i = 0; i < n; i++)
	{
		Assert(views[i]->nown == 0 && views[i]->nparts == 0);
		first[i] = view->nshared;
		if (views[i]->nshared == 0)
			continue;
		parts[view->nparts] = views[i];
		ends[view->nparts++] = first[i];
		view->nshared += views[i]->nshared;
	}
	ends[view->nparts] = view->nshared;
	view->parts = parts;
	view->first = ends;
	return view;
}

/* The values of the part that a shared code is of; *code becomes the code there. */
static const GcValues *
part_values(const GcDictView *view, uint32 *code)
{
	int			lo = 0,
				hi = view->nparts - 1;

	while (lo < hi)
	{
		int			mid = (lo + hi + 1) / 2;

		if (view->first[mid] <= *code)
			lo = mid;
		else
			hi = mid - 1;
	}
	*code -= view->first[lo];
	return &view->parts[lo]->dict->values;
}

uint32
gc_dict_count(const GcDictView *view)
{
	return view->nshared + view->nown;
}

uint32
gc_dict_shared_count(const GcDictView *view)
{
	return view->nshared;
}

/* Where a value is, and its code there. */
static inline const GcValues *
values_of(const GcDictView *view, uint32 *code)
{
	Assert(*code < gc_dict_count(view));
	if (*code < view->nshared)
		return view->nparts > 0 ? part_values(view, code) : &view->dict->values;
	*code -= view->nshared;
	return &view->own;
}

const char *
gc_dict_get(const GcDictView *view, uint32 code, uint32 *len)
{
	const GcValues *v = values_of(view, &code);

	*len = v->start[code + 1] - v->start[code];
	return v->bytes + v->start[code];
}

/* Codes come in any order, so both loads would wait for memory, value by value. */
void
gc_dict_prefetch(const GcDictView *view, const int64 *codes, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint32		code = (uint32) codes[i];

		__builtin_prefetch(&values_of(view, &code)->start[code]);
	}
	for (int i = 0; i < n; i++)
	{
		uint32		code = (uint32) codes[i];
		const GcValues *v = values_of(view, &code);

		__builtin_prefetch(v->bytes + v->start[code]);
		__builtin_prefetch(v->bytes + v->start[code + 1]);
	}
}

/* A value's length without the blanks that the type does not count (bpchar). */
static inline uint32
trimmed_length(const GcDictView *view, const char *bytes, uint32 len)
{
	if (view->rtrim)
	{
		while (len > 0 && bytes[len - 1] == ' ')
			len--;
	}
	return len;
}

/* A value's code in the shared dictionary, or behind it among the loader's own new values. -1: it has none. */
static inline int64
view_find(const GcDictView *view, const char *bytes, uint32 len, uint32 hash)
{
	int64		code = -1;

	if (view->dict)
		code = values_find(&view->dict->values, view->nshared, bytes, len, hash);
	if (code < 0 && view->nown > 0)
	{
		code = values_find(&view->own, view->nown, bytes, len, hash);
		if (code >= 0)
			code += view->nshared;
	}
	return code;
}

int64
gc_dict_lookup(GcDictView *view, const char *bytes, uint32 len)
{
	len = trimmed_length(view, bytes, len);
	return view_find(view, bytes, len, hash_bytes_of(bytes, len));
}

/* Make room for one more own value of len bytes. */
static void
grow_own(GcDictView *view, uint32 len)
{
	GcValues	old = view->own;
	uint32		capacity = Max(old.capacity, DICT_FIRST_VALUES);
	Size		bytes_capacity = Max(old.bytes_capacity, DICT_FIRST_BYTES);
	Size		used = view->nown > 0 ? old.start[view->nown] : 0;

	if (old.capacity == view->nown && old.capacity > 0)
		capacity *= 2;
	while (bytes_capacity < used + len)
		bytes_capacity *= 2;

	values_init(&view->own,
				MemoryContextAllocHuge(view->context,
									   values_arrays_size(capacity) + bytes_capacity),
				capacity, bytes_capacity);
	if (old.start)
	{
		values_copy(&view->own, &old, view->nown);
		pfree(old.start);
	}
}

int64
gc_dict_intern(GcDictView *view, const char *bytes, uint32 len)
{
	uint32		hash;
	int64		code;

	len = trimmed_length(view, bytes, len);
	hash = hash_bytes_of(bytes, len);
	code = view_find(view, bytes, len, hash);
	if (code >= 0)
		return code;

	if (len > GC_DICT_MAX_LENGTH || gc_dict_count(view) >= GC_DICT_MAX_VALUES)
		return -1;
	if (view->own.start == NULL || !values_fit(&view->own, view->nown, 1, len))
		grow_own(view, len);
	values_append(&view->own, view->nown, bytes, len, hash);
	return view->nshared + view->nown++;
}

uint64
gc_dict_shared_id(const GcDictView *view)
{
	return view->dict ? view->dict->uid : 0;
}

const GcDict *
gc_dict_shared(const GcDictView *view)
{
	return view->dict;
}

GcDictContents
gc_dict_contents(const GcDict *dict)
{
	return (GcDictContents) {dict->uid, dict->values.start, dict->values.bytes};
}

bool
gc_dict_is_live(const GcDictView *view)
{
	return view->state == NULL || !*(volatile const bool *) &view->state->retired;
}
