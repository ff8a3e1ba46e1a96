/*-------------------------------------------------------------------------
 *
 * parameters.h
 *	  Expressions without Vars; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PARAMETERS_H
#define GC_PARAMETERS_H

#include "../base/translate.h"

/* Is an expression of rows or groups?  Aggregates stand for values of groups. */
extern bool gc_has_vars(Node *node);

/* An expression without Vars.  space: where a text value will be looked up, or GC_SPACE_NONE. */
extern int	gc_translate_param(GcTranslation *tr, Expr *expr, uint16 space);

#endif							/* GC_PARAMETERS_H */
