/*-------------------------------------------------------------------------
 *
 * key_groups_test.c [host|cuda]
 *	  Classes of values: refinement kernel, class writer, and selection scans that read group-coded columns.
 *
 * The refinement kernel and the class writer are compared with what is computed here, entry by
 * entry and row by row, from columns with every width, NULLs, keys out of the range and
 * chunks of awkward sizes.  Selection scans are those of selection_test.c: whatever classes the
 * values have, good or bad, the marks must be right.  Where all of a class are accepted
 * by the same requests, values are at an address that cannot be read; where they are
 * not, the group-coded columns contain nothing but wrong classes.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too.
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

/* What came of refining; returns the number of classes, 0 if they are too many. */
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

static Loaded writer;

/* A column of the writer's tests: its values are lo .. lo + range - 1. */
typedef struct Source
{
	const char *name;
	u32			width;			/* 0: differs between chunks */
	bool		nullable;
	i64			lo;
	u64			range;
} Source;

static u64
whole_vectors(u32 rows)
{
	return ((u64) rows + 15) / 16 * 16;
}

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

/* ---------- scans with classes ---------- */

/* Bit i of accept[k][v]: request i accepts value v, or NULL, of tested column k. */
static u16 *accept[NTESTED];

static void
find_accepting(void)
{
	Scan		scan;

	begin_scan(&scan, 0xffff, ALL_CHUNKS, 0);
	run_predicate_kernels(&scan);
	for (int k = 0; k < NTESTED; k++)
	{
		const u64	range = range_of(find_column(tested[k]));

		accept[k] = calloc(range + 1, sizeof(u16));
		for (int i = 0; i < NREQUESTS; i++)
		{
			const GcAddr addr = bits_of(&members[i], tested[k]);
			u32		   *bits = addr ? copy_of(addr, (range / 32 + 1) * 4) : NULL;

			for (u64 v = 0; v <= range && bits; v++)
				accept[k][v] |= (bits[v / 32] >> (v % 32) & 1) << i;
			free(bits);
		}
	}
}

/*
 * Classes of a column: values that the same requests out of `by` accept, and that are
 * equal modulo `split`.
 */
typedef struct ClassCase
{
	u8			width;			/* that the selection kernel is made for; 0: no classes */
	bool		absent;			/* it is, but there is no group-coded column */
	bool		moved;			/* a value (NULL, if it can be) is in another's class */
	bool		refined;		/* made by the device: refinement kernel and class writer */
	u16			by;
	u16			split;
	u32			chunks;			/* that have the group-coded column */
} ClassCase;

typedef struct ScanCase
{
	const char *name;
	int			nshared;
	bool		exact;
	ClassCase	column[2];		/* of tested columns with even and odd numbers */
} ScanCase;

/* A column's classes, on this side. */
typedef struct Classes
{
	u32			count;
	u16		   *of;
	u32		   *members;		/* UINT32_MAX: an empty class */
	bool		mismatch;			/* as far as the scan's requests go */
} Classes;

static void
make_classes(Classes *cl, const ClassCase *cc, int k)
{
	const u64	range = range_of(find_column(tested[k]));
	const u64	moved = find_column(tested[k])->nullable ? range : range / 2;
	i32		   *id = malloc(65536 * cc->split * sizeof(i32));

	memset(id, -1, 65536 * cc->split * sizeof(i32));
	cl->of = malloc((range + 1) * sizeof(u16));
	for (u64 i = 0; i <= range; i++)
	{
		i32		   *of = &id[(accept[k][i] & cc->by) * cc->split + i % cc->split];

		if (*of < 0)
			*of = (i32) cl->count++;
		cl->of[i] = (u16) *of;
	}
	free(id);
	for (u64 i = 0; i <= range && cc->moved; i++)
	{
		if (accept[k][i] == accept[k][moved])
			continue;
		cl->of[moved] = cl->of[i];
		break;
	}
	cl->members = malloc(cl->count * sizeof(u32));
	memset(cl->members, 0xFF, cl->count * sizeof(u32));
	for (u64 i = 0; i <= range; i++)
	{
		/* any of its values may be named */
		if (cl->members[cl->of[i]] == UINT32_MAX || draw(8) == 0)
			cl->members[cl->of[i]] = (u32) i;
	}
}

/* The same by the refinement kernel, from a table that says of each value who accepts it. */
static GcAddr
refine_classes(Classes *cl, const ClassCase *cc, int k)
{
	const TableColumn *c = find_column(tested[k]);
	const u64	range = range_of(c);
	u16		   *by = malloc((range + 1) * sizeof(u16));
	Dimension	d = {.attribute = {{0, 1, 1, 0}, {0, 1, 1, 0}},.table = by};
	Refining	r;
	u64		   *count;

	for (u64 i = 0; i <= range; i++)
		by[i] = accept[k][i] & cc->by;
	begin_dimension(&d, c->lo, range);
	add_all_keys(&d, 40000);
	r = refine(no_classes(range), &d, 0, shapes[1]);
	count = copy_of(r.count, 16);
	if (count[1] != 0 || count[0] > GC_MAX_KEY_GROUPS)
		tap_bail("a case with too many key groups");
	cl->count = (u32) count[0];
	cl->of = copy_of(r.key_groups, (range + 1) * sizeof(u16));
	cl->members = copy_of(r.members, cl->count * sizeof(u32));
	free_dimension(&d);
	free(count);
	free(by);
	return r.key_groups;
}

static bool
is_misfit(const Classes *cl, int k, u32 who)
{
	const u64	range = range_of(find_column(tested[k]));

	for (u64 i = 0; i <= range; i++)
	{
		if ((accept[k][i] ^ accept[k][cl->members[cl->of[i]]]) & (who | who >> 16))
			return true;
	}
	return false;
}

static bool
is_read(const Scan *scan, int k, u32 chunk)
{
	const u32	readers = readers_of(scan, tested[k]);

	for (int b = 0; b < GC_MAX_SELECTED; b++)
	{
		if (readers >> b & 1 && reads(scan, b, chunk))
			return true;
	}
	return false;
}

/* Classes of one chunk's rows, or where these cannot be used, any. */
static GcAddr
put_codes(const Classes *cl, const ClassCase *cc, int k, u32 chunk)
{
	const TableColumn *c = find_column(tested[k]);
	const u64	size = whole_vectors(CHUNK_ROWS[chunk]) * cc->width;
	u8		   *codes = calloc(size + 1, 1);
	GcAddr		addr;

	for (u32 r = 0; r < CHUNK_ROWS[chunk]; r++)
	{
		const Row	row = {chunk, r};
		u16			id = cl->of[null_of(row, tested[k]) ? range_of(c) : (u64) (value_of(row, tested[k]) - c->lo)];

		if (cl->mismatch)
			id = (u16) draw(cl->count);
		memcpy(codes + r * cc->width, &id, cc->width);
	}
	addr = put(codes, size + 1);
	free(codes);
	return addr;
}

/* The group-coded column by the class writer. */
static void
write_column(const GcCol *to, const ClassCase *cc, int k, GcAddr key_groups)
{
	const TableColumn *c = find_column(tested[k]);
	GcSource	sources[NCHUNKS + 1];
	GcArgs		args = {.w = {0}};
	u32			n = 0;

	for (u32 i = 0; i < NCHUNKS; i++)
	{
		if (cc->chunks >> i & 1)
			sources[n++] = (GcSource) {0, i, CHUNK_ROWS[i]};
	}
	args.w[0] = c->array;
	args.w[1] = put(to, NCHUNKS * sizeof(GcCol));
	args.w[2] = (u64) c->lo;
	args.w[3] = range_of(c);
	args.w[4] = key_groups;
	launch_scan(&writer, &args, GC_KEY_GROUP_WRITER_WORDS, sources, n, 0, 256, k);
}

/*
 * The group-coded column's chunks: some have none, and those that nobody reads are at an
 * address that cannot be read.
 */
static GcAddr
put_class_column(const Scan *scan, const Classes *cl, const ClassCase *cc, int k, GcAddr refined)
{
	GcCol		cols[NCHUNKS];

	for (u32 c = 0; c < NCHUNKS; c++)
	{
		cols[c] = (GcCol) {0, POISON, 12345, 8, CHUNK_ROWS[c]};
		if (!(cc->chunks >> c & 1))
			continue;
		cols[c].width = cc->width;
		cols[c].data = refined && !cl->mismatch ? take_garbage(padded(CHUNK_ROWS[c]) * cc->width) : put_codes(cl, cc, k, c);
	}
	if (refined && !cl->mismatch)
		write_column(cols, cc, k, refined);
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		if (!is_read(scan, k, c))
			cols[c] = (GcCol) {POISON, POISON, 12345, 8, CHUNK_ROWS[c]};
	}
	return put(cols, sizeof(cols));
}

/* Classes of column k for a scan; those that fit are all that can be read. */
static void
add_column_classes(Scan *scan, Classes *cl, const ClassCase *cc, int k, u32 who)
{
	ScanClasses *sc = &scan->key_groups[k];
	GcAddr		refined = 0;

	memset(cl, 0, sizeof(*cl));
	if (cc->width == 0 || cc->absent)
		return;
	if (cc->refined)
		refined = refine_classes(cl, cc, k);
	else
		make_classes(cl, cc, k);
	if (cl->count > (cc->width == 1 ? 256 : GC_MAX_KEY_GROUPS))
		tap_bail("a case with too many key groups");
	cl->mismatch = is_misfit(cl, k, who);
	sc->count = cl->count;
	sc->of = refined ? refined : put(cl->of, (range_of(find_column(tested[k])) + 1) * sizeof(u16));
	sc->members = put(cl->members, cl->count * sizeof(u32));
	sc->cols = put_class_column(scan, cl, cc, k, refined);
	sc->unread = cl->mismatch ? 0 : cc->chunks;
}

/* A mask of requests as one of the scan's numbers. */
static u32
by_number(u16 mask, u32 who, int shift)
{
	u32			numbers = 0;

	for (int i = 0; i < GC_MAX_SELECTED; i++)
		numbers |= (u32) (mask >> i % NREQUESTS & who >> i & 1) << (i + shift) % GC_MAX_SELECTED;
	return numbers;
}

/* Entries of what the merge kernel wrote for column k that are wrong. */
static u64
check_combined(const Scan *scan, const Classes *cl, int k, u32 who, int shift)
{
	const u64	range = range_of(find_column(tested[k]));
	const ScanClasses *sc = &scan->key_groups[k];
	u32		   *by_value = copy_of(scan->tables[k], (range + 1) * sizeof(u32));
	u32		   *by_class = cl->count ? copy_of(sc->table, cl->count * sizeof(u32)) : NULL;
	u64			wrong = 0;

	for (u64 i = 0; i <= range; i++)
		wrong += by_value[i] != by_number(accept[k][i], who, shift);
	for (u32 c = 0; c < cl->count; c++)
	{
		if (cl->members[c] != UINT32_MAX)
			wrong += by_class[c] != by_number(accept[k][cl->members[c]], who, shift);
	}
	if (cl->count)
		wrong += (read_word(stream, sc->mismatch) != 0) != cl->mismatch;
	if (wrong)
		tap_note("column %d: %llu entries are wrong, mismatch should be %d", tested[k], wrong, cl->mismatch);
	free(by_value);
	free(by_class);
	return wrong;
}

/* One scan for the requests in `who`, with these classes: how many of its columns mismatch? */
static int
check_scan(const ScanCase *sc, const Marker *mk, u32 who, u32 chunks, int shift, u32 turn)
{
	const GcAddr begin = top;
	Classes		key_groups[NTESTED];
	u64			wrong = 0;
	int			mismatches = 0;
	Scan		scan;

	begin_scan(&scan, who, chunks, shift);
	for (int k = 0; k < NTESTED; k++)
	{
		add_column_classes(&scan, &key_groups[k], &sc->column[k % 2], k, who);
		mismatches += key_groups[k].mismatch;
	}
	run_predicate_kernels(&scan);
	run_merge_kernel(&scan);
	for (int k = 0; k < NTESTED; k++)
	{
		wrong += check_combined(&scan, &key_groups[k], k, who, shift);
		free(key_groups[k].of);
		free(key_groups[k].members);
	}
	run_selector(mk, &scan, turn);
	ok(wrong == 0 && check_scan_selection(&scan) == 0, "%s, requests 0x%x, %d mismatches: tables and selection bitmaps are right",
	   sc->name, who, mismatches);
	top = begin;
	return mismatches;
}

static void
make_selector(Marker *mk, const ScanCase *sc)
{
	describe_selector(mk, sc->nshared, sc->exact);
	for (int k = 0; k < NTESTED; k++)
	{
		mk->column[k].key_group_width = sc->column[k % 2].width;
		mk->column[k].shared = mk->column[k].shared || mk->column[k].key_group_width;
	}
}

#define FITS(w, s)		{.width = w,.by = 0xffff,.split = s,.chunks = ALL_CHUNKS}
#define MOVED(w, s)		{.width = w,.by = 0xffff,.split = s,.chunks = ALL_CHUNKS,.moved = true}
#define REFINED(w)		{.width = w,.by = 0xffff,.split = 1,.chunks = ALL_CHUNKS,.refined = true}
#define ONE_CLASS(w)	{.width = w,.split = 1,.chunks = ALL_CHUNKS}
#define SOME_FIT(w, b)	{.width = w,.by = b,.split = 1,.chunks = ALL_CHUNKS}
#define IN_CHUNKS(w, c)	{.width = w,.by = 0xffff,.split = 3,.chunks = c}
#define ABSENT(w)		{.width = w,.absent = true}
#define NO_CLASSES		{.width = 0}

static const ScanCase scan_cases[] = {
	{"all fit", NSHARED, true, {FITS(1, 1), FITS(1, 1)}},
	{"all fit, many", 0, true, {FITS(2, 29), FITS(2, 31)}},
	{"all fit, few and many", 3, false, {FITS(1, 3), FITS(2, 100)}},
	{"one class", NSHARED, true, {ONE_CLASS(1), ONE_CLASS(1)}},
	{"one class, or fit", 0, true, {ONE_CLASS(2), FITS(1, 1)}},
	{"fit, or one class", 0, false, {FITS(2, 7), ONE_CLASS(1)}},
	{"one value mismatches", NSHARED, true, {MOVED(1, 1), MOVED(1, 1)}},
	{"one value mismatches, or fit", 2, true, {MOVED(2, 29), FITS(2, 1)}},
	{"only some chunks have key groups", NSHARED, true, {IN_CHUNKS(1, 0x0a5b3), IN_CHUNKS(2, 0x15a4c)}},
	{"no chunk has, or all do", 0, false, {IN_CHUNKS(2, 0), IN_CHUNKS(1, ALL_CHUNKS)}},
	{"no group-coded columns", NSHARED, true, {ABSENT(1), ABSENT(2)}},
	{"no group-coded column, or fit", 3, false, {ABSENT(1), FITS(2, 1)}},
	{"without key groups, or fit", NSHARED, true, {NO_CLASSES, FITS(1, 2)}},
	{"fit, or without key groups", 1, false, {FITS(2, 1), NO_CLASSES}},
	{"fit for some requests", NSHARED, true, {SOME_FIT(1, 0x0f0f), SOME_FIT(2, 0xf0f0)}},
	{"refined", NSHARED, true, {REFINED(1), REFINED(2)}}
};

#define NSCAN_CASES		((int) (sizeof(scan_cases) / sizeof(scan_cases[0])))

/* The first case with the same selection kernel as case n. */
static int
first_alike(int n)
{
	const ScanCase *sc = &scan_cases[n];
	int			i = 0;

	while (scan_cases[i].nshared != sc->nshared || scan_cases[i].exact != sc->exact ||
		   scan_cases[i].column[0].width != sc->column[0].width ||
		   scan_cases[i].column[1].width != sc->column[1].width)
		i++;
	return i;
}

static void
test_scans(void)
{
	static Marker markers[NSCAN_CASES];
	int			mismatches[NSCAN_CASES] = {0};
	int			i = 0;

	find_accepting();
	for (int n = 0; n < NSCAN_CASES; n++)
	{
		const ScanCase *sc = &scan_cases[n];
		Marker	   *mk = &markers[first_alike(n)];

		if (first_alike(n) == n)
		{
			make_selector(mk, sc);
			load_selector(mk);
		}
		mismatches[n] += check_scan(sc, mk, UINT32_MAX, ALL_CHUNKS, 0, n);
		mismatches[n] += check_scan(sc, mk, UINT32_MAX, draw(ALL_CHUNKS), 5, n + 1);
		mismatches[n] += check_scan(sc, mk, 0xf00f0f0f, ALL_CHUNKS, 15, n);
		for (int j = 0; j < 2; j++)
			mismatches[n] += check_scan(sc, mk, 1u << i++ % NREQUESTS, ALL_CHUNKS, n * 3 % 32, n + j);
		mismatches[n] += check_scan(sc, mk, 1u << i % NREQUESTS | 1u << (i + 7) % NREQUESTS, ALL_CHUNKS, 3, n);
	}
	for (int n = 0; n < NSCAN_CASES; n++)
	{
		if (first_alike(n) == n)
			unload(&markers[n].kernel);
	}
	is(mismatches[0] + mismatches[1] + mismatches[2] + mismatches[15], 0, "key groups by who accepts them always fit");
	ok(mismatches[3] > NTESTED && mismatches[4] > 0 && mismatches[5] > 0, "one class of all values does not");
	ok(mismatches[6] > NTESTED && mismatches[7] > 0, "nor does one with a wrong value");
	for (int k = 0; k < NTESTED; k++)
		free(accept[k]);
}

/* ---------- texts ---------- */

static void
test_nvrtc(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);
	char	   *text;
	Marker		mk;

	if (nvrtc == NULL)
	{
		tap_skip("%s", err.detail);
		return;
	}
	for (int arch = 80; arch <= 90; arch += 10)
	{
		text = gc_generate_refiner();
		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "the refiner");
		free(text);
		text = gc_generate_key_group_writer();
		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "the class writer");
		free(text);
		text = gc_generate_merge_kernel();
		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "the merge_kernel");
		free(text);
		for (int n = 0; n < NSCAN_CASES; n += 7)
		{
			make_selector(&mk, &scan_cases[n]);
			text = gc_generate_selector(mk.column, NTESTED);
			compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "a selection kernel with key groups");
			free(text);
		}
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
	make_all();
	test_scans();
	test_nvrtc();
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
