/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  The cost model: how long kernels take, alone, side by side, and fused.
 *
 * Pure functions; the caller owns learned values.
 *
 *-------------------------------------------------------------------------
 */
#include "cost.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Newest sample's weight in the long run: 1 / LEARN_SAMPLES. */
#define LEARN_SAMPLES	16

/* An H200's, by bench/two_stage/calibrate; a file made on the device itself is better. */
const GcCalibration gc_calibration_default = {
	.read_bandwidth = 4.55e6,.launch_us = 2.85,.flight_bytes = 22700,.overlap_other_tables = 1,.overlap_same_table = 0.215,
	.fused = 0.013,
	/*
	 * An H100's (80 GB, HBM3), by bench/pipelines/calibrate.sh on 2026-11-26.  But memory_latency_us is a rounded
	 * public value.  The measured time, 0.143 us, was the L2 cache's, since each run met the same few nodes of its
	 * chain.  And access_rate was fitted to TPC-H's queries there (edges.c), for the bandwidth of an H200's memory;
	 * calibrate measures more.
	 */
	.l2_bandwidth = 6918919,.l2_latency_us = 0.1407,.memory_latency_us = 0.45,.access_rate = 30000,.channel_bandwidth = 2027520,
	.channel_half = 5053297,.channel_bytes = 17301504,.turn_us = 1.01
};

GcCalibration
gc_calibration_of(const char *name)
{
	GcCalibration c = gc_calibration_default;

	/* bench/two_stage/calibrate on an H100 (80 GB, HBM3), 2026-11-26 */
	if (strstr(name, "H100") != NULL)
	{
		c.read_bandwidth = 3.05e6;
		c.access_rate = 20000;
	}
	return c;
}

const GcCalibration gc_calibration_host = {
	.read_bandwidth = 1e4,.launch_us = 20,.flight_bytes = 4096,.overlap_other_tables = 1,.overlap_same_table = 0.95,.fused = 0.8,
	.l2_bandwidth = 2e4,.l2_latency_us = 0.02,.memory_latency_us = 0.1,.channel_bandwidth = 5e3,.channel_half = 1e4,
	.channel_bytes = 1e6,.turn_us = 2
};

static const struct
{
	const char *name;
	size_t		offset;
	double		least;
	double		most;
}			fields[] = {
	{"read_bandwidth", offsetof(GcCalibration, read_bandwidth), 1, 1e9},
	{"launch_us", offsetof(GcCalibration, launch_us), 0, 1e6},
	{"flight_bytes", offsetof(GcCalibration, flight_bytes), 1, 1e9},
	{"overlap_other_tables", offsetof(GcCalibration, overlap_other_tables), 0, 2},
	{"overlap_same_table", offsetof(GcCalibration, overlap_same_table), 0, 2},
	{"fused", offsetof(GcCalibration, fused), 0, 2},
	{"l2_bandwidth", offsetof(GcCalibration, l2_bandwidth), 1, 1e9},
	{"l2_latency_us", offsetof(GcCalibration, l2_latency_us), 1e-6, 1e3},
	{"memory_latency_us", offsetof(GcCalibration, memory_latency_us), 1e-6, 1e3},
	{"access_rate", offsetof(GcCalibration, access_rate), 0, 1e9},
	{"channel_bandwidth", offsetof(GcCalibration, channel_bandwidth), 1, 1e9},
	{"channel_half", offsetof(GcCalibration, channel_half), 0, 1e12},
	{"channel_bytes", offsetof(GcCalibration, channel_bytes), 1, 1e12},
	{"turn_us", offsetof(GcCalibration, turn_us), 0, 1e6},
};

/* One line, without its end; empty ones are fine. */
static const char *
parse_line(const char *line, size_t len, GcCalibration *c)
{
	char		copy[128];
	char	   *name,
			   *equals,
			   *end;
	double		value;

	if (memchr(line, '#', len))
		len = (const char *) memchr(line, '#', len) - line;
	if (len >= sizeof(copy))
		return "a line is longer than 127 bytes";
	memcpy(copy, line, len);
	copy[len] = '\0';
	name = copy + strspn(copy, " \t\r");
	if (*name == '\0')
		return NULL;
	equals = strchr(name, '=');
	if (equals == NULL)
		return "a line has no \"=\"";
	/* The name ends where spaces before the "=" begin; one with spaces in it is not known. */
	end = equals;
	while (end > name && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	value = strtod(equals + 1, &end);
	if (end == equals + 1 || end[strspn(end, " \t\r")] != '\0')
		return "a value is not a number";
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
	{
		if (strcmp(name, fields[i].name) != 0)
			continue;
		if (!(value >= fields[i].least && value <= fields[i].most))
			return "a value is out of range";
		*(double *) ((char *) c + fields[i].offset) = value;
		return NULL;
	}
	return "a name is not known";
}

bool
gc_calibration_parse(const char *text, GcCalibration *c, const char **problem)
{
	GcCalibration parsed = *c;

	while (*text)
	{
		size_t		len = strcspn(text, "\n");

		*problem = parse_line(text, len, &parsed);
		if (*problem)
			return false;
		text += len + (text[len] == '\n');
	}
	*c = parsed;
	return true;
}

double
gc_cost_alone(const GcCalibration *c, double bytes)
{
	return c->launch_us + bytes / c->read_bandwidth;
}

/* A mean of the first LEARN_SAMPLES samples; each later one counts for one part in so many. */
void
gc_learn(GcLearned *l, double sample)
{
	double		weight = l->samples < LEARN_SAMPLES ? 1.0 / (l->samples + 1) : 1.0 / LEARN_SAMPLES;

	if (l->samples == 0)
		l->value = sample;
	l->value += (sample - l->value) * weight;
	if (l->samples < LEARN_SAMPLES)
		l->samples++;
}

/* `us` have passed, in which it was so or not.  Part of the time that it was is learned by windows. */
void
gc_load_passed(GcLoad *l, double us, bool so)
{
	l->us += us;
	l->so_us += so ? us : 0;
	if (l->us < GC_LOAD_US)
		return;
	gc_learn(&l->part, l->so_us / l->us);
	l->us = l->so_us = 0;
}

double
gc_load_part(const GcLoad *l)
{
	return l->part.samples > 0 ? l->part.value : 1;
}

/* How much of an estimate's error one scan corrects. */
#define LEARN_SOON		0.3
#define LEARN_LATE		0.05

/* In a scan of several signatures, this many members of one signature say half as much as many. */
#define FEW_MEMBERS		2

/*
 * Doubt about a fused scan's time for one more member, relative to the doubt about the scan itself, before either was
 * measured.  It is small, since members share reads.
 */
#define MEMBER_DOUBT		(1.0 / 8)

/* The part of an estimate that each refusal takes away (gc_scan_refused). */
#define FORGET_SURE		(1.0 / 64)
#define FORGET_UNSURE	(1.0 / 8)

double
gc_learned_us(double estimate, double us, bool own)
{
	return estimate + (us < estimate || own ? LEARN_SOON : LEARN_LATE) * (us - estimate);
}

/* The only entry that may hold scans of these columns; other sets of columns may use it, too. */
static int
known_place(uint32_t columns)
{
	return (int) (columns * 0x9e3779b1u >> 16) % GC_KNOWN_SCANS;
}

static double
sum_us(const GcScanTimes *t, uint32_t columns)
{
	double		us = t->scan_us;

	for (; columns != 0; columns &= columns - 1)
		us += t->column_us[__builtin_ctz(columns)];
	return us;
}

double
gc_scan_us(const GcScanTimes *t, uint32_t columns)
{
	const int	place = known_place(columns);

	return columns != 0 && t->known[place].columns == columns ? t->known[place].us : sum_us(t, columns);
}

void
gc_scan_learn(GcScanTimes *t, uint32_t columns, double us, bool own)
{
	const int	place = known_place(columns);

	if (columns == 0)
		return;
	t->known[place].sure = own;
	t->known[place].us = gc_learned_us(gc_scan_us(t, columns), us, own);
	t->known[place].columns = columns;
}

double
gc_forget_refused(double estimate, double first, bool sure)
{
	return estimate + (first - estimate) * (sure ? FORGET_SURE : FORGET_UNSURE);
}

void
gc_scan_refused(GcScanTimes *t, uint32_t columns)
{
	const int	place = known_place(columns);

	if (columns != 0 && t->known[place].columns == columns)
		t->known[place].us = gc_forget_refused(t->known[place].us, sum_us(t, columns), t->known[place].sure);
}

/* Is member m the first one of its signature? */
static bool
is_first(double *const *us, int m)
{
	for (int i = 0; i < m; i++)
	{
		if (us[i] == us[m])
			return false;
	}
	return true;
}

/*
 * From profiles of the worker under random SSB queries of 16 clients.  The time for a request's own
 * kernel is as seen, times in selection scans are apportioned, and a fused member's is a guess.
 * Subtracted since: 3 us because a result's event is a word in host memory, and 1.5 us for each
 * other event without a timestamp.  Also 4 us where kernels deliver their results.
 */
static const double host_us[GC_HOST_KINDS] = {
	[GC_HOST_OWN] = 17,[GC_HOST_BODY] = 21,[GC_HOST_SELECTED] = 24.5,[GC_HOST_SCAN] = 36.5
};

/* One sample changes the learned slowness by at most this factor. */
#define SLOWNESS_STEP	1.25

double
gc_host_us(const int n[GC_HOST_KINDS])
{
	double		us = 0;

	for (int k = 0; k < GC_HOST_KINDS; k++)
		us += n[k] * host_us[k];
	return us;
}

void
gc_host_learn(GcLearned *slowness, const int n[GC_HOST_KINDS], double us)
{
	const double usual = gc_host_us(n);
	const double before = slowness->samples > 0 ? slowness->value : 1;

	if (usual > 0)
		gc_learn(slowness, fmax(fmin(us / usual, before * SLOWNESS_STEP), before / SLOWNESS_STEP));
}

double
gc_sequence_factor(const GcCalibration *c)
{
	return fmin(c->overlap_other_tables, 1);
}

/* The part of the residual time that was seen; between 0 and 1. */
double
gc_residual_part(double time_us, double own_us, double residual_us)
{
	return fmax(fmin((time_us - own_us) / residual_us, 1), 0);
}

/* The part of the thread's work for a request that lies between the decision and the kernel. */
#define LAUNCH_PART		0.4

double
gc_host_pressure(double slowness, double part)
{
	return slowness * fmax(part, LAUNCH_PART);
}

double
gc_overlap_part(double together, int n)
{
	return 1 - (1 - together) * (n - 1) / n;
}

bool
gc_sharing_pays(const GcSharing *s)
{
	const int	own[GC_HOST_KINDS] = {[GC_HOST_OWN] = s->n};
	int			shared[GC_HOST_KINDS] = {[GC_HOST_SCAN] = 1};

	shared[s->selection ? GC_HOST_SELECTED : GC_HOST_BODY] = s->n;
	return fmax(s->scan_us, gc_host_us(shared) * s->host_pressure) < fmax(s->own_us,
																		  gc_host_us(own) * s->host_pressure);
}

void
gc_members_took(const double *begin_us, const double *end_us, int n, double *took_us)
{
	double		from = 0;

	for (int m = 0; m < n; m++)
		took_us[m] = end_us[m] > 0 ? 0 : -1;
	/* Between two points at which a member began or ended, all members present have equal parts. */
	for (;;)
	{
		double		to = HUGE_VAL;
		int			there = 0;

		for (int m = 0; m < n; m++)
		{
			if (end_us[m] > from && begin_us[m] > from && begin_us[m] < to)
				to = begin_us[m];
			if (end_us[m] > from && end_us[m] < to)
				to = end_us[m];
			there += end_us[m] > from && begin_us[m] <= from;
		}
		if (to == HUGE_VAL)
			return;
		for (int m = 0; m < n; m++)
		{
			if (end_us[m] > from && begin_us[m] <= from)
				took_us[m] += (to - from) / there;
		}
		from = to;
	}
}

void
gc_longest_first(const double *us, int n, int *order)
{
	for (int m = 0; m < n; m++)
	{
		int			before = 0;

		for (int i = 0; i < n; i++)
			before += us[i] > us[m] || (us[i] == us[m] && i < m);
		order[before] = m;
	}
}

/* Time that members of m's signature took on average; *known: how many of them have a known time. */
static double
mean_took(double *const *us, const double *took_us, int n, int m, int *known)
{
	double		sum = 0;

	*known = 0;
	for (int i = 0; i < n; i++)
	{
		if (us[i] != us[m] || took_us[i] < 0)
			continue;
		sum += took_us[i];
		(*known)++;
	}
	return *known > 0 ? sum / *known : 0;
}

void
gc_members_learn(double *const *us, const double *took_us, int n, bool own)
{
	double		sum = 0;
	double		time_us = 0;
	double		part = 1;

	for (int m = 0; m < n; m++)
	{
		if (took_us[m] < 0)
			continue;
		sum += *us[m];
		time_us += took_us[m];
	}
	/* Other kernels may have made the sum longer: follow it slowly, whichever member took longer. */
	if (!own && time_us > sum)
		part = (sum + (time_us - sum) * LEARN_LATE / LEARN_SOON) / time_us;
	for (int m = 0; m < n; m++)
	{
		int			known;
		const double took = mean_took(us, took_us, n, m, &known);

		/* Next to members of other signatures, few members are weak samples: their times overlap. */
		if (known > 0 && is_first(us, m))
			*us[m] = fmax(*us[m] +
						  (took * part - *us[m]) * LEARN_SOON * known / (known < n ? known + FEW_MEMBERS : known), 1);
	}
}

/* How many of the n members, from m on, have m's signature. */
static int
count_alike(double *const *us, int n, int m)
{
	int			count = 0;

	for (int i = m; i < n; i++)
		count += us[i] == us[m];
	return count;
}

/*
 * The prediction changes by the rule of gc_learned_us.  The change is divided between the scan and
 * the signatures by normalized least mean squares.  That is the least change of all estimates, each
 * measured by its doubt.  A signature with k members counts k times.
 */
void
gc_fused_members_learn(double *scan_us, double least_us, double *const *us, int n, double time_us, bool own)
{
	double		predicted = *scan_us;
	double		weight = 1;
	double		step;

	for (int m = 0; m < n; m++)
	{
		const double k = is_first(us, m) ? count_alike(us, n, m) : 0;

		predicted += *us[m];
		weight += k * k * MEMBER_DOUBT * MEMBER_DOUBT;
	}
	step = (gc_learned_us(predicted, time_us, own) - predicted) / weight;
	*scan_us = fmax(*scan_us + step, least_us);
	for (int m = 0; m < n; m++)
	{
		if (is_first(us, m))
			*us[m] = fmax(*us[m] + step * MEMBER_DOUBT * MEMBER_DOUBT * count_alike(us, n, m), 1);
	}
}
