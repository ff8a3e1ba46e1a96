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
	/* Kernels of selection scans only (selection.c): */
	GC_ARG_SELECTION,				/* part: GC_MARKS_* */
	GC_ARG_PREDICATE,				/* index: number of a tested column; part: GC_TEST_* */
	GC_ARG_DIRECT				/* index: hash build; part: GC_TEST_*, of its places */
} GcArgType;

/*
 * GcCols of cached and of private chunks; kernels that can read records: of these, by cached
 * chunk, of which only data is read (0: the chunk has none), or 0.
 */
enum
{
	GC_COLUMN_CACHED, GC_COLUMN_PRIVATE, GC_COLUMN_PACKED_ROWS
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

/* Address of the request's marks, bytes of them per chunk, address of the block summary, the request's bit in it. */
enum
{
	GC_SELECTION_DATA, GC_SELECTION_BYTES, GC_SELECTION_SUMMARY, GC_SELECTION_BIT, GC_SELECTION_PARTS
};

enum
{
	GC_PREDICATE_BITS, GC_PREDICATE_BASE, GC_PREDICATE_RANGE
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
 * marked: for a selection scan (selection.c): bit s: the pipeline's step s is not taken, since
 * the marks of the scan say which rows pass it.  Such a kernel reads cached chunks only.
 * placed: with it; bit s: step s finds its row in a table by value (GC_ARG_DIRECT) that the
 * predicate kernel wrote, not by hashing.
 * records: with marked; can read columns in records (GC_COLUMN_PACKED_ROWS).
 */
typedef struct GcVariant
{
	u64			selection;
	u64			direct;
	u32			shared_builds;
	bool		packed_rows;
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
 * contain, one bit each.  gathers: rows are queued (GC_VISIT_SHARED).  per_warp_words: as a
 * member of a fused kernel it keeps so many words of 32 bits for each warp, at most.
 */
typedef struct GcPipelineTraits
{
	u32			candidates;
	bool		gathers;
	int			per_warp_words;
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
#define GC_SELECTED_THREADS			768
#define GC_SELECTED_BLOCKS(threads)	((GC_SELECTED_THREADS + (threads) - 1) / (threads))

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

#endif							/* GC_CODEGEN_H */
