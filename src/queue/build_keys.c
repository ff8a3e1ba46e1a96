/*-------------------------------------------------------------------------
 *
 * build_keys.c
 *	  The least and the greatest key of dense builds that were made, by the builds' contents.
 *
 * Written by workers' main threads, read by backends, without a lock.  Both halves of a build's hash are kept mixed
 * with its keys.  A reader that meets one build's hash beside another one's keys sees neither, and knows nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "build_keys.h"

#include "port/atomics.h"

#include "../shmem.h"

/* Builds that are known; each has one place. */
#define PLACES		4096

typedef struct KeyPlace
{
	pg_atomic_uint64 hash[2];	/* each xor keys; all 0: none */
	pg_atomic_uint64 keys;		/* the greatest one, and below it the least */
} KeyPlace;

static KeyPlace *places = NULL;

/* The notes of builds' keys, empty at first. */
void
gc_build_keys_shmem(void)
{
	bool		made;

	places = gc_shmem("gpuconc keys of builds", PLACES * sizeof(KeyPlace), &made);
	for (int i = 0; i < PLACES && made; i++)
	{
		pg_atomic_init_u64(&places[i].hash[0], 0);
		pg_atomic_init_u64(&places[i].hash[1], 0);
		pg_atomic_init_u64(&places[i].keys, 0);
	}
}

void
gc_build_keys_note(GcHash share, GcBuildKeys keys)
{
	KeyPlace	   *place = &places[share.h[0] % PLACES];
	const uint64 word = (uint64) keys.greatest << 32 | keys.least;

	pg_atomic_write_u64(&place->keys, word);
	pg_atomic_write_u64(&place->hash[0], share.h[0] ^ word);
	pg_atomic_write_u64(&place->hash[1], share.h[1] ^ word);
}

bool
gc_build_keys_known(GcHash share, GcBuildKeys *keys)
{
	KeyPlace	   *place = &places[share.h[0] % PLACES];
	const uint64 word = pg_atomic_read_u64(&place->keys);

	*keys = (GcBuildKeys) {.least = (uint32) word,.greatest = word >> 32};
	return share.h[0] != 0 && (pg_atomic_read_u64(&place->hash[0]) ^ word) == share.h[0] &&
		(pg_atomic_read_u64(&place->hash[1]) ^ word) == share.h[1];
}
