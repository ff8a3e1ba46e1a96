/*-------------------------------------------------------------------------
 *
 * harness.c
 *	  A unit test program: prints TAP, counts failures.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <pthread.h>
#include <unistd.h>

#define MOST_SECONDS	3600		/* between two results */

static pthread_mutex_t tap_lock = PTHREAD_MUTEX_INITIALIZER;
static int	tap_tests;
static int	tap_failures;

void
tap_start(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(MOST_SECONDS);
}

bool
tap_ok(bool passed, const char *file, int line, const char *fmt,...)
{
	va_list		ap;

	pthread_mutex_lock(&tap_lock);
	tap_tests++;
	printf("%s %d - ", passed ? "ok" : "not ok", tap_tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (!passed)
	{
		tap_failures++;
		printf("#   failed at %s:%d\n", file, line);
	}
	alarm(MOST_SECONDS);
	pthread_mutex_unlock(&tap_lock);
	return passed;
}

bool
tap_is(long long got, long long wanted, const char *file, int line, const char *what)
{
	bool		passed = tap_ok(got == wanted, file, line, "%s", what);

	if (!passed)
		tap_note("  got %lld, wanted %lld", got, wanted);
	return passed;
}

void
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

void
tap_note(const char *fmt,...)
{
	va_list		ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

int
tap_skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	return 0;
}

void
tap_bail(const char *reason)
{
	printf("Bail out! %s\n", reason);
	exit(1);
}

int
tap_done(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures == 0 ? 0 : 1;
}
