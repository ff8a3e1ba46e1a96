/*-------------------------------------------------------------------------
 *
 * arena.c
 *	  The staging arena, and the LWLocks of this room.
 *
 * Set up by the postmaster, used by backends, loaders and the worker, from
 * their main threads.  The arena is handed out by a FreePageManager that lies
 * in the arena's own first pages, because its relative pointers reach only
 * forward from its base.
 *
 * Lock: GC_LOCK_ARENA, the innermost of all locks of this room.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/freepage.h"

#include "arena.h"
#include "columns.h"
#include "epoch.h"
#include "../gpuconc.h"

typedef struct GcArena
{
	char	   *base;			/* FPM_PAGE_SIZE-aligned; the FreePageManager */
	Size		size;
	pg_atomic_uint64 used;		/* bytes handed out, in whole pages */
} GcArena;

static GcArena *arena = NULL;

/* Bytes that the FreePageManager itself takes at the start of the arena. */
#define ARENA_HEADER	(fpm_size_to_pages(sizeof(FreePageManager)) * FPM_PAGE_SIZE)

static Size
configured_size(void)
{
	return mul_size(gc_host_cache_size_mb, 1024 * 1024);
}

Size
gc_arena_shmem_size(void)
{
	/* One page more, to align the rest. */
	return add_size(MAXALIGN(sizeof(GcArena)),
					add_size(configured_size(), FPM_PAGE_SIZE));
}

void
gc_arena_shmem_init(void)
{
	bool		found;
	char	   *raw;

	arena = ShmemInitStruct("gpuconc arena state", sizeof(GcArena), &found);
	raw = ShmemInitStruct("gpuconc arena",
						  add_size(configured_size(), FPM_PAGE_SIZE), &found);
	if (found)
		return;

	arena->base = (char *) TYPEALIGN(FPM_PAGE_SIZE, raw);
	arena->size = configured_size();
	pg_atomic_init_u64(&arena->used, 0);

	FreePageManagerInitialize((FreePageManager *) arena->base, arena->base);
	FreePageManagerPut((FreePageManager *) arena->base,
					   ARENA_HEADER / FPM_PAGE_SIZE,
					   (arena->size - ARENA_HEADER) / FPM_PAGE_SIZE);
}

static void *
try_alloc(Size npages)
{
	Size		page;
	bool		ok;

	LWLockAcquire(gc_lock(GC_LOCK_ARENA), LW_EXCLUSIVE);
	ok = FreePageManagerGet((FreePageManager *) arena->base, npages, &page);
	LWLockRelease(gc_lock(GC_LOCK_ARENA));
	if (!ok)
		return NULL;

	pg_atomic_fetch_add_u64(&arena->used, npages * FPM_PAGE_SIZE);
	return fpm_page_to_pointer(arena->base, page);
}

void *
gc_arena_alloc(Size size)
{
	Size		npages = fpm_size_to_pages(size);
	void	   *ptr;

	Assert(size > 0);
	ptr = try_alloc(npages);
	if (ptr == NULL && gc_reclaim() > 0)
		ptr = try_alloc(npages);
	return ptr;
}

void
gc_arena_free(void *ptr, Size size)
{
	Size		npages = fpm_size_to_pages(size);

	Assert(fpm_pointer_is_page_aligned(arena->base, ptr));
	Assert((char *) ptr >= arena->base + ARENA_HEADER &&
		   (char *) ptr + npages * FPM_PAGE_SIZE <= arena->base + arena->size);

#ifdef CLOBBER_FREED_MEMORY
	/* So that whoever still follows a pointer into it is found out. */
	memset(ptr, 0x7E, npages * FPM_PAGE_SIZE);
#endif

	LWLockAcquire(gc_lock(GC_LOCK_ARENA), LW_EXCLUSIVE);
	FreePageManagerPut((FreePageManager *) arena->base,
					   fpm_pointer_to_page(arena->base, ptr), npages);
	LWLockRelease(gc_lock(GC_LOCK_ARENA));
	pg_atomic_fetch_sub_u64(&arena->used, npages * FPM_PAGE_SIZE);
}

char *
gc_arena_base(void)
{
	return arena->base;
}

Size
gc_arena_size(void)
{
	return arena->size;
}

Size
gc_arena_used(void)
{
	return pg_atomic_read_u64(&arena->used) + ARENA_HEADER;
}

LWLock *
gc_lock(GcColumnsLock which)
{
	static LWLockPadded *locks = NULL;

	if (locks == NULL)
		locks = GetNamedLWLockTranche("gpuconc_columns");
	return &locks[which].lock;
}
