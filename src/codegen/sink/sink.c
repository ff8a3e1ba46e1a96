/*-------------------------------------------------------------------------
 *
 * sink.c
 *	  The end of a pipeline: which sink gets the rows that come through.
 *
 * Before an edge the sink is packets, whatever comes behind it.  This file chooses among the sinks: dense and hash
 * builds share one, groups have three.  Without keys, accumulators are in registers.  Groups of dense keys are in a
 * table that is indexed by a number computed from the keys.  Other groups are in a hash table.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "sink.h"
#include "sinks.h"

/* The implementation for this pipeline's sink, by its type and its groups. */
static const Sink *
sink_of(const Cg *cg)
{
	if (cg->produces)
		return &sink_packets;
	if (cg->pl->sink == GC_SINK_BUILD)
		return &sink_build;
	if (cg->pl->sink == GC_SINK_ROWS)
		return &sink_rows;
	if (cg->pl->sink == GC_SINK_SELECT)
		return &sink_select;
	switch (cg->pl->group_mode)
	{
		case GC_GROUP_NONE:
			return &sink_one_group;
		case GC_GROUP_DENSE:
			return &sink_dense_groups;
		default:
			return &sink_hash_groups;
	}
}

void
sink_prepare(Cg *cg)
{
	sink_of(cg)->prepare(cg);
}

void
sink_require(Cg *cg)
{
	sink_of(cg)->require(cg);
}

void
sink_row(Cg *cg)
{
	sink_of(cg)->row(cg);
}

bool
sink_takes_all(const Cg *cg)
{
	return sink_of(cg)->takes_all && sink_of(cg)->takes_all(cg);
}

bool
sink_uses_shared(const Cg *cg)
{
	return sink_of(cg)->uses_shared && sink_of(cg)->uses_shared(cg);
}

void
sink_begin_parts(Cg *cg)
{
	if (sink_of(cg)->begin_parts)
		sink_of(cg)->begin_parts(cg);
}

void
sink_add_parts(Cg *cg)
{
	if (sink_of(cg)->add_parts)
		sink_of(cg)->add_parts(cg);
}

void
sink_state(Cg *cg, Text *t)
{
	if (sink_of(cg)->state)
		sink_of(cg)->state(cg, t);
}

void
sink_table(Cg *cg, Text *t)
{
	if (sink_of(cg)->table)
		sink_of(cg)->table(cg, t);
}

void
sink_clear(Cg *cg, Text *t)
{
	if (sink_of(cg)->clear)
		sink_of(cg)->clear(cg, t);
}

void
sink_end(Cg *cg, Text *t)
{
	if (sink_of(cg)->end)
		sink_of(cg)->end(cg, t);
}
