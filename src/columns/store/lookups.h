/*-------------------------------------------------------------------------
 *
 * lookups.h
 *	  Shared lookup tables: PostgreSQL's results for each value of a dictionary, or of a range of integers, kept for all
 *	  sessions.
 *
 * A published table never changes.  When its dictionary has grown, a larger table replaces it,
 * in which only the new entries were computed.  Its object is retired, so a reader's guard keeps
 * the table that it found.
 *
 * A table of integers is of no column: columns of several relations that begin alike use one, which is as large as the
 * widest needs.  So a reader takes of a table those entries and texts that its own column can have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LOOKUPS_H
#define GC_LOOKUPS_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "dict.h"
#include "epoch.h"

/* Tables at a time; the least recently used makes room. */
#define GC_MAX_SHARED_LOOKUPS	512

/* A table's key, compared as bytes. */
typedef struct GcLookupKey
{
	uint64		function[2];	/* a hash of the expression or time zone, or that it is a ranking, a translation */
	uint64		dict;			/* identity of the values (gc_dict_shared_id()), or 0: integers */
	uint64		to_dict;		/* translations: the dictionary whose codes are the results */
	int64		base;			/* integers: the first */
	Oid			dbid;
	uint32		kind;			/* GcKind of the results */
} GcLookupKey;

typedef struct GcSharedLookup
{
	GcObject	obj;			/* region_id: of the copy on the device, and the table's identity */
	GcLookupKey key;
	uint32		count;			/* entries; entry 0 is f(NULL), entry i is f(base + i - 1) */
	uint32		to_count;		/* translations: values that the other dictionary had */
	uint8		width;			/* bytes of an entry: 1, 4 or 8 */
	bool		any_null;		/* beyond entry 0 */
	int16		scale;			/* numeric results: of all, or GC_SCALE_TAGGED; -1: none */
	GcSpan		span;			/* of the results but NULL */
	void	   *data;			/* count entries; 0 where NULL */
	uint8	   *nulls;			/* count bytes, 1 = NULL, behind the data */
	Size		bytes;			/* of both, as copied to the device */
	uint32	   *order;			/* rankings: code of each rank; else NULL */
	GcDict	   *dict;			/* text results: their dictionary; else NULL */
} GcSharedLookup;

/* Room that a new table needs besides its entries. */
typedef struct GcLookupShape
{
	uint32		count;
	uint8		width;
	bool		ranked;
	GcDictView *dict;			/* text results, else NULL */
} GcLookupShape;

extern void gc_lookups_shmem(void);

/* The newest table of a key, or NULL.  Needs a guard. */
extern const GcSharedLookup *gc_lookups_find(const GcLookupKey *key);

/* Bytes of a table in the arena. */
extern Size gc_lookups_size(const GcLookupShape *shape);

/*
 * Lay a table out in arena memory of that size: its dictionary is written, its entries are not,
 * and all else is zero.
 */
extern GcSharedLookup *gc_lookups_init(void *memory, const GcLookupKey *key, const GcLookupShape *shape);

/* Entry k as a raw value; 0 where it is NULL. */
static inline int64
gc_lookups_value(const GcSharedLookup *table, uint32 k)
{
	if (table->width == 1)
		return ((const uint8 *) table->data)[k];
	if (table->width == 4)
		return ((const int32 *) table->data)[k];
	return ((const int64 *) table->data)[k];
}

/* The first entries of a table, as far as they are known. */
typedef struct GcLookupPart
{
	uint64		table;			/* its region_id */
	uint32		count;
	uint32		texts;			/* text results: number of the dictionary's first texts that they are */
	bool		any_null;		/* beyond entry 0 */
	GcSpan		span;			/* of the results but NULL; where they are tagged, of the whole table */
} GcLookupPart;

/*
 * That of the first `count` entries of a published table.  Kept by the process for the parts that were asked for last.
 */
extern GcLookupPart gc_lookups_part(const GcSharedLookup *table, uint32 count);

/*
 * The texts that the first `count` entries of a published table are, as a view that values may be added to.  Codes are
 * given in the order of entries, so these are the first texts of its dictionary.
 */
extern GcDictView *gc_lookups_texts(const GcSharedLookup *table, uint32 count);

/*
 * Publish a table, or give it up if an equally large one was published meanwhile.  Returns the
 * one to use.  from, to: dictionaries that it belongs to (NULL: none); where one of them has
 * left the cache, the table is retired at once.  Needs a guard.
 */
extern const GcSharedLookup *gc_lookups_publish(GcSharedLookup *table, const GcDictView *from,
												const GcDictView *to);

/* Give up the tables of a dictionary that has left the cache. */
extern void gc_lookups_forget(uint64 dict);

/* Give up all tables of a database of which nothing is cached any more. */
extern void gc_lookups_forget_database(Oid dbid);

/* Evict the least recently used table, unless it was used since `since`; false: none. */
extern bool gc_lookups_evict(TimestampTz since);

/* Bytes of the tables that were not used since then. */
extern Size gc_lookups_idle(TimestampTz since);

/*
 * Let one process at a time compute missing entries.  gc_lookups_begin(): true if the caller is to do it and then to
 * call gc_lookups_end(), also on error or exit.  False if another process has just ended.  Waits, interruptibly, while
 * one is at it.
 */
extern bool gc_lookups_begin(const GcLookupKey *key);
extern void gc_lookups_end(const GcLookupKey *key);

#endif							/* GC_LOOKUPS_H */
