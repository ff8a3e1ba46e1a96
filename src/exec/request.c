/*-------------------------------------------------------------------------
 *
 * request.c
 *	  Writing a request: the bound program and its values in one arena block.
 *
 * Laid out in two passes with one cursor: the first only counts, the second
 * writes.  The device part comes last and is copied to the device as it is; its
 * inner addresses are offsets, which the worker makes absolute.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "lookup.h"
#include "compute.h"
#include "window.h"
#include "../columns/serve/rows_key.h"
#include "../columns/store/epoch.h"
#include "../force.h"
#include "../program/tagged.h"
#include "../settings.h"

#define DEVICE_ALIGN	64

typedef struct Cursor
{
	char	   *base;			/* NULL while counting */
	Size		at;
} Cursor;

/* Space for n bytes; where it is, or NULL while counting. */
static void *
take(Cursor *c, Size n)
{
	char	   *p = c->base ? c->base + c->at : NULL;

	c->at += MAXALIGN(n);
	return p;
}

/* Space in the device part: its offset there; *p as take(). */
static u64
take_device(Cursor *c, Size n, void **p)
{
	u64			off = c->at;

	*p = c->base ? c->base + c->at : NULL;
	c->at += TYPEALIGN(DEVICE_ALIGN, n);
	return off;
}

/*-------------------------------------------------------------------------
 * Device part
 *-------------------------------------------------------------------------
 */

/* Chunks of which not all rows are seen, as they are written. */
typedef struct VisibleChunks
{
	GcVisible  *next;			/* NULL while counting */
	uint32		most_rows;
	u64			bitmap_bytes;	/* so far; offset 0 means none */
} VisibleChunks;

/* Say which rows of a chunk are seen; where their bitmap will be. */
static u64
write_holes(const GcServedChunk *chunk, Cursor *c, VisibleChunks *visible)
{
	const u64	bitmap = visible->bitmap_bytes;
	void	   *holes;
	u64			off;

	if (chunk->nholes == 0)
		return 0;
	off = take_device(c, chunk->nholes * sizeof(GcHole), &holes);
	visible->bitmap_bytes += TYPEALIGN(GC_PAD_ROWS, chunk->nrows) / 8;
	visible->most_rows = Max(visible->most_rows, chunk->nrows);
	if (holes)
	{
		gc_put_holes(chunk, holes);
		*visible->next++ = (GcVisible) {bitmap, off, chunk->nholes, chunk->nrows};
	}
	return bitmap;
}

/* Chunks that are read and of which not all rows are seen. */
static uint32
count_visible(GcBinding *b)
{
	uint32		n = 0;

	for (int i = 0; i < b->program->ninputs; i++)
	{
		const GcInputState *in = &b->node->inputs[i];

		for (uint32 k = 0; in->dir && k < in->served.nchunks; k++)
			n += !in->skipped[k] && in->served.chunks[k].nholes > 0;
	}
	return n;
}

/* The chunks that an input is read from, and which of their rows count. */
static void
write_sources(GcBinding *b, int i, Cursor *c, GcInputValue *v, VisibleChunks *visible)
{
	GcInputState *in = &b->node->inputs[i];
	uint32		n = in->private ? 1 : 0;
	GcSource   *sources;
	void	   *p;

	for (uint32 k = 0; in->dir && k < in->served.nchunks; k++)
		n += !in->skipped[k];
	in->nsources = n;
	v->nsources = n;
	v->nprivate = v->nalone = in->private ? 1 : 0;
	v->rows = gc_input_rows(in);
	v->max_rows = in->private_rows;
	if (gc_inputs(b->program)[i].groups_of)
	{
		/* Groups and rows have no sources; only how many there may be is told. */
		const u16	from = gc_inputs(b->program)[i].groups_of - 1;

		v->rows = b->sinks[from].expected;
		v->max_rows = Min(gc_room_of(b, from), PG_UINT32_MAX);
	}
	else if (gc_inputs(b->program)[i].unmatched_of)
	{
		const GcBuildValue *build = &b->builds[gc_inputs(b->program)[i].unmatched_of - 1];

		v->rows = build->expected;
		v->max_rows = Min(build->cap, PG_UINT32_MAX);
	}
	v->sources_off = take_device(c, n * sizeof(GcSource), &p);
	sources = p;

	n = 0;
	for (uint32 k = 0; in->dir && k < in->served.nchunks; k++)
	{
		const GcServedChunk *chunk = &in->served.chunks[k];
		u64			valid;

		if (in->skipped[k])
			continue;
		valid = write_holes(chunk, c, visible);
		v->max_rows = Max(v->max_rows, chunk->nrows);
		v->nalone += chunk->chunk >= in->dir->nheap;
		if (sources)
			sources[n] = (GcSource) {valid, chunk->chunk, chunk->nrows};
		n++;
	}
	/* Where no page is in a chunk of the heap, scans of the same directory are shared. */
	if (v->nalone == v->nsources)
		v->nalone = v->nprivate;
	if (in->private && sources)
		sources[n] = (GcSource) {0, GC_PRIVATE_CHUNK, in->private_rows};
}

/* The directory of cached chunks; an append input's is the request's own. */
static void
write_directory(GcBinding *b, int i, Cursor *c, GcInputValue *v)
{
	const GcInputState *in = &b->node->inputs[i];
	void	   *memory;

	if (in->nparts == 0 || in->dir == NULL)
	{
		if (v)
			v->dir = in->dir;
		return;
	}
	memory = take(c, gc_append_size(in));
	if (v)
		v->dir = gc_append_write(in, memory);
}

/* Write the session's own rows of an input, column by column. */
static void
write_columns(GcBinding *b, int i, Cursor *c, GcColumnValue *v)
{
	GcInputState *in = &b->node->inputs[i];

	for (int k = 0; k < in->ncols; k++)
	{
		const GcEncodedColumn *e;
		GcCol	   *col;
		void	   *p,
				   *data,
				   *nulls = NULL;
		u64			data_off,
					nulls_off = 0;

		v[k].dir_column = in->dir ? in->dir_column[k] : -1;
		v[k].private_off = 0;
		if (in->private == NULL || b->plan->columns[in->first + k].late)
			continue;
		e = &in->encoded[k];
		v[k].private_off = take_device(c, sizeof(GcCol), &p);
		col = p;
		data_off = take_device(c, e->data_bytes, &data);
		if (e->null_bytes > 0)
			nulls_off = take_device(c, e->null_bytes, &nulls);
		if (col == NULL)
			continue;
		gc_encoder_write(in->private, k, data, nulls);
		*col = (GcCol) {data_off, nulls_off, e->base, e->width, e->scale, in->private_rows};
	}
}

/* A shared table stays where it is, and anything else is written out. */
static void
write_lookup(GcBinding *b, int i, Cursor *c, GcLutValue *v)
{
	const GcPLut *lut = &gc_luts(b->program)[i];
	const GcLookup *l = b->lookups[i];
	uint32		k = 0;
	void	   *data,
			   *nulls = NULL;

	*v = (GcLutValue) {.base = l->base};
	if (l->program)
	{
		v->dict = gc_dict_shared(l->program_from);
		v->function = l->function;
		v->count = l->count - 1;
		v->nops = l->program->nops;
		v->utf8 = l->program->utf8;
		v->width = lut->width;
		v->data_off = take_device(c, l->program->bytes, &data);
		if (data)
			memcpy(data, l->program->data, l->program->bytes);
		return;
	}
	if (l->first == l->count && l->shared->width == lut->width)
	{
		v->shared = l->shared;
		return;
	}
	v->data_off = take_device(c, (Size) l->count * lut->width, &data);
	v->nulls_off = lut->nullable ? take_device(c, l->count, &nulls) : 0;
	if (data == NULL)
		return;
	if (l->first > 0 && l->shared->width == lut->width)
	{
		memcpy(data, l->shared->data, (Size) l->first * lut->width);
		if (nulls)
			memcpy(nulls, l->shared->nulls, l->first);
		k = l->first;
	}
	for (; k < l->count; k++)
	{
		if (lut->width == 1)
			((uint8 *) data)[k] = gc_lookup_value(l, k);
		else if (lut->width == 4)
			((int32 *) data)[k] = gc_lookup_value(l, k);
		else
			((int64 *) data)[k] = gc_lookup_value(l, k);
		if (lut->nullable)
			((uint8 *) nulls)[k] = gc_lookup_is_null(l, k);
	}
}

/* Write a list, sorted, for kernels that search it. */
static void
write_list(GcBinding *b, int i, Cursor *c, GcListValue *v)
{
	void	   *data;

	v->count = b->list_counts[i];
	v->data_off = take_device(c, (v->count + 1) * sizeof(int64), &data);
	if (data && v->count > 0)
		memcpy(data, b->lists[i], v->count * sizeof(int64));
}

/*-------------------------------------------------------------------------
 * Sharing of builds
 *-------------------------------------------------------------------------
 */

/* Which of the pipeline's steps probes the build. */
static u16
probe_number(GcBinding *b, const GcPPipeline *pl, u16 build)
{
	u16			s = 0;

	while (s < pl->nsteps && (gc_steps(b->program)[pl->first_step + s].type != GC_STEP_PROBE ||
							  gc_steps(b->program)[pl->first_step + s].build != build))
		s++;
	return s;
}

/*
 * Mix in a payload that pipeline pl reads: which of the pipeline's probes it comes from, and which of
 * the build's it is.  What it holds is in the build's own hash.
 */
static void
mix_payload(GcBinding *b, GcHash *h, const GcPPipeline *pl, u16 payload)
{
	u16			build = gc_payloads(b->program)[payload].build;
	u16			where[2] = {probe_number(b, pl, build), payload - gc_builds(b->program)[build].first_payload};

	gc_hash_mix(h, where, sizeof(where));
}

/* Mix in an expression tree of pipeline pl, without the program's own numbering. */
static void
mix_expr(GcBinding *b, GcHash *h, const GcPPipeline *pl, u16 e)
{
	GcExpr		x = gc_exprs(b->program)[e];
	u16			arg[3] = {x.arg[0], x.arg[1], x.arg[2]};
	u16			ref = x.ref;

	x.ref = 0;
	x.arg[0] = x.arg[1] = x.arg[2] = 0;
	gc_hash_mix(h, &x, sizeof(x));
	switch (x.op)
	{
		case GC_OP_COLUMN:
			gc_hash_mix(h, &gc_columns(b->program)[ref].attnum, sizeof(i16));
			break;
		case GC_OP_PARAM:
			gc_hash_mix(h, &b->params[ref], sizeof(GcParamValue));
			break;
		case GC_OP_LUT:
			gc_hash_mix(h, &b->lookups[ref]->hash, sizeof(GcHash));
			break;
		case GC_OP_IN:
			gc_hash_mix(h, b->lists[ref] ? b->lists[ref] : (void *) "", b->list_counts[ref] * sizeof(int64));
			break;
		case GC_OP_PAYLOAD:
			mix_payload(b, h, pl, ref);
			break;
		case GC_OP_OUTER:
			ref = probe_number(b, pl, ref);
			gc_hash_mix(h, &ref, sizeof(ref));
			break;
		case GC_OP_ROW_ID:		/* of the pipeline's own input */
			break;
		default:				/* a function, a round, a set; others have none */
			gc_hash_mix(h, &ref, sizeof(ref));
			break;
	}
	for (int i = 0; i < 3; i++)
	{
		if (arg[i] != GC_NONE)
			mix_expr(b, h, pl, arg[i]);
	}
}

/* Mix in which rows an input has; false if others are not known to read the same. */
static bool
mix_rows(GcHash *h, const GcInputState *in)
{
	gc_hash_mix(h, &in->rows, sizeof(in->rows));
	return in->rows.h[0] != 0;
}

/* The number that is taken off a payload's values where they are stored as codes. */
static i64
payload_base(const GcBinding *b, const GcPPayload *pay)
{
	/* Code 0 is NULL in nullable payloads: values begin at 1. */
	return pay->reg == GC_F32 || pay->reg == GC_F64 || pay->reg == GC_I128 ? 0 :
		(i64) (gc_stored_range(&gc_exprs(b->program)[pay->expr], &b->ranges[pay->expr]).lo - pay->nullable);
}

/*
 * Mix in a payload of a build of pipeline pl: its expression, and how its values are stored.  The latter follows
 * from ranges that are mixed in anyway.  But a table is read as the request that finds it would have stored it,
 * and nothing is compared when it is found.
 */
static void
mix_stored(GcBinding *b, GcHash *h, const GcPPipeline *pl, const GcPPayload *pay)
{
	const i64	base = payload_base(b, pay);
	const u8	stored[] = {pay->kind, pay->width, pay->reg, pay->nullable, pay->greatest, pay->scale, pay->min_scale};

	mix_expr(b, h, pl, pay->expr);
	gc_hash_mix(h, &base, sizeof(base));
	gc_hash_mix(h, stored, sizeof(stored));
}

/*
 * Identity of what build i will contain: the rows that are read, and everything that is
 * computed from them.  Zero if it is this request's alone.
 */
static GcHash
share_hash(GcBinding *b, int i)
{
	const GcPBuild *build = &gc_builds(b->program)[i];
	const GcPPipeline *pl = &gc_pipelines(b->program)[build->pipeline];
	const GcInputState *in = &b->node->inputs[pl->input];
	GcBuildValue *v = &b->builds[i];
	GcHash		none = {{0, 0}};
	GcHash		h = {{0x6770, 0x636f}};
	uint32		shape[] = {build->mode, build->unique, build->set, build->keeps, build->nkeys, build->npayloads, pl->nsteps};

	if (gc_has_arms(b->program, build->pipeline) || !mix_rows(&h, in))
		return none;
	gc_hash_mix(&h, shape, sizeof(shape));
	gc_hash_mix(&h, &v->base, sizeof(v->base) + sizeof(v->range) + sizeof(v->cap) + sizeof(v->slots));
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(b->program)[pl->first_step + s];

		gc_hash_mix(&h, &step->type, sizeof(step->type));
		if (step->type == GC_STEP_FILTER)
		{
			mix_expr(b, &h, pl, step->expr);
			continue;
		}
		gc_hash_mix(&h, &step->join, sizeof(step->join));
		if (b->builds[step->build].share.h[0] == 0)
			return none;
		gc_hash_mix(&h, &b->builds[step->build].share, sizeof(GcHash));
		for (int k = 0; k < gc_builds(b->program)[step->build].nkeys; k++)
			mix_expr(b, &h, pl, gc_refs(b->program)[step->first_key + k]);
		if (step->expr != GC_NONE)
			mix_expr(b, &h, pl, step->expr);
	}
	for (int k = 0; k < build->nkeys; k++)
		mix_expr(b, &h, pl, gc_refs(b->program)[build->first_key + k]);
	for (int k = 0; k < build->npayloads; k++)
		mix_stored(b, &h, pl, &gc_payloads(b->program)[build->first_payload + k]);
	return h;
}

/*
 * Identity of the whole result, besides the program: which rows are read, and all
 * values.  Zero if some input has rows that are this request's alone.
 */
static GcHash
share_request(GcBinding *b)
{
	GcHash		h = {{0x7265, 0x7175}};
	GcHash		none = {{0, 0}};

	for (int i = 0; i < b->plan->ninputs; i++)
	{
		const GcInputState *in = &b->node->inputs[i];

		if (gc_inputs(b->program)[i].groups_of || gc_inputs(b->program)[i].unmatched_of)
			continue;
		if (!mix_rows(&h, in))
			return none;
	}
	gc_hash_mix(&h, b->params, b->plan->nparams * sizeof(GcParamValue));
	for (int i = 0; i < b->plan->nluts; i++)
		gc_hash_mix(&h, &b->lookups[i]->hash, sizeof(GcHash));
	for (int i = 0; i < b->plan->nlists; i++)
		gc_hash_mix(&h, b->lists[i] ? b->lists[i] : (void *) "", b->list_counts[i] * sizeof(int64));
	gc_hash_mix(&h, b->builds, b->program->nbuilds * sizeof(GcBuildValue));
	gc_hash_mix(&h, b->group_keys, b->program->npipelines * GC_MAX_KEYS * sizeof(GcGroupKeyValue));
	gc_hash_mix(&h, b->sinks, b->program->npipelines * sizeof(GcSinkValue));
	gc_hash_mix(&h, &b->plan->wanted, sizeof(b->plan->wanted));
	return h;
}

/*-------------------------------------------------------------------------
 * The request
 *-------------------------------------------------------------------------
 */

/* Words of a group's key: one for each, and one for NULLs if any can be. */
static int
group_key_words(const GcProgram *p, const GcPPipeline *pl)
{
	int			words = pl->nkeys;

	for (int k = 0; k < pl->nkeys; k++)
	{
		if (gc_exprs(p)[gc_refs(p)[pl->first_key + k]].flags & GC_NULLABLE)
			return words + 1;
	}
	return words;
}

/* The largest image that the key of a choice of rows can have; see cuda/gc_top.h. */
static u64
best_image(const GcBinding *b)
{
	const GcProgram *p = b->program;
	const GcPPipeline *pl = &gc_pipelines(p)[p->npipelines - 1];
	u16			key = pl->sink == GC_SINK_ROWS && pl->nkeys > 0 ? gc_refs(p)[pl->first_key] : 0;
	i128		value = pl->descending ? b->ranges[key].hi : b->ranges[key].lo;
	u64			image = (u64) (i64) value ^ UINT64CONST(0x8000000000000000);
	double		number = (double) value;

	if (pl->sink != GC_SINK_ROWS || pl->nkeys == 0 || b->ranges[key].lo > b->ranges[key].hi)
		return 0;
	if (gc_exprs(p)[key].reg == GC_I128)
	{
		memcpy(&image, &number, sizeof(image));
		image = image >> 63 ? ~image : image | UINT64CONST(0x8000000000000000);
	}
	return pl->descending ? image : ~image;
}

/*
 * The least and the greatest image of a key of a choice of groups, and of NULL beside them; all images without a range.
 */
static void
image_ends(const GcBinding *b, const GcPPipeline *pl, int k, u64 *ends)
{
	const u16	key = gc_refs(b->program)[pl->first_key + k];
	const GcExpr *e = &gc_exprs(b->program)[key];
	const bool	descending = pl->descending >> k & 1;
	const u64	least = (u64) (i64) b->ranges[key].lo ^ UINT64CONST(0x8000000000000000);
	const u64	most = (u64) (i64) b->ranges[key].hi ^ UINT64CONST(0x8000000000000000);

	ends[0] = 0;
	ends[1] = ~UINT64CONST(0);
	if (e->reg == GC_I128 || e->reg == GC_F64 || e->reg == GC_F32 || least > most || least == 0 || most == ends[1])
		return;
	ends[0] = (descending ? least : ~most) - 1;
	ends[1] = (descending ? most : ~least) + 1;
}

/* The part that only the worker reads; NULL while counting. */
static GcRequest *
write_values(GcBinding *b, Cursor *c)
{
	const GcProgram *p = b->program;
	GcRequest  *r = take(c, sizeof(GcRequest));
	GcRequest	v;

	memset(&v, 0, sizeof(v));
	v.program = take(c, p->size);
	v.params = take(c, p->nparams * sizeof(GcParamValue));
	v.luts = take(c, p->nluts * sizeof(GcLutValue));
	v.lists = take(c, p->nlists * sizeof(GcListValue));
	v.inputs = take(c, p->ninputs * sizeof(GcInputValue));
	v.columns = take(c, p->ncolumns * sizeof(GcColumnValue));
	v.builds = take(c, p->nbuilds * sizeof(GcBuildValue));
	v.payload_bases = take(c, p->npayloads * sizeof(i64));
	v.sinks = take(c, p->npipelines * sizeof(GcSinkValue));
	v.group_keys = take(c, p->npipelines * GC_MAX_KEYS * sizeof(GcGroupKeyValue));
	v.group_flags = take(c, p->npipelines * GC_GROUP_FLAG_WORDS * sizeof(u32));
	if (r == NULL)
		return NULL;

	*r = v;
	memcpy(r->program, p, p->size);
	r->program_hash = gc_hash_bytes(p, p->size, 0);
	memcpy(r->params, b->params, p->nparams * sizeof(GcParamValue));
	memcpy(r->builds, b->builds, p->nbuilds * sizeof(GcBuildValue));
	memcpy(r->sinks, b->sinks, p->npipelines * sizeof(GcSinkValue));
	memcpy(r->group_keys, b->group_keys, p->npipelines * GC_MAX_KEYS * sizeof(GcGroupKeyValue));
	memset(r->group_flags, 0, p->npipelines * GC_GROUP_FLAG_WORDS * sizeof(u32));
	for (int i = 0; i < p->npayloads; i++)
		r->payload_bases[i] = payload_base(b, &gc_payloads(p)[i]);
	for (int n = 0; n < p->npipelines; n++)
	{
		if (gc_pipelines(p)[n].sink == GC_SINK_AGGREGATE)
			r->sinks[n].key_words = group_key_words(p, &gc_pipelines(p)[n]);
	}
	r->wanted = b->plan->wanted;
	r->best = best_image(b);
	for (int k = 0; p->select > 0 && k < gc_pipelines(p)[p->select - 1].nkeys && k < 2; k++)
		image_ends(b, &gc_pipelines(p)[p->select - 1], k, &r->ends[k * 2]);
	r->edge = gc_debug_pipeline_edge;
	r->edge_tile = gc_debug_pipeline_tile;
	r->edge_step = gc_debug_edge_step;
	r->only_compiles = b->node->only_compiles;
	if (!r->only_compiles)
		r->share = b->share;
	r->nparts = 1;
	return r;
}

/* Everything; counts when c->base is NULL. */
static GcRequest *
write_request(GcBinding *b, Cursor *c)
{
	const GcProgram *p = b->program;
	GcRequest  *r = write_values(b, c);
	GcInputValue in;
	GcLutValue	lut;
	GcListValue list;
	GcColumnValue *columns = r ? r->columns : palloc((p->ncolumns + 1) * sizeof(GcColumnValue));
	VisibleChunks visible = {.bitmap_bytes = DEVICE_ALIGN};
	const uint32 nvisible = count_visible(b);
	u64			visible_off;
	void	   *at;
	Cursor		dev;

	for (int i = 0; i < p->ninputs; i++)
		write_directory(b, i, c, r ? &r->inputs[i] : NULL);
	c->at = TYPEALIGN(DEVICE_ALIGN, c->at);
	dev.base = c->base ? c->base + c->at : NULL;
	dev.at = DEVICE_ALIGN;		/* offset 0 means none */
	visible_off = take_device(&dev, nvisible * sizeof(GcVisible), &at);
	visible.next = at;
	for (int i = 0; i < p->ninputs; i++)
	{
		write_sources(b, i, &dev, r ? &r->inputs[i] : &in, &visible);
		write_columns(b, i, &dev, &columns[gc_inputs(p)[i].first_column]);
	}
	for (int i = 0; i < p->nluts; i++)
		write_lookup(b, i, &dev, r ? &r->luts[i] : &lut);
	for (int i = 0; i < p->nlists; i++)
		write_list(b, i, &dev, r ? &r->lists[i] : &list);
	if (r)
	{
		r->device_part = dev.base;
		r->device_bytes = dev.at;
		r->visible_off = visible_off;
		r->nvisible = nvisible;
		r->visible_rows = visible.most_rows;
		r->bitmap_bytes = visible.bitmap_bytes;
	}
	c->at += dev.at;
	return r;
}

/* Has such a request been the device's in vain?  Which it is becomes known here. */
static bool
known_refusal(GcBinding *b)
{
	b->identity = b->share;
	if (b->share.h[0] == 0)
		return false;
	gc_hash_mix(&b->identity, b->program, b->program->size);
	if (b->node->windows)
		gc_hash_mix(&b->identity, &b->node->windows->windows->identity, sizeof(GcHash));
	return !gc_offload_forced() && gc_hints_know_refusal(b->hints, &b->identity);
}

GcCode
gc_write_request(GcBinding *b)
{
	Cursor		c = {NULL, 0};
	Size		size;

	(void) write_request(b, &c);
	size = c.at;
	c.base = gc_arena_alloc(size);
	if (c.base == NULL)
		return gc_fail(&b->err, GC_CACHE_FULL, "A request of %zu kB does not fit the shared memory.",
					   size / 1024);
	/* Nothing from here to the hand-over can raise an error. */
	c.at = 0;
	b->request = write_request(b, &c);
	b->request->size = size;
	return GC_OK;
}

GcCode
gc_make_request(GcBinding *b)
{
	GcInputState *inputs = b->node->inputs;

	for (int i = 0; i < b->plan->ninputs; i++)
		inputs[i].rows = gc_rows_key(inputs[i].dir, &inputs[i].served, inputs[i].private_rows);
	for (int i = 0; i < b->program->nbuilds; i++)
		b->builds[i].share = share_hash(b, i);
	gc_skip_by_builds(b);

	b->share = share_request(b);
	if (known_refusal(b))
		return gc_fail(&b->err, GC_DATA, b->node->windows ?
					   "The same request, or its windows, could not be computed less than ten minutes ago." :
					   "PostgreSQL might raise an error for some row. The same request has shown it, less than ten minutes ago.");
	return gc_write_request(b);
}
