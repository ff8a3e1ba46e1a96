/*-------------------------------------------------------------------------
 *
 * fusion.c
 *	  Which vectors are loaded once for several members of a fused kernel.
 *
 * Members are generated twice.  In the first pass each member says which vectors it wants.  Then
 * the vectors are chosen that the scan loads for all.  In the second pass each member asks which
 * of its vectors are among them.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "fusion.h"

#include <string.h>

/* Do two members load the same vector in one way, so that one load serves both? */
static bool
same_vector(const SharedVector *v, const SharedVector *w)
{
	return v->column == w->column && v->width == w->width && v->reg == w->reg && v->nullable == w->nullable &&
		v->words == w->words;
}

/*
 * First pass: note that the member wants this vector.  Second pass: say whether the skeleton loads
 * it.  One physical column may have several types, since members that read different chunks know
 * different facts about it.
 */
bool
fused_vector(Cg *cg, u16 column, bool words)
{
	Fusion	   *f = cg->fusion;
	const GcPColumn *c = &gc_columns(cg->p)[column];
	const SharedVector wanted = {.column = cg->column[column],.width = c->width,.reg = words ? 0 : c->reg,
		.nullable = !words && c->nullable,.words = words,.members = 1u << cg->member};

	for (int i = 0; i < f->nvectors; i++)
	{
		SharedVector *v = &f->vectors[i];

		if (!same_vector(v, &wanted))
			continue;
		if (f->asking && !cg->late)
			v->members |= 1u << cg->member;
		return v->members >> cg->member & 1;
	}
	if (f->asking && !cg->late && f->nvectors < MAX_SHARED_VECTORS)
		f->vectors[f->nvectors++] = wanted;
	return false;
}

/*
 * Keep the vectors that are worth loading for all: those that at least two members want.  Of each
 * physical column, keep only the most wanted vector and the most wanted vector of packed codes.
 */
void
fused_choose_vectors(Fusion *f)
{
	SharedVector chosen[MAX_SHARED_VECTORS];
	bool		taken[2][GC_MAX_COLUMNS] = {{false}};
	int			n = 0;

	for (int wanted = GC_MAX_FUSED; wanted >= 2; wanted--)
	{
		for (int i = 0; i < f->nvectors; i++)
		{
			const SharedVector *v = &f->vectors[i];

			if (__builtin_popcount(v->members) != wanted || taken[v->words][v->column])
				continue;
			taken[v->words][v->column] = true;
			chosen[n++] = *v;
		}
	}
	memcpy(f->vectors, chosen, n * sizeof(SharedVector));
	f->nvectors = n;
}
