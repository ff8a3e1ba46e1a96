/*-------------------------------------------------------------------------
 *
 * raises.c
 *	  Does anything in an expression raise an error?
 *
 * Which calls do not depends on what the expression is to be evaluated over: see text_calls.c, rewrite/cannot_raise.c
 * and group/choice.c.  Here is what holds of the nodes between them.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "raises.h"

#include "nodes/nodeFuncs.h"

typedef struct RaiseWalk
{
	GcRaisesOf	of;
	void	   *context;
} RaiseWalk;

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

static bool
raises_walker(Node *node, RaiseWalk *walk)
{
	GcRaises	raises;

	if (node == NULL)
		return false;
	raises = walk->of(node, walk->context);
	if (raises == GC_RAISES_UNKNOWN)
		raises = by_form(node);
	return raises == GC_RAISES_ITSELF || (raises == GC_RAISES_BELOW && expression_tree_walker(node, raises_walker, walk));
}

bool
gc_may_raise(Node *node, GcRaisesOf of, void *context)
{
	RaiseWalk	walk = {of, context};

	return raises_walker(node, &walk);
}
