/*-------------------------------------------------------------------------
 *
 * fused.c
 *	  Fused kernels for the scan shapes that recur over a table (scan_set.c).
 *
 * Once two requests could have shared a scan, a fused kernel for the recurring scan shapes is
 * compiled in the background.  A scan shape gets as many members as requests of it were ready at
 * the same time.  A fused kernel serves any subset of its members.  It stays in use until a better
 * one is ready, with members for the scan shapes that have come since.  Each kind of members (GcMemberKind) has its own
 * kernel, since the choices that speed up one kind would slow down the other.
 *
 * The worker's main thread.  A scan set owns its fused kernels; launches hold them, too
 * (shared_kernel.c).
 *
 *-------------------------------------------------------------------------
 */
#include "fused.h"

#include "utils/memutils.h"

#include "../../force.h"
#include "../memory/state.h"
#include "share_launch.h"

#define MAX_FUSED_MEMBERS		8		/* of one scan shape */

/* Requests for a table before its second fused kernel may be made. */
#define COMPILE_REQUESTS	16

/* Threads per block; rows per thread, unless the threads' registers are needed for members. */
#define FUSED_THREADS	256
#define FUSED_VEC		8

/*
 * A grouped member's additional time, as a part of its time alone, until that is learned
 * (bench/two_stage/groups.c).
 */
#define GROUP_MEMBER_PART	0.2
#define HEAVY_MEMBER_PART	1.5

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

/* Add a scan shape as a member; columns that others read, too, are loaded once. */
static void
add_member(GcFused *f, GcScanShape *s)
{
	GcFusedMember *m = &f->member[f->n];
	i16		   *columns = MemoryContextAlloc(TopMemoryContext, (s->p->ncolumns + 1) * sizeof(i16));

	for (int c = 0; c < s->p->ncolumns; c++)
		columns[c] = s->columns[c] < 0 ? -1 : physical_column(f, s->columns[c]);
	*m = (GcFusedMember) {.p = s->p,.pipeline = s->pipeline,.columns = columns};
	f->shape[f->n++] = s;
}

/* Any order that does not depend on when scan shapes came: by their programs, and by the columns that these read. */
static int
compare_shapes(const void *a, const void *b)
{
	const GcScanShape *s = *(GcScanShape *const *) a;
	const GcScanShape *t = *(GcScanShape *const *) b;
	int			order;

	if (s->p->size != t->p->size)
		return s->p->size < t->p->size ? -1 : 1;
	order = memcmp(s->p, t->p, s->p->size);
	return order != 0 ? order : memcmp(s->columns, t->columns, s->p->ncolumns * sizeof(i16));
}

/* Begin anew with the members. */
static void
drop_members(GcFused *f)
{
	for (int m = 0; m < f->n; m++)
		pfree((void *) f->member[m].columns);
	f->n = f->nphysical = 0;
}

/*
 * Make members for the n scan shapes wanted most.  Tables that met the same scan shapes get the same text, whichever
 * came first, and so one compiled kernel.
 */
static void
make_members(GcFused *f, int n)
{
	GcScanShape *sorted[GC_MAX_FUSED];

	memcpy(sorted, f->wanted, n * sizeof(GcScanShape *));
	qsort(sorted, n, sizeof(GcScanShape *), compare_shapes);
	drop_members(f);
	for (int m = 0; m < n; m++)
		add_member(f, sorted[m]);
}

/*
 * Choose members for the scan shapes that recur: one for each first, the most used before others.
 */
static void
choose_members(const GcScanSet *set, GcFused *f)
{
	uint64		least = gc_shape_least_uses();
	int			n = 0;

	for (int copy = 0; copy < MAX_FUSED_MEMBERS; copy++)
	{
		bool		taken[GC_MAX_SCAN_SHAPES] = {false};

		for (;;)
		{
			int			best = -1;

			for (int i = 0; i < set->nshapes; i++)
			{
				if (!taken[i] && gc_scan_shape_bodies(set->shape[i]) == f->kind &&
					set->shape[i]->uses >= least && set->shape[i]->wanted > copy &&
					(best < 0 || set->shape[i]->uses > set->shape[best]->uses))
					best = i;
			}
			if (best < 0 || n == GC_MAX_FUSED)
				break;
			taken[best] = true;
			f->wanted[n++] = set->shape[best];
		}
	}
	make_members(f, n);
}

int
gc_fused_bodies_of(const GcFused *f, const GcScanShape *s)
{
	int			n = 0;

	for (int m = 0; f && m < f->n; m++)
		n += f->shape[m] == s;
	return n;
}

/* Does f have a member of some scan shape that `than` lacks? */
static bool
has_more(const GcFused *f, const GcFused *than)
{
	for (int m = 0; m < f->n; m++)
	{
		if (gc_fused_bodies_of(f, f->shape[m]) > gc_fused_bodies_of(than, f->shape[m]))
			return true;
	}
	return false;
}

/*
 * Choose the members' variants.  Each member gets an equal part of the shared memory, less the
 * per-warp words of the largest block.  False: some grouped members have no room for their groups.
 */
static bool
choose_variants(GcFused *f)
{
	const GcProfile *profile = &gc_worker.profile;
	u64			room = (profile->shared_per_block - 1024) / f->n;
	u64			used = 0;
	bool		local = true;

	for (int m = 0; m < f->n; m++)
	{
		const GcVariantDemand *demand = &f->shape[m]->demand;
		const u64	kept = demand->demand.per_warp_bytes * (1024 / profile->warp_size);
		GcVariantChoice choice = gc_sched_variant(profile, &demand->demand, room - Min(room, kept));

		f->member[m].variant = gc_make_variant(demand, &choice);
		used += gc_sched_variant_bytes(&demand->demand, &choice);
		local = local && choice.group_copies > 0;
	}
	f->threads = f->kind == GC_GROUPED_MEMBERS ? gc_sched_variant_threads(profile, used) : FUSED_THREADS;
	for (int m = 0; m < f->n && !profile->scalar; m++)
	{
		f->member[m].variant.threads = f->threads;
		f->member[m].variant.vec = FUSED_VEC;
	}
	if (f->kind == GC_GROUPED_MEMBERS)
		f->shared_bytes = used;
	return local || f->kind != GC_GROUPED_MEMBERS;
}

/* Ask for the kernel of f's members, of fewer if they are too many.  False: none. */
static bool
compile(GcFused *f)
{
	GcFusedSource *source = palloc(sizeof(GcFusedSource));
	GcError		err;
	GcCode		code;

	while ((code = gc_generate_fused(f->member, f->n, source, &err)) == GC_UNSUPPORTED && f->n > 2)
	{
		make_members(f, f->n - 1);
		(void) choose_variants(f);
	}
	if (code == GC_OK)
	{
		f->words = MemoryContextAlloc(TopMemoryContext, (source->nwords + 1) * sizeof(GcFusedWord));
		memcpy(f->words, source->words, source->nwords * sizeof(GcFusedWord));
		f->nwords = source->nwords;
		f->hash = gc_hash_bytes(source->text, strlen(source->text), 0);
		f->entry = gc_kcache_get_ahead(gc_worker.kernels, source->text);
		gc_write_gpu_text(source->text);
		free(source->text);
	}
	pfree(source);
	return f->entry != NULL;
}

/*
 * Let counts decay after a kernel was asked for.  The next kernel must be worth its compilation:
 * twice as many requests have to come first, and newer ones count more.
 */
static void
forget_some(GcScanSet *set, GcMemberKind kind)
{
	GcFusedKind   *b = &set->by_kind[kind];

	b->compile_at = 2 * Max(set->requests, COMPILE_REQUESTS);
	if (gc_sharing_forced())
		b->compile_at = 0;
	for (int i = 0; i < set->nshapes; i++)
	{
		if (gc_scan_shape_bodies(set->shape[i]) != kind)
			continue;
		set->shape[i]->uses = (set->shape[i]->uses + 1) / 2;
		set->shape[i]->wanted = (set->shape[i]->wanted + 1) / 2;
	}
}

/*
 * Have a fused kernel of one kind made for recurring requests, if it would have more members than the present one.
 * Only one is compiled at a time.  A new directory of the same table gives the same text, which the kernel cache
 * already has.
 */
static void
improve(GcScanSet *set, GcMemberKind kind)
{
	GcFusedKind   *b = &set->by_kind[kind];
	GcFused    *f;

	if (!b->dirty || b->pending || b->failed || set->requests < b->compile_at)
		return;
	b->dirty = false;
	f = MemoryContextAllocZero(TopMemoryContext, sizeof(GcFused));
	f->kind = kind;
	choose_members(set, f);
	while (f->n >= 2 && !choose_variants(f))
		make_members(f, f->n - 1);
	if (f->n < 2 || !has_more(f, b->ready))
	{
		gc_fused_drop(f);
		return;
	}
	if (compile(f) && has_more(f, b->ready))
	{
		b->pending = f;
		forget_some(set, kind);
		/* a kernel that was already compiled sends no notice */
		(void) gc_fused_take(&b->ready, &b->pending, &b->failed);
	}
	else
	{
		b->failed = f->entry == NULL;
		gc_fused_drop(f);
	}
}

bool
gc_fused_poll(GcScanSet *set)
{
	bool		any = false;

	for (int k = 0; k < GC_MEMBER_KINDS; k++)
	{
		GcFusedKind   *b = &set->by_kind[k];

		if (b->pending)
			any = gc_fused_take(&b->ready, &b->pending, &b->failed) || any;
	}
	return any;
}

bool
gc_fused_pending(const GcScanSet *set)
{
	for (int k = 0; k < GC_MEMBER_KINDS; k++)
	{
		if (set->by_kind[k].pending)
			return true;
	}
	return false;
}

void
gc_fused_improve(GcScanSet *set)
{
	for (int k = 0; k < GC_MEMBER_KINDS; k++)
		improve(set, k);
}

/*-------------------------------------------------------------------------
 * Times
 *-------------------------------------------------------------------------
 */

/* A member's addition to the scan's time until that is learned. */
double
gc_fused_first_us(const GcScanShape *s, double alone_us)
{
	switch (s->kind)
	{
		case GC_UNGROUPED_MEMBERS:
			return alone_us * gc_worker.calibration.fused;
		case GC_GROUPED_MEMBERS:
			return alone_us * GROUP_MEMBER_PART;
		default:
			return alone_us * HEAVY_MEMBER_PART;
	}
}

/*
 * Learn from the time of a scan.  A time that other work on the device may have lengthened counts
 * less.
 */
void
gc_fused_learn(const GcMainLaunch *launch, double time_us)
{
	GcFused    *f = launch->share->kernel;
	GcFusedKind   *b = &f->shape[0]->set->by_kind[f->kind];
	double	   *us[GC_MAX_FUSED];
	int			n = 0;

	for (int m = 0; m < f->n; m++)
	{
		if (launch->share->member_mask & 1u << m)
			us[n++] = &f->shape[m]->marginal_us;
	}
	b->sure = launch->alone;
	gc_fused_members_learn(&b->times.scan_us, gc_worker.calibration.launch_us, us, n, time_us, launch->alone);
}

void
gc_fused_refused(const GcRun *run, double alone_us)
{
	GcScanShape *s = run->schedule.share->scan_shape;
	GcFusedKind   *b;
	double		first;

	if (s == NULL || s->counting < 2 || gc_scan_shape_bodies(s) == GC_NO_MEMBERS)
		return;
	b = &s->set->by_kind[gc_scan_shape_bodies(s)];
	first = gc_fused_first_us(s, alone_us);
	if (gc_fused_bodies_of(b->ready, s) < 2 || first <= 0)
		return;
	s->marginal_us = Min(s->marginal_us, gc_forget_refused(s->marginal_us, first, b->sure));
	b->times.scan_us = gc_forget_refused(b->times.scan_us, gc_worker.calibration.launch_us, b->sure);
}
