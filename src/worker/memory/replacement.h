/*-------------------------------------------------------------------------
 *
 * replacement.h
 *	  Which data leaves device memory when it is short: a decision, and the uses that are remembered for it.
 *
 * Pure functions and a table of histories: no device, no clock and no PostgreSQL.  Unit tests and
 * the simulator (bench/memory/) link them.  Time is a count of requests.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REPLACEMENT_H
#define GC_REPLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* gpuconc.replacement */
typedef enum GcReplacement
{
	GC_REPLACE_LRU,				/* least recently used */
	GC_REPLACE_LFU,				/* least frequently used since the server's start */
	GC_REPLACE_CDR,				/* Wang et al. 2014, section 4.2 */
	GC_REPLACE_VALUE			/* the data that spares the link the least, by how soon it is needed again */
} GcReplacement;

/* Uses of one piece of data, also while it is not in device memory.  All 0: never used. */
typedef struct GcUses
{
	uint64_t	last;			/* request that used it last */
	uint32_t	count;			/* number of requests that used it */
	uint32_t	gaps;			/* number of gaps that the averages stand for */
	float		gap;			/* average number of requests between two uses */
	float		spread;			/* average distance of a gap from that */
	float		spared;			/* average share of its bytes that a use is spared over the link if it is
								 * there; 0: not known, or all */
} GcUses;

/* Request `now` uses it; a second use by the same request is none. */
extern void gc_uses_note(GcUses *uses, uint64_t now);

/* A use is spared this share of its bytes over the link if it is there. */
extern void gc_uses_spare(GcUses *uses, float part);

/* Places, at most, in which the chunks of a column are counted and offered for eviction. */
#define GC_PLACES	16

/* Uses of these places. */
typedef struct GcPlaceUses
{
	uint32_t	nplaces;		/* that there are */
	bool		even;			/* all were used alike so far: place[0] stands for all */
	GcUses		place[GC_PLACES];
} GcPlaceUses;

/* place[] was filled: see whether all are alike. */
extern void gc_place_uses_filled(GcPlaceUses *uses);

/* Request `now` uses the places whose bit is set, and is spared this share of their bytes. */
extern void gc_place_uses_note(GcPlaceUses *uses, uint32_t places, uint64_t now, float spared);

/* A bit for each place. */
static inline uint32_t
gc_all_places(const GcPlaceUses *uses)
{
	return ((uint32_t) 1 << uses->nplaces) - 1;
}

/* The uses of one place; where all are alike, one entry has them. */
static inline const GcUses *
gc_uses_of_place(const GcPlaceUses *uses, uint32_t place)
{
	return &uses->place[uses->even ? 0 : place];
}

/* Savings over the link by so many bytes of it, when they are used. */
extern uint64_t gc_uses_cost(const GcUses *uses, uint64_t bytes);

/* After how many more requests it is expected to be used again. */
extern double gc_uses_expected(const GcUses *uses, uint64_t now);

/* Data in device memory that may leave it. */
typedef struct GcVictim
{
	uint64_t	bytes;			/* device memory that it takes */
	uint64_t	cost;			/* bytes over the link, or work that takes as long, to have it again */
	uint64_t	unsaved;		/* bytes that would have to be saved to the host */
	GcUses		uses;
	uint64_t	used;			/* place of its last use among all uses, also of one request */
	float		soon;			/* after how many more requests one that has begun will read it; 0: none
								 * will, or it is not known */
	uint32_t	place;			/* which part of its column it is: equal for columns that a query
								 * reads together; the last part goes first */
	uint32_t	piece;			/* the owner's names for it */
	uint64_t	id;
	void	   *what;
	void	   *owner;
} GcVictim;

/* A place in an array of victims, and the key that it is sorted by. */
typedef struct GcChosen
{
	uint64_t	key;			/* the smallest goes first */
	uint32_t	victim;
} GcChosen;

/*
 * Choose victims, the first to go first, until they have `need` bytes or there are no more.  chosen has
 * room for n, and the first of it get their places in the array.  Returns their number.  now: the
 * present request.
 */
extern int	gc_replacement_choose(GcReplacement policy, const GcVictim *victims, int n, uint64_t need, uint64_t now,
								  GcChosen *chosen);

/*-------------------------------------------------------------------------
 * Histories
 *-------------------------------------------------------------------------
 */

/* Histories by key.  When it is full, the one without a use for the longest of a few makes room. */
typedef struct GcHistory GcHistory;

/* NULL: out of memory. */
extern GcHistory *gc_history_create(int capacity);
extern void gc_history_destroy(GcHistory *history);

/* Request `now` uses the data of this key. */
extern void gc_history_note(GcHistory *history, uint64_t key, uint64_t now);

/* Remember these uses of the data of this key. */
extern void gc_history_keep(GcHistory *history, uint64_t key, const GcUses *uses);

/* The uses of the data of this key; all 0 if nothing is known. */
extern GcUses gc_history_find(const GcHistory *history, uint64_t key);

/* A key of several numbers. */
extern uint64_t gc_history_key(uint64_t a, uint64_t b, uint64_t c);

#endif							/* GC_REPLACEMENT_H */
