/*-------------------------------------------------------------------------
 *
 * scales.c
 *	  How many digits a numeric shows behind the point: which rule an operation has.
 *
 * Pure C, for all processes.
 *
 *-------------------------------------------------------------------------
 */
#include "scales.h"

GcScaleRule
gc_scale_rule(const GcExpr *e)
{
	switch (e->op)
	{
		case GC_OP_CAST:
			return e->flags & GC_CAST_SCALE ? GC_SCALE_GIVEN : GC_SCALE_ARGUMENT;
		case GC_OP_NEG:
		case GC_OP_ABS:
		case GC_OP_OUTER:
		case GC_OP_WINDOW:
		case GC_OP_SHOWN:			/* one of those that the argument may have */
			return GC_SCALE_ARGUMENT;
		case GC_OP_ADD:
		case GC_OP_SUB:
		case GC_OP_MOD:
			return GC_SCALE_LARGER;
		case GC_OP_MUL:
			return GC_SCALE_SUM;
		case GC_OP_DIV:
		case GC_OP_AVG:
		case GC_OP_STDDEV:
			return GC_SCALE_QUOTIENT;
		case GC_OP_IF:
		case GC_OP_COALESCE:
		case GC_OP_GREATEST:
		case GC_OP_LEAST:
		case GC_OP_ARM:
			return GC_SCALE_CHOSEN;
		default:
			return GC_SCALE_OWN;
	}
}
