/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  Encoded columns out: the second half of an encoder.
 *
 * After the last row gc_encoder_finish() decides on each column's width, and
 * gc_encoder_write() packs the staged values (encode.c) at it.
 *
 * Runs in backends and loaders; touches local memory and what the caller gives it to write to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "encode_internal.h"

static inline bool
row_is_null(const GcStaged *col, uint32 row)
{
	return (col->nulls[row >> 3] >> (row & 7)) & 1;
}

#define RANGE_LOOP(type, condition) \
	do { \
		const type *v = col->stage; \
		for (uint32 i = 0; i < nrows; i++) \
		{ \
			if (condition) \
			{ \
				min = Min(min, v[i]); \
				max = Max(max, v[i]); \
			} \
		} \
	} while (0)

/* Least and greatest non-NULL value; there is one. */
static void
find_range(const GcStaged *col, uint32 nrows, int64 *minp, int64 *maxp)
{
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;

	if (col->width == 4 && col->nnulls == 0)
		RANGE_LOOP(int32, true);
	else if (col->width == 4)
		RANGE_LOOP(int32, !row_is_null(col, i));
	else if (col->nnulls == 0)
		RANGE_LOOP(int64, true);
	else
		RANGE_LOOP(int64, !row_is_null(col, i));
	*minp = min;
	*maxp = max;
}

static uint8
width_for(uint64 range)
{
	if (range <= PG_UINT8_MAX)
		return 1;
	if (range <= PG_UINT16_MAX)
		return 2;
	if (range <= PG_UINT32_MAX)
		return 4;
	return 8;
}

static void
choose_encoding(const GcStaged *col, uint32 nrows, GcEncodedColumn *out)
{
	Size		padded = TYPEALIGN64(GC_PAD_ROWS, (uint64) nrows);
	int64		min = 1;
	int64		max = 0;

	memset(out, 0, sizeof(GcEncodedColumn));
	out->problem = col->problem;
	if (col->problem)
		return;

	out->has_nulls = col->nnulls > 0;
	out->span = col->span;
	out->scale = col->tagged ? GC_SCALE_TAGGED : Max(col->span.dscale, 0);
	out->width = 1;
	if (nrows > col->nnulls)
	{
		if (GC_KIND_IS_FLOAT(col->spec.kind))
			min = 0;
		else
		{
			find_range(col, nrows, &min, &max);
			out->width = width_for((uint64) max - (uint64) min);
		}
	}
	if (!col->tagged)
	{
		out->span.min = min;
		out->span.max = max;
	}
	if (GC_KIND_IS_FLOAT(col->spec.kind))
		out->width = col->width;
	else
	{
		out->width = Max(out->width, col->min_width);

		/*
		 * Code 0, which also stands in NULL and in padding rows, must decode to a
		 * value between min and max.  Kernels look things up by it.
		 */
		if (min <= max)
			out->base = min;
	}
	out->data_bytes = padded * out->width;
	out->null_bytes = out->has_nulls ? padded / 8 : 0;
}

/*
 * Tags are for several scales: where a column has one, its values are read as they are.  Tagged rows have one scale where
 * they were copied from a cell without those of other scales.
 */
static void
drop_tags(GcStaged *col, uint32 nrows)
{
	int64	   *stage = col->stage;

	if (!col->tagged || col->problem || col->span.dscale > col->span.min_dscale)
		return;
	for (uint32 i = 0; i < nrows; i++)
		stage[i] = GC_TAG_DIGITS(stage[i]);
	col->tagged = false;
}

const GcEncodedColumn *
gc_encoder_finish(GcEncoder *encoder)
{
	for (int i = 0; i < encoder->ncols; i++)
	{
		drop_tags(&encoder->cols[i], encoder->nrows);
		choose_encoding(&encoder->cols[i], encoder->nrows, &encoder->out[i]);
		encoder->cols[i].out = encoder->out[i];
	}
	return encoder->out;
}

#define PACK_LOOP(from, to) \
	do { \
		const from *v = col->stage; \
		to		   *d = data; \
		for (uint32 i = 0; i < nrows; i++) \
			d[i] = (to) ((uint64) (int64) v[i] - base); \
	} while (0)

#define PACK_WIDTHS(from) \
	switch (col->out.width) \
	{ \
		case 1: \
			PACK_LOOP(from, uint8); \
			break; \
		case 2: \
			PACK_LOOP(from, uint16); \
			break; \
		case 4: \
			PACK_LOOP(from, uint32); \
			break; \
		default: \
			PACK_LOOP(from, uint64); \
	}

/* The code of a NULL row is 0, whatever the base. */
static void
clear_null_codes(const GcStaged *col, uint32 nrows, char *data)
{
	for (uint32 row = 0; row < nrows; row++)
	{
		if (row_is_null(col, row))
			memset(data + (Size) row * col->out.width, 0, col->out.width);
	}
}

void
gc_encoder_write(const GcEncoder *encoder, int i, void *data, void *nulls)
{
	const GcStaged *col = &encoder->cols[i];
	uint32		nrows = encoder->nrows;
	uint64		base = col->out.base;
	Size		used = (Size) nrows * col->out.width;

	Assert(col->problem == GC_COL_OK);
	if (nrows > 0)
	{
		if (col->width == 4)
			PACK_WIDTHS(int32)
		else
			PACK_WIDTHS(int64)
	}
	memset((char *) data + used, 0, col->out.data_bytes - used);

	if (col->out.null_bytes > 0)
	{
		Size		bytes = (nrows + 7) / 8;

		clear_null_codes(col, nrows, data);
		memcpy(nulls, col->nulls, bytes);
		/*
		 * Without any value, nothing that code 0 decodes to is known to lie in the column's
		 * range: padding is NULL then, too.
		 */
		if (col->nnulls == nrows)
			memset(nulls, 0xff, col->out.null_bytes);
		else
			memset((char *) nulls + bytes, 0, col->out.null_bytes - bytes);
	}
}
