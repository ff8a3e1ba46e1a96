/*-------------------------------------------------------------------------
 *
 * stop_test.c
 *	  How a kernel's loops learn that they are to end (cuda/gc_stop.h): soon, at little cost, and for good.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <stdint.h>

#include "../../cuda/gc_abi.h"

static int	looks;

#define GC_CUDA				0
#define GC_LOAD_FRESH32(p)	(looks++, *(const volatile u32 *) (p))

#include "../../cuda/gc_stop.h"

#define TICKET		7
#define TURNS		1000000

/* Turns that two nested loops make.  The word is `before`, and `then` from a turn on.  *late: turns behind that. */
static int
turns(u32 before, u32 then, int from, int inner, bool has_word, int *late)
{
	u32			word = before;
	GcArgs		gc_a = {.scan = {.stop = has_word ? (u64) (uintptr_t) &word : 0,.ticket = TICKET}};
	int			n = 0;

	GC_COUNT_TURNS
	looks = 0;
	*late = 0;
	for (int i = 0; i < TURNS / inner; i++)
	{
		if (!GC_GO_ON)
			break;
		for (int j = 0; j < inner; j++)
		{
			if (!GC_GO_ON)
				break;
			*late += word == TICKET;
			if (++n == from)
				word = then;
		}
	}
	return n;
}

int
main(void)
{
	int			late;

	tap_start();
	for (int inner = 1; inner <= 100000; inner *= 10)
	{
		tap_note("%d turns within", inner);
		is(turns(0, TICKET, 1000, inner, false, &late), TURNS, "nothing to look at");
		is(looks, 0, "so there is no look");
		is(turns(TICKET - 1, TICKET + 1, 1000, inner, true, &late), TURNS, "others' tickets end nothing");
		ok(looks <= 2 * TURNS / GC_TURNS + 1, "and looks are few: %d", looks);
		ok(turns(0, TICKET, 1000, inner, true, &late) < TURNS, "its own ends both loops");
		ok(late <= GC_TURNS, "after %d turns", late);
		ok(turns(TICKET, TICKET, 1000, inner, true, &late) <= GC_TURNS, "also where it was there before");
	}
	return tap_done();
}
