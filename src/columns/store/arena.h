/*-------------------------------------------------------------------------
 *
 * arena.h
 *	  The staging arena: gpuconc.host_cache_size bytes of main shared memory.
 *
 * Everything that must be visible to several processes and whose size is not known at server start lives here.  That
 * is chunks, dictionaries, directories, requests with their private chunks, and results.  It is main shared memory
 * rather than a dynamic segment.  So it is mapped at one address in every process (plain pointers are good
 * everywhere), and does not depend on /dev/shm.  And it can be page-locked for the device once and for all.
 *
 * Beyond it there may be a file of half of gpuconc.disk_cache_size, mapped at one address in every process, too.  They
 * are for columns, lookup tables and dictionaries.  The kernel keeps the pages of it that are read in memory, and
 * writes and drops others, as it does with all files.  They are not page-locked, so copies of them are slower, and
 * kernels of a GPU do not read them in place.
 *
 * Space is handed out in pages of FPM_PAGE_SIZE (4 kB) by PostgreSQL's
 * FreePageManager under one LWLock.  Callable from any process with a PGPROC;
 * never from a thread other than the main one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ARENA_H
#define GC_ARENA_H

#include "postgres.h"

extern void gc_arena_shmem(void);

/*
 * size bytes, page-aligned, not zeroed; NULL when there is no such run of free
 * pages.  As a rule, callers want gc_arena_alloc() (epoch.h).
 */
extern void *gc_arena_take(Size size);

/* Allocate from the pages that are kept in reserve. */
extern void *gc_arena_take_reserved(Size size);

/* Allocate from the mapped file; NULL where there is none, too. */
extern void *gc_arena_take_filed(Size size);

/* Does that lie in the mapped file? */
extern bool gc_arena_is_filed(const void *ptr);

/* Bytes of an allocation of that size: whole pages. */
extern Size gc_arena_bytes(Size size);

/* Give back memory that was taken, of the same size. */
extern void gc_arena_free(void *ptr, Size size);

/* The whole arena without the file, for pinning and for range checks. */
extern char *gc_arena_base(void);
extern Size gc_arena_size(void);

/* Bytes that are taken, of the file, too. */
extern Size gc_arena_used(void);

/* Bytes that gc_arena_take() can hand out: at most, and now (in pieces). */
extern Size gc_arena_capacity(void);
extern Size gc_arena_available(void);

/* And gc_arena_take_filed(). */
extern Size gc_arena_filed_capacity(void);
extern Size gc_arena_filed_available(void);

#endif							/* GC_ARENA_H */
