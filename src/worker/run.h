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

#include "worker.h"

typedef enum RunState
{
	RUN_COMPILING,
	RUN_WAITING,
	RUN_RUNNING,
	RUN_FETCHING,
	RUN_FINISHED
} RunState;

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
	GcMark	   *began;
	GcMark	   *copied;
	GcMark	   *computed;
	GcMark	   *done;
	GcAddr		device_part;
	GcAddr		relocated;		/* base that the device part's addresses contain */
	bool		device_part_owned;
	GcAddr		sink;			/* flags, then the main sink's memory */
	GcAddr		groups;
	GcAddr		group_slots;
	GcAddr		group_keys;
	GcAddr		rows;
	bool		gather;			/* existing groups of a dense table are gathered */
	GcAddr		gathered;		/* their words; their numbers go to group_keys */
	u64			sink_zero;		/* bytes from sink on to be zeroed */
	u32		   *flags;			/* of the main kernel, on the host */
	GcResult   *result;
	GcRun	   *leader;			/* whose result this one waits for */
	List	   *followers;		/* GcRun: they get copies of the result */
	u64			early;			/* groups fetched with the first copy */
	MemoryContext cxt;
};

/* launch.c; each queues on the run's stream, running: requests on the device. */
extern GcCode gc_run_upload(GcRun *run);
extern GcCode gc_run_allocate(GcRun *run);
extern GcCode gc_run_upload_columns(GcRun *run, int pipeline);
extern GcCode gc_run_builds(GcRun *run, int pipeline, int running);
extern GcCode gc_run_launch(GcRun *run, int pipeline, GcAddr flags, int running);
extern GcCode gc_run_launch_compactor(GcRun *run);

/* Does the result come as groups with keys (or numbers), in no order? */
extern bool gc_run_keyed(const GcRun *run);

/* 64-bit words of such a key. */
extern int	gc_run_key_words(const GcRun *run);

#endif							/* GC_RUN_H */
