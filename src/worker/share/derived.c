/*-------------------------------------------------------------------------
 *
 * derived.c
 *	  Columns that the device derives from a scan set's columns: group-coded columns (key_groups.c).
 *
 * The first selection scan that reads a chunk writes its derived codes.  They come from codes
 * that never change, so they are never written again.  Other scans wait for the writer by an
 * event, in stream order.  Chunks that shared scans do
 * not read have none.
 *
 * The worker's main thread.  The memory of the codes belongs to the group-coded column.
 *
 *-------------------------------------------------------------------------
 */
#include "derived.h"

#include "utils/memutils.h"

#include "../memory/device_memory.h"
#include "../memory/state.h"

#define WRITER_BLOCKS		1056
#define WRITER_THREADS		256

u64
gc_derived_rows(const GcDirectory *dir, u32 nchunks)
{
	u64			rows = 0;

	for (u32 i = 0; i < nchunks; i++)
		rows += dir->chunks[i] ? TYPEALIGN64(GC_PAD_ROWS, dir->chunks[i]->nrows) : 0;
	return rows;
}

bool
gc_derived_lay_out(GcDerived *d, const GcDirectory *dir, u32 nchunks, u8 width, GcAddr data)
{
	d->cols = gc_device_alloc_spare(2 * (nchunks + 1) * sizeof(GcCol), true);
	if (d->cols == 0)
		return false;
	gc_device_label(d->cols, GC_MEMORY_COLUMNS);
	d->nchunks = nchunks;
	d->unwritten = 0;
	d->host = MemoryContextAllocZero(TopMemoryContext, 2 * (nchunks + 1) * sizeof(GcCol));
	d->place = MemoryContextAlloc(TopMemoryContext, (nchunks + 1) * sizeof(GcAddr));
	for (u32 i = 0; i < nchunks; i++)
	{
		d->host[i].width = d->host[d->nchunks + i].width = width;
		d->place[i] = data;
		d->unwritten += dir->chunks[i] != NULL;
		data += dir->chunks[i] ? TYPEALIGN64(GC_PAD_ROWS, dir->chunks[i]->nrows) * width : 0;
	}
	return true;
}

void
gc_derived_free(GcDerived *d)
{
	gc_device_free(d->cols);
	if (d->host)
	{
		pfree(d->host);
		pfree(d->place);
	}
	if (d->ready)
		gc_worker.ops->event_put(gc_worker.dev, d->ready);
	*d = (GcDerived) {0};
}

/* Choose the chunks that members read of the column and that are not yet written.  False: none. */
static bool
choose_chunks(const GcScanMembers *scan, GcDerived *d, u32 readers)
{
	GcCol	   *to_write = d->host + d->nchunks;
	bool		any = false;

	if (d->unwritten == 0)
		return false;
	for (u32 i = 0; i < d->nchunks; i++)
		to_write[i].data = 0;
	for (int m = 0; m < scan->n; m++)
	{
		for (u32 i = 0; i < scan->nsources[m] && readers >> scan->member_no[m] & 1; i++)
		{
			u32			chunk = scan->sources[m][i].chunk;

			if (d->host[chunk].data != 0 || to_write[chunk].data != 0)
				continue;
			to_write[chunk].data = d->place[chunk];
			any = true;
		}
	}
	return any;
}

/*
 * Write the missing chunks.  Kernels that another scan launched before may still read the
 * descriptions.  So they change behind the writer, in stream order.
 */
static GcCode
write_chunks(GcScanMembers *scan, GcDerived *d, const GcPipelineKernel *k, GcArgs *args, int nwords)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcStream   *stream = scan->run[0]->memory.stream;
	GcLaunch	launch = {.blocks = WRITER_BLOCKS,.threads = Min(WRITER_THREADS, k->info.max_threads)};
	GcAddr		to_write = d->cols + d->nchunks * sizeof(GcCol);
	GcCode		code;

	args->scan = gc_scan_args(scan);
	args->w[1] = to_write;
	code = ops->copy_in(stream, to_write, d->host + d->nchunks, d->nchunks * sizeof(GcCol), scan->err);
	if (code == GC_OK)
	{
		gc_slot_run_info(scan->run[0]->slot)->kernels++;
		code = ops->launch(stream, k->kernel, &launch, args, nwords, scan->err);
	}
	if (code != GC_OK)
		return code;
	for (u32 i = 0; i < d->nchunks; i++)
	{
		if (d->host[d->nchunks + i].data == 0)
			continue;
		d->host[i].data = d->host[d->nchunks + i].data;
		d->unwritten--;
	}
	code = ops->copy_in(stream, d->cols, d->host, d->nchunks * sizeof(GcCol), scan->err);
	/* Without their descriptions on the device these chunks are not there. */
	for (u32 i = 0; code != GC_OK && i < d->nchunks; i++)
	{
		if (d->host[d->nchunks + i].data == 0)
			continue;
		d->host[i].data = 0;
		d->unwritten++;
	}
	if (d->ready)
		ops->event_put(gc_worker.dev, d->ready);
	d->ready = ops->event(stream, scan->err);
	return d->ready ? code : GC_DEVICE_FAILED;
}

GcCode
gc_derived_write(GcScanMembers *scan, GcDerived *d, u32 readers, const GcPipelineKernel *k, GcArgs *args, int nwords)
{
	GcCode		code = GC_OK;

	if (d->ready)
		code = gc_worker.ops->stream_wait(scan->run[0]->memory.stream, d->ready, scan->err);
	if (code == GC_OK && choose_chunks(scan, d, readers))
		code = write_chunks(scan, d, k, args, nwords);
	return code;
}
