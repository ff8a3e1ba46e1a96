/*-------------------------------------------------------------------------
 *
 * publish.c
 *	  The end of a load: one new directory out of the old one and the results.
 *
 * Runs in the participant of a job that claimed its publication.  The base directory is alive under the guard as long
 * as the relation's version is that of the job's start.  The results belong to the job until the store has taken the
 * directory.  Only then is anything of the base retired.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/snapmgr.h"

#include "../encode/problem.h"
#include "../serve/serving.h"
#include "../store/columns.h"
#include "../store/dict.h"
#include "../store/directory.h"
#include "../store/epoch.h"
#include "../store/lookups.h"
#include "../store/notes.h"
#include "../store/store.h"
#include "job.h"

#define JOB_CELL(data, chunk, col) \
	((data)->cells[(Size) (chunk) * (data)->ncols + (col)])

/* The base's chunk of that number, or NULL. */
static GcChunk *
base_chunk(const GcJobData *data, uint32 i)
{
	return data->chunks[i].base >= 0 ? data->base->chunks[data->chunks[i].base] : NULL;
}

/* A chunk's column in the directory that the job started from; NULL: it has none. */
static GcChunkColumn *
base_cell(const GcJobData *data, uint32 i, int c)
{
	int			base_col = data->cols[c].base_col;

	if (base_col < 0 || base_chunk(data, i) == NULL)
		return NULL;
	return GC_CELL(data->base, data->chunks[i].base, base_col);
}

/* Which chunk takes place i, and which cell of it holds column c. */
static GcChunk *
merged_chunk(const GcJobData *data, uint32 i)
{
	switch (data->chunks[i].result)
	{
		case GC_CHUNK_REPLACED:
			return data->chunks[i].chunk;
		case GC_CHUNK_DROPPED:
			return NULL;
		default:
			return base_chunk(data, i);
	}
}

/* A chunk's column as it is to be published: the job's, or else the former one. */
static GcChunkColumn *
merged_cell(const GcJobData *data, uint32 i, int c)
{
	GcChunkColumn *cell = JOB_CELL(data, i, c);

	if (cell == NULL && data->chunks[i].result != GC_CHUNK_REPLACED)
		cell = base_cell(data, i, c);
	return merged_chunk(data, i) ? cell : NULL;
}

/* The column's properties, by all of its cells. */
static void
summarize_column(const GcJobData *data, int c, GcDirColumn *column)
{
	const GcJobColumn *col = &data->cols[c];

	column->spec = col->spec;
	column->state = col->state;
	column->span = GC_NO_SPAN;
	column->problem = pg_atomic_read_u32((pg_atomic_uint32 *) &col->problem);

	for (uint32 i = 0; i < data->nchunks && column->problem == GC_COL_OK; i++)
	{
		GcChunkColumn *cell = merged_cell(data, i, c);

		if (cell == NULL)
			continue;
		if (!gc_span_join(&column->span, cell->span))
		{
			column->problem = GC_COL_NUMERIC_SCALE;
			break;
		}
		column->has_nulls |= cell->null_bytes > 0;
		/* Codes that there are none of have no width. */
		column->widths |= cell->desc.nrows > 0 ? cell->desc.width : 0;
		column->bytes += cell->obj.size;
	}
	if (column->problem != GC_COL_OK)
	{
		column->has_nulls = false;
		column->widths = 0;
		column->bytes = 0;
		column->span = GC_NO_SPAN;
		column->evidence = col->evidence;
		if (col->again)
			gc_evidence_put_off(&column->evidence, gc_job_mine()->started_at);
	}
	column->bytes += gc_colstate_bytes(col->state);
}

/* Write the new directory: columns' summaries, and the chunks that it has. */
static void
fill_directory(const GcJobData *data, GcDirectory *dir)
{
	for (int c = 0; c < data->ncols; c++)
		summarize_column(data, c, &dir->columns[c]);

	for (uint32 i = 0; i < data->nchunks; i++)
	{
		GcChunk    *chunk = merged_chunk(data, i);

		dir->chunks[i] = chunk;
		if (chunk == NULL)
			continue;
		dir->nrows += chunk->nrows;
		dir->facts[i] = (GcChunkFacts) {chunk->map_lsn, chunk->npages, chunk->npresent, chunk->nrows};
		for (int c = 0; c < data->ncols; c++)
		{
			if (dir->columns[c].problem == GC_COL_OK)
			{
				GcChunkColumn *cell = merged_cell(data, i, c);

				GC_CELL(dir, i, c) = cell;
				GC_COLUMN_RANGES(dir, c)[i] = gc_cell_range(&cell->span, &dir->columns[c].span);
			}
		}
	}
}

/*
 * Hot chunks with numeric values of a scale that those of the heap's chunks are too large for are
 * given up.  Rows that no snapshot may ever see are no reason for a column's problem.
 */
static void
drop_misfits(GcJobData *data, int c)
{
	GcSpan		span = GC_NO_SPAN;

	for (uint32 i = 0; i < data->nchunks; i++)
	{
		GcChunkColumn *cell = merged_cell(data, i, c);
		GcSpan		joined = span;

		if (cell == NULL)
			continue;
		if (gc_span_join(&joined, cell->span))
			span = joined;
		else if (i >= data->nheap)
			data->chunks[i].result = GC_CHUNK_DROPPED;
	}
}

/* Has the new directory the columns and the chunks of the heap that the base has? */
static bool
same_heap(const GcJobData *data, const GcDirectory *dir)
{
	const GcDirectory *base = data->base;

	if (base == NULL || base->nheap != dir->nheap || base->ncolumns != dir->ncolumns)
		return false;
	for (uint32 c = 0; c < dir->ncolumns; c++)
	{
		if (data->cols[c].base_col != (int) c || base->columns[c].problem != dir->columns[c].problem)
			return false;
	}
	return memcmp(base->chunks, dir->chunks, dir->nheap * sizeof(GcChunk *)) == 0 &&
		memcmp(base->cells, dir->cells, (Size) dir->nheap * dir->ncolumns * sizeof(GcChunkColumn *)) == 0;
}

/* And the same hot chunks, in any order?  Then the load was in vain: no page could be kept. */
static bool
same_hot(const GcJobData *data, const GcDirectory *dir)
{
	const GcDirectory *base = data->base;
	int64		gone = 0;

	for (uint32 i = base->nheap; i < base->nchunks; i++)
		gone += base->chunks[i] != NULL;
	for (uint32 i = dir->nheap; i < dir->nchunks; i++)
	{
		if (dir->chunks[i] && dir->chunks[i] != base_chunk(data, i))
			return false;
		gone -= dir->chunks[i] != NULL;
	}
	return gone == 0;
}

/* Chunk i of the base in the new directory, or -1. */
static int64
place_of_base(const GcJobData *data, uint32 i)
{
	if (i < data->base->nheap)
		return i < data->nheap ? (int64) i : -1;
	for (uint32 place = data->nheap; place < data->nchunks; place++)
	{
		if (data->chunks[place].base == (int32) i)
			return place;
	}
	return -1;
}

/* The new directory's column that was the base's column b, or -1. */
static int
column_of_base(const GcJobData *data, int b)
{
	for (int c = 0; c < data->ncols; c++)
	{
		if (data->cols[c].base_col == b)
			return c;
	}
	return -1;
}

/* Retire chunks and dictionaries that the base had and dir has no more. */
static void
retire_base(const GcJobData *data, const GcDirectory *dir)
{
	GcDirectory *base = data->base;

	for (uint32 b = 0; b < base->ncolumns; b++)
	{
		int			c = column_of_base(data, b);

		for (uint32 i = 0; i < base->nchunks; i++)
		{
			GcChunkColumn *cell = GC_CELL(base, i, b);
			int64		place = cell ? place_of_base(data, i) : -1;

			if (cell && (c < 0 || place < 0 || GC_CELL(dir, place, c) != cell))
				gc_retire(&cell->obj);
		}
		if (c < 0)
			gc_colstate_retire(base->columns[b].state);
	}
	for (uint32 i = 0; i < base->nchunks; i++)
	{
		int64		place = place_of_base(data, i);

		if (base->chunks[i] && (place < 0 || dir->chunks[place] != base->chunks[i]))
			gc_retire(&base->chunks[i]->obj);
	}
	gc_note_forget(base);
	gc_retire(&base->obj);
}

/*
 * Give up the results that the directory did not take, the results of columns with a
 * problem, and the dictionaries of such columns.  No process reads these
 * dictionaries any more.
 */
static void
drop_unused(const GcJobData *data, const GcDirectory *dir)
{
	for (int c = 0; c < data->ncols; c++)
	{
		GcColState *state = data->cols[c].state;

		if (dir->columns[c].problem == GC_COL_OK || gc_dict_retire(state) == 0)
			continue;
		gc_lookups_forget(state->dict_id);
	}
	for (uint32 i = 0; i < data->nchunks; i++)
	{
		for (int c = 0; c < data->ncols; c++)
		{
			GcChunkColumn *cell = JOB_CELL(data, i, c);

			if (cell && GC_CELL(dir, i, c) != cell)
				gc_object_free(cell);
		}
		if (data->chunks[i].chunk && dir->chunks[i] != data->chunks[i].chunk)
			gc_object_free(data->chunks[i].chunk);
	}
}

/* The new columns have not been used yet, and it may have taken long to load them. */
static void
touch_new(const GcJobData *data, GcDirectory *dir)
{
	for (int c = 0; c < data->ncols; c++)
	{
		if (data->cols[c].base_col < 0)
			gc_column_touch(dir, c);
	}
}

void
gc_job_publish(Relation rel)
{
	GcLoadJob  *job = gc_job_mine();
	GcJobData  *data = job->data;
	Size		size = gc_directory_size(data->nchunks, data->ncols);
	GcDirectory *dir = gc_job_alloc(size, sizeof(GcObject));

	if (dir == NULL)
	{
		gc_job_fail(GC_CACHE_FULL, "There is no room for a directory of %zu kB in gpuconc.host_cache_size.",
					size / 1024);
		return;
	}

	gc_guard_enter();
	if (gc_store_is_current(&job->key, job->version))
	{
		gc_directory_init(dir, size, gc_store_new_id(), &job->key, data->nchunks, data->nheap, data->ncols);
		for (int c = 0; c < data->ncols; c++)
			drop_misfits(data, c);
		fill_directory(data, dir);
		if (same_heap(data, dir))
		{
			/* Another directory with the same contents has requests describe it to the device again. */
			if (same_hot(data, dir))
			{
				gc_job_free_in_hand();
				pg_atomic_write_u32(&data->base->pages_alone, 0);
				gc_guard_leave();
				gc_job_over(false);
				return;
			}
			dir->heap_id = data->base->heap_id;
		}

		/* Sessions that find the directory find its base. */
		if (dir->nheap < dir->nchunks)
			gc_serve_ahead(rel, dir, GetActiveSnapshot());

		/* Once published, it is anyone's to retire. */
		gc_job_let_go_in_hand();
		touch_new(data, dir);
		if (gc_store_publish(&job->key, job->version, dir))
		{
			gc_job_over(true);
			if (data->base)
				retire_base(data, dir);
			drop_unused(data, dir);
			gc_guard_leave();
			gc_reclaim();
			return;
		}
		gc_note_forget(dir);
		gc_object_free(dir);
	}
	gc_guard_leave();
	gc_job_fail(GC_CANCELLED, "The table was dropped from the cache while it was being loaded.");
}
