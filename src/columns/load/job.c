/*-------------------------------------------------------------------------
 *
 * job.c
 *	  Load jobs: slots, claims, which process cleans up, and how large the results will be.
 *
 * Runs in backends and loader workers.  A process notes its claims, and the memory that it has in hand, in `mine`.  So
 * gc_job_leave() can undo them after an error, a cancel, or (by before_shmem_exit) the process's end.
 *
 * A session takes over the chunks of a loader that waits for a heavyweight lock.
 *
 * Locks, outermost first: GC_LOCK_JOBS, GC_LOCK_STORE, GC_LOCK_ARENA.  Nothing
 * is allocated, and no error can be raised, while GC_LOCK_JOBS is held.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "../store/arena.h"
#include "../store/columns.h"
#include "../store/dict.h"
#include "../store/epoch.h"
#include "job.h"
#include "../../compat.h"
#include "../../settings.h"
#include "../../shmem.h"
#include "../store/lock.h"
#include "../store/reserve.h"
#include "../store/store.h"
#include "../serve/visibility.h"
#include "../store/ghosts.h"

/* How long a waiter sleeps before it looks after the others' claims. */
#define WAIT_MS		1000

typedef struct GcJobsShared
{
	uint64		next_serial;
	GcLoadJob	jobs[GC_MAX_JOBS];
} GcJobsShared;

static GcJobsShared *shared = NULL;

pg_atomic_uint64 *gc_pages_loaded = NULL;

/* This process's part in its job. */
static struct
{
	GcLoadJob  *job;			/* NULL: none */
	bool		session;
	bool		publishing;
	int64		chunk;			/* claimed, or -1 */
	GcObject   *in_hand;		/* by next_retired */
} mine = {.chunk = -1};

/* The jobs, none at first. */
void
gc_load_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc load jobs", sizeof(GcJobsShared), &made);
	if (!made)
		return;
	shared->next_serial = 1;
	for (int i = 0; i < GC_MAX_JOBS; i++)
		ConditionVariableInit(&shared->jobs[i].cv);
}

GcLoadJob *
gc_job_mine(void)
{
	return mine.job;
}

/* The job of a relation, running or not quite gone.  Under GC_LOCK_JOBS. */
static GcLoadJob *
find_job(Oid dbid, Oid relid)
{
	for (int i = 0; i < GC_MAX_JOBS; i++)
	{
		GcLoadJob  *job = &shared->jobs[i];

		/* One that is finished only waits for its participants to notice. */
		if (job->in_use && !job->finished &&
			job->key.dbid == dbid && job->key.relid == relid)
			return job;
	}
	return NULL;
}

/* Wait for news of the job, for a short time at most. */
static void
wait_on(GcLoadJob *job)
{
	static uint32 wait_event = 0;

	(void) ConditionVariableTimedSleep(&job->cv, WAIT_MS,
									   GC_WAIT_EVENT(wait_event, "GpuconcLoad"));
}

/*-------------------------------------------------------------------------
 * Leaving
 *-------------------------------------------------------------------------
 */
static void
leave_at_exit(int code, Datum arg)
{
	gc_job_leave();
}

static void
free_data(GcJobData *data)
{
	if (!data->published)
	{
		for (uint32 i = 0; i < data->nchunks; i++)
		{
			if (data->chunks[i].chunk)
				gc_object_free(data->chunks[i].chunk);
			for (int c = 0; c < data->ncols; c++)
			{
				GcChunkColumn *cell = data->cells[(Size) i * data->ncols + c];

				if (cell)
					gc_object_free(cell);
			}
		}
		for (int c = 0; c < data->ncols; c++)
		{
			GcColState *state = data->cols[c].state;

			if (data->cols[c].base_col < 0 && state)
			{
				gc_dict_free(state);
				gc_object_free(state);
			}
		}
	}
	gc_object_free(data);
}

void
gc_job_free_in_hand(void)
{
	while (mine.in_hand)
	{
		GcObject   *object = mine.in_hand;

		mine.in_hand = object->next_retired;
		gc_object_free(object);
	}
}

/* Give the claims of this process back.  Under GC_LOCK_JOBS. */
static void
unclaim(GcLoadJob *job)
{
	Assert(LWLockHeldByMeInMode(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE));

	if (mine.chunk >= 0)
	{
		GcJobChunk *chunk = &job->data->chunks[mine.chunk];
		uint32	   *next = mine.chunk < job->data->nchunks ? &job->next : &job->next_part;

		if (chunk->state == GC_CHUNK_CLAIMED && chunk->owner == GC_MY_PROC_NUMBER)
		{
			chunk->state = GC_CHUNK_TODO;
			*next = Min(*next, (uint32) mine.chunk);
		}
		mine.chunk = -1;
	}
	if (mine.publishing)
		job->publishing = mine.publishing = false;
}

void
gc_job_leave(void)
{
	GcLoadJob  *job = mine.job;
	GcJobData  *data = NULL;

	if (job == NULL)
		return;
	mine.job = NULL;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	unclaim(job);
	/* Its process number may soon be another's, which reserves for something else. */
	if (job->starter_pid == MyProcPid)
		job->starter = -1;
	if (mine.session)
		job->nsessions--;
	else
		job->nworkers--;
	if (--job->nparticipants == 0)
	{
		data = job->data;
		if (!job->finished)
			gc_store_end_load(&job->key);
		job->data = NULL;
		job->in_use = false;
	}
	LWLockRelease(gc_lock(GC_LOCK_JOBS));

	ConditionVariableBroadcast(&job->cv);
	gc_job_free_in_hand();
	if (data)
		free_data(data);
}

/* This process takes part from now on, as a session or as a worker.  Under GC_LOCK_JOBS. */
static void
begin_taking_part(GcLoadJob *job, bool session)
{
	Assert(LWLockHeldByMeInMode(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE));
	mine.job = job;
	mine.session = session;
	mine.publishing = false;
	mine.chunk = -1;
	job->nparticipants++;
	if (session)
		job->nsessions++;
	else
	{
		job->nworkers++;
		job->workers_seen++;
	}
}

/* Before a process takes part for the first time, see to its cleanup. */
static void
register_cleanup(void)
{
	static bool registered = false;

	Assert(mine.job == NULL && mine.in_hand == NULL);
	if (registered)
		return;
	before_shmem_exit(leave_at_exit, 0);
	registered = true;
}

/*-------------------------------------------------------------------------
 * Starting and joining
 *-------------------------------------------------------------------------
 */

/* The hot chunks that stay, with new columns or without, and those to be loaded. */
static void
add_hot_chunks(GcJobData *data, const GcLoadPlan *plan)
{
	const GcHotPlan *hot = &plan->hot;
	GcJobChunk *chunk = data->chunks + data->nheap;

	for (uint32 i = 0; i < hot->nkept; i++, chunk++)
	{
		chunk->state = plan->nnew > 0 ? GC_CHUNK_TODO : GC_CHUNK_IDLE;
		chunk->npages = hot->kept_pages[i];
		chunk->base = hot->kept[i];
	}
	for (uint32 first = 0; first < hot->npages; first += gc_chunk_pages, chunk++)
	{
		chunk->state = GC_CHUNK_TODO;
		chunk->full = true;
		chunk->base = -1;
		chunk->first_page = first;
		chunk->npages = Min((uint32) gc_chunk_pages, hot->npages - first);
	}
	if (hot->npages > 0)
		memcpy(data->hot_pages, hot->pages, hot->npages * sizeof(GcJobHotPage));
}

uint32
gc_job_parts(const GcLoadPlan *plan)
{
	uint32		n = 0;

	for (int c = 0; c < plan->ncols; c++)
		n += plan->kept[c].nparts;
	return n;
}

/* Arena memory for a job as planned, with states for new columns; or NULL. */
static GcJobData *
make_data(const GcLoadPlan *plan)
{
	Size		cols = MAXALIGN(plan->ncols * sizeof(GcJobColumn));
	const uint32 nnew = gc_hot_chunks(plan->hot.npages);
	const uint32 nchunks = plan->nchunks + plan->hot.nkept + nnew;
	const uint32 nparts = gc_job_parts(plan);
	Size		chunks = MAXALIGN((nchunks + nparts) * sizeof(GcJobChunk));
	Size		cells = MAXALIGN((Size) nchunks * plan->ncols * sizeof(GcChunkColumn *));
	Size		pages = (Size) plan->hot.npages * sizeof(GcJobHotPage);
	Size		size = MAXALIGN(sizeof(GcJobData)) + cols + chunks + cells + pages;
	GcJobData  *data = gc_arena_alloc(size);

	if (data == NULL)
		return NULL;
	memset(data, 0, size);
	data->obj.size = size;
	data->base = plan->base;
	data->nblocks = plan->nblocks;
	data->ncols = plan->ncols;
	data->nchunks = nchunks;
	data->nheap = plan->nchunks;
	data->cols = (GcJobColumn *) ((char *) data + MAXALIGN(sizeof(GcJobData)));
	data->chunks = (GcJobChunk *) ((char *) data->cols + cols);
	data->cells = (GcChunkColumn **) ((char *) data->chunks + chunks);
	data->hot_pages = (GcJobHotPage *) ((char *) data->cells + cells);

	for (int c = 0; c < plan->ncols; c++)
	{
		data->cols[c].spec = plan->specs[c];
		data->cols[c].base_col = plan->base_cols[c];
		data->cols[c].state = plan->states[c];
		pg_atomic_init_u32(&data->cols[c].problem, plan->problems[c]);
		data->cols[c].evidence = plan->evidence[c];
		data->cols[c].again = plan->again[c];
		data->cols[c].kept = plan->kept[c];
	}
	for (uint32 i = 0; i < plan->nchunks; i++)
	{
		data->chunks[i].state = plan->work[i] == GC_WORK_NONE ? GC_CHUNK_IDLE : GC_CHUNK_TODO;
		data->chunks[i].full = plan->work[i] == GC_WORK_FULL;
		data->chunks[i].npages = plan->chunk_pages[i];
		data->chunks[i].base = plan->base && i < plan->base->nheap ? (int32) i : -1;
	}
	add_hot_chunks(data, plan);
	return data;
}

/* A new column's dictionary, with room for what files have of it, unless there is none. */
static bool
make_dictionary(GcJobColumn *col, TimestampTz since)
{
	const Size	size = gc_dict_attached_size(col->kept.nvalues, col->kept.bytes);
	void	   *room;

	if (gc_dict_attach(col->state, col->kept.nvalues, col->kept.bytes))
		return true;
	room = gc_store_alloc(size, since);
	if (room)
		gc_arena_free(room, size);
	if (room && gc_dict_attach(col->state, col->kept.nvalues, col->kept.bytes))
		return true;
	col->kept.nparts = 0;
	return gc_dict_attach(col->state, 0, 0);
}

/* The parts of new columns' dictionaries, to be read.  There may be fewer than planned: not all found room. */
static void
add_parts(GcJobData *data)
{
	GcJobChunk *part = data->chunks + data->nchunks;

	for (int c = 0; c < data->ncols; c++)
	{
		data->cols[c].parts_left = data->cols[c].kept.nparts;
		data->nparts += data->cols[c].kept.nparts;
		for (uint32 i = 0; i < data->cols[c].kept.nparts; i++, part++)
		{
			part->state = GC_CHUNK_TODO;
			part->base = c;
			part->first_page = i;
		}
	}
}

/* Make a state, with a dictionary for text, for each column that has none. */
static bool
make_states(GcJobData *data, TimestampTz since)
{
	for (int c = 0; c < data->ncols; c++)
	{
		GcJobColumn *col = &data->cols[c];

		if (col->state)
			continue;
		col->state = gc_arena_alloc(sizeof(GcColState));
		if (col->state == NULL)
			return false;
		memset(col->state, 0, sizeof(GcColState));
		col->state->obj.size = sizeof(GcColState);
		pg_atomic_init_u64(&col->state->last_used, since);
		for (int d = 0; d < GC_MAX_DEVICES; d++)
			pg_atomic_init_u64(&col->state->device_bytes[d], 0);
		pg_atomic_init_u32(&col->state->duplicates, 0);
		if (GC_KIND_IS_CODE(col->spec.kind) && !make_dictionary(col, since))
			return false;
	}
	add_parts(data);
	return true;
}

/* Fill a free slot.  Under GC_LOCK_JOBS. */
static void
fill_slot(GcLoadJob *job, const GcRelKey *key, uint64 version, TimestampTz since,
		  bool background, const GcLoadPlan *plan, GcJobData *data)
{
	job->in_use = true;
	job->finished = false;
	job->publishing = false;
	job->background = background;
	job->serial = shared->next_serial++;
	job->key = *key;
	job->version = version;
	job->since = since;
	job->starter_pid = MyProcPid;
	job->starter = GC_MY_PROC_NUMBER;
	job->started_at = GetCurrentTimestamp();
	job->nparticipants = job->nsessions = job->nworkers = job->workers_seen = 0;
	job->chunks_total = plan->ntodo;
	job->chunks_done = 0;
	job->next = 0;
	job->next_part = data->nchunks;
	job->parts_done = 0;
	job->pages_done = job->pages_read = 0;
	job->pages_refused = 0;
	job->bytes = 0;
	job->err.code = GC_OK;
	job->err.detail[0] = '\0';
	job->data = data;
}

GcCode
gc_job_start(const GcRelKey *key, const GcLoadPlan *plan, TimestampTz since,
			 bool background, bool *outdated, GcError *err)
{
	uint64		version = plan->version;
	GcLoadJob  *job = NULL;
	GcJobData  *data;

	register_cleanup();

	*outdated = false;
	data = make_data(plan);
	if (data == NULL || !make_states(data, since))
	{
		if (data)
			free_data(data);
		return gc_fail(err, GC_CACHE_FULL,
					   "There is no room in gpuconc.host_cache_size (%zu kB) to begin to load a table.",
					   gc_arena_size() / 1024);
	}

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	for (int i = 0; i < GC_MAX_JOBS && job == NULL; i++)
	{
		if (!shared->jobs[i].in_use)
			job = &shared->jobs[i];
	}
	if (job)
	{
		if (find_job(key->dbid, key->relid) == NULL && gc_store_begin_load(key, &version))
		{
			fill_slot(job, key, version, since, background, plan, data);
			begin_taking_part(job, true);
		}
		else
			*outdated = true;
	}
	LWLockRelease(gc_lock(GC_LOCK_JOBS));

	if (mine.job)
		return GC_OK;
	free_data(data);
	if (*outdated)
		return GC_OK;
	return gc_fail(err, GC_NO_SLOT, "%d tables are being loaded already.", GC_MAX_JOBS);
}

bool
gc_job_join(const GcRelKey *key, bool session)
{
	GcLoadJob  *job;

	register_cleanup();

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	job = find_job(key->dbid, key->relid);
	if (job && job->err.code == GC_OK && memcmp(&job->key, key, sizeof(GcRelKey)) == 0)
		begin_taking_part(job, session);
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	return mine.job != NULL;
}

bool
gc_job_exists(const GcRelKey *key)
{
	bool		exists;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_SHARED);
	exists = find_job(key->dbid, key->relid) != NULL;
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	return exists;
}

bool
gc_job_loads(const GcRelKey *key, const GcColSpec *spec)
{
	const GcLoadJob *job;
	bool		loads = false;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_SHARED);
	job = find_job(key->dbid, key->relid);
	if (job && job->err.code == GC_OK && memcmp(&job->key, key, sizeof(GcRelKey)) == 0)
	{
		for (int c = 0; c < job->data->ncols && !loads; c++)
			loads = job->data->cols[c].base_col < 0 && job->data->cols[c].spec.attnum == spec->attnum;
	}
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	return loads;
}

void
gc_job_wait_gone(const GcRelKey *key)
{
	for (;;)
	{
		GcLoadJob  *job;

		LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_SHARED);
		job = find_job(key->dbid, key->relid);
		if (job && job->err.code == GC_OK &&
			memcmp(&job->key, key, sizeof(GcRelKey)) == 0)
			job = NULL;			/* it can be joined */
		LWLockRelease(gc_lock(GC_LOCK_JOBS));
		if (job == NULL)
			break;
		wait_on(job);
	}
	ConditionVariableCancelSleep();
}

/*-------------------------------------------------------------------------
 * Working
 *-------------------------------------------------------------------------
 */
/* Claim the first chunk or part that is TODO, of those from *next on.  False: there is none.  Under GC_LOCK_JOBS. */
static bool
claim_next(GcJobData *data, uint32 *next, uint32 end, uint32 *number)
{
	while (*next < end && data->chunks[*next].state != GC_CHUNK_TODO)
		(*next)++;
	if (*next == end)
		return false;
	*number = (*next)++;
	data->chunks[*number].state = GC_CHUNK_CLAIMED;
	data->chunks[*number].owner = GC_MY_PROC_NUMBER;
	mine.chunk = *number;
	return true;
}

GcClaim
gc_job_claim(uint32 *number)
{
	GcLoadJob  *job = mine.job;
	GcJobData  *data = job->data;
	GcClaim		what = GC_CLAIM_WAIT;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	if (job->finished || job->err.code != GC_OK ||
		(!mine.session && !job->background && job->nsessions == 0))
		what = GC_CLAIM_OVER;
	else if (job->chunks_done == job->chunks_total)
	{
		if (!job->publishing)
		{
			job->publishing = mine.publishing = true;
			what = GC_CLAIM_PUBLISH;
		}
	}
	else if (job->parts_done < data->nparts)
		what = claim_next(data, &job->next_part, data->nchunks + data->nparts, number) ? GC_CLAIM_PART : GC_CLAIM_SOON;
	else if (claim_next(data, &job->next, data->nchunks, number))
		what = GC_CLAIM_CHUNK;
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	return what;
}

/*
 * Take claims away from participants that wait for a heavyweight lock.  This very session may hold it (on a
 * TOAST table, say).  The deadlock detector knows nothing of our waiting, so neither would ever go on.
 */
static void
take_over_stuck_claims(GcLoadJob *job)
{
	GcJobData  *data = job->data;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	for (uint32 i = 0; i < data->nchunks; i++)
	{
		GcJobChunk *chunk = &data->chunks[i];

		if (chunk->state == GC_CHUNK_CLAIMED &&
			ProcGlobal->allProcs[chunk->owner].waitStatus == PROC_WAIT_STATUS_WAITING)
		{
			chunk->state = GC_CHUNK_TODO;
			job->next = Min(job->next, i);
		}
	}
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
}

/* Wait for other participants; claims of those that got stuck are taken over. */
void
gc_job_wait(void)
{
	static TimestampTz looked_at = 0;

	wait_on(mine.job);
	if (TimestampDifferenceExceeds(looked_at, GetCurrentTimestamp(), WAIT_MS))
	{
		looked_at = GetCurrentTimestamp();
		take_over_stuck_claims(mine.job);
	}
}

void *
gc_job_alloc(Size size, Size header)
{
	GcObject   *object = gc_object_alloc(size, header, mine.job->since);

	if (object)
	{
		object->next_retired = mine.in_hand;
		mine.in_hand = object;
		gc_reserve_taken(mine.job->starter, gc_arena_bytes(size));
	}
	return object;
}

/* Objects in hand have a new owner, or will have in a moment. */
void
gc_job_let_go_in_hand(void)
{
	while (mine.in_hand)
	{
		GcObject   *object = mine.in_hand;

		mine.in_hand = object->next_retired;
		object->next_retired = NULL;
	}
}

static Size
in_hand_bytes(void)
{
	Size		bytes = 0;

	for (GcObject *o = mine.in_hand; o; o = o->next_retired)
		bytes += o->size;
	return bytes;
}

void
gc_job_chunk_done(GcChunkResult result, GcChunk *chunk, GcChunkColumn **cells,
				  uint32 pages_read, uint32 pages_refused)
{
	GcLoadJob  *job = mine.job;
	GcJobData  *data = job->data;
	GcJobChunk *claimed = &data->chunks[mine.chunk];
	bool		taken = false;

	pg_atomic_fetch_add_u64(gc_pages_loaded, pages_read);
	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	if (claimed->state == GC_CHUNK_CLAIMED && claimed->owner == GC_MY_PROC_NUMBER)
	{
		taken = true;
		claimed->state = GC_CHUNK_DONE;
		claimed->result = result;
		claimed->chunk = chunk;
		if (cells)
			memcpy(data->cells + mine.chunk * data->ncols, cells,
				   data->ncols * sizeof(GcChunkColumn *));
		job->chunks_done++;
		job->pages_done += claimed->npages;
		job->pages_read += pages_read;
		job->pages_refused += pages_refused;
		job->bytes += in_hand_bytes();
		gc_job_let_go_in_hand();
	}
	mine.chunk = -1;
	LWLockRelease(gc_lock(GC_LOCK_JOBS));

	ConditionVariableBroadcast(&job->cv);

	/* Another process took it over. */
	if (!taken)
		gc_job_free_in_hand();
}

void
gc_job_part_done(bool good)
{
	GcLoadJob  *job = mine.job;
	GcJobColumn *col;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	job->data->chunks[mine.chunk].state = GC_CHUNK_DONE;
	job->parts_done++;
	col = &job->data->cols[job->data->chunks[mine.chunk].base];
	col->spoilt |= !good;
	if (--col->parts_left == 0)
		gc_dict_taken(col->state, col->spoilt ? 0 : col->kept.nvalues, col->kept.id);
	mine.chunk = -1;
	LWLockRelease(gc_lock(GC_LOCK_JOBS));

	ConditionVariableBroadcast(&job->cv);
}

void
gc_job_over(bool published)
{
	GcLoadJob  *job = mine.job;

	Assert(mine.publishing);
	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	job->data->published = published;
	job->finished = true;
	job->publishing = mine.publishing = false;
	gc_store_end_load(&job->key);
	LWLockRelease(gc_lock(GC_LOCK_JOBS));

	ConditionVariableBroadcast(&job->cv);
}

/* The job has failed for all; the first failure counts. */
void
gc_job_fail(GcCode code, const char *fmt,...)
{
	GcLoadJob  *job = mine.job;
	GcError		err = {code, ""};
	va_list		args;

	va_start(args, fmt);
	vsnprintf(err.detail, sizeof(err.detail), fmt, args);
	va_end(args);

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_EXCLUSIVE);
	if (job->err.code == GC_OK && !job->finished)
		job->err = err;
	unclaim(job);
	LWLockRelease(gc_lock(GC_LOCK_JOBS));

	ConditionVariableBroadcast(&job->cv);
	gc_job_free_in_hand();
}

GcLoadJob *
gc_job_list(int *njobs, int **ncols)
{
	GcLoadJob  *jobs = palloc(sizeof(shared->jobs));

	*ncols = palloc(GC_MAX_JOBS * sizeof(int));
	*njobs = 0;
	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_SHARED);
	for (int i = 0; i < GC_MAX_JOBS; i++)
	{
		if (shared->jobs[i].in_use && !shared->jobs[i].finished)
		{
			(*ncols)[*njobs] = shared->jobs[i].data->ncols;
			jobs[(*njobs)++] = shared->jobs[i];
		}
	}
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	return jobs;
}

/*-------------------------------------------------------------------------
 * How large the results of a load will be
 *
 * Hot chunks say nothing of how large the others will be, since most of their pages are copied.
 *-------------------------------------------------------------------------
 */

/* Pages of the heap's chunks, by their state; their chunks' bytes, by column and beside columns. */
typedef struct Progress
{
	uint64		pages;			/* of all that are loaded */
	uint64		pages_done;
	uint64		pages_todo;		/* not begun */
	Size		bytes_done;
	Size		bytes_hot;		/* of hot chunks that are done */
	Size	   *column_bytes;	/* done; NULL: not wanted */
	Size		chunk_bytes;
} Progress;

/* tells: the chunk stands for others of the heap. */
static Size
bytes_of_chunk(const GcJobData *data, uint32 i, bool tells, Progress *p)
{
	const Size	own = data->chunks[i].chunk ? gc_arena_bytes(data->chunks[i].chunk->obj.size) : 0;
	Size		bytes = own;

	for (int c = 0; c < data->ncols; c++)
	{
		const GcChunkColumn *cell = data->cells[(Size) i * data->ncols + c];
		const Size	of_cell = cell ? gc_arena_bytes(cell->obj.size) : 0;

		bytes += of_cell;
		if (p->column_bytes && tells)
			p->column_bytes[c] += of_cell;
	}
	p->chunk_bytes += tells ? own : 0;
	return bytes;
}

/* Under GC_LOCK_JOBS. */
static void
look_at_chunks(const GcJobData *data, Progress *p)
{
	for (uint32 i = 0; i < data->nchunks; i++)
	{
		const bool	heap = i < data->nheap;
		const uint64 pages = heap ? gc_chunk_length(i, data->nblocks) : 0;
		const bool	done = data->chunks[i].state == GC_CHUNK_DONE;
		/* Columns are padded: a last chunk of few pages takes as much as one of many. */
		const bool	tells = heap && (data->nheap == 1 || pages > gc_chunk_pages / 2);

		if (data->chunks[i].state == GC_CHUNK_IDLE)
			continue;
		p->pages += pages;
		p->pages_todo += data->chunks[i].state == GC_CHUNK_TODO ? pages : 0;
		p->pages_done += done && tells ? pages : 0;
		if (done)
			*(tells ? &p->bytes_done : &p->bytes_hot) += bytes_of_chunk(data, i, tells, p);
	}
}

/* How many bytes the job will take, by the chunks that are done. */
GcProjection
gc_job_projection(const GcLoadJob *job)
{
	Progress	p = {0};
	double		each;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_SHARED);
	look_at_chunks(job->data, &p);
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	each = (double) p.bytes_done / Max(p.pages_done, 1);
	return (GcProjection) {p.bytes_hot + each * (p.pages_done > 0 ? p.pages : 0), each * p.pages_todo};
}

void
gc_job_remember_sizes(const GcLoadJob *job)
{
	const GcJobData *data = job->data;
	Progress	p = {.column_bytes = palloc0((data->ncols + 1) * sizeof(Size))};
	int			nnew = 0;

	LWLockAcquire(gc_lock(GC_LOCK_JOBS), LW_SHARED);
	look_at_chunks(data, &p);
	LWLockRelease(gc_lock(GC_LOCK_JOBS));
	for (int c = 0; c < data->ncols; c++)
		nnew += data->cols[c].base_col < 0;
	for (int c = 0; c < data->ncols; c++)
	{
		const double done = p.column_bytes[c] + (double) p.chunk_bytes / Max(nnew, 1);

		if (data->cols[c].base_col < 0)
			gc_ghost_note_failed(&job->key, data->cols[c].spec.attnum, done * p.pages / Max(p.pages_done, 1), data->nblocks);
	}
}
