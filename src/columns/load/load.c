/*-------------------------------------------------------------------------
 *
 * load.c
 *	  Loading columns: which chunks and hot pages to read, and reading them with others.
 *
 * Runs in sessions, and in loader workers that refresh a table.  A load is
 * planned in local memory under a guard.  If the relation's version is still
 * the same when the job is started, the plan holds.  No guard is held from then
 * on, except while a chunk is read (chunk.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "background.h"
#include "chunk.h"
#include "table_loader.h"
#include "../store/columns.h"
#include "../store/directory.h"
#include "../store/epoch.h"
#include "job.h"
#include "disk.h"
#include "load.h"
#include "missing.h"
#include "../encode/problem.h"
#include "../store/ghosts.h"
#include "../../settings.h"
#include "../encode/spec.h"
#include "../serve/visibility.h"
#include "../store/reserve.h"
#include "../store/store.h"
#include "../serve/fresh.h"
#include "../serve/patches.h"
#include "../serve/versions.h"

/*-------------------------------------------------------------------------
 * Which hot pages a load reads, and which hot chunks it merges
 *
 * A page that was changed since is read into a new hot chunk, and its place in the old one is
 * void.  So hot chunks would become many and hollow.  They are merged as in a log-structured
 * merge tree (O'Neil, Cheng, Gawlick, O'Neil 1996).  A chunk that is not much larger than those that are merged anyway,
 * or is half hollow, is copied into the new one.  Copying does not read the table.
 *-------------------------------------------------------------------------
 */

/* A chunk is merged if it has at most this many times the pages that are merged without it. */
#define MERGE_FACTOR	2

/* A hot chunk of the base, and its pages that are still good. */
typedef struct GcHotLive
{
	uint32		chunk;
	uint32		npages;			/* of the chunk */
	uint32		nlive;
	GcJobHotPage *live;			/* ascending by block */
} GcHotLive;

/* Order for qsort(): chunks with the fewest live rows first. */
static int
by_live(const void *a, const void *b)
{
	const GcHotLive *x = a;
	const GcHotLive *y = b;

	return x->nlive < y->nlive ? -1 : x->nlive > y->nlive;
}

/* Order for qsort(): by page. */
static int
by_block(const void *a, const void *b)
{
	const GcJobHotPage *x = a;
	const GcJobHotPage *y = b;

	return x->block < y->block ? -1 : x->block > y->block;
}

/* Take out pages that the load puts into chunks of the heap: all-visible pages of chunks loaded anew. */
static void
take_reloaded(Relation rel, const GcLoadPlan *plan, GcBlockSet *delta)
{
	for (uint32 c = 0; c < plan->nchunks; c++)
	{
		uint32		npages = gc_chunk_length(c, plan->nblocks);
		uint8	   *bits;
		XLogRecPtr	lsn;

		if (plan->work[c] != GC_WORK_FULL)
			continue;
		bits = palloc(GC_PRESENT_BYTES(npages));
		gc_map_copy(rel, c, npages, bits, &lsn);
		for (uint32 page = 0; lsn != InvalidXLogRecPtr && page < npages; page++)
		{
			int64		n;

			if (!((bits[page / 4] >> (page % 4 * 2)) & 1))
				continue;
			n = gc_blocks_find(delta, c * (BlockNumber) gc_chunk_pages + page);
			if (n >= 0)
				GC_BLOCK_TAKE(delta, n);
		}
		pfree(bits);
	}
}

/* Will the heap's chunk still be there that has the page's other rows? */
static bool
stays_patched(const GcLoadPlan *plan, const GcHotPages *hot, uint32 page)
{
	const uint32 c = GC_HEAP_CHUNK(hot->blocks[page]);

	return gc_patch_holds(plan->base, hot, page) &&
		(hot->patches[page].chunk_id == 0 || (c < plan->nchunks && plan->work[c] != GC_WORK_FULL));
}

/* The pages of a hot chunk that are wanted, not known to have changed, and not had from another one. */
static void
find_live(const GcLoadPlan *plan, uint32 chunkno, GcBlockSet *delta, GcHotLive *live)
{
	const GcChunk *chunk = plan->base->chunks[chunkno];

	live->chunk = chunkno;
	live->npages = chunk->npages;
	live->nlive = 0;
	live->live = palloc_extended((chunk->npages + 1) * sizeof(GcJobHotPage), MCXT_ALLOC_HUGE);
	gc_blocks_rewind(delta);
	for (uint32 page = 0; page < chunk->npages; page++)
	{
		BlockNumber block = chunk->hot->blocks[page];
		int64		n = gc_blocks_find(delta, block);

		if (n < 0 || GC_BLOCK_TAKEN(delta, n) || chunk->hot->changed[page] || !stays_patched(plan, chunk->hot, page))
			continue;
		GC_BLOCK_TAKE(delta, n);
		live->live[live->nlive++] = (GcJobHotPage) {block, (int32) chunkno, page};
	}
}

/* Live rows of all hot chunks; returns how many chunks there are. */
static uint32
find_all_live(const GcLoadPlan *plan, GcBlockSet *delta, GcHotLive *lives)
{
	const GcDirectory *base = plan->base;
	uint32		n = 0;

	for (uint32 c = base ? base->nchunks : 0; base && c > base->nheap; c--)
	{
		if (base->chunks[c - 1])
			find_live(plan, c - 1, delta, &lives[n++]);
	}
	return n;
}

/* Pages of a new hot chunk: read again, or copied from the chunk that has them. */
static void
add_pages(GcHotPlan *hot, const GcJobHotPage *pages, uint32 n, bool read)
{
	for (uint32 i = 0; i < n; i++)
	{
		GcJobHotPage *page = &hot->pages[hot->npages++];

		*page = pages[i];
		if (read)
			page->chunk = -1;
	}
}

/* Pages that no chunk has: to be read. */
static void
add_unread(GcHotPlan *hot, GcBlockSet *delta)
{
	BlockNumber n = 0;

	for (uint32 r = 0; r < delta->nranges; r++)
	{
		for (BlockNumber i = 0; i < delta->ranges[r].count; i++, n++)
		{
			if (!GC_BLOCK_TAKEN(delta, n))
				hot->pages[hot->npages++] = (GcJobHotPage) {delta->ranges[r].first + i, -1, 0};
		}
	}
}

/*
 * Keep the hot chunks that are worth it; the live pages of the others come into new ones.  New columns
 * are added to those that are kept.
 */
static void
merge(GcLoadPlan *plan, GcHotLive *lives, uint32 nlives)
{
	GcHotPlan  *hot = &plan->hot;
	const bool	add = plan->nnew > 0;

	qsort(lives, nlives, sizeof(GcHotLive), by_live);
	for (uint32 i = 0; i < nlives; i++)
	{
		const GcHotLive *l = &lives[i];

		if (l->nlive == 0)
			continue;
		/* Chunks that lack columns cannot be copied. */
		if (2 * l->nlive < l->npages)
			add_pages(hot, l->live, l->nlive, add);
		else if (!add && l->nlive <= MERGE_FACTOR * hot->npages)
			add_pages(hot, l->live, l->nlive, false);
		else
		{
			hot->kept_pages[hot->nkept] = l->npages;
			hot->kept[hot->nkept++] = l->chunk;
			plan->ntodo += add;
		}
	}
	qsort(hot->pages, hot->npages, sizeof(GcJobHotPage), by_block);
}

/* Keep all hot chunks as they are. */
static void
keep_all(GcLoadPlan *plan)
{
	const GcDirectory *base = plan->base;

	plan->hot.nkept = plan->hot.npages = 0;
	for (uint32 c = base ? base->nheap : 0; base && plan->nnew == 0 && c < base->nchunks; c++)
	{
		if (base->chunks[c])
		{
			plan->hot.kept_pages[plan->hot.nkept] = base->chunks[c]->npages;
			plan->hot.kept[plan->hot.nkept++] = c;
		}
	}
}

/*
 * Decide on the hot chunks after a load.  `delta`: the pages that chunks of plan->base do not serve; plan->work: the
 * chunks of the heap to load or to amend.  New hot chunks are added to plan->ntodo.  Needs a guard.
 */
static void
plan_hot(GcProof *proof, GcLoadPlan *plan, const GcServed *delta)
{
	const GcDirectory *base = plan->base;
	const uint32 nhot = base ? base->nchunks - base->nheap : 0;
	GcHotPlan  *hot = &plan->hot;
	GcHotLive  *lives = palloc((nhot + 1) * sizeof(GcHotLive));
	GcBlockSet	set;
	uint32		nlives;

	hot->kept = palloc((nhot + 1) * sizeof(int32));
	hot->kept_pages = palloc((nhot + 1) * sizeof(uint32));
	if (!gc_debug_versioned_pages)
	{
		keep_all(plan);
		return;
	}
	gc_blocks_init(&set, delta->ranges, delta->nranges);
	hot->pages = palloc_extended((Size) (set.npages + 1) * sizeof(GcJobHotPage), MCXT_ALLOC_HUGE);
	take_reloaded(proof->rel, plan, &set);
	if (base)
		gc_prove_hot(proof);
	nlives = find_all_live(plan, &set, lives);
	add_unread(hot, &set);
	if (hot->npages < plan->least_hot && plan->nnew == 0 && plan->ntodo == 0 && base != NULL)
	{
		keep_all(plan);
		return;
	}
	hot->nunread = hot->npages;
	merge(plan, lives, nlives);
	plan->ntodo += gc_hot_chunks(hot->npages);
}

/*-------------------------------------------------------------------------
 * Planning a load, and working at it
 *-------------------------------------------------------------------------
 */

/* How often a load is begun again because the relation was forgotten during the load. */
#define MAX_TRIES		5

/* Hot pages to be read for which another loader worker is started; a guess. */
#define PAGES_WORTH_HELP	1024

/* Parts of dictionaries' files, likewise. */
#define PARTS_WORTH_HELP	4

/* Chunks that a refresh in the background loads anew: hot pages wait for it, and sessions that fall behind join it. */
#define REFRESHED_AT_ONCE	4

typedef enum GcNext
{
	GC_LOAD_ENDED,
	GC_LOAD_PLAN_AGAIN,			/* others have loaded something */
	GC_LOAD_FORGOTTEN			/* the relation was forgotten during the load */
} GcNext;

/* A load by one process, for one call. */
typedef struct Load
{
	Relation	rel;
	GcRelKey	key;
	int			ncols;			/* wanted */
	const GcColSpec *specs;
	bool		refresh;		/* reload where few pages gain, too */
	bool		background;		/* it goes on though no session waits for it */
	bool		hot;			/* for the sake of hot pages */
	TimestampTz since;
	GcLoadStats stats;
} Load;

/* Are both columns encoded in one way? */
static bool
same_spec(const GcColSpec *a, const GcColSpec *b)
{
	return a->attnum == b->attnum && a->kind == b->kind && a->rtrim == b->rtrim &&
		a->typid == b->typid && a->typmod == b->typmod && a->collation == b->collation;
}

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */
static void
plan_new_column(Relation rel, GcLoadPlan *plan, const GcColSpec *spec)
{
	int			c = plan->ncols++;

	plan->specs[c] = *spec;
	plan->base_cols[c] = -1;
	plan->states[c] = NULL;
	plan->problems[c] = GC_COL_OK;
	plan->kept[c] = gc_disk_dictionary(rel, spec);
	plan->evidence[c] = gc_no_evidence(plan->stamp);
	plan->again[c] = plan->base != NULL && gc_directory_column(plan->base, spec) >= 0;
	plan->nnew++;
}

/* A column that the directory has got: chunks that did not change stay. */
static void
plan_base_column(GcLoadPlan *plan, int base_col)
{
	const GcDirColumn *column = &plan->base->columns[base_col];
	int			c = plan->ncols++;

	plan->specs[c] = column->spec;
	plan->base_cols[c] = base_col;
	plan->states[c] = column->state;
	plan->problems[c] = column->problem;
	plan->again[c] = false;

	/*
	 * Old columns may be part of a problem that is met now.  They have values of
	 * chunks that have changed since, or of the dictionary.  So it is tried without,
	 * at once.
	 */
	plan->evidence[c] = column->problem != GC_COL_OK ? column->evidence : gc_no_evidence(0);
}

/* Is this column of the base wanted, and not to be had before, but perhaps now? */
static bool
to_be_retried(const Load *load, const GcDirectory *base, int b)
{
	for (int i = 0; i < load->ncols && base->columns[b].problem != GC_COL_OK; i++)
	{
		if (load->specs[i].attnum == base->columns[b].spec.attnum)
			return gc_worth_retry(load->rel, base, b);
	}
	return false;
}

/* The base's columns that have not changed, and the wanted ones. */
static void
plan_columns(const Load *load, GcLoadPlan *plan)
{
	int			max = load->ncols + (plan->base ? plan->base->ncolumns : 0);

	plan->specs = palloc(Max(max, 1) * sizeof(GcColSpec));
	plan->base_cols = palloc(Max(max, 1) * sizeof(int));
	plan->states = palloc(Max(max, 1) * sizeof(GcColState *));
	plan->problems = palloc(Max(max, 1) * sizeof(uint8));
	plan->kept = palloc0(Max(max, 1) * sizeof(GcKeptDict));
	plan->evidence = palloc(Max(max, 1) * sizeof(GcEvidence));
	plan->again = palloc(Max(max, 1) * sizeof(bool));

	for (uint32 b = 0; plan->base && b < plan->base->ncolumns; b++)
	{
		GcDirColumn *column = &plan->base->columns[b];
		GcColSpec	now;
		const char *reason;

		if (gc_col_spec(load->rel, column->spec.attnum, &now, &reason) &&
			same_spec(&now, &column->spec) && !to_be_retried(load, plan->base, b))
			plan_base_column(plan, b);
	}
	for (int i = 0; i < load->ncols; i++)
	{
		int			c;

		for (c = 0; c < plan->ncols; c++)
		{
			if (plan->specs[c].attnum == load->specs[i].attnum)
				break;
		}
		if (c == plan->ncols)
			plan_new_column(load->rel, plan, &load->specs[i]);
		else if (plan->base_cols[c] >= 0)
			gc_column_touch(plan->base, plan->base_cols[c]);
	}
}

static GcChunkWork
chunk_work(const Load *load, const GcLoadPlan *plan, uint32 i, const GcChunkJudgement *j)
{
	bool		there = plan->base && i < plan->base->nheap && plan->base->chunks[i];

	if (GC_WORTH_RELOAD(j) || (load->refresh && GC_WORTH_REFRESH(j)) ||
		(load->refresh && there && j->reloadable > 0 && GC_REFRESH_PAYS(plan->base, j->pages)))
		return GC_WORK_FULL;
	if (there)
		return plan->nnew > 0 ? GC_WORK_ADD : GC_WORK_NONE;

	/* Not worth a load of its own, but there will be one. */
	if (j->reloadable > 0 && (plan->base == NULL || plan->nnew > 0))
		return GC_WORK_FULL;
	return GC_WORK_NONE;
}

/* Rows on a page, as far as the catalog knows. */
static double
rows_per_page(Relation rel)
{
	if (rel->rd_rel->relpages > 0 && rel->rd_rel->reltuples > 0)
		return rel->rd_rel->reltuples / rel->rd_rel->relpages;
	return 50;
}

/* Which chunks of the heap are read, for all columns or for new ones. */
static void
plan_chunks(const Load *load, GcLoadPlan *plan, const GcChunkJudgement *judged)
{
	const uint32 most = load->background && load->refresh && load->ncols == 0 ? REFRESHED_AT_ONCE : PG_UINT32_MAX;
	Size		base_width = 0;
	double		bytes = 0;

	for (int c = 0; c < plan->ncols; c++)
	{
		if (plan->base_cols[c] >= 0)
			base_width += gc_kinds[plan->specs[c].kind].usual_bytes;
	}

	plan->work = palloc_extended(Max(plan->nchunks, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	plan->chunk_pages = palloc_extended(Max(plan->nchunks, 1) * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < plan->nchunks; i++)
	{
		const GcChunkJudgement *j = &judged[i];

		plan->work[i] = plan->ntodo < most ? chunk_work(load, plan, i, j) : GC_WORK_NONE;
		if (plan->work[i] == GC_WORK_NONE)
			continue;
		plan->ntodo++;
		plan->chunk_pages[i] = j->served + j->reloadable;
		if (plan->work[i] == GC_WORK_FULL)
			bytes += (double) plan->chunk_pages[i] * rows_per_page(load->rel) * base_width;
	}
	plan->bytes = bytes;
}

/* Bytes that the new columns take, of chunks that are not there or are. */
static void
estimate_new(const Load *load, GcLoadPlan *plan)
{
	GcMissing	missing = {0};

	if (plan->nnew == 0)
		return;
	(void) gc_missing_add(load->rel, load->ncols, load->specs, &missing);
	plan->bytes += missing.bytes;
	plan->known_bytes = missing.known;
}

/* Decide which columns and pages to load; false if there are none. */
static bool
make_plan(const Load *load, GcLoadPlan *plan)
{
	GcServed	served;
	GcChunkJudgement *judged;
	GcProof		proof;

	memset(plan, 0, sizeof(GcLoadPlan));
	plan->least_hot = load->hot ? 1 : gc_debug_hot_pages;
	gc_guard_enter();
	plan->base = gc_store_get(load->rel, &plan->version);
	if (plan->base == NULL && load->background && load->ncols == 0)
	{
		gc_guard_leave();
		return false;
	}
	gc_proof_begin(&proof, load->rel, plan->base);
	gc_serve_judged(&proof, &served, &judged, NULL);
	plan->nblocks = served.nblocks;
	plan->nchunks = gc_chunk_count(served.nblocks);
	plan->stamp = gc_map_stamp(load->rel, -1);
	plan_columns(load, plan);
	plan_chunks(load, plan, judged);
	estimate_new(load, plan);
	plan_hot(&proof, plan, &served);
	gc_guard_leave();
	return plan->ntodo > 0 || plan->nnew > 0 || plan->base == NULL;
}

/*-------------------------------------------------------------------------
 * Doing
 *-------------------------------------------------------------------------
 */
/* Has the job loaded anything of the heap that no file had? */
static bool
has_read_heap(const GcLoadJob *job)
{
	const GcJobData *data = job->data;

	for (uint32 i = 0; job->pages_read > 0 && i < data->nheap; i++)
	{
		if (data->chunks[i].state == GC_CHUNK_DONE &&
			(data->chunks[i].result == GC_CHUNK_ADDED || data->chunks[i].result == GC_CHUNK_REPLACED))
			return true;
	}
	return false;
}

/* Read chunks until there are none left, or someone waits for a lock on the table. */
static void
work_at_job(Relation rel, bool session)
{
	GcLoader   *loader = NULL;

	for (;;)
	{
		uint32		number;
		GcClaim		claim;

		if (gc_loader_in_the_way(rel))
			return;
		switch (claim = gc_job_claim(&number))
		{
			case GC_CLAIM_CHUNK:
			case GC_CLAIM_PART:
				ConditionVariableCancelSleep();
				if (loader == NULL)
					loader = gc_loader_create(rel);
				if (claim == GC_CLAIM_PART)
					gc_loader_take_part(loader, number);
				else
					gc_loader_load(loader, number);
				gc_loader_progress(gc_job_mine()->chunks_done, gc_job_mine()->chunks_total);
				break;
			case GC_CLAIM_PUBLISH:
				ConditionVariableCancelSleep();
				gc_job_publish(rel);
				if (gc_disk_usable(rel) && has_read_heap(gc_job_mine()))
					gc_loader_start_keeper(&gc_job_mine()->key);
				break;
			case GC_CLAIM_WAIT:
				if (!session)
					return;
				/* fall through */
			case GC_CLAIM_SOON:
				gc_job_wait();
				break;
			case GC_CLAIM_OVER:
				ConditionVariableCancelSleep();
				return;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

GcCode
gc_job_participate(Relation rel, bool session, int nworkers,
				   GcLoadStats *stats, GcError *err)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuconc job",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GcLoadJob  *job = gc_job_mine();
	GcCode		code;

	PG_TRY();
	{
		if (nworkers > 0)
			gc_loader_start_workers(&job->key, nworkers);
		work_at_job(rel, session);
	}
	PG_CATCH();
	{
		gc_job_leave();
		PG_RE_THROW();
	}
	PG_END_TRY();

	if (stats)
	{
		stats->chunks_loaded += job->chunks_done;
		stats->pages_read += job->pages_read;
		stats->pages_refused += job->pages_refused;
		stats->workers += job->workers_seen;
	}
	code = job->err.code;
	if (code != GC_OK && err)
		*err = job->err;
	if (code == GC_CACHE_FULL && job->starter_pid == MyProcPid)
		gc_job_remember_sizes(job);
	gc_job_leave();

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return code;
}

/* Does the job that this process has joined load all that is wanted?  *others: new columns besides. */
static bool
job_covers(const Load *load, int *others)
{
	GcJobData  *data = gc_job_mine()->data;

	*others = 0;
	for (int c = 0; c < data->ncols; c++)
		*others += data->cols[c].base_col < 0;
	for (int i = 0; i < load->ncols; i++)
	{
		int			c;

		for (c = 0; c < data->ncols; c++)
		{
			if (same_spec(&data->cols[c].spec, &load->specs[i]))
				break;
		}
		if (c == data->ncols)
			return false;
		*others -= data->cols[c].base_col < 0;
	}
	return true;
}

/* Start a job as planned and work at it. */
static GcCode
run_plan(Load *load, const GcLoadPlan *plan, GcNext *next, GcError *err)
{
	GcCode		code;
	int			nworkers = 0;
	uint32		help;
	bool		outdated;

	if (plan->known_bytes > gc_store_capacity())
		return gc_fail(err, GC_CACHE_FULL, GC_TOO_LARGE_DETAIL,
					   RelationGetRelationName(load->rel),
					   plan->known_bytes / 1024, gc_store_capacity() / 1024);

	/*
	 * Evicting now, before the job begins, can also evict columns of this very
	 * relation.  Unknown sizes are guessed.  So not everything is evicted for its sake, and if there is too little room
	 * it is for the job to find out.
	 */
	gc_forget_dropped();
	(void) gc_store_make_room(Max(plan->known_bytes, Min(plan->bytes, gc_store_capacity() / 2)), load->since);

	code = gc_job_start(&load->key, plan, load->since, load->background, &outdated, err);
	if (code != GC_OK)
		return code;
	if (outdated)
	{
		*next = GC_LOAD_PLAN_AGAIN;
		return GC_OK;
	}

	help = plan->ntodo - gc_hot_chunks(plan->hot.npages) + plan->hot.nunread / PAGES_WORTH_HELP +
		gc_job_parts(plan) / PARTS_WORTH_HELP;
	if ((!load->background || load->ncols > 0) && help > 1)
		nworkers = Min(help - 1, (uint32) (load->background ? gc_cold_loader_helpers() : gc_loader_workers));
	code = gc_job_participate(load->rel, true, nworkers, &load->stats, err);
	if (code == GC_CANCELLED)
		*next = GC_LOAD_FORGOTTEN;
	return code;
}

/* Help with the job that goes on, or else begin one for all that is left. */
static GcCode
load_once(Load *load, GcNext *next, GcError *err)
{
	GcLoadPlan	plan;
	GcCode		code;

	*next = GC_LOAD_ENDED;
	gc_job_wait_gone(&load->key);
	if (gc_job_join(&load->key, true))
	{
		int			others;
		bool		covers = job_covers(load, &others);

		code = gc_job_participate(load->rel, true, 0, &load->stats, err);
		if (code == GC_CANCELLED)
			*next = GC_LOAD_FORGOTTEN;
		/* A load of fewer columns may find room.  A loader that is in the way does not come back. */
		else if ((!covers || (load->refresh && !load->background) || (code == GC_CACHE_FULL && others > 0)) &&
				 !gc_loader_in_the_way(load->rel))
			*next = GC_LOAD_PLAN_AGAIN;
		return code;
	}
	if (!make_plan(load, &plan))
		return GC_OK;
	return run_plan(load, &plan, next, err);
}

/* Plan and work until the directory has all columns, or the load has failed. */
static GcCode
run_load(Load *load, GcError *err)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuconc load plan",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	int			forgotten = 0;
	GcNext		next;
	GcCode		code;

	Assert(!gc_guard_held());
	Assert(ActiveSnapshotSet());

	gc_rel_key(load->rel, &load->key);
	load->since = GetCurrentTimestamp();
	do
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(context);
		code = load_once(load, &next, err);
		if (next == GC_LOAD_FORGOTTEN)
			forgotten++;
	} while (next != GC_LOAD_ENDED && forgotten < MAX_TRIES);

	if (next == GC_LOAD_FORGOTTEN)
		code = gc_fail(err, GC_CACHE_FULL,
					   "Table \"%s\" was dropped from the cache each time it was loaded.",
					   RelationGetRelationName(load->rel));

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return code;
}

static GcCode
load_timed(Load *load, GcLoadStats *stats, GcError *err)
{
	const char *reason;
	instr_time	start;
	instr_time	end;
	GcCode		code;

	if (!gc_rel_loadable(load->rel, &reason))
		return gc_fail(err, GC_NOT_CACHEABLE, "Table \"%s\" cannot be cached: %s.",
					   RelationGetRelationName(load->rel), reason);

	INSTR_TIME_SET_CURRENT(start);
	code = run_load(load, err);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	load->stats.ms = INSTR_TIME_GET_MILLISEC(end);
	if (stats)
		*stats = load->stats;
	return code;
}

GcCode
gc_load_columns(Relation rel, int ncols, const GcColSpec *specs,
				GcLoadStats *stats, GcError *err)
{
	Load		load = {.rel = rel,.ncols = ncols,.specs = specs};

	return load_timed(&load, stats, err);
}

GcCode
gc_load_and_refresh(Relation rel, int ncols, const GcColSpec *specs, GcError *err)
{
	Load		load = {.rel = rel,.ncols = ncols,.specs = specs,.refresh = true};

	return load_timed(&load, NULL, err);
}

GcCode
gc_load_hot_pages(Relation rel, int ncols, const GcColSpec *specs,
				  GcLoadStats *stats, GcError *err)
{
	Load		load = {.rel = rel,.ncols = ncols,.specs = specs,.hot = true};

	return load_timed(&load, stats, err);
}

bool
gc_load_hot_in_background(Relation rel, GcLoadStats *stats)
{
	Load		load = {.rel = rel,.hot = true,.background = true};
	GcError		err;

	return load_timed(&load, stats, &err) == GC_OK;
}

void
gc_load_refresh(Relation rel)
{
	Load		load = {.rel = rel,.refresh = true,.background = true};
	const char *reason;
	GcError		err;

	if (gc_rel_loadable(rel, &reason) && run_load(&load, &err) != GC_OK)
		ereport(DEBUG1,
				(errmsg_internal("could not refresh cached table \"%s\": %s",
								 RelationGetRelationName(rel), err.detail)));
}

/* Sessions have found room for these columns; others' loads may have taken it since. */
static GcCode
reserve_room(const Load *load, GcError *err)
{
	GcMissing	missing = {0};
	bool		lacking;

	gc_guard_enter();
	lacking = gc_missing_add(load->rel, load->ncols, load->specs, &missing);
	gc_guard_leave();
	if (!lacking || gc_missing_reserve(&missing, false) == GC_ROOM_FITS)
		return GC_OK;
	return gc_fail(err, GC_CACHE_FULL, "They do not fit beside columns that are in use, or are being loaded.");
}

GcCode
gc_load_alone(Relation rel, int ncols, const GcColSpec *specs, bool refresh, GcError *err)
{
	Load		load = {.rel = rel,.ncols = ncols,.specs = specs,.refresh = refresh,.background = true};
	GcCode		code = reserve_room(&load, err);

	if (code == GC_OK)
		code = load_timed(&load, NULL, err);
	gc_reserve_end();
	return code;
}
