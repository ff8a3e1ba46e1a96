/*-------------------------------------------------------------------------
 *
 * column_uses.c
 *	  How often parts of columns were used, and the trace of requests and what they read.
 *
 * Uses are remembered by relation and column, so that a new directory has the history of the old one.
 * A request mostly reads all chunks of a column, or a run of them.  So histories are kept for a few
 * places of a column, each of which stands for a run of chunks.  As long as each request read all of them, there is
 * one history for all.
 *
 * gpuconc.debug_trace_memory writes gpuconc_memory.trace in the data directory, for bench/memory/.  It
 * has a line "r request milliseconds slot" for each request.  Behind that is a line
 * "c database relation attribute place bytes" for each place of a column that it reads.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "column_uses.h"

#include "storage/fd.h"
#include "utils/timestamp.h"

#include "../../force.h"
#include "eviction.h"

#define TRACE_FILE	"gpuconc_memory.trace"

static FILE *trace = NULL;

/* The trace, opened or closed as the setting says; NULL: it is off, or cannot be written. */
static FILE *
trace_file(void)
{
	if (gc_memory_trace_wanted() == (trace != NULL))
		return trace;
	if (trace)
	{
		FreeFile(trace);
		trace = NULL;
		return NULL;
	}
	trace = AllocateFile(TRACE_FILE, "a");
	if (trace)
		setvbuf(trace, NULL, _IOLBF, 0);
	return trace;
}

void
gc_request_begins(int slot)
{
	FILE	   *file = trace_file();
	const u64	request = gc_next_request();

	if (file)
		fprintf(file, "r %llu %llu %d\n", (unsigned long long) request,
				(unsigned long long) (GetCurrentTimestamp() / 1000), slot);
}

u64
gc_place_key(const GcColumnUses *uses, u32 place)
{
	return gc_history_key(uses->key, place, 3);
}

u64
gc_column_key(const GcDirectory *dir, int col)
{
	return gc_history_key((u64) dir->key.dbid << 32 | dir->key.relid, (u64) dir->columns[col].spec.attnum, 4);
}

u64
gc_chunk_use_key(const GcDirectory *dir, int col, u32 chunk)
{
	return gc_history_key(gc_column_key(dir, col), gc_place_of(dir->nchunks, chunk), 3);
}

void
gc_column_uses_recall(GcColumnUses *uses, const GcDirectory *dir, int col)
{
	uses->key = gc_column_key(dir, col);
	uses->of.nplaces = Min(dir->nchunks, GC_PLACES);
	for (u32 place = 0; place < uses->of.nplaces; place++)
		uses->of.place[place] = gc_uses_of(gc_place_key(uses, place));
	gc_place_uses_filled(&uses->of);
}

void
gc_column_uses_keep(const GcColumnUses *uses)
{
	for (u32 place = 0; place < uses->of.nplaces; place++)
	{
		const GcUses *of = gc_uses_of_place(&uses->of, place);

		if (of->count > 0)
			gc_keep_uses(gc_place_key(uses, place), of);
	}
}

/* Bytes of the chunks that are read, by place. */
static void
trace_column(FILE *file, const GcDirectory *dir, int col, const GcSource *sources, u32 nsources)
{
	u64			bytes[GC_PLACES] = {0};

	for (u32 s = 0; s < nsources; s++)
	{
		const u32	i = sources[s].chunk;

		bytes[gc_place_of(dir->nchunks, i)] += GC_CELL(dir, i, col)->data_bytes + GC_CELL(dir, i, col)->null_bytes;
	}
	for (u32 place = 0; place < GC_PLACES; place++)
	{
		if (bytes[place] > 0)
			fprintf(file, "c %u %u %d %u %llu\n", dir->key.dbid, dir->key.relid, dir->columns[col].spec.attnum, place,
					(unsigned long long) bytes[place]);
	}
}

/* A bit for each place in which one of these chunks lies. */
static u32
places_of(const GcColumnUses *uses, const GcDirectory *dir, const GcSource *sources, u32 nsources)
{
	u32			places = 0;

	if (nsources == dir->nchunks)
		return gc_all_places(&uses->of);
	for (u32 s = 0; s < nsources; s++)
		places |= (u32) 1 << gc_place_of(dir->nchunks, sources[s].chunk);
	return places;
}

void
gc_column_used(GcColumnUses *uses, const GcDirectory *dir, int col, const GcSource *sources, u32 nsources, float spared)
{
	gc_place_uses_note(&uses->of, places_of(uses, dir, sources, nsources), gc_present_request(), spared);
	if (trace)
		trace_column(trace, dir, col, sources, nsources);
}

GcUses
gc_column_used_in_waves(const GcDirectory *dir, int col, const GcSource *sources, u32 nsources, float spared)
{
	GcColumnUses uses;
	GcUses		most = {0};

	gc_column_uses_recall(&uses, dir, col);
	gc_column_used(&uses, dir, col, sources, nsources, spared);
	gc_column_uses_keep(&uses);
	for (u32 place = 0; place < uses.of.nplaces; place++)
	{
		if (gc_uses_of_place(&uses.of, place)->count > most.count)
			most = *gc_uses_of_place(&uses.of, place);
	}
	return most;
}
