/*-------------------------------------------------------------------------
 *
 * fused.h
 *	  Shared scans: what is known of the shapes that recur over a table, and the kernels
 *	  that scan it for several of them.
 *
 * Private to worker/.  There are two kinds: fused scans (fused.c, shared_scan.c), where
 * the requests' bodies stand in one kernel, and marked scans (marked.c, marked_scan.c),
 * where one kernel tests for all, and each request's own visits the rows that pass.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_H
#define GC_FUSED_H

#include "../run/run.h"

#define GC_MAX_FUSED_KERNELS	(GC_MAX_SCAN_SETS * (GC_BODY_KINDS + 1))	/* one of each kind of bodies, and a marker */

#define GC_MAX_SCAN_SHAPES	64	/* of one set; others never share */

/* A shape recurs once it came so often. */
#define GC_SHAPE_RECURS		2

/*
 * What a request adds to a marked scan, of its time alone, as long as it is not known: on
 * an H200 1 in 100 rows is left, and visiting them takes a fifth.
 */
#define GC_MARKED_PART		0.2

/*
 * What a fused kernel's bodies have in common: sums of all rows that pass, where registers
 * are for bodies; or a table of groups each in shared memory, where threads are for groups; or
 * sums of what is left by ranges that are tested for all bodies at once.
 */
typedef enum GcBodyKind
{
	GC_SUM_BODIES,
	GC_GROUP_BODIES,
	GC_SET_BODIES,
	GC_BODY_KINDS,
	GC_NO_BODIES = GC_BODY_KINDS	/* it takes less time by its own kernel */
} GcBodyKind;

/* A main kernel's shape over a directory. */
typedef struct GcScanShape
{
	struct GcScanSet *set;
	GcProgram  *p;				/* a copy */
	u16			pipeline;
	i16		   *columns;		/* directory's column per column of p, or -1 */
	GcVariantDemand demand;		/* of its first request */
	GcBodyKind	kind;
	uint64		uses;
	int			wanted;			/* bodies: most requests of it that were ready at once */
	int			counting;		/* of the decision now being made */
	double		marginal_us;	/* what one more body adds to a scan; 0: not known */
	bool		asked;			/* for the two kernels below */
	GcTests		tests;			/* no column: it cannot be in a marked scan */
	GcPipelineKernel *tester;
	GcPipelineKernel *marked;	/* its own kernel, without the tests */
	double		marked_us;		/* what that takes in a marked scan; 0: not known */
	bool		marked_sure;	/* seen where nothing else was on the device */
} GcScanShape;

typedef struct GcFused
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	GcCachedKernel *entry;
	GcKernel   *kernel;			/* NULL until ready */
	GcKernelInfo info;
	GcHash		hash;
	int			n;				/* bodies */
	GcScanShape *shape[GC_MAX_FUSED];
	GcFusedMember member[GC_MAX_FUSED];
	int			nphysical;
	i16			physical[GC_MAX_COLUMNS];	/* directory's column of each */
	GcFusedWord *words;
	int			nwords;
	int			number;			/* of gc_fused_kernels */
	GcBodyKind	kind;
	int			threads;		/* of a block */
	bool		marker;			/* not bodies, but a marker; the physical columns are
								 * those that it tests: */
	GcMarkerColumn column[GC_MAX_TESTED];
	u64			entries[GC_MAX_TESTED]; /* for which the column's table has room */
	u32			shared_bytes;	/* of tables in shared memory */
	GcScanTimes times;			/* of a marker, before what each member adds */
} GcFused;

/* Attributes that a column's values are classed by. */
#define GC_MAX_ATTRIBUTES	16

/* A column of another table's directory; -1: whether it has a row at all. */
typedef struct GcAttribute
{
	Oid			dbid;
	Oid			relid;
	u64			dir_id;
	i16			column;
} GcAttribute;

/*
 * A column that the device derives from another (derived.c).  All 0: there is none now.
 * Never changed, but for chunks that are written as they are first read.
 */
typedef struct GcDerived
{
	u32			nchunks;
	GcAddr	   *place;			/* of each chunk's codes */
	GcAddr		cols;			/* GcCol[2 * nchunks]: to be read, and to be written next */
	GcCol	   *host;			/* the same on the host */
	u32			unwritten;		/* chunks */
	GcMark	   *ready;			/* behind the last chunk written */
} GcDerived;

/* Classes of a column's values, and its class column (classes.c). */
typedef struct GcClassed
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	u32			n;				/* classes */
	u8			width;			/* of the class column */
	GcAddr		classes;		/* u16[range + 1] */
	GcAddr		members;		/* u32[n], in the same piece of memory */
	GcAddr		data;			/* of all chunks; 0: there is no class column now */
	GcDerived	column;
} GcClassed;

/* Columns of a table's records. */
#define GC_MAX_RECORD_COLUMNS	16

/*
 * A table's records: of each row's columns, as many as have room, in the order in which they
 * were wanted (records.c).
 */
typedef struct GcRecords
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	GcAddr		data;			/* of all chunks */
	u32			taken;			/* bytes of a record, one bit each */
	int			ncolumns;
	struct
	{
		i16			dir_column;
		GcDerived	column;
	}			column[GC_MAX_RECORD_COLUMNS];
} GcRecords;

/* What there is to know of a directory's column before any row is read. */
typedef struct GcSetColumn
{
	i64			base;			/* smallest value */
	u64			range;			/* number of values from there on; 0: not for tables */
	u8			width;			/* of its codes; 0: differs between chunks */
	bool		nullable;
	GcClassed  *classed;		/* NULL: none so far */
	struct GcRefinement *refining;	/* NULL: none is under way */
	int			nattributes;	/* that it is or is being classed by, or cannot be */
	GcAttribute attribute[GC_MAX_ATTRIBUTES];
	u32			misfits;		/* scans, one after another, that they did not fit */
	bool		given_up;
} GcSetColumn;

/* The fused kernel of one kind of bodies. */
typedef struct GcBodies
{
	GcFused    *ready;
	GcFused    *pending;
	bool		failed;			/* a text was refused: do not try again */
	bool		news;			/* something recurs, or is wanted more often, than when
								 * it was last looked at */
	uint64		compile_at;		/* none is asked for before so many requests */
	GcScanTimes times;			/* before any body */
	bool		sure;			/* of that and the bodies' times, as GcScanShape.marked_sure */
} GcBodies;

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
	GcBodies	bodies[GC_BODY_KINDS];
	GcSetColumn *column;		/* by the directory's columns */
	int			ncolumns;
	bool		marks_news;		/* as GcBodies.news, for markers */
	GcFused    *marker;
	GcFused    *marker_pending;
	bool		marks_asked;	/* kernels that are not all there yet */
	bool		classes_on;		/* whether the setting was on last time */
	GcRecords  *records;		/* NULL: none */
	double		rows;			/* of the table */
	u64			marks_bytes;	/* of one request's marks */
} GcScanSet;

/* The sets of scans, by place, below GC_MAX_SCAN_SETS; NULL: none is there (scan_set.c). */
#define GC_MAX_SCAN_SETS	32

extern GcScanSet *gc_scan_set(int place);

/* The set of a run's scan, made if need be; NULL: all places are in use. */
extern GcScanSet *gc_scan_set_of(const GcRun *run);

/* The run's shape, made if need be; NULL: the set has too many. */
extern GcScanShape *gc_scan_set_shape(GcScanSet *set, const GcRun *run);

/* Give up the set's hold on a kernel; it goes with its last launch. */
extern void gc_fused_drop(GcFused *f);

/*
 * If the pending kernel is compiled, or will never be (*failed), it is pending no more: true,
 * and where it is ready, it takes the place of the one in use.
 */
extern bool gc_fused_take(GcFused **ready, GcFused **pending, bool *failed);

/*
 * In one decision, in this order: begin; describe every READY run that is not alone, which
 * counts its shape; kernels, which says of each item which one serves it, if any.  Returns
 * how many kernels there are.
 * improve asks for kernels that would serve them better: not between kernels and the start of
 * what was decided, since it may exchange one.  It writes texts, which takes longer than a
 * decision.
 */
extern void gc_fused_begin(void);
extern void gc_fused_describe(GcRun *run);
extern void gc_fused_improve(void);
extern int	gc_fused_kernels(GcFusedKernel *kernels, GcFused **which, GcRun *const *runs,
							 GcItem *items, int nitems);

/* The shape of a run whose kernels are ready, which is thereby counted; NULL: none. */
extern GcScanShape *gc_fused_shape(GcRun *run);

/* To be called often: has a fused kernel come that was asked for? */
extern bool gc_fused_poll(void);

/* Is a kernel being made for its table's shared scans? */
extern bool gc_fused_pending(const GcRun *run);

/*
 * shared_scan.c, marked_scan.c: start a shared scan by this kernel.  Its requests are
 * RUNNING then; where that failed, FINISHED with an error each.
 */
extern void gc_fused_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);
extern void gc_marked_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);
extern GcHash gc_fused_hash(const GcFused *fused);
extern void gc_fused_learn(const GcMainLaunch *launch, double time_us);

/* It goes otherwise; its own kernel takes so long alone.  A fused scan of several seemed slower. */
extern void gc_fused_refused(const GcRun *run, double alone_us);

/* A launch of it, or a run with a shape among its, ends. */
extern void gc_fused_release(GcFused *fused);
extern void gc_fused_forget(GcRun *run);

/*-------------------------------------------------------------------------
 * marked.c
 *-------------------------------------------------------------------------
 */

/* Ask for what the set's shapes need for marked scans; has any of it come? */
extern void gc_marked_improve(GcScanSet *set);
extern bool gc_marked_poll(GcScanSet *set);
extern bool gc_marked_pending(const GcScanSet *set);
extern void gc_marked_forget_shape(GcScanShape *s);
extern void gc_set_columns(GcScanSet *set, const GcDirectory *dir);
extern void gc_marked_forget_set(GcScanSet *set);
extern bool gc_marked_evict(GcScanSet *set);

/* Requests that one scan may serve, so that their marks have room. */
extern int	gc_marked_most(const GcScanSet *set);

/* May the run be a member of a marked scan by the set's marker? */
extern bool gc_marked_can(const GcRun *run);
/* Columns of the marker that it tests, one bit each. */
extern u32	gc_marked_columns(const GcRun *run);
/* What a request of the shape adds to a scan's time. */
extern double gc_marked_adds(const GcScanShape *s);
extern void gc_marked_learn(GcMainLaunch *launch, double marks_us);

/* These n requests, whose tests were ready, go by their own kernels, which seemed faster. */
extern void gc_marked_refused(GcRun *const *runs, int n);

/*-------------------------------------------------------------------------
 * shared_scan.c: what both kinds have in common
 *-------------------------------------------------------------------------
 */

/* The members of one launch: body of each, and its place among the sources. */
typedef struct GcScanMembers
{
	GcMainLaunch *launch;
	GcFused    *f;
	int			n;
	GcRun	   *run[GC_MAX_MARKED];
	int			body[GC_MAX_MARKED];
	const GcSource *sources[GC_MAX_MARKED];	/* of its cached chunks */
	u32			nsources[GC_MAX_MARKED];
	bool		partly_visible[GC_MAX_MARKED];
	u32			nunion;
	u32			max_rows;
	u64			starts[GC_MAX_MARKED];	/* by body */
	GcError    *err;
} GcScanMembers;

extern void gc_scan_begin(GcScanMembers *scan, GcMainLaunch *launch, GcFused *f,
						  const GcStart *start, GcRun *const *runs, GcError *err);

/*
 * Put the merged sources where the device reads them, launch->sources, with `more` bytes
 * behind them, launch->staging + *at on the host, which `fill` writes; visible: address
 * of each member's valid words, or NULL.
 */
extern GcCode gc_scan_upload(GcScanMembers *scan, u64 *visible, Size more, Size *at,
							 void (*fill) (GcScanMembers *scan, void *to, void *arg), void *arg);
extern GcScan gc_scan_args(const GcScanMembers *scan);
extern GcCode gc_scan_private(GcRun *run);

/* Have the scan, on its first member's stream, wait for what is queued for member m. */
extern GcCode gc_scan_wait(GcScanMembers *scan, int m);

/* Where the description of the directory's column is. */
extern u64	gc_scan_column(const GcScanMembers *scan, i16 dir_column);

/*
 * End of a start: code is its outcome, `follow` queues what comes behind for member m.
 */
extern void gc_scan_started(GcScanMembers *scan, GcCode code,
							GcCode (*follow) (GcScanMembers *scan, int m));

/*-------------------------------------------------------------------------
 * classes.c
 *-------------------------------------------------------------------------
 */

/* Has a column enough values for classes to be worth while? */
extern bool gc_classes_worth(const GcSetColumn *column);

/*
 * A READY run whose shape can be in marked scans: refine classes by what it tests of other
 * tables, if that is new.  False: the run failed.  gc_classes_poll: has a refinement ended?
 */
extern bool gc_classes_look(GcRun *run);

/*
 * A scan that might have read the column by its classes is over.  True: they are given up,
 * and markers do better without.
 */
extern bool gc_classes_learn(GcSetColumn *column, bool misfit);
extern bool gc_classes_poll(GcSetColumn *column);

/*
 * Have the scan read the marker's column k by classes, if there are any: the launch holds
 * them (launch->classed) until gc_classed_release.  gc_classes_write, once no failure can mean
 * that nothing was launched: queue the writing of what it needs of the class column; source
 * and readers: of the column.
 */
extern void gc_classes_reserve(GcScanMembers *scan, int k);
extern GcCode gc_classes_write(GcScanMembers *scan, int k, GcAddr source, u32 readers);
extern void gc_classed_release(GcClassed *c);

extern void gc_classes_forget(GcSetColumn *column);

/* The worker ends, and the device is closed: give back what outlives both, in the arena. */
extern void gc_classes_abandon(GcSetColumn *column);
extern bool gc_classed_evict(GcSetColumn *column);

/*-------------------------------------------------------------------------
 * records.c
 *-------------------------------------------------------------------------
 */

/*
 * Have the scan's requests read records where they can: the launch holds them
 * (launch->records) until gc_records_release.  gc_records_write, once no failure can mean that
 * nothing was launched: queue the writing of what is missing.
 */
extern void gc_records_reserve(GcScanMembers *scan);
extern GcCode gc_records_write(GcScanMembers *scan);
extern void gc_records_release(GcRecords *r);

extern void gc_records_forget(GcScanSet *set);
extern bool gc_records_evict(GcScanSet *set);

/*-------------------------------------------------------------------------
 * derived.c
 *-------------------------------------------------------------------------
 */

/* Rows of all chunks, padding included. */
extern u64	gc_derived_rows(const GcDirectory *dir);

/*
 * Nothing is written yet.  width: of the codes, 0: that of the column they are derived from;
 * a row's is `stride` bytes behind that of the row before, the first chunk's first at `data`.
 * False: no memory to spare.
 */
extern bool gc_derived_lay_out(GcDerived *d, const GcDirectory *dir, u8 width, GcAddr data, u32 stride);
extern void gc_derived_free(GcDerived *d);

/*
 * Queue the writing, by kernel k, of the chunks that `readers` among the members read and that
 * are missing.  args: what k needs, but for w[1], the address of the GcCols to be written.
 */
extern GcCode gc_derived_write(GcScanMembers *scan, GcDerived *d, u32 readers, const GcPipelineKernel *k,
							   GcArgs *args, int nwords);

#endif							/* GC_FUSED_H */
