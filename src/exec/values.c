/*-------------------------------------------------------------------------
 *
 * values.c
 *	  Parameters and IN lists: expressions without Vars, computed by PostgreSQL
 *	  once per execution and handed over as raw values.
 *
 * PostgreSQL would have evaluated such an expression only when a row came along,
 * so an error in it may not be raised here: it is caught, and the execution falls
 * back to PostgreSQL's plan, which raises it or does not.
 *
 * Evaluation comes before the request slot and its guard are taken, since it may
 * run queries: InitPlans (outside any subtransaction of ours, because what they
 * open stays open), and functions that contain SQL.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/nodeSubplan.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/*-------------------------------------------------------------------------
 * Catching errors
 *-------------------------------------------------------------------------
 */

/* Errors that are about the session rather than the expression. */
static bool
must_rethrow(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_QUERY_CANCELED ||
		ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION ||
		ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES ||
		ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_INTERNAL_ERROR;
}

/*
 * Run callback in a subtransaction of its own.  False if it raised an error.
 * A statement whose fallback plan is parallel is in parallel mode, which forbids
 * subtransactions; as long as no workers run, it may be left for a moment.
 */
bool
gc_guarded(void (*callback) (void *arg), void *arg)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			levels = 0;
	volatile bool ok = true;
	ErrorData  *volatile rethrow = NULL;

	if (IsInParallelMode() && ParallelContextActive())
		return false;
	while (IsInParallelMode())
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
			FreeErrorData(edata);
		ok = false;
	}
	PG_END_TRY();
	while (levels-- > 0)
		EnterParallelMode();
	if (rethrow)
		ReThrowError(rethrow);
	return ok;
}

typedef struct EvalArg
{
	ExprState  *expr;
	ExprContext *econtext;
	MemoryContext cxt;
	Datum		value;
	bool		isnull;
} EvalArg;

static void
eval_callback(void *arg)
{
	EvalArg    *e = arg;
	MemoryContext old = CurrentMemoryContext;
	Oid			type = exprType((Node *) e->expr->expr);
	int16		len;
	bool		byval;

	/* As ExecEvalExprSwitchContext; an InitPlan switches to its own memory. */
	e->value = ExecEvalExprSwitchContext(e->expr, e->econtext, &e->isnull);
	MemoryContextSwitchTo(e->cxt);
	get_typlenbyval(type, &len, &byval);
	if (!e->isnull)
		e->value = datumCopy(e->value, byval, len);
	MemoryContextSwitchTo(old);
}

/* Evaluate into the node's memory; false if that raised an error. */
static bool
eval(GcScanState *node, ExprState *expr, bool simple, Datum *value, bool *isnull)
{
	EvalArg		arg = {.expr = expr,.econtext = node->css.ss.ps.ps_ExprContext,.cxt = node->cxt};

	ResetExprContext(arg.econtext);
	if (simple)
		eval_callback(&arg);
	else if (!gc_guarded(eval_callback, &arg))
		return false;
	*value = arg.value;
	*isnull = arg.isnull;
	return true;
}

static bool
collect_init_params(Node *node, Bitmapset **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, collect_init_params, params);
}

void
gc_find_init_params(GcScanState *node)
{
	for (int i = 0; i < node->plan->nexprs; i++)
		(void) collect_init_params((Node *) node->exprs[i]->expr, &node->init_params);
}

/* Evaluate one expression, unless that was done for another use of it. */
static bool
eval_once(GcScanState *node, int i, bool simple, bool *done)
{
	if (done[i])
		return true;
	done[i] = true;
	return eval(node, node->exprs[i], simple, &node->values[i], &node->isnull[i]);
}

GcCode
gc_eval_exprs(GcScanState *node, GcError *err)
{
	bool	   *done = palloc0((node->plan->nexprs + 1) * sizeof(bool));
	MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);
	bool		ok = true;

	ExecSetParamPlanMulti(node->init_params, node->css.ss.ps.ps_ExprContext);
	MemoryContextSwitchTo(old);

	node->values = palloc0((node->plan->nexprs + 1) * sizeof(Datum));
	node->isnull = palloc0((node->plan->nexprs + 1) * sizeof(bool));
	for (int i = 0; i < node->plan->nparams && ok; i++)
		ok = eval_once(node, node->plan->params[i].expr, node->plan->params[i].simple, done);
	for (int i = 0; i < node->plan->nlists && ok; i++)
	{
		Expr	   *expr = node->exprs[node->plan->lists[i].expr]->expr;

		ok = eval_once(node, node->plan->lists[i].expr, IsA(expr, Const) || IsA(expr, Param), done);
	}
	return ok ? GC_OK : gc_fail(err, GC_DATA, "An expression could not be computed in advance.");
}

/*-------------------------------------------------------------------------
 * Parameters
 *-------------------------------------------------------------------------
 */

/* Code of a text value in the dictionary it is compared with; -1: not in it. */
static int64
text_code(GcBinding *b, uint16 space, Datum value)
{
	text	   *t = DatumGetTextPP(value);

	return gc_dict_lookup(gc_space_dict(b, space), VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
}

static GcCode
set_param(GcBinding *b, int i, Datum value)
{
	GcKind		kind = gc_params(b->program)[i].kind;
	GcFact	   *fact = &b->param_facts[i];
	i128		v;
	int64		raw;

	if (kind == GC_TEXT)
		v = text_code(b, b->plan->params[i].space, value);
	else if (kind == GC_NUMERIC)
	{
		if (!gc_numeric_to_int128(value, &v, &fact->scale))
			return gc_fail(&b->err, GC_UNSUPPORTED,
						   "A numeric constant is NaN, infinite or beyond 128 bits.");
	}
	else
	{
		if (!gc_datum_to_raw(kind, value, &raw, &fact->scale))
			return gc_fail(&b->err, GC_UNSUPPORTED, "A constant has no raw form.");
		v = raw;
	}
	fact->range = (GcRange) {v, v};
	b->params[i].lo = (u64) v;
	b->params[i].hi = (u64) (v >> 64);
	return GC_OK;
}

GcCode
gc_bind_params(GcBinding *b)
{
	GcCode		code = GC_OK;

	for (int i = 0; i < b->plan->nparams && code == GC_OK; i++)
	{
		int			e = b->plan->params[i].expr;

		b->param_facts[i].nullable = b->node->isnull[e];
		if (!b->node->isnull[e])
			code = set_param(b, i, b->node->values[e]);
	}
	return code;
}

/*-------------------------------------------------------------------------
 * IN lists
 *-------------------------------------------------------------------------
 */

static int
compare_int64(const void *x, const void *y)
{
	int64		a = *(const int64 *) x;
	int64		b = *(const int64 *) y;

	return a < b ? -1 : a > b;
}

/*
 * A numeric element at the scale of the column that it is compared with.  False if
 * no column value can equal it.
 */
static bool
numeric_at_scale(Datum value, int16 scale, int64 *raw)
{
	i128		v;
	int16		s;

	if (!gc_numeric_to_int128(value, &v, &s))
		return false;
	for (; s > scale; s--)
	{
		if (v % 10 != 0)
			return false;
		v /= 10;
	}
	for (; s < scale; s++)
	{
		if (__builtin_mul_overflow(v, (i128) 10, &v))
			return false;
	}
	*raw = (int64) v;
	return v >= PG_INT64_MIN && v <= PG_INT64_MAX;
}

/* Scale of the values of an IN's left side: known before typing if a plain column. */
static bool
column_scale(GcBinding *b, u16 e, int16 *scale)
{
	const GcExpr *x = &gc_exprs(b->program)[e];

	while (x->op == GC_OP_PAYLOAD)
		x = &gc_exprs(b->program)[gc_payloads(b->program)[x->ref].expr];
	if (x->op != GC_OP_COLUMN)
		return false;
	*scale = b->column_facts[x->ref].scale;
	return true;
}

static GcCode
set_list(GcBinding *b, int i, ArrayType *array)
{
	GcKind		kind = gc_lists(b->program)[i].kind;
	Oid			elemtype = ARR_ELEMTYPE(array);
	int16		len,
				scale = 0,
				unused;
	bool		byval;
	char		align;
	Datum	   *elems;
	bool	   *nulls;
	int			n;

	if (kind == GC_NUMERIC && !column_scale(b, b->plan->lists[i].arg, &scale))
		return gc_fail(&b->err, GC_UNSUPPORTED, "IN is applied to a numeric expression.");
	get_typlenbyvalalign(elemtype, &len, &byval, &align);
	deconstruct_array(array, elemtype, len, byval, align, &elems, &nulls, &n);
	b->lists[i] = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(int64));
	for (int k = 0; k < n; k++)
	{
		int64	   *raw = &b->lists[i][b->list_counts[i]];

		if (nulls[k])
			b->list_has_null[i] = true;
		else if (kind == GC_NUMERIC ? numeric_at_scale(elems[k], scale, raw)
				 : gc_datum_to_raw(GC_KIND_IS_INT(kind) ? elemtype == INT8OID ? GC_INT8
								   : elemtype == INT4OID ? GC_INT4 : GC_INT2 : kind,
								   elems[k], raw, &unused))
			b->list_counts[i]++;
	}
	qsort(b->lists[i], b->list_counts[i], sizeof(int64), compare_int64);
	return GC_OK;
}

GcCode
gc_bind_lists(GcBinding *b)
{
	GcCode		code = GC_OK;

	for (int i = 0; i < b->plan->nlists && code == GC_OK; i++)
	{
		int			e = b->plan->lists[i].expr;

		/* A NULL array: the result is NULL for every row. */
		if (b->node->isnull[e])
			b->list_has_null[i] = true;
		else
			code = set_list(b, i, DatumGetArrayTypeP(b->node->values[e]));
	}
	return code;
}
