/*-------------------------------------------------------------------------
 *
 * replacement.c
 *	  Which data leaves device memory when it is short.
 *
 * Policy `value` estimates after how many requests each piece of data is needed again, from the gaps
 * between its uses so far.  The cost to have the data again is divided by the bytes that it takes and
 * by that number of requests.  A byte of device memory saves so much per request if the data stays.
 * The least goes first.
 *
 * - A piece with regular gaps is expected when its next gap is over.  So of a cycle that is slightly larger than
 *	 memory, the part that was just used goes, and the rest stays.
 * - A piece with irregular gaps is expected after an average gap, however long ago it was used.
 * - A piece that is overdue is expected less and less: the workload has changed.
 * - A piece that was used once is expected late.  So one large query does not empty the memory.
 *
 * A query is spared the link only if all that it reads of a chunk is there.  So among pieces of about
 * equal worth the last parts of columns go first.  Then columns that are read together have the same
 * parts.
 *
 * Policy `cdr` is the cost-driven replacement of Wang et al., "Concurrent Analytical Query Processing
 * with GPUs" (VLDB 2014), section 4.2.  Its equation (1) is c = e + f * s * l.  The region of least
 * cost goes first.  e are the bytes that must be saved to the host, and s the size.  l is its place in the LRU
 * list of n regions, from 1/n on, and f the latency factor of their section 6.
 *
 *-------------------------------------------------------------------------
 */
#include "replacement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Averages stand for at most so many gaps: more would follow changes too slowly. */
#define MOST_GAPS		32

/* After a gap that is longer than so many average gaps, earlier uses count little. */
#define SURPRISE		8

/* A piece is overdue if it was not used for so many average gaps. */
#define OVERDUE			3

/* Gaps are regular if so many of them differ by less than this part of their average. */
#define LEAST_REGULAR	3
#define REGULAR_PART	0.25f

/* Data that was used once is expected after so many times the requests since. */
#define ONCE			8

/*
 * Worths are about equal if they have the same exponent and the same first two bits behind it.  Below that, keys have
 * the number of the victim's part of its column.
 */
#define STEP_SHIFT		21
#define PLACE_BITS		6
#define MOST_PLACES		((1 << PLACE_BITS) - 1)

#define LATENCY_FACTOR	0.01

/*-------------------------------------------------------------------------
 * Uses
 *-------------------------------------------------------------------------
 */

void
gc_uses_note(GcUses *u, uint64_t now)
{
	float		gap = (float) (now - u->last);

	if (u->count > 0 && now == u->last)
		return;
	if (u->count > 0)
	{
		const float off = fabsf(gap - u->gap);

		if (u->gaps > 1 && gap > SURPRISE * u->gap)
			u->gaps = 1;
		if (u->gaps < MOST_GAPS)
			u->gaps++;
		u->spread = u->gaps == 1 ? gap : u->spread + (off - u->spread) / (float) u->gaps;
		u->gap = u->gaps == 1 ? gap : u->gap + (gap - u->gap) / (float) u->gaps;
	}
	u->count++;
	u->last = now;
}

void
gc_uses_spare(GcUses *u, float part)
{
	const uint32_t n = u->count < 1 ? 1 : u->count < MOST_GAPS ? u->count : MOST_GAPS;

	u->spared = u->spared == 0 ? part : u->spared + (part - u->spared) / (float) n;
}

uint64_t
gc_uses_cost(const GcUses *u, uint64_t bytes)
{
	return u->spared == 0 ? bytes : (uint64_t) ((double) bytes * u->spared);
}

double
gc_uses_expected(const GcUses *u, uint64_t now)
{
	const double age = now > u->last ? (double) (now - u->last) : 0;
	double		left;

	if (u->gaps == 0)
		return ONCE * (age + 1) + 64;
	left = u->gap - age;
	if (u->gaps >= LEAST_REGULAR && u->spread < REGULAR_PART * u->gap && left > -2 * u->spread)
		return left > u->spread ? left : u->spread + 1;
	left = u->gap + age / u->gaps;
	return left > age / OVERDUE ? left : age / OVERDUE;
}

/* Are two places' uses the same, so that one entry can stand for both? */
static bool
equal_uses(const GcUses *a, const GcUses *b)
{
	return a->last == b->last && a->count == b->count && a->gaps == b->gaps && a->gap == b->gap &&
		a->spread == b->spread && a->spared == b->spared;
}

void
gc_place_uses_filled(GcPlaceUses *u)
{
	u->even = true;
	for (uint32_t place = 1; place < u->nplaces; place++)
		u->even = u->even && equal_uses(&u->place[place], &u->place[0]);
}

/* A use now, which spares the link this share of the bytes if they are in device memory. */
static void
note_and_spare(GcUses *u, uint64_t now, float spared)
{
	gc_uses_note(u, now);
	gc_uses_spare(u, spared);
}

void
gc_place_uses_note(GcPlaceUses *u, uint32_t places, uint64_t now, float spared)
{
	if (places == 0)
		return;
	if (u->even && places == gc_all_places(u))
	{
		note_and_spare(&u->place[0], now, spared);
		return;
	}
	for (uint32_t place = 1; place < u->nplaces && u->even; place++)
		u->place[place] = u->place[0];
	u->even = false;
	for (uint32_t place = 0; place < u->nplaces; place++)
	{
		if (places >> place & 1)
			note_and_spare(&u->place[place], now, spared);
	}
}

/*-------------------------------------------------------------------------
 * The decision
 *-------------------------------------------------------------------------
 */

/* A key of a number and the place of the last use, which tells apart victims of equal numbers. */
static uint64_t
key_with_use(uint32_t number, const GcVictim *v)
{
	return (uint64_t) number << 32 | (v->used & UINT32_MAX);
}

/* The bits of a positive number are in its order. */
static uint32_t
bits_of(float positive)
{
	uint32_t	bits;

	memcpy(&bits, &positive, sizeof(bits));
	return bits;
}

/* Savings per request by a byte of device memory if the victim stays, in steps of about a fifth. */
static uint64_t
value_key(const GcVictim *v, uint64_t now)
{
	const double by_uses = gc_uses_expected(&v->uses, now);
	const double expected = v->soon > 0 && v->soon < by_uses ? v->soon : by_uses;
	const float value = (float) ((double) (v->cost + 1) / (double) (v->bytes + 1) / expected);
	const uint32_t last_place = MOST_PLACES - (v->place < MOST_PLACES ? v->place : MOST_PLACES);

	return key_with_use(bits_of(value) >> STEP_SHIFT << PLACE_BITS | last_place, v);
}

/* Equation (1) of the paper, for the victim that is the i-th of n by its last use. */
static uint64_t
cdr_key(const GcVictim *v, int i, int n)
{
	return key_with_use(bits_of((float) ((double) v->unsaved + LATENCY_FACTOR * (double) v->bytes * (i + 1) / n)), v);
}

/* Order for qsort(): the least key first. */
static int
compare_chosen(const void *a, const void *b)
{
	const uint64_t ka = ((const GcChosen *) a)->key;
	const uint64_t kb = ((const GcChosen *) b)->key;

	return (ka > kb) - (ka < kb);
}

/* Give each victim its key by the policy: those with the least keys go first. */
static void
set_keys(GcReplacement policy, const GcVictim *v, int n, uint64_t now, GcChosen *c)
{
	for (int i = 0; i < n; i++)
	{
		c[i].victim = (uint32_t) i;
		c[i].key = policy == GC_REPLACE_VALUE ? value_key(&v[i], now) :
			policy == GC_REPLACE_LFU ? key_with_use(v[i].uses.count, &v[i]) : v[i].used;
	}
	if (policy != GC_REPLACE_CDR)
		return;
	qsort(c, n, sizeof(GcChosen), compare_chosen);
	for (int i = 0; i < n; i++)
		c[i].key = cdr_key(&v[c[i].victim], i, n);
}

/* Let a place of the heap c[0 .. n - 1] sink to where it belongs. */
static void
sink(GcChosen *c, int n, int at)
{
	const GcChosen sinks = c[at];

	for (int child = 2 * at + 1; child < n; child = 2 * at + 1)
	{
		if (child + 1 < n && c[child + 1].key < c[child].key)
			child++;
		if (sinks.key <= c[child].key)
			break;
		c[at] = c[child];
		at = child;
	}
	c[at] = sinks;
}

/* The last one first. */
static void
turn_around(GcChosen *c, int n)
{
	for (int i = 0; i < n / 2; i++)
	{
		const GcChosen swap = c[i];

		c[i] = c[n - 1 - i];
		c[n - 1 - i] = swap;
	}
}

int
gc_replacement_choose(GcReplacement policy, const GcVictim *v, int n, uint64_t need, uint64_t now, GcChosen *c)
{
	uint64_t	bytes = 0;
	int			left = n;

	set_keys(policy, v, n, now, c);
	for (int i = n / 2 - 1; i >= 0; i--)
		sink(c, n, i);
	/* Entries taken from the heap lie behind it, the last first. */
	while (left > 0 && bytes < need)
	{
		const GcChosen first = c[0];

		bytes += v[first.victim].bytes;
		c[0] = c[--left];
		sink(c, left, 0);
		c[left] = first;
	}
	turn_around(c, n);
	return n - left;
}

/*-------------------------------------------------------------------------
 * Histories
 *-------------------------------------------------------------------------
 */

/* A key lies in one of WAYS neighbouring entries of the table. */
#define WAYS	8

typedef struct Entry
{
	uint64_t	key;
	GcUses		uses;			/* count 0: the entry is empty */
} Entry;

struct GcHistory
{
	uint64_t	sets;			/* a power of two */
	Entry	   *entries;
};

GcHistory *
gc_history_create(int capacity)
{
	GcHistory  *h = malloc(sizeof(GcHistory));

	if (h == NULL)
		return NULL;
	for (h->sets = 1; h->sets * WAYS < (uint64_t) capacity; h->sets *= 2)
		;
	h->entries = calloc(h->sets * WAYS, sizeof(Entry));
	if (h->entries == NULL)
	{
		free(h);
		return NULL;
	}
	return h;
}

void
gc_history_destroy(GcHistory *h)
{
	free(h->entries);
	free(h);
}

/* The entry of a key in its set, or NULL. */
static Entry *
find_entry(const GcHistory *h, uint64_t key)
{
	Entry	   *e = h->entries + (key & (h->sets - 1)) * WAYS;

	for (int i = 0; i < WAYS; i++)
	{
		if (e[i].uses.count > 0 && e[i].key == key)
			return &e[i];
	}
	return NULL;
}

/* The key's entry, or an empty one in the place of another key's. */
static Entry *
have_entry(GcHistory *h, uint64_t key)
{
	Entry	   *set = h->entries + (key & (h->sets - 1)) * WAYS;
	Entry	   *e = find_entry(h, key);

	if (e)
		return e;
	e = set;
	for (int i = 1; i < WAYS && e->uses.count > 0; i++)
	{
		if (set[i].uses.count == 0 || set[i].uses.last < e->uses.last)
			e = &set[i];
	}
	*e = (Entry) {.key = key};
	return e;
}

void
gc_history_note(GcHistory *h, uint64_t key, uint64_t now)
{
	gc_uses_note(&have_entry(h, key)->uses, now);
}

void
gc_history_keep(GcHistory *h, uint64_t key, const GcUses *uses)
{
	have_entry(h, key)->uses = *uses;
}

GcUses
gc_history_find(const GcHistory *h, uint64_t key)
{
	const Entry *e = find_entry(h, key);

	return e ? e->uses : (GcUses) {0};
}

uint64_t
gc_history_key(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t	key = a;

	for (int i = 0; i < 3; i++)
	{
		key ^= key >> 32;
		key *= UINT64_C(0x9E3779B97F4A7C15);
		key ^= key >> 29;
		key += i == 0 ? b : i == 1 ? c : 0;
	}
	return key;
}
