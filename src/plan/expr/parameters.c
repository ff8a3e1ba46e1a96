/*-------------------------------------------------------------------------
 *
 * parameters.c
 *	  Expressions without Vars, which PostgreSQL computes once per execution.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "expr.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"

#include "../base/builder.h"
#include "instants.h"
#include "../../columns/encode/pgkinds.h"

bool
gc_has_vars(Node *node)
{
	return contain_var_clause(node) || contain_agg_clause(node) || contain_window_function(node);
}

int
gc_translate_param(GcTranslation *tr, Expr *expr, uint16 space)
{
	GcKind		kind = gc_type_kind(exprType((Node *) expr));

	if (kind == GC_KIND_NONE)
		return gc_refuse(tr, "type %s is not supported", format_type_be(exprType((Node *) expr)));
	if (contain_volatile_functions((Node *) expr))
		return gc_refuse(tr, "a volatile function is called");
	if (contain_subplans((Node *) expr))
		return gc_refuse(tr, "a subplan is used in an expression");
	if (GC_KIND_IS_CODE(kind) && space == GC_SPACE_NONE)
		return kind == GC_TEXT ? gc_refuse(tr, "a text constant is used other than in a comparison") :
			gc_refuse(tr, "a constant of type %s is used other than in a comparison",
					  format_type_be(exprType((Node *) expr)));
	if (gc_interval_refusal(expr))
		return gc_refuse(tr, "%s", gc_interval_refusal(expr));
	if (IsA(expr, Const) && ((Const *) expr)->constisnull)
		return gc_build_null(tr, kind);
	return gc_build_param(tr, expr, kind, space);
}
