/*-------------------------------------------------------------------------
 *
 * late.c
 *	  Columns that are only carried along: fetched by row id for the rows that are returned.
 *
 * Of the first few rows or groups in an order, most columns play no part in finding them.  So the
 * device does not read them, and no build holds them.  In their place comes the id of the row that
 * they are in: an expression of the pipeline that scans the table, brought along as any other.
 * The executor reads the columns of the few rows that are left in shared memory (exec/fetch.c).
 *
 * Of groups, that goes for columns that the primary key among the group keys determines.  All rows
 * of a group have the same row of that table, and other groups have other rows.  So the row's id takes
 * the place of these columns and of the primary key among the keys.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "late.h"

#include "optimizer/optimizer.h"

#include "../base/builder.h"
#include "groups.h"

/* An output that may be fetched late. */
typedef struct Carried
{
	int			output;
	int			column;			/* of the translation */
	int			id;				/* expression: the row's id */
} Carried;

/* The table's column that an expression is, where it was brought to; -1 if it is something else. */
static int
carried_column(const GcTranslation *tr, int e)
{
	const GcExpr *x = &tr->pexprs[e];

	switch (x->op)
	{
		case GC_OP_COLUMN:
			return tr->groups_of[tr->columns[x->ref].input] ? -1 : x->ref;
		case GC_OP_PAYLOAD:
			return tr->payloads[x->ref].greatest ? -1 : carried_column(tr, tr->payloads[x->ref].expr);
		case GC_OP_OUTER:
			return carried_column(tr, x->arg[0]);
		case GC_OP_LUT:
			/* Codes of an append input's texts are made one only for comparisons. */
			return tr->plan->luts[x->ref].type == GC_LUT_UNIFY ? carried_column(tr, x->arg[0]) : -1;
		default:
			return -1;
	}
}

/* The id of the row that such a column is of, brought to the same place. */
static int
row_id(GcTranslation *tr, int e)
{
	const GcExpr x = tr->pexprs[e];
	int			id;

	if (x.op == GC_OP_COLUMN)
		return gc_build_expr(tr, GC_OP_ROW_ID, GC_INT8, -1, -1, -1, tr->columns[x.ref].input);
	id = row_id(tr, x.op == GC_OP_PAYLOAD ? tr->payloads[x.ref].expr : x.arg[0]);
	if (id < 0 || x.op == GC_OP_LUT)
		return id;
	if (x.op == GC_OP_PAYLOAD)
		return gc_build_payload(tr, tr->payloads[x.ref].build, id);
	return gc_build_expr(tr, GC_OP_OUTER, GC_INT8, id, -1, -1, x.ref);
}

/* Does the node sort by this output? */
static bool
is_ordered_by(const GcTranslation *tr, int output)
{
	for (int i = 0; i < tr->plan->norder; i++)
	{
		if (tr->plan->order[i].output == output)
			return true;
	}
	return false;
}

/* Does the choice of groups read a key? */
static bool
is_chosen_by(const GcTranslation *tr, int key)
{
	for (int c = 0; tr->chosen && c < tr->ncolumns; c++)
	{
		if (tr->columns[c].input == tr->chosen->input && tr->columns[c].agg == GC_NONE && tr->columns[c].attnum == key)
			return true;
	}
	return false;
}

/* Is group key number `key` a column of a row that other keys determine? */
static bool
is_determined_key(GcTranslation *tr, int key)
{
	List	   *group_exprs = get_sortgrouplist_exprs(tr->root->parse->groupClause, tr->root->processed_tlist);
	Node	   *node = list_nth(tr->key_nodes[tr->main], key);

	return !list_member(group_exprs, node) && gc_groups_determine(tr->root, group_exprs, node);
}

/* Can an output be had from the row that it is a column of? */
static bool
is_carried(GcTranslation *tr, int output, Carried *c)
{
	const bool	grouped = tr->pipelines[tr->main].sink == GC_SINK_AGGREGATE;
	const GcPlanOutput *out = list_nth(tr->outputs, output);
	int			e;

	if (out->type != GC_OUT_VALUE || out->lut != GC_NONE || is_ordered_by(tr, output) ||
		(grouped && is_chosen_by(tr, out->ref)))
		return false;
	e = list_nth_int(grouped ? tr->group_keys[tr->main] : tr->row_outputs, out->ref);
	c->output = output;
	c->column = carried_column(tr, e);
	if (c->column < 0)
		return false;
	c->id = row_id(tr, e);
	return c->id >= 0;
}

/*
 * Is a row's id better than the columns that are fetched by it?  It costs nothing where the table is streamed.  Of
 * a build it takes the room of one column.  In groups it has to be determined by keys.
 */
static bool
worth_fetching(GcTranslation *tr, const Carried *carried, int n, int id)
{
	const bool	grouped = tr->pipelines[tr->main].sink == GC_SINK_AGGREGATE;
	bool		determined = !grouped;
	int			columns = 0;

	for (int i = 0; i < n && !determined; i++)
		determined = carried[i].id == id &&
			is_determined_key(tr, ((GcPlanOutput *) list_nth(tr->outputs, carried[i].output))->ref);
	if (!determined)
		return false;
	if (tr->pexprs[id].op == GC_OP_ROW_ID && !grouped)
		return true;
	for (int i = 0; i < n; i++)
	{
		if (carried[i].id == id)
			columns += GC_KIND_IS_CODE(tr->columns[carried[i].column].kind) ? 2 : 1;
	}
	return columns > 1;
}

/* Place of an expression in a list, to which it is added if need be. */
static int
place_of(List **list, int e)
{
	ListCell   *lc;

	foreach(lc, *list)
	{
		if (lfirst_int(lc) == e)
			return foreach_current_index(lc);
	}
	*list = lappend_int(*list, e);
	return list_length(*list) - 1;
}

/* A copy of an output in the place of the one that other translations share. */
static GcPlanOutput *
own_output(GcTranslation *tr, int output)
{
	GcPlanOutput *out = palloc(sizeof(GcPlanOutput));
	ListCell   *cell = list_nth_cell(tr->outputs, output);

	*out = *(GcPlanOutput *) lfirst(cell);
	lfirst(cell) = out;
	return out;
}

/* The column that is carried in an output's place, or NULL. */
static const Carried *
find_output(const Carried *carried, int n, int output)
{
	for (int i = 0; i < n; i++)
	{
		if (carried[i].output == output)
			return &carried[i];
	}
	return NULL;
}

/* Make the outputs of rows anew: values that are needed, and ids. */
static void
replace_outputs(GcTranslation *tr, const Carried *carried, int n)
{
	List	   *old = tr->row_outputs;

	tr->row_outputs = NIL;
	for (int i = 0; i < list_length(tr->outputs); i++)
	{
		const Carried *c = find_output(carried, n, i);
		GcPlanOutput *out = own_output(tr, i);

		if (c)
		{
			out->type = GC_OUT_FETCHED;
			out->ref = place_of(&tr->row_outputs, c->id);
			out->ref2 = c->column;
			out->space = GC_KIND_IS_CODE(tr->columns[c->column].kind) ? c->column : GC_SPACE_NONE;
			continue;
		}
		if (out->type == GC_OUT_VALUE || out->type == GC_OUT_QUOTIENT)
			out->ref = place_of(&tr->row_outputs, list_nth_int(old, out->ref));
		if (out->type == GC_OUT_QUOTIENT)
			out->ref2 = place_of(&tr->row_outputs, list_nth_int(old, out->ref2));
	}
}

/* Keys that are replaced by ids go; what refers to the others follows. */
static void
renumber_keys(GcTranslation *tr, const Carried *carried, int n)
{
	const int	nkeys = list_length(tr->group_keys[tr->main]);
	bool		gone[GC_MAX_KEYS] = {false};
	int			number[GC_MAX_KEYS];
	GcPColumn  *columns = tr->columns;
	int			left = 0;

	for (int i = 0; i < n; i++)
		gone[((GcPlanOutput *) list_nth(tr->outputs, carried[i].output))->ref] = true;
	for (int k = 0, at = 0; k < nkeys; k++)
	{
		number[k] = left;
		if (!gone[k])
		{
			left++;
			at++;
			continue;
		}
		tr->group_keys[tr->main] = list_delete_nth_cell(tr->group_keys[tr->main], at);
		tr->key_nodes[tr->main] = list_delete_nth_cell(tr->key_nodes[tr->main], at);
	}
	for (int i = 0; i < list_length(tr->outputs); i++)
	{
		GcPlanOutput *out = own_output(tr, i);

		if (out->type == GC_OUT_VALUE && !find_output(carried, n, i))
			out->ref = number[out->ref];
	}
	for (int c = 0; tr->chosen && c < tr->ncolumns; c++)
	{
		if (columns[c].input == tr->chosen->input && columns[c].agg == GC_NONE)
			columns[c].attnum = number[columns[c].attnum];
	}
}

/*
 * Group by row ids in the places of columns that are carried along; these are fetched for the groups that are
 * returned.
 */
static void
replace_keys(GcTranslation *tr, const Carried *carried, int n)
{
	renumber_keys(tr, carried, n);
	for (int i = 0; i < n; i++)
	{
		const Carried *c = &carried[i];
		GcPlanOutput *out = list_nth(tr->outputs, c->output);

		out->type = GC_OUT_FETCHED;
		out->ref = place_of(&tr->group_keys[tr->main], c->id);
		out->ref2 = c->column;
		out->space = GC_KIND_IS_CODE(tr->columns[c->column].kind) ? c->column : GC_SPACE_NONE;
		while (list_length(tr->key_nodes[tr->main]) < list_length(tr->group_keys[tr->main]))
			tr->key_nodes[tr->main] = lappend(tr->key_nodes[tr->main], NULL);
	}
}

GcTranslation *
gc_fetch_late(GcTranslation *tr)
{
	GcTranslation *late = gc_builder_save(tr);
	Carried    *all = palloc((list_length(tr->outputs) + 1) * sizeof(Carried));
	Carried    *carried = palloc((list_length(tr->outputs) + 1) * sizeof(Carried));
	int			nall = 0;
	int			n = 0;

	for (int i = 0; i < list_length(late->outputs); i++)
		nall += is_carried(late, i, &all[nall]);
	for (int i = 0; i < nall; i++)
	{
		if (worth_fetching(late, all, nall, all[i].id))
			carried[n++] = all[i];
	}
	if (n == 0 || late->reason)
		return tr;
	late->late = true;
	if (late->pipelines[late->main].sink == GC_SINK_AGGREGATE)
		replace_keys(late, carried, n);
	else
		replace_outputs(late, carried, n);
	return late;
}

/*-------------------------------------------------------------------------
 * Computed values
 *-------------------------------------------------------------------------
 */

/* Mark an expression and all that it is computed of. */
static void
mark_live(const GcTranslation *tr, bool *live, u16 e)
{
	const GcExpr *x = &tr->pexprs[e];

	if (e == GC_NONE || live[e])
		return;
	live[e] = true;
	for (int i = 0; i < 3; i++)
		mark_live(tr, live, x->arg[i]);
	if (x->op == GC_OP_PAYLOAD)
		mark_live(tr, live, tr->payloads[x->ref].expr);
}

/* As mark_live(), for each of a list. */
static void
mark_list(const GcTranslation *tr, bool *live, const List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
		mark_live(tr, live, lfirst_int(lc));
}

/* Mark what a pipeline's steps and its keys read. */
static void
mark_steps(const GcTranslation *tr, bool *live, int pipeline)
{
	ListCell   *ls,
			   *lk;

	forboth(ls, tr->steps[pipeline], lk, tr->step_keys[pipeline])
	{
		mark_live(tr, live, ((GcPStep *) lfirst(ls))->expr);
		mark_list(tr, live, (List *) lfirst(lk));
	}
	mark_list(tr, live, tr->group_keys[pipeline]);
}

bool *
gc_live_exprs(const GcTranslation *tr)
{
	bool	   *live = palloc0((tr->nexprs + 1) * sizeof(bool));

	for (int i = 0; i < tr->npipelines; i++)
		mark_steps(tr, live, i);
	for (int b = 0; b < tr->nbuilds; b++)
		mark_list(tr, live, tr->build_keys[b]);
	for (int a = 0; a < tr->naggs; a++)
	{
		mark_live(tr, live, tr->aggs[a].arg);
		mark_live(tr, live, tr->aggs[a].factor);
	}
	mark_list(tr, live, tr->row_outputs);
	mark_list(tr, live, tr->choice_keys);
	/* The executor asks what a table's argument can be. */
	for (int i = 0; i < tr->nluts; i++)
	{
		if (tr->plan->luts[i].type != GC_LUT_UNIFY)
			mark_live(tr, live, tr->plan->luts[i].arg);
	}
	return live;
}

/* Does an expression that is needed refer to this column, payload or lookup table? */
static bool
is_needed(const GcTranslation *tr, const bool *live, GcOp op, int ref)
{
	for (int e = 0; e < tr->nexprs; e++)
	{
		if (live[e] && tr->pexprs[e].op == op && tr->pexprs[e].ref == ref)
			return true;
	}
	return false;
}

bool
gc_column_live(const GcTranslation *tr, const bool *live, int column)
{
	return is_needed(tr, live, GC_OP_COLUMN, column);
}

bool
gc_payload_live(const GcTranslation *tr, const bool *live, int payload)
{
	return is_needed(tr, live, GC_OP_PAYLOAD, payload);
}

/* Texts of append inputs that are fetched late need not be made one. */
bool
gc_lut_live(const GcTranslation *tr, const bool *live, int lut)
{
	return tr->plan->luts[lut].type != GC_LUT_UNIFY || is_needed(tr, live, GC_OP_LUT, lut);
}
