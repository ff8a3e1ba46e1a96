/*-------------------------------------------------------------------------
 *
 * split.c
 *	  One request as a part for each of several devices.
 *
 * Chunks of the main pipeline's table belong to devices in stripes, so that a device keeps the columns of its chunks.
 * A larger device has more of them.  Each part has these chunks alone, and all builds.  The first one has the rows
 * that the session has read itself.  The program is bound for the whole, so parts have one program, whose
 * accumulators hold all parts' rows.
 *
 * Requests that can be split end in groups or in rows.  Of the first few rows, each part chooses as many.  Of groups,
 * parts return all, since only the sums of all parts tell which of them are wanted.  The node tests HAVING, and decides
 * among what comes as it does among ties.  Merging is by the table in program/accumulators.h.
 *
 * The main pipeline may add up an earlier one's groups, as for grouping sets.  Then it is that one whose table has
 * stripes.  Where it does anything else with them, as for DISTINCT, each group must be whole.  Then each device reads
 * all chunks, and makes the groups whose keys have a hash of its own (worker/run/passes.c).
 *
 * Runs in backends, under the guard of the request slots.
 *
 *-------------------------------------------------------------------------
 */
#include "split.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "../queue/route.h"
#include "../settings.h"

/* Microseconds of kernels that one device takes at most where others are there. */
#define LONG_US		5000

/* Microseconds that a group of a part takes: it is merged, and decoded if HAVING or LIMIT leave it out, too. */
#define MERGE_US	0.3

/* The share of a request's time in which it reads rows, as each part by keys does with all of them. */
#define READING		0.5

/*-------------------------------------------------------------------------
 * Whether, and how
 *-------------------------------------------------------------------------
 */

/* Is an expression computed of keys alone, where it reads groups? */
static bool
reads_keys(const GcProgram *p, u16 expr)
{
	const GcExpr *e = &gc_exprs(p)[expr];

	if (e->op == GC_OP_COLUMN)
		return gc_columns(p)[e->ref].agg == GC_NONE;
	for (int i = 0; i < 3; i++)
	{
		if (e->arg[i] != GC_NONE && !reads_keys(p, e->arg[i]))
			return false;
	}
	return e->op != GC_OP_PAYLOAD;
}

/* Does an accumulator over groups come to the same, however many groups each of them is in parts of? */
static bool
takes_parts(const GcProgram *p, const GcPAgg *agg)
{
	const GcExpr *arg = agg->arg == GC_NONE ? NULL : &gc_exprs(p)[agg->arg];
	const GcPColumn *column;

	if (arg == NULL || arg->op != GC_OP_COLUMN || agg->factor != GC_NONE)
		return false;
	column = &gc_columns(p)[arg->ref];
	return column->agg == GC_NONE ? gc_takes_twice(agg->fn)
		: gc_accumulator_of(&gc_aggs(p)[column->agg])->parts == agg->fn;
}

/* Does the pipeline no more than add up the groups that it reads, by some of their keys? */
static bool
adds_up_groups(const GcProgram *p, const GcPPipeline *pl)
{
	if (pl->sink != GC_SINK_AGGREGATE || pl->nsteps > 0 || gc_inputs(p)[pl->input].groups_of == 0)
		return false;
	for (int k = 0; k < pl->nkeys; k++)
	{
		if (!reads_keys(p, gc_refs(p)[pl->first_key + k]))
			return false;
	}
	for (int i = 0; i < pl->naggs; i++)
	{
		if (!takes_parts(p, &gc_aggs(p)[pl->first_agg + i]))
			return false;
	}
	return true;
}

/* The pipeline that reads the table whose chunks are shared out. */
static int
striped_pipeline(const GcProgram *p)
{
	const int	main = p->npipelines - 1;
	const GcPPipeline *pl = &gc_pipelines(p)[main];

	return adds_up_groups(p, pl) ? gc_inputs(p)[pl->input].groups_of - 1 : main;
}

static int
striped_input(const GcProgram *p)
{
	return gc_pipelines(p)[striped_pipeline(p)].input;
}

static bool
has_aggregate(const GcPPipeline *pl, int agg)
{
	return agg >= pl->first_agg && agg < pl->first_agg + pl->naggs;
}

/*
 * Would builds differ that each device makes for itself?  The last bits of floats' sums do by the order of additions,
 * and windows by the order of ties.
 */
static bool
depends_on_order(const GcProgram *p)
{
	for (int i = 0; i < p->naggs; i++)
	{
		const GcMerge merge = gc_merge_of(&gc_aggs(p)[i]);

		if ((merge == GC_MERGE_ADDF || merge == GC_MERGE_PRECISE) &&
			!has_aggregate(&gc_pipelines(p)[p->npipelines - 1], i) &&
			!has_aggregate(&gc_pipelines(p)[striped_pipeline(p)], i))
			return true;
	}
	return p->nwindows > 0;
}

/*
 * Does the striped pipeline read a table's chunks?  No other pipeline may read these or fill its sink, and none but the
 * main one may read the sink.
 */
static bool
has_stripes(const GcBinding *b)
{
	const GcProgram *p = b->program;
	const int	main = p->npipelines - 1;
	const int	striped = striped_pipeline(p);
	const GcInputState *in = &b->node->inputs[striped_input(p)];

	if (gc_pipelines(p)[striped].rest_of || in->dir == NULL || in->served.nchunks < 2)
		return false;
	for (int n = 0; n < p->npipelines; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(p)[n];

		if (pl->rest_of == main + 1 || pl->rest_of == striped + 1 || (n != striped && pl->input == striped_input(p)) ||
			(n != main && striped != main && gc_inputs(p)[pl->input].groups_of == striped + 1))
			return false;
	}
	return true;
}

/*
 * 1 + the pipeline whose groups the main one alone reads, and which can be shared out by their keys; 0: there is none.
 */
static u32
groups_by_key(const GcProgram *p)
{
	const int	main = p->npipelines - 1;
	const int	from = gc_inputs(p)[gc_pipelines(p)[main].input].groups_of - 1;

	/* A device without any group would lack the one that has no row. */
	if (from < 0 || gc_pipelines(p)[from].group_mode != GC_GROUP_HASH || gc_pipelines(p)[from].needs_group)
		return 0;
	for (int n = 0; n < main; n++)
	{
		if (gc_pipelines(p)[n].rest_of == main + 1 || gc_inputs(p)[gc_pipelines(p)[n].input].groups_of == from + 1)
			return 0;
	}
	return from + 1;
}

/* Rows of an input's chunks, each of which takes memory for multiples of GC_PAD_ROWS. */
static double
padded_rows(const GcInputState *in)
{
	double		rows = 0;

	for (uint32 k = 0; in->dir && k < in->served.nchunks; k++)
	{
		if (!in->skipped[k])
			rows += TYPEALIGN(GC_PAD_ROWS, in->served.chunks[k].nrows);
	}
	return rows;
}

/* About the bytes of device memory that the whole request takes for columns and builds. */
static double
bytes_of(const GcBinding *b)
{
	const GcProgram *p = b->program;
	double		bytes = 0;

	for (int c = 0; c < p->ncolumns; c++)
	{
		const GcPColumn *column = &gc_columns(p)[c];

		if (b->request->columns[c].dir_column >= 0)
			bytes += padded_rows(&b->node->inputs[column->input]) * gc_most_width(column);
	}
	for (int i = 0; i < p->nbuilds; i++)
		bytes += gc_route_build_bytes(&b->builds[i]);
	return bytes;
}

/* Devices whose memory is less, as bits. */
static u32
smaller_than(double bytes)
{
	u32			devices = 0;

	for (int d = 0; d < gc_ndevices; d++)
	{
		const GcDeviceInfo *info = &gc_device_status_of(d)->info;

		if (!info->host_memory && bytes > info->memory_bytes)
			devices |= 1u << d;
	}
	return devices;
}

u32
gc_too_small(const GcBinding *b, u32 avoided)
{
	const u64	bytes = gc_device_status_of(0)->info.memory_bytes;
	bool		equal = true;
	u32			devices;

	for (int d = 1; d < gc_ndevices; d++)
		equal = equal && gc_device_status_of(d)->info.memory_bytes == bytes;
	if (equal)
		return 0;
	devices = smaller_than(bytes_of(b));
	return (gc_queue_devices() & ~avoided & ~devices) == 0 ? 0 : devices;
}

/*
 * Is the request done sooner in parts, by chunks or by keys, than as a whole?  Each part by chunks
 * may have any of the groups.
 */
static bool
is_sooner_in_parts(const GcBinding *b, u32 devices, double us, bool by_chunks)
{
	const int	main = b->program->npipelines - 1;
	double		backlogs[GC_MAX_DEVICES];
	double		groups = 0;
	int			n = 0;

	for (int d = 0; d < gc_ndevices; d++)
	{
		if (devices & 1u << d)
			backlogs[n++] = pg_atomic_read_u64(&gc_device_status_of(d)->backlog_us);
	}
	if (!by_chunks)
		return gc_parts_are_sooner(backlogs, n, us, READING * (us - us / n));
	if (gc_pipelines(b->program)[main].sink == GC_SINK_AGGREGATE)
		groups = n * Min(b->plan->groups[main], (double) b->sinks[main].ngroups);
	return gc_parts_are_sooner(backlogs, n, us, groups * MERGE_US);
}

/*
 * Devices own chunks in turns, a larger one more of them, by its memory.  Devices that are not there have turns, too,
 * so that the others keep their chunks.
 */
static void
set_owners(GcStripes *stripes)
{
	int			share[GC_MAX_DEVICES];
	int			credit[GC_MAX_DEVICES] = {0};
	double		most = 1;

	for (int d = 0; d < gc_ndevices; d++)
		most = Max(most, gc_device_status_of(d)->info.memory_bytes);
	for (int d = 0; d < gc_ndevices; d++)
	{
		share[d] = Max(1, (int) rint(gc_device_status_of(d)->info.memory_bytes / most * GC_MOST_SHARE));
		stripes->n += share[d];
	}
	for (u32 n = 0; n < stripes->n; n++)
	{
		int			owner = 0;

		for (int d = 0; d < gc_ndevices; d++)
		{
			credit[d] += share[d];
			if (credit[d] > credit[owner])
				owner = d;
		}
		credit[owner] -= stripes->n;
		stripes->owners[n] = owner;
	}
}

bool
gc_split(const GcBinding *b, u32 avoided, GcStripes *stripes)
{
	const u32	devices = gc_queue_devices() & ~avoided;
	bool		by_chunks;
	double		us;

	if (gc_ndevices == 1 || gc_debug_split == GC_SPLIT_NEVER || pg_popcount32(devices) < 2 ||
		depends_on_order(b->program))
		return false;
	by_chunks = has_stripes(b);
	memset(stripes, 0, sizeof(*stripes));
	stripes->devices = devices;
	stripes->groups = by_chunks ? 0 : groups_by_key(b->program);
	if (!by_chunks && stripes->groups == 0)
		return false;
	us = gc_route_predict(b->request);
	if (gc_debug_split == GC_SPLIT_PREDICTED && (us <= LONG_US || !is_sooner_in_parts(b, devices, us, by_chunks)) &&
		(!by_chunks || (devices & ~smaller_than(bytes_of(b))) != 0))
		return false;
	set_owners(stripes);
	return true;
}

/* The device that a chunk belongs to.  Only chunks of a device that is not there belong to others. */
static int
owner_of(uint32 chunk, const GcStripes *stripes)
{
	const int	device = stripes->owners[chunk % stripes->n];
	u32			others = stripes->devices;

	if (others & 1u << device)
		return device;
	for (int n = chunk / gc_ndevices % pg_popcount32(others); n > 0; n--)
		others &= others - 1;
	return pg_rightmost_one_pos32(others);
}

/* Leave the input the device's chunks, and the session's own rows if the device is the first. */
static void
take_chunks(GcInputState *in, const GcStripes *stripes, int device)
{
	const bool *skipped = in->skipped;

	in->skipped = palloc(in->served.nchunks * sizeof(bool));
	for (uint32 k = 0; k < in->served.nchunks; k++)
		in->skipped[k] = skipped[k] || owner_of(in->served.chunks[k].chunk, stripes) != device;
	if (device != pg_rightmost_one_pos32(stripes->devices))
	{
		in->private = NULL;
		in->private_rows = 0;
	}
}

GcCode
gc_make_part(GcBinding *b, const GcStripes *stripes, int device)
{
	GcInputState *in = &b->node->inputs[striped_input(b->program)];
	const GcInputState whole = *in;
	const GcHash share = b->share;
	GcCode		code;

	if (stripes->groups == 0)
		take_chunks(in, stripes, device);
	if (share.h[0] != 0)
	{
		gc_hash_mix(&b->share, stripes, sizeof(*stripes));
		gc_hash_mix(&b->share, &device, sizeof(device));
	}
	code = gc_write_request(b);
	if (code == GC_OK)
	{
		b->request->nparts = pg_popcount32(stripes->devices);
		b->request->part = pg_popcount32(stripes->devices & ((1u << device) - 1));
		b->request->split_groups = stripes->groups;
	}
	if (in->skipped != whole.skipped)
		pfree(in->skipped);
	*in = whole;
	b->share = share;
	return code;
}

/*-------------------------------------------------------------------------
 * Merging
 *-------------------------------------------------------------------------
 */

static double
as_double(u64 word)
{
	double		x;

	memcpy(&x, &word, sizeof(x));
	return x;
}

static u64
as_word(double x)
{
	u64			word;

	memcpy(&word, &x, sizeof(word));
	return word;
}

/* Add a sum in two doubles, the second of which is what the first has lost; as gc_f64x2_add() in cuda/gc_agg.h. */
static void
add_precise(u64 *to, const u64 *from)
{
	const double a = as_double(to[0]);
	const double b = as_double(from[0]);
	const double sum = a + b;
	const double c = sum - a;

	to[1] = as_word(as_double(to[1]) + as_double(from[1]) + ((a - (sum - c)) + (b - c)));
	to[0] = as_word(sum);
}

static void
add_128(u64 *to, const u64 *from)
{
	const u128	sum = ((u128) to[1] << 64 | to[0]) + ((u128) from[1] << 64 | from[0]);

	to[0] = (u64) sum;
	to[1] = (u64) (sum >> 64);
}

/* Zero is "nothing yet" in each word. */
static void
merge_words(u64 *to, const u64 *from, GcMerge merge)
{
	switch (merge)
	{
		case GC_MERGE_ADD:
			*to += *from;
			break;
		case GC_MERGE_ADD128:
			add_128(to, from);
			break;
		case GC_MERGE_ADDF:
			*to = as_word(as_double(*to) + as_double(*from));
			break;
		case GC_MERGE_PRECISE:
			add_precise(to, from);
			break;
		case GC_MERGE_MAX:
			*to = Max(*to, *from);
			break;
		case GC_MERGE_OR:
			*to |= *from;
			break;
		case GC_MERGE_XOR:
			*to ^= *from;
			break;
	}
}

/* Word 0 counts rows, or says that there are some: in either case it is added. */
static void
merge_group(const GcProgram *p, const GcPPipeline *pl, u64 *to, const u64 *from)
{
	to[0] += from[0];
	for (int i = 0; i < pl->naggs; i++)
	{
		const GcPAgg *agg = &gc_aggs(p)[pl->first_agg + i];

		if (agg->word > 0)
			merge_words(to + agg->word, from + agg->word, gc_merge_of(agg));
	}
}

/* Groups that were merged, and a hash table of them. */
typedef struct Groups
{
	GcResult   *result;
	uint64		nslots;			/* a power of 2 */
	uint64	   *slots;			/* number of a group, plus 1; 0: none */
	int			key_words;
	int			group_words;
} Groups;

/* How many groups before its turn a group's slot is fetched, and what that tells of. */
#define SLOT_AHEAD	16
#define GROUP_AHEAD	8

/* Where to look first for the group with this key. */
static uint64
first_slot(const Groups *g, const i64 *key)
{
	return gc_hash_bytes(key, g->key_words * sizeof(i64), 0).h[0] & (g->nslots - 1);
}

/* Have the cache misses of groups that are merged soon overlap. */
static void
fetch_group(const Groups *g, const i64 *key, bool slot_is_there)
{
	const uint64 *slot = &g->slots[first_slot(g, key)];

	if (!slot_is_there)
		__builtin_prefetch(slot);
	else if (*slot != 0)
	{
		__builtin_prefetch(g->result->keys + (*slot - 1) * g->key_words);
		__builtin_prefetch(g->result->words + (*slot - 1) * g->group_words, 1);
	}
}

/* The accumulators of the group with this key; a new one's are zero. */
static u64 *
find_group(Groups *g, const i64 *key)
{
	const Size	key_bytes = g->key_words * sizeof(i64);
	uint64		slot = first_slot(g, key);

	while (g->slots[slot] != 0 && memcmp(g->result->keys + (g->slots[slot] - 1) * g->key_words, key, key_bytes) != 0)
		slot = (slot + 1) & (g->nslots - 1);
	if (g->slots[slot] == 0)
	{
		memcpy(g->result->keys + g->result->count * g->key_words, key, key_bytes);
		g->slots[slot] = ++g->result->count;
	}
	return g->result->words + (g->slots[slot] - 1) * g->group_words;
}

/* Groups of a dense table are known by their numbers, and those that have no row are left out. */
static void
merge_groups(const GcBinding *b, GcResult *result, const GcResult *const *parts, int nparts, uint64 total)
{
	const GcProgram *p = b->program;
	const GcPPipeline *pl = &gc_pipelines(p)[p->npipelines - 1];
	const bool	dense = pl->group_mode == GC_GROUP_DENSE;
	Groups		g = {.result = result,.nslots = pg_nextpower2_64(2 * total + 1),.group_words = pl->group_words};

	g.key_words = dense ? 1 : pl->group_mode == GC_GROUP_HASH ? b->request->sinks[p->npipelines - 1].key_words : 0;
	g.slots = MemoryContextAllocExtended(CurrentMemoryContext, g.nslots * sizeof(uint64),
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	result->words = MemoryContextAllocExtended(CurrentMemoryContext, (total * g.group_words + 1) * sizeof(u64),
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	result->keys = MemoryContextAllocHuge(CurrentMemoryContext, (total * g.key_words + 1) * sizeof(i64));
	result->gathered = dense;
	for (int i = 0; i < nparts; i++)
	{
		const bool	keyed = g.key_words > 0 && (!dense || parts[i]->gathered);

		for (uint64 n = 0; n < parts[i]->count; n++)
		{
			const u64  *from = parts[i]->words + n * g.group_words;
			const i64	number = n;

			if ((n & 0xffff) == 0)
				CHECK_FOR_INTERRUPTS();
			if (keyed && n + SLOT_AHEAD < parts[i]->count)
			{
				fetch_group(&g, parts[i]->keys + (n + SLOT_AHEAD) * g.key_words, false);
				fetch_group(&g, parts[i]->keys + (n + GROUP_AHEAD) * g.key_words, true);
			}
			if (b->plan->grouped && from[0] == 0)
				continue;
			merge_group(p, pl, find_group(&g, keyed ? parts[i]->keys + n * g.key_words : &number), from);
		}
	}
	pfree(g.slots);
}

/* Put the parts' rows one behind another, column by column. */
static void
append_rows(const GcBinding *b, GcResult *result, const GcResult *const *parts, int nparts, uint64 total)
{
	const GcProgram *p = b->program;
	const u32	columns = gc_row_words(p, &gc_pipelines(p)[p->npipelines - 1]);

	result->stride = total;
	result->words = MemoryContextAllocHuge(CurrentMemoryContext, (total * columns + 1) * sizeof(u64));
	result->keys = NULL;
	for (int i = 0; i < nparts; i++)
	{
		for (u32 c = 0; c < columns && parts[i]->count > 0; c++)
		{
			CHECK_FOR_INTERRUPTS();
			memcpy(result->words + c * total + result->count, parts[i]->words + c * parts[i]->stride,
				   parts[i]->count * sizeof(u64));
		}
		result->count += parts[i]->count;
	}
}

GcResult *
gc_merge_results(const GcBinding *b, const GcResult *const *parts, int nparts)
{
	GcResult   *result = palloc0(sizeof(GcResult));
	uint64		total = 0;

	for (int i = 0; i < nparts; i++)
		total += parts[i]->count;
	if (gc_pipelines(b->program)[b->program->npipelines - 1].sink == GC_SINK_ROWS)
		append_rows(b, result, parts, nparts, total);
	else
		merge_groups(b, result, parts, nparts, total);
	return result;
}

void
gc_free_merged(GcResult *result)
{
	pfree(result->words);
	if (result->keys)
		pfree(result->keys);
	pfree(result);
}

void
gc_merge_run_info(GcRunInfo *info, const GcRunInfo *part)
{
	info->queue_ms = Max(info->queue_ms, part->queue_ms);
	info->compile_ms = Max(info->compile_ms, part->compile_ms);
	info->copy_ms = Max(info->copy_ms, part->copy_ms);
	info->run_ms = Max(info->run_ms, part->run_ms);
	info->total_ms = Max(info->total_ms, part->total_ms);
	info->copied_bytes += part->copied_bytes;
	info->read_bytes += part->read_bytes;
	info->passes = Max(info->passes, part->passes);
	info->waves += part->waves;
	info->wave_bytes += part->wave_bytes;
	info->wave_bytes_shared += part->wave_bytes_shared;
	info->link_reads += part->link_reads;
	info->link_read_bytes += part->link_read_bytes;
	info->kernels += part->kernels;
	info->compiled += part->compiled;
	info->from_disk += part->from_disk;
	info->shared_result = info->shared_result && part->shared_result;
	info->empty_build = info->empty_build && part->empty_build;
	info->builds_shared += part->builds_shared;
	info->builds_run += part->builds_run;
}
