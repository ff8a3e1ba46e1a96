/*-------------------------------------------------------------------------
 *
 * key_groups_util.h
 *	  For key_groups_test.c and key_groups_scan_test.c: tables that say something of a column's values, and the
 *	  launches that refine classes by what they say.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CLASSES_UTIL_H
#define GC_CLASSES_UTIL_H

#include "selection_scan.h"

#include "../../src/codegen/key_groups.h"

#define GUARD			64		/* bytes behind what a kernel may write */
#define MAX_DIM_CHUNKS	32

static Loaded refiner;
static Loaded writer;

static u64
whole_vectors(u32 rows)
{
	return ((u64) rows + 15) / 16 * 16;
}

/* Is all of this as take_garbage left it? */
static bool __attribute__((unused))
is_garbage(GcAddr addr, u64 size)
{
	u8		   *bytes = malloc(size + 1);
	u64			n = 0;

	must(ops->copy_out(stream, bytes, addr, size, NULL));
	must(finish(stream, NULL));
	while (n < size && bytes[n] == GARBAGE)
		n++;
	free(bytes);
	return n == size;
}

/* A copy of device memory; the caller frees it. */
static void *
copy_of(GcAddr addr, u64 size)
{
	void	   *copy = malloc(size + 1);

	must(ops->copy_out(stream, copy, addr, size, NULL));
	must(finish(stream, NULL));
	return copy;
}

/* ---------- a table that says something of values ---------- */

/*
 * An attribute of a key: least + step * (one of count numbers), or NULL for one in
 * `nulls` keys (0: for none).  count 0: least + step * (key - base), another of every key.
 */
typedef struct Attribute
{
	i64			least;
	i64			step;
	u32			count;
	u32			nulls;
} Attribute;

typedef struct Dimension
{
	i64			base;			/* of the keys */
	u64			range;
	Attribute	attribute[2];
	const u16  *table;			/* if not NULL, it has attribute 0 of each key */
	u32			nchunks;
	u32			rows[MAX_DIM_CHUNKS];
	GcCol		key[MAX_DIM_CHUNKS];
	GcCol		cols[2][MAX_DIM_CHUNKS];
	/* by entry: 0 (no such key), 1 (NULL), or attribute - least + 2; NO_NULL_KEY for NULL */
	u32		   *wanted[3];
} Dimension;

#define EXISTENCE		2		/* in the place of an attribute: is there such a key? */
#define NO_NULL_KEY		UINT32_MAX

static bool
attribute_of(const Dimension *d, int a, i64 key, i64 *value)
{
	const Attribute *at = &d->attribute[a];
	const u64	mixed = ((u64) key + a * 77) * 0x9E3779B97F4A7C15ull >> 33;

	if (a == 0 && d->table)
		*value = d->table[key - d->base];
	else
		*value = at->least + at->step * (at->count ? (i64) (mixed % at->count) : key - d->base);
	return at->nulls == 0 || mixed / 64 % at->nulls != 0;
}

/* The smallest width, or a larger one, that these values' codes have. */
static u32
width_for(const i64 *value, const u8 *null, u32 rows, u32 least)
{
	i64			lo = INT64_MAX;
	i64			hi = INT64_MIN;

	for (u32 r = 0; r < rows; r++)
	{
		lo = !null[r] && value[r] < lo ? value[r] : lo;
		hi = !null[r] && value[r] > hi ? value[r] : hi;
	}
	while (least < 8 && lo <= hi && (u64) (hi - lo) >> 8 * least != 0)
		least *= 2;
	return least;
}

/* One more chunk with these keys; the attributes' columns have widths of their own. */
static void
add_chunk(Dimension *d, u32 rows, const i64 *key, const u8 *null, u32 width)
{
	const u32	k = d->nchunks++;
	const TableColumn c = {.kind = GC_INT8};
	i64		   *value = calloc(rows + 1, sizeof(i64));
	u8		   *none = calloc(rows + 1, 1);

	d->rows[k] = rows;
	d->key[k] = put_chunk(&c, rows, width_for(key, null, rows, width), key, null);
	for (int a = 0; a < 2; a++)
	{
		for (u32 r = 0; r < rows; r++)
		{
			const u64	i = (u64) (key[r] - d->base);

			none[r] = !attribute_of(d, a, key[r], &value[r]);
			if (null[r] || i >= d->range)
				continue;
			d->wanted[a][i] = none[r] ? 1 : (u32) (value[r] - d->attribute[a].least) + 2;
			d->wanted[EXISTENCE][i] = 1;
		}
		d->cols[a][k] = put_chunk(&c, rows, width_for(value, none, rows, 1 << (k + a) % 4), value, none);
	}
	free(value);
	free(none);
}

static void
begin_dimension(Dimension *d, i64 base, u64 range)
{
	d->base = base;
	d->range = range;
	d->nchunks = 0;
	for (int a = 0; a < 3; a++)
	{
		d->wanted[a] = calloc(range + 1, sizeof(u32));
		d->wanted[a][range] = NO_NULL_KEY;
	}
}

static void
free_dimension(Dimension *d)
{
	for (int a = 0; a < 3; a++)
		free(d->wanted[a]);
}

/* Each key of the range once, in another order. */
static void
add_all_keys(Dimension *d, u32 rows_of_chunk)
{
	i64		   *key = calloc(rows_of_chunk, sizeof(i64));
	u8		   *null = calloc(rows_of_chunk, 1);
	u64			done = 0;

	while (done < d->range)
	{
		u32			n = 0;

		for (; n < rows_of_chunk && done < d->range; n++, done++)
			key[n] = d->base + (i64) (d->range - 1 - done);
		add_chunk(d, n, key, null, 1);
	}
	free(key);
	free(null);
}

/*
 * Chunks with keys from a part of the range that their width allows, many of them twice;
 * NULL is one in nine, and one in nine is out of the range, next to it or far away.
 */
static void __attribute__((unused))
add_awkward_chunks(Dimension *d)
{
	for (int k = 0; k < NCHUNKS; k++)
	{
		const u32	rows = CHUNK_ROWS[k];
		const u32	width = 1 << k % 4;
		const u32	span = width == 1 && d->range > 200 ? 200 : (u32) d->range;
		const i64	lo = d->base + draw((u32) d->range - span + 1);
		i64		   *key = calloc(rows + 1, sizeof(i64));
		u8		   *null = calloc(rows + 1, 1);

		for (u32 r = 0; r < rows; r++)
		{
			/* no key at all in some */
			null[r] = draw(9) == 0 || k % 8 == 7;
			key[r] = lo + draw(span) / 3 * 3;
			if (width > 1 && draw(9) == 0)
				key[r] = draw(2) ? d->base + (i64) d->range + draw(5) : d->base - 1 - draw(5);
			if (width == 8 && draw(50) == 0)
				key[r] = d->base + (draw(2) ? 1ll << 40 : -(1ll << 32)) + draw(50);
		}
		add_chunk(d, rows, key, null, width);
		free(key);
		free(null);
	}
}

/* ---------- the refinement kernel ---------- */

/* Where a refinement kernel's launches work. */
typedef struct Refining
{
	GcAddr		old;			/* u16[range + 1] */
	GcAddr		of;
	GcAddr		slots;
	GcAddr		ids;
	GcAddr		count;
	GcAddr		key_groups;		/* u16[range + 1], and GUARD bytes */
	GcAddr		members;		/* u32[GC_MAX_KEY_GROUPS], and GUARD bytes */
} Refining;

static void
launch_refiner(GcArgs *args, int step, GcLaunch shape)
{
	args->w[0] = step;
	must(ops->launch(stream, refiner.kernel, &shape, args, GC_REFINER_WORDS, NULL));
	must(finish(stream, NULL));
}

static void
fill_words(GcArgs *args, const Refining *r, const Dimension *d, int a)
{
	memset(args, 0, sizeof(*args));
	args->w[0] = GC_REFINE_READ;
	args->w[1] = put(d->key, d->nchunks * sizeof(GcCol) + 1);
	if (a != EXISTENCE)
	{
		args->w[2] = put(d->cols[a], d->nchunks * sizeof(GcCol) + 1);
		args->w[3] = (u64) d->attribute[a].least;
	}
	args->w[4] = r->of;
	args->w[5] = r->old;
	args->w[6] = r->slots;
	args->w[7] = r->ids;
	args->w[8] = r->count;
	args->w[9] = r->key_groups;
	args->w[10] = r->members;
	args->w[11] = (u64) d->base;
	args->w[12] = d->range;
}

/* Refine old classes by an attribute, or by EXISTENCE, in launches of this shape. */
static Refining
refine(GcAddr old, const Dimension *d, int a, GcLaunch shape)
{
	Refining	r = {.old = old};
	GcSource	sources[MAX_DIM_CHUNKS + 1];
	GcArgs		args;

	r.of = take((d->range + 1) * 4 + GUARD);
	r.slots = take(GC_KEY_GROUP_SLOTS * 8 + GUARD);
	r.ids = take_garbage(GC_KEY_GROUP_SLOTS * 4 + GUARD);
	r.count = take(16 + GUARD);
	r.key_groups = take_garbage((d->range + 1) * 2 + GUARD);
	r.members = take_garbage(GC_MAX_KEY_GROUPS * 4 + GUARD);
	must(ops->fill(stream, r.of, GARBAGE, (d->range + 1) * 4 + GUARD, NULL));
	must(ops->fill(stream, r.of, 0, (d->range + 1) * 4, NULL));
	must(ops->fill(stream, r.slots, 0xFF, GC_KEY_GROUP_SLOTS * 8 + GUARD, NULL));
	must(ops->fill(stream, r.count, GARBAGE, 16 + GUARD, NULL));
	must(ops->fill(stream, r.count, 0, 16, NULL));
	fill_words(&args, &r, d, a);
	for (u32 c = 0; c < d->nchunks; c++)
		sources[c] = (GcSource) {0, c, d->rows[c]};
	launch_scan(&refiner, &args, GC_REFINER_WORDS, sources, d->nchunks, 0, shape.threads, shape.blocks);
	launch_refiner(&args, GC_REFINE_FIND, shape);
	launch_refiner(&args, GC_REFINE_ASSIGN, shape);
	return r;
}

static GcAddr
no_classes(u64 range)
{
	GcAddr		old = take((range + 1) * 2);

	must(ops->fill(stream, old, 0, (range + 1) * 2, NULL));
	return old;
}

static const GcLaunch shapes[] = {{1, 1, 0, 0}, {7, 128, 0, 0}, {64, 256, 0, 0}};

/* ---------- what should come of it ---------- */

/* An entry's pair of old class and attribute, and the entry. */
typedef struct Pair
{
	u64			pair;
	u64			entry;
} Pair;

static int
compare_pairs(const void *a, const void *b)
{
	const Pair *x = a;
	const Pair *y = b;

	return x->pair != y->pair ? (x->pair > y->pair) - (x->pair < y->pair) : (x->entry > y->entry) - (x->entry < y->entry);
}

/* All entries' pairs, sorted; *distinct: how many there are. */
static __attribute__((unused)) Pair *
make_pairs(const u16 *old, const u32 *attribute, u64 range, u64 *distinct)
{
	Pair	   *pair = malloc((range + 1) * sizeof(Pair));

	for (u64 i = 0; i <= range; i++)
		pair[i] = (Pair) {(u64) old[i] << 32 | attribute[i], i};
	qsort(pair, range + 1, sizeof(Pair), compare_pairs);
	*distinct = 1;
	for (u64 i = 1; i <= range; i++)
		*distinct += pair[i].pair != pair[i - 1].pair;
	return pair;
}

#endif							/* GC_CLASSES_UTIL_H */
