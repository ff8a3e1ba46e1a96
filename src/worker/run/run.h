/*-------------------------------------------------------------------------
 *
 * run.h
 *	  A request being executed; shared by run.c (its states and results) and launch.c
 *	  (what is queued on the device for it), private to them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_H
#define GC_RUN_H

#include "../worker.h"

typedef enum RunState
{
	RUN_COMPILING,
	RUN_WAITING,
	RUN_READY,
	RUN_RUNNING,
	RUN_FETCHING,
	RUN_FINISHED
} RunState;

/*
 * A launch of a main kernel: one request's, or a shared scan's.  It goes with the last
 * of the requests that it answers.
 */
typedef struct GcMainLaunch
{
	int			users;			/* requests, and who is about to start it */
	int			runs;			/* requests among them */
	GcMark	   *computed;		/* of a shared scan: just behind the kernel */
	GcShape		shape;
	int			registers;
	u32			shared_bytes;
	bool		whole_shared;	/* as GcLaunch's */
	u32			scan;			/* number of its table's scan, as in GcItem */
	bool		fused;			/* a shared scan, fused or marked */
	bool		marked;
	bool		marks_done;		/* marked: its marks, when they were last looked at */
	instr_time	marks_seen;		/* when they were found done */
	struct GcFused *kernel;		/* of a shared scan */
	u32			bodies;			/* of it that take part */
	GcAddr		marks;			/* marked: tables, then marks */
	u32			columns;		/* marked: that its requests test, one bit each */
	double		total_us;		/* marked: until the last request so far was done */
	double		begin_us[GC_MAX_MARKED];	/* marked: until each one's own kernel began, by */
	double		end_us[GC_MAX_MARKED];	/* scan_member, and until it ended; 0: not known */
	u64			began_ns;		/* when it began, by the device's clock; 0: not known */
	float		kernel_us;		/* and how long it took; marked: the marks */
	struct GcScanShape *shapes[GC_MAX_MARKED];	/* marked: its requests' */
	struct GcClassed *classed[GC_MAX_TESTED];	/* marked: by the marker's columns, what it
												 * reads the classes of, or NULL */
	u32		   *misfits;		/* marked: per such column, whether it did not */
	struct GcRecords *records;	/* marked: that its requests read, or NULL */
	GcAddr		sources;
	GcAddr		memory;			/* of a shared scan: its sources */
	void	   *staging;		/* their copy on the host */
	Size		staging_size;
	u32			ntiles;
	u32			first_tile;
	double		predicted_us;
	double		alone_us;		/* of its first request's own kernel */
	instr_time	started;		/* by the worker's clock */
	double		issue_share;	/* as GcStart's */
	double		shared_us;		/* as GcStart's; 0: nothing can be learned of issue */
	int			members;		/* requests that it answers */
	u32			number;			/* within its batch */
	bool		alone;			/* nothing else was on the device while it ran */
	bool		undisturbed;	/* nothing but its batch was */
	double		among;			/* GcSchedule's; 0: it began on an idle device */
	double		left_us;		/* of a shared scan: as GcStart's */
	double		left;			/* GcSchedule's then */
	bool		learned;		/* the cost model has heard of it */
} GcMainLaunch;

struct GcRun
{
	int			slot;
	GcRequest  *request;
	GcProgram  *p;
	GcPPipeline *main;
	RunState	state;
	GcError		err;
	TimestampTz taken;
	TimestampTz ready;
	GcPipelineKernel **kernels;
	bool	   *fresh;			/* per pipeline: kernel was asked for by this request */
	GcTable   **tables;			/* per column */
	GcBuildTable **builds;		/* per build */
	GcStream   *stream;
	GcMark	   *began;			/* before its first copy of a chunk; NULL: there was none */
	GcMark	   *copied;			/* behind those, before it builds; NULL: it did neither */
	GcMark	   *built;			/* behind its builds; NULL: there were none */
	GcMark	   *prepared;		/* as gc_run_prepared's; NULL: nobody has asked */
	float		main_us;		/* from the launch's start to where its rows were read, once
								 * it is done; 0: not known */
	GcMark	   *done;
	GcMainLaunch *launch;
	struct GcBatch *batch;		/* it was started in */
	int			batch_entry;	/* its place in the batch's record; -1: not kept */
	u32			scan;			/* number of its table's scan, as in GcItem; 0: none */
	int			scan_member;	/* of its shared scan, this one */
	struct GcScanShape *scan_shape; /* its kernel's place among those of the table */
	bool		scan_asked;		/* whether it has one was asked */
	GcAddr		test_bits;		/* for a marked scan; 0: it cannot be in one */
	int			marks_refused;	/* a marked scan seemed not to be worth it with so many here;
								 * 0: it did not yet */
	GcTestValue *tests;			/* per tested column */
	GcTestValue *places;		/* per build: of those that its tester places */
	bool		classes_seen;	/* its tests have nothing new for the columns' classes */
	GcAddr		marks;			/* once it is in one: as GC_ARG_MARKS's parts */
	u64			marks_bytes;
	GcAddr		digest;
	int			marks_bit;
	GcAddr	   *records;		/* then: per column of p, GcCols of records, or 0; or NULL */
	bool		released;		/* from gpuconc.debug_hold_requests */
	GcAddr		device_part;
	GcAddr		relocated;		/* base that the device part's addresses contain */
	bool		device_part_owned;
	GcAddr		sink;			/* GC_FLAGS_ROOM, then the main sink's memory */
	GcAddr		groups;
	GcAddr		group_slots;
	GcAddr		group_keys;
	GcAddr		rows;
	bool		gather;			/* existing groups of a dense table are gathered */
	GcAddr		gathered;		/* their words; their numbers go to group_keys */
	u64			sink_zero;		/* bytes from sink on to be zeroed */
	u32		   *flags;			/* of the main kernel, on the host; times behind them */
	GcResult   *result;
	GcRun	   *leader;			/* whose result this one waits for */
	List	   *followers;		/* GcRun: they get copies of the result */
	u64			early;			/* groups fetched with the first copy */
	u32			delivers;		/* words, from the flags on, that its kernel can bring to the host
								 * by itself; 0: copies do */
	bool		delivered;		/* and does so, as launched */
	MemoryContext cxt;
};

/* launch.c; each queues on the run's stream, running: requests on the device. */
extern GcCode gc_run_upload(GcRun *run);
extern GcCode gc_run_allocate(GcRun *run);
extern GcCode gc_run_upload_columns(GcRun *run, int pipeline);

/* Column c of an input, for what is queued on the stream next, whether the run's kernels read it or not. */
extern GcCode gc_run_have_column(GcRun *run, int input, int c, GcStream *stream, GcError *err);
extern GcCode gc_run_builds(GcRun *run, int pipeline);

/*
 * Launch a pipeline's kernel k over sources first .. first + n - 1 of its input, from
 * tile first_tile on.
 */
typedef struct GcScanPart
{
	u32			first;
	u32			n;
	u32			first_tile;
	bool		timed;			/* note behind the flags when it ran */
	GcAddr		before;			/* as GcScan's */
	bool		whole_shared;	/* as GcLaunch's */
	bool		last;			/* nothing comes to the sink behind it: it delivers the result, if it can */
} GcScanPart;
extern GcCode gc_run_launch(GcRun *run, int pipeline, const GcPipelineKernel *k, const GcShape *shape,
							const GcScanPart *part, GcAddr flags);
extern u64	gc_run_shared_bytes(const GcRun *run, const GcVariant *variant);

/* Blocks of the kernel in this block size that a multiprocessor can hold; asked once. */
extern int	gc_run_occupancy(GcPipelineKernel *k, int threads, u64 shared_bytes);
extern void gc_run_arg_source(const GcRun *run, GcArgSource *src);
extern GcCode gc_run_launch_compactor(GcRun *run);

/* demand.c */
/*
 * What the run's main kernel asks for.  What of its time is no reading is not
 * known before it was resident with others: then little enough is assumed to have it tried.
 */
extern GcOption gc_describe_option(const GcRun *run, GcPipelineKernel *k, double alone_us);

/*
 * What the run's main kernel streams and looks up, as far as sched/policy/coresident.h wants to know.
 * Nothing, as long as its time alone is a guess: then nobody knows what bounds it.
 */
extern void gc_describe_loads(const GcRun *run, const GcPipelineKernel *k, GcItem *item);

/* run.c: start a READY run's own main kernel, in this shape. */
extern GcCode gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcShape *shape, u32 first_tile);

/* meter.c: as GcSchedule's. */
extern double gc_meter_together(void);
extern double gc_meter_load(void);

/* Once in each turn: is there a request on the device from now on? */
extern void gc_meter_occupied(bool occupied);

/* How slow the thread is, and how much of its time counts (cost.h). */
extern double gc_meter_slowness(void);
extern double gc_meter_pressure(void);

/* What is on the device has changed: so many requests by their own kernels, and others. */
extern void gc_meter_turn(int own, int others);

/* A request's own kernel is done, which takes so long alone. */
extern void gc_meter_ran(double alone_us);
extern void gc_meter_started(const GcMainLaunch *launch);

/* The worker's thread was at work for so long, not waiting. */
extern void gc_meter_busy(double us);

/*
 * Are n requests predicted to take less time in a marked scan of scan_us than by kernels of
 * their own, which one after another take own_us?
 */
extern bool gc_meter_marks_pay(int n, double scan_us, double own_us);

/* marked.c */
extern void gc_marked_test(GcRun *run, int others);

/*
 * Behind what is queued before the main kernel, for others to wait for: a mark, NULL if
 * the device gives none (run->err).  Not to be kept: more may come to be queued.
 */
extern GcMark *gc_run_prepared(GcRun *run);

/* More was queued. */
extern void gc_run_not_prepared(GcRun *run);

/* Queue what comes behind the main kernel; the run is then RUNNING. */
extern GcCode gc_run_queue_result(GcRun *run);

/* It could not be started: it ends with run->err once the device is quiet. */
extern void gc_run_fail_start(GcRun *run);

/* A shared scan that it was to be in cannot be: it is READY for its own kernel. */
extern void gc_run_unstart(GcRun *run);
extern void gc_main_launch_release(GcMainLaunch *launch);

/* What only its kernel needed, and its requests are done with, is given back. */
extern void gc_main_launch_strip(GcMainLaunch *launch);

/* Tiles of the main pipeline's scan. */
extern u32	gc_run_ntiles(const GcRun *run);

/* Does the result come as groups with keys (or numbers), in no order? */
extern bool gc_run_keyed(const GcRun *run);

/* 64-bit words of such a key. */
extern int	gc_run_key_words(const GcRun *run);

#endif							/* GC_RUN_H */
