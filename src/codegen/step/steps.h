/*-------------------------------------------------------------------------
 *
 * steps.h
 *	  How a pipeline's steps are divided: on whole vectors, on gathered rows, row by row.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_STEPS_H
#define GC_CODEGEN_STEPS_H

#include "../codegen.h"

#define MAX_STEPS			256

typedef struct StepLists
{
	const GcPStep *vector[MAX_STEPS];
	const GcPStep *row[MAX_STEPS];
	int			nvector;
	int			nrow;
	int			ngathered;		/* row steps, from the first on, that are tested on gathered
								 * rows */
} StepLists;

/* Which steps are tested on whole vectors, and which row by row on the survivors. */
extern void cg_divide_steps(const GcProgram *p, const GcPPipeline *pl, const GcVariant *variant, StepLists *lists);

/* The same for a kernel that gathers survivors; false if that does not pay. */
extern bool cg_divide_filtered(const GcProgram *p, const GcPPipeline *pl, StepLists *lists);

#endif							/* GC_CODEGEN_STEPS_H */
