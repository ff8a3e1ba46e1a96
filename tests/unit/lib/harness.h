/*-------------------------------------------------------------------------
 *
 * harness.h
 *	  A unit test program: prints TAP, counts failures.
 *
 * Call tap_start() first, ok() and its kin from main() or from any thread, and end with
 * `return tap_done();`.  A whole program that cannot run here ends with
 * `return tap_skip_all(reason)`.
 *
 * No test may wait for time to pass.  An alarm ends a program that has had no result for an
 * hour.  So one that waits for something which never happens fails instead of hanging.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HARNESS_H
#define GC_HARNESS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void tap_start(void);

/* ok(condition, "what is true, with %s", arguments) */
extern bool tap_ok(bool passed, const char *file, int line, const char *fmt,...) __attribute__((format(printf, 4, 5)));
#define ok(condition, ...) tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)

/* Equality of integers; shows both when they differ. */
extern bool tap_is(long long got, long long wanted, const char *file, int line, const char *what);
#define is(got, wanted, what) \
	tap_is((long long) (got), (long long) (wanted), __FILE__, __LINE__, (what))

/* Count one test as passed, saying why it was not made. */
extern void tap_skip(const char *fmt,...) __attribute__((format(printf, 1, 2)));

extern void tap_note(const char *fmt,...) __attribute__((format(printf, 1, 2)));

extern int	tap_skip_all(const char *reason);

/* Stop: nothing that follows would mean anything. */
extern void tap_bail(const char *reason) __attribute__((noreturn));

extern int	tap_done(void);

#endif							/* GC_HARNESS_H */
