/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN says about a gpuconc node.
 *
 * Plan properties always; what happened only under ANALYZE (explain_run()).  One fact per property.  Text has a
 * line for each pipeline; other formats have a list of pipelines, for no object may have a key twice.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "commands/explain.h"
#include "nodes/plannodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "../compat.h"
#include "../program/edge.h"
#include "../settings.h"

/* Tables of an append input that are named. */
#define MAX_NAMES	4

/* A table's name; it may have been dropped since the plan was made. */
static const char *
table_name(Oid relid)
{
	char	   *name = get_rel_name(relid);

	return name ? quote_identifier(name) : "dropped table";
}

/* An append input: its name, if it has one, and its tables. */
static const char *
append_name(GcScanState *node, const GcPlanInput *in)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s (", OidIsValid(in->relid) ? table_name(in->relid) : "union of tables");
	for (int k = 0; k < Min(in->nparts, MAX_NAMES); k++)
		appendStringInfo(&buf, "%s%s", k > 0 ? ", " : "",
						 table_name(GC_PLAN_PARTS(node->plan)[in->first_part + k].relid));
	if (in->nparts > MAX_NAMES)
		appendStringInfo(&buf, " and %d more", in->nparts - MAX_NAMES);
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* An input's name: a table, groups or rows of another one, or rows without a match. */
static const char *
input_name(GcScanState *node, int input)
{
	const GcPlanInput *in = &node->plan->inputs[input];
	const u16	groups_of = gc_inputs(node->logical)[input].groups_of;
	const u16	unmatched_of = gc_inputs(node->logical)[input].unmatched_of;

	if (groups_of)
		return psprintf("%s of %s", gc_pipelines(node->logical)[groups_of - 1].sink == GC_SINK_ROWS ? "rows" : "groups",
						input_name(node, gc_pipelines(node->logical)[groups_of - 1].input));
	if (unmatched_of)
		return psprintf("%s without a match",
						input_name(node, gc_pipelines(node->logical)[gc_builds(node->logical)[unmatched_of - 1].pipeline].input));
	if (in->nparts > 0)
		return append_name(node, in);
	return OidIsValid(in->relid) ? table_name(in->relid) : "row source";
}

/* The context that clauses are printed with. */
typedef struct Printer
{
	GcScanState *node;
	List	   *context;		/* of the node's own query level */
	bool		prefix;
	List	   *lower;			/* contexts of lower levels */
	List	   *lower_prefix;	/* int */
	ExplainState *es;
} Printer;

/* Does EXPLAIN print a column with its relation's name? */
static bool
has_prefix(List *rtable, ExplainState *es)
{
	int			n = list_length(rtable);
	ListCell   *lc;

	foreach(lc, rtable)
	{
		if (GC_IS_GROUPING(lfirst_node(RangeTblEntry, lc)))
		{
			n--;
			break;
		}
	}
	return n > 1 || es->verbose;
}

/* Contexts in which clauses of lower query levels are deparsed: their range tables, with an empty plan. */
static void
prepare_lower(Printer *printer)
{
	ListCell   *lc;

	foreach(lc, (List *) lfourth(printer->node->lower_display))
	{
		List	   *rtable = lfirst_node(List, lc);
		PlannedStmt *names = makeNode(PlannedStmt);
		Bitmapset  *used = NULL;

		for (int i = 1; i <= list_length(rtable); i++)
			used = bms_add_member(used, i);
		names->rtable = rtable;
		/* From 17 on, a plan is searched for what a Param stands for. */
		printer->lower = lappend(printer->lower,
								 set_deparse_context_plan(deparse_context_for_plan_tree(names, select_rtable_names_for_explain(rtable, used)),
														  (Plan *) makeNode(Result), NIL));
		printer->lower_prefix = lappend_int(printer->lower_prefix, has_prefix(rtable, printer->es));
	}
}

/* Clauses of one pipeline with one tag, deparsed. */
static List *
clauses(Printer *printer, int tag)
{
	GcScanState *node = printer->node;
	CustomScan *cscan = (CustomScan *) node->css.ss.ps.plan;
	List	   *texts = NIL;
	ListCell   *lc,
			   *ll,
			   *le;

	foreach(lc, node->display_tags)
	{
		if (lfirst_int(lc) == tag)
			texts = lappend(texts, deparse_expression(list_nth(cscan->custom_exprs, node->plan->nexprs + foreach_current_index(lc)),
													  printer->context, printer->prefix, false));
	}
	forthree(lc, (List *) linitial(node->lower_display), ll, (List *) lsecond(node->lower_display),
			 le, (List *) lthird(node->lower_display))
	{
		if (lfirst_int(lc) == tag)
			texts = lappend(texts, deparse_expression(lfirst(le), list_nth(printer->lower, lfirst_int(ll)),
													  list_nth_int(printer->lower_prefix, lfirst_int(ll)), false));
	}
	return texts;
}

static char *
joined(List *texts, const char *separator)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, texts)
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? separator : "", (char *) lfirst(lc));
	return buf.data;
}

/* Conjuncts as one condition. */
static void
explain_condition(const char *label, List *texts, ExplainState *es)
{
	if (texts != NIL)
		ExplainPropertyText(label, joined(texts, " AND "), es);
}

/* Nothing is shown of an empty list. */
static void
explain_list(const char *label, List *texts, ExplainState *es)
{
	if (texts != NIL)
		ExplainPropertyList(label, texts, es);
}

/* In text, and in other formats. */
static const char *const join_names[][2] = {
	[GC_JOIN_INNER] = {"probes", "Inner"},
	[GC_JOIN_LEFT] = {"left-joins", "Left"},
	[GC_JOIN_SEMI] = {"semi-joins", "Semi"},
	[GC_JOIN_ANTI] = {"anti-joins", "Anti"},
	[GC_JOIN_FULL] = {"full-joins", "Full"},
	[GC_JOIN_RIGHT] = {"right-joins", "Right"},
};

/* A pipeline, and what both ways to print it need. */
typedef struct Pipeline
{
	int			n;
	const GcPPipeline *pl;
	const char *role;
	List	   *probes;			/* GcPStep; without those of a pipeline that it is an arm of */
	List	   *filter;
	List	   *build_keys;
	List	   *group_keys;
	uint64		first;			/* rows that are chosen, and ties; 0: all */
	bool		any;			/* whichever rows these are */
	int			windows;		/* over its rows */
	const GcPipelineStats *ran;	/* under ANALYZE and VERBOSE, if the device answered; else NULL */
} Pipeline;

/* A probe of the pipeline: ", probes b with key if condition". */
static void
append_probe(StringInfo buf, Printer *printer, int n, const GcPStep *step)
{
	const GcProgram *p = printer->node->logical;
	const GcPBuild *build = &gc_builds(p)[step->build];
	const char *keys = joined(clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_KEY(step->build))), ", ");
	const char *condition = joined(clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_CONDITION(step->build))), " AND ");

	appendStringInfo(buf, ", %s %s", join_names[step->join][0],
					 input_name(printer->node, gc_pipelines(p)[build->pipeline].input));
	if (build->nkeys == 0)
		appendStringInfoString(buf, " by nested loop");
	if (keys[0])
		appendStringInfo(buf, " with %s", keys);
	if (condition[0])
		appendStringInfo(buf, " if %s", condition);
}

/* Are the rows that come to a step counted?  Where they go through memory before it, they are. */
static bool
counted_before(const GcScanState *node, const Pipeline *d, const GcPStep *step)
{
	const GcRunInfo *r = &node->stats.run;

	return d->ran && d->n == node->logical->npipelines - 1 &&
		(r->edge == GC_EDGE_CHANNEL || r->edge == GC_EDGE_MATERIALIZE) &&
		step == gc_steps(node->logical) + d->pl->first_step + r->edge_step;
}

/* Likewise, as a group. */
static void
explain_probe(Printer *printer, const Pipeline *d, const GcPStep *step)
{
	const int	n = d->n;
	const GcProgram *p = printer->node->logical;
	const GcPBuild *build = &gc_builds(p)[step->build];
	ExplainState *es = printer->es;

	ExplainOpenGroup("Step", NULL, true, es);
	ExplainPropertyText("Join Type", join_names[step->join][1], es);
	if (counted_before(printer->node, d, step))
		ExplainPropertyUInteger("Rows In", NULL, printer->node->stats.run.edge_packets, es);
	ExplainPropertyText("Build", input_name(printer->node, gc_pipelines(p)[build->pipeline].input), es);
	ExplainPropertyBool("Nested Loop", build->nkeys == 0, es);
	explain_list("Probe Key", clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_KEY(step->build))), es);
	explain_condition("Join Filter", clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_CONDITION(step->build))), es);
	ExplainCloseGroup("Step", NULL, true, es);
}

/* The last steps of an arm of UNION ALL that are those of the pipeline which it is an arm of. */
static int
common_steps(const GcProgram *p, const GcPPipeline *arm)
{
	const GcPPipeline *owner = &gc_pipelines(p)[arm->rest_of - 1];
	const GcPStep *a = gc_steps(p) + arm->first_step + arm->nsteps;
	const GcPStep *b = gc_steps(p) + owner->first_step + owner->nsteps;
	int			n = 0;

	while (n < Min(arm->nsteps, owner->nsteps) && memcmp(&a[-n - 1], &b[-n - 1], sizeof(GcPStep)) == 0)
		n++;
	return n;
}

/* Collect the lines of a pipeline, in whatever format. */
static Pipeline
describe_pipeline(Printer *printer, int n)
{
	GcScanState *node = printer->node;
	const GcPPipeline *pl = &gc_pipelines(node->logical)[n];
	const bool	last = n == node->logical->npipelines - 1;
	const bool	arm = pl->rest_of && gc_is_arm_of(node->logical, n, pl->rest_of - 1);
	Pipeline	d = {.n = n,.pl = pl};

	for (int s = 0; s < pl->nsteps - (arm ? common_steps(node->logical, pl) : 0); s++)
	{
		GcPStep    *step = &gc_steps(node->logical)[pl->first_step + s];

		if (step->type == GC_STEP_PROBE)
			d.probes = lappend(d.probes, step);
	}
	d.role = arm ? "Union" : pl->rest_of ? "Rest" : pl->sink == GC_SINK_BUILD ? "Build"
		: pl->sink == GC_SINK_SELECT ? "Choose" : last ? "Stream" : pl->sink == GC_SINK_ROWS ? "Rows" : "Group";
	d.filter = clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_FILTER));
	d.group_keys = clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_GROUP_KEY));
	if (pl->sink == GC_SINK_BUILD && !pl->rest_of)
		d.build_keys = clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_KEY(pl->build)));
	if (pl->sink == GC_SINK_SELECT || (pl->sink == GC_SINK_ROWS && pl->nkeys > 0))
		d.first = node->plan->wanted;
	d.any = pl->nkeys == 0;
	for (int i = 0; i < node->logical->nwindows; i++)
		d.windows += gc_windows(node->logical)[i].pipeline == n;
	if (printer->es->analyze && printer->es->verbose && node->stats.offloaded > 0)
		d.ran = &node->stats.pipelines[n];
	return d;
}

/* Rows of a pipeline: " (100 rows in, 10 out; hashed groups)". */
static void
append_rows(StringInfo buf, const GcPipelineStats *ran)
{
	const char *separator = " (";

	if (ran->rows_in > 0)
	{
		appendStringInfo(buf, "%s" UINT64_FORMAT " rows in", separator, ran->rows_in - 1);
		separator = ", ";
	}
	if (ran->rows_out > 0)
	{
		appendStringInfo(buf, "%s" UINT64_FORMAT "%s out", separator, ran->rows_out - 1,
						 separator[0] == ' ' ? " rows" : "");
		separator = "; ";
	}
	if (ran->group_mode && ran->group_room > 1)
	{
		appendStringInfo(buf, "%s%s groups", separator, ran->group_mode);
		separator = "";
	}
	if (separator[0] != ' ')
		appendStringInfoChar(buf, ')');
}

/* A pipeline as one line: source, filter, steps and sink. */
static void
explain_pipeline_text(Printer *printer, const Pipeline *d)
{
	GcScanState *node = printer->node;
	ExplainState *es = printer->es;
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfoString(&buf, input_name(node, d->pl->input));
	if (d->ran)
		append_rows(&buf, d->ran);
	if (d->build_keys != NIL)
		appendStringInfo(&buf, " by %s", joined(d->build_keys, ", "));
	if (d->first > 0)
		appendStringInfo(&buf, d->any ? ", any " UINT64_FORMAT : ", first " UINT64_FORMAT " and ties", d->first);
	if (d->windows > 0)
		appendStringInfo(&buf, ", %d %s", d->windows, d->windows == 1 ? "window" : "windows");
	foreach(lc, d->probes)
		append_probe(&buf, printer, d->n, lfirst(lc));
	ExplainPropertyText(d->role, buf.data, es);
	explain_condition(psprintf("%s Filter", d->role), d->filter, es);
	explain_list(psprintf("%s Key", d->role), d->group_keys, es);
}

/* The steps of a pipeline, as a group of groups. */
static void
explain_probes(Printer *printer, const Pipeline *d)
{
	ListCell   *lc;

	if (d->probes == NIL)
		return;
	ExplainOpenGroup("Steps", "Steps", false, printer->es);
	foreach(lc, d->probes)
		explain_probe(printer, d, lfirst(lc));
	ExplainCloseGroup("Steps", "Steps", false, printer->es);
}

/* A pipeline as a group, for formats that programs read. */
static void
explain_pipeline_group(Printer *printer, const Pipeline *d)
{
	static const char *const sinks[] = {[GC_SINK_BUILD] = "Build", [GC_SINK_AGGREGATE] = "Aggregate", [GC_SINK_ROWS] = "Rows",
	[GC_SINK_SELECT] = "Choose"};
	GcScanState *node = printer->node;
	ExplainState *es = printer->es;

	ExplainOpenGroup("Pipeline", NULL, true, es);
	ExplainPropertyText("Role", d->role, es);
	ExplainPropertyText("Source", input_name(node, d->pl->input), es);
	if (d->ran && d->ran->rows_in > 0)
		ExplainPropertyUInteger("Rows In", NULL, d->ran->rows_in - 1, es);
	explain_condition("Filter", d->filter, es);
	explain_probes(printer, d);
	ExplainPropertyText("Sink", sinks[d->pl->sink], es);
	explain_list("Build Key", d->build_keys, es);
	explain_list("Group Key", d->group_keys, es);
	if (d->first > 0)
		ExplainPropertyUInteger(d->any ? "Any Rows" : "First Rows and Ties", NULL, d->first, es);
	if (d->windows > 0)
		ExplainPropertyInteger("Windows", NULL, d->windows, es);
	if (d->ran && d->ran->group_mode)
	{
		ExplainPropertyText("Group Mode", d->ran->group_mode, es);
		ExplainPropertyUInteger("Group Table Size", NULL, d->ran->group_room, es);
	}
	if (d->ran && d->ran->rows_out > 0)
		ExplainPropertyUInteger("Rows Out", NULL, d->ran->rows_out - 1, es);
	ExplainCloseGroup("Pipeline", NULL, true, es);
}

/* From the last one, whose rows the node returns, to the first. */
static void
explain_pipelines(Printer *printer)
{
	ExplainState *es = printer->es;

	/* Text has no line for this. */
	ExplainOpenGroup("Pipelines", "Pipelines", false, es);
	for (int n = printer->node->logical->npipelines - 1; n >= 0; n--)
	{
		Pipeline	d = describe_pipeline(printer, n);

		if (es->format == EXPLAIN_FORMAT_TEXT)
			explain_pipeline_text(printer, &d);
		else
			explain_pipeline_group(printer, &d);
	}
	ExplainCloseGroup("Pipelines", "Pipelines", false, es);
}

/* Columns that no kernel reads: they are fetched for the rows that are returned. */
static void
explain_fetched(Printer *printer)
{
	const GcPlan *plan = printer->node->plan;
	List	   *tlist = ((CustomScan *) printer->node->css.ss.ps.plan)->custom_scan_tlist;
	List	   *texts = NIL;

	for (int c = 0; c < plan->noutputs; c++)
	{
		if (plan->outputs[c].type == GC_OUT_FETCHED)
			texts = lappend(texts, deparse_expression((Node *) list_nth_node(TargetEntry, tlist, c)->expr, printer->context,
													  printer->prefix, false));
	}
	explain_list("Fetched Late", texts, printer->es);
}

/* Which plan the values of parameters lead to, where these decide.  EXPLAIN (GENERIC_PLAN) has none. */
static void
explain_choice(GcScanState *node, bool own, ExplainState *es)
{
	if (node->plan->nguesses == 0 || (es->analyze && node->stats.loops == 0))
		return;
	if (node->css.ss.ps.state->es_param_list_info == NULL)
	{
		ExplainPropertyText("Chosen at Execution", "device or PostgreSQL's plan", es);
		return;
	}
	ExplainPropertyText("Chosen at Execution", own ? "PostgreSQL's plan" : "device", es);
	if (!es->costs)
		return;
	ExplainPropertyFloat("Estimated Device Time", "ms", node->plan->ms, 3, es);
	ExplainPropertyFloat("Estimated Time of PostgreSQL's Plan", "ms", node->plan->own_ms, 3, es);
}

/*-------------------------------------------------------------------------
 * The last execution
 *
 * Text has at most twelve lines, and is silent about what did not happen: a line has several facts, as that of
 * PostgreSQL's buffers.  Other formats have one fact per property, all of them, zero or not.
 *-------------------------------------------------------------------------
 */

static const char *const edges[] = {[GC_EDGE_FUSE] = "fuse", [GC_EDGE_REFILL] = "refill",
[GC_EDGE_CHANNEL] = "channel", [GC_EDGE_MATERIALIZE] = "materialize"};

static const char *const origins[] = {[GC_LOOKUP_SHARED] = "shared", [GC_LOOKUP_EVALUATED] = "by PostgreSQL",
[GC_LOOKUP_COMPUTED] = "of bytes", [GC_LOOKUP_DEVICE] = "on the device", [GC_LOOKUP_WORKERS] = "by workers"};

/* Whether PostgreSQL's plan has answered, and why; for text only where it has. */
static void
explain_fallback(const GcScanStats *s, ExplainState *es)
{
	const bool	text = es->format == EXPLAIN_FORMAT_TEXT;

	if (s->fallbacks == 0 && !text)
		ExplainPropertyText("Fallback", "no", es);
	if (s->fallbacks == 0)
		return;
	if (text && s->last_reason[0])
	{
		ExplainPropertyText("Fallback", psprintf("%s (%s)", gc_code_name(s->last_code), s->last_reason), es);
		return;
	}
	ExplainPropertyText("Fallback", gc_code_name(s->last_code), es);
	if (s->last_reason[0])
		ExplainPropertyText("Fallback Reason", s->last_reason, es);
}

/* Where the lookup tables came from. */
static void
explain_lookups(const GcScanStats *s, ExplainState *es)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < GC_LOOKUP_ORIGINS; i++)
	{
		if (s->lookups[i] > 0)
			appendStringInfo(&buf, "%s%u %s", buf.len > 0 ? ", " : "", s->lookups[i], origins[i]);
	}
	if (buf.len > 0)
		ExplainPropertyText("Lookup Tables", buf.data, es);
}

/* How rows went through the main pipeline, unless all of it was fused. */
static void
explain_edges(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData buf;

	if (r->edge == GC_EDGE_FUSE && es->format == EXPLAIN_FORMAT_TEXT && (r->edge_predicted_ms <= 0 || !es->timing))
		return;
	initStringInfo(&buf);
	appendStringInfo(&buf, "%s", edges[r->edge]);
	if (r->edge != GC_EDGE_FUSE)
		appendStringInfo(&buf, " before step %d", r->edge_step);
	if (r->edge_tile > 0)
		appendStringInfo(&buf, ", tile %u rows", r->edge_tile);
	if (r->edge_predicted_ms > 0 && es->timing)
		appendStringInfo(&buf, "; predicted %.3f ms, took %.3f ms", r->edge_predicted_ms, r->main_ms);
	ExplainPropertyText("Edges", buf.data, es);
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyUInteger("Edge Rows", NULL, r->edge_packets, es);
		ExplainPropertyUInteger("Edge Memory", "kB", (r->edge_packets * r->edge_packet_bytes + 1023) / 1024, es);
		ExplainPropertyUInteger("Edge Peak", "kB", (r->edge_held * r->edge_packet_bytes + 1023) / 1024, es);
	}
}

/* Likewise of a pipeline before it that made groups: the one that took longest. */
static void
explain_edge_below(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData buf;

	if (r->below_ms <= 0 || (!es->timing && r->below_edge == GC_EDGE_FUSE))
		return;
	initStringInfo(&buf);
	appendStringInfo(&buf, "%s", edges[r->below_edge]);
	if (r->below_edge != GC_EDGE_FUSE)
		appendStringInfo(&buf, " before step %d", r->below_step);
	if (r->below_predicted_ms > 0 && es->timing)
		appendStringInfo(&buf, "; predicted %.3f ms, took %.3f ms", r->below_predicted_ms, r->below_ms);
	ExplainPropertyText("Edges Below", buf.data, es);
}

/*-------------------------------------------------------------------------
 * As text
 *-------------------------------------------------------------------------
 */

/* A fact of a line, unless it is zero. */
static void
add(StringInfo line, const char *name, uint64 value, const char *unit)
{
	if (value > 0)
		appendStringInfo(line, "%s%s=" UINT64_FORMAT "%s", line->len > 0 ? " " : "", name, value, unit);
}

/* Append a time in ms; one of less than a microsecond is left out. */
static void
add_ms(StringInfo line, const char *name, double ms)
{
	if (ms >= 0.0005)
		appendStringInfo(line, "%s%s=%.3f", line->len > 0 ? " " : "", name, ms);
}

/* A line, unless it has no fact. */
static void
end_line(StringInfo line, const char *label, ExplainState *es)
{
	if (line->len > 0)
		ExplainPropertyText(label, line->data, es);
	resetStringInfo(line);
}

/* Pages and rows that the session served, or read itself. */
static void
text_pages(const GcScanStats *s, ExplainState *es)
{
	StringInfoData line;

	initStringInfo(&line);
	add(&line, "served", s->pages_served, "");
	add(&line, "versioned", s->pages_versioned, "");
	add(&line, "delta", s->pages_delta, "");
	add(&line, "loaded", es->verbose ? s->pages_loaded : 0, "");
	add(&line, "looked at", es->verbose ? s->pages_looked_at : 0, "");
	end_line(&line, "Pages", es);
	add(&line, "delta", s->rows_delta, "");
	add(&line, "row source", s->rows_source, "");
	end_line(&line, "Rows", es);
}

/* Use of device memory: what did not fit, and under VERBOSE what did. */
static void
text_memory(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData line;

	initStringInfo(&line);
	add(&line, "copied", es->verbose ? r->copied_bytes / 1024 : 0, "kB");
	add(&line, "read", es->verbose ? r->read_bytes / 1024 : 0, "kB");
	add(&line, "passes", r->passes > 1 ? r->passes : 0, "");
	add(&line, "waves", r->waves, "");
	add(&line, "waves copied", r->wave_bytes / 1024, "kB");
	add(&line, "waves shared", r->wave_bytes_shared / 1024, "kB");
	add(&line, "chunks read in place", r->link_reads, "");
	add(&line, "estimated", r->link_reads > 0 ? r->link_read_bytes / 1024 : 0, "kB");
	end_line(&line, "Device Memory", es);
}

/* One line of what the request has shared with others. */
static void
text_sharing(const GcRunInfo *r, ExplainState *es)
{
	StringInfoData line;

	initStringInfo(&line);
	add(&line, "co-running", r->co_running, "");
	add(&line, "shared scan", r->scan_members > 1 ? r->scan_members : 0, "");
	add(&line, "gang", r->gang_members, "");
	add(&line, "batch", es->verbose && r->batch_kernels > 1 ? r->batch_kernels : 0, "");
	end_line(&line, "Requests", es);
}

/* One line of times; without VERBOSE only a few. */
static void
text_times(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;
	StringInfoData line;

	if (!es->timing)
		return;
	initStringInfo(&line);
	if (es->verbose)
	{
		add_ms(&line, "load", s->load_ms);
		add_ms(&line, "bind", s->bind_ms);
		add_ms(&line, "queue", r->queue_ms);
		add_ms(&line, "compile", r->compile_ms);
		add_ms(&line, "copy", r->copy_ms);
	}
	add_ms(&line, "kernels", r->run_ms);
	if (es->verbose)
	{
		add_ms(&line, "device", r->total_ms);
		add_ms(&line, "decode", s->decode_ms);
	}
	end_line(&line, "Device Timings", es);
}

/* The numbers of the devices that shared the request. */
static void
explain_devices(uint32 devices, ExplainState *es)
{
	List	   *numbers = NIL;

	for (int d = 0; d < gc_ndevices; d++)
	{
		if (devices & 1u << d)
			numbers = lappend(numbers, psprintf("%d", d));
	}
	ExplainPropertyList("Devices", numbers, es);
}

/* The device's name, and its number where there are several. */
static void
explain_device(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;
	const char *name = gc_device_status_of(r->device)->info.name;
	const bool	text = es->format == EXPLAIN_FORMAT_TEXT;

	if (s->devices)
	{
		explain_devices(s->devices, es);
		return;
	}
	ExplainPropertyText("Device", text && gc_ndevices > 1 ? psprintf("%u (%s)", r->device, name) : name, es);
	if (!text && gc_ndevices > 1)
		ExplainPropertyUInteger("Device Number", NULL, r->device, es);
}

/* Lines of an execution, as text; nothing of what did not happen. */
static void
explain_text(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;
	StringInfoData line;

	explain_device(s, es);
	text_pages(s, es);
	text_memory(r, es);
	text_sharing(r, es);
	text_times(s, es);
	if (!es->verbose)
		return;
	initStringInfo(&line);
	add(&line, "served", s->chunks - s->chunks_skipped, "");
	add(&line, "skipped", s->chunks_skipped, "");
	add(&line, "loaded", s->chunks_loaded, "");
	end_line(&line, "Chunks", es);
	explain_lookups(s, es);
	add(&line, "launched", r->kernels, "");
	add(&line, "compiled", r->compiled, "");
	add(&line, "builds run", r->builds_run, "");
	add(&line, "builds shared", r->builds_shared, "");
	add(&line, "result shared", r->shared_result, "");
	add(&line, "empty build", r->empty_build, "");
	end_line(&line, "Kernels", es);
	explain_edges(r, es);
	explain_edge_below(r, es);
}

/*-------------------------------------------------------------------------
 * As JSON, XML and YAML
 *-------------------------------------------------------------------------
 */

/* Properties that VERBOSE adds, for formats that programs read. */
static void
list_details(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;

	ExplainPropertyUInteger("Chunks", NULL, s->chunks, es);
	ExplainPropertyUInteger("Chunks Skipped", NULL, s->chunks_skipped, es);
	ExplainPropertyUInteger("Chunks Loaded", NULL, s->chunks_loaded, es);
	ExplainPropertyUInteger("Pages Loaded", NULL, s->pages_loaded, es);
	ExplainPropertyUInteger("Pages Looked At", NULL, s->pages_looked_at, es);
	explain_lookups(s, es);
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
	ExplainPropertyUInteger("Builds Shared", NULL, r->builds_shared, es);
	ExplainPropertyBool("Result Shared", r->shared_result != 0, es);
	ExplainPropertyBool("Empty Build", r->empty_build != 0, es);
	ExplainPropertyUInteger("Blocks", NULL, r->blocks, es);
	ExplainPropertyUInteger("Threads per Block", NULL, r->threads, es);
	ExplainPropertyUInteger("Shared Memory per Block", "kB", (r->shared_bytes + 1023) / 1024, es);
	ExplainPropertyUInteger("Registers per Thread", NULL, r->registers, es);
	ExplainPropertyUInteger("Batch", NULL, r->batch, es);
	ExplainPropertyUInteger("Batch Requests", NULL, r->batch_kernels, es);
	ExplainPropertyFloat("Attach Position", "%", r->ntiles > 0 ? 100.0 * r->first_tile / r->ntiles : 0, 1, es);
	ExplainPropertyFloat("Predicted Kernel Time", "ms", r->predicted_ms, 3, es);
	explain_edges(r, es);
	explain_edge_below(r, es);
}

/* Properties of an execution, for formats that programs read: all of them, also zeros. */
static void
list_run(const GcScanStats *s, ExplainState *es)
{
	const GcRunInfo *r = &s->run;

	explain_device(s, es);
	ExplainPropertyUInteger("Pages Served", NULL, s->pages_served, es);
	ExplainPropertyUInteger("Versioned Pages", NULL, s->pages_versioned, es);
	ExplainPropertyUInteger("Delta Pages", NULL, s->pages_delta, es);
	ExplainPropertyUInteger("Delta Rows", NULL, s->rows_delta, es);
	ExplainPropertyUInteger("Row Source Rows", NULL, s->rows_source, es);
	ExplainPropertyUInteger("Passes", NULL, r->passes, es);
	ExplainPropertyUInteger("Waves", NULL, r->waves, es);
	ExplainPropertyUInteger("Waves Copied", "kB", r->wave_bytes / 1024, es);
	ExplainPropertyUInteger("Waves Shared", "kB", r->wave_bytes_shared / 1024, es);
	ExplainPropertyUInteger("Column Chunks Read in Place", NULL, r->link_reads, es);
	ExplainPropertyUInteger("Estimated Read in Place", "kB", r->link_read_bytes / 1024, es);
	ExplainPropertyFloat("Kernel Time", "ms", r->run_ms, 3, es);
	ExplainPropertyText("Schedule", gc_schedule_name(r->policy), es);
	ExplainPropertyUInteger("Co-Running Requests", NULL, r->co_running, es);
	ExplainPropertyUInteger("Shared Scan Requests", NULL, r->scan_members, es);
	ExplainPropertyUInteger("Gang Requests", NULL, r->gang_members, es);
	if (es->verbose)
		list_details(s, es);
}

/* Events of executions; nothing is shown of a request where none was answered. */
static void
explain_run(const GcScanState *node, ExplainState *es)
{
	explain_fallback(&node->stats, es);
	if (node->stats.offloaded == 0)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		explain_text(&node->stats, es);
	else
		list_run(&node->stats, es);
}

/*-------------------------------------------------------------------------
 * All of it
 *-------------------------------------------------------------------------
 */

/* The hook of CustomScan: the plan, and after ANALYZE what happened. */
void
gc_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GcScanState *node = (GcScanState *) css;
	Printer		printer = {.node = node,.es = es,.prefix = has_prefix(es->rtable, es),
	.context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors)};
	const bool	own = es->analyze ? node->stats.left > 0 : gc_own_plan_is_sooner(node);

	prepare_lower(&printer);
	explain_pipelines(&printer);
	explain_fetched(&printer);
	if (node->sets != NIL)
		ExplainPropertyInteger("Grouping Sets", NULL, list_length(node->sets), es);

	explain_choice(node, own, es);

	/* PostgreSQL's own plan is our child: a detail, unless it was run, or would be. */
	if (!es->analyze && !es->verbose && !own && node->fallback)
		css->custom_ps = list_delete_ptr(css->custom_ps, node->fallback);
	if (!es->analyze)
		return;
	explain_run(node, es);
}
