/*-------------------------------------------------------------------------
 *
 * decoder.h
 *	  A result that is being decoded: result.c goes through its rows, and aggregates.c makes
 *	  the aggregates of each; private to these two.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DECODER_H
#define GC_DECODER_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "exec.h"
#include "rollup.h"

/* State of the variances that PostgreSQL's final functions compute; all zero at first. */
typedef struct GcVariances
{
	MemoryContext scratch;
	AggState   *caller;
	FmgrInfo	deserialize;
	FmgrInfo	finish;			/* the final function called last */
} GcVariances;

typedef struct GcDecoder
{
	GcBinding  *b;
	const GcProgram *p;
	const GcExpr *exprs;
	const GcPAgg *aggs;
	const u16  *refs;
	const GcPPipeline *pl;
	const GcGroupKeyValue *keys;	/* of the main pipeline */
	const GcResult *result;
	const GcSetGroups *set;		/* of the grouping set that is decoded; NULL: as delivered */
	uint64		dims[GC_MAX_KEYS];	/* dense groups: values per key */
	uint64		nrows;
	int64		raw;			/* of the key or value decoded last */
	const bool *columns;		/* outputs to be decoded; NULL: all */
	GcVariances variances;
	Datum	  **texts;			/* per output, by code: texts made already; or NULL */
	GcCode		code;
} GcDecoder;

/*
 * The value of an output that is an aggregate, of a group with accumulators g.  Sets d->code where
 * PostgreSQL has to compute it.
 */
extern Datum gc_agg_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull);

/* The datum of a numeric group key of several display scales: raw, at scale `from`. */
extern Datum gc_varying_key(GcDecoder *d, const u64 *g, int64 raw, int16 from, const GcPlanOutput *out);

/* Give back what variances have taken. */
extern void gc_variances_end(GcVariances *v);

#endif							/* GC_DECODER_H */
