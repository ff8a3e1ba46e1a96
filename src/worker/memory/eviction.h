/*-------------------------------------------------------------------------
 *
 * eviction.h
 *	  Data that leaves device memory when it is short: which is offered, and how often it was used.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EVICTION_H
#define GC_EVICTION_H

#include "postgres.h"

#include "../../columns/store/columns.h"
#include "../../device/device.h"
#include "replacement.h"

/*
 * How a file drops data in device memory that has no users and can be made again.  Lives as long as
 * the worker.
 */
typedef struct GcEvictor
{
	/* Offer all that may go, by gc_offer_victim().  NULL: the data is cheap to make again, and goes before all else. */
	void		(*offer) (struct GcEvictor *self);

	/*
	 * Drop at least so many bytes of a victim that was offered, or all of it.  Returns the bytes that
	 * it had.  It may have got users since, or be gone: then 0, and nothing is done.
	 */
	u64			(*drop) (const GcVictim *victim, u64 need);
	bool		(*drop_derived) (void); /* instead of both: drop one piece; false: there was nothing */

	/* Beside any of these.  Free memory that is kept for work to come; false: there was none. */
	bool		(*give_back) (void);
	/*
	 * Wait until work that is queued on the device has released its data, which may be dropped then; false: none is
	 * queued.
	 */
	bool		(*await) (void);
	/* Column chunks take so many bytes of device memory from now on. */
	void		(*cached) (u64 bytes);
	struct GcEvictor *next;
} GcEvictor;

extern void gc_evictor_register(GcEvictor *evictor);
extern void gc_offer_victim(const GcVictim *victim);

/* Have this called before each decision: it may tell the reads of requests that wait. */
extern void gc_before_decisions(void (*tell) (void));

/* Number of the decision that is being made. */
extern u64	gc_decision(void);

/*
 * How many of the `need` bytes could be dropped that are worth less, by `factor`, than the data to come in their
 * place?  uses: of the data to come.  Only where gpuconc.replacement is value.
 */
extern u64	gc_eviction_pays(u64 need, const GcUses *uses, double factor);

/* Drop about so many bytes; false: nothing is left that may go. */
extern bool gc_evict(u64 need);

/* To be called for all that is registered; true: one had something. */
extern bool gc_evictors_give_back(void);
extern bool gc_evictors_await(void);
extern void gc_evictors_cached(u64 bytes);

/* The number of the request by which uses are counted now. */
extern u64	gc_present_request(void);

/* The present request uses the data of this key (gc_history_key), which is remembered after the data has gone. */
extern void gc_note_use(u64 key);
extern GcUses gc_uses_of(u64 key);

extern void gc_eviction_init(void);

/* The place of a chunk: one of GC_PLACES parts of its directory, or its own number where there are few. */
static inline u32
gc_place_of(u32 nchunks, u32 chunk)
{
	return nchunks <= GC_PLACES ? chunk : (u32) ((u64) chunk * GC_PLACES / nchunks);
}

/* Uses of a column's places.  They are remembered when the column has gone. */
typedef struct GcColumnUses
{
	u64			key;			/* successive directories of a relation have it in common */
	GcPlaceUses of;
} GcColumnUses;

extern void gc_column_uses_recall(GcColumnUses *uses, const GcDirectory *dir, int col);
extern void gc_column_uses_keep(const GcColumnUses *uses);

/*
 * The present request uses these chunks of a column that has no table; sources: of cached chunks alone.  Its uses
 * until now and then.
 */
extern GcUses gc_column_used_in_waves(const GcDirectory *dir, int col, const GcSource *sources, u32 nsources,
									  float spared);

/* The key of a column, which successive directories of a relation have in common. */
extern u64	gc_column_key(const GcDirectory *dir, int col);

/* The key of a chunk's place, of a column that has no table. */
extern u64	gc_chunk_use_key(const GcDirectory *dir, int col, u32 chunk);

/* A request begins to have data in device memory: the present request of all uses. */
extern void gc_request_begins(void);

/*
 * The present request uses these chunks of a column, and is spared this share of their bytes if they are there.
 * sources: of cached chunks alone, each once.
 */
extern void gc_column_used(GcColumnUses *uses, const GcDirectory *dir, int col, const GcSource *sources, u32 nsources,
						   float spared);

#endif							/* GC_EVICTION_H */
