/*-------------------------------------------------------------------------
 *
 * sinks.c
 *	  Where the parts of a pipeline's sink lie in device memory.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "sinks.h"

u64
gc_lay_out_sink(const GcRequest *request, int pipeline, GcAddr memory, GcSinkMemory *sink)
{
	const GcPPipeline *pl = &gc_pipelines(request->program)[pipeline];
	const GcSinkValue *v = &request->sinks[pipeline];
	u64			groups = 0,
				slots = 0,
				keys = 0,
				rows = 0;

	if (pl->sink == GC_SINK_ROWS)
	{
		rows = gc_row_words(pl) * v->rows_cap * 8;
		groups = pl->nkeys > 0 ? gc_sink_align(GC_FIRST_BYTES) : 0;
	}
	else
		groups = gc_sink_align(v->ngroups * pl->group_words * 8);
	if (pl->sink == GC_SINK_AGGREGATE && pl->group_mode == GC_GROUP_HASH)
	{
		slots = gc_sink_align(v->group_slots * 8);
		keys = gc_sink_align(v->ngroups * v->key_words * 8);
	}
	sink->memory = memory;
	sink->groups = memory + GC_FLAGS_ROOM;
	sink->group_slots = sink->groups + groups;
	sink->group_keys = sink->group_slots + slots;
	sink->rows = sink->group_keys + keys;
	sink->zero = GC_FLAGS_ROOM + groups + slots;
	return GC_FLAGS_ROOM + groups + slots + keys + rows;
}

GcChosenMemory
gc_chosen_memory(const GcRequest *request, bool gather, bool choose)
{
	const int	main = request->program->npipelines - 1;
	const GcPPipeline *pl = &gc_pipelines(request->program)[main];
	const GcSinkValue *v = &request->sinks[main];
	const u64	chosen = gather ? v->ngroups : choose ? v->rows_cap : 0;
	const u64	key_words = pl->group_mode == GC_GROUP_DENSE ? 1 : v->key_words;

	return (GcChosenMemory) {.top = choose ? gc_sink_align(GC_TOP_BYTES) : 0,
		.words = gc_sink_align(chosen * pl->group_words * 8),.keys = chosen * key_words * 8};
}
