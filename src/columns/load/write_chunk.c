/*-------------------------------------------------------------------------
 *
 * write_chunk.c
 *	  Putting a chunk that was read (chunk.c) into the cache's memory, and handing it in to its load job.
 *
 * Runs in every participant of a load job, with no guard: memory may have to be waited for.  A job without room fails,
 * also if the chunks so far tell that there will be none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "chunk_internal.h"
#include "../encode/encode.h"
#include "../store/columns.h"
#include "../store/epoch.h"
#include "../store/evict.h"
#include "hot_chunk.h"
#include "projection.h"
#include "../../settings.h"
#include "../store/store.h"

/* Projections are rough: a load goes on that would miss its room by less than the rest. */
#define NEARLY_ALL		0.9

/* Column data of a cell begins here, aligned for the device. */
#define CELL_HEADER		256

StaticAssertDecl(sizeof(GcChunkColumn) <= CELL_HEADER, "GcChunkColumn has outgrown its room");

static GcChunk *
make_heap_chunk(const GcReading *reading)
{
	Size		starts = (reading->npages + 1) * sizeof(uint32);
	Size		lsns = reading->npages * sizeof(XLogRecPtr);
	Size		present = GC_PRESENT_BYTES(reading->npages);
	Size		missing = reading->first_missing[reading->npages] * sizeof(uint16);
	Size		header = MAXALIGN(sizeof(GcChunk));
	GcChunk    *chunk = gc_job_alloc(header + MAXALIGN(starts) + present + lsns +
									 reading->npages * sizeof(pg_atomic_uint32) + starts + missing, sizeof(GcObject));

	if (chunk == NULL)
		return NULL;
	chunk->chunkno = reading->chunkno;
	chunk->first = reading->first;
	chunk->npages = reading->npages;
	chunk->npresent = reading->npresent;
	chunk->nrows = reading->row_start[reading->npages];
	chunk->map_lsn = reading->lsn;
	pg_atomic_init_u64(&chunk->proven_lsn, reading->lsn);
	pg_atomic_init_u64(&chunk->proven_to, reading->proven_to);
	chunk->row_start = (uint32 *) ((char *) chunk + header);
	memcpy(chunk->row_start, reading->row_start, starts);
	chunk->present = (uint8 *) ((char *) chunk->row_start + MAXALIGN(starts));
	memcpy(chunk->present, reading->present, present);
	chunk->lsns = (XLogRecPtr *) (chunk->present + present);
	memcpy(chunk->lsns, reading->lsns, lsns);
	chunk->buffers = (pg_atomic_uint32 *) ((char *) chunk->lsns + lsns);
	for (uint32 page = 0; page < reading->npages; page++)
		pg_atomic_init_u32(&chunk->buffers[page], 0);
	chunk->id = gc_store_new_id();
	chunk->before = reading->before;
	chunk->first_missing = (uint32 *) (chunk->buffers + reading->npages);
	memcpy(chunk->first_missing, reading->first_missing, starts);
	chunk->missing = (uint16 *) (chunk->first_missing + reading->npages + 1);
	memcpy(chunk->missing, reading->missing, missing);
	chunk->hot = NULL;
	return chunk;
}

static GcChunkColumn *
make_cell(const GcEncoder *encoder, int i, const GcEncodedColumn *enc)
{
	char	   *data;
	GcChunkColumn *cell = gc_job_alloc(CELL_HEADER + enc->data_bytes + enc->null_bytes,
									   sizeof(GcChunkColumn));

	if (cell == NULL)
		return NULL;
	data = (char *) cell + CELL_HEADER;
	cell->obj.region_id = gc_new_region_id();
	cell->desc.data = (uintptr_t) data;
	cell->desc.nulls = enc->null_bytes > 0 ? (uintptr_t) (data + enc->data_bytes) : 0;
	cell->desc.base = enc->base;
	cell->desc.width = enc->width;
	cell->desc.scale = enc->scale;
	cell->desc.nrows = gc_encoder_rows(encoder);
	cell->span = enc->span;
	cell->data_bytes = enc->data_bytes;
	cell->null_bytes = enc->null_bytes;
	gc_encoder_write(encoder, i, data, data + enc->data_bytes);
	return cell;
}

/* No memory: fail the job, with the sizes that explain it. */
static void
fail_for_room(GcLoader *loader)
{
	gc_job_fail(GC_CACHE_FULL,
				"There is no more room after %zu kB of table \"%s\"; columns can take %zu kB of gpuconc.host_cache_size.",
				loader->job->bytes / 1024, RelationGetRelationName(loader->rel),
				gc_store_capacity() / 1024);
}

/*
 * Fail early if the chunks so far tell that the table will never fit, or not beside what is used.  What is retired will be
 * free; so it is no reason to give up.
 */
static void
check_projection(GcLoader *loader)
{
	GcJob	   *job = loader->job;
	const GcProjection p = gc_job_projection(job);

	if (p.bytes > gc_store_capacity())
		gc_job_fail(GC_CACHE_FULL, GC_TOO_LARGE_DETAIL, RelationGetRelationName(loader->rel), p.bytes / 1024,
					gc_store_capacity() / 1024);
	else if (p.missing * NEARLY_ALL > gc_store_room(job->since) + gc_retired_bytes())
		fail_for_room(loader);
}

void
gc_chunk_write(GcLoader *loader, const GcReading *reading)
{
	GcJobData  *data = loader->job->data;
	GcEncoder  *encoder = gc_reader_encoder(reading->set->reader);
	const GcEncodedColumn *enc = gc_encoder_finish(encoder);
	GcChunk    *chunk = NULL;
	GcChunkColumn **cells = palloc0(Max(data->ncols, 1) * sizeof(GcChunkColumn *));

	if (reading->full)
	{
		chunk = reading->wanted ? gc_hot_make_chunk(reading) : make_heap_chunk(reading);
		if (chunk == NULL)
		{
			fail_for_room(loader);
			return;
		}
	}
	for (int i = 0; i < reading->set->ncols; i++)
	{
		GcChunkColumn *cell;

		if (enc[i].problem != GC_COL_OK)
			continue;
		CHECK_FOR_INTERRUPTS();
		cell = make_cell(encoder, i, &enc[i]);
		if (cell == NULL)
		{
			fail_for_room(loader);
			return;
		}
		cells[reading->set->job_cols[i]] = cell;
	}
	gc_job_chunk_done(reading->full ? GC_CHUNK_REPLACED : GC_CHUNK_ADDED, chunk, cells,
					  reading->pages_read, gc_pages_refused(reading));
	check_projection(loader);
}
