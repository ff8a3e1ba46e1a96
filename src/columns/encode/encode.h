/*-------------------------------------------------------------------------
 *
 * encode.h
 *	  Rows in, encoded columns out: used by loaders for chunks, by backends for
 *	  the delta and for row sources.
 *
 * An encoder takes values one row at a time, and keeps them as raw values (see gc_datum_to_raw()).  Numerics have 128
 * bits where they need them.  At the end it packs each column at the narrowest of 1, 2, 4, 8 bytes that holds max -
 * min, or at 16.  All memory is the caller's context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ENCODE_H
#define GC_ENCODE_H

#include "../store/columns.h"
#include "../store/dict.h"
#include "../store/numeric.h"

typedef struct GcEncoder GcEncoder;

typedef struct GcEncodedColumn
{
	uint8		problem;		/* GcColProblem; the rest is void unless OK */
	bool		has_nulls;
	uint8		width;
	int16		scale;			/* as GcCol's */
	int64		base;
	GcSpan		span;
	Size		data_bytes;		/* padded */
	Size		null_bytes;		/* padded, 0 without NULLs */
} GcEncodedColumn;

/* More rows than this, and some, are an error. */
#define GC_ENCODER_MAX_ROWS		(PG_INT32_MAX - (1 << 20))

/*
 * dicts[i]: view for a text column, NULL otherwise.  min_widths (may be NULL):
 * pack column i at least this wide, so that private chunks match the cache.
 */
extern GcEncoder *gc_encoder_create(int ncols, const GcColSpec *specs,
									GcDictView **dicts, const uint8 *min_widths);

/* Pack column i at least this wide from now on. */
extern void gc_encoder_least_width(GcEncoder *encoder, int i, uint8 width);

/*
 * Append one row; values[i], isnull[i] belong to specs[i].  Detoasts as needed.
 * A value that a column cannot take sets that column's problem and is no error.
 */
extern void gc_encoder_add(GcEncoder *encoder, const Datum *values, const bool *isnull);

/*
 * Append n rows, column by column: values[i][row], isnull[i][row].  isnull[i]
 * may be NULL: no NULLs among these rows.  A column that has met a problem is
 * not looked at.
 */
extern void gc_encoder_add_rows(GcEncoder *encoder, uint32 n,
								Datum *const *values, bool *const *isnull);

/*
 * Append n rows of a chunk, from row `first` on: cells[i] belongs to specs[i].  Text
 * columns must have a view of the dictionary that the cells' codes are of.
 */
extern void gc_encoder_add_cells(GcEncoder *encoder, uint32 n, const GcChunkColumn *const *cells,
								 uint32 first);

/*
 * All rows are the n of these cells, which live until columns are written.  Columns that are not texts stay packed as
 * they are, unless that is too narrow.
 */
extern void gc_encoder_take_cells(GcEncoder *encoder, uint32 n, const GcChunkColumn *const *cells);

/* Append n rows of NULLs. */
extern void gc_encoder_add_nulls(GcEncoder *encoder, uint32 n);

/* The columns as given to gc_encoder_create, and the problem of one. */
extern int	gc_encoder_columns(const GcEncoder *encoder, const GcColSpec **specs);
extern GcColProblem gc_encoder_problem(const GcEncoder *encoder, int col);

/* Encode this column no more, if problem is one. */
extern void gc_encoder_give_up(GcEncoder *encoder, int col, GcColProblem problem);

/* Forget all rows, to begin anew with these dictionaries. */
extern void gc_encoder_reset(GcEncoder *encoder, GcDictView **dicts);

extern uint32 gc_encoder_rows(const GcEncoder *encoder);

/* Local memory that the rows take, without their dictionaries. */
extern Size gc_encoder_memory(const GcEncoder *encoder);

/* Text columns: replace code c >= first by remap[c - first]. */
extern void gc_encoder_remap(GcEncoder *encoder, int col, uint32 first, const uint32 *remap);

/* Decide encodings; call once, after the last row. */
extern const GcEncodedColumn *gc_encoder_finish(GcEncoder *encoder);

/* Raw value of a row, after gc_encoder_finish(); tagged if GcEncodedColumn says so.  False if it is NULL. */
extern bool gc_encoder_value(const GcEncoder *encoder, int col, uint32 row, i128 *value);

/* Write column i: data_bytes at data, null_bytes at nulls (if any). */
extern void gc_encoder_write(const GcEncoder *encoder, int col, void *data, void *nulls);

#endif							/* GC_ENCODE_H */
