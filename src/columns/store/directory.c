/*-------------------------------------------------------------------------
 *
 * directory.c
 *	  Directories: their layout, and giving up their chunks.
 *
 * Runs in any process that has a PGPROC.  A directory is immutable once it is published.
 *
 *-------------------------------------------------------------------------
 */
#include "directory.h"

#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "columns.h"
#include "dict.h"
#include "epoch.h"
#include "lookups.h"
#include "notes.h"

Size
gc_colstate_retire(GcColState *state)
{
	Size		bytes = state->obj.size + gc_dict_retire(state);

	/* Once it is retired, no table of it is published any more. */
	if (state->dict_id != 0)
		gc_lookups_forget(state->dict_id);
	gc_retire(&state->obj);
	return bytes;
}

Size
gc_colstate_bytes(const GcColState *state)
{
	return state->obj.size + gc_dict_bytes(state);
}

Size
gc_directory_size(uint32 nchunks, uint32 ncolumns)
{
	Size		size = MAXALIGN(sizeof(GcDirectory));

	size = add_size(size, MAXALIGN(mul_size(ncolumns, sizeof(GcDirColumn))));
	size = add_size(size, mul_size(nchunks, sizeof(GcChunk *) + sizeof(GcChunkFacts)));
	return add_size(size, mul_size(mul_size(nchunks, ncolumns),
								   sizeof(GcChunkColumn *) + sizeof(GcCellRange)));
}

void
gc_directory_init(GcDirectory *dir, Size size, uint64 id, const GcRelKey *key,
				  uint32 nchunks, uint32 nheap, uint32 ncolumns)
{
	char	   *p = (char *) dir + MAXALIGN(sizeof(GcDirectory));

	memset(dir, 0, size);
	dir->obj.size = size;
	dir->id = dir->heap_id = id;
	dir->key = *key;
	dir->nchunks = nchunks;
	dir->nheap = nheap;
	dir->ncolumns = ncolumns;
	dir->columns = (GcDirColumn *) p;
	p += MAXALIGN(ncolumns * sizeof(GcDirColumn));
	dir->chunks = (GcChunk **) p;
	dir->cells = (GcChunkColumn **) (p + nchunks * sizeof(GcChunk *));
	dir->ranges = (GcCellRange *) (dir->cells + (Size) nchunks * ncolumns);
	dir->facts = (GcChunkFacts *) (dir->ranges + (Size) nchunks * ncolumns);
	pg_atomic_init_u64(&dir->whole_for, 0);
	pg_atomic_init_u64(&dir->whole_at, 0);
	pg_atomic_init_u32(&dir->pages_alone, 0);
	pg_atomic_init_u32(&dir->read_apart, 0);
	pg_atomic_init_u64(&dir->hot_asked_at, 0);
}

Size
gc_directory_retire_column(GcDirectory *dir, int c)
{
	Size		bytes = 0;

	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		GcChunkColumn *cell = GC_CELL(dir, i, c);

		if (cell)
		{
			bytes += cell->obj.size;
			gc_retire(&cell->obj);
		}
	}
	return bytes + gc_colstate_retire(dir->columns[c].state);
}

Size
gc_directory_retire(GcDirectory *dir)
{
	Size		bytes = dir->obj.size;

	for (uint32 c = 0; c < dir->ncolumns; c++)
		bytes += gc_directory_retire_column(dir, c);
	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		if (dir->chunks[i])
		{
			bytes += dir->chunks[i]->obj.size;
			gc_retire(&dir->chunks[i]->obj);
		}
	}
	gc_note_forget(dir);
	gc_retire(&dir->obj);
	return bytes;
}

int
gc_directory_column(const GcDirectory *dir, const GcColSpec *spec)
{
	for (uint32 c = 0; c < dir->ncolumns; c++)
	{
		const GcColSpec *have = &dir->columns[c].spec;

		if (have->attnum == spec->attnum)
		{
			if (have->kind == spec->kind && have->rtrim == spec->rtrim &&
				have->typid == spec->typid && have->typmod == spec->typmod &&
				have->collation == spec->collation)
				return c;
			return -1;
		}
	}
	return -1;
}

void
gc_column_touch(GcDirectory *dir, int col)
{
	pg_atomic_write_u64(&dir->columns[col].state->last_used, GetCurrentTimestamp());
}

GcDirectory *
gc_directory_without(const GcDirectory *dir, int c, uint64 id)
{
	uint32		ncols = dir->ncolumns - 1;
	GcDirectory *copy;
	Size		size = gc_directory_size(dir->nchunks, ncols);

	copy = gc_arena_alloc_reserved(size);
	if (copy == NULL)
		return NULL;
	gc_directory_init(copy, size, id, &dir->key, dir->nchunks, dir->nheap, ncols);
	copy->nrows = dir->nrows;

	memcpy(copy->chunks, dir->chunks, dir->nchunks * sizeof(GcChunk *));
	memcpy(copy->facts, dir->facts, dir->nchunks * sizeof(GcChunkFacts));
	memcpy(copy->columns, dir->columns, c * sizeof(GcDirColumn));
	memcpy(copy->columns + c, dir->columns + c + 1, (ncols - c) * sizeof(GcDirColumn));
	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		memcpy(&GC_CELL(copy, i, 0), &GC_CELL(dir, i, 0), c * sizeof(GcChunkColumn *));
		memcpy(&GC_CELL(copy, i, 0) + c, &GC_CELL(dir, i, 0) + c + 1,
			   (ncols - c) * sizeof(GcChunkColumn *));
	}
	memcpy(copy->ranges, dir->ranges, (Size) c * dir->nchunks * sizeof(GcCellRange));
	memcpy(GC_COLUMN_RANGES(copy, c), GC_COLUMN_RANGES(dir, c + 1),
		   (Size) (ncols - c) * dir->nchunks * sizeof(GcCellRange));
	return copy;
}

GcCellRange
gc_cell_range(const GcSpan *cell, const GcSpan *column)
{
	GcSpan		span = *cell;

	/* Bounds fit at that scale: the column's range was found so. */
	if (span.dscale < column->dscale)
		(void) gc_span_rescale(&span, column->dscale);
	if (span.min < PG_INT64_MIN || span.max > PG_INT64_MAX)
		return (GcCellRange) {PG_INT64_MIN, PG_INT64_MAX};
	return (GcCellRange) {span.min, span.max};
}
