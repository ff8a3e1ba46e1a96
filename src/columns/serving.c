/*-------------------------------------------------------------------------
 *
 * serving.c
 *	  What hot pages a snapshot was served, noted for sessions whose snapshots see the same.
 *	  See serving.h.
 *
 * Runs in backends, under a guard.  A note is in the arena, and never changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"

#include "arena.h"
#include "epoch.h"
#include "notes.h"
#include "serving.h"
#include "spec.h"
#include "store.h"
#include "versions.h"

/* Ids of a snapshot, and part of the arena that a note may take. */
#define MAX_IDS			64
#define NOTE_PART		256

/* All that a snapshot says of which transactions it sees. */
typedef struct GcSnapshotKey
{
	FullTransactionId xmax;
	TransactionId xmin;
	uint32		xcnt;
	int32		subxcnt;
	bool		suboverflowed;
	TransactionId ids[MAX_IDS];	/* the rest is 0 */
} GcSnapshotKey;

/* What follows it: chunks, holes, and ranges. */
typedef struct GcServingNote
{
	GcNote		note;
	GcSnapshotKey key;
	GcServed	served;
} GcServingNote;

/* False: the snapshot is not to be compared with others. */
static bool
make_key(Snapshot snapshot, GcSnapshotKey *key)
{
	/* With too many subtransactions, a copied snapshot has none of their ids, and none is looked at. */
	const uint32 nsub = snapshot->suboverflowed ? 0 : Max(snapshot->subxcnt, 0);

	if (snapshot->snapshot_type != SNAPSHOT_MVCC || snapshot->takenDuringRecovery ||
		snapshot->xcnt + nsub > MAX_IDS || TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return false;
	memset(key, 0, sizeof(GcSnapshotKey));
	key->xmax = gc_full_xid(snapshot->xmax, ReadNextFullTransactionId());
	key->xmin = snapshot->xmin;
	key->xcnt = snapshot->xcnt;
	key->subxcnt = (int32) nsub;
	key->suboverflowed = snapshot->suboverflowed;
	if (snapshot->xcnt > 0)
		memcpy(key->ids, snapshot->xip, snapshot->xcnt * sizeof(TransactionId));
	if (nsub > 0)
		memcpy(key->ids + snapshot->xcnt, snapshot->subxip, nsub * sizeof(TransactionId));
	return true;
}

bool
gc_serve_noted(Relation rel, const GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const GcServingNote *note = (const GcServingNote *) gc_note_of(dir);
	GcSnapshotKey key;
	const char *reason;

	if (note == NULL || !make_key(snapshot, &key) ||
		memcmp(&key, &note->key, sizeof(key)) != 0 || !gc_rel_servable(rel, &reason))
		return false;
	*served = note->served;
	served->pages_looked_at = 0;
	return true;
}

GcHash
gc_served_hash(const GcServed *served)
{
	GcHash		h = {{0x7365, 0x7276}};

	if (served->rows.h[0] != 0)
		return served->rows;
	for (uint32 k = 0; k < served->nchunks; k++)
	{
		const GcServedChunk *chunk = &served->chunks[k];
		const uint32 what[2] = {chunk->chunk, chunk->nholes};

		gc_hash_mix(&h, what, sizeof(what));
		if (chunk->nholes > 0)
			gc_hash_mix(&h, chunk->holes, chunk->nholes * sizeof(GcHole));
	}
	return h;
}

static Size
holes_of(const GcServed *served)
{
	Size		n = 0;

	for (uint32 c = 0; c < served->nchunks; c++)
		n += served->chunks[c].nholes;
	return n;
}

/* Copy what was served behind the note. */
static void
fill_note(GcServingNote *note, const GcServed *served)
{
	GcServedChunk *chunks = (GcServedChunk *) (note + 1);
	GcBlockRange *ranges = (GcBlockRange *) (chunks + served->nchunks);
	GcHole	   *holes = (GcHole *) (ranges + served->nranges);

	note->served = *served;
	note->served.chunks = chunks;
	note->served.ranges = ranges;
	memcpy(chunks, served->chunks, served->nchunks * sizeof(GcServedChunk));
	if (served->nranges > 0)
		memcpy(ranges, served->ranges, served->nranges * sizeof(GcBlockRange));
	for (uint32 c = 0; c < served->nchunks; c++)
	{
		if (chunks[c].nholes == 0)
			continue;
		memcpy(holes, chunks[c].holes, chunks[c].nholes * sizeof(GcHole));
		chunks[c].holes = holes;
		holes += chunks[c].nholes;
	}
}

void
gc_note_served(const GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const Size	size = sizeof(GcServingNote) + served->nchunks * sizeof(GcServedChunk) +
		served->nranges * sizeof(GcBlockRange) + holes_of(served) * sizeof(GcHole);
	GcServingNote *note;
	GcSnapshotKey key;

	if (size > gc_arena_size() / NOTE_PART || !make_key(snapshot, &key) || (note = gc_arena_alloc(size)) == NULL)
		return;
	memset(note, 0, sizeof(GcServingNote));
	note->note.obj.size = size;
	note->key = key;
	served->rows = gc_served_hash(served);
	fill_note(note, served);
	gc_note_put(dir, &note->note);
	/* The directory may have been retired before it had this note. */
	if (!gc_store_has_directory(dir))
		gc_note_forget(dir);
}
