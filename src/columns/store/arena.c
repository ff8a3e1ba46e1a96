/*-------------------------------------------------------------------------
 *
 * arena.c
 *	  The staging arena.
 *
 * Set up by the postmaster, used by backends, loaders and the worker, from
 * their main threads.  The arena is handed out by a FreePageManager that lies in
 * the arena's own first pages: its relative pointers reach only forward from its
 * base.  The last 1/64 is managed by another one, for the few allocations that
 * eviction itself needs.  When the rest is full to the last page, there must still be room for a smaller directory of a
 * table.
 *
 * A third one manages a file that is mapped, for columns beyond the arena.  The postmaster maps it once, and its
 * children inherit the mapping.  The file has no name any more then, so nothing is left of it when the server ends.
 * All of its blocks are allocated before: without them, a write to a mapped page would end in SIGBUS where the disk is
 * full.
 *
 * Lock: GC_LOCK_ARENA, the innermost of all locks of this room.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "utils/freepage.h"

#include "arena.h"
#include "lock.h"
#include "../../settings.h"
#include "../../shmem.h"

/* A part of the arena, with its FreePageManager in its first pages. */
typedef struct GcArenaPart
{
	char	   *base;			/* FPM_PAGE_SIZE-aligned */
	Size		size;
	pg_atomic_uint64 free;		/* bytes that can be handed out */
} GcArenaPart;

typedef struct GcArena
{
	char	   *base;
	Size		size;
	GcArenaPart	main;
	GcArenaPart	reserve;
	GcArenaPart	filed;			/* beyond the arena; size 0: none */
} GcArena;

static GcArena *arena = NULL;

/* Bytes that the FreePageManager itself takes at the start of a pool. */
#define POOL_HEADER		(fpm_size_to_pages(sizeof(FreePageManager)) * FPM_PAGE_SIZE)

#define RESERVE_SHARE	64
#define RESERVE_MIN		(16 * FPM_PAGE_SIZE)

/* pg_basebackup leaves out files whose names begin with PG_TEMP_FILE_PREFIX. */
#define COLUMNS_FILE	PG_TEMP_FILE_PREFIX "_gpuconc_columns"

/* Bytes of gpuconc.host_cache_size. */
static Size
configured_size(void)
{
	return mul_size(gc_host_cache_size_mb, 1024 * 1024);
}

/* Make a part of the arena one free piece, behind its free page manager's header. */
static void
init_pool(GcArenaPart *pool, char *base, Size size)
{
	pool->base = base;
	pool->size = size;
	pg_atomic_init_u64(&pool->free, size - POOL_HEADER);
	FreePageManagerInitialize((FreePageManager *) base, base);
	FreePageManagerPut((FreePageManager *) base, POOL_HEADER / FPM_PAGE_SIZE,
					   (size - POOL_HEADER) / FPM_PAGE_SIZE);
}

/* All blocks of the file.  To find out by allocating them would fill the disk for a while. */
static bool
allocate_blocks(int fd, Size size)
{
	struct statvfs disk;

	if (fstatvfs(fd, &disk) != 0)
		return false;
	if (size / disk.f_frsize >= disk.f_bavail)
		errno = ENOSPC;
	else
	{
		do
			errno = posix_fallocate(fd, 0, size);
		while (errno == EINTR);
	}
	return errno == 0;
}

/* A file of that size, mapped; NULL with errno where it cannot be had. */
static char *
map_file(Size size)
{
	const int	fd = open(COLUMNS_FILE, O_RDWR | O_CREAT | O_TRUNC | PG_BINARY, pg_file_create_mode);
	void	   *at = MAP_FAILED;
	int			failure;

	if (fd < 0)
		return NULL;
	(void) unlink(COLUMNS_FILE);
	if (allocate_blocks(fd, size))
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	failure = errno;
	close(fd);
	errno = failure;
	return at == MAP_FAILED ? NULL : at;
}

/* After a crash of another process, the postmaster has it still. */
static void
init_file(void)
{
	static char *mapped = NULL;
#ifdef EXEC_BACKEND
	const Size	size = 0;		/* children would not inherit the mapping */
#else
	const Size	size = mul_size(gc_disk_cache_size_mb, 1024 * 1024 / 2);
#endif

	memset(&arena->filed, 0, sizeof(GcArenaPart));
	if (size > 0 && mapped == NULL && (mapped = map_file(size)) == NULL)
		ereport(LOG, (errcode_for_file_access(),
					  errmsg("gpuconc has no file for columns: could not allocate %zu kB in the data directory: %m", size / 1024)));
	if (mapped)
		init_pool(&arena->filed, mapped, size);
	else
		pg_atomic_init_u64(&arena->filed.free, 0);
}

/* The arena, with a page more to align it, and its parts. */
void
gc_arena_shmem(void)
{
	Size		reserve;
	bool		made;
	char	   *raw;

	arena = gc_shmem_unset("gpuconc arena state", sizeof(GcArena), &made);
	raw = gc_shmem_unset("gpuconc arena", add_size(configured_size(), FPM_PAGE_SIZE), &made);
	if (!made)
		return;

	arena->base = (char *) TYPEALIGN(FPM_PAGE_SIZE, raw);
	arena->size = configured_size();

	reserve = TYPEALIGN(FPM_PAGE_SIZE, Max(arena->size / RESERVE_SHARE, RESERVE_MIN));
	init_pool(&arena->main, arena->base, arena->size - reserve);
	init_pool(&arena->reserve, arena->base + arena->main.size, reserve);
	init_file();
}

/* A piece of whole pages, or NULL.  Takes GC_LOCK_ARENA. */
static void *
take(GcArenaPart *pool, Size size)
{
	Size		npages = fpm_size_to_pages(size);
	Size		page;
	bool		ok;

	Assert(size > 0);
	if (pool->size == 0)
		return NULL;
	LWLockAcquire(gc_lock(GC_LOCK_ARENA), LW_EXCLUSIVE);
	ok = FreePageManagerGet((FreePageManager *) pool->base, npages, &page);
	LWLockRelease(gc_lock(GC_LOCK_ARENA));
	if (!ok)
		return NULL;

	pg_atomic_fetch_sub_u64(&pool->free, npages * FPM_PAGE_SIZE);
	return fpm_page_to_pointer(pool->base, page);
}

Size
gc_arena_bytes(Size size)
{
	return fpm_size_to_pages(size) * FPM_PAGE_SIZE;
}

void *
gc_arena_take(Size size)
{
	return take(&arena->main, size);
}

void *
gc_arena_take_reserved(Size size)
{
	return take(&arena->reserve, size);
}

void *
gc_arena_take_filed(Size size)
{
	return take(&arena->filed, size);
}

bool
gc_arena_is_filed(const void *ptr)
{
	return (const char *) ptr >= arena->filed.base && (const char *) ptr < arena->filed.base + arena->filed.size;
}

void
gc_arena_free(void *ptr, Size size)
{
	Size		npages = fpm_size_to_pages(size);
	GcArenaPart *pool = gc_arena_is_filed(ptr) ? &arena->filed : (char *) ptr < arena->reserve.base ? &arena->main
		: &arena->reserve;

	Assert(fpm_pointer_is_page_aligned(pool->base, ptr));
	Assert((char *) ptr >= pool->base + POOL_HEADER &&
		   (char *) ptr + npages * FPM_PAGE_SIZE <= pool->base + pool->size);

#ifdef CLOBBER_FREED_MEMORY
	/* Overwritten, so that a process that still follows a pointer into it fails. */
	memset(ptr, 0x7E, npages * FPM_PAGE_SIZE);
#endif

	LWLockAcquire(gc_lock(GC_LOCK_ARENA), LW_EXCLUSIVE);
	FreePageManagerPut((FreePageManager *) pool->base,
					   fpm_pointer_to_page(pool->base, ptr), npages);
	LWLockRelease(gc_lock(GC_LOCK_ARENA));
	pg_atomic_fetch_add_u64(&pool->free, npages * FPM_PAGE_SIZE);
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
gc_arena_capacity(void)
{
	return arena->main.size - POOL_HEADER;
}

Size
gc_arena_available(void)
{
	return pg_atomic_read_u64(&arena->main.free);
}

Size
gc_arena_filed_capacity(void)
{
	return arena->filed.size > 0 ? arena->filed.size - POOL_HEADER : 0;
}

Size
gc_arena_filed_available(void)
{
	return pg_atomic_read_u64(&arena->filed.free);
}

Size
gc_arena_used(void)
{
	return arena->size - pg_atomic_read_u64(&arena->main.free) - pg_atomic_read_u64(&arena->reserve.free) +
		gc_arena_filed_capacity() - pg_atomic_read_u64(&arena->filed.free);
}
