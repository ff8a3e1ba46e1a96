/*-------------------------------------------------------------------------
 *
 * operand.c
 *	  Values in generated text: temporaries, conversions, checks.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "operand.h"
#include "analysis.h"
#include "emit.h"

#include <stdio.h>
#include <string.h>

const char *
cg_pow10(int n, char *buf, size_t size)
{
	static const char *const zeros = "000000000000000000";

	if (n <= 18)
		snprintf(buf, size, "1%.*sLL", n, zeros);
	else if (n <= 36)
		snprintf(buf, size, "((i128) 1%sLL * 1%.*sLL)", zeros, n - 18, zeros);
	else
		snprintf(buf, size, "((i128) 1%sLL * 1%sLL * 1%.*sLL)", zeros, zeros, n - 36, zeros);
	return buf;
}

void
cg_as(Cg *cg, char *buf, size_t size, u16 e, const Operand *o, u8 reg, int rescale)
{
	char		ten[96];

	if (rescale > 0)
		snprintf(buf, size, "((%s) %s * %s)", cg_ctype[reg], o->v,
				 cg_pow10(rescale, ten, sizeof(ten)));
	else if (gc_exprs(cg->p)[e].reg != reg)
		snprintf(buf, size, "((%s) %s)", cg_ctype[reg], o->v);
	else
		snprintf(buf, size, "%s", o->v);
}

Operand
cg_temp(Cg *cg, const char *type, const char *value, const char *null)
{
	Operand		o;
	int			t = cg->ntemps++;

	text_addf(cg->out, "const %s t%d = %s;\n", type, t, value);
	snprintf(o.v, sizeof(o.v), "t%d", t);
	if (strlen(null) <= 12)
		snprintf(o.n, sizeof(o.n), "%s", null);
	else
	{
		text_addf(cg->out, "const i32 tn%d = %s;\n", t, null);
		snprintf(o.n, sizeof(o.n), "tn%d", t);
	}
	return o;
}

Operand
cg_temp_bool(Cg *cg, const char *value, const char *null)
{
	char		buf[512];

	if (strcmp(null, "0") == 0)
		return cg_temp(cg, "i32", value, null);
	snprintf(buf, sizeof(buf), "(%s) & !%s", value, null);
	return cg_temp(cg, "i32", buf, null);
}

void
cg_is_infinite(char *buf, size_t size, const Operand *ts)
{
	snprintf(buf, size, "(%s == GC_TS_NOBEGIN || %s == GC_TS_NOEND)", ts->v, ts->v);
}

void
cg_check_kind(Cg *cg, u8 kind, const char *value, const char *null)
{
	const char *lo,
			   *hi;

	switch (kind)
	{
		case GC_INT2:
			lo = "-32768", hi = "32767";
			break;
		case GC_INT4:
			lo = "-2147483648LL", hi = "2147483647LL";
			break;
		case GC_DATE:
			lo = "GC_DATE_LO", hi = "GC_DATE_HI";
			break;
		case GC_TIMESTAMP:
		case GC_TIMESTAMPTZ:
			lo = "GC_TS_LO", hi = "GC_TS_HI";
			break;
		default:
			lo = "GC_TS_NOBEGIN", hi = "GC_TS_NOEND";
			break;
	}
	text_addf(cg->out, "GC_CHECK(%s || ((%s) >= %s && (%s) <= %s));\n", null, value, lo, value, hi);
}

void
cg_skip_bad(Cg *cg, u16 e)
{
	if (cg_checked(cg->p, e))
		text_addf(cg->out, "if (gc_bad) continue;\n");
}
