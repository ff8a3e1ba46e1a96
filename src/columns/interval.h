/*-------------------------------------------------------------------------
 *
 * interval.h
 *	  Intervals as 64-bit integers: microseconds.
 *
 * PostgreSQL keeps months, days and a time apart, and compares what they come to: a month is 30 days, a day
 * 24 hours.  So equal intervals can differ.  Those that have a form here do not: they have no months, less
 * than a day of time, and days and time of one sign, as the difference of two timestamps.
 *
 * Runs in backends and loaders.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_INTERVAL_H
#define GC_INTERVAL_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* False: it has not this form. */
extern bool gc_interval_to_int64(const Interval *interval, int64 *us);

/* What it is in comparisons, whatever its form; false: beyond 64 bits. */
extern bool gc_interval_compared(const Interval *interval, int64 *us);

/* In CurrentMemoryContext. */
extern Interval *gc_int64_to_interval(int64 us);

#endif							/* GC_INTERVAL_H */
