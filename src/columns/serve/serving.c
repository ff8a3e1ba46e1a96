/*-------------------------------------------------------------------------
 *
 * serving.c
 *	  Pages that a snapshot is served: of the heap's chunks, of hot chunks, or the same as another snapshot.  See
 *	  serving.h.
 *
 * Runs in backends, under a guard.  Notes are in the arena, and never change.
 *
 * Two snapshots that see the same transactions see the same rows.  So pages that were wholly served from a directory's
 * chunks for one are served from them for the other.  Whatever happened to the table in between is the work of
 * transactions that neither of them sees.  No page of the map has to be read, nor the table's length.
 *
 * Snapshots are told by xmax where no transaction was in progress: then they see all up
 * to there that committed.  Sessions that have an xid of their own see their own changes
 * besides.  A snapshot of recovery says in another way which transactions are in progress.  Those take no part.  Four
 * thousand million transactions later xmax comes again, so a finding is good for some minutes only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "utils/timestamp.h"

#include "amend.h"
#include "../store/epoch.h"
#include "serving.h"
#include "../../settings.h"
#include "../encode/spec.h"
#include "../store/store.h"

/* Ids of a snapshot that is compared. */
#define MAX_COMPARED	1024

/* A finding that all was served is good for so long. */
#define WHOLE_SECONDS	600

/* An amendment of the base with this id, noted for a snapshot.  Its arrays follow. */
typedef struct GcAmendmentNote
{
	GcNote		note;
	uint64		base;
	GcSnapshotKey key;
	pg_atomic_uint64 checked_at;	/* when the visibility map was last compared with the base's */
	GcAmendment amendment;
} GcAmendmentNote;

/*-------------------------------------------------------------------------
 * Snapshots
 *-------------------------------------------------------------------------
 */

/* Does a snapshot have the ids of all transactions that it sees in progress? */
static bool
says_all(Snapshot snapshot)
{
	return snapshot->snapshot_type == SNAPSHOT_MVCC && !(snapshot->takenDuringRecovery && snapshot->suboverflowed);
}

/* False: the snapshot is not to be noted. */
static bool
make_key(Snapshot snapshot, GcSnapshotKey *key)
{
	/* With too many subtransactions, a copied snapshot has none of their ids, and none is looked at. */
	const uint32 nsub = snapshot->suboverflowed ? 0 : Max(snapshot->subxcnt, 0);

	if (!says_all(snapshot) || snapshot->xcnt + nsub > GC_SERVING_MAX_IDS ||
		TransactionIdIsValid(GetTopTransactionIdIfAny()))
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

/* Is the transaction one of those that the snapshot takes for running? */
static bool
key_has(const GcSnapshotKey *key, TransactionId xid)
{
	for (uint32 i = 0; i < key->xcnt + key->subxcnt; i++)
	{
		if (key->ids[i] == xid)
			return true;
	}
	return false;
}

/* Does the snapshot see all transactions as ended that the noted one sees so? */
static bool
is_later(Snapshot snapshot, const GcSnapshotKey *noted)
{
	const TransactionId end = XidFromFullTransactionId(noted->xmax);
	const TransactionId *ids = snapshot->takenDuringRecovery ? snapshot->subxip : snapshot->xip;
	const uint32 n = snapshot->takenDuringRecovery ? Max(snapshot->subxcnt, 0) : snapshot->xcnt;
	FullTransactionId xmax;

	if (!says_all(snapshot) || n > MAX_COMPARED)
		return false;
	xmax = gc_full_xid(snapshot->xmax, ReadNextFullTransactionId());
	if (FullTransactionIdPrecedes(xmax, noted->xmax))
		return false;
	for (uint32 i = 0; i < n; i++)
	{
		if (TransactionIdPrecedes(ids[i], end) && !key_has(noted, ids[i]))
			return false;
	}
	return true;
}

/*-------------------------------------------------------------------------
 * Amending
 *-------------------------------------------------------------------------
 */

/* Holes of the base that an edit's hole touches become part of it. */
static void
swallow_holes(const GcServedChunk *chunk, GcHoleEdit *edit, GcHoles *holes)
{
	for (; edit->to < chunk->nholes && chunk->holes[edit->to].from <= edit->hole.to; edit->to++)
	{
		const GcHole *h = &chunk->holes[edit->to];

		edit->hole.from = Min(edit->hole.from, h->from);
		edit->hole.to = Max(edit->hole.to, h->to);
		holes->n--;
		holes->rows -= h->to - h->from;
	}
}

/*
 * A chunk's holes with n holes of the amendment, from *more on.  A chunk's own are many, and hardly any is changed, so
 * they are not copied.  Says how many holes there are then, and how many edits.
 */
static GcHoleEdit *
edit_holes(const GcServedChunk *chunk, const GcAmendedHole *more, uint32 n, GcHoles *holes, uint32 *nedits)
{
	GcHoleEdit *edits = palloc_extended((Size) n * sizeof(GcHoleEdit), MCXT_ALLOC_HUGE);
	GcHoleEdit *last = NULL;

	*holes = (GcHoles) {.n = chunk->nholes,.holes = chunk->holes,.rows = chunk->hole_rows};
	for (uint32 i = 0; i < n; i++)
	{
		const GcHole h = more[i].hole;

		if (last && h.from <= last->hole.to)
			last->hole.to = Max(last->hole.to, h.to);
		else
		{
			const uint32 passed = last ? last->to : 0;
			const uint32 left = chunk->nholes - passed;
			const uint32 at = passed +
				(left > 0 ? gc_first_from(&chunk->holes[passed].to, sizeof(GcHole), left, h.from) : 0);

			last = last ? last + 1 : edits;
			*last = (GcHoleEdit) {at, at, h};
		}
		swallow_holes(chunk, last, holes);
	}
	*nedits = last - edits + 1;
	holes->n += *nedits;
	for (uint32 i = 0; i < *nedits; i++)
		holes->rows += edits[i].hole.to - edits[i].hole.from;
	return edits;
}

/* Add blocks that are to be read to the ranges of the base, unless they have those already. */
static void
merge_ranges(const GcBase *base, const GcAmendment *a, GcServed *served)
{
	const GcBlockRange *range = base->served.ranges;
	const GcBlockRange *end = base->kept.delta_open ? range : range + base->served.nranges;
	GcServing	serving = {.served = served};

	served->ranges = NULL;
	served->nranges = 0;
	served->pages_delta = 0;
	for (uint32 i = 0; i < a->nblocks || range < end;)
	{
		if (i == a->nblocks || (range < end && range->first < a->blocks[i]))
		{
			gc_add_delta(&serving, range->first, range->count);
			range++;
		}
		else
			gc_add_delta(&serving, a->blocks[i++], 1);
	}
	if (a->end > base->served.nblocks)
		gc_add_delta(&serving, base->served.nblocks, a->end - base->served.nblocks);
}

/* The served chunks, of which some have more holes. */
static void
merge_chunks(const GcDirectory *dir, const GcBase *base, const GcAmendment *a, GcServed *served)
{
	const GcServed *was = &base->served;
	uint32		at = 0;

	served->chunks = palloc_extended((was->nchunks + 1) * sizeof(GcServedChunk), MCXT_ALLOC_HUGE);
	served->nchunks = 0;
	served->rows_served = served->rows_versioned = 0;
	for (uint32 k = 0; k < was->nchunks; k++)
	{
		const GcServedChunk *chunk = &was->chunks[k];
		const uint64 before = served->rows_served;
		const uint32 nchunks = served->nchunks;
		GcHoles		holes = {.n = chunk->nholes,.holes = chunk->holes,.rows = chunk->hole_rows};
		GcHoleEdit *edits = NULL;
		uint32		nedits = 0;
		uint32		first;

		/* A chunk of which no row is served is not among them. */
		while (at < a->nholes && a->holes[at].chunk < chunk->chunk)
			at++;
		first = at;
		while (at < a->nholes && a->holes[at].chunk == chunk->chunk)
			at++;
		if (at > first)
			edits = edit_holes(chunk, a->holes + first, at - first, &holes, &nedits);
		gc_append_chunk(served, chunk->chunk, chunk->nrows, &holes);
		if (served->nchunks > nchunks)
		{
			served->chunks[nchunks].nbase = chunk->nholes;
			served->chunks[nchunks].nedits = nedits;
			served->chunks[nchunks].edits = edits;
			served->chunks[nchunks].holes_hash = chunk->holes_hash;
		}
		if (chunk->chunk >= dir->nheap)
			served->rows_versioned += served->rows_served - before;
	}
}

void
gc_amend(const GcDirectory *dir, const GcBase *base, const GcAmendment *a, GcServed *served)
{
	*served = base->served;
	served->amended = true;
	if (a->nholes > 0)
		merge_chunks(dir, base, a, served);
	if (a->taken == 0 && !base->kept.delta_open && a->end == base->served.nblocks)
		return;
	merge_ranges(base, a, served);
	served->nnew = a->nnew;
	served->new_rows = a->new_rows;
	served->noffsets = a->noffsets;
	served->offsets = a->offsets;
	served->ntuples = a->ntuples;
	served->tuples = a->tuples;
	served->pages_read_before = a->nread;
	served->pages_delta += a->nnew + a->nread;
	served->nblocks = a->end;
	served->pages_served -= a->from_heap;
	served->pages_versioned -= a->taken - a->from_heap;
	served->pages_own += a->own;
}

/*-------------------------------------------------------------------------
 * Bases
 *-------------------------------------------------------------------------
 */

/* Where the next thing of a note goes; it counts only while there is no memory. */
typedef struct GcRoom
{
	char	   *memory;
	Size		at;
} GcRoom;

/* A copy of n bytes, in whole words. */
static void *
put(GcRoom *room, const void *what, Size n)
{
	void	   *p = room->memory ? room->memory + room->at : NULL;

	room->at += MAXALIGN(n);
	if (p == NULL)
		return NULL;
	if (n > 0)
		memcpy(p, what, n);
	memset((char *) p + n, 0, MAXALIGN(n) - n);
	return p;
}

/* Copy a base, with its arrays; *to is void while only counting. */
static void
put_base(GcRoom *room, const GcDirectory *dir, const GcBase *from)
{
	const uint32 nhot = dir->nchunks - dir->nheap;
	GcBase		scratch;
	GcBase	   *to = put(room, from, sizeof(GcBase));
	GcServedChunk *chunks;
	uint8	  **pages;

	to = to ? to : &scratch;
	chunks = put(room, from->served.chunks, from->served.nchunks * sizeof(GcServedChunk));
	pages = put(room, from->kept.pages, nhot * sizeof(uint8 *));
	to->served.chunks = chunks;
	to->served.ranges = put(room, from->served.ranges, from->served.nranges * sizeof(GcBlockRange));
	to->kept.maps.lsns = put(room, from->kept.maps.lsns, from->kept.maps.n * sizeof(XLogRecPtr));
	to->kept.maps.bits = put(room, from->kept.maps.bits, (Size) from->kept.maps.n * GC_MAP_STRIDE);
	to->kept.pages = pages;
	to->kept.open = put(room, from->kept.open, from->kept.nopen * sizeof(GcOpenVersion));
	for (uint32 k = 0; k < from->served.nchunks; k++)
	{
		const GcServedChunk *chunk = &from->served.chunks[k];
		GcHole	   *holes = put(room, chunk->holes, chunk->nholes * sizeof(GcHole));

		if (chunks)
			chunks[k].holes = chunk->nholes > 0 ? holes : NULL;
	}
	for (uint32 i = 0; i < nhot; i++)
	{
		uint8	   *copy = from->kept.pages[i] ? put(room, from->kept.pages[i], dir->chunks[dir->nheap + i]->npages)
			: NULL;

		if (pages)
			pages[i] = copy;
	}
}

/*
 * Note a base.  There may be no room, or it may be too large.  A directory that was replaced has no note any more;
 * ahead: it is not published yet.
 */
static void
note_base(const GcDirectory *dir, const GcBase *base, bool ahead)
{
	GcRoom		room = {0};
	Size		size;

	if (!ahead && !gc_store_has_directory(dir))
		return;
	put_base(&room, dir, base);
	size = room.at;
	room.memory = gc_note_alloc(size);
	if (room.memory == NULL)
		return;
	room.at = 0;
	put_base(&room, dir, base);
	memset(room.memory, 0, sizeof(GcNote));
	((GcNote *) room.memory)->obj.size = size;
	gc_note_put(dir, GC_NOTE_BASE, (GcNote *) room.memory);
	/* The directory may have been retired before it had this note. */
	if (!ahead && !gc_store_has_directory(dir))
		gc_note_forget(dir);
}

/* Rows that hot chunks serve; they are the last ones. */
static uint64
rows_of_hot_chunks(const GcDirectory *dir, const GcServed *served)
{
	uint64		rows = 0;

	for (uint32 k = served->nchunks; k > 0 && served->chunks[k - 1].chunk >= dir->nheap; k--)
		rows += served->chunks[k - 1].nrows - served->chunks[k - 1].hole_rows;
	return rows;
}

/* Serve without a base, and make one. */
static void
serve_anew(GcProof *proof, Snapshot snapshot, bool ahead, GcServed *served)
{
	const GcDirectory *dir = proof->dir;
	const uint32 nhot = dir->nchunks - dir->nheap;
	GcBase		base;
	GcAmendment amendment;

	memset(&base, 0, sizeof(GcBase));
	base.id = gc_store_new_id();
	base.made_at = GetCurrentTimestamp();
	base.kept.pages = palloc0(nhot * sizeof(uint8 *));
	for (uint32 i = 0; i < nhot; i++)
	{
		if (dir->chunks[dir->nheap + i])
			base.kept.pages[i] = palloc0(MAXALIGN(dir->chunks[dir->nheap + i]->npages));
	}
	gc_serve_judged(proof, &base.served, NULL, &base.kept.maps);
	gc_serve_versions(dir, snapshot, &base.served, &base.kept);
	base.served.rows_versioned = rows_of_hot_chunks(dir, &base.served);
	for (uint32 k = 0; k < base.served.nchunks; k++)
		base.served.chunks[k].holes_hash = gc_holes_hash(&base.served.chunks[k]);
	/* A serving that needs a load first is not worth a note. */
	if (!base.served.complete && !base.served.worth_reload && make_key(snapshot, &base.key))
		note_base(dir, &base, ahead);
	if (ahead)
		return;
	gc_amend_open(proof, &base, snapshot, &amendment);
	gc_amend(dir, &base, &amendment, served);
	served->amended = false;
}

/* Would the bits of the map alone be too large for a note? */
static bool
too_large(const GcProof *proof)
{
	return gc_note_too_large((Size) proof->nblocks / 4);
}

void
gc_serve_ahead(Relation rel, const GcDirectory *dir, Snapshot snapshot)
{
	GcSnapshotKey key;
	GcServed	served;
	GcProof		proof;

	if (!gc_debug_versioned_pages || !make_key(snapshot, &key))
		return;
	gc_proof_begin(&proof, rel, dir);
	if (too_large(&proof))
		return;
	gc_prove_hot(&proof);
	serve_anew(&proof, snapshot, true, &served);
}

/* Serve a snapshot that makes no note. */
static void
serve_alone(GcProof *proof, Snapshot snapshot, GcServed *served)
{
	gc_serve_judged(proof, served, NULL, NULL);
	gc_serve_versions(proof->dir, snapshot, served, NULL);
	served->rows_versioned = rows_of_hot_chunks(proof->dir, served);
}

/*-------------------------------------------------------------------------
 * Amendments
 *-------------------------------------------------------------------------
 */

static bool
has_tuples(const GcDirectory *dir, const GcAmendment *a)
{
	const GcReadPages *read = (const GcReadPages *) gc_note_of(dir, GC_NOTE_READ);

	return a->read_id == 0 || (read && read->id == a->read_id);
}

/*
 * Has VACUUM made pages all-visible since the note's base was made?  It takes no transaction id, so snapshots stay the
 * same.  One session looks, now and then.
 */
static bool
is_vacuumed(GcProof *proof, const GcBase *base, GcAmendmentNote *note)
{
	const TimestampTz now = GetCurrentTimestamp();

	if (!TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&note->checked_at), now, GC_VACUUMED_MS))
		return false;
	pg_atomic_write_u64(&note->checked_at, (uint64) now);
	return gc_base_is_old(proof, base);
}

/* Serve the pages that a session with the same snapshot was served of the base. */
static bool
serve_noted(GcProof *proof, const GcBase *base, const GcSnapshotKey *key, GcServed *served)
{
	const GcDirectory *dir = proof->dir;
	GcAmendmentNote *note = (GcAmendmentNote *) gc_note_of(dir, GC_NOTE_AMENDMENT);

	if (note == NULL || note->base != base->id || memcmp(key, &note->key, sizeof(GcSnapshotKey)) != 0 ||
		!has_tuples(dir, &note->amendment) || is_vacuumed(proof, base, note))
		return false;
	gc_amend(dir, base, &note->amendment, served);
	return true;
}

/* Keep an amendment for others with an equal snapshot.  Without room it is not kept. */
static void
note_amendment(const GcDirectory *dir, const GcBase *base, const GcSnapshotKey *key, const GcAmendment *a)
{
	const Size	holes = a->nholes * sizeof(GcAmendedHole);
	const Size	blocks = a->nblocks * sizeof(BlockNumber);
	const Size	new_rows = a->nnew * sizeof(GcNewRows);
	const Size	offsets = a->noffsets * sizeof(uint16);
	const Size	tuples = a->ntuples * sizeof(HeapTuple);
	const Size	size = MAXALIGN(sizeof(GcAmendmentNote)) + MAXALIGN(holes) + MAXALIGN(blocks) + MAXALIGN(new_rows) +
		MAXALIGN(offsets) + MAXALIGN(tuples);
	GcAmendmentNote *note = gc_note_alloc(size);
	GcRoom		room = {(char *) note, sizeof(GcAmendmentNote)};

	if (note == NULL)
		return;
	room.at = MAXALIGN(sizeof(GcAmendmentNote));
	memset(note, 0, sizeof(GcAmendmentNote));
	note->note.obj.size = size;
	note->base = base->id;
	note->key = *key;
	pg_atomic_init_u64(&note->checked_at, (uint64) GetCurrentTimestamp());
	note->amendment = *a;
	note->amendment.holes = put(&room, a->holes, holes);
	note->amendment.blocks = put(&room, a->blocks, blocks);
	note->amendment.new_rows = put(&room, a->new_rows, new_rows);
	note->amendment.offsets = put(&room, a->offsets, offsets);
	note->amendment.tuples = put(&room, a->tuples, tuples);
	gc_note_put(dir, GC_NOTE_AMENDMENT, &note->note);
	if (!gc_store_has_directory(dir))
		gc_note_forget(dir);
}

/* Serve the base's pages, but for those that have changed. */
static bool
serve_amended(GcProof *proof, const GcBase *base, Snapshot snapshot, const GcSnapshotKey *key, GcServed *served)
{
	GcAmendment amendment;

	if (!gc_amend_find(proof, base, snapshot, &amendment))
		return false;
	gc_amend(proof->dir, base, &amendment, served);
	if (key)
		note_amendment(proof->dir, base, key, &amendment);
	return true;
}

/* Serve hot pages in the cheapest way there is: as noted, amended, made anew for all, or for this session alone. */
static void
serve_hot(GcProof *proof, Snapshot snapshot, GcServed *served)
{
	const GcBase *base = (const GcBase *) gc_note_of(proof->dir, GC_NOTE_BASE);
	const char *reason;
	GcSnapshotKey key;
	const bool	keyed = make_key(snapshot, &key);
	const bool	later = base == NULL || is_later(snapshot, &base->key);
	const bool	may_amend = base && later && gc_rel_servable(proof->rel, &reason);

	if (may_amend && keyed && serve_noted(proof, base, &key, served))
		return;
	gc_prove_hot(proof);
	if (may_amend && serve_amended(proof, base, snapshot, keyed ? &key : NULL, served))
		return;
	if (later && keyed && !too_large(proof))
		serve_anew(proof, snapshot, false, served);
	else
		serve_alone(proof, snapshot, served);
}

/*-------------------------------------------------------------------------
 * All of a table, or the pages that are proven
 *-------------------------------------------------------------------------
 */
static bool
told_by_xmax(Snapshot snapshot)
{
	return snapshot != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC && !snapshot->takenDuringRecovery &&
		snapshot->xcnt == 0 && snapshot->subxcnt == 0 && !snapshot->suboverflowed &&
		snapshot->xmin == snapshot->xmax && !TransactionIdIsValid(GetTopTransactionIdIfAny());
}

/* Remember that all of nblocks was served for this snapshot. */
static void
note_whole(GcDirectory *dir, Snapshot snapshot, BlockNumber nblocks)
{
	pg_atomic_write_u64(&dir->whole_for, 0);
	pg_write_barrier();
	pg_atomic_write_u64(&dir->whole_at, GetCurrentTimestamp());
	pg_write_barrier();
	pg_atomic_write_u64(&dir->whole_for, (uint64) snapshot->xmax << 32 | nblocks);
}

/* Serve all, if it was served for a snapshot that sees the same. */
static bool
serve_whole(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const uint64 whole = pg_atomic_read_u64(&dir->whole_for);
	const GcHoles none = {0};
	const char *reason;

	pg_read_barrier();
	if (whole == 0 || (TransactionId) (whole >> 32) != snapshot->xmax || !gc_rel_servable(rel, &reason) ||
		TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&dir->whole_at), GetCurrentTimestamp(),
								   WHOLE_SECONDS * 1000))
		return false;
	memset(served, 0, sizeof(GcServed));
	served->nblocks = served->pages_served = (BlockNumber) whole;
	served->chunks = palloc_extended(Max(dir->nchunks, 1) * sizeof(GcServedChunk), MCXT_ALLOC_HUGE);
	for (uint32 c = 0; c < dir->nheap; c++)
		gc_append_chunk(served, c, dir->facts[c].nrows, &none);
	served->complete = true;
	return true;
}

void
gc_serve(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const bool	told = dir != NULL && told_by_xmax(snapshot);
	const bool	hot = gc_debug_versioned_pages && dir != NULL && dir->nheap < dir->nchunks && snapshot != NULL;
	GcProof		proof;

	Assert(dir == NULL || gc_guard_held());
	if (told && serve_whole(rel, dir, snapshot, served))
		return;
	gc_proof_begin(&proof, rel, dir);
	if (hot)
		serve_hot(&proof, snapshot, served);
	else
		gc_serve_judged(&proof, served, NULL, NULL);
	served->pages_looked_at = proof.looked_at;
	if (told && served->complete)
		note_whole(dir, snapshot, served->nblocks);
}
