/*-------------------------------------------------------------------------
 *
 * passes.h
 *	  Passes of a request whose builds or groups do not fit into device memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PASSES_H
#define GC_PASSES_H

#include "postgres.h"

#include "../../codegen/codegen.h"
#include "../../queue/queue.h"

/* A request takes no more launches of one kernel than that. */
#define GC_MOST_PASSES		128

typedef struct GcPasses GcPasses;

/* Do the request's builds, groups and result fit into the device's memory? */
extern bool gc_passes_fit(const GcRequest *r, bool gather, bool choose);

/* Find out which tables of a request can be split.  Its memory is cxt's; so far there is one pass. */
extern GcPasses *gc_passes_make(GcRequest *r, bool gather, bool choose, MemoryContext cxt);

/*
 * Split the request, so that it takes no more memory than there is.  Sizes in the request become those of
 * one part.  False if that is not possible.  columns: leave room for columns.  less: it takes less than
 * now, since the memory for that was not there.
 */
extern bool gc_passes_plan(GcPasses *ps, bool columns, bool less);

/*
 * A build (GC_RETRY_BUILD_FULL) or the groups of a pipeline (GC_RETRY_GROUPS) had no room for a part.  True
 * if there can be more; the request is then to be planned again.
 */
extern bool gc_passes_grow(GcPasses *ps, GcCode code, u64 number);

/* Splits of a pipeline's kernel; a word of its parameter. */
extern GcSplits gc_passes_splits(const GcPasses *ps, int pipeline);
extern u64	gc_passes_word(const GcPasses *ps, const GcArgWord *w);

/* The most launches of one kernel. */
extern u32	gc_passes_count(const GcPasses *ps);

/*-------------------------------------------------------------------------
 * Going through the passes of a pipeline.  ps may be NULL: there is one.
 *-------------------------------------------------------------------------
 */

/* Nothing is in memory yet, and all pipelines are at their first pass. */
extern void gc_passes_begin(GcPasses *ps);

/*
 * Is this the pipeline's first, or its last pass?  Of the main pipeline, for this part of its groups.
 * gc_passes_next: go to its next one; behind the last, to the first again, and false.
 */
extern bool gc_passes_first(const GcPasses *ps, int pipeline);
extern bool gc_passes_last(const GcPasses *ps, int pipeline);
extern bool gc_passes_next(GcPasses *ps, int pipeline);

/* Parts of the main pipeline's groups: is this the last one; and the next one. */
extern bool gc_passes_last_groups(const GcPasses *ps);
extern void gc_passes_next_groups(GcPasses *ps);

/* Is a build split? */
extern bool gc_passes_split_build(const GcPasses *ps, int b);

/*
 * Must a build, or a pipeline's groups be made for this pass, since another part of them is in memory?  True
 * once: the part counts as made then, and the request has its sizes.
 */
extern bool gc_passes_due_build(GcPasses *ps, int b);

/* Before a table is made for a split build: give the request the size that has room for each of its parts. */
extern void gc_passes_room(GcPasses *ps, int b);
extern bool gc_passes_due_groups(GcPasses *ps, int pipeline);

/* Is a pipeline that is the rest of another one to run behind this pass of that one? */
extern bool gc_passes_due_rest(const GcPasses *ps, int rest);

#endif							/* GC_PASSES_H */
