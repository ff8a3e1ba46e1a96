/*-------------------------------------------------------------------------
 *
 * compute.h
 *	  Computing the entries of a lookup table, and the dictionaries that texts are codes of; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_COMPUTE_H
#define GC_EXEC_COMPUTE_H

#include "postgres.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

#include "exec.h"

/* Is an expression being evaluated there? */
extern bool gc_in_lookup;

/* The dictionary of a space; NULL: it has none. */
extern GcDictView *gc_space_dict(GcBinding *b, uint16 space);

/* The number of its values when this was first asked for; texts that are added for other lookup tables do not count. */
extern uint32 gc_space_values(GcBinding *b, uint16 space);

/* The value of a code, blank-padded where its type is; palloc'd. */
extern Datum gc_text_value(GcBinding *b, GcKind kind, uint16 space, uint32 code);

/* A table to be had. */
typedef struct GcLookupWork
{
	GcBinding  *b;
	const GcPlanLut *lut;
	GcKind		kind;			/* of the results */
	GcKind		argkind;
	GcLookupKey key;			/* in shared memory */
	bool		shareable;
	uint32		count;			/* entries, with entry 0 */
	uint32		own;			/* of which the last are of values that only this request has */
	GcDictView *from;			/* text: the values */
	GcDictView *to;				/* translations: where they are looked up */
	GcDictView *second;			/* pairs of texts: the second one's values, */
	uint32		seconds;		/* of which there are one less, and NULL */
	uint32		to_count;		/* shared values there, and own ones */
	uint32		to_own;
	const bool *wanted;			/* expressions: the entries to be evaluated; NULL: all */
} GcLookupWork;

/*
 * Compute the entries that table t (NULL: none) lacks, in CurrentMemoryContext.  Range and hash
 * are left to the caller.
 */
extern GcCode gc_compute_lookup(GcLookupWork *w, const GcSharedLookup *t, GcLookup **result);

/* Fill an empty table with ranks.  t: a table that has ranked the first values, or NULL. */
extern void gc_compute_rank(const GcLookupWork *w, const GcSharedLookup *t, GcLookup *l);

/* The function by which a ranking compares values. */
extern Oid	gc_rank_function(const GcPlanLut *lut);

/*
 * The hash by which a table's time zone is known in all sessions; an expression's is the session's.  False: not to be
 * had.
 */
extern bool gc_zone_hash(const GcBinding *b, const GcPlanLut *lut, GcHash *hash);

/*
 * Fill a table of dates, from `first` on, with a part of what the zone does on them.
 * GC_UNSUPPORTED: it does more on one.
 */
extern GcCode gc_compute_zone(const GcLookupWork *w, GcLookup *l);

/* May workers compute entries of this table? */
extern bool gc_may_use_workers(const GcLookupWork *w);

/* The session's own part: compute entries [from, end), and take the result of entry i.  False: no more is wanted. */
typedef struct GcEntries
{
	bool		(*compute) (void *arg, uint32 from, uint32 end);
	bool		(*take) (void *arg, uint32 i, Datum value, bool isnull);
	void	   *arg;
	int			padded;			/* blank-padded length, in characters, of the texts; or 0 */
} GcEntries;

/*
 * Have entries [from, end) computed by workers and this process, and taken in their order.  What a worker raises is
 * raised here.  False: none could be launched, and this process has done all.
 */
extern bool gc_compute_by_workers(const GcLookupWork *w, uint32 from, uint32 end, const GcEntries *entries);

/* Entry point of the workers. */
extern PGDLLEXPORT void gc_lookup_worker_main(dsm_segment *seg, shm_toc *toc);

/* A text program; see cuda/gc_text.h. */
typedef struct GcTextProgram
{
	uint32		nops;
	bool		utf8;
	uint32		bytes;			/* operations and constants */
	uint8	   *data;			/* palloc'd, aligned for either */
	int64		most;			/* no result that is a number is larger */
	uint32		pattern;		/* length of what each value is searched for; 0: nothing */
} GcTextProgram;

/*
 * Is table w an expression whose rules in this encoding and collation are known here, and which
 * cannot raise an error?
 */
extern bool gc_text_compile(const GcLookupWork *w, GcTextProgram *program);

/* Set entries from l->first on.  False: a result is too long, or there are too many. */
extern bool gc_text_fill(const GcLookupWork *w, const GcTextProgram *program, GcLookup *l);

#endif							/* GC_EXEC_COMPUTE_H */
