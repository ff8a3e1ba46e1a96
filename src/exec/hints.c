/*-------------------------------------------------------------------------
 *
 * hints.c
 *	  What executions of a program have taught this backend, so that a prepared
 *	  statement does not repeat its first execution's mistakes.
 *
 * Backend-local, keyed by the logical program's hash; a handful of entries,
 * replaced round-robin.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "hints.h"

#define NHINTS	64

static GcHints hints[NHINTS];
static int	next_hint = 0;

GcHints *
gc_hints(const GcProgram *logical)
{
	GcHash		key = gc_hash_bytes(logical, logical->size, 0);

	for (int i = 0; i < NHINTS; i++)
	{
		if (memcmp(&hints[i].key, &key, sizeof(key)) == 0)
			return &hints[i];
	}
	next_hint = (next_hint + 1) % NHINTS;
	memset(&hints[next_hint], 0, sizeof(GcHints));
	hints[next_hint].key = key;
	return &hints[next_hint];
}
