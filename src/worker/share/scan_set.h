/*-------------------------------------------------------------------------
 *
 * scan_set.h
 *	  The shapes that recur over a table, and the kernels that serve them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCAN_SET_H
#define GC_SCAN_SET_H

#include "../../force.h"
#include "../../sched/model/cost.h"
#include "../run/kernels.h"
#include "../run/run.h"
#include "key_groups.h"
#include "packed_rows.h"
#include "share_run.h"
#include "shared_kernel.h"

#define GC_MAX_SCAN_SHAPES	64	/* of one set; others never share */

/* A shape recurs once it came so often. */
#define GC_SHAPE_RECURS		2

/* Uses from which on kernels are made for a shape. */
static inline uint64
gc_shape_least_uses(void)
{
	return gc_sharing_forced() ? 1 : GC_SHAPE_RECURS;
}

/* A main kernel's shape over a directory. */
typedef struct GcScanShape
{
	struct GcScanSet *set;
	GcProgram  *p;				/* a copy */
	u16			pipeline;
	i16		   *columns;		/* directory's column per column of p, or -1 */
	GcVariantDemand demand;		/* of its first request */
	GcMemberKind	kind;
	uint64		uses;
	int			wanted;			/* members: most requests of it that were ready at once */
	int			counting;		/* of the decision now being made */
	double		marginal_us;	/* what one more member adds to a scan; 0: not known */
	bool		asked;			/* for the two kernels below */
	GcPredicates		predicates;			/* no column: it cannot be in a selection scan */
	GcPipelineKernel *predicate_kernel;
	GcPipelineKernel *selection;	/* its own kernel, without the tests */
	double		selection_us;		/* what that takes in a selection scan; 0: not known */
	bool		selection_sure;	/* seen where nothing else was on the device */
} GcScanShape;

/* What there is to know of a directory's column before any row is read. */
typedef struct GcSetColumn
{
	i64			base;			/* smallest value */
	u64			range;			/* number of values from there on; 0: not for tables */
	u8			width;			/* of its codes; 0: differs between chunks */
	bool		nullable;
	GcGroupCoded  *group_coded;		/* NULL: none so far */
	struct GcRefinement *refining;	/* NULL: none is under way */
	int			nattributes;	/* that it is or is being classed by, or cannot be */
	GcAttribute attribute[GC_MAX_ATTRIBUTES];
	u32			mismatches;		/* scans, one after another, that they did not fit */
	bool		given_up;
} GcSetColumn;

/* The fused kernel of one kind of members. */
typedef struct GcFusedKind
{
	GcFused    *ready;
	GcFused    *pending;
	bool		failed;			/* a text was refused: do not try again */
	bool		dirty;			/* something recurs, or is wanted more often, than when
								 * it was last looked at */
	uint64		compile_at;		/* none is asked for before so many requests */
	GcScanTimes times;			/* before any member */
	bool		sure;			/* of that and the members' times, as GcScanShape.selection_sure */
} GcFusedKind;

/* The shapes that came for one directory. */
typedef struct GcScanSet
{
	u32			scan;
	Oid			dbid;			/* of the table */
	Oid			relid;
	u64			dir_id;
	uint64		last_used;
	int			users;			/* runs with a shape of it */
	uint64		requests;		/* that could have shared a scan */
	int			nshapes;
	GcScanShape *shape[GC_MAX_SCAN_SHAPES];
	GcFusedKind	by_kind[GC_MEMBER_KINDS];
	GcSetColumn *column;		/* by the directory's columns */
	int			ncolumns;
	bool		selection_dirty;		/* as GcFusedKind.news, for selection kernels */
	GcFused    *selector;
	GcFused    *selector_pending;
	bool		selection_asked;	/* kernels that are not all there yet */
	bool		key_groups_on;		/* whether the setting was on last time */
	GcPackedRows  *packed_rows;		/* NULL: none */
	double		rows;			/* of the table */
	u64			sel_bitmap_bytes;	/* of one request's marks */
} GcScanSet;

/* Are there shared scans at all? */
extern bool gc_scan_sets_on(void);

extern void gc_scan_sets_init(void);

/* The worker ends, and the device is closed: give back what outlives both. */
extern void gc_scan_sets_abandon(void);

/* The sets of scans, by place, below GC_MAX_SCAN_SETS; NULL: none is there (scan_set.c). */
#define GC_MAX_SCAN_SETS	32

extern GcScanSet *gc_scan_set(int place);

/*
 * The shape of a run whose kernels are ready, made if need be, and thereby counted, once.
 * NULL: none, since it scans no directory's chunks, or there is no place for it.
 */
extern GcScanShape *gc_scan_shape_of(GcRun *run);

/* The run has it no more. */
extern void gc_scan_shape_leave(GcRun *run);

/* It cannot be in selection scans: its kernels for these go. */
extern void gc_selection_forget_shape(GcScanShape *s);

/* Which kind of members it gets, if any. */
extern GcMemberKind gc_scan_shape_bodies(const GcScanShape *s);

/* Look at once more whether there is a better fused kernel for the shape. */
extern void gc_scan_shape_news(const GcScanShape *s);

#endif							/* GC_SCAN_SET_H */
