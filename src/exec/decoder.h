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
#include "order.h"

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
	MemoryContext scratch;		/* of what is not returned */
	const GcProgram *p;
	const GcExpr *exprs;
	const GcPAgg *aggs;
	const u16  *refs;
	const GcPPipeline *pl;
	const GcGroupKeyValue *keys;	/* of the main pipeline */
	const GcResult *result;
	List	   *of_none;		/* int: of grouping sets' groups that have no row, what the set leaves out; NIL: as delivered */
	const u64  *nothing;		/* their accumulators */
	uint64		dims[GC_MAX_KEYS];	/* dense groups: values per key */
	uint64		nrows;
	const GcOrderColumn **ordered;	/* per output: it is sorted by; or NULL */
	GcVariances variances;
	Datum	  **texts;			/* per output, by code: texts made already, or NULL */
	GcCode		code;
} GcDecoder;

/* The text of a code that an output has.  Rows with the same one share it, where codes are few. */
extern Datum gc_text_datum(GcDecoder *d, GcKind kind, const GcPlanOutput *out, uint32 code);

/*
 * The value of an output that is an aggregate, of a group with accumulators g.  Sets d->code where
 * PostgreSQL has to compute it.
 */
extern Datum gc_agg_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull);

/* Can an aggregate be sorted by an integer?  And this is it, of a group that has one. */
extern bool gc_agg_is_integer(const GcPlanOutput *out);
extern i128 gc_agg_integer(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull);

/* The datum of a numeric group key of several display scales: raw, at scale `from`. */
extern Datum gc_varying_key(GcDecoder *d, const u64 *g, int64 raw, int16 from, const GcPlanOutput *out);

/* Give back what variances have taken. */
extern void gc_variances_end(GcVariances *v);

#endif							/* GC_DECODER_H */
