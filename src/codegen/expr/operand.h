/*-------------------------------------------------------------------------
 *
 * operand.h
 *	  Values in generated text: temporaries, conversions, checks.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_OPERAND_H
#define GC_OPERAND_H

#include "state.h"

/* Is its NULL flag "0"? */
static inline bool
never_null(const Operand *o)
{
	return o->n[0] == '0' && o->n[1] == '\0';
}

/* A fresh temporary with this value; its NULL flag is given a name if it is long. */
extern Operand cg_temp(Cg *cg, const char *type, const char *value, const char *null);

/* A fresh temporary with a boolean, whose value is 0 where it is NULL. */
extern Operand cg_temp_bool(Cg *cg, const char *value, const char *null);

/* C expression for operand o of expression e, in register reg, times 10^rescale. */
extern void cg_as(Cg *cg, char *buf, size_t size, u16 e, const Operand *o, u8 reg, int rescale);

/* The condition on a timestamp that it is infinite. */
extern void cg_is_infinite(char *buf, size_t size, const Operand *ts);

/* Check that `value`, if not NULL, lies within the kind's range. */
extern void cg_check_kind(Cg *cg, u8 kind, const char *value, const char *null);

/*
 * Called before a value of e becomes an index.  A value that failed its check lies outside the
 * index's range.  Drop the row then; the result is void anyway.
 */
extern void cg_skip_bad(Cg *cg, u16 e);

/* 10^n as a C constant, in buf. */
extern const char *cg_pow10(int n, char *buf, size_t size);

#endif							/* GC_OPERAND_H */
