/*-------------------------------------------------------------------------
 *
 * harness.h
 *	  A unit test program in one header: prints TAP, counts failures.
 *
 * Include it in the one source file of a test program; call ok() and its kin
 * from main() or from any thread, and end with `return tap_done();`.  A whole
 * program that cannot run here ends with `return tap_skip_all(reason)`.
 *
 * No test may wait for time to pass.  So that one that waits for something
 * which never happens fails instead of hanging, tap_start() sets an alarm.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HARNESS_H
#define GC_HARNESS_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TAP_TIMEOUT 600			/* seconds; generous, for valgrind */

static pthread_mutex_t tap_lock = PTHREAD_MUTEX_INITIALIZER;
static int	tap_tests;
static int	tap_failures;

static void __attribute__((unused))
tap_start(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(TAP_TIMEOUT);
}

static void __attribute__((unused, format(printf, 4, 0)))
tap_report(bool passed, const char *file, int line, const char *fmt, va_list ap)
{
	pthread_mutex_lock(&tap_lock);
	tap_tests++;
	printf("%s %d - ", passed ? "ok" : "not ok", tap_tests);
	vprintf(fmt, ap);
	printf("\n");
	if (!passed)
	{
		tap_failures++;
		printf("#   failed at %s:%d\n", file, line);
	}
	pthread_mutex_unlock(&tap_lock);
}

static bool __attribute__((unused, format(printf, 4, 5)))
tap_ok(bool passed, const char *file, int line, const char *fmt,...)
{
	va_list		ap;

	va_start(ap, fmt);
	tap_report(passed, file, line, fmt, ap);
	va_end(ap);
	return passed;
}

/* ok(condition, "what is true, with %s", arguments) */
#define ok(condition, ...) tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)

/* Equality of integers; shows both when they differ. */
static bool __attribute__((unused))
tap_is(long long got, long long wanted, const char *file, int line, const char *what)
{
	bool		passed = tap_ok(got == wanted, file, line, "%s", what);

	if (!passed)
		printf("#   got %lld, wanted %lld\n", got, wanted);
	return passed;
}

#define is(got, wanted, what) \
	tap_is((long long) (got), (long long) (wanted), __FILE__, __LINE__, (what))

/* Count one test as passed, saying why it was not made. */
static void __attribute__((unused, format(printf, 1, 2)))
tap_skip(const char *fmt,...)
{
	va_list		ap;

	pthread_mutex_lock(&tap_lock);
	printf("ok %d # SKIP ", ++tap_tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	pthread_mutex_unlock(&tap_lock);
}

static void __attribute__((unused, format(printf, 1, 2)))
tap_note(const char *fmt,...)
{
	va_list		ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static int __attribute__((unused))
tap_skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	return 0;
}

/* Stop: nothing that follows would mean anything. */
static void __attribute__((unused, noreturn))
tap_bail(const char *reason)
{
	printf("Bail out! %s\n", reason);
	exit(1);
}

static int __attribute__((unused))
tap_done(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures == 0 ? 0 : 1;
}

#endif							/* GC_HARNESS_H */
