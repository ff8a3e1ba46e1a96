/*-------------------------------------------------------------------------
 *
 * chunk_internal.h
 *	  A chunk that is being read, as chunk.c and hot_chunk.c see it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CHUNK_INTERNAL_H
#define GC_CHUNK_INTERNAL_H

#include "../encode/reader.h"
#include "../serve/versions.h"
#include "../store/dict.h"
#include "chunk.h"
#include "job.h"
/* A set of the job's columns that is read together. */
typedef struct GcColumnSet
{
	GcReader   *reader;			/* made when first needed */
	int			ncols;
	int		   *job_cols;
	GcDictView **dicts;
} GcColumnSet;

struct GcLoader
{
	Relation	rel;
	GcLoadJob  *job;
	MemoryContext context;		/* as long as the loader */
	MemoryContext chunk_context;	/* one chunk's views and maps */
	GcColumnSet all;			/* for chunks loaded anew */
	GcColumnSet added;			/* for chunks that have the others */
};

/* The chunk being read, in chunk_context. */
typedef struct GcReading
{
	uint32		chunkno;
	bool		full;
	BlockNumber first;
	uint32		npages;
	uint32		npresent;
	uint32		pages_read;
	XLogRecPtr	lsn;			/* of the map page */
	bool		told_by_map;	/* not full: with this LSN, that the base's chunk has not changed */
	XLogRecPtr	proven_to;		/* where the WAL ended before a page was read (serve/fresh.h) */
	uint8	   *present;
	XLogRecPtr *lsns;			/* of present pages */
	FullTransactionId before;	/* as GcChunk's */
	uint32	   *first_missing;
	uint16	   *missing;
	uint32		missing_size;
	uint32	   *row_start;
	uint32	   *base_row_start; /* not full: what row_start must equal */
	uint32	   *problem_page;	/* per column of the set: first page with a problem */
	GcColumnSet *set;

	/* A hot chunk's (hot_chunk.c); else NULL.  npages are wanted, npresent kept. */
	GcJobHotPage *wanted;
	bool	   *refused;		/* per wanted page */
	GcHotPages *hot;			/* of the kept pages, in local memory */
	uint32		versions_size;
	uint32		left_out_size;
	uint32		gone_size;
} GcReading;

/* Has a column of the set met a problem, apart from those given up before? */
static inline bool
gc_met_problem(const GcLoader *loader, const GcColumnSet *set)
{
	for (int i = 0; i < set->ncols; i++)
	{
		if (gc_encoder_problem(gc_reader_encoder(set->reader), i) != GC_COL_OK &&
			pg_atomic_read_u32(&loader->job->data->cols[set->job_cols[i]].problem) == GC_COL_OK)
			return true;
	}
	return false;
}

/* Hot pages that were wanted and are not kept. */
static inline uint32
gc_pages_refused(const GcReading *reading)
{
	return reading->wanted ? reading->npages - reading->npresent : 0;
}

/* Hot pages are read in hot_chunk.c. */

/* Begin to read a hot chunk of reading->npages pages, which is in chunk_context. */
extern void gc_hot_begin(GcReading *reading, GcJobHotPage *wanted);

/*
 * Read or copy the pages that are not refused into the set's encoder, which is empty.  False if a
 * page had a value that a column cannot take; it is refused from now on.  Needs a guard.
 */
extern bool gc_hot_read(GcLoader *loader, GcReading *reading);

/*
 * Read the set's columns for the rows of a hot chunk of the base.  False if that
 * cannot be, or a column cannot take a value.  Needs a guard.
 */
extern bool gc_hot_add(GcLoader *loader, GcReading *reading);

/* The chunk of the pages that were read, without its columns; NULL without memory. */
extern GcChunk *gc_hot_make_chunk(const GcReading *reading);

#endif							/* GC_CHUNK_INTERNAL_H */
