/*-------------------------------------------------------------------------
 *
 * kernels.c
 *	  Kernels by program: generated once per kernel signature and variant.
 *
 * A kernel signature is a bound program, found by hash and compared byte by byte.  Each of its
 * pipelines has a list of variants.  The kernel cache below knows kernels by their text.  So
 * pipelines that two signatures have in common are compiled once.
 *
 * The worker's main thread.  Signatures and their kernels are forgotten in sets.  Where there are too many, a new set
 * takes their place, and the former one is freed once no request holds it.
 *
 *-------------------------------------------------------------------------
 */
#include "kernels.h"

#include <unistd.h>

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "../../codegen/key_groups.h"
#include "../../codegen/selection.h"
#include "../../force.h"
#include "../../settings.h"
#include "../memory/state.h"
#include "edges.h"
#include "pairs.h"

/* Signatures kept; beyond that all are forgotten, and with them their kernels, but for shared scans'. */
#define MAX_SIGNATURES	4096

typedef struct SignatureKernels
{
	GcHash		hash;			/* key */
	GcProgram  *program;
	GcPipelineKernel **pipelines;	/* lists of variants */
	GcPipelineTraits *traits;	/* one per pipeline; deriving them takes time */
	GcPipelineEdges *edges;		/* one per pipeline */
} SignatureKernels;

struct GcKernelSet
{
	MemoryContext cxt;			/* of all that belongs to it */
	HTAB	   *shapes;			/* of SignatureKernels */
	int			users;			/* requests, and batches that learn of its kernels */
};

static GcKernelSet *newest = NULL;
static GcKernelSet *former = NULL;	/* NULL: nobody holds an older one */
static GcPipelineKernel fixed[GC_NFIXED];
static GcGangKernel *pending_gangs = NULL;	/* gangs' kernels that are being compiled, for the newest set */

/*
 * Under gpuconc.debug_gpu_kernels: write a text that a GPU's worker would compile, for tests
 * without a GPU.  Its hash names the file; a failure is no error.  The file is renamed when
 * complete, so that a reader never finds a partial text.
 */
void
gc_write_gpu_text(const char *text)
{
	GcHash		hash;
	char		path[MAXPGPATH];
	char		part[MAXPGPATH];
	FILE	   *file;
	bool		written;

	if (!gc_gpu_texts_wanted())
		return;
	hash = gc_hash_bytes(text, strlen(text), 0);
	snprintf(path, sizeof(path), "%s/%016llx%016llx.gpu.src", gc_kernel_cache_directory,
			 (unsigned long long) hash.h[0], (unsigned long long) hash.h[1]);
	/* test servers share directories, so the name has the process's number */
	snprintf(part, sizeof(part), "%s/%d.gpu.part", gc_kernel_cache_directory, (int) getpid());
	if (access(path, F_OK) == 0)
		return;
	file = fopen(part, "w");
	if (file == NULL)
		return;
	written = fputs(text, file) >= 0;
	written = fclose(file) == 0 && written;
	if (!written || rename(part, path) != 0)
		unlink(part);
}

/* Have kernels compiled that are the same for all programs. */
static void
ask_fixed(void)
{
	static char *(*const generate[GC_NFIXED]) (void) = {
		[GC_FIXED_COMPACTOR] = gc_generate_compactor,
		[GC_FIXED_MERGE] = gc_generate_merge_kernel,
		[GC_FIXED_REFINER] = gc_generate_refiner,
		[GC_FIXED_KEY_GROUP_WRITER] = gc_generate_key_group_writer,
		[GC_FIXED_TEXT] = gc_generate_text_kernel,
		[GC_FIXED_HOLES] = gc_generate_holes_kernel,
		[GC_FIXED_LINK] = gc_generate_link_kernel,
		[GC_FIXED_WINDOW] = gc_generate_window_kernel
	};

	for (int i = 0; i < GC_NFIXED; i++)
	{
		char	   *text = fixed[i].entry ? NULL : generate[i] ();

		if (text == NULL)
			continue;
		fixed[i].entry = gc_kcache_get(gc_worker.kernels, text);
		if (fixed[i].entry)
			gc_kcache_keep(fixed[i].entry);
		gc_write_gpu_text(text);
		free(text);
	}
}

bool
gc_kernel_ask(GcPipelineKernel *k, const GcVariant *variant, GcKernelSource *source)
{
	k->variant = *variant;
	k->nwords = source->nwords;
	memcpy(k->words, source->words, source->nwords * sizeof(GcArgWord));
	memcpy(k->reach, source->reach, sizeof(k->reach));
	k->occupancy = -1;
	k->hash = gc_hash_bytes(source->text, strlen(source->text), 0);
	k->entry = gc_kcache_get(gc_worker.kernels, source->text);
	free(source->text);
	source->text = NULL;
	return k->entry != NULL;
}

/*
 * The kernel may be another one than before.  Times learned of a quick kernel do not hold for the full one, whose
 * vectors and registers are others.
 */
static void
note_module(GcPipelineKernel *k, const GcKernel *before)
{
	k->final = gc_kcache_final(k->entry);
	k->effort = k->final || !gc_worker.dev->info.quick_compile ? GC_EFFORT_FULL : GC_EFFORT_QUICK;
	if (k->kernel == before)
		return;
	k->occupancy = -1;
	if (before == NULL)
		return;
	k->other.alone_us = k->alone_us;
	k->alone_us = k->issue_part = k->off = (GcLearned) {0};
	k->trials = 0;
}

/* For who asks for DEBUG1: what a kernel's first code took. */
static void
tell_times(const GcPipelineKernel *k)
{
	const GcKernelTimes times = gc_kcache_times(k->entry);

	ereport(DEBUG1,
			(errmsg_internal("gpuconc has compiled kernel %016llx in %.1f ms, after waiting %.1f ms for a compiler, and loaded it in %.1f ms",
							 (unsigned long long) k->hash.h[0], times.compiled, times.waited, times.loaded)));
}

GcKernelState
gc_kernel_poll(GcPipelineKernel *k, GcError *err)
{
	const GcKernel *before = k->kernel;
	const GcKernelState state = gc_kcache_poll(gc_worker.kernels, k->entry, &k->kernel, &k->info, err);

	if (state == GC_KERNEL_READY)
		note_module(k, before);
	if (state == GC_KERNEL_READY && before == NULL && gc_kcache_origin(k->entry) == GC_ORIGIN_COMPILED)
		tell_times(k);
	return state;
}

bool
gc_kernel_ready(GcPipelineKernel *k, bool *failed)
{
	GcError		err;

	*failed = !k->final && gc_kernel_poll(k, &err) == GC_KERNEL_FAILED && !gc_kcache_retry(k->entry);
	return k->final;
}

/* Begin a set without signatures, and ask for the kernels that no program needs. */
void
gc_kernels_init(void)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "gpuconc shapes", ALLOCSET_DEFAULT_SIZES);
	HASHCTL		ctl = {.keysize = sizeof(GcHash),.entrysize = sizeof(SignatureKernels),.hcxt = cxt};

	newest = MemoryContextAllocZero(cxt, sizeof(GcKernelSet));
	newest->cxt = cxt;
	newest->shapes = hash_create("gpuconc shapes", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);

	ask_fixed();
}

GcKernelSet *
gc_kernels_hold(GcKernelSet *set)
{
	if (set == NULL)
		set = newest;
	set->users++;
	return set;
}

void
gc_kernels_let_go(GcKernelSet *set)
{
	set->users--;
}

const GcPipelineKernel *
gc_fixed_kernel(GcFixedKernel which, GcError *err, bool *failed)
{
	GcPipelineKernel *k = &fixed[which];

	*failed = false;
	if (k->final)
		return k;
	if (k->entry)
	{
		switch (gc_kcache_poll(gc_worker.kernels, k->entry, &k->kernel, &k->info, err))
		{
			case GC_KERNEL_READY:
				k->final = gc_kcache_final(k->entry);
				return k;
			case GC_KERNEL_COMPILING:
				return NULL;
			default:
				if (gc_kcache_retry(k->entry))
					return NULL;
				break;
		}
	}
	*failed = true;
	if (k->entry == NULL)
		gc_fail(err, GC_HOST_MEMORY, "Out of memory in the kernel cache.");
	return NULL;
}

/* Let a gang's kernel go, of which there is no launch.  It may be asked for anew. */
static void
gang_kernel_forget(GcGangKernel *gang)
{
	if (gang->entry)
		gc_kcache_let_go(gang->entry);
	*gang = (GcGangKernel) {.next = gang->next};
}

/* Let go the kernels of the gangs of a set's signatures. */
static void
forget_gangs(GcKernelSet *set)
{
	HASH_SEQ_STATUS scan;
	const SignatureKernels *s;

	hash_seq_init(&scan, set->shapes);
	while ((s = hash_seq_search(&scan)) != NULL)
	{
		for (int i = 0; i < s->program->npipelines; i++)
		{
			for (const GcPipelineKernel *k = s->pipelines[i]; k; k = k->next)
			{
				if (k->gang)
					gang_kernel_forget(k->gang);
			}
		}
	}
}

/* Have a new set take the newest one's place, whose gangs go on with the kernels that they have. */
static void
replace_set(void)
{
	for (GcGangKernel *gang = pending_gangs; gang; gang = gang->next)
	{
		gang_kernel_forget(gang);
		gang->given_up = true;
	}
	pending_gangs = NULL;
	former = newest;
	gc_kcache_next_round(gc_worker.kernels);
	gc_kernels_init();
}

/* Kernels that the newest set has, too, stay loaded. */
static void
forget_former(void)
{
	forget_gangs(former);
	MemoryContextDelete(former->cxt);
	former = NULL;
	gc_kcache_forget(gc_worker.kernels);
}

void
gc_kernels_trim(void)
{
	if (former == NULL && (hash_get_num_entries(newest->shapes) > MAX_SIGNATURES ||
						   gc_kcache_exceeds(gc_worker.kernels, gc_debug_most_kernels)))
		replace_set();
	if (former && former->users == 0)
		forget_former();
}

/* Note where the pipeline may have an edge, and how large packets are there. */
static void
find_edges(const GcProgram *p, int pipeline, const GcPipelineTraits *traits, GcPipelineEdges *edges)
{
	const int	nsteps = gc_pipelines(p)[pipeline].nsteps;

	edges->gathers = traits->gathers;
	if (nsteps <= GC_MODEL_STEPS)
		edges->phase = MemoryContextAllocZero(newest->cxt, nsteps + 1);
	if (edges->phase && !gc_step_phases(p, pipeline, edges->phase))
		edges->phase = NULL;
	if (!gc_pipeline_edges(p, pipeline, &edges->steps) || nsteps > GC_MODEL_STEPS)
		return;
	edges->shape = MemoryContextAllocZero(newest->cxt, (nsteps + 1) * sizeof(GcEdgeShape));
	for (int s = 0; s <= nsteps; s++)
	{
		if (edges->steps >> s & 1)
			edges->shape[s] = gc_edge_shape(p, pipeline, s);
	}
}

/*
 * Find or make a request's signature; each is checked once.  NULL: the program cannot be executed.
 */
static SignatureKernels *
find_shape(const GcRequest *request, GcError *err)
{
	const GcProgram *p = request->program;
	SignatureKernels *s;
	bool		found;

	s = hash_search(newest->shapes, &request->program_hash, HASH_ENTER, &found);
	if (found && s->program->size == p->size && memcmp(s->program, p, p->size) == 0)
		return s;
	if (gc_program_check(p, p->size, err) != GC_OK)
	{
		if (!found)
			hash_search(newest->shapes, &request->program_hash, HASH_REMOVE, NULL);
		return NULL;
	}
	s->program = MemoryContextAlloc(newest->cxt, p->size);
	memcpy(s->program, p, p->size);
	s->pipelines = MemoryContextAllocZero(newest->cxt, p->npipelines * sizeof(GcPipelineKernel *));
	s->traits = MemoryContextAlloc(newest->cxt, p->npipelines * sizeof(GcPipelineTraits));
	s->edges = MemoryContextAllocZero(newest->cxt, p->npipelines * sizeof(GcPipelineEdges));
	for (int i = 0; i < p->npipelines; i++)
	{
		s->traits[i] = gc_pipeline_traits(p, i);
		find_edges(p, i, &s->traits[i], &s->edges[i]);
	}
	return s;
}

/*
 * Rows of the scan, each as often as it comes to the sink; where the scan tries pairs, these.  Of groups below, those
 * that are expected count.  A block of 32 warps counts rows in 32 bits, a few units of each warp.  But where lists are
 * searched, a warp's unit alone may have more.
 */
static u64
rows_tried(const GcRequest *request, int pipeline, bool pairs)
{
	const GcPPipeline *pl = &gc_pipelines(request->program)[pipeline];
	const u64	most = (u64) gc_worker.profile.sms << 32;
	const GcInputValue *in = &request->inputs[pl->input];
	const u64	rows = in->rows * gc_sink_visits(pl);
	double		unit = 0;
	const double tried = pairs ? gc_pairs_total(request, pipeline, &unit) : 0;

	/* There may be more groups to read than expected. */
	if (unit > GC_UNIT_PAIRS || in->max_rows * (u64) gc_sink_visits(pl) > most)
		return Max(rows, most);
	return Max(rows, (u64) Min(tried, (double) (most - 1)));
}

/* A pipeline's demand by the request's real sizes, from which its variant follows. */
static void
fill_demand(const GcRequest *request, int pipeline, GcPipelineTraits traits, GcVariantDemand *d)
{
	const GcProgram *p = request->program;
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	GcPipelineDemand *demand = &d->demand;

	memset(d, 0, sizeof(*d));
	demand->rows = rows_tried(request, pipeline, traits.pairs);
	demand->pairs = traits.pairs;
	/* Sets that leave out nearly all have few groups, to which all rows come. */
	demand->cells = traits.pairs || pl->sets > 1;
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (step->type == GC_STEP_PROBE && (traits.candidates & 1u << step->build))
		{
			d->build[demand->nbitmaps] = step->build;
			demand->bitmap_bytes[demand->nbitmaps++] = (request->builds[step->build].range + 63) / 64 * 8;
		}
	}
	if (pl->sink == GC_SINK_AGGREGATE && pl->group_mode == GC_GROUP_DENSE)
	{
		demand->ngroups = request->sinks[pipeline].ngroups;
		demand->group_bytes = demand->ngroups * pl->group_words * 8;
		demand->spare_bytes = GC_SPARE_CELLS * pl->group_words * 8;
	}
	/* Pairs are far more than groups mostly, whatever the estimate says. */
	else if (pl->sink == GC_SINK_AGGREGATE && pl->group_mode == GC_GROUP_HASH && demand->cells)
		demand->hash_cell_bytes = (pl->group_words + traits.group_key_words) * 8 + 4;
	demand->survivors = demand->rows >> pl->survive;
	demand->queue_bytes = traits.gathers ? GC_VISIT_SHARED : 0;
	demand->per_warp_bytes = (u64) traits.per_warp_words * 4;
}

/* As fill_demand(), with the traits of the pipeline as they are. */
void
gc_variant_demand(const GcRequest *request, int pipeline, GcVariantDemand *d)
{
	fill_demand(request, pipeline, gc_pipeline_traits(request->program, pipeline), d);
}

/* A variant as the code generator knows it; comparable as bytes. */
GcVariant
gc_make_variant(const GcVariantDemand *d, const GcVariantChoice *choice)
{
	GcVariant	v;

	memset(&v, 0, sizeof(v));
	v.threads = choice->threads;
	v.vec = choice->vec;
	v.group_local = choice->group_copies > 0;
	v.group_copies = choice->group_copies;
	v.group_cells = choice->group_cells;
	for (int i = 0; i < d->demand.nbitmaps; i++)
	{
		if (choice->bitmaps & 1u << i)
			v.shared_builds |= 1u << d->build[i];
	}
	return v;
}

/*
 * Choose the variant for a request: bitmaps and group table go to shared memory as far as the
 * cost model wants them there.
 */
GcVariant
gc_choose_variant(const GcProfile *profile, const GcVariantDemand *d, u64 room)
{
	GcVariantChoice choice = gc_sched_variant(profile, &d->demand, room);

	return gc_make_variant(d, &choice);
}

/* Choose the variant for passes: a build of which only a part is there gets no place in shared memory. */
static GcVariant
choose_split_variant(const GcProfile *profile, const GcVariantDemand *d, u64 room, const GcSplits *splits)
{
	GcVariant	v = gc_choose_variant(profile, d, room);

	v.splits = *splits;
	v.shared_builds &= ~splits->builds;
	return v;
}

/* Write a kernel's text, and that of its consumer. */
static void
write_gpu_kernel(const GcRequest *request, int pipeline, const GcVariant *v)
{
	const GcVariant consumer = gc_consumer_variant(v);
	GcKernelSource source;
	GcError		err;

	for (int side = 0; side < (v->edge == GC_EDGE_MATERIALIZE ? 2 : 1); side++)
	{
		if (gc_generate(request->program, pipeline, side == 0 ? v : &consumer, &source, &err) == GC_OK)
		{
			gc_write_gpu_text(source.text);
			free(source.text);
		}
	}
}

/* For gpuconc.debug_gpu_kernels: texts of the kernels that an H200 would be given for these sizes and large ones. */
static void
write_gpu_kernels(const GcRequest *request, int pipeline, GcPipelineEdges *edges, const GcSplits *splits)
{
	const GcProfile *profile = gc_profile_known("H200");
	GcVariantDemand d;
	/* the tables' real sizes, and rows so many that everything in shared memory pays */
	const u64	rows[] = {request->inputs[gc_pipelines(request->program)[pipeline].input].rows, (u64) 1 << 30};

	gc_variant_demand(request, pipeline, &d);
	for (int i = 0; i < lengthof(rows); i++)
	{
		GcVariant	v;

		d.demand.rows = rows[i];
		d.demand.survivors = rows[i] >> gc_pipelines(request->program)[pipeline].survive;
		v = choose_split_variant(profile, &d, profile->shared_per_block - 1024, splits);
		(void) gc_choose_edge(request, pipeline, edges, &v);
		write_gpu_kernel(request, pipeline, &v);
	}
}

bool
gc_gang_kernel_pending(const GcGangKernel *gang)
{
	return gang->entry != NULL && gang->kernel == NULL;
}

/* Has it come just now, or was it given up? */
static bool
gang_kernel_poll(GcGangKernel *gang)
{
	GcKernel   *kernel;
	GcError		err;

	if (!gc_gang_kernel_pending(gang))
		return false;
	switch (gc_kcache_poll(gc_worker.kernels, gang->entry, &kernel, &gang->info, &err))
	{
		case GC_KERNEL_COMPILING:
			return false;
		case GC_KERNEL_READY:
			if (!gc_kcache_final(gang->entry))
				return false;
			gang->kernel = kernel;
			return true;
		default:
			if (gc_kcache_retry(gang->entry))
				return false;
			gang_kernel_forget(gang);
			gang->given_up = true;
			return true;
	}
}

void
gc_kernel_ask_gang(GcPipelineKernel *k, const GcProgram *p, int pipeline)
{
	GcGangKernel *gang = k->gang = MemoryContextAllocZero(newest->cxt, sizeof(GcGangKernel));
	GcKernelSource source;
	GcError		err;
	char	   *text = NULL;

	if (gc_generate(p, pipeline, &k->variant, &source, &err) == GC_OK)
	{
		text = gc_gang_text(source.text, k->nwords, &gang->most);
		free(source.text);
	}
	gang->nwords = k->nwords;
	if (text)
	{
		gc_write_gpu_text(text);
		gang->entry = gc_kcache_get_ahead(gc_worker.kernels, text);
	}
	gang->given_up = gang->entry == NULL;
	free(text);
	(void) gang_kernel_poll(gang);	/* one that is there already wakes nobody */
	if (!gc_gang_kernel_pending(gang))
		return;
	gang->next = pending_gangs;
	pending_gangs = gang;
}

bool
gc_gang_kernels_poll(void)
{
	GcGangKernel **link = &pending_gangs;
	bool		any = false;

	while (*link)
	{
		GcGangKernel *gang = *link;

		if (!gang_kernel_poll(gang))
		{
			link = &gang->next;
			continue;
		}
		*link = gang->next;
		any = true;
	}
	return any;
}

bool
gc_signature_check(const GcRequest *request, GcError *err)
{
	return find_shape(request, err) != NULL;
}

/* Ask for a new kernel. */
static GcPipelineKernel *
make_kernel(const GcRequest *request, int pipeline, const GcVariant *v, GcError *err)
{
	GcPipelineKernel *k;
	GcKernelSource source;

	if (gc_generate(request->program, pipeline, v, &source, err) != GC_OK)
		return NULL;
	k = MemoryContextAllocZero(newest->cxt, sizeof(GcPipelineKernel));
	if (!gc_kernel_ask(k, v, &source))
	{
		gc_fail(err, GC_HOST_MEMORY, "Out of memory in the kernel cache.");
		return NULL;
	}
	if (v->edge != GC_EDGE_FUSE)
		k->edge = gc_edge_shape(request->program, pipeline, v->edge_step);
	return k;
}

/* The kernel of this variant, or NULL. */
static GcPipelineKernel *
find_kernel(const SignatureKernels *s, int pipeline, const GcVariant *v)
{
	GcPipelineKernel *k = s->pipelines[pipeline];

	while (k && !gc_same_variant(&k->variant, v))
		k = k->next;
	return k;
}

/* Ask for the kernel of a variant, or its two kernels, and keep it. */
static GcPipelineKernel *
add_kernel(SignatureKernels *s, const GcRequest *request, int pipeline, const GcVariant *v, GcError *err)
{
	GcPipelineKernel *k = make_kernel(request, pipeline, v, err);

	if (k && v->edge == GC_EDGE_MATERIALIZE)
	{
		const GcVariant consumer = gc_consumer_variant(v);

		k->consumer = make_kernel(request, pipeline, &consumer, err);
		k = k->consumer ? k : NULL;
	}
	if (k == NULL)
		return NULL;
	k->next = s->pipelines[pipeline];
	s->pipelines[pipeline] = k;
	return k;
}

/* Is the kernel compiled in its final form, and the one behind its edge? */
static bool
is_compiled(GcPipelineKernel *k)
{
	bool		failed;

	return gc_kernel_ready(k, &failed) && (k->consumer == NULL || gc_kernel_ready(k->consumer, &failed));
}

/*
 * The model has chosen an edge: does the request take it?  Predictions may be wrong, and fused kernels are never
 * to be missed.  So the pipeline is fused until that was measured and the other kernel is compiled.  Then the edge is
 * tried a few times, and then measured times decide.
 */
static bool
takes_edge(SignatureKernels *s, const GcRequest *request, int pipeline, const GcVariant *v, const GcVariant *fused)
{
	GcPipelineKernel *own = find_kernel(s, pipeline, fused);
	GcPipelineKernel *k = find_kernel(s, pipeline, v);
	GcError		err;

	/* A quick kernel's time says nothing of the full one's. */
	if (own == NULL || !own->final || own->alone_us.samples == 0 || gc_effort_open(&own->efforts))
		return false;
	if (k == NULL && (k = add_kernel(s, request, pipeline, v, &err)) == NULL)
	{
		/* Its text cannot be had, and would be generated for each request. */
		s->edges[pipeline].steps = 0;
		return false;
	}
	if (!is_compiled(k))
		return false;
	if (k->alone_us.samples > 0)
		return gc_edge_keeps(own->alone_us.value, k->alone_us.value);
	if (k->trials == GC_EDGE_TRIALS)
		return false;
	k->trials++;
	return true;
}

/*
 * The model has chosen fuse, but was far off, or cannot tell: edges are tried, one after another, and measured times
 * decide.  Makes *v the variant to be launched, and returns its prediction.  Not on processors, whose lanes are never
 * idle.
 */
static double
explore_edges(SignatureKernels *s, const GcRequest *request, int pipeline, GcVariant *v, double predicted_us)
{
	GcPipelineEdges *edges = &s->edges[pipeline];
	const GcPipelineKernel *own = find_kernel(s, pipeline, v);
	GcPipelineKernel *k[GC_EDGE_MATERIALIZE + 1] = {NULL};
	GcEdgeTried tried[GC_EDGE_MATERIALIZE + 1] = {{false}};
	GcVariant	with[GC_EDGE_MATERIALIZE + 1];
	double		us[GC_EDGE_MATERIALIZE + 1];
	GcEdge		next,
				compile;
	GcError		err;

	if (gc_worker.profile.scalar || own == NULL || !own->final || own->alone_us.samples == 0 ||
		gc_effort_open(&own->efforts) ||
		(own->spent_us < GC_EDGE_SPENT_US && own->alone_us.value < Max(predicted_us * GC_EDGE_WRONG, GC_EDGE_WRONG_US)))
		return predicted_us;
	for (int e = GC_EDGE_REFILL; e <= GC_EDGE_MATERIALIZE; e++)
	{
		with[e] = *v;
		us[e] = gc_explored_edge(request, pipeline, edges, (GcEdge) e, &with[e]);
		if (us[e] <= 0)
			continue;
		k[e] = find_kernel(s, pipeline, &with[e]);
		tried[e] = (GcEdgeTried) {.possible = true,.predicted_us = us[e],.compiled = k[e] && is_compiled(k[e]),
			.us = k[e] && k[e]->alone_us.samples > 0 ? k[e]->alone_us.value : 0,.trials = k[e] ? k[e]->trials : 0};
	}
	next = gc_edge_explore(predicted_us, own->alone_us.value, own->spent_us, tried, &compile);
	if (compile != GC_EDGE_FUSE && k[compile] == NULL && add_kernel(s, request, pipeline, &with[compile], &err) == NULL)
		edges->explored[compile].step = -1;
	if (next == GC_EDGE_FUSE)
		return predicted_us;
	if (tried[next].us <= 0)
		k[next]->trials++;
	*v = with[next];
	return us[next];
}

/* Note the prediction that is shown: the model's, times the known factor by which it is off. */
static void
note_prediction(SignatureKernels *s, int pipeline, GcPipelineKernel *k, const GcVariant *fused, double model_us)
{
	const GcPipelineKernel *own = k->variant.edge == GC_EDGE_FUSE ? k : find_kernel(s, pipeline, fused);
	const GcLearned *off = k->off.samples > 0 || own == NULL ? &k->off : &own->off;

	k->model_us = model_us;
	k->predicted_us = off->samples > 0 ? model_us * off->value : model_us;
}

static void choose_effort(GcPipelineKernel *k);

GcPipelineKernel *
gc_signature_kernel(const GcRequest *request, int pipeline, const GcSplits *splits, bool *fresh, GcError *err)
{
	SignatureKernels *s;
	GcVariantDemand d;
	GcVariant	v,
				fused;
	GcPipelineKernel *k;
	double		predicted_us;

	*fresh = false;
	s = find_shape(request, err);
	if (s == NULL)
		return NULL;
	fill_demand(request, pipeline, s->traits[pipeline], &d);
	v = choose_split_variant(&gc_worker.profile, &d, gc_worker.profile.shared_per_block - 1024, splits);
	fused = v;
	predicted_us = gc_choose_edge(request, pipeline, &s->edges[pipeline], &v);
	if (request->edge == GC_EDGE_AUTO && v.edge != GC_EDGE_FUSE && !takes_edge(s, request, pipeline, &v, &fused))
	{
		v = fused;
		predicted_us = s->edges[pipeline].plan.fuse_us;
	}
	else if (request->edge == GC_EDGE_AUTO && v.edge == GC_EDGE_FUSE && predicted_us > 0)
		predicted_us = explore_edges(s, request, pipeline, &v, predicted_us);
	k = find_kernel(s, pipeline, &v);
	if (k)
	{
		choose_effort(k);
		*fresh = !k->final && gc_kcache_retry(k->entry);
		if (k->consumer && !k->consumer->final)
			(void) gc_kcache_retry(k->consumer->entry);
		note_prediction(s, pipeline, k, &fused, predicted_us);
		return k;
	}
	k = add_kernel(s, request, pipeline, &v, err);
	if (k == NULL && v.edge != GC_EDGE_FUSE)
	{
		/* An edge that was forced, but has no text: as where none is possible. */
		s->edges[pipeline].steps = 0;
		*err = (GcError) {GC_OK, ""};
		return gc_signature_kernel(request, pipeline, splits, fresh, err);
	}
	if (k == NULL)
		return NULL;
	note_prediction(s, pipeline, k, &fused, predicted_us);
	*fresh = true;
	if (gc_gpu_texts_wanted())
		write_gpu_kernels(request, pipeline, &s->edges[pipeline], splits);
	return k;
}

/*-------------------------------------------------------------------------
 * Full kernels that take longer than the quick ones before them
 *-------------------------------------------------------------------------
 */

void
gc_kernel_ran(GcPipelineKernel *k, GcEffort effort, double us, u32 tiles)
{
	k->spent_us += us;
	if (effort == k->effort)
		gc_learn(&k->alone_us, us);
	if (effort == k->effort && k->model_us > 0)
		gc_learn(&k->off, us / k->model_us);
	if (k->consumer == NULL)
		gc_effort_ran(&k->efforts, effort, us, tiles);
}

/* Exchange the kernel for the other one of its text; false: that is not loaded. */
static bool
exchange(GcPipelineKernel *k)
{
	const GcLearned alone_us = k->alone_us;
	GcKernel   *kernel = k->other.kernel;
	GcKernelInfo info = k->other.info;

	if (kernel == NULL && !gc_kcache_quick(k->entry, &kernel, &info))
		return false;
	k->other.kernel = k->kernel;
	k->other.info = k->info;
	k->alone_us = k->other.alone_us;
	k->other.alone_us = alone_us;
	k->issue_part = k->off = (GcLearned) {0};
	k->kernel = kernel;
	k->info = info;
	k->occupancy = -1;
	k->effort = k->effort == GC_EFFORT_FULL ? GC_EFFORT_QUICK : GC_EFFORT_FULL;
	return true;
}

/* Before a launch: have the kernel be the one of its text that is to be launched. */
static void
choose_effort(GcPipelineKernel *k)
{
	if (!k->final || k->consumer)
		return;
	if (gc_effort_next(&k->efforts) != k->effort && !exchange(k))
		k->efforts = (GcEffortTrial) {.decided = true,.keep = k->effort};
	if (k->efforts.decided && k->effort == GC_EFFORT_QUICK && k->other.kernel)
		gc_kcache_prefer_quick(k->entry);
}

bool
gc_kernel_reads_column(const GcPipelineKernel *k, int column)
{
	for (; k; k = k->consumer)
	{
		for (int i = 0; i < k->nwords; i++)
		{
			if (k->words[i].type == GC_ARG_COLUMN && k->words[i].index == column)
				return true;
		}
	}
	return false;
}
