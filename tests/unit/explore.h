/*-------------------------------------------------------------------------
 *
 * explore.h
 *	  States of a model that were seen, by 128 bits of hash each, and those whose successors are to be found.
 *
 * For one program, which defines State before: its size is a multiple of 8, and equal states have equal bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXPLORE_H
#define GC_EXPLORE_H

#include <stdint.h>

#include "harness.h"

typedef struct Hash
{
	uint64_t	a, b;			/* a: not 0 */
} Hash;

static Hash *seen;
static uint32_t nseen;
static uint32_t room;
static State *stack;
static uint32_t nstack;
static uint32_t stack_room;

static Hash
hash_state(const State *s)
{
	const uint64_t *words = (const uint64_t *) s;
	Hash		h = {0x9E3779B97F4A7C15ULL, 0xC2B2AE3D27D4EB4FULL};

	for (size_t i = 0; i < sizeof(State) / sizeof(uint64_t); i++)
	{
		h.a = (h.a ^ words[i]) * 0xFF51AFD7ED558CCDULL;
		h.a ^= h.a >> 32;
		h.b = (h.b + words[i]) * 0xC4CEB9FE1A85EC53ULL;
		h.b ^= h.b >> 29;
	}
	h.a |= 1;
	return h;
}

/* The hash's place, or where it is to be. */
static Hash *
find_hash(Hash h)
{
	uint32_t	i = (uint32_t) (h.b & (room - 1));

	while (seen[i].a != 0 && (seen[i].a != h.a || seen[i].b != h.b))
		i = (i + 1) & (room - 1);
	return &seen[i];
}

static void
grow(void)
{
	Hash	   *old = seen;
	const uint32_t old_room = room;

	room = room ? 2 * room : 1 << 16;
	seen = calloc(room, sizeof(Hash));
	if (!seen)
		tap_bail("no memory");
	for (uint32_t i = 0; i < old_room; i++)
	{
		if (old[i].a != 0)
			*find_hash(old[i]) = old[i];
	}
	free(old);
}

/* A state that may be new. */
static void
add_state(const State *s)
{
	Hash		h = hash_state(s);
	Hash	   *at;

	if (2 * nseen >= room)
		grow();
	at = find_hash(h);
	if (at->a != 0)
		return;
	*at = h;
	nseen++;
	if (nstack == stack_room)
	{
		stack_room = stack_room ? 2 * stack_room : 1024;
		stack = realloc(stack, stack_room * sizeof(State));
		if (!stack)
			tap_bail("no memory");
	}
	stack[nstack++] = *s;
}

/* One whose successors were not found yet. */
static bool
take_state(State *s)
{
	if (nstack == 0)
		return false;
	*s = stack[--nstack];
	return true;
}

static void
forget_states(void)
{
	free(seen);
	seen = NULL;
	room = nseen = nstack = 0;
}

#endif							/* GC_EXPLORE_H */
