/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  A 64-bit hash of bytes: keys of caches and checksums of their files.
 *
 * Not cryptographic, and the same on every machine of one byte order.  Two
 * hashes with different seeds serve as one of 128 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HASH_H
#define GC_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t
gc_hash_mix(uint64_t x)
{
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
	x = (x ^ (x >> 29)) * 0x9e3779b97f4a7c15ULL;
	return x ^ (x >> 32);
}

/* A hash of bytes by words of 8.  Another seed gives an independent one. */
static inline uint64_t
gc_hash64(const void *data, size_t size, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t	hash = gc_hash_mix(seed + size);
	uint64_t	word;

	for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word))
	{
		memcpy(&word, p, sizeof(word));
		hash = gc_hash_mix(hash ^ word) + seed;
	}
	word = 0;
	memcpy(&word, p, size);
	return gc_hash_mix(hash ^ word);
}

#endif							/* GC_HASH_H */
