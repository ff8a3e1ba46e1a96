/*-------------------------------------------------------------------------
 *
 * regions.c
 *	  Regions: device copies of single column chunks.
 *
 * A region is known by its region id.  Device tables (device_cache.c) refer to regions, and so do waves while
 * their kernels read them.  A region that nothing refers to any more is an *orphan*: the next directory's table, or
 * the next wave, finds it again.  Orphans are evictable.  They are offered by the place of their column that they
 * belong to, as tables' chunks are, and the last chunks of a place go first.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "regions.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "../../queue/queue.h"
#include "column_uses.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/* What device memory has of a column, in all its directories. */
typedef struct ColumnBytes
{
	u64			column;			/* key */
	u64			bytes;
	u64			wanted_in;		/* as GcTable's */
	float		wanted;
} ColumnBytes;

/* The orphans of a place of a column: a heap, whose first is the last chunk, as that goes first. */
typedef struct OrphanPlace
{
	u64			use_key;		/* key */
	pairingheap orphans;
	u64			bytes;
	u64			last_used;
} OrphanPlace;

static HTAB *regions = NULL;
static HTAB *column_bytes = NULL;
static HTAB *orphan_places = NULL;
static u64	orphan_bytes = 0;
static u64	region_bytes = 0;

/*-------------------------------------------------------------------------
 * Orphans
 *-------------------------------------------------------------------------
 */

static GcRegion *
orphan_of(const pairingheap_node *node)
{
	return pairingheap_container(GcRegion, orphan, (pairingheap_node *) node);
}

static GcRegion *
last_orphan(const OrphanPlace *p)
{
	return orphan_of(p->orphans.ph_root);
}

/* pairingheap_comparator */
static int
compare_chunks(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	const u32	chunk_a = orphan_of(a)->chunk;
	const u32	chunk_b = orphan_of(b)->chunk;

	return (chunk_a > chunk_b) - (chunk_a < chunk_b);
}

static void
add_orphan(GcRegion *region)
{
	bool		found;
	OrphanPlace *p = hash_search(orphan_places, &region->use_key, HASH_ENTER, &found);

	if (!found)
	{
		p->orphans = (pairingheap) {.ph_compare = compare_chunks};
		p->bytes = 0;
	}
	p->last_used = ++gc_worker.clock;
	p->bytes += region->bytes;
	orphan_bytes += region->bytes;
	pairingheap_add(&p->orphans, &region->orphan);
}

static void
take_orphan(GcRegion *region)
{
	OrphanPlace *p = hash_search(orphan_places, &region->use_key, HASH_FIND, NULL);

	pairingheap_remove(&p->orphans, &region->orphan);
	p->bytes -= region->bytes;
	orphan_bytes -= region->bytes;
	if (pairingheap_is_empty(&p->orphans))
		(void) hash_search(orphan_places, &region->use_key, HASH_REMOVE, NULL);
}

u64
gc_region_bytes(void)
{
	return region_bytes;
}

u64
gc_orphan_bytes(void)
{
	return orphan_bytes;
}

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
		*c = (ColumnBytes) {.column = region->column};
	c->bytes = on ? c->bytes + region->bytes : c->bytes - region->bytes;
	if (c->bytes == 0)
		(void) hash_search(column_bytes, &region->column, HASH_REMOVE, NULL);
}

/* A region that is in use belongs to a chunk of this directory. */
static void
set_place(GcRegion *region, const GcDirectory *dir, int col, u32 chunk)
{
	region->use_key = gc_chunk_use_key(dir, col, chunk);
	region->chunk = chunk;
	region->nchunks = dir->nchunks;
	if (region->column)
		return;
	region->column = gc_column_key(dir, col);
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
	gc_device_count_cached(-(int64) region->bytes);
	region_bytes -= region->bytes;
	hash_search(regions, &region->id, HASH_REMOVE, NULL);
	note_regions();
}

void
gc_region_unref(GcRegion *region, bool keep)
{
	if (--region->tables > 0)
		return;
	if (keep && !region->dropped)
		add_orphan(region);
	else
		region_free(region);
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

/* Make a region in memory that was allocated for it, and queue its copy; NULL: the memory is free again. */
static GcRegion *
region_make(const GcDirectory *dir, int col, u32 chunk, GcAddr addr, GcStream *stream, GcError *err)
{
	const GcChunkColumn *cell = GC_CELL(dir, chunk, col);
	u64			id = cell->obj.region_id;
	GcRegion   *region;

	if (gc_copy_in(stream, addr, (const void *) cell->desc.data, gc_cell_bytes(cell), err) != GC_OK)
	{
		gc_device_free(addr);
		return NULL;
	}
	pg_atomic_fetch_add_u64(&gc_stats()->region_misses, 1);
	region = hash_search(regions, &id, HASH_ENTER, NULL);
	*region = (GcRegion) {.id = id,.addr = addr,.bytes = gc_cell_bytes(cell),.tables = 1};
	region_bytes += region->bytes;
	gc_device_count_cached((int64) region->bytes);
	gc_device_label(addr, GC_MEMORY_COLUMNS);
	region->ready = gc_worker.ops->event(stream, err);
	if (region->ready == NULL)
	{
		gc_region_unref(region, false);
		return NULL;
	}
	set_place(region, dir, col, chunk);
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
		take_orphan(*region);
	return GC_OK;
}

GcCode
gc_region_keep(const GcDirectory *dir, int col, u32 chunk, bool displace, GcStream *stream, GcRegion **region, GcError *err)
{
	const u64	bytes = gc_cell_bytes(GC_CELL(dir, chunk, col));
	GcAddr		addr = displace ? gc_device_alloc_displacing(bytes) : gc_device_alloc_spare(bytes, true);

	*region = addr ? region_make(dir, col, chunk, addr, stream, err) : NULL;
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
	gc_region_unref(region, true);
}

GcRegion *
gc_region_get(const GcDirectory *dir, int col, u32 chunk, GcStream *stream, GcCopies *copies, u64 *copied, GcError *err)
{
	const GcChunkColumn *cell = GC_CELL(dir, chunk, col);
	GcRegion   *region;
	GcAddr		addr;

	if (gc_region_take(cell, stream, &region, err) != GC_OK)
		return NULL;
	if (region)
	{
		pg_atomic_fetch_add_u64(&gc_stats()->region_hits, 1);
		set_place(region, dir, col, chunk);
		return region;
	}
	addr = gc_device_alloc_cached(gc_cell_bytes(cell));
	if (addr == 0)
	{
		gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a column chunk of %llu kB.",
				(unsigned long long) gc_cell_bytes(cell) / 1024);
		return NULL;
	}
	gc_copies_begin(copies, stream);
	region = region_make(dir, col, chunk, addr, stream, err);
	if (region)
		*copied += gc_cell_bytes(cell);
	return region;
}

u64
gc_column_device_bytes(const GcDirectory *dir, int col)
{
	const u64	key = gc_column_key(dir, col);
	const ColumnBytes *there = hash_search(column_bytes, &key, HASH_FIND, NULL);

	return there ? there->bytes : 0;
}

/*-------------------------------------------------------------------------
 * What goes
 *-------------------------------------------------------------------------
 */

void
gc_orphans_want(const GcDirectory *dir, int col, float requests)
{
	const u64	key = gc_column_key(dir, col);
	ColumnBytes *c = hash_search(column_bytes, &key, HASH_FIND, NULL);

	if (c == NULL)
		return;
	c->wanted = c->wanted_in == gc_decision() ? Min(c->wanted, requests) : requests;
	c->wanted_in = gc_decision();
}

void
gc_offer_orphans(void)
{
	HASH_SEQ_STATUS scan;
	const OrphanPlace *p;

	hash_seq_init(&scan, orphan_places);
	while ((p = hash_seq_search(&scan)) != NULL)
	{
		const GcRegion *region = last_orphan(p);
		const ColumnBytes *c = hash_search(column_bytes, &region->column, HASH_FIND, NULL);
		const u32	place = gc_place_of(region->nchunks, region->chunk);
		const float soon = c && c->wanted_in == gc_decision() ? c->wanted / Min(Max(region->nchunks, 1), GC_PLACES) : 0;
		const GcUses uses = gc_uses_of(p->use_key);

		gc_offer_victim(&(GcVictim) {.bytes = p->bytes,.cost = gc_uses_cost(&uses, p->bytes),.uses = uses,
						.soon = soon * (place + 0.5f),.used = p->last_used,.place = place,.id = p->use_key});
	}
}

u64
gc_drop_orphans(u64 use_key, u64 need)
{
	u64			dropped = 0;
	const OrphanPlace *p;

	while (dropped < need && (p = hash_search(orphan_places, &use_key, HASH_FIND, NULL)) != NULL)
	{
		GcRegion   *last = last_orphan(p);

		dropped += last->bytes;
		take_orphan(last);
		region_free(last);
		pg_atomic_fetch_add_u64(&gc_stats()->evictions, 1);
	}
	return dropped;
}

bool
gc_region_dropped(u64 id)
{
	GcRegion   *region = hash_search(regions, &id, HASH_FIND, NULL);

	if (region == NULL)
		return false;
	if (region->tables == 0)
	{
		take_orphan(region);
		region_free(region);
		return false;
	}
	region->dropped = true;
	return true;
}

void
gc_free_orphans(void)
{
	HASH_SEQ_STATUS scan;
	OrphanPlace *p;

	/* What a scan has just returned may be removed. */
	hash_seq_init(&scan, orphan_places);
	while ((p = hash_seq_search(&scan)) != NULL)
	{
		bool		last = false;

		/* The place goes with its last one. */
		while (!last)
		{
			GcRegion   *region = last_orphan(p);

			last = region->orphan.first_child == NULL;
			take_orphan(region);
			region_free(region);
		}
	}
}

void
gc_regions_init(void)
{
	HASHCTL		rctl = {.keysize = sizeof(u64),.entrysize = sizeof(GcRegion)};
	HASHCTL		bctl = {.keysize = sizeof(u64),.entrysize = sizeof(ColumnBytes)};
	HASHCTL		octl = {.keysize = sizeof(u64),.entrysize = sizeof(OrphanPlace)};

	regions = hash_create("gpuconc regions", 4096, &rctl, HASH_ELEM | HASH_BLOBS);
	column_bytes = hash_create("gpuconc bytes of columns", 256, &bctl, HASH_ELEM | HASH_BLOBS);
	orphan_places = hash_create("gpuconc orphans", 256, &octl, HASH_ELEM | HASH_BLOBS);
}
