/*-------------------------------------------------------------------------
 *
 * knapsack.c
 *	  Pricing by branch and bound: see knapsack.h.
 *
 * Whether an item still fits is asked more often than anything else, so that what is
 * left of all resources sits in two words, each resource in a field of its own below a
 * guard bit that is set: taking an item is two subtractions, and one that does not fit
 * borrows a guard bit.
 *
 *-------------------------------------------------------------------------
 */
#include "knapsack.h"

#include <string.h>

#define SHIFT_BLOCKS	27		/* registers are below */
#define SHIFT_WARPS		44
#define SHIFT_ITEMS		32		/* shared memory is below */

#define GUARD_A \
	((UINT64_C(1) << 26) | (UINT64_C(1) << (SHIFT_BLOCKS + 16)) | (UINT64_C(1) << (SHIFT_WARPS + 16)))
#define GUARD_B		((UINT64_C(1) << 31) | (UINT64_C(1) << (SHIFT_ITEMS + 16)))

#define EPS_VALUE	1e-12		/* an item worth less is not worth a look */

/* A relaxation that ignored a resource would let items be free. */
#define LEAST_MULTIPLIER	0.02

/* How far a multiplier follows the use of its resource. */
#define ADJUST				0.5

static GcRoom
pack(const int64_t *amount)
{
	GcRoom		room;

	room.a = (uint64_t) amount[GC_ROOM_REGISTERS] |
		(uint64_t) amount[GC_ROOM_BLOCKS] << SHIFT_BLOCKS |
		(uint64_t) amount[GC_ROOM_WARPS] << SHIFT_WARPS;
	room.b = (uint64_t) amount[GC_ROOM_SHARED] |
		(uint64_t) amount[GC_ROOM_ITEMS] << SHIFT_ITEMS;
	return room;
}

/* Take one item out of the room; false, and nothing done, if it does not fit. */
static inline bool
take(GcRoom *room, GcRoom need)
{
	uint64_t	a = room->a - need.a;
	uint64_t	b = room->b - need.b;

	if ((a & GUARD_A) != GUARD_A || (b & GUARD_B) != GUARD_B)
		return false;
	room->a = a;
	room->b = b;
	return true;
}

/* Multipliers of sum 1, none of them near 0. */
static void
normalise(double *multiplier)
{
	double		sum = 0;

	for (int r = 0; r < GC_NROOM; r++)
		sum += multiplier[r];
	if (!(sum > 0))
	{
		for (int r = 0; r < GC_NROOM; r++)
			multiplier[r] = 1.0 / GC_NROOM;
		return;
	}
	for (int r = 0; r < GC_NROOM; r++)
		multiplier[r] = LEAST_MULTIPLIER +
			(1.0 - GC_NROOM * LEAST_MULTIPLIER) * multiplier[r] / sum;
}

void
gc_knapsack_start(GcKnapsack *ks, int n, const int64_t (*need)[GC_NROOM],
				  const int64_t *capacity, const int *demand)
{
	double		use[GC_NROOM] = {0};

	ks->n = n;
	ks->capacity = pack(capacity);
	ks->capacity.a |= GUARD_A;
	ks->capacity.b |= GUARD_B;
	for (int i = 0; i < n; i++)
	{
		int64_t		fit = UINT16_MAX;

		ks->need[i] = pack(need[i]);
		for (int r = 0; r < GC_NROOM; r++)
		{
			ks->share[i][r] = 0;
			if (need[i][r] <= 0)
				continue;
			ks->share[i][r] = (double) need[i][r] / (double) capacity[r];
			use[r] += ks->share[i][r] * demand[i];
			if (capacity[r] / need[i][r] < fit)
				fit = capacity[r] / need[i][r];
		}
		ks->fit[i] = (int) fit;
	}
	for (int r = 0; r < GC_NROOM; r++)
		ks->multiplier[r] = use[r] * use[r];
	normalise(ks->multiplier);
	for (int i = 0; i < n; i++)
	{
		ks->weight[i] = 0;
		for (int r = 0; r < GC_NROOM; r++)
			ks->weight[i] += ks->multiplier[r] * ks->share[i][r];
	}
}

/* The items worth taking, best value per weight first. */
static void
arrange(GcKnapsack *ks, const double *value, const int *limit)
{
	int			n = 0;

	for (int i = 0; i < ks->n; i++)
	{
		double		weight = 0;
		double		ratio;
		int			at;

		if (limit[i] <= 0 || value[i] <= EPS_VALUE)
			continue;
		for (int r = 0; r < GC_NROOM; r++)
			weight += ks->multiplier[r] * ks->share[i][r];
		ks->weight[i] = weight;
		ratio = value[i] / weight;
		for (at = n++; at > 0 && ks->ratio[at - 1] < ratio; at--)
		{
			ks->ratio[at] = ks->ratio[at - 1];
			ks->order[at] = ks->order[at - 1];
		}
		ks->ratio[at] = ratio;
		ks->order[at] = i;
	}
	ks->nactive = n;
	for (int k = 0; k < n; k++)
	{
		int			i = ks->order[k];

		ks->limit[k] = limit[i] < ks->fit[i] ? limit[i] : ks->fit[i];
		ks->room[k] = ks->need[i];
		ks->value[k] = value[i];
		ks->load[k] = ks->weight[i];
		ks->all_value[k] = value[i] * ks->limit[k];
		ks->all_load[k] = ks->weight[i] * ks->limit[k];
	}
}

/* Most that items k and later can be worth in a share `left` of a batch's weight. */
static inline double
tail_bound(const GcKnapsack *ks, int k, double left)
{
	double		value = 0;

	while (k < ks->nactive && ks->all_load[k] <= left)
	{
		value += ks->all_value[k];
		left -= ks->all_load[k];
		k++;
	}
	return k < ks->nactive && left > 0 ? value + left * ks->ratio[k] : value;
}

/*
 * What the relaxation would take tells which resources it takes too much of: raise
 * their multipliers, lower those of the others.  Returns the relaxation's value.
 */
static double
adjust(GcKnapsack *ks)
{
	double		use[GC_NROOM] = {0};
	double		left = 1.0;
	double		value = 0;

	for (int k = 0; k < ks->nactive && left > 0; k++)
	{
		double		part = ks->all_load[k] <= left ? ks->limit[k] : left / ks->load[k];
		const double *share = ks->share[ks->order[k]];

		for (int r = 0; r < GC_NROOM; r++)
			use[r] += part * share[r];
		value += part * ks->value[k];
		left -= part * ks->load[k];
	}
	for (int r = 0; r < GC_NROOM; r++)
	{
		double		factor = 1.0 + ADJUST * (use[r] - 1.0);

		ks->multiplier[r] *= factor < 2.0 ? factor : 2.0;
	}
	normalise(ks->multiplier);
	return value;
}

void
gc_knapsack_search(GcKnapsack *ks, const double *value, const int *limit, double threshold,
				   int patience, int max_steps, GcKnapsackResult *result)
{
	GcRoom		room = ks->capacity;
	double		best = threshold;
	double		worth = 0;
	double		left = 1.0 + 1e-9;	/* of the batch's weight, with room for rounding */
	double		bound;
	int			depth = 0;
	int			steps = 0;
	int			k = 0;

	arrange(ks, value, limit);
	bound = adjust(ks) * (1.0 + 1e-9);
	result->found = false;
	result->complete = true;
	for (;;)
	{
		/* Downwards: of every item as many as fit, while that can beat the best. */
		while (k < ks->nactive && worth + tail_bound(ks, k, left) > best)
		{
			int			n = 0;

			while (n < ks->limit[k] && take(&room, ks->room[k]))
				n++;
			if (n > 0)
			{
				ks->taken[k] = n;
				ks->stack[depth++] = k;
				worth += n * ks->value[k];
				left -= n * ks->load[k];
				steps += n / 16;
			}
			k++;
		}
		if (worth > best)
		{
			best = worth;
			result->found = true;
			memset(result->count, 0, sizeof(uint16_t) * (size_t) ks->n);
			for (int d = 0; d < depth; d++)
				result->count[ks->order[ks->stack[d]]] = (uint16_t) ks->taken[ks->stack[d]];
		}

		/* Upwards: one less of the last item taken, and on from the next item. */
		if (depth == 0)
			break;
		if (++steps >= max_steps || (result->found && steps >= patience))
		{
			result->complete = false;
			break;
		}
		k = ks->stack[depth - 1];
		room.a += ks->room[k].a;
		room.b += ks->room[k].b;
		worth -= ks->value[k];
		left += ks->load[k];
		if (--ks->taken[k] == 0)
			depth--;
		k++;
	}
	result->value = best;
	result->steps = steps;
	result->upper = result->complete || bound < best ? best : bound;
}

void
gc_knapsack_fill(const GcKnapsack *ks, const int *order, int norder, const int *limit,
				 uint16_t *count)
{
	GcRoom		room = ks->capacity;

	for (int i = 0; i < ks->n; i++)
	{
		room.a -= count[i] * ks->need[i].a;
		room.b -= count[i] * ks->need[i].b;
	}
	for (int k = 0; k < norder; k++)
	{
		int			i = order[k];

		while (count[i] < limit[i] && count[i] < ks->fit[i] && take(&room, ks->need[i]))
			count[i]++;
	}
}

bool
gc_knapsack_fits(const GcKnapsack *ks, const uint16_t *count)
{
	GcRoom		room = ks->capacity;

	for (int i = 0; i < ks->n; i++)
	{
		for (int k = 0; k < count[i]; k++)
		{
			if (!take(&room, ks->need[i]))
				return false;
		}
	}
	return true;
}
