/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  Expressions of two columns of few values as lookup tables, with an entry for each pair of texts.
 *
 * The two are texts.  An integer is one, too: as it is spelled, it has a dictionary, and the table's expression reads
 * it again.  A concatenation of more is split before its last text.  What comes before is a table, whose results have a
 * dictionary, and its codes and the last text's are a pair again.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "lookup.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "../base/builder.h"
#include "origin.h"
#include "expr.h"
#include "functions.h"
#include "../../columns/encode/pgkinds.h"

/* Does a Var have texts, or with or_integers integers that can be spelled and read again? */
static bool
has_texts(const Var *var, bool or_integers)
{
	return GC_KIND_IS_CODE(gc_type_kind(var->vartype)) ||
		(or_integers && (var->vartype == INT2OID || var->vartype == INT4OID));
}

bool
gc_lookup_pair(GcTranslation *tr, Expr *expr, bool or_integers, Var *vars[2])
{
	return gc_lookup_vars(expr, vars) == 2 && has_texts(vars[0], or_integers) && has_texts(vars[1], or_integers) &&
		gc_takes_any_texts(expr) && gc_is_tabulated(tr, expr);
}

Expr *
gc_pair_part(Var *var)
{
	return GC_KIND_IS_CODE(gc_type_kind(var->vartype)) ? (Expr *) var : gc_as_text((Expr *) var);
}

/* The code of a text, or the number of codes where it is NULL. */
static int
code_or_count(GcTranslation *tr, int code)
{
	int			count = gc_build_count(tr, tr->space[code], 0);

	return count < 0 ? count
		: gc_build_expr(tr, GC_OP_COALESCE, GC_INT8, gc_build_cast(tr, code, GC_INT8), count, -1, -1);
}

/* Values of a text column, by what is cached of it, else by statistics; or of a lookup table. */
static double
text_values(GcTranslation *tr, Expr *text, int code)
{
	const GcExpr *e = &tr->pexprs[code];
	GcSeenColumn seen;

	if (e->op == GC_OP_LUT && tr->plan->luts[e->ref].type == GC_LUT_EXPR)
		return tr->lut_values[e->ref];
	return gc_seen(tr, code, &seen) ? seen.values : gc_var_values(tr, (Var *) text);
}

/* Two codes as the number of a pair. */
static int
pair_of(GcTranslation *tr, const int codes[2], double pairs)
{
	const uint16 second = tr->space[codes[1]];
	int			e;

	if (tr->space[codes[0]] == GC_SPACE_NONE || second == GC_SPACE_NONE)
		return GC_NO_EXPR;
	if (pairs > GC_MAX_PAIRS)
		return gc_refuse(tr, "an expression is of two texts that have too many values together");
	e = code_or_count(tr, codes[0]);
	e = e < 0 ? e : gc_build_expr(tr, GC_OP_MUL, GC_INT8, e, gc_build_count(tr, second, 1), -1, -1);
	e = e < 0 ? e : gc_build_expr(tr, GC_OP_ADD, GC_INT8, e, code_or_count(tr, codes[1]), -1, -1);
	return tr->reason ? GC_NO_EXPR : e;
}

/* Stand-ins for a part in the table's expression: as it is executed, and as it is known by in all sessions. */
typedef struct StandIn
{
	Expr	   *executed;
	Expr	   *named;
	int			place;			/* where it is in the scan tuple */
} StandIn;

/*
 * A part's stand-ins: executed by PostgreSQL, named in the table's key, and its place in the scan.
 */
static StandIn
stand_in(GcTranslation *tr, Expr *part, int number)
{
	/* No expression of the query is such a relabelling, so this place is of the table alone. */
	RelabelType *relabel = makeRelabelType((Expr *) gc_level_vars(tr, (Node *) part), exprType((Node *) part), -1,
										   exprCollation((Node *) part), COERCE_IMPLICIT_CAST);
	StandIn		s = {.executed = (Expr *) relabel};

	s.named = (Expr *) makeVar(1, number + 1, exprType((Node *) part), -1, exprCollation((Node *) part), 0);
	s.place = gc_scan_attno(tr, IsA(part, Var) ? (Node *) relabel->arg : (Node *) relabel);
	return s;
}

/* Is a part's dictionary kept?  Then a table of it may be. */
static bool
is_kept(const GcTranslation *tr, int code)
{
	return code < 0 || tr->pexprs[code].op != GC_OP_LUT || tr->plan->luts[tr->pexprs[code].ref].cacheable;
}

/* The table of what stands for the parts; codes[i] is GC_NO_EXPR where a part is without Vars. */
static int
table_of(GcTranslation *tr, Expr *named, Expr *executed, const StandIn parts[2], const int codes[2], double values)
{
	const bool	pair = codes[0] >= 0 && codes[1] >= 0;
	const int	first = codes[0] < 0;
	GcPlanLut	lut = {.argtype = TEXTOID,.space = tr->space[codes[first]],.attno = parts[first].place};
	int			e = codes[first];

	if (pair)
	{
		lut.second = tr->space[codes[1]];
		lut.second_attno = parts[1].place;
		lut.kinds[0] = tr->pexprs[codes[0]].kind;
		lut.kinds[1] = tr->pexprs[codes[1]].kind;
		e = pair_of(tr, codes, values);
	}
	e = e < 0 ? e : gc_build_table(tr, named, pair ? (Var *) parts[1].named : NULL, executed, e, &lut, values);
	if (e >= 0 && (!is_kept(tr, codes[0]) || !is_kept(tr, codes[1])))
		tr->plan->luts[tr->pexprs[e].ref].cacheable = false;
	return e;
}

/*-------------------------------------------------------------------------
 * Any expression of two columns
 *-------------------------------------------------------------------------
 */

/* In the place of each Var, what stands for it. */
typedef struct Replacement
{
	Var *const *vars;
	Expr	   *with[2];
} Replacement;

/* Put both stand-ins in the places of the two columns. */
static Node *
replace_vars(Node *node, void *context)
{
	const Replacement *r = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
		return copyObject((Node *) r->with[equal(node, r->vars[1]) ? 1 : 0]);
	return expression_tree_mutator(node, replace_vars, context);
}

/* An integer of the text that it is spelled as; a text itself. */
static Expr *
read_again(const Var *var, Expr *text)
{
	CoerceViaIO *cast;

	if (exprType((Node *) text) == var->vartype)
		return text;
	cast = makeNode(CoerceViaIO);
	cast->arg = text;
	cast->resulttype = var->vartype;
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return (Expr *) cast;
}

int
gc_pair_table(GcTranslation *tr, Expr *expr, Var *const vars[2], const int codes[2])
{
	Replacement executed = {.vars = vars};
	Replacement named = {.vars = vars};
	StandIn		parts[2];
	double		values = 1;

	for (int i = 0; i < 2; i++)
	{
		Expr	   *part = gc_pair_part(vars[i]);

		parts[i] = stand_in(tr, part, i);
		executed.with[i] = read_again(vars[i], parts[i].executed);
		named.with[i] = read_again(vars[i], parts[i].named);
		values *= text_values(tr, part, codes[i]) + 1;
	}
	return table_of(tr, (Expr *) replace_vars((Node *) expr, &named), (Expr *) replace_vars((Node *) expr, &executed),
					parts, codes, values);
}

/*-------------------------------------------------------------------------
 * Concatenations
 *-------------------------------------------------------------------------
 */

/* Does the table's own expression raise no error?  What its parts do is seen when these are translated. */
static bool
takes_any_parts(const Expr *expr, Expr *const parts[2])
{
	Expr	   *named[2];

	for (int i = 0; i < 2; i++)
		named[i] = !gc_has_vars((Node *) parts[i]) ? parts[i] :
			(Expr *) makeVar(1, i + 1, exprType((Node *) parts[i]), -1, exprCollation((Node *) parts[i]), 0);
	return gc_takes_any_texts(gc_concatenation_of(expr, named));
}

bool
gc_lookup_concatenation(GcTranslation *tr, Expr *expr, Expr *parts[2])
{
	Var		   *vars[2];

	if (gc_lookup_vars(expr, vars) < 2 || !gc_is_concatenation(expr, parts) || !takes_any_parts(expr, parts) ||
		!gc_is_tabulated(tr, expr))
		return false;
	/* A varchar is the text itself. */
	for (int i = 0; i < 2; i++)
	{
		RelabelType *relabel = (RelabelType *) parts[i];

		if (IsA(relabel, RelabelType) && IsA(relabel->arg, Var) &&
			gc_base_type(exprType((Node *) relabel->arg)) != BPCHAROID)
			parts[i] = relabel->arg;
	}
	return true;
}

int
gc_concatenation_table(GcTranslation *tr, Expr *expr, Expr *const parts[2], const int codes[2])
{
	Expr	   *executed[2] = {parts[0], parts[1]};
	Expr	   *named[2] = {parts[0], parts[1]};
	StandIn		stand_ins[2] = {{0}};
	const bool	pair = codes[0] >= 0 && codes[1] >= 0;
	double		values = 1;

	for (int i = 0; i < 2; i++)
	{
		if (codes[i] < 0)
			continue;
		stand_ins[i] = stand_in(tr, parts[i], i);
		executed[i] = stand_ins[i].executed;
		named[i] = stand_ins[i].named;
		values *= text_values(tr, parts[i], codes[i]) + (pair ? 1 : 0);
	}
	return table_of(tr, gc_concatenation_of(expr, named), gc_concatenation_of(expr, executed), stand_ins, codes,
					values);
}
