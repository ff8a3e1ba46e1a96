/*-------------------------------------------------------------------------
 *
 * device_cache.c
 *	  The device cache: which column chunks are in device memory.
 *
 * A region is the device copy of one column of one chunk, known by its region id.  A device
 * table is what kernels are given for one column of one directory: an array of GcCols, one per
 * chunk.  Successive directories of a relation share the regions of their common chunks.  A region
 * that no table refers to any more is an *orphan*: the next directory's table finds it again.  Chunks
 * are copied when the first request that reads them comes.  On a device that reads host memory
 * there are no regions: a table's GcCols carry host addresses.
 *
 * The chunks of a table are evictable while no request uses it, and so is an orphan (eviction.h).
 *
 * The byte count in a column's state is adjusted only under a guard, and after the ids dropped
 * so far were taken.  So a state that was freed is never touched.
 *
 * The worker's main thread.  Requests hold tables, and tables hold regions.
 *
 *-------------------------------------------------------------------------
 */
#include "device_cache.h"

#include "lib/ilist.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "../../columns/epoch.h"
#include "../../queue/queue.h"
#include "column_uses.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/* Longest range of the arena that dropped ids are taken in at once. */
#define DROP_BATCH	256

/* So many orphans are offered for eviction at once. */
#define MOST_ORPHANS	64

struct GcRegion
{
	u64			id;				/* key */
	GcAddr		addr;
	u64			bytes;
	u32			tables;			/* that refer to it, and waves */
	bool		dropped;		/* the host copy is gone */
	GcEvent	   *ready;			/* follows its upload; NULL: that is known to be done */
	dlist_node	orphan;			/* in orphans, if tables is 0 */
	u64			last_used;		/* of an orphan */
	u64			use_key;		/* of its place */
	u64			column;			/* key of its column (column_uses.h); 0: not known */
};

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
	u64			place_bytes[GC_PLACES]; /* the same by place of its chunks */
	GcColumnUses uses;
	u64			wanted_in;		/* decision for which requests that wait want it */
	float		wanted;			/* after how many more requests one has read all of it */
	bool		doomed;			/* dropped from the hash; free at last release */
	bool		dirty;			/* cols changed since they were uploaded */
	u32			users;
	uint64		last_used;
	GcAddr		array;			/* GcCol[nchunks] on the device */
	GcCol	   *cols;			/* the same on the host */
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

/* What device memory has of a column, in all its directories. */
typedef struct ColumnBytes
{
	u64			column;			/* key */
	u64			bytes;
} ColumnBytes;

static HTAB *regions = NULL;
static HTAB *column_bytes = NULL;
static HTAB *tables = NULL;
static GcTable *table_list = NULL;
static dlist_head orphans = DLIST_STATIC_INIT(orphans); /* longest unused first */
static void (*region_watcher) (u64 id) = NULL;

/*-------------------------------------------------------------------------
 * Regions
 *-------------------------------------------------------------------------
 */

static void
note_regions(void)
{
	pg_atomic_write_u64(&gc_device_status()->regions, hash_get_num_entries(regions));
}

/* Count a region for its column; on: it is there now, else it goes. */
static void
count_for_column(const GcRegion *region, bool on)
{
	bool		found;
	ColumnBytes *c = hash_search(column_bytes, &region->column, HASH_ENTER, &found);

	if (!found)
		c->bytes = 0;
	c->bytes = on ? c->bytes + region->bytes : c->bytes - region->bytes;
	if (c->bytes == 0)
		(void) hash_search(column_bytes, &region->column, HASH_REMOVE, NULL);
}

static void
set_column(GcRegion *region, u64 column)
{
	if (region->column)
		return;
	region->column = column;
	count_for_column(region, true);
}

static void
region_free(GcRegion *region)
{
	if (region->column)
		count_for_column(region, false);
	if (region->ready)
		gc_worker.ops->event_put(gc_worker.dev, region->ready);
	gc_device_free(region->addr);
	hash_search(regions, &region->id, HASH_REMOVE, NULL);
	note_regions();
}

static void
free_orphan(GcRegion *region)
{
	dlist_delete(&region->orphan);
	region_free(region);
}

/* A table needs the region no longer; keep: the next directory's may. */
static void
region_unref(GcRegion *region, bool keep)
{
	if (--region->tables > 0)
		return;
	if (!keep || region->dropped)
	{
		region_free(region);
		return;
	}
	region->last_used = ++gc_worker.clock;
	dlist_push_tail(&orphans, &region->orphan);
}

/*
 * Let the stream wait for a copy that another stream makes.  Directories that follow each other
 * closely have regions in common, so a region's copy need not be done when its next table uses it.
 */
static bool
wait_for_region(GcRegion *region, GcStream *stream, GcError *err)
{
	bool		done = false;

	if (region->ready == NULL)
		return true;
	if (gc_worker.ops->event_done(region->ready, &done, err) != GC_OK)
		return false;
	if (!done)
		return gc_worker.ops->stream_wait(stream, region->ready, err) == GC_OK;
	gc_worker.ops->event_put(gc_worker.dev, region->ready);
	region->ready = NULL;
	return true;
}

static u64
bytes_of(const GcChunkColumn *cell)
{
	return cell->data_bytes + cell->null_bytes;
}

/* Make a region in memory that was allocated for it, and queue its copy; NULL: the memory is free again. */
static GcRegion *
region_make(const GcChunkColumn *cell, GcAddr addr, GcStream *stream, GcError *err)
{
	u64			id = cell->obj.region_id;
	GcRegion   *region;

	if (gc_copy_in(stream, addr, (const void *) cell->desc.data, bytes_of(cell), err) != GC_OK)
	{
		gc_device_free(addr);
		return NULL;
	}
	pg_atomic_fetch_add_u64(&gc_stats()->region_misses, 1);
	region = hash_search(regions, &id, HASH_ENTER, NULL);
	*region = (GcRegion) {.id = id,.addr = addr,.bytes = bytes_of(cell),.tables = 1};
	region->ready = gc_worker.ops->event(stream, err);
	if (region->ready == NULL)
	{
		region_unref(region, false);
		return NULL;
	}
	note_regions();
	return region;
}

bool
gc_region_there(const GcChunkColumn *cell)
{
	u64			id = cell->obj.region_id;

	return hash_search(regions, &id, HASH_FIND, NULL) != NULL;
}

GcCode
gc_region_take(const GcChunkColumn *cell, GcStream *stream, GcRegion **region, GcError *err)
{
	u64			id = cell->obj.region_id;

	*region = hash_search(regions, &id, HASH_FIND, NULL);
	if (*region == NULL)
		return GC_OK;
	if (!wait_for_region(*region, stream, err))
	{
		*region = NULL;
		return err->code;
	}
	if ((*region)->tables++ == 0)
		dlist_delete(&(*region)->orphan);
	return GC_OK;
}

GcCode
gc_region_keep(const GcDirectory *dir, int col, u32 chunk, bool displace, GcStream *stream, GcRegion **region, GcError *err)
{
	const GcChunkColumn *cell = GC_CELL(dir, chunk, col);
	GcAddr		addr = displace ? gc_device_alloc_cached(bytes_of(cell)) : gc_device_alloc_spare(bytes_of(cell));

	*region = addr ? region_make(cell, addr, stream, err) : NULL;
	if (*region)
	{
		(*region)->use_key = gc_chunk_use_key(dir, col, chunk);
		set_column(*region, gc_column_key(dir, col));
	}
	return addr && *region == NULL ? err->code : GC_OK;
}

GcAddr
gc_region_addr(const GcRegion *region)
{
	return region->addr;
}

void
gc_region_put(GcRegion *region)
{
	region_unref(region, true);
}

/* The device copy of a chunk's column, made now if there is none. */
static GcRegion *
region_get(const GcChunkColumn *cell, GcStream *stream, GcEvent **began, u64 *copied, GcError *err)
{
	GcRegion   *region;
	GcAddr		addr;

	if (gc_region_take(cell, stream, &region, err) != GC_OK)
		return NULL;
	if (region)
		return region;
	addr = gc_device_alloc_cached(bytes_of(cell));
	if (addr == 0)
	{
		gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a column chunk of %llu kB.",
				(unsigned long long) bytes_of(cell) / 1024);
		return NULL;
	}
	if (began && *began == NULL)
		*began = gc_worker.ops->event_timed(stream, NULL);
	region = region_make(cell, addr, stream, err);
	if (region)
		*copied += bytes_of(cell);
	return region;
}

/*-------------------------------------------------------------------------
 * Tables
 *-------------------------------------------------------------------------
 */

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
	pg_atomic_write_u64(&state->device_bytes, bytes);
}

static void
count_bytes(GcTable *table)
{
	gc_guard_enter();
	gc_drop_regions();
	if (table->state)
		note_bytes(table->state);
	gc_guard_leave();
}

/* keep: leave its regions behind as orphans. */
static void
table_free(GcTable *table, bool keep)
{
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
			region_unref(table->regions[i], keep);
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

/* Make chunk i of the table readable by kernels. */
static bool
table_add_chunk(GcTable *table, const GcDirectory *dir, u32 i, GcStream *stream,
				GcEvent **began, u64 *copied, GcError *err)
{
	const GcChunkColumn *cell = GC_CELL(dir, i, table->key.col);
	GcRegion   *region = NULL;

	if (!gc_worker.dev->info.host_memory && (region = region_get(cell, stream, began, copied, err)) == NULL)
		return false;
	/* Not before: a chunk with an address counts as readable by kernels. */
	table->cols[i] = cell->desc;
	if (region)
	{
		table->regions[i] = region;
		table->cols[i].data = region->addr;
		table->cols[i].nulls = cell->desc.nulls ? region->addr + cell->data_bytes : 0;
		region->use_key = gc_place_key(&table->uses, gc_place_of(table->nchunks, i));
		set_column(region, table->uses.key);
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

	if (table->ready)
		gc_worker.ops->event_put(gc_worker.dev, table->ready);
	table->ready = ready;
}

/*
 * Let the stream wait for what another request is still copying.  Once the copy is done, its event
 * is of no more use.
 */
static bool
wait_for_upload(GcTable *table, GcStream *stream, GcError *err)
{
	bool		done = false;

	if (table->ready == NULL)
		return true;
	if (gc_worker.ops->event_done(table->ready, &done, err) != GC_OK)
		return false;
	if (!done)
		return gc_worker.ops->stream_wait(stream, table->ready, err) == GC_OK;
	gc_worker.ops->event_put(gc_worker.dev, table->ready);
	table->ready = NULL;
	return true;
}

GcCode
gc_table_complete(GcTable *table, const GcDirectory *dir, const GcSource *sources, uint32 nsources,
				  GcStream *stream, GcEvent **began, u64 *copied, GcError *err)
{
	const u64	before = table->bytes;
	u64			hits = 0;
	bool		ok = true;

	if (!wait_for_upload(table, stream, err))
		return err->code;
	for (uint32 s = 0; s < nsources && ok; s++)
	{
		u32			i = sources[s].chunk;

		if (i & GC_PRIVATE_CHUNK)
			continue;
		if (table->cols[i].data == 0)
			ok = table_add_chunk(table, dir, i, stream, began, copied, err);
		else
			hits++;
	}
	pg_atomic_fetch_add_u64(&gc_stats()->region_hits, hits);
	if (table->bytes > before)
		count_bytes(table);
	if (!ok)
	{
		/* Chunks that were added stay. Later users wait for their copies, as for an upload. */
		if (table->bytes > before)
			note_upload(table, stream);
		return err->code;
	}
	if (table->dirty)
		return gc_worker.ops->copy_in(stream, table->array, table->cols, table->nchunks * sizeof(GcCol), err);
	return GC_OK;
}

GcTable *
gc_table_use(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources, float spared,
			 GcStream *stream, GcEvent **began, u64 *copied, GcError *err)
{
	TableKey	key = {.dir_id = dir->id,.col = col};
	TableEntry *entry = hash_search(tables, &key, HASH_FIND, NULL);
	GcTable    *table = entry ? entry->table : table_create(dir, col, err);

	if (table == NULL)
		return NULL;
	table->users++;
	table->last_used = ++gc_worker.clock;
	if (entry == NULL)
	{
		doom_predecessors(table->state, dir->id);
		gc_column_uses_recall(&table->uses, dir, col);
	}
	gc_column_used(&table->uses, dir, col, sources, nsources, spared);

	if (gc_table_complete(table, dir, sources, nsources, stream, began, copied, err) == GC_OK)
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
	u64			bytes = 0;
	dlist_iter	iter;

	for (const GcTable *t = table_list; t; t = t->next)
		bytes += t->users == 0 ? t->bytes : 0;
	dlist_foreach(iter, &orphans)
		bytes += dlist_container(GcRegion, orphan, iter.cur)->bytes;
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
		TableKey	key = {.dir_id = dir->id,.col = columns[c]};
		const TableEntry *entry = hash_search(tables, &key, HASH_FIND, NULL);
		const bool	used = entry && entry->table->users > 0;

		/* What another request uses is there to stay; anything else counts as free or unused. */
		for (uint32 s = 0; s < nsources; s++)
		{
			const u32	i = sources[s].chunk;

			if (!(i & GC_PRIVATE_CHUNK) && !(used && entry->table->regions[i]))
				needed += bytes_of(GC_CELL(dir, i, columns[c]));
		}
	}
	return needed <= free + unused + unused_bytes();
}

void
gc_table_uploaded(GcTable *table, GcStream *stream)
{
	if (!table->dirty)
		return;
	note_upload(table, stream);
	table->dirty = table->ready == NULL;
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

static GcRegion *
oldest_orphan(void)
{
	return dlist_is_empty(&orphans) ? NULL : dlist_container(GcRegion, orphan, dlist_head_node(&orphans));
}

static GcTable *
find_table(const GcDirectory *dir, int col)
{
	TableKey	key = {.dir_id = dir->id,.col = col};
	TableEntry *entry = hash_search(tables, &key, HASH_FIND, NULL);

	return entry ? entry->table : NULL;
}

u64
gc_table_missing(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources)
{
	const GcTable *table = find_table(dir, col);
	const u64	key = gc_column_key(dir, col);
	const ColumnBytes *there;
	u64			bytes = 0;

	if (gc_worker.dev->info.host_memory || (table && table->nresident == table->nchunks))
		return 0;
	for (uint32 s = 0; s < nsources; s++)
	{
		if (!(sources[s].chunk & GC_PRIVATE_CHUNK))
			bytes += bytes_of(GC_CELL(dir, sources[s].chunk, col));
	}
	there = hash_search(column_bytes, &key, HASH_FIND, NULL);
	return there && there->bytes < bytes ? bytes - there->bytes : there ? 0 : bytes;
}

GcUses
gc_table_read_in_waves(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources, float spared)
{
	GcTable    *table = find_table(dir, col);

	if (table == NULL)
		return gc_column_used_in_waves(dir, col, sources, nsources, spared);
	gc_column_used(&table->uses, dir, col, sources, nsources, spared);
	return table->uses.place[0];
}

bool
gc_table_in_use(const GcDirectory *dir, int col)
{
	const GcTable *table = find_table(dir, col);

	return table && table->users > 0;
}

void
gc_table_want(const GcDirectory *dir, int col, float requests)
{
	GcTable    *table = find_table(dir, col);

	if (table == NULL)
		return;
	table->wanted = table->wanted_in == gc_decision() ? Min(table->wanted, requests) : requests;
	table->wanted_in = gc_decision();
}

static u64
array_bytes(const GcTable *t)
{
	return Max(t->nchunks, 1) * sizeof(GcCol);
}

/* Of all orphans, the longest unused are offered: there may be very many, and they become fewer. */
static void
offer_orphans(void)
{
	dlist_iter	iter;
	GcUses		uses;
	int			n = 0;

	dlist_foreach(iter, &orphans)
	{
		const GcRegion *region = dlist_container(GcRegion, orphan, iter.cur);

		if (n++ == MOST_ORPHANS)
			break;
		uses = gc_uses_of(region->use_key);
		gc_offer_victim(&(GcVictim) {.bytes = region->bytes,.cost = gc_uses_cost(&uses, region->bytes),.uses = uses,.used = region->last_used,.place = GC_PLACES,.id = region->id});
	}
}

/* Offer the columns that no request uses, by place, and orphans. */
static void
offer(GcEvictor *self)
{
	/* What is dropped for another reason needs no decision. */
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
								.cost = gc_uses_cost(&t->uses.place[place], t->place_bytes[place]),
								.uses = t->uses.place[place],.soon = soon * (place + 0.5f),.used = t->last_used,
								.place = place,.piece = place,.what = t});
		}
	}
	offer_orphans();
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
	region_unref(region, false);
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

static u64
drop_orphan(u64 id)
{
	GcRegion   *region = hash_search(regions, &id, HASH_FIND, NULL);
	u64			bytes;

	if (region == NULL || region->tables > 0)
		return 0;
	bytes = region->bytes;
	free_orphan(region);
	pg_atomic_fetch_add_u64(&gc_stats()->evictions, 1);
	return bytes;
}

static u64
drop(const GcVictim *victim, u64 need)
{
	u64			dropped = 0;

	/* Dropping regions may free what was offered. */
	gc_guard_enter();
	gc_drop_regions();
	if (victim->what == NULL)
		dropped = drop_orphan(victim->id);
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

		n = gc_take_dropped_regions(ids, DROP_BATCH, &lost);
		overflow = overflow || lost;
		for (int i = 0; i < n; i++)
		{
			GcRegion   *region = hash_search(regions, &ids[i], HASH_FIND, NULL);

			if (region_watcher)
				region_watcher(ids[i]);

			if (region && region->tables == 0)
				free_orphan(region);
			else if (region)
			{
				region->dropped = true;
				any = true;
			}
		}
	} while (n == DROP_BATCH);
	if (overflow && region_watcher)
		region_watcher(0);
	if (any || overflow)
		doom_dropped(overflow);
	while (overflow && oldest_orphan())
		free_orphan(oldest_orphan());
}

void
gc_regions_watch(void (*watcher) (u64 id))
{
	region_watcher = watcher;
}

void
gc_device_cache_init(void)
{
	static GcEvictor evictor = {.offer = offer,.drop = drop};
	HASHCTL		rctl = {.keysize = sizeof(u64),.entrysize = sizeof(GcRegion)};
	HASHCTL		bctl = {.keysize = sizeof(u64),.entrysize = sizeof(ColumnBytes)};
	HASHCTL		tctl = {.keysize = sizeof(TableKey),.entrysize = sizeof(TableEntry)};

	regions = hash_create("gpuconc regions", 4096, &rctl, HASH_ELEM | HASH_BLOBS);
	column_bytes = hash_create("gpuconc bytes of columns", 256, &bctl, HASH_ELEM | HASH_BLOBS);
	tables = hash_create("gpuconc tables", 256, &tctl, HASH_ELEM | HASH_BLOBS);
	gc_evictor_register(&evictor);
}
