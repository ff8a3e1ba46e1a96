/*-------------------------------------------------------------------------
 *
 * replacement_test.c
 *	  What leaves device memory: each policy's choice, and what a decision costs.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/worker/memory/replacement.h"

#define MOST	4096

static GcVictim v[MOST];
static GcChosen chosen[MOST];

/* Uses at first, first + gap, ... before `now`. */
static GcUses
regular(uint64_t first, uint64_t gap, uint64_t now)
{
	GcUses		u = {0};

	for (uint64_t at = first; at < now; at += gap)
		gc_uses_note(&u, at);
	return u;
}

/* The first victim of n. */
static uint32_t
first_of(GcReplacement policy, int n, uint64_t now)
{
	return gc_replacement_choose(policy, v, n, 1, now, chosen) == 1 ? chosen[0].victim : MOST;
}

static void
test_simple(void)
{
	for (int i = 0; i < 8; i++)
		v[i] = (GcVictim) {.bytes = 100,.cost = 100,.used = (uint64_t) (i * 5 % 8 + 1),.uses = {.count = (uint32_t) (i * 3 % 8 + 1),.last = 1}};
	ok(first_of(GC_REPLACE_LRU, 8, 10) == 0, "lru: the least recently used");
	ok(first_of(GC_REPLACE_LFU, 8, 10) == 0, "lfu: the least frequently used");
	v[0].uses.count = 9;
	ok(first_of(GC_REPLACE_LFU, 8, 10) == 3, "lfu: another one");
	v[0].used = 20;
	ok(first_of(GC_REPLACE_LRU, 8, 10) == 5, "lru: another one");
	ok(gc_replacement_choose(GC_REPLACE_LRU, v, 8, 350, 10, chosen) == 4, "as many as have the bytes");
	ok(chosen[0].victim == 5 && chosen[1].victim == 2 && chosen[2].victim == 7 && chosen[3].victim == 4, "in order");
	ok(gc_replacement_choose(GC_REPLACE_VALUE, v, 8, 10000, 10, chosen) == 8, "all, if that is too little");
	ok(gc_replacement_choose(GC_REPLACE_CDR, v, 0, 100, 10, chosen) == 0, "none of none");
}

/* Equation (1): c = e + f * s * l, f = 0.01. */
static void
test_cdr(void)
{
	v[0] = (GcVictim) {.bytes = 1000,.used = 1};	/* 10 * 1/3 */
	v[1] = (GcVictim) {.bytes = 300,.used = 2}; /* 3 * 2/3 */
	v[2] = (GcVictim) {.bytes = 500,.used = 3}; /* 5 */
	ok(first_of(GC_REPLACE_CDR, 3, 10) == 1, "cdr: small and old");
	v[1].unsaved = 2;			/* 2 + 2 */
	ok(first_of(GC_REPLACE_CDR, 3, 10) == 0, "cdr: what must be saved goes later");
}

static void
test_value(void)
{
	/* a cycle of four: what was just used is needed last */
	for (uint64_t i = 0; i < 4; i++)
		v[i] = (GcVictim) {.bytes = 100,.cost = 100,.uses = regular(i + 1, 4, 41),.used = i};
	ok(first_of(GC_REPLACE_VALUE, 4, 40) == 3, "value: of a cycle, what was just used");
	/* rarely and often used, the rare one just now */
	v[0].uses = regular(40, 40, 401);
	v[1].uses = regular(2, 2, 399);
	ok(first_of(GC_REPLACE_VALUE, 2, 400) == 0, "value: what is rarely used");
	/* large and small */
	v[0].uses = v[1].uses;
	v[0].cost = 10;
	ok(first_of(GC_REPLACE_VALUE, 2, 400) == 0, "value: what is cheap to have again");
	v[0].cost = 100;
	/* once, and just now */
	v[0].uses = regular(400, 1, 401);
	ok(first_of(GC_REPLACE_VALUE, 2, 400) == 0, "value: what was used once");
	/* often used long ago, and rarely but lately */
	v[0].uses = regular(1, 2, 100);
	v[1].uses = regular(10, 30, 401);
	ok(first_of(GC_REPLACE_VALUE, 2, 400) == 0, "value: what is not used any more");
	/* parts of equal worth */
	for (uint32_t i = 0; i < 6; i++)
		v[i] = (GcVictim) {.bytes = 100,.cost = 100,.uses = regular(1, 2, 100),.place = i % 3,.used = i};
	ok(gc_replacement_choose(GC_REPLACE_VALUE, v, 6, 200, 100, chosen) == 2 && v[chosen[0].victim].place == 2 && v[chosen[1].victim].place == 2,
	   "value: the last parts of columns go together");
	v[2].soon = 0.5;
	ok(first_of(GC_REPLACE_VALUE, 6, 100) == 5, "value: not what will be read soon");
}

static void
test_uses(void)
{
	GcUses		u = regular(1, 10, 302);

	ok(u.count == 31 && u.gap > 9.9f && u.gap < 10.1f && u.spread < 1, "gaps are averaged");
	gc_uses_note(&u, u.last);
	ok(u.count == 31, "a request counts once");
	ok(gc_uses_expected(&u, 305) < 7 && gc_uses_expected(&u, 305) > 4, "expected at the end of the gap");
	ok(gc_uses_expected(&u, 1301) > 300, "and not any more if that is long past");
	gc_uses_note(&u, 1301);
	gc_uses_note(&u, 1303);
	gc_uses_note(&u, 1305);
	ok(u.gap < 400, "a surprise makes little of what was known");
}

/* One history for all places as long as they are used alike says what a history for each says. */
static void
test_places(void)
{
	bool		same = true;
	bool		one = true;

	for (uint32_t nplaces = 1; nplaces <= GC_PLACES; nplaces++)
	{
		GcPlaceUses u = {.nplaces = nplaces,.even = true};
		GcUses		plain[GC_PLACES] = {0};

		for (uint64_t now = 1; now < 100; now++)
		{
			const uint32_t all = gc_all_places(&u);
			const uint32_t places = now < 50 ? (rand() % 2 ? all : 0) : (uint32_t) rand() & all;
			const float spared = (float) (rand() % 5) / 4;

			gc_place_uses_note(&u, places, now, spared);
			for (uint32_t i = 0; i < nplaces; i++)
			{
				if (places >> i & 1)
				{
					gc_uses_note(&plain[i], now);
					gc_uses_spare(&plain[i], spared);
				}
				same = same && memcmp(gc_uses_of_place(&u, i), &plain[i], offsetof(GcUses, spared) + sizeof(float)) == 0;
			}
			one = one && (now >= 50 || u.even);
		}
		for (uint32_t i = 0; i < nplaces; i++)
			u.place[i] = plain[nplaces - 1];
		gc_place_uses_filled(&u);
		one = one && u.even;
		u.place[nplaces - 1].last++;
		gc_place_uses_filled(&u);
		one = one && u.even == (nplaces == 1);
	}
	ok(same, "places have the same uses as each alone");
	ok(one, "places that are used alike have one history");
}

static void
test_history(void)
{
	GcHistory  *h = gc_history_create(64);
	GcUses		u = regular(1, 3, 10);
	int			known = 0;

	ok(gc_history_find(h, 7).count == 0, "nothing is known at first");
	gc_history_note(h, 7, 1);
	gc_history_note(h, 7, 5);
	ok(gc_history_find(h, 7).count == 2 && gc_history_find(h, 7).last == 5, "uses are remembered");
	gc_history_keep(h, 8, &u);
	ok(gc_history_find(h, 8).count == u.count, "and kept");
	for (uint64_t i = 0; i < 1000; i++)
		gc_history_note(h, gc_history_key(i, i * 3, 1), 10 + i);
	for (uint64_t i = 0; i < 1000; i++)
		known += gc_history_find(h, gc_history_key(i, i * 3, 1)).count == 1;
	ok(known >= 48 && known <= 64, "a full table keeps some (%d)", known);
	ok(gc_history_find(h, gc_history_key(999, 2997, 1)).count == 1, "the last among them");
	gc_history_destroy(h);
}

/* Not asserted: other programs run beside it. */
static void
measure(GcReplacement policy, const char *name)
{
	struct timespec from;
	struct timespec to;
	double		least = 1e9;

	for (int i = 0; i < 1024; i++)
		v[i] = (GcVictim) {.bytes = 1000000,.cost = 1000000,.used = (uint64_t) rand() % 100000,.place = (uint32_t) i % 16,
		.uses = regular((uint64_t) rand() % 50, (uint64_t) rand() % 20 + 1, 500)};
	for (int round = 0; round < 100; round++)
	{
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		(void) gc_replacement_choose(policy, v, 1024, 30000000, 500, chosen);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		least = fmin(least, (double) (to.tv_sec - from.tv_sec) * 1e6 + (double) (to.tv_nsec - from.tv_nsec) / 1e3);
	}
	tap_note("a decision about 1024 parts of columns by %s: %.1f us", name, least);
}

int
main(void)
{
	tap_start();
	test_simple();
	test_cdr();
	test_value();
	test_uses();
	test_places();
	test_history();
	measure(GC_REPLACE_LRU, "lru");
	measure(GC_REPLACE_LFU, "lfu");
	measure(GC_REPLACE_CDR, "cdr");
	measure(GC_REPLACE_VALUE, "value");
	return tap_done();
}
