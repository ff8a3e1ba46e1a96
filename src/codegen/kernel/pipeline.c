/*-------------------------------------------------------------------------
 *
 * pipeline.c
 *	  The body of a pipeline's kernel: one vector of rows, shared memory, rows that nothing matched.
 *
 * The body has two phases.  The vector phase tests steps that need only the scanned table's own
 * columns and dense builds.  The row phase takes the survivors row by row through the other steps
 * and the sink.  Between the phases rows may be gathered; or a selection bitmap has said which
 * rows come.  Where all rows may be added up at once, one loop does everything
 * (GC_FILTER_AGGREGATE).
 *
 * A full or right join has a second kernel, the rest.  In it, rows of the build that nothing matched go through the
 * steps behind the join, into the same sink.  GC_OP_OUTER stands around expressions from before the join, and is NULL
 * in the rest.  So both kernels share expressions, types, groups and sums.
 *
 * step/steps.c decides which step is tested in which way.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "pipeline.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/values.h"
#include "../sink/sinks.h"
#include "../sink/sink.h"
#include "../step/packed.h"
#include "../step/pairs.h"
#include "../step/probe.h"
#include "../step/split.h"
#include "../step/steps.h"

#include <string.h>

#include "../sink/aggregates.h"

/*-------------------------------------------------------------------------
 * The rest of a full or right join: the build's rows that nothing matched
 *
 * The pipeline with the join has noted each match (step/probe.c).  This one takes the other rows through
 * the steps behind the join, into the same sink.  Expressions from before the join are NULL here (GC_OP_OUTER); the
 * build's payloads are read at the row's own number, as after a match.
 *
 * As in a group scan, a thread takes one row after another.
 *-------------------------------------------------------------------------
 */

/* Declare, at the kernel's scope, where the build's rows are. */
static void
declare_unmatched(Cg *cg)
{
	const int	b = cg_build(cg, cg->unmatched);
	const int	flags = cg_word(cg, GC_ARG_BUILD, cg->unmatched, GC_BUILD_PART_FLAGS);
	const int	matched = cg_word(cg, GC_ARG_BUILD, cg->unmatched, GC_BUILD_PART_MATCHED);

	text_addf(&cg->decls, "const u8 *gc_matched = (const u8 *) gc_a.w[%d];\n", matched);
	text_addf(&cg->decls, "u64 gc_nbuilt = ((const u32 *) gc_a.w[%d])[GC_FLAG_BUILT];\n"
			  "if (gc_nbuilt > b%d_cap) gc_nbuilt = b%d_cap;\n", flags, b, b);
	cg->index[cg->unmatched] = true;
}

void
cg_emit_unmatched_scan(Cg *cg, Text *t)
{
	const int	b = cg_build(cg, cg->unmatched);

	text_addf(t, "GC_NO_UNROLL for (u64 x%d = (u64) block * nthreads + thread; x%d < gc_nbuilt; x%d += (u64) nblocks * nthreads) {\n"
			  "if (!GC_GO_ON) break;\nif (gc_matched[x%d]) continue;\n%s", b, b, b, b, text_of(&cg->body));
}

/*-------------------------------------------------------------------------
 * Shared memory of a pipeline's kernel: bitmaps of builds, and its groups
 *-------------------------------------------------------------------------
 */

/* Must agree with gc_shared_bytes, and so must the tables of the sinks. */
void
cg_scope(Cg *cg, Text *t, const char *top)
{
	text_addf(t, "%su64 gc_top = %s; (void) gc_top;\n", text_of(&cg->decls), top);
	for (u16 b = 0; b < cg->p->nbuilds; b++)
	{
		int			k = cg->build[b];

		if (!(cg->variant->shared_builds & 1u << b))
			continue;
		text_addf(t, "u32 *b%d_at = (u32 *) (gc_shared + gc_top);\n", k);
		text_addf(t, "gc_top += (b%d_range + 63) / 64;\n", k);
	}
	sink_table(cg, t);
}

/* Copy the bitmaps that the variant keeps in shared memory; empty the group table. */
void
cg_fill_shared(Cg *cg, Text *t)
{
	for (u16 b = 0; b < cg->p->nbuilds; b++)
	{
		int			k = cg->build[b];

		if (cg->variant->shared_builds & 1u << b)
			text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < (u32) ((b%d_range + 31) / 32); i += nthreads)\n"
					  "b%d_at[i] = ((const u32 *) b%d_bits)[i];\n", k, k, k);
	}
	sink_clear(cg, t);
}

/* Is anything of the pipeline in shared memory? */
bool
cg_uses_shared(const Cg *cg)
{
	return cg->variant->shared_builds != 0 || sink_uses_shared(cg);
}

u64
gc_shared_bytes(const GcProgram *p, u16 pipeline, const GcVariant *variant, const u64 *ranges, u64 ngroups)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	u64			words = 0;

	for (u16 b = 0; b < p->nbuilds; b++)
	{
		if (variant->shared_builds & 1u << b)
			words += (ranges[b] + 63) / 64;
	}
	/* Packets are no groups. */
	if (variant->edge_side == GC_EDGE_PRODUCER)
		return words * 8;
	if (variant->group_local)
		words += (variant->group_copies * ngroups + GC_SPARE_CELLS) * pl->group_words;
	words += variant->group_cells * (pl->group_words + cg_cell_key_words(p, pl)) + variant->group_cells / 2;
	return words * 8;
}

/*-------------------------------------------------------------------------
 * One vector of rows
 *-------------------------------------------------------------------------
 */

/* Steps of the vector phase that are tested before live rows are settled. */
#define FIRST_STAGE_STEPS	3

/*
 * At least so many accesses to builds are batched, or none.  On an H100, eight requests over
 * selection bitmaps took 12.8 ms instead of 14.8 with two accesses.  With one they took 6.9 to 7.1
 * instead of 6.7.  Where SSB's own kernels tried it, they took 2 % longer.
 */
#define LEAST_TOGETHER		2

/*
 * Emit a loop that tests the steps first .. last - 1: filters together in one loop, each probe in
 * a loop of its own.  Returns the number of steps tested by this loop.
 */
static int
emit_test(Cg *cg, const GcPStep **steps, int first, int last, const char *loop,
		  const char *keep, const char *end)
{
	char		cond[512];
	int			n = 0;

	text_addf(cg->out, "%s", loop);
	if (steps[first]->type == GC_STEP_PROBE)
	{
		cg_step_condition(cg, steps[first], cond, sizeof(cond));
		text_addf(cg->out, "%s(gc_j, %s);\n%s", keep, cond, end);
		return 1;
	}
	text_addf(cg->out, "i32 gc_ok = 1;\n");
	while (first + n < last && steps[first + n]->type == GC_STEP_FILTER)
	{
		cg_step_condition(cg, steps[first + n], cond, sizeof(cond));
		text_addf(cg->out, "gc_ok &= %s;\n", cond);
		n++;
	}
	text_addf(cg->out, "%s(gc_j, gc_ok);\n%s", keep, end);
	return n;
}

/*
 * A stage may take its n steps in any order.  Move steps on packed codes to the front, and make their inputs available.
 * Returns their number.
 */
static int
set_packed_aside(Cg *cg, const GcPStep **steps, int n, Packed *packed)
{
	const GcPStep *others[MAX_STEPS];
	int			packs = 0;
	int			rest = 0;

	for (int i = 0; i < n; i++)
	{
		if (cg_is_packed(cg->p, steps[i]))
			steps[packs++] = steps[i];
		else
			others[rest++] = steps[i];
	}
	memcpy(steps + packs, others, rest * sizeof(others[0]));
	cg_require_packed(cg, steps, packs, packed);
	return packs;
}

/*-------------------------------------------------------------------------
 * Vector phase
 *-------------------------------------------------------------------------
 */

/*
 * Require the columns of a step of a later stage.  On device host (vec is 0) they are loaded for
 * live rows only.
 */
static void
require_step_batched(Cg *cg, const GcPStep *step)
{
	if (!cg_may_fail(cg->p, step))
		cg_require_step(cg, step);
}

/*
 * Is at least one row of a thread's vector likely to be live after steps that together pass 1 in
 * 2^passed rows?  Then the next stage's columns are loaded before this stage is decided.  They will
 * be needed, and two loads in flight take the time of one.
 */
static bool
worth_loading_early(Cg *cg, int passed)
{
	return passed <= GC_MOST_HALVINGS && 1 << passed <= cg->variant->vec;
}

/* Steps that test a whole vector, in stages: each stage's columns are loaded once the one before has left rows. */
static void
emit_vector_phase(Cg *cg, const GcPStep **steps, int n)
{
	const bool	whole = cg->fusion != NULL || cg->filtered;
	int			first = 0;
	int			passed = 0;
	int			packs;
	Packed		packed;

	/*
	 * The first stage tests cheap steps, selective together, on every row.  In a fused kernel it
	 * tests all steps.  Members run one after another in the same thread, so every further stage
	 * would be one more wait.  Also, vectors that one member loads serve the others.
	 */
	while (first < n &&
		   (whole || (first < FIRST_STAGE_STEPS && passed < 2) ||
			(cg_is_packed(cg->p, steps[first]) && worth_loading_early(cg, passed))) &&
		   !cg_may_fail(cg->p, steps[first]))
		passed += steps[first++]->selectivity;
	packs = set_packed_aside(cg, steps, first, &packed);
	for (int i = packs; i < first; i++)
		cg_require_step(cg, steps[i]);
	if (first < n && worth_loading_early(cg, passed))
		require_step_batched(cg, steps[first]);
	cg_test_packed(cg, &packed);
	for (int i = packs; i < first;)
		i += emit_test(cg, steps, i, first, "GC_EACH(gc_j) {\n", "GC_KEEP_IF", "}\n");
	for (int i = 0; i < first; i++)
		cg_note_tested(cg, steps[i]);
	if (cg->filtered)
		return;
	text_addf(cg->out, "GC_SETTLE\n");

	/* Later stages: read and test one step's columns for live rows. */
	cg->late = !whole;
	for (int i = first; i < n; i++)
	{
		passed += steps[i]->selectivity;
		cg_require_step(cg, steps[i]);
		if (i + 1 < n && worth_loading_early(cg, passed))
			require_step_batched(cg, steps[i + 1]);
		(void) emit_test(cg, steps, i, i + 1,
						 cg_may_fail(cg->p, steps[i]) ? "GC_EACH_LIVE(gc_j)\n" : "GC_EACH_CHEAP(gc_j)\n",
						 "GC_KEEP_LIVE_IF", "GC_END_LIVE\n");
		cg_note_tested(cg, steps[i]);
	}
}

/*-------------------------------------------------------------------------
 * Gathered rows
 *-------------------------------------------------------------------------
 */

/* Test n steps on gathered rows; their columns have been required. */
static void
emit_visited_predicates(Cg *cg, const GcPStep **steps, int n)
{
	for (int i = 0; i < n;)
		i += emit_test(cg, steps, i, n, "GC_EACH_VISITED(gc_j)\n", "GC_KEEP_VISITED_IF", "GC_END_VISITED\n");
}

/*
 * End a vector phase that leaves few rows, which are gathered, and test n steps on them.  Each
 * step's columns are read for all live rows, and then tested.
 */
static void
emit_gathered(Cg *cg, const GcPStep **steps, int n)
{
	text_addf(cg->out, "GC_FILTERED_SELECTION\n");
	memset(cg->array, 0, sizeof(cg->array));
	cg->gathered = 0;
	cg->gather = true;
	for (int i = 0; i < n; i++)
	{
		cg_require_step(cg, steps[i]);
		emit_visited_predicates(cg, steps + i, 1);
		cg_note_tested(cg, steps[i]);
	}
}

/*
 * For rows of a selection bitmap: test n steps up to the first that may fail or that whole
 * vectors cannot be tested for.  Then batch the lookups that the rest wants, if a row has several.
 * Returns the number of tested steps.
 */
static int
emit_lookups(Cg *cg, const GcPStep **steps, int n)
{
	int			tested = 0;
	Batched		batched;

	while (tested < n && cg_is_vector_step(cg->p, steps[tested]) && !cg_may_fail(cg->p, steps[tested]))
		tested++;
	cg_find_batched(cg, steps + tested, n - tested, &batched);
	if (batched.n < LEAST_TOGETHER)
		return 0;
	for (int i = 0; i < tested; i++)
		cg_require_step(cg, steps[i]);
	emit_visited_predicates(cg, steps, tested);
	cg_look_up_batched(cg, &batched);
	return tested;
}

/*-------------------------------------------------------------------------
 * Row phase
 *-------------------------------------------------------------------------
 */

/* Was a payload of the build required in the vector phase? */
static bool
wants_payload(const Cg *cg, u16 build)
{
	const GcPBuild *b = &gc_builds(cg->p)[build];

	for (u16 i = 0; i < b->npayloads; i++)
	{
		if (cg->batched[b->first_payload + i] == GC_BATCH_WANTED)
			return true;
	}
	return false;
}

/* Require vectors of all that the row phase reads, for n steps and the sink. */
static void
require_rows(Cg *cg, const GcPStep **steps, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (steps[i]->expr != GC_NONE)
			cg_require(cg, steps[i]->expr);
		if (steps[i]->type == GC_STEP_PROBE)
			cg_require_keys(cg, steps[i]);
	}
	sink_require(cg);
	/* keys that compute a match's index again may themselves be payloads of earlier steps */
	for (int s = cg->pl->nsteps - 1; s >= 0; s--)
	{
		const GcPStep *step = &gc_steps(cg->p)[cg->pl->first_step + s];

		if (step->type == GC_STEP_PROBE && wants_payload(cg, step->build))
			cg_require_keys(cg, step);
	}
}

/* Do so few rows fail the n steps that the sink's columns may be read before? */
static bool
most_survive(const GcPStep **steps, int n)
{
	int			passed = 0;

	for (int i = 0; i < n; i++)
		passed += steps[i]->selectivity;
	return passed <= 1;
}

/* May a row come to the sink several times? */
static bool
may_multiply(const Cg *cg, const GcPStep **steps, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (cg_may_multiply(cg->p, steps[i]))
			return true;
	}
	return false;
}

/*
 * Decide how rows come to n remaining steps and the sink.  `visited`: one after another, as few
 * are left.
 */
static void
decide_rows(Cg *cg, const GcPStep **steps, int n, bool visited)
{
	const bool	ungrouped = cg_is_ungrouped(cg->pl) && !cg->produces;

	if (visited)
	{
		cg->dense_rows = most_survive(steps, n);
		cg->gather |= cg->dense_rows;
	}
	else
		cg->dense_rows = !cg_few_reach_sink(cg->pl) || (cg->fusion && ungrouped);
	cg->once = !may_multiply(cg, steps, n) && gc_sink_visits(cg->pl) == 1;
	cg->all_rows = cg->dense_rows && !visited && n == 0 && !cg_has_probes(cg->p, cg->pl) && sink_takes_all(cg);
	cg->parts = cg->dense_rows && !visited && ungrouped && cg->once;
	cg->counted = cg->parts && n == 0;
}

/*
 * Emit statements that take the current row through n steps; returns the number of loops opened.
 */
static int
emit_row_steps(Cg *cg, const GcPStep **steps, int n)
{
	char		cond[512];
	int			loops = 0;

	for (int i = 0; i < n; i++)
	{
		if (!cg_is_test(cg->p, steps[i]))
		{
			if (cg_is_split(cg, steps[i]->build))
			{
				cg_probed_part(cg, steps[i], cond, sizeof(cond));
				text_addf(cg->out, "if (!%s) continue;\n", cond);
			}
			loops += steps[i]->join != GC_JOIN_INNER ? cg_match_probe(cg, steps[i])
				: cg_is_list_probe(cg->p, steps[i]) ? cg_list_probe(cg, steps[i]) : cg_hash_probe(cg, steps[i]);
			cg_note_tested(cg, steps[i]);
			continue;
		}
		cg_require_step(cg, steps[i]);
		cg_step_condition(cg, steps[i], cond, sizeof(cond));
		text_addf(cg->out, "if (!(%s)) continue;\n", cond);
		cg_note_tested(cg, steps[i]);
	}
	return loops;
}

/* The current row comes to the sink: once, or for each grouping set and in rounds. */
static void
emit_sink(Cg *cg)
{
	if (cg->produces)
	{
		sink_row(cg);
		return;
	}
	/* Declarations before the loops are there each time. */
	if (gc_sink_visits(cg->pl) > 1)
		sink_require(cg);
	if (cg->pl->sets > 0)
		text_addf(cg->out, "GC_NO_UNROLL for (i32 gc_this_set = 0; gc_this_set < %d; gc_this_set++) {\n", cg->pl->sets);
	if (cg->pl->rounds > 1)
		text_addf(cg->out, "GC_NO_UNROLL for (i32 gc_this_round = 0; gc_this_round < %d; gc_this_round++) {\n",
				  cg->pl->rounds);
	sink_row(cg);
	if (cg->pl->rounds > 1)
		text_addf(cg->out, "}\n");
	if (cg->pl->sets > 0)
		text_addf(cg->out, "}\n");
}

/* Emit the row phase: the remaining steps, then the sink. */
static void
emit_row_phase(Cg *cg, const GcPStep **steps, int n)
{
	const bool	visited = cg->variant->selection != 0 || cg->filtered || cg->consumes;
	int			tested = 0;
	int			loops;
	const char *rows;

	decide_rows(cg, steps, n, visited);
	if (cg->dense_rows)
		require_rows(cg, steps, n);
	if (cg->dense_rows && cg->variant->selection != 0)
		tested = emit_lookups(cg, steps, n);
	rows = visited ? "SELECTED_ROWS" : cg->all_rows ? "ROWS_ALL" : cg->dense_rows ? "ROWS_DENSE" : "ROWS_SPARSE";

	sink_begin_parts(cg);
	cg->in_rows = true;
	text_addf(cg->out, "GC_%s(gc_j, gc_r)\n", rows);
	if (cg->consumes)
		cg_declare_matches(cg);
	loops = emit_row_steps(cg, steps + tested, n - tested);
	emit_sink(cg);
	while (loops-- > 0)
		text_addf(cg->out, "}\n");
	text_addf(cg->out, "GC_END_%s\n", rows);
	cg->in_rows = false;
	sink_add_parts(cg);
}

/*-------------------------------------------------------------------------
 * All in one loop
 *-------------------------------------------------------------------------
 */

/*
 * Can all be one stage (GC_FILTER_AGGREGATE)?  It takes filters and an ungrouped aggregate.  No
 * test may fail, since all tests are made on every row.  It pays in a fused kernel, whose members
 * load everything at once.  It also pays where a thread's vector is likely to have a row for the
 * sink.
 */
static bool
is_filter_aggregate(Cg *cg)
{
	const GcPPipeline *pl = cg->pl;

	if (cg->variant->selection || !cg_is_ungrouped(cg->pl))
		return false;
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(cg->p)[pl->first_step + s];

		if (step->type != GC_STEP_FILTER || cg_may_fail(cg->p, step))
			return false;
	}
	return cg->fusion || pl->survive <= 1 || worth_loading_early(cg, pl->survive);
}

/* Filters and sums without branches: rows that fail add nothing. */
static void
emit_filter_aggregate(Cg *cg)
{
	const GcPStep *steps[MAX_STEPS];
	Packed		packed;
	int			packs;
	char		cond[512];

	for (int s = 0; s < cg->pl->nsteps; s++)
		steps[s] = &gc_steps(cg->p)[cg->pl->first_step + s];
	packs = set_packed_aside(cg, steps, cg->pl->nsteps, &packed);
	for (int s = packs; s < cg->pl->nsteps; s++)
		cg_require_step(cg, steps[s]);
	sink_require(cg);
	cg->dense_rows = cg->parts = true;
	cg->counted = packs == cg->pl->nsteps;
	cg_test_packed(cg, &packed);
	sink_begin_parts(cg);
	text_addf(cg->out, "GC_FILTER_AGGREGATE(gc_j)\n");
	for (int s = packs; s < cg->pl->nsteps; s++)
	{
		cg_step_condition(cg, steps[s], cond, sizeof(cond));
		text_addf(cg->out, "gc_pass &= %s;\n", cond);
	}
	text_addf(cg->out, "GC_FILTER_AGGREGATE_KEPT(gc_j, gc_r)\n");
	cg->in_rows = true;
	sink_row(cg);
	cg->in_rows = false;
	text_addf(cg->out, "GC_END_FILTER_AGGREGATE\n");
	sink_add_parts(cg);
}

/*-------------------------------------------------------------------------
 * Groups
 *-------------------------------------------------------------------------
 */

/*
 * A group of an earlier pipeline is one row, which the row phase takes (expr/group_scan.c).  So is a row of
 * a build.
 */
static void
emit_single_rows(Cg *cg)
{
	int			loops = 0;

	if (cg->unmatched == GC_NONE)
		cg_declare_groups(cg);
	else
		declare_unmatched(cg);
	cg->in_rows = true;
	cg->once = gc_sink_visits(cg->pl) == 1;
	for (int s = 0; s < cg->pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(cg->p)[cg->pl->first_step + s];

		cg->once &= !may_multiply(cg, &step, 1);
		loops += emit_row_steps(cg, &step, 1);
	}
	emit_sink(cg);
	while (loops-- > 0)
		text_addf(cg->out, "}\n");
}

/*-------------------------------------------------------------------------
 * All together
 *-------------------------------------------------------------------------
 */

/* The pipeline's steps and sink, in the form that suits them. */
static void
emit_body(Cg *cg)
{
	StepLists	lists;

	if (cg_groups_of(cg->p, cg->pl) || cg->unmatched != GC_NONE)
	{
		emit_single_rows(cg);
		return;
	}
	if (cg->pl->nsteps > MAX_STEPS)
	{
		cg_fail(cg, GC_UNSUPPORTED, "a pipeline with too many steps");
		return;
	}
	if (is_filter_aggregate(cg))
	{
		emit_filter_aggregate(cg);
		return;
	}
	cg->filtered = !cg->variant->selection && !cg->fusion && cg_few_reach_sink(cg->pl) &&
		!cg_scans_pairs(cg->p, cg->pl) && cg_divide_filtered(cg->p, cg->pl, &lists);
	if (!cg->filtered)
		cg_divide_steps(cg->p, cg->pl, cg->variant, &lists);
	if (!cg->variant->selection)
		emit_vector_phase(cg, lists.vector, lists.nvector);
	if (cg->filtered)
		emit_gathered(cg, lists.row, lists.ngathered);
	emit_row_phase(cg, lists.row + lists.ngathered, lists.nrow - lists.ngathered);
}

/*-------------------------------------------------------------------------
 * Cut in two
 *-------------------------------------------------------------------------
 */

/* The producer's part is complete: set it aside, and forget its declarations. */
static void
keep_producer(Cg *cg)
{
	Producer   *producer = &cg->producer;

	producer->descs = cg->descs;
	producer->body = cg->body;
	producer->filtered = cg->filtered;
	producer->lane_rows = cg_lane_rows(cg);
	producer->rounds = cg_filtered_rounds(cg);
	producer->nahead = cg->nahead;
	memcpy(producer->ahead, cg->ahead, sizeof(cg->ahead));
	memset(&cg->descs, 0, sizeof(cg->descs));
	memset(&cg->body, 0, sizeof(cg->body));
	memset(cg->column, -1, sizeof(cg->column));
	memset(cg->array, 0, sizeof(cg->array));
	memset(cg->scalar, 0, sizeof(cg->scalar));
	memset(cg->index, 0, sizeof(cg->index));
	memset(cg->payload, -1, 2 * (cg->p->npayloads + 1) * sizeof(i16));
	cg->ncolumns = cg->nahead = cg->gathered = 0;
	cg->filtered = cg->late = cg->gather = cg->dense_rows = false;
}

/*
 * Steps up to the edge, into packets; and behind it, from packets: the row phase of gathered rows.  A kernel has
 * one of both parts, or both.
 */
static void
emit_cut(Cg *cg)
{
	const u8	side = cg->variant->edge_side;
	StepLists	lists;
	const GcPStep **steps;
	bool		filtered;
	int			before,
				n;

	if (cg->pl->nsteps > MAX_STEPS || cg->variant->selection || cg->fusion)
	{
		cg_fail(cg, GC_UNSUPPORTED, "such an edge");
		return;
	}
	cg_divide_own(cg->p, cg->pl, &lists, &filtered);
	steps = lists.row + lists.ngathered;
	n = lists.nrow - lists.ngathered;
	before = cg_before_edge(cg->p, cg->pl, steps, n, cg->variant->edge_step);
	cg->passed = cg_passed_builds(cg->p, cg->pl, steps, before, n);
	cg_edge_words(cg);
	if (side != GC_EDGE_CONSUMER)
	{
		cg->produces = true;
		cg->filtered = filtered;
		emit_vector_phase(cg, lists.vector, lists.nvector);
		if (filtered)
			emit_gathered(cg, lists.row, lists.ngathered);
		emit_row_phase(cg, steps, before);
		keep_producer(cg);
	}
	if (side == GC_EDGE_PRODUCER)
		return;
	cg->produces = false;
	cg->consumes = true;
	sink_prepare(cg);
	emit_row_phase(cg, steps + before, n - before);
}

void
cg_pipeline(Cg *cg)
{
	if (cg->variant->edge != GC_EDGE_FUSE)
	{
		emit_cut(cg);
		return;
	}
	sink_prepare(cg);
	emit_body(cg);
}
