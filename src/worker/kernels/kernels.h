/*-------------------------------------------------------------------------
 *
 * kernels.h
 *	  Kernels of programs, and kernels that are the same for all programs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KERNELS_H
#define GC_KERNELS_H

#include "postgres.h"

#include "../../codegen/codegen.h"
#include "../../device/kcache.h"
#include "../../queue/queue.h"
#include "../../sched/model/cost.h"
#include "../../sched/model/efforts.h"
#include "../../sched/model/variant.h"

/* The kernel that does the work of several launches of another one in one launch. */
typedef struct GcGangKernel
{
	GcCachedKernel *entry;		/* NULL: not asked for, or given up */
	GcKernel   *kernel;			/* NULL until it is ready, in its final form */
	GcKernelInfo info;
	int			nwords;
	int			most;			/* members */
	bool		given_up;		/* there will be none */
	struct GcGangKernel *next;	/* of the kernels that are being compiled (kernels.c) */
} GcGangKernel;

typedef struct GcPipelineKernel
{
	GcVariant	variant;
	GcArgWord	words[GC_MAX_ARG_WORDS];
	int			nwords;
	GcColumnReach reach[GC_MAX_COLUMNS];	/* of the columns that it reads, where it is a pipeline's own */
	GcCachedKernel *entry;
	GcKernel   *kernel;			/* once ready */
	GcKernelInfo info;
	bool		final;			/* no better kernel is to come */
	GcEffort	effort;			/* that `kernel` was compiled with, as far as it matters */
	GcEffortTrial efforts;
	struct
	{
		GcKernel   *kernel;		/* NULL: was never asked for */
		GcKernelInfo info;
		GcLearned	alone_us;
	}			other;			/* the kernel of the other effort (kernels.c, choose_effort()) */
	int			occupancy;		/* -1: not asked yet */
	u32			occupancy_shared;	/* for so many bytes of shared memory */
	int			occupancy_threads;	/* and blocks of so many threads */
	GcHash		hash;			/* of its text */
	GcLearned	alone_us;		/* time with the device to itself: of a main kernel, or one that makes groups */
	double		spent_us;		/* in all of its launches so */
	GcLearned	issue_part;		/* part of alone_us that it would take if memory took no time
								 * (sched/policy/coresident.h) */
	GcEdgeShape edge;			/* with an edge through which packets go: these */
	float		model_us;		/* by the model of edges, for the newest request; 0: not predicted */
	GcLearned	off;			/* its time, as a factor of that */
	float		predicted_us;	/* model_us times the known value of this factor */
	u8			trials;			/* of an edge that the model has chosen, before any was measured */
	GcGangKernel *gang;			/* NULL: not asked for */
	struct GcPipelineKernel *consumer;	/* GC_EDGE_MATERIALIZE: it reads this one's packets */
	struct GcPipelineKernel *next;
} GcPipelineKernel;

/*
 * The kernel of a pipeline of the request, in the variant that suits it.  A new one is asked for
 * from the kernel cache (*fresh).  NULL: err set.  splits: the tables that it has a part of.
 */
extern GcPipelineKernel *gc_signature_kernel(const GcRequest *request, int pipeline, const GcSplits *splits,
										 bool *fresh, GcError *err);

/*
 * Ask, once, for the kernel that serves several requests of the pipeline as k serves one.  Not between a decision and
 * its starts, since writing the text takes longer than these.
 */
extern void gc_kernel_ask_gang(GcPipelineKernel *k, const GcProgram *p, int pipeline);

/* Is it being compiled? */
extern bool gc_gang_kernel_pending(const GcGangKernel *gang);

/* To be called often: has such a kernel come, or is one given up? */
extern bool gc_gang_kernels_poll(void);

/* Can the request's program be executed?  Else err is set. */
extern bool gc_signature_check(const GcRequest *request, GcError *err);

/* Demands that the choice of a variant depends on, and the choice (kernels.c). */
typedef struct GcVariantDemand
{
	GcPipelineDemand demand;
	u16			build[32];		/* build of each of these bitmaps */
} GcVariantDemand;

extern void gc_variant_demand(const GcRequest *request, int pipeline, GcVariantDemand *d);
extern GcVariant gc_make_variant(const GcVariantDemand *d, const GcVariantChoice *choice);
extern GcVariant gc_choose_variant(const GcProfile *profile, const GcVariantDemand *d, u64 room);
extern void gc_write_gpu_text(const char *text);

/* Kernels that are the same for all programs (codegen.h). */
typedef enum GcFixedKernel
{
	GC_FIXED_COMPACTOR,
	GC_FIXED_MERGE,
	GC_FIXED_REFINER,
	GC_FIXED_KEY_GROUP_WRITER,
	GC_FIXED_TEXT,
	GC_FIXED_HOLES,
	GC_FIXED_LINK,
	GC_FIXED_WINDOW,
	GC_NFIXED
} GcFixedKernel;

/* NULL until it is compiled.  *failed: it never will be. */
extern const GcPipelineKernel *gc_fixed_kernel(GcFixedKernel which, GcError *err, bool *failed);

/*
 * Ask the kernel cache for a generated kernel, and fill k with it; frees source->text.
 * gc_kernel_poll: have the kernels that are compiled of it by now; `final` is set with it.  gc_kernel_ready: is it
 * compiled, in its final form?  *failed: it never will be.
 */
extern bool gc_kernel_ask(GcPipelineKernel *k, const GcVariant *variant, GcKernelSource *source);
extern GcKernelState gc_kernel_poll(GcPipelineKernel *k, GcError *err);
extern bool gc_kernel_ready(GcPipelineKernel *k, bool *failed);
/* Does the kernel, or the one behind its edge, read this column at all? */
extern bool gc_kernel_reads_column(const GcPipelineKernel *k, int column);
/* A main kernel, or one that makes groups, ran alone on the device. */
extern void gc_kernel_ran(GcPipelineKernel *k, GcEffort effort, double us, u32 tiles);

extern void gc_kernels_init(void);

/* Signatures, and their kernels, that are forgotten together. */
typedef struct GcKernelSet GcKernelSet;

/* Hold a set; NULL: the newest one, whose kernels that are had from now on stay until it is let go. */
extern GcKernelSet *gc_kernels_hold(GcKernelSet *set);
extern void gc_kernels_let_go(GcKernelSet *set);

/* To be called often: forget kernels if there are too many, those that nobody holds. */
extern void gc_kernels_trim(void);

/*
 * Costs of reading the host's memory in kernels, measured once (link_costs.c): to be called
 * before the first of the next.
 */
extern void gc_link_costs_init(void);

/*
 * The device is idle: measure, if that was not done and the kernel is compiled.  False: the device was lost by it,
 * and *err says how.
 */
extern bool gc_link_costs_poll(GcError *err);

#endif							/* GC_KERNELS_H */
