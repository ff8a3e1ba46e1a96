/*-------------------------------------------------------------------------
 *
 * dict.h
 *	  Dictionaries: text values <-> codes.
 *
 * A shared dictionary belongs to a cached column.  Codes are dense, in order of arrival, never
 * reused, never in collation order.  (An order baked in would have to be right for every
 * collation version.)  One backend (or loader) works with a GcDictView.  It has the shared values
 * that existed when the view was made.  Behind them are values of its own (the delta's, a row
 * source's), which no one else sees.
 *
 * Values are compared byte by byte; with rtrim, without trailing blanks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DICT_H
#define GC_DICT_H

#include "columns.h"

#define GC_DICT_MAX_VALUES		(1 << 27)
#define GC_DICT_MAX_LENGTH		(1 << 16)	/* bytes of one value */

typedef struct GcDictView GcDictView;

/*
 * A view of a cached column's dictionary as of now (state NULL: empty, private).
 * Allocated in CurrentMemoryContext.  Needs a guard as long as it is used,
 * unless state is NULL.
 */
extern GcDictView *gc_dict_view(GcColState *state, bool rtrim);

/*
 * A view of several dictionaries, one behind another.  Code c of views[i] is code first[i] + c, where
 * first[i] is the number of values that the views before it have.  So a value has a code for each
 * dictionary that it is in.  Values interned get codes behind all of these, and none of theirs.  The views
 * must have no own values, and live as long.
 */
extern GcDictView *gc_dict_concatenated(const GcDictView *const *views, int n, bool rtrim, uint32 *first);

/* Number of codes: shared and own; and of the shared ones alone. */
extern uint32 gc_dict_count(const GcDictView *view);
extern uint32 gc_dict_shared_count(const GcDictView *view);

/* The bytes of a code; not NUL-terminated. */
extern const char *gc_dict_get(const GcDictView *view, uint32 code, uint32 *len);

/* Values that will be asked for soon. */
extern void gc_dict_prefetch(const GcDictView *view, const int64 *codes, int n);

/* Code of these bytes, or -1. */
extern int64 gc_dict_lookup(GcDictView *view, const char *bytes, uint32 len);

/* Code of these bytes, made if need be, as one of the view's own. -1: no room. */
extern int64 gc_dict_intern(GcDictView *view, const char *bytes, uint32 len);

/*
 * Loader only: move the view's own values into the shared dictionary, growing
 * it; remap[own code - first own code] = shared code, palloc'd.
 * GC_NOT_CACHEABLE beyond GC_DICT_MAX_VALUES or the arena's largest block, GC_CACHE_FULL without arena memory,
 * GC_CANCELLED if it has been retired.  Needs a guard, unless no other process can retire the dictionary.
 * chunks: about how many of the load's chunks are still to be merged.
 */
extern GcCode gc_dict_merge(GcColState *state, GcDictView *view, uint32 chunks, uint32 **remap, GcError *err);

/*
 * Identity of the shared values, which growth keeps: equal codes of equal identities are equal
 * values.  0: there are no shared values.
 */
extern uint64 gc_dict_shared_id(const GcDictView *view);

/* The shared dictionary that a view shows; NULL: none. */
extern const GcDict *gc_dict_shared(const GcDictView *view);

/* A shared dictionary's values, for all codes below a count that a view has shown. */
typedef struct GcDictContents
{
	uint64		id;
	const uint64 *start;		/* where each value starts in bytes[], and ends: the next one's */
	const char *bytes;
} GcDictContents;

extern GcDictContents gc_dict_contents(const GcDict *dict);

/* Is the dictionary that the view shows still that of a cached column? */
extern bool gc_dict_is_live(const GcDictView *view);

/*
 * Write all values of a view, as a dictionary of which there will be no other, into memory of
 * gc_dict_frozen_size() bytes.  The identity is that of the view's shared values, if it has all that there are.
 */
extern Size gc_dict_frozen_size(const GcDictView *view);
extern GcDict *gc_dict_freeze(const GcDictView *view, void *memory);

/* A view of its first n values, or of all if it has fewer; values may be added to it as to any other. */
extern GcDictView *gc_dict_frozen_view(GcDict *dict, uint32 n);

/* Has a frozen dictionary values that the view does not show? */
extern bool gc_dict_is_part(const GcDictView *view);

/*
 * Give a new column's state an empty dictionary; false without arena memory.  It has room for the values and bytes that
 * files have, as many as is said; for 0 it is small.
 */
extern bool gc_dict_attach(GcColState *state, uint32 nvalues, Size bytes);

/* Arena memory that this takes. */
extern Size gc_dict_attached_size(uint32 nvalues, Size bytes);

/* Values of a dictionary, one behind another. */
typedef struct GcDictPart
{
	uint32		first;			/* code of the first one */
	uint32		n;				/* 1 at least */
	uint64		first_byte;		/* where that begins among the dictionary's bytes */
	const uint64 *ends;			/* of each value there */
	const uint32 *hashes;
	const char *bytes;			/* from first_byte on */
} GcDictPart;

/*
 * Take a part into the room of a new dictionary; several processes may take other ones meanwhile.  When all are taken,
 * the values are the dictionary's, and files call them id.  n 0: it is empty, whatever was taken.
 */
extern void gc_dict_take(GcColState *state, const GcDictPart *part);
extern void gc_dict_taken(GcColState *state, uint32 n, uint64 id);

/* n values of a shared dictionary, from code first on. */
extern GcDictPart gc_dict_part(const GcDictView *view, uint32 first, uint32 n);

/* Retire a column's dictionary, into which nothing is merged any more; bytes. */
extern Size gc_dict_retire(GcColState *state);

/* Free the dictionary of a state that was never published. */
extern void gc_dict_free(GcColState *state);

/* Arena memory of a column's dictionary; and that of a grown one, at most. */
extern Size gc_dict_bytes(const GcColState *state);
extern Size gc_dict_merge_bytes(const GcColState *state, const GcDictView *view);

#endif							/* GC_DICT_H */
