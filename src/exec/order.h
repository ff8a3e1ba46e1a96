/*-------------------------------------------------------------------------
 *
 * order.h
 *	  Returning rows in the order in which PostgreSQL will sort them; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ORDER_H
#define GC_ORDER_H

#include "exec.h"

extern void gc_order_rows(const GcPlan *plan, GcRows *rows);

#endif							/* GC_ORDER_H */
