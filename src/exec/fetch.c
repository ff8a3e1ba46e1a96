/*-------------------------------------------------------------------------
 *
 * fetch.c
 *	  Columns that are only carried along, fetched by row id.
 *
 * The device returns the id of a row instead of its columns (plan/group/late.c).  The chunks that the
 * request was bound to are in shared memory still, since the guard is held until the result is
 * decoded.  So a value comes from the very chunk in which the kernels found the row.  That is a chunk
 * of the heap, a hot chunk, a table's chunk in a combined directory, or the private chunk.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

/* Bits of a row's number in its chunk, in a row id: more where a chunk has more rows. */
#define LEAST_ROW_BITS			20

GcRowIds
gc_row_ids(const GcInputState *in)
{
	const uint32 nchunks = in->dir ? in->served.nchunks : 0;
	uint32		most = Max(in->private_rows, 1);
	GcRowIds	ids = {0};

	for (uint32 k = 0; k < nchunks; k++)
		most = Max(most, in->served.chunks[k].nrows);
	/* A kernel's text should not change with each page that is added. */
	for (ids.bits = LEAST_ROW_BITS; (uint64) most > (uint64) 1 << ids.bits;)
		ids.bits++;
	if (in->private_rows > 0)
		ids.range.hi = in->private_rows - 1;
	for (uint32 k = 0; k < nchunks; k++)
	{
		const int64 first = ((int64) in->served.chunks[k].chunk + 1) << ids.bits;

		ids.range.lo = k == 0 && in->private_rows == 0 ? first : Min(ids.range.lo, first);
		ids.range.hi = Max(ids.range.hi, first + Max(in->served.chunks[k].nrows, 1) - 1);
	}
	return ids;
}

static i128
cell_value(const GcCol *col, bool is_float, uint32 row)
{
	if (col->width == sizeof(int128))
		return ((const int128 *) col->data)[row];
	return (int64) (gc_cell_code(col, row) + (is_float ? 0 : (uint64) col->base));
}

/* A value of a chunk, which is tagged where the column's scales differ; scale: as GcCol's. */
static inline i128
as_stored(const GcFact *fact, i128 value, int16 scale)
{
	return fact->scale_spread > 0 && scale != GC_SCALE_TAGGED ? GC_TAGGED(value, scale) : value;
}

bool
gc_fetch_value(const GcBinding *b, u16 column, int64 id, i128 *value)
{
	const GcPColumn *c = &gc_columns(b->program)[column];
	const GcInputState *in = &b->node->inputs[c->input];
	const u8	bits = b->row_ids[c->input].bits;
	const uint64 chunk = (uint64) id >> bits;
	const uint32 row = (uint64) id & (((uint64) 1 << bits) - 1);
	const GcCol *col;

	if (chunk == 0)
	{
		if (!gc_encoder_value(in->private, column - in->first, row, value))
			return false;
		*value = as_stored(&b->column_facts[column], *value, in->encoded[column - in->first].scale);
		return true;
	}
	Assert(chunk <= in->dir->nchunks);
	col = &GC_CELL(in->dir, chunk - 1, in->dir_column[column - in->first])->desc;
	Assert(row < col->nrows);
	if (col->nulls && ((const uint8 *) col->nulls)[row >> 3] >> (row & 7) & 1)
		return false;
	*value = as_stored(&b->column_facts[column], cell_value(col, GC_KIND_IS_FLOAT(c->kind), row), col->scale);
	return true;
}
