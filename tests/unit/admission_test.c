/*-------------------------------------------------------------------------
 *
 * admission_test.c
 *	  How many requests are admitted to device memory, and that each comes to its turn.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../src/worker/run/admission.h"

static const GcDemandPhase phases[] = {{.time = 3,.bytes = 10}, {.time = 1,.bytes = 50}};

static void
test_demand(void)
{
	ok(gc_demand(GC_ADMIT_WEIGHT, phases, 2) == 20, "the weighted demand, by equation (2)");
	ok(gc_demand(GC_ADMIT_PEAK, phases, 2) == 50, "the peak");
	ok(gc_demand(GC_ADMIT_WEIGHT, phases + 1, 1) == 50, "less phases weigh otherwise");
	ok(gc_demand(GC_ADMIT_WEIGHT, phases, 0) == 0, "no phase, no demand");
}

/* So many of requests with equal demands begin. */
static int
begin(GcAdmissionPolicy policy, uint64_t memory, uint64_t demand, int requests)
{
	GcAdmission a = {0};
	uint64_t	refused[64] = {0};
	int			n = 0;

	gc_admission_begin(&a, policy, memory, 0, 0);
	for (int i = 0; i < requests; i++)
		n += gc_admission_ask(&a, demand, &refused[i]);
	return n;
}

static void
test_policies(void)
{
	for (int n = 1; n <= 3; n++)
		ok(begin(GC_ADMIT_FIX_1 + n - 1, 100, 90, 10) == n, "fix-%d", n);
	ok(begin(GC_ADMIT_WEIGHT, 100, 20, 10) == 5, "weight: as many as fit");
	ok(begin(GC_ADMIT_PEAK, 100, 50, 10) == 2, "peak: as many as fit");
	ok(begin(GC_ADMIT_WEIGHT, 100, 1000, 10) == 1, "one that is too large begins alone");
	ok(begin(GC_ADMIT_WEIGHT, 100, 0, 10) == 10, "those that take nothing begin");
}

/* Admitted requests count with the memory that they take now. */
static void
test_update(void)
{
	GcAdmission a = {0};
	uint64_t	refused = 0;

	gc_admission_begin(&a, GC_ADMIT_WEIGHT, 100, 1, 90);
	ok(!gc_admission_ask(&a, 20, &refused), "no room");
	gc_admission_begin(&a, GC_ADMIT_WEIGHT, 100, 1, 40);
	ok(gc_admission_ask(&a, 20, &refused), "room when the other one takes less");
	gc_admission_begin(&a, GC_ADMIT_WEIGHT, 100, 1, 200);
	ok(!gc_admission_ask(&a, 1, &refused), "no room while another takes more than all");
}

/*
 * One large request among small ones, of which as many as there is room for run at any time.  Each runs
 * for four turns.  Returns the small ones that began before the large one.
 */
static int
overtaking(GcAdmissionPolicy policy)
{
	GcAdmission a = {0};
	uint64_t	refused = 0;
	int			running[4] = {3, 3, 3, 3};	/* that began so many turns ago; all small */
	int			overtook = 0;

	for (int turn = 0; turn < 1000; turn++)
	{
		const int	n = running[0] + running[1] + running[2] + running[3];

		gc_admission_begin(&a, policy, 120, n, 10 * n);
		if (gc_admission_ask(&a, 100, &refused))
			return overtook;
		running[turn % 4] = 0;
		for (int i = 0; i < 3; i++)
		{
			uint64_t	small_refused = 0;

			running[turn % 4] += gc_admission_ask(&a, 10, &small_refused);
		}
		overtook += running[turn % 4];
	}
	return -1;
}

static void
test_starving(void)
{
	int			n = overtaking(GC_ADMIT_WEIGHT);

	ok(n >= 0 && n <= 18, "a large request is overtaken by few under weight (%d)", n);
	n = overtaking(GC_ADMIT_PEAK);
	ok(n >= 0 && n <= 18, "and under peak (%d)", n);
	n = overtaking(GC_ADMIT_FIX_2);
	ok(n == 0, "fixed numbers go by arrival (%d)", n);
}

int
main(void)
{
	tap_start();
	test_demand();
	test_policies();
	test_update();
	test_starving();
	return tap_done();
}
