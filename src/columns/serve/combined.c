/*-------------------------------------------------------------------------
 *
 * combined.c
 *	  Combined directories: the chunks of several tables as those of one.
 *
 * For the worker and for kernels a combined directory is one like any other.  It is no
 * one's but the request's that it was made for, and never published.  Regions on the
 * device are known by the cells' region ids, so all directories share them.
 *
 * Texts: each table's column has a dictionary of its own.  The combined column's codes
 * are those of these dictionaries one behind another (gc_dict_concatenated()).  Since a
 * cell's values are its codes plus a base, moving them takes another base, and nothing
 * for each row.  A column that is one value in a table has cells of zeros, with that
 * value for their base.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "../store/directory.h"
#include "combined.h"

/* Chunks of all parts together. */
static uint32
total_chunks(const GcCombination *c)
{
	uint32		n = 0;

	for (int i = 0; i < c->nparts; i++)
		n += c->dirs[i] ? c->dirs[i]->nchunks : 0;
	return n;
}

/* Must the cells of a part's column be copies? */
static bool
is_copied(const GcCombination *c, int cell)
{
	return c->columns[cell] < 0 || c->first_codes[cell] > 0;
}

/* Cells that the combination has of its own: a part lacks the column, or has other codes. */
static Size
copied_cells(const GcCombination *c)
{
	Size		n = 0;

	for (int i = 0; i < c->nparts; i++)
	{
		for (int k = 0; c->dirs[i] && k < c->ncolumns; k++)
			n += is_copied(c, i * c->ncolumns + k) ? c->dirs[i]->nchunks : 0;
	}
	return n;
}

Size
gc_combined_size(const GcCombination *c)
{
	return MAXALIGN(gc_directory_size(total_chunks(c), c->ncolumns)) +
		copied_cells(c) * MAXALIGN(sizeof(GcChunkColumn));
}

static GcSpan
moved_span(GcSpan span, uint32 first_code)
{
	if (span.min <= span.max)
	{
		span.min += first_code;
		span.max += first_code;
	}
	return span;
}

/* Add the facts of a part's column to those of the combined one. */
static void
add_column(GcDirColumn *to, const GcDirColumn *from, uint32 first_code)
{
	to->spec = from->spec;
	to->has_nulls |= from->has_nulls;
	to->widths |= from->widths;
	to->bytes += from->bytes;
	if (!gc_span_join(&to->span, moved_span(from->span, first_code)))
		to->problem = GC_COL_NUMERIC_SCALE;
}

/* A cell, or a copy of it at *copies that has another base. */
static GcChunkColumn *
moved_cell(GcChunkColumn *cell, uint32 first_code, char **copies)
{
	GcChunkColumn *copy = (GcChunkColumn *) *copies;

	if (cell == NULL || first_code == 0)
		return cell;
	*copies += MAXALIGN(sizeof(GcChunkColumn));
	*copy = *cell;
	copy->span = moved_span(cell->span, first_code);
	/* A cell without values has base 0, as everywhere. */
	if (cell->span.min <= cell->span.max)
		copy->desc.base += first_code;
	return copy;
}

/* Facts of column k of all parts. */
static void
describe_column(GcDirectory *dir, const GcCombination *c, int k)
{
	GcDirColumn *column = &dir->columns[k];

	column->span = GC_NO_SPAN;
	for (int i = 0; i < c->nparts; i++)
	{
		const int	cell = i * c->ncolumns + k;

		if (c->dirs[i] == NULL)
			continue;
		if (c->columns[cell] >= 0)
			add_column(column, &c->dirs[i]->columns[c->columns[cell]], c->first_codes[cell]);
		else
			column->widths |= 1;
		if (c->columns[cell] == GC_COMBINED_NUMBER)
		{
			column->spec.kind = GC_INT4;
			column->span.min = column->span.min > column->span.max ? i : column->span.min;
			column->span.max = i;
		}
	}
	/* The value for a column that a part lacks has 64 bits. */
	if (column->span.min > PG_INT64_MAX)
		column->span.min = 0;
}

/* A cell at *copies in which all rows have a value. */
static GcChunkColumn *
constant_cell(const GcCombination *c, const GcChunk *chunk, int64 value, int16 scale, char **copies)
{
	GcChunkColumn *copy = (GcChunkColumn *) *copies;

	*copies += MAXALIGN(sizeof(GcChunkColumn));
	if (chunk == NULL)
		return NULL;
	*copy = *c->zeros;
	copy->desc.base = copy->span.min = copy->span.max = value;
	copy->desc.scale = scale;
	copy->desc.nrows = chunk->nrows;
	return copy;
}

/* Add column k of part i, whose chunks are those from number `at` on. */
static void
add_cells(GcDirectory *dir, const GcCombination *c, int i, int k, uint32 at, char **copies)
{
	const GcDirectory *from = c->dirs[i];
	const int	column = c->columns[i * c->ncolumns + k];
	const uint32 first_code = c->first_codes[i * c->ncolumns + k];
	const int64 value = column == GC_COMBINED_NUMBER ? i :
		dir->columns[k].span.min <= dir->columns[k].span.max ? Max(dir->columns[k].span.min, PG_INT64_MIN) : 0;

	for (uint32 n = 0; n < from->nchunks; n++)
	{
		GcCellRange *range = &GC_COLUMN_RANGES(dir, k)[at + n];

		if (column < 0)
		{
			GC_CELL(dir, at + n, k) = constant_cell(c, from->chunks[n], value, Max(dir->columns[k].span.dscale, 0),
													copies);
			*range = (GcCellRange) {value, value};
			continue;
		}
		GC_CELL(dir, at + n, k) = moved_cell(GC_CELL(from, n, column), first_code, copies);
		*range = (GcCellRange) {1, 0};
		if (GC_CELL(dir, at + n, k))
			*range = gc_cell_range(&GC_CELL(dir, at + n, k)->span, &dir->columns[k].span);
	}
}

/* Add the chunks of part i, which become those from number `at` on. */
static void
add_part(GcDirectory *dir, const GcCombination *c, int i, uint32 at, char **copies)
{
	const GcDirectory *from = c->dirs[i];

	memcpy(dir->chunks + at, from->chunks, from->nchunks * sizeof(GcChunk *));
	memcpy(dir->facts + at, from->facts, from->nchunks * sizeof(GcChunkFacts));
	dir->nrows += from->nrows;
	for (int k = 0; k < c->ncolumns; k++)
		add_cells(dir, c, i, k, at, copies);
}

GcDirectory *
gc_combine(const GcCombination *c, void *memory)
{
	GcDirectory *dir = memory;
	uint32		nchunks = total_chunks(c);
	Size		size = MAXALIGN(gc_directory_size(nchunks, c->ncolumns));
	char	   *copies = (char *) memory + size;
	uint32		at = 0;

	gc_directory_init(dir, size, c->id, &c->key, nchunks, nchunks, c->ncolumns);
	for (int k = 0; k < c->ncolumns; k++)
		describe_column(dir, c, k);
	for (int i = 0; i < c->nparts; i++)
	{
		c->first_chunks[i] = at;
		if (c->dirs[i] == NULL)
			continue;
		add_part(dir, c, i, at, &copies);
		at += c->dirs[i]->nchunks;
	}
	return dir;
}

void
gc_combine_served(GcServed *all, const GcServed *part, uint32 first_chunk)
{
	for (uint32 k = 0; k < part->nchunks; k++)
	{
		all->chunks[all->nchunks] = part->chunks[k];
		all->chunks[all->nchunks++].chunk += first_chunk;
	}
	all->nranges += part->nranges;
	all->noffsets += part->noffsets;
	all->ntuples += part->ntuples;
	all->pages_served += part->pages_served;
	all->pages_versioned += part->pages_versioned;
	all->pages_looked_at += part->pages_looked_at;
	all->rows_versioned += part->rows_versioned;
	all->pages_delta += part->pages_delta;
	all->rows_served += part->rows_served;
}
