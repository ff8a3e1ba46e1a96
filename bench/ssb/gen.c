/*-------------------------------------------------------------------------
 *
 * gen.c
 *	  Data generator for the Star Schema Benchmark (SSB).
 *
 * Writes one of the five SSB tables to standard output, in PostgreSQL's
 * binary COPY format or, with --text, as tab-separated text.  The tables
 * follow "Star Schema Benchmark, Revision 3" (O'Neil, O'Neil, Chen) and,
 * where that leans on TPC-H (prices, order dates, word lists), the TPC-H
 * specification.  README.md lists what the specification leaves open and
 * what was chosen here.
 *
 * Every row (for lineorder: every order) draws its values from a random
 * sequence of its own, seeded by nothing but the table and the row's number.
 * So any part of a table can be made without making what goes before it, and
 * the rows are the same however many parts a table is cut into.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define MAX_SCALE			10000.0
#define MAX_PARTS			1000000
#define MAX_LINES			7	/* per order */

#define FIRST_YEAR			1992
#define LAST_YEAR			1998
#define NDAYS				(7 * 365 + 2)	/* 1992 and 1996 are leap years */

/*
 * TPC-H takes order dates from STARTDATE to ENDDATE - 151 days, that is from
 * 1992-01-01 to 1998-08-02, to leave room for shipping and receiving.
 */
#define NORDERDAYS			(NDAYS - 151)

/* These numbers seed the tables' random sequences: others make other data. */
typedef enum TableId
{
	LINEORDER,
	CUSTOMER,
	SUPPLIER,
	PART,
	DATE
} TableId;

#define NTABLES				5

#define BUFFER_SIZE			(256 * 1024)
#define MAX_ROW_SIZE		1024	/* above the longest row */

/* ---------------------------------------------------------------------
 * Word lists
 * ---------------------------------------------------------------------
 */

typedef struct Nation
{
	const char *name;
	const char *region;
	int			phone_code;
} Nation;

static const Nation nations[] = {
	{"ALGERIA", "AFRICA", 10},
	{"ARGENTINA", "AMERICA", 11},
	{"BRAZIL", "AMERICA", 12},
	{"CANADA", "AMERICA", 13},
	{"EGYPT", "MIDDLE EAST", 14},
	{"ETHIOPIA", "AFRICA", 15},
	{"FRANCE", "EUROPE", 16},
	{"GERMANY", "EUROPE", 17},
	{"INDIA", "ASIA", 18},
	{"INDONESIA", "ASIA", 19},
	{"IRAN", "MIDDLE EAST", 20},
	{"IRAQ", "MIDDLE EAST", 21},
	{"JAPAN", "ASIA", 22},
	{"JORDAN", "MIDDLE EAST", 23},
	{"KENYA", "AFRICA", 24},
	{"MOROCCO", "AFRICA", 25},
	{"MOZAMBIQUE", "AFRICA", 26},
	{"PERU", "AMERICA", 27},
	{"CHINA", "ASIA", 28},
	{"ROMANIA", "EUROPE", 29},
	{"SAUDI ARABIA", "MIDDLE EAST", 30},
	{"VIETNAM", "ASIA", 31},
	{"RUSSIA", "EUROPE", 32},
	{"UNITED KINGDOM", "EUROPE", 33},
	{"UNITED STATES", "AMERICA", 34},
};

static const char *const segments[] = {
	"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"
};

static const char *const priorities[] = {
	"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"
};

static const char *const ship_modes[] = {
	"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"
};

static const char *const colors[] = {
	"almond", "antique", "aquamarine", "azure", "beige", "bisque", "black",
	"blanched", "blue", "blush", "brown", "burlywood", "burnished",
	"chartreuse", "chiffon", "chocolate", "coral", "cornflower", "cornsilk",
	"cream", "cyan", "dark", "deep", "dim", "dodger", "drab", "firebrick",
	"floral", "forest", "frosted", "gainsboro", "ghost", "goldenrod",
	"green", "grey", "honeydew", "hot", "indian", "ivory", "khaki", "lace",
	"lavender", "lawn", "lemon", "light", "lime", "linen", "magenta",
	"maroon", "medium", "metallic", "midnight", "mint", "misty", "moccasin",
	"navajo", "navy", "olive", "orange", "orchid", "pale", "papaya",
	"peach", "peru", "pink", "plum", "powder", "puff", "purple", "red",
	"rose", "rosy", "royal", "saddle", "salmon", "sandy", "seashell",
	"sienna", "sky", "slate", "smoke", "snow", "spring", "steel", "tan",
	"thistle", "tomato", "turquoise", "violet", "wheat", "white", "yellow"
};

static const char *const type_sizes[] = {
	"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"
};

static const char *const type_finishes[] = {
	"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"
};

static const char *const type_metals[] = {
	"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"
};

static const char *const container_sizes[] = {
	"SM", "LG", "MED", "JUMBO", "WRAP"
};

static const char *const container_kinds[] = {
	"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"
};

static const char *const month_names[] = {
	"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"
};

static const char *const weekday_names[] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday"
};

/* by month */
static const char *const seasons[] = {
	"Winter", "Winter", "Winter", "Spring", "Spring", "Summer", "Summer",
	"Summer", "Fall", "Fall", "Christmas", "Christmas"
};

/* ---------------------------------------------------------------------
 * Random numbers
 *
 * splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
 * Generators"): the state goes up by a constant, and a mixing function makes
 * a random number of each state.
 * ---------------------------------------------------------------------
 */

typedef struct Random
{
	uint64_t	state;
} Random;

__extension__ typedef unsigned __int128 Uint128;

static uint64_t
mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static Random
random_start(TableId table, int64_t row)
{
	const uint64_t seed = UINT64_C(0x5353422d72657633); /* "SSB-rev3" */
	Random		r;

	/* mixed twice, so that neighbouring rows get unrelated states */
	r.state = mix64(mix64(seed + (uint64_t) table) + (uint64_t) row);
	return r;
}

/* a whole number from lo to hi, both included */
static int
uniform(Random *r, int lo, int hi)
{
	uint64_t	n = (uint64_t) ((int64_t) hi - lo + 1);

	r->state += UINT64_C(0x9e3779b97f4a7c15);
	return lo + (int) (((Uint128) mix64(r->state) * n) >> 64);
}

static const char *
pick(Random *r, const char *const *words, int nwords)
{
	return words[uniform(r, 0, nwords - 1)];
}

/* ---------------------------------------------------------------------
 * Output
 *
 * A buffered writer that knows both formats, so that the code making the
 * rows need not.
 * ---------------------------------------------------------------------
 */

typedef struct Output
{
	bool		text;
	bool		first_column;
	size_t		used;
	char		buf[BUFFER_SIZE];
} Output;

static void
out_flush(Output *out)
{
	size_t		done = 0;

	while (done < out->used)
	{
		ssize_t		n = write(STDOUT_FILENO, out->buf + done,
							  out->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
		{
			fprintf(stderr, "gen: could not write: %s\n", strerror(errno));
			exit(1);
		}
		done += (size_t) n;
	}
	out->used = 0;
}

static void
out_bytes(Output *out, const void *bytes, size_t len)
{
	memcpy(out->buf + out->used, bytes, len);
	out->used += len;
}

/* n bytes of v, most significant first, as COPY wants them */
static inline void
out_binary(Output *out, uint64_t v, int n)
{
	unsigned char *p = (unsigned char *) out->buf + out->used;

	for (int i = 0; i < n; i++)
		p[i] = (unsigned char) (v >> (8 * (n - 1 - i)));
	out->used += (size_t) n;
}

static void
out_begin(Output *out, bool text)
{
	out->text = text;
	out->used = 0;
	if (!text)
	{
		out_bytes(out, "PGCOPY\n\377\r\n\0", 11);
		out_binary(out, 0, 4);	/* flags */
		out_binary(out, 0, 4);	/* length of header extension */
	}
}

static void
out_end(Output *out)
{
	if (!out->text)
		out_binary(out, UINT16_MAX, 2);
	out_flush(out);
}

static void
row_begin(Output *out, int ncolumns)
{
	/* The one place that makes room: what follows need not look. */
	if (out->used > BUFFER_SIZE - MAX_ROW_SIZE)
		out_flush(out);
	out->first_column = true;
	if (!out->text)
		out_binary(out, (uint64_t) ncolumns, 2);
}

static void
row_end(Output *out)
{
	if (out->text)
		out_bytes(out, "\n", 1);
}

static void
put_tab(Output *out)
{
	if (!out->first_column)
		out_bytes(out, "\t", 1);
	out->first_column = false;
}

/* No number in SSB is negative. */
static void
put_decimal(Output *out, uint64_t v)
{
	char		digits[20];
	int			start = (int) sizeof(digits);

	put_tab(out);
	do
	{
		digits[--start] = (char) ('0' + v % 10);
		v /= 10;
	} while (v > 0);
	out_bytes(out, digits + start, sizeof(digits) - (size_t) start);
}

static inline void
put_int4(Output *out, int v)
{
	/* in binary, the length (4) and the value, as one number of 8 bytes */
	if (out->text)
		put_decimal(out, (uint64_t) v);
	else
		out_binary(out, (UINT64_C(4) << 32) | (uint32_t) v, 8);
}

static void
put_int8(Output *out, int64_t v)
{
	if (out->text)
		put_decimal(out, (uint64_t) v);
	else
	{
		out_binary(out, 8, 4);
		out_binary(out, (uint64_t) v, 8);
	}
}

/*
 * No text in SSB has a character that the text format would have to escape.
 * Fixed-size columns are not padded here: the server does that.
 */
static void
put_text(Output *out, const char *s)
{
	size_t		len = strlen(s);

	if (out->text)
		put_tab(out);
	else
		out_binary(out, len, 4);
	out_bytes(out, s, len);
}

/* ---------------------------------------------------------------------
 * Calendar
 * ---------------------------------------------------------------------
 */

typedef struct Day
{
	int			key;			/* yyyymmdd */
	int			year;
	int			month;			/* 1..12 */
	int			mday;			/* 1..31 */
	int			yday;			/* 1..366 */
	int			wday;			/* 0 is Sunday */
	bool		last_in_month;
} Day;

static Day	days[NDAYS];

static int
days_in_month(int year, int month)
{
	static const int ndays[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};

	/* good enough for 1992 to 1998 */
	return ndays[month - 1] + (month == 2 && year % 4 == 0);
}

static void
fill_calendar(void)
{
	Day		   *day = days;
	int			wday = 3;		/* 1992-01-01 was a Wednesday */

	for (int year = FIRST_YEAR; year <= LAST_YEAR; year++)
	{
		int			yday = 0;

		for (int month = 1; month <= 12; month++)
		{
			int			last = days_in_month(year, month);

			for (int mday = 1; mday <= last; mday++, day++)
			{
				day->key = (year * 100 + month) * 100 + mday;
				day->year = year;
				day->month = month;
				day->mday = mday;
				day->yday = ++yday;
				day->wday = wday;
				day->last_in_month = mday == last;
				wday = (wday + 1) % 7;
			}
		}
	}
}

/* The specification names no holidays; these are six of the United States. */
static bool
is_holiday(const Day *d)
{
	bool		monday = d->wday == 1;
	bool		thursday = d->wday == 4;

	return (d->month == 1 && d->mday == 1) ||	/* New Year */
		(d->month == 5 && monday && d->mday > 31 - 7) ||	/* Memorial Day */
		(d->month == 7 && d->mday == 4) ||	/* Independence Day */
		(d->month == 9 && monday && d->mday <= 7) ||	/* Labor Day */
		(d->month == 11 && thursday &&
		 d->mday > 21 && d->mday <= 28) ||	/* Thanksgiving */
		(d->month == 12 && d->mday == 25);	/* Christmas */
}

/* ---------------------------------------------------------------------
 * Tables
 * ---------------------------------------------------------------------
 */

/* how many rows of each table (of lineorder: orders) there are at a scale */
typedef struct Sizes
{
	int64_t		n[NTABLES];
} Sizes;

static int64_t
at_scale(double per_unit, double scale)
{
	double		n = floor(per_unit * scale + 0.5);

	return n < 1 ? 1 : (int64_t) n;
}

static Sizes
sizes_at(double scale)
{
	Sizes		sizes;

	sizes.n[LINEORDER] = at_scale(1500000, scale);
	sizes.n[CUSTOMER] = at_scale(30000, scale);
	sizes.n[SUPPLIER] = at_scale(2000, scale);
	sizes.n[DATE] = NDAYS;

	/* The logarithm is of no use below 1: go in proportion there. */
	if (scale < 1)
		sizes.n[PART] = at_scale(200000, scale);
	else
		sizes.n[PART] = 200000 * (int64_t) floor(1 + log2(scale));
	return sizes;
}

/* TPC-H's retail price, in cents */
static int
part_price(int partkey)
{
	return 90000 + (partkey / 10) % 20001 + 100 * (partkey % 1000);
}

/* 10 to 25 characters of no meaning */
static void
put_address(Output *out, Random *r)
{
	static const char chars[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,";
	char		address[26];
	int			len = uniform(r, 10, 25);

	for (int i = 0; i < len; i++)
		address[i] = chars[uniform(r, 0, (int) sizeof(chars) - 2)];
	address[len] = '\0';
	put_text(out, address);
}

/*
 * The columns that customer and supplier share: address, city, nation,
 * region and phone.
 */
static void
put_location(Output *out, Random *r)
{
	const Nation *nation = &nations[uniform(r, 0, lengthof(nations) - 1)];
	int			city_digit = uniform(r, 0, 9);
	int			area = uniform(r, 100, 999);
	int			exchange = uniform(r, 100, 999);
	int			line = uniform(r, 1000, 9999);
	char		text[64];

	put_address(out, r);
	snprintf(text, sizeof(text), "%-9.9s%d", nation->name, city_digit);
	put_text(out, text);
	put_text(out, nation->name);
	put_text(out, nation->region);
	snprintf(text, sizeof(text), "%02d-%03d-%03d-%04d",
			 nation->phone_code, area, exchange, line);
	put_text(out, text);
}

static void
make_customer(Output *out, const Sizes *sizes, int64_t row)
{
	Random		r = random_start(CUSTOMER, row);
	char		name[64];

	(void) sizes;
	row_begin(out, 8);
	put_int4(out, (int) row + 1);
	snprintf(name, sizeof(name), "Customer#%09d", (int) row + 1);
	put_text(out, name);
	put_location(out, &r);
	put_text(out, pick(&r, segments, lengthof(segments)));
	row_end(out);
}

static void
make_supplier(Output *out, const Sizes *sizes, int64_t row)
{
	Random		r = random_start(SUPPLIER, row);
	char		name[64];

	(void) sizes;
	row_begin(out, 7);
	put_int4(out, (int) row + 1);
	snprintf(name, sizeof(name), "Supplier#%09d", (int) row + 1);
	put_text(out, name);
	put_location(out, &r);
	row_end(out);
}

static void
make_part(Output *out, const Sizes *sizes, int64_t row)
{
	Random		r = random_start(PART, row);
	const char *color = pick(&r, colors, lengthof(colors));
	const char *color2 = pick(&r, colors, lengthof(colors));
	int			mfgr = uniform(&r, 1, 5);
	int			category = uniform(&r, 1, 5);
	int			brand = uniform(&r, 1, 40);
	const char *size = pick(&r, type_sizes, lengthof(type_sizes));
	const char *finish = pick(&r, type_finishes, lengthof(type_finishes));
	const char *metal = pick(&r, type_metals, lengthof(type_metals));
	const char *box = pick(&r, container_sizes, lengthof(container_sizes));
	const char *kind = pick(&r, container_kinds, lengthof(container_kinds));
	char		text[64];

	(void) sizes;
	row_begin(out, 9);
	put_int4(out, (int) row + 1);
	snprintf(text, sizeof(text), "%s %s", color, color2);
	put_text(out, text);
	snprintf(text, sizeof(text), "MFGR#%d", mfgr);
	put_text(out, text);
	snprintf(text, sizeof(text), "MFGR#%d%d", mfgr, category);
	put_text(out, text);
	snprintf(text, sizeof(text), "MFGR#%d%d%d", mfgr, category, brand);
	put_text(out, text);
	put_text(out, color);
	snprintf(text, sizeof(text), "%s %s %s", size, finish, metal);
	put_text(out, text);
	put_int4(out, uniform(&r, 1, 50));
	snprintf(text, sizeof(text), "%s %s", box, kind);
	put_text(out, text);
	row_end(out);
}

static void
make_date(Output *out, const Sizes *sizes, int64_t row)
{
	const Day  *d = &days[row];
	const char *month = month_names[d->month - 1];
	char		text[64];

	(void) sizes;
	row_begin(out, 17);
	put_int4(out, d->key);
	snprintf(text, sizeof(text), "%s %d, %d", month, d->mday, d->year);
	put_text(out, text);
	put_text(out, weekday_names[d->wday]);
	put_text(out, month);
	put_int4(out, d->year);
	put_int4(out, d->year * 100 + d->month);
	snprintf(text, sizeof(text), "%.3s%d", month, d->year);
	put_text(out, text);
	put_int4(out, d->wday + 1);
	put_int4(out, d->mday);
	put_int4(out, d->yday);
	put_int4(out, d->month);
	put_int4(out, (d->yday - 1) / 7 + 1);	/* week 1 is January 1 to 7 */
	put_text(out, seasons[d->month - 1]);
	put_int4(out, d->wday == 6);
	put_int4(out, d->last_in_month);
	put_int4(out, is_holiday(d));
	put_int4(out, d->wday >= 1 && d->wday <= 5);
	row_end(out);
}

/* ---------------------------------------------------------------------
 * lineorder
 * ---------------------------------------------------------------------
 */

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

	/* Of each 32 order keys the first 8 are in use, as in TPC-H. */
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

static void
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

/* ---------------------------------------------------------------------
 * Command line
 * ---------------------------------------------------------------------
 */

typedef struct Table
{
	const char *name;
	void		(*make) (Output *out, const Sizes *sizes, int64_t row);
} Table;

static const Table tables[NTABLES] = {
	[LINEORDER] = {"lineorder", make_lineorder},
	[CUSTOMER] = {"customer", make_customer},
	[SUPPLIER] = {"supplier", make_supplier},
	[PART] = {"part", make_part},
	[DATE] = {"date", make_date},
};

typedef struct Options
{
	double		scale;
	TableId		table;
	int64_t		part;			/* from 1 */
	int64_t		nparts;
	bool		text;
	bool		count_only;
} Options;

static void
usage(FILE *stream)
{
	fputs("usage: gen [--text | --rows] SCALE TABLE [PART NPARTS]\n"
		  "\n"
		  "Writes TABLE (lineorder, customer, supplier, part or date) of the Star\n"
		  "Schema Benchmark at scale factor SCALE (say 0.01, 1 or 20) to standard\n"
		  "output in PostgreSQL's binary COPY format.  With PART and NPARTS, only\n"
		  "the PART'th (from 1) of NPARTS parts of the table.\n"
		  "\n"
		  "  --text  tab-separated text, as COPY's text format\n"
		  "  --rows  only the number of rows, in decimal\n",
		  stream);
}

static void
bad_usage(void)
{
	usage(stderr);
	exit(2);
}

static int64_t
parse_count(const char *s)
{
	char	   *end;
	long		n;

	errno = 0;
	n = strtol(s, &end, 10);
	if (errno != 0 || end == s || *end != '\0' || n < 1 || n > MAX_PARTS)
		bad_usage();
	return n;
}

static double
parse_scale(const char *s)
{
	char	   *end;
	double		scale = strtod(s, &end);

	/* written so that a NaN fails too */
	if (end == s || *end != '\0' || !(scale > 0 && scale <= MAX_SCALE))
		bad_usage();
	return scale;
}

static TableId
parse_table(const char *name)
{
	int			table = 0;

	while (table < NTABLES && strcmp(tables[table].name, name) != 0)
		table++;
	if (table == NTABLES)
		bad_usage();
	return (TableId) table;
}

static Options
parse_options(int argc, char **argv)
{
	Options		options = {.part = 1, .nparts = 1};
	const char *words[4];
	int			nwords = 0;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--help") == 0)
		{
			usage(stdout);
			exit(0);
		}
		else if (strcmp(argv[i], "--text") == 0)
			options.text = true;
		else if (strcmp(argv[i], "--rows") == 0)
			options.count_only = true;
		else if (nwords < lengthof(words))
			words[nwords++] = argv[i];
		else
			bad_usage();
	}

	if (nwords != 2 && nwords != 4)
		bad_usage();
	options.scale = parse_scale(words[0]);
	options.table = parse_table(words[1]);
	if (nwords == 4)
	{
		options.part = parse_count(words[2]);
		options.nparts = parse_count(words[3]);
		if (options.part > options.nparts)
			bad_usage();
	}
	return options;
}

static int64_t
count_rows(TableId table, int64_t first, int64_t end)
{
	int64_t		nlines = 0;

	if (table != LINEORDER)
		return end - first;
	for (int64_t row = first; row < end; row++)
	{
		Random		r = random_start(LINEORDER, row);

		nlines += draw_nlines(&r);
	}
	return nlines;
}

int
main(int argc, char **argv)
{
	static Output out;
	Options		options = parse_options(argc, argv);
	Sizes		sizes = sizes_at(options.scale);
	int64_t		size = sizes.n[options.table];
	int64_t		first = size * (options.part - 1) / options.nparts;
	int64_t		end = size * options.part / options.nparts;

	if (options.count_only)
	{
		printf("%lld\n", (long long) count_rows(options.table, first, end));
		return 0;
	}

	fill_calendar();
	out_begin(&out, options.text);
	for (int64_t row = first; row < end; row++)
		tables[options.table].make(&out, &sizes, row);
	out_end(&out);
	return 0;
}
