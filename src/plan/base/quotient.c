/*-------------------------------------------------------------------------
 *
 * quotient.c
 *	  Quotients of numerics, which have digits of their own in each row, as variances do.
 *
 * They have more than 64 bits, and no display scale that all rows share.  So comparisons, arithmetic, sums,
 * payloads and outputs take them.  Keys, and the least or greatest of values, do not.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "quotient.h"

#include "builder.h"

/*
 * The expression of another pipeline that a payload, or a column of groups or kept rows, has
 * values of; -1: there is none.
 */
static int
source_of(const GcTranslation *tr, const GcExpr *x)
{
	const GcPColumn *c;
	int			e;

	if (x->op == GC_OP_PAYLOAD)
		return tr->payloads[x->ref].expr;
	if (x->op != GC_OP_COLUMN || tr->groups_of[tr->columns[x->ref].input] == 0)
		return -1;
	c = &tr->columns[x->ref];
	e = c->agg == GC_NONE ? list_nth_int(tr->group_keys[tr->groups_of[c->input] - 1], c->attnum) : tr->aggs[c->agg].arg;
	return e == GC_NONE ? -1 : e;
}

bool
gc_any_part(const GcTranslation *tr, int e, bool (*is_such) (const GcExpr *part))
{
	const GcExpr *x = &tr->pexprs[e];

	if (is_such(x))
		return true;
	for (int i = 0; i < 3; i++)
	{
		if (x->arg[i] != GC_NONE && gc_any_part(tr, x->arg[i], is_such))
			return true;
	}
	return false;
}

/* Is a numeric expression's value made of an average or another quotient; or, below: is a part of it divided by one? */
static bool
has_quotient(const GcTranslation *tr, int e, bool below)
{
	const GcExpr *x = &tr->pexprs[e];
	const int	source = source_of(tr, x);

	if (source >= 0)
		return has_quotient(tr, source, below);
	if (x->kind != GC_NUMERIC || gc_scale_rule(x) == GC_SCALE_GIVEN)
		return false;
	if (below ? x->op == GC_OP_DIV && has_quotient(tr, x->arg[1], false) : gc_is_quotient(x))
		return true;
	for (int i = 0; i < 3; i++)
	{
		if (x->arg[i] != GC_NONE && has_quotient(tr, x->arg[i], below))
			return true;
	}
	return false;
}

bool
gc_no_quotient(GcTranslation *tr, int e, const char *what)
{
	if (tr->pexprs[e].kind != GC_NUMERIC || !has_quotient(tr, e, false))
		return true;
	gc_refuse(tr, "a quotient of numerics, not rounded, is %s", what);
	return false;
}

bool
gc_may_be_summed(GcTranslation *tr, int e)
{
	if (!has_quotient(tr, e, true))
		return true;
	gc_refuse(tr, "numerics divided by a quotient are summed");
	return false;
}
