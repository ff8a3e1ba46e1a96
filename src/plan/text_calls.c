/*-------------------------------------------------------------------------
 *
 * text_calls.c
 *	  Calls of functions of texts: which raise no error, and which no setting has an influence on.
 *
 * An expression of two texts is tabulated for all pairs of their values, most of which no row need have.  If it could
 * raise an error for one, each execution might find that out and fall back.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "text_calls.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "../columns/pgkinds.h"
#include "../compat.h"

static bool
is_text_type(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == UNKNOWNOID;
}

static bool
are_texts(List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!is_text_type(getBaseType(exprType(lfirst(lc)))))
			return false;
	}
	return true;
}

/* Functions that raise no error for any text.  Some raise one for a nondeterministic collation. */
static bool
is_total(Oid funcid, void *context)
{
	switch (funcid)
	{
		case F_TEXTCAT:
		case F_CONCAT:
		case F_CONCAT_WS:
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
		case F_INITCAP:
		case F_REVERSE_TEXT:
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
		case F_OCTET_LENGTH_TEXT:
		case F_STRPOS:
		case F_POSITION_TEXT_TEXT:
		case F_REPLACE:
		case F_TRANSLATE:
		case F_STARTS_WITH:
		case F_SPLIT_PART:
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
		case F_MD5_TEXT:
		case F_LEFT:
		case F_RIGHT:
		case F_BTRIM_TEXT:
		case F_LTRIM_TEXT:
		case F_RTRIM_TEXT:
		case F_BTRIM_TEXT_TEXT:
		case F_LTRIM_TEXT_TEXT:
		case F_RTRIM_TEXT_TEXT:
		case F_TEXT_BPCHAR:
		case F_TEXTEQ:
		case F_TEXTNE:
		case F_TEXT_LT:
		case F_TEXT_LE:
		case F_TEXT_GT:
		case F_TEXT_GE:
			return true;
		default:
			return false;
	}
}

static bool
is_other_call(Oid funcid, void *context)
{
	return !is_total(funcid, context);
}

/* The arguments of a call, and whether they keep it from an error. */
static bool
are_harmless(Oid funcid, List *args)
{
	const Const *last = args ? llast(args) : NULL;

	switch (funcid)
	{
		case F_CONCAT:
		case F_CONCAT_WS:
			/* Of other types it calls output functions. */
			return are_texts(args);
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
			/* A pattern may not end with an escape. */
			return IsA(last, Const) && !last->constisnull && strchr(TextDatumGetCString(last->constvalue), '\\') == NULL;
		case F_SPLIT_PART:
			return IsA(last, Const) && !last->constisnull && DatumGetInt32(last->constvalue) > 0;
		default:
			return true;
	}
}

static bool
may_raise(Node *node, void *context)
{
	if (node == NULL)
		return false;
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
		case T_NullTest:
		case T_List:
			break;
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcvariadic || !are_harmless(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args))
				return true;
			/* FALLTHROUGH */
		case T_OpExpr:
			if (IsA(node, OpExpr) && !are_harmless(get_opcode(((OpExpr *) node)->opno), ((OpExpr *) node)->args))
				return true;
			/* FALLTHROUGH */
		case T_ScalarArrayOpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			if (OidIsValid(exprInputCollation(node)) && !gc_collation_deterministic(exprInputCollation(node)))
				return true;
			if (check_functions_in_node(node, is_other_call, NULL))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, may_raise, context);
}

bool
gc_takes_any_texts(Expr *expr)
{
	return !may_raise((Node *) expr, NULL);
}

static Node *
put_textcat(Node *node, void *context)
{
	Node	   *copy;

	if (node == NULL)
		return NULL;
	copy = expression_tree_mutator(node, put_textcat, context);
	if (IsA(node, FuncExpr) && !((FuncExpr *) node)->funcvariadic && are_texts(((FuncExpr *) node)->args) &&
		(((FuncExpr *) node)->funcid == F_CONCAT || ((FuncExpr *) node)->funcid == F_CONCAT_WS))
		((FuncExpr *) copy)->funcid = F_TEXTCAT;
	return copy;
}

Node *
gc_without_concat(Node *node)
{
	return put_textcat(node, NULL);
}
