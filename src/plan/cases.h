/*-------------------------------------------------------------------------
 *
 * cases.h
 *	  The arms of CASE, COALESCE and the like; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CASES_H
#define GC_CASES_H

#include "translate.h"

/* A choice among values, whose arms are brought together one by one. */
typedef struct GcChoice
{
	bool		texts_mix;		/* its texts may come from several dictionaries */
} GcChoice;

extern GcChoice gc_begin_choice(GcTranslation *tr, Expr *expr);

/* Which of two arms' dictionaries is to have the values of both. */
extern uint16 gc_common_space(uint16 a, uint16 b);

/* Bring two arms together.  False: refused. */
extern bool gc_join_arms(GcTranslation *tr, const GcChoice *choice, int *a, int *b);

/* GREATEST or LEAST of texts, its arms, of which none is NULL: List of int. */
extern int	gc_text_extreme(GcTranslation *tr, const MinMaxExpr *m, const GcChoice *choice, List *arms);

/* CASE without an operand for one with. */
extern CaseExpr *gc_put_operand(const CaseExpr *c);

#endif							/* GC_CASES_H */
