/*-------------------------------------------------------------------------
 *
 * arms.h
 *	  Which of the values of UNION ALL's arms a pipeline has; private to codegen/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_ARMS_H
#define GC_CODEGEN_ARMS_H

#include "../codegen.h"

/*
 * A copy of the program in which each GC_OP_ARM has for both arguments what it is in this pipeline.
 * NULL if the program has none.  The caller frees it.
 */
extern GcCode cg_settle_arms(const GcProgram *p, u16 pipeline, GcProgram **copy, GcError *err);

#endif							/* GC_CODEGEN_ARMS_H */
