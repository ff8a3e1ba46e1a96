/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  Scans that try pairs, and their launch in pieces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_PAIRS_H
#define GC_RUN_PAIRS_H

#include "../../queue/queue.h"

/*
 * A scan that tries pairs (cuda/gc_pair.h), or a part of it: `count` units from `from` on.  slices: units of a part; 0,
 * the pipeline tries no pairs.  Of a list that is cut, by its build, slices and the rows of one.
 */
typedef struct GcPairs
{
	u64			from;
	u64			count;
	u64			slices;
	u64			parts;
	int			level;			/* how large slices are (pairs.c) */
	u64			list_slices[GC_MAX_BUILDS];
	u64			list_rows[GC_MAX_BUILDS];
} GcPairs;

/* A piece may have this many times the pairs of the one before, at most, or one part in it. */
#define GC_PIECE_FACTOR	4

/* Pairs of a unit, at most, but where more are needed for some other reason. */
#define GC_UNIT_PAIRS	((double) (1 << 22))

/* The whole scan of a pipeline; slices is 0 where it tries no pairs. */
extern GcPairs gc_pairs_of(const GcRequest *request, int pipeline);

/* The next piece of a whole scan, from unit `from` on, that tries about `wanted` pairs. */
extern GcPairs gc_pairs_piece(const GcRequest *request, int pipeline, const GcPairs *whole, u64 from, double wanted);

/* Pairs that a pipeline tries in all, and in a unit; 0: it tries none. */
extern double gc_pairs_total(const GcRequest *request, int pipeline, double *unit);

/* Pairs of a first piece, whose time is not known yet. */
extern double gc_pairs_first(void);

/*
 * Pairs of a next piece, where this one took so many microseconds.  The rest of the scan may be cut otherwise from
 * there on: then *whole is the scan, and *piece an empty piece of it.
 */
extern double gc_pairs_next(const GcRequest *request, int pipeline, GcPairs *whole, GcPairs *piece, double us);

/* Blocks that may be of use for so many units. */
extern u32	gc_pairs_blocks(u64 units, int threads);

#endif							/* GC_RUN_PAIRS_H */
