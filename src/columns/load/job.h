/*-------------------------------------------------------------------------
 *
 * job.h
 *	  Load jobs: the state that the participants of one load share.
 *
 * A job loads some columns of one relation, chunk by chunk.  It has a slot in
 * shared memory and, in the arena, a GcJobData.  Its participants are sessions,
 * which wait for its end, and loader workers, which only help.  There is one job
 * at a time per relation.
 *
 *		start ---> running ---(all chunks done, published)---> finished
 *		              |                                            |
 *		              +--(no room, relation forgotten)--> failed   |
 *		              |                                     |      |
 *		              +------(last participant leaves)------+------+---> free
 *
 * A chunk, or a part of a dictionary's files, is TODO, CLAIMED by one participant, and DONE once the participant has
 * handed in its columns.  A participant that leaves, for whatever reason, puts its claim back to TODO, and frees the
 * columns that it has in hand.  Publishing is one more thing to be claimed, after the last chunk.  The last participant
 * to leave frees the slot and everything that was not published.
 *
 * Lock: GC_LOCK_JOBS protects the slots and the states of chunks; the columns
 * and the results of a DONE chunk do not change any more.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_JOB_H
#define GC_JOB_H

#include "postgres.h"

#include "storage/condition_variable.h"

#include "../store/columns.h"
#include "../../status.h"

/* Loads that can go on at a time, each of another relation. */
#define GC_MAX_JOBS		64

/* A column's dictionary as files have it (disk.h). */
typedef struct GcKeptDict
{
	uint64		id;
	uint32		nvalues;		/* 0: there is none */
	uint32		nparts;
	Size		bytes;
} GcKeptDict;

typedef struct GcJobColumn
{
	GcColSpec	spec;
	int			base_col;		/* in the directory that the job began with, or -1 */
	GcColState *state;			/* the base's, or new */
	pg_atomic_uint32 problem;	/* GcColProblem, once a participant met one */
	GcEvidence	evidence;		/* of the problem, by the process that set it */
	bool		again;			/* had a problem, and is new for a retry */
	GcKeptDict	kept;			/* of a new one */
	uint32		parts_left;		/* of that, not read yet */
	bool		spoilt;			/* one of them could not be */
} GcJobColumn;

typedef enum GcChunkState
{
	GC_CHUNK_IDLE,				/* nothing to do: stays as it is */
	GC_CHUNK_TODO,
	GC_CHUNK_CLAIMED,
	GC_CHUNK_DONE
} GcChunkState;

typedef enum GcChunkResult
{
	GC_CHUNK_KEPT,				/* the base's, if it has one */
	GC_CHUNK_ADDED,				/* the base's, with cells for the new columns */
	GC_CHUNK_REPLACED,			/* a new one, with cells for all columns */
	GC_CHUNK_DROPPED			/* none: no page of it can be kept */
} GcChunkResult;

typedef struct GcJobChunk
{
	uint8		state;			/* GcChunkState */
	bool		full;			/* to be loaded anew, not only added to */
	uint8		result;			/* GcChunkResult, when DONE */
	int			owner;			/* process number of the participant that CLAIMED it */
	int32		base;			/* the chunk's number in the base, or -1; of a part: the column */
	uint32		first_page;		/* of a hot chunk to be loaded: its pages, in hot_pages; of a part: its number */
	uint32		npages;			/* whose rows the chunk will have, as was expected at the start */
	GcChunk    *chunk;			/* REPLACED */
} GcJobChunk;

/* A page to be put into a hot chunk: read, or copied from a hot chunk of the base. */
typedef struct GcJobHotPage
{
	BlockNumber block;
	int32		chunk;			/* of the base; -1: to be read */
	uint32		page;			/* of that chunk */
} GcJobHotPage;

typedef struct GcJobData
{
	GcObject	obj;
	GcDirectory *base;			/* the directory that the job began with, or NULL; see version */
	BlockNumber nblocks;		/* of the relation, at the start */
	int			ncols;
	uint32		nchunks;
	uint32		nheap;			/* of these, the others are hot chunks */
	uint32		nparts;			/* of dictionaries, behind chunks[] */
	GcJobHotPage *hot_pages;
	bool		published;		/* the results belong to the store now */
	GcJobColumn *cols;
	GcJobChunk *chunks;
	GcChunkColumn **cells;		/* new ones: nchunks * ncols */
} GcJobData;

typedef struct GcLoadJob
{
	bool		in_use;
	bool		finished;
	bool		publishing;		/* claimed */
	bool		background;		/* goes on though no session waits for it */
	uint64		serial;			/* of the use of this slot; never used again */
	GcRelKey	key;
	uint64		version;		/* of the relation's entry, at the start */
	TimestampTz since;			/* columns used later are not evicted */
	int			starter_pid;
	int			starter;		/* its process number; -1: it has left */
	TimestampTz started_at;
	int			nparticipants;
	int			nsessions;
	int			nworkers;		/* now */
	int			workers_seen;
	uint32		chunks_total;
	uint32		chunks_done;
	uint32		next;			/* no chunk before this one is TODO */
	uint32		next_part;		/* nor part */
	uint32		parts_done;
	uint64		pages_done;		/* npages of the chunks that are done */
	uint64		pages_read;
	uint32		pages_refused;	/* hot pages that could not be kept */
	Size		bytes;			/* of results handed in */
	GcError		err;			/* code is GC_OK unless failed */
	GcJobData  *data;
	ConditionVariable cv;		/* something was handed in, given up or finished */
} GcLoadJob;

/* Hot chunks after the load, behind the others; see load.c. */
typedef struct GcHotPlan
{
	uint32		nkept;
	int32	   *kept;			/* their numbers in the base */
	uint32	   *kept_pages;		/* and how many pages they have */
	uint32		npages;
	uint32		nunread;		/* of them, to be read */
	GcJobHotPage *pages;		/* of new hot chunks, ascending by block */
} GcHotPlan;

/* A load's plan, in local memory; see load.c. */
typedef struct GcLoadPlan
{
	GcDirectory *base;
	uint64		version;
	BlockNumber nblocks;
	uint32		nchunks;		/* of the heap; hot ones come behind */
	uint32		ntodo;
	int			ncols;
	int			nnew;			/* columns that the base does not have */
	GcColSpec  *specs;
	int		   *base_cols;
	GcColState **states;		/* NULL for new columns */
	uint8	   *problems;		/* GcColProblem, known from the base */
	GcKeptDict *kept;			/* of new columns */
	GcEvidence *evidence;		/* of these; else of any that may be met */
	bool	   *again;			/* had a problem, and is new for a retry */
	uint64		stamp;			/* of the map, before anything is read */
	uint8	   *work;			/* per chunk: GcChunkWork */
	uint32	   *chunk_pages;	/* and the pages that it will have */
	uint32		least_hot;		/* so many hot pages that no chunk has are worth a load */
	GcHotPlan	hot;
	Size		bytes;			/* estimate */
	Size		known_bytes;	/* of new columns, as earlier loads have told */
} GcLoadPlan;

typedef enum GcChunkWork
{
	GC_WORK_NONE,
	GC_WORK_ADD,
	GC_WORK_FULL
} GcChunkWork;

typedef enum GcClaim
{
	GC_CLAIM_CHUNK,
	GC_CLAIM_PART,				/* of a dictionary's files */
	GC_CLAIM_PUBLISH,
	GC_CLAIM_WAIT,				/* all is claimed: others are at it */
	GC_CLAIM_SOON,				/* the chunks can be claimed once others have read the dictionaries */
	GC_CLAIM_OVER				/* finished, failed, or no session wants it any more */
} GcClaim;

/* Hot chunks that a number of pages makes. */
#define gc_hot_chunks(npages)	(((npages) + (uint32) gc_chunk_pages - 1) / (uint32) gc_chunk_pages)

/* Where the pages are counted that any process reads into chunks; in shared memory, set before it is used. */
extern pg_atomic_uint64 *gc_pages_loaded;

extern void gc_load_shmem(void);

/* A process takes part in one job at a time; "the job" is that one. */

/*
 * Start a job and take part in it as a session.  *outdated is set, and nothing
 * started, if the relation has been loaded or forgotten since it was planned.
 */
extern GcCode gc_job_start(const GcRelKey *key, const GcLoadPlan *plan, TimestampTz since,
						   bool background, bool *outdated, GcError *err);

/* Take part in the running job of a relation; false if there is none to join. */
extern bool gc_job_join(const GcRelKey *key, bool session);

/* Is a job of this relation under way? */
extern bool gc_job_exists(const GcRelKey *key);

/* Does one load this column, anew or in addition? */
extern bool gc_job_loads(const GcRelKey *key, const GcColSpec *spec);

/* Wait for a job of this relation that can be joined no more to go. */
extern void gc_job_wait_gone(const GcRelKey *key);

/* The job, while taking part. */
extern GcLoadJob *gc_job_mine(void);

/* Dictionaries' files come first: no chunk is read before.  A part's number is behind those of chunks. */
extern GcClaim gc_job_claim(uint32 *number);
extern void gc_job_wait(void);

/* An arena object that the process answers for until it is handed in. */
extern void *gc_job_alloc(Size size, Size header);
extern void gc_job_free_in_hand(void);
extern void gc_job_let_go_in_hand(void);

/* Hand in the claimed chunk; cells[] has one entry for each column of the job. */
extern void gc_job_chunk_done(GcChunkResult result, GcChunk *chunk,
							  GcChunkColumn **cells, uint32 pages_read, uint32 pages_refused);

/* The claimed publication is done: the results are the store's, or there are none to publish. */
extern void gc_job_over(bool published);

/* Parts of dictionaries' files that a job as planned reads. */
extern uint32 gc_job_parts(const GcLoadPlan *plan);

/* The claimed part is read; false: it cannot be had, nor then the dictionary's others. */
extern void gc_job_part_done(bool good);

extern void gc_job_fail(GcCode code, const char *fmt,...) pg_attribute_printf(2, 3);

/* Leave the job, giving back whatever is claimed or in hand. */
extern void gc_job_leave(void);

/* Copies of all jobs, for the view; palloc'd.  ncols[i]: columns of job i. */
extern GcLoadJob *gc_job_list(int *njobs, int **ncols);

/* The detail of errors for want of room: table, its size in kB, room for columns in kB. */
#define GC_TOO_LARGE_DETAIL \
	"Table \"%s\" would take about %zu kB, and columns can take %zu kB of gpuconc.host_cache_size and gpuconc.disk_cache_size."

/* How large the results of a load will be, going by those handed in so far. */
typedef struct GcProjection
{
	Size		bytes;			/* of all results */
	Size		missing;		/* of chunks that no participant has begun to read */
} GcProjection;

extern GcProjection gc_job_projection(const GcLoadJob *job);

/* The job found no room: remember the size of its new columns (store/ghosts.h).  In its starter. */
extern void gc_job_remember_sizes(const GcLoadJob *job);

/* Publish the job's columns: one new directory.  In the participant that claimed this (publish.c). */
extern void gc_job_publish(Relation rel);

#endif							/* GC_JOB_H */
