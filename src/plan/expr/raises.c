/*-------------------------------------------------------------------------
 *
 * raises.c
 *	  Does anything in an expression raise an error?
 *
 * Which calls do not depends on what the expression is to be evaluated over: see text_calls.c, rewrite/cannot_raise.c
 * and group/near.c.  Here are the rules for the nodes between them.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "raises.h"

#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#define IS_WITHIN(value, limit)	((value) >= -(limit) && (value) <= (limit))

typedef struct RaiseWalk
{
	GcRaisesOf	of;
	void	   *context;
} RaiseWalk;

/* Nodes that no table knows: those that only hand on values raise nothing of their own. */
static GcRaises
by_form(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Const:
		case T_Var:
		case T_RelabelType:
		case T_BoolExpr:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_List:
			return GC_RAISES_BELOW;
		case T_NullTest:
			return ((const NullTest *) node)->argisrow ? GC_RAISES_ITSELF : GC_RAISES_BELOW;
		default:
			return GC_RAISES_ITSELF;
	}
}

/* Asks the caller of each node first.  True: something may raise an error. */
static bool
raises_walker(Node *node, RaiseWalk *walk)
{
	GcRaises	raises;

	if (node == NULL)
		return false;
	raises = walk->of(node, walk->context);
	if (raises == GC_RAISES_UNKNOWN)
		raises = by_form(node);
	return raises == GC_RAISES_ITSELF ||
		(raises == GC_RAISES_BELOW && expression_tree_walker(node, raises_walker, walk));
}

/* A date of our millennia, and an interval of less than a century? */
static bool
are_modest(const Const *when, const Const *span)
{
	const Interval *i = when && span ? DatumGetIntervalP(span->constvalue) : NULL;

	return i && IS_WITHIN(DatumGetDateADT(when->constvalue), 699999) && IS_WITHIN(i->month, 1200) &&
		IS_WITHIN(i->day, 36525) && IS_WITHIN(i->time, 36525 * USECS_PER_DAY);
}

bool
gc_are_harmless(const GcBuiltin *b, const List *args)
{
	const int	last = list_length(args) - 1;
	const Const *c;

	switch (b->safe_if)
	{
		case GC_IF_PATTERN:
			c = gc_constant(args, last);
			return c && strchr(TextDatumGetCString(c->constvalue), '\\') == NULL;
		case GC_IF_POSITIVE:
			c = gc_constant(args, last);
			return c && DatumGetInt32(c->constvalue) > 0;
		case GC_IF_LENGTH:
			c = list_nth(args, last);
			return IsA(c, Const) && (c->constisnull || DatumGetInt32(c->constvalue) >= 0);
		case GC_IF_MODEST:
			return are_modest(gc_constant(args, 0), gc_constant(args, 1));
		default:
			return true;
	}
}

bool
gc_may_raise(Node *node, GcRaisesOf of, void *context)
{
	RaiseWalk	walk = {of, context};

	return raises_walker(node, &walk);
}
