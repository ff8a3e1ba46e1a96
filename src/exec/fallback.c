/*-------------------------------------------------------------------------
 *
 * fallback.c
 *	  PostgreSQL's own plan of a node, and the scan that stands in it for a row
 *	  source.
 *
 * The fallback is initialised when it is first needed (scan.c).  What it has in common with a
 * row source was planned as the row source's plan (plan/cost/node.c): GpuconcInput
 * executes that plan.  A node of ours can be scanned backward; PostgreSQL's plan
 * often cannot, so that its rows are kept where that may be asked for.
 *
 * Runs in backends; all of it belongs to the node's query.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/tuplestore.h"

/*-------------------------------------------------------------------------
 * GpuconcInput
 *-------------------------------------------------------------------------
 */

typedef struct GcInputScanState
{
	CustomScanState css;
	PlanState  *source;			/* NULL under EXPLAIN without ANALYZE, which shows it once */
} GcInputScanState;

/* The node whose fallback is being initialised; fallbacks can nest. */
static GcScanState *fallback_owner = NULL;

static Node *create_input_state(CustomScan *cscan);

static const CustomScanMethods input_scan_methods = {
	.CustomName = GC_INPUT_NODE,
	.CreateCustomScanState = create_input_state,
};

/* Begin the node's child that the scan stands for. */
static void
begin_input(CustomScanState *css, EState *estate, int eflags)
{
	GcInputScanState *node = (GcInputScanState *) css;
	CustomScan *owner = (CustomScan *) fallback_owner->css.ss.ps.plan;
	int			child = intVal(linitial(((CustomScan *) css->ss.ps.plan)->custom_private));

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	node->source = ExecInitNode(list_nth(owner->custom_plans, child), estate, eflags);
	css->custom_ps = list_make1(node->source);
}

/* A row of the source; it may have more columns than we, behind ours. */
static TupleTableSlot *
next_input(ScanState *ss)
{
	TupleTableSlot *in = ExecProcNode(((GcInputScanState *) ss)->source);
	TupleTableSlot *out = ss->ss_ScanTupleSlot;
	int			natts = out->tts_tupleDescriptor->natts;

	ExecClearTuple(out);
	if (TupIsNull(in))
		return out;
	slot_getsomeattrs(in, natts);
	memcpy(out->tts_values, in->tts_values, natts * sizeof(Datum));
	memcpy(out->tts_isnull, in->tts_isnull, natts * sizeof(bool));
	return ExecStoreVirtualTuple(out);
}

/* Rows are not locked here. */
static bool
recheck_input(ScanState *ss, TupleTableSlot *slot)
{
	return true;
}

/* ExecScan() tests conditions and makes projections. */
static TupleTableSlot *
exec_input(CustomScanState *css)
{
	return ExecScan(&css->ss, next_input, recheck_input);
}

/* Parameters that have changed are the child's, too. */
static void
rescan_input(CustomScanState *css)
{
	PlanState  *source = ((GcInputScanState *) css)->source;

	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(source, css->ss.ps.chgParam);
	if (source->chgParam == NULL)
		ExecReScan(source);
	ExecScanReScan(&css->ss);
}

/* The scan has no child under EXPLAIN. */
static void
end_input(CustomScanState *css)
{
	if (((GcInputScanState *) css)->source)
		ExecEndNode(((GcInputScanState *) css)->source);
}

static const CustomExecMethods input_exec_methods = {
	.CustomName = GC_INPUT_NODE,
	.BeginCustomScan = begin_input,
	.ExecCustomScan = exec_input,
	.EndCustomScan = end_input,
	.ReScanCustomScan = rescan_input,
};

/* A CustomScan's hook: the state of a scan that is not begun. */
static Node *
create_input_state(CustomScan *cscan)
{
	GcInputScanState *node = palloc0(sizeof(GcInputScanState));

	node->css.ss.ps.type = T_CustomScanState;
	node->css.methods = &input_exec_methods;
	return (Node *) node;
}

void
gc_register_input_scan_methods(void)
{
	RegisterCustomScanMethods(&input_scan_methods);
}

/*-------------------------------------------------------------------------
 * The fallback
 *-------------------------------------------------------------------------
 */

/* Initialise PostgreSQL's plan, unless that was done. */
void
gc_fallback_init(GcScanState *node, int eflags)
{
	CustomScanState *css = &node->css;
	CustomScan *cscan = (CustomScan *) css->ss.ps.plan;
	EState	   *estate = css->ss.ps.state;
	GcScanState *outer_owner = fallback_owner;
	MemoryContext old;

	if (node->fallback)
		return;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	fallback_owner = node;
	PG_TRY();
	{
		node->fallback = ExecInitNode(linitial(cscan->custom_plans), estate, eflags);
	}
	PG_FINALLY();
	{
		fallback_owner = outer_owner;
	}
	PG_END_TRY();
	/* A Limit above tells a Sort how many rows it wants, but not through our node. */
	if (node->plan->sorted && node->plan->limit > 0)
		ExecSetTupleBound(node->plan->limit, node->fallback);
	css->custom_ps = lappend(css->custom_ps, node->fallback);
	if (node->keep_fallback_rows && !(eflags & EXEC_FLAG_EXPLAIN_ONLY))
		node->fallback_rows = tuplestore_begin_heap(true, false, work_mem);
	MemoryContextSwitchTo(old);
}

/* The next row where rows are kept: as nodeMaterial.c does. */
static TupleTableSlot *
next_kept_row(GcScanState *node)
{
	bool		forward = ScanDirectionIsForward(node->css.ss.ps.state->es_direction);
	bool		at_end = tuplestore_ateof(node->fallback_rows);
	TupleTableSlot *slot = node->fallback_slot;

	if (slot == NULL)
		slot = node->fallback_slot =
			ExecInitExtraTupleSlot(node->css.ss.ps.state, ExecGetResultType(node->fallback), &TTSOpsMinimalTuple);
	/* From behind the last row, the first step back leads to that row itself. */
	if (!forward && at_end && !node->fallback_done)
	{
		if (!tuplestore_advance(node->fallback_rows, forward))
			return NULL;
	}
	if (!forward || !at_end)
	{
		if (tuplestore_gettupleslot(node->fallback_rows, forward, false, slot))
			return slot;
		if (!forward)
			return NULL;
	}
	if (!node->fallback_done)
	{
		EState	   *estate = node->css.ss.ps.state;
		ScanDirection direction = estate->es_direction;
		TupleTableSlot *row;

		estate->es_direction = ForwardScanDirection;
		row = ExecProcNode(node->fallback);
		estate->es_direction = direction;
		if (!TupIsNull(row))
		{
			tuplestore_puttupleslot(node->fallback_rows, row);
			return row;
		}
		node->fallback_done = true;
	}
	return NULL;
}

/*
 * A row of the fallback plan.  Its columns are this node's output columns, HAVING
 * applied; what differs is the kind of slot, which our parents rely on.
 */
TupleTableSlot *
gc_fallback_next(GcScanState *node)
{
	ScanState  *ss = &node->css.ss;
	TupleTableSlot *out = ss->ps.ps_ProjInfo ? ss->ps.ps_ResultTupleSlot : ss->ss_ScanTupleSlot;
	TupleTableSlot *in = node->fallback_rows ? next_kept_row(node) : ExecProcNode(node->fallback);
	int			natts = out->tts_tupleDescriptor->natts;

	ExecClearTuple(out);
	if (TupIsNull(in))
		return out;
	slot_getallattrs(in);
	memcpy(out->tts_values, in->tts_values, natts * sizeof(Datum));
	memcpy(out->tts_isnull, in->tts_isnull, natts * sizeof(bool));
	return ExecStoreVirtualTuple(out);
}

typedef struct ChangedContext
{
	const Bitmapset *params;
	bool		found;			/* a GpuconcInput, here or below */
} ChangedContext;

/*
 * Plans do not say that nodes above a GpuconcInput depend on its source's parameters.
 * So all of these nodes are told of all that changed; others find out as usual.
 */
static bool
tell_inputs(PlanState *ps, ChangedContext *outer)
{
	ChangedContext here = {outer->params, IsA(ps, CustomScanState) &&
	((CustomScanState *) ps)->methods == &input_exec_methods};

	(void) planstate_tree_walker(ps, tell_inputs, &here);
	if (here.found)
		ps->chgParam = bms_add_members(ps->chgParam, here.params);
	outer->found |= here.found;
	return false;
}

/* From the start: the same rows once more, or others, where parameters have changed. */
void
gc_fallback_rescan(GcScanState *node)
{
	PlanState  *ps = &node->css.ss.ps;
	ChangedContext context = {ps->chgParam, false};
	MemoryContext old;

	if (node->fallback == NULL)
		return;
	if (ps->chgParam == NULL && node->fallback_rows)
	{
		tuplestore_rescan(node->fallback_rows);
		return;
	}
	if (node->fallback_rows)
	{
		tuplestore_clear(node->fallback_rows);
		node->fallback_done = false;
	}
	if (ps->chgParam != NULL)
	{
		old = MemoryContextSwitchTo(ps->state->es_query_cxt);
		UpdateChangedParamSet(node->fallback, ps->chgParam);
		(void) tell_inputs(node->fallback, &context);
		MemoryContextSwitchTo(old);
	}
	if (node->fallback->chgParam == NULL)
		ExecReScan(node->fallback);
}

/* End the fallback, if it was ever begun. */
void
gc_fallback_end(GcScanState *node)
{
	if (node->fallback_rows)
		tuplestore_end(node->fallback_rows);
	if (node->fallback)
		ExecEndNode(node->fallback);
}
