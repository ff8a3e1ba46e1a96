/*-------------------------------------------------------------------------
 *
 * layout.h
 *	  How a bound program holds values; private to program/.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LAYOUT_H
#define GC_LAYOUT_H

#include "typer.h"

/* Registers and scales of what expressions refer to, for the code generator. */
extern void gc_lay_out_values(GcTyper *t);

/* How payloads are stored, once expressions are typed. */
extern GcCode gc_lay_out_payloads(GcTyper *t);

/* Accumulators, and where each lies in a group's words. */
extern GcCode gc_lay_out_aggs(GcTyper *t);

/* Group keys and row outputs must each fit in one word. */
extern GcCode gc_check_outputs(GcTyper *t);

#endif							/* GC_LAYOUT_H */
