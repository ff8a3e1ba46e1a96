/*-------------------------------------------------------------------------
 *
 * line_test.c
 *	  Tests of the line: the time of kernels in the order of their launch, the choice of
 *	  their variants against all choices that there are, and the variants themselves.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/sched/line.h"

#define KB	1024
#define STEPS	6000

static uint64_t seed = 1;
static GcLineWork work;

static int
draw(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int) ((seed >> 33) % (uint64_t) below);
}

static const GcProfile *
h200(void)
{
	return gc_profile_known("H200");
}

/* A kernel with blocks of 256 threads, with variants {shared bytes, time alone}. */
static GcLineItem
kernel(int n, const double shared_and_us[][2])
{
	GcLineItem	item = {.noptions = n};
	GcLine		line;

	gc_line_begin(&line, h200(), 1);
	for (int v = 0; v < n; v++)
		gc_line_option(&line, h200(), 40, 256, (uint64_t) shared_and_us[v][0], shared_and_us[v][1], &item.option[v]);
	return item;
}

static GcLineItem
fixed(double shared, double us)
{
	const double v[1][2] = {{shared, us}};

	return kernel(1, v);
}

/* Time of the items in these variants (NULL: the first) behind what is in the line. */
static double
time_of(const GcLine *line, const GcLineItem *item, int n, const int *choice)
{
	GcLine		l = *line;

	for (int i = 0; i < n; i++)
		gc_line_add(&l, &item[i].option[choice ? choice[i] : 0]);
	return gc_line_us(&l);
}

static bool
near(double a, double b)
{
	return fabs(a - b) < 1e-6 * (1 + fabs(b));
}

static void
test_model(void)
{
	GcLineItem	small[3] = {fixed(8 * KB, 100), fixed(8 * KB, 200), fixed(8 * KB, 300)};
	GcLineItem	large[3] = {fixed(200 * KB, 100), fixed(200 * KB, 200), fixed(200 * KB, 300)};
	GcLineItem	mixed[4] = {fixed(200 * KB, 100), fixed(8 * KB, 100), fixed(200 * KB, 100), fixed(8 * KB, 100)};
	GcLineItem	huge = fixed(300 * KB, 50);
	GcLine		line;

	gc_line_begin(&line, h200(), 0.7);
	ok(near(gc_line_us(&line), 0), "an empty line takes no time");
	ok(near(time_of(&line, small, 1, NULL), 100), "one kernel takes its time alone");
	ok(near(time_of(&line, small, 3, NULL), 420), "kernels that fit side by side share the device");
	ok(near(time_of(&line, large, 3, NULL), 600), "those that do not run one after another");
	ok(near(time_of(&line, mixed, 4, NULL), 280), "a small one runs beside the large one before it");
	line.beside = 0.2;
	ok(near(time_of(&line, small, 3, NULL), 300), "none ends sooner than it does alone");
	gc_line_add(&line, &huge.option[0]);
	ok(near(time_of(&line, small, 1, NULL), 150), "a kernel that fits nowhere has the device to itself");
}

/* Leaving room is worth it just where what it gains is more than what it costs. */
static void
test_worth(void)
{
	const double cheap[2][2] = {{200 * KB, 100}, {8 * KB, 120}};
	const double dear[2][2] = {{200 * KB, 100}, {8 * KB, 300}};
	GcLineItem	two[2] = {kernel(2, cheap), kernel(2, cheap)};
	int			choice[3];
	GcLine		line;

	gc_line_begin(&line, h200(), 0.7);
	ok(near(gc_line_choose(&line, two, 1, STEPS, &work, choice), 100) && choice[0] == 0, "a kernel alone is the fastest");
	gc_line_begin(&line, h200(), 0.7);
	ok(near(gc_line_choose(&line, two, 2, STEPS, &work, choice), 154) && choice[0] + choice[1] == 1,
	   "of two large kernels one makes room for the other");
	gc_line_begin(&line, h200(), 0.95);
	ok(near(gc_line_choose(&line, two, 2, STEPS, &work, choice), 200) && choice[0] + choice[1] == 0,
	   "but not where running side by side gains less than that");
	two[0] = two[1] = kernel(2, dear);
	gc_line_begin(&line, h200(), 0.7);
	ok(near(gc_line_choose(&line, two, 2, STEPS, &work, choice), 200) && choice[0] + choice[1] == 0,
	   "nor where the variant is too slow");
	two[0] = kernel(2, cheap);
	gc_line_begin(&line, h200(), 0.7);
	gc_line_add(&line, &fixed(200 * KB, 100).option[0]);
	ok(near(gc_line_choose(&line, two, 1, STEPS, &work, choice), 154) && choice[0] == 1,
	   "a kernel makes room beside one that is on the device");
	gc_line_begin(&line, h200(), 1.2);
	ok(near(gc_line_choose(&line, two, 1, STEPS, &work, choice), 100) && choice[0] == 0, "no gain, no change");
}

/* Two that have to change together: neither alone makes room enough. */
static void
test_pair(void)
{
	const double half[2][2] = {{200 * KB, 100}, {100 * KB, 110}};
	GcLineItem	two[2] = {kernel(2, half), kernel(2, half)};
	int			choice[2];
	GcLine		line;

	gc_line_begin(&line, h200(), 0.7);
	ok(near(gc_line_choose(&line, two, 2, STEPS, &work, choice), 154) && choice[0] == 1 && choice[1] == 1,
	   "two kernels make room together");
}

/* A kernel as ours: bitmaps in shared memory, some of them, none. */
static GcLineItem
random_kernel(void)
{
	static const int sizes[] = {0, 4, 16, 60, 80, 130, 160, 205, 225};
	GcLineItem	item = {.noptions = 1 + draw(3)};
	GcLine		line;
	uint64_t	shared = (uint64_t) sizes[draw(9)] * KB;
	double		us = 50 + draw(1000);

	gc_line_begin(&line, h200(), 1);
	for (int v = 0; v < item.noptions; v++)
	{
		gc_line_option(&line, h200(), 24 + 8 * draw(10), shared > 29 * KB ? 1024 : 256, shared, us, &item.option[v]);
		shared = shared > 60 * KB && v == 0 ? (uint64_t) (8 + draw(48)) * KB : 0;
		us *= 1 + 0.01 * draw(60);
	}
	return item;
}

static double
best_of_all(const GcLine *line, const GcLineItem *item, int n)
{
	int			choice[8] = {0};
	double		best = time_of(line, item, n, choice);

	for (;;)
	{
		int			i = 0;
		double		us;

		while (i < n && ++choice[i] == item[i].noptions)
			choice[i++] = 0;
		if (i == n)
			return best;
		us = time_of(line, item, n, choice);
		best = us < best ? us : best;
	}
}

/* Against brute force: sets of up to 7 kernels, behind up to two that are on the device. */
static void
test_search(void)
{
	int			optimal = 0;
	int			gained = 0;
	int			gains = 0;
	int			sets = 20000;
	double		excess = 0;
	double		worst = 1;
	bool		worse = false;
	bool		honest = true;

	for (int r = 0; r < sets; r++)
	{
		GcLineItem	item[7];
		int			n = 1 + draw(7);
		int			choice[7];
		GcLine		line;
		GcLine		chosen;
		double		fastest;
		double		best;
		double		us;

		gc_line_begin(&line, h200(), 0.5 + 0.01 * draw(50));
		for (int a = draw(3); a > 0; a--)
			gc_line_add(&line, &random_kernel().option[0]);
		for (int i = 0; i < n; i++)
			item[i] = random_kernel();
		fastest = time_of(&line, item, n, NULL);
		best = best_of_all(&line, item, n);
		chosen = line;
		us = gc_line_choose(&chosen, item, n, 40 * n, &work, choice);
		honest = honest && near(us, time_of(&line, item, n, choice)) && near(us, gc_line_us(&chosen));
		worse = worse || us > fastest + 1e-6;
		optimal += near(us, best);
		gained += us < fastest - 1e-3;
		gains += best < fastest - 1e-3;
		excess += us / best;
		worst = us / best > worst ? us / best : worst;
	}
	ok(!worse, "never worse than the fastest variants");
	ok(honest, "what is chosen takes the time that was said");
	ok(optimal > sets * 97 / 100 && gained > gains * 98 / 100 && gains > sets / 5,
	   "%.1f %% of the choices are the best of all (mean excess %.3f %%, most %.1f %%); %d of %d that can gain do",
	   100.0 * optimal / sets, 100 * (excess / sets - 1), 100 * (worst - 1), gained, gains);
}

/* Long lines: the search ends, and is never worse. */
static void
test_long(void)
{
	static GcLineItem item[GC_MAX_ITEMS];
	static int	choice[GC_MAX_ITEMS];
	bool		worse = false;
	bool		valid = true;
	long		steps = 0;
	double		gain = 0;

	for (int r = 0; r < 300; r++)
	{
		GcLine		line;
		double		fastest;
		double		us;
		int			n = r % 3 == 0 ? GC_MAX_ITEMS : 65;

		for (int i = 0; i < n; i++)
			item[i] = random_kernel();
		gc_line_begin(&line, h200(), 0.7);
		fastest = time_of(&line, item, n, NULL);
		us = gc_line_choose(&line, item, n, 40 * n, &work, choice);
		worse = worse || us > fastest + 1e-6;
		gain += us / fastest / 300;
		steps = work.steps > steps ? work.steps : steps;
		for (int i = 0; i < n; i++)
			valid = valid && choice[i] >= 0 && choice[i] < item[i].noptions;
	}
	ok(!worse && valid, "long lines: choices that exist, never worse than the fastest (%.3f of the time)", gain);
	ok(steps < 10000, "long lines: the search ends (%ld steps at most)", steps);
}

/* Which variants a pipeline has. */
static void
test_variants(void)
{
	GcPipelineDemand demand = {.rows = 120000000,.survivors = 1000000,.nbitmaps = 3,
	.bitmap_bytes = {130 * KB, 30 * KB, 4 * KB},.ngroups = 150,.group_bytes = 150 * 16};
	GcPipelineDemand one = {.rows = 120000000,.nbitmaps = 1,.bitmap_bytes = {130 * KB}};
	GcProfile	host = {.host = true,.sms = 8,.warp_size = 1,.shared_per_block = 1 << 20,.shared_per_sm = 1 << 20};
	GcVariantChoice c[GC_MAX_OPTIONS];
	int			n = gc_sched_variants(h200(), &demand, c);

	ok(n == 3 && c[0].bitmaps == 7 && c[1].bitmaps == 6 && c[2].bitmaps == 0,
	   "variants: all bitmaps in shared memory, those that leave room, none");
	ok(gc_sched_variant_bytes(&demand, &c[0]) > gc_sched_variant_bytes(&demand, &c[1]) &&
	   gc_sched_variant_bytes(&demand, &c[1]) <= (uint64_t) h200()->shared_per_sm / 4 && c[2].group_copies > 0,
	   "variants: within a quarter of the shared memory, groups as far as they fit");
	n = gc_sched_variants(h200(), &one, c);
	ok(n == 3 && c[1].bitmaps == 0 && c[1].vec == 16 && c[2].bitmaps == 0 && c[2].vec == 8,
	   "variants: of a single bitmap, none in larger and smaller steps");
	one.queue_bytes = 18 * KB;
	one.survivors = 1000000;
	one.ngroups = 150;
	one.group_bytes = 12 * KB;
	n = gc_sched_variants(h200(), &one, c);
	ok(n == 3 && c[1].bitmaps == 0 && c[2].bitmaps == 0 && c[2].group_copies == 1,
	   "variants: queues take nothing from the groups of the one without bitmaps");
	demand.bitmap_bytes[0] = 4 * KB;
	is(gc_sched_variants(h200(), &demand, c), 1, "variants: one, where there is room for others");
	demand.bitmap_bytes[0] = 130 * KB;
	demand.rows = 1000000;
	is(gc_sched_variants(h200(), &demand, c), 1, "variants: one of a short scan");
	demand.rows = 120000000;
	is(gc_sched_variants(&host, &demand, c), 1, "variants: one on the host");
}

int
main(void)
{
	tap_start();
	test_model();
	test_worth();
	test_pair();
	test_search();
	test_long();
	test_variants();
	return tap_done();
}
