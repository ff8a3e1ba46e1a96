/*-------------------------------------------------------------------------
 *
 * main.c
 *	  Data generator for the Star Schema Benchmark (SSB).
 *
 * Writes one of the five SSB tables to standard output, in PostgreSQL's
 * binary COPY format or, with --text, as tab-separated text.  The tables
 * follow "Star Schema Benchmark, Revision 3" (O'Neil, O'Neil, Chen) and,
 * where that leans on TPC-H (prices, order dates, word lists), the TPC-H
 * specification.  README.md lists what the specification leaves open and
 * what was chosen here.
 *
 * Every row (for lineorder: every order) draws its values from a random sequence of its own,
 * seeded by nothing but the table and the row's number.  So any part of a table can be made
 * without the parts before it.  The rows do not depend on how many parts a table is cut into.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calendar.h"
#include "tables.h"

#define MAX_SCALE			10000.0
#define MAX_PARTS			1000000

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
		int64_t		nrows = end - first;

		if (options.table == LINEORDER)
			nrows = count_lines(first, end);
		printf("%lld\n", (long long) nrows);
		return 0;
	}

	fill_calendar();
	out_begin(&out, options.text);
	for (int64_t row = first; row < end; row++)
		tables[options.table].make(&out, &sizes, row);
	out_end(&out);
	return 0;
}
