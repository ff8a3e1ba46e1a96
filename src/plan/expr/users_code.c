/*-------------------------------------------------------------------------
 *
 * users_code.c
 *	  Which expressions run code that came with no server: a user's, or an extension's.
 *
 * Such code may show its arguments, whatever it is declared as, may depend on who calls it, and may be replaced.  A
 * call can be hidden: built-in functions of arrays, rows, ranges and JSON call functions of their elements' types.  So
 * the types of all parts of an expression are looked at, too.  What is not known counts as a user's.  So do
 * configurations and dictionaries of text search, which may be altered, and where results are to be kept also regclass.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "raises.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "../base/builtins.h"
#include "../../compat.h"

typedef struct Walk
{
	bool		or_leakproof;
	bool		enums;			/* there are enums: */
	bool		json;			/* JSON of them is made by their users' casts, if they have one */
} Walk;

/* Do the function's arguments say what it runs, as of a type's input? */
static bool
is_told_code(Oid funcid, void *context)
{
	return (gc_builtin(funcid)->flags & GC_IS_TOLD_CODE) != 0;
}

/* Came the function with no server?  Leakproof ones count only if the walk says so. */
static bool
is_users_function(Oid funcid, void *context)
{
	const Walk *w = context;

	return funcid >= FirstNormalObjectId && (w->or_leakproof || !get_func_leakproof(funcid));
}

/* To make a domain's value may check its constraints; to read it is to read its base type's. */
static bool
is_users_type(Oid type, bool is_read, Walk *w)
{
	const Oid	base = getBaseType(type);
	Oid			element;

	if (base != type && !is_read)
		return true;
	/* A configuration of text search names dictionaries, which may be a user's. */
	if (base == REGCONFIGOID || base == REGDICTIONARYOID)
		return true;
	w->json = w->json || base == JSONOID || base == JSONBOID;
	/* A table's place among partitions may be altered. */
	if (base == REGCLASSOID)
		return w->or_leakproof;
	if (base < FirstNormalObjectId)
		return false;
	if (type_is_enum(base))
	{
		w->enums = true;
		return false;
	}
	element = get_element_type(base);
	return !OidIsValid(element) || is_users_type(element, is_read, w);
}

/* Does a node hand on a value that it has not made? */
static bool
is_read(const Node *node)
{
	return IsA(node, Var) || IsA(node, Const) || IsA(node, Param) || IsA(node, CaseTestExpr) || IsA(node, RelabelType);
}

/* Is it a part of an expression that has no type? */
static bool
has_no_type(const Node *node)
{
	return IsA(node, List) || IsA(node, CaseWhen) || IsA(node, TargetEntry) || IsA(node, SortGroupClause);
}

/* Stops at the first call that may run such code. */
static bool
users_code_walker(Node *node, Walk *w)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || check_functions_in_node(node, is_users_function, w))
		return true;
	/* A cast's function is told the type of its result. */
	if (!IsA(node, CoerceViaIO) && check_functions_in_node(node, is_told_code, NULL))
		return true;
	if (!has_no_type(node) && is_users_type(exprType(node), is_read(node), w))
		return true;
	w->json = w->json || GC_IS_JSON_CONSTRUCTOR(node);
	return expression_tree_walker(node, users_code_walker, w);
}

bool
gc_runs_users_code(Node *node, bool or_leakproof)
{
	Walk		w = {.or_leakproof = or_leakproof};

	return users_code_walker(node, &w) || (w.enums && w.json);
}
