/*-------------------------------------------------------------------------
 *
 * options.h
 *	  Options, messages, reports and time limits of the programs that measure on a device.
 *
 * Options that every program takes:
 *
 *	  --device cuda|host	(cuda)
 *	  --out FILE			append the tables to it, as Markdown
 *	  --commit TEXT			what the tables call the commit
 *	  --seconds N			stop measuring after so long (the program's own default)
 *	  --rows N				rows of the tables that kernels scan
 *	  --profile NAME		plan for this device (gc_profile_known) whatever is there:
 *							for a driver that only pretends (tests/unit/fake_cuda.c)
 *	  --texts DIR			also write every kernel's text there
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BENCH_OPTIONS_H
#define GC_BENCH_OPTIONS_H

#include <stdbool.h>

#include "device/device.h"

typedef struct BenchOptions
{
	const char *device;
	const char *out;
	const char *commit;
	const char *profile;
	const char *texts;
	double		seconds;
	u64			rows;			/* 0: the program's own default */
	u64			memory;			/* most bytes to take on the device */
} BenchOptions;

extern BenchOptions bench_options;

/*
 * Take the name of the program and its options from argv, and begin to count the time.  More than limit_s seconds later the
 * watchdog ends the program, with status 3.
 */
extern void bench_begin(int *argc, char **argv, const BenchOptions *defaults, int limit_s);

/* Begin the report with the program's arguments, as they were, and with what is said of the device. */
extern void bench_begin_report(int argc, char **argv, const char *device);

/* Say how long it took, close the report, and send the watchdog away. */
extern void bench_end_report(void);

/* The next argument that is no common option, as --name VALUE; NULL: there is none. */
extern const char *bench_argument(int argc, char **argv, const char *name);

extern void bench_fail(const char *fmt,...) __attribute__((noreturn, format(printf, 1, 2)));

/* To standard output and to the report; flushed. */
extern void bench_say(const char *fmt,...) __attribute__((format(printf, 1, 2)));

/* To standard output only: progress. */
extern void bench_note(const char *fmt,...) __attribute__((format(printf, 1, 2)));

/* Seconds since bench_open(). */
extern double bench_seconds(void);
extern bool bench_late(double from, double budget);

#endif							/* GC_BENCH_OPTIONS_H */
