/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  Hashes of programs, kernel texts and all else that is looked up by its bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROGRAM_HASH_H
#define GC_PROGRAM_HASH_H

#include <stddef.h>

#include "../../cuda/gc_abi.h"

/* 128-bit hash of bytes; not cryptographic, collisions are checked by compare. */
typedef struct GcHash
{
	u64			h[2];
} GcHash;

extern GcHash gc_hash_bytes(const void *bytes, size_t size, u64 seed);

/* Mix more bytes into a hash. */
extern void gc_hash_mix(GcHash *hash, const void *bytes, size_t size);

/* The hash of a set of words, which begins with 0: add n to it that it has not, or take n that it has, in any order. */
extern void gc_hash_add(GcHash *set, const void *words, size_t n);
extern void gc_hash_take(GcHash *set, const void *words, size_t n);

#endif							/* GC_PROGRAM_HASH_H */
