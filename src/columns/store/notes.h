/*-------------------------------------------------------------------------
 *
 * notes.h
 *	  Places for objects about directories that come and go: serve/serving.h's notes.
 *
 * A few tables have one at a time, of their latest directory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_NOTES_H
#define GC_NOTES_H

#include "postgres.h"

#include "columns.h"

/* Kinds of notes, of each of which a directory has one. */
typedef enum GcNoteKind
{
	GC_NOTE_BASE,
	GC_NOTE_AMENDMENT,
	GC_NOTE_READ,
	GC_NOTE_KINDS
} GcNoteKind;

/* The beginning of an object that is noted. */
typedef struct GcNote
{
	GcObject	obj;
	uint64		dir_id;
} GcNote;

extern void gc_notes_shmem(void);

/* The directory's note, or NULL.  Needs a guard, under which it lasts. */
extern const GcNote *gc_note_of(const GcDirectory *dir, GcNoteKind kind);

/*
 * Memory for a note; NULL: it would be too large, or many notes that were replaced are still in use, or there is none.
 */
extern void *gc_note_alloc(Size size);

/* Is a note of that size too large? */
extern bool gc_note_too_large(Size size);

/* Note it, in place of another one, which is retired. */
extern void gc_note_put(const GcDirectory *dir, GcNoteKind kind, GcNote *note);

/* Retire the directory's notes.  For whoever retires the directory, once it is unlinked. */
extern void gc_note_forget(const GcDirectory *dir);

#endif							/* GC_NOTES_H */
