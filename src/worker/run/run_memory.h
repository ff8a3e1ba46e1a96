/*-------------------------------------------------------------------------
 *
 * run_memory.h
 *	  A request's device memory, and the stream to which everything is queued.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_MEMORY_H
#define GC_RUN_MEMORY_H

#include "../memory/builds.h"
#include "../memory/device_cache.h"
#include "../memory/device_lookups.h"
#include "../memory/device_memory.h"
#include "memory_demand.h"

/* A request's device memory, and the stream to which all of that is queued. */
typedef struct GcRunMemory
{
	GcRunClaim	claim;
	GcStream   *stream;
	GcTable   **tables;			/* per column */
	GcBuildTable **builds;		/* per build */
	GcAddr	   *matched;		/* per build: a byte for each row, which tells if something matched
								 * it; 0: nobody wants to know */
	GcDeviceDict **dicts;		/* per lookup table: read by the kernel that computes it; else NULL */
	GcDeviceLookup **lookups;	/* per lookup table; NULL: it travels with the request */
	GcAddr		device_part;
	GcAddr		relocated;		/* base that the device part's addresses contain */
	bool		device_part_owned;
	GcAddr		bitmaps;		/* of visible rows; 0: none */
	GcAddr		bitmaps_relocated;	/* base that the request's addresses of them contain */
	GcAddr		sink;			/* GC_FLAGS_ROOM, then the main sink's memory */
	u64			sink_zero;		/* bytes from sink on to be zeroed */
	GcSinkMemory *sinks;		/* per pipeline; empty where it fills a build */
	GcAddr		gathered;		/* the words of groups that are collected or chosen */
	GcAddr		gathered_keys;	/* their numbers in a dense table, or else their keys */
	GcAddr		top;			/* memory for the choice of the first few (cuda/gc_top.h) */
	GcAddr		edge_memory;	/* for packets between steps of its pipelines; 0: none go through memory */
	u64			edge_bytes;		/* of that */
	GcCopies	copies;			/* of chunks, dictionaries and lookup tables, without those of waves */
	u64			copied_columns; /* bytes of these copies */
	u64			copied_lookups;
	GcEvent    *copied;			/* behind those copies, before it builds; NULL: it did neither */
	GcEvent    *built;			/* behind its builds; NULL: there were none */
	GcEvent    *prepared;		/* as gc_run_prepared's; NULL: not asked for yet */
	bool		prepared_alone; /* no other request had device memory when these were queued */
} GcRunMemory;

/* Have a stream, and queue everything on it that comes before the main kernel. */
extern GcCode gc_run_prepare(GcRun *run);

/* Queue, for a later pass, all that a pipeline and its arms read, but the pipeline's own columns. */
extern GcCode gc_run_below(GcRun *run, int pipeline);

/*
 * Have column c of an input for kernels that are queued on the stream next, even if the run's own do not read it.
 */
extern GcCode gc_run_have_column(GcRun *run, int input, int c, GcStream *stream, GcError *err);

/*
 * Queue a kernel other than the main one, on the whole device; and those of a pipeline's arms
 * and rests, behind its own.
 */
extern GcCode gc_run_launch_whole(GcRun *run, int pipeline, GcAddr flags);
extern GcCode gc_run_launch_rests(GcRun *run, int pipeline, GcAddr flags);

/*
 * An event behind the work before the main kernel, for others to wait for.  NULL if the device gives none (run->err).
 * Do not keep it: more may be queued later.
 */
extern GcEvent *gc_run_prepared(GcRun *run);

/* More was queued before the main kernel. */
extern void gc_run_not_prepared(GcRun *run);

/* Wait until all is over that is queued on the run's stream. */
extern void gc_run_await(GcRun *run);

/* The device no longer uses it: give back the memory, events, and the stream. */
extern void gc_run_free_memory(GcRun *run);

#endif							/* GC_RUN_MEMORY_H */
