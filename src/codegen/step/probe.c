/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  Steps, row by row: conditions of filters, inner probes of hash builds, and other joins' probes.
 *
 * Keys that depend on one column find the same row wherever the column has the same value.  In a
 * selection scan (kernel/selection.c) the request's predicate kernel therefore looks up every value of
 * the column once.  It writes each value's row into a direct lookup table.  The kernel that visits
 * the selection bitmap's rows then reads this table, of 4 or 8 bytes a value, which the L2 cache
 * holds.  Slots and keys would not fit there.  So a join by hash table costs as much as a join by dense build.
 * Payloads of up to 4 bytes stand in the same entry, so that one access is enough.
 *
 * This is perfect hashing by value, as in the dimension vectors of invisible joins (Abadi,
 * Madden, Hachem 2008).  But the table is made per request, from the build that the request's own
 * snapshot filled.  So nothing has to be kept up to date.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "probe.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/operand.h"
#include "../expr/values.h"
#include "../selection.h"

#include <stdio.h>

#include "split.h"
#include "pairs.h"

/*-------------------------------------------------------------------------
 * Inner probes of hash builds
 *-------------------------------------------------------------------------
 */

void
cg_hash_find(Cg *cg, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(cg->p)[step->build];
	int			b = cg_build(cg, step->build);
	char		h[16],
				keys[16];

	snprintf(h, sizeof(h), "h%d", b);
	snprintf(keys, sizeof(keys), "k%d", b);
	cg_require_keys(cg, step);
	text_addf(cg->out, "i64 k%d[%d];\n", b, build->nkeys > 0 ? build->nkeys : 1);
	for (u16 i = 0; i < build->nkeys; i++)
	{
		Operand		o = cg_expr(cg, gc_refs(cg->p)[step->first_key + i]);

		if (!never_null(&o))
			text_addf(cg->out, "if (%s) continue;\n", o.n);
		text_addf(cg->out, "k%d[%d] = (i64) %s;\n", b, i, o.v);
	}
	cg_hash(cg, h, keys, build->nkeys);
	text_addf(cg->out, "%s r%d = gc_build_find((const u64 *) b%d_slots, b%d_mask, (const i64 *) b%d_keys, b%d_cap, k%d, %d, h%d);\n",
			  build->unique ? "const u32" : "u32", b, b, b, b, b, b, build->nkeys, b);
}

int
cg_hash_probe(Cg *cg, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(cg->p)[step->build];
	const bool	direct = cg_is_direct(cg, step);
	int			b = cg_build(cg, step->build);

	if (direct)
		cg_find_place(cg, step);
	else
		cg_hash_find(cg, step);
	cg->index[step->build] = true;
	if (build->unique)
	{
		text_addf(cg->out, "if (!r%d) continue;\nconst u64 x%d = r%d - 1; (void) x%d;\n", b, b, b, b);
		return 0;
	}
	if (direct)
		text_addf(cg->out, "const u32 m%d = r%d & GC_DIRECT_MORE;\ni32 f%d = 1; (void) f%d;\nr%d &= ~GC_DIRECT_MORE;\n"
				  "for (; r%d; r%d = m%d ? ((const u32 *) b%d_next)[r%d - 1] : 0, f%d = 0) {\n", b, b, b, b, b, b, b, b, b, b, b);
	else
		text_addf(cg->out, "for (; r%d; r%d = ((const u32 *) b%d_next)[r%d - 1]) {\n", b, b, b, b);
	text_addf(cg->out, "if (!GC_GO_ON) break;\nconst u64 x%d = r%d - 1; (void) x%d;\n", b, b, b);
	return 1;
}

void
cg_direct_write(Cg *cg, const GcPStep *step, const char *at)
{
	const GcPBuild *build = &gc_builds(cg->p)[step->build];
	int			direct_tables = cg_word(cg, GC_ARG_DIRECT, step->build, GC_PREDICATE_BITS);
	int			b = cg_build(cg, step->build);

	text_addf(cg->out, "u64 gc_direct = 0;\ni32 gc_bad = 0;\ndo {\n");
	cg_hash_find(cg, step);
	text_addf(cg->out, "if (!r%d) continue;\ngc_direct = r%d;\n", b, b);
	if (!build->unique)
		text_addf(cg->out, "if (((const u32 *) b%d_next)[r%d - 1]) gc_direct |= GC_DIRECT_MORE;\n", b, b);
	for (u16 i = 0; i < build->npayloads && gc_direct_bytes(cg->p, step->build) == 8; i++)
	{
		u16			payload = build->first_payload + i;

		text_addf(cg->out, "gc_direct |= (u64) ((const %s *) gc_a.w[%d])[r%d - 1] << %d;\n",
				  cg_code_type[gc_payloads(cg->p)[payload].width],
				  cg_word(cg, GC_ARG_PAYLOAD, payload, 0), b, cg_payload_shift(cg->p, payload));
	}
	text_addf(cg->out, "} while (0);\nif (gc_bad) gc_direct = GC_DIRECT_BAD;\n((%s *) gc_a.w[%d])[%s] = gc_direct;\n",
			  gc_direct_bytes(cg->p, step->build) == 8 ? "u64" : "u32", direct_tables, at);
}

/*-------------------------------------------------------------------------
 * The condition under which a row passes a step that only tests it.  That is a filter, or the probe of a dense build by
 * an inner, semi or anti join
 *-------------------------------------------------------------------------
 */

void
cg_require_step(Cg *cg, const GcPStep *step)
{
	if (step->type == GC_STEP_FILTER)
		cg_require(cg, step->expr);
	else
	{
		int			b = cg_build(cg, step->build);

		cg_require(cg, gc_refs(cg->p)[step->first_key]);
		if (!cg->at[step->build] && !(cg->variant->shared_builds & 1u << step->build))
			text_addf(&cg->decls, "const u32 *b%d_at = (const u32 *) b%d_bits;\n", b, b);
		cg->at[step->build] = true;
	}
}

/* The probe of a dense build: has the row a match, and at which index? */
static void
dense_match(Cg *cg, const GcPStep *step, char *cond, size_t cond_size, char *index, size_t index_size)
{
	const u16	key = gc_refs(cg->p)[step->first_key];
	const Operand o = cg_expr(cg, key);
	const int	b = cg_build(cg, step->build);

	cg_dense_index(cg, step, key, &o, index, index_size);
	if (step->in_range && never_null(&o) && !cg_checked(cg->p, key) && !cg_is_split(cg, step->build))
		snprintf(cond, cond_size, "GC_BIT(b%d_at, %s)", b, index);
	else
		snprintf(cond, cond_size, "!%s && %s < b%d_range && GC_BIT(b%d_at, %s)", o.n, index, b, b, index);
}

void
cg_step_condition(Cg *cg, const GcPStep *step, char *buf, size_t size)
{
	Operand		o;
	char		index[128],
				found[480],
				part[160] = "";

	if (step->type == GC_STEP_FILTER)
	{
		o = cg_expr(cg, step->expr);
		snprintf(buf, size, "%s", o.v);
		return;
	}
	/* Keys of other passes are out of the build's range, so that they have no match. */
	if (step->join == GC_JOIN_ANTI && cg_is_split(cg, step->build))
		cg_probed_part(cg, step, part, sizeof(part));
	dense_match(cg, step, found, sizeof(found), index, sizeof(index));
	if (part[0])
		snprintf(buf, size, "%s && !(%s)", part, found);
	else
		snprintf(buf, size, step->join == GC_JOIN_ANTI ? "!(%s)" : "%s", found);
}

/*-------------------------------------------------------------------------
 * Probes of left, semi, anti, full and right joins, row by row
 *
 * A match is a row of the build with equal keys for which the step's condition is true.  The probe
 * looks for one, xN, or GC_NO_MATCH.  A NULL key has no match, as has a key outside of a dense
 * build's range.  Where keys may repeat, the matches are a chain:
 *
 *	  semi, anti	the first of the chain that satisfies the condition decides
 *	  left			a loop over the chain takes the row on once per match.  If none satisfies the
 *					condition, one more turn takes it on without
 *
 *	  full			as left, and each match is noted
 *	  right			a loop over the chain takes the row on once per match, which is noted
 *
 * Of a list all rows are tried in the same way, but there are no full and right joins with one.
 *
 * A condition reads its build's payloads in a C scope of its own.  Its declarations are forgotten afterwards.
 *
 * A semi or anti probe of a dense build without a condition needs none of this: it is a test of
 * the bitmap (cg_step_condition()).
 *-------------------------------------------------------------------------
 */

/* Require the inputs of a condition besides payloads of this build. */
static void
require_beside(Cg *cg, u16 e, u16 build)
{
	const GcExpr *x = &gc_exprs(cg->p)[e];

	if (x->op == GC_OP_PAYLOAD && gc_payloads(cg->p)[x->ref].build == build)
		return;
	if (x->op == GC_OP_OUTER && x->ref == cg->unmatched)
		return;
	if (x->op == GC_OP_PAYLOAD || x->op == GC_OP_COLUMN || x->op == GC_OP_PARAM)
		cg_require(cg, e);
	for (int a = 0; a < 3; a++)
	{
		if (x->arg[a] != GC_NONE)
			require_beside(cg, x->arg[a], build);
	}
}

/* Names that were declared in a scope are gone after it. */
static void
forget_match(Cg *cg, u16 build)
{
	const GcPBuild *b = &gc_builds(cg->p)[build];

	cg->index[build] = false;
	for (u16 i = 0; i < b->npayloads; i++)
		cg->payload[b->first_payload + i] = -1;
}

/*
 * Begin a scope in which the condition of a match is computed.  Returns it as text; the caller
 * ends the scope.
 */
static Operand
begin_condition(Cg *cg, const GcPStep *step)
{
	text_addf(cg->out, "{\n");
	cg->index[step->build] = true;
	cg_require(cg, step->expr);
	return cg_expr(cg, step->expr);
}

/* Declare rN: the newest row of a hash build with the row's keys, + 1, or 0. */
static void
find_row(Cg *cg, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(cg->p)[step->build];
	int			b = cg_build(cg, step->build);
	char		h[16],
				keys[16];
	Operand		key[GC_MAX_KEYS];

	snprintf(h, sizeof(h), "h%d", b);
	snprintf(keys, sizeof(keys), "k%d", b);
	cg_require_keys(cg, step);
	for (u16 i = 0; i < build->nkeys; i++)
		key[i] = cg_expr(cg, gc_refs(cg->p)[step->first_key + i]);
	text_addf(cg->out, "u32 r%d = 0;\nif (1", b);
	for (u16 i = 0; i < build->nkeys; i++)
	{
		if (!never_null(&key[i]))
			text_addf(cg->out, " && !%s", key[i].n);
	}
	text_addf(cg->out, ") {\ni64 k%d[%d];\n", b, build->nkeys > 0 ? build->nkeys : 1);
	for (u16 i = 0; i < build->nkeys; i++)
		text_addf(cg->out, "k%d[%d] = (i64) %s;\n", b, i, key[i].v);
	cg_hash(cg, h, keys, build->nkeys);
	text_addf(cg->out, "r%d = gc_build_find((const u64 *) b%d_slots, b%d_mask, (const i64 *) b%d_keys, b%d_cap, k%d, %d, h%d);\n}\n",
			  b, b, b, b, b, b, build->nkeys, b);
}

/* Declare xN, the only row with the row's keys, or GC_NO_MATCH. */
static void
find_match(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);
	char		cond[512],
				index[128];

	if (gc_builds(cg->p)[step->build].mode == GC_BUILD_HASH)
	{
		find_row(cg, step);
		text_addf(cg->out, "u64 x%d = r%d ? r%d - 1 : GC_NO_MATCH;\n", b, b, b);
		return;
	}
	cg_require_step(cg, step);
	dense_match(cg, step, cond, sizeof(cond), index, sizeof(index));
	text_addf(cg->out, "u64 x%d = (%s) ? (u64) %s : GC_NO_MATCH;\n", b, cond, index);
}

/* May several rows of the build have the row's keys, and does it matter which? */
static bool
has_chain(const GcProgram *p, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(p)[step->build];

	return build->mode == GC_BUILD_HASH && !build->unique && !build->set &&
		((step->join != GC_JOIN_SEMI && step->join != GC_JOIN_ANTI) || step->expr != GC_NONE);
}

/* Note that row xN of the build has a match, if a later pipeline wants to know. */
static void
note_match(Cg *cg, const GcPStep *step)
{
	if (gc_join_keeps(step->join))
		text_addf(cg->out, "((u8 *) gc_a.w[%d])[x%d] = 1;\n",
				  cg_word(cg, GC_ARG_BUILD, step->build, GC_BUILD_PART_MATCHED), cg_build(cg, step->build));
}

/* Skip a row of a chain that does not satisfy the condition. */
static void
skip_unless_good(Cg *cg, const GcPStep *step)
{
	Operand		o;

	if (step->expr == GC_NONE)
		return;
	o = begin_condition(cg, step);
	text_addf(cg->out, "if (!(%s)) continue;\n}\n", o.v);
	forget_match(cg, step->build);
}

/* Declare xN, a row of the list that satisfies the condition, or GC_NO_MATCH. */
static void
search_list(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);
	Operand		o;

	cg_count_list(cg, step);
	if (step->expr == GC_NONE)
	{
		text_addf(cg->out, "const u64 x%d = list%d > 0 ? 0 : GC_NO_MATCH;\n", b, b);
		return;
	}
	text_addf(cg->out, "u64 x%d = GC_NO_MATCH;\nfor (u32 r%d = 0; r%d < list%d; r%d++) {\nif (!GC_GO_ON) break;\nx%d = r%d;\n", b, b, b, b, b, b, b);
	o = begin_condition(cg, step);
	text_addf(cg->out, "if (%s) break;\n}\nx%d = GC_NO_MATCH;\n}\n", o.v, b);
	forget_match(cg, step->build);
}

/*
 * Open a loop over the slice of the list, as loop_chain does.  The unit with the first slice has the turn without a
 * match.  So it looks for a match in the others, too, where its own has none.
 */
static void
loop_list(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	cg_slice_of_list(cg, step);
	text_addf(cg->out,
			  "i32 gc_any%d = slice%d > 0;\nfor (u64 r%d = slice%d; r%d < slice_end%d || !gc_any%d; r%d++) {\n%s"
			  "u64 x%d = GC_NO_MATCH;\nif (r%d < slice_end%d) {\nx%d = r%d;\n", b, b, b, b, b, b, b, b, cg_turn_of_list(cg), b, b, b, b, b);
	skip_unless_good(cg, step);
	text_addf(cg->out, "gc_any%d = 1;\n} else {\nfor (u64 x%d = slice_end%d; x%d < list%d && !gc_any%d; x%d++) {\nif (!GC_GO_ON) break;\n", b, b, b, b, b, b, b);
	skip_unless_good(cg, step);
	text_addf(cg->out, "gc_any%d = 1;\n}\nif (gc_any%d) break;\ngc_any%d = 1;\n}\n", b, b, b);
}

/* Declare xN, a row of the chain that satisfies the condition, or GC_NO_MATCH. */
static void
search_chain(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);
	Operand		o;

	find_row(cg, step);
	text_addf(cg->out, "u64 x%d = GC_NO_MATCH;\nfor (; r%d; r%d = ((const u32 *) b%d_next)[r%d - 1]) {\nif (!GC_GO_ON) break;\nx%d = r%d - 1;\n",
			  b, b, b, b, b, b, b);
	o = begin_condition(cg, step);
	text_addf(cg->out, "if (%s) break;\n}\nx%d = GC_NO_MATCH;\n}\n", o.v, b);
	forget_match(cg, step->build);
}

/* Open a loop over the chain, in which xN is declared; one turn without a match if none is good. */
static void
loop_chain(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	find_row(cg, step);
	text_addf(cg->out, "i32 gc_any%d = 0;\nfor (i32 gc_go%d = 1; gc_go%d; gc_go%d = r%d ? (r%d = ((const u32 *) b%d_next)[r%d - 1]) != 0 || !gc_any%d : 0) {\n",
			  b, b, b, b, b, b, b, b, b);
	text_addf(cg->out, "if (!GC_GO_ON) break;\nconst u64 x%d = r%d ? r%d - 1 : GC_NO_MATCH;\nif (r%d) {\n", b, b, b, b);
	skip_unless_good(cg, step);
	note_match(cg, step);
	text_addf(cg->out, "gc_any%d = 1;\n}\n", b);
}

/* Open a loop over the good ones of the chain, in which xN is declared. */
static void
loop_matches(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	find_row(cg, step);
	text_addf(cg->out, "for (; r%d; r%d = ((const u32 *) b%d_next)[r%d - 1]) {\nif (!GC_GO_ON) break;\nconst u64 x%d = r%d - 1;\n", b, b, b, b, b, b);
	skip_unless_good(cg, step);
	note_match(cg, step);
}

/* Declare xN, the only row with the row's keys if it satisfies the condition, or GC_NO_MATCH. */
static void
test_match(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);
	Operand		o;

	find_match(cg, step);
	if (step->expr != GC_NONE)
	{
		text_addf(cg->out, "if (x%d != GC_NO_MATCH) ", b);
		o = begin_condition(cg, step);
		text_addf(cg->out, "if (!(%s)) x%d = GC_NO_MATCH;\n}\n", o.v, b);
		forget_match(cg, step->build);
	}
	if (gc_join_keeps(step->join))
	{
		text_addf(cg->out, "if (x%d != GC_NO_MATCH) ", b);
		note_match(cg, step);
	}
}

int
cg_match_probe(Cg *cg, const GcPStep *step)
{
	const bool	list = cg_is_list_probe(cg->p, step);
	const bool	left = step->join == GC_JOIN_LEFT || step->join == GC_JOIN_FULL;
	const bool	right = step->join == GC_JOIN_RIGHT;
	const bool	chain = has_chain(cg->p, step) || (list && left);
	int			b = cg_build(cg, step->build);

	if (step->expr != GC_NONE)
		require_beside(cg, step->expr, step->build);
	if (list && left)
		loop_list(cg, step);
	else if (list)
		search_list(cg, step);
	else if (chain && left)
		loop_chain(cg, step);
	else if (chain && right)
		loop_matches(cg, step);
	else if (chain)
		search_chain(cg, step);
	else
		test_match(cg, step);
	cg->index[step->build] = left || right;
	if (left || (right && chain))
		text_addf(cg->out, "(void) x%d;\n", b);
	else
		text_addf(cg->out, "if (x%d %s GC_NO_MATCH) continue;\n", b, step->join == GC_JOIN_ANTI ? "!=" : "==");
	return chain && (left || right) ? 1 : 0;
}
