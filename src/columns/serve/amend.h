/*-------------------------------------------------------------------------
 *
 * amend.h
 *	  What has changed between a base and what a later snapshot is served (serving.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_AMEND_H
#define GC_AMEND_H

#include "serving.h"

typedef struct GcAmendedHole
{
	uint32		chunk;
	GcHole		hole;
} GcAmendedHole;

typedef struct GcAmendment
{
	uint32		nholes;
	GcAmendedHole *holes;		/* ascending; apart from each other, but not from the base's */
	uint32		nblocks;
	BlockNumber *blocks;		/* that are to be read, beside the base's or, if its delta is open, in all; ascending */
	uint32		nnew;
	GcNewRows  *new_rows;		/* of others only these; ascending */
	uint32		noffsets;
	uint16	   *offsets;
	uint32		ntuples;		/* and these, of yet others */
	HeapTuple  *tuples;
	uint32		nread;			/* pages that they are of, or that only have holes */
	uint64		read_id;		/* of the note that has the tuples (read_pages.h); 0: there are none */
	BlockNumber end;			/* of the relation now: blocks behind the base's are to be read, too */
	uint32		taken;			/* of all these pages: those that the base serves */
	uint32		from_heap;		/* of these: those that chunks of the heap have */
	uint32		own;			/* and those with this session's changes */
} GcAmendment;

/*
 * Find out what has changed for a snapshot that is later than the base's; false if too much has, or
 * nothing is proven.  Hot chunks are proven.  palloc'd.
 */
extern bool gc_amend_find(GcProof *proof, const GcBase *base, Snapshot snapshot, GcAmendment *amendment);

/* The same for the base's own snapshot, which has just been served. */
extern void gc_amend_open(GcProof *proof, const GcBase *base, Snapshot snapshot, GcAmendment *amendment);

/* What is served. */
extern void gc_amend(const GcDirectory *dir, const GcBase *base, const GcAmendment *amendment, GcServed *served);

#endif							/* GC_AMEND_H */
