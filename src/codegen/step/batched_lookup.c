/*-------------------------------------------------------------------------
 *
 * batched_lookup.c
 *	  Batched lookups: rows of builds that gathered rows look up together.
 *
 * A visited row (cuda/gc_visit.h) asks builds for payloads and direct lookup tables by its
 * columns.  Each access waits for the L2 cache or for memory.  In the row phase a thread's rows
 * come one after another, behind branches, and the compiler moves no access across those.  So
 * four rows wait four times.  Lookups that depend on gathered columns alone are therefore made before the row phase,
 * for all rows that the thread has gathered:
 *
 *	  GC_SELECTED_ARRAY(u8, z0);
 *	  GC_LOOK_UP(gc_j)
 *	  const i32 v2 = c2[gc_j];
 *	  const u64 x0 = ((u32) v2 - (u32) b0_base);
 *	  z0[gc_j] = ((const u8 *) gc_a.w[21])[x0];
 *	  GC_END_LOOK_UP
 *
 * A build's payload may be looked up so if every live row has a match there.  Selection bitmaps
 * or earlier steps ensure this.  A direct lookup table has an entry for whatever value a row has,
 * so it can always be looked up.
 *
 * Batched lookups take registers.  They pay where at least two accesses wait together.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "probe.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/values.h"
#include "../selection.h"

#include <stdio.h>
#include <string.h>

/* Are the keys computed from gathered columns alone, and can that not fail? */
static bool
has_plain_keys(const Cg *cg, const GcPStep *step)
{
	for (int k = 0; k < gc_builds(cg->p)[step->build].nkeys; k++)
	{
		const u16	key = gc_refs(cg->p)[step->first_key + k];

		if (!cg_columns_only(cg->p, key) || cg_checked(cg->p, key))
			return false;
	}
	return true;
}

/*
 * Begin a loop over the gathered rows that fills a new array, with each row's values as scalars.
 * Returns the array's number.
 */
static int
begin_look_up(Cg *cg, const char *type)
{
	text_addf(cg->out, "GC_SELECTED_ARRAY(%s, z%d);\nGC_LOOK_UP(gc_j)\n", type, cg->nbatched);
	cg->in_rows = true;
	return cg->nbatched++;
}

/* Names that were declared in the loop are gone after it. */
static void
end_look_up(Cg *cg, u16 build)
{
	text_addf(cg->out, "GC_END_LOOK_UP\n");
	memset(cg->scalar, 0, sizeof(cg->scalar));
	cg->index[build] = false;
	cg->in_rows = false;
}

/* Look a vector of keys up at once, into one entry for each row. */
static void
look_up_direct(Cg *cg, const GcPStep *step)
{
	const int	bytes = gc_direct_bytes(cg->p, step->build);
	const int	z = begin_look_up(cg, bytes == 8 ? "u64" : "u32");
	char		entry[192] = "";

	cg_direct_entry(cg, step, entry, sizeof(entry));
	text_addf(cg->out, "z%d[gc_j] = %s;\n", z, entry);
	end_look_up(cg, step->build);
	cg->batched_direct[step->build] = z;
	cg->gathered += bytes == 8 ? 2 : 1;
}

/* Look up a payload at the row's match, which exists. */
static void
look_up_payload(Cg *cg, u16 payload)
{
	const GcPPayload *pay = &gc_payloads(cg->p)[payload];
	const char *type = cg_code_type[pay->width];
	const int	z = begin_look_up(cg, type);

	cg_require_index(cg, pay->build);
	text_addf(cg->out, "z%d[gc_j] = ((const %s *) gc_a.w[%d])[x%d];\n", z, type,
			  cg_word(cg, GC_ARG_PAYLOAD, payload, 0), cg_build(cg, pay->build));
	end_look_up(cg, pay->build);
	cg->batched[payload] = z;
	cg->gathered += pay->width > 4 ? pay->width / 4 : 1;
}

static bool
is_among(const GcPStep *step, const GcPStep **steps, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (steps[i] == step)
			return true;
	}
	return false;
}

/*
 * Does the build's direct lookup table also contain the payload's code?  Then looking up the entry
 * is enough.
 */
static bool
is_in_place(const Cg *cg, const GcPStep *step)
{
	return gc_builds(cg->p)[step->build].mode == GC_BUILD_HASH && gc_direct_bytes(cg->p, step->build) == 8;
}

/*
 * The step that finds the row for payload i, if the lookup can come before the n steps; else
 * NULL.
 */
static const GcPStep *
batched_step(Cg *cg, u16 i, const GcPStep **steps, int n)
{
	const u16	build = gc_payloads(cg->p)[i].build;
	const GcPStep *step;

	if (cg->batched[i] != GC_BATCH_WANTED)
		return NULL;
	step = cg_find_probe(cg->p, cg->pl, build);
	if (!has_plain_keys(cg, step) || is_among(step, steps, n) || cg_is_list_probe(cg->p, step) ||
		(gc_builds(cg->p)[build].mode == GC_BUILD_HASH && !cg_is_direct(cg, step)))
		return NULL;
	return step;
}

/* Does the step probe a direct table, by keys that can be had for a whole vector? */
static bool
is_batched_direct(const Cg *cg, const GcPStep *step)
{
	return step->type == GC_STEP_PROBE && cg_is_direct(cg, step) && has_plain_keys(cg, step);
}

/* One more look-up for a vector; those beyond MOST_BATCHED are made row by row. */
static void
add_batched(Batched *batched, const GcPStep *step, u16 payload)
{
	if (batched->n == MOST_BATCHED)
		return;
	batched->what[batched->n].step = step;
	batched->what[batched->n++].payload = payload;
}

/* Add the direct lookup of the step's build, if it is not there yet. */
static void
add_direct(Batched *batched, const GcPStep *step)
{
	for (int i = 0; i < batched->n; i++)
	{
		if (batched->what[i].payload == GC_NONE && batched->what[i].step->build == step->build)
			return;
	}
	add_batched(batched, step, GC_NONE);
}

void
cg_find_batched(Cg *cg, const GcPStep **steps, int n, Batched *batched)
{
	batched->n = 0;
	for (int i = 0; i < n; i++)
	{
		if (is_batched_direct(cg, steps[i]))
			add_direct(batched, steps[i]);
	}
	for (u16 i = 0; i < cg->p->npayloads; i++)
	{
		const GcPStep *step = batched_step(cg, i, steps, n);

		if (step == NULL)
			continue;
		if (gc_builds(cg->p)[step->build].mode == GC_BUILD_HASH)
			add_direct(batched, step);
		if (!is_in_place(cg, step))
			add_batched(batched, step, i);
	}
}

void
cg_look_up_batched(Cg *cg, const Batched *batched)
{
	for (int i = 0; i < batched->n; i++)
	{
		if (batched->what[i].payload == GC_NONE)
			look_up_direct(cg, batched->what[i].step);
		else
			look_up_payload(cg, batched->what[i].payload);
	}
}
