/*-------------------------------------------------------------------------
 *
 * packed_rows_test.c [host|cuda]
 *	  Records: the kernel that writes them, and kernels over marks that read them.
 *
 * What the writer leaves is compared, byte by byte, with what is computed here from the
 * columns.  The kernels are those of selection_test.c.  Of a chunk in which few rows are marked
 * wherever any is, columns' codes are at an address that cannot be read; where many are
 * marked, records are.  The results must be right.
 *
 * Where there is NVRTC, the same kernels' texts for a GPU are compiled too, each for one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "selection_scan.h"

#include "../../src/codegen/packed_rows.h"

static Loaded writer;

/* As many records per row as it takes to have all columns in one. */
#define MAX_GROUPS	8

static GcAddr place[MAX_GROUPS][NCHUNKS];
static u8 *wanted[MAX_GROUPS][NCHUNKS];
static int	ngroups = 0;

/* A column's place. */
typedef struct Place
{
	int			group;
	u32			at;
} Place;

static Place
place_of(int column)
{
	/* Eight bytes each are aligned, whatever the width. */
	return (Place) {column / 4, column % 4 * 8};
}

static u64
record_bytes(u32 chunk)
{
	return padded(CHUNK_ROWS[chunk]) * GC_PACKED_ROW_BYTES;
}

static void
make_places(void)
{
	ngroups = (NTABLE + 3) / 4;
	if (ngroups > MAX_GROUPS)
		tap_bail("the table has too many columns");
	for (int g = 0; g < ngroups; g++)
	{
		for (u32 c = 0; c < NCHUNKS; c++)
		{
			place[g][c] = take_garbage(record_bytes(c));
			wanted[g][c] = malloc(record_bytes(c) + 1);
			memset(wanted[g][c], GARBAGE, record_bytes(c));
		}
	}
}

/* Where column i is in the records of those chunks; 0 in others. */
static GcAddr
put_places(int i, u32 chunks)
{
	const Place p = place_of(i);
	GcCol		to[NCHUNKS] = {{0}};

	for (u32 c = 0; c < NCHUNKS; c++)
		to[c].data = chunks >> c & 1 ? place[p.group][c] + p.at : 0;
	return put(to, sizeof(to));
}

/* Write column i's codes to the records of some chunks, here as on the device. */
static void
write_column(int i, u32 chunks, u32 turn)
{
	const Place p = place_of(i);
	GcSource	sources[NCHUNKS + 1];
	GcArgs		args = {.w = {0}};
	u32			n = 0;

	for (u32 c = 0; c < NCHUNKS; c++)
	{
		const GcCol *from = &table[i].cols[c];
		u8		   *codes;

		/* chunks that are not to be written may be in the scan */
		if (chunks >> c & 1 || c % 2)
			sources[n++] = (GcSource) {0, c, CHUNK_ROWS[c]};
		if (!(chunks >> c & 1) || from->nrows == 0)
			continue;
		codes = malloc(from->nrows * from->width);
		must(ops->copy_out(stream, codes, from->data, from->nrows * from->width, NULL));
		must(finish(stream, NULL));
		for (u32 r = 0; r < from->nrows; r++)
			memcpy(wanted[p.group][c] + r * GC_PACKED_ROW_BYTES + p.at, codes + r * from->width, from->width);
		free(codes);
	}
	args.w[0] = table[i].array;
	args.w[1] = put_places(i, chunks);
	launch_scan(&writer, &args, GC_PACKED_ROW_WRITER_WORDS, sources, n, 0, turn % 2 ? 256 : 64, turn);
}

static u64
wrong_bytes(void)
{
	u64			wrong = 0;

	for (int g = 0; g < ngroups; g++)
	{
		for (u32 c = 0; c < NCHUNKS; c++)
		{
			u8		   *got = malloc(record_bytes(c) + 1);

			must(ops->copy_out(stream, got, place[g][c], record_bytes(c), NULL));
			must(finish(stream, NULL));
			for (u64 b = 0; b < record_bytes(c); b++)
				wrong += got[b] != wanted[g][c][b];
			free(got);
		}
	}
	return wrong;
}

static void
test_writer(void)
{
	for (int i = 0; i < NTABLE; i++)
	{
		if (!of_build(&table[i]))
			write_column(i, draw(ALL_CHUNKS), i);
	}
	is(wrong_bytes(), 0, "codes are written to the packed rows of some chunks, and nothing else is");
	for (int i = 0; i < NTABLE; i++)
	{
		if (!of_build(&table[i]))
			write_column(i, ALL_CHUNKS, i + 1);
	}
	is(wrong_bytes(), 0, "and to those of all");
}

/* ---------- kernels over marks ---------- */

/* Chunks whose records are all that can be read, and none of whose records can. */
typedef struct Chunks
{
	u32			few;
	u32			many;
} Chunks;

/* The part of the rows up to which they are few, from the kernel's text. */
static u32
few_part(const Member *m, const GcVariant *variant)
{
	static const char define[] = "#define GC_FEW_PART ";
	GcKernelSource source;
	GcError		err = {GC_OK, ""};
	const char *at;
	u32			part;

	if (gc_generate(m->p, m->pipeline, variant, &source, &err) != GC_OK)
		tap_bail(err.detail);
	at = strstr(source.text, define);
	if (at == NULL)
		tap_bail("a kernel over selection bitmaps does not say what few rows are");
	part = (u32) atoi(at + sizeof(define) - 1);
	free(source.text);
	return part;
}

/* Rows with a mark, of those from first on; none behind `end`. */
static u32
count_marks(const u8 *sel_bitmap, u32 first, u32 rows, u32 end)
{
	u32			n = 0;

	for (u32 r = first; r < first + rows && r < end; r++)
		n += sel_bitmap[r >> 3] >> (r & 7) & 1;
	return n;
}

/* Spans of a warp on device cuda; which it is, the launch decides (gc_visit.h). */
#define NSPANS 4

static const u32 spans[NSPANS] = {4096, 8192, 16384, 32768};

/*
 * Rows with marks by which a kernel decides whether a span of rows is read from records.  On device cuda
 * these are the first 4,096 whose parts have any.
 */
static u32
deciding_marks(const u8 *sel_bitmap, u32 first, u32 span, u32 end)
{
	u32			n = 0;
	u32			parts = 0;

	if (on_host)
		return count_marks(sel_bitmap, first, span, end);
	for (u32 row = first; row < first + span && row < end && parts < 16; row += GC_SUMMARY_ROWS)
	{
		const u32	here = count_marks(sel_bitmap, row, GC_SUMMARY_ROWS, end);

		n += here;
		parts += here > 0;
	}
	return n;
}

/* Which are those of number b's kernel?  Invisible rows count only on device host. */
static Chunks
divide_chunks(const Scan *scan, int b, const u8 *sel_bitmap, u32 part)
{
	const u32	rows = on_host ? GC_TILE_ROWS : 4096;
	const Member *m = &members[scan->who[b]];
	Chunks		chunks = {0, 0};

	for (u32 c = 0; c < NCHUNKS; c++)
	{
		const u8   *of = sel_bitmap + b * scan->per_request + c * scan->per_chunk;
		bool		few = true;
		bool		many = true;

		for (int s = 0; s < (on_host ? 1 : NSPANS); s++)
		{
			const u32	span = on_host ? GC_TILE_ROWS : spans[s];

			for (u32 first = 0; first < CHUNK_ROWS[c]; first += span)
			{
				const u32	n = deciding_marks(of, first, span, CHUNK_ROWS[c]);

				/* behind the last row, marks may be anything */
				few = few && n + 7 <= rows / part;
				many = many && (n > rows / part || (n == 0 && !on_host)) && !(m->valid[c] && !on_host);
			}
		}
		chunks.few |= (u32) few << c;
		chunks.many |= (u32) (many && !few) << c;
	}
	chunks.few &= m->chunks;
	chunks.many &= m->chunks;
	return chunks;
}

/* Show the kernels the table's columns, and records, by these chunks. */
static void
show_columns(Chunks chunks, GcAddr *arrays)
{
	for (int i = 0; i < NTABLE; i++)
	{
		GcCol		cols[NCHUNKS];
		GcCol		packed_rows[NCHUNKS] = {{0}};
		const Place p = place_of(i);

		arrays[i] = table[i].array;
		if (of_build(&table[i]))
			continue;
		memcpy(cols, table[i].cols, sizeof(cols));
		for (u32 c = 0; c < NCHUNKS; c++)
		{
			if (chunks.few >> c & 1)
				cols[c].data = POISON;
			packed_rows[c].data = chunks.many >> c & 1 ? POISON : place[p.group][c] + p.at;
		}
		table[i].array = put(cols, sizeof(cols));
		table[i].packed_rows = put(packed_rows, sizeof(packed_rows));
	}
}

static void
test_visits(void)
{
	u64			few = 0;
	u64			many = 0;
	Marker		mk;

	describe_selector(&mk, NSHARED, true);
	load_selector(&mk);
	for (int turn = 0; turn < 2; turn++)
	{
		Scan		scan;
		u8		   *sel_bitmap;
		u32			wrong;

		begin_scan(&scan, 0xffff, ALL_CHUNKS, 0);
		for (int b = 0; turn == 1 && b < NALL - NREQUESTS; b++)
			scan.who[b] = NREQUESTS + b;
		run_predicate_kernels(&scan);
		run_merge_kernel(&scan);
		run_selector(&mk, &scan, turn);
		ok(check_scan_selection(&scan) == 0, "without packed rows");
		sel_bitmap = read_marks(&scan, &wrong);
		is(wrong, 0, "selection bitmaps are where the summary says");
		for (int b = 0; b < GC_MAX_SELECTED; b++)
		{
			const GcAddr begin = top;
			const int	i = scan.who[b];
			const u32	part = few_part(&members[i], &selection_variant[i]);
			Chunks		chunks = divide_chunks(&scan, b, sel_bitmap, part);
			GcAddr		arrays[NTABLE];

			if (!(scan.mask >> b & 1))
				continue;
			show_columns(chunks, arrays);
			ok(check_result(&scan, b), "%s: from packed rows in chunks 0x%x, from columns in 0x%x, few is 1 in %u",
			   requests[i].name, chunks.few, chunks.many, part);
			for (int t = 0; t < NTABLE; t++)
			{
				table[t].array = arrays[t];
				table[t].packed_rows = 0;
			}
			few += __builtin_popcount(chunks.few);
			many += __builtin_popcount(chunks.many);
			top = begin;
		}
		free(sel_bitmap);
	}
	unload(&mk.kernel);
	ok(few > 100 && many > 10, "there are chunks of either kind: %llu and %llu", few, many);
}

static void
test_nvrtc(void)
{
	GcError		err = {GC_OK, ""};
	const GcNvrtc *nvrtc = gc_nvrtc_open(13, &err);
	char	   *text = gc_generate_packed_row_writer();

	if (nvrtc == NULL)
		tap_skip("%s", err.detail);
	for (int arch = 80; nvrtc && arch <= 90; arch += 10)
	{
		compiles_for_gpu(nvrtc, arch, text, GC_COMPILE_FULL, "the record writer");
		for (int i = arch / 10 % 2; i < NALL; i += 2)
		{
			const Member *m = &members[i];
			GcVariant	v = selection_variant[i];
			GcKernelSource source;

			v.vec = 8;
			if (gc_generate(m->p, m->pipeline, &v, &source, &err) != GC_OK)
				tap_bail(err.detail);
			compiles_for_gpu(nvrtc, arch, source.text, GC_COMPILE_FULL, "a kernel over selection bitmaps that reads packed rows");
			free(source.text);
		}
	}
	free(text);
}

int
main(int argc, char **argv)
{
	GcError		err = {GC_OK, ""};
	char	   *text = gc_generate_packed_row_writer();

	tap_start();
	if (!start_device(argc > 1 ? argv[1] : "host", &err))
		return tap_skip_all(err.detail);
	visit_records = true;
	make_all();
	writer = load_text(text);
	free(text);
	make_places();
	test_writer();
	test_visits();
	test_nvrtc();
	for (int g = 0; g < ngroups; g++)
	{
		for (u32 c = 0; c < NCHUNKS; c++)
			free(wanted[g][c]);
	}
	free_columns();
	test_times();
	stop_device();
	return tap_done();
}
