/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  The cost model: how long kernels take, alone, side by side, and fused.
 *
 * A kernel's time alone is predicted from the bytes that it reads; once it has run alone, the
 * measured time counts.  A kernel that shares nothing with others adds overlap_other_tables of
 * its time to theirs: mostly all of it, since memory is the bottleneck of both.  Scans of the same
 * chunks in step read them once (coresident.h); where memory bounds them, each still adds
 * overlap_same_table of its time.  A member of a fused scan, which loads every column once, adds
 * least.  These parts are properties of the device, measured by bench/two_stage/calibrate.
 *
 * The server starts from these, and learns the rest from the times of launches (GcLearned).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COST_H
#define GC_COST_H

#include <stdbool.h>
#include <stdint.h>

/* Constants of one device; times in microseconds, bandwidths in bytes per microsecond. */
typedef struct GcCalibration
{
	double		read_bandwidth; /* of device memory */
	double		launch_us;		/* of an empty kernel, on the device */
	double		flight_bytes;	/* bytes in flight to one multiprocessor that use up the
								 * bandwidth */
	double		overlap_other_tables;	/* part of its time that a kernel adds to others */
	double		overlap_same_table; /* of a scan co-resident with scans of the
									 * same chunks */
	double		fused;			/* of a member of a fused scan */

	/* For edges between the steps of a pipeline (edges.h), by bench/pipelines/calibrate. */
	double		l2_bandwidth;
	double		l2_latency_us;	/* of an access that depends on the one before */
	double		memory_latency_us;
	double		access_rate;	/* accesses to places far apart in memory, in a microsecond, of the whole device; 0:
								 * not measured, and then a sector each by read_bandwidth */
	double		channel_bandwidth;	/* of packets, written and read, at best */
	double		channel_half;	/* bytes in flight with which they get half of that */
	double		channel_bytes;	/* bytes in flight from which on they leave the L2 cache */
	double		turn_us;		/* of a block, besides the packets, to fill a slot and empty one */
} GcCalibration;

/*
 * Time of kernels in sequence, as a part of the sum of their times, until it is learned:
 * overlap_other_tables, but at most 1.  Scans side by side may take longer than in sequence, since
 * they disturb each other.  (An H100: eight scans of eight tables took 1.06 times as long.)
 */
extern double gc_sequence_factor(const GcCalibration *c);

extern const GcCalibration gc_calibration_default;

/*
 * Calibration of the device with this name, as far as it is known: an H100's memory has less bandwidth than an H200's.
 */
extern GcCalibration gc_calibration_of(const char *name);
extern const GcCalibration gc_calibration_host;

/*
 * Parse "name = value" lines, # begins a comment.  False: some line is not one of a
 * calibration's, or a value is out of range; *problem then points to static text.
 * Values not named stay in *c.
 */
extern bool gc_calibration_parse(const char *text, GcCalibration *c, const char **problem);

/* Time alone of a kernel that has not run yet. */
extern double gc_cost_alone(const GcCalibration *c, double bytes);

/*
 * An average that follows the newest values, quickly at first.  Starts at 0 samples;
 * then value means nothing.
 */
typedef struct GcLearned
{
	double		value;
	int			samples;
} GcLearned;

extern void gc_learn(GcLearned *l, double sample);

/* The part of the time in which something is so, learned from periods of at least GC_LOAD_US. */
#define GC_LOAD_US		20000

typedef struct GcLoad
{
	double		us;				/* passed since it was last learned */
	double		so_us;			/* part of `us` in which it was so */
	GcLearned	part;
} GcLoad;

extern void gc_load_passed(GcLoad *l, double us, bool so);

/* 1 as long as it is not known. */
extern double gc_load_part(const GcLoad *l);

/*
 * Times of shared scans without their members' times.  Each set of columns that was scanned has a learned time.  Other
 * sets are taken to need the sum of their columns' times.  That should rather be too little: a scan that seems too slow
 * is never tried.
 */
#define GC_KNOWN_SCANS	64
#define GC_MAX_SHARED_COLUMNS	16	/* whose reading requests share */

typedef struct GcScanTimes
{
	double		scan_us;		/* before any column */
	double		column_us[GC_MAX_SHARED_COLUMNS];	/* of reading a column for all */
	struct
	{
		uint32_t	columns;	/* 0: none */
		double		us;
		bool		sure;		/* from a scan that had the device to itself */
	}			known[GC_KNOWN_SCANS];
} GcScanTimes;

/* Time of a scan of these columns, one bit each. */
extern double gc_scan_us(const GcScanTimes *t, uint32_t columns);

/*
 * Learn from a scan of these columns that took `us`; own: nothing else was on the device.  Other
 * kernels may have made a time longer, so the estimate follows shorter times sooner.
 */
extern void gc_scan_learn(GcScanTimes *t, uint32_t columns, double us, bool own);

/*
 * A shared scan of these columns was refused because it seemed slower than another way.  Its estimate
 * shrinks, so that a mistake does not last for ever.  It shrinks a little where it was learned with
 * nothing else on the device (sure).  It shrinks much where other kernels may have made it too long.
 */
extern void gc_scan_refused(GcScanTimes *t, uint32_t columns);
extern double gc_forget_refused(double estimate, double first, bool sure);

/*
 * Time that each of n members of a selection scan took, from the times at which their kernels began and
 * ended.  0: not known; its took_us is negative.  Members that are on the device at the same time
 * share that time evenly.  So the sum is the time in which any member was on the device.
 */
extern void gc_members_took(const double *begin_us, const double *end_us, int n, double *took_us);

/*
 * Learn from members that took took_us[m].  us[m] points to the estimate of member m's signature, one
 * for all members of that signature.  own: nothing else was on the device.
 */
extern void gc_members_learn(double *const *us, const double *took_us, int n, bool own);

/*
 * Learn from a fused scan of n members that took time_us.  *scan_us: the estimate of the scan's own
 * part, at least least_us.  us[m]: the estimate of the time that member m's signature adds, one for all members of that
 * signature.  own: nothing else was on the device.  Scans with the same number of members do not tell the two apart.
 * Then the scan gets most of the time, so that more members seem to take too little rather than too much.
 */
extern void gc_fused_members_learn(double *scan_us, double least_us, double *const *us, int n, double time_us,
								   bool own);

/*
 * Kinds of work that requests give the thread that launches them (the worker's main thread), from a
 * request's arrival to its result.  Where kernels are short, many requests wait for that thread, not
 * for the device.
 */
typedef enum GcHostKind
{
	GC_HOST_OWN,				/* a request by its own kernel */
	GC_HOST_BODY,				/* a member of a fused scan */
	GC_HOST_SELECTED,			/* a member of a selection scan: predicate kernel and own kernel */
	GC_HOST_SCAN,				/* a shared scan, besides its members */
	GC_HOST_KINDS
} GcHostKind;

/*
 * Microseconds that n[] of each kind take on an H200's host with 16 clients.  `slowness` is learned:
 * how much longer they take on this host, because it is slower or busier.
 */
extern double gc_host_us(const int n[GC_HOST_KINDS]);
extern void gc_host_learn(GcLearned *slowness, const int n[GC_HOST_KINDS], double us);

/*
 * How much of that thread's time counts: slowness times the part of the time in which the thread is
 * at work.  An idle thread delays no other request.  But the thread's work between a decision and its kernels delays
 * these in any case.
 */
extern double gc_host_pressure(double slowness, double part);

/*
 * GcSchedule.residual_part, from one scan: it took time_us instead of own_us, because requests of the
 * last scan still needed residual_us when it began.  GC_RESIDUAL_OF_SCAN: until it is learned (from
 * an H200).
 */
#define GC_RESIDUAL_OF_SCAN		0.6
extern double gc_residual_part(double time_us, double own_us, double residual_us);

/*
 * Costs of a selection scan of one request besides its predicted time: the predicate kernel, and
 * the worker's time for more launches (an H200).
 */
#define GC_SCAN_OF_ONE_US	150

/* Requests that could be in a shared scan, and the device's time for them. */
typedef struct GcSharing
{
	int			n;
	bool		selection;
	double		scan_us;		/* of the scan, with each member's additional time */
	double		own_us;			/* of the requests' own kernels */
	double		host_pressure;	/* how much of the launching thread's time counts; 0: nothing */
} GcSharing;

/*
 * Is it better to share?  Thread and device work at the same time, so each way takes as long as the
 * slower of the two.
 */
extern bool gc_sharing_pays(const GcSharing *s);

/*
 * Time of n kernels side by side, as a part of their time in sequence.  `together` is this part for
 * many kernels; the result approaches it as n grows.
 */
extern double gc_overlap_part(double together, int n);

/* Sort the numbers 0 .. n - 1 by time, the longest first; equal times keep their order. */
extern void gc_longest_first(const double *us, int n, int *order);

/* The rule of gc_scan_learn for any estimate. */
extern double gc_learned_us(double estimate, double us, bool own);

#endif							/* GC_COST_H */
