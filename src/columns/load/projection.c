/*-------------------------------------------------------------------------
 *
 * projection.c
 *	  How large the results of a load will be.
 *
 * Runs in every participant of a load job.  Hot chunks say nothing of how large the others will be, since most of their
 * pages are copied.
 *
 * Lock: GC_LOCK_JOBS.
 *
 *-------------------------------------------------------------------------
 */
#include "projection.h"

#include "storage/lwlock.h"

#include "../serve/visibility.h"
#include "../store/arena.h"
#include "../store/lock.h"
#include "../store/past.h"

/* Pages of the heap's chunks, by what has become of them; their chunks' bytes, by column and beside columns. */
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

GcProjection
gc_job_projection(const GcJob *job)
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
gc_job_remember_sizes(const GcJob *job)
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
			gc_past_note_failed(&job->key, data->cols[c].spec.attnum, done * p.pages / Max(p.pages_done, 1), data->nblocks);
	}
}
