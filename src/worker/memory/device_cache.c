/*-------------------------------------------------------------------------
 *
 * device_cache.c
 *	  The device cache: which column chunks are in device memory.
 *
 * Kernels are given a device table for one column of one directory: an array of GcCols, one per
 * chunk.  Successive directories of a relation share the regions (regions.c) of their common chunks.  Chunks
 * are copied when the first request that reads them comes.  On a device that reads host memory
 * there are no regions: a table's GcCols carry host addresses.
 *
 * The chunks of a table are evictable while no request uses it (eviction.h).
 *
 * The byte count in a column's state is adjusted only under a guard, and after the ids dropped
 * so far were taken.  So a state that was freed is never touched.
 *
 * The worker's main thread.  Requests hold tables, and tables hold regions.
 *
 *-------------------------------------------------------------------------
 */
#include "device_cache.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "../../columns/store/epoch.h"
#include "../../columns/store/store.h"
#include "../../queue/queue.h"
#include "device_memory.h"
#include "eviction.h"
#include "regions.h"
#include "state.h"

/* Longest range of the arena that dropped ids are taken in at once. */
#define DROP_BATCH	256

typedef struct TableKey
{
	u64			dir_id;
	u32			col;
	u32			pad;
} TableKey;

struct GcTable
{
	TableKey	key;
	u32			nchunks;
	u32			nresident;
	u64			bytes;			/* of its regions */
	u64			place_bytes[GC_PLACES]; /* bytes by place of its chunks */
	GcColumnUses uses;
	u64			wanted_in;		/* decision for which requests that wait want it */
	float		wanted;			/* after how many more requests one has read all of it */
	bool		doomed;			/* dropped from the hash; free at last release */
	bool		dirty;			/* cols changed since they were uploaded */
	u32			users;
	uint64		last_used;
	GcAddr		array;			/* GcCol[nchunks] on the device */
	GcCol	   *cols;			/* that array on the host */
	GcRegion  **regions;		/* per chunk; NULL: not cached on the device */
	GcColState *state;			/* NULL once it may have been freed */
	GcEvent	   *ready;			/* follows the last upload */
	GcTable    *next;
};

typedef struct TableEntry
{
	TableKey	key;
	GcTable    *table;
} TableEntry;

/* Tables that were found last are found again at once. */
#define RECENT	256

/* Bytes of all chunks of a directory's column, of those that were asked for last. */
typedef struct ColumnSum
{
	u64			dir_id;
	u32			col;
	bool		known;
	u64			bytes;
} ColumnSum;

static ColumnSum sums[RECENT];
static HTAB *tables = NULL;
static GcTable *recent[RECENT];
static GcTable *table_list = NULL;
static void (*region_watcher) (u64 id) = NULL;

/*-------------------------------------------------------------------------
 * Tables
 *-------------------------------------------------------------------------
 */

/* A table's place among those found lately. */
static u32
place_among_recent(u64 dir_id, int col)
{
	return (dir_id * 37 + (u32) col) % RECENT;
}

/* The cell in which a table was found lately, if it was; another column may have it. */
static GcTable **
recent_place(u64 dir_id, int col)
{
	return &recent[place_among_recent(dir_id, col)];
}

/* Bytes of these chunks of a column, in device memory or not. */
static u64
sum_of(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources)
{
	u64			bytes = 0;

	for (uint32 s = 0; s < nsources; s++)
		bytes += gc_cell_bytes(GC_CELL(dir, sources[s].chunk, col));
	return bytes;
}

/*
 * Bytes of these chunks of a column.  Mostly they are all of the directory's, which do not change.  They lie far apart,
 * and each request asks several times.
 */
static u64
column_bytes(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources)
{
	ColumnSum  *sum = &sums[place_among_recent(dir->id, col)];

	if (nsources != dir->nchunks)
		return sum_of(dir, col, sources, nsources);
	if (!sum->known || sum->dir_id != dir->id || sum->col != (u32) col)
		*sum = (ColumnSum) {.dir_id = dir->id,.col = col,.known = true,.bytes = sum_of(dir, col, sources, nsources)};
	return sum->bytes;
}

/* A column's table, or NULL.  Found lately, it takes no look into the hash. */
static GcTable *
find_table(const GcDirectory *dir, int col)
{
	GcTable   **place = recent_place(dir->id, col);
	TableKey	key = {.dir_id = dir->id,.col = col};
	const TableEntry *entry;

	if (*place && (*place)->key.dir_id == dir->id && (*place)->key.col == (u32) col)
		return *place;
	entry = hash_search(tables, &key, HASH_FIND, NULL);
	if (entry == NULL)
		return NULL;
	return *place = entry->table;
}

/*
 * Note a column's bytes for gpuconc_cache, of all its tables that are of use.  A sum, since tables that
 * are doomed for a dropped chunk no longer know their column.  See the head of the file.
 */
static void
note_bytes(GcColState *state)
{
	u64			bytes = 0;

	for (const GcTable *t = table_list; t; t = t->next)
		bytes += t->state == state ? t->bytes : 0;
	pg_atomic_write_u64(&state->device_bytes[gc_my_device()], bytes);
}

/* Tell the column's state and the evictors how much is cached now.  Takes a guard. */
static void
count_bytes(GcTable *table)
{
	gc_guard_enter();
	gc_drop_regions();
	if (table->state)
		note_bytes(table->state);
	gc_guard_leave();
	gc_evictors_cached(gc_region_bytes());
}

/* keep: leave its regions behind as orphans. */
static void
table_free(GcTable *table, bool keep)
{
	GcTable   **place = recent_place(table->key.dir_id, table->key.col);

	if (*place == table)
		*place = NULL;
	for (GcTable **p = &table_list; *p; p = &(*p)->next)
	{
		if (*p == table)
		{
			*p = table->next;
			break;
		}
	}
	hash_search(tables, &table->key, HASH_REMOVE, NULL);
	for (u32 i = 0; table->regions && i < table->nchunks; i++)
	{
		if (table->regions[i])
			gc_region_unref(table->regions[i], keep);
	}
	/* A table without regions is not told if its column goes. */
	if (table->state && table->bytes > 0)
		note_bytes(table->state);
	gc_device_free(table->array);
	if (table->ready)
		gc_worker.ops->event_put(gc_worker.dev, table->ready);
	if (table->regions)
		pfree(table->regions);
	pfree(table->cols);
	pfree(table);
}

/*
 * Free the table now, or when its last user is done.  Until then requests with the same directory
 * still find it.  They must not get a second table, since all members of a shared scan read a column
 * from one table (shared_scan.c).
 */
static void
table_doom(GcTable *table)
{
	table->doomed = true;
	gc_column_uses_keep(&table->uses);
	if (table->users == 0)
		table_free(table, true);
}

/*
 * Doom the tables of a relation's former directories: they are of no use once there is a new table
 * for the same column.
 */
static void
doom_predecessors(const GcColState *state, u64 dir_id)
{
	GcTable    *next;

	/* Those of combined directories have no state. */
	if (state == NULL)
		return;
	for (GcTable *t = table_list; t; t = next)
	{
		next = t->next;
		if (t->state == state && t->key.dir_id < dir_id && !t->doomed)
			table_doom(t);
	}
}

/* An empty table: no chunk has its region yet, and nothing is copied.  NULL: no device memory. */
static GcTable *
table_create(const GcDirectory *dir, int col, GcError *err)
{
	TableKey	key = {.dir_id = dir->id,.col = col};
	GcAddr		array = gc_device_alloc(Max(dir->nchunks, 1) * sizeof(GcCol));
	GcTable    *table;
	TableEntry *entry;

	if (array == 0)
	{
		gc_fail(err, GC_DEVICE_MEMORY, "No device memory for the description of a column.");
		return NULL;
	}
	gc_device_label(array, GC_MEMORY_COLUMNS);
	table = MemoryContextAllocZero(TopMemoryContext, sizeof(GcTable));
	table->key = key;
	table->nchunks = dir->nchunks;
	table->array = array;
	table->state = dir->columns[col].state;
	table->cols = MemoryContextAllocZero(TopMemoryContext, (dir->nchunks + 1) * sizeof(GcCol));
	table->regions = MemoryContextAllocZero(TopMemoryContext, (dir->nchunks + 1) * sizeof(GcRegion *));
	table->next = table_list;
	table_list = table;
	entry = hash_search(tables, &key, HASH_ENTER, NULL);
	entry->table = table;
	return table;
}

/* The table gets or loses the region of a chunk. */
static void
count_region(GcTable *table, u32 chunk, int64 bytes)
{
	table->bytes += bytes;
	table->place_bytes[gc_place_of(table->nchunks, chunk)] += bytes;
}

static bool
table_add_chunk(GcTable *table, const GcDirectory *dir, u32 i, GcStream *stream,
				GcCopies *copies, u64 *copied, GcError *err)
{
	const GcChunkColumn *cell = GC_CELL(dir, i, table->key.col);
	GcRegion   *region = NULL;

	if (!gc_worker.dev->info.host_memory &&
		(region = gc_region_get(dir, table->key.col, i, stream, copies, copied, err)) == NULL)
		return false;
	/* Not before: a chunk with an address counts as readable by kernels. */
	table->cols[i] = cell->desc;
	if (region)
	{
		table->regions[i] = region;
		table->cols[i].data = region->addr;
		table->cols[i].nulls = cell->desc.nulls ? region->addr + cell->data_bytes : 0;
		count_region(table, i, (int64) region->bytes);
	}
	table->nresident++;
	table->dirty = true;
	return true;
}

/* Record that all copies so far are done once the stream is; it has waited for earlier ones. */
static void
note_upload(GcTable *table, GcStream *stream)
{
	GcEvent    *ready = gc_worker.ops->event(stream, NULL);

	/* Without it, nobody could wait for them. */
	if (ready == NULL)
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	if (table->ready)
		gc_worker.ops->event_put(gc_worker.dev, table->ready);
	table->ready = ready;
}

GcCode
gc_table_complete(GcTable *table, const GcDirectory *dir, const GcSource *sources, uint32 nsources,
				  GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
{
	const u64	before = table->bytes;
	const bool	whole = table->nresident == table->nchunks;
	u64			hits = whole ? nsources : 0;
	bool		ok = true;

	if (!gc_await_copy(&table->ready, stream, err))
		return err->code;
	for (uint32 s = 0; s < nsources && ok && !whole; s++)
	{
		const u32	i = sources[s].chunk;

		if (table->cols[i].data == 0)
			ok = table_add_chunk(table, dir, i, stream, copies, copied, err);
		else
			hits++;
	}
	pg_atomic_fetch_add_u64(&gc_stats()->region_hits, hits);
	if (table->bytes > before)
		count_bytes(table);
	if (!ok)
	{
		/* Chunks that were added stay.  Later users wait for their copies, as for an upload. */
		if (table->bytes > before)
			note_upload(table, stream);
		return err->code;
	}
	if (!table->dirty)
		return GC_OK;
	if (gc_worker.ops->copy_in(stream, table->array, table->cols, table->nchunks * sizeof(GcCol), err) != GC_OK)
		return err->code;
	note_upload(table, stream);
	table->dirty = table->ready == NULL;
	return GC_OK;
}

GcTable *
gc_table_use(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources, float spared,
			 GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
{
	GcTable    *table = find_table(dir, col);
	const bool	found = table != NULL;

	if (!found && (table = table_create(dir, col, err)) == NULL)
		return NULL;
	table->users++;
	table->last_used = ++gc_worker.clock;
	if (!found)
	{
		doom_predecessors(table->state, dir->id);
		gc_column_uses_recall(&table->uses, dir, col);
	}
	gc_column_used(&table->uses, dir, col, sources, nsources, spared);

	if (gc_table_complete(table, dir, sources, nsources, stream, copies, copied, err) == GC_OK)
		return table;
	gc_table_release(table);
	return NULL;
}

GcAddr
gc_table_array(const GcTable *table)
{
	return table->array;
}

/* Bytes of tables without users, and of orphans. */
static u64
unused_bytes(void)
{
	u64			bytes = gc_orphan_bytes();

	for (const GcTable *t = table_list; t; t = t->next)
		bytes += t->users == 0 ? t->bytes : 0;
	return bytes;
}

bool
gc_tables_fit(const GcDirectory *dir, const int *columns, int ncolumns, const GcSource *sources, uint32 nsources,
			  u64 besides, u64 unused)
{
	u64			needed = besides;
	const u64	free = gc_pool_size(gc_worker.pool) - gc_pool_used(gc_worker.pool);

	for (int c = 0; c < ncolumns; c++)
	{
		const GcTable *table = find_table(dir, columns[c]);
		const bool	used = table && table->users > 0;

		needed += column_bytes(dir, columns[c], sources, nsources);
		/* Columns that another request uses stay; anything else counts as free or unused. */
		for (uint32 s = 0; s < nsources && used; s++)
		{
			const GcRegion *region = table->regions[sources[s].chunk];

			needed -= region ? region->bytes : 0;
		}
	}
	return needed <= free + unused + unused_bytes();
}

void
gc_table_release(GcTable *table)
{
	table->users--;
	if (table->users == 0 && table->doomed)
		table_free(table, true);
}

/*-------------------------------------------------------------------------
 * Replacement
 *-------------------------------------------------------------------------
 */

u64
gc_table_missing(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources, bool *in_use)
{
	const GcTable *table = find_table(dir, col);
	u64			there,
				bytes;

	if (in_use)
		*in_use = table && table->users > 0;
	if (gc_worker.dev->info.host_memory || (table && table->nresident == table->nchunks))
		return 0;
	bytes = column_bytes(dir, col, sources, nsources);
	there = gc_column_device_bytes(dir, col);
	return there < bytes ? bytes - there : 0;
}

GcUses
gc_table_read_in_waves(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources, float spared)
{
	GcTable    *table = find_table(dir, col);

	if (table == NULL)
		return gc_column_used_in_waves(dir, col, sources, nsources, spared);
	gc_column_used(&table->uses, dir, col, sources, nsources, spared);
	return table->uses.of.place[0];
}

void
gc_table_want(const GcDirectory *dir, int col, float requests)
{
	GcTable    *table = find_table(dir, col);

	gc_orphans_want(dir, col, requests);
	if (table == NULL)
		return;
	table->wanted = table->wanted_in == gc_decision() ? Min(table->wanted, requests) : requests;
	table->wanted_in = gc_decision();
}

/* Device memory of a table's descriptions; its regions come on top. */
static u64
array_bytes(const GcTable *t)
{
	return Max(t->nchunks, 1) * sizeof(GcCol);
}

/* Offer the columns that no request uses, by place, and orphans. */
static void
offer(GcEvictor *self)
{
	/* Columns dropped for another reason need no decision. */
	gc_guard_enter();
	gc_drop_regions();
	gc_guard_leave();
	for (GcTable *t = table_list; t; t = t->next)
	{
		const float soon = t->wanted_in == gc_decision() ? t->wanted / Min(Max(t->nchunks, 1), GC_PLACES) : 0;

		/* One without regions still takes its array. */
		if (t->users == 0 && t->bytes == 0)
			gc_offer_victim(&(GcVictim) {.bytes = array_bytes(t),.used = t->last_used,.what = t});
		for (u32 place = 0; place < GC_PLACES && t->users == 0; place++)
		{
			if (t->place_bytes[place] > 0)
				gc_offer_victim(&(GcVictim) {.bytes = t->place_bytes[place],
								.cost = gc_uses_cost(gc_uses_of_place(&t->uses.of, place), t->place_bytes[place]),
								.uses = *gc_uses_of_place(&t->uses.of, place),.soon = soon *
								(place + 0.5f),.used = t->last_used, .place = place,.piece = place,.what = t});
		}
	}
	gc_offer_orphans();
}

/* Take chunk i out of a table that no request uses; returns the bytes that its region had. */
static u64
drop_chunk(GcTable *t, u32 i)
{
	GcRegion   *region = t->regions[i];
	const u64	bytes = region->tables == 1 ? region->bytes : 0;

	count_region(t, i, -(int64) region->bytes);
	t->regions[i] = NULL;
	t->cols[i].data = t->cols[i].nulls = 0;
	t->nresident--;
	t->dirty = true;
	gc_region_unref(region, false);
	pg_atomic_fetch_add_u64(&gc_stats()->evictions, bytes > 0);
	return bytes;
}

/* Drop chunks of a place of a table, the last ones first.  A table without chunks goes itself. */
static u64
drop_chunks(GcTable *t, u32 place, u64 need)
{
	u64			dropped = t->bytes == 0 ? array_bytes(t) : 0;

	for (u32 i = t->nchunks; i-- > 0 && dropped < need && t->place_bytes[place] > 0;)
	{
		if (gc_place_of(t->nchunks, i) == place && t->regions[i])
			dropped += drop_chunk(t, i);
	}
	if (t->state && dropped != array_bytes(t))
		note_bytes(t->state);
	if (t->bytes == 0)
	{
		gc_column_uses_keep(&t->uses);
		table_free(t, false);
	}
	return dropped;
}

/* A GcEvictor's: drop chunks of a table, or regions without one, for `need` bytes.  Returns how many bytes went. */
static u64
drop(const GcVictim *victim, u64 need)
{
	u64			dropped = 0;

	/* Dropping regions may free the array that was offered. */
	gc_guard_enter();
	gc_drop_regions();
	if (victim->what == NULL)
		dropped = gc_drop_orphans(victim->id, need);
	for (GcTable *t = table_list; t && victim->what; t = t->next)
	{
		if (t == victim->what && t->users == 0)
		{
			dropped = drop_chunks(t, victim->piece, need);
			break;
		}
	}
	gc_guard_leave();
	return dropped;
}

/* Doom the tables that have a dropped region, or all. */
static void
doom_dropped(bool all)
{
	GcTable    *next;

	for (GcTable *t = table_list; t; t = next)
	{
		bool		gone = all;

		next = t->next;
		for (u32 i = 0; i < t->nchunks; i++)
		{
			if (t->regions[i] && all)
				t->regions[i]->dropped = true;
			gone = gone || (t->regions[i] && t->regions[i]->dropped);
		}
		if (gone)
		{
			/* The state of its column may have been freed as well. */
			t->state = NULL;
			table_doom(t);
		}
	}
}

void
gc_drop_regions(void)
{
	uint64		ids[DROP_BATCH];
	bool		overflow = false;
	bool		any = false;
	int			n;

	do
	{
		bool		lost = false;

		n = gc_take_dropped_regions(gc_my_device(), ids, DROP_BATCH, &lost);
		overflow = overflow || lost;
		for (int i = 0; i < n; i++)
		{
			if (region_watcher)
				region_watcher(ids[i]);
			any = gc_region_dropped(ids[i]) || any;
		}
	} while (n == DROP_BATCH);
	if (overflow && region_watcher)
		region_watcher(0);
	if (any || overflow)
		doom_dropped(overflow);
	if (overflow)
		gc_free_orphans();
}

void
gc_regions_watch(void (*watcher) (u64 id))
{
	region_watcher = watcher;
}

void
gc_device_cache_restart(void)
{
	GcDirectory **dirs;
	int			n;

	gc_guard_enter();
	dirs = gc_store_list(&n);
	for (int i = 0; i < n; i++)
	{
		for (uint32 c = 0; c < dirs[i]->ncolumns; c++)
		{
			if (dirs[i]->columns[c].state)
				note_bytes(dirs[i]->columns[c].state);
		}
	}
	gc_guard_leave();
	pfree(dirs);
}

void
gc_device_cache_init(void)
{
	static GcEvictor evictor = {.offer = offer,.drop = drop};
	HASHCTL		tctl = {.keysize = sizeof(TableKey),.entrysize = sizeof(TableEntry)};

	gc_regions_init();
	tables = hash_create("gpuconc tables", 256, &tctl, HASH_ELEM | HASH_BLOBS);
	gc_evictor_register(&evictor);
}
