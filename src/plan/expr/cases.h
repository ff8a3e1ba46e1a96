/*-------------------------------------------------------------------------
 *
 * cases.h
 *	  CASE, COALESCE, GREATEST and LEAST; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CASES_H
#define GC_CASES_H

#include "../base/translate.h"

extern int	gc_translate_case(GcTranslation *tr, GcLeaf *leaf, CaseExpr *c);

/* CASE with an operand as CASE with conditions: the operand in the place of each CaseTestExpr. */
extern CaseExpr *gc_case_by_conditions(CaseExpr *c);

/* GREATEST or LEAST of texts. */
extern int	gc_translate_text_extreme(GcTranslation *tr, GcLeaf *leaf, MinMaxExpr *m);

/* COALESCE, or GREATEST or LEAST of anything else: the operator that is applied to two of the arguments. */
extern int	gc_translate_choice(GcTranslation *tr, GcLeaf *leaf, Expr *expr, List *args, GcOp op);

/* Which of two arms' dictionaries is to have the values of both. */
extern uint16 gc_common_space(uint16 a, uint16 b);

#endif							/* GC_CASES_H */
