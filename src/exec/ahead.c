/*-------------------------------------------------------------------------
 *
 * ahead.c
 *	  What PostgreSQL computes before a request: outputs of InitPlans, parameters,
 *	  IN lists, and the rows of row sources.
 *
 * PostgreSQL's plan computes these when a row asks for them, or never.  So an error
 * here is not the statement's: it ends the offload, and the fallback plan raises it
 * or does not.  All of it runs in one subtransaction.  InitPlans and row sources have
 * an executor state of their own, so that an error leaves nothing of the statement's
 * half executed.  What has side effects does not come here (plan/base/source.c).
 *
 * It comes before the request slot and its guard are taken, since it may run queries.
 *
 * Runs in backends.  The executor state ends here; values, rows and what EXPLAIN shows
 * are copied to the node's memory.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "executor/nodeSubplan.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "../columns/encode/pgkinds.h"
#include "../columns/store/arena.h"
#include "../compat.h"
#include "../force.h"

/*-------------------------------------------------------------------------
 * Catching errors
 *-------------------------------------------------------------------------
 */

/*
 * Errors that are about the session rather than what is computed.  A connection to a foreign server that
 * is lost cannot be used again in this transaction, so the fallback would only complain of that.
 */
static bool
must_rethrow(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_QUERY_CANCELED ||
		ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION ||
		sqlerrcode == ERRCODE_OUT_OF_MEMORY ||
		sqlerrcode == ERRCODE_CONNECTION_FAILURE ||
		(sqlerrcode == ERRCODE_INTERNAL_ERROR && gc_offload_required());
}

/*
 * Run callback in a subtransaction of its own.  False if it raised an error, whose
 * message is in err.  A statement with a parallel fallback is in parallel mode, which
 * forbids subtransactions.  While no workers run, it may be left for a moment.
 */
bool
gc_guarded(void (*callback) (void *arg), void *arg, GcError *err)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			levels = 0;
	volatile bool ok = true;
	ErrorData  *volatile rethrow = NULL;

	if (IsInParallelMode() && ParallelContextActive())
	{
		(void) gc_fail(err, GC_DATA, "Parallel workers are running.");
		return false;
	}
	while (!GC_SUBXACTS_IN_PARALLEL_MODE && IsInParallelMode())
	{
		ExitParallelMode();
		levels++;
	}
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		callback(arg);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
		if (must_rethrow(edata->sqlerrcode))
			rethrow = edata;
		else
		{
			(void) gc_fail(err, GC_DATA, "What was computed in advance raised an error: %s.",
						   edata->message ? edata->message : "");
			FreeErrorData(edata);
		}
		ok = false;
	}
	PG_END_TRY();
	while (levels-- > 0)
		EnterParallelMode();
	if (rethrow)
		ReThrowError(rethrow);
	return ok;
}

/*-------------------------------------------------------------------------
 * The executor state
 *-------------------------------------------------------------------------
 */

typedef struct Ahead
{
	GcScanState *node;
	EState	   *estate;			/* NULL where only expressions are evaluated */
	List	   *sources;		/* PlanState of the row sources, in the order of inputs */
	GcCode		code;
	GcError    *err;
} Ahead;

/* How many parameters the statement's plans have among each other. */
static int
nparams_exec(EState *estate)
{
	return list_length(estate->es_plannedstmt->paramExecTypes);
}

/*
 * An InitPlan of the statement that was not executed yet, in the new state.  Where a
 * row source, or ExecSetParamPlanMulti(), asks for its output, it is executed there.
 */
static void
link_init_plans(EState *estate, EState *outer)
{
	ResultState *parent = makeNode(ResultState);

	parent->ps.state = estate;
	for (int i = 0; i < nparams_exec(outer); i++)
	{
		SubPlanState *sub = outer->es_param_exec_vals[i].execPlan;

		if (sub && estate->es_param_exec_vals[i].execPlan == NULL)
			(void) ExecInitSubPlan(sub->subplan, &parent->ps);
	}
}

/*
 * An executor state for parts of the statement that `outer` executes, with the same
 * snapshot and parameters, and relations and subplans of its own.
 */
static EState *
make_state(EState *outer)
{
	EState	   *estate = CreateExecutorState();
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	int			n = nparams_exec(outer);
	ListCell   *lc;

	estate->es_snapshot = outer->es_snapshot;
	estate->es_crosscheck_snapshot = outer->es_crosscheck_snapshot;
	GC_INIT_RANGE_TABLE(estate, outer);
	GC_COPY_PRUNING(estate, outer);
	estate->es_rowmarks = outer->es_rowmarks;
	estate->es_plannedstmt = outer->es_plannedstmt;
	estate->es_sourceText = outer->es_sourceText;
	estate->es_queryEnv = outer->es_queryEnv;
	estate->es_output_cid = outer->es_output_cid;
	estate->es_param_list_info = outer->es_param_list_info;
	estate->es_instrument = outer->es_instrument;
	estate->es_jit_flags = outer->es_jit_flags;
	estate->es_use_parallel_mode = outer->es_use_parallel_mode;
	estate->es_param_exec_vals = palloc0((n + 1) * sizeof(ParamExecData));
	for (int i = 0; i < n; i++)
	{
		/* Without a type they are links between nodes of one state: of CTEs, for instance. */
		if (!OidIsValid(list_nth_oid(outer->es_plannedstmt->paramExecTypes, i)))
			continue;
		estate->es_param_exec_vals[i].value = outer->es_param_exec_vals[i].value;
		estate->es_param_exec_vals[i].isnull = outer->es_param_exec_vals[i].isnull;
	}
	/* Plans do not tell which subplans they use, so all are there, as for EvalPlanQual. */
	foreach(lc, outer->es_plannedstmt->subplans)
	{
		int			id = foreach_current_index(lc) + 1;
		int			eflags = bms_is_member(id, outer->es_plannedstmt->rewindPlanIDs) ? EXEC_FLAG_REWIND : 0;

		estate->es_subplanstates = lappend(estate->es_subplanstates, ExecInitNode(lfirst(lc), estate, eflags));
	}
	link_init_plans(estate, outer);
	MemoryContextSwitchTo(old);
	return estate;
}

/* Outputs of InitPlans that were executed become the statement's: they run only once. */
static void
publish_params(EState *estate, EState *outer)
{
	MemoryContext old = MemoryContextSwitchTo(outer->es_query_cxt);

	for (int i = 0; i < nparams_exec(outer); i++)
	{
		ParamExecData *to = &outer->es_param_exec_vals[i];
		const ParamExecData *from = &estate->es_param_exec_vals[i];
		Oid			type = list_nth_oid(outer->es_plannedstmt->paramExecTypes, i);
		int16		len;
		bool		byval;

		if (to->execPlan == NULL || from->execPlan != NULL)
			continue;
		get_typlenbyval(type, &len, &byval);
		to->value = from->isnull ? (Datum) 0 : datumCopy(from->value, byval, len);
		to->isnull = from->isnull;
		to->execPlan = NULL;
	}
	MemoryContextSwitchTo(old);
}

/*-------------------------------------------------------------------------
 * Numbers for EXPLAIN ANALYZE
 *-------------------------------------------------------------------------
 */

/* All nodes at and below one, each once: subplans are met at every node that uses them. */
static bool
collect_states(PlanState *ps, List **states)
{
	if (ps == NULL || list_member_ptr(*states, ps))
		return false;
	*states = lappend(*states, ps);
	return planstate_tree_walker(ps, collect_states, states);
}

/* Is it a node of this kind?  All scans of ours have the same methods. */
static bool
is_ours(const PlanState *ps, const CustomExecMethods *methods)
{
	return IsA(ps, CustomScanState) && ((const CustomScanState *) ps)->methods == methods;
}

/* Add what was measured of plans here to the states that EXPLAIN shows of them. */
static void
publish_instrumentation(List *to, List *from, const CustomExecMethods *methods)
{
	ListCell   *lt,
			   *lf;

	foreach(lf, from)
	{
		PlanState  *f = lfirst(lf);

		foreach(lt, to)
		{
			PlanState  *t = lfirst(lt);

			if (t->plan != f->plan || t == f || t->instrument == NULL || f->instrument == NULL)
				continue;
			InstrEndLoop(f->instrument);
			InstrAggNode(t->instrument, f->instrument);
			if (is_ours(t, methods) && ((GcScanState *) f)->stats.loops > 0)
				((GcScanState *) t)->stats = ((GcScanState *) f)->stats;
		}
	}
}

/* EXPLAIN ANALYZE shows the plans of the node, of which others were executed. */
static void
publish_all_instrumentation(Ahead *a)
{
	EState	   *outer = a->node->css.ss.ps.state;
	List	   *shown = NIL;
	List	   *executed = NIL;
	ListCell   *lc;

	if (!outer->es_instrument)
		return;
	foreach(lc, a->node->shown_sources)
		(void) collect_states(lfirst(lc), &shown);
	foreach(lc, outer->es_subplanstates)
		(void) collect_states(lfirst(lc), &shown);
	/* Shutting down collects what parallel workers measured. */
	foreach(lc, list_concat_copy(a->sources, a->estate->es_subplanstates))
	{
		ExecShutdownNode(lfirst(lc));
		(void) collect_states(lfirst(lc), &executed);
	}
	publish_instrumentation(shown, executed, a->node->css.methods);
}

/* As ExecutorEnd() does.  Relations were opened in this subtransaction, and are closed in it. */
static void
end_state(Ahead *a)
{
	EState	   *estate = a->estate;
	ListCell   *lc;

	publish_all_instrumentation(a);
	foreach(lc, a->sources)
		ExecEndNode(lfirst(lc));
	foreach(lc, estate->es_subplanstates)
		ExecEndNode(lfirst(lc));
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseResultRelations(estate);
	ExecCloseRangeTableRelations(estate);
	FreeExecutorState(estate);
	a->estate = NULL;
}

/*-------------------------------------------------------------------------
 * Expressions
 *-------------------------------------------------------------------------
 */

/* Note the parameters that an expression takes from other plans. */
static bool
collect_exec_params(Node *node, Bitmapset **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, collect_exec_params, params);
}

/* Note which parameters the node's own expressions take; these are evaluated ahead. */
void
gc_find_init_params(GcScanState *node)
{
	for (int i = 0; i < node->plan->nexprs; i++)
		(void) collect_exec_params((Node *) node->exprs[i]->expr, &node->init_params);
}

/* Constants and parameters: evaluating one raises no error. */
static bool
is_simple(const ExprState *expr)
{
	return IsA(expr->expr, Const) || IsA(expr->expr, Param);
}

/* Is the expression a parameter of the program, or a list?  (Others make lookup tables.) */
static Bitmapset *
evaluated_exprs(GcScanState *node)
{
	Bitmapset  *exprs = NULL;

	for (int i = 0; i < node->plan->nparams; i++)
	{
		if (node->plan->params[i].expr >= 0)
			exprs = bms_add_member(exprs, node->plan->params[i].expr);
	}
	for (int i = 0; i < node->plan->nlists; i++)
		exprs = bms_add_member(exprs, node->plan->lists[i].expr);
	for (int i = 0; i < node->plan->nluts; i++)
	{
		if (node->plan->luts[i].type == GC_LUT_ZONE && node->plan->luts[i].expr >= 0)
			exprs = bms_add_member(exprs, node->plan->luts[i].expr);
	}
	return exprs;
}

/* Evaluate into the node's memory. */
static void
eval_exprs(GcScanState *node, Bitmapset *exprs)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	int			i = -1;

	node->values = MemoryContextAllocZero(node->cxt, (node->plan->nexprs + 1) * sizeof(Datum));
	node->isnull = MemoryContextAllocZero(node->cxt, (node->plan->nexprs + 1) * sizeof(bool));
	while ((i = bms_next_member(exprs, i)) >= 0)
	{
		MemoryContext old;
		int16		len;
		bool		byval;
		Datum		value;

		ResetExprContext(econtext);
		value = ExecEvalExprSwitchContext(node->exprs[i], econtext, &node->isnull[i]);
		if (node->isnull[i])
			continue;
		get_typlenbyval(exprType((Node *) node->exprs[i]->expr), &len, &byval);
		old = MemoryContextSwitchTo(node->cxt);
		node->values[i] = datumCopy(value, byval, len);
		MemoryContextSwitchTo(old);
	}
}

/*-------------------------------------------------------------------------
 * Row sources
 *-------------------------------------------------------------------------
 */

/* An encoder for a row source's columns, with empty dictionaries for its texts. */
static void
prepare_encoder(GcScanState *node, GcInputState *in)
{
	for (int c = 0; c < in->ncols; c++)
	{
		const GcPColumn *col = &gc_columns(node->logical)[in->first + c];
		const GcPlanColumn *type = &node->plan->columns[in->first + c];

		in->specs[c] = (GcColSpec) {.kind = col->kind,.rtrim = col->rtrim,
			.typid = gc_base_type(type->typid),.typmod = type->typmod,.collation = type->collation};
		if (GC_KIND_IS_CODE(col->kind))
			in->dicts[c] = gc_dict_view(NULL, col->rtrim);
	}
	in->private = gc_encoder_create(in->ncols, in->specs, in->dicts, NULL);
}

/* Take all rows of a plan below and encode them.  GC_CACHE_FULL: they do not fit the column cache. */
static GcCode
run_row_source(GcScanState *node, GcInputState *in, PlanState *source, GcError *err)
{
	Datum	   *values = palloc((in->ncols + 1) * sizeof(Datum));
	bool	   *isnull = palloc((in->ncols + 1) * sizeof(bool));

	prepare_encoder(node, in);
	for (;;)
	{
		TupleTableSlot *slot;
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		/* Plans open scans lazily, in memory that must live as long as they do. */
		old = MemoryContextSwitchTo(source->state->es_query_cxt);
		slot = ExecProcNode(source);
		MemoryContextSwitchTo(old);
		if (TupIsNull(slot))
			break;
		for (int c = 0; c < in->ncols; c++)
			values[c] = slot_getattr(slot, gc_columns(node->logical)[in->first + c].attnum, &isnull[c]);
		gc_encoder_add(in->private, values, isnull);
		if (gc_encoder_memory(in->private) > gc_arena_size())
			return gc_fail(err, GC_CACHE_FULL, "A row source returns more than fits the column cache.");
	}
	in->private_rows = gc_encoder_rows(in->private);
	node->stats.rows_source += in->private_rows;
	return GC_OK;
}

/* Run all plans below whose rows are inputs.  Stops at the first failure. */
static void
run_row_sources(Ahead *a)
{
	GcScanState *node = a->node;
	CustomScan *cscan = (CustomScan *) node->css.ss.ps.plan;

	node->stats.rows_source = 0;
	for (int i = 0; i < node->plan->ninputs && a->code == GC_OK; i++)
	{
		int			child = node->plan->inputs[i].child;
		MemoryContext old;
		PlanState  *source;

		if (child < 0)
			continue;
		old = MemoryContextSwitchTo(a->estate->es_query_cxt);
		source = ExecInitNode(list_nth(cscan->custom_plans, child), a->estate, 0);
		a->sources = lappend(a->sources, source);
		MemoryContextSwitchTo(old);
		a->code = run_row_source(node, &node->inputs[i], source, a->err);
	}
}

/*-------------------------------------------------------------------------
 * All of it
 *-------------------------------------------------------------------------
 */

/* Are there plans below whose rows are inputs? */
static bool
has_row_sources(const GcScanState *node)
{
	for (int i = 0; i < node->plan->ninputs; i++)
	{
		if (node->plan->inputs[i].child >= 0)
			return true;
	}
	return false;
}

/* Does the program need the output of an InitPlan that was not executed yet? */
static bool
init_plans_pending(const GcScanState *node)
{
	int			i = -1;

	while ((i = bms_next_member(node->init_params, i)) >= 0)
	{
		if (node->css.ss.ps.state->es_param_exec_vals[i].execPlan != NULL)
			return true;
	}
	return false;
}

/* Within a subtransaction: all that may raise an error before the request is made. */
static void
ahead_callback(void *arg)
{
	Ahead	   *a = arg;
	EState	   *outer = a->node->css.ss.ps.state;

	if (a->estate == NULL)
	{
		eval_exprs(a->node, evaluated_exprs(a->node));
		return;
	}
	if (outer->es_use_parallel_mode)
		EnterParallelMode();
	ExecSetParamPlanMulti(a->node->init_params, GetPerTupleExprContext(a->estate));
	publish_params(a->estate, outer);
	eval_exprs(a->node, evaluated_exprs(a->node));
	run_row_sources(a);
	publish_params(a->estate, outer);
	end_state(a);
	if (outer->es_use_parallel_mode)
		ExitParallelMode();
}

/* As ahead_callback(), with an executor state made first. */
static void
state_callback(void *arg)
{
	Ahead	   *a = arg;

	a->estate = make_state(a->node->css.ss.ps.state);
	ahead_callback(a);
}

/*
 * Compute all that a request needs before it is made, into the node's memory.  GC_DATA
 * if it raised an error.
 */
GcCode
gc_compute_ahead(GcScanState *node, GcError *err)
{
	Ahead		a = {.node = node,.code = GC_OK,.err = err};
	Bitmapset  *exprs = evaluated_exprs(node);
	bool		simple = true;
	int			i = -1;

	while ((i = bms_next_member(exprs, i)) >= 0)
		simple = simple && is_simple(node->exprs[i]);
	if (has_row_sources(node) || init_plans_pending(node))
		return gc_guarded(state_callback, &a, err) ? a.code : GC_DATA;
	if (!simple)
		return gc_guarded(ahead_callback, &a, err) ? a.code : GC_DATA;
	eval_exprs(node, exprs);
	return GC_OK;
}
