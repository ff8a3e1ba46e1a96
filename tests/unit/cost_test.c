/*-------------------------------------------------------------------------
 *
 * cost_test.c
 *	  Tests of the cost model, of its calibration files, and of kernels' variants.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>

#include "../../src/sched/policy/sched.h"

/* Differs from both that are built in, in every value. */
static const GcCalibration before = {
	.read_bandwidth = 123456,.launch_us = 7.5,.flight_bytes = 1234,.overlap_other_tables = 0.625,.overlap_same_table = 0.375,
	.fused = 0.125
};

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1);
}

static bool
equal(const GcCalibration *a, const GcCalibration *b)
{
	return a->read_bandwidth == b->read_bandwidth && a->launch_us == b->launch_us &&
		a->flight_bytes == b->flight_bytes && a->overlap_other_tables == b->overlap_other_tables &&
		a->overlap_same_table == b->overlap_same_table && a->fused == b->fused;
}

/*-------------------------------------------------------------------------
 * Calibration files
 *-------------------------------------------------------------------------
 */

/* A text that is accepted and means this. */
static void
means(const char *text, GcCalibration wanted, const char *what)
{
	GcCalibration c = before;
	const char *problem = NULL;

	if (!ok(gc_calibration_parse(text, &c, &problem), "%s is accepted", what))
		tap_note("%s", problem ? problem : "no problem told");
	if (!ok(equal(&c, &wanted), "%s: the values", what))
		tap_note("got %g %g %g %g %g %g", c.read_bandwidth, c.launch_us, c.flight_bytes, c.overlap_other_tables,
				 c.overlap_same_table, c.fused);
}

/*
 * A text that is refused for a reason with this word in it.  Its line stands behind a good
 * one, and before another, neither of which may have an effect.
 */
static void
refused(const char *line, const char *word, const char *what)
{
	static const char *const around[][2] = {{"", ""}, {"fused = 0.5\n", "\nlaunch_us = 1\n"}};

	for (int i = 0; i < 2; i++)
	{
		char		text[512];
		GcCalibration c = before;
		const char *problem = NULL;

		snprintf(text, sizeof(text), "%s%s%s", around[i][0], line, around[i][1]);
		ok(!gc_calibration_parse(text, &c, &problem), "%s is refused%s", what, i ? " among others" : "");
		if (!ok(problem != NULL && strstr(problem, word) != NULL, "%s: why", what))
			tap_note("%s", problem ? problem : "no problem told");
		ok(equal(&c, &before), "%s changes nothing", what);
	}
}

static void
test_good_files(void)
{
	static const char written[] =
		"# device: NVIDIA H200\n# target: sm_90\n# date: 2025-01-31\n"
		"# commit: not given\n# times in microseconds, bandwidths in bytes per microsecond\n"
		"read_bandwidth = 4550000\nlaunch_us = 2.85\nflight_bytes = 22700\n"
		"overlap_other_tables = 1.000\noverlap_same_table = 0.215\nfused = 0.013\n";
	GcCalibration c = before;

	means(written, gc_calibration_default, "what calibrate writes");
	means("", before, "empty text");
	means("\n\n\r\n \t\n", before, "blank lines");
	means("# fused = 0.5\n  # fused = 0.5", before, "a comment");
	c.fused = 0.5;
	means("fused = 0.5", c, "a line without an end");
	means("fused = 0.5 # as measured\n", c, "a comment behind a value");
	means("\tfused=0.5 \t\n", c, "other spaces");
	means("fused = 1\nfused = 0.5\n", c, "the last of two values");
	c.overlap_same_table = 0.25;
	means("# both\r\n\r\nfused = 0.5\r\noverlap_same_table = 2.5e-1\r\n", c, "CRLF");
	c = (GcCalibration) {1, 0, 1, 0, 0, 0};
	means("read_bandwidth = 1\nlaunch_us = 0\nflight_bytes = 1\noverlap_other_tables = 0\noverlap_same_table = 0\nfused = 0\n", c,
		  "the least values");
	c = (GcCalibration) {1e9, 1e6, 1e9, 2, 2, 2};
	means("read_bandwidth = 1e9\nlaunch_us = 1e6\nflight_bytes = 1e9\noverlap_other_tables = 2\noverlap_same_table = 2\nfused = 2\n", c,
		  "the largest values");
}

/* The longest line that is taken, and the shortest that is not; comments do not count. */
static void
test_long_lines(void)
{
	char		line[400];
	GcCalibration c = before;

	c.fused = 0.5;
	snprintf(line, sizeof(line), "fused = %0119.3f", 0.5);
	is(strlen(line), 127, "a line as long as it may be");
	means(line, c, "a line of 127 bytes");
	snprintf(line, sizeof(line), "fused = %0120.3f", 0.5);
	refused(line, "longer", "a line of 128 bytes");
	snprintf(line, sizeof(line), "fused = %0300.3f", 0.5);
	refused(line, "longer", "a line of 308 bytes");
	snprintf(line, sizeof(line), "%128s", "");
	refused(line, "longer", "a line of spaces");
	snprintf(line, sizeof(line), "fused = 0.5 #%0300d", 1);
	means(line, c, "a long comment");
}

static void
test_bad_files(void)
{
	refused("speed = 1", "known", "an unknown name");
	refused("Fused = 1", "known", "a name in capitals");
	refused("fuse = 1", "known", "the beginning of a name");
	refused("fused_us = 1", "known", "a name and more");
	refused("= 1", "known", "no name");
	refused("fused 1", "=", "a line without =");
	refused("fused", "=", "a name alone");
	refused("fused = ", "number", "no value");
	refused("fused = # 1", "number", "a value in a comment");
	refused("fused = x", "number", "a word");
	refused("fused == 1", "number", "two =");
	refused("fused = 1 us", "number", "a unit");
	refused("fused = 0.5x", "number", "garbage behind a number");
	refused("fused = 0,5", "number", "a comma");
	refused("fused = 0.5; launch_us = 2", "number", "two values in a line");
	refused("fused = inf", "range", "infinity");
	refused("fused = -inf", "range", "infinity below");
	refused("fused = nan", "range", "not a number");
	refused("read_bandwidth = inf", "range", "infinite bandwidth");
	refused("read_bandwidth = 1e999", "range", "more than a number can be");
	refused("fused = -0.001", "range", "a negative value");
	refused("fused = 2.001", "range", "a part above 2");
	refused("overlap_other_tables = 2.001", "range", "overlap_other_tables above 2");
	refused("overlap_same_table = -1", "range", "overlap_same_table below 0");
	refused("read_bandwidth = 0", "range", "no bandwidth");
	refused("read_bandwidth = 1.1e9", "range", "too much bandwidth");
	refused("flight_bytes = 0", "range", "no bytes in flight");
	refused("flight_bytes = 1.1e9", "range", "too many bytes in flight");
	refused("launch_us = -1", "range", "a time below 0");
	refused("launch_us = 1.1e6", "range", "more than a second");
	refused("fused x = 1", "known", "a word behind a name");
}

/* The built-in values would be accepted. */
static void
test_built_in(void)
{
	const GcCalibration *built_in[] = {&gc_calibration_default, &gc_calibration_host};

	for (int i = 0; i < 2; i++)
	{
		const GcCalibration *c = built_in[i];
		char		text[512];

		snprintf(text, sizeof(text), "read_bandwidth = %.17g\nlaunch_us = %.17g\nflight_bytes = %.17g\n"
				 "overlap_other_tables = %.17g\noverlap_same_table = %.17g\nfused = %.17g\n", c->read_bandwidth, c->launch_us, c->flight_bytes,
				 c->overlap_other_tables, c->overlap_same_table, c->fused);
		means(text, *c, i ? "the host's calibration" : "the default calibration");
	}
}

/*-------------------------------------------------------------------------
 * Costs
 *-------------------------------------------------------------------------
 */

static void
test_learn(void)
{
	GcLearned	l = {.value = 1e30};
	double		last;
	bool		follows = true;

	gc_learn(&l, 40);
	ok(near(l.value, 40) && l.samples == 1, "the first sample is the value, whatever was there");
	gc_learn(&l, 60);
	ok(near(l.value, 50), "two samples: their mean");
	for (int i = 0; i < 6; i++)
		gc_learn(&l, 50);
	ok(near(l.value, 50), "a few samples: their mean");
	for (int i = 0; i < 1000; i++)
		gc_learn(&l, i % 2 ? 90 : 110);
	ok(fabs(l.value - 100) < 2, "values that come and go: their middle");
	last = l.value;
	for (int i = 0; i < 200; i++)
	{
		gc_learn(&l, 1000);
		follows = follows && l.value > last && l.value < 1000.001;
		last = l.value;
	}
	ok(follows, "each sample moves the value towards itself, and not beyond");
	ok(fabs(l.value - 1000) < 1, "the value follows after many samples");
	gc_learn(&l, 0);
	ok(l.value > 900, "one sample that differs changes little");
	ok(l.samples > 0 && l.samples <= 16, "the number of samples does not grow for ever");
}

static void
test_load(void)
{
	GcLoad		l = {0};

	gc_load_passed(&l, 0, false);
	gc_load_passed(&l, GC_LOAD_US * 0.6, true);
	ok(gc_load_part(&l) == 1, "a load is the whole as long as little time has passed");
	gc_load_passed(&l, GC_LOAD_US * 0.9, false);
	ok(near(gc_load_part(&l), 0.4), "then the part of the time");
	for (int i = 0; i < 100; i++)
		gc_load_passed(&l, GC_LOAD_US, i % 2 == 0);
	ok(gc_load_part(&l) > 0.4 && gc_load_part(&l) < 0.6, "which is an average");
	for (int i = 0; i < 300; i++)
		gc_load_passed(&l, GC_LOAD_US, true);
	ok(near(gc_load_part(&l), 1), "of the newest");
	gc_load_passed(&l, 3600e6, false);
	ok(gc_load_part(&l) > 0.9, "in which an hour counts once");
}

static void
test_scans(void)
{
	GcScanTimes t = {.scan_us = 5,.column_us = {10, 20, 40}};
	bool		apart = true;

	ok(near(gc_scan_us(&t, 0), 5), "a shared scan of no column");
	ok(near(gc_scan_us(&t, 5), 55), "of columns that were never read together: their sum");
	gc_scan_learn(&t, 5, 155, false);
	ok(near(gc_scan_us(&t, 5), 60), "longer beside others: believed a little");
	ok(near(gc_scan_us(&t, 7), 75) && near(gc_scan_us(&t, 1), 15), "and of these columns only");
	gc_scan_learn(&t, 5, 30, false);
	ok(near(gc_scan_us(&t, 5), 51), "shorter even so: sooner");
	gc_scan_learn(&t, 5, 151, true);
	ok(near(gc_scan_us(&t, 5), 81), "alone: sooner, too");
	gc_scan_learn(&t, 3, 155, true);
	ok(near(gc_scan_us(&t, 3), 71), "the first time, too, which may be slow for other reasons");
	gc_scan_refused(&t, 3);
	ok(near(gc_scan_us(&t, 3), 71 - 36.0 / 64), "what is refused seems a little faster");
	for (int i = 0; i < 3000; i++)
		gc_scan_refused(&t, 3);
	gc_scan_refused(&t, 4);
	ok(near(gc_scan_us(&t, 3), 35) && near(gc_scan_us(&t, 4), 45), "down to the sum of its columns");
	gc_scan_learn(&t, 6, 1265, false);
	ok(near(gc_scan_us(&t, 6), 125), "beside others, much longer");
	gc_scan_refused(&t, 6);
	ok(near(gc_scan_us(&t, 6), 125 - 60.0 / 8), "that is forgotten sooner");
	ok(near(gc_forget_refused(20, 4, true), 19.75) && near(gc_forget_refused(20, 4, false), 18), "as any such time is");
	gc_scan_learn(&t, 0, 1000, true);
	ok(near(gc_scan_us(&t, 0), 5), "of no column nothing is learned");
	/* more sets than there are places */
	for (unsigned c = 1; c < 2000; c++)
	{
		const double before = gc_scan_us(&t, c);

		gc_scan_learn(&t, c, 1000 + c, true);
		apart = apart && near(gc_scan_us(&t, c), before + 0.3 * (1000 + c - before)) &&
			(c == 3 || c == 5 || c == 6 || before < 76);
	}
	ok(apart, "whatever else was learned");
	ok(near(gc_scan_us(&t, 1), 15), "what was forgotten is estimated again");
	ok(near(gc_learned_us(100, 200, false), 105) && near(gc_learned_us(100, 0, false), 70) &&
	   near(gc_learned_us(100, 200, true), 130), "any estimate follows that way");
}

static void
test_longest_first(void)
{
	const double us[] = {3, 8, 1, 8, 0, 2};
	int			order[6];

	gc_longest_first(us, 6, order);
	ok(order[0] == 1 && order[1] == 3 && order[2] == 0 && order[3] == 5 && order[4] == 2 && order[5] == 4,
	   "the longest first, of equal ones the first: %d %d %d %d %d %d", order[0], order[1], order[2], order[3], order[4], order[5]);
	gc_longest_first(us + 4, 1, order);
	is(order[0], 0, "one");
}

static void
test_members(void)
{
	double		a = 10,
				b = 20;
	double		took[4];

	gc_members_learn((double *[]) {&a}, (double[]) {110}, 1, false);
	ok(near(a, 15), "one member, beside others: believed a little");
	gc_members_learn((double *[]) {&a}, (double[]) {5}, 1, false);
	ok(near(a, 12), "unless it is shorter");
	gc_members_learn((double *[]) {&a, &a, &a, &a}, (double[]) {40, 4, 30, 14}, 4, true);
	ok(near(a, 15), "four of a grid: their mean, believed if nothing else was there");
	a = 10;
	gc_members_learn((double *[]) {&a, &b}, (double[]) {40, 20}, 2, true);
	ok(near(a, 13) && near(b, 20), "of two shapes each has its own times; one member says less than many");
	a = 10, b = 20;
	gc_members_learn((double *[]) {&a, &b, &a}, (double[]) {20, 50, 10}, 3, false);
	ok(near(a, 10 + 0.15 * (15 * (140 / 3.0 / 80) - 10)) && near(b, 20 + 0.1 * (50 * (140 / 3.0 / 80) - 20)),
	   "what others made longer is believed a little, by its parts (%f, %f)", a, b);
	a = 100, b = 10;
	for (int i = 0; i < 200; i++)
		gc_members_learn((double *[]) {&a, &b}, (double[]) {20, 90}, 2, false);
	ok(fabs(a - 20) < 0.1 && fabs(b - 90) < 0.1, "a wrong belief of who takes more does not last (%f, %f)", a, b);
	a = 7;
	gc_members_learn((double *[]) {&a, &b}, (double[]) {-1, 90}, 2, true);
	ok(near(a, 7), "of what is not known nothing is learned");
	for (int i = 0; i < 100; i++)
		gc_members_learn((double *[]) {&a}, (double[]) {0}, 1, true);
	ok(near(a, 1), "nothing takes less than a microsecond");

	gc_members_took((double[]) {40, 60, 40, 0}, (double[]) {70, 120, 60, 0}, 4, took);
	ok(near(took[0], 10 + 5) && near(took[1], 5 + 50) && near(took[2], 10) && took[3] < 0,
	   "who is there at the same time shares it (%f, %f, %f)", took[0], took[1], took[2]);
	gc_members_took((double[]) {40, 40, 80}, (double[]) {50, 50, 90}, 3, took);
	ok(near(took[0], 5) && near(took[1], 5) && near(took[2], 10), "and what nobody was there for is nobody's");
	gc_members_took((double[]) {0, 30}, (double[]) {20, 30}, 2, took);
	ok(near(took[0], 20) && near(took[1], 0), "one that took no time");
}

/* A fused scan takes 150 us and 9 for each member of this shape and 20 of that; members by turns. */
static void
test_bodies(void)
{
	static const int turns[][2] = {{2, 0}, {8, 0}, {1, 1}, {4, 2}, {0, 2}, {16, 0}};
	double		scan = 3,
				a = 1,
				b = 1;
	double	   *us[16];
	bool		steady = true;

	for (int i = 0; i < 100; i++)
		gc_fused_members_learn(&scan, 3, (double *[]) {&a, &a}, 2, 168, true);
	ok(near(scan + 2 * a, 168), "of two members the time is known");
	ok(scan > 150 && scan + 8 * a < 222, "and of eight it is not thought to be more than it is (%f + 8 x %f)", scan, a);
	for (int i = 0; i < 6000; i++)
	{
		const int  *turn = turns[i % 6];
		const double time = 150 + 9 * turn[0] + 20 * turn[1];
		double		before;
		double		after;

		for (int m = 0; m < turn[0] + turn[1]; m++)
			us[m] = m < turn[0] ? &a : &b;
		before = fabs(scan + turn[0] * a + turn[1] * b - time);
		gc_fused_members_learn(&scan, 3, us, turn[0] + turn[1], time, true);
		after = fabs(scan + turn[0] * a + turn[1] * b - time);
		steady &= after <= before * 0.75 + 1e-6;
	}
	ok(steady, "each time the prediction comes nearer, however many there are of a grid");
	ok(fabs(scan - 150) < 1 && fabs(a - 9) < 0.2 && fabs(b - 20) < 0.5,
	   "by numbers that differ scan and members are told apart (%f, %f, %f)", scan, a, b);
	gc_fused_members_learn(&scan, 3, us, 16, 1e6, false);
	ok(scan + 16 * a < 60000, "a time that others made longer is believed a little (%f, %f)", scan, a);
	for (int i = 0; i < 200; i++)
		gc_fused_members_learn(&scan, 3, us, 16, 0, true);
	ok(near(scan, 3) && near(a, 1), "nothing takes less than what any launch does (%f, %f)", scan, a);
}

/* The slowness learned of a thread to which that happens so often. */
static double
learn_slowness(const int n[GC_HOST_KINDS], double factor, int times)
{
	GcLearned	l = {0};

	for (int i = 0; i < times; i++)
		gc_host_learn(&l, n, gc_host_us(n) * factor);
	return l.value;
}

static void
test_host(void)
{
	const int	some[GC_HOST_KINDS] = {[GC_HOST_OWN] = 100,[GC_HOST_SELECTED] = 28,[GC_HOST_SCAN] = 4};
	const int	one[GC_HOST_KINDS] = {[GC_HOST_OWN] = 1};
	const int	none[GC_HOST_KINDS] = {0};
	GcLearned	l = {0};
	int			shared[GC_HOST_KINDS] = {[GC_HOST_SCAN] = 1};
	double		own,
				scan;

	ok(gc_host_us(none) == 0 && gc_host_us(one) > 0 && near(gc_host_us(some), 100 * gc_host_us(one) +
		28 * gc_host_us((const int[GC_HOST_KINDS]) {[GC_HOST_SELECTED] = 1}) +
		4 * gc_host_us((const int[GC_HOST_KINDS]) {[GC_HOST_SCAN] = 1})), "what a thread takes adds up");
	ok(near(learn_slowness(some, 1.2, 1), 1.2), "one that is slower is known at once");
	ok(near(learn_slowness(some, 10, 1), 1.25) && near(learn_slowness(some, 0.1, 1), 0.8), "but not at once as that slow, or fast");
	ok(near(learn_slowness(some, 3, 400), 3), "though in the end");
	gc_host_learn(&l, none, 1000);
	ok(l.samples == 0, "of nothing, nothing is learned");
	ok(near(gc_host_pressure(2, 0.75), 1.5), "of a thread that is at work for a part of the time, that part counts");
	ok(near(gc_host_pressure(2, 0.1), gc_host_pressure(2, 0)) && gc_host_pressure(2, 0) > 0.5, "but what is done before a launch in any case");

	shared[GC_HOST_SELECTED] = 8;
	own = 8 * gc_host_us(one);
	scan = gc_host_us(shared);
	ok(own < scan, "selection scans are more work for a thread");
	ok(gc_sharing_pays(&(GcSharing) {8, true, 100, 101, 0}) && !gc_sharing_pays(&(GcSharing) {8, true, 101, 100, 0}),
	   "without a thread's time the device's decides");
	ok(!gc_sharing_pays(&(GcSharing) {8, true, 50, own / 2, 1}), "where kernels are short, the thread's");
	ok(gc_sharing_pays(&(GcSharing) {8, true, 50, scan * 1.01, 1}) &&
	   !gc_sharing_pays(&(GcSharing) {8, true, 50, scan * 0.99, 1}), "so long as the device is not slower than it");
	ok(gc_sharing_pays(&(GcSharing) {8, true, 50, scan * 1.99, 1}) &&
	   !gc_sharing_pays(&(GcSharing) {8, true, 50, scan * 1.99, 2}), "slower threads find that later");
	ok(gc_sharing_pays(&(GcSharing) {8, true, scan * 2, scan * 2.01, 1}) &&
	   !gc_sharing_pays(&(GcSharing) {8, true, scan * 2.01, scan * 2, 1}), "and where kernels are long, the device's again");
}

static void
test_alone(void)
{
	ok(near(gc_cost_alone(&before, 0), 7.5), "no bytes: the time of a launch");
	ok(near(gc_cost_alone(&before, 123456 * 20.0), 27.5), "and the bytes by bandwidth");
	ok(gc_cost_alone(&gc_calibration_host, 1e6) > gc_cost_alone(&gc_calibration_default, 1e6),
	   "the host is slower");
}

/*-------------------------------------------------------------------------
 * Variants
 *-------------------------------------------------------------------------
 */

static uint64_t seed = 1;

static int
draw(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int) ((seed >> 33) % (uint64_t) below);
}

/* Bytes of shared memory that a choice takes. */
static uint64_t
bytes_of(const GcPipelineDemand *d, GcVariantChoice c)
{
	uint64_t	bytes = c.group_copies * d->group_bytes;

	for (int i = 0; i < d->nbitmaps; i++)
		bytes += c.bitmaps >> i & 1 ? d->bitmap_bytes[i] : 0;
	if (c.group_cells > 0)
		bytes += c.group_cells * (d->group_bytes / d->ngroups + 4);
	return bytes;
}

static void
test_variants(const GcProfile *gpu)
{
	/* Two bitmaps, and a group table of which there could be 32 copies. */
	const GcPipelineDemand two = {.rows = 10000000,.survivors = 1000000,.nbitmaps = 2,
	.bitmap_bytes = {50000, 20000},.ngroups = 50,.group_bytes = 400};
	GcPipelineDemand d = two;
	GcVariantChoice c = gc_sched_variant(gpu, &d, 200000);

	ok(c.bitmaps == 3 && c.group_copies == 32, "everything fits");
	ok(c.threads == 1024 && c.vec > 0, "much shared memory: large blocks");
	c = gc_sched_variant(gpu, &d, 70000 + 32 * 400);
	ok(c.bitmaps == 3 && c.group_copies == 32, "everything just fits");
	c = gc_sched_variant(gpu, &d, 70000 + 32 * 400 - 1);
	ok(c.bitmaps == 3 && c.group_copies == 1, "no room for copies: one group table");
	c = gc_sched_variant(gpu, &d, 70399);
	ok(c.bitmaps == 3 && c.group_copies == 0, "room for the bitmaps alone");
	c = gc_sched_variant(gpu, &d, 69999);
	ok(c.bitmaps == 1 && c.group_copies == 32, "the bitmap probed first goes first");
	c = gc_sched_variant(gpu, &d, 49999);
	ok(c.bitmaps == 2 && c.group_copies == 32, "one that does not fit leaves room to the next");
	c = gc_sched_variant(gpu, &d, 399);
	ok(c.bitmaps == 0 && c.group_copies == 0 && c.threads == 256, "nothing fits");
	c = gc_sched_variant(gpu, &d, 0);
	ok(c.bitmaps == 0 && c.group_copies == 0 && c.threads == 256 && c.vec > 0, "no room");

	d.queue_bytes = 18432;
	c = gc_sched_variant(gpu, &d, 70000 + 32 * 400 + 18432);
	ok(c.bitmaps == 3 && c.group_copies == 32, "a kernel that queues rows: everything just fits beside the queues");
	c = gc_sched_variant(gpu, &d, 70000 + 32 * 400 + 18431);
	ok(c.bitmaps == 3 && c.group_copies == 1, "which have their part first");
	c = gc_sched_variant(gpu, &d, 18431);
	ok(c.bitmaps == 0 && c.group_copies == 0, "or leave nothing");
	d = two;
	d.rows = 100000;
	c = gc_sched_variant(gpu, &d, 200000);
	ok(c.bitmaps == 0 && c.group_copies == 32 && c.threads == 256, "few rows: no bitmap is copied");
	d = two;
	d.survivors = 100;
	c = gc_sched_variant(gpu, &d, 200000);
	ok(c.bitmaps == 3 && c.group_copies == 32, "an estimate far too low is not believed");
	d.rows = 100000;
	c = gc_sched_variant(gpu, &d, 200000);
	ok(c.group_copies == 0, "few survivors: the group table stays where it is");
	d = two;
	d.survivors = 100;
	d.ngroups = 7000;
	d.group_bytes = 7000 * 16;
	is(gc_sched_variant(gpu, &d, 200000).group_cells, 0, "many groups: nothing is kept of them, unless that is wanted");
	d.cells = true;
	c = gc_sched_variant(gpu, &d, 200000);
	ok(c.group_copies == 0 && c.group_cells == 512 && c.threads == 1024, "then a block keeps those that it meets");
	is(c.vec, 16, "threads have 16 rows");
	d.pairs = true;
	is(gc_sched_variant(gpu, &d, 200000).vec, 8, "or 8, where each is tried with those of a list");
	d.pairs = false;
	c = gc_sched_variant(gpu, &d, 70000 + 512 * 20 - 1);
	ok(c.bitmaps == 3 && c.group_cells == 256, "as many as have room beside bitmaps");
	c = gc_sched_variant(gpu, &d, 64 * 20 - 1);
	is(c.group_cells, 0, "too few are not worth it");
	d.rows = 100000;
	is(gc_sched_variant(gpu, &d, 200000).group_cells, 0, "few rows: none");
	d.rows = (uint64_t) gpu->sms << 32;
	is(gc_sched_variant(gpu, &d, 200000).group_cells, 0, "more rows than blocks can count: none");
	d = two;
	d.cells = true;
	is(gc_sched_variant(gpu, &d, 200000).group_cells, 0, "a table of all groups: none");
	d.group_bytes = 800;
	is(gc_sched_variant(gpu, &d, 200000).group_copies, 1, "a large group table is not copied");
	d.ngroups = 0;
	is(gc_sched_variant(gpu, &d, 200000).group_copies, 0, "no groups, no table");
	d = two;
	d.rows = d.survivors = ((uint64_t) gpu->sms << 32) - 1;
	is(gc_sched_variant(gpu, &d, 200000).group_copies, 32, "as many rows as blocks can count in 32 bits");
	d.rows++;
	is(gc_sched_variant(gpu, &d, 200000).group_copies, 0, "one more");
	is(gc_sched_variant_threads(gpu, 0), 256, "no shared memory: small blocks");
	is(gc_sched_variant_threads(gpu, (uint64_t) gpu->shared_per_sm / 8), 256, "eight fit");
	is(gc_sched_variant_threads(gpu, (uint64_t) gpu->shared_per_sm / 8 + 1), 1024, "fewer do: large blocks");
	d = (GcPipelineDemand) {.rows = 10000000,.nbitmaps = 32};
	for (int i = 0; i < 32; i++)
		d.bitmap_bytes[i] = 1000;
	is(gc_sched_variant(gpu, &d, 31999).bitmaps, 0x7fffffff, "as many as fit of 32 bitmaps");
	is(gc_sched_variant(gpu, &d, 32000).bitmaps, 0xffffffff, "all of 32 bitmaps");
}

/* Whatever is asked for: within the room, and no bitmap left out that would have fit. */
static void
test_room(const GcProfile *gpu)
{
	bool		respected = true;
	bool		filled = true;
	bool		sane = true;

	for (int n = 0; n < 20000; n++)
	{
		GcPipelineDemand d = {.rows = 10000000,.survivors = draw(2) ? 0 : 1 << draw(30),.nbitmaps = draw(33),.cells = draw(2)};
		uint64_t	room = draw(2) ? draw(gpu->shared_per_block) : draw(2000);
		uint64_t	used = 0;
		GcVariantChoice c;

		for (int i = 0; i < d.nbitmaps; i++)
			d.bitmap_bytes[i] = 1 + ((uint64_t) draw(1 << 30) >> draw(30));
		d.ngroups = draw(3) ? 1 + draw(1 << 16) : 0;
		d.group_bytes = d.ngroups * 8 * (1 + draw(4));
		c = gc_sched_variant(gpu, &d, room);
		respected = respected && bytes_of(&d, c) <= room;
		sane = sane && (d.nbitmaps == 32 || c.bitmaps >> d.nbitmaps == 0) &&
			(c.threads == 256 || c.threads == 1024) && c.group_copies >= 0 &&
			(d.ngroups > 0 || c.group_copies == 0);
		for (int i = 0; i < d.nbitmaps; i++)
		{
			if (c.bitmaps >> i & 1)
				used += d.bitmap_bytes[i];
			else
				filled = filled && used + d.bitmap_bytes[i] > room;
		}
	}
	ok(respected, "no variant takes more than there is room");
	ok(filled, "a bitmap that fits is in shared memory");
	ok(sane, "variants are possible ones");
}

static void
test_host_variants(void)
{
	const GcProfile host = {.serial_blocks = true,.scalar = true,.shares_cpu = true,.sms = 8,.shared_per_block = 1 << 30};
	GcPipelineDemand d = {.rows = 10000000,.survivors = 10,.nbitmaps = 2,.bitmap_bytes = {1000, 1000},
	.ngroups = 1000,.group_bytes = 256 * 1024};
	GcVariantChoice c = gc_sched_variant(&host, &d, 0);

	ok(c.bitmaps == 0 && c.threads == 1 && c.vec == 0, "host: no shared memory, one thread, row by row");
	is(c.group_copies, 1, "host: a group table per thread");
	d.group_bytes++;
	is(gc_sched_variant(&host, &d, 1 << 30).group_copies, 0, "host: one too large for a core's cache is shared");
	d.ngroups = 0;
	d.group_bytes = 0;
	is(gc_sched_variant(&host, &d, 0).group_copies, 0, "host: no groups, no table");
}

/*-------------------------------------------------------------------------
 * The rest of a scan
 *-------------------------------------------------------------------------
 */

static void
test_left(void)
{
	ok(near(gc_residual_part(1500, 1200, 600), 0.5), "a scan that took 300 longer beside 600: half of what was left");
	ok(near(gc_residual_part(1100, 1200, 600), 0), "one that was sooner than alone says that it adds nothing");
	ok(near(gc_residual_part(9000, 1200, 600), 1), "one that took much longer, that it adds all of it, and no more");
}

static void
test_line(void)
{
	GcCalibration c = gc_calibration_default;

	c.overlap_other_tables = 0.9;
	ok(near(gc_sequence_factor(&c), 0.9), "kernels in sequence take the part of their times that was measured");
	c.overlap_other_tables = 1.05;
	ok(near(gc_sequence_factor(&c), 1), "but not more than all, whatever scans side by side take");
}

/* Blocks of 256 threads with 16 rows each, of tiles of 16,384 rows. */
static void
test_tile_shift(const GcProfile *gpu)
{
	int			wrong = 0;

	is(gc_sched_tile_shift(gpu, 16, 16384, 4096), 2, "a matrix of 512 x 512: 64 blocks instead of 16");
	is(gc_sched_tile_shift(gpu, 16, 16384, 1024), 4, "256 of them where threads have fewer rows");
	is(gc_sched_tile_shift(gpu, gpu->sms, 16384, 4096), 1, "a tile for each multiprocessor: two of them");
	is(gc_sched_tile_shift(gpu, 2 * gpu->sms, 16384, 4096), 0, "more tiles stay whole");
	is(gc_sched_tile_shift(gpu, 1, 16384, 20000), 0, "and those that no block could halve");
	is(gc_sched_tile_shift(gpu, 1, 16384, 0), 9, "however few rows a thread has");
	for (uint64_t tiles = 1; tiles < 1000; tiles++)
	{
		const uint32_t shift = gc_sched_tile_shift(gpu, tiles, 16384, 4096);

		wrong += 16384 >> shift < 4096 || (shift > 0 && tiles << (shift - 1) >= 2 * (uint64_t) gpu->sms);
	}
	is(wrong, 0, "never smaller than needed, nor than a block's rows");
	for (uint64_t tiles = 1; tiles < 100; tiles++)
	{
		GcProfile	host = *gpu;

		host.scalar = true;
		wrong += gc_sched_tile_shift(&host, tiles, 16384, 1) != 0;
	}
	is(wrong, 0, "processors' tiles stay whole");
}

static void
test_tile_of(void)
{
	is(gc_sched_tile_of(0, 100, .25), 25, "a quarter of a scan");
	is(gc_sched_tile_of(90, 100, .25), 15, "a quarter of a scan that begins near the end");
	is(gc_sched_tile_of(UINT32_MAX - 1, UINT32_MAX, 1), UINT32_MAX - 1, "all of the largest scan");
	is(gc_sched_tile_of(0, 1, .99), 0, "one tile");
	is(gc_sched_tile_of(0, 0, .5), 0, "a scan that passes over all chunks");
}

int
main(void)
{
	const GcProfile *gpu = gc_profile_known("H200");

	tap_start();
	if (gpu == NULL)
		tap_bail("no profile of an H200");
	test_good_files();
	test_long_lines();
	test_bad_files();
	test_built_in();
	test_learn();
	test_load();
	test_scans();
	test_members();
	test_bodies();
	test_longest_first();
	test_host();
	test_left();
	test_line();
	test_alone();
	test_variants(gpu);
	test_room(gpu);
	test_host_variants();
	test_tile_shift(gpu);
	test_tile_of();
	return tap_done();
}
