/*-------------------------------------------------------------------------
 *
 * kernel_model.c
 *	  The kernel model: the options of each kernel of a batch, and the cheapest that fit together.
 *
 * Nearly all batches are decided by the options alone: either every item can have its cheapest one, or the items
 * cannot fit with any.  Else dynamic programming over blocks and warps decides (Li, Tu, Zeng 2019, algorithm 1).
 *
 * Pure functions; the work space is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "kernel_model.h"

#include <stddef.h>
#include <string.h>

/* More than the cost of any plan; to add an option's cost to it does not overflow. */
#define NEVER		(1 << 30)

/* A profile within the limits that the workspace and the arithmetic are made for. */
static bool
profile_ok(const GcProfile *p)
{
	return gc_profile_problem(p) == NULL && !p->serial_blocks &&
		p->max_warps <= GC_KERNEL_MAX_WARPS && p->max_blocks <= GC_KERNEL_MAX_BLOCKS &&
		p->registers <= GC_KERNEL_MAX_REGISTERS && p->shared_per_sm <= GC_KERNEL_MAX_SHARED;
}

/* Is the item within the limits that the workspace is made for? */
static bool
item_ok(const GcKernelItem *item)
{
	return item->registers >= 0 && item->max_threads >= 1 && item->shared_fixed >= 0 &&
		item->shared_per_warp >= 0 && item->warps >= 1;
}

/* Free resources, at most the device's. */
static void
free_of(const GcProfile *p, const int *given, int free[GC_NEEDS])
{
	gc_sm_limits(p, free);
	for (int i = 0; given != NULL && i < GC_NEEDS; i++)
	{
		if (given[i] < free[i])
			free[i] = given[i];
	}
}

/* Is a at least as good as b in every respect? */
static bool
dominates(const GcKernelOption *a, const GcKernelOption *b)
{
	return a->cost <= b->cost && gc_needs_fit(a->need, b->need);
}

/*
 * Add an option, in order of cost, unless another one is at least as good.  Of equal options the
 * first stays.
 */
static void
add_option(GcKernelOptions *options, const GcKernelOption *new)
{
	int			n = 0;
	int			at;

	for (int i = 0; i < options->n; i++)
	{
		if (dominates(&options->option[i], new))
			return;
	}
	for (int i = 0; i < options->n; i++)
	{
		if (dominates(new, &options->option[i]))
			continue;
		if (n < i)
			options->option[n] = options->option[i];
		n++;
	}
	for (at = n; at > 0 && options->option[at - 1].cost > new->cost; at--)
		options->option[at] = options->option[at - 1];
	options->option[at] = *new;
	options->n = n + 1;
}

/* The largest block of an item that may find room, in warps. */
static int
largest_block(const GcProfile *p, const GcKernelItem *item, const int free[GC_NEEDS])
{
	int			most = (item->max_threads < p->max_threads ? item->max_threads : p->max_threads)
		/ p->warp_size;

	return most < free[GC_NEED_WARPS] ? most : free[GC_NEED_WARPS];
}

/*
 * A lower bound of each resource that any option of the item takes.  False: the item has no option.  This costs half of
 * one option, of which there are up to sixteen.
 */
static bool
item_least(const GcProfile *p, const GcKernelItem *item, const int free[GC_NEEDS],
		   int64_t least[GC_NEEDS])
{
	int			most = largest_block(p, item, free);
	int			registers = gc_warp_registers(p, item->registers);
	int			shared = gc_block_shared(p, item->shared_fixed);

	if (item->warps > free[GC_NEED_WARPS] || most < 1 || registers < 0 || shared < 0)
		return false;
	least[GC_NEED_BLOCKS] = (item->warps + most - 1) / most;
	least[GC_NEED_WARPS] = item->warps;
	least[GC_NEED_REGISTERS] = (int64_t) registers * ((item->warps + p->warp_unit - 1) / p->warp_unit * p->warp_unit);
	least[GC_NEED_SHARED] = least[GC_NEED_BLOCKS] * shared;
	return true;
}

/*
 * Do the items ask for more than there is, whichever options they get?  Nearly all batches that do
 * not fit end here, before their options are listed.
 */
static bool
hopeless(const GcProfile *p, const GcKernelItem *items, int n, const int free[GC_NEEDS])
{
	int64_t		sum[GC_NEEDS] = {0};

	for (int i = 0; i < n; i++)
	{
		int64_t		least[GC_NEEDS];

		if (!item_least(p, &items[i], free, least))
			return true;
		for (int k = 0; k < GC_NEEDS; k++)
		{
			sum[k] += least[k];
			if (sum[k] > free[k])
				return true;
		}
	}
	return false;
}

/*
 * List the item's options: for each number of warps per block, the fewest blocks.  (More blocks of as
 * many warps take more of everything.)
 */
static void
item_options(const GcProfile *p, const GcKernelItem *item, const int free[GC_NEEDS],
			 GcKernelOptions *options)
{
	int			most = largest_block(p, item, free);
	int			blocks;
	int			warps;

	options->n = 0;
	if (item->warps > free[GC_NEED_WARPS] || most < 1)
		return;
	blocks = (item->warps + most - 1) / most;
	while (blocks <= free[GC_NEED_BLOCKS])
	{
		GcKernelOption o = {.blocks = blocks};

		warps = (item->warps + blocks - 1) / blocks;	/* theorem 1 */
		o.warps = warps;
		if (gc_blocks_need(p, item->registers, warps * p->warp_size,
						   item->shared_fixed + (int64_t) item->shared_per_warp * warps,
						   blocks, o.need) &&
			gc_needs_fit(o.need, free))
		{
			o.cost = o.need[GC_NEED_SHARED];
			add_option(options, &o);
		}
		if (warps == 1)
			break;
		/* The fewest blocks that make do with fewer warps each. */
		blocks = (item->warps + warps - 2) / (warps - 1);
	}
}

/* The least that an item takes of each resource with any option. */
static void
least_needs(const GcKernelOptions *options, int least[GC_NEEDS])
{
	memcpy(least, options->option[0].need, sizeof(int) * GC_NEEDS);
	for (int i = 1; i < options->n; i++)
	{
		for (int k = 0; k < GC_NEEDS; k++)
		{
			if (options->option[i].need[k] < least[k])
				least[k] = options->option[i].need[k];
		}
	}
}

/* Can the items fit, as far as the least that each takes of each resource says? */
static bool
may_fit(const GcKernelWork *work, int n, const int free[GC_NEEDS])
{
	int64_t		sum[GC_NEEDS] = {0};

	for (int i = 0; i < n; i++)
	{
		int			least[GC_NEEDS];

		if (work->options[i].n == 0)
			return false;
		least_needs(&work->options[i], least);
		for (int k = 0; k < GC_NEEDS; k++)
		{
			sum[k] += least[k];
			if (sum[k] > free[k])
				return false;
		}
	}
	return true;
}

/* Do the first options of all items, which are the cheapest, fit together? */
static bool
cheapest_fit(const GcKernelWork *work, int n, const int free[GC_NEEDS])
{
	int64_t		sum[GC_NEEDS] = {0};

	for (int i = 0; i < n; i++)
	{
		for (int k = 0; k < GC_NEEDS; k++)
			sum[k] += work->options[i].option[0].need[k];
	}
	for (int k = 0; k < GC_NEEDS; k++)
	{
		if (sum[k] > free[k])
			return false;
	}
	return true;
}

/* Items with several options are left to the search; the others take their only option. */
static void
open_items(GcKernelWork *work, int n, const int free[GC_NEEDS])
{
	work->nopen = 0;
	memcpy(work->free, free, sizeof(work->free));
	for (int i = 0; i < n; i++)
	{
		work->pick[i] = 0;
		if (work->options[i].n > 1)
		{
			work->open[work->nopen++] = i;
			continue;
		}
		for (int k = 0; k < GC_NEEDS; k++)
			work->free[k] -= work->options[i].option[0].need[k];
	}
}

/*
 * The least cost of items up to this one within these blocks and warps, by the costs of the items before it.  *which:
 * this item's option then.
 */
static int32_t
cheapest_within(const GcKernelOptions *options, const int least[GC_NEEDS], const int32_t *before, int width,
				int blocks, int warps, int *which)
{
	int32_t		best = NEVER;

	for (int j = 0; j < options->n; j++)
	{
		const GcKernelOption *o = &options->option[j];
		int			b = blocks - (o->need[GC_NEED_BLOCKS] - least[GC_NEED_BLOCKS]);
		int			w = warps - (o->need[GC_NEED_WARPS] - least[GC_NEED_WARPS]);

		if (b < 0 || w < 0 || before[b * width + w] + o->cost >= best)
			continue;
		best = before[b * width + w] + o->cost;
		*which = j;
	}
	return best;
}

/*
 * Algorithm 1.  With V[0, *, *] = 0,
 *		V[i, b, w] = min over the options of item i of V[i - 1, b - blocks, w - warps] + cost,
 * where an option's warps are those of all its blocks.  (The paper's pseudo-code has B and W in places of b and w.)
 * Blocks and warps are counted beyond the least that each item takes, so there are few cells.  All layers are kept: the
 * plan is read off them.  As in the paper, it may then turn out to have too many registers.
 */
static GcKernelStatus
search(GcKernelWork *work)
{
	int			least[GC_KERNEL_MAX_BLOCKS][GC_NEEDS];
	int			blocks = work->free[GC_NEED_BLOCKS];
	int			warps = work->free[GC_NEED_WARPS];
	int32_t    *cells = work->cells;
	int			layer;
	int			which;

	for (int i = 0; i < work->nopen; i++)
	{
		least_needs(&work->options[work->open[i]], least[i]);
		blocks -= least[i][GC_NEED_BLOCKS];
		warps -= least[i][GC_NEED_WARPS];
	}
	layer = (blocks + 1) * (warps + 1);
	memset(cells, 0, layer * sizeof(int32_t));
	for (int i = 0; i < work->nopen; i++, cells += layer)
	{
		for (int at = 0; at < layer; at++)
			cells[layer + at] = cheapest_within(&work->options[work->open[i]], least[i], cells, warps + 1,
												at / (warps + 1), at % (warps + 1), &which);
	}
	if (cells[layer - 1] > work->free[GC_NEED_SHARED])
		return GC_KERNEL_INFEASIBLE;
	for (int i = work->nopen - 1, width = warps + 1; i >= 0; i--)
	{
		const GcKernelOptions *options = &work->options[work->open[i]];

		cells -= layer;
		(void) cheapest_within(options, least[i], cells, width, blocks, warps, &which);
		work->pick[work->open[i]] = which;
		blocks -= options->option[which].need[GC_NEED_BLOCKS] - least[i][GC_NEED_BLOCKS];
		warps -= options->option[which].need[GC_NEED_WARPS] - least[i][GC_NEED_WARPS];
		work->free[GC_NEED_REGISTERS] -= options->option[which].need[GC_NEED_REGISTERS];
	}
	return work->free[GC_NEED_REGISTERS] < 0 ? GC_KERNEL_UNKNOWN : GC_KERNEL_OPTIMAL;
}

/* Options of each item first, then the cases without a search, and then the search. */
static GcKernelStatus
plan(const GcProfile *profile, const int free[GC_NEEDS], const GcKernelItem *items, int n,
	 GcKernelWork *work)
{
	if (hopeless(profile, items, n, free))
		return GC_KERNEL_INFEASIBLE;
	for (int i = 0; i < n; i++)
		item_options(profile, &items[i], free, &work->options[i]);
	if (!may_fit(work, n, free))
		return GC_KERNEL_INFEASIBLE;
	open_items(work, n, free);
	return cheapest_fit(work, n, free) ? GC_KERNEL_OPTIMAL : search(work);
}

/* Checks all input first. */
GcKernelStatus
gc_kernel_plan(const GcProfile *profile, const int given[GC_NEEDS], const GcKernelItem *items,
			   int n, GcKernelWork *work, GcKernelChoice *choice)
{
	GcKernelStatus status = GC_KERNEL_OPTIMAL;
	int			free[GC_NEEDS];

	if (!profile_ok(profile))
		return GC_KERNEL_BAD_PROFILE;
	if (n < 0 || n > GC_KERNEL_MAX)
		return GC_KERNEL_BAD_INPUT;
	for (int i = 0; i < n; i++)
	{
		if (!item_ok(&items[i]))
			return GC_KERNEL_BAD_INPUT;
	}
	free_of(profile, given, free);

	/* No items always fit, even if `free` is negative. */
	if (n > 0)
		status = plan(profile, free, items, n, work);
	for (int i = 0; i < n && status == GC_KERNEL_OPTIMAL; i++)
	{
		const GcKernelOption *o = &work->options[i].option[work->pick[i]];

		choice[i] = (GcKernelChoice) {o->blocks, o->warps};
	}
	return status;
}

bool
gc_kernel_fits(const GcProfile *profile, const int given[GC_NEEDS], const GcKernelItem *item,
			   GcKernelChoice *choice, int need[GC_NEEDS])
{
	GcKernelOptions options;
	int			free[GC_NEEDS];

	if (!profile_ok(profile) || !item_ok(item))
		return false;
	free_of(profile, given, free);
	item_options(profile, item, free, &options);
	if (options.n == 0)
		return false;
	if (choice != NULL)
		*choice = (GcKernelChoice) {options.option[0].blocks, options.option[0].warps};
	if (need != NULL)
		memcpy(need, options.option[0].need, sizeof(int) * GC_NEEDS);
	return true;
}
