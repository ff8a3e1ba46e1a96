/*-------------------------------------------------------------------------
 *
 * fused_table.h
 *	  For fused_util.h: a table in device memory, with a chunk of every size that could matter (CHUNK_ROWS) and a
 *	  column of every width, with and without NULLs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_TABLE_H
#define GC_FUSED_TABLE_H

#include "device_util.h"
#include "draw.h"
#include "program_util.h"

#ifndef NCHUNKS
#define NCHUNKS			9
#define CHUNK_SIZES		{1, 31, 32, 33, 0, 16383, 16384, 16385, 40000}
#endif
#define TILES			3		/* of the largest chunk */
#define ROWS_CAP		20000	/* of a row sink */
#define HASH_GROUPS		8192
#define HASH_SLOTS		32768
#define BUILD_SLOTS		1024	/* of a hash build */
#define BUILD_CAP		400
#define DIM_ROWS		3000
#define DIM_RANGE		5000	/* keys of the dense build: 2 .. 5001 */
#define POISON			16		/* an address that nobody may read from */

static const u32 CHUNK_ROWS[NCHUNKS] = CHUNK_SIZES;

/* Physical columns of the table; numbers with gaps, as a request may have them. */
enum
{
	C_KEY = 3, C_SMALL = 4, C_NULL = 10, C_BIG = 11, C_VARY = 12, C_FLOAT = 50,
	C_NUM = 51, C_GROUP = 199, C_DKEY = 120, C_DVAL, C_HKEY, C_HVAL,
	C_WIDE = 60, C_SHIFT, C_GAPS
};

typedef struct TableColumn
{
	i16			number;
	u8			kind;
	u8			width;			/* 0: differs between chunks */
	bool		nullable;
	i64			lo;
	i64			hi;
	i16			scale;
	GcCol		cols[NCHUNKS];
	GcAddr		array;			/* those, on the device */
	i64		   *value[NCHUNKS];
	u8		   *null[NCHUNKS];
} TableColumn;

/*
 * A build's input has two each of C_DKEY to C_HVAL, the others are the table's.  C_SHIFT
 * has other values in every chunk, C_GAPS none at all in some.
 */
static TableColumn table[] = {
	{C_KEY, GC_INT4, 4, false, 0, 5999, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_SMALL, GC_INT4, 1, false, 0, 49, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_NULL, GC_INT4, 2, true, -300, 300, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_BIG, GC_INT8, 8, false, -1000000000000, 1000000000000, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_VARY, GC_INT4, 0, false, 0, 1000000, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_FLOAT, GC_FLOAT8, 8, false, -100, 100, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_NUM, GC_NUMERIC, 4, true, -5000000, 5000000, 2, {{0}}, 0, {NULL}, {NULL}},
	{C_GROUP, GC_INT4, 1, true, 0, 9, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_DKEY, GC_INT4, 2, false, 2, 5001, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_DVAL, GC_INT4, 1, true, 0, 6, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_HKEY, GC_INT4, 1, false, 0, 79, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_HVAL, GC_INT4, 2, false, 0, 999, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_WIDE, GC_INT8, 8, true, 5000000000, 5000000900, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_SHIFT, GC_INT4, 0, false, -70000, 70000, 0, {{0}}, 0, {NULL}, {NULL}},
	{C_GAPS, GC_INT4, 2, true, 1000, 3000, 0, {{0}}, 0, {NULL}, {NULL}},
};

#define NTABLE	((int) (sizeof(table) / sizeof(table[0])))

/* ---------- device memory: never given back, but what is behind a mark ---------- */

static GcAddr top;
static GcStream *stream;

static GcAddr
take(u64 size)
{
	GcAddr		addr = top;

	top += (size + 255) & ~(u64) 255;
	if (top > pool_base + pool_size)
		tap_bail("the device's pool is too small for this test");
	return addr;
}

static void
must(GcCode code)
{
	if (code != GC_OK)
		tap_bail("a device call failed");
}

static GcAddr
put(const void *data, u64 size)
{
	GcAddr		addr = take(size);

	must(ops->copy_in(stream, addr, data, size, NULL));
	must(finish(stream, NULL));
	return addr;
}

/* ---------- the table ---------- */

static u64
padded(u32 rows)
{
	return ((u64) rows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * GC_PAD_ROWS;
}

/* One chunk of one column, with these values (floats: of them) and NULLs. */
static GcCol
put_chunk(const TableColumn *c, u32 rows, u32 width, const i64 *value, const u8 *null)
{
	GcCol		col = {.width = width,.nrows = rows,.base = rows > 0 ? INT64_MAX : 0};
	unsigned char *codes = calloc(padded(rows) + 1, width);
	unsigned char *bits = calloc(padded(rows) + 8, 1);
	bool		any = false;

	for (u32 r = 0; r < rows; r++)
		col.base = !null[r] && value[r] < col.base ? value[r] : col.base;
	if (col.base == INT64_MAX)
		col.base = 0;			/* as columns/encode/encode.c does */
	for (u32 r = 0; r < rows; r++)
	{
		u64			code = (u64) (value[r] - col.base);
		double		f = (double) value[r];

		if (c->kind == GC_FLOAT8)
			memcpy(&code, &f, 8);
		if (null[r])
		{
			bits[r >> 3] |= 1 << (r & 7);
			any = true;
		}
		else
			memcpy(codes + (u64) r * width, &code, width);
	}
	col.data = put(codes, padded(rows) * width + 1);
	if (any)
		col.nulls = put(bits, padded(rows) / 8 + 8);
	free(codes);
	free(bits);
	return col;
}

static bool
of_build(const TableColumn *c)
{
	return c->number >= C_DKEY && c->number <= C_HVAL;
}

/* Values and NULLs of the column's chunk number k. */
static void
make_values(TableColumn *c, int k, u32 rows, u32 width)
{
	i64			lo = c->number == C_SHIFT ? c->lo + k * 2000 : c->lo;
	i64			hi = c->width == 0 && width < 4 && lo + (1ll << 8 * width) <= c->hi ? lo + (1ll << 8 * width) - 1 : c->hi;

	c->value[k] = calloc(rows + 1, sizeof(i64));
	c->null[k] = calloc(rows + 1, 1);
	for (u32 r = 0; r < rows; r++)
	{
		i64			v = lo + (i64) (((u64) draw(1u << 31) << 31 | draw(1u << 31)) % (u64) (hi - lo + 1));

		/* the dense build's keys are unique: 2, 3, 5, 6, 8 ... in another order */
		if (c->number == C_DKEY)
			v = 2 + (i64) ((u64) r * 1009 % DIM_ROWS) * 5 / 3;
		c->null[k][r] = c->nullable && (draw(5) == 0 || (c->number == C_GAPS && k % 3 == 0));
		c->value[k][r] = c->null[k][r] ? c->lo : v;
	}
}

static void __attribute__((unused))
make_column(TableColumn *c)
{
	for (int k = 0; k < NCHUNKS; k++)
	{
		u32			rows = of_build(c) ? (k > 0 ? 0 : c->number <= C_DVAL ? DIM_ROWS : 300) : CHUNK_ROWS[k];
		u32			width = c->width ? c->width : 1 << k % 3;

		make_values(c, k, rows, width);
		c->cols[k] = put_chunk(c, rows, width, c->value[k], c->null[k]);
	}
	c->array = put(c->cols, sizeof(c->cols));
}

static void __attribute__((unused))
free_columns(void)
{
	for (int i = 0; i < NTABLE; i++)
	{
		for (int k = 0; k < NCHUNKS; k++)
		{
			free(table[i].value[k]);
			free(table[i].null[k]);
		}
	}
}

static const TableColumn *
find_column(i16 number)
{
	for (int i = 0; i < NTABLE; i++)
	{
		if (table[i].number == number)
			return &table[i];
	}
	tap_bail("no such column");
}

/* Add a column of the table to a program; `any`: as one whose width is not known. */
static u16 __attribute__((unused))
read_column(Maker *m, i16 number, bool any)
{
	const TableColumn *c = find_column(number);
	const GcFact fact = {.range = {c->lo, c->hi},.nullable = c->nullable,.scale = c->scale,
	.width = any && c->kind != GC_FLOAT8 ? 0 : c->width};

	return maker_read(m, maker_column(m, number, c->kind, &fact));
}

/* The bitmap of the rows that are visible, one byte each. */
static GcAddr __attribute__((unused))
put_visible_rows(const u8 *visible, u32 rows)
{
	u8		   *bits = calloc(padded(rows) / 8 + 8, 1);
	GcAddr		addr;

	for (u32 r = 0; r < rows; r++)
		bits[r >> 3] |= visible[r] << (r & 7);
	addr = put(bits, padded(rows) / 8 + 8);
	free(bits);
	return addr;
}

#endif							/* GC_FUSED_TABLE_H */
