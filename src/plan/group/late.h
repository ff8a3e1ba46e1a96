/*-------------------------------------------------------------------------
 *
 * late.h
 *	  Columns that are only carried along: fetched by row id for the rows that are returned; private
 *	  to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LATE_H
#define GC_LATE_H

#include "../base/translate.h"

/*
 * Have columns that neither steps, groups nor the order need fetched by row id after the first few
 * rows or groups were chosen.  The order is noted in the plan.  Returns the translation to go on with:
 * the same one where nothing is fetched late.
 */
extern GcTranslation *gc_fetch_late(GcTranslation *tr);

/* Which expressions does the program compute?  By number; and so of a column, a payload, a lookup table. */
extern bool *gc_live_exprs(const GcTranslation *tr);
extern bool gc_column_live(const GcTranslation *tr, const bool *live, int column);
extern bool gc_payload_live(const GcTranslation *tr, const bool *live, int payload);
extern bool gc_lut_live(const GcTranslation *tr, const bool *live, int lut);

#endif							/* GC_LATE_H */
