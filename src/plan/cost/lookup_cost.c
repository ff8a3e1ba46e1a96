/*-------------------------------------------------------------------------
 *
 * lookup_cost.c
 *	  What a translation's lookup tables cost.
 *
 * Tables that are kept for later, and for all sessions, cost a request a small part of what it takes to make them.
 * Others are made for each request: those of expressions with parameters, and those that bring texts of several columns
 * into one dictionary.  These take about a microsecond for each value, as long as PostgreSQL takes for a few rows.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "lookup_cost.h"

#include "../../columns/load/seen.h"

/* Calls of an operator that an entry costs, of a table that is kept: spread over its uses. */
#define KEPT_OPERATORS		0.2

/* Of a table that is made for each request: evaluated; put into a dictionary; put in order; copied.  Measured. */
#define EVALUATED_OPERATORS	15
#define ADDED_OPERATORS		40
#define RANKED_OPERATORS	40
#define COPIED_OPERATORS	0.5

/* Values of a table's or an append input's text column. */
static double
column_values(const GcTranslation *tr, int c)
{
	const GcLeaf *leaf = tr->column_leaf[c];
	const int	attnum = tr->columns[c].attnum;
	GcSeenColumn seen;
	double		n = 0;
	ListCell   *lc;

	if (leaf == NULL || attnum <= 0)
		return 0;
	if (OidIsValid(leaf->relid))
	{
		(void) gc_column_seen(leaf->relid, attnum, &seen);
		return seen.values;
	}
	foreach(lc, leaf->append ? leaf->append->parts : NIL)
	{
		const GcAppendPart *part = lfirst(lc);

		if (part->attnums == NULL || part->attnums[attnum - 1] <= 0)
			continue;
		(void) gc_column_seen(part->relid, part->attnums[attnum - 1], &seen);
		n += seen.values;
	}
	return n;
}

/* Values of a dictionary before a table adds others; added_values(): the values that tables add. */
static double
own_values(const GcTranslation *tr, uint16 space)
{
	const GcPlanLut *lut;

	if (space == GC_SPACE_NONE || space == GC_SPACE_CONSTANTS)
		return 0;
	if (space < GC_SPACE_LUT)
		return column_values(tr, space);
	lut = &tr->plan->luts[space - GC_SPACE_LUT];
	return lut->type == GC_LUT_UNIFY ? own_values(tr, lut->space) : tr->lut_values[space - GC_SPACE_LUT];
}

static double
added_values(const GcTranslation *tr, uint16 space)
{
	double		n = 0;

	for (int i = 0; i < tr->nluts; i++)
	{
		const GcPlanLut *lut = &tr->plan->luts[i];

		if (lut->type == GC_LUT_ADD && lut->to_space == space)
			n += own_values(tr, lut->space);
	}
	return n;
}

static double
operators(const GcTranslation *tr, int i)
{
	const GcPlanLut *lut = &tr->plan->luts[i];
	double		added;

	switch (lut->type)
	{
		case GC_LUT_EXPR:
			return tr->lut_values[i] * (lut->cacheable ? KEPT_OPERATORS : EVALUATED_OPERATORS);
		case GC_LUT_ADD:
		case GC_LUT_UNIFY:
			return own_values(tr, lut->space) * ADDED_OPERATORS;
		case GC_LUT_RANK:
			added = added_values(tr, lut->space);
			return added > 0 ? (own_values(tr, lut->space) + added) * RANKED_OPERATORS : 0;
		case GC_LUT_RANKED:
			return (own_values(tr, lut->space) + added_values(tr, lut->space)) * COPIED_OPERATORS;
		default:
			return own_values(tr, lut->space) * KEPT_OPERATORS;
	}
}

double
gc_lookup_operators(const GcTranslation *tr)
{
	double		n = 0;

	for (int i = 0; i < tr->nluts; i++)
		n += operators(tr, i);
	return n;
}
