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

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "builder.h"
#include "dates.h"
#include "instants.h"
#include "source.h"
#include "../columns/pgkinds.h"

/* No query level has as many relations. */
#define LEVEL_DISTANCE	1000

/* Days of half a century: many timestamps are of no more. */
#define MOST_DATES		18250

/* The only Var of an expression, if its type has few enough values. */
static Var *
single_var(Expr *expr)
{
	Var		   *var = NULL;
	List	   *vars;
	ListCell   *lc;

	/* HAVING of a subquery has them. */
	if (contain_agg_clause((Node *) expr))
		return NULL;
	vars = pull_var_clause((Node *) expr, PVC_RECURSE_PLACEHOLDERS);
	foreach(lc, vars)
	{
		if (var && !equal(var, lfirst(lc)))
			return NULL;
		var = lfirst(lc);
	}
	if (var == NULL || var->varattno <= 0 || var->varlevelsup > 0)
		return NULL;
	if (GC_KIND_IS_INSTANT(gc_type_kind(var->vartype)))
		return gc_depends_on_date(expr) ? var : NULL;
	return gc_kinds[gc_type_kind(var->vartype)].enumerable ? var : NULL;
}

static bool
is_user_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * A user may replace a function, or alter a domain: results that depend on one are not kept
 * for later.
 */
static bool
calls_user_function(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || check_functions_in_node(node, is_user_function, NULL))
		return true;
	return expression_tree_walker(node, calls_user_function, context);
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
 * Hide every Var in a relabelling that changes nothing.  Otherwise setrefs.c would
 * find an expression that is also an output (a group key, say) in the scan tuple,
 * and replace all of it by a reference to that.
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

static bool
contains_placeholder(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, PlaceHolderVar) || expression_tree_walker(node, contains_placeholder, context);
}

/* Put one Var in the place of every Var: which column it is does not matter to f(x). */
static Node *
forget_vars(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		return (Node *) makeVar(1, 1, var->vartype, var->vartypmod, var->varcollid, 0);
	}
	return expression_tree_mutator(node, forget_vars, context);
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

/* Hashes of expressions that were asked for last.  To make one takes longer than all else that is done for a table. */
#define KEPT_HASHES		64
#define MOST_KEPT_TEXT	8192

typedef struct KeptHash
{
	char	   *text;			/* NULL: none yet */
	GcHash		hash;
} KeptHash;

static KeptHash kept_hashes[KEPT_HASHES];

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
 * What an expression is known by in all sessions.  A user must not be able to make two
 * expressions with equal hashes, hence the cryptographic function.  False: it failed.
 */
static bool
hash_expression(Expr *expr, GcHash *hash)
{
	char	   *text = nodeToString(forget_vars((Node *) expr, NULL));
	KeptHash   *kept;
	char	   *copy;

	strip_locations(text);
	kept = &kept_hashes[hash_bytes((const unsigned char *) text, strlen(text)) % KEPT_HASHES];
	if (kept->text && strcmp(kept->text, text) == 0)
	{
		*hash = kept->hash;
		return true;
	}
	if (!hash_text(text, hash))
		return false;
	/* A long list would stay for the session's life. */
	if (strlen(text) > MOST_KEPT_TEXT)
		return true;
	copy = MemoryContextStrdup(TopMemoryContext, text);
	if (kept->text)
		pfree(kept->text);
	kept->text = copy;
	kept->hash = *hash;
	return true;
}

Var *
gc_lookup_argument(GcTranslation *tr, Expr *expr)
{
	Var		   *var = single_var(expr);
	GcKind		kind = gc_type_kind(exprType((Node *) expr));

	if (var == NULL || equal(var, expr) || kind == GC_KIND_NONE)
		return NULL;
	if (contain_volatile_functions((Node *) expr) || contain_subplans((Node *) expr) ||
		expression_returns_set((Node *) expr))
		return NULL;
	if (gc_looks_at_storage((Node *) expr))
		return NULL;
	/* It may be NULL where its expression would not be. */
	if (tr->has_optional && contains_placeholder((Node *) expr, NULL))
		return NULL;
	if (GC_KIND_IS_CODE(kind) && (!gc_collation_deterministic(exprCollation((Node *) expr)) ||
							getBaseType(exprType((Node *) expr)) == BPCHAROID))
		return NULL;
	if (tr->leaky_forbidden && contain_leaked_vars((Node *) expr))
	{
		gc_refuse(tr, "row security is in effect and a function is not leakproof");
		return NULL;
	}
	return var;
}

int
gc_refuse_call(GcTranslation *tr, const char *what, const char *name, List *args)
{
	List	   *vars = pull_var_clause((Node *) args, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	ListCell   *lc;

	if (vars == NIL)
		return gc_refuse(tr, "%s %s is not supported", what, name);
	foreach(lc, vars)
	{
		if (!equal(lfirst(lc), linitial(vars)))
			return gc_refuse(tr, "%s %s of several columns is not supported", what, name);
	}
	return gc_refuse(tr, "%s %s of type %s is not supported", what, name, format_type_be(exprType(linitial(vars))));
}

static double
distinct_values(GcTranslation *tr, Var *var)
{
	VariableStatData stats;
	bool		isdefault;
	double		n;

	examine_variable(tr->root, (Node *) var, 0, &stats);
	n = get_variable_numdistinct(&stats, &isdefault);
	ReleaseVariableStats(stats);
	return n;
}

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
static Node *
level_vars(GcTranslation *tr, Node *node)
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

/* As gc_origin_column() will go on from a column of groups; GC_NO_EXPR: it will not. */
static int
group_origin(const GcTranslation *tr, const GcPColumn *c)
{
	if (c->agg == GC_NONE)
		return list_nth_int(tr->group_keys[tr->groups_of[c->input] - 1], c->attnum);
	if (tr->aggs[c->agg].fn != GC_AGG_MIN && tr->aggs[c->agg].fn != GC_AGG_MAX)
		return GC_NO_EXPR;
	return tr->aggs[c->agg].arg;
}

bool
gc_lookup_enumerable(const GcTranslation *tr, int arg)
{
	if (GC_KIND_IS_CODE(tr->pexprs[arg].kind))
		return true;
	while (arg >= 0)
	{
		const GcExpr *e = &tr->pexprs[arg];

		if (e->op == GC_OP_PAYLOAD)
			arg = tr->payloads[e->ref].expr;
		else if (e->op != GC_OP_COLUMN)
			return false;
		else if (tr->groups_of[tr->columns[e->ref].input] == 0)
			return true;
		else
			arg = group_origin(tr, &tr->columns[e->ref]);
	}
	return false;
}

int
gc_lookup_codes(GcTranslation *tr, int arg, int nluts)
{
	const GcExpr *e = &tr->pexprs[arg];
	int			column;

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
		tr->nexprs--;
	}
	return column;
}

int
gc_lookup_table(GcTranslation *tr, Expr *expr, Var *var, int arg)
{
	GcPlanLut	lut = {.type = GC_LUT_EXPR,.to_space = GC_SPACE_NONE};
	int			e;

	lut.space = tr->space[arg];
	lut.attno = gc_scan_attno(tr, level_vars(tr, (Node *) var));
	lut.argtype = var->vartype;
	lut.cacheable = hash_expression(expr, &lut.hash) && !contain_mutable_functions(gc_without_prints(expr)) &&
		!gc_contains_param((Node *) expr, NULL) && !calls_user_function((Node *) expr, NULL);
	lut.expr = gc_exec_expr(tr, (Expr *) hide_vars(level_vars(tr, (Node *) expr), NULL));
	e = gc_build_lut(tr, arg, gc_type_kind(exprType((Node *) expr)), &lut);
	if (e >= 0)
	{
		const double values = distinct_values(tr, var);

		tr->lut_values[tr->pexprs[e].ref] = GC_KIND_IS_INSTANT(gc_type_kind(var->vartype)) ? Min(values, MOST_DATES) : values;
	}
	return e;
}

static int
translate_to(GcTranslation *tr, int expr, uint16 space, GcLutType type)
{
	GcPlanLut	lut = {.type = type,.expr = -1};

	if (expr < 0 || tr->space[expr] == space || tr->pexprs[expr].op == GC_OP_NULL)
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
	if (rank.space == GC_SPACE_NONE || gc_kinds[tr->pexprs[expr].kind].opaque || getBaseType(type) == BPCHAROID ||
		!gc_collation_deterministic(collation))
		return gc_refuse(tr, "the order of two values of type %s is not supported here", format_type_be(type));
	/* A table of its own: one that was made before lacks what has been added to the dictionary since. */
	rank.rank = tr->nluts + 1;
	e = gc_build_lut(tr, expr, GC_INT4, &rank);
	*table = e < 0 ? GC_NO_EXPR : tr->pexprs[e].ref;
	return e;
}
