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
	GC_ARG_COLUMN,				/* index: column; part: 0 cached, 1 private GcCols */
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
	GC_ARG_SHARED				/* where the member's part of the shared memory
								 * begins: gc_fused_shared_bytes */
} GcArgType;

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
 * share evenly.  threads: largest block the kernel is compiled for.  vec: rows per
 * thread and step, 8 or 16; 0 for device host, whose vectors are of one size.
 */
typedef struct GcVariant
{
	u32			shared_builds;
	bool		group_local;
	u8			group_copies;
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
 * Dense builds whose bitmaps the pipeline's vector phase tests: what shared_builds
 * may contain, one bit each.
 */
extern u32	gc_probe_candidates(const GcProgram *p, u16 pipeline);

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
 * GC_ARG_COLUMN, whose index is then the number of a physical column (part 0).
 */
typedef struct GcFusedWord
{
	GcArgWord	word;
	u16			member;
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

#endif							/* GC_CODEGEN_H */
