/*-------------------------------------------------------------------------
 *
 * load.c
 *	  How columns are loaded: as vectors, as words of packed codes, as one row's values.
 *
 * The scan skeleton loads a vector that several members of a fused kernel want (fusion.c).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "load.h"
#include "analysis.h"
#include "emit.h"
#include "group_scan.h"
#include "fusion.h"

#include <stdio.h>

void
cg_load(Text *t, const char *how, u8 width, u8 reg, int k)
{
	if (width == 0)
		text_addf(t, "%s_ANY(%s, c%d, d%d);\n", how, cg_suffix[reg], k, k);
	else
		text_addf(t, "%s(%d, %s, c%d, d%d);\n", how, width, cg_suffix[reg], k, k);
}

void
cg_load_words(Text *t, u8 width, int k, const char *condition)
{
	text_addf(t, "GC_WORD_ARRAY(%d, w%d);\n%sGC_LOAD_WORDS(%d, w%d, d%d);\n", width, k, condition, width, k, k);
}

void
cg_require_vector(Cg *cg, u16 column)
{
	const GcPColumn *c = &gc_columns(cg->p)[column];
	const bool	tagged = c->min_scale < c->scale;
	int			k = cg_column(cg, column);

	if (cg->array[k])
		return;
	cg->array[k] = true;
	/* Members may differ in whether its values are tagged. */
	if (cg->fusion && !tagged && fused_vector(cg, column, false))
		return;
	text_addf(cg->out, "%s(%s, c%d);\n", cg->gather ? "GC_SELECTED_ARRAY" : "GC_ARRAY", cg_ctype[c->reg], k);
	if (cg->gather)
		text_addf(cg->out, "GC_GATHER(%d, %s, c%d, d%d);\n", c->width, cg_suffix[c->reg], k, k);
	else
		cg_load(cg->out, cg->late ? "GC_LATE" : "GC_LOAD", c->width, c->reg, k);
	if (tagged)
		text_addf(cg->out, "%s(c%d, d%d)\n", cg->gather ? "GC_TAG_GATHERED" : cg->late ? "GC_TAG_LATE" : "GC_TAG_VECTOR", k, k);
	if (c->nullable)
		text_addf(cg->out, "%s(n%d, d%d);\n", cg->gather ? "GC_GATHER_NULLS" : "GC_NULLS", k, k);
	if (!cg->gather)
		cg->loaded_bytes += gc_most_width(c);
	cg->gathered += c->reg == GC_I128 ? 4 : c->reg == GC_I64 || c->reg == GC_F64 ? 2 : 1;
}

void
cg_require_scalar(Cg *cg, u16 column)
{
	const GcPColumn *c = &gc_columns(cg->p)[column];
	int			k = cg_column(cg, column);

	if (cg->scalar[k])
		return;
	cg->scalar[k] = true;
	if (cg_groups_of(cg->p, cg->pl))
	{
		cg_group_column(cg, column, k);
		return;
	}
	if (cg->dense_rows)
	{
		text_addf(cg->out, "const %s v%d = c%d[gc_j];\n", cg_ctype[c->reg], k, k);
		if (c->nullable)
			text_addf(cg->out, "const i32 vn%d = GC_IS_NULL(n%d, gc_j);\n", k, k);
		return;
	}
	if (c->min_scale < c->scale)
		text_addf(cg->out, "const %s v%d = GC_WITH_SCALE(GC_AT(%d, %s, d%d, gc_r), d%d);\n", cg_ctype[c->reg], k, c->width,
				  cg_suffix[c->reg], k, k);
	else
		text_addf(cg->out, "const %s v%d = GC_AT(%d, %s, d%d, gc_r);\n", cg_ctype[c->reg], k, c->width,
				  cg_suffix[c->reg], k);
	if (c->nullable)
		text_addf(cg->out, "const i32 vn%d = GC_NULL_AT(d%d, gc_r);\n", k, k);
}
