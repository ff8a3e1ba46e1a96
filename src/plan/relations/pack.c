/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  A finished translation as a flat program and its GcPlan.
 *
 * Packing brings what was appended in any order into the layout of program.h: columns
 * by input, steps by pipeline, payloads by build, aggregates by pipeline; the main
 * pipeline last.  Only expressions keep their numbers, since each refers to earlier
 * ones.  The translation stays as it is.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "../base/builder.h"
#include "../base/display.h"
#include "../group/late.h"

/* The numbers that parts have in the packed program. */
typedef struct Maps
{
	int			column[GC_MAX_COLUMNS];
	int			payload[GC_MAX_BUILDS * GC_MAX_PAYLOADS];
	int			pipeline[GC_MAX_PIPELINES];
	int			agg[GC_MAX_AGGS];
	int			lut[GC_MAX_LUTS];
	int			nluts;
	bool	   *live;			/* expressions that are computed; NULL: all */
} Maps;

/* Appends a list of expression numbers to refs; returns where it begins. */
static u16
pack_refs(GcProgram *p, List *exprs)
{
	u16			first = p->nrefs;
	ListCell   *lc;

	foreach(lc, exprs)
		gc_refs(p)[p->nrefs++] = lfirst_int(lc);
	return first;
}

/* The accumulator's number in the program; GC_NONE stays. */
static u16
mapped_agg(const Maps *maps, u16 agg)
{
	return agg == GC_NONE ? GC_NONE : maps->agg[agg];
}

/* Columns in order of their inputs; spaces and references follow. */
static void
pack_columns(GcTranslation *tr, GcProgram *p, GcPlan *plan, Maps *maps)
{
	int			n = 0;

	for (int i = 0; i < tr->ninputs; i++)
	{
		gc_inputs(p)[i].first_column = n;
		gc_inputs(p)[i].unmatched_of = tr->unmatched_of[i];
		gc_inputs(p)[i].groups_of = tr->groups_of[i] ? 1 + maps->pipeline[tr->groups_of[i] - 1] : 0;
		for (int c = 0; c < tr->ncolumns; c++)
		{
			if (tr->columns[c].input != i)
				continue;
			maps->column[c] = n;
			gc_columns(p)[n] = tr->columns[c];
			if (tr->groups_of[i])
			{
				gc_columns(p)[n].agg = mapped_agg(maps, tr->columns[c].agg);
				gc_columns(p)[n].count = mapped_agg(maps, tr->columns[c].count);
			}
			plan->columns[n] = tr->plan->columns[c];
			plan->columns[n].late = maps->live && !gc_column_live(tr, maps->live, c);
			n++;
		}
		gc_inputs(p)[i].ncolumns = n - gc_inputs(p)[i].first_column;
	}
}

/* Builds with their payloads side by side, without those that nothing reads. */
static void
pack_payloads(GcTranslation *tr, GcProgram *p, Maps *maps)
{
	int			n = 0;

	for (int b = 0; b < tr->nbuilds; b++)
	{
		bool		plain = false;

		gc_builds(p)[b] = tr->builds[b];
		gc_builds(p)[b].pipeline = maps->pipeline[tr->builds[b].pipeline];
		gc_builds(p)[b].first_payload = n;
		for (int i = 0; i < tr->npayloads; i++)
		{
			GcPPayload *pay = &gc_payloads(p)[n];

			if (tr->payloads[i].build != b)
				continue;
			maps->payload[i] = GC_NONE;
			if (maps->live && !gc_payload_live(tr, maps->live, i))
				continue;
			pay->build = b;
			pay->expr = tr->payloads[i].expr;
			pay->kind = tr->pexprs[pay->expr].kind;
			pay->greatest = tr->payloads[i].greatest;
			plain |= !pay->greatest;
			maps->payload[i] = n++;
		}
		gc_builds(p)[b].npayloads = n - gc_builds(p)[b].first_payload;
		if (plain)
			gc_builds(p)[b].set = 0;
		gc_builds(p)[b].nkeys = list_length(tr->build_keys[b]);
		gc_builds(p)[b].first_key = pack_refs(p, tr->build_keys[b]);
	}
}

/* The sink's references and aggregates. */
static void
pack_sink(GcTranslation *tr, GcProgram *p, int i, const Maps *maps, GcPPipeline *pl)
{
	switch (pl->sink)
	{
		case GC_SINK_AGGREGATE:
			pl->nkeys = list_length(tr->group_keys[i]);
			pl->first_key = pack_refs(p, tr->group_keys[i]);
			for (int a = tr->naggs - 1; a >= 0; a--)
			{
				if (tr->agg_pipeline[a] != i)
					continue;
				pl->first_agg = maps->agg[a];
				pl->naggs++;
			}
			break;
		case GC_SINK_ROWS:
			if (i != tr->main)
			{
				pl->nouts = list_length(tr->group_keys[i]);
				pl->first_out = pack_refs(p, tr->group_keys[i]);
				break;
			}
			pl->nouts = list_length(tr->row_outputs);
			pl->first_out = pack_refs(p, tr->row_outputs);
			pl->nkeys = list_length(tr->choice_keys);
			pl->first_key = pack_refs(p, tr->choice_keys);
			break;
		case GC_SINK_SELECT:
			pl->nkeys = list_length(tr->choice_keys);
			pl->first_key = pack_refs(p, tr->choice_keys);
			break;
		default:
			break;
	}
}

/* Rows that pass a pipeline's steps. */
static void
pack_survive(const GcProgram *p, GcPPipeline *pl)
{
	int			passed = 0;

	for (int s = 0; s < pl->nsteps; s++)
		passed += gc_steps(p)[pl->first_step + s].selectivity;
	pl->survive = Min(passed, GC_MOST_HALVINGS);
}

/* A pipeline's own steps, from number `next` on; returns the number of the step behind them. */
static int
pack_own_steps(GcTranslation *tr, GcProgram *p, int i, int next)
{
	ListCell   *ls,
			   *lk;

	forboth(ls, tr->steps[i], lk, tr->step_keys[i])
	{
		GcPStep    *step = &gc_steps(p)[next++];

		*step = *(GcPStep *) lfirst(ls);
		if (step->type == GC_STEP_PROBE)
			step->first_key = pack_refs(p, (List *) lfirst(lk));
	}
	return next;
}

/* Pipelines with a sink of their own; returns the number of their steps. */
static int
pack_pipelines(GcTranslation *tr, GcProgram *p, const Maps *maps)
{
	int			n = 0;

	for (int i = 0; i < tr->npipelines; i++)
	{
		GcPPipeline *pl = &gc_pipelines(p)[maps->pipeline[i]];

		if (tr->rest_of[i])
			continue;
		*pl = tr->pipelines[i];
		pl->first_step = n;
		n = pack_own_steps(tr, p, i, n);
		pl->nsteps = n - pl->first_step;
		pack_survive(p, pl);
		pack_sink(tr, p, i, maps, pl);
		if (pl->sink == GC_SINK_SELECT)
			p->select = 1 + maps->pipeline[i];
	}
	return n;
}

/* Is it an arm of UNION ALL, with steps of its own? */
static bool
is_arm(const GcTranslation *tr, int i)
{
	return tr->rest_of[i] && tr->unmatched_of[tr->pipelines[i].input] == 0;
}

/*
 * Pipelines that end in another one's sink.  An arm has its own steps, and then the last ones of the
 * pipeline that it is an arm of.  The rest of a pipeline has that one's last steps only.
 */
static void
pack_rests(GcTranslation *tr, GcProgram *p, const Maps *maps, int n)
{
	bool		packed[GC_MAX_PIPELINES];

	for (int i = 0; i < tr->npipelines; i++)
		packed[i] = tr->rest_of[i] == 0;
	/* The pipeline that an arm belongs to may have a higher number. */
	for (int i = 0; i < tr->npipelines; i++)
	{
		const int	of = tr->rest_of[i] - 1;
		GcPPipeline *pl = &gc_pipelines(p)[maps->pipeline[i]];
		GcPPipeline from;

		if (packed[i] || !packed[of])
			continue;
		from = gc_pipelines(p)[maps->pipeline[of]];
		*pl = from;
		pl->rest_of = 1 + maps->pipeline[gc_sink_pipeline(tr, i)];
		pl->input = tr->pipelines[i].input;
		pl->first_step += tr->rest_steps[i];
		pl->nsteps -= tr->rest_steps[i];
		if (is_arm(tr, i))
		{
			const int	first = n;

			n = pack_own_steps(tr, p, i, n);
			memcpy(gc_steps(p) + n, gc_steps(p) + pl->first_step, pl->nsteps * sizeof(GcPStep));
			n += pl->nsteps;
			pl->first_step = first;
			pl->nsteps = n - first;
		}
		pack_survive(p, pl);
		packed[i] = true;
		i = -1;
	}
	Assert(n == p->nsteps);
}

/* Steps of a pipeline in the packed program. */
static int
steps_of(const GcTranslation *tr, int i)
{
	return list_length(tr->steps[i]) + (tr->rest_of[i] ? steps_of(tr, tr->rest_of[i] - 1) - tr->rest_steps[i] : 0);
}

/* All of them; rests share those of the pipelines that they are the rests of. */
static int
count_steps(const GcTranslation *tr)
{
	int			n = 0;

	for (int i = 0; i < tr->npipelines; i++)
		n += tr->rest_of[i] == 0 || is_arm(tr, i) ? steps_of(tr, i) : 0;
	return n;
}

static int
count_list_members(List **lists, int n)
{
	int			total = 0;

	for (int i = 0; i < n; i++)
		total += list_length(lists[i]);
	return total;
}

/* Payloads that something reads. */
static int
count_payloads(const GcTranslation *tr, const Maps *maps)
{
	int			n = 0;

	for (int i = 0; i < tr->npayloads; i++)
		n += maps->live == NULL || gc_payload_live(tr, maps->live, i);
	return n;
}

/* Total number of references that packing will append. */
static int
count_refs(GcTranslation *tr)
{
	int			n = count_list_members(tr->build_keys, tr->nbuilds) +
		count_list_members(tr->group_keys, tr->npipelines) + list_length(tr->row_outputs) +
		list_length(tr->choice_keys);

	for (int i = 0; i < tr->npipelines; i++)
	{
		ListCell   *lc;

		foreach(lc, tr->step_keys[i])
			n += list_length((List *) lfirst(lc));
	}
	return n;
}

/* A dictionary is that of a column, of a lookup table, or of constants, which have no number. */
static void
map_space(uint16 *space, const Maps *maps)
{
	if (*space < GC_SPACE_LUT)
		*space = maps->column[*space];
	else if (*space < GC_SPACE_CONSTANTS)
		*space = GC_SPACE_LUT + maps->lut[*space - GC_SPACE_LUT];
}

/* A lookup in a table; in none if nothing is computed of it. */
static void
pack_lookup(GcProgram *p, GcExpr *e, const Maps *maps)
{
	e->ref = maps->lut[e->ref];
	if (e->ref == GC_NONE)
	{
		e->op = GC_OP_NULL;
		e->arg[0] = GC_NONE;
		return;
	}
	gc_luts(p)[e->ref].kind = e->kind;
}

/* Expressions, with the numbers that columns, payloads and tables have in the program. */
static void
pack_exprs(GcTranslation *tr, GcProgram *p, const Maps *maps)
{
	memcpy(gc_exprs(p), tr->pexprs, tr->nexprs * sizeof(GcExpr));
	for (int i = 0; i < tr->nexprs; i++)
	{
		GcExpr	   *e = &gc_exprs(p)[i];

		if (e->op == GC_OP_COLUMN)
			e->ref = maps->column[e->ref];
		else if (e->op == GC_OP_PAYLOAD)
		{
			e->ref = maps->payload[e->ref];
			/* Nothing is computed of it. */
			if (e->ref == GC_NONE)
				e->op = GC_OP_NULL;
		}
		else if (e->op == GC_OP_ARM)
			e->ref = maps->pipeline[e->ref];
		else if (e->op == GC_OP_PARAM)
			gc_params(p)[e->ref].kind = e->kind;
		else if (e->op == GC_OP_LUT)
			pack_lookup(p, e, maps);
		else if (e->op == GC_OP_IN)
			gc_lists(p)[e->ref].kind = gc_exprs(p)[e->arg[0]].kind;
	}
}

/* Where a pipeline comes among the others: the main one goes to the end. */
static int
place_of(const GcTranslation *tr, int i)
{
	return i == tr->main ? GC_PLACE(GC_MAX_PIPELINES + 1, 0) : tr->place[i] ? tr->place[i] : GC_PLACE(i + 1, 0);
}

/* The main pipeline goes to the end; aggregates of one pipeline stand together. */
static void
number_parts(GcTranslation *tr, Maps *maps)
{
	int			n = 0;

	for (int i = 0; i < tr->npipelines; i++)
	{
		maps->pipeline[i] = 0;
		for (int k = 0; k < tr->npipelines; k++)
			maps->pipeline[i] += place_of(tr, k) < place_of(tr, i) || (place_of(tr, k) == place_of(tr, i) && k < i);
	}
	for (int i = 0; i < tr->npipelines; i++)
	{
		for (int a = 0; a < tr->naggs; a++)
		{
			if (tr->agg_pipeline[a] == i)
				maps->agg[a] = n++;
		}
	}
	for (int i = 0; i < tr->nluts; i++)
		maps->lut[i] = maps->live && !gc_lut_live(tr, maps->live, i) ? GC_NONE : maps->nluts++;
}

/* The program in one piece: its parts are counted first, and then written. */
static GcProgram *
pack_program(GcTranslation *tr, GcPlan *plan, Maps *maps)
{
	GcProgram	head;
	GcProgram  *p;

	number_parts(tr, maps);
	head = (GcProgram) {
		.ninputs = tr->ninputs,.ncolumns = tr->ncolumns,.nexprs = tr->nexprs,
		.nsteps = count_steps(tr),
		.npipelines = tr->npipelines,.nbuilds = tr->nbuilds,
		.npayloads = count_payloads(tr, maps),.naggs = tr->naggs,.nparams = tr->nparams,
		.nluts = maps->nluts,.nlists = tr->nlists,.nwindows = tr->nkept_windows,.nrefs = count_refs(tr),
	};
	p = palloc0(gc_program_size(&head));
	*p = head;
	p->size = gc_program_size(p);
	p->nrefs = 0;				/* grows as references are packed */
	pack_columns(tr, p, plan, maps);
	pack_payloads(tr, p, maps);
	pack_rests(tr, p, maps, pack_pipelines(tr, p, maps));
	Assert(p->nrefs == head.nrefs);
	pack_exprs(tr, p, maps);
	for (int i = 0; i < tr->naggs; i++)
		gc_aggs(p)[maps->agg[i]] = tr->aggs[i];
	for (int i = 0; i < tr->nkept_windows; i++)
	{
		gc_windows(p)[i] = tr->kept_windows[i];
		gc_windows(p)[i].pipeline = maps->pipeline[tr->kept_windows[i].pipeline];
	}
	return p;
}

/* An output's numbers, as the program has them. */
static void
map_output(GcPlanOutput *out, const Maps *maps)
{
	map_space(&out->space, maps);
	if (out->type != GC_OUT_NONE && out->lut != GC_NONE)
		out->lut = maps->lut[out->lut];
	if (out->type == GC_OUT_NONE || out->type == GC_OUT_QUOTIENT || out->type == GC_OUT_GROUPING ||
		out->type == GC_OUT_WINDOW)
		return;
	if (out->type == GC_OUT_VALUE)
	{
		out->scale_ref = mapped_agg(maps, out->scale_ref);
		out->square_ref = mapped_agg(maps, out->square_ref);
		return;
	}
	if (out->type == GC_OUT_FETCHED)
	{
		out->ref2 = maps->column[out->ref2];
		return;
	}
	out->ref = mapped_agg(maps, out->ref);
	out->ref2 = mapped_agg(maps, out->ref2);
	out->scale_ref = mapped_agg(maps, out->scale_ref);
	out->square_ref = mapped_agg(maps, out->square_ref);
	for (int i = 0; i < out->nsums; i++)
		out->sums[i] = mapped_agg(maps, out->sums[i]);
}

/* Lookup tables that something reads, with their dictionaries' new numbers. */
static void
pack_luts(const GcTranslation *tr, GcPlan *head, const Maps *maps)
{
	for (int i = 0; i < tr->nluts; i++)
	{
		GcPlanLut  *lut = &head->luts[maps->lut[i]];

		if (maps->lut[i] == GC_NONE)
			continue;
		*lut = tr->plan->luts[i];
		map_space(&lut->space, maps);
		map_space(&lut->to_space, maps);
		if (GC_LUT_IS_PAIR(lut))
			map_space(&lut->second, maps);
		if (lut->type == GC_LUT_RANKED)
			lut->rank = maps->lut[lut->rank];
	}
}

/* Describe the append inputs behind the program.  plan NULL: only count them in `head`. */
static void
pack_parts(GcTranslation *tr, GcPlan *head, GcPlan *plan)
{
	int			part = 0,
				attnum = 0;
	ListCell   *lc,
			   *lp;

	foreach(lc, tr->appends)
	{
		GcLeaf	   *leaf = lfirst(lc);
		GcPlanInput *in = &head->inputs[leaf->input];

		if (leaf->append == NULL)
			continue;
		in->first_part = part;
		in->nparts = list_length(leaf->append->parts);
		in->natts = leaf->append->ninput;
		foreach(lp, leaf->append->parts)
		{
			if (plan)
			{
				GC_PLAN_PARTS(plan)[part] = (GcPlanPart) {((GcAppendPart *) lfirst(lp))->relid, attnum};
				memcpy(GC_PLAN_ATTNUMS(plan) + attnum, ((GcAppendPart *) lfirst(lp))->attnums,
					   in->natts * sizeof(int16));
			}
			part++;
			attnum += in->natts;
		}
	}
	head->nparts = part;
	head->nattnums = attnum;
}

/* Tags of printed clauses, for the pipelines' new numbers; and the clauses of lower levels. */
static List *
mapped_tags(const GcTranslation *tr, const Maps *maps)
{
	List	   *tags = NIL;
	ListCell   *lc;

	foreach(lc, tr->display_tags)
		tags = lappend_int(tags, GC_DISPLAY_TAG(maps->pipeline[GC_DISPLAY_PIPELINE(lfirst_int(lc))],
												GC_DISPLAY_WHAT(lfirst_int(lc))));
	return list_make2(tags, gc_lower_display(tr, maps->pipeline));
}

/* Parts of a flat plan, but for the variable ones: the translation's own stays as it is. */
static GcPlan
separate_head(const GcTranslation *tr)
{
	GcPlan		head = *tr->plan;

	head.inputs = palloc(Max(tr->ninputs, 1) * sizeof(GcPlanInput));
	memcpy(head.inputs, tr->plan->inputs, tr->ninputs * sizeof(GcPlanInput));
	head.columns = palloc0(Max(tr->ncolumns, 1) * sizeof(GcPlanColumn));
	head.params = palloc(Max(tr->nparams, 1) * sizeof(GcPlanParam));
	memcpy(head.params, tr->plan->params, tr->nparams * sizeof(GcPlanParam));
	head.luts = palloc(Max(tr->nluts, 1) * sizeof(GcPlanLut));
	return head;
}

/* A flat plan with room for all that the head counts, and with the head's arrays. */
static GcPlan *
flat_plan(GcPlan *head)
{
	GcPlan		measured;
	GcPlan	   *plan;

	head->arrays = MAXALIGN(offsetof(GcPlan, outputs) + head->noutputs * sizeof(GcPlanOutput)) +
		MAXALIGN(head->program_size) + MAXALIGN(head->nparts * sizeof(GcPlanPart) + head->nattnums * sizeof(int16));
	measured = *head;
	head->size = gc_plan_settle(&measured);

	plan = palloc0(head->size);
	memcpy(plan, head, offsetof(GcPlan, outputs));
	(void) gc_plan_settle(plan);
	memcpy(plan->inputs, head->inputs, head->ninputs * sizeof(GcPlanInput));
	memcpy(plan->columns, head->columns, head->ncolumns * sizeof(GcPlanColumn));
	memcpy(plan->params, head->params, head->nparams * sizeof(GcPlanParam));
	memcpy(plan->luts, head->luts, head->nluts * sizeof(GcPlanLut));
	memcpy(plan->lists, head->lists, head->nlists * sizeof(GcPlanList));
	return plan;
}

/* Make the flat GcPlan of a finished translation, which stays as it is, and the tags of its printed clauses. */
GcPlan *
gc_builder_finish(GcTranslation *tr, List **display_tags)
{
	Maps		maps = {0};
	GcPlan		head = separate_head(tr);
	GcProgram  *p;
	GcPlan	   *plan;
	GcError		err;
	ListCell   *lc;

	if (tr->late)
		maps.live = gc_live_exprs(tr);
	p = pack_program(tr, &head, &maps);
	head.malformed = gc_program_check(p, p->size, &err) != GC_OK;
	head.ninputs = tr->ninputs;
	head.ncolumns = tr->ncolumns;
	head.nparams = tr->nparams;
	head.nluts = maps.nluts;
	head.nlists = tr->nlists;
	head.noutputs = list_length(tr->outputs);
	head.nexprs = list_length(tr->exprs);
	head.float_aggs = tr->float_aggs;
	head.windowed = tr->windows != NULL;
	head.program_size = p->size;
	for (int i = 0; i < tr->npipelines; i++)
		head.groups[maps.pipeline[i]] = tr->plan->groups[i];
	for (int i = 0; i < tr->nparams; i++)
		map_space(&head.params[i].space, &maps);
	pack_luts(tr, &head, &maps);
	pack_parts(tr, &head, NULL);

	plan = flat_plan(&head);
	foreach(lc, tr->outputs)
	{
		plan->outputs[foreach_current_index(lc)] = *(GcPlanOutput *) lfirst(lc);
		map_output(&plan->outputs[foreach_current_index(lc)], &maps);
	}
	memcpy(GC_PLAN_PROGRAM(plan), p, p->size);
	pack_parts(tr, &head, plan);
	*display_tags = mapped_tags(tr, &maps);
	return plan;
}
