/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN says about a gpuconc node.
 *
 * Plan properties always; what happened only under ANALYZE (explain_run.c).  One fact per property.  Text has a
 * line for each pipeline; other formats have a list of pipelines, for no object may have a key twice.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "explain.h"

#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"
#include "utils/lsyscache.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "judge.h"
#include "../compat.h"
#include "../program/edge.h"

/* Tables of an append input that are named. */
#define MAX_NAMES	4

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

static const char *
input_name(GcScanState *node, int input)
{
	const GcPlanInput *in = &node->plan->inputs[input];
	const u16	groups_of = gc_inputs(node->logical)[input].groups_of;
	const u16	unmatched_of = gc_inputs(node->logical)[input].unmatched_of;

	if (groups_of)
		return psprintf("groups of %s", input_name(node, gc_pipelines(node->logical)[groups_of - 1].input));
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

	appendStringInfo(buf, ", %s %s", join_names[step->join][0], input_name(printer->node, gc_pipelines(p)[build->pipeline].input));
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

	return d->ran && d->n == node->logical->npipelines - 1 && (r->edge == GC_EDGE_CHANNEL || r->edge == GC_EDGE_MATERIALIZE) &&
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
	d.role = arm ? "Union" : pl->rest_of ? "Rest" : pl->sink == GC_SINK_BUILD ? "Build" : pl->sink == GC_SINK_SELECT ? "Choose" :
		!last ? "Group" : "Stream";
	d.filter = clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_FILTER));
	d.group_keys = clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_GROUP_KEY));
	if (pl->sink == GC_SINK_BUILD && !pl->rest_of)
		d.build_keys = clauses(printer, GC_DISPLAY_TAG(n, GC_DISPLAY_KEY(pl->build)));
	if (pl->sink == GC_SINK_SELECT || (pl->sink == GC_SINK_ROWS && pl->nkeys > 0))
		d.first = node->plan->wanted;
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
		appendStringInfo(buf, "%s" UINT64_FORMAT "%s out", separator, ran->rows_out - 1, separator[0] == ' ' ? " rows" : "");
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
		appendStringInfo(&buf, ", first " UINT64_FORMAT " and ties", d->first);
	foreach(lc, d->probes)
		append_probe(&buf, printer, d->n, lfirst(lc));
	ExplainPropertyText(d->role, buf.data, es);
	explain_condition(psprintf("%s Filter", d->role), d->filter, es);
	explain_list(psprintf("%s Key", d->role), d->group_keys, es);
}

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
		ExplainPropertyUInteger("First Rows and Ties", NULL, d->first, es);
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
	gc_explain_run(node, es);
}
