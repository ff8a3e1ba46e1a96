/*-------------------------------------------------------------------------
 *
 * disk.h
 *	  Columns that outlive the server's end: files of chunks' columns and of dictionaries.
 *
 * A file has one column of one chunk of the heap, and the chunk's facts of its pages.  A loader writes files once a
 * load is published.  A load reads them instead of the heap, and looks at the map or the pages' LSNs as it always does.
 *
 * Claim.  A file is believed only if no record that its pages' LSNs or its map page's LSN name was lost or replaced
 * since.
 *
 * Proof.  Files are believed after a clean end only.  The postmaster's last act is to note the control file as the
 * shutdown checkpoint left it.  A server that starts from the very same control file goes on where that one ended.  So
 * all WAL before is flushed, all pages are written, and no other server has written to them in between, nor other WAL.
 * Each such start is added to the chain of those before, which the note has; any other start begins a new chain, and
 * removes all files.  A file names the server's start that wrote it, and is of the chain, or removed.  So it is no file
 * of a later time around which the directory was restored, of a copy that went another way, or of another server.
 *
 * With that, an LSN that has not moved is a proof as it is while a server runs (serve/fresh.h).  The page has changed
 * since if its LSN is another one, or if it has none: such chunks are not written.  A bit of the map is cleared without
 * a record, but a clean end writes that, too.  A base backup, pg_rewind and a copy of a server that runs have no such
 * note.  The folder's name has the first leave it out.
 *
 * Dictionaries.  A dictionary is in files of its own, by ranges of codes, and columns' files have its codes.  Either
 * name it by an identity.  A dictionary that was read from files has theirs up to what was read, as long as it has not
 * grown.  Then it has one of its own, which no other dictionary ever had: all its files are written anew.  So two
 * dictionaries that begin with the same files, and go on with different values, are never taken for each other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DISK_H
#define GC_DISK_H

#include "chunk.h"
#include "job.h"

struct GcReading;

/* Continue the chain or begin a new one.  In the postmaster, before it has children. */
extern void gc_disk_start(void);

/* Can columns of this relation be kept now? */
extern bool gc_disk_usable(Relation rel);

/*
 * The part of a column's chunks that have files, from 0 to 1.  An estimate: heads of some of these files, and of some
 * of its dictionary's, are looked at.  *bytes: of memory that the column takes; 0 if some chunk has no file.
 */
extern double gc_disk_part(Relation rel, const GcColSpec *spec, BlockNumber npages, double *bytes);

/* Tables of a database that have files, whether they are believed or not; InvalidOid: databases. */
extern List *gc_disk_list(Oid dbid);

/* The dictionary of a column that is not in the cache, as files have it. */
extern GcKeptDict gc_disk_dictionary(Relation rel, const GcColSpec *spec);

/* Read a part of it into the new column's dictionary.  False: there is none, or another one by now. */
extern bool gc_disk_read_part(const GcRelKey *key, const GcJobColumn *col, uint32 number);

/*
 * Read the set's columns from files into its encoder, which is empty; for a whole chunk, the facts of its pages, too.
 * The pages must still be proven.  For other chunks they need not: their LSNs are those of the base's chunk.  False:
 * there are no such files, and the set is to be prepared again.  Needs a guard.
 */
extern bool gc_disk_read(GcLoader *loader, struct GcReading *reading);

/* Write cached columns of rel that are not in files yet.  In a loader. */
extern void gc_disk_write(Relation rel);

#endif							/* GC_DISK_H */
