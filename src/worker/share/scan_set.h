/*-------------------------------------------------------------------------
 *
 * scan_set.h
 *	  The scan shapes that recur over a table, and the kernels that serve them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCAN_SET_H
#define GC_SCAN_SET_H

#include "../../force.h"
#include "../../sched/model/cost.h"
#include "../../sched/policy/sched.h"
#include "../run/run.h"
#include "key_groups.h"
#include "share_run.h"
#include "shared_kernel.h"

#define GC_MAX_SCAN_SHAPES	64	/* of one set; requests of further scan shapes never share */

/* A scan shape recurs once so many requests of it came. */
#define GC_SHAPE_RECURS		2

/* Uses from which on kernels are made for a scan shape. */
static inline uint64
gc_shape_least_uses(void)
{
	return gc_sharing_forced() ? 1 : GC_SHAPE_RECURS;
}

/* A main kernel's signature over a directory. */
typedef struct GcScanShape
{
	struct GcScanSet *set;
	GcProgram  *p;				/* a copy */
	u16			pipeline;
	i16		   *columns;		/* per column of p: the directory's column, or -1 */
	GcVariantDemand demand;		/* of its first request */
	GcMemberKind	kind;
	uint64		uses;
	int			wanted;			/* most requests of it that were ready at once: it gets so many
								 * members */
	int			counting;		/* requests in the decision that is being made */
	double		marginal_us;	/* time that one more member adds to a scan; 0: not known */
	bool		asked;			/* whether the two kernels below were asked for */
	GcPredicates		predicates;	/* no column: it cannot be in a selection scan */
	GcPipelineKernel *predicate_kernel;
	GcPipelineKernel *selection;	/* its own kernel over a selection bitmap, without the
									 * predicates' steps */
	double		selection_us;	/* time of `selection` in a selection scan; 0: not known */
	bool		selection_sure;	/* measured where nothing else was on the device */
} GcScanShape;

/* A directory's column, as it is known before any row is read. */
typedef struct GcSetColumn
{
	i64			base;			/* smallest value */
	u64			range;			/* number of values from there on; 0: no predicate table by
								 * value */
	u8			width;			/* of its codes; 0: differs between chunks */
	bool		nullable;
	GcGroupCoded  *group_coded;	/* NULL: none so far */
	struct GcRefinement *refining;	/* NULL: none is under way */
	int			nattributes;	/* attributes that its key groups know, or are being refined
								 * by, or cannot know */
	GcAttribute attribute[GC_MAX_ATTRIBUTES];
	u32			mismatches;		/* scans in a row with a mismatch */
	bool		given_up;
} GcSetColumn;

/* The fused kernel of one kind of members. */
typedef struct GcFusedKind
{
	GcFused    *ready;
	GcFused    *pending;
	bool		failed;			/* a text was refused: do not try again */
	bool		dirty;			/* something recurs, or is wanted more often, than when it was
								 * last looked at */
	uint64		compile_at;		/* value of GcScanSet.requests before which no kernel is asked
								 * for */
	GcScanTimes times;			/* before any member's */
	bool		sure;			/* of `times` and the members' times, as
								 * GcScanShape.selection_sure */
} GcFusedKind;

/* The scan shapes that came for one heap's chunks. */
typedef struct GcScanSet
{
	u32			scan;
	Oid			dbid;			/* of the table */
	Oid			relid;
	bool		hot;			/* no page is in a chunk of the heap, and all chunks are read */
	u64			state_id;		/* of its directory then, else the heap_id of its directories */
	bool		described;		/* the newest decision knows requests of it */
	uint64		last_used;		/* number of a decision */
	int			users;			/* runs with a scan shape of it */
	uint64		requests;		/* requests that could have shared a scan */
	int			nshapes;
	GcScanShape *shape[GC_MAX_SCAN_SHAPES];
	GcFusedKind	by_kind[GC_MEMBER_KINDS];
	GcSetColumn *column;		/* one for each of the directory's columns */
	int			ncolumns;
	bool		selection_dirty;	/* as GcFusedKind.dirty, for selection kernels */
	GcFused    *selector;
	GcFused    *selector_pending;
	bool		selection_asked;	/* kernels were asked for, and not all of them are there
									 * yet */
	bool		key_groups_on;	/* whether key groups were enabled last time */
	double		rows;			/* of the table */
	u64			sel_bitmap_bytes;	/* of one request's selection bitmap */
} GcScanSet;

/* Are there shared scans at all? */
extern bool gc_scan_sets_on(void);

extern void gc_scan_sets_init(void);

/* The worker ends, and the device is closed: give back all that outlives both. */
extern void gc_scan_sets_abandon(void);

/*
 * Sets beyond those that one decision can know are of tables that are scanned in turn.  The set that was not used for
 * the longest time, and has no users, makes room for a new one.
 */
#define GC_MAX_SCAN_SETS	(2 * GC_MAX_CANDIDATES)

/* Places of scan sets: no place from here on has had a set. */
extern int	gc_scan_set_places(void);

/* A scan set by its place; NULL: there is none. */
extern GcScanSet *gc_scan_set(int place);

/*
 * The scan shape of a run whose kernels are ready, made if need be.  The first call counts the
 * run.  NULL: the run scans no directory's chunks, or there are too many sets or scan shapes.
 */
extern GcScanShape *gc_scan_shape_of(GcRun *run);

/* The run no longer uses its scan shape. */
extern void gc_scan_shape_leave(GcRun *run);

/* The scan shape cannot be in selection scans: drop its kernels for them. */
extern void gc_selection_forget_shape(GcScanShape *s);

/* Which kind of members the scan shape gets, if any. */
extern GcMemberKind gc_scan_shape_bodies(const GcScanShape *s);

/* Look once more whether there is a better fused kernel for the scan shape. */
extern void gc_scan_shape_dirty(const GcScanShape *s);

#endif							/* GC_SCAN_SET_H */
