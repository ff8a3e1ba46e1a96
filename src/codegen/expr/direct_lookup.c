/*-------------------------------------------------------------------------
 *
 * direct_lookup.c
 *	  What an entry of a direct lookup table holds.
 *
 * The low half of an entry is the row of the build that a value finds.  Payloads of up to 4 bytes together
 * stand in the upper half.  Predicate kernels fill the tables (step/probe.c); kernels of shared selection scans read
 * them (values.c).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "../selection.h"
#include "direct_lookup.h"

int
gc_direct_bytes(const GcProgram *p, u16 build)
{
	const GcPBuild *b = &gc_builds(p)[build];
	int			bytes = 0;

	for (u16 i = 0; i < b->npayloads; i++)
		bytes += gc_payloads(p)[b->first_payload + i].width;
	return bytes > 0 && bytes <= 4 ? 8 : 4;
}

/* Lowest bit of the payload's code in the entries of its build's direct lookup table. */
int
cg_payload_shift(const GcProgram *p, u16 payload)
{
	int			shift = 32;

	for (u16 i = gc_builds(p)[gc_payloads(p)[payload].build].first_payload; i < payload; i++)
		shift += gc_payloads(p)[i].width * 8;
	return shift;
}

bool
cg_is_direct(const Cg *cg, const GcPStep *step)
{
	const u64	s = step - &gc_steps(cg->p)[cg->pl->first_step];

	return s < 64 && cg->variant->direct >> s & 1;
}
