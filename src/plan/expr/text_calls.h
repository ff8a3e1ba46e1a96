/*-------------------------------------------------------------------------
 *
 * text_calls.h
 *	  Calls of functions of texts: which raise no error, and which no setting has an influence on; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TEXT_CALLS_H
#define GC_TEXT_CALLS_H

#include "postgres.h"

#include "nodes/primnodes.h"

/*
 * Can an expression be evaluated for any texts, integers, booleans and enums without an error?  False
 * where that is not known.
 */
extern bool gc_takes_any_texts(Expr *expr);

/* An integer or an enum as the text that it is spelled as; any other expression itself. */
extern Expr *gc_as_text(Expr *arg);

/*
 * Is it || of two texts, concat() or concat_ws() of several texts, integers and enums, or an operator of a text and a
 * constant?  As two parts, of which each is a text.
 */
extern bool gc_is_concatenation(Expr *expr, Expr *parts[2]);

/* A concatenation like expr, of two other parts. */
extern Expr *gc_concatenation_of(const Expr *expr, Expr *const parts[2]);

/* A copy with || in the place of concat() of texts alone, which PostgreSQL calls stable only for other types' sake. */
extern Node *gc_without_concat(Node *node);

#endif							/* GC_TEXT_CALLS_H */
