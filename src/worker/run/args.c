/*-------------------------------------------------------------------------
 *
 * args.c
 *	  Filling a kernel's parameter, in the order that the code generator laid down.
 *
 * Shared scans fill the words that only they know, by a hook (hooks.h).
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "args.h"

#include "hooks.h"
#include "passes.h"

/* An offset into the request's device part as an address; 0 stays 0. */
static u64
device_address(const GcArgSource *src, u64 off)
{
	return off ? src->device_part + off : 0;
}

static u64
build_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcBuildTable *t = src->builds[w->index];
	const GcBuildValue *v = &src->request->builds[w->index];

	switch (w->part)
	{
		case GC_BUILD_PART_BITMAP:
			return t->bitmap;
		case GC_BUILD_PART_BASE:
			return (u64) v->base;
		case GC_BUILD_PART_RANGE:
			return v->range;
		case GC_BUILD_PART_SLOTS:
			return t->slots;
		case GC_BUILD_PART_MASK:
			return v->slots - 1;
		case GC_BUILD_PART_KEYS:
			return t->keys;
		case GC_BUILD_PART_NEXT:
			return t->next;
		case GC_BUILD_PART_MATCHED:
			return src->matched[w->index];
		case GC_BUILD_PART_FLAGS:
			return t->flags;
		default:
			return v->cap;
	}
}

static u64
payload_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcPPayload *pay = &gc_payloads(src->request->program)[w->index];
	const GcPBuild *build = &gc_builds(src->request->program)[pay->build];

	if (w->part == 1)
		return (u64) src->request->payload_bases[w->index];
	return src->builds[pay->build]->payload[w->index - build->first_payload];
}

static u64
group_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcSinkMemory *sink = &src->sinks[w->index];

	switch (w->part)
	{
		case GC_GROUP_PART_TABLE:
			return sink->groups;
		case GC_GROUP_PART_COUNT:
			return src->request->sinks[w->index].ngroups;
		case GC_GROUP_PART_SLOTS:
			return sink->group_slots;
		case GC_GROUP_PART_MASK:
			return src->request->sinks[w->index].group_slots - 1;
		case GC_GROUP_PART_FLAGS:
			return sink->memory;
		default:
			return sink->group_keys;
	}
}

static u64
choice_word(const GcArgSource *src, u8 part)
{
	const GcRequest *r = src->request;

	switch (part)
	{
		case GC_CHOICE_WORDS:
			return src->gathered;
		case GC_CHOICE_KEYS:
			return src->gathered_keys;
		case GC_CHOICE_CAP:
			return r->sinks[r->program->npipelines - 1].rows_cap;
		case GC_CHOICE_TOP:
			return src->top;
		case GC_CHOICE_PASS:
			return src->pass;
		case GC_CHOICE_BEST:
			return r->best;
		default:
			return r->wanted;
	}
}

static u64
pairs_word(const GcPairs *pairs, const GcArgWord *w)
{
	switch (w->part)
	{
		case GC_PAIRS_FROM:
			return pairs->from;
		case GC_PAIRS_COUNT:
			return pairs->count;
		case GC_PAIRS_SLICES:
			return pairs->slices;
		case GC_PAIRS_PARTS:
			return pairs->parts;
		case GC_PAIRS_LIST_SLICES:
			return pairs->list_slices[w->index];
		default:
			return pairs->list_rows[w->index];
	}
}

static u64
lut_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcLutValue *v = &src->request->luts[w->index];
	const GcDeviceLookup *shared = src->lookups[w->index];

	switch (w->part)
	{
		case GC_LUT_DATA:
			return shared ? gc_device_lookup_data(shared) : device_address(src, v->data_off);
		case GC_LUT_NULLS:
			return shared ? gc_device_lookup_nulls(shared) : device_address(src, v->nulls_off);
		default:
			return (u64) v->base;
	}
}

u64
gc_arg_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcRequest *r = src->request;

	switch (w->type)
	{
		case GC_ARG_COLUMN:
			if (w->part == GC_COLUMN_PRIVATE)
				return device_address(src, r->columns[w->index].private_off);
			if (w->part == GC_COLUMN_PACKED_ROWS)
				return gc_run_hooks->arg_word(src->share, w);
			if (src->wave && src->wave[w->index])
				return src->wave[w->index];
			return src->tables[w->index] ? gc_table_array(src->tables[w->index]) : 0;
		case GC_ARG_PARAM:
			return w->part == 1 ? r->params[w->index].hi : r->params[w->index].lo;
		case GC_ARG_LUT:
			return lut_word(src, w);
		case GC_ARG_LIST:
			return w->part == 1 ? r->lists[w->index].count
				: device_address(src, r->lists[w->index].data_off);
		case GC_ARG_BUILD:
			return build_word(src, w);
		case GC_ARG_PAYLOAD:
			return payload_word(src, w);
		case GC_ARG_GROUP:
			return group_word(src, w);
		case GC_ARG_GROUP_KEY:
			return w->part == 1 ? r->group_keys[w->index].stride : (u64) r->group_keys[w->index].base;
		case GC_ARG_SELECTION:
		case GC_ARG_PREDICATE:
		case GC_ARG_DIRECT:
			return gc_run_hooks->arg_word(src->share, w);
		case GC_ARG_CHOICE:
			return choice_word(src, w->part);
		case GC_ARG_PAIRS:
			return pairs_word(&src->pairs, w);
		case GC_ARG_EDGE:
			return src->edge ? src->edge[w->part] : 0;
		case GC_ARG_SPLIT:
			return gc_passes_word(src->passes, w);
		default:				/* GC_ARG_ROWS */
			return w->part == 1 ? r->sinks[r->program->npipelines - 1].rows_cap : src->sinks[r->program->npipelines - 1].rows;
	}
}

void
gc_fill_args(const GcArgSource *src, const GcPipelineKernel *kernel, GcArgs *args)
{
	for (int i = 0; i < kernel->nwords; i++)
		args->w[i] = gc_arg_word(src, &kernel->words[i]);
}
