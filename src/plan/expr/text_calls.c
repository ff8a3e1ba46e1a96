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
#include "functions.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "raises.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"

static bool
is_text_type(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == UNKNOWNOID;
}

/* An integer or an enum: it is spelled in one way, whatever the settings. */
static bool
has_one_spelling(const Node *arg)
{
	const Oid	type = gc_base_type(exprType(arg));

	return type == INT2OID || type == INT4OID || type_is_enum(type);
}

/*
 * Are all of them texts, or have one spelling?  or_enums: labels can be renamed, which a table of an enum's values that
 * sessions share would not notice.
 */
static bool
are_texts(List *args, bool or_enums)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		const Oid	type = gc_base_type(exprType(lfirst(lc)));

		if (!is_text_type(type) && (!has_one_spelling(lfirst(lc)) || (!or_enums && type_is_enum(type))))
			return false;
	}
	return true;
}

/* Whatever their arguments, functions of texts raise no other error than for a nondeterministic collation? */
static bool
is_other_call(Oid funcid, void *context)
{
	return !(gc_builtin(funcid)->flags & GC_SAFE_OF_TEXTS);
}

/* Do these arguments keep the function from raising an error? */
static bool
are_harmless(Oid funcid, List *args)
{
	const GcBuiltin *b = gc_builtin(funcid);

	return b->safe_if == GC_IF_TEXTS ? are_texts(args, true) : gc_are_harmless(b, args);
}

/* A call of a function or an operator. */
static GcRaises
call_raises(Node *node, void *context)
{
	const FuncExpr *f = (const FuncExpr *) node;
	const OpExpr *op = (const OpExpr *) node;

	switch (nodeTag(node))
	{
		case T_FuncExpr:
			if (f->funcvariadic || !are_harmless(f->funcid, f->args))
				return GC_RAISES_ITSELF;
			break;
		case T_OpExpr:
			if (!are_harmless(get_opcode(op->opno), op->args))
				return GC_RAISES_ITSELF;
			break;
		case T_ScalarArrayOpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			break;
		case T_CoerceViaIO:
			return has_one_spelling((Node *) ((const CoerceViaIO *) node)->arg) &&
				((const CoerceViaIO *) node)->resulttype == TEXTOID ? GC_RAISES_BELOW : GC_RAISES_ITSELF;
		default:
			return GC_RAISES_UNKNOWN;
	}
	if ((OidIsValid(exprInputCollation(node)) && !gc_collation_deterministic(exprInputCollation(node))) ||
		check_functions_in_node(node, is_other_call, NULL))
		return GC_RAISES_ITSELF;
	return GC_RAISES_BELOW;
}

bool
gc_takes_any_texts(Expr *expr)
{
	return !gc_may_raise((Node *) expr, call_raises, NULL);
}

Expr *
gc_as_text(Expr *arg)
{
	CoerceViaIO *cast;

	if (!has_one_spelling((Node *) arg))
		return arg;
	cast = makeNode(CoerceViaIO);
	cast->arg = arg;
	cast->resulttype = TEXTOID;
	cast->resultcollid = DEFAULT_COLLATION_OID;
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return (Expr *) cast;
}

/*
 * An argument of a call as one that textcat() takes; NULL: it has blanks there that a text of it
 * has not, or is no constant.
 */
static Expr *
textcat_argument(Expr *arg)
{
	const Oid	type = gc_base_type(exprType((Node *) arg));
	const Const *c = (const Const *) arg;

	/* A literal is a C string where the function takes any type. */
	if (type == UNKNOWNOID && IsA(arg, Const))
		return (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, c->constisnull ? (Datum) 0 :
								  CStringGetTextDatum(DatumGetCString(c->constvalue)), c->constisnull, false);
	return type == UNKNOWNOID || type == BPCHAROID ? NULL : gc_as_text(arg);
}

/* A call of another function of texts. */
static Expr *
call_like(const FuncExpr *f, Oid funcid, List *args)
{
	return (Expr *) makeFuncExpr(funcid, TEXTOID, args, f->funccollid, f->inputcollid, COERCE_EXPLICIT_CALL);
}

/* A text without the separator that it begins with; the empty text itself. */
static Expr *
without_first(Expr *joined, const Const *separator)
{
	const text *t = DatumGetTextPP(separator->constvalue);
	const int	from = pg_mbstrlen_with_len(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)) + 1;
	Const	   *start = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(from), false, true);

	return call_like((FuncExpr *) joined, F_SUBSTR_TEXT_INT4, list_make2(joined, start));
}

/*
 * concat_ws() as concat() of texts that begin with the separator, of which the first one is taken away.  A NULL has
 * none then, as concat_ws() wants it.
 */
static bool
split_by_separator(FuncExpr *f, Expr *parts[2])
{
	const Const *separator = linitial(f->args);
	List	   *args = NIL;
	ListCell   *lc;

	if (!IsA(separator, Const) || separator->constisnull || f->funcvariadic || list_length(f->args) < 3 ||
		!are_texts(f->args, true))
		return false;
	for_each_from(lc, f->args, 1)
	{
		Expr	   *arg = textcat_argument(lfirst(lc));

		if (arg == NULL)
			return false;
		args = lappend(args, call_like(f, F_TEXTCAT, list_make2((void *) separator, arg)));
	}
	parts[1] = llast(args);
	args = list_truncate(args, list_length(args) - 1);
	parts[0] = list_length(args) == 1 ? linitial(args) : call_like(f, F_CONCAT, args);
	return true;
}

bool
gc_is_concatenation(Expr *expr, Expr *parts[2])
{
	FuncExpr   *f = (FuncExpr *) expr;
	FuncExpr   *head;

	if (IsA(expr, OpExpr) && list_length(((OpExpr *) expr)->args) == 2)
	{
		parts[0] = linitial(((OpExpr *) expr)->args);
		parts[1] = lsecond(((OpExpr *) expr)->args);
		return get_opcode(((OpExpr *) expr)->opno) == F_TEXTCAT || IsA(parts[0], Const) || IsA(parts[1], Const);
	}
	if (IsA(expr, FuncExpr) && f->funcid == F_CONCAT_WS)
		return split_by_separator(f, parts);
	if (!IsA(expr, FuncExpr) || f->funcid != F_CONCAT || f->funcvariadic || list_length(f->args) < 2)
		return false;
	/* concat() of all but the last argument is one of its arguments. */
	head = makeNode(FuncExpr);
	*head = *f;
	head->args = list_copy_head(f->args, list_length(f->args) - 1);
	parts[0] = (Expr *) head;
	parts[1] = gc_as_text(llast(f->args));
	return true;
}

Expr *
gc_concatenation_of(const Expr *expr, Expr *const parts[2])
{
	Expr	   *copy = copyObject((Expr *) expr);
	List	   *args = list_make2(parts[0], parts[1]);

	if (IsA(copy, FuncExpr) && ((FuncExpr *) copy)->funcid == F_CONCAT_WS)
		return without_first(call_like((FuncExpr *) copy, F_CONCAT, args), linitial(((FuncExpr *) copy)->args));
	if (IsA(copy, OpExpr))
		((OpExpr *) copy)->args = args;
	else
		((FuncExpr *) copy)->args = args;
	return copy;
}

/* concat() and concat_ws() of texts depend on no setting: || stands for them where mutable functions are looked for. */
static Node *
put_textcat(Node *node, void *context)
{
	Node	   *copy;

	if (node == NULL)
		return NULL;
	copy = expression_tree_mutator(node, put_textcat, context);
	if (IsA(node, FuncExpr) && !((FuncExpr *) node)->funcvariadic && are_texts(((FuncExpr *) node)->args, false) &&
		(((FuncExpr *) node)->funcid == F_CONCAT || ((FuncExpr *) node)->funcid == F_CONCAT_WS))
		((FuncExpr *) copy)->funcid = F_TEXTCAT;
	return copy;
}

Node *
gc_without_concat(Node *node)
{
	return put_textcat(node, NULL);
}
