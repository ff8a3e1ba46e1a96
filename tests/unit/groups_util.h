/*-------------------------------------------------------------------------
 *
 * groups_util.h
 *	  For groups_test.c: group tables, and programs that scan them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GROUPS_UTIL_H
#define GC_GROUPS_UTIL_H

#include "rows_util.h"

#include <math.h>

#define K1_VALUES		7
#define MOST_CELLS		20000
#define TOP_ROOM		((GC_TOP_BYTES + 255) & ~255)

static const u32 sizes[] = {0, 1, 7, 31, 32, 33, 257, 1024, 1025, 17000};

#define NSIZES			((int) (sizeof(sizes) / sizeof(sizes[0])))

/* Aggregates of every group table, by number; WORDS is no aggregate. */
enum
{
	A_ROWS, A_SUM, A_NSUM, A_MIN, A_MAX, A_NMIN, A_FSUM, A_FMIN, A_FMAX, NAGGS
};

typedef struct Group
{
	bool		exists;
	bool		k0_null;
	i64			k0;
	i64			k1;
	u64			rows;
	u64			nsum;
	u64			nmin;
	i64			sum;
	i64			min;
	i64			max;
	double		fsum;
	double		fmin;
	double		fmax;
} Group;

typedef enum Consumer
{
	INTO_ROWS, INTO_SOME_ROWS, INTO_ONE, INTO_DENSE, INTO_HASH, INTO_BUILD, INTO_DENSE_BUILD, CHOICE, FIRST, CONSUMERS
} Consumer;

static const char *const consumer_names[CONSUMERS] = {"rows", "some rows", "one group", "dense groups", "hashed groups",
"a build", "a dense build", "chosen", "the first"};

/* Orders of groups; O_ZERO is 0 or -0. */
typedef enum Order
{
	O_ROWS, O_SUM, O_MIN, O_FSUM, O_FMAX, O_KEY, O_ZERO, ORDERS
} Order;

static const char *const order_names[ORDERS] = {"count", "sum", "minimum", "float sum", "float maximum", "key", "zero"};

/* A group table, and a program with a pipeline that scans it. */
typedef struct Scan
{
	Member		m;
	u8			mode;
	bool		wide;			/* sums take 128 bits */
	Consumer	consumer;
	Order		order;
	bool		descending;
	bool		nulls_first;
	u16			from;			/* the pipeline that the groups are of */
	u32			cells;
	Group	   *groups;			/* by cell */
	u64			n;				/* cells with a group */
	GcAddr		table;			/* flags, words, keys */
	GcAddr		words;
	GcAddr		keys;
	GcAddr		chosen;			/* words, then keys, then memory for the order */
	GcAddr		chosen_keys;
	GcAddr		memory;
	u64			room;
	u64			pass;
	u64			wanted;
	u16			column[16];		/* expressions of keys (0, 1) and aggregates (2 ..) */
} Scan;

/* ---------- programs ---------- */

static u16
source_column(Maker *m, u8 kind, i64 lo, i64 hi, bool nullable)
{
	const GcFact fact = {.range = {lo, hi},.nullable = nullable,.width = 8};

	return maker_read(m, maker_column(m, 0, kind, &fact));
}

static u16
group_column(Maker *m, u8 kind, int key, int agg, int count)
{
	const GcFact none = {.range = {0, 0}};
	u16			c = maker_column(m, 0, kind, &none);

	m->columns[c].attnum = (i16) (key < 0 ? 0 : key);
	m->columns[c].agg = agg < 0 ? GC_NONE : (u16) agg;
	m->columns[c].count = count < 0 ? GC_NONE : (u16) count;
	return maker_read(m, c);
}

static void
make_columns(Scan *s)
{
	Maker	   *m = &s->m.maker;

	maker_input(m);
	m->inputs[1].groups_of = 1 + s->from;
	if (s->mode != GC_GROUP_NONE)
	{
		s->column[0] = group_column(m, GC_INT4, 0, -1, -1);
		s->column[1] = group_column(m, GC_INT4, 1, -1, -1);
	}
	else
	{
		s->column[0] = maker_param(m, GC_INT4, 5, 0);
		s->column[1] = maker_param(m, GC_INT4, 3, 0);
	}
	s->column[2 + A_ROWS] = group_column(m, GC_INT8, -1, A_ROWS, -1);
	s->column[2 + A_SUM] = group_column(m, GC_NUMERIC, -1, A_SUM, A_NSUM);
	s->column[2 + A_NSUM] = group_column(m, GC_INT8, -1, A_NSUM, -1);
	s->column[2 + A_MIN] = group_column(m, GC_INT4, -1, A_MIN, A_NMIN);
	s->column[2 + A_MAX] = group_column(m, GC_INT4, -1, A_MAX, A_NMIN);
	s->column[2 + A_FSUM] = group_column(m, GC_FLOAT8, -1, A_FSUM, A_ROWS);
	s->column[2 + A_FMIN] = group_column(m, GC_FLOAT8, -1, A_FMIN, A_ROWS);
	s->column[2 + A_FMAX] = group_column(m, GC_FLOAT8, -1, A_FMAX, A_ROWS);
}

static void
make_table_pipeline(Scan *s, const u16 *args, u16 k0, u16 k1)
{
	Maker	   *m = &s->m.maker;

	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 0);
	maker_group(m, s->mode, s->mode == GC_GROUP_NONE ? 0 : 2, k0, k1);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, args[0]);
	maker_agg(m, GC_AGG_COUNT, args[0]);
	maker_agg(m, GC_AGG_MIN, args[1]);
	maker_agg(m, GC_AGG_MAX, args[1]);
	maker_agg(m, GC_AGG_COUNT, args[1]);
	maker_agg(m, GC_AGG_SUM, args[2]);
	maker_agg(m, GC_AGG_MIN, args[2]);
	maker_agg(m, GC_AGG_MAX, args[2]);
}

/* count > 2 AND sum > 0 */
static void
make_filters(Scan *s)
{
	Maker	   *m = &s->m.maker;

	maker_filter(m, maker_test(m, GC_OP_GT, s->column[2 + A_ROWS], maker_param(m, GC_INT8, 2, 0)), 1);
	maker_filter(m, maker_test(m, GC_OP_GT, s->column[2 + A_SUM], maker_param(m, GC_NUMERIC, 0, 0)), 1);
}

static bool
is_filtered(const Scan *s)
{
	return s->consumer == INTO_SOME_ROWS || s->consumer == CHOICE;
}

static u16
order_expr(Scan *s)
{
	static const u8 aggs[ORDERS] = {A_ROWS, A_SUM, A_MIN, A_FSUM, A_FMAX};
	Maker	   *m = &s->m.maker;
	u16			e;

	if (s->order < O_KEY)
		return s->column[2 + aggs[s->order]];
	if (s->order == O_KEY)
		return s->column[1];
	/* (count - 5) * 0 */
	e = maker_expr(m, GC_OP_SUB, GC_INT8, s->column[2 + A_ROWS], maker_param(m, GC_INT8, 5, 0), GC_NONE);
	e = maker_expr(m, GC_OP_CAST, GC_FLOAT8, e, GC_NONE, GC_NONE);
	return maker_expr(m, GC_OP_MUL, GC_FLOAT8, e, maker_expr(m, GC_OP_CAST, GC_FLOAT8, maker_param(m, GC_INT4, 0, 0), GC_NONE, GC_NONE), GC_NONE);
}

static void
make_choice(Scan *s)
{
	Maker	   *m = &s->m.maker;
	const u16	e = s->consumer == FIRST ? order_expr(s) : GC_NONE;
	GcPPipeline *pl;

	pl = &m->pipelines[maker_pipeline(m, 1, GC_SINK_SELECT, 0)];
	m->head.select = 1;
	if (s->consumer == CHOICE)
	{
		make_filters(s);
		return;
	}
	pl->descending = s->descending;
	pl->nulls_first = s->nulls_first;
	maker_group(m, 0, 1, e, 0);
}

static void
make_aggregates(Scan *s)
{
	Maker	   *m = &s->m.maker;
	const u16	rows = s->column[2 + A_ROWS];

	maker_pipeline(m, 1, GC_SINK_AGGREGATE, 0);
	if (s->consumer == INTO_ONE)
		maker_group(m, GC_GROUP_NONE, 0, 0, 0);
	else if (s->consumer == INTO_DENSE)
		maker_group(m, GC_GROUP_DENSE, 1, s->column[1], 0);
	else
		maker_group(m, GC_GROUP_HASH, 2, s->column[0], s->column[2 + A_MIN]);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
	maker_agg(m, GC_AGG_SUM, rows);
	maker_agg(m, GC_AGG_SUM, s->column[2 + A_SUM]);
}

/* A build on k0, or of a unique key; its payload is the minimum.  The main pipeline is another one. */
static void
make_build(Scan *s)
{
	Maker	   *m = &s->m.maker;
	u16			key = s->column[0];

	if (s->consumer == INTO_DENSE_BUILD)
	{
		const u16	factor = maker_param(m, GC_INT4, K1_VALUES, 0);

		m->param_facts[m->exprs[factor].ref].range = (GcRange) {K1_VALUES, K1_VALUES};
		key = maker_expr(m, GC_OP_MUL, GC_INT4, key, factor, GC_NONE);
		key = maker_expr(m, GC_OP_ADD, GC_INT4, key, s->column[1], GC_NONE);
	}
	maker_build(m, 1, s->consumer == INTO_BUILD ? GC_BUILD_HASH : GC_BUILD_DENSE, s->consumer == INTO_DENSE_BUILD, key,
				s->column[2 + A_MIN]);
	maker_pipeline(m, 0, GC_SINK_AGGREGATE, 0);
	maker_group(m, GC_GROUP_NONE, 0, 0, 0);
	maker_agg(m, GC_AGG_COUNT, GC_NONE);
}

static void
make_program(Scan *s)
{
	Maker	   *m = &s->m.maker;
	const bool	chooses = s->consumer == CHOICE || s->consumer == FIRST;
	u16			args[3];
	u16			k0,
				k1;

	s->from = chooses ? 1 : 0;
	maker_input(m);
	k0 = source_column(m, GC_INT4, 0, s->cells / K1_VALUES > 1 ? s->cells / K1_VALUES - 2 : 0, true);
	k1 = source_column(m, GC_INT4, -3, K1_VALUES - 4, false);
	args[0] = source_column(m, GC_INT8, -1000000000000, 1000000000000, true);
	args[1] = source_column(m, GC_INT4, -300, 300, true);
	args[2] = source_column(m, GC_FLOAT8, 0, 0, false);
	make_columns(s);
	if (chooses)
		make_choice(s);
	make_table_pipeline(s, args, k0, k1);
	if (s->consumer <= INTO_SOME_ROWS)
	{
		maker_pipeline(m, 1, GC_SINK_ROWS, 0);
		if (is_filtered(s))
			make_filters(s);
		maker_out(m, s->column[0]);
		maker_out(m, s->column[1]);
		maker_out(m, s->column[2 + A_MIN]);
		maker_out(m, s->column[2 + A_FMAX]);
	}
	else if (s->consumer <= INTO_HASH)
		make_aggregates(s);
	else if (s->consumer <= INTO_DENSE_BUILD)
		make_build(s);
	s->m.p = maker_finish(m, s->wide ? 1000000000 : 1000000);
	s->m.pipeline = chooses ? 0 : 1;
	s->m.variant = (GcVariant) {.vec = on_host ? 0 : 8,.threads = 256};
}

/* ---------- group tables ---------- */

static double
draw_float(void)
{
	switch (draw(12))
	{
		case 0:
			return 0;
		case 1:
			return -0.0;
		case 2:
			return -1e300 * draw(10);
		default:
			return ((int) draw(2000) - 1000) / 8.0 * (draw(20) ? 1 : 1e100);
	}
}

static void
draw_groups(Scan *s)
{
	s->groups = calloc(s->cells + 1, sizeof(Group));
	for (u32 c = 0; c < s->cells; c++)
	{
		Group	   *g = &s->groups[c];

		g->exists = s->mode != GC_GROUP_DENSE || draw(3) > 0;
		g->k0_null = s->mode != GC_GROUP_NONE && c / K1_VALUES == 0;
		g->k0 = s->mode == GC_GROUP_NONE ? 5 : g->k0_null ? 0 : (i64) (c / K1_VALUES) - 1;
		g->k1 = s->mode == GC_GROUP_NONE ? 3 : (i64) (c % K1_VALUES) - 3;
		g->rows = 1 + draw(9);
		g->nsum = draw(4) ? 1 + draw(g->rows) : 0;
		g->nmin = draw(4) ? 1 + draw(g->rows) : 0;
		g->sum = g->nsum ? ((i64) draw(1u << 31) - (1 << 30)) * (draw(3) ? 1 : 1000000) : 0;
		g->min = g->nmin ? (i64) draw(601) - 300 : 0;
		g->max = g->nmin ? g->min + draw((u32) (301 - g->min)) : 0;
		g->fsum = draw_float();
		g->fmin = draw_float();
		g->fmax = draw(30) ? g->fmin + draw(100) : draw(2) ? NAN : INFINITY;
	}
}

static u64
float_image(double d)
{
	u64			b;

	if (isnan(d))
		return ~(u64) 0;
	memcpy(&b, &d, 8);
	return b >> 63 ? ~b : b | 0x8000000000000000ull;
}

static void
put_words(const Scan *s, const Group *g, u64 *w)
{
	const GcPPipeline *pl = &gc_pipelines(s->m.p)[s->from];
	const GcPAgg *a = gc_aggs(s->m.p) + pl->first_agg;

	w[0] = g->rows;
	w[a[A_SUM].word] = (u64) g->sum;
	if (a[A_SUM].acc == GC_I128)
		w[a[A_SUM].word + 1] = (u64) (g->sum >> 63);
	w[a[A_NSUM].word] = g->nsum;
	w[a[A_MIN].word] = g->nmin ? ~((u64) g->min ^ 0x8000000000000000ull) : 0;
	w[a[A_MAX].word] = g->nmin ? (u64) g->max ^ 0x8000000000000000ull : 0;
	w[a[A_NMIN].word] = g->nmin;
	memcpy(&w[a[A_FSUM].word], &g->fsum, 8);
	w[a[A_FMIN].word] = ~float_image(g->fmin);
	w[a[A_FMAX].word] = float_image(g->fmax);
}

/* The table on the device: of a hashed one, groups in another order, and room behind them. */
static void
put_table(Scan *s)
{
	const int	words = gc_pipelines(s->m.p)[s->from].group_words;
	u64		   *w = calloc((u64) s->cells * words + 1, 8);
	i64		   *k = calloc((u64) s->cells * 3 + 1, 8);
	u32			flags[64] = {0};

	s->n = 0;
	for (u32 i = 0; i < s->cells; i++)
	{
		/* coprime to all numbers of cells */
		const u32	c = s->mode == GC_GROUP_HASH ? (u32) ((u64) i * 1000003 % s->cells) : i;
		const Group *g = &s->groups[c];

		if (!g->exists)
			continue;
		put_words(s, g, w + (u64) i * words);
		k[3 * i] = g->k0;
		k[3 * i + 1] = g->k1;
		k[3 * i + 2] = g->k0_null;
		s->n++;
	}
	flags[GC_FLAG_GROUPS] = s->cells;
	s->table = put(flags, sizeof(flags));
	s->words = put(w, (u64) s->cells * words * 8 + 8);
	s->keys = put(k, (u64) s->cells * 3 * 8 + 8);
	free(w);
	free(k);
}

static u64
next_slots(const Scan *s)
{
	u64			slots = 1;

	while (slots < 2 * ((u64) s->cells + 1))
		slots *= 2;
	return slots;
}

static u64
scan_word(const Scan *s, const GcArgWord *w)
{
	if (w->type == GC_ARG_GROUP && w->index == s->from)
		return w->part == GC_GROUP_PART_TABLE ? s->words : w->part == GC_GROUP_PART_COUNT ? s->cells + (s->mode == GC_GROUP_HASH ? 1000 : 0)
			: w->part == GC_GROUP_PART_FLAGS ? s->table : s->keys;
	if (w->type == GC_ARG_GROUP_KEY && w->index / GC_MAX_KEYS == s->from)
	{
		if (w->index % GC_MAX_KEYS == 0)
			return w->part == 1 ? K1_VALUES : 0;
		return w->part == 1 ? 1 : (u64) (i64) -3;
	}
	if (w->type == GC_ARG_CHOICE)
		return w->part == GC_CHOICE_WORDS ? s->chosen : w->part == GC_CHOICE_KEYS ? s->chosen_keys : w->part == GC_CHOICE_CAP ? s->room
			: w->part == GC_CHOICE_TOP ? s->memory : w->part == GC_CHOICE_PASS ? s->pass : s->wanted;
	/* of one parameter, which may be a numeric */
	if (w->type == GC_ARG_PARAM)
		return w->part == 1 ? (u64) (s->m.maker.values[w->index] >> 63) : (u64) s->m.maker.values[w->index];
	if (w->type == GC_ARG_BUILD && w->part == GC_BUILD_PART_MASK)
		return next_slots(s) - 1;
	if (w->type == GC_ARG_BUILD && w->part == GC_BUILD_PART_BASE)
		return (u64) (i64) s->m.maker.ranges[gc_refs(s->m.p)[gc_builds(s->m.p)[0].first_key]].lo;
	if (w->type == GC_ARG_BUILD && w->part == GC_BUILD_PART_CAP)
		return s->cells + 1;
	return member_word(&s->m, w);
}

static void
run_scan(Scan *s, const Loaded *k, const GcKernelSource *source, u32 turn)
{
	static const u32 threads[] = {32, 96, 256};
	const GcSource none = {0};
	GcArgs		args = {.w = {0}};

	for (int i = 0; i < source->nwords; i++)
		args.w[i] = scan_word(s, &source->words[i]);
	args.scan.flags = s->m.sink;
	launch_scan(k, &args, source->nwords, &none, 0, 0, threads[turn % 3], turn);
}

#endif							/* GC_GROUPS_UTIL_H */
