/*-------------------------------------------------------------------------
 *
 * lookups.c
 *	  Shared lookup tables.
 *
 * A fixed table in shared memory says which there are; the tables themselves are arena objects.
 * Sessions find, fill and publish them under their guard.  Eviction drops tables before columns.
 * A table is made again within milliseconds from a column that is there, but is of no use
 * without its column.
 *
 * Runs in backends; eviction, in any process that has a PGPROC.
 *
 * A published table never changes, and no other has its region_id.  So each process keeps the entries that it found in
 * parts of tables.
 *
 * Lock: GC_LOCK_LOOKUPS, after a dictionary's and before GC_LOCK_RETIRE.
 *
 *-------------------------------------------------------------------------
 */
#include "lookups.h"

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "arena.h"
#include "lock.h"
#include "../../compat.h"
#include "../../shmem.h"

/* Entries begin here, aligned for the device. */
#define TABLE_HEADER	256

StaticAssertDecl(sizeof(GcSharedLookup) <= TABLE_HEADER, "GcSharedLookup has outgrown its room");

typedef struct SharedLookup
{
	GcLookupKey key;			/* hash key */
	GcSharedLookup *table;		/* NULL: being filled for the first time */
	int			maker;			/* process that fills or extends it; 0: none */
	pg_atomic_uint64 last_used;
} SharedLookup;

typedef struct LookupsShared
{
	ConditionVariable made;		/* some process has ended */
} LookupsShared;

static LookupsShared *shared = NULL;
static HTAB *entries = NULL;

/* The entries of tables, which are in the arena. */
void
gc_lookups_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc shared lookup tables", sizeof(LookupsShared), &made);
	if (made)
		ConditionVariableInit(&shared->made);
	entries = gc_shmem_hash("gpuconc lookup table entries", GC_MAX_SHARED_LOOKUPS, sizeof(GcLookupKey),
							sizeof(SharedLookup));
}

/* The entry of a table, made or being made; else NULL.  Under GC_LOCK_LOOKUPS. */
static SharedLookup *
find_entry(const GcLookupKey *key)
{
	return hash_search(entries, key, HASH_FIND, NULL);
}

/* Forget an entry's table, and the entry unless a process is at work for it. */
static void
drop_table(SharedLookup *entry)
{
	GcSharedLookup *table = entry->table;

	entry->table = NULL;
	if (entry->maker == 0)
		hash_search(entries, &entry->key, HASH_REMOVE, NULL);
	if (table)
		gc_retire(&table->obj);
}

const GcSharedLookup *
gc_lookups_find(const GcLookupKey *key)
{
	const GcSharedLookup *table = NULL;
	SharedLookup *entry;

	Assert(gc_guard_held());
	LWLockAcquire(gc_lock(GC_LOCK_LOOKUPS), LW_SHARED);
	entry = find_entry(key);
	if (entry)
	{
		table = entry->table;
		pg_atomic_write_u64(&entry->last_used, GetCurrentTimestamp());
	}
	LWLockRelease(gc_lock(GC_LOCK_LOOKUPS));
	return table;
}

/*-------------------------------------------------------------------------
 * Making
 *-------------------------------------------------------------------------
 */

/* Where the parts of a table lie, behind its header. */
typedef struct LookupLayout
{
	Size		nulls;
	Size		order;
	Size		dict;
	Size		size;			/* of all */
} LookupLayout;

/* Where each part of a table lies: values, NULLs, the order of ranks, and the texts. */
static LookupLayout
lay_out(const GcLookupShape *shape)
{
	LookupLayout l;

	l.nulls = TABLE_HEADER + MAXALIGN((Size) shape->count * shape->width);
	l.order = l.nulls + MAXALIGN(shape->count);
	l.dict = l.order + (shape->ranked ? MAXALIGN((Size) shape->count * sizeof(uint32)) : 0);
	l.size = l.dict + (shape->dict ? gc_dict_frozen_size(shape->dict) : 0);
	return l;
}

Size
gc_lookups_size(const GcLookupShape *shape)
{
	return lay_out(shape).size;
}

GcSharedLookup *
gc_lookups_init(void *memory, const GcLookupKey *key, const GcLookupShape *shape)
{
	LookupLayout l = lay_out(shape);
	GcSharedLookup *table = memory;
	char	   *p = memory;

	memset(table, 0, TABLE_HEADER);
	table->obj.size = l.size;
	table->obj.region_id = gc_new_region_id();
	table->key = *key;
	table->count = shape->count;
	table->width = shape->width;
	table->data = p + TABLE_HEADER;
	table->nulls = (uint8 *) p + l.nulls;
	table->bytes = l.order - TABLE_HEADER;
	if (shape->ranked)
		table->order = (uint32 *) (p + l.order);
	if (shape->dict)
		table->dict = gc_dict_freeze(shape->dict, p + l.dict);
	return table;
}

/*-------------------------------------------------------------------------
 * Parts
 *-------------------------------------------------------------------------
 */

/* To look through a part takes several times as long as all else that a session does for a short query. */
#define KEPT_PARTS	32

static GcLookupPart kept_parts[KEPT_PARTS];
static uint32 next_part = 0;

/* The span, NULLs and texts of the first `count` entries.  Entry 0 is f(NULL), whose NULL does not count. */
static GcLookupPart
look_through(const GcSharedLookup *table, uint32 count)
{
	GcLookupPart part = {.table = table->obj.region_id,.count = count,.span = GC_NO_SPAN};
	GcSpan	   *span = &part.span;

	for (uint32 k = 0; k < count; k++)
	{
		const int64 value = gc_lookups_value(table, k);

		if (table->nulls[k])
		{
			part.any_null = part.any_null || k > 0;
			continue;
		}
		if (span->min > span->max)
			*span = (GcSpan) {value, value, table->span.dscale, table->span.min_dscale};
		span->min = Min(span->min, value);
		span->max = Max(span->max, value);
	}
	if (table->dict)
		part.texts = span->min > span->max ? 0 : (uint32) span->max + 1;
	/* Tagged entries are read as such, whether those of this part have one scale or not. */
	if (table->scale == GC_SCALE_TAGGED)
		*span = table->span;
	return part;
}

GcLookupPart
gc_lookups_part(const GcSharedLookup *table, uint32 count)
{
	GcLookupPart *part;

	Assert(count <= table->count);
	if (count == table->count)
		return (GcLookupPart) {.table = table->obj.region_id,.count = count,.texts = GC_DICT_MAX_VALUES,
	.any_null = table->any_null,.span = table->span};
	for (int i = 0; i < KEPT_PARTS; i++)
	{
		if (kept_parts[i].table == table->obj.region_id && kept_parts[i].count == count)
			return kept_parts[i];
	}
	part = &kept_parts[next_part++ % KEPT_PARTS];
	*part = look_through(table, count);
	return *part;
}

GcDictView *
gc_lookups_texts(const GcSharedLookup *table, uint32 count)
{
	Assert(table->dict && table->width == sizeof(int32));
	return gc_dict_frozen_view(table->dict, gc_lookups_part(table, count).texts);
}

/*-------------------------------------------------------------------------
 * Publishing
 *-------------------------------------------------------------------------
 */

/* The table is full: drop the least recently used. */
static bool
drop_oldest(TimestampTz since)
{
	HASH_SEQ_STATUS seq;
	SharedLookup *entry;
	SharedLookup *oldest = NULL;
	TimestampTz used = since;

	hash_seq_init(&seq, entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		TimestampTz entry_used = pg_atomic_read_u64(&entry->last_used);

		if (entry->table && entry_used < used)
		{
			oldest = entry;
			used = entry_used;
		}
	}
	if (oldest)
		drop_table(oldest);
	return oldest != NULL;
}

/* The entry of a key, made if need be; NULL where there is no room for one. */
static SharedLookup *
make_entry(const GcLookupKey *key)
{
	SharedLookup *entry = find_entry(key);

	if (entry)
		return entry;
	if (hash_get_num_entries(entries) >= GC_MAX_SHARED_LOOKUPS &&
		!drop_oldest(PG_INT64_MAX))
		return NULL;
	entry = hash_search(entries, key, HASH_ENTER_NULL, NULL);
	if (entry)
	{
		entry->table = NULL;
		entry->maker = 0;
		pg_atomic_init_u64(&entry->last_used, GetCurrentTimestamp());
	}
	return entry;
}

const GcSharedLookup *
gc_lookups_publish(GcSharedLookup *table, const GcDictView *from, const GcDictView *to)
{
	const GcSharedLookup *result = table;
	SharedLookup *entry;

	Assert(gc_guard_held());
	LWLockAcquire(gc_lock(GC_LOCK_LOOKUPS), LW_EXCLUSIVE);
	entry = make_entry(&table->key);
	if (entry == NULL || (from && !gc_dict_is_live(from)) || (to && !gc_dict_is_live(to)))
		gc_retire(&table->obj);
	else if (entry->table && entry->table->to_count == table->to_count &&
			 entry->table->count >= table->count)
	{
		result = entry->table;
		gc_arena_free(table, table->obj.size);
	}
	else if (entry->table && entry->table->to_count > table->to_count)
		gc_retire(&table->obj);	/* good for its maker alone */
	else
	{
		GcSharedLookup *old = entry->table;

		entry->table = table;
		pg_atomic_write_u64(&entry->last_used, GetCurrentTimestamp());
		if (old)
			gc_retire(&old->obj);
	}
	LWLockRelease(gc_lock(GC_LOCK_LOOKUPS));
	return result;
}

bool
gc_lookups_begin(const GcLookupKey *key)
{
	static uint32 wait_event = 0;
	bool		waited = false;
	bool		mine = false;

	for (;;)
	{
		SharedLookup *entry;
		bool		busy = false;

		LWLockAcquire(gc_lock(GC_LOCK_LOOKUPS), LW_EXCLUSIVE);
		entry = make_entry(key);
		if (entry && entry->maker != 0)
			busy = true;
		else if (!waited)
		{
			mine = true;
			if (entry)
				entry->maker = MyProcPid;
		}
		LWLockRelease(gc_lock(GC_LOCK_LOOKUPS));
		if (!busy)
			break;
		waited = true;
		ConditionVariableSleep(&shared->made, GC_WAIT_EVENT(wait_event, "GpuconcLookupTable"));
	}
	ConditionVariableCancelSleep();
	return mine;
}

void
gc_lookups_end(const GcLookupKey *key)
{
	SharedLookup *entry;

	LWLockAcquire(gc_lock(GC_LOCK_LOOKUPS), LW_EXCLUSIVE);
	entry = find_entry(key);
	if (entry && entry->maker == MyProcPid)
	{
		entry->maker = 0;
		if (entry->table == NULL)
			hash_search(entries, key, HASH_REMOVE, NULL);
	}
	LWLockRelease(gc_lock(GC_LOCK_LOOKUPS));
	ConditionVariableBroadcast(&shared->made);
}

/*-------------------------------------------------------------------------
 * Giving up
 *-------------------------------------------------------------------------
 */

/* Give up the tables of a dictionary, or where that is 0 of a database. */
static void
forget(uint64 dict, Oid dbid)
{
	HASH_SEQ_STATUS seq;
	SharedLookup *entry;

	LWLockAcquire(gc_lock(GC_LOCK_LOOKUPS), LW_EXCLUSIVE);
	hash_seq_init(&seq, entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (dict != 0 ? entry->key.dict == dict || entry->key.to_dict == dict : entry->key.dbid == dbid)
			drop_table(entry);
	}
	LWLockRelease(gc_lock(GC_LOCK_LOOKUPS));
}

void
gc_lookups_forget(uint64 dict)
{
	forget(dict, InvalidOid);
}

void
gc_lookups_forget_database(Oid dbid)
{
	forget(0, dbid);
}

Size
gc_lookups_idle(TimestampTz since)
{
	HASH_SEQ_STATUS seq;
	SharedLookup *entry;
	Size		bytes = 0;

	LWLockAcquire(gc_lock(GC_LOCK_LOOKUPS), LW_SHARED);
	hash_seq_init(&seq, entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (entry->table && (TimestampTz) pg_atomic_read_u64(&entry->last_used) < since)
			bytes += entry->table->obj.size;
	}
	LWLockRelease(gc_lock(GC_LOCK_LOOKUPS));
	return bytes;
}

bool
gc_lookups_evict(TimestampTz since)
{
	bool		dropped;

	LWLockAcquire(gc_lock(GC_LOCK_LOOKUPS), LW_EXCLUSIVE);
	dropped = drop_oldest(since);
	LWLockRelease(gc_lock(GC_LOCK_LOOKUPS));
	return dropped;
}
