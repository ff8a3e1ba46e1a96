/*-------------------------------------------------------------------------
 *
 * lineorder.c
 *	  The table lineorder.
 *
 *-------------------------------------------------------------------------
 */
#include "calendar.h"
#include "random.h"
#include "tables.h"
#include "words.h"

#define MAX_LINES			7	/* per order */

/*
 * TPC-H takes order dates from STARTDATE to ENDDATE - 151 days, that is from
 * 1992-01-01 to 1998-08-02, to leave room for shipping and receiving.
 */
#define NORDERDAYS			(NDAYS - 151)

typedef struct Line
{
	int			partkey;
	int			suppkey;
	int			quantity;
	int			extendedprice;
	int			discount;
	int			revenue;
	int			supplycost;
	int			tax;
	int			commit_day;		/* index into days[] */
	const char *ship_mode;
} Line;

typedef struct Order
{
	int64_t		key;
	int			custkey;
	int			day;			/* index into days[] */
	const char *priority;
	int			total_price;
	int			nlines;
	Line		lines[MAX_LINES];
} Order;

/* The first draw of an order, so that lines can be counted cheaply. */
static int
draw_nlines(Random *r)
{
	return uniform(r, 1, MAX_LINES);
}

static void
fill_line(Line *line, Random *r, const Sizes *sizes, int order_day)
{
	int			price;

	line->partkey = uniform(r, 1, (int) sizes->n[PART]);
	line->suppkey = uniform(r, 1, (int) sizes->n[SUPPLIER]);
	line->quantity = uniform(r, 1, 50);
	line->discount = uniform(r, 0, 10);
	line->tax = uniform(r, 0, 8);
	line->commit_day = order_day + uniform(r, 30, 90);
	line->ship_mode = pick(r, ship_modes, lengthof(ship_modes));

	/* the largest, 10,495,000 cents times 100, still fits an int */
	price = part_price(line->partkey);
	line->extendedprice = line->quantity * price;
	line->revenue = line->extendedprice * (100 - line->discount) / 100;
	line->supplycost = 6 * price / 10;
}

static void
fill_order(Order *order, const Sizes *sizes, int64_t row)
{
	Random		r = random_start(LINEORDER, row);

	order->nlines = draw_nlines(&r);

	/* The first 8 of each 32 order keys are in use, as in TPC-H. */
	order->key = row / 8 * 32 + row % 8 + 1;
	order->custkey = uniform(&r, 1, (int) sizes->n[CUSTOMER]);
	order->day = uniform(&r, 0, NORDERDAYS - 1);
	order->priority = pick(&r, priorities, lengthof(priorities));

	order->total_price = 0;
	for (int i = 0; i < order->nlines; i++)
	{
		Line	   *line = &order->lines[i];

		fill_line(line, &r, sizes, order->day);
		order->total_price += (int)
			((int64_t) line->revenue * (100 + line->tax) / 100);
	}
}

void
make_lineorder(Output *out, const Sizes *sizes, int64_t row)
{
	Order		order;

	fill_order(&order, sizes, row);
	for (int i = 0; i < order.nlines; i++)
	{
		const Line *line = &order.lines[i];

		row_begin(out, 17);
		put_int8(out, order.key);
		put_int4(out, i + 1);
		put_int4(out, order.custkey);
		put_int4(out, line->partkey);
		put_int4(out, line->suppkey);
		put_int4(out, days[order.day].key);
		put_text(out, order.priority);
		put_text(out, "0");		/* lo_shippriority: TPC-H has but this one */
		put_int4(out, line->quantity);
		put_int4(out, line->extendedprice);
		put_int4(out, order.total_price);
		put_int4(out, line->discount);
		put_int4(out, line->revenue);
		put_int4(out, line->supplycost);
		put_int4(out, line->tax);
		put_int4(out, days[line->commit_day].key);
		put_text(out, line->ship_mode);
		row_end(out);
	}
}

int64_t
count_lines(int64_t first, int64_t end)
{
	int64_t		nlines = 0;

	for (int64_t row = first; row < end; row++)
	{
		Random		r = random_start(LINEORDER, row);

		nlines += draw_nlines(&r);
	}
	return nlines;
}
