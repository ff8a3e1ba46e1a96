/*-------------------------------------------------------------------------
 *
 * turns.c
 *	  Waves of a table: which member leads the next one, and how much of what is cached waves may displace.
 *
 *-------------------------------------------------------------------------
 */
#include "turns.h"

/* One wave in this many is led by the member that began first. */
#define OLDEST_TURN		2

/*
 * Counts of uses vary, so columns of about equal worth would displace each other for ever.  So copies that
 * displace are at most one part in DISPLACE_PART of what waves move, beside what is saved up: a part of the pool.
 */
#define DISPLACE_PART	16
#define DISPLACE_MOST	2

bool
gc_wave_comes_before(uint32_t number, const GcWaveClaim *a, const GcWaveClaim *b)
{
	/* Ages, since numbers wrap around. */
	if (number % OLDEST_TURN == 0)
		return number - a->begun_in > number - b->begun_in;
	return a->got < b->got;
}

bool
gc_may_displace(const GcDisplaced *displaced, uint64_t pool)
{
	return displaced->bytes < (double) pool / DISPLACE_MOST;
}

void
gc_note_displaced(GcDisplaced *displaced, uint64_t bytes)
{
	displaced->bytes += (double) bytes;
}

void
gc_note_moved(GcDisplaced *displaced, double bytes)
{
	displaced->bytes -= bytes / DISPLACE_PART;
	if (displaced->bytes < 0)
		displaced->bytes = 0;
}
