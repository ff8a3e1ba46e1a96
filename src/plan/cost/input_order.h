/*-------------------------------------------------------------------------
 *
 * input_order.h
 *	  Whether a query level shows the order of the subquery that it reads; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_INPUT_ORDER_H
#define GC_INPUT_ORDER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Does the level read nothing but a subquery that has an ORDER BY, and do its rows, or what it computes of them,
 * depend on that order?  Rows that the device returns come in any order.
 */
extern bool gc_shows_input_order(PlannerInfo *root);

#endif							/* GC_INPUT_ORDER_H */
