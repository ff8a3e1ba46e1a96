/*-------------------------------------------------------------------------
 *
 * join_order.h
 *	  PostgreSQL's join orders, where a node of ours won by far; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_JOIN_ORDER_H
#define GC_JOIN_ORDER_H

#include "node.h"

/* Relations that are joined by one search, at most; and joins that are made of them. */
#define GC_JOIN_ORDER_RELS	32
#define GC_JOIN_ORDER_STEPS	(2 * (GC_JOIN_ORDER_RELS - 1))

/* Two relations are joined: of those that the search began with, or results of earlier steps. */
typedef struct GcJoinStep
{
	uint8		outer;
	uint8		inner;
	uint8		result;			/* several steps may lead to the same */
	uint8		nrels;			/* joined by then; steps are in that order */
} GcJoinStep;

/* A query level's search for a join order, and what it led to. */
typedef struct GcJoinSearch
{
	PlannerInfo *root;
	uint64		key;			/* of the statement, and of the relations that are joined */
	Cost		own;			/* of PostgreSQL's own path */
	bool		merges;			/* that has a merge join */
	bool		replayed;		/* it was known from before */
	int			nrels;
	double		rows[GC_JOIN_ORDER_RELS];
	Oid			tables[GC_JOIN_ORDER_RELS]; /* 0: it is none */
	int			nsteps;
	GcJoinStep	steps[GC_JOIN_ORDER_STEPS];
} GcJoinSearch;

/* Join the relations in the order known from before; NULL: none is, or it does not fit any more. */
extern RelOptInfo *gc_join_order_replay(PlannerInfo *root, List *initial_rels);

/* PostgreSQL has searched, and this is the join of them all. */
extern void gc_join_order_found(PlannerInfo *root, List *initial_rels, RelOptInfo *rel);

/* The statement is planned: remember which orders do not matter. */
extern void gc_join_order_note(void);

/* A search for an order of these relations. */
typedef RelOptInfo *(*GcJoinSearcher) (PlannerInfo *root, List *initial_rels);

/* Join them without nested loops, if how many rows they have is but guessed; NULL: they are to be joined as usual. */
extern RelOptInfo *gc_join_guessed(PlannerInfo *root, List *initial_rels, GcJoinSearcher search);

#endif							/* GC_JOIN_ORDER_H */
