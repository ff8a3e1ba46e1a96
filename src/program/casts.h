/*-------------------------------------------------------------------------
 *
 * casts.h
 *	  Bound types of casts; private to program/.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CASTS_H
#define GC_CASTS_H

#include "typer.h"

/* Range, scale and checks of a cast. */
extern GcCode gc_type_cast(GcTyper *t, GcExpr *e, GcRange *r);

#endif							/* GC_CASTS_H */
