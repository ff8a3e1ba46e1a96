/*-------------------------------------------------------------------------
 *
 * key_groups_test.c [host|cuda]
 *	  Classes of values: refinement kernel and class writer.
 *
 * Both are compared with values computed here, entry by entry and row by row.  Columns have every width, NULLs, keys
 * out of the range and chunks of awkward sizes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "key_groups_util.h"

/* ---------- the refinement kernel ---------- */

/* One class per pair, with ids below n, and a member that is in it. */
static void
check_partition(const Pair *pair, const u16 *key_groups, const u32 *in, u64 range, u64 n)
{
	u8		   *seen = calloc(GC_MAX_KEY_GROUPS, 1);
	u64			torn = 0;
	u64			merged = 0;
	u64			out = 0;
	u64			bad = 0;

	for (u64 i = 0; i <= range; i++)
	{
		const u16	id = key_groups[pair[i].entry];

		out += id >= n;
		if (i > 0 && pair[i].pair == pair[i - 1].pair)
			torn += id != key_groups[pair[i - 1].entry];
		else if (id < n)
			merged += seen[id]++ > 0;
	}
	for (u64 id = 0; id < n; id++)
	{
		out += !seen[id];
		bad += in[id] > range || key_groups[in[id]] != id;
	}
	is(out, 0, "key groups are 0 to n - 1, without gaps");
	is(torn, 0, "values with the same class and attribute before are in one class");
	is(merged, 0, "and no others");
	is(bad, 0, "a member of each class is known");
	free(seen);
}

/* Compare the outcome of refining; returns the number of classes, 0 if they are too many. */
static u64
check_refined(const Refining *r, const Dimension *d, int a, const char *what)
{
	const u64	size = d->range + 1;
	u16		   *old = copy_of(r->old, size * 2);
	u16		   *key_groups = copy_of(r->key_groups, size * 2);
	u32		   *in = copy_of(r->members, GC_MAX_KEY_GROUPS * 4);
	u64		   *count = copy_of(r->count, 16);
	u64			n;
	Pair	   *pair = make_pairs(old, d->wanted[a], d->range, &n);
	const bool	fits = n <= GC_MAX_KEY_GROUPS;

	ok((count[1] == 0) == fits, "%s, %llu pairs: it is known if they are too many", what, n);
	if (fits && is(count[0], n, "the number of key groups"))
		check_partition(pair, key_groups, in, d->range, n);
	if (!fits)
		ok(is_garbage(r->key_groups, size * 2) && is_garbage(r->members, GC_MAX_KEY_GROUPS * 4), "nothing is written");
	ok(is_garbage(r->key_groups + size * 2, GUARD) &&
	   is_garbage(r->members + (fits ? n : GC_MAX_KEY_GROUPS) * 4, GUARD) &&
	   is_garbage(r->of + size * 4, GUARD) && is_garbage(r->ids + GC_KEY_GROUP_SLOTS * 4, GUARD) &&
	   is_garbage(r->count + 16, GUARD), "nor anything behind");
	free(old);
	free(key_groups);
	free(in);
	free(count);
	free(pair);
	return fits ? n : 0;
}

/* By one attribute, then by another, each of some width. */
static void
test_refiner(void)
{
	static const struct
	{
		const char *name;
		i64			base;
		u64			range;
		Attribute	attribute[2];
	}			cases[] = {
		{"bytes", -5000, 30000, {{-7, 1, 25, 7}, {1000, 2, 100, 0}}},
		{"one of two bytes", 5000000000, 30000, {{-30000, 600, 30, 0}, {0, 1, 2, 3}}},
		{"four bytes", 0, 12345, {{-2000000000, 1000000, 40, 20}, {7, 2000000, 90, 11}}},
		{"large numbers", 1, 30000, {{-9000000000000, 1, 9, 0}, {8000000000000000, 2147483646, 2, 5}}},
		{"two values", 17, 2, {{5, 1, 2, 0}, {5, 1, 0, 0}}},
		{"none", 17, 1, {{5, 1, 1, 1}, {5, 1, 1, 0}}}
	};

	for (int i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
	{
		const GcAddr begin = top;
		Dimension	d = {.attribute = {cases[i].attribute[0], cases[i].attribute[1]}};
		u64			first,
					second;
		Refining	r;

		begin_dimension(&d, cases[i].base, cases[i].range);
		add_awkward_chunks(&d);
		r = refine(no_classes(d.range), &d, 0, shapes[i % 3]);
		first = check_refined(&r, &d, 0, cases[i].name);
		r = refine(r.key_groups, &d, 1, shapes[(i + 1) % 3]);
		second = check_refined(&r, &d, 1, cases[i].name);
		ok(second >= first, "a second attribute splits key groups");
		r = refine(r.key_groups, &d, EXISTENCE, shapes[(i + 2) % 3]);
		is(check_refined(&r, &d, EXISTENCE, cases[i].name), second, "a key's attribute says that there is one");
		r = refine(no_classes(d.range), &d, EXISTENCE, shapes[i % 3]);
		ok(check_refined(&r, &d, EXISTENCE, cases[i].name) <= 3, "there is a row, or none, or NULL");
		r = refine(r.key_groups, &d, 1, shapes[(i + 1) % 3]);
		check_refined(&r, &d, 1, cases[i].name);
		free_dimension(&d);
		top = begin;
	}
}

/* With the entry for NULL there is a pair more than there are keys. */
static void
test_limit(void)
{
	static const u64 ranges[] = {GC_MAX_KEY_GROUPS - 2, GC_MAX_KEY_GROUPS - 1, GC_MAX_KEY_GROUPS, GC_MAX_KEY_GROUPS + 1,
	GC_KEY_GROUP_SLOTS - 1, GC_KEY_GROUP_SLOTS, 200000};

	for (int i = 0; i < (int) (sizeof(ranges) / sizeof(ranges[0])); i++)
	{
		for (int s = 0; s < 3; s++)
		{
			const GcAddr begin = top;
			Dimension	d = {.attribute = {{100, 3, 0, 0}, {0, 1, 1, 0}}};
			Refining	r;

			begin_dimension(&d, -77, ranges[i]);
			add_all_keys(&d, 40000);
			r = refine(no_classes(d.range), &d, 0, shapes[s]);
			is(check_refined(&r, &d, 0, "all keys differ"), ranges[i] < GC_MAX_KEY_GROUPS ? ranges[i] + 1 : 0, "key groups");
			if (s == 1 && ranges[i] == GC_MAX_KEY_GROUPS - 1)
			{
				r = refine(r.key_groups, &d, 1, shapes[s]);
				is(check_refined(&r, &d, 1, "the same again"), GC_MAX_KEY_GROUPS, "the most that there may be stay as they are");
			}
			free_dimension(&d);
			top = begin;
		}
	}
}

/* As many as there may be, and one more, each met again after all have been found. */
static void
test_full(void)
{
	for (u32 n = GC_MAX_KEY_GROUPS; n <= GC_MAX_KEY_GROUPS + 1; n++)
	{
		/* one is that of NULL */
		const u32	range = 3 * (n - 1);
		u16		   *attribute = malloc(range * sizeof(u16));

		for (u32 i = 0; i < range; i++)
			attribute[i] = (u16) (i % (n - 1));
		for (int s = 0; s < 3; s++)
		{
			const GcAddr begin = top;
			Dimension	d = {.attribute = {{0, 1, 1, 0}, {0, 1, 1, 0}},.table = attribute};
			Refining	r;

			begin_dimension(&d, 5, range);
			add_all_keys(&d, 5000);
			r = refine(no_classes(range), &d, 0, shapes[s]);
			is(check_refined(&r, &d, 0, "each three times"), n <= GC_MAX_KEY_GROUPS ? n : 0, "key groups");
			free_dimension(&d);
			top = begin;
		}
		free(attribute);
	}
}

/* ---------- the class writer ---------- */

/* A column of the writer's tests: its values are lo .. lo + range - 1. */
typedef struct Source
{
	const char *name;
	u32			width;			/* 0: differs between chunks */
	bool		nullable;
	i64			lo;
	u64			range;
} Source;

/* Values of one chunk; there are none at all in some. */
static void
draw_values(const Source *s, int k, u32 width, i64 *value, u8 *null)
{
	const u64	span = width == 1 && s->range > 256 ? 256 : width == 2 && s->range > 65536 ? 65536 : s->range;
	const i64	lo = s->lo + (i64) ((s->range - span) * (u64) (k % 3) / 2);

	for (u32 r = 0; r < CHUNK_ROWS[k]; r++)
	{
		null[r] = s->nullable && (k % 6 == 1 || (draw(4) == 0 && k % 6 != 2));
		value[r] = lo + (i64) (draw(20) == 0 ? (u64) draw(2) * (span - 1) : draw((u32) span));
	}
}

/* The chunk's rows whose classes are wrong; behind them, nothing may be written. */
static u64
check_written(const Source *s, const GcCol *to, const i64 *value, const u8 *null, const u16 *key_groups)
{
	const u64	size = whole_vectors(to->nrows) * to->width;
	u8		   *codes = copy_of(to->data, size);
	u64			wrong = !is_garbage(to->data + size, GUARD);

	for (u32 r = 0; r < to->nrows; r++)
	{
		const u32	got = to->width == 1 ? codes[r] : codes[2 * r] | codes[2 * r + 1] << 8;

		wrong += got != key_groups[null[r] ? s->range : (u64) (value[r] - s->lo)];
	}
	/* a selection kernel reads on to the end of its vector: that, too, must be a class */
	for (u32 r = to->nrows; r < whole_vectors(to->nrows); r++)
	{
		const u32	got = to->width == 1 ? codes[r] : codes[2 * r] | codes[2 * r + 1] << 8;
		bool		known = false;

		for (u64 i = 0; i <= s->range && !known; i++)
			known = got == key_groups[i];
		wrong += !known;
	}
	free(codes);
	return wrong;
}

/*
 * key_group_width 0: differs between chunks.  Chunks that are not in `chunks` are not to be
 * written: some are not in the scan, others have no place.
 */
static void
write_key_groups(const Source *s, u32 key_group_width, u32 chunks, u32 turn)
{
	const GcAddr begin = top;
	const TableColumn c = {.kind = GC_INT8};
	u16		   *key_groups = malloc((s->range + 1) * sizeof(u16));
	i64		   *value[NCHUNKS];
	u8		   *null[NCHUNKS];
	GcCol		from[NCHUNKS];
	GcCol		to[NCHUNKS];
	GcCol		there[NCHUNKS];
	GcSource	sources[NCHUNKS + 1];
	GcArgs		args = {.w = {0}};
	u64			wrong = 0;
	u32			n = 0;

	for (u64 i = 0; i <= s->range; i++)
		key_groups[i] = draw(key_group_width == 2 ? GC_MAX_KEY_GROUPS : 256);
	for (u32 k = 0; k < NCHUNKS; k++)
	{
		const u32	width = s->width ? s->width : 1u << k % 4;

		value[k] = calloc(CHUNK_ROWS[k] + 1, sizeof(i64));
		null[k] = calloc(CHUNK_ROWS[k] + 1, 1);
		draw_values(s, k, width, value[k], null[k]);
		from[k] = put_chunk(&c, CHUNK_ROWS[k], width, value[k], null[k]);
		to[k] = (GcCol) {.width = key_group_width ? key_group_width : 1 + k % 2,.nrows = CHUNK_ROWS[k]};
		to[k].data = take_garbage(whole_vectors(CHUNK_ROWS[k]) * to[k].width + GUARD);
		there[k] = to[k];
		if (!(chunks >> k & 1))
			there[k].data = 0;
		if (chunks >> k & 1 || k % 2)
			sources[n++] = (GcSource) {0, k, CHUNK_ROWS[k]};
	}
	args.w[0] = put(from, sizeof(from));
	args.w[1] = put(there, sizeof(there));
	args.w[2] = (u64) s->lo;
	args.w[3] = s->range;
	args.w[4] = put(key_groups, (s->range + 1) * sizeof(u16));
	launch_scan(&writer, &args, GC_KEY_GROUP_WRITER_WORDS, sources, n, 0, turn % 2 ? 256 : 64, turn);
	for (u32 k = 0; k < NCHUNKS; k++)
	{
		if (chunks >> k & 1)
			wrong += check_written(s, &to[k], value[k], null[k], key_groups);
		else
			wrong += !is_garbage(to[k].data, whole_vectors(CHUNK_ROWS[k]) * to[k].width + GUARD);
		free(value[k]);
		free(null[k]);
	}
	is(wrong, 0, s->name);
	free(key_groups);
	top = begin;
}

static void
test_writer(void)
{
	static const Source sources[] = {
		{"key groups of bytes", 1, false, -100, 256},
		{"key groups of bytes with NULLs", 1, true, 4000000, 201},
		{"key groups of two bytes", 2, false, 7, 65536},
		{"key groups of two bytes with NULLs", 2, true, -300, 601},
		{"key groups of four bytes", 4, false, -1000000, 1000000},
		{"key groups of four bytes with NULLs", 4, true, 70000, 99999},
		{"key groups of eight bytes", 8, false, 5000000000000, 3000},
		{"key groups of eight bytes with NULLs", 8, true, -5000000000000, 700001},
		{"key groups of all widths", 0, false, 2000000000, 200000},
		{"key groups of all widths with NULLs", 0, true, 3000000000, 200000},
		{"key groups of one value and NULL", 0, true, 9, 1}
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
	{
		for (u32 w = 0; w < 3; w++)
			write_key_groups(&sources[i], w, w == 1 ? draw(ALL_CHUNKS) : ALL_CHUNKS, i + w);
	}
}

int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};
	char	   *text;

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	text = gc_generate_refiner();
	refiner = load_text(text);
	free(text);
	text = gc_generate_key_group_writer();
	writer = load_text(text);
	free(text);
	test_refiner();
	test_limit();
	test_full();
	test_writer();
	stop_device();
	return tap_done();
}
