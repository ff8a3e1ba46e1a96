/*-------------------------------------------------------------------------
 *
 * interval.h
 *	  Intervals as 64-bit integers: microseconds.
 *
 * PostgreSQL keeps months, days and a time apart, and compares their total: a month is 30 days, a day 24 hours.  So
 * equal intervals can differ.  Intervals that have a form here do not.  They have no months, less than a day of time,
 * and days and time of one sign, as the difference of two timestamps.
 *
 * Runs in backends and loaders.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_INTERVAL_H
#define GC_INTERVAL_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* A month of an age. */
#define GC_AGE_MONTH	(31 * USECS_PER_DAY)

/* False: it has not this form. */
extern bool gc_interval_to_int64(const Interval *interval, int64 *us);

/* The interval's value in comparisons, whatever its form; false: beyond 64 bits. */
extern bool gc_interval_compared(const Interval *interval, int64 *us);

/* In CurrentMemoryContext. */
extern Interval *gc_int64_to_interval(int64 us);

/* A result of age(): it has at most 30 days beside its months, and all of its parts have one sign. */
extern Interval *gc_age_to_interval(int64 age);

#endif							/* GC_INTERVAL_H */
