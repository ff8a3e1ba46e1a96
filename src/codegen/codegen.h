/*-------------------------------------------------------------------------
 *
 * codegen.h
 *	  From a bound program to kernel source text, one kernel per pipeline.
 *
 * The text is plain C in the vocabulary of cuda/, the same for both targets,
 * and contains nothing of the user's: no constant, no name.  Columns, builds and
 * parameters are numbered by first use within the pipeline, so two programs that
 * contain the same pipeline give the same text and share its kernel.
 *
 * Every kernel is a scan skeleton (GC_TILES, GC_VECTORS in cuda/gc_tile.h) around
 * a body, what this pipeline does with one vector of rows.  The body comes in two
 * phases: steps that need only the scanned table's own columns and dense builds
 * work on whole vectors; everything after works row by row on the survivors.
 *
 * Several pipelines over the same table can share one skeleton: a fused kernel, whose
 * bodies (its members') stand one after another inside the loop over vectors, so that
 * every column is read from memory once.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_H
#define GC_CODEGEN_H

#include "../program/program.h"

/* What a word of GcArgs.w holds. */
typedef enum GcArgType
{
	GC_ARG_COLUMN,				/* index: column; part: GC_COLUMN_* */
	GC_ARG_PARAM,				/* index: parameter; part: 0 low, 1 high word */
	GC_ARG_LUT,					/* index: table; part: GC_LUT_* */
	GC_ARG_LIST,				/* index: list; part: 0 address, 1 count */
	GC_ARG_BUILD,				/* index: build; part: GC_BUILD_PART_* */
	GC_ARG_PAYLOAD,				/* index: payload; part: 0 address, 1 base */
	GC_ARG_GROUP,				/* part: GC_GROUP_PART_* */
	GC_ARG_GROUP_KEY,			/* index: key number; part: 0 base, 1 stride */
	GC_ARG_ROWS,				/* part: 0 address, 1 capacity */
	/* Fused kernels only: */
	GC_ARG_MEMBERS,				/* bit m: member m takes part in this launch */
	GC_ARG_FLAGS,				/* address of the member's u32[GC_NFLAGS] */
	GC_ARG_VISIBLE,				/* address of the member's u64[nsources], each as
								 * GcSource.valid is in other kernels; 0: the member
								 * may see all rows of all chunks that it reads */
	GC_ARG_SHARED,				/* where the member's part of the shared memory
								 * begins: gc_fused_shared_bytes */
	/* Kernels of marked scans only (marks.c): */
	GC_ARG_MARKS,				/* part: GC_MARKS_* */
	GC_ARG_TEST,				/* index: number of a tested column; part: GC_TEST_* */
	GC_ARG_PLACE				/* index: hash build; part: GC_TEST_*, of its places */
} GcArgType;

/*
 * GcCols of cached and of private chunks; kernels that can read records: of these, by cached
 * chunk, of which only data is read (0: the chunk has none), or 0.
 */
enum
{
	GC_COLUMN_CACHED, GC_COLUMN_PRIVATE, GC_COLUMN_RECORDS
};

enum
{
	GC_LUT_DATA, GC_LUT_NULLS, GC_LUT_BASE
};

enum
{
	GC_BUILD_PART_BITMAP, GC_BUILD_PART_BASE, GC_BUILD_PART_RANGE,
	GC_BUILD_PART_SLOTS, GC_BUILD_PART_MASK, GC_BUILD_PART_KEYS,
	GC_BUILD_PART_NEXT, GC_BUILD_PART_CAP
};

/* Address of the request's marks, bytes of them per chunk, address of the digest, the request's bit in it. */
enum
{
	GC_MARKS_DATA, GC_MARKS_BYTES, GC_MARKS_DIGEST, GC_MARKS_BIT, GC_MARKS_PARTS
};

enum
{
	GC_TEST_BITS, GC_TEST_BASE, GC_TEST_RANGE
};

enum
{
	GC_GROUP_PART_TABLE, GC_GROUP_PART_COUNT, GC_GROUP_PART_SLOTS,
	GC_GROUP_PART_MASK, GC_GROUP_PART_KEYS
};

typedef struct GcArgWord
{
	u8			type;			/* GcArgType */
	u8			part;
	u16			index;
} GcArgWord;

/*
 * Choices that do not change what a kernel computes; the scheduler's to make.
 * shared_builds: bit b set: the bitmap of dense build b (a candidate) is copied
 * into shared memory at kernel start.  group_local: a dense group table is first
 * kept per block in shared memory, in group_copies copies that the block's threads
 * share evenly.  group_cells: it is not, but there each block keeps those groups of which rows
 * come first, as many as this power of two; 0: none.  threads: largest block the kernel is
 * compiled for.  vec: rows per thread and step, 8 or 16; 0 for device host, whose vectors are of
 * one size.
 * marked: for a marked scan (marks.c): bit s: the pipeline's step s is not taken, since
 * the marks of the scan say which rows pass it.  Such a kernel reads cached chunks only.
 * placed: with it; bit s: step s finds its row in a table by value (GC_ARG_PLACE) that the
 * tester wrote, not by hashing.
 * records: with marked; can read columns in records (GC_COLUMN_RECORDS).
 */
typedef struct GcVariant
{
	u64			marked;
	u64			placed;
	u32			shared_builds;
	bool		records;
	bool		group_local;
	u8			group_copies;
	u16			group_cells;
	u8			vec;
	u16			threads;
} GcVariant;

typedef struct GcKernelSource
{
	char	   *text;			/* malloc'd, NUL-terminated */
	GcArgWord	words[GC_MAX_ARG_WORDS];
	int			nwords;
} GcKernelSource;

/*
 * What the choice of a variant has to know of a pipeline's kernel.  candidates: dense builds
 * whose bitmaps are tested on whole vectors, or on gathered rows: what shared_builds may
 * contain, one bit each.  gathers: rows are queued (GC_VISIT_SHARED).  kept_words: as a
 * member of a fused kernel it keeps so many words of 32 bits for each warp, at most.
 */
typedef struct GcPipelineTraits
{
	u32			candidates;
	bool		gathers;
	int			kept_words;
} GcPipelineTraits;

extern GcPipelineTraits gc_pipeline_traits(const GcProgram *p, u16 pipeline);

/*
 * Static shared memory of a kernel that gathers rows, at most: its warps' queues, and where marks
 * are (gc_visit.h).
 */
#define GC_VISIT_SHARED	(32 * (384 * sizeof(u16) + 128))

/*
 * Threads of kernels over marks that a multiprocessor is to have room for, for they wait for memory most of the
 * time.  With 1,024, some of their registers are kept in memory, and the rows that a thread gathers are read one
 * after another (an H200: the Star Schema Benchmark's take the same with both).  In blocks of so many threads:
 */
#define GC_MARKED_THREADS			768
#define GC_MARKED_BLOCKS(threads)	((GC_MARKED_THREADS + (threads) - 1) / (threads))

/*
 * Generate the kernel of pipeline `pipeline`.  The caller frees source->text.
 * GC_UNSUPPORTED when the program needs something that kernels cannot do.
 */
extern GcCode gc_generate(const GcProgram *p, u16 pipeline, const GcVariant *variant,
						  GcKernelSource *source, GcError *err);

/*
 * The kernel that gathers the existing groups of a large, sparse dense group
 * table: w[0] table, w[1] groups, w[2] words per group, w[3] where their words go,
 * w[4] where their numbers go; counts them in GC_FLAG_GROUPS.  The same for all
 * programs.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_compactor(void);
#define GC_COMPACTOR_WORDS	5

/*
 * Bytes of shared memory (scratch on host) that a kernel needs: ranges[b] is the
 * key range of each shared build, ngroups the size of a local group table.
 */
extern u64 gc_shared_bytes(const GcProgram *p, const GcVariant *variant,
						   const u64 *ranges, u64 ngroups);

/*-------------------------------------------------------------------------
 * Fused kernels (fused.c)
 *-------------------------------------------------------------------------
 */

#define GC_MAX_FUSED		16
#define GC_FUSED_ANY		0xFFFFu
#define GC_FUSED_ALL_VECTORS	GC_MAX_COLUMNS

/* One body of a fused kernel: a pipeline over the table that all members scan. */
typedef struct GcFusedMember
{
	const GcProgram *p;
	u16			pipeline;
	GcVariant	variant;
	const i16  *columns;		/* per column of p: number of the physical column (below
								 * GC_MAX_COLUMNS) that it is, or -1 where the pipeline
								 * does not read it; equal numbers among members: the
								 * same cached column */
} GcFusedMember;

/*
 * What a word holds, and whose it is.  GC_FUSED_ANY: GC_ARG_MEMBERS, and
 * GC_ARG_COLUMN, whose index is then the number of a physical column (part 0), and which the
 * members in `readers` read, one bit each.
 */
typedef struct GcFusedWord
{
	GcArgWord	word;
	u16			member;
	u32			readers;
} GcFusedWord;

typedef struct GcFusedSource
{
	char	   *text;			/* malloc'd, NUL-terminated */
	GcFusedWord words[GC_MAX_ARG_WORDS];
	int			nwords;
} GcFusedSource;

/*
 * Generate the kernel that does what the kernels of its n members would do.  A launch
 * serves any of them (GC_ARG_MEMBERS): of the others nothing is touched, and their
 * words may be 0, as may be those of columns that only they read.
 *
 * The launch's sources are the chunks, all cached, that at least one member reads;
 * GcSource.valid is the set of those that do.  A member's private chunks are for a
 * launch of its own kernel with the same flags and sink, before or after: every sink
 * adds to what is there.  GcScan.flags is not used.
 *
 * The kernel is compiled for the largest of the members' blocks, and for 8 rows per
 * thread unless all members' variants say 16 (device host: all 0).
 *
 * Vectors of columns that at least two members want in their first stage are loaded
 * once, before the bodies; at most max_vectors of them, those that most members want
 * first.  On cuda each takes as many registers as a thread has rows (twice that for 8
 * bytes) for as long as the bodies run; others are found in the L1 cache.  On device
 * host there is no reason for fewer than all: GC_FUSED_ALL_VECTORS.
 *
 * The caller frees source->text.  GC_UNSUPPORTED: a build, too many members, or more
 * words than GC_MAX_ARG_WORDS, which fewer members may do with.
 */
extern GcCode gc_generate_fused(const GcFusedMember *members, int n, int max_vectors,
								GcFusedSource *source, GcError *err);

/*
 * Bytes of shared memory (scratch on host) for a launch that serves the members in
 * `taking_part`, whose parts lie one after another: starts[m] receives where that of
 * member m begins, as GC_ARG_SHARED wants it.  ranges[m], ngroups[m]: as in
 * gc_shared_bytes; not looked at for members that do not take part.
 */
extern u64 gc_fused_shared_bytes(const GcFusedMember *members, int n, u32 taking_part,
								 const u64 *const *ranges, const u64 *ngroups, u64 *starts);

/*-------------------------------------------------------------------------
 * Marked scans (marks.c)
 *-------------------------------------------------------------------------
 */

/* Columns that a marker tests. */
#define GC_MAX_TESTED		16

/* Hash builds of a pipeline whose probes are answered by value. */
#define GC_MAX_PLACED		8

/* A hash build that is probed with what depends on one column. */
typedef struct GcPlaced
{
	u16			build;
	u16			column;			/* of the program */
} GcPlaced;

/* What a pipeline tests of its columns, one at a time. */
typedef struct GcTests
{
	u64			steps;			/* bit s: step s of the pipeline is such a test */
	int			ncolumns;
	u16			column[GC_MAX_TESTED];	/* of the program */
	u64			placed;			/* bit s: step s is the probe of a placed build */
	int			nplaced;
	GcPlaced	place[GC_MAX_PLACED];
} GcTests;

/*
 * The steps of a pipeline that depend on one column each, out of those that `allowed`
 * (by column of the program) says may be tested: filters, and probes, on integer codes.
 * What may fail is no test, since it is not for every row to fail.  Probes of hash builds
 * that are expected to drop no row are placed only: to test them costs a lookup per row,
 * as does the place.
 */
extern void gc_find_tests(const GcProgram *p, u16 pipeline, const bool *allowed, GcTests *tests);

/*
 * Generate the tester: for each tested column q, entry i of a bitmap (GC_TEST_BITS) says
 * whether value GC_TEST_BASE + i passes all tests of that column, entry GC_TEST_RANGE
 * whether NULL does; so a bitmap has GC_TEST_RANGE + 1 bits, in words of 32.  For each
 * placed build, entry i of a table (GC_ARG_PLACE, GC_TEST_BITS) is the newest row
 * of the build that value GC_TEST_BASE + i of its column finds, + 1, or 0; with
 * GC_PLACE_MORE where there are others behind it (GC_BUILD_PART_NEXT), or GC_PLACE_BAD: a
 * row that comes to it raises GC_FLAG_DATA; entry GC_TEST_RANGE is for NULL.  Such a build has fewer than GC_PLACE_MORE rows.
 * Entries are u32, or u64 with the codes of the row's payloads in the upper half
 * (gc_place_bytes).  The caller frees source->text.
 */
extern int	gc_place_bytes(const GcProgram *p, u16 build);
extern GcCode gc_generate_tester(const GcProgram *p, u16 pipeline, const GcTests *tests,
								 GcKernelSource *source, GcError *err);

/*
 * The combiner puts the bitmaps of up to GC_MAX_MARKED requests together: w[0] is the
 * address of w[1] GcMarkTables.  The same for all programs.  malloc'd; NULL when out of
 * memory.
 */
extern char *gc_generate_combiner(void);
#define GC_COMBINER_WORDS	2

/* Per tested column of the scan: which requests accept each value. */
typedef struct GcMarkTable
{
	u64			table;			/* u32[range + 1]: bit m: request m does; the last
								 * entry is for NULL */
	u64			range;
	u64			classes;		/* u16[range + 1]: class of each value, or 0: none, and
								 * the next three are not used */
	u64			members;		/* u32[]: a value of each class */
	u64			class_table;	/* u32[]: as table, by class */
	u64			misfit;			/* u32, 0 before: raised if some class has values that
								 * not the same requests accept */
	u64			bits[GC_MAX_MARKED];	/* request m's bitmap; 0: it tests other columns
										 * only */
} GcMarkTable;

/* A column as a marker reads it. */
typedef struct GcMarkerColumn
{
	u8			width;			/* of its codes in bytes; 0: differs between chunks */
	bool		nullable;
	bool		shared;			/* its table is copied to shared memory */
	u8			class_width;	/* 1 or 2: it has classes, of so many bytes in its class
								 * column, whose table is copied instead; 0: none */
	u8			copies;			/* wanted of it, a power of two up to 32, so that lanes have
								 * their own; 0: one */
} GcMarkerColumn;

/* Copies that there are: of some tables just one, whatever is wanted. */
extern int	gc_table_copies(const GcMarkerColumn *column);

/* Shared memory of a table that is copied: by value of range + 1 entries, by class of as many as there are. */
#define GC_MARK_SHARED_BYTES(entries, copies)	(((u64) (entries) * (copies) + 1) / 2 * 8)

/*
 * Generate the marker: it reads n columns, looks each value up in its table, and writes
 * for every request the rows that all its columns accept, as a bitmap per chunk in the
 * layout of GcCol.nulls: its marks, but where the digest says that there are none; and that, u32 per
 * GC_DIGEST_ROWS rows of a chunk.  GcSource.valid is the set of requests that read the
 * chunk; nothing is written for others.  Columns whose tables are shared should come
 * first, as they are tested first.  Where a column has classes, its class column is read
 * instead, but not in chunks that have none (GcCol.data 0), nor if the combiner raised
 * misfit.  GC_MARKER_WORDS(n) words:
 *
 *	  w[0] set of requests, w[1] address of the marks, w[2] bytes of marks per chunk,
 *	  w[3] bytes of marks per request, w[4] address of the digest; and per column, from
 *	  w[GC_MARKER_WORDS(k)] on: address of its GcCols, address of its table, base, range (as for the tester), and
 *	  readers << 32 | accepting, the requests that read it, and those that accept every
 *	  value of it; of a column with classes also: address of the class column's GcCols,
 *	  address of its table, number of classes, address of misfit.
 *
 * The caller frees the text; NULL when out of memory.
 */
extern char *gc_generate_marker(const GcMarkerColumn *column, int n);
#define GC_MARKER_THREADS	256		/* per block: more would leave registers unused */
#define GC_MARKER_WORDS(n)	(5 + 9 * (n))

/* Fewest columns of a kernel over marks that gains by reading them in records. */
#define GC_LEAST_RECORD_COLUMNS	2

/*
 * The record writer writes a column's codes to records: w[0] is the address of its GcCols,
 * w[1] of those of the records, whose data is the place in the chunk's first record, or 0:
 * nothing is written.  The same for all programs.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_record_writer(void);
#define GC_RECORD_WRITER_WORDS	2

/* Bytes of a table of so many values; shared tables lie one after another. */
#define GC_MARK_TABLE_BYTES(range)	GC_MARK_SHARED_BYTES((u64) (range) + 1, 1)

/*-------------------------------------------------------------------------
 * Classes (classes.c)
 *-------------------------------------------------------------------------
 */

/*
 * The refiner splits classes of a column's values by an attribute that a table has of
 * each, in three launches:
 *
 *	  w[0] GC_REFINE_READ: over all chunks (GcScan) of the table, w[1] and w[2] the
 *	  addresses of the GcCols of its key and its attribute (0: whether there is a row),
 *	  w[3] the least of the attribute's values; w[4] u32[range + 1], zeroed before, receives each value's;
 *	  GC_REFINE_FIND: w[5] u16[range + 1] the classes so far, w[6] u64[GC_CLASS_SLOTS],
 *	  all ones before, w[7] u32[GC_CLASS_SLOTS], w[8] u64[2], zeroed before: receives the
 *	  number of classes, and whether they are more than GC_MAX_CLASSES;
 *	  GC_REFINE_ASSIGN: w[9] u16[range + 1] receives the new classes, w[10]
 *	  u32[GC_MAX_CLASSES] a value of each: nothing, if they are too many;
 *
 * w[11] and w[12] are base and range of the column's values, as for the tester: entry
 * `range` is for NULL, which is a class of its own.  All words are the same in the three.  The same for all programs.
 * malloc'd; NULL when out of memory.
 */
extern char *gc_generate_refiner(void);
#define GC_REFINER_WORDS	13
enum
{
	GC_REFINE_READ,
	GC_REFINE_FIND,
	GC_REFINE_ASSIGN
};

/*
 * The class writer fills a class column in the chunks of its scan: w[0] address of the
 * column's GcCols, w[1] of those of the class column, whose width is 1 or 2, with data
 * for as many rows as a multiple of 8 has (chunks with data 0 are left out), w[2] base, w[3] range,
 * w[4] the classes.  The same for all programs.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_class_writer(void);
#define GC_CLASS_WRITER_WORDS	5

#endif							/* GC_CODEGEN_H */
