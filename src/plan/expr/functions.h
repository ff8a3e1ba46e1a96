/*-------------------------------------------------------------------------
 *
 * functions.h
 *	  SQL functions, operators and casts that kernels compute (functions.c, operators.c), and functions of texts
 *	  that raise no error (text_calls.c); private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SQL_FUNCTIONS_H
#define GC_SQL_FUNCTIONS_H

#include "../base/translate.h"

/*
 * A function of one argument's values (GcBuiltin.of), of that translated.  GC_NO_EXPR with a reason: not
 * with these other arguments.
 */
extern int	gc_translate_function(GcTranslation *tr, const FuncExpr *f, int arg);

/* extract(epoch from a - b) of two timestamps: that difference, else NULL. */
extern OpExpr *gc_epoch_of_difference(const FuncExpr *f);
extern int	gc_translate_epoch(GcTranslation *tr, const FuncExpr *f, int a, int b);

/* A cast of a float to numeric that has a constant number of digits behind the point; of that float translated. */
extern bool gc_rounds_float(const FuncExpr *f);
extern int	gc_translate_rounded_float(GcTranslation *tr, const FuncExpr *f, int arg);

/* A numeric that is spelled in a text or in JSON, with as many digits as it likes, made one with a number of digits. */
extern bool gc_rounds_parsed(const FuncExpr *f);

/* width_bucket() of float8, of its four arguments translated. */
extern int	gc_translate_width_bucket(GcTranslation *tr, const int *args);

/* date_bin(), of the timestamp and the origin translated. */
extern int	gc_translate_date_bin(GcTranslation *tr, const FuncExpr *f, int ts, int origin);

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

/* The operator of this name; 0: none that kernels know. */
extern GcOp gc_comparison_op(const char *name);
extern GcOp gc_arith_op(const char *name);

/* Arithmetic of two translated expressions, or of one: its result's type, and the operator or its name. */
extern int	gc_translate_arith(GcTranslation *tr, Oid type, GcOp what, int a, int b);
extern int	gc_translate_unary(GcTranslation *tr, Oid type, const char *name, int a);

/* Two translated expressions are to be compared: aligned in kind and dictionary. */
extern bool gc_align_kinds(GcTranslation *tr, int *a, int *b);

/* text and bpchar under a deterministic collation, for = and <>. */
extern bool gc_text_equality_ok(OpExpr *op, GcOp cmp);

/* Casts that kernels do: from one kind to another. */
extern bool gc_cast_supported(GcKind from, GcKind to);

/* Is this call what a cast between its argument's and its result's type does? */
extern bool gc_is_cast_call(FuncExpr *f);

#endif							/* GC_SQL_FUNCTIONS_H */
