/*-------------------------------------------------------------------------
 *
 * key_groups_scan_test.c [host|cuda]
 *	  Selection scans that read group-coded columns.
 *
 * They are those of selection_test.c: whatever classes the values have, good or bad, the marks must be right.  Where
 * all of a class are accepted by the same requests, values are at an address that cannot be read.  Where they are not,
 * the group-coded columns contain nothing but wrong classes.
 *
 * Where there is NVRTC, texts for a GPU of these kernels, and of those of key_groups_test.c, are compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "key_groups_util.h"

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

/* Key groups by the refinement kernel, from a table that says of each value who accepts it. */
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
		cols[c] = (GcCol) {0, POISON, 12345, 8, 0, CHUNK_ROWS[c]};
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
			cols[c] = (GcCol) {POISON, POISON, 12345, 8, 0, CHUNK_ROWS[c]};
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
	make_all();
	test_scans();
	test_nvrtc();
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
