/*-------------------------------------------------------------------------
 *
 * knapsack.c
 *	  Pricing by branch and bound: see knapsack.h.
 *
 * Pure functions; the work space is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "knapsack.h"

#include <math.h>
#include <string.h>

#define EPS_VALUE	1e-12		/* an item worth less than this is left out */

/* The least part of a resource in the weights.  A relaxation that ignored a resource would let items be free. */
#define LEAST_PART	0.02

/* Add an item's needs to the room `times` times (-1: subtract them). */
static inline void
give_back(GcKnapsackRoom *room, const GcKnapsackRoom *need, int times)
{
	for (int r = 0; r < GC_NROOM; r++)
		room->amount[r] += times * need->amount[r];
}

static inline bool
fits_into(const GcKnapsackRoom *need, const GcKnapsackRoom *room)
{
	bool		fits = true;

	for (int r = 0; r < GC_NROOM; r++)
		fits &= need->amount[r] <= room->amount[r];
	return fits;
}

/* Take one item out of the room; false, and nothing done, if it does not fit. */
static inline bool
take(GcKnapsackRoom *room, const GcKnapsackRoom *need)
{
	if (!fits_into(need, room))
		return false;
	give_back(room, need, -1);
	return true;
}

/* The items' weights: shares of all resources, with more of those that all items use most. */
static void
weigh(GcKnapsack *ks, const double use[GC_NROOM])
{
	double		sum = 0;

	for (int r = 0; r < GC_NROOM; r++)
		sum += use[r] * use[r];
	for (int i = 0; i < ks->n; i++)
	{
		ks->weight[i] = 0;
		for (int r = 0; r < GC_NROOM; r++)
			ks->weight[i] += ks->share[i][r] * (LEAST_PART + (1.0 - GC_NROOM * LEAST_PART) * use[r] * use[r] / sum);
	}
}

void
gc_knapsack_start(GcKnapsack *ks, int n, const int (*need)[GC_NROOM],
				  const int *capacity, const int *demand)
{
	double		use[GC_NROOM] = {0};

	ks->n = n;
	memcpy(ks->capacity.amount, capacity, sizeof(ks->capacity.amount));
	for (int i = 0; i < n; i++)
	{
		int			fit = UINT16_MAX;

		memcpy(ks->need[i].amount, need[i], sizeof(ks->need[i].amount));
		ks->order[i] = i;
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
		ks->fit[i] = fit;
	}
	weigh(ks, use);
}

/*
 * Sort the items worth taking by value per weight, best first; the others come after them.  Sorting
 * starts from the last search's order, which is mostly right already.
 */
static void
arrange(GcKnapsack *ks, const double *value, const int *limit)
{
	int			out[GC_KNAPSACK_MAX];
	int			nout = 0;
	int			n = 0;

	for (int k = 0; k < ks->n; k++)
	{
		int			i = ks->order[k];
		double		ratio;
		int			at;

		if (limit[i] <= 0 || value[i] <= EPS_VALUE)
		{
			out[nout++] = i;
			continue;
		}
		ratio = value[i] / ks->weight[i];
		for (at = n++; at > 0 && ks->ratio[at - 1] < ratio; at--)
		{
			ks->ratio[at] = ks->ratio[at - 1];
			ks->order[at] = ks->order[at - 1];
		}
		ks->ratio[at] = ratio;
		ks->order[at] = i;
	}
	memcpy(ks->order + n, out, sizeof(int) * (size_t) nout);
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

static inline uint64_t
fitting(const GcKnapsack *ks, uint64_t candidates, const GcKnapsackRoom *room)
{
	uint64_t	fits = 0;

	for (; candidates != 0; candidates &= candidates - 1)
	{
		int			k = __builtin_ctzll(candidates);

		fits |= (uint64_t) fits_into(&ks->room[k], room) << k;
	}
	return fits;
}

/*
 * An upper bound of the value of the items that fit, in a share `left` of a batch's weight.  The room
 * only shrinks down a branch, so items that do not fit now have no part in the bound.
 */
static inline double
bound_of(const GcKnapsack *ks, uint64_t fits, double left)
{
	double		bound = 0;

	for (; fits != 0; fits &= fits - 1)
	{
		int			k = __builtin_ctzll(fits);

		if (ks->all_load[k] > left)
			return bound + left * ks->ratio[k];
		bound += ks->all_value[k];
		left -= ks->all_load[k];
	}
	return bound;
}

/*
 * The most valuable of the items that fit; -1: none.  *last: only one more item fits, whichever it
 * is.
 */
static inline int
most_valuable(const GcKnapsack *ks, uint64_t fits, double left, bool *last)
{
	double		least = INFINITY;
	double		most = 0;
	int			which = -1;

	for (; fits != 0; fits &= fits - 1)
	{
		int			k = __builtin_ctzll(fits);

		least = ks->load[k] < least ? ks->load[k] : least;
		which = ks->value[k] > most ? k : which;
		most = ks->value[k] > most ? ks->value[k] : most;
	}
	*last = left < 2.0 * least;
	return which;
}

/* Keep the pattern of the present branch, with one more item (-1: none). */
static void
record(const GcKnapsack *ks, int depth, int more, GcKnapsackResult *result)
{
	result->found = true;
	memset(result->count, 0, sizeof(uint16_t) * (size_t) ks->n);
	for (int d = 0; d < depth; d++)
		result->count[ks->order[ks->branch[d].item]] = (uint16_t) ks->branch[d].taken;
	if (more >= 0)
		result->count[ks->order[more]]++;
}

/* State of a search. */
typedef struct KnapsackSearch
{
	GcKnapsackRoom room;			/* that is left */
	double		best;			/* of the patterns so far */
	double		worth;			/* of the taken items */
	double		left;			/* of the batch's weight, with room for rounding */
	int			depth;			/* branches */
	int			steps;
	uint64_t	candidates;		/* items that may still be taken */
} KnapsackSearch;

/* Go down: take as many of the first item that fits as fit, and so on. */
static inline void
descend(GcKnapsack *ks, KnapsackSearch *s, GcKnapsackResult *result)
{
	for (;;)
	{
		GcKnapsackBranch *b;
		int			n = 0;
		int			k;
		int			most;
		bool		last;

		s->candidates = fitting(ks, s->candidates, &s->room);
		if (s->worth + bound_of(ks, s->candidates, s->left) <= s->best)
			return;
		most = most_valuable(ks, s->candidates, s->left, &last);
		if (last)
		{
			double		all = s->worth + (most >= 0 ? ks->value[most] : 0);

			if (all > s->best)
			{
				s->best = all;
				record(ks, s->depth, most, result);
			}
			return;
		}
		k = __builtin_ctzll(s->candidates);
		while (n < ks->limit[k] && take(&s->room, &ks->room[k]))
			n++;
		s->candidates &= s->candidates - 1;
		b = &ks->branch[s->depth++];
		b->item = k;
		b->taken = n;
		b->candidates = s->candidates;
		s->worth += n * ks->value[k];
		s->left -= n * ks->load[k];
		s->steps += n / 16;
	}
}

/* Go up: take one less of the last item, and go on with the items after it. */
static inline void
climb(GcKnapsack *ks, KnapsackSearch *s)
{
	GcKnapsackBranch *b = &ks->branch[s->depth - 1];

	give_back(&s->room, &ks->room[b->item], 1);
	s->worth -= ks->value[b->item];
	s->left += ks->load[b->item];
	s->candidates = b->candidates;
	if (--b->taken == 0)
		s->depth--;
}

void
gc_knapsack_search(GcKnapsack *ks, const double *value, const int *limit, double threshold,
				   int patience, int max_steps, GcKnapsackResult *result)
{
	KnapsackSearch s = {.room = ks->capacity,.best = threshold,.left = 1.0 + 1e-9};

	arrange(ks, value, limit);
	s.candidates = ks->nactive < 64 ? (UINT64_C(1) << ks->nactive) - 1 : ~UINT64_C(0);
	result->found = false;
	result->complete = true;
	for (;;)
	{
		descend(ks, &s, result);
		if (s.depth == 0)
			break;
		if (++s.steps >= max_steps || (result->found && s.steps >= patience))
		{
			result->complete = false;
			break;
		}
		climb(ks, &s);
	}
	result->value = s.best;
	result->steps = s.steps;
	result->upper = result->complete ? s.best : INFINITY;
}

void
gc_knapsack_fill(const GcKnapsack *ks, const int *order, int norder, const int *limit,
				 uint16_t *count)
{
	GcKnapsackRoom room = ks->capacity;

	for (int i = 0; i < ks->n; i++)
	{
		if (count[i] > 0)
			give_back(&room, &ks->need[i], -count[i]);
	}
	for (int k = 0; k < norder; k++)
	{
		int			i = order[k];

		while (count[i] < limit[i] && take(&room, &ks->need[i]))
			count[i]++;
	}
}
