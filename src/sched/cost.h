/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  The cost model: how long kernels take, alone, side by side, and fused.
 *
 * A kernel's time alone is predicted from the bytes that it reads, and once it has run
 * alone, taken from that.  Of several that run side by side, the one that takes
 * longest alone takes that time at least; each other adds a part of its own time:
 * all of it where they share nothing, since memory is then the bottleneck of both;
 * less where they scan the same chunks, which the L2 cache then serves to all but
 * one; and in a fused scan, which loads every column once, least.  The three parts are
 * properties of the device, measured by bench/two_stage/calibrate.
 *
 * The server starts from read_bandwidth, launch_us, beside_other and fused, and learns
 * the rest from the times that launches really took (GcLearned); its kernels take more
 * from each other than beside_same says, which is that of scans bound by memory alone.
 * gc_cost_beside is what bench/two_stage holds against measured times.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COST_H
#define GC_COST_H

#include <stdbool.h>

/* Of one device; times in microseconds, bandwidths in bytes per microsecond. */
typedef struct GcCalibration
{
	double		read_bandwidth; /* of device memory */
	double		launch_us;		/* of an empty kernel, on the device */
	double		beside_other;	/* part of its time that a kernel adds to others */
	double		beside_same;	/* to others that scan the same chunks */
	double		fused;			/* as a body of a shared scan */
} GcCalibration;

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
 * Time alone of a kernel's variant that has not run alone yet, by that of its usual variant:
 * so many bitmaps less are in shared memory, and the group table is not (groups), in a
 * scan of so many rows.  An upper bound, mostly: probes that come later see fewer rows.
 * Measured on an H200 (design.md, section 1): filters of 2 to 4 dimensions over 120 million
 * rows take 0.64 to 0.66 ms more in L2, where this says 0.53 to 1.05.
 */
extern double gc_cost_variant(const GcCalibration *c, double usual_us, double rows, int bitmaps, bool groups);

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

/*
 * Time until kernels that run side by side are all done.  alone_us: of each alone;
 * scan: equal and not 0 where they scan the same chunks.
 */
extern double gc_cost_beside(const GcCalibration *c, int n, const double *alone_us, const unsigned *scan);

#endif							/* GC_COST_H */
