/*-------------------------------------------------------------------------
 *
 * fused.h
 *	  Kernels that do the work of several pipelines over one table.
 *
 * Pure C, called on the worker's main thread.  The caller owns, and frees, the texts that it is
 * given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_FUSED_H
#define GC_CODEGEN_FUSED_H

#include "codegen.h"

#define GC_MAX_FUSED		16
#define GC_FUSED_ANY		0xFFFFu

/* One member of a fused kernel: a pipeline over the table that all members scan. */
typedef struct GcFusedMember
{
	const GcProgram *p;
	u16			pipeline;
	GcVariant	variant;
	const i16  *columns;		/* per column of p: the number of its physical column (below
								 * GC_MAX_COLUMNS), or -1 where the pipeline does not read it.
								 * Members with equal numbers read the same cached column. */
} GcFusedMember;

/*
 * A word's meaning, and the member that it belongs to.  GC_FUSED_ANY is for GC_ARG_MEMBERS, and for
 * GC_ARG_COLUMN, part 0.  Its index is then a physical column, and `readers` are the members that
 * read it, one bit each.
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
 * Generate the kernel that does the work of the kernels of its n members.  A launch serves any of the members
 * (GC_ARG_MEMBERS).  It touches nothing of the others, whose words may be 0.  Words of columns that only those others
 * read may be 0, too.
 *
 * The launch's sources are the chunks, all cached, that at least one member reads.  GcSource.valid
 * is the set of members that read the chunk.  A member's private chunks need a launch of its own
 * kernel with the same flags and sink, before or after.  Every sink adds to its earlier contents.  GcScan.flags is not
 * used.
 *
 * The kernel is compiled for the largest of the members' blocks.  It takes 8 rows per thread
 * unless all members' variants say 16 (device host: all 0).
 *
 * Vectors that at least two members want in their first stage are loaded once, before the
 * members.  On cuda each takes as many registers as a thread has rows (8-byte codes: twice that)
 * while the members run.  Other vectors are found in the L1 cache.
 *
 * The caller frees source->text.  GC_UNSUPPORTED: a build, too many members, or more words than
 * GC_MAX_ARG_WORDS; fewer members may still fit.
 */
extern GcCode gc_generate_fused(const GcFusedMember *members, int n, GcFusedSource *source, GcError *err);

/*
 * Bytes of shared memory (scratch on host) for a launch that serves the members in `taking_part`.
 * Their parts lie one after another.  starts[m] receives where that of member m begins, as
 * GC_ARG_SHARED wants it.  ranges[m], ngroups[m]: as in gc_shared_bytes; not looked at for other
 * members.
 */
extern u64 gc_fused_shared_bytes(const GcFusedMember *members, int n, u32 taking_part,
								 const u64 *const *ranges, const u64 *ngroups, u64 *starts);

#endif							/* GC_CODEGEN_FUSED_H */
