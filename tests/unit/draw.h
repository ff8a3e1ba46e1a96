/*-------------------------------------------------------------------------
 *
 * draw.h
 *	  Numbers that look random and are the same in each run: xorshift.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TEST_DRAW_H
#define GC_TEST_DRAW_H

#include "device_util.h"

static u64	random_state = 88172645463325252ull;

/* Below n. */
static u32
draw(u32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32) ((random_state >> 32) % n);
}

#endif							/* GC_TEST_DRAW_H */
