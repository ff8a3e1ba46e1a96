/*-------------------------------------------------------------------------
 *
 * occurring.h
 *	  Which values of a column occur in the rows that a statement sees; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_OCCURRING_H
#define GC_EXEC_OCCURRING_H

#include "compute.h"

/*
 * Which entries of a lookup table are of values that occur, palloc'd; entry 0 also where an outer join may make a NULL.
 * NULL: that is not known, since the argument is neither the value of a column in each row, nor the date of one.
 */
extern const bool *gc_occurring_entries(const GcLookupWork *w);

#endif							/* GC_EXEC_OCCURRING_H */
