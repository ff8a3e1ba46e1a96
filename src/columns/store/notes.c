/*-------------------------------------------------------------------------
 *
 * notes.c
 *	  Places for objects about directories that come and go.  See notes.h.
 *
 * Runs in any process that has a PGPROC.  Takes no lock but that of retiring.
 *
 *-------------------------------------------------------------------------
 */
#include "notes.h"

#include "port/atomics.h"

#include "arena.h"
#include "epoch.h"
#include "../../shmem.h"

#define MAX_NOTES	16

/* Part of the arena that a note may take, and all that were replaced and are in use. */
#define NOTE_PART	64

typedef struct GcNotesShared
{
	pg_atomic_uint64 notes[MAX_NOTES][GC_NOTE_KINDS];	/* GcNote *, or 0 */
} GcNotesShared;

static GcNotesShared *shared = NULL;

/* The places of notes, empty at first. */
void
gc_notes_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc notes", sizeof(GcNotesShared), &made);
	for (int i = 0; i < MAX_NOTES && made; i++)
	{
		for (int kind = 0; kind < GC_NOTE_KINDS; kind++)
			pg_atomic_init_u64(&shared->notes[i][kind], 0);
	}
}

/* A table's note of this kind; other tables may have the place, too. */
static pg_atomic_uint64 *
place_of(const GcDirectory *dir, GcNoteKind kind)
{
	return &shared->notes[(dir->key.dbid ^ dir->key.relid) % MAX_NOTES][kind];
}

const GcNote *
gc_note_of(const GcDirectory *dir, GcNoteKind kind)
{
	const GcNote *note = (const GcNote *) (uintptr_t) pg_atomic_read_u64(place_of(dir, kind));

	Assert(gc_guard_held());
	pg_read_barrier();
	return note && note->dir_id == dir->id ? note : NULL;
}

bool
gc_note_too_large(Size size)
{
	return size > gc_arena_size() / NOTE_PART;
}

/* Notes replace each other, and a long request keeps those from being freed that were in use since it began. */
void *
gc_note_alloc(Size size)
{
	return gc_note_too_large(size) || gc_note_too_large(gc_retired_bytes()) ? NULL : gc_arena_alloc(size);
}

void
gc_note_put(const GcDirectory *dir, GcNoteKind kind, GcNote *note)
{
	GcNote	   *old;

	note->dir_id = dir->id;
	pg_write_barrier();
	old = (GcNote *) (uintptr_t) pg_atomic_exchange_u64(place_of(dir, kind), (uint64) (uintptr_t) note);
	if (old)
		gc_retire(&old->obj);
}

void
gc_note_forget(const GcDirectory *dir)
{
	gc_guard_enter();
	for (int kind = 0; kind < GC_NOTE_KINDS; kind++)
	{
		GcNote	   *note = (GcNote *) gc_note_of(dir, kind);
		uint64		is = (uint64) (uintptr_t) note;

		if (note && pg_atomic_compare_exchange_u64(place_of(dir, kind), &is, 0))
			gc_retire(&note->obj);
	}
	gc_guard_leave();
}
