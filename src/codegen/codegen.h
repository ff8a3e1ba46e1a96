/*-------------------------------------------------------------------------
 *
 * codegen.h
 *	  From a bound program to kernel source text, one kernel per pipeline.
 *
 * The text is plain C in the vocabulary of cuda/, the same for both targets, and contains nothing
 * of the user's: no constant, no name.  Columns, builds and parameters are numbered by first use
 * within the pipeline.  So two programs that contain the same pipeline give the same text and
 * share its kernel.
 *
 * Every kernel is a scan skeleton (GC_TILES, GC_VECTORS in cuda/gc_tile.h) around a body,
 * what this pipeline does with one vector of rows.  The body comes in two phases.  Steps
 * that need only the scanned table's own columns and dense builds work on whole vectors.
 * Everything after works row by row on the survivors.
 *
 * Several pipelines over the same table can share one skeleton: a fused kernel.  Its members
 * stand one after another inside the loop over vectors, so that every column is read from memory
 * once.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_H
#define GC_CODEGEN_H

#include "../program/edge.h"
#include "../program/program.h"

/* Meanings of the words of GcArgs.w. */
typedef enum GcArgType
{
	GC_ARG_COLUMN,				/* index: column; part: GC_COLUMN_* */
	GC_ARG_PARAM,				/* index: parameter; part: 0 low, 1 high word */
	GC_ARG_LUT,					/* index: table; part: GC_LUT_* */
	GC_ARG_LIST,				/* index: list; part: 0 address, 1 count */
	GC_ARG_BUILD,				/* index: build; part: GC_BUILD_PART_* */
	GC_ARG_PAYLOAD,				/* index: payload; part: 0 address, 1 base */
	GC_ARG_GROUP,				/* index: pipeline; part: GC_GROUP_PART_* */
	GC_ARG_GROUP_KEY,			/* index: GC_GROUP_KEY_INDEX; part: 0 base, 1 stride */
	GC_ARG_ROWS,				/* index: pipeline; part: 0 address, 1 capacity */
	GC_ARG_CHOICE,				/* part: GC_CHOICE_* (sink/sink_select.c) */
	GC_ARG_PAIRS,				/* part: GC_PAIRS_* */
	GC_ARG_EDGE,				/* part: GC_EDGE_WORD_* */
	GC_ARG_SPLIT,				/* index: build, or GC_SPLIT_GROUPS + pipeline; part: GC_SPLIT_* */
	/* Fused kernels only: */
	GC_ARG_MEMBERS,				/* bit m: member m takes part in this launch */
	GC_ARG_FLAGS,				/* address of the member's u32[GC_NFLAGS] */
	GC_ARG_VISIBLE,				/* address of the member's u64[nsources], each as
								 * GcSource.valid is in other kernels; 0: the member may see
								 * all rows of all chunks that it reads */
	GC_ARG_SHARED,				/* where the member's part of the shared memory
								 * begins: gc_fused_shared_bytes */
	/* Kernels of selection scans only (kernel/selection.c): */
	GC_ARG_SELECTION,			/* part: GC_SELECTION_* */
	GC_ARG_PREDICATE,			/* index: number of a tested column; part: GC_PREDICATE_* */
	GC_ARG_DIRECT				/* index: hash build; part: GC_PREDICATE_*, of its direct
								 * lookup table */
} GcArgType;

/* GcCols of cached chunks and of private chunks. */
enum
{
	GC_COLUMN_CACHED, GC_COLUMN_PRIVATE
};

enum
{
	GC_LUT_DATA, GC_LUT_NULLS, GC_LUT_BASE
};

enum
{
	GC_BUILD_PART_BITMAP, GC_BUILD_PART_BASE, GC_BUILD_PART_RANGE,
	GC_BUILD_PART_SLOTS, GC_BUILD_PART_MASK, GC_BUILD_PART_KEYS,
	GC_BUILD_PART_NEXT, GC_BUILD_PART_CAP,
	GC_BUILD_PART_MATCHED,		/* address of a byte for each row: not 0 if something matched it */
	GC_BUILD_PART_FLAGS			/* address of the build's own u32[GC_NFLAGS] */
};

/*
 * A scan that tries pairs (cuda/gc_pair.h): the launch's first unit and how many it takes; units of a part,
 * parts of a source.  Behind these, of each list that is cut, by its build: slices, and the rows of one.
 */
enum
{
	GC_PAIRS_FROM, GC_PAIRS_COUNT, GC_PAIRS_SLICES, GC_PAIRS_PARTS, GC_PAIRS_WORDS,
	GC_PAIRS_LIST_SLICES = GC_PAIRS_WORDS, GC_PAIRS_LIST_ROWS, GC_PAIRS_END
};

/*
 * An edge (cuda/gc_packet.h): address of the slots; address of the counts of their packets, or of the channel's
 * control block.  Packets that a slot has room for; slots of a chunk; all slots.  Of a channel: how many packets are
 * enough for a slot; the most tiles that are scanned for one; the blocks that rather fill slots.
 */
enum
{
	GC_EDGE_WORD_SLOTS, GC_EDGE_WORD_CONTROL, GC_EDGE_WORD_CAP, GC_EDGE_WORD_RUNS, GC_EDGE_WORD_NSLOTS,
	GC_EDGE_WORD_ENOUGH, GC_EDGE_WORD_TILES, GC_EDGE_WORD_FILLERS, GC_EDGE_WORDS
};

/*
 * Address of the request's selection bitmap, its bytes per chunk, address of the block summary,
 * the request's bit in that.
 */
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
	GC_GROUP_PART_MASK, GC_GROUP_PART_KEYS, GC_GROUP_PART_FLAGS
};

/*
 * Where chosen groups' words and keys (or numbers) go, and for how many there is room.  Memory for
 * the choice of the first few (cuda/gc_top.h), the pass of this launch, how many are wanted.  Of
 * rows: the image of the key that no row's is larger than.  Ends (by index) of the ranges of two keys' images.
 */
enum
{
	GC_CHOICE_WORDS, GC_CHOICE_KEYS, GC_CHOICE_CAP, GC_CHOICE_TOP, GC_CHOICE_PASS, GC_CHOICE_WANTED,
	GC_CHOICE_BEST, GC_CHOICE_END
};

/*
 * Which rows a pass takes (step/split.c).  Either their keys' hashes are in one of so many parts, or their
 * key lies from a lowest to a greatest value.
 */
enum
{
	GC_SPLIT_PARTS, GC_SPLIT_PART, GC_SPLIT_LO = 0, GC_SPLIT_HI
};
#define GC_SPLIT_GROUPS		GC_MAX_BUILDS

typedef struct GcArgWord
{
	u8			type;			/* GcArgType */
	u8			part;
	u16			index;
} GcArgWord;

/*
 * The split parts of a pipeline: the kernel takes the rows of one part only (step/split.c).  No bit is set in
 * kernels of requests that fit into device memory.
 *
 * builds.  Bit b: build b, which the pipeline fills or probes.  ranged.  Bit b: by ranges of its only
 * key, else by hash.  groups: the groups, by their keys; or with build groups_with - 1, if that is not 0.
 * Then first_key and nkeys have the keys: columns of the pipeline that scans the groups, which are keys of them (refs).
 */
typedef struct GcSplits
{
	u32			builds;
	u32			ranged;
	bool		groups;
	u8			groups_with;
	u16			first_key;
	u16			nkeys;
} GcSplits;

/* A kernel's half of a pipeline with an edge of GC_EDGE_MATERIALIZE. */
typedef enum GcEdgeSide
{
	GC_EDGE_BOTH = 0,			/* not of such an edge: all of the pipeline */
	GC_EDGE_PRODUCER,			/* the scan and the steps before the edge */
	GC_EDGE_CONSUMER			/* the steps from the edge on, and the sink */
} GcEdgeSide;

/*
 * Choices that do not change what a kernel computes; the scheduler makes them.
 *
 * selection, for a selection scan (kernel/selection.c).  Bit s: the kernel skips the pipeline's step s,
 * since the selection bitmap says which rows pass it.  Such a kernel reads cached chunks only.
 *
 * direct, only with selection.  Bit s: step s finds its row in a direct lookup table
 * (GC_ARG_DIRECT), not by hashing.
 *
 * shared_builds.  Bit b: the bitmap of dense build b (a candidate) is copied into shared memory at
 * kernel start.
 *
 * group_local: each block first keeps a dense group table in shared memory, in group_copies
 * copies, which its threads share evenly.
 *
 * group_cells, without group_local: each block keeps the groups whose rows come first, at most
 * this power of two; 0: none.
 *
 * edge: a GcEdge, which lies before step edge_step of the pipeline; before the sink if that is the number
 * of its steps.  It must be one of gc_pipeline_edges.  edge_side: a GcEdgeSide.
 *
 * vec: rows per thread and step, 8 or 16; 0 for device host, whose vectors have one size.
 * threads: largest block for which the kernel is compiled.
 */
typedef struct GcVariant
{
	u64			selection;
	u64			direct;
	u32			shared_builds;
	bool		group_local;
	u8			group_copies;
	u16			group_cells;
	u8			vec;
	u8			edge;
	u8			edge_step;
	u8			edge_side;
	u16			threads;
	GcSplits	splits;			/* all zero: nothing */
} GcVariant;

/* Field by field: a copy need not have the padding of the original. */
static inline bool
gc_same_splits(const GcSplits *a, const GcSplits *b)
{
	return a->builds == b->builds && a->ranged == b->ranged && a->groups == b->groups &&
		a->groups_with == b->groups_with && a->first_key == b->first_key && a->nkeys == b->nkeys;
}

/* Do they make the same kernel of a pipeline? */
static inline bool
gc_same_variant(const GcVariant *a, const GcVariant *b)
{
	return a->selection == b->selection && a->direct == b->direct && a->shared_builds == b->shared_builds &&
		a->group_local == b->group_local && a->group_copies == b->group_copies &&
		a->group_cells == b->group_cells && a->vec == b->vec && a->edge == b->edge && a->edge_step == b->edge_step &&
		a->edge_side == b->edge_side && a->threads == b->threads && gc_same_splits(&a->splits, &b->splits);
}

/*
 * When a kernel first reads a column: for rows that have passed the steps before.  Of these 1 in 2^(passed /
 * 2) is estimated to be left.  rows: so many are read at once, if one of them is left.
 */
typedef struct GcColumnReach
{
	u8			passed;
	u8			rows;
} GcColumnReach;

typedef struct GcKernelSource
{
	char	   *text;			/* malloc'd, NUL-terminated */
	GcArgWord	words[GC_MAX_ARG_WORDS];
	int			nwords;
	GcColumnReach reach[GC_MAX_COLUMNS];	/* of the columns that it reads */
} GcKernelSource;

/*
 * Traits of a pipeline's kernel, for the choice of a variant.  candidates: dense builds that
 * shared_builds may contain, one bit each: their bitmaps are tested on whole vectors or gathered
 * rows.  gathers: rows are queued (GC_VISIT_SHARED).  pairs: the kernel tries pairs in units.
 * group_key_words: 64-bit words of a hashed group's key.  per_warp_words: most per-warp words, of 32
 * bits, that it keeps as a member of a fused kernel.
 */
typedef struct GcPipelineTraits
{
	u32			candidates;
	bool		gathers;
	bool		pairs;
	int			group_key_words;
	int			per_warp_words;
} GcPipelineTraits;

extern GcPipelineTraits gc_pipeline_traits(const GcProgram *p, u16 pipeline);

/*
 * Before which steps of the pipeline may an edge lie (GcVariant)?  Bit s: before step s; before the sink if s is
 * the number of steps.  False: before none, it can only be fused.
 */
extern bool gc_pipeline_edges(const GcProgram *p, u16 pipeline, u64 *steps);

/*
 * Rows that pass an edge before a step of the pipeline.  packet_bytes: of a packet.  passed: estimate, 1 in 2^passed
 * rows of the scan.  before: steps before it.
 */
typedef struct GcEdgeShape
{
	u32			packet_bytes;
	int			passed;
	int			before;
} GcEdgeShape;

extern GcEdgeShape gc_edge_shape(const GcProgram *p, u16 pipeline, int edge_step);

/*
 * How the kernel that fuses the pipeline takes its steps: on whole vectors, on gathered rows, or row by row.  phase: of
 * each step.  False if that is not known, or if the kernel tries pairs.
 */
typedef enum GcStepPhase
{
	GC_PHASE_VECTOR,
	GC_PHASE_GATHERED,
	GC_PHASE_ROW
} GcStepPhase;

extern bool gc_step_phases(const GcProgram *p, u16 pipeline, u8 *phase);

/* Does the pipeline's kernel try pairs in units (cuda/gc_pair.h)? */
extern bool gc_tries_pairs(const GcProgram *p, u16 pipeline);

/*
 * Most static shared memory of a kernel that gathers rows: its warps' queues, and where their
 * spans have selected rows (gc_visit.h).
 */
#define GC_VISIT_SHARED	(32 * (384 * sizeof(u16) + 128))

/*
 * Threads of kernels over selection bitmaps for which a multiprocessor is to have room, since
 * such kernels mostly wait for memory.  With 1,024 threads some of their registers are spilled,
 * and a thread's gathered rows are read one after another.  On an H200 the Star Schema Benchmark's
 * kernels take the same time with both.  GC_SELECTED_BLOCKS: blocks that hold these threads.
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
 * The text of a kernel for several members (GcGang in cuda/gc_abi.h), as a kernel's own text is for one.  That is of
 * nwords argument words, and each member has the same ones.  *most: members that it can have.  The caller frees it.
 * NULL: there is room for one member only, or no memory.
 */
extern char *gc_gang_text(const char *text, int nwords, int *most);

/*
 * The kernel that collects the existing groups of a large, sparse dense group table.  w[0] is the
 * table, w[1] the number of groups, w[2] the words per group.  w[3] and w[4] are where groups'
 * words and numbers go.  It counts them in GC_FLAG_GROUPS.  The same for all programs.  malloc'd;
 * NULL when out of memory.
 */
extern char *gc_generate_compactor(void);
#define GC_COMPACTOR_WORDS	5

/*
 * The kernel that executes a text program for each value of a dictionary (cuda/gc_text.h).  w[0] and w[1] are the
 * values' bytes and starts, w[2] the table and w[3] the bytes of an entry.  w[4] is the first code and w[5] the end
 * of them.  w[6] and w[7] are the program and its number of operations, w[8] whether the encoding is UTF-8.  A block
 * takes GC_TEXT_VALUES values at a time.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_text_kernel(void);
#define GC_TEXT_WORDS		9
#define GC_TEXT_VALUES		256

/*
 * The kernel that reads words at an address, w[0], and as many bytes on from each as w[2] says; w[1] is how many.  w[3]
 * is a word that it may write to.  malloc'd; NULL when out of memory.
 */
extern char *gc_generate_link_kernel(void);
#define GC_LINK_WORDS		4

/*
 * The kernel that makes bitmaps of visible rows (cuda/gc_holes.h).  w[0] is an array of GcVisible,
 * w[1] their number, w[2] the pieces of GC_HOLES_WORDS words of the largest one.  malloc'd; NULL
 * when out of memory.
 */
extern char *gc_generate_holes_kernel(void);
#define GC_HOLES_KERNEL_WORDS	3
#define GC_HOLES_WORDS			1024

/*
 * The kernel of windows over kept rows (cuda/gc_window.h), whose words are GC_WINDOW_*.  malloc'd;
 * NULL when out of memory.
 */
extern char *gc_generate_window_kernel(void);

/*
 * Bytes of shared memory (scratch on host) that a pipeline's kernel needs.  ranges[b] is the key range of
 * each shared build, ngroups the size of a local group table.
 */
extern u64 gc_shared_bytes(const GcProgram *p, u16 pipeline, const GcVariant *variant,
						   const u64 *ranges, u64 ngroups);

#endif							/* GC_CODEGEN_H */
