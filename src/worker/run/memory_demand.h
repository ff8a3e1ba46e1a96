/*-------------------------------------------------------------------------
 *
 * memory_demand.h
 *	  Device memory that requests take, and which of them may begin.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MEMORY_DEMAND_H
#define GC_MEMORY_DEMAND_H

#include "../../queue/queue.h"
#include "main_launch.h"

/* The phases of a request, of which each has its demand for admission. */
typedef enum GcRunDemand
{
	GC_DEMAND_WHOLE,			/* until its main kernel is launched */
	GC_DEMAND_MAIN,
	GC_DEMAND_FETCHING,
	GC_NDEMANDS
} GcRunDemand;

/* A request's demand for device memory (admission.h). */
typedef struct GcRunClaim
{
	bool		admitted;
	uint64_t	refused_at;		/* as gc_admission_ask's */
	u64			refused_change; /* no use to ask again before something has changed */
	u64			demand[GC_NDEMANDS];
	u64			bytes;			/* that it allocates beside its columns, as it was when it asked to be admitted */
	u64			missing;		/* of its columns, those that were not in device memory then */
	u64			state_bytes;	/* of `bytes`, tables of pipelines before the main one that are not there yet */
} GcRunClaim;

/* Where a pipeline's sink is.  The main pipeline's lies in the run's sink; others have their own. */
typedef struct GcSinkMemory
{
	GcAddr		memory;			/* flags first; 0: nothing is there, or not yet */
	GcAddr		groups;
	GcAddr		group_slots;
	GcAddr		group_keys;
	GcAddr		rows;
	GcAddr		windows;		/* scratch of windows over the rows */
	u64			zero;			/* bytes to be zeroed */
} GcSinkMemory;

/* Sizes in device memory are rounded up to this. */
static inline u64
gc_sink_align(u64 n)
{
	return (n + 255) & ~(u64) 255;
}

/* Lay out a pipeline's sink behind its flags, which are at `memory`; returns the bytes of all. */
extern u64	gc_lay_out_sink(const GcRequest *request, int pipeline, GcAddr memory, GcSinkMemory *sink);

/* Memory behind the main pipeline's sink, for groups that are chosen or collected. */
typedef struct GcChosenMemory
{
	u64			top;			/* bytes of GC_TOP_BYTES, or 0 */
	u64			words;
	u64			keys;
} GcChosenMemory;

extern GcChosenMemory gc_chosen_memory(const GcRequest *request, bool gather, bool choose);

/* Device memory for a build; for a sink other than a build; for all of the request; for columns. */
extern u64	gc_bytes_of_build(const GcRequest *r, int b);
extern u64	gc_bytes_of_sink(const GcRequest *r, int pipeline, bool gather, bool choose);
extern u64	gc_bytes_of_request(const GcRequest *r, bool gather, bool choose);
extern u64	gc_bytes_of_waves(const GcRequest *r);

/* Operator state that is still to be allocated when a request has its own part and its main sink. */
extern u64	gc_run_state_bytes(const GcRun *run);

/* About the bytes of a request's columns that are not in device memory. */
extern u64	gc_run_missing_bytes(const GcRun *run);

/* Another turn: requests that wait ask in order, the oldest first. */
extern void gc_admission_turn(void);

/* May a request that waits begin to have data in device memory? */
extern bool gc_run_admit(GcRun *run);

/* An admitted request has no more in device memory; failed: it found too little, and waits again. */
extern void gc_run_leave_admitted(GcRun *run, bool failed);

/* The request takes less from now on: its builds are done, or its main kernel is. */
extern void gc_run_takes_less(const GcRun *run);

extern void gc_admission_init(void);

#endif							/* GC_MEMORY_DEMAND_H */
