/*-------------------------------------------------------------------------
 *
 * emit.c
 *	  The beginning and the end of generating, argument words, local numbers; the arms of UNION ALL.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "analysis.h"
#include "emit.h"
#include "fusion.h"

#include <stdlib.h>
#include <string.h>

const char *const cg_ctype[] = {"i32", "i64", "i128", "float", "double"};
const char *const cg_suffix[] = {"i32", "i64", "i128", "f32", "f64"};
const char *const cg_code_type[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64", [16] = "u128"};

void
cg_fail(Cg *cg, GcCode code, const char *what)
{
	if (cg->code == GC_OK)
		cg->code = gc_fail(cg->err, code, "Kernels cannot compute this: %s.", what);
}

void
cg_check_memory(Cg *cg)
{
	if (cg->code == GC_OK && (cg->decls.failed || cg->descs.failed || cg->body.failed ||
								cg->producer.descs.failed || cg->producer.body.failed))
		cg->code = gc_fail(cg->err, GC_HOST_MEMORY, "Out of memory while generating a kernel.");
}

GcCode
cg_begin(Cg *cg, const GcProgram *p, u16 pipeline, const GcVariant *variant, GcError *err)
{
	memset(cg, 0, sizeof(*cg));
	memset(cg->column, -1, sizeof(cg->column));
	memset(cg->param, -1, sizeof(cg->param));
	memset(cg->lut, -1, sizeof(cg->lut));
	memset(cg->list, -1, sizeof(cg->list));
	memset(cg->build, -1, sizeof(cg->build));
	if (cg_settle_arms(p, pipeline, &cg->settled, err) != GC_OK)
		return GC_HOST_MEMORY;
	cg->p = p = cg->settled ? cg->settled : p;
	cg->pl = &gc_pipelines(p)[pipeline];
	cg->unmatched = cg_unmatched_of(p, cg->pl);
	cg->variant = variant;
	cg->err = err;
	cg->out = &cg->body;
	cg->code = GC_OK;
	memset(cg->batched_direct, GC_NOT_BATCHED, sizeof(cg->batched_direct));
	cg->payload = malloc(2 * (p->npayloads + 1) * sizeof(i16));
	if (cg->payload == NULL)
	{
		free(cg->settled);
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory while generating a kernel.");
	}
	memset(cg->payload, -1, 2 * (p->npayloads + 1) * sizeof(i16));
	cg->batched = cg->payload + p->npayloads + 1;
	return GC_OK;
}

void
cg_free(Cg *cg)
{
	text_free(&cg->decls);
	text_free(&cg->descs);
	text_free(&cg->body);
	text_free(&cg->producer.descs);
	text_free(&cg->producer.body);
	free(cg->payload);
	free(cg->settled);
}

GcCode
cg_finish(Cg *cg, Text *text)
{
	cg->body.failed |= text->failed;
	cg_check_memory(cg);
	cg_free(cg);
	if (cg->code == GC_OK)
		cg->src->text = text->s;
	else
		text_free(text);
	return cg->code;
}

int
cg_word(Cg *cg, u8 type, u16 index, u8 part)
{
	const GcArgWord word = {.type = type,.part = part,.index = index};
	int		   *n = cg->fusion ? &cg->fusion->src->nwords : &cg->src->nwords;

	if (*n == GC_MAX_ARG_WORDS)
	{
		cg_fail(cg, GC_UNSUPPORTED, "a kernel with too many parameters");
		return 0;
	}
	if (cg->fusion)
		cg->fusion->src->words[*n] = (GcFusedWord) {.word = word,.member = cg->member};
	else
		cg->src->words[*n] = word;
	return (*n)++;
}

int
cg_column(Cg *cg, u16 column)
{
	int			k = cg->column[column];

	if (k < 0 && cg->fusion)
	{
		k = cg->column[column] = cg->physical[column];
		if (k < 0 || k >= GC_MAX_COLUMNS)
		{
			cg_fail(cg, GC_BAD_PROGRAM, "a column that is not cached");
			k = cg->column[column] = 0;
		}
		cg->fusion->readers[k] |= 1u << cg->member;
	}
	else if (k < 0 && gc_inputs(cg->p)[gc_columns(cg->p)[column].input].groups_of)
		k = cg->column[column] = cg->ncolumns++;
	else if (k < 0)
	{
		int			cached,
					private;

		k = cg->column[column] = cg->ncolumns++;
		cg->src->reach[column] = (GcColumnReach) {.passed = cg->halvings < UINT8_MAX ? cg->halvings : UINT8_MAX,
		.rows = cg->gather || cg->in_rows || cg->variant->vec == 0 ? 1 : cg->variant->vec};
		cached = cg_word(cg, GC_ARG_COLUMN, column, GC_COLUMN_CACHED);
		private = cg_word(cg, GC_ARG_COLUMN, column, GC_COLUMN_PRIVATE);
		text_addf(&cg->descs, "const GcCol d%d = gc_column(gc_a.w[%d], gc_a.w[%d], gc_src.chunk);\n", k, cached,
				  private);
	}
	return k;
}

/* An estimate of n halvings, if it is not 0, stands for n to n + 1 of them. */
void
cg_note_tested(Cg *cg, const GcPStep *step)
{
	cg->halvings += 2 * step->selectivity + (step->selectivity > 0);
}

int
cg_build(Cg *cg, u16 build)
{
	static const struct
	{
		const char *name;
		u8			part;
		u8			mode;
	}			parts[] = {
		{"bits", GC_BUILD_PART_BITMAP, GC_BUILD_DENSE},
		{"base", GC_BUILD_PART_BASE, GC_BUILD_DENSE},
		{"range", GC_BUILD_PART_RANGE, GC_BUILD_DENSE},
		{"slots", GC_BUILD_PART_SLOTS, GC_BUILD_HASH},
		{"mask", GC_BUILD_PART_MASK, GC_BUILD_HASH},
		{"keys", GC_BUILD_PART_KEYS, GC_BUILD_HASH},
		{"next", GC_BUILD_PART_NEXT, GC_BUILD_HASH},
		{"cap", GC_BUILD_PART_CAP, GC_BUILD_HASH},
		{"cap", GC_BUILD_PART_CAP, GC_BUILD_LIST},
		{"flags", GC_BUILD_PART_FLAGS, GC_BUILD_LIST},
	};
	int			k = cg->build[build];

	if (k >= 0)
		return k;
	k = cg->build[build] = cg->nbuilds++;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
	{
		if (parts[i].mode == gc_builds(cg->p)[build].mode)
			text_addf(&cg->decls, "const u64 b%d_%s = gc_a.w[%d]; (void) b%d_%s;\n", k, parts[i].name,
					  cg_word(cg, GC_ARG_BUILD, build, parts[i].part), k, parts[i].name);
	}
	return k;
}

void
cg_hash(Cg *cg, const char *h, const char *keys, int nkeys)
{
	text_addf(cg->out, "u64 %s = 0;\n", h);
	for (int i = 0; i < nkeys; i++)
		text_addf(cg->out, "%s = gc_hash_step(%s, %s[%d]);\n", h, h, keys, i);
	text_addf(cg->out, "%s = gc_hash_end(%s);\n", h, h);
}

/*-------------------------------------------------------------------------
 * UNION ALL's arms: which of their values a pipeline has
 *
 * The arms are pipelines with one sink, and expressions behind the union are the same for all of
 * them.  A column of the union is a GC_OP_ARM of its expressions in the arms.  A kernel must not read columns of other
 * arms, and facts of an expression depend on the arm.  So a pipeline is looked at, and generated, from a copy of the
 * program in which that is settled.  The copy belongs to the caller.
 *-------------------------------------------------------------------------
 */

/* Has the program arms at all?  Most have none, and need no copy. */
static bool
has_arms(const GcProgram *p)
{
	for (u16 i = 0; i < p->nexprs; i++)
	{
		if (gc_exprs(p)[i].op == GC_OP_ARM)
			return true;
	}
	return false;
}

GcCode
cg_settle_arms(const GcProgram *p, u16 pipeline, GcProgram **copy, GcError *err)
{
	*copy = NULL;
	if (!has_arms(p))
		return GC_OK;
	*copy = malloc(p->size);
	if (*copy == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory while generating a kernel.");
	memcpy(*copy, p, p->size);
	for (u16 i = 0; i < p->nexprs; i++)
	{
		GcExpr	   *e = &gc_exprs(*copy)[i];
		const int	taken = e->ref == pipeline ? 0 : 1;

		if (e->op != GC_OP_ARM)
			continue;
		e->arg[0] = e->arg[1] = e->arg[taken];
		e->rescale[0] = e->rescale[1] = e->rescale[taken];
	}
	return GC_OK;
}
