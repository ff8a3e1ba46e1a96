/*-------------------------------------------------------------------------
 *
 * functions.h
 *	  SQL functions that kernels compute, beside operators and casts; private to plan/.
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

#endif							/* GC_SQL_FUNCTIONS_H */
