/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  A 128-bit hash of bytes.
 *
 * Pure C; runs anywhere.
 *
 *-------------------------------------------------------------------------
 */
#include "hash.h"

#include <string.h>

/* Mixes all bits of a word into all. */
static u64
mix64(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x;
}

/* 128 bits of hash by words of 8 bytes.  It is no cryptographic one. */
GcHash
gc_hash_bytes(const void *bytes, size_t size, u64 seed)
{
	const char *s = bytes;
	GcHash		hash = {{mix64(seed ^ size), mix64(seed + 0x9e3779b97f4a7c15ull)}};

	while (size > 0)
	{
		u64			w = 0;
		size_t		n = size < 8 ? size : 8;

		memcpy(&w, s, n);
		hash.h[0] = mix64(hash.h[0] ^ w);
		hash.h[1] = mix64(hash.h[1] + (w ^ (hash.h[0] << 1)) * 0xff51afd7ed558ccdull);
		s += n;
		size -= n;
	}
	return hash;
}

void
gc_hash_mix(GcHash *hash, const void *bytes, size_t size)
{
	GcHash		x = gc_hash_bytes(bytes, size, hash->h[0]);

	hash->h[0] = x.h[0] ^ hash->h[1];
	hash->h[1] = x.h[1] + hash->h[0];
}

static GcHash
sum_of(const char *words, size_t n)
{
	GcHash		sum = {{0, 0}};

	for (size_t i = 0; i < n; i++)
	{
		u64			w;
		u64			h;

		memcpy(&w, words + i * sizeof(w), sizeof(w));
		h = mix64(w + 0x9e3779b97f4a7c15ull);
		sum.h[0] += h;
		sum.h[1] += mix64(h ^ w * 0xff51afd7ed558ccdull);
	}
	return sum;
}

void
gc_hash_add(GcHash *set, const void *words, size_t n)
{
	const GcHash sum = sum_of(words, n);

	set->h[0] += sum.h[0];
	set->h[1] += sum.h[1];
}

void
gc_hash_take(GcHash *set, const void *words, size_t n)
{
	const GcHash sum = sum_of(words, n);

	set->h[0] -= sum.h[0];
	set->h[1] -= sum.h[1];
}
