/*-------------------------------------------------------------------------
 *
 * kernel_search.c
 *	  The kernel model's search: dynamic programming over blocks and warps, then, if
 *	  need be, over all four resources.
 *
 * First stage: algorithm 1 of Li, Tu, Zeng 2019.  With V[0, *, *] = 0,
 *		V[i, b, w] = min over the options of item i of
 *					 V[i - 1, b - blocks, w - warps] + cost,
 * where an option's warps are the warps of all its blocks.  (The paper's pseudo-code has B
 * and W in places of b and w.)  Only cells that can be part of a plan for the whole of B
 * and W are computed; they are few where warps or blocks are scarce.  All layers are kept:
 * the plan is read off them, with no table of decisions.
 *
 * The same recurrence with registers, or shared memory, in the place of cost gives the
 * least of them that any plan takes.  If the device has less, there is no plan.
 *
 * Second stage: labels, that is partial plans with options for the items from the last one
 * down to item i.  A label is given up if another one has as much of everything left and
 * costs no more.  The tables may say that it cannot be completed within registers or
 * shared memory, or below the cost of a known plan.  Then it is given up, too.  The search
 * is exact as long as the labels of one layer fit in GC_KERNEL_LABELS and in the steps
 * that are left.  Each layer keeps no more labels than the remaining steps can extend
 * (beam search).
 *
 * Pure functions; the work space is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "kernel_model.h"

#include <stddef.h>
#include <string.h>

/*
 * After EFFORT comparisons of labels the search keeps only HURRY_LABELS of a layer.  The whole search
 * then takes some milliseconds.
 */
#define EFFORT			1500000
#define HURRY_LABELS	32

/* Compile the innermost loops to vector instructions, even where the rest is built with -O2. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((optimize("O3")))
#else
#define VECTORS
#endif

static const int table_need[GC_TABLES] = {-1, GC_NEED_REGISTERS, GC_NEED_SHARED};

/* The number that a table adds up of an option. */
static int32_t
option_value(const GcKernelOption *o, int table)
{
	return table == GC_TABLE_COST ? o->cost : o->need[table_need[table]];
}

/* Options of the i-th item that is open. */
static const GcKernelOptions *
open_options(const GcKernelWork *work, int i)
{
	return &work->options[work->open[i]];
}

/* Smallest and greatest need of one resource among an item's options. */
static void
need_range(const GcKernelOptions *options, int need, int *lo, int *hi)
{
	*lo = *hi = options->option[0].need[need];
	for (int i = 1; i < options->n; i++)
	{
		int			v = options->option[i].need[need];

		*lo = v < *lo ? v : *lo;
		*hi = v > *hi ? v : *hi;
	}
}

/*
 * The range of one resource in each layer.  Layer i is about the items before i.  The upper end is
 * the whole less the least that the other items take.  The lower end is the least that these items
 * take, or the whole less the most that the others take, if that is more.
 */
static void
layer_range(const GcKernelWork *work, int need, int lo[], int hi[])
{
	int			m = work->nopen;
	int			least[GC_KERNEL_MAX_BLOCKS];
	int			most[GC_KERNEL_MAX_BLOCKS];
	int			sum = 0;

	for (int i = 0; i < m; i++)
		need_range(open_options(work, i), need, &least[i], &most[i]);
	lo[m] = hi[m] = work->free[need];
	for (int i = m - 1; i >= 0; i--)
	{
		hi[i] = hi[i + 1] - least[i];
		lo[i] = lo[i + 1] - most[i];
	}
	for (int i = 0; i <= m; i++)
	{
		if (lo[i] < sum)
			lo[i] = sum;
		if (i < m)
			sum += least[i];
	}
}

/* Lay out the tables.  False if they do not fit, which cannot be. */
static bool
make_layers(GcKernelWork *work)
{
	int			block_lo[GC_KERNEL_MAX_BLOCKS + 1];
	int			block_hi[GC_KERNEL_MAX_BLOCKS + 1];
	int			warp_lo[GC_KERNEL_MAX_BLOCKS + 1];
	int			warp_hi[GC_KERNEL_MAX_BLOCKS + 1];
	int			offset = 0;

	if (work->nopen > GC_KERNEL_MAX_BLOCKS)
		return false;
	layer_range(work, GC_NEED_BLOCKS, block_lo, block_hi);
	layer_range(work, GC_NEED_WARPS, warp_lo, warp_hi);
	for (int i = 0; i <= work->nopen; i++)
	{
		if (block_lo[i] > block_hi[i] || warp_lo[i] > warp_hi[i])
			return false;
		work->layer[i] = (GcKernelLayer) {block_lo[i], block_hi[i], warp_lo[i], warp_hi[i],
		offset};
		offset += (block_hi[i] - block_lo[i] + 1) * (warp_hi[i] - warp_lo[i] + 1);
		if (offset > GC_KERNEL_CELLS)
			return false;
	}
	return true;
}

/* The place of a cell within its layer. */
static int
cell(const GcKernelLayer *l, int blocks, int warps)
{
	return l->offset + (blocks - l->block_lo) * (l->warp_hi - l->warp_lo + 1) +
		warps - l->warp_lo;
}

/* n cells that no plan has reached. */
VECTORS static void
fill_never(int32_t *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = GC_KERNEL_NEVER;
}

/* Plans with one option more, where they are better than those that are known. */
VECTORS static void
relax(int32_t *restrict to, const int32_t *restrict from, int n, int32_t value)
{
	for (int i = 0; i < n; i++)
	{
		int32_t		v = from[i] + value;

		to[i] = v < to[i] ? v : to[i];
	}
}

/* An upper bound of the steps that a table takes. */
static int64_t
table_steps(const GcKernelWork *work)
{
	int64_t		steps = 0;

	for (int i = 0; i < work->nopen; i++)
	{
		const GcKernelLayer *to = &work->layer[i + 1];
		int			rows = to->block_hi - to->block_lo + 1;
		int			cells = rows * (to->warp_hi - to->warp_lo + 1);

		if (to->warp_lo == to->warp_hi && to[-1].warp_lo == to[-1].warp_hi)
			rows = 1;
		steps += (rows + cells / GC_KERNEL_STEP) * open_options(work, i)->n;
	}
	return steps;
}

/* Compute a table; its last cell is the result. */
static int32_t
fill_table(GcKernelWork *work, int table)
{
	int32_t    *cells = work->cells[table];
	const GcKernelLayer *l = &work->layer[0];

	memset(cells, 0, sizeof(int32_t) *
		   (l->block_hi - l->block_lo + 1) * (l->warp_hi - l->warp_lo + 1));
	for (int i = 0; i < work->nopen; i++)
	{
		const GcKernelLayer *from = &work->layer[i];
		const GcKernelLayer *to = &work->layer[i + 1];
		const GcKernelOptions *options = open_options(work, i);

		fill_never(cells + to->offset,
				   (to->block_hi - to->block_lo + 1) * (to->warp_hi - to->warp_lo + 1));
		for (int j = 0; j < options->n; j++)
		{
			const GcKernelOption *o = &options->option[j];
			int			b = o->need[GC_NEED_BLOCKS] + from->block_lo;
			int			w = o->need[GC_NEED_WARPS] + from->warp_lo;

			/* Nothing above the range of `from` occurs: see layer_range(). */
			b = b > to->block_lo ? b : to->block_lo;
			w = w > to->warp_lo ? w : to->warp_lo;

			/*
			 * Where all options of the items have equal warps (4 warps in 1, 2 or 4 blocks), each row
			 * has one cell.  Then the cells of all rows are handled as one row.
			 */
			if (to->warp_lo == to->warp_hi && from->warp_lo == from->warp_hi &&
				w == to->warp_lo && b <= to->block_hi)
			{
				relax(cells + cell(to, b, w),
					  cells + cell(from, b - o->need[GC_NEED_BLOCKS], w - o->need[GC_NEED_WARPS]),
					  to->block_hi - b + 1, option_value(o, table));
				continue;
			}
			for (; b <= to->block_hi; b++)
				relax(cells + cell(to, b, w),
					  cells + cell(from, b - o->need[GC_NEED_BLOCKS], w - o->need[GC_NEED_WARPS]),
					  to->warp_hi - w + 1, option_value(o, table));
		}
	}
	l = &work->layer[work->nopen];
	return cells[cell(l, l->block_hi, l->warp_hi)];
}

/*
 * Read from a table the options that led to its result, into work->trial.  Returns their cost, and
 * their needs of all resources in `sum`.
 */
static int32_t
trace(GcKernelWork *work, int table, int64_t sum[GC_NEEDS])
{
	const int32_t *cells = work->cells[table];
	int			blocks = work->layer[work->nopen].block_hi;
	int			warps = work->layer[work->nopen].warp_hi;
	int32_t		cost = 0;

	memset(sum, 0, sizeof(int64_t) * GC_NEEDS);
	for (int i = work->nopen - 1; i >= 0; i--)
	{
		const GcKernelLayer *l = &work->layer[i];
		const GcKernelOptions *options = open_options(work, i);
		int32_t		value = cells[cell(l + 1, blocks, warps)];
		int			j;

		for (j = 0; j < options->n - 1; j++)
		{
			const GcKernelOption *o = &options->option[j];
			int			b = blocks - o->need[GC_NEED_BLOCKS];
			int			w = warps - o->need[GC_NEED_WARPS];

			if (b >= l->block_lo && w >= l->warp_lo &&
				cells[cell(l, b, w)] + option_value(o, table) == value)
				break;
		}
		work->trial[i] = j;
		for (int k = 0; k < GC_NEEDS; k++)
			sum[k] += options->option[j].need[k];
		blocks -= options->option[j].need[GC_NEED_BLOCKS];
		warps -= options->option[j].need[GC_NEED_WARPS];
		cost += options->option[j].cost;
	}
	return cost;
}

/* Do all needs fit? */
static bool
within(const int64_t sum[GC_NEEDS], const int free[GC_NEEDS])
{
	for (int k = 0; k < GC_NEEDS; k++)
	{
		if (sum[k] > free[k])
			return false;
	}
	return true;
}

/* Make the trial the plan. */
static void
take_trial(GcKernelWork *work)
{
	for (int i = 0; i < work->nopen; i++)
		work->pick[work->open[i]] = work->trial[i];
}

/* Has one of n labels as much of everything left as `left`, at no greater cost? */
VECTORS static bool
any_better(const GcKernelLabels *labels, int n, int32_t cost, const int left[GC_NEEDS])
{
	const int32_t *c = labels->cost;
	const int32_t *l0 = labels->left[0];
	const int32_t *l1 = labels->left[1];
	const int32_t *l2 = labels->left[2];
	const int32_t *l3 = labels->left[3];
	int32_t		k0 = left[0];
	int32_t		k1 = left[1];
	int32_t		k2 = left[2];
	int32_t		k3 = left[3];
	int32_t		any = 0;

	for (int i = 0; i < n; i++)
		any |= (c[i] <= cost) & (l0[i] >= k0) & (l1[i] >= k1) & (l2[i] >= k2) & (l3[i] >= k3);
	return any != 0;
}

/* How many of n labels have no more of anything left, at no lower cost? */
VECTORS static int
count_worse(const GcKernelLabels *labels, int n, int32_t cost, const int left[GC_NEEDS])
{
	const int32_t *c = labels->cost;
	const int32_t *l0 = labels->left[0];
	const int32_t *l1 = labels->left[1];
	const int32_t *l2 = labels->left[2];
	const int32_t *l3 = labels->left[3];
	int32_t		k0 = left[0];
	int32_t		k1 = left[1];
	int32_t		k2 = left[2];
	int32_t		k3 = left[3];
	int32_t		count = 0;

	for (int i = 0; i < n; i++)
		count += (c[i] >= cost) & (l0[i] <= k0) & (l1[i] <= k1) & (l2[i] <= k2) & (l3[i] <= k3);
	return count;
}

/* State of the second stage. */
typedef struct KernelSearch
{
	GcKernelWork *work;
	int			layer;			/* item whose option is being chosen */
	int			greatest[GC_NEEDS];	/* needs of the items before it, together */
	int			useful[GC_NEEDS];	/* more left than this is of no use */
	int32_t		best;			/* cost of the best plan so far; NEVER: none */
	int64_t		effort;			/* comparisons so far */
	int64_t		extended;		/* extensions of a label by an option so far */
	int			most;			/* labels that this layer keeps */
	bool		truncated;		/* labels were given up that might have led to a plan */
} KernelSearch;

/* Overwrite one label of this layer by another. */
static void
copy_label(KernelSearch *s, GcKernelLabels *to, int dst, int src)
{
	GcKernelWork *work = s->work;

	to->cost[dst] = to->cost[src];
	to->score[dst] = to->score[src];
	for (int k = 0; k < GC_NEEDS; k++)
		to->left[k][dst] = to->left[k][src];
	work->parent[s->layer][dst] = work->parent[s->layer][src];
	work->chosen[s->layer][dst] = work->chosen[s->layer][src];
}

/* Remove labels that a new one makes needless, since it has as much left and costs no more. */
static void
remove_worse(KernelSearch *s, GcKernelLabels *to, int32_t cost, const int left[GC_NEEDS])
{
	int			n = 0;

	for (int i = 0; i < to->n; i++)
	{
		bool		worse = to->cost[i] >= cost;

		for (int k = 0; k < GC_NEEDS; k++)
			worse = worse && to->left[k][i] <= left[k];
		if (worse)
			continue;
		if (n < i)
			copy_label(s, to, n, i);
		n++;
	}
	to->n = n;
}

/* Where to put a label of this score; -1: nowhere. */
static int
find_place(KernelSearch *s, GcKernelLabels *to, int32_t score)
{
	int			most = s->effort > EFFORT && s->most > HURRY_LABELS ? HURRY_LABELS : s->most;
	int			worst = 0;

	if (to->n < most)
		return to->n++;
	s->truncated = true;
	for (int i = 1; i < to->n; i++)
	{
		if (to->score[i] > to->score[worst])
			worst = i;
	}
	s->effort += to->n;
	return score < to->score[worst] ? worst : -1;
}

/*
 * Extend a label by an option.  The rest must suffice for the items before this one, as far as the
 * tables can tell.
 */
static void
extend(KernelSearch *s, const GcKernelLabels *from, int label, int option, GcKernelLabels *to)
{
	GcKernelWork *work = s->work;
	const GcKernelLayer *l = &work->layer[s->layer];
	const GcKernelOption *o = &open_options(work, s->layer)->option[option];
	int32_t		cost = from->cost[label] + o->cost;
	int			left[GC_NEEDS];
	int			spare_registers;
	int			spare_shared;
	int32_t		least;
	int32_t		score;
	int			at;

	s->extended++;
	for (int k = 0; k < GC_NEEDS; k++)
		left[k] = from->left[k][label] - o->need[k];
	if (left[GC_NEED_BLOCKS] < l->block_lo || left[GC_NEED_WARPS] < l->warp_lo)
		return;
	at = cell(l, left[GC_NEED_BLOCKS], left[GC_NEED_WARPS]);
	least = work->cells[GC_TABLE_COST][at];
	if (least >= GC_KERNEL_NEVER || cost + least >= s->best)
		return;
	spare_registers = left[GC_NEED_REGISTERS] - work->cells[GC_TABLE_REGISTERS][at];
	spare_shared = left[GC_NEED_SHARED] - work->cells[GC_TABLE_SHARED][at];
	if (spare_registers < 0 || spare_shared < 0)
		return;

	/* With no plan yet, keep the labels most likely to become one. */
	if (s->best < GC_KERNEL_NEVER)
		score = cost + least;
	else
	{
		int			a = (int) (1000 * (int64_t) spare_registers / (work->free[GC_NEED_REGISTERS] + 1));
		int			b = (int) (1000 * (int64_t) spare_shared / (work->free[GC_NEED_SHARED] + 1));

		score = -(a < b ? a : b);
	}
	for (int k = 0; k < GC_NEEDS; k++)
		left[k] = left[k] < s->useful[k] ? left[k] : s->useful[k];

	s->effort += to->n;
	if (any_better(to, to->n, cost, left))
		return;
	s->effort += to->n;
	if (count_worse(to, to->n, cost, left) > 0)
	{
		/* That takes the place of several comparisons. */
		s->effort += 8 * to->n;
		remove_worse(s, to, cost, left);
	}
	at = find_place(s, to, score);
	if (at < 0)
		return;
	to->cost[at] = cost;
	to->score[at] = score;
	for (int k = 0; k < GC_NEEDS; k++)
		to->left[k][at] = left[k];
	work->parent[s->layer][at] = (uint16_t) label;
	work->chosen[s->layer][at] = (uint8_t) option;
}

/* Add an item's greatest needs `times` times (-1: subtract them). */
static void
add_greatest(KernelSearch *s, int item, int times)
{
	for (int k = 0; k < GC_NEEDS; k++)
	{
		int			lo;
		int			hi;

		need_range(open_options(s->work, item), k, &lo, &hi);
		s->greatest[k] += hi * times;
	}
}

/*
 * Go on to the layer before.  More than the most that the items before it can take is of no use:
 * labels that differ in nothing else are equal.  Blocks and warps stay in the layer's range.
 */
static void
enter_layer(KernelSearch *s)
{
	const GcKernelLayer *l = &s->work->layer[s->layer];

	add_greatest(s, s->layer, -1);
	memcpy(s->useful, s->greatest, sizeof(s->useful));
	if (s->useful[GC_NEED_BLOCKS] < l->block_lo)
		s->useful[GC_NEED_BLOCKS] = l->block_lo;
	if (s->useful[GC_NEED_WARPS] < l->warp_lo)
		s->useful[GC_NEED_WARPS] = l->warp_lo;
}

/* Steps of work that the caller still allows. */
static int64_t
steps_left(const KernelSearch *s)
{
	return s->work->steps - s->extended - s->effort / GC_KERNEL_STEP;
}

/*
 * The number of labels to keep of this layer: the layers that are still to be extended share the
 * remaining steps evenly.  Each label is extended by all options, and compared with half of the
 * labels of the next layer about four times.
 */
static int
most_labels(const KernelSearch *s)
{
	int64_t		share;
	int64_t		most = GC_KERNEL_LABELS;

	if (s->layer == 0)
		return GC_KERNEL_LABELS;
	share = steps_left(s) / s->layer / open_options(s->work, s->layer - 1)->n;
	while (most > 1 && most * (1 + 2 * most / GC_KERNEL_STEP) > share)
		most /= 2;
	return (int) most;
}

/* The second stage.  `best`: cost of the plan in work->pick, NEVER if there is none. */
static GcKernelStatus
search_labels(GcKernelWork *work, int32_t best)
{
	KernelSearch s = {.work = work,.best = best};
	GcKernelLabels *from = &work->labels[0];
	GcKernelLabels *to = &work->labels[1];
	int			at = -1;

	for (int i = 0; i < work->nopen; i++)
		add_greatest(&s, i, 1);
	from->n = 1;
	from->cost[0] = 0;
	for (int k = 0; k < GC_NEEDS; k++)
		from->left[k][0] = work->free[k];
	for (s.layer = work->nopen - 1; s.layer >= 0; s.layer--)
	{
		GcKernelLabels *swap = from;

		to->n = 0;
		enter_layer(&s);
		s.most = most_labels(&s);
		for (int i = 0; i < from->n; i++)
		{
			if (steps_left(&s) <= 0)
			{
				s.truncated = true;
				break;
			}
			for (int j = 0; j < open_options(work, s.layer)->n; j++)
				extend(&s, from, i, j, to);
		}
		from = to;
		to = swap;
	}
	work->steps = steps_left(&s);
	for (int i = 0; i < from->n; i++)
	{
		if (from->cost[i] < s.best)
		{
			s.best = from->cost[i];
			at = i;
		}
	}
	for (int i = 0; at >= 0 && i < work->nopen; i++)
	{
		work->pick[work->open[i]] = work->chosen[i][at];
		at = work->parent[i][at];
	}
	if (s.best < GC_KERNEL_NEVER)
		return s.truncated ? GC_KERNEL_FEASIBLE : GC_KERNEL_OPTIMAL;
	return s.truncated ? GC_KERNEL_UNKNOWN : GC_KERNEL_INFEASIBLE;
}

GcKernelStatus
gc_kernel_search(GcKernelWork *work)
{
	int64_t		sum[GC_NEEDS];
	int32_t		best = GC_KERNEL_NEVER;
	int64_t		steps;

	if (!make_layers(work))
		return GC_KERNEL_UNKNOWN;
	steps = table_steps(work);
	if (work->steps < steps)
		return GC_KERNEL_UNKNOWN;
	work->steps -= steps;
	if (fill_table(work, GC_TABLE_COST) >= GC_KERNEL_NEVER)
		return GC_KERNEL_INFEASIBLE;
	trace(work, GC_TABLE_COST, sum);
	if (within(sum, work->free))
	{
		take_trial(work);
		return GC_KERNEL_OPTIMAL;
	}

	/* The plans with the least registers and with the least shared memory. */
	for (int table = GC_TABLE_REGISTERS; table < GC_TABLES; table++)
	{
		int32_t		cost;

		if (work->steps < steps)
			return best < GC_KERNEL_NEVER ? GC_KERNEL_FEASIBLE : GC_KERNEL_UNKNOWN;
		work->steps -= steps;
		if (fill_table(work, table) > work->free[table_need[table]])
			return GC_KERNEL_INFEASIBLE;
		cost = trace(work, table, sum);
		if (within(sum, work->free) && cost < best)
		{
			best = cost;
			take_trial(work);
		}
	}
	return search_labels(work, best);
}
