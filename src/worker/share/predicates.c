/*-------------------------------------------------------------------------
 *
 * predicates.c
 *	  A request's predicates for selection scans: one predicate bitmap per tested column, filled
 *	  by its predicate kernel.
 *
 * The predicate kernel runs behind the request's queued work, while the request waits for its turn.  It runs if the
 * request has peers, or if a selection scan is predicted to be faster even for one request.
 *
 * The worker's main thread.  The request owns the bitmaps and its direct lookup tables.
 *
 *-------------------------------------------------------------------------
 */
#include "selection.h"

#include "../../force.h"
#include "../../settings.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "../run/launch.h"
#include "scan_set.h"

#define PREDICATE_BLOCKS		528
#define PREDICATE_THREADS		256

/*
 * So much memory for one request's predicates must be to spare: columns are not evicted for them.
 */
#define MANY_BYTES			((u64) 32 << 20)

/* A kernel that takes less time alone never takes part alone. */
#define ALONE_LEAST_US		250

static GcSelectionPays pays = NULL;

void
gc_predicates_init(GcSelectionPays marks_pay)
{
	pays = marks_pay;
}

/* Bytes of a column's predicate bitmap, and of a build's direct lookup table. */
static u64
bitmap_bytes(const GcSetColumn *column)
{
	return TYPEALIGN64(sizeof(u64), (column->range + 32) / 32 * sizeof(u32));
}

/* Bytes of a direct lookup table with an entry of `each` bytes for every code. */
static u64
direct_table_bytes(const GcSetColumn *column, int each)
{
	return TYPEALIGN64(sizeof(u64), (column->range + 1) * each);
}

/* Are the build's rows few enough for a direct lookup table? */
static bool
may_be_direct(const GcRun *run)
{
	const GcPredicates *predicates = &run->schedule.share->scan_shape->predicates;

	for (int i = 0; i < predicates->nlookups; i++)
	{
		if (run->request->builds[predicates->lookup[i].build].cap >= GC_DIRECT_MORE - 1)
			return false;
	}
	return true;
}

/* Get memory for a request's predicate bitmaps and direct lookup tables. */
static bool
lay_out_predicates(GcRun *run)
{
	const GcScanShape *s = run->schedule.share->scan_shape;
	u64			bytes = 0;

	run->schedule.share->predicates = MemoryContextAlloc(run->cxt, s->predicates.ncolumns * sizeof(GcPredicateBitmap));
	run->schedule.share->direct_tables = MemoryContextAllocZero(run->cxt,
																(run->p->nbuilds + 1) * sizeof(GcPredicateBitmap));
	for (int q = 0; q < s->predicates.ncolumns; q++)
	{
		i16			c = s->columns[s->predicates.column[q]];

		run->schedule.share->predicates[q] = (GcPredicateBitmap) {.bits = bytes,.base = s->set->column[c].base,
		.range = s->set->column[c].range,.dir_column = c};
		bytes += bitmap_bytes(&s->set->column[c]);
	}
	for (int i = 0; i < s->predicates.nlookups; i++)
	{
		i16			c = s->columns[s->predicates.lookup[i].column];

		run->schedule.share->direct_tables[s->predicates.lookup[i].build] = (GcPredicateBitmap) {.bits = bytes,
			.base = s->set->column[c].base,
		.range = s->set->column[c].range,.dir_column = c};
		bytes += direct_table_bytes(&s->set->column[c], gc_direct_bytes(s->p, s->predicates.lookup[i].build));
	}
	if (may_be_direct(run))
		run->schedule.share->predicate_bits = bytes > MANY_BYTES ? gc_device_alloc_spare(bytes, false)
			: gc_device_alloc(bytes);
	for (int q = 0; q < s->predicates.ncolumns; q++)
		run->schedule.share->predicates[q].bits += run->schedule.share->predicate_bits;
	for (int b = 0; b < run->p->nbuilds; b++)
		run->schedule.share->direct_tables[b].bits += run->schedule.share->predicate_bits;
	return run->schedule.share->predicate_bits != 0;
}

/* Queue the kernel that evaluates the run's predicates for every code, on the run's stream. */
static GcCode
launch_predicate_kernel(GcRun *run)
{
	const GcPipelineKernel *k = run->schedule.share->scan_shape->predicate_kernel;
	GcLaunch	l = {.blocks = PREDICATE_BLOCKS,.threads = Min(PREDICATE_THREADS, k->info.max_threads)};
	GcArgSource src;
	GcArgs		args = {0};

	gc_run_arg_source(run, &src);
	gc_fill_args(&src, k, &args);
	gc_slot_run_info(run->slot)->kernels++;
	gc_run_not_prepared(run);
	return gc_worker.ops->launch(run->memory.stream, k->kernel, &l, &args, k->nwords, &run->err);
}

/*
 * Might a selection scan be faster for a run without peers?  Only a kernel as slow as this is
 * worth the compilation.
 */
static bool
may_pay_alone(const GcRun *run)
{
	return !gc_worker.profile.scalar && gc_selection_own_us(run) > ALONE_LEAST_US;
}

/* Is a selection scan predicted to be faster for the run alone? */
static bool
pays_alone(const GcRun *run)
{
	const GcScanShape *s = run->schedule.share->scan_shape;
	double		us = gc_scan_us(&s->set->selector->times, gc_selection_columns(run)) + gc_marks_write_us(s->set);

	us += s->selection_us > 0 ? s->selection_us : gc_selection_own_us(run) * GC_SELECTION_PART;
	return us + GC_SCAN_OF_ONE_US < gc_selection_own_us(run);
}

/* Might a selection scan be faster for the run and its peers? */
static bool
pays_with_peers(GcRun *run, int others)
{
	const GcScanShape *s = run->schedule.share->scan_shape;
	const int	n = Min(others + 1, gc_selection_most(s->set));
	const double own_us = gc_selection_own_us(run);
	const double each = s->selection_us > 0 ? gc_selection_adds(s) : own_us * GC_SELECTION_PART;
	const u32	columns = gc_selection_columns(run);

	if (own_us == 0 || pays(n, gc_scan_us(&s->set->selector->times, columns) + n * each, n * own_us))
		return true;
	if (run->schedule.share->selection_refused == 0)
		gc_selection_doubt(run, columns);
	run->schedule.share->selection_refused = others + 1;
	return false;
}

void
gc_predicates_test(GcRun *run, int others)
{
	const bool	forced = gc_sharing_forced();
	const bool	has_peers = others > 0 || gc_selection_forced();
	GcScanShape *s;
	GcError		err;
	bool		failed;

	if (!gc_debug_shared_selection || (!has_peers && !may_pay_alone(run)))
		return;
	s = gc_scan_shape_of(run);
	if (s == NULL)
		return;
	if (run->schedule.share->predicates != NULL)
	{
		if (run->schedule.share->predicate_bits != 0 && !gc_key_groups_look(run))
			gc_run_fail_start(run);
		return;
	}
	if (has_peers && others < run->schedule.share->selection_refused)
		return;
	/* Some of its kernels may be there already: then it need not wait for the next time. */
	gc_selection_improve(s->set);
	if (!gc_selection_shape_ready(s) || !gc_selection_covers(s->set->selector, s) ||
		gc_fixed_kernel(GC_FIXED_MERGE, &err, &failed) == NULL ||
		!(has_peers ? forced || pays_with_peers(run, others) : pays_alone(run)))
		return;
	if (!lay_out_predicates(run))
		return;
	if (launch_predicate_kernel(run) != GC_OK || !gc_key_groups_look(run))
		gc_run_fail_start(run);
}
