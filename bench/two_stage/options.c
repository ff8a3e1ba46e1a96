/*-------------------------------------------------------------------------
 *
 * options.c
 *	  Options, messages, reports and time limits of the programs that measure on a device.
 *
 * Knows no device; common.c opens it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "options.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

BenchOptions bench_options;

static const char *program;
static FILE *report;
static struct timespec opened;

/*-------------------------------------------------------------------------
 * Reports and ends
 *-------------------------------------------------------------------------
 */

void
bench_fail(const char *fmt,...)
{
	va_list		ap;

	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	if (report != NULL)
	{
		fprintf(report, "\n(%s ended before its time; see its messages)\n", program);
		fflush(report);
	}
	/* A device that hangs would have us wait in its exit handlers. */
	_exit(1);
}

void
bench_say(const char *fmt,...)
{
	va_list		ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
	if (report == NULL)
		return;
	va_start(ap, fmt);
	vfprintf(report, fmt, ap);
	va_end(ap);
	fflush(report);
}

void
bench_note(const char *fmt,...)
{
	va_list		ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
}

double
bench_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) (now.tv_sec - opened.tv_sec) + 1e-9 * (double) (now.tv_nsec - opened.tv_nsec);
}

bool
bench_late(double from, double budget)
{
	return bench_seconds() - from > budget;
}

static void
watchdog(int number)
{
	static const char text[] = "the time limit is over: ended by the watchdog\n";
	ssize_t		written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void) number;
	(void) written;
	_exit(3);
}

/*-------------------------------------------------------------------------
 * Options
 *-------------------------------------------------------------------------
 */

/* Is argv[i] the option --name?  Its value, then, and both are taken out of argv. */
static const char *
take_option(int *argc, char **argv, int i, const char *name)
{
	const char *value;

	if (strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i] + 2, name) != 0)
		return NULL;
	if (i + 1 >= *argc)
		bench_fail("--%s wants a value", name);
	value = argv[i + 1];
	memmove(argv + i, argv + i + 2, (size_t) (*argc - i - 1) * sizeof(char *));
	*argc -= 2;
	return value;
}

static void
take_options(int *argc, char **argv)
{
	BenchOptions *o = &bench_options;
	const struct
	{
		const char *name;
		const char **text;
	}			texts[] = {
		{"device", &o->device}, {"out", &o->out}, {"commit", &o->commit},
		{"profile", &o->profile}, {"texts", &o->texts},
	};
	const char *value;

	for (int i = 1; i < *argc;)
	{
		bool		taken = false;

		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]) && !taken; t++)
		{
			value = take_option(argc, argv, i, texts[t].name);
			if (value != NULL)
				*texts[t].text = value;
			taken = value != NULL;
		}
		if (!taken && (value = take_option(argc, argv, i, "seconds")) != NULL)
		{
			o->seconds = atof(value);
			taken = true;
		}
		if (!taken && (value = take_option(argc, argv, i, "rows")) != NULL)
		{
			o->rows = strtoull(value, NULL, 10);
			taken = true;
		}
		i += !taken;
	}
}

const char *
bench_argument(int argc, char **argv, const char *name)
{
	for (int i = 1; i + 1 < argc; i++)
	{
		if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, name) == 0)
			return argv[i + 1];
	}
	return NULL;
}

void
bench_begin(int *argc, char **argv, const BenchOptions *defaults, int limit_s)
{
	const char *slash = strrchr(argv[0], '/');

	program = slash != NULL ? slash + 1 : argv[0];
	clock_gettime(CLOCK_MONOTONIC, &opened);
	signal(SIGALRM, watchdog);
	alarm((unsigned) limit_s);
	bench_options = *defaults;
	take_options(argc, argv);
}

void
bench_begin_report(int argc, char **argv, const char *device)
{
	char		date[64];
	time_t		now = time(NULL);

	if (bench_options.out != NULL)
	{
		report = fopen(bench_options.out, "a");
		if (report == NULL)
			bench_fail("%s cannot be written", bench_options.out);
	}
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", gmtime(&now));
	bench_say("\n## %s\n\n", program);
	bench_say("Device: %s. Date: %s. Commit: %s. Command: `%s", device, date,
			  bench_options.commit != NULL ? bench_options.commit : "not given", program);
	for (int i = 1; i < argc; i++)
	{
		/* Folders say nothing about the figures. */
		if (strcmp(argv[i], "--out") == 0 || strcmp(argv[i], "--commit") == 0 ||
			strcmp(argv[i], "--texts") == 0 || strcmp(argv[i], "--json") == 0)
			i++;
		else
			bench_say(" %s", strchr(argv[i], '/') != NULL ? strrchr(argv[i], '/') + 1 : argv[i]);
	}
	bench_say("`\n\n");
}

void
bench_end_report(void)
{
	bench_note("%s took %.1f s\n", program, bench_seconds());
	if (report != NULL)
		fclose(report);
	alarm(0);
}
