/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN says about a gpuconc node.
 *
 * Plan properties always; what happened only under ANALYZE; details only under
 * VERBOSE.  One fact per property.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "explain.h"

#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "../settings.h"

static const char *
input_name(GcScanState *node, int input)
{
	const GcPlanInput *in = &node->plan->inputs[input];
	const u16	groups_of = gc_inputs(node->logical)[input].groups_of;
	const u16	unmatched_of = gc_inputs(node->logical)[input].unmatched_of;
	char	   *name;

	if (groups_of)
		return psprintf("groups of %s", input_name(node, gc_pipelines(node->logical)[groups_of - 1].input));
	if (unmatched_of)
		return psprintf("%s without a match",
						input_name(node, gc_pipelines(node->logical)[gc_builds(node->logical)[unmatched_of - 1].pipeline].input));
	if (!OidIsValid(in->relid))
		return "row source";
	name = get_rel_name(in->relid);
	return name ? quote_identifier(name) : "dropped table";
}

/* Clauses of one pipeline with one tag, deparsed and joined. */
static char *
clauses_text(GcScanState *node, int tag, const char *separator, List *context, bool prefix)
{
	CustomScan *cscan = (CustomScan *) node->css.ss.ps.plan;
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, node->display_tags)
	{
		Node	   *expr;

		if (lfirst_int(lc) != tag)
			continue;
		expr = list_nth(cscan->custom_exprs, node->plan->nexprs + foreach_current_index(lc));
		if (buf.len > 0)
			appendStringInfoString(&buf, separator);
		appendStringInfoString(&buf, deparse_expression(expr, context, prefix, false));
	}
	return buf.data;
}

static const char *const join_names[] = {
	[GC_JOIN_INNER] = "probes",
	[GC_JOIN_LEFT] = "left-joins",
	[GC_JOIN_SEMI] = "semi-joins",
	[GC_JOIN_ANTI] = "anti-joins",
	[GC_JOIN_FULL] = "full-joins",
	[GC_JOIN_RIGHT] = "right-joins",
};

static void
explain_pipeline(GcScanState *node, int n, List *context, bool prefix, ExplainState *es)
{
	const GcPPipeline *pl = &gc_pipelines(node->logical)[n];
	const char *name = input_name(node, pl->input);
	const char *label = pl->rest_of ? "Rest" : pl->sink == GC_SINK_BUILD ? "Build" : pl->sink == GC_SINK_SELECT ? "Choose" :
		n < node->logical->npipelines - 1 ? "Group" : "Stream";
	char	   *filter = clauses_text(node, GC_DISPLAY_TAG(n, GC_DISPLAY_FILTER), " AND ", context, prefix);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, name);
	if (pl->sink == GC_SINK_BUILD && !pl->rest_of)
	{
		const char *keys = clauses_text(node, GC_DISPLAY_TAG(n, GC_DISPLAY_KEY(pl->build)), ", ", context, prefix);

		if (keys[0])
			appendStringInfo(&buf, " by %s", keys);
	}
	if (pl->sink == GC_SINK_SELECT && node->plan->wanted > 0)
		appendStringInfo(&buf, ", first " UINT64_FORMAT " and ties", node->plan->wanted);
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(node->logical)[pl->first_step + s];
		const char *keys;

		char	   *condition;

		if (step->type != GC_STEP_PROBE)
			continue;
		keys = clauses_text(node, GC_DISPLAY_TAG(n, GC_DISPLAY_KEY(step->build)), ", ", context, prefix);
		appendStringInfo(&buf, ", %s %s%s%s", join_names[step->join],
						 input_name(node, gc_pipelines(node->logical)[gc_builds(node->logical)[step->build].pipeline].input),
						 keys[0] ? " with " : "", keys);
		condition = clauses_text(node, GC_DISPLAY_TAG(n, GC_DISPLAY_CONDITION(step->build)), " AND ", context, prefix);
		if (condition[0])
			appendStringInfo(&buf, " if %s", condition);
	}
	ExplainPropertyText(label, buf.data, es);
	if (filter[0])
		ExplainPropertyText(psprintf("%s Filter", label), filter, es);
}

static void
explain_run(GcScanState *node, ExplainState *es)
{
	const GcScanStats *s = &node->stats;
	const GcRunInfo *r = &s->run;
	GcDeviceStatus *device = gc_device_status();

	ExplainPropertyText("Device", device->info.name, es);
	ExplainPropertyUInteger("Pages Served", NULL, s->pages_served, es);
	ExplainPropertyUInteger("Delta Pages", NULL, s->pages_delta, es);
	ExplainPropertyUInteger("Delta Rows", NULL, s->rows_delta, es);
	ExplainPropertyFloat("Kernel Time", "ms", r->run_ms, 3, es);
	ExplainPropertyText("Schedule", gc_schedule_name(r->policy), es);
	ExplainPropertyUInteger("Co-Running Requests", NULL, r->co_running, es);
	ExplainPropertyUInteger("Shared Scan Requests", NULL, r->scan_members, es);
	if (!es->verbose)
		return;
	ExplainPropertyUInteger("Chunks", NULL, s->chunks, es);
	ExplainPropertyUInteger("Chunks Skipped", NULL, s->chunks_skipped, es);
	ExplainPropertyUInteger("Chunks Loaded", NULL, s->chunks_loaded, es);
	ExplainPropertyUInteger("Row Source Rows", NULL, s->rows_source, es);
	ExplainPropertyText("Group Table", s->group_mode, es);
	ExplainPropertyUInteger("Group Table Size", NULL, s->groups, es);
	ExplainPropertyFloat("Load Time", "ms", s->load_ms, 3, es);
	ExplainPropertyFloat("Bind Time", "ms", s->bind_ms, 3, es);
	ExplainPropertyFloat("Queue Time", "ms", r->queue_ms, 3, es);
	ExplainPropertyFloat("Compile Time", "ms", r->compile_ms, 3, es);
	ExplainPropertyFloat("Copy Time", "ms", r->copy_ms, 3, es);
	ExplainPropertyFloat("Device Time", "ms", r->total_ms, 3, es);
	ExplainPropertyFloat("Decode Time", "ms", s->decode_ms, 3, es);
	ExplainPropertyUInteger("Copied", "kB", r->copied_bytes / 1024, es);
	ExplainPropertyUInteger("Read", "kB", r->read_bytes / 1024, es);
	ExplainPropertyUInteger("Kernels", NULL, r->kernels, es);
	ExplainPropertyUInteger("Kernels Compiled", NULL, r->compiled, es);
	ExplainPropertyUInteger("Builds Run", NULL, r->builds_run, es);
	ExplainPropertyBool("Result Shared", r->shared_result != 0, es);
	ExplainPropertyUInteger("Builds Shared", NULL, r->builds_shared, es);
	ExplainPropertyUInteger("Blocks", NULL, r->blocks, es);
	ExplainPropertyUInteger("Threads per Block", NULL, r->threads, es);
	ExplainPropertyUInteger("Shared Memory per Block", "kB", (r->shared_bytes + 1023) / 1024, es);
	ExplainPropertyUInteger("Registers per Thread", NULL, r->registers, es);
	ExplainPropertyUInteger("Batch", NULL, r->batch, es);
	ExplainPropertyUInteger("Batch Requests", NULL, r->batch_kernels, es);
	ExplainPropertyFloat("Attach Position", "%", r->ntiles > 0 ? 100.0 * r->first_tile / r->ntiles : 0, 1, es);
	ExplainPropertyFloat("Predicted Kernel Time", "ms", r->predicted_ms, 3, es);
}

void
gc_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GcScanState *node = (GcScanState *) css;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	bool		prefix = list_length(es->rtable) > 1 || es->verbose;

	for (int n = node->logical->npipelines - 1; n >= 0; n--)
		explain_pipeline(node, n, context, prefix, es);
	if (node->sets != NIL)
		ExplainPropertyInteger("Grouping Sets", NULL, list_length(node->sets), es);

	/* PostgreSQL's own plan is our child: a detail, unless it was run. */
	if (!es->analyze && !es->verbose && node->fallback)
		css->custom_ps = list_delete_ptr(css->custom_ps, node->fallback);
	if (!es->analyze)
		return;
	if (node->stats.fallbacks > 0)
	{
		ExplainPropertyText("Fallback", gc_code_name(node->stats.last_code), es);
		if (node->stats.last_reason[0])
			ExplainPropertyText("Fallback Reason", node->stats.last_reason, es);
	}
	else
		ExplainPropertyText("Fallback", "no", es);
	if (node->stats.offloaded > 0)
		explain_run(node, es);
}
