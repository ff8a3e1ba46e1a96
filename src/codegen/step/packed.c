/*-------------------------------------------------------------------------
 *
 * packed.c
 *	  Filters that are tested on a column's packed codes, several codes at once.
 *
 * Such a filter compares columns with parameters (=, <, <=, >, >=, joined by AND), and the
 * columns' codes take 1 or 2 bytes.  It asks of each column whether its code lies in a range
 * (cuda/gc_packed.h).  The range's ends are computed once for each tile.  If a range is empty, the
 * tile has nothing for the request.  In a fused kernel the members' ranges would fill the
 * registers, so shared memory keeps them as per-warp words.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "packed.h"
#include "../../program/tagged.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/fusion.h"
#include "../expr/operand.h"
#include "../expr/values.h"

#include <stdio.h>
#include <string.h>

#define EXPR(p, i)		(&gc_exprs(p)[i])

/* Words are taken four at a time (GC_TAKE_WORDS). */
#define ROUND_UP(n)		(((n) + 3) / 4 * 4)

/* The comparison with its sides exchanged, so that the column is on the left. */
static u8
turned(u8 op)
{
	switch (op)
	{
		case GC_OP_LT:
			return GC_OP_GT;
		case GC_OP_LE:
			return GC_OP_GE;
		case GC_OP_GT:
			return GC_OP_LT;
		case GC_OP_GE:
			return GC_OP_LE;
		default:
			return op;
	}
}

/*
 * Is e a comparison of packed codes with a parameter? *side: which argument is the column.  The
 * column's stored values are compared, so its scale may not be changed.
 */
static bool
packed_comparison(const GcProgram *p, const GcExpr *e, int *side)
{
	if (e->op != GC_OP_EQ && e->op != GC_OP_LT && e->op != GC_OP_LE && e->op != GC_OP_GT && e->op != GC_OP_GE)
		return false;
	if ((e->flags & GC_CHECKED) || (e->opreg != GC_I32 && e->opreg != GC_I64))
		return false;
	for (int i = 0; i < 2; i++)
	{
		const GcExpr *c = EXPR(p, e->arg[i]);
		const GcExpr *v = EXPR(p, e->arg[!i]);

		if (c->op != GC_OP_COLUMN || v->op != GC_OP_PARAM)
			continue;
		*side = i;
		return e->rescale[i] == 0 && !gc_is_varying(c) && (c->reg == GC_I32 || c->reg == GC_I64) &&
			(v->reg == GC_I32 || v->reg == GC_I64) && !(v->flags & GC_NULLABLE) &&
			(gc_columns(p)[c->ref].width == 1 || gc_columns(p)[c->ref].width == 2);
	}
	return false;
}

/*
 * Are all comparisons of e, joined by AND, of packed codes?  Call each(), if given, for those that
 * are.
 */
static bool
packed_filter(const GcProgram *p, u16 e, void (*each) (void *context, const GcExpr *comparison, int side),
			  void *context)
{
	const GcExpr *x = EXPR(p, e);
	int			side;

	if (x->op == GC_OP_AND)
		return packed_filter(p, x->arg[0], each, context) && packed_filter(p, x->arg[1], each, context);
	if (!packed_comparison(p, x, &side))
		return false;
	if (each)
		each(context, x, side);
	return true;
}

/* Is the step's condition a comparison of packed codes with constants, or several with AND? */
bool
cg_is_packed(const GcProgram *p, const GcPStep *step)
{
	return step->type == GC_STEP_FILTER && packed_filter(p, step->expr, NULL, NULL);
}

typedef struct ReadColumns
{
	const GcProgram *p;
	bool		read[GC_MAX_COLUMNS];
} ReadColumns;

/* Note a column that a packed condition reads. */
static void
note_column(void *context, const GcExpr *e, int side)
{
	ReadColumns *columns = context;

	columns->read[EXPR(columns->p, e->arg[side])->ref] = true;
}

int
cg_per_warp_words(const GcProgram *p, const GcPPipeline *pl)
{
	ReadColumns columns = {.p = p};
	int			words = 0;

	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (cg_is_packed(p, step))
			(void) packed_filter(p, step->expr, note_column, &columns);
	}
	for (int c = 0; c < GC_MAX_COLUMNS; c++)
		words += 2 * columns.read[c];
	return ROUND_UP(words);
}

/*
 * Find or add the column's words and the ends of its range, which at first is that of all codes.
 */
static PackedColumn *
packed_column(Cg *cg, Packed *packed, u16 column)
{
	const int	k = cg_column(cg, column);
	PackedColumn *c;

	for (int i = 0; i < packed->n; i++)
	{
		if (packed->columns[i].k == k)
			return &packed->columns[i];
	}
	c = &packed->columns[packed->n++];
	*c = (PackedColumn) {.column = column,.k = k};
	text_addf(&cg->descs, "u32 first%d = 0, end%d = GC_CODES_END(%d);\n", k, k, gc_columns(cg->p)[column].width);
	return c;
}

typedef struct Narrowing
{
	Cg		   *cg;
	Packed	   *packed;
} Narrowing;

/* Emit statements that narrow the column's range by a comparison. */
static void
narrow(void *context, const GcExpr *e, int side)
{
	Cg		   *cg = ((Narrowing *) context)->cg;
	Packed	   *packed = ((Narrowing *) context)->packed;
	const u8	op = side == 0 ? e->op : turned(e->op);
	const u16	param = e->arg[!side];
	PackedColumn *c = packed_column(cg, packed, EXPR(cg->p, e->arg[side])->ref);
	const char *ctype = cg_ctype[e->opreg];
	Operand		o;
	char		value[192];

	cg_require(cg, param);
	o = cg_expr(cg, param);
	cg_as(cg, value, sizeof(value), param, &o, e->opreg, e->rescale[!side]);
	if (op != GC_OP_LT && op != GC_OP_LE)
	{
		text_addf(&cg->descs, "first%d = GC_MAX(first%d, gc_codes_%s_%s(%s, (%s) d%d.base));\n", c->k, c->k,
				  op == GC_OP_GT ? "upto" : "below", ctype, value, ctype, c->k);
		c->first = true;
	}
	if (op != GC_OP_GT && op != GC_OP_GE)
	{
		text_addf(&cg->descs, "end%d = GC_MIN(end%d, gc_codes_%s_%s(%s, (%s) d%d.base));\n", c->k, c->k,
				  op == GC_OP_LT ? "below" : "upto", ctype, value, ctype, c->k);
		c->end = true;
	}
}

/* Bring one end of a range to where vectors are tested: its name there, and its value here. */
static void
bring_end(Cg *cg, const char *name, int k, const char *value)
{
	if (!cg->fusion)
	{
		text_addf(&cg->descs, "const u32 %s%d = %s;\n", name, k, value);
		return;
	}
	text_addf(&cg->descs, "GC_KEEP_WORD(%d, %s)\n", cg->fusion->nper_warp, value);
	text_addf(cg->out, "const u32 %s%d = gc_word[%d];\n", name, k, cg->fusion->nper_warp - cg->first_per_warp);
	cg->fusion->nper_warp++;
}

/* Declare the ends of the column's range of codes, for its comparisons. */
static void
end_range(Cg *cg, const PackedColumn *c)
{
	const GcPColumn *pc = &gc_columns(cg->p)[c->column];
	char		value[64];

	if (cg->fusion)
		text_addf(&cg->descs, "GC_MEMBER_CODES(%d, ", cg->member);
	else
		text_addf(&cg->descs, "GC_SOME_CODES(");
	text_addf(&cg->descs, "%d, first%d, end%d)\n", pc->width, c->k, c->k);
	if (c->first)
	{
		snprintf(value, sizeof(value), "GC_FIRST_OF(%d, %d, first%d)", pc->width, pc->high_bit_free, c->k);
		bring_end(cg, "from", c->k, value);
	}
	if (c->end)
	{
		snprintf(value, sizeof(value), "GC_END_OF(%d, %d, end%d)", pc->width, pc->high_bit_free, c->k);
		bring_end(cg, "to", c->k, value);
	}
}

/* Declare all ranges.  In a fused kernel they come from words that are kept for each warp. */
static void
end_ranges(Cg *cg, const Packed *packed)
{
	int			n = 0;

	for (int i = 0; i < packed->n; i++)
		n += packed->columns[i].first + packed->columns[i].end;
	if (cg->fusion && n > 0)
	{
		cg->first_per_warp = cg->fusion->nper_warp = ROUND_UP(cg->fusion->nper_warp);
		text_addf(cg->out, "GC_TAKE_WORDS(%d, %d)\n", cg->first_per_warp, n);
	}
	for (int i = 0; i < packed->n; i++)
		end_range(cg, &packed->columns[i]);
}

/*
 * Are the column's words read a vector ahead?  A kernel of its own runs in few warps, beside
 * others.  So it waits half as often, as far as there are registers.
 */
static bool
read_ahead(Cg *cg, const PackedColumn *c)
{
	const u8	width = gc_columns(cg->p)[c->column].width;

	if (cg->fusion || cg->filtered || cg->variant->vec < 8 || cg_scans_pairs(cg->p, cg->pl) ||
		cg->ahead_bytes + width * cg->variant->vec > GC_AHEAD_BYTES)
		return false;
	cg->ahead[cg->nahead++] = (AheadColumn) {c->k, width};
	cg->ahead_bytes += width * cg->variant->vec;
	return true;
}

void
cg_require_packed(Cg *cg, const GcPStep **steps, int n, Packed *packed)
{
	Narrowing	narrowing = {cg, packed};

	packed->n = 0;
	for (int i = 0; i < n; i++)
		(void) packed_filter(cg->p, steps[i]->expr, narrow, &narrowing);
	end_ranges(cg, packed);
	for (int i = 0; i < packed->n; i++)
	{
		const PackedColumn *c = &packed->columns[i];

		cg->loaded_bytes += gc_columns(cg->p)[c->column].width;
		if (!read_ahead(cg, c) && (!cg->fusion || !fused_vector(cg, c->column, true)))
			cg_load_words(cg->out, gc_columns(cg->p)[c->column].width, c->k, "");
	}
}

/* Test all codes of a word at once; NULLs fail. */
static void
test_column(Cg *cg, const PackedColumn *c)
{
	const GcPColumn *pc = &gc_columns(cg->p)[c->column];

	text_addf(cg->out, "GC_CODES(w%d, %d, %d, %s, from%d, to%d)\n", c->k, pc->width, pc->high_bit_free,
			  c->first && c->end ? "WITHIN" : c->first ? "FROM" : "BEFORE", c->k, c->k);
	if (pc->nullable)
		text_addf(cg->out, "GC_CODES_THERE(d%d)\n", c->k);
}

void
cg_test_packed(Cg *cg, const Packed *packed)
{
	if (packed->n == 0)
		return;
	text_addf(cg->out, "GC_PACKED\n");
	for (int i = 0; i < packed->n; i++)
		test_column(cg, &packed->columns[i]);
	text_addf(cg->out, "GC_END_PACKED\n");
}
