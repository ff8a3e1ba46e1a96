/*-------------------------------------------------------------------------
 *
 * predicates.c
 *	  A request's tests for marked scans: bitmaps per tested column, filled by its tester.
 *
 * The tester runs behind what is queued for the request while that waits for its turn, if it is
 * not alone, or if even so marks are predicted to be faster than its own kernel.
 *
 * The worker's main thread.  The request owns the bitmaps.
 *
 *-------------------------------------------------------------------------
 */
#include "predicates.h"

#include "../../force.h"
#include "../../settings.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "../run/launch.h"
#include "marked.h"
#include "scan_set.h"

#define TESTER_BLOCKS		528
#define TESTER_THREADS		256

/* So much for one request's tests and places must be to spare: columns do not make room. */
#define MANY_BYTES			((u64) 32 << 20)

/* A kernel that takes less time alone is left alone. */
#define ALONE_LEAST_US		250

static GcMarksPay pays = NULL;

void
gc_predicates_init(GcMarksPay marks_pay)
{
	pays = marks_pay;
}

/* Bytes of a test's bitmap, and of a build's places. */
static u64
bitmap_bytes(const GcSetColumn *column)
{
	return TYPEALIGN64(sizeof(u64), (column->range + 32) / 32 * sizeof(u32));
}

static u64
places_bytes(const GcSetColumn *column, int each)
{
	return TYPEALIGN64(sizeof(u64), (column->range + 1) * each);
}

/* Are the build's rows few enough for places? */
static bool
may_be_placed(const GcRun *run)
{
	const GcTests *tests = &run->share->scan_shape->tests;

	for (int i = 0; i < tests->nplaced; i++)
	{
		if (run->request->builds[tests->place[i].build].cap >= GC_PLACE_MORE - 1)
			return false;
	}
	return true;
}

/* Memory for the bitmaps of a request's tests, and for its places. */
static bool
lay_out_tests(GcRun *run)
{
	const GcScanShape *s = run->share->scan_shape;
	u64			bytes = 0;

	run->share->tests = MemoryContextAlloc(run->cxt, s->tests.ncolumns * sizeof(GcTestValue));
	run->share->places = MemoryContextAllocZero(run->cxt, (run->p->nbuilds + 1) * sizeof(GcTestValue));
	for (int q = 0; q < s->tests.ncolumns; q++)
	{
		i16			c = s->columns[s->tests.column[q]];

		run->share->tests[q] = (GcTestValue) {.bits = bytes,.base = s->set->column[c].base,
		.range = s->set->column[c].range,.dir_column = c};
		bytes += bitmap_bytes(&s->set->column[c]);
	}
	for (int i = 0; i < s->tests.nplaced; i++)
	{
		i16			c = s->columns[s->tests.place[i].column];

		run->share->places[s->tests.place[i].build] = (GcTestValue) {.bits = bytes,.base = s->set->column[c].base,
		.range = s->set->column[c].range,.dir_column = c};
		bytes += places_bytes(&s->set->column[c], gc_place_bytes(s->p, s->tests.place[i].build));
	}
	if (may_be_placed(run))
		run->share->test_bits = bytes > MANY_BYTES ? gc_device_alloc_spare(bytes) : gc_device_alloc(bytes);
	for (int q = 0; q < s->tests.ncolumns; q++)
		run->share->tests[q].bits += run->share->test_bits;
	for (int b = 0; b < run->p->nbuilds; b++)
		run->share->places[b].bits += run->share->test_bits;
	return run->share->test_bits != 0;
}

static GcCode
launch_tester(GcRun *run)
{
	const GcPipelineKernel *k = run->share->scan_shape->tester;
	GcLaunch	l = {.blocks = TESTER_BLOCKS,.threads = Min(TESTER_THREADS, k->info.max_threads)};
	GcArgSource src;
	GcArgs		args = {0};

	gc_run_arg_source(run, &src);
	gc_fill_args(&src, k, &args);
	gc_slot_run_info(run->slot)->kernels++;
	gc_run_not_prepared(run);
	return gc_worker.ops->launch(run->stream, k->kernel, &l, &args, k->nwords, &run->err);
}

/*
 * Might a marked scan be faster for a run that is alone?  So slow a kernel is worth the
 * compilation.
 */
static bool
may_pay_alone(const GcRun *run)
{
	return !gc_worker.profile.scalar && gc_marked_own_us(run) > ALONE_LEAST_US;
}

/* Is it predicted to be? */
static bool
pays_alone(const GcRun *run)
{
	const GcScanShape *s = run->share->scan_shape;
	double		us = gc_scan_us(&s->set->marker->times, gc_marked_columns(run)) + gc_marks_write_us(s->set);

	us += s->marked_us > 0 ? s->marked_us : gc_marked_own_us(run) * GC_MARKED_PART;
	return us + GC_SCAN_OF_ONE_US < gc_marked_own_us(run);
}

/* Might one be better for it and the others who are here? */
static bool
pays_in_company(GcRun *run, int others)
{
	const GcScanShape *s = run->share->scan_shape;
	const int	n = Min(others + 1, gc_marked_most(s->set));
	const double own_us = gc_marked_own_us(run);
	const double each = s->marked_us > 0 ? gc_marked_adds(s) : own_us * GC_MARKED_PART;
	const u32	columns = gc_marked_columns(run);

	if (own_us == 0 || pays(n, gc_scan_us(&s->set->marker->times, columns) + n * each, n * own_us))
		return true;
	if (run->share->marks_refused == 0)
		gc_marked_doubt(run, columns);
	run->share->marks_refused = others + 1;
	return false;
}

void
gc_predicates_test(GcRun *run, int others)
{
	const bool	forced = gc_sharing_forced();
	const bool	company = others > 0 || gc_marks_forced();
	GcScanShape *s;
	GcError		err;
	bool		failed;

	if (!gc_enable_marked_scan || (!company && !may_pay_alone(run)))
		return;
	s = gc_scan_shape_of(run);
	if (s == NULL)
		return;
	if (run->share->tests != NULL)
	{
		if (run->share->test_bits != 0 && !gc_classes_look(run))
			gc_run_fail_start(run);
		return;
	}
	if (company && others < run->share->marks_refused)
		return;
	/* Of its kernels, some may be there already: then it need not wait for the next time. */
	gc_marked_improve(s->set);
	if (!gc_marked_shape_ready(s) || !gc_marked_covers(s->set->marker, s) || gc_combiner(&err, &failed) == NULL ||
		!(company ? forced || pays_in_company(run, others) : pays_alone(run)))
		return;
	if (!lay_out_tests(run))
		return;
	if (launch_tester(run) != GC_OK || !gc_classes_look(run))
		gc_run_fail_start(run);
}
