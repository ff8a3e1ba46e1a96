/*-------------------------------------------------------------------------
 *
 * holes_test.c [host|cuda]
 *	  The kernel that makes bitmaps of visible rows from holes writes each bit right.
 *
 * Holes are drawn at random, for chunks of awkward sizes: few and many, of one row and of thousands,
 * in adjacent words, at both ends, over all of a chunk, and none.  Several chunks of different sizes
 * are one launch, of any number of blocks.  The rule is told once more here, row by row.  Words
 * behind each bitmap must stay as they were.
 *
 * Where there is NVRTC, the text for a GPU is compiled too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "device_util.h"
#include "draw.h"

#include "../../src/codegen/codegen.h"
#include "../../src/device/nvrtc.h"

#define MOST_CHUNKS	8
#define MOST_HOLES	20000
#define MOST_ROWS	600000
#define NROUNDS		120

/* Between a bitmap and the next one. */
#define SLACK_WORDS	8
#define UNTOUCHED	0x5a5a5a5a5a5a5a5aull

typedef struct Chunk
{
	u32			nrows;
	u32			nholes;
	GcHole	   *holes;
} Chunk;

typedef enum Kind
{
	FEW,
	SINGLE_ROWS,
	EVERY_OTHER_ROW,
	WORD_EDGES,
	FIRST_AND_LAST,
	WHOLE,
	ALL_BUT_ONE,
	NONE,
	NKINDS
} Kind;

static const u32 sizes[] = {1, 2, 63, 64, 65, 127, 128, 1023, 1024, 1025, 16383, 16384, 16385, 65535, 65536, 65537, MOST_ROWS - 1, MOST_ROWS};
#define NSIZES	((u32) (sizeof(sizes) / sizeof(sizes[0])))

static void
must(GcCode code)
{
	if (code != GC_OK)
		tap_bail("the device failed");
}

static u32
padded_words(u32 nrows)
{
	return (nrows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * (GC_PAD_ROWS / 64);
}

/* Add rows from .. to - 1, cut at the chunk's end; holes ascend and do not touch. */
static void
add_hole(Chunk *c, u64 from, u64 to)
{
	if (c->nholes > 0 && c->holes[c->nholes - 1].to >= from)
		from = c->holes[c->nholes - 1].to + 1ull;
	if (to > c->nrows)
		to = c->nrows;
	if (from < to && c->nholes < MOST_HOLES)
		c->holes[c->nholes++] = (GcHole) {(u32) from, (u32) to};
}

static void
make_random_holes(Chunk *c, u32 longest, u32 gap)
{
	for (u64 row = draw(gap); row < c->nrows; row += 1 + draw(gap))
	{
		u32			n = 1 + draw(longest);

		add_hole(c, row, row + n);
		row += n;
	}
}

/* Holes that begin and end at, before and behind the edges of words and of blocks' pieces. */
static void
make_edge_holes(Chunk *c)
{
	const u32	step = draw(2) ? 64 : 64 * GC_HOLES_WORDS;

	for (u64 edge = 0; edge < c->nrows; edge += step)
	{
		u64			from = edge + draw(3);

		add_hole(c, from > 0 ? from - 1 : 0, edge + step + draw(3) - 1);
	}
}

static void
make_chunk(Chunk *c, u32 nrows, Kind kind)
{
	c->nrows = nrows;
	c->nholes = 0;
	switch (kind)
	{
		case FEW:
			make_random_holes(c, 1 + nrows / 8, 1 + nrows / 4);
			break;
		case SINGLE_ROWS:
			make_random_holes(c, 1, 1 + nrows / 1000);
			break;
		case EVERY_OTHER_ROW:
			for (u32 row = draw(2); row < nrows; row += 2)
				add_hole(c, row, row + 1);
			break;
		case WORD_EDGES:
			make_edge_holes(c);
			break;
		case FIRST_AND_LAST:
			add_hole(c, 0, 1 + draw(nrows));
			add_hole(c, nrows - 1, nrows);
			break;
		case WHOLE:
			add_hole(c, 0, nrows);
			break;
		case ALL_BUT_ONE:
			{
				u32			row = draw(nrows);

				add_hole(c, 0, row);
				add_hole(c, row + 1, nrows);
				break;
			}
		default:
			break;
	}
}

/* The rule once more. */
static void
expect(const Chunk *c, u64 *bitmap)
{
	u32			h = 0;

	memset(bitmap, 0, padded_words(c->nrows) * sizeof(u64));
	for (u32 row = 0; row < c->nrows; row++)
	{
		while (h < c->nholes && c->holes[h].to <= row)
			h++;
		if (h == c->nholes || row < c->holes[h].from)
			bitmap[row / 64] |= 1ull << (row % 64);
	}
}

/* Compare the bitmaps of a launch; the number of wrong words. */
static u64
count_wrong(const Chunk *chunks, u32 n, const u64 *got)
{
	static u64	wanted[MOST_ROWS / 64 + GC_PAD_ROWS / 64 + 1];
	u64			wrong = 0;

	for (u32 i = 0; i < n; i++)
	{
		const u32	words = padded_words(chunks[i].nrows);

		expect(&chunks[i], wanted);
		for (u32 w = 0; w < words; w++)
			wrong += got[w] != wanted[w];
		for (u32 w = words; w < words + SLACK_WORDS; w++)
			wrong += got[w] != UNTOUCHED;
		got += words + SLACK_WORDS;
	}
	return wrong;
}

/* Make the bitmaps of some chunks in one launch; the number of wrong words. */
static u64
run(GcStream *stream, const Loaded *k, const Chunk *chunks, u32 n, u32 blocks, u32 threads)
{
	GcVisible	visible[MOST_CHUNKS];
	GcAddr		holes = pool_base + 4096;
	GcAddr		bitmaps = holes + MOST_CHUNKS * MOST_HOLES * sizeof(GcHole);
	GcLaunch	shape = {blocks, threads, 0, false};
	GcArgs		args;
	u32			most_words = 0;
	u64			words = 0;
	u64			wrong;
	u64		   *host;

	for (u32 i = 0; i < n; i++)
	{
		const u32	own = padded_words(chunks[i].nrows);

		visible[i] = (GcVisible) {bitmaps + words * sizeof(u64), holes, chunks[i].nholes, chunks[i].nrows};
		must(ops->copy_in(stream, holes, chunks[i].holes, chunks[i].nholes * sizeof(GcHole) + 1, NULL));
		must(finish(stream, NULL));
		holes += MOST_HOLES * sizeof(GcHole);
		words += own + SLACK_WORDS;
		most_words = own > most_words ? own : most_words;
	}
	host = malloc(words * sizeof(u64));
	for (u64 w = 0; w < words; w++)
		host[w] = UNTOUCHED;
	must(ops->copy_in(stream, pool_base, visible, n * sizeof(GcVisible), NULL));
	must(ops->copy_in(stream, bitmaps, host, words * sizeof(u64), NULL));
	memset(&args, 0, sizeof(args));
	args.w[0] = pool_base;
	args.w[1] = n;
	args.w[2] = (most_words + GC_HOLES_WORDS - 1) / GC_HOLES_WORDS;
	must(ops->launch(stream, k->kernel, &shape, &args, GC_HOLES_KERNEL_WORDS, NULL));
	must(ops->copy_out(stream, host, bitmaps, words * sizeof(u64), NULL));
	must(finish(stream, NULL));
	wrong = count_wrong(chunks, n, host);
	free(host);
	return wrong;
}

/* Each size with each kind of holes, by itself. */
static void
test_sizes(GcStream *stream, const Loaded *k, Chunk *chunks)
{
	for (u32 kind = 0; kind < NKINDS; kind++)
	{
		int			bad = 0;

		for (u32 s = 0; s < NSIZES; s++)
		{
			make_chunk(&chunks[0], sizes[s], kind);
			bad += run(stream, k, chunks, 1, 1 + draw(12), k->info.max_threads < 256 ? k->info.max_threads : 256) > 0;
		}
		tap_note("holes of kind %u", kind);
		is(bad, 0, "sizes with a wrong bitmap");
	}
}

/* Some chunks in one launch. */
static void
test_launches(GcStream *stream, const Loaded *k, Chunk *chunks)
{
	int			bad = 0;

	for (int round = 0; round < NROUNDS; round++)
	{
		u32			n = 1 + draw(MOST_CHUNKS);
		u32			threads = on_host ? 1 : 32u << draw(4);

		for (u32 i = 0; i < n; i++)
			make_chunk(&chunks[i], draw(2) ? sizes[draw(NSIZES)] : 1 + draw(100000), draw(NKINDS));
		bad += run(stream, k, chunks, n, 1 + draw(60), threads) > 0;
	}
	is(bad, 0, "launches with a wrong bitmap");
}

static void
test_kernel(void)
{
	Chunk		chunks[MOST_CHUNKS];
	GcStream   *stream;
	Loaded		k;

	open_device();
	stream = get_stream();
	k = load_made(gc_generate_holes_kernel());
	for (int i = 0; i < MOST_CHUNKS; i++)
		chunks[i].holes = malloc((MOST_HOLES + 1) * sizeof(GcHole));
	test_sizes(stream, &k, chunks);
	test_launches(stream, &k, chunks);
	for (int i = 0; i < MOST_CHUNKS; i++)
		free(chunks[i].holes);
	ops->stream_put(dev, stream);
	unload(&k);
	ops->close(dev);
}

int
main(int argc, char **argv)
{
	tap_start();
	if (!choose_device(argc > 1 ? argv[1] : "host"))
		return tap_skip_all("there is no such device");
	test_kernel();
	text_compiles(gc_generate_holes_kernel(), "the kernel that makes bitmaps from holes");
	return tap_done();
}
