/*-------------------------------------------------------------------------
 *
 * turns.h
 *	  Waves of a table: which member leads the next one, and how many cached bytes waves may displace.
 *
 * Pure functions: no device, no clock and no PostgreSQL.  Unit tests include them.  Waves are counted per table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVE_TURNS_H
#define GC_WAVE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* One wave in this many is led by the member that began first. */
#define OLDEST_TURN		2

/*
 * Counts of uses vary, so columns of about equal worth would displace each other for ever.  So copies that displace are
 * at most one part in DISPLACE_PART of the bytes that waves move, beside those saved up: a part of the pool.
 */
#define DISPLACE_PART	16
#define DISPLACE_MOST	2

/* Claim by which a member's turn comes. */
typedef struct GcWaveClaim
{
	double		got;			/* bytes of copies that it would have taken alone so far */
	uint32_t	begun_in;		/* number of the next wave when it began */
} GcWaveClaim;

/*
 * Does `a` come before `b` as the leader of wave `number`?  It does if less was moved for it so far: so scans that read
 * little are done soon.  But each second wave is that of the oldest: so none waits for ever.
 */
static inline bool
gc_wave_comes_before(uint32_t number, const GcWaveClaim *a, const GcWaveClaim *b)
{
	/* Ages, since numbers wrap around. */
	if (number % OLDEST_TURN == 0)
		return number - a->begun_in > number - b->begun_in;
	return a->got < b->got;
}

/* Columns that waves cached lately in place of others.  All 0 at first. */
typedef struct GcDisplaced
{
	double		bytes;			/* not made up for by bytes that waves moved */
} GcDisplaced;

/* May waves displace more?  pool: bytes of device memory. */
static inline bool
gc_may_displace(const GcDisplaced *displaced, uint64_t pool)
{
	return displaced->bytes < (double) pool / DISPLACE_MOST;
}

/* Waves cached these bytes in place of others. */
static inline void
gc_note_displaced(GcDisplaced *displaced, uint64_t bytes)
{
	displaced->bytes += (double) bytes;
}

/* bytes: those that a wave moved over the link. */
static inline void
gc_note_moved(GcDisplaced *displaced, double bytes)
{
	displaced->bytes -= bytes / DISPLACE_PART;
	if (displaced->bytes < 0)
		displaced->bytes = 0;
}

#endif							/* GC_WAVE_TURNS_H */
