/*-------------------------------------------------------------------------
 *
 * shared_kernel.h
 *	  A kernel that serves several requests over one table: a fused kernel, or a selection
 *	  kernel.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARED_KERNEL_H
#define GC_SHARED_KERNEL_H

#include "postgres.h"

#include "../../codegen/fused.h"
#include "../../codegen/selection.h"
#include "../../device/kcache.h"
#include "../kernels/kernels.h"
#include "../../sched/model/cost.h"
#include "../../program/hash.h"

/*
 * Kinds of a fused kernel's members.  Ungrouped members sum all rows that pass; their
 * threads' registers go to members.  Grouped members have a table of groups each in shared memory;
 * their kernels have more threads.
 */
typedef enum GcMemberKind
{
	GC_UNGROUPED_MEMBERS,
	GC_GROUPED_MEMBERS,
	GC_MEMBER_KINDS,
	GC_NO_MEMBERS = GC_MEMBER_KINDS	/* its own kernel takes less time */
} GcMemberKind;

struct GcScanShape;

typedef struct GcFused
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	GcCachedKernel *entry;
	GcKernel   *kernel;			/* NULL until ready */
	GcKernelInfo info;
	GcHash		hash;
	int			n;				/* members */
	struct GcScanShape *wanted[GC_MAX_FUSED];	/* their scan shapes, the most wanted first */
	struct GcScanShape *shape[GC_MAX_FUSED];	/* scan shapes by member */
	GcFusedMember member[GC_MAX_FUSED];
	int			nphysical;
	i16			physical[GC_MAX_COLUMNS];	/* the directory's column of each */
	GcFusedWord *words;
	int			nwords;
	int			number;			/* among the kernels offered (share.c) */
	GcMemberKind	kind;		/* of its members */
	int			threads;		/* of a block */
	bool		selector;		/* a selection kernel, without members; `physical` are then the
								 * columns that it tests, and: */
	GcSelectorColumn column[GC_MAX_PREDICATES];
	u64			entries[GC_MAX_PREDICATES]; /* for which the column's table has room */
	u32			shared_bytes;	/* of its tables in shared memory */
	GcScanTimes times;			/* of a selection kernel, without its members' times */
} GcFused;

/* Give up the set's hold on a kernel; it goes with its last launch. */
extern void gc_fused_drop(GcFused *f);

/*
 * If the pending kernel is compiled, or never will be (*failed), it is pending no more: true.  A
 * ready one takes the place of the one in use.
 */
extern bool gc_fused_take(GcFused **ready, GcFused **pending, bool *failed);

/* A launch of it ends. */
extern void gc_fused_release(GcFused *fused);

#endif							/* GC_SHARED_KERNEL_H */
