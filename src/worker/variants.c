/*-------------------------------------------------------------------------
 *
 * variants.c
 *	  Variants of the kernels of requests that run beside others.
 *
 * Alone, a kernel is fastest with its dimension filters in shared memory.  Beside others it
 * may be better to leave them room.  So a shape that recurs by its own kernel while others
 * are there gets the variants that gc_sched_variants names, compiled in the background;
 * each is an option of its requests, of which gc_decide chooses.
 *
 * What a variant takes alone is guessed (gc_cost_variant) until it was seen.  The device
 * is seldom there for one kernel alone while others wait, and one that is alone has the
 * fastest variant; so now and then a variant is tried by itself (GcOption.trial): seldom
 * enough that all trials together take a thousandth of the time or so.
 *
 * Variants belong to the shape (GcScanShape), which its runs keep alive.  The worker's main
 * thread.
 *
 *-------------------------------------------------------------------------
 */
#include "fused.h"

#include "utils/memutils.h"

#include "../gpuconc.h"

/*
 * A variant is tried once its shape was launched so often beside others, and again each
 * time that number has grown so many times.  Between any two trials is some time.
 */
#define FIRST_TRIAL		4
#define NEXT_TRIAL		4
#define TRIAL_PAUSE_MS	1000

/* What was seen of a variant must be so much less than what was seen of the usual one. */
#define FASTER			0.95

static instr_time last_trial;

/*
 * Are there to be variants?  Device host has none of its own: they are for tests, or only
 * their texts for a GPU are.
 */
bool
gc_variants_on(void)
{
	if (!gc_enable_kernel_variants || (gc_schedule != GC_POLICY_TWOSTAGE && gc_schedule != GC_POLICY_KERNEL))
		return false;
	return !gc_worker.profile.host || gc_debug_force_variant || gc_debug_gpu_kernels;
}

void
gc_variants_forget_shape(GcScanShape *s)
{
	for (int i = 0; i < s->nvariants; i++)
		pfree(s->variant[i].kernel);
	s->nvariants = 0;
}

/* Variants for a device, without the one that is fastest alone. */
static int
choose(const GcProfile *profile, const GcVariantDemand *d, GcVariant *v)
{
	GcVariantChoice choice[GC_MAX_OPTIONS];
	int			n;

	if (profile->host)
	{
		/* Of no use but to show that it works: all the other way round. */
		GcVariantChoice other = {.bitmaps = ((u64) 1 << d->demand.nbitmaps) - 1,.threads = 1};

		v[0] = gc_make_variant(d, &other);
		return 1;
	}
	n = gc_sched_variants(profile, &d->demand, choice);
	for (int i = 1; i < n; i++)
		v[i - 1] = gc_make_variant(d, &choice[i]);
	return n - 1;
}

/* For tests where there is no GPU: the texts that one would be given, for a large table. */
static void
write_gpu_texts(const GcScanShape *s)
{
	GcVariantDemand d = s->demand;
	GcVariant	v[GC_MAX_OPTIONS];
	int			n;

	/* So large that a quarter of the shared memory is not enough. */
	d.demand.rows = d.demand.survivors = (u64) 1 << 30;
	if (d.demand.nbitmaps > 0)
		d.demand.bitmap_bytes[0] = Max(d.demand.bitmap_bytes[0], 128 * 1024);
	n = choose(gc_profile_known("H200"), &d, v);
	for (int i = 0; i < n; i++)
	{
		GcKernelSource source;
		GcError		err;

		if (gc_generate(s->p, s->pipeline, &v[i], &source, &err) != GC_OK)
			continue;
		gc_write_gpu_text(source.text);
		free(source.text);
	}
}

/* Ask for a shape's variants. */
static void
ask(GcScanShape *s)
{
	GcVariant	v[GC_MAX_OPTIONS];
	int			n;

	if (gc_debug_gpu_kernels && !s->variants_written)
		write_gpu_texts(s);
	s->variants_written = true;
	if (gc_worker.profile.host && !gc_debug_force_variant)
		return;
	s->variants_asked = true;
	n = choose(&gc_worker.profile, &s->demand, v);
	for (int i = 0; i < n; i++)
	{
		GcPipelineKernel *k;
		GcKernelSource source;
		GcError		err;

		if (gc_generate(s->p, s->pipeline, &v[i], &source, &err) != GC_OK)
			continue;
		k = MemoryContextAllocZero(TopMemoryContext, sizeof(GcPipelineKernel));
		if (gc_kernel_ask(k, &v[i], &source))
			s->variant[s->nvariants++] = (GcShapeVariant) {.kernel = k,.trial_at = FIRST_TRIAL};
		else
			pfree(k);
	}
}

void
gc_variants_count(GcRun *run)
{
	GcScanShape *s = run->scan_shape;

	if (s == NULL || !gc_variants_on())
		return;
	if (++s->beside >= GC_SHAPE_RECURS && !s->variants_asked)
		ask(s);
}

/* Is it compiled?  One that will never be is forgotten. */
static bool
ready(GcScanShape *s, int i)
{
	bool		failed;
	bool		is_ready = gc_kernel_ready(s->variant[i].kernel, &failed);

	if (failed)
	{
		pfree(s->variant[i].kernel);
		s->variant[i] = s->variant[--s->nvariants];
	}
	return is_ready;
}

/* Is it time to try this variant? */
static bool
trial_due(const GcScanShape *s, const GcShapeVariant *v)
{
	instr_time	t;

	if (s->beside < v->trial_at)
		return false;
	INSTR_TIME_SET_CURRENT(t);
	INSTR_TIME_SUBTRACT(t, last_trial);
	return INSTR_TIME_GET_MILLISEC(t) >= TRIAL_PAUSE_MS;
}

int
gc_variants_offer(GcRun *run, const GcPipelineKernel *usual, GcPipelineKernel **kernel, bool *trial)
{
	GcScanShape *s = run->scan_shape;
	int			n = 0;

	if (s == NULL || !gc_variants_on())
		return 0;
	if (gc_debug_force_variant && !s->variants_asked)
		ask(s);
	for (int i = s->nvariants - 1; i >= 0; i--)
	{
		if (!ready(s, i) || memcmp(&s->variant[i].kernel->variant, &usual->variant, sizeof(GcVariant)) == 0)
			continue;
		kernel[n] = s->variant[i].kernel;
		trial[n++] = trial_due(s, &s->variant[i]);
	}
	return n;
}

double
gc_variants_alone_us(const GcRun *run, const GcPipelineKernel *k, const GcPipelineKernel *usual, double usual_us)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];

	if (k->alone_us.samples > 0)
		return k->alone_us.value;
	return gc_cost_variant(&gc_worker.calibration, usual_us, in->rows,
						   __builtin_popcount(usual->variant.shared_builds & ~k->variant.shared_builds),
						   usual->variant.group_local && !k->variant.group_local);
}

bool
gc_variants_faster(const GcPipelineKernel *k, const GcPipelineKernel *usual)
{
	return k->alone_us.samples > 0 && usual->alone_us.samples > 0 &&
		k->alone_us.value < usual->alone_us.value * FASTER;
}

void
gc_variants_tried(GcRun *run, const GcPipelineKernel *k, bool alone)
{
	GcScanShape *s = run->scan_shape;

	INSTR_TIME_SET_CURRENT(last_trial);
	for (int i = 0; i < s->nvariants && alone; i++)
	{
		if (s->variant[i].kernel == k)
			s->variant[i].trial_at = s->beside * NEXT_TRIAL;
	}
}

bool
gc_variants_pending(const GcRun *run)
{
	const GcScanShape *s = run->scan_shape;

	for (int i = 0; s && gc_debug_force_variant && gc_variants_on() && i < s->nvariants; i++)
	{
		if (!s->variant[i].kernel->final)
			return true;
	}
	return false;
}

bool
gc_variants_poll(GcScanSet *set)
{
	bool		any = false;

	for (int k = 0; k < set->nshapes; k++)
	{
		GcScanShape *s = set->shape[k];

		for (int i = s->nvariants - 1; i >= 0; i--)
		{
			int			before = s->nvariants;

			if (!s->variant[i].kernel->final)
				any = ready(s, i) || s->nvariants < before || any;
		}
	}
	return any;
}
