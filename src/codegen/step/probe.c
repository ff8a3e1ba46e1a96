/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  Probes of hash builds: by hashing the keys, or by direct lookup.
 *
 * Keys that depend on one column find the same row wherever the column has the same value.  In a
 * selection scan (kernel/selection.c) the request's predicate kernel therefore looks up every value of
 * the column once.  It writes each value's row into a direct lookup table.  The kernel that visits
 * the selection bitmap's rows then reads this table, of 4 or 8 bytes a value, which the L2 cache
 * holds.  Slots and keys would not fit there.  So a join by hash table costs what a join by dense
 * build does.  Payloads of up to 4 bytes stand in the same entry, so that one access is enough.
 *
 * This is perfect hashing by value, as in the dimension vectors of invisible joins (Abadi,
 * Madden, Hachem 2008).  But the table is made per request, from the build that the request's own
 * snapshot filled.  So nothing has to be kept up to date.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "probe.h"
#include "../expr/analysis.h"
#include "../expr/direct_lookup.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/operand.h"
#include "../expr/values.h"
#include "../selection.h"

#include <stdio.h>

void
cg_hash_find(Cg *cg, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(cg->p)[step->build];
	int			b = cg_build(cg, step->build);
	char		h[16],
				keys[16];

	snprintf(h, sizeof(h), "h%d", b);
	snprintf(keys, sizeof(keys), "k%d", b);
	cg_require_keys(cg, step);
	text_addf(cg->out, "i64 k%d[%d];\n", b, build->nkeys > 0 ? build->nkeys : 1);
	for (u16 i = 0; i < build->nkeys; i++)
	{
		Operand		o = cg_expr(cg, gc_refs(cg->p)[step->first_key + i]);

		if (!never_null(&o))
			text_addf(cg->out, "if (%s) continue;\n", o.n);
		text_addf(cg->out, "k%d[%d] = (i64) %s;\n", b, i, o.v);
	}
	cg_hash(cg, h, keys, build->nkeys);
	text_addf(cg->out, "%s r%d = gc_build_find((const u64 *) b%d_slots, b%d_mask, (const i64 *) b%d_keys, b%d_cap, k%d, %d, h%d);\n",
			  build->unique ? "const u32" : "u32", b, b, b, b, b, b, build->nkeys, b);
}

int
cg_hash_probe(Cg *cg, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(cg->p)[step->build];
	const bool	direct = cg_is_direct(cg, step);
	int			b = cg_build(cg, step->build);

	if (direct)
		cg_find_place(cg, step);
	else
		cg_hash_find(cg, step);
	cg->index[step->build] = true;
	if (build->unique)
	{
		text_addf(cg->out, "if (!r%d) continue;\nconst u64 x%d = r%d - 1; (void) x%d;\n", b, b, b, b);
		return 0;
	}
	if (direct)
		text_addf(cg->out, "const u32 m%d = r%d & GC_DIRECT_MORE;\ni32 f%d = 1; (void) f%d;\nr%d &= ~GC_DIRECT_MORE;\n"
				  "for (; r%d; r%d = m%d ? ((const u32 *) b%d_next)[r%d - 1] : 0, f%d = 0) {\n", b, b, b, b, b, b, b, b, b, b, b);
	else
		text_addf(cg->out, "for (; r%d; r%d = ((const u32 *) b%d_next)[r%d - 1]) {\n", b, b, b, b);
	text_addf(cg->out, "if (!GC_GO_ON) break;\nconst u64 x%d = r%d - 1; (void) x%d;\n", b, b, b);
	return 1;
}

void
cg_direct_write(Cg *cg, const GcPStep *step, const char *at)
{
	const GcPBuild *build = &gc_builds(cg->p)[step->build];
	int			direct_tables = cg_word(cg, GC_ARG_DIRECT, step->build, GC_PREDICATE_BITS);
	int			b = cg_build(cg, step->build);

	text_addf(cg->out, "u64 gc_direct = 0;\ni32 gc_bad = 0;\ndo {\n");
	cg_hash_find(cg, step);
	text_addf(cg->out, "if (!r%d) continue;\ngc_direct = r%d;\n", b, b);
	if (!build->unique)
		text_addf(cg->out, "if (((const u32 *) b%d_next)[r%d - 1]) gc_direct |= GC_DIRECT_MORE;\n", b, b);
	for (u16 i = 0; i < build->npayloads && gc_direct_bytes(cg->p, step->build) == 8; i++)
	{
		u16			payload = build->first_payload + i;

		text_addf(cg->out, "gc_direct |= (u64) ((const %s *) gc_a.w[%d])[r%d - 1] << %d;\n", cg_code_type[gc_payloads(cg->p)[payload].width],
				  cg_word(cg, GC_ARG_PAYLOAD, payload, 0), b, cg_payload_shift(cg->p, payload));
	}
	text_addf(cg->out, "} while (0);\nif (gc_bad) gc_direct = GC_DIRECT_BAD;\n((%s *) gc_a.w[%d])[%s] = gc_direct;\n",
			  gc_direct_bytes(cg->p, step->build) == 8 ? "u64" : "u32", direct_tables, at);
}
