/*-------------------------------------------------------------------------
 *
 * arms.c
 *	  Which of the values of UNION ALL's arms a pipeline has.
 *
 * The arms are pipelines with one sink, and expressions behind the union are the same for all of
 * them.  A column of the union is a GC_OP_ARM of what it is in each arm.  A kernel must not read
 * columns of other arms, and what can be told of an expression depends on the arm.  So a pipeline is
 * looked at, and generated, from a copy of the program in which that is settled.
 *
 * Pure C, called on the worker's main thread.  The copy belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "arms.h"

#include <stdlib.h>
#include <string.h>

static bool
has_arms(const GcProgram *p)
{
	for (u16 i = 0; i < p->nexprs; i++)
	{
		if (gc_exprs(p)[i].op == GC_OP_ARM)
			return true;
	}
	return false;
}

GcCode
cg_settle_arms(const GcProgram *p, u16 pipeline, GcProgram **copy, GcError *err)
{
	*copy = NULL;
	if (!has_arms(p))
		return GC_OK;
	*copy = malloc(p->size);
	if (*copy == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory while generating a kernel.");
	memcpy(*copy, p, p->size);
	for (u16 i = 0; i < p->nexprs; i++)
	{
		GcExpr	   *e = &gc_exprs(*copy)[i];
		const int	taken = e->ref == pipeline ? 0 : 1;

		if (e->op != GC_OP_ARM)
			continue;
		e->arg[0] = e->arg[1] = e->arg[taken];
		e->rescale[0] = e->rescale[1] = e->rescale[taken];
	}
	return GC_OK;
}
