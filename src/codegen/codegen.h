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
	GC_ARG_ROWS					/* part: 0 address, 1 capacity */
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

#endif							/* GC_CODEGEN_H */
