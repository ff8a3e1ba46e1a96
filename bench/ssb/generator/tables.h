/*-------------------------------------------------------------------------
 *
 * tables.h
 *	  The makers of rows, one a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TABLES_H
#define TABLES_H

#include <stdint.h>

#include "gen.h"
#include "output.h"

/* TPC-H's retail price, in cents */
static inline int
part_price(int partkey)
{
	return 90000 + (partkey / 10) % 20001 + 100 * (partkey % 1000);
}

extern Sizes sizes_at(double scale);

/* each writes row number "row", from 0, of its table */
extern void make_customer(Output *out, const Sizes *sizes, int64_t row);
extern void make_supplier(Output *out, const Sizes *sizes, int64_t row);
extern void make_part(Output *out, const Sizes *sizes, int64_t row);
extern void make_date(Output *out, const Sizes *sizes, int64_t row);

/* here a row is an order: all its lines are written */
extern void make_lineorder(Output *out, const Sizes *sizes, int64_t row);

/* how many lines the orders from "first" to before "end" have */
extern int64_t count_lines(int64_t first, int64_t end);

#endif							/* TABLES_H */
