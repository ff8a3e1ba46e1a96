/*-------------------------------------------------------------------------
 *
 * rows_key.h
 *	  Keys of the rows that a request reads of an input: equal keys, equal rows.
 *
 * Sessions share results that are computed of rows (exec/request.c).  That two of them read the same rows is told by
 * this key, and by nothing else.
 *
 * A key is made of the rows that are seen, and not of how these were found out.  There is the directory's id, which
 * says which chunks it has, in which order.  And there are those of their rows that are not served.  These are a set of
 * holes in each chunk, as holes that touch are one.  A chunk that is not served is one hole.  So the same rows have one
 * key, whether the holes are a base's with edits or were put together anew.  So they have whether the directory is a
 * table's or several tables' (combined.h).
 *
 * Rows of the delta are in no chunk.  Whoever reads any has no key.
 *
 * The hash of a set is the sum of its elements' hashes.  So a base's many holes are hashed once, and each edit costs as
 * much as it changes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ROWS_KEY_H
#define GC_ROWS_KEY_H

#include "postgres.h"

#include "../store/columns.h"
#include "visibility.h"
#include "../../program/hash.h"

/* The key; 0 if nobody else is known to read the same.  dir: served pages are of this; may be NULL. */
extern GcHash gc_rows_key(const GcDirectory *dir, const GcServed *served, uint64 delta_rows);

#endif							/* GC_ROWS_KEY_H */
