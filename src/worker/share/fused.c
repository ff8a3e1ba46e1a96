/*-------------------------------------------------------------------------
 *
 * fused.c
 *	  Fused kernels for the shapes that recur over a table (scan_set.c).
 *
 * Once two requests could have shared a scan, a fused kernel with bodies for the shapes that
 * recur is compiled in the background; a shape gets as many bodies as requests of it were ready
 * at the same time.  A fused kernel serves any subset of its bodies, so it stays in use until
 * a better one, with bodies for what has come since, is ready.  There is one for each kind
 * of bodies (GcBodyKind), for what makes the best of one would slow the other down.
 *
 * The worker's main thread.  Fused kernels live in TopMemoryContext, as long as their set or a
 * launch has hold of them.
 *
 *-------------------------------------------------------------------------
 */
#include "fused.h"

#include "utils/memutils.h"

#include "../../settings.h"

#define MAX_BODIES		8		/* of one shape */
#define SET_BODIES		8		/* of all shapes, at least, where ranges are tested for all at once */

/* Requests for a table before its second fused kernel may be made. */
#define COMPILE_REQUESTS	16

/* Threads per block, and rows per thread unless members need few registers, which are for bodies. */
#define FUSED_THREADS	256
#define FUSED_VEC		8

/*
 * What a body with groups adds, of its time alone, as long as it is not known (bench/two_stage/
 * groups.c).
 */
#define GROUP_BODY_PART	0.2
#define HEAVY_BODY_PART	1.5

static uint64 clock_now = 0;

static void
fused_free(GcFused *f)
{
	for (int m = 0; m < f->n; m++)
		pfree((void *) f->member[m].columns);
	if (f->words)
		pfree(f->words);
	pfree(f);
}

void
gc_fused_drop(GcFused *f)
{
	if (f == NULL)
		return;
	f->dropped = true;
	if (f->users == 0)
		fused_free(f);
}

/* Are there shared scans at all? */
static bool
sharing(void)
{
	return gc_enable_shared_scan && gc_schedule == GC_POLICY_TWOSTAGE;
}

/* Does this run scan a directory's chunks? */
static bool
has_shape(const GcRun *run)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];

	return run->scan != 0 && run->main->sink != GC_SINK_BUILD && in->nsources > in->nprivate;
}

/*-------------------------------------------------------------------------
 * Compiling
 *-------------------------------------------------------------------------
 */

/*
 * Number of the directory's column among those of the fused kernel; -1: too many.
 */
static int
physical_column(GcFused *f, i16 dir_column)
{
	for (int i = 0; i < f->nphysical; i++)
	{
		if (f->physical[i] == dir_column)
			return i;
	}
	if (f->nphysical == GC_MAX_COLUMNS)
		return -1;
	f->physical[f->nphysical] = dir_column;
	return f->nphysical++;
}

static void
add_body(GcFused *f, GcScanShape *s)
{
	GcFusedMember *m = &f->member[f->n];
	i16		   *columns = MemoryContextAlloc(TopMemoryContext, (s->p->ncolumns + 1) * sizeof(i16));

	for (int c = 0; c < s->p->ncolumns; c++)
		columns[c] = s->columns[c] < 0 ? -1 : physical_column(f, s->columns[c]);
	*m = (GcFusedMember) {.p = s->p,.pipeline = s->pipeline,.columns = columns};
	f->shape[f->n++] = s;
}

/*
 * Is it served by marked scans, which take less time?  What goes to groups in shared memory
 * has a choice: most of its rows are thought to pass.  So has what is tested by tables, too, in a fused
 * scan (cuda/gc_sets.h), which sums up at once where marks are visited by a kernel of each request.
 */
static bool
for_marks(const GcScanShape *s)
{
	return gc_enable_marked_scan && gc_debug_force_shared_scan == GC_FORCE_NONE && s->tests.ncolumns > 0 &&
		s->kind != GC_GROUP_BODIES && s->kind != GC_SET_BODIES;
}

/* Which kind of bodies it gets, if any. */
static GcBodyKind
body_kind(const GcScanShape *s)
{
	if (for_marks(s))
		return GC_NO_BODIES;
	switch (gc_debug_force_shared_scan)
	{
		case GC_FORCE_FUSED:
			return GC_SUM_BODIES;
		case GC_FORCE_GROUPS:
			return s->kind == GC_GROUP_BODIES ? s->kind : GC_NO_BODIES;
		case GC_FORCE_SETS:
			return s->kind == GC_SET_BODIES ? s->kind : GC_NO_BODIES;
		default:
			return s->kind;
	}
}

/*
 * Is one more body of the shape, of which there are so many, worth having?  If more requests were
 * ready at once; and where one that takes no part costs next to nothing, before they are.
 */
static bool
wants_body(const GcFused *f, const GcScanShape *s, int bodies)
{
	return s->wanted > bodies || (f->kind == GC_SET_BODIES && f->n < SET_BODIES);
}

/* Bodies for the shapes that recur: one for each first, the most used before others. */
static void
choose_bodies(const GcScanSet *set, GcFused *f)
{
	uint64		least = gc_debug_force_shared_scan == GC_FORCE_NONE ? GC_SHAPE_RECURS : 1;

	for (int copy = 0; copy < MAX_BODIES; copy++)
	{
		bool		taken[GC_MAX_SCAN_SHAPES] = {false};

		for (;;)
		{
			int			best = -1;

			for (int i = 0; i < set->nshapes; i++)
			{
				if (!taken[i] && body_kind(set->shape[i]) == f->kind &&
					set->shape[i]->uses >= least && wants_body(f, set->shape[i], copy) &&
					(best < 0 || set->shape[i]->uses > set->shape[best]->uses))
					best = i;
			}
			if (best < 0 || f->n == GC_MAX_FUSED)
				break;
			taken[best] = true;
			add_body(f, set->shape[best]);
		}
	}
}

static int
bodies_of(const GcFused *f, const GcScanShape *s)
{
	int			n = 0;

	for (int m = 0; f && m < f->n; m++)
		n += f->shape[m] == s;
	return n;
}

/* Has f a body of some shape that `than` lacks? */
static bool
has_more(const GcFused *f, const GcFused *than)
{
	for (int m = 0; m < f->n; m++)
	{
		if (bodies_of(f, f->shape[m]) > bodies_of(than, f->shape[m]))
			return true;
	}
	return false;
}

static void
drop_body(GcFused *f)
{
	f->n--;
	pfree((void *) f->member[f->n].columns);
}

/*
 * The variants of its bodies: each may have an equal part of the shared memory that is left by
 * what tests ranges for all of them, less what it keeps for the warps of the largest block.
 * False: of those with groups, some then have no room for theirs.
 */
static bool
choose_variants(GcFused *f)
{
	const GcProfile *profile = &gc_worker.profile;
	u64			taken = 1024;
	u64			room;
	u64			used = 0;
	int			packed = 0;
	bool		local = true;

	for (int m = 0; m < f->n; m++)
		packed += f->shape[m]->demand.demand.kept_bytes > 0;
	if (packed >= GC_SET_LEAST_OF_FEW)
		taken += GC_SETS_SHARED;
	room = (profile->shared_per_block - Min(profile->shared_per_block, taken)) / f->n;
	for (int m = 0; m < f->n; m++)
	{
		const GcVariantDemand *demand = &f->shape[m]->demand;
		const u64	kept = demand->demand.kept_bytes * (1024 / profile->warp_size);
		GcVariantChoice choice = gc_sched_variant(profile, &demand->demand, room - Min(room, kept));

		f->member[m].variant = gc_make_variant(demand, &choice);
		used += gc_sched_variant_bytes(&demand->demand, &choice);
		local = local && choice.group_copies > 0;
	}
	f->threads = f->kind == GC_GROUP_BODIES ? gc_sched_variant_threads(profile, used) : FUSED_THREADS;
	for (int m = 0; m < f->n && !profile->host; m++)
	{
		f->member[m].variant.threads = f->threads;
		f->member[m].variant.vec = FUSED_VEC;
	}
	if (f->kind == GC_GROUP_BODIES)
		f->shared_bytes = used;
	return local || f->kind != GC_GROUP_BODIES;
}

/* Ask for the kernel of f's bodies, of fewer if they are too many.  False: none. */
static bool
compile(GcFused *f)
{
	GcFusedSource *source = palloc(sizeof(GcFusedSource));
	GcError		err;
	GcCode		code;

	while ((code = gc_generate_fused(f->member, f->n, GC_FUSED_ALL_VECTORS, source, &err)) == GC_UNSUPPORTED && f->n > 2)
		drop_body(f);
	if (code == GC_OK)
	{
		f->words = MemoryContextAlloc(TopMemoryContext, (source->nwords + 1) * sizeof(GcFusedWord));
		memcpy(f->words, source->words, source->nwords * sizeof(GcFusedWord));
		f->nwords = source->nwords;
		f->hash = gc_hash_bytes(source->text, strlen(source->text), 0);
		f->entry = gc_kcache_get(gc_worker.kernels, source->text);
		if (gc_debug_gpu_kernels)
			gc_write_gpu_text(source->text);
		free(source->text);
	}
	pfree(source);
	return f->entry != NULL;
}

/*
 * A kernel was asked for.  The next one must be worth a compilation: twice as many
 * requests have to come first, and count more than those before.
 */
static void
forget_some(GcScanSet *set, GcBodyKind kind)
{
	GcBodies   *b = &set->bodies[kind];

	b->compile_at = 2 * Max(set->requests, COMPILE_REQUESTS);
	if (gc_debug_force_shared_scan != GC_FORCE_NONE)
		b->compile_at = 0;
	for (int i = 0; i < set->nshapes; i++)
	{
		if (body_kind(set->shape[i]) != kind)
			continue;
		set->shape[i]->uses = (set->shape[i]->uses + 1) / 2;
		set->shape[i]->wanted = (set->shape[i]->wanted + 1) / 2;
	}
}

/*
 * Have a fused kernel of one kind made for what recurs, if that is more than what there is.
 * One at a time; the text comes out the same where only the directory is another, and is
 * then in the kernel cache.
 */
static void
improve(GcScanSet *set, GcBodyKind kind)
{
	GcBodies   *b = &set->bodies[kind];
	GcFused    *f;

	if (!b->news || b->pending || b->failed || set->requests < b->compile_at)
		return;
	b->news = false;
	f = MemoryContextAllocZero(TopMemoryContext, sizeof(GcFused));
	f->kind = kind;
	choose_bodies(set, f);
	while (f->n >= 2 && !choose_variants(f))
		drop_body(f);
	if (f->n < 2 || !has_more(f, b->ready))
	{
		gc_fused_drop(f);
		return;
	}
	if (compile(f) && has_more(f, b->ready))
	{
		b->pending = f;
		forget_some(set, kind);
		/* nobody tells us of one that was there before */
		(void) gc_fused_take(&b->ready, &b->pending, &b->failed);
	}
	else
	{
		b->failed = f->entry == NULL;
		gc_fused_drop(f);
	}
}

bool
gc_fused_take(GcFused **ready, GcFused **pending, bool *failed)
{
	GcFused    *f = *pending;
	GcError		err;

	*failed = false;
	switch (gc_kcache_poll(gc_worker.kernels, f->entry, &f->kernel, &f->info, &err))
	{
		case GC_KERNEL_COMPILING:
			return false;
		case GC_KERNEL_READY:
			if (!gc_kcache_final(f->entry))
				return false;
			gc_fused_drop(*ready);
			*ready = f;
			break;
		default:
			*failed = true;
			gc_fused_drop(f);
			break;
	}
	*pending = NULL;
	return true;
}

/* Has a fused kernel come that was waited for? */
bool
gc_fused_poll(void)
{
	bool		any = false;

	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		for (int k = 0; set && k < GC_BODY_KINDS; k++)
		{
			GcBodies   *b = &set->bodies[k];

			if (b->pending)
				any = gc_fused_take(&b->ready, &b->pending, &b->failed) || any;
		}
		if (set && set->marks_asked)
			any = gc_marked_poll(set) || any;
	}
	return any;
}

/*-------------------------------------------------------------------------
 * For the scheduler
 *-------------------------------------------------------------------------
 */

void
gc_fused_begin(void)
{
	clock_now++;
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		for (int k = 0; set && k < set->nshapes; k++)
			set->shape[k]->counting = 0;
	}
}

/* Look at once more whether there is a better kernel for the shape. */
static void
tell_news(const GcScanShape *s)
{
	if (body_kind(s) != GC_NO_BODIES)
		s->set->bodies[body_kind(s)].news = true;
}

/* Find the run's shape and count it; once. */
static void
count_shape(GcRun *run)
{
	GcScanSet  *set;
	GcScanShape *s;

	run->scan_asked = true;
	set = gc_scan_set_of(run);
	s = set ? gc_scan_set_shape(set, run) : NULL;
	if (s == NULL)
		return;
	run->scan_shape = s;
	set->users++;
	set->requests++;
	if (++s->uses == GC_SHAPE_RECURS || (gc_debug_force_shared_scan != GC_FORCE_NONE && !s->asked))
	{
		tell_news(s);
		set->marks_news = true;
	}
}

GcScanShape *
gc_fused_shape(GcRun *run)
{
	if (!sharing())
		return NULL;
	if (!run->scan_asked && has_shape(run))
		count_shape(run);
	return run->scan_shape;
}

void
gc_fused_describe(GcRun *run)
{
	GcScanShape *s = gc_fused_shape(run);

	if (s == NULL)
		return;
	s->set->last_used = clock_now;
	if (++s->counting > s->wanted)
	{
		s->wanted = s->counting;
		tell_news(s);
	}
}

/* What a body of the shape adds, as long as it is not known. */
static double
first_marginal_us(const GcScanShape *s, double alone_us)
{
	switch (s->kind)
	{
		case GC_SUM_BODIES:
		case GC_SET_BODIES:
			return alone_us * gc_worker.calibration.fused;
		case GC_GROUP_BODIES:
			return alone_us * GROUP_BODY_PART;
		default:
			return alone_us * HEAVY_BODY_PART;
	}
}

/*
 * A run that marks can serve, too: does a fused scan by f of all that are there of its shape
 * take less time for each than a marked scan would?
 */
static bool
bodies_pay(const GcRun *run, const GcFused *f)
{
	const GcScanShape *s = run->scan_shape;
	int			here = s->counting;
	int			members = Min(here, bodies_of(f, s));

	if (members < 2 || gc_debug_force_shared_scan == GC_FORCE_MARKED)
		return false;
	return s->set->bodies[f->kind].times.scan_us / members + s->marginal_us <
		gc_scan_us(&s->set->marker->times, gc_marked_columns(run)) / here + gc_marked_adds(s);
}

/*
 * Which kernel of the set serves the run, with which bodies, at what cost.  Only once no
 * kernel of the set can be exchanged any more before the decision: bodies and columns are
 * numbered by kernel.
 */
static void
offer_kernel(GcRun *run, GcItem *item)
{
	GcScanShape *s = run->scan_shape;
	const GcFused *f = body_kind(s) != GC_NO_BODIES ? s->set->bodies[body_kind(s)].ready : NULL;

	if (s->marginal_us == 0)
		s->marginal_us = first_marginal_us(s, item->option.alone_us);
	if (s->marked_us == 0 && gc_marked_can(run))
		s->marked_us = item->option.alone_us * GC_MARKED_PART;
	if (gc_marked_can(run) && !bodies_pay(run, f))
	{
		item->fused_us = gc_marked_adds(s);
		item->columns = gc_marked_columns(run);
		item->fused = s->set->marker->number;
		return;
	}
	item->fused_us = s->marginal_us;
	for (int m = 0; f && m < f->n; m++)
	{
		if (f->shape[m] == s)
			item->bodies |= 1u << m;
	}
	if (item->bodies)
		item->fused = f->number;
}

/* Number a kernel that is ready, for this decision. */
static void
add_kernel(GcFusedKernel *kernels, GcFused **which, int *n, GcFused *f, int most, const GcScanTimes *times)
{
	int			threads = Min(f->marker ? GC_MARKER_THREADS : f->threads, f->info.max_threads);

	f->number = *n;
	which[*n] = f;
	kernels[(*n)++] = (GcFusedKernel) {
		.option = {.registers = f->info.registers,.max_threads = threads,.threads = threads,
		.shared_bytes = f->shared_bytes,.occupancy = 1},
		.most = most,.marked = f->marker,.times = times
	};
}

/* Does the newest decision know runs of the set? */
static bool
is_described(const GcScanSet *set)
{
	return set != NULL && set->last_used == clock_now;
}

void
gc_fused_improve(void)
{
	if (!sharing())
		return;
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (!is_described(set))
			continue;
		gc_marked_improve(set);
		if (gc_debug_force_shared_scan == GC_FORCE_MARKED)
			continue;
		for (int k = 0; k < GC_BODY_KINDS; k++)
			improve(set, k);
	}
}

int
gc_fused_kernels(GcFusedKernel *kernels, GcFused **which, GcRun *const *runs, GcItem *items, int nitems)
{
	int			n = 0;

	if (!sharing())
		return 0;
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (!is_described(set))
			continue;
		for (int k = 0; k < GC_BODY_KINDS; k++)
		{
			GcBodies   *b = &set->bodies[k];

			/* Of sums there will be more bodies once more are wanted; of groups there is room for these. */
			if (b->ready)
				add_kernel(kernels, which, &n, b->ready, k == GC_GROUP_BODIES ? b->ready->n : GC_MAX_FUSED, &b->times);
		}
		if (set->marker)
			add_kernel(kernels, which, &n, set->marker, gc_marked_most(set), &set->marker->times);
	}
	for (int i = 0; i < nitems; i++)
	{
		const GcScanShape *s = runs[i]->scan_shape;

		if (s && is_described(s->set))
			offer_kernel(runs[i], &items[i]);
	}
	return n;
}

bool
gc_fused_pending(const GcRun *run)
{
	if (!sharing() || run->scan_shape == NULL)
		return false;
	for (int k = 0; k < GC_BODY_KINDS; k++)
	{
		if (run->scan_shape->set->bodies[k].pending)
			return true;
	}
	return gc_marked_pending(run->scan_shape->set);
}

GcHash
gc_fused_hash(const GcFused *fused)
{
	return fused->hash;
}

void
gc_fused_forget(GcRun *run)
{
	if (run->scan_shape)
		run->scan_shape->set->users--;
	run->scan_shape = NULL;
}

void
gc_fused_release(GcFused *f)
{
	if (--f->users == 0 && f->dropped)
		fused_free(f);
}

/* A scan took so long.  What others on the device may have made slower is believed slowly. */
void
gc_fused_learn(const GcMainLaunch *launch, double time_us)
{
	GcFused    *f = launch->kernel;
	GcBodies   *b = &f->shape[0]->set->bodies[f->kind];
	double	   *us[GC_MAX_FUSED];
	int			n = 0;

	for (int m = 0; m < f->n; m++)
	{
		if (launch->bodies & 1u << m)
			us[n++] = &f->shape[m]->marginal_us;
	}
	b->sure = launch->alone;
	gc_bodies_learn(&b->times.scan_us, gc_worker.calibration.launch_us, us, n, time_us, launch->alone);
}

void
gc_fused_refused(const GcRun *run, double alone_us)
{
	GcScanShape *s = run->scan_shape;
	GcBodies   *b;
	double		first;

	if (s == NULL || s->counting < 2 || body_kind(s) == GC_NO_BODIES)
		return;
	b = &s->set->bodies[body_kind(s)];
	first = first_marginal_us(s, alone_us);
	if (bodies_of(b->ready, s) < 2 || first <= 0)
		return;
	s->marginal_us = Min(s->marginal_us, gc_forget_refused(s->marginal_us, first, b->sure));
	b->times.scan_us = gc_forget_refused(b->times.scan_us, gc_worker.calibration.launch_us, b->sure);
}
