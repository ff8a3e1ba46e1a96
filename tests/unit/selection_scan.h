/*-------------------------------------------------------------------------
 *
 * selection_scan.h
 *	  For selection_test.c and key_groups_test.c: selection scans of the sixteen requests.
 *
 * What a scan takes is made once (make_all): per request the predicate kernel and the kernel that
 * visits marks, and the result that its ordinary kernel leaves.  A scan then goes through
 * begin_scan, run_predicate_kernels, run_merge_kernel, run_selector and check_scan_selection; whoever tests
 * classes fills in Scan.classes in between.  Columns of chunks that no reader of the
 * column reads are at an address that cannot be read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MARKS_SCAN_H
#define GC_MARKS_SCAN_H

/* Around what a thread, a warp and a tile take; every third has no value of C_GAPS. */
#define NCHUNKS			17
#define CHUNK_SIZES		{13, 16385, 0, 1, 7, 8, 9, 63, 64, 65, 40000, 2047, 2048, 2049, 16383, 16384, 3}

#include "selection_requests.h"

#include "../../src/device/nvrtc.h"

#define GARBAGE			0xAA

/* Kernels that merge group tables, where there are more groups than cells, and as many. */
#define FEW_CELLS		64
#define MANY_CELLS		512

#define ALL_CHUNKS		((1u << NCHUNKS) - 1)

static Member members[NALL];
static Loaded testers[NALL];
static GcKernelSource tester_source[NALL];
static Loaded selection[NALL];
static GcKernelSource marked_source[NALL];
static GcVariant selection_variant[NALL];
static u64	skipped = 0;			/* parts of chunks of which a request has no marks */
static Loaded merge_kernel;

/* Columns of the selection kernels, smallest first; of the last, tables are too large to share. */
static const i16 tested[] = {C_GROUP, C_SMALL, C_NULL, C_WIDE, C_GAPS, C_KEY, C_SHIFT, C_VARY};
#define NTESTED		((int) (sizeof(tested) / sizeof(tested[0])))
#define NSHARED		6

static u64
range_of(const TableColumn *c)
{
	return (u64) (c->hi - c->lo + 1);
}

static GcAddr
make_valid(u32 rows)
{
	unsigned char *bits = calloc(padded(rows) / 8 + 8, 1);
	GcAddr		addr;

	for (u32 r = 0; r < rows; r++)
		bits[r >> 3] |= (draw(4) > 0) << (r & 7);
	addr = put(bits, padded(rows) / 8 + 8);
	free(bits);
	return addr;
}

/* Sinks and builds, as the executor would lay them out. */
static void
choose_sizes(Member *m, int i)
{
	const GcPPipeline *pl = &gc_pipelines(m->p)[m->pipeline];
	const bool	odd = requests[i].odd;

	m->variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = 256};
	m->ngroups = pl->group_mode == GC_GROUP_HASH ? HASH_GROUPS : pl->group_mode == GC_GROUP_NONE;
	m->rows_cap = pl->sink == GC_SINK_ROWS ? ROWS_CAP : 0;
	if (m->p->nbuilds > 0 && gc_builds(m->p)[0].mode == GC_BUILD_DENSE)
	{
		/* keys up to 5999 are probed: out of a range of 5000, within one of 6000 */
		m->ranges[0] = odd ? 6000 : DIM_RANGE;
		m->variant.shared_builds = odd ? 0 : 1;
	}
	if (pl->group_mode != GC_GROUP_DENSE)
		return;
	m->ngroups = pl->nkeys == 2 ? 50 * 8 : 11;
	m->stride[0] = pl->nkeys == 2 ? 8 : 1;
	m->stride[1] = 1;
	m->variant.group_local = !odd;
	m->variant.group_copies = odd ? 0 : 2;
}

static void
find_tests(Member *m)
{
	bool		allowed[MAKER_MAX];

	for (int c = 0; c < m->p->ncolumns; c++)
		allowed[c] = m->columns[c] >= 0 && m->columns[c] != C_BIG;
	gc_find_predicates(m->p, m->pipeline, allowed, &m->tests);
}

static void
make_kernels(int i)
{
	Member	   *m = &members[i];
	GcError		err = {GC_OK, ""};

	selection_variant[i] = m->variant;
	selection_variant[i].shared_builds = 0;
	selection_variant[i].selection = m->tests.steps;
	selection_variant[i].direct = m->tests.direct;
	if (gc_pipelines(m->p)[m->pipeline].group_mode == GC_GROUP_DENSE && !m->variant.group_local)
		selection_variant[i].group_cells = FEW_CELLS;
	generate_kernel(m, m->pipeline, &selection_variant[i], &marked_source[i], &selection[i]);
	if (gc_generate_predicate_kernel(m->p, m->pipeline, &m->tests, &tester_source[i], &err) != GC_OK)
		tap_bail(err.detail);
	testers[i] = load_text(tester_source[i].text);
	free(tester_source[i].text);
}

static void
make_member(int i)
{
	Member	   *m = &members[i];
	const GcPPipeline *pl;

	requests[i].make(&m->maker, requests[i].odd);
	m->p = maker_finish(&m->maker, 1000000);
	m->pipeline = m->p->npipelines - 1;
	pl = &gc_pipelines(m->p)[m->pipeline];
	for (int c = 0; c < m->maker.head.ncolumns; c++)
		m->columns[c] = m->maker.columns[c].input == pl->input ? m->maker.source[c] : -1;
	choose_sizes(m, i);
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (i % 8 == 0 || (i * 7 + c * 3) % 5 != 0)
			m->chunks |= 1u << c;
		m->valid[c] = (i + c) % 3 == 0 ? make_valid(CHUNK_ROWS[c]) : 0;
	}
	lay_out_sink(m);
	run_builds(m);
	empty_sink(m);
	run_alone(m, m->pipeline, m->sink, m->chunks, false);
	m->wanted = fetch(m);
	find_tests(m);
	for (int q = 0; q < m->tests.ncolumns; q++)
		m->predicate_bits[q] = take(range_of(find_column(m->maker.source[m->tests.column[q]])) / 8 + 8);
	for (int j = 0; j < m->tests.nlookups; j++)
		m->direct_tables[j] = take((range_of(find_column(m->maker.source[m->tests.lookup[j].column])) + 1) * gc_direct_bytes(m->p, m->tests.lookup[j].build));
	make_kernels(i);
}

/* ---------- scans ---------- */

typedef struct Marker
{
	int			n;				/* columns, the first of `tested` */
	int			nshared;
	GcSelectorColumn column[NTESTED];
	Loaded		kernel;
} Marker;

/* Classes of a tested column's values, and its group-coded column; all 0: there are none. */
typedef struct ScanClasses
{
	u32			count;
	GcAddr		of;				/* u16[range + 1] */
	GcAddr		members;		/* u32[count] */
	GcAddr		table;			/* u16[count]: run_merge_kernel makes room for it, */
	GcAddr		mismatch;			/* and for this */
	GcAddr		cols;			/* GcCol[NCHUNKS] of the group-coded column */
	u32			unread;			/* bit c: of chunk c values cannot be read */
} ScanClasses;

/* A scan's members: request who[b] is its number b. */
typedef struct Scan
{
	u32			mask;			/* of the numbers */
	int			who[GC_MAX_SELECTED];
	u32			chunks;
	GcAddr		tables[NTESTED];
	ScanClasses key_groups[NTESTED];
	GcAddr		sel_bitmap;
	u64			per_chunk;
	u64			per_request;
	GcAddr		summary;
} Scan;

/* Words of a block summary, per chunk. */
#define SUMMARY_WORDS	(padded(40000) / GC_SUMMARY_ROWS)

static void __attribute__((unused))
describe_selector(Marker *mk, int nshared, bool exact)
{
	mk->n = NTESTED;
	mk->nshared = nshared;
	for (int k = 0; k < NTESTED; k++)
	{
		const TableColumn *c = find_column(tested[k]);

		mk->column[k] = (GcSelectorColumn) {.width = exact ? c->width : 0,.nullable = c->nullable || !exact,
			.shared = k < nshared,.copies = 32 >> (k + nshared) % 6};
		while (mk->column[k].copies * range_of(c) > 4096 && mk->column[k].copies > 1)
			mk->column[k].copies /= 2;
	}
}

static void __attribute__((unused))
load_selector(Marker *mk)
{
	char	   *text = gc_generate_selector(mk->column, mk->n);

	mk->kernel = load_text(text);
	free(text);
}

static GcAddr
take_garbage(u64 size)
{
	GcAddr		addr = take(size);

	must(ops->fill(stream, addr, GARBAGE, size, NULL));
	return addr;
}

static void
run_plain(const Loaded *k, const GcArgs *args, int nwords)
{
	GcLaunch	shape = {7, 128, 0, 0};

	must(ops->launch(stream, k->kernel, &shape, args, nwords, NULL));
	must(finish(stream, NULL));
}

static void __attribute__((unused))
run_predicate_kernels(const Scan *scan)
{
	for (int b = 0; b < GC_MAX_SELECTED; b++)
	{
		const int	i = scan->who[b];
		const Member *m = &members[i];
		GcArgs		args;

		if (!(scan->mask >> b & 1))
			continue;
		memset(&args, 0, sizeof(args));
		for (int q = 0; q < m->tests.ncolumns; q++)
			must(ops->fill(stream, m->predicate_bits[q], GARBAGE, range_of(find_column(m->maker.source[m->tests.column[q]])) / 8 + 8, NULL));
		for (int j = 0; j < m->tests.nlookups; j++)
			must(ops->fill(stream, m->direct_tables[j], GARBAGE, (range_of(find_column(m->maker.source[m->tests.lookup[j].column])) + 1) * gc_direct_bytes(m->p, m->tests.lookup[j].build), NULL));
		for (int w = 0; w < tester_source[i].nwords; w++)
			args.w[w] = member_word(m, &tester_source[i].words[w]);
		run_plain(&testers[i], &args, tester_source[i].nwords);
	}
}

/* The member's bitmap of this column; 0: it does not test it. */
static GcAddr
bits_of(const Member *m, i16 column)
{
	for (int q = 0; q < m->tests.ncolumns; q++)
	{
		if (m->maker.source[m->tests.column[q]] == column)
			return m->predicate_bits[q];
	}
	return 0;
}

static u32
readers_of(const Scan *scan, i16 column)
{
	u32			readers = 0;

	for (int b = 0; b < GC_MAX_SELECTED; b++)
	{
		if (scan->mask >> b & 1 && bits_of(&members[scan->who[b]], column))
			readers |= 1u << b;
	}
	return readers;
}

/* With room for what the merge kernel says of classes. */
static void
add_classes(GcSelectTable *record, ScanClasses *key_groups)
{
	const u32	zero = 0;

	if (key_groups->of == 0)
		return;
	key_groups->table = take_garbage(GC_SELECT_TABLE_BYTES(key_groups->count));
	key_groups->mismatch = put(&zero, sizeof(zero));
	record->key_groups = key_groups->of;
	record->members = key_groups->members;
	record->key_group_table = key_groups->table;
	record->mismatch = key_groups->mismatch;
}

static void __attribute__((unused))
run_merge_kernel(Scan *scan)
{
	GcSelectTable select[NTESTED];
	GcArgs		args;

	memset(&args, 0, sizeof(args));
	memset(select, 0, sizeof(select));
	for (int k = 0; k < NTESTED; k++)
	{
		const u64	range = range_of(find_column(tested[k]));

		scan->tables[k] = take_garbage(GC_SELECT_TABLE_BYTES(range));
		select[k].table = scan->tables[k];
		select[k].range = range;
		for (int b = 0; b < GC_MAX_SELECTED; b++)
			select[k].bits[b] = scan->mask >> b & 1 ? bits_of(&members[scan->who[b]], tested[k]) : 0;
		add_classes(&select[k], &scan->key_groups[k]);
	}
	args.w[0] = put(select, sizeof(select));
	args.w[1] = NTESTED;
	run_plain(&merge_kernel, &args, GC_MERGE_WORDS);
}

/*
 * Descriptions of a column's chunks; of those that none of its readers reads, or that
 * are in `unread`, bad ones.
 */
static GcAddr
put_cols(i16 column, u32 readers, const u32 *live, u32 unread)
{
	GcCol		cols[NCHUNKS];

	if (readers == 0)
		return 0;
	memcpy(cols, find_column(column)->cols, sizeof(cols));
	for (int c = 0; c < NCHUNKS; c++)
	{
		if (!(live[c] & readers) || unread >> c & 1)
			cols[c] = (GcCol) {POISON, POISON, 0, 8, 0, cols[c].nrows};
	}
	return put(cols, sizeof(cols));
}

static bool
reads(const Scan *scan, int b, u32 chunk)
{
	return scan->mask >> b & 1 && members[scan->who[b]].chunks >> chunk & 1 && scan->chunks >> chunk & 1;
}

static void __attribute__((unused))
run_selector(const Marker *mk, Scan *scan, u32 turn)
{
	GcSource	sources[NCHUNKS + 1];
	u32			live[NCHUNKS] = {0};
	u32			n = 0;
	u64			shared = 0;
	const u64	from = host_ns();
	GcArgs		args;

	memset(&args, 0, sizeof(args));
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (int b = 0; b < GC_MAX_SELECTED; b++)
			live[c] |= (u32) reads(scan, b, c) << b;
		/* members that do not take part may be named, too */
		if (live[c] != 0 || turn % 2)
			sources[n++] = (GcSource) {live[c] | (turn % 2 ? ~scan->mask : 0), c, CHUNK_ROWS[c]};
	}
	scan->per_chunk = padded(40000) / 8;
	scan->per_request = scan->per_chunk * NCHUNKS;
	scan->sel_bitmap = take_garbage(scan->per_request * GC_MAX_SELECTED);
	args.w[0] = scan->mask;
	args.w[1] = scan->sel_bitmap;
	args.w[2] = scan->per_chunk;
	args.w[3] = scan->per_request;
	args.w[4] = scan->summary = take_garbage(NCHUNKS * SUMMARY_WORDS * sizeof(u32));
	for (int k = 0; k < mk->n; k++)
	{
		const TableColumn *c = find_column(tested[k]);
		const ScanClasses *cl = &scan->key_groups[k];
		const u32	readers = readers_of(scan, tested[k]);
		u64		   *w = &args.w[GC_SELECTOR_WORDS(k)];

		w[0] = put_cols(tested[k], readers, live, cl->unread);
		w[1] = scan->tables[k];
		w[2] = (u64) c->lo;
		w[3] = range_of(c);
		w[4] = (u64) readers << 32 | (u32) ~readers;
		w[5] = cl->cols;
		w[6] = cl->cols ? cl->table : POISON;
		w[7] = cl->cols ? cl->count : 0;
		w[8] = cl->cols ? cl->mismatch : POISON;
		if (mk->column[k].key_group_width)
			shared += GC_SELECT_SHARED_BYTES(w[7], gc_table_copies(&mk->column[k]));
		else
			shared += mk->column[k].shared ? GC_SELECT_SHARED_BYTES(range_of(c) + 1, gc_table_copies(&mk->column[k])) : 0;
	}
	selector_flags = args.scan.flags = take(256);
	args.scan.timed = 1;
	must(ops->fill(stream, selector_flags, 0, 256, NULL));
	launch_scan(&mk->kernel, &args, GC_SELECTOR_WORDS(mk->n), sources, n, shared, 256, turn);
	check_times(selector_flags, from, false);
}

/*
 * Where the block summary says that a request has no mark, there are none: marks are then as they were
 * (device host writes them all the same), for kernels do not look there.  False if they are not.
 */
static bool
apply_digest(const Scan *scan, int b, u8 *sel_bitmap, const u32 *summary)
{
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (u32 row = 0; reads(scan, b, c) && row < CHUNK_ROWS[c]; row += GC_SUMMARY_ROWS)
		{
			u8		   *m = sel_bitmap + b * scan->per_request + c * scan->per_chunk + row / 8;

			if (summary[c * SUMMARY_WORDS + row / GC_SUMMARY_ROWS] >> b & 1)
				continue;
			for (u32 i = 0; i < GC_SUMMARY_ROWS / 8 && row + i * 8 < CHUNK_ROWS[c]; i++)
			{
				if (m[i] != (on_host ? 0 : GARBAGE))
					return false;
				m[i] = 0;
			}
			skipped++;
		}
	}
	return true;
}

/* Is what the scan wrote for its number b as it should be?  Else a row that is not. */
static bool
check_marks(const Scan *scan, int b, const u8 *sel_bitmap, Row *wrong)
{
	const Request *rq = &requests[scan->who[b]];

	for (u32 c = 0; c < NCHUNKS; c++)
	{
		const u8   *m = sel_bitmap + b * scan->per_request + c * scan->per_chunk;
		const bool	written = reads(scan, b, c);
		/* behind the last row, as many may have been written as a thread takes at a time */
		const u64	end = written ? (CHUNK_ROWS[c] / 16 + 1) * 2 : 0;

		for (u32 r = 0; written && r < CHUNK_ROWS[c]; r++)
		{
			*wrong = (Row) {c, r};
			if ((m[r >> 3] >> (r & 7) & 1) != rq->passes(*wrong, rq->odd))
				return false;
		}
		for (u64 i = end; i < scan->per_chunk; i++)
		{
			*wrong = (Row) {c, (u32) i * 8};
			if (m[i] != GARBAGE)
				return false;
		}
	}
	return true;
}

/* The request's marks are those of the scan's number b. */
static void
show_marks(Member *m, const Scan *scan, int b)
{
	m->sel_bitmap = scan->sel_bitmap + b * scan->per_request;
	m->sel_bitmap_bytes = scan->per_chunk;
	m->summary = scan->summary;
	m->sel_bitmap_bit = b;
}

/* Each member's own kernel, over its marks: the same result? */
static bool
check_result(const Scan *scan, int b)
{
	const int	i = scan->who[b];
	Member	   *m = &members[i];

	show_marks(m, scan, b);
	empty_sink(m);
	run_kernel(m, m->pipeline, &selection[i], &marked_source[i],
			   gc_shared_bytes(m->p, m->pipeline, &selection_variant[i], m->ranges, m->ngroups), m->sink, m->chunks, false);
	return same_result(m);
}

/* For these requests, each twice; number (i + shift) % 32 is request i % 16, if bit i is in who. */
static void __attribute__((unused))
begin_scan(Scan *scan, u32 who, u32 chunks, int shift)
{
	memset(scan, 0, sizeof(*scan));
	scan->chunks = chunks;
	for (int i = 0; i < GC_MAX_SELECTED; i++)
	{
		scan->who[(i + shift) % GC_MAX_SELECTED] = i % NREQUESTS;
		scan->mask |= (who >> i & 1) << (i + shift) % GC_MAX_SELECTED;
	}
}

/* Has a number before b the same request? */
static bool
is_repeated(const Scan *scan, int b)
{
	for (int i = 0; i < b; i++)
	{
		if (scan->mask >> i & 1 && scan->who[i] == scan->who[b])
			return true;
	}
	return false;
}

/* A copy of the scan's marks, to be freed, as its block summary has them; *wrong: of how many numbers it has not. */
static u8 *
read_marks(const Scan *scan, u32 *wrong)
{
	u8		   *sel_bitmap = malloc(scan->per_request * GC_MAX_SELECTED);
	u32			summary[NCHUNKS * SUMMARY_WORDS];

	must(ops->copy_out(stream, sel_bitmap, scan->sel_bitmap, scan->per_request * GC_MAX_SELECTED, NULL));
	must(ops->copy_out(stream, summary, scan->summary, sizeof(summary), NULL));
	must(finish(stream, NULL));
	*wrong = 0;
	for (int b = 0; b < GC_MAX_SELECTED; b++)
		*wrong += !apply_digest(scan, b, sel_bitmap, summary);
	return sel_bitmap;
}

/* Requests whose marks, or what their kernels make of them, are not as they should be. */
static int __attribute__((unused))
check_scan_selection(const Scan *scan)
{
	u32			wrong;
	u8		   *sel_bitmap = read_marks(scan, &wrong);

	if (wrong > 0)
		tap_note("%u requests have selection bitmaps that the summary does not name", wrong);
	for (int b = 0; b < GC_MAX_SELECTED; b++)
	{
		Row			at;

		if (!check_marks(scan, b, sel_bitmap, &at))
		{
			wrong++;
			tap_note("%s: row %u of chunk %u (%u rows)", requests[scan->who[b]].name, at.row, at.chunk, CHUNK_ROWS[at.chunk]);
		}
		else if (scan->mask >> b & 1 && scan->chunks == ALL_CHUNKS && !is_repeated(scan, b) && !check_result(scan, b))
		{
			wrong++;
			tap_note("%s: another result", requests[scan->who[b]].name);
		}
	}
	free(sel_bitmap);
	return wrong;
}

/* ---------- all of them ---------- */

static void __attribute__((unused))
make_all(void)
{
	const TableColumn *key;
	char	   *text = gc_generate_merge_kernel();

	merge_kernel = load_text(text);
	free(text);
	for (int i = 0; i < NTABLE; i++)
		make_column(&table[i]);
	key = find_column(C_DKEY);
	for (u32 r = 0; r < key->cols[0].nrows; r++)
	{
		dim_key[0][key->value[0][r]] = key->value[0][r] < 2500;
		dim_key[1][key->value[0][r]] = key->value[0][r] < 4000;
	}
	for (int i = 0; i < NALL; i++)
		make_member(i);
}

#endif							/* GC_MARKS_SCAN_H */
