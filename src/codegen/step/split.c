/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Passes: which rows belong to the part of a build or of groups that a pass has.
 *
 * A request whose builds or groups do not fit into device memory runs in passes (worker/run/passes.c).
 * A pass has one part of a build's rows, and the probes drop rows that are not of this part.  Equal keys
 * are in one part.  So a row meets all of its matches in one pass, and comes to the sink in that pass
 * alone, whatever the kind of join.  A NULL key counts as 0 here: it only matters that the row is
 * of one pass.
 *
 * A part is given by the keys' hash, or by a range of the only key where a dense build is split.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "split.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/operand.h"
#include "../expr/values.h"

#include <stdio.h>

/* The condition itself: index as in GC_ARG_SPLIT; hash and key are C expressions. */
static void
in_part(Cg *cg, u16 index, bool ranged, const char *hash, const char *key, char *buf, size_t size)
{
	const int	a = cg_word(cg, GC_ARG_SPLIT, index, 0);
	const int	b = cg_word(cg, GC_ARG_SPLIT, index, 1);

	if (ranged)
		snprintf(buf, size, "(%s >= (i64) gc_a.w[%d] && %s <= (i64) gc_a.w[%d])", key, a, key, b);
	else
		snprintf(buf, size, "gc_in_part(%s, gc_a.w[%d], gc_a.w[%d])", hash, a, b);
}

/* Has the build parts by ranges of its key, rather than by its hash? */
static bool
is_ranged(const Cg *cg, u16 build)
{
	return (cg->variant->splits.ranged >> build & 1) != 0;
}

void
cg_probed_part(Cg *cg, const GcPStep *step, char *buf, size_t size)
{
	const int	nkeys = gc_builds(cg->p)[step->build].nkeys;
	int			b = cg_build(cg, step->build);
	char		hash[24],
				keys[24],
				key[24];

	snprintf(hash, sizeof(hash), "gc_sh%d", b);
	snprintf(keys, sizeof(keys), "gc_sk%d", b);
	snprintf(key, sizeof(key), "gc_sk%d[0]", b);
	cg_require_keys(cg, step);
	text_addf(cg->out, "i64 %s[%d];\n", keys, nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		Operand		o = cg_expr(cg, gc_refs(cg->p)[step->first_key + i]);

		if (never_null(&o))
			text_addf(cg->out, "%s[%d] = (i64) %s;\n", keys, i, o.v);
		else
			text_addf(cg->out, "%s[%d] = %s ? 0 : (i64) %s;\n", keys, i, o.n, o.v);
	}
	if (!is_ranged(cg, step->build))
		cg_hash(cg, hash, keys, nkeys);
	in_part(cg, step->build, is_ranged(cg, step->build), hash, key, buf, size);
}

void
cg_skip_built(Cg *cg)
{
	const u16	build = cg->pl->build;
	char		cond[160];

	if (!cg_is_split(cg, build))
		return;
	if (!is_ranged(cg, build))
		cg_hash(cg, "gc_sh", "gc_k", gc_builds(cg->p)[build].nkeys);
	in_part(cg, build, is_ranged(cg, build), "gc_sh", "gc_k[0]", cond, sizeof(cond));
	text_addf(cg->out, "if (!%s) continue;\n", cond);
}

/* The number of the group key that column k of those by which groups are split is. */
static int
group_key(Cg *cg, int k)
{
	const GcExpr *e = &gc_exprs(cg->p)[gc_refs(cg->p)[cg->variant->splits.first_key + k]];

	if (e->op != GC_OP_COLUMN || gc_columns(cg->p)[e->ref].agg != GC_NONE ||
		gc_columns(cg->p)[e->ref].attnum >= cg->pl->nkeys)
	{
		cg_fail(cg, GC_BAD_PROGRAM, "groups that are split by what is no key of them");
		return 0;
	}
	return gc_columns(cg->p)[e->ref].attnum;
}

void
cg_skip_grouped(Cg *cg)
{
	const GcSplits *s = &cg->variant->splits;
	char		cond[160],
				key[24];

	if (!s->groups)
		return;
	if (s->groups_with == 0)
	{
		in_part(cg, GC_SPLIT_GROUPS + cg_pipeline_number(cg), false, "gc_h", "", cond, sizeof(cond));
		text_addf(cg->out, "if (!%s) continue;\n", cond);
		return;
	}
	snprintf(key, sizeof(key), "gc_k[%d]", group_key(cg, 0));
	text_addf(cg->out, "u64 gc_sh = 0; (void) gc_sh;\n");
	for (int k = 0; k < s->nkeys; k++)
		text_addf(cg->out, "gc_sh = gc_hash_step(gc_sh, gc_k[%d]);\n", group_key(cg, k));
	text_addf(cg->out, "gc_sh = gc_hash_end(gc_sh);\n");
	in_part(cg, s->groups_with - 1, is_ranged(cg, s->groups_with - 1), "gc_sh", key, cond, sizeof(cond));
	text_addf(cg->out, "if (!%s) continue;\n", cond);
}
