/*-------------------------------------------------------------------------
 *
 * builds.c
 *	  Build tables on the device, and their sharing between requests.
 *
 * A build whose inputs are exactly a directory's chunks is known by a hash over everything
 * that it is computed from (exec/request.c).  Requests with equal hashes use one table; the
 * first request fills it.  It stays as long as there is memory.  Private builds are freed with
 * their request.
 *
 * The worker's main thread.  Requests hold the builds that they use; a build without users is
 * freed when memory is short.
 *
 *-------------------------------------------------------------------------
 */
#include "builds.h"

#include "utils/memutils.h"

#include "../../queue/route.h"
#include "device_memory.h"
#include "eviction.h"
#include "state.h"

/* Pinned cells for copies of flags: one per build table that can exist at once. */
#define MAX_TABLES	1024

/* Chains of the hash table; every probe of every request looks for a shared build in it. */
#define CHAINS		1024

static GcBuildTable *list = NULL;
static GcBuildTable *chain[CHAINS];
static int	ntables = 0;
static u32 *flag_cells = NULL;
static bool cell_used[MAX_TABLES];

/* The list in which a build with that key is found. */
static GcBuildTable **
chain_of(GcHash share)
{
	return &chain[share.h[0] % CHAINS];
}

/* Its uses are remembered by its inputs. */
static u64
use_key(const GcBuildTable *t)
{
	return gc_history_key(t->share.h[0], t->share.h[1], 0);
}

/* A use now, for replacement.  Builds that nobody can share leave no trace of uses. */
static void
note_use(GcBuildTable *t)
{
	t->last_used = ++gc_worker.clock;
	if (t->share.h[0] != 0)
		gc_note_use(use_key(t));
}

/*
 * A build that a request with that key may use.  Its flags are good, or not known yet where it rests on no other
 * build.
 */
static GcBuildTable *
find_shared(GcHash share)
{
	for (GcBuildTable *t = *chain_of(share); t; t = t->next_in_chain)
	{
		if (!t->bad && (t->checked || !t->rests) && t->share.h[0] == share.h[0] && t->share.h[1] == share.h[1] &&
			share.h[0] != 0)
			return t;
	}
	return NULL;
}

GcBuildTable *
gc_build_find_shared(GcHash share)
{
	GcBuildTable *t = find_shared(share);

	if (t)
	{
		t->users++;
		note_use(t);
	}
	return t;
}

bool
gc_build_known(GcHash share)
{
	return find_shared(share) != NULL;
}

/* The device no longer uses the build: take it out of both lists, and give back its memory and its cell. */
static void
build_free(GcBuildTable *t)
{
	for (GcBuildTable **p = &list; *p; p = &(*p)->next_table)
	{
		if (*p == t)
		{
			*p = t->next_table;
			break;
		}
	}
	for (GcBuildTable **p = chain_of(t->share); *p; p = &(*p)->next_in_chain)
	{
		if (*p == t)
		{
			*p = t->next_in_chain;
			break;
		}
	}
	gc_device_free(t->memory);
	if (t->built)
		gc_worker.ops->event_put(gc_worker.dev, t->built);
	cell_used[(t->host_flags - flag_cells) / GC_NFLAGS] = false;
	gc_route_note_build(t->share, false);
	pfree(t);
	ntables--;
	pg_atomic_write_u64(&gc_device_status()->shared_builds, ntables);
}

/* The least recently used build without users. */
static GcBuildTable *
oldest_build(void)
{
	GcBuildTable *oldest = NULL;

	for (GcBuildTable *t = list; t; t = t->next_table)
	{
		if (t->users == 0 && (oldest == NULL || t->last_used < oldest->last_used))
			oldest = t;
	}
	return oldest;
}

u64
gc_builds_unused(void)
{
	u64			bytes = 0;

	for (const GcBuildTable *t = list; t; t = t->next_table)
		bytes += t->users == 0 ? t->bytes : 0;
	return bytes;
}

/* Drop the build that was used longest ago and that no request uses.  False: all are in use. */
static bool
drop_oldest(void)
{
	GcBuildTable *oldest = oldest_build();

	if (oldest)
		build_free(oldest);
	return oldest != NULL;
}

/* A GcEvictor's: offer all builds that no request uses. */
static void
offer(GcEvictor *self)
{
	for (GcBuildTable *t = list; t; t = t->next_table)
	{
		if (t->users == 0)
			gc_offer_victim(&(GcVictim) {.bytes = t->bytes,.cost = t->bytes,.uses = gc_uses_of(use_key(t)),
							.used = t->last_used,.what = t});
	}
}

/* A GcEvictor's: drop the build that was chosen, if it is still there and unused.  Returns its bytes, or 0. */
static u64
drop(const GcVictim *victim, u64 need)
{
	for (GcBuildTable *t = list; t; t = t->next_table)
	{
		const u64	bytes = t->bytes;

		if (t != victim->what || t->users > 0)
			continue;
		build_free(t);
		pg_atomic_fetch_add_u64(&gc_stats()->evictions, 1);
		return bytes;
	}
	return 0;
}

void
gc_builds_init(void)
{
	static GcEvictor evictor = {.offer = offer,.drop = drop};

	/* Where the arena has no room for these cells, it has none for requests either. */
	flag_cells = gc_queue_worker_memory(MAX_TABLES * GC_NFLAGS * sizeof(u32));
	gc_route_forget_builds();
	gc_evictor_register(&evictor);
}

/* Parts of a build begin at multiples of 256 bytes. */
static u64
align_up(u64 n)
{
	return (n + 255) & ~(u64) 255;
}

/* Lay out everything within the table's memory; returns its size. */
static u64
lay_out(GcBuildTable *t, const GcRequest *request, int b)
{
	const GcProgram *p = request->program;
	const GcPBuild *build = &gc_builds(p)[b];
	const GcBuildValue *v = &request->builds[b];
	u64			n = build->mode == GC_BUILD_DENSE ? v->range : v->cap;
	u64			at = 0;

	t->flags = t->memory + at;
	at += GC_BUILD_FLAGS_ROOM;
	if (build->mode == GC_BUILD_DENSE)
	{
		t->bitmap = t->memory + at;
		at += align_up((v->range + 31) / 32 * 4);
	}
	else if (build->mode == GC_BUILD_HASH)
	{
		t->slots = t->memory + at;
		at += align_up(v->slots * 8);
	}
	/* An empty column's greatest code is 0. */
	for (int i = 0; i < build->npayloads && build->set; i++)
	{
		t->payload[i] = t->memory + at;
		at += align_up(n * gc_payloads(p)[build->first_payload + i].width);
	}
	t->zero_bytes = at;
	if (build->mode == GC_BUILD_HASH)
	{
		t->keys = t->memory + at;
		at += align_up(v->cap * 8 * Max(build->nkeys, 1));
		t->next = t->memory + at;
		at += build->set ? 0 : align_up(v->cap * 4);
	}
	for (int i = 0; i < build->npayloads && !build->set; i++)
	{
		t->payload[i] = t->memory + at;
		at += align_up(n * gc_payloads(p)[build->first_payload + i].width);
	}
	return at;
}

u64
gc_build_bytes(const GcRequest *request, int b)
{
	GcBuildTable sketch = {0};

	return lay_out(&sketch, request, b);
}

/* Room for one build's flags on the host, in pages that the device writes to.  NULL: all are taken. */
static u32 *
flag_cell(void)
{
	for (int i = 0; flag_cells && i < MAX_TABLES; i++)
	{
		if (!cell_used[i])
		{
			cell_used[i] = true;
			return flag_cells + i * GC_NFLAGS;
		}
	}
	return NULL;
}

bool
gc_build_rests(const GcProgram *p, int b)
{
	for (int n = 0; n < p->npipelines; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(p)[n];

		if (gc_sink_owner(p, n) != gc_builds(p)[b].pipeline)
			continue;
		if (gc_inputs(p)[pl->input].groups_of || gc_inputs(p)[pl->input].unmatched_of)
			return true;
		for (int s = 0; s < pl->nsteps; s++)
		{
			if (gc_steps(p)[pl->first_step + s].type == GC_STEP_PROBE)
				return true;
		}
	}
	return false;
}

GcBuildTable *
gc_build_create(const GcRequest *request, int b, GcError *err)
{
	GcBuildTable sketch = {0};
	GcBuildTable *t;
	u32		   *cell;

	while ((cell = flag_cell()) == NULL)
	{
		if (!drop_oldest())
		{
			gc_fail(err, GC_DEVICE_MEMORY, "Too many build tables are in use.");
			return NULL;
		}
	}
	sketch.bytes = lay_out(&sketch, request, b);
	sketch.memory = gc_device_alloc(sketch.bytes);
	if (sketch.memory == 0)
	{
		cell_used[(cell - flag_cells) / GC_NFLAGS] = false;
		gc_fail(err, GC_DEVICE_MEMORY, "No device memory for a hash table of %llu kB.",
				(unsigned long long) sketch.bytes / 1024);
		return NULL;
	}
	gc_device_label(sketch.memory, GC_MEMORY_BUILDS);
	lay_out(&sketch, request, b);
	t = MemoryContextAllocZero(TopMemoryContext, sizeof(GcBuildTable));
	*t = sketch;
	t->share = request->builds[b].share;
	t->rests = gc_build_rests(request->program, b);
	t->users = 1;
	note_use(t);
	t->host_flags = cell;
	t->next_table = list;
	list = t;
	t->next_in_chain = *chain_of(t->share);
	*chain_of(t->share) = t;
	gc_route_note_build(t->share, true);
	ntables++;
	pg_atomic_write_u64(&gc_device_status()->shared_builds, ntables);
	return t;
}

bool
gc_build_pending(const GcBuildTable *t)
{
	bool		done = false;

	return t->built == NULL || gc_worker.ops->event_done(t->built, &done, NULL) != GC_OK || !done;
}

void
gc_build_release(GcBuildTable *t)
{
	t->users--;
	if (t->users == 0 && (t->bad || t->share.h[0] == 0 || (t->rests && !t->checked)))
		build_free(t);
}
