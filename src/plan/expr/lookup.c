/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Expressions of one Var as lookup tables, which PostgreSQL fills.
 *
 * At execution there is one entry per value that the Var can have.  So its type must have
 * few values: a text with a dictionary, a date, a small integer.  Of a timestamp there is one per date, if
 * the expression depends on that alone (dates.c).
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "lookup.h"

#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../base/builder.h"
#include "../base/query_summary.h"
#include "instants.h"
#include "origin.h"
#include "../base/source.h"
#include "functions.h"
#include "raises.h"
#include "../../columns/encode/pgkinds.h"

/* No query level has as many relations. */
#define LEVEL_DISTANCE	1000

/* Days of half a century: many timestamps are of no more. */
#define MOST_DATES		18250

int
gc_lookup_vars(Expr *expr, Var *vars[2])
{
	int			n = 0;
	ListCell   *lc;

	/* Aggregates and windows: an expression over a subquery's groups, or its rows with windows, may have them. */
	if (contain_agg_clause((Node *) expr) || contain_window_function((Node *) expr))
		return 0;
	foreach(lc, pull_var_clause((Node *) expr, PVC_RECURSE_PLACEHOLDERS))
	{
		Var		   *var = lfirst(lc);

		if ((n > 0 && equal(var, vars[0])) || (n > 1 && equal(var, vars[1])))
			continue;
		if (n == 2 || var->varattno <= 0 || var->varlevelsup > 0)
			return 3;
		vars[n++] = var;
	}
	return n;
}

/* The only Var of an expression, if its type has few enough values. */
static Var *
single_var(Expr *expr)
{
	Var		   *vars[2];
	Var		   *var;

	if (gc_lookup_vars(expr, vars) != 1)
		return NULL;
	var = vars[0];
	if (GC_KIND_IS_INSTANT(gc_type_kind(var->vartype)))
		return gc_depends_on_date(expr) ? var : NULL;
	return gc_kinds[gc_type_kind(var->vartype)].enumerable ? var : NULL;
}

bool
gc_contains_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return true;
	return expression_tree_walker(node, gc_contains_param, context);
}

/*
 * Hide every Var in a relabelling that changes nothing.  Otherwise setrefs.c would find an
 * expression that is also an output (a group key, say) in the scan tuple.  It would replace all
 * of it by a reference to that.
 */
static Node *
hide_vars(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		RelabelType *r = makeRelabelType(copyObject((Expr *) node), exprType(node), -1,
										 exprCollation(node), COERCE_IMPLICIT_CAST);

		return (Node *) r;
	}
	return expression_tree_mutator(node, hide_vars, context);
}

/* Is there a PlaceHolderVar below? */
static bool
contains_placeholder(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, PlaceHolderVar) || expression_tree_walker(node, contains_placeholder, context);
}

/* Put one Var in the place of every Var, or of the second one another: which column it is does not matter to f(x). */
static Node *
forget_vars(Node *node, void *second)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		return (Node *) makeVar(1, second && equal(var, second) ? 2 : 1, var->vartype, var->vartypmod, var->varcollid,
								0);
	}
	return expression_tree_mutator(node, forget_vars, second);
}

/* Take the places in the statement's text out of an expression that is written as text. */
static void
strip_locations(char *text)
{
	static const char field[] = " :location ";
	char	   *to = text;

	for (const char *from = text; *from;)
	{
		if (strncmp(from, field, strlen(field)) == 0)
		{
			from += strlen(field);
			from += strspn(from, "-0123456789");
		}
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/*
 * Hashes of expressions that were asked for last.  To make one takes longer than all else that is done for a table,
 * and most of that is to write the expression.  So they are found by the expression.
 */
#define KEPT_HASHES		64
#define MOST_KEPT_TEXT	32768

typedef struct KeptHash
{
	MemoryContext context;		/* of the expression; NULL: none yet */
	Expr	   *expr;
	GcHash		hash;
} KeptHash;

static KeptHash kept_hashes[KEPT_HASHES];

/* Compute an expression's place: two that are equal() have one place. */
static bool
place_walker(Node *node, uint64 *place)
{
	if (node == NULL)
		return false;
	*place = gc_summary_mix(*place, nodeTag(node));
	if (IsA(node, OpExpr))
		*place = gc_summary_mix(*place, ((OpExpr *) node)->opno);
	else if (IsA(node, FuncExpr))
		*place = gc_summary_mix(*place, ((FuncExpr *) node)->funcid);
	else if (IsA(node, Const))
	{
		const Const *c = (const Const *) node;

		*place = gc_summary_mix(*place, c->consttype);
		if (c->constbyval && !c->constisnull)
			*place = gc_summary_mix(*place, c->constvalue);
		else if (c->constlen == -1 && !c->constisnull)
			*place = gc_summary_mix(*place, hash_bytes((const unsigned char *) DatumGetPointer(c->constvalue), VARSIZE_ANY(c->constvalue)));
	}
	return expression_tree_walker(node, place_walker, place);
}

/* A hash of the text: the beginning of its SHA-256.  False: it could not be computed. */
static bool
hash_text(const char *text, GcHash *hash)
{
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(PG_SHA256);
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	bool		ok;

	ok = ctx && pg_cryptohash_init(ctx) >= 0 &&
		pg_cryptohash_update(ctx, (const uint8 *) text, strlen(text)) >= 0 &&
		pg_cryptohash_final(ctx, digest, sizeof(digest)) >= 0;
	pg_cryptohash_free(ctx);
	if (ok)
		memcpy(hash, digest, sizeof(GcHash));
	return ok;
}

/*
 * The hash that all sessions know an expression by.  A user must not be able to make two
 * expressions with equal hashes, hence the cryptographic function.  False: it failed.
 */
static bool
hash_expression(Expr *expr, Var *second, GcHash *hash)
{
	Expr	   *named = (Expr *) forget_vars((Node *) expr, second);
	uint64		place = 0;
	KeptHash   *kept;
	char	   *text;
	MemoryContext old;

	(void) place_walker((Node *) named, &place);
	kept = &kept_hashes[place % KEPT_HASHES];
	if (kept->expr && equal(kept->expr, named))
	{
		*hash = kept->hash;
		return true;
	}
	text = nodeToString(named);
	strip_locations(text);
	if (!hash_text(text, hash))
		return false;
	/* A long list would stay for the session's life. */
	if (strlen(text) > MOST_KEPT_TEXT)
		return true;
	kept->expr = NULL;
	if (kept->context)
		MemoryContextReset(kept->context);
	else
		kept->context = AllocSetContextCreate(TopMemoryContext, "gpuconc expression", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(kept->context);
	kept->expr = copyObject(named);
	MemoryContextSwitchTo(old);
	kept->hash = *hash;
	return true;
}

bool
gc_is_tabulated(GcTranslation *tr, Expr *expr)
{
	GcKind		kind = gc_type_kind(exprType((Node *) expr));

	if (IsA(expr, Var) || kind == GC_KIND_NONE)
		return false;
	if (contain_volatile_functions((Node *) expr) || contain_subplans((Node *) expr) ||
		expression_returns_set((Node *) expr))
		return false;
	if (gc_looks_at_storage((Node *) expr))
		return false;
	/* A placeholder may be NULL where its expression would not be. */
	if (tr->has_optional && contains_placeholder((Node *) expr, NULL))
		return false;
	if (GC_KIND_IS_CODE(kind) && (!gc_collation_deterministic(exprCollation((Node *) expr)) ||
							gc_base_type(exprType((Node *) expr)) == BPCHAROID))
		return false;
	if (tr->leaky_forbidden && contain_leaked_vars((Node *) expr))
	{
		gc_refuse(tr, "row security is in effect and a function is not leakproof");
		return false;
	}
	return true;
}

Var *
gc_lookup_argument(GcTranslation *tr, Expr *expr)
{
	Var		   *var = single_var(expr);

	return var && gc_is_tabulated(tr, expr) ? var : NULL;
}

int
gc_refuse_call(GcTranslation *tr, const char *what, const char *name, List *args)
{
	List	   *vars = pull_var_clause((Node *) args,
									   PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	ListCell   *lc;

	if (vars == NIL)
		return gc_refuse(tr, "%s %s is not supported", what, name);
	foreach(lc, vars)
	{
		if (!equal(lfirst(lc), linitial(vars)))
			return gc_refuse(tr, "%s %s of several columns is not supported", what, name);
	}
	return gc_refuse(tr, "%s %s of %s %s is not supported", what, name,
					 GC_KIND_IS_INSTANT(gc_type_kind(exprType(linitial(vars)))) ? "more than the date of type" : "type",
					 format_type_be(exprType(linitial(vars))));
}

double
gc_var_values(GcTranslation *tr, Var *var)
{
	VariableStatData stats;
	bool		isdefault;
	double		n;

	examine_variable(tr->root, (Node *) var, 0, &stats);
	n = get_variable_numdistinct(&stats, &isdefault);
	ReleaseVariableStats(stats);
	return n;
}

/* Give Vars of another level numbers that no relation of this one has. */
static Node *
move_vars(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = copyObject((Var *) node);

		var->varno += *(int *) context;
		return (Node *) var;
	}
	return expression_tree_mutator(node, move_vars, context);
}

/*
 * Query levels number their relations alike, and setrefs.c finds a Var in the scan tuple by its
 * numbers alone.  So the Vars of each level below the node's own are moved to numbers of their own.
 */
Node *
gc_level_vars(GcTranslation *tr, Node *node)
{
	int			distance;

	if (tr->root == tr->top)
		return node;
	tr->lower = list_append_unique_ptr(tr->lower, tr->root);
	distance = LEVEL_DISTANCE;
	for (int i = 0; list_nth(tr->lower, i) != tr->root; i++)
		distance += LEVEL_DISTANCE;
	return move_vars(node, &distance);
}

int
gc_lookup_codes(GcTranslation *tr, int arg, int nluts)
{
	const GcExpr *e = &tr->pexprs[arg];
	GcSeenColumn seen;
	int			column;

	if (!GC_KIND_IS_CODE(e->kind) && gc_is_too_wide(tr, arg))
		return gc_refuse(tr, gc_seen(tr, arg, &seen) && gc_has_infinite(e->kind, &seen) ? "an expression would have to be tabulated for infinite dates" :
						 "an expression would have to be tabulated for too many values");
	if (e->kind == GC_TIMESTAMPTZ)
		arg = gc_build_local(tr, arg, NULL);
	if (arg < 0 || GC_KIND_IS_INSTANT(tr->pexprs[arg].kind))
		return gc_build_cast(tr, arg, GC_DATE);
	if (e->op != GC_OP_LUT || tr->plan->luts[e->ref].type != GC_LUT_UNIFY)
		return arg;
	column = e->arg[0];
	if (e->ref >= nluts && e->ref == tr->nluts - 1 && arg == tr->nexprs - 1)
	{
		tr->nluts--;
		gc_builder_drop_exprs(tr, arg);
	}
	return column;
}

/* An expression of Vars as the executor is to have it. */
static Expr *
executed_expr(GcTranslation *tr, Expr *expr)
{
	return (Expr *) hide_vars(gc_level_vars(tr, (Node *) expr), NULL);
}

int
gc_build_table(GcTranslation *tr, Expr *expr, Var *second, Expr *executed, int arg, GcPlanLut *lut, double values)
{
	GcSeenColumn seen;
	QualCost	cost;
	int			e;

	lut->type = GC_LUT_EXPR;
	lut->of_rows = gc_runs_users_code((Node *) expr, false);
	if (lut->of_rows && !gc_is_in_rows(tr, arg))
		return gc_refuse(tr,
						 "a function that is neither built in nor leakproof would see values that no row need have");
	lut->to_space = GC_SPACE_NONE;
	lut->cacheable = hash_expression(expr, second, &lut->hash) &&
		!contain_mutable_functions(gc_without_concat(gc_without_stable(expr, &lut->zoned))) &&
		!gc_sees_zone((Node *) expr, NULL) && !gc_contains_param((Node *) expr, NULL) &&
		!gc_runs_users_code((Node *) expr, true);
	lut->expr = gc_exec_expr(tr, executed);
	/* An entry for each integer or date of the column's range, unless only those of rows are wanted. */
	if (!lut->of_rows && !GC_KIND_IS_CODE(tr->pexprs[arg].kind) && gc_seen(tr, arg, &seen) && seen.any)
		values = (double) seen.max - (double) seen.min + 1;
	e = gc_build_lut(tr, arg, gc_type_kind(exprType((Node *) expr)), lut);
	if (e >= 0)
	{
		cost_qual_eval_node(&cost, (Node *) executed, tr->root);
		tr->lut_values[tr->pexprs[e].ref] = values;
		tr->lut_operators[tr->pexprs[e].ref] = cpu_operator_cost > 0 ? cost.per_tuple / cpu_operator_cost : 0;
	}
	return e;
}

int
gc_lookup_table(GcTranslation *tr, Expr *expr, Var *var, int arg)
{
	const double values = gc_var_values(tr, var);
	GcPlanLut	lut = {.space = tr->space[arg],.argtype = var->vartype};

	lut.attno = gc_scan_attno(tr, gc_level_vars(tr, (Node *) var));
	return gc_build_table(tr, expr, NULL, executed_expr(tr, expr), arg, &lut,
						  GC_KIND_IS_INSTANT(gc_type_kind(var->vartype)) ? Min(values, MOST_DATES) : values);
}

/* Codes of one dictionary as codes of another, by a lookup table. */
static int
translate_to(GcTranslation *tr, int expr, uint16 space, GcLutType type)
{
	GcPlanLut	lut = {.type = type,.expr = -1};

	/* A text without a dictionary is always NULL: the other side may keep its codes. */
	if (expr < 0 || tr->space[expr] == space || space == GC_SPACE_NONE || tr->pexprs[expr].op == GC_OP_NULL)
		return expr;
	lut.space = tr->space[expr];
	lut.to_space = space;
	return gc_build_lut(tr, expr, tr->pexprs[expr].kind, &lut);
}

int
gc_translate_space(GcTranslation *tr, int expr, uint16 space)
{
	return translate_to(tr, expr, space, GC_LUT_TRANSLATE);
}

int
gc_add_to_space(GcTranslation *tr, int expr, uint16 space)
{
	return translate_to(tr, expr, space, GC_LUT_ADD);
}

int
gc_text_rank(GcTranslation *tr, Oid type, Oid collation, int expr, int *table)
{
	GcPlanLut	rank = {.type = GC_LUT_RANK,.space = tr->space[expr],.to_space = GC_SPACE_NONE,.expr = -1,
	.collation = collation,.argtype = type};
	int			e;

	if (*table >= 0)
		return gc_build_expr(tr, GC_OP_LUT, GC_INT4, expr, -1, -1, *table);
	if (rank.space == GC_SPACE_NONE || gc_kinds[tr->pexprs[expr].kind].opaque || gc_base_type(type) == BPCHAROID ||
		!gc_collation_deterministic(collation))
		return gc_refuse(tr, "the order of two values of type %s is not supported here", format_type_be(type));
	/* A table of its own: one that was made before lacks what has been added to the dictionary since. */
	rank.rank = tr->nluts + 1;
	e = gc_build_lut(tr, expr, GC_INT4, &rank);
	*table = e < 0 ? GC_NO_EXPR : tr->pexprs[e].ref;
	return e;
}
