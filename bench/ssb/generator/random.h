/*-------------------------------------------------------------------------
 *
 * random.h
 *	  The random sequences that rows are made of.
 *
 * Splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
 * Generators"): the state goes up by a constant, and a mixing function makes
 * a random number of each state.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

#include "gen.h"

typedef struct Random
{
	uint64_t	state;
} Random;

__extension__ typedef unsigned __int128 Uint128;

static inline uint64_t
mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline Random
random_start(TableId table, int64_t row)
{
	const uint64_t seed = UINT64_C(0x5353422d72657633); /* "SSB-rev3" */
	Random		r;

	/* mixed twice, so that neighbouring rows get unrelated states */
	r.state = mix64(mix64(seed + (uint64_t) table) + (uint64_t) row);
	return r;
}

/* a whole number from lo to hi, both included */
static inline int
uniform(Random *r, int lo, int hi)
{
	uint64_t	n = (uint64_t) ((int64_t) hi - lo + 1);

	r->state += UINT64_C(0x9e3779b97f4a7c15);
	return lo + (int) (((Uint128) mix64(r->state) * n) >> 64);
}

static inline const char *
pick(Random *r, const char *const *words, int nwords)
{
	return words[uniform(r, 0, nwords - 1)];
}

#endif							/* RANDOM_H */
