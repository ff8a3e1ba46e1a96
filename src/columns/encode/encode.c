/*-------------------------------------------------------------------------
 *
 * encode.c
 *	  An encoder: rows in, encoded columns out.
 *
 * Runs in backends and loaders; touches local memory only (and, through its
 * views, shared dictionaries, which the caller guards).
 *
 * Values are staged, one array per column, at 4 or 8 bytes according to their kind.  Numerics are at 16 from the first
 * that 8 do not hold.  So their range need not be known before the last row.  After the last row gc_encoder_finish()
 * decides on each column's width, and gc_encoder_write() packs the staged values at it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "fmgr.h"
#include "utils/memutils.h"

#include "../store/dict.h"
#include "../store/numeric.h"
#include "encode.h"
#include "pgkinds.h"

#define FIRST_CAPACITY	1024

typedef struct GcStaged
{
	GcColSpec	spec;
	GcDictView *dict;			/* text only */
	uint8		min_width;
	uint8		width;			/* of stage's elements, 4, 8 or 16 */
	uint8		problem;		/* GcColProblem */
	GcSpan		span;			/* numeric: of the values so far, of which the range is kept where they are tagged */
	bool		tagged;			/* numeric: values of several scales */
	uint32		nnulls;
	void	   *stage;			/* int32, int64 or int128; capacity elements */
	uint8	   *nulls;			/* bitmap of capacity bits, or NULL */
	const GcChunkColumn *whole; /* has the rows, and none is staged; else NULL */
	GcEncodedColumn out;
} GcStaged;

struct GcEncoder
{
	MemoryContext context;
	uint32		nrows;
	uint32		capacity;
	int			ncols;
	GcStaged   *cols;
	GcColSpec  *specs;
	GcEncodedColumn *out;
};

GcEncoder *
gc_encoder_create(int ncols, const GcColSpec *specs, GcDictView **dicts,
				  const uint8 *min_widths)
{
	GcEncoder  *encoder = palloc0(sizeof(GcEncoder));

	encoder->context = CurrentMemoryContext;
	encoder->ncols = ncols;
	encoder->cols = palloc0(Max(ncols, 1) * sizeof(GcStaged));
	encoder->specs = palloc(Max(ncols, 1) * sizeof(GcColSpec));
	encoder->out = palloc0(Max(ncols, 1) * sizeof(GcEncodedColumn));
	for (int i = 0; i < ncols; i++)
	{
		encoder->specs[i] = specs[i];
		encoder->cols[i].spec = specs[i];
		encoder->cols[i].width = gc_kinds[specs[i].kind].bytes;
		encoder->cols[i].min_width = min_widths ? min_widths[i] : 0;
	}
	gc_encoder_reset(encoder, dicts);
	return encoder;
}

void
gc_encoder_least_width(GcEncoder *encoder, int i, uint8 width)
{
	encoder->cols[i].min_width = width;
}

void
gc_encoder_reset(GcEncoder *encoder, GcDictView **dicts)
{
	encoder->nrows = 0;
	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = &encoder->cols[i];

		col->dict = dicts ? dicts[i] : NULL;
		if (col->width > gc_kinds[col->spec.kind].bytes)
		{
			/* Its memory would do for more rows than there is room for. */
			pfree(col->stage);
			col->stage = NULL;
			col->width = gc_kinds[col->spec.kind].bytes;
		}
		col->problem = GC_COL_OK;
		col->span = GC_NO_SPAN;
		col->tagged = false;
		col->nnulls = 0;
		col->whole = NULL;
		if (col->nulls)
			memset(col->nulls, 0, encoder->capacity / 8);
	}
}

int
gc_encoder_columns(const GcEncoder *encoder, const GcColSpec **specs)
{
	*specs = encoder->specs;
	return encoder->ncols;
}

/* Rows that were added so far. */
uint32
gc_encoder_rows(const GcEncoder *encoder)
{
	return encoder->nrows;
}

GcColProblem
gc_encoder_problem(const GcEncoder *encoder, int col)
{
	return encoder->cols[col].problem;
}

Size
gc_encoder_memory(const GcEncoder *encoder)
{
	Size		bytes = 0;

	for (int i = 0; i < encoder->ncols; i++)
	{
		if (encoder->cols[i].stage)
			bytes += (Size) encoder->capacity * encoder->cols[i].width;
		if (encoder->cols[i].nulls)
			bytes += encoder->capacity / 8;
	}
	return bytes;
}

/* Memory of the encoder's context, which may be larger than 1 GB. */
static void *
resize(GcEncoder *encoder, void *old, Size size)
{
	if (old)
		return repalloc_huge(old, size);
	return MemoryContextAllocHuge(encoder->context, size);
}

/* Make room for n more rows. */
static void
reserve(GcEncoder *encoder, uint32 n)
{
	uint64		need = (uint64) encoder->nrows + n;
	uint64		capacity = Max(encoder->capacity, FIRST_CAPACITY);

	if (need <= encoder->capacity)
		return;
	if (need > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows to be encoded together")));
	while (capacity < need)
		capacity *= 2;

	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = &encoder->cols[i];

		if (col->problem)
			continue;
		col->stage = resize(encoder, col->stage, capacity * col->width);
		if (col->nulls)
		{
			col->nulls = resize(encoder, col->nulls, capacity / 8);
			memset(col->nulls + encoder->capacity / 8, 0,
				   (capacity - encoder->capacity) / 8);
		}
	}
	encoder->capacity = capacity;
}

/* The column cannot be encoded: say so, and let its memory go. */
static void
set_problem(GcStaged *col, GcColProblem problem)
{
	col->problem = problem;
	if (col->stage)
		pfree(col->stage);
	if (col->nulls)
		pfree(col->nulls);
	col->stage = NULL;
	col->nulls = NULL;
	col->width = gc_kinds[col->spec.kind].bytes;
}

void
gc_encoder_give_up(GcEncoder *encoder, int col, GcColProblem problem)
{
	if (problem != GC_COL_OK)
		set_problem(&encoder->cols[col], problem);
}

/* Note which of the next n rows are NULL.  The bitmap is made with the first one. */
static void
add_nulls(GcEncoder *encoder, GcStaged *col, uint32 n, const bool *isnull)
{
	if (col->nulls == NULL)
		col->nulls = MemoryContextAllocZero(encoder->context, encoder->capacity / 8);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = encoder->nrows + i;

		if (isnull[i])
		{
			col->nulls[row >> 3] |= 1 << (row & 7);
			col->nnulls++;
		}
	}
}

/*-------------------------------------------------------------------------
 * Values
 *-------------------------------------------------------------------------
 */

/* A dictionary's code, or the column has too many values, and is not encoded. */
static inline bool
put_code(GcStaged *col, int64 code, int32 *result)
{
	if (code < 0)
	{
		set_problem(col, GC_COL_MANY_VALUES);
		return false;
	}
	*result = (int32) code;
	return true;
}

/* Code of a text value; false sets the column's problem. */
static inline bool
text_code(GcStaged *col, Datum datum, int32 *result)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	struct varlena *plain = value;
	int64		code;

	if (GC_IS_TOASTED(value))
	{
		/* Do not fetch what would be refused anyway. */
		if (toast_raw_datum_size(datum) > GC_DICT_MAX_LENGTH + VARHDRSZ)
		{
			set_problem(col, GC_COL_VALUE_TOO_LONG);
			return false;
		}
		plain = pg_detoast_datum_packed(value);
	}
	if (VARSIZE_ANY_EXHDR(plain) > GC_DICT_MAX_LENGTH)
	{
		set_problem(col, GC_COL_VALUE_TOO_LONG);
		return false;
	}
	code = gc_dict_intern(col->dict, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
	if (plain != value)
		pfree(plain);
	return put_code(col, code, result);
}

/* Stage a value of fixed size. */
static inline bool
fixed_code(GcStaged *col, Datum datum, int32 *result)
{
	GcValueBytes b;

	gc_datum_bytes(col->spec.kind, datum, &b);
	return put_code(col, gc_dict_intern(col->dict, b.bytes, b.len), result);
}

static inline i128
staged(const GcStaged *col, uint32 row)
{
	switch (col->width)
	{
		case sizeof(int32):
			return ((const int32 *) col->stage)[row];
		case sizeof(int64):
			return ((const int64 *) col->stage)[row];
		default:
			return ((const int128 *) col->stage)[row];
	}
}

/* All rows get 128 bits each. */
static void
widen_stage(GcEncoder *encoder, GcStaged *col)
{
	const int64 *narrow = col->stage;
	int128	   *wide = resize(encoder, NULL, (Size) encoder->capacity * sizeof(int128));

	for (uint32 i = 0; i < encoder->capacity; i++)
		wide[i] = narrow[i];
	pfree(col->stage);
	col->stage = wide;
	col->width = sizeof(int128);
}

/* Stage a number; the first one of more than 64 bits widens all that were staged. */
static inline void
stage_number(GcEncoder *encoder, GcStaged *col, uint32 row, i128 value)
{
	if (unlikely(col->width == sizeof(int64) && (value < PG_INT64_MIN || value > PG_INT64_MAX)))
		widen_stage(encoder, col);
	if (likely(col->width == sizeof(int64)))
		((int64 *) col->stage)[row] = (int64) value;
	else
		((int128 *) col->stage)[row] = value;
}

/* Tags a value, of which the column takes note; false if it is too large for that. */
static inline bool
tag_value(GcStaged *col, int16 dscale, i128 *value)
{
	GcSpan		one = {*value, *value, dscale, dscale};

	if (!gc_span_rescale(&one, dscale) || !gc_span_join(&col->span, one))
		return false;
	*value = GC_TAGGED(*value, dscale);
	return true;
}

/* The first n staged values, of one scale, become tagged ones; false if one is too large. */
static bool
tag_staged(GcEncoder *encoder, GcStaged *col, uint32 n)
{
	const int16 dscale = col->span.dscale;

	col->tagged = true;
	col->span = GC_NO_SPAN;
	for (uint32 i = 0; i < n; i++)
	{
		i128		value = staged(col, i);

		if (col->nulls && col->nulls[i >> 3] >> (i & 7) & 1)
			continue;
		if (!tag_value(col, dscale, &value))
			return false;
		stage_number(encoder, col, i, value);
	}
	return true;
}

/* A value of another scale than those so far, which are n rows, or one of several; false sets the problem. */
static bool
numeric_of_scale(GcEncoder *encoder, GcStaged *col, uint32 n, int16 dscale, i128 *value)
{
	if (col->span.dscale < 0 && !col->tagged)
	{
		col->span.dscale = col->span.min_dscale = dscale;
		return true;
	}
	if ((col->tagged || tag_staged(encoder, col, n)) && tag_value(col, dscale, value))
		return true;
	set_problem(col, GC_COL_NUMERIC_SCALE);
	return false;
}

/* Stage a numeric as row n; false sets the problem. */
static inline bool
stage_numeric(GcEncoder *encoder, GcStaged *col, uint32 n, Datum datum)
{
	int64		small;
	i128		value;
	int16		dscale;

	if (likely(gc_numeric_to_int64(datum, &small, &dscale)))
		value = small;
	else if (!gc_numeric_to_int128(datum, &value, &dscale))
	{
		set_problem(col, gc_numeric_is_finite(datum) ? GC_COL_NUMERIC_DIGITS : GC_COL_NUMERIC_SPECIAL);
		return false;
	}
	if (unlikely(dscale != col->span.dscale || col->tagged) && !numeric_of_scale(encoder, col, n, dscale, &value))
		return false;
	stage_number(encoder, col, n, value);
	return true;
}

/* Stage a value of another type not all of whose values have an integer. */
static bool
partial_raw(GcStaged *col, Datum datum, int64 *result)
{
	int16		dscale;

	if (gc_datum_to_raw(col->spec.kind, datum, result, &dscale))
		return true;
	set_problem(col, col->spec.kind == GC_INTERVAL ? GC_COL_INTERVAL_FORM : GC_COL_ZONE_RANGE);
	return false;
}

/* One loop per form; isnull may be NULL, the value of a NULL is 0. */
#define ADD_LOOP(type, expression) \
	do { \
		type	   *out = (type *) col->stage + at; \
		for (uint32 i = 0; i < n; i++) \
		{ \
			Datum		value pg_attribute_unused() = values[i]; \
			out[i] = (isnull && isnull[i]) ? 0 : (type) (expression); \
		} \
	} while (0)

/* Stage n values of a column, by the form of its kind. */
static void
add_column(GcEncoder *encoder, GcStaged *col, uint32 at, uint32 n, const Datum *values, const bool *isnull)
{
	bool		fixed;

	switch (gc_kinds[col->spec.kind].form)
	{
		case GC_FORM_BOOL:
			ADD_LOOP(int32, DatumGetBool(value));
			break;
		case GC_FORM_INT16:
			ADD_LOOP(int32, DatumGetInt16(value));
			break;
		case GC_FORM_INT32:
		case GC_FORM_BITS32:
			ADD_LOOP(int32, DatumGetInt32(value));
			break;
		case GC_FORM_INT64:
			ADD_LOOP(int64, DatumGetInt64(value));
			break;
		case GC_FORM_UINT8:
			ADD_LOOP(int32, (uint8) DatumGetChar(value));
			break;
		case GC_FORM_UINT32:
			ADD_LOOP(int64, DatumGetObjectId(value));
			break;
		case GC_FORM_NUMERIC:
			for (uint32 i = 0; i < n; i++)
			{
				if (isnull && isnull[i])
					stage_number(encoder, col, at + i, 0);
				else if (!stage_numeric(encoder, col, at + i, values[i]))
					return;
			}
			break;
		case GC_FORM_INTERVAL:
		case GC_FORM_ORDINAL:
			for (uint32 i = 0; i < n; i++)
			{
				int64		raw = 0;

				if (!(isnull && isnull[i]) && !partial_raw(col, values[i], &raw))
					return;
				((int64 *) col->stage)[at + i] = raw;
			}
			break;
		case GC_FORM_CODE:
			fixed = col->spec.kind == GC_UUID || col->spec.kind == GC_ENUM || col->spec.kind == GC_NAME;
			for (uint32 i = 0; i < n; i++)
			{
				int32		code = 0;

				if (!(isnull && isnull[i]) &&
					!(fixed ? fixed_code : text_code) (col, values[i], &code))
					return;
				((int32 *) col->stage)[at + i] = code;
			}
			break;
		default:
			/* gc_col_spec() and the planner (gc_type_kind) give no other kind. */
			elog(ERROR, "unexpected kind of column: %d", (int) col->spec.kind);
	}
}

/* The column, with room for the rows that were reserved; NULL if it has met a problem. */
static inline GcStaged *
open_column(GcEncoder *encoder, int i)
{
	GcStaged   *col = &encoder->cols[i];

	if (col->problem)
		return NULL;
	if (col->stage == NULL)
		col->stage = resize(encoder, NULL, (Size) encoder->capacity * col->width);
	return col;
}

void
gc_encoder_add_rows(GcEncoder *encoder, uint32 n, Datum *const *values,
					bool *const *isnull)
{
	reserve(encoder, n);
	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = open_column(encoder, i);
		const bool *nulls = isnull[i];

		if (col == NULL)
			continue;
		if (nulls && memchr(nulls, true, n) != NULL)
			add_nulls(encoder, col, n, nulls);
		else
			nulls = NULL;
		add_column(encoder, col, encoder->nrows, n, values[i], nulls);
	}
	encoder->nrows += n;
}

void
gc_encoder_add(GcEncoder *encoder, const Datum *values, const bool *isnull)
{
	reserve(encoder, 1);
	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = open_column(encoder, i);

		if (col == NULL)
			continue;
		if (isnull[i])
			add_nulls(encoder, col, 1, &isnull[i]);
		add_column(encoder, col, encoder->nrows, 1, &values[i], &isnull[i]);
	}
	encoder->nrows++;
}

void
gc_encoder_add_nulls(GcEncoder *encoder, uint32 n)
{
	const Datum values[MaxHeapTuplesPerPage] = {0};
	bool		isnull[MaxHeapTuplesPerPage];

	Assert(n <= MaxHeapTuplesPerPage);
	memset(isnull, true, n);
	reserve(encoder, n);
	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = open_column(encoder, i);

		if (col == NULL)
			continue;
		add_nulls(encoder, col, n, isnull);
		add_column(encoder, col, encoder->nrows, n, values, isnull);
	}
	encoder->nrows += n;
}

/* Rows first .. first + n - 1 of a cell as staged values: codes at their width, and the base. */
#define UNPACK_LOOP(from, to) \
	do { \
		const from *v = (const from *) cell->desc.data + first; \
		to		   *out = (to *) col->stage + at; \
		for (uint32 i = 0; i < n; i++) \
			out[i] = (to) (int64) ((uint64) v[i] + base); \
	} while (0)

#define UNPACK_WIDTHS(to) \
	switch (cell->desc.width) \
	{ \
		case 1: \
			UNPACK_LOOP(uint8, to); \
			break; \
		case 2: \
			UNPACK_LOOP(uint16, to); \
			break; \
		case 4: \
			UNPACK_LOOP(uint32, to); \
			break; \
		default: \
			UNPACK_LOOP(uint64, to); \
	}

/* Rows of a cell of numerics were staged behind `at` others: both are to be tagged, or to have one scale. */
static void
add_cell_scales(GcEncoder *encoder, GcStaged *col, uint32 at, uint32 n, const GcChunkColumn *cell)
{
	const bool	tagged = cell->desc.scale == GC_SCALE_TAGGED;
	bool		fits = true;

	if (!tagged && !col->tagged && (col->span.dscale < 0 || col->span.dscale == cell->span.dscale))
	{
		col->span.dscale = col->span.min_dscale = cell->span.dscale;
		return;
	}
	if (!col->tagged)
		fits = tag_staged(encoder, col, at);
	for (uint32 i = at; i < at + n && fits; i++)
	{
		const i128	value = staged(col, i);
		i128		digits = tagged ? GC_TAG_DIGITS(value) : value;

		if (col->nulls && col->nulls[i >> 3] >> (i & 7) & 1)
			continue;
		fits = tag_value(col, tagged ? GC_TAG_SCALE(value) : cell->span.dscale, &digits);
		if (fits)
			stage_number(encoder, col, i, digits);
	}
	if (!fits)
		set_problem(col, GC_COL_NUMERIC_SCALE);
}

static void
add_cell(GcEncoder *encoder, GcStaged *col, uint32 n, const GcChunkColumn *cell, uint32 first)
{
	const uint32 at = encoder->nrows;
	const uint64 base = cell->desc.base;

	if (cell->desc.width == sizeof(int128) && col->width < sizeof(int128))
		widen_stage(encoder, col);
	if (cell->desc.width == sizeof(int128))
		memcpy((int128 *) col->stage + at, (const int128 *) cell->desc.data + first, n * sizeof(int128));
	else if (col->width == 4)
		UNPACK_WIDTHS(uint32)
	else if (col->width == 8)
		UNPACK_WIDTHS(uint64)
	else
		UNPACK_WIDTHS(int128)

	for (uint32 i = 0; cell->null_bytes > 0 && i < n; i++)
	{
		const uint8 *nulls = (const uint8 *) cell->desc.nulls;

		if (!((nulls[(first + i) >> 3] >> ((first + i) & 7)) & 1))
			continue;
		if (col->nulls == NULL)
			col->nulls = MemoryContextAllocZero(encoder->context, encoder->capacity / 8);
		col->nulls[(at + i) >> 3] |= 1 << ((at + i) & 7);
		col->nnulls++;
		memset((char *) col->stage + (Size) (at + i) * col->width, 0, col->width);
	}
	if (cell->span.dscale >= 0)
		add_cell_scales(encoder, col, at, n, cell);
}

void
gc_encoder_add_cells(GcEncoder *encoder, uint32 n, const GcChunkColumn *const *cells, uint32 first)
{
	reserve(encoder, n);
	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = encoder->cols[i].whole ? NULL : open_column(encoder, i);

		if (col)
			add_cell(encoder, col, n, cells[i], first);
	}
	encoder->nrows += n;
}

void
gc_encoder_take_cells(GcEncoder *encoder, uint32 n, const GcChunkColumn *const *cells)
{
	Assert(encoder->nrows == 0);
	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = &encoder->cols[i];

		if (col->problem == GC_COL_OK && cells[i]->desc.width >= col->min_width)
			col->whole = cells[i];
	}
	gc_encoder_add_cells(encoder, n, cells, 0);
}

void
gc_encoder_remap(GcEncoder *encoder, int col, uint32 first, const uint32 *remap)
{
	GcStaged   *staged = &encoder->cols[col];
	uint32	   *codes = staged->stage;

	if (staged->problem || remap == NULL || codes == NULL)
		return;

	/* The code of a NULL is 0, which may be below first or not. */
	for (uint32 i = 0; i < encoder->nrows; i++)
	{
		if (codes[i] >= first)
			codes[i] = remap[codes[i] - first];
	}
}

bool
gc_encoder_value(const GcEncoder *encoder, int i, uint32 row, i128 *value)
{
	const GcStaged *col = &encoder->cols[i];

	Assert(row < encoder->nrows && col->whole == NULL);
	if (col->nulls && col->nulls[row >> 3] >> (row & 7) & 1)
		return false;
	*value = staged(col, row);
	return true;
}

/*-------------------------------------------------------------------------
 * Columns out
 *-------------------------------------------------------------------------
 */

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
find_range(const GcStaged *col, uint32 nrows, int128 *minp, int128 *maxp)
{
	int128		min = ~((int128) 1 << 127);
	int128		max = (int128) 1 << 127;

	if (col->width == sizeof(int128))
		RANGE_LOOP(int128, col->nnulls == 0 || !row_is_null(col, i));
	else if (col->width == 4 && col->nnulls == 0)
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

/* Bytes of codes from 0 to range. */
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

/* Base, width and NULLs by the values that were staged; or the problem that they have. */
static void
choose_encoding(const GcStaged *col, uint32 nrows, GcEncodedColumn *out)
{
	Size		padded = TYPEALIGN64(GC_PAD_ROWS, (uint64) nrows);
	int128		min = 1;
	int128		max = 0;

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
			out->width = min < PG_INT64_MIN || max > PG_INT64_MAX ? sizeof(int128) : width_for((uint64) max - (uint64) min);
		}
	}
	if (!col->tagged)
	{
		out->span.min = min;
		out->span.max = max;
	}
	if (GC_KIND_IS_FLOAT(col->spec.kind))
		out->width = col->width;
	else if (out->width == sizeof(int128))
	{
		/* Code 0 is a value, and has to lie in the range. */
		out->span.min = Min(out->span.min, 0);
		out->span.max = Max(out->span.max, 0);
	}
	else
	{
		out->width = Max(out->width, Min(col->min_width, sizeof(int64)));

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
 * Tags are for several scales: where a column has one, its values are read as they are.  Tagged rows have one scale
 * where they were copied from a cell without those of other scales.
 */
static void
drop_tags(GcEncoder *encoder, GcStaged *col, uint32 nrows)
{
	if (!col->tagged || col->problem || col->span.dscale > col->span.min_dscale)
		return;
	for (uint32 i = 0; i < nrows; i++)
		stage_number(encoder, col, i, GC_TAG_DIGITS(staged(col, i)));
	col->tagged = false;
}

static void
take_encoding(const GcChunkColumn *cell, GcEncodedColumn *out)
{
	*out = (GcEncodedColumn) {.has_nulls = cell->null_bytes > 0,.width = cell->desc.width,.scale = cell->desc.scale,
		.base = cell->desc.base,.span = cell->span,.data_bytes = cell->data_bytes,.null_bytes = cell->null_bytes};
}

const GcEncodedColumn *
gc_encoder_finish(GcEncoder *encoder)
{
	for (int i = 0; i < encoder->ncols; i++)
	{
		GcStaged   *col = &encoder->cols[i];

		if (col->whole && col->problem == GC_COL_OK)
			take_encoding(col->whole, &encoder->out[i]);
		else
		{
			drop_tags(encoder, col, encoder->nrows);
			choose_encoding(col, encoder->nrows, &encoder->out[i]);
		}
		col->out = encoder->out[i];
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
	if (col->whole)
	{
		memcpy(data, (const void *) (uintptr_t) col->whole->desc.data, col->whole->data_bytes);
		if (col->whole->null_bytes > 0)
			memcpy(nulls, (const void *) (uintptr_t) col->whole->desc.nulls, col->whole->null_bytes);
		return;
	}
	if (nrows > 0)
	{
		if (col->out.width == sizeof(int128))
			memcpy(data, col->stage, used);
		else if (col->width == 4)
			PACK_WIDTHS(int32)
		else if (col->width == sizeof(int128))
			PACK_WIDTHS(int128)
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
