/*-------------------------------------------------------------------------
 *
 * turns.h
 *	  Waves of a table: which member leads the next one, and how much of what is cached waves may displace.
 *
 * Pure functions: no device, no clock and no PostgreSQL.  Unit tests link them.  Waves are counted per table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVE_TURNS_H
#define GC_WAVE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

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
extern bool gc_wave_comes_before(uint32_t number, const GcWaveClaim *a, const GcWaveClaim *b);

/* Columns that waves cached lately in place of others.  All 0 at first. */
typedef struct GcDisplaced
{
	double		bytes;			/* not made up for by what waves moved */
} GcDisplaced;

/* May waves displace more?  pool: bytes of device memory. */
extern bool gc_may_displace(const GcDisplaced *displaced, uint64_t pool);
extern void gc_note_displaced(GcDisplaced *displaced, uint64_t bytes);

/* bytes: what a wave moved over the link. */
extern void gc_note_moved(GcDisplaced *displaced, double bytes);

#endif							/* GC_WAVE_TURNS_H */
