/*-------------------------------------------------------------------------
 *
 * spec.h
 *	  Which relations and columns may be cached, and when their chunks may be used.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SPEC_H
#define GC_SPEC_H

#include "postgres.h"

#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "../store/columns.h"

/* Map a column's type to its kind; GC_KIND_NONE and *reason if there is none. */
extern bool gc_col_spec(Relation rel, AttrNumber attnum, GcColSpec *spec, const char **reason);

/*
 * May this relation's pages be served from chunks at all, now, for this snapshot?  It must be a
 * permanent heap table, no catalog, and not created or rewritten in this transaction.  The
 * snapshot must be an MVCC one, without old_snapshot_threshold, and SERIALIZABLE only if READ
 * ONLY DEFERRABLE.  Decided at execution time.
 */
extern bool gc_rel_cacheable(Relation rel, Snapshot snapshot, const char **reason);

/* The reason for transactions that PostgreSQL's own scans are to take predicate locks for, and is this one of them? */
#define GC_SERIALIZABLE		"the transaction isolation level is serializable"
extern bool gc_reads_are_tracked(void);

/* Same, as far as the planner can know: persistence, access method, catalog. */
extern bool gc_rel_plannable(Relation rel, const char **reason);

/*
 * The stages between gc_rel_plannable() and gc_rel_cacheable(), for the other files of
 * this room.
 */

/* Plannable, and its file is one that chunks can stand for in this transaction. */
extern bool gc_rel_servable(Relation rel, const char **reason);

/* Servable, and rows that this transaction reads may be published to all others. */
extern bool gc_rel_loadable(Relation rel, const char **reason);

#endif							/* GC_SPEC_H */
