/*-------------------------------------------------------------------------
 *
 * hints.h
 *	  What executions of a program have taught this backend; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HINTS_H
#define GC_HINTS_H

#include "../program/hash.h"
#include "../program/program.h"

/* What one program has taught this backend about its data. */
typedef struct GcHints
{
	GcHash		key;			/* logical program */
	uint32		no_dense;		/* builds with duplicate keys */
	uint32		build_full;		/* builds whose estimate was too small */
	uint8		group_boost[GC_MAX_PIPELINES];	/* powers of 8 */
	uint64		rows_needed;	/* of a row sink, or of chosen groups */
} GcHints;

extern GcHints *gc_hints(const GcProgram *logical);

#endif							/* GC_HINTS_H */
