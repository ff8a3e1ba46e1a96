/*-------------------------------------------------------------------------
 *
 * scan_gang.c
 *	  Gangs of shared scans: scans of several tables by kernels of one text, in one launch.
 *
 * Each table has fused kernels and a selection kernel of its own (scan_set.c).  Those of shards mostly have the same text,
 * and differ in arguments only.  Scans by such kernels that start together are launched as a gang (run/gang.h).  What
 * each needs before is queued on its first member's stream, and the gang's stream waits for all of these.
 *
 * - Fused scans are one launch.  Members' results follow on their own streams, as they do behind one scan.
 * - Selection scans are one launch of the merge kernel, and one of the selection kernel.  Behind it, members' own kernels
 *	 are one launch for each text.  These kernels deliver their results, or members' streams wait for them.
 *
 * A scan keeps its launch, sources, bitmaps, grid and times.  So one that finds no memory, or whose member fails or is
 * cancelled, concerns no other.  Where the launch cannot be queued, that is so for all scans.  For want of memory,
 * their requests run by themselves, unless something was added to their sinks (gc_scan_started).
 *
 * Kernels of gangs are compiled in the background, once two tables' scans could have been one launch.
 *
 * The worker's main thread.  A shared kernel, or scan shape, owns what it knows of its gang's kernel; the merge kernel's is
 * this file's.  Launches hold the gang (run/main_launch.h).
 *
 *-------------------------------------------------------------------------
 */
#include "scan_gang.h"

#include "../memory/state.h"
#include "../run/gang.h"
#include "../run/launch.h"
#include "scan_set.h"
#include "selection_scan.h"
#include "share_launch.h"
#include "shared_scan.h"

/* The merge kernel is the same for all selection scans. */
static GcGangKernel merges;

/* A gang's kernel was asked for, and not all of them are there yet. */
static bool pending = false;

/* A scan that is being started. */
typedef struct StartedScan
{
	GcScanMembers members;
	GcError		err;
	GcLaunch	own;			/* its kernel's launch, if it were alone */
} StartedScan;

/*-------------------------------------------------------------------------
 * Kernels of gangs
 *-------------------------------------------------------------------------
 */

u64
gc_scan_gang_id(const GcFused *f)
{
	if (f->gang.kernel == NULL || (f->selector && merges.kernel == NULL))
		return 0;
	return (u64) (uintptr_t) f->gang.kernel;
}

int
gc_scan_gang_most(const GcFused *f)
{
	return f->gang.most;
}

/* Was the gang's kernel asked for, or given up? */
static bool
is_asked(const GcGangKernel *gang)
{
	return gang->entry != NULL || gang->given_up;
}

/* text: as gc_gang_kernel_ask's. */
static void
want(GcGangKernel *gang, char *text, int nwords)
{
	gc_gang_kernel_ask(gang, text, nwords);
	pending = true;
}

/* The text is made again, as it was: only few kernels are ever in a gang. */
static void
want_kernel(GcFused *f)
{
	GcFusedSource *source;
	GcError		err;

	if (is_asked(&f->gang))
		return;
	if (f->selector)
	{
		want(&f->gang, gc_generate_selector(f->column, f->nphysical), GC_SELECTOR_WORDS(f->nphysical));
		if (!is_asked(&merges))
			want(&merges, gc_generate_merge_kernel(), GC_MERGE_WORDS);
		return;
	}
	source = palloc(sizeof(GcFusedSource));
	if (gc_generate_fused(f->member, f->n, source, &err) != GC_OK)
		source->text = NULL;
	want(&f->gang, source->text, source->nwords);
	pfree(source);
}

/* Do requests of the scan shape visit what a selection scan of theirs finds? */
static bool
visits(const GcScanShape *s)
{
	return s->counting > 0 && s->selection && s->selection->final;
}

/* Are there such requests over another table, by a kernel of the same text? */
static bool
has_twin(const GcScanShape *s)
{
	for (int i = 0; i < gc_scan_set_places(); i++)
	{
		const GcScanSet *set = gc_scan_set(i);

		for (int k = 0; set && set->described && set != s->set && k < set->nshapes; k++)
		{
			if (visits(set->shape[k]) && set->shape[k]->selection->kernel == s->selection->kernel)
				return true;
		}
	}
	return false;
}

static void
want_visits(GcScanShape *s)
{
	GcKernelSource source;
	GcError		err;

	if (is_asked(&s->visits) || !visits(s) || !has_twin(s))
		return;
	if (gc_generate(s->p, s->pipeline, &s->selection->variant, &source, &err) != GC_OK)
		source.text = NULL;
	want(&s->visits, source.text, s->selection->nwords);
}

void
gc_scan_gangs_want(GcFused *const *offered, int n)
{
	for (int i = 0; i < n; i++)
	{
		for (int k = 0; k < n && !is_asked(&offered[i]->gang); k++)
		{
			if (k != i && offered[k]->kernel == offered[i]->kernel)
				want_kernel(offered[i]);
		}
	}
	for (int i = 0; i < gc_scan_set_places(); i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		for (int k = 0; set && set->described && set->selector && is_asked(&set->selector->gang) && k < set->nshapes; k++)
			want_visits(set->shape[k]);
	}
	/* kernels that were already compiled send no notice */
	(void) gc_scan_gangs_poll();
}

/* Look at the kernels of a set's gangs: is one being compiled? */
static bool
poll_set(GcScanSet *set, bool *came)
{
	GcFused    *f[] = {set->by_kind[GC_UNGROUPED_MEMBERS].ready, set->by_kind[GC_GROUPED_MEMBERS].ready, set->selector};
	bool		any = false;

	for (int i = 0; i < lengthof(f); i++)
	{
		*came = (f[i] && gc_gang_kernel_poll(&f[i]->gang)) || *came;
		any = any || (f[i] && gc_gang_kernel_pending(&f[i]->gang));
	}
	for (int k = 0; k < set->nshapes; k++)
	{
		*came = gc_gang_kernel_poll(&set->shape[k]->visits) || *came;
		any = any || gc_gang_kernel_pending(&set->shape[k]->visits);
	}
	return any;
}

bool
gc_scan_gangs_poll(void)
{
	bool		came;

	if (!pending)
		return false;
	came = gc_gang_kernel_poll(&merges);
	pending = gc_gang_kernel_pending(&merges);
	for (int i = 0; i < gc_scan_set_places(); i++)
	{
		if (gc_scan_set(i))
			pending = poll_set(gc_scan_set(i), &came) || pending;
	}
	return came;
}

bool
gc_scan_gangs_pending(void)
{
	return pending;
}

/*-------------------------------------------------------------------------
 * Members' own kernels behind selection kernels
 *-------------------------------------------------------------------------
 */

/* Have the gang's stream wait for what is queued on another one. */
static GcCode
wait_for(const GcGangLaunch *gang, GcStream *stream, GcError *err)
{
	GcEvent	   *queued = gc_worker.ops->event(stream, err);
	GcCode		code;

	if (queued == NULL)
		return err->code;
	code = gc_worker.ops->stream_wait(gang->stream, queued, err);
	gc_worker.ops->event_put(gc_worker.dev, queued);
	return code;
}

/*
 * Describe the launch of one member's own kernel.  What reads its hot and private chunks comes first, since the own
 * kernel may deliver the result.
 */
static GcCode
describe_visit(StartedScan *scan, int m, const GcGangLaunch *gang, GcLaunch *own, GcArgs *args)
{
	GcRun	   *run = scan->members.run[m];
	const bool	alone = run->request->inputs[run->main->input].nalone > 0;
	GcScanPart	part;
	GcGrid		grid;
	GcCode		code;

	if ((code = gc_scan_alone(run)) != GC_OK || (alone && (code = wait_for(gang, run->memory.stream, &run->err)) != GC_OK))
		return code;
	part = gc_selection_visit(&scan->members, m, &grid);
	*own = gc_describe_launch(run, run->p->npipelines - 1, run->schedule.share->scan_shape->selection, &grid, &part, run->memory.sink, NULL, args);
	gc_slot_run_info(run->slot)->kernels++;
	return GC_OK;
}

/* One launch of own kernels, which are described.  Members' streams wait for it, unless it delivers the result. */
static void
launch_visits(GcRun *const *runs, const GcLaunch *own, int n, const GcGangLaunch *gang)
{
	const GcGangKernel *k = &runs[0]->schedule.share->scan_shape->visits;
	GcError		err = {GC_OK, ""};
	GcEvent	   *launched = NULL;
	GcCode		code;

	pg_atomic_fetch_add_u64(&gc_stats()->main_launches, 1);
	code = gc_gang_queue(gang->stream, k->kernel, own, n, k->nwords, &err);
	if (code == GC_OK && (launched = gc_worker.ops->event(gang->stream, &err)) == NULL)
		code = err.code;
	for (int i = 0; i < n; i++)
	{
		if (code != GC_OK)
			runs[i]->err = err;
		else if (!runs[i]->result.delivered)
			(void) gc_worker.ops->stream_wait(runs[i]->memory.stream, launched, &runs[i]->err);
	}
	if (launched)
		gc_worker.ops->event_put(gc_worker.dev, launched);
}

/* Can the two members' own kernels be in one launch?  Kernels of one text have as many threads per block. */
static bool
same_visit(const GcRun *a, const GcRun *b)
{
	const GcGangKernel *visits = &a->schedule.share->scan_shape->visits;

	return visits->kernel != NULL && visits->kernel == b->schedule.share->scan_shape->visits.kernel;
}

/*
 * Launch, together with it, the own kernels that can be in one launch with that of scan i's member m.  Runs in the
 * launch are marked, and an error is left in them.  A kernel that would be alone is not launched.
 */
static void
visit_with(StartedScan *const *scans, int n, int i, int m, const GcGangLaunch *gang)
{
	GcRun	   *first = scans[i]->members.run[m];
	const int	most = first->schedule.share->scan_shape->visits.most;
	GcRun	   *runs[GC_GANG_MOST];
	GcLaunch	own[GC_GANG_MOST];
	StartedScan	   *scan[GC_GANG_MOST];
	int			member[GC_GANG_MOST];
	int			nfound = 0;
	int			nruns = 0;

	for (int s = i; s < n; s++)
	{
		for (int k = s == i ? m : 0; k < scans[s]->members.n && nfound < most; k++)
		{
			if (scans[s]->members.run[k]->schedule.ganged || !same_visit(first, scans[s]->members.run[k]))
				continue;
			scan[nfound] = scans[s];
			member[nfound++] = k;
		}
	}
	if (nfound < 2)
		return;
	for (int k = 0; k < nfound; k++)
	{
		GcRun	   *run = scan[k]->members.run[member[k]];

		run->schedule.ganged = true;
		if (describe_visit(scan[k], member[k], gang, &own[nruns], gc_gang_args(nruns)) == GC_OK)
			runs[nruns++] = run;
	}
	if (nruns > 0)
		launch_visits(runs, own, nruns, gang);
}

/* Queue what comes behind the own kernel of a member, or that kernel, if it is in no launch with others. */
static GcCode
follow_visit(GcScanMembers *scan, int m)
{
	GcRun	   *run = scan->run[m];
	GcRunInfo  *info = gc_slot_run_info(run->slot);

	info->gang_members = scan->launch->gang->members;
	if (!run->schedule.ganged)
		return gc_selection_follow(scan, m);
	return run->err.code == GC_OK ? gc_run_queue_result(run) : run->err.code;
}

/*-------------------------------------------------------------------------
 * The scans
 *-------------------------------------------------------------------------
 */

/* Queue a scan's part that comes before the gang's kernels, and have the gang's stream wait for it. */
static GcCode
prepare(StartedScan *scan, GcArgs *args, const GcGangLaunch *gang)
{
	GcScanMembers *members = &scan->members;
	GcCode		code = members->f->selector ? gc_selection_prepare(members) : gc_fused_prepare(members, &scan->own, args);

	return code == GC_OK ? wait_for(gang, members->run[0]->memory.stream, &scan->err) : code;
}

/* Queue one launch of all scans' merge kernels, and describe their selection kernels. */
static GcCode
launch_merges(StartedScan *const *scans, int n, const GcGangLaunch *gang, GcError *err)
{
	GcLaunch	own[GC_GANG_MOST];
	GcCode		code;

	for (int i = 0; i < n; i++)
	{
		if ((code = gc_selection_describe_merge(&scans[i]->members, &own[i], gc_gang_args(i))) != GC_OK)
		{
			*err = scans[i]->err;
			return code;
		}
	}
	if ((code = gc_gang_queue(gang->stream, merges.kernel, own, n, merges.nwords, err)) != GC_OK)
		return code;
	for (int i = 0; i < n; i++)
		gc_selection_describe(&scans[i]->members, &scans[i]->own, gc_gang_args(i));
	return GC_OK;
}

/* Queue the launches that all scans have in common, and note for each when they are over. */
static GcCode
launch_scans(StartedScan *const *scans, int n, const GcGangLaunch *gang, GcError *err)
{
	const GcFused *f = scans[0]->members.f;
	GcLaunch	own[GC_GANG_MOST];
	GcCode		code;

	if (f->selector && (code = launch_merges(scans, n, gang, err)) != GC_OK)
		return code;
	for (int i = 0; i < n; i++)
		own[i] = scans[i]->own;
	pg_atomic_fetch_add_u64(&gc_stats()->main_launches, 1);
	pg_atomic_fetch_add_u64(&gc_stats()->ganged, gang->members);
	if ((code = gc_gang_queue(gang->stream, f->gang.kernel, own, n, f->gang.nwords, err)) != GC_OK)
		return code;
	for (int i = 0; i < n; i++)
	{
		scans[i]->members.added = scans[i]->members.added || !f->selector;
		if (f->selector && (code = gc_selection_fetch_mismatches(&scans[i]->members, gang->stream)) != GC_OK)
		{
			*err = scans[i]->err;
			return code;
		}
	}
	for (int i = 0; i < n; i++)
	{
		GcShareLaunch *share = scans[i]->members.launch->share;

		if ((share->computed = gc_worker.ops->event(gang->stream, err)) == NULL)
			return err->code;
	}
	return GC_OK;
}

/* Queue the gang, and what comes behind it for each member of each scan. */
static void
start_prepared(StartedScan *const *scans, int n, const GcGangLaunch *gang)
{
	GcError		err = {GC_OK, ""};
	const GcCode code = launch_scans(scans, n, gang, &err);
	const bool	selection = scans[0]->members.f->selector;

	for (int i = 0; selection && code == GC_OK && i < n; i++)
	{
		for (int m = 0; m < scans[i]->members.n; m++)
		{
			if (!scans[i]->members.run[m]->schedule.ganged)
				visit_with(scans, n, i, m, gang);
		}
	}
	for (int i = 0; i < n; i++)
	{
		if (code != GC_OK)
			scans[i]->err = err;
		gc_scan_started(&scans[i]->members, code, selection ? follow_visit : gc_fused_follow);
	}
}

void
gc_scan_gang_start(GcMainLaunch *const *launches, GcFused *const *f, const GcStart *const *starts, int n, GcRun *const *runs)
{
	StartedScan	   *all = palloc(n * sizeof(StartedScan));
	StartedScan	   *prepared[GC_GANG_MOST];
	int			nprepared = 0;
	GcError		err;
	GcGangLaunch *gang = gc_gang_launch_new(&err);

	for (int i = 0; i < n; i++)
	{
		GcScanMembers *members = &all[i].members;
		GcCode		code;

		if (f[i]->selector)
			gc_selection_begin(members, launches[i], f[i], starts[i], runs, &all[i].err);
		else
			gc_scan_begin(members, launches[i], f[i], starts[i], runs, &all[i].err);
		if (gang == NULL)
			all[i].err = err;
		code = gang ? prepare(&all[i], gc_gang_args(nprepared), gang) : err.code;
		if (code != GC_OK)
		{
			gc_scan_started(members, code, NULL);
			continue;
		}
		gc_gang_launch_join(gang, launches[i], members->n);
		prepared[nprepared++] = &all[i];
	}
	if (nprepared > 0)
		start_prepared(prepared, nprepared, gang);
	if (gang)
		gc_gang_launch_release(gang);
	pfree(all);
}
