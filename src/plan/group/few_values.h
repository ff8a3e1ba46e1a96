/*-------------------------------------------------------------------------
 *
 * few_values.h
 *	  How many groups there can be at most, by the statistics of columns; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FEW_VALUES_H
#define GC_FEW_VALUES_H

#include "../base/translate.h"

/* The groups of a pipeline, by its keys; infinite if that is not known. */
extern double gc_most_groups(const GcTranslation *tr, int pipeline);

#endif							/* GC_FEW_VALUES_H */
