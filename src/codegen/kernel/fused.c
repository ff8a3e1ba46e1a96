/*-------------------------------------------------------------------------
 *
 * fused.c
 *	  Fused kernels: the members of several pipelines within one scan.
 *
 * The functions that generate a kernel of its own also generate every member.  A member's
 * declarations (constants, tables) are computed from argument words alone.  So they can be
 * repeated in each scope of the member.
 *
 * A member has three scopes.  Before the scan, its part of the shared memory is filled.  In the
 * loop over vectors, it takes rows.  After the scan, its gathered results are merged.  Only members that take part
 * enter their scopes.  That test is uniform over the grid, or in the loop over one tile.  No member sees another
 * member's declarations.
 *
 * The members share the descriptions of the physical columns, which are fetched once per tile.
 * They share vectors that at least two of them want in their first stage.  From the first vector
 * to the last live only accumulators in registers, and one word with a bit per member, its
 * gc_bad.
 *
 * Members are generated twice: the first time to learn which vectors they want (expr/fusion.c).
 *
 * Pure C, called on the worker's main thread.  The members' state is gone when the kernel is
 * generated; the text belongs to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "../fused.h"
#include "../expr/emit.h"
#include "../expr/fusion.h"
#include "../expr/values.h"
#include "../sink/sink.h"
#include "pipeline.h"
#include "prologue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A member, and the argument words that each member has. */
typedef struct Member
{
	Cg			cg;
	GcVariant	variant;
	int			flags;
	int			visible;
	char		top[32];		/* where its part of the shared memory begins */
} Member;

/*
 * Two columns of a program may be one physical column, which names their vectors.  So both must
 * then have one type.
 */
static GcCode
check_member(const GcFusedMember *m, GcError *err)
{
	const GcProgram *p = m->p;
	const GcPPipeline *pl;
	const GcPInput *in;

	if (m->pipeline >= p->npipelines)
		return gc_fail(err, GC_BAD_PROGRAM, "A fused kernel names a pipeline that does not exist.");
	pl = &gc_pipelines(p)[m->pipeline];
	if (pl->sink == GC_SINK_BUILD)
		return gc_fail(err, GC_UNSUPPORTED, "Builds do not share scans.");
	in = &gc_inputs(p)[pl->input];
	for (int a = in->first_column; a < in->first_column + in->ncolumns; a++)
	{
		const GcPColumn *ca = &gc_columns(p)[a];

		for (int b = in->first_column; b < a; b++)
		{
			const GcPColumn *cb = &gc_columns(p)[b];

			if (m->columns[a] >= 0 && m->columns[a] == m->columns[b] &&
				(ca->width != cb->width || ca->reg != cb->reg || ca->nullable != cb->nullable))
				return gc_fail(err, GC_UNSUPPORTED, "A fused kernel needs a column in two types.");
		}
	}
	return GC_OK;
}

/* Generate a member's part, with its own argument words behind the others'. */
static GcCode
generate_member(const GcFusedMember *from, int number, Fusion *f, Member *m, GcError *err)
{
	Cg		   *cg = &m->cg;

	if (cg_begin(cg, from->p, from->pipeline, &m->variant, err) != GC_OK)
		return GC_HOST_MEMORY;
	cg->fusion = f;
	cg->member = number;
	cg->physical = from->columns;
	snprintf(cg->suffix, sizeof(cg->suffix), "_%d", number);
	m->flags = cg_word(cg, GC_ARG_FLAGS, 0, 0);
	m->visible = cg_word(cg, GC_ARG_VISIBLE, 0, 0);
	strcpy(m->top, "0");
	if (cg_uses_shared(cg))
		snprintf(m->top, sizeof(m->top), "gc_a.w[%d]", cg_word(cg, GC_ARG_SHARED, 0, 0));
	text_addf(&cg->decls, "u32 *gc_flags = (u32 *) gc_a.w[%d]; (void) gc_flags;\n", m->flags);
	cg_pipeline(cg);
	cg_check_memory(cg);
	return cg->code;
}

/*-------------------------------------------------------------------------
 * Joining the members
 *-------------------------------------------------------------------------
 */

static void
emit_columns(Fusion *f, const int *word, Text *t)
{
	for (int k = 0; k < GC_MAX_COLUMNS; k++)
	{
		if (f->readers[k])
			text_addf(t, "const GcCol d%d = gc_shared_column(gc_a.w[%d], gc_src.chunk, gc_live & 0x%xu);\n",
					  k, word[k], f->readers[k]);
	}
}

/* Ranges of codes that members keep for a tile; a member with an empty one skips the tile. */
static void
emit_ranges(Member *members, int n, Text *t)
{
	text_addf(t, "GC_FILL_PER_WARP\n");
	for (int i = 0; i < n; i++)
	{
		if (members[i].cg.descs.s == NULL)
			continue;
		text_addf(t, "if (gc_live >> %d & 1) {\n", i);
		cg_scope(&members[i].cg, t, members[i].top);
		text_addf(t, "%s}\n", members[i].cg.descs.s);
	}
	text_addf(t, "GC_PER_WARP\nif (!gc_live) continue;\n");
}

/* Vectors that the scan skeleton loads. */
static void
emit_vectors(const Fusion *f, Text *t)
{
	text_addf(t, "GC_SHARED_VECTORS\n");
	for (int i = 0; i < f->nvectors; i++)
	{
		const SharedVector *v = &f->vectors[i];
		char		condition[32];

		snprintf(condition, sizeof(condition), "if (gc_live & 0x%xu) ", v->members);
		if (v->words)
		{
			cg_load_words(t, v->width, v->column, condition);
			continue;
		}
		text_addf(t, "GC_ARRAY(%s, c%d);\n%s", cg_ctype[v->reg], v->column, condition);
		cg_load(t, "GC_LOAD", v->width, v->reg, v->column);
		if (v->nullable)
			text_addf(t, "GC_NULLS(n%d, d%d);\n", v->column, v->column);
	}
}

/* The member's steps and sink for a vector, for its rows only. */
static void
emit_body(Member *m, int number, Text *t)
{
	text_addf(t, "if (gc_live >> %d & 1) {\ni32 gc_bad = gc_bads >> %d & 1;\n", number, number);
	cg_scope(&m->cg, t, m->top);
	text_addf(t, "GC_MEMBER(gc_a.w[%d])\n%sGC_END_MEMBER\ngc_bads |= (u32) gc_bad << %d;\n}\n",
			  m->visible, text_of(&m->cg.body), number);
}

/* The end of a member's sink, if it is in this launch, and its flag for bad data. */
static void
emit_end(Member *m, int number, Text *t)
{
	Text		end = {0};

	sink_end(&m->cg, &end);
	if (end.s)
	{
		text_addf(t, "if (gc_run >> %d & 1) {\n", number);
		cg_scope(&m->cg, t, m->top);
		text_addf(t, "%s}\n", end.s);
	}
	text_addf(t, "if (gc_bads >> %d & 1) ((u32 *) gc_a.w[%d])[GC_FLAG_DATA] = 1;\n", number, m->flags);
	t->failed |= end.failed;
	text_free(&end);
}

/* The most that any member wants. */
static int
block_threads(const Member *members, int n)
{
	int			threads = 0;

	for (int i = 0; i < n; i++)
	{
		if (members[i].variant.threads > threads)
			threads = members[i].variant.threads;
	}
	return threads;
}

/* Put the members' parts together around one scan. */
static void
assemble(Member *members, int n, Fusion *f, const int *word, Text *t)
{
	const int	threads = block_threads(members, n);

	cg_prologue(t, f->src->nwords, members[0].variant.vec, threads);
	text_addf(t, "const u32 gc_run = (u32) gc_a.w[0];\nu32 gc_bads = 0;\n");
	for (int i = 0; i < n; i++)
		text_addf(t, "if (gc_run >> %d & 1) { GC_BEGAN(gc_a.w[%d]) }\n", i, members[i].flags);
	for (int i = 0; i < n; i++)
		sink_state(&members[i].cg, t);
	for (int i = 0; i < n; i++)
	{
		if (!cg_uses_shared(&members[i].cg))
			continue;
		text_addf(t, "if (gc_run >> %d & 1) {\n", i);
		cg_scope(&members[i].cg, t, members[i].top);
		cg_fill_shared(&members[i].cg, t);
		text_addf(t, "}\n");
	}
	if (f->nper_warp > 0)
		text_addf(t, "GC_PER_WARP_WORDS(%d, %d)\n", f->nper_warp, threads);
	text_addf(t, "GC_BARRIER();\nGC_TILES\nu32 gc_live = gc_run & (u32) gc_src.valid;\n"
			  "if (!gc_live) continue;\n");
	emit_columns(f, word, t);
	if (f->nper_warp > 0)
		emit_ranges(members, n, t);
	emit_vectors(f, t);
	for (int i = 0; i < n; i++)
		emit_body(&members[i], i, t);
	text_addf(t, "GC_END_VECTORS\nGC_END_TILES\n");
	for (int i = 0; i < n; i++)
		emit_end(&members[i], i, t);
	text_addf(t, "GC_BARRIER();\n");
	for (int i = 0; i < n; i++)
		text_addf(t, "if (gc_run >> %d & 1) { GC_ENDED(gc_a.w[%d]) }\n", i, members[i].flags);
	text_addf(t, "}\n");
}

/* Add words that belong to no member; word[k] is that of physical column k. */
static GcCode
add_common_words(GcFusedSource *src, const Fusion *f, int *word, GcError *err)
{
	for (int k = 0; k < GC_MAX_COLUMNS; k++)
	{
		if (!f->readers[k])
			continue;
		if (src->nwords == GC_MAX_ARG_WORDS)
			return gc_fail(err, GC_UNSUPPORTED, "The kernels of a shared scan have too many parameters.");
		word[k] = src->nwords;
		src->words[src->nwords++] = (GcFusedWord) {{GC_ARG_COLUMN, 0, k}, GC_FUSED_ANY, f->readers[k]};
	}
	return GC_OK;
}

/* Generate all members, in one pass. */
static GcCode
generate_members(const GcFusedMember *from, int n, Fusion *f, Member *members, GcError *err)
{
	GcCode		code = GC_OK;

	memset(f->readers, 0, sizeof(f->readers));
	f->nper_warp = 0;
	f->src->nwords = 1;
	f->src->words[0] = (GcFusedWord) {{GC_ARG_MEMBERS, 0, 0}, GC_FUSED_ANY, 0};
	for (int i = 0; i < n && code == GC_OK; i++)
		code = generate_member(&from[i], i, f, &members[i], err);
	return code;
}

/* Free all parts; may be called twice. */
static void
free_members(Member *members, int n)
{
	for (int i = 0; i < n; i++)
	{
		cg_free(&members[i].cg);
		memset(&members[i].cg, 0, sizeof(Cg));
	}
}

/*
 * Set the rows of a vector, the same for all members: their variants' number if these agree, else
 * 8.
 */
static void
set_variants(const GcFusedMember *from, int n, Member *members)
{
	bool		agree = true;

	for (int i = 0; i < n; i++)
		agree &= from[i].variant.vec == from[0].variant.vec;
	for (int i = 0; i < n; i++)
	{
		members[i].variant = from[i].variant;
		if (!agree)
			members[i].variant.vec = 8;
	}
}

GcCode
gc_generate_fused(const GcFusedMember *from, int n, GcFusedSource *source, GcError *err)
{
	Member	   *members;
	Fusion		f = {.src = source,.asking = true};
	Text		text = {0};
	int			word[GC_MAX_COLUMNS];
	GcCode		code = GC_OK;

	memset(source, 0, sizeof(*source));
	if (n < 1 || n > GC_MAX_FUSED)
		return gc_fail(err, GC_UNSUPPORTED, "A shared scan serves 1 to %d requests.", GC_MAX_FUSED);
	for (int i = 0; i < n && code == GC_OK; i++)
		code = check_member(&from[i], err);
	if (code != GC_OK)
		return code;
	members = calloc(n, sizeof(Member));
	if (members == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory while generating a kernel.");
	set_variants(from, n, members);
	code = generate_members(from, n, &f, members, err);
	if (code == GC_OK)
	{
		fused_choose_vectors(&f);
		free_members(members, n);
		f.asking = false;
		code = generate_members(from, n, &f, members, err);
	}
	if (code == GC_OK)
		code = add_common_words(source, &f, word, err);
	if (code == GC_OK)
	{
		assemble(members, n, &f, word, &text);
		cg_add_library(&text);
		if (text.failed)
			code = gc_fail(err, GC_HOST_MEMORY, "Out of memory while generating a kernel.");
	}
	free_members(members, n);
	free(members);
	if (code != GC_OK)
	{
		text_free(&text);
		return code;
	}
	source->text = text.s;
	return GC_OK;
}

u64
gc_fused_shared_bytes(const GcFusedMember *members, int n, u32 taking_part,
					  const u64 *const *ranges, const u64 *ngroups, u64 *starts)
{
	u64			bytes = 0;

	for (int i = 0; i < n; i++)
	{
		starts[i] = bytes / 8;
		if (taking_part >> i & 1)
			bytes += gc_shared_bytes(members[i].p, members[i].pipeline, &members[i].variant, ranges[i], ngroups[i]);
	}
	return bytes;
}
