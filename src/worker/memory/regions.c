/*-------------------------------------------------------------------------
 *
 * regions.c
 *	  Regions: device copies of single column chunks.
 *
 * A region is known by its region id.  Device tables (device_cache.c) refer to regions, and so do waves while
 * their kernels read them.  A region that nothing refers to any more is an *orphan*: the next directory's table, or
 * the next wave, finds it again.  Orphans are evictable.  They are offered by the place of their column that they
 * belong to, as tables' chunks are.  The last chunks of a place go first.  Waves use and put back the same orphans all
 * the time.  So an orphan that is used again stays in its place's heap until it would be the next to go, or is another
 * place's.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "regions.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "../../queue/queue.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/* A region by its id. */
typedef struct IndexedRegion
{
	u64			id;				/* key */
	GcRegion   *region;
	uint32		status;			/* simplehash's */
} IndexedRegion;

/*
 * Waves look up each column of each chunk, so the search is compiled into this file.  The hash is the upper half of a
 * product, since ids are consecutive.
 */
#define SH_PREFIX		regions
#define SH_ELEMENT_TYPE	IndexedRegion
#define SH_KEY_TYPE		u64
#define SH_KEY			id
#define SH_HASH_KEY(table, key)	((uint32) ((key) * UINT64CONST(0x9e3779b97f4a7c15) >> 32))
#define SH_EQUAL(table, a, b)	((a) == (b))
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A column's chunks in device memory, in all its directories. */
typedef struct ColumnBytes
{
	u64			column;			/* key */
	u64			bytes;
	u64			wanted_in;		/* as GcTable's */
	float		wanted;
} ColumnBytes;

/*
 * The orphans of a place of a column.  A heap has them, and regions that are in use again; its first is the last chunk,
 * as that goes first.
 */
typedef struct OrphanPlace
{
	u64			use_key;		/* key */
	pairingheap heap;
	u32			orphans;		/* of what is in the heap */
	u64			bytes;			/* of orphans */
	u64			last_used;
} OrphanPlace;

static regions_hash *regions = NULL;
static HTAB *column_bytes = NULL;
static HTAB *orphan_places = NULL;
static u64	orphan_bytes = 0;
static u64	region_bytes = 0;

/*-------------------------------------------------------------------------
 * Orphans
 *-------------------------------------------------------------------------
 */

static GcRegion *
region_of(const pairingheap_node *node)
{
	return pairingheap_container(GcRegion, orphan, (pairingheap_node *) node);
}

/* pairingheap_comparator */
static int
compare_chunks(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	const u32	chunk_a = region_of(a)->chunk;
	const u32	chunk_b = region_of(b)->chunk;

	return (chunk_a > chunk_b) - (chunk_a < chunk_b);
}

/* The region is in no heap any more.  A place goes with the last entry of its heap. */
static void
leave_heap(GcRegion *region)
{
	OrphanPlace *p = region->place;

	if (p == NULL)
		return;
	region->place = NULL;
	pairingheap_remove(&p->heap, &region->orphan);
	if (pairingheap_is_empty(&p->heap))
		(void) hash_search(orphan_places, &p->use_key, HASH_REMOVE, NULL);
}

/* The orphan of a place that goes first; the place has one. */
static GcRegion *
last_orphan(OrphanPlace *p)
{
	GcRegion   *last;

	while ((last = region_of(p->heap.ph_root))->tables > 0)
		leave_heap(last);
	return last;
}

/* Nothing refers to the region any more: into its place's heap.  One that never left it is only counted. */
static void
add_orphan(GcRegion *region)
{
	OrphanPlace *p = region->place;
	bool		found = true;

	if (p == NULL)
	{
		p = region->place = hash_search(orphan_places, &region->use_key, HASH_ENTER, &found);
		if (!found)
			*p = (OrphanPlace) {.use_key = region->use_key,.heap = {.ph_compare = compare_chunks}};
		pairingheap_add(&p->heap, &region->orphan);
	}
	p->last_used = ++gc_worker.clock;
	p->orphans++;
	p->bytes += region->bytes;
	orphan_bytes += region->bytes;
}

/* An orphan is one no longer. */
static void
take_orphan(GcRegion *region)
{
	OrphanPlace *p = region->place;

	p->orphans--;
	p->bytes -= region->bytes;
	orphan_bytes -= region->bytes;
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

/* Tell all processes how many regions there are. */
static void
note_regions(void)
{
	pg_atomic_write_u64(&gc_device_status()->regions, regions->members);
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
	const u64	use_key = gc_chunk_use_key(dir, col, chunk);

	if (region->use_key != use_key || region->chunk != chunk)
		leave_heap(region);
	region->use_key = use_key;
	region->chunk = chunk;
	region->nchunks = dir->nchunks;
	if (region->column)
		return;
	region->column = gc_column_key(dir, col);
	count_for_column(region, true);
}

/* The device no longer reads the region: give back its memory, and forget it. */
static void
region_free(GcRegion *region)
{
	leave_heap(region);
	if (region->column)
		count_for_column(region, false);
	if (region->ready)
		gc_worker.ops->event_put(gc_worker.dev, region->ready);
	gc_device_free(region->addr);
	gc_device_count_cached(-(int64) region->bytes);
	region_bytes -= region->bytes;
	regions_delete(regions, region->id);
	pfree(region);
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

/* The region that has this id, or NULL. */
static GcRegion *
region_by_id(u64 id)
{
	const IndexedRegion *entry = regions ? regions_lookup(regions, id) : NULL;

	return entry ? entry->region : NULL;
}

/* Make a region in memory that was allocated for it, and queue its copy; NULL: the memory is free again. */
static GcRegion *
region_make(const GcDirectory *dir, int col, u32 chunk, GcAddr addr, GcStream *stream, GcError *err)
{
	const GcChunkColumn *cell = GC_CELL(dir, chunk, col);
	GcRegion   *region;
	bool		found;

	if (gc_copy_in(stream, addr, (const void *) cell->desc.data, gc_cell_bytes(cell), err) != GC_OK)
	{
		gc_device_free(addr);
		return NULL;
	}
	region = MemoryContextAlloc(TopMemoryContext, sizeof(GcRegion));
	if (regions == NULL)
		regions = regions_create(TopMemoryContext, 1024, NULL);
	regions_insert(regions, cell->obj.region_id, &found)->region = region;
	pg_atomic_fetch_add_u64(&gc_stats()->region_misses, 1);
	*region = (GcRegion) {.id = cell->obj.region_id,.addr = addr,.bytes = gc_cell_bytes(cell),.tables = 1};
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

GcRegion *
gc_region_find(const GcChunkColumn *cell)
{
	return region_by_id(cell->obj.region_id);
}

GcCode
gc_region_take(GcRegion *region, GcStream *stream, GcError *err)
{
	if (!gc_await_copy(&region->ready, stream, err))
		return err->code;
	if (region->tables++ == 0)
		take_orphan(region);
	return GC_OK;
}

GcCode
gc_region_keep(const GcDirectory *dir, int col, u32 chunk, bool displace, GcStream *stream, GcRegion **region,
			   GcError *err)
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
	GcRegion   *region = gc_region_find(cell);
	GcAddr		addr;

	if (region && gc_region_take(region, stream, err) != GC_OK)
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
 * Dropping
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
	OrphanPlace *p;

	hash_seq_init(&scan, orphan_places);
	while ((p = hash_seq_search(&scan)) != NULL)
	{
		const GcRegion *region;
		const ColumnBytes *c;
		u32			place;
		float		soon;
		GcUses		uses;

		if (p->orphans == 0)
			continue;
		region = last_orphan(p);
		c = hash_search(column_bytes, &region->column, HASH_FIND, NULL);
		place = gc_place_of(region->nchunks, region->chunk);
		soon = c && c->wanted_in == gc_decision() ? c->wanted / Min(Max(region->nchunks, 1), GC_PLACES) : 0;
		uses = gc_uses_of(p->use_key);
		gc_offer_victim(&(GcVictim) {.bytes = p->bytes,.cost = gc_uses_cost(&uses, p->bytes),.uses = uses,
						.soon = soon * (place + 0.5f),.used = p->last_used,.place = place,.id = p->use_key});
	}
}

u64
gc_drop_orphans(u64 use_key, u64 need)
{
	u64			dropped = 0;
	OrphanPlace *p;

	while (dropped < need && (p = hash_search(orphan_places, &use_key, HASH_FIND, NULL)) != NULL && p->orphans > 0)
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
	GcRegion   *region = region_by_id(id);

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

	/* An entry that a scan has just returned may be removed: the place goes with its last one. */
	hash_seq_init(&scan, orphan_places);
	while ((p = hash_seq_search(&scan)) != NULL)
	{
		for (u32 n = p->orphans; n > 0; n--)
		{
			GcRegion   *region = last_orphan(p);

			take_orphan(region);
			region_free(region);
		}
	}
}

/* Begin with no region. */
void
gc_regions_init(void)
{
	HASHCTL		bctl = {.keysize = sizeof(u64),.entrysize = sizeof(ColumnBytes)};
	HASHCTL		octl = {.keysize = sizeof(u64),.entrysize = sizeof(OrphanPlace)};

	column_bytes = hash_create("gpuconc bytes of columns", 256, &bctl, HASH_ELEM | HASH_BLOBS);
	orphan_places = hash_create("gpuconc orphans", 256, &octl, HASH_ELEM | HASH_BLOBS);
}
