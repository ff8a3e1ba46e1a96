/*-------------------------------------------------------------------------
 *
 * raises.h
 *	  Does anything in an expression raise an error, or run a user's code (users_code.c)?  Private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RAISES_H
#define GC_RAISES_H

#include "postgres.h"

#include "../base/builtins.h"

/* Errors of a node, as far as they are known. */
typedef enum GcRaises
{
	GC_RAISES_UNKNOWN = 0,		/* nothing */
	GC_RAISES_NOTHING,			/* nothing in it raises an error */
	GC_RAISES_BELOW,			/* what is in it may, but not the node itself */
	GC_RAISES_ITSELF			/* it may */
} GcRaises;

typedef GcRaises (*GcRaisesOf) (Node *node, void *context);

/*
 * May an expression raise an error?  `of` is asked for each node.  Of what it does not know, variables, constants and
 * boolean logic raise none, nor do CASE and COALESCE by themselves; anything else may.
 */
extern bool gc_may_raise(Node *node, GcRaisesOf of, void *context);

/*
 * Do its arguments keep a built-in function that raises errors from that (GcBuiltin.safe_if)?  True if
 * there are no conditions.
 */
extern bool gc_are_harmless(const GcBuiltin *b, const List *args);

/*
 * May evaluating an expression run a user's or an extension's code: a function, a domain's constraint, or what
 * belongs to a type?  Leakproof functions, of which nothing shows but their results, count only with or_leakproof.
 */
extern bool gc_runs_users_code(Node *node, bool or_leakproof);

#endif							/* GC_RAISES_H */
