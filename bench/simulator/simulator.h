/*-------------------------------------------------------------------------
 *
 * simulator.h
 *	  What would run when and where: CUDA's block scheduler, as Li, Yu, Kumar, Tu 2014 found it.
 *
 * A discrete-event simulation of kernels in streams on any device of profile.h.  It
 * follows the three disciplines of Li, Yu, Kumar, Tu 2014, section IV.B:
 *
 * 1. Blocks of a kernel are spread over as many multiprocessors as possible.  A
 *	  block goes to the multiprocessor that holds the fewest blocks of its kernel; of those to
 *	  the one where the most further blocks would fit, then to that with the fewest warps, then
 *	  to the first.  (The paper says no more than the first of these; the rest makes the outcome
 *	  certain.)
 * 2. A block starts as soon as its warps, registers, shared memory and block slot are free,
 *	  whatever else its multiprocessor goes on with.
 * 3. Without Hyper-Q there is one hardware queue.  No block of a kernel is scheduled
 *	  before all blocks of the kernels in front of it are.  With Hyper-Q a kernel
 *	  waits for no other stream; when blocks of several kernels would fit, the kernel
 *	  goes first that was ready first (its predecessor in its stream had ended), then
 *	  the one of the stream with the higher rank.
 *
 * Kernels of one stream run one after another: a kernel begins when the one before it
 * has ended.  Streams rank by arrival, then by their place in the workload.
 *
 * Order of issue.  The queue of discipline 3 is filled depth-first: all kernels of the
 * first stream, then all of the second (A1 B1 A2 B2 ...).  Figure 9 shows that.
 * In its phase I there is room for A2 beside A1, but none starts: B1 stands before
 * A2 in the queue, and B1 itself waits for A1 to end.  Had kernels been issued
 * breadth-first (A1 A2 A3 A4 B1 ...), A2 would have started at once.  Depth-first is
 * also the letter of the discipline: streams of higher rank first.  Breadth-first can
 * be asked for, because programs may issue so; it changes nothing with Hyper-Q.
 *
 * Not modelled: the limit of 16, 32 or 128 kernels at a time, the cost of launches,
 * and what blocks take from each other, unless the caller gives a speed function.
 *
 * Times are microseconds since the beginning of the simulation, which is at 0.
 *
 * Pure functions; no state but in GcSimWork, which one caller at a time may use.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SIMULATOR_H
#define GC_SIMULATOR_H

#include "../../src/sched/model/profile.h"

#define GC_SIM_MAX_SMS		256
#define GC_SIM_MAX_KERNELS	256	/* of all streams */
#define GC_SIM_MAX_STREAMS	256
#define GC_SIM_MAX_RESIDENT	16384	/* block slots of the device */
#define GC_SIM_MAX_BLOCKS	(1 << 20)	/* of a kernel */
#define GC_SIM_MAX_PARTS	16384	/* of all phases */
#define GC_SIM_MAX_US		1e12	/* of a block, and of an arrival */
#define GC_SIM_MIN_SPEED	1e-9
#define GC_SIM_MAX_SPEED	1e9

typedef enum GcSimStatus
{
	GC_SIM_OK = 0,
	GC_SIM_BAD_PROFILE,			/* gc_profile_problem says what */
	GC_SIM_BAD_STREAM,			/* its arrival, or its list of kernels */
	GC_SIM_BAD_KERNEL,			/* no blocks or threads, no time, negative needs */
	GC_SIM_NO_FIT,				/* no multiprocessor can hold a block of a kernel */
	GC_SIM_BAD_SPEED,			/* the speed function's answer is out of range */
	GC_SIM_TOO_LARGE			/* one of the bounds above */
} GcSimStatus;

/* A kernel; block_us is a block's time at speed 1. */
typedef struct GcSimKernel
{
	int			registers;		/* per thread */
	int			threads;		/* per block */
	int			shared_bytes;	/* per block */
	uint32_t	blocks;
	double		block_us;
} GcSimKernel;

typedef struct GcSimStream
{
	int			nkernels;		/* may be 0 */
	const GcSimKernel *kernels;
	double		arrival_us;		/* when all of them are issued */
} GcSimStream;

/*
 * Kernels have numbers: those of the first stream from 0, then those of the second,
 * and so on.  "kernel" means that number wherever a stream is not named.
 */
typedef struct GcSimEvent
{
	double		us;
	bool		start;			/* or end, of a block */
	int			kernel;
	int			sm;
	uint32_t	block;			/* of its kernel, from 0, in order of their starts */
} GcSimEvent;

/*
 * Called for every start and every end of a block, in order of time; at one time ends
 * come before starts.
 */
typedef void (*GcSimEventFn) (void *arg, const GcSimEvent *event);

/*
 * Speeds of the kernels that have blocks on the device, relative to running at
 * block_us.  resident[k]: blocks of kernel k that are on the device now.  speed[k] is
 * 1 when called; of kernels without resident blocks it is not looked at.  Called
 * whenever resident has changed; must answer the same for the same.
 */
typedef void (*GcSimSpeedFn) (void *arg, int nkernels, const uint32_t *resident, double *speed);

typedef struct GcSimWorkload
{
	int			nstreams;
	const GcSimStream *streams;
	bool		breadth_first;	/* order of issue of the streams of one arrival */
	GcSimEventFn event;			/* or NULL */
	void	   *event_arg;
	GcSimSpeedFn speed;			/* or NULL: always 1 */
	void	   *speed_arg;
} GcSimWorkload;

typedef struct GcSimSpan
{
	int			stream;
	int			index;			/* in its stream */
	double		start_us;		/* of its first block */
	double		end_us;			/* of its last block */
} GcSimSpan;

typedef struct GcSimResult
{
	int			nkernels;
	GcSimSpan	kernels[GC_SIM_MAX_KERNELS];
	double		makespan_us;	/* when the last kernel ended */
	double		mean_warps;		/* on the whole device, from 0 to then */
	int			culprit;		/* kernel or stream of a status that is about one; else -1 */
} GcSimResult;

/* A kernel in a phase. */
typedef struct GcSimPart
{
	int			kernel;
	int			sms;			/* that held blocks of it, at most at one time */
	uint32_t	blocks;			/* resident, at most at one time */
	uint32_t	started;		/* blocks that started in the phase */
} GcSimPart;

/* As in the paper, a phase begins at 0 and whenever a kernel ends (figures 6, 7, 9). */
typedef struct GcSimPhase
{
	double		start_us;
	double		end_us;
	int			first_part;
	int			nparts;			/* kernels that ran in it, by number */
} GcSimPhase;

typedef struct GcSimPhases
{
	int			nphases;
	int			nparts;
	GcSimPhase	phases[GC_SIM_MAX_KERNELS];
	GcSimPart	parts[GC_SIM_MAX_PARTS];
} GcSimPhases;

/* Resources of a multiprocessor, or what a block takes of them. */
typedef struct GcSimUse
{
	int			warps;
	int			blocks;
	int			registers;
	int			shared;
} GcSimUse;

/* Private to simulator.c; the caller gives room for it (some 550 kB), nothing else. */
typedef struct GcSimWork
{
	struct GcSimState
	{
		const GcSimKernel *kernel;
		GcSimUse	needs;
		double		arrival_us;
		uint32_t	waiting;	/* blocks not yet scheduled */
		int			sms;		/* that hold blocks of it now */
		double		progress;	/* us at speed 1 since its first block started */
		int			oldest;		/* its resident blocks, in order of start; -1: none */
		int			newest;
		GcSimPart	part;		/* of the phase now running */
	}			kernels[GC_SIM_MAX_KERNELS];
	int			order[GC_SIM_MAX_KERNELS];	/* of issue */
	uint32_t	resident[GC_SIM_MAX_KERNELS];
	double		speed[GC_SIM_MAX_KERNELS];
	GcSimUse	used[GC_SIM_MAX_SMS];
	uint16_t	held[GC_SIM_MAX_KERNELS][GC_SIM_MAX_SMS];	/* blocks of k on sm */
	struct GcSimBlock
	{
		double		due;		/* its kernel's progress at its end */
		int			sm;
		uint32_t	number;
		int			next;		/* of its kernel, or of the free ones; -1: none */
	}			blocks[GC_SIM_MAX_RESIDENT];
	int			free_block;
} GcSimWork;

/*
 * Simulate a workload.  Bad input gives a status; *result then says who the culprit
 * is, and nothing else.  phases may be NULL.  Same input, same outcome.
 */
extern GcSimStatus gc_simulate(const GcProfile *profile, const GcSimWorkload *load,
							   GcSimWork *work, GcSimResult *result, GcSimPhases *phases);

/* A status in words; static storage. */
extern const char *gc_sim_status_text(GcSimStatus status);

#endif							/* GC_SIMULATOR_H */
