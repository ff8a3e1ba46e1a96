/*-------------------------------------------------------------------------
 *
 * window.c
 *	  Window functions over the rows that the device returned: rows, partitions, peers, frames.
 *
 * All rows are there, decoded.  They are sorted by machine words (order.c), once for all windows whose columns begin
 * alike.  Then a window's frames are computed for all places in its order, and each function for all of them.
 *
 * Keys and arguments are evaluated by PostgreSQL, once for each row.  Where that raises an error, its own plan answers,
 * which may not evaluate them for that row.
 *
 * Runs in backends, without a request slot.
 *
 *-------------------------------------------------------------------------
 */
#include "window.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "order.h"
#include "../columns/encode/pgkinds.h"

GcWindowPlan *
gc_window_plan(GcScanState *node)
{
	const CustomScan *cscan = (const CustomScan *) node->css.ss.ps.plan;
	const Const *c = list_nth(cscan->custom_private, 7);
	GcWindowPlan *p;

	if (c == NULL)
		return NULL;
	p = palloc(sizeof(GcWindowPlan));
	p->windows = palloc(sizeof(GcPlanWindows));
	memcpy(p->windows, VARDATA_ANY(DatumGetByteaPP(c->constvalue)), sizeof(GcPlanWindows));
	p->exprs = palloc((p->windows->nexprs + 1) * sizeof(ExprState *));
	p->copied = palloc((p->windows->nexprs + 1) * sizeof(int16));
	/* With a parent they would be compiled in a subtransaction, and with them what outlives that. */
	for (int i = 0; i < p->windows->nexprs; i++)
	{
		Expr	   *expr = list_nth(cscan->custom_exprs, p->windows->first_expr + i);
		int16		length;
		bool		by_value;

		p->exprs[i] = ExecInitExprWithParams(expr, node->css.ss.ps.state->es_param_list_info);
		get_typlenbyval(exprType((Node *) expr), &length, &by_value);
		/* Columns are in the rows, constants in the plan, and the statement's parameters last as long as it. */
		p->copied[i] = by_value || IsA(expr, Var) || IsA(expr, Const) ||
			(IsA(expr, Param) && ((Param *) expr)->paramkind == PARAM_EXTERN) ? 0 : length;
	}
	return p;
}

/*-------------------------------------------------------------------------
 * Expressions of rows
 *-------------------------------------------------------------------------
 */

static void *
alloc_places(const GcWindowing *w, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, ((Size) w->count + 1) * size);
}

static void
move_row(GcRows *rows, uint64 from, uint64 to)
{
	if (from == to)
		return;
	memcpy(rows->values + to * rows->ncols, rows->values + from * rows->ncols, rows->ncols * sizeof(Datum));
	memcpy(rows->isnull + to * rows->ncols, rows->isnull + from * rows->ncols, rows->ncols * sizeof(bool));
}

/* May a function return values of an expression? */
static bool
is_returned(const GcPlanWindows *windows, int e)
{
	for (int i = 0; i < windows->nfns; i++)
	{
		if (windows->fns[i].args[0] == e || windows->fns[i].args[2] == e)
			return true;
	}
	return false;
}

/* Evaluate an expression of a row.  Its value is copied, and is flat then: what reads it may not change it in place. */
static void
evaluate_expression(GcWindowing *w, ExprContext *econtext, int e, uint64 row)
{
	const int16 copied = w->node->windows->copied[e];
	const Datum value = ExecEvalExprSwitchContext(w->node->windows->exprs[e], econtext, &w->isnull[e][row]);
	MemoryContext old;

	w->values[e][row] = value;
	if (copied == 0 || w->isnull[e][row])
		return;
	old = MemoryContextSwitchTo(w->into[e]);
	w->values[e][row] = datumCopy(value, false, copied);
	w->copied_bytes += datumGetSize(value, false, copied);
	MemoryContextSwitchTo(old);
}

static GcCode
no_room(GcScanState *node, GcError *err)
{
	node->windows->no_room = true;
	return gc_fail(err, GC_UNSUPPORTED, "Windows of so many rows would take more memory than hash tables may.");
}

/* Evaluate all expressions of all rows, and drop rows that do not meet HAVING. */
static void
evaluate_rows(GcWindowing *w)
{
	GcScanState *node = w->node;
	GcRows	   *rows = w->rows;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	const uint64 count = rows->count;
	const double most = gc_window_memory();

	rows->count = 0;
	econtext->ecxt_scantuple = slot;
	for (uint64 n = 0; n < count; n++)
	{
		const uint64 row = rows->count;

		gc_window_interrupts(n);
		ResetExprContext(econtext);
		move_row(rows, n, row);
		ExecClearTuple(slot);
		memcpy(slot->tts_values, rows->values + row * rows->ncols, rows->ncols * sizeof(Datum));
		memcpy(slot->tts_isnull, rows->isnull + row * rows->ncols, rows->ncols * sizeof(bool));
		ExecStoreVirtualTuple(slot);
		if (w->windows->having >= 0)
		{
			bool		isnull;
			const Datum met = ExecEvalExprSwitchContext(node->windows->exprs[w->windows->having], econtext, &isnull);

			if (isnull || !DatumGetBool(met))
				continue;
		}
		for (int e = 0; e < w->windows->nexprs; e++)
			evaluate_expression(w, econtext, e, row);
		rows->count++;
		if (w->copied_bytes > most)
		{
			w->code = no_room(w->node, w->err);
			break;
		}
	}
	ExecClearTuple(slot);
	w->count = rows->count;
}

/* Evaluate the expressions that window functions and their orders read, for each row. */
static void
evaluate(GcWindowing *w)
{
	const int	n = w->windows->nexprs;

	w->count = w->rows->count;
	w->values = palloc0((n + 1) * sizeof(Datum *));
	w->isnull = palloc0((n + 1) * sizeof(bool *));
	w->into = palloc0((n + 1) * sizeof(MemoryContext));
	for (int e = 0; e < n; e++)
	{
		w->into[e] = is_returned(w->windows, e) ? w->kept : CurrentMemoryContext;
		w->values[e] = alloc_places(w, sizeof(Datum));
		w->isnull[e] = alloc_places(w, sizeof(bool));
	}
	evaluate_rows(w);
}

/*-------------------------------------------------------------------------
 * Order, partitions, peers
 *-------------------------------------------------------------------------
 */

static void
fill_words(GcOrderColumn *column, GcKind kind, uint64 count)
{
	column->exact = true;
	column->words = MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(GcOrderWord));
	for (uint64 n = 0; n < count; n++)
	{
		gc_window_interrupts(n);
		gc_order_value(column, kind, n);
	}
}

static void
describe_columns(const GcWindowing *w, GcOrderColumn *columns)
{
	for (int i = 0; i < w->window->nkeys; i++)
	{
		const GcPlanWindowKey *key = &w->window->keys[i];

		columns[i] = (GcOrderColumn) {.order = &key->order,.values = w->values[key->expr],
			.isnull = w->isnull[key->expr]};
	}
}

static uint32 *
sort_for_window(const GcWindowing *w, GcOrderColumn *columns)
{
	uint32	   *order;

	for (int i = 0; i < w->window->nkeys; i++)
		fill_words(&columns[i], w->window->keys[i].kind, w->count);
	order = gc_order_rows(columns, w->window->nkeys, w->count, true);
	for (int i = 0; i < w->window->nkeys; i++)
		pfree(columns[i].words);
	return order;
}

/* Where partitions and groups of peers begin and end. */
static void
find_borders(GcWindowing *w, const GcOrderColumn *columns)
{
	SortSupport keys = gc_order_comparisons(columns, w->window->nkeys);

	for (uint32 n = 0; n < w->count; n++)
	{
		const int	differs = n == 0 ? -1
			: gc_first_difference(columns, keys, w->window->nkeys, w->order[n - 1], w->order[n]);

		gc_window_interrupts(n);
		w->partition[n] = differs < w->window->npartition ? n : w->partition[n - 1];
		w->peers[n] = differs < w->window->nkeys ? n : w->peers[n - 1];
		w->group[n] = n == 0 ? 0 : w->group[n - 1] + (w->peers[n] == n);
	}
	for (uint32 n = w->count; n-- > 0;)
	{
		const bool	last = n + 1 == w->count;

		gc_window_interrupts(n);
		w->partition_end[n] = last || w->partition[n + 1] != w->partition[n] ? n + 1 : w->partition_end[n + 1];
		w->peers_end[n] = last || w->peers[n + 1] != w->peers[n] ? n + 1 : w->peers_end[n + 1];
	}
}

/*-------------------------------------------------------------------------
 * Frames
 *-------------------------------------------------------------------------
 */

/* A bound's offset; false where PostgreSQL would raise an error. */
static bool
evaluate_offset(GcWindowing *w, int e, Datum *offset)
{
	bool		isnull;

	if (e < 0)
		return true;
	*offset = ExecEvalExpr(w->node->windows->exprs[e], w->node->css.ss.ps.ps_ExprContext, &isnull);
	if (!isnull && ((w->window->frame & FRAMEOPTION_RANGE) || DatumGetInt64(*offset) >= 0))
		return true;
	w->code = gc_fail(w->err, GC_DATA, "The offset of a window's frame is NULL or negative.");
	return false;
}

/* A place that is `offset` away from another one, or the nearest of the partition and that behind it. */
static uint32
moved(const GcWindowing *w, uint32 n, int64 place, int64 offset, bool preceding)
{
	if (preceding)
		return offset > place - w->partition[n] ? w->partition[n] : place - offset;
	return offset > w->partition_end[n] - place ? w->partition_end[n] : place + offset;
}

/* Where the group begins that is `offset` groups away from a place's. */
static uint32
moved_by_groups(const GcWindowing *w, uint32 n, int64 offset, bool preceding, const uint32 *begins)
{
	const int64 first = w->group[w->partition[n]];
	const int64 last = w->group[w->partition_end[n] - 1];
	const int64 group = w->group[n];

	if (preceding)
		return offset > group - first ? w->partition[n] : begins[group - offset];
	return offset > last - group ? w->partition_end[n] : begins[group + offset];
}

/* One bound by ROWS or GROUPS with an offset, for all places. */
static void
offset_bounds(GcWindowing *w, int64 offset, bool preceding, bool end, uint32 *bounds)
{
	uint32	   *begins;

	if (w->window->frame & FRAMEOPTION_ROWS)
	{
		/* The end is behind the place. */
		for (uint32 n = 0; n < w->count; n++)
			bounds[n] = moved(w, n, (int64) n + end, offset, preceding);
		return;
	}
	begins = alloc_places(w, sizeof(uint32));
	for (uint32 n = w->count; n-- > 0;)
		begins[w->group[n]] = w->peers[n];
	for (uint32 n = 0; n < w->count; n++)
	{
		const uint32 at = moved_by_groups(w, n, offset, preceding, begins);

		gc_window_interrupts(n);
		if (!end || at == w->partition_end[n])
			bounds[n] = at;
		else
			bounds[n] = preceding && offset > w->group[n] - w->group[w->partition[n]] ? at : w->peers_end[at];
	}
	pfree(begins);
}

/* Is a bound by RANGE with an offset behind the row, as nodeWindowAgg.c has it? */
static bool
is_before_bound(const GcWindowing *w, FmgrInfo *function, Datum offset, bool sub, bool less, bool end, uint32 row,
				uint32 current)
{
	const int	e = w->window->keys[w->window->npartition].expr;
	const bool	isnull = w->isnull[e][row];
	const bool	current_isnull = w->isnull[e][current];
	bool		within;

	if (isnull || current_isnull)
	{
		if (end)
			return w->window->in_range_nulls_first ? isnull : current_isnull;
		return w->window->in_range_nulls_first ? isnull && !current_isnull : !isnull && current_isnull;
	}
	within = DatumGetBool(FunctionCall5Coll(function, w->window->in_range_collation, w->values[e][row],
											w->values[e][current], offset, BoolGetDatum(sub), BoolGetDatum(less)));
	return end ? within : !within;
}

/* One bound by RANGE with an offset, for all places.  It never goes back within a partition. */
static void
range_bounds(GcWindowing *w, Datum offset, bool preceding, bool end, uint32 *bounds)
{
	const bool	ascending = w->window->in_range_ascending;
	const bool	sub = preceding == ascending;
	const bool	less = end == ascending;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "gpuconc frames", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	FmgrInfo	function;
	uint32		at = 0;

	fmgr_info_cxt(end ? w->window->end_in_range : w->window->start_in_range, &function, old);
	for (uint32 n = 0; n < w->count; n++)
	{
		if (n == w->partition[n])
			at = n;
		while (at < w->partition_end[n] &&
			   is_before_bound(w, &function, offset, sub, less, end, w->order[at], w->order[n]))
			gc_window_interrupts(at++);
		bounds[n] = at;
		if ((n & 0xfff) == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(scratch);
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/*
 * One bound of the window's frames, for all places.  It raises errors as PostgreSQL does, even if no function looks at
 * frames.
 */
static void
find_bounds(GcWindowing *w, bool end, uint32 *bounds)
{
	const int	frame = w->window->frame;
	const bool	rows = (frame & FRAMEOPTION_ROWS) != 0;
	const bool	unbounded = (frame & (end ? FRAMEOPTION_END_UNBOUNDED_FOLLOWING
									  : FRAMEOPTION_START_UNBOUNDED_PRECEDING)) != 0;
	const bool	with_offset = (frame & (end ? FRAMEOPTION_END_OFFSET : FRAMEOPTION_START_OFFSET)) != 0;
	const bool	preceding = (frame & (end ? FRAMEOPTION_END_OFFSET_PRECEDING
									  : FRAMEOPTION_START_OFFSET_PRECEDING)) != 0;
	Datum		offset = (Datum) 0;

	if (with_offset && !evaluate_offset(w, end ? w->window->end_offset : w->window->start_offset, &offset))
		return;
	if (with_offset && (frame & FRAMEOPTION_RANGE))
		range_bounds(w, offset, preceding, end, bounds);
	else if (with_offset)
		offset_bounds(w, DatumGetInt64(offset), preceding, end, bounds);
	else
	{
		const uint32 *from = unbounded ? w->partition : w->peers;
		const uint32 *to = unbounded ? w->partition_end : w->peers_end;

		for (uint32 n = 0; n < w->count; n++)
			bounds[n] = rows && !unbounded ? n + end : end ? to[n] : from[n];
	}
}

/*-------------------------------------------------------------------------
 * All windows
 *-------------------------------------------------------------------------
 */

/* Compute the functions of one window: order, partitions, peers and frames first. */
static void
compute_window(GcWindowing *w)
{
	GcOrderColumn columns[GC_MAX_ORDER];

	describe_columns(w, columns);
	if (w->window->sort || w->order == NULL)
		w->order = sort_for_window(w, columns);
	find_borders(w, columns);
	find_bounds(w, false, w->from);
	if (w->code == GC_OK)
		find_bounds(w, true, w->to);
	for (int i = 0; i < w->windows->nfns && w->code == GC_OK; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (&w->windows->windows[w->windows->fns[i].window] == w->window)
			gc_window_function(w, &w->windows->fns[i]);
	}
}

/* The order of ORDER BY; else that of the window computed last. */
static const uint32 *
final_order(const GcWindowing *w)
{
	const GcPlan *plan = w->node->plan;
	const GcRows *rows = w->rows;
	GcOrderColumn columns[GC_MAX_ORDER];

	if (!gc_are_ordered(plan, rows->count))
		return w->order;
	for (int i = 0; i < plan->norder; i++)
	{
		const uint16 output = plan->order[i].output;
		GcOrderColumn *column = &columns[i];

		*column = (GcOrderColumn) {.order = &plan->order[i],.values = alloc_places(w, sizeof(Datum)),.isnull = alloc_places(w, sizeof(bool))};
		for (uint64 n = 0; n < rows->count; n++)
		{
			gc_window_interrupts(n);
			column->values[n] = rows->values[n * rows->ncols + output];
			column->isnull[n] = rows->isnull[n * rows->ncols + output];
		}
		fill_words(column, gc_type_kind(plan->outputs[output].typid), rows->count);
	}
	return gc_order_rows(columns, plan->norder, rows->count, plan->sorted);
}

/* Put rows in an order. */
static void
permute(const GcWindowing *w, const uint32 *order)
{
	GcRows	   *rows = w->rows;
	Datum	   *values = MemoryContextAllocHuge(w->kept, ((Size) w->count + 1) * rows->ncols * sizeof(Datum));
	bool	   *isnull = MemoryContextAllocHuge(w->kept, ((Size) w->count + 1) * rows->ncols * sizeof(bool));

	for (uint64 n = 0; n < rows->count; n++)
	{
		gc_window_interrupts(n);
		memcpy(values + n * rows->ncols, rows->values + order[n] * (Size) rows->ncols, rows->ncols * sizeof(Datum));
		memcpy(isnull + n * rows->ncols, rows->isnull + order[n] * (Size) rows->ncols, rows->ncols * sizeof(bool));
	}
	pfree(rows->values);
	pfree(rows->isnull);
	rows->values = values;
	rows->isnull = isnull;
}

/* Under gc_guarded(). */
static void
compute_all(void *arg)
{
	GcWindowing *w = arg;
	uint32	  **places[] = {&w->partition, &w->partition_end, &w->peers, &w->peers_end, &w->group, &w->from, &w->to};

	evaluate(w);
	for (int i = 0; i < lengthof(places); i++)
		*places[i] = alloc_places(w, sizeof(uint32));
	for (int i = 0; i < w->windows->nwindows && w->code == GC_OK; i++)
	{
		w->window = &w->windows->windows[i];
		compute_window(w);
	}
	if (w->code == GC_OK)
		permute(w, final_order(w));
}

GcCode
gc_compute_windows(GcScanState *node, GcError *err)
{
	GcWindowing w = {.node = node,.rows = &node->rows,.kept = CurrentMemoryContext,.err = err};
	MemoryContext scratch;
	bool		computed;

	if (node->windows == NULL)
		return GC_OK;
	w.windows = node->windows->windows;
	node->windows->no_room = false;
	if (!gc_windows_fit(w.windows, node->rows.ncols, node->rows.count))
		return no_room(node, err);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "gpuconc windows", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(scratch);
	computed = gc_guarded(compute_all, &w, err);
	MemoryContextSwitchTo(w.kept);
	MemoryContextDelete(scratch);
	return computed ? w.code : err->code;
}
