/*-------------------------------------------------------------------------
 *
 * cache_size.c
 *	  How large gpuconc.host_cache_size is where nobody has set it.
 *
 * A share of the memory of the machine or container.  Pages of it that nothing was put into take no memory, unless they
 * are huge.  For a GPU they are page-locked, in windows of 64 MB.  The size must not keep the server from starting, so
 * it is tried, with what the server itself needs, before PostgreSQL takes it.
 *
 * Runs in the postmaster, which knows shared_buffers and huge_pages by then.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <sys/mman.h>

#include "miscadmin.h"
#include "storage/pg_shmem.h"

#include "device/physical_memory.h"
#include "settings.h"

#define MEGABYTE		((Size) 1024 * 1024)

/* A quarter of the memory, as shared_buffers is often set to; the rest is for sessions and files. */
#define SHARE			4

/* The least; where this cannot be had, PostgreSQL says so. */
#define LEAST_MB		64

/* Shared memory of PostgreSQL's beside its buffers: a part of those, and a rest. */
#define BESIDE_BUFFERS(buffers)	((buffers) / 16 + 128 * MEGABYTE)

/* Could the postmaster have so much shared memory, with these flags? */
static bool
can_be_mapped(Size size, int flags)
{
	void	   *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		return false;
	munmap(at, size);
	return true;
}

/* Can the server have so much for columns, and what it needs? */
static bool
can_be_had(Size size)
{
	const Size	buffers = (Size) NBuffers * BLCKSZ;
	const Size	total = size + buffers + BESIDE_BUFFERS(buffers);

#ifdef MAP_HUGETLB
	/* Huge pages are taken when they are mapped, whether they are used or not. */
	if (huge_pages == HUGE_PAGES_ON)
	{
		Size		page;
		int			flags;

		GetHugePageSize(&page, &flags);
		return can_be_mapped(TYPEALIGN(page, total), flags);
	}
#endif
	/* Where the kernel keeps account, sessions need room, too. */
	return can_be_mapped(total + size, 0);
}

int
gc_suitable_cache_mb(void)
{
	int			mb = (int) Min(gc_physical_memory("") / SHARE / MEGABYTE, INT_MAX);

	while (mb > LEAST_MB && !can_be_had(mb * MEGABYTE))
		mb -= mb / 4;
	return Max(mb, LEAST_MB);
}
