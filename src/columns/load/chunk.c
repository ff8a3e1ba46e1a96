/*-------------------------------------------------------------------------
 *
 * chunk.c
 *	  Reading one chunk, putting it into the cache's memory, and handing it in to its load job.
 *
 * Runs in every participant of a load job, session or worker, with the relation
 * open and an active snapshot.  (The snapshot keeps the TOAST rows of those that are read.)
 *
 * Protocol: copy the map's bits and LSN; read the pages whose bit is set and which themselves say all-visible; copy
 * the map again.  If the LSN has not moved, no bit was set meanwhile.  So a page whose bit is still set has not changed
 * since before it was read.  Else the pages' own LSNs tell.  Columns are added to a chunk if the map says that its
 * pages have not changed since the other columns were read.  So they are if the pages have their LSNs of then.
 *
 * A guard is held while a chunk is read, for the sake of the dictionaries, but not
 * while memory is waited for.  Under a guard, and if the relation's version is
 * that of the job, the base directory and all it has are alive.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "../serve/wal_changes.h"
#include "../store/arena.h"
#include "chunk.h"
#include "chunk_internal.h"
#include "../encode/encode.h"
#include "../serve/fresh.h"
#include "../store/columns.h"
#include "../store/dict.h"
#include "../store/epoch.h"
#include "job.h"
#include "disk.h"
#include "../../settings.h"
#include "../encode/problem.h"
#include "../encode/reader.h"
#include "../serve/patches.h"
#include "../serve/visibility.h"
#include "../store/lock.h"
#include "../store/store.h"

/* How often a chunk is read before it is given up as too restless. */
#define MAX_ATTEMPTS	4

/* How many pages of a hot chunk may have values that its columns cannot take. */
#define MAX_REFUSALS	8

/* A dictionary larger than one part in this many of the room for columns is large. */
#define LARGE_DICTIONARY	8

/* A table's last chunk is short if it has no more than this part of a chunk's pages. */
#define SHORT_CHUNK		2

#define STALE_DETAIL	"The table was dropped from the cache while it was being loaded."

typedef enum GcOutcome
{
	GC_READ_OK,
	GC_READ_CHANGED,			/* try again */
	GC_READ_VOID				/* the job has failed */
} GcOutcome;

/*-------------------------------------------------------------------------
 * Column sets
 *-------------------------------------------------------------------------
 */
static void
init_set(GcLoader *loader, GcColumnSet *set, bool only_added)
{
	GcJobData  *data = loader->job->data;

	set->job_cols = palloc(Max(data->ncols, 1) * sizeof(int));
	set->dicts = palloc0(Max(data->ncols, 1) * sizeof(GcDictView *));
	for (int c = 0; c < data->ncols; c++)
	{
		if (!only_added || data->cols[c].base_col < 0)
			set->job_cols[set->ncols++] = c;
	}
}

/* A loader for the job that this process takes part in; it lives in a context of its own. */
GcLoader *
gc_loader_create(Relation rel)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuconc load",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GcLoader   *loader = palloc0(sizeof(GcLoader));

	loader->rel = rel;
	loader->job = gc_job_mine();
	loader->context = context;
	loader->chunk_context = AllocSetContextCreate(context, "gpuconc chunk",
												  ALLOCSET_DEFAULT_SIZES);
	init_set(loader, &loader->all, false);
	init_set(loader, &loader->added, true);
	MemoryContextSwitchTo(old);
	return loader;
}

/* Make the reader of a set, if need be, and empty its encoder. */
static void
prepare_set(GcLoader *loader, GcColumnSet *set)
{
	GcJobData  *data = loader->job->data;

	if (set->reader == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(loader->context);
		GcColSpec  *specs = palloc(Max(set->ncols, 1) * sizeof(GcColSpec));

		for (int i = 0; i < set->ncols; i++)
			specs[i] = data->cols[set->job_cols[i]].spec;
		set->reader = gc_reader_create(loader->rel, set->ncols, specs);
		MemoryContextSwitchTo(old);
	}

	for (int i = 0; i < set->ncols; i++)
	{
		GcJobColumn *col = &data->cols[set->job_cols[i]];

		set->dicts[i] = NULL;
		gc_encoder_least_width(gc_reader_encoder(set->reader), i, 0);
		if (GC_KIND_IS_CODE(col->spec.kind) && pg_atomic_read_u32(&col->problem) == GC_COL_OK)
			set->dicts[i] = gc_dict_view(col->state, col->spec.rtrim);
	}
	gc_encoder_reset(gc_reader_encoder(set->reader), set->dicts);
	for (int i = 0; i < set->ncols; i++)
	{
		GcJobColumn *col = &data->cols[set->job_cols[i]];

		gc_encoder_give_up(gc_reader_encoder(set->reader), i,
						   pg_atomic_read_u32(&col->problem));
	}
}

/* Tell the other participants the problems that this one has met. */
static void
share_problems(GcLoader *loader, const GcReading *reading)
{
	const GcColumnSet *set = reading->set;

	for (int i = 0; i < set->ncols; i++)
	{
		GcColProblem problem = gc_encoder_problem(gc_reader_encoder(set->reader), i);
		GcJobColumn *col = &loader->job->data->cols[set->job_cols[i]];
		uint32		none = GC_COL_OK;

		/* The first one to meet a problem says where; it is read when all have ended. */
		if (problem == GC_COL_OK ||
			!pg_atomic_compare_exchange_u32(&col->problem, &none, problem))
			continue;
		if (problem != GC_COL_MANY_VALUES)
			col->evidence = gc_evidence(problem, reading->chunkno,
										reading->first + reading->problem_page[i], reading->lsn);
	}
}

/* Note which columns have met a problem by now, the last page being this one. */
static void
note_problems(GcReading *reading, uint32 page)
{
	const GcColumnSet *set = reading->set;

	for (int i = 0; i < set->ncols; i++)
	{
		if (reading->problem_page[i] == PG_UINT32_MAX &&
			gc_encoder_problem(gc_reader_encoder(set->reader), i) != GC_COL_OK)
			reading->problem_page[i] = page;
	}
}

/*-------------------------------------------------------------------------
 * Reading
 *-------------------------------------------------------------------------
 */

/* The chunk of the base that columns are added to. */
static GcChunk *
base_of(const GcLoader *loader, const GcReading *reading)
{
	return loader->job->data->base->chunks[reading->chunkno];
}

/* Note the rows that the new columns must have; false if a page of them is not all-visible. */
static bool
prepare_added(GcLoader *loader, GcReading *reading)
{
	GcChunk    *base = base_of(loader, reading);
	uint8	   *now = palloc(GC_PRESENT_BYTES(base->npages));

	reading->npages = base->npages;
	reading->npresent = base->npresent;
	gc_map_copy(loader->rel, reading->chunkno, reading->npages, now, &reading->lsn);
	reading->told_by_map = gc_same_map_lsn(pg_atomic_read_u64(&base->proven_lsn), reading->lsn);
	pg_read_barrier();
	reading->present = palloc(GC_PRESENT_BYTES(base->npages));
	memcpy(reading->present, base->present, GC_PRESENT_BYTES(base->npages));
	reading->base_row_start = palloc((base->npages + 1) * sizeof(uint32));
	memcpy(reading->base_row_start, base->row_start, (base->npages + 1) * sizeof(uint32));
	for (Size i = 0; i < GC_PRESENT_BYTES(reading->npages); i++)
	{
		if (reading->present[i] & ~now[i])
			return false;
	}
	return true;
}

/* Is the page's first bit set, as of the visibility map? */
static inline bool
page_is_set(const uint8 *bits, uint32 page)
{
	return (bits[page / 4] >> (page % 4 * 2)) & 1;
}

/* Room for another page's offsets without a tuple. */
static void
make_room_for_missing(GcReading *reading, uint32 n)
{
	if (n + MaxOffsetNumber <= reading->missing_size)
		return;
	reading->missing_size = 2 * n + MaxOffsetNumber;
	reading->missing = repalloc_huge(reading->missing, reading->missing_size * sizeof(uint16));
}

/* Read the pages; false if one of a chunk to be added to has changed. */
static bool
read_pages(GcReading *reading)
{
	GcReader   *reader = reading->set->reader;
	uint32		missing = 0;

	reading->problem_page = palloc(Max(reading->set->ncols, 1) * sizeof(uint32));
	memset(reading->problem_page, 0xFF, reading->set->ncols * sizeof(uint32));
	reading->lsns = palloc0(Max(reading->npages, 1) * sizeof(XLogRecPtr));
	reading->first_missing = palloc0((reading->npages + 1) * sizeof(uint32));
	reading->missing_size = MaxOffsetNumber;
	reading->missing = palloc(reading->missing_size * sizeof(uint16));
	reading->before = gc_all_before(GetActiveSnapshot());
	for (uint32 page = 0; page < reading->npages; page++)
	{
		uint32		nmissing = 0;

		reading->first_missing[page] = missing;
		reading->row_start[page] = gc_encoder_rows(gc_reader_encoder(reader));
		if (!page_is_set(reading->present, page))
			continue;

		CHECK_FOR_INTERRUPTS();
		reading->pages_read++;
		make_room_for_missing(reading, missing);
		if (gc_reader_add_page(reader, reading->first + page, &reading->lsns[page], reading->missing + missing,
							   &nmissing))
			missing += nmissing;
		else
		{
			if (!reading->full)
				return false;
			reading->present[page / 4] &= ~(1 << (page % 4 * 2));
		}
		note_problems(reading, page);
	}
	reading->row_start[reading->npages] = gc_encoder_rows(gc_reader_encoder(reader));
	reading->first_missing[reading->npages] = missing;
	return reading->full ||
		memcmp(reading->row_start, reading->base_row_start,
			   (reading->npages + 1) * sizeof(uint32)) == 0;
}

/* The map page's LSN has moved: leave the pages that have the LSN that they were read with. */
static void
keep_unchanged(GcLoader *loader, GcReading *reading, const uint8 *now, XLogRecPtr lsn)
{
	pg_atomic_uint32 *buffers = palloc0(Max(reading->npages, 1) * sizeof(pg_atomic_uint32));

	(void) gc_drop_changed(loader->rel, reading->first, reading->npages, now, reading->lsns, buffers,
					reading->present);
	reading->lsn = lsn;
	pfree(buffers);
}

/* Have the pages the LSNs that they had when the base's columns were read? */
static bool
same_lsns(const GcReading *reading, const GcChunk *base)
{
	for (uint32 page = 0; page < reading->npages; page++)
	{
		if (page_is_set(reading->present, page) &&
			(reading->lsns[page] == InvalidXLogRecPtr || reading->lsns[page] != base->lsns[page]))
			return false;
	}
	return true;
}

/* Look at the map again: are the pages that were read the pages that were meant? */
static bool
check_map(GcLoader *loader, GcReading *reading)
{
	uint8	   *now = palloc(GC_PRESENT_BYTES(reading->npages));
	XLogRecPtr	lsn;

	gc_map_copy(loader->rel, reading->chunkno, reading->npages, now, &lsn);
	if (!reading->full && !(reading->told_by_map && lsn == reading->lsn))
		return gc_debug_versioned_pages && same_lsns(reading, base_of(loader, reading));
	if (lsn != reading->lsn)
	{
		if (!gc_debug_versioned_pages || lsn == InvalidXLogRecPtr)
			return false;
		keep_unchanged(loader, reading, now, lsn);
	}

	reading->npresent = 0;
	for (uint32 page = 0; page < reading->npages; page++)
	{
		if (!page_is_set(reading->present, page))
			continue;
		if (page_is_set(now, page))
			reading->npresent++;
		else if (!reading->full)
			return false;
		else
			reading->present[page / 4] &= ~(1 << (page % 4 * 2));
	}
	return true;
}

/*
 * Move the values that the chunk's views found into the shared dictionaries.
 * Under a guard, which is left for a while when memory must be waited for.
 */
static bool
merge_dictionaries(GcLoader *loader, GcReading *reading)
{
	GcLoadJob  *job = loader->job;
	GcColumnSet *set = reading->set;
	GcEncoder  *encoder = gc_reader_encoder(set->reader);
	/* Read without the lock: an estimate. */
	const uint32 to_come = job->chunks_total - Min(job->chunks_done + 1, job->chunks_total);

	for (int i = 0; i < set->ncols; i++)
	{
		GcJobColumn *col = &job->data->cols[set->job_cols[i]];
		uint32	   *remap;
		GcError		err;
		GcCode		code;

		if (set->dicts[i] == NULL || gc_encoder_problem(encoder, i) != GC_COL_OK)
			continue;

		code = gc_dict_merge(col->state, set->dicts[i], to_come, &remap, &err);
		for (int tries = 0; code == GC_CACHE_FULL && tries < 3; tries++)
		{
			Size		size = gc_dict_merge_bytes(col->state, set->dicts[i]);
			void	   *room;

			gc_guard_leave();
			room = gc_store_alloc(size, job->since);
			if (room)
				gc_arena_free(room, size);
			gc_guard_enter();
			if (!gc_store_is_current(&job->key, job->version))
				code = gc_fail(&err, GC_CANCELLED, STALE_DETAIL);
			else
				code = gc_dict_merge(col->state, set->dicts[i], to_come, &remap, &err);
		}

		/* The other columns need not suffer for a dictionary that finds no room. */
		if (code == GC_NOT_CACHEABLE ||
			(code == GC_CACHE_FULL && gc_dict_merge_bytes(col->state, set->dicts[i]) > gc_store_capacity() / LARGE_DICTIONARY))
			gc_encoder_give_up(encoder, i, GC_COL_MANY_VALUES);
		else if (code == GC_OK)
			gc_encoder_remap(encoder, i, gc_dict_shared_count(set->dicts[i]), remap);
		else
		{
			gc_job_fail(code, "%s", err.detail);
			return false;
		}
	}
	return true;
}

/* Widths of a column's codes, a bit each: in the directory before, and in chunks loaded since. */
static uint8
widths_so_far(const GcJobData *data, int job_col)
{
	const int	base_col = data->cols[job_col].base_col;
	uint8		widths = base_col >= 0 ? data->base->columns[base_col].widths : 0;

	for (uint32 i = 0; i < data->nchunks; i++)
	{
		const GcChunkColumn *cell = data->cells[(Size) i * data->ncols + job_col];

		if (data->chunks[i].state == GC_CHUNK_DONE && cell && cell->desc.nrows > 0)
			widths |= cell->desc.width;
	}
	return widths;
}

/*
 * Codes of a chunk of few values, as a hot one or a table's last one, are as wide as those of the other chunks.
 * Kernels are made for columns of one width: for others they have twice as many registers.
 */
static void
keep_widths(const GcLoader *loader, GcColumnSet *set)
{
	uint8	   *widths = palloc(Max(set->ncols, 1));

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_SHARED);
	for (int i = 0; i < set->ncols; i++)
		widths[i] = widths_so_far(loader->job->data, set->job_cols[i]);
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	for (int i = 0; i < set->ncols; i++)
	{
		if ((widths[i] & (widths[i] - 1)) == 0)
			gc_encoder_least_width(gc_reader_encoder(set->reader), i, widths[i]);
	}
	pfree(widths);
}

/*
 * New columns of a hot chunk of the base.  If a value cannot be taken, the chunk is given up, and its
 * pages are as if they had never been read.
 */
static GcOutcome
add_hot_guarded(GcLoader *loader, GcReading *reading)
{
	prepare_set(loader, reading->set);
	keep_widths(loader, reading->set);
	if (gc_hot_add(loader, reading))
	{
		if (!merge_dictionaries(loader, reading))
			return GC_READ_VOID;
		if (!gc_met_problem(loader, reading->set))
			return GC_READ_OK;
	}
	reading->npresent = 0;
	return GC_READ_OK;
}

/*
 * A hot chunk.  A page with a value that a column cannot take is left out, since the row may
 * be one that no snapshot ever sees.  That is no reason for a column's problem.
 */
static GcOutcome
read_hot_guarded(GcLoader *loader, GcReading *reading)
{
	const GcJobData *data = loader->job->data;
	const GcJobChunk *chunk = &data->chunks[reading->chunkno];

	reading->npages = chunk->npages;
	gc_hot_begin(reading, data->hot_pages + chunk->first_page);
	for (int i = 0; i < MAX_REFUSALS; i++)
	{
		prepare_set(loader, reading->set);
		keep_widths(loader, reading->set);
		if (!gc_hot_read(loader, reading))
			continue;			/* a page was refused */
		if (!merge_dictionaries(loader, reading))
			return GC_READ_VOID;
		if (!gc_met_problem(loader, reading->set))
			return GC_READ_OK;
		break;
	}
	reading->npresent = 0;
	return GC_READ_OK;
}

/* Prepare to read a chunk of the heap; codes of a short one are as wide as those of the others. */
static void
prepare_heap_set(GcLoader *loader, const GcReading *reading)
{
	prepare_set(loader, reading->set);
	if (gc_chunk_length(reading->chunkno, loader->job->data->nblocks) <= gc_chunk_pages / SHORT_CHUNK)
		keep_widths(loader, reading->set);
}

/* Has the reading nearly all of the pages that are all-visible now? */
static bool
has_nearly_all(GcLoader *loader, const GcReading *reading)
{
	uint8	   *now = palloc(GC_PRESENT_BYTES(reading->npages));
	uint32		visible = 0;
	XLogRecPtr	lsn;

	gc_map_copy(loader->rel, reading->chunkno, reading->npages, now, &lsn);
	for (uint32 page = 0; page < reading->npages; page++)
		visible += page_is_set(now, page);
	return reading->npresent > 0 && visible - (int64) reading->npresent <= visible / 8;
}

/*
 * From files (disk.h), unless it is there and has to be replaced: then they may be as old.
 * False: the set is as it was.
 */
static bool
read_kept(GcLoader *loader, GcReading *reading)
{
	const GcDirectory *base = loader->job->data->base;

	if (!gc_disk_usable(loader->rel) ||
		(reading->full && base && reading->chunkno < base->nheap && base->chunks[reading->chunkno]))
		return false;
	if (gc_disk_read(loader, reading) &&
		(!reading->full || (check_map(loader, reading) && has_nearly_all(loader, reading))))
		return true;
	prepare_heap_set(loader, reading);
	return false;
}

/* A chunk of the heap, or columns of it: read from its pages. */
static bool
read_heap(GcLoader *loader, GcReading *reading)
{
	if (reading->full)
	{
		reading->npages = gc_chunk_length(reading->chunkno, loader->job->data->nblocks);
		reading->present = palloc(GC_PRESENT_BYTES(reading->npages));
		gc_map_copy(loader->rel, reading->chunkno, reading->npages,
					reading->present, &reading->lsn);

		/* Nothing can ever be proven about a map page that was never stamped. */
		if (reading->lsn == InvalidXLogRecPtr)
			memset(reading->present, 0, GC_PRESENT_BYTES(reading->npages));
	}
	reading->row_start = palloc((reading->npages + 1) * sizeof(uint32));
	return read_pages(reading) && check_map(loader, reading);
}

/* One attempt, under a guard. */
static GcOutcome
read_chunk_guarded(GcLoader *loader, GcReading *reading)
{
	GcLoadJob  *job = loader->job;
	GcJobData  *data = job->data;

	if (!gc_store_is_current(&job->key, job->version))
	{
		gc_job_fail(GC_CANCELLED, STALE_DETAIL);
		return GC_READ_VOID;
	}

	reading->set = reading->full ? &loader->all : &loader->added;
	gc_wal_changes_watch(loader->rel);
	reading->proven_to = gc_wal_now();
	if (reading->chunkno >= data->nheap)
		return reading->full ? read_hot_guarded(loader, reading) : add_hot_guarded(loader, reading);
	prepare_heap_set(loader, reading);
	if (!reading->full && !prepare_added(loader, reading))
		return GC_READ_CHANGED;
	if (!read_kept(loader, reading) && !read_heap(loader, reading))
		return GC_READ_CHANGED;
	if (!merge_dictionaries(loader, reading))
		return GC_READ_VOID;
	share_problems(loader, reading);
	return GC_READ_OK;
}

/*-------------------------------------------------------------------------
 * Writing
 *
 * No guard is held: memory may have to be waited for.  A job without room fails, also if the chunks so far tell
 * that there will be none.
 *-------------------------------------------------------------------------
 */
/* Projections are rough: a load goes on that would miss its room by less than the rest. */
#define NEARLY_ALL		0.9

/* Column data of a cell begins here, aligned for the device. */
#define CELL_HEADER		256

StaticAssertDecl(sizeof(GcChunkColumn) <= CELL_HEADER, "GcChunkColumn has outgrown its room");

/* A chunk with a copy of the columns that were read of its pages.  NULL: no room in the cache. */
static GcChunk *
make_heap_chunk(const GcReading *reading)
{
	Size		starts = (reading->npages + 1) * sizeof(uint32);
	Size		lsns = reading->npages * sizeof(XLogRecPtr);
	Size		present = GC_PRESENT_BYTES(reading->npages);
	Size		missing = reading->first_missing[reading->npages] * sizeof(uint16);
	Size		header = MAXALIGN(sizeof(GcChunk));
	GcChunk    *chunk = gc_job_alloc(header + MAXALIGN(starts) + present + lsns +
									 reading->npages * sizeof(pg_atomic_uint32) + starts + missing, sizeof(GcObject));

	if (chunk == NULL)
		return NULL;
	chunk->chunkno = reading->chunkno;
	chunk->first = reading->first;
	chunk->npages = reading->npages;
	chunk->npresent = reading->npresent;
	chunk->nrows = reading->row_start[reading->npages];
	chunk->map_lsn = reading->lsn;
	pg_atomic_init_u64(&chunk->proven_lsn, reading->lsn);
	pg_atomic_init_u64(&chunk->proven_to, reading->proven_to);
	chunk->row_start = (uint32 *) ((char *) chunk + header);
	memcpy(chunk->row_start, reading->row_start, starts);
	chunk->present = (uint8 *) ((char *) chunk->row_start + MAXALIGN(starts));
	memcpy(chunk->present, reading->present, present);
	chunk->lsns = (XLogRecPtr *) (chunk->present + present);
	memcpy(chunk->lsns, reading->lsns, lsns);
	chunk->buffers = (pg_atomic_uint32 *) ((char *) chunk->lsns + lsns);
	for (uint32 page = 0; page < reading->npages; page++)
		pg_atomic_init_u32(&chunk->buffers[page], 0);
	chunk->id = gc_store_new_id();
	chunk->before = reading->before;
	chunk->first_missing = (uint32 *) (chunk->buffers + reading->npages);
	memcpy(chunk->first_missing, reading->first_missing, starts);
	chunk->missing = (uint16 *) (chunk->first_missing + reading->npages + 1);
	memcpy(chunk->missing, reading->missing, missing);
	chunk->hot = NULL;
	return chunk;
}

/* A chunk's column, for which its values are still to be written.  NULL: no room in the cache. */
static GcChunkColumn *
make_cell(const GcEncoder *encoder, int i, const GcEncodedColumn *enc)
{
	char	   *data;
	GcChunkColumn *cell = gc_job_alloc(CELL_HEADER + enc->data_bytes + enc->null_bytes,
									   sizeof(GcChunkColumn));

	if (cell == NULL)
		return NULL;
	data = (char *) cell + CELL_HEADER;
	cell->obj.region_id = gc_new_region_id();
	cell->desc.data = (uintptr_t) data;
	cell->desc.nulls = enc->null_bytes > 0 ? (uintptr_t) (data + enc->data_bytes) : 0;
	cell->desc.base = enc->base;
	cell->desc.width = enc->width;
	cell->desc.scale = enc->scale;
	cell->desc.nrows = gc_encoder_rows(encoder);
	cell->span = enc->span;
	cell->data_bytes = enc->data_bytes;
	cell->null_bytes = enc->null_bytes;
	gc_encoder_write(encoder, i, data, data + enc->data_bytes);
	return cell;
}

/* No memory: fail the job, with the sizes that explain it. */
static void
fail_for_room(GcLoader *loader)
{
	gc_job_fail(GC_CACHE_FULL,
				"There is no more room after %zu kB of table \"%s\"; columns can take %zu kB of gpuconc.host_cache_size and gpuconc.disk_cache_size.",
				loader->job->bytes / 1024, RelationGetRelationName(loader->rel),
				gc_store_capacity() / 1024);
}

/*
 * Fail early if the chunks so far tell that the table will never fit, or not beside columns in use.  Retired memory
 * will be free; so it is no reason to give up.
 */
static void
check_projection(GcLoader *loader)
{
	GcLoadJob  *job = loader->job;
	const GcProjection p = gc_job_projection(job);

	if (p.bytes > gc_store_capacity())
		gc_job_fail(GC_CACHE_FULL, GC_TOO_LARGE_DETAIL, RelationGetRelationName(loader->rel), p.bytes / 1024,
					gc_store_capacity() / 1024);
	else if (p.missing * NEARLY_ALL > gc_store_room(job->since) + gc_retired_bytes())
		fail_for_room(loader);
}

/* Put the chunk that was read into the cache's memory and hand it in, or fail the job. */
static void
write_chunk(GcLoader *loader, const GcReading *reading)
{
	GcJobData  *data = loader->job->data;
	GcEncoder  *encoder = gc_reader_encoder(reading->set->reader);
	const GcEncodedColumn *enc = gc_encoder_finish(encoder);
	GcChunk    *chunk = NULL;
	GcChunkColumn **cells = palloc0(Max(data->ncols, 1) * sizeof(GcChunkColumn *));

	if (reading->full)
	{
		chunk = reading->wanted ? gc_hot_make_chunk(reading) : make_heap_chunk(reading);
		if (chunk == NULL)
		{
			fail_for_room(loader);
			return;
		}
	}
	for (int i = 0; i < reading->set->ncols; i++)
	{
		GcChunkColumn *cell;

		if (enc[i].problem != GC_COL_OK)
			continue;
		CHECK_FOR_INTERRUPTS();
		cell = make_cell(encoder, i, &enc[i]);
		if (cell == NULL)
		{
			fail_for_room(loader);
			return;
		}
		cells[reading->set->job_cols[i]] = cell;
	}
	gc_job_chunk_done(reading->full ? GC_CHUNK_REPLACED : GC_CHUNK_ADDED, chunk, cells,
					  reading->pages_read, gc_pages_refused(reading));
	check_projection(loader);
}

/*-------------------------------------------------------------------------
 * One chunk
 *-------------------------------------------------------------------------
 */
/* Have all columns that would be added met a problem?  Then none need be read. */
static bool
nothing_to_add(const GcLoader *loader)
{
	const GcColumnSet *set = &loader->added;

	for (int i = 0; i < set->ncols; i++)
	{
		if (pg_atomic_read_u32(&loader->job->data->cols[set->job_cols[i]].problem) == GC_COL_OK)
			return false;
	}
	return true;
}

void
gc_loader_take_part(GcLoader *loader, uint32 number)
{
	const GcJobData *data = loader->job->data;
	const GcJobChunk *part = &data->chunks[number];
	MemoryContext old = MemoryContextSwitchTo(loader->chunk_context);

	gc_job_part_done(gc_disk_read_part(&loader->job->key, &data->cols[part->base], part->first_page));
	MemoryContextSwitchTo(old);
	MemoryContextReset(loader->chunk_context);
}

void
gc_loader_load(GcLoader *loader, uint32 chunkno)
{
	GcReading	reading = {.chunkno = chunkno};
	GcOutcome	outcome = GC_READ_CHANGED;
	MemoryContext old = MemoryContextSwitchTo(loader->chunk_context);

	reading.first = chunkno * (BlockNumber) gc_chunk_pages;
	reading.full = loader->job->data->chunks[chunkno].full;
	if (!reading.full && nothing_to_add(loader))
	{
		MemoryContextSwitchTo(old);
		gc_job_chunk_done(GC_CHUNK_KEPT, NULL, NULL, 0, 0);
		return;
	}

	for (int i = 0; i < MAX_ATTEMPTS && outcome == GC_READ_CHANGED; i++)
	{
		MemoryContextReset(loader->chunk_context);
		gc_guard_enter();
		outcome = read_chunk_guarded(loader, &reading);
		gc_guard_leave();

		/* Then its other columns must be read again, too. */
		if (outcome == GC_READ_CHANGED)
			reading.full = true;
	}

	if (outcome == GC_READ_OK && reading.npresent > 0)
		write_chunk(loader, &reading);
	else if (outcome != GC_READ_VOID)
		gc_job_chunk_done(GC_CHUNK_DROPPED, NULL, NULL, reading.pages_read, gc_pages_refused(&reading));

	MemoryContextSwitchTo(old);
	MemoryContextReset(loader->chunk_context);
}
