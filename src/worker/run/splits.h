/*-------------------------------------------------------------------------
 *
 * splits.h
 *	  What of a request is split into parts, for passes.c.
 *
 * The worker's main thread.  A GcPasses lives as long as its run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SPLITS_H
#define GC_SPLITS_H

#include "passes.h"

/* Room that a part has at first, in eighths of what it would have if all parts were equal. */
#define GC_FIRST_ROOM	10

#define GC_NOT_SPLIT		(-1)
#define GC_MOST_SPLITS		(GC_MAX_BUILDS + GC_MAX_PIPELINES)

typedef struct KeySplit
{
	u16			pipeline;		/* whose passes these are */
	u16			first_key;		/* what its rows are split by: refs; GC_NONE: not by a probe's keys */
	u16			nkeys;
	bool		main_groups;
	bool		ranged;
	bool		closed;			/* more parts are of no use, or would be too many passes */
	i64			base;			/* ranged: of all builds */
	u64			range;
	u32			parts;
	u32			part;
} KeySplit;

struct GcPasses
{
	GcRequest  *r;
	const GcProgram *p;
	bool		gather;
	bool		choose;
	u64			limit;			/* bytes that it may take */
	GcBuildValue builds[GC_MAX_BUILDS];	/* as bound */
	GcSinkValue sinks[GC_MAX_PIPELINES];
	KeySplit	split[GC_MOST_SPLITS];
	int			nsplits;
	i8			of_build[GC_MAX_BUILDS];	/* number of its split, or GC_NOT_SPLIT */
	i8			of_groups[GC_MAX_PIPELINES];
	u8			groups_with[GC_MAX_PIPELINES];	/* as in GcSplits */
	u16			groups_key[GC_MAX_PIPELINES];
	u32			room_build[GC_MAX_BUILDS];
	u32			room_groups[GC_MAX_PIPELINES];
	u32			made_build[GC_MAX_BUILDS];	/* 1 + part in memory; 0: none */
	u32			made_groups[GC_MAX_PIPELINES];
};

/* Does the pipeline have passes, or takes part in those of another one? */
extern bool gc_has_passes(const GcProgram *p, int pipeline);

/* Do rests of the pipeline come behind it? */
extern bool gc_has_rest(const GcProgram *p, int pipeline);

/* Device memory for a build; for a sink other than a build; for all of the request; for columns. */
extern u64	gc_bytes_of_build(const GcRequest *r, int b);
extern u64	gc_bytes_of_sink(const GcRequest *r, int pipeline, bool gather, bool choose);
extern u64	gc_bytes_of_request(const GcRequest *r, bool gather, bool choose);
extern u64	gc_bytes_of_columns(const GcRequest *r);
extern u64	gc_bytes_of_waves(const GcRequest *r);

#endif							/* GC_SPLITS_H */
