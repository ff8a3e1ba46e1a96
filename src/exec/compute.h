/*-------------------------------------------------------------------------
 *
 * compute.h
 *	  Computing the entries of a lookup table, and the dictionaries that texts are codes of; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_COMPUTE_H
#define GC_EXEC_COMPUTE_H

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

#endif							/* GC_EXEC_COMPUTE_H */
