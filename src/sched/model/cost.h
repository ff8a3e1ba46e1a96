/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  The cost model: how long kernels take, alone, side by side, and fused.
 *
 * A kernel's time alone is predicted from the bytes that it reads, and once it has run
 * alone, taken from that.  Kernels that share nothing take overlap_other_tables of their time from
 * each other: all of it, mostly, since memory is the bottleneck of both.  Those that scan
 * the same chunks in step read them once (coresident.h); what each takes of the time
 * nevertheless is overlap_same_table, for scans bound by memory.  In a fused scan, which loads
 * every column once, a member adds least.  The parts are properties of the device, measured
 * by bench/two_stage/calibrate.
 *
 * The server starts from these, and learns the rest from the times that launches really
 * took (GcLearned).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COST_H
#define GC_COST_H

#include <stdbool.h>
#include <stdint.h>

/* Of one device; times in microseconds, bandwidths in bytes per microsecond. */
typedef struct GcCalibration
{
	double		read_bandwidth; /* of device memory */
	double		launch_us;		/* of an empty kernel, on the device */
	double		flight_bytes;	/* on their way to one multiprocessor, with which the
								 * bandwidth is used up */
	double		overlap_other_tables;	/* part of its time that a kernel adds to others */
	double		overlap_same_table;	/* that a scan takes from others, resident with it, that scan
								 * the same chunks */
	double		fused;			/* as a member of a shared scan */
} GcCalibration;

/*
 * Part of the sum of their times that kernels one behind the other take, as long as none is learned:
 * overlap_other_tables, but not more than all.  Scans side by side may take more than one after another
 * (H100: eight of as many tables 1.06 times as long), since they are in each other's way.
 */
extern double gc_sequence_factor(const GcCalibration *c);

extern const GcCalibration gc_calibration_default;
extern const GcCalibration gc_calibration_host;

/*
 * Parse "name = value" lines, # begins a comment.  False: some line is not one of a
 * calibration's, or a value is out of range; *problem then points to static text.
 * Values not named keep what *c has.
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

/* In which part of the time something is so; learned of GC_LOAD_US at a time, at least. */
#define GC_LOAD_US		20000

typedef struct GcLoad
{
	double		us;				/* that have passed since it was learned last */
	double		so_us;			/* of them, in which it was so */
	GcLearned	part;
} GcLoad;

extern void gc_load_passed(GcLoad *l, double us, bool so);

/* 1 as long as it is not known. */
extern double gc_load_part(const GcLoad *l);

/*
 * Times of shared scans before what members add.  Of scans of the same columns it is learned;
 * those of others are taken to be the sum of their columns, which should be rather too little:
 * what seems too slow is never tried.
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
		bool		sure;		/* of a scan that had the device for itself */
	}			known[GC_KNOWN_SCANS];
} GcScanTimes;

/* Time of a scan of these columns, one bit each. */
extern double gc_scan_us(const GcScanTimes *t, uint32_t columns);

/*
 * A scan of these columns took so long; own: nothing else was on the device.  Times that
 * others made longer say little: the estimate follows shorter ones sooner.
 */
extern void gc_scan_learn(GcScanTimes *t, uint32_t columns, double us, bool own);

/*
 * They were not scanned, since that seemed to take longer than something else: less is believed
 * of it, so that a mistake is not for ever.  A little less of what was seen where nothing else was
 * on the device (sure), much less of what others may have made slow.
 */
extern void gc_scan_refused(GcScanTimes *t, uint32_t columns);
extern double gc_forget_refused(double estimate, double first, bool sure);

/*
 * What n members of a selection scan took, each by itself, from when their kernels began and ended (0: not
 * known; its took_us is negative): those that are on the device at the same time share that time
 * evenly.  So the sum is the time in which any of them was there.
 */
extern void gc_members_took(const double *begin_us, const double *end_us, int n, double *took_us);

/*
 * Members took so long; us[m]: the estimate of member m's shape, the same for all of that shape.
 * own: nothing else was on the device.
 */
extern void gc_members_learn(double *const *us, const double *took_us, int n, bool own);

/*
 * A fused scan of n members took time_us, and scan_us is thought to be its own part, no less than least_us;
 * us[m]: what member m's shape adds, the same for all of that shape.  own: nothing else was on the device.
 * One number of members does not tell the two apart: then most is laid to the scan, so that more members
 * seem to take rather too little than too much.
 */
extern void gc_fused_members_learn(double *scan_us, double least_us, double *const *us, int n, double time_us, bool own);

/*
 * What launches take of the time of the thread that makes them (the worker's main thread), for
 * each, from the request's arrival to its result.  Where kernels are short, that and not the
 * device is what many requests wait for.
 */
typedef enum GcHostKind
{
	GC_HOST_OWN,				/* a request by its own kernel */
	GC_HOST_BODY,				/* one in a fused scan */
	GC_HOST_SELECTED,				/* one in a selection scan, with its predicate kernel and its kernel */
	GC_HOST_SCAN,				/* and besides, per shared scan */
	GC_HOST_KINDS
} GcHostKind;

/*
 * So many of each kind, in microseconds, on an H200's host with 16 clients.  How much slower this
 * one is, and how much busier, shows in what they take: `slowness` is that, learned.
 */
extern double gc_host_us(const int n[GC_HOST_KINDS]);
extern void gc_host_learn(GcLearned *slowness, const int n[GC_HOST_KINDS], double us);

/*
 * How much of that thread's time counts: slowness times the part of the time in which it is at work.
 * Where it is not, others do not wait for it; but what it does between a decision and its kernels is
 * in the way in any case.
 */
extern double gc_host_pressure(double slowness, double part);

/*
 * GcSchedule.left, as seen by a scan that took time_us, alone own_us, beside one that would still take
 * residual_us; before any is seen (an H200).
 */
#define GC_RESIDUAL_OF_SCAN		0.6
extern double gc_residual_part(double time_us, double own_us, double residual_us);

/*
 * What a selection scan costs the one request that it serves beside its predicted time: the
 * predicate kernel, and the worker's time for more launches (an H200).
 */
#define GC_SCAN_OF_ONE_US	150

/* Requests that could be in a shared scan, and what the device would take for them. */
typedef struct GcSharing
{
	int			n;
	bool		selection;
	double		scan_us;		/* of the scan, with what each adds */
	double		own_us;			/* of their own kernels */
	double		host_pressure;		/* of the thread; 0: launches take no time of one */
} GcSharing;

/*
 * Is it better to share?  Thread and device work at the same time, so of both ways what counts
 * is the slower of the two.
 */
extern bool gc_sharing_pays(const GcSharing *s);

/*
 * Time of n kernels side by side against one after another, together being that of many: the
 * more there are, the nearer.
 */
extern double gc_overlap_part(double together, int n);

/* Numbers of n times, the longest first; of equal ones the first first. */
extern void gc_longest_first(const double *us, int n, int *order);

/* The same rule for any estimate. */
extern double gc_learned_us(double estimate, double us, bool own);

#endif							/* GC_COST_H */
