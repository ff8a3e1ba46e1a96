/*-------------------------------------------------------------------------
 *
 * condition.c
 *	  The condition under which a row passes a step that only tests it.  That is a filter, or the
 *	  probe of a dense build by an inner, semi or anti join.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "condition.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/operand.h"
#include "../expr/values.h"
#include "split.h"

#include <stdio.h>

void
cg_require_step(Cg *cg, const GcPStep *step)
{
	if (step->type == GC_STEP_FILTER)
		cg_require(cg, step->expr);
	else
	{
		int			b = cg_build(cg, step->build);

		cg_require(cg, gc_refs(cg->p)[step->first_key]);
		if (!cg->at[step->build] && !(cg->variant->shared_builds & 1u << step->build))
			text_addf(&cg->decls, "const u32 *b%d_at = (const u32 *) b%d_bits;\n", b, b);
		cg->at[step->build] = true;
	}
}

void
cg_dense_match(Cg *cg, const GcPStep *step, char *cond, size_t cond_size, char *index, size_t index_size)
{
	const u16	key = gc_refs(cg->p)[step->first_key];
	const Operand o = cg_expr(cg, key);
	const int	b = cg_build(cg, step->build);

	cg_dense_index(cg, step, key, &o, index, index_size);
	if (step->in_range && never_null(&o) && !cg_checked(cg->p, key) && !cg_is_split(cg, step->build))
		snprintf(cond, cond_size, "GC_BIT(b%d_at, %s)", b, index);
	else
		snprintf(cond, cond_size, "!%s && %s < b%d_range && GC_BIT(b%d_at, %s)", o.n, index, b, b, index);
}

void
cg_step_condition(Cg *cg, const GcPStep *step, char *buf, size_t size)
{
	Operand		o;
	char		index[128],
				found[480],
				part[160] = "";

	if (step->type == GC_STEP_FILTER)
	{
		o = cg_expr(cg, step->expr);
		snprintf(buf, size, "%s", o.v);
		return;
	}
	/* Keys of other passes are out of the build's range, so that they have no match. */
	if (step->join == GC_JOIN_ANTI && cg_is_split(cg, step->build))
		cg_probed_part(cg, step, part, sizeof(part));
	cg_dense_match(cg, step, found, sizeof(found), index, sizeof(index));
	if (part[0])
		snprintf(buf, size, "%s && !(%s)", part, found);
	else
		snprintf(buf, size, step->join == GC_JOIN_ANTI ? "!(%s)" : "%s", found);
}
