/*-------------------------------------------------------------------------
 *
 * users_code.h
 *	  Which expressions run code that came with no server: a user's, or an extension's; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_USERS_CODE_H
#define GC_USERS_CODE_H

#include "postgres.h"

#include "nodes/nodes.h"

/*
 * May evaluating an expression run such code: a function, a domain's constraint, or what belongs to a type?  Leakproof
 * functions, of which nothing shows but their results, count only with or_leakproof.
 */
extern bool gc_runs_users_code(Node *node, bool or_leakproof);

#endif							/* GC_USERS_CODE_H */
