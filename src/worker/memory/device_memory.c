/*-------------------------------------------------------------------------
 *
 * device_memory.c
 *	  Memory of the device, and copies from and to it.
 *
 * Which data gives way when memory is short is decided in eviction.c.
 *
 * The worker's main thread.  Whatever allocates a piece owns it, and frees it.
 *
 *-------------------------------------------------------------------------
 */
#include "device_memory.h"

#include <sys/mman.h>

#include "utils/freepage.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "../../columns/store/arena.h"
#include "eviction.h"
#include "state.h"

/* The arena is page-locked in windows of this size, when first copied from.  Columns in a file are not. */
#define PIN_WINDOW	(64 * 1024 * 1024)

/* The operating system may read only this much ahead of a larger range: 128 kB of 8 MB, for example. */
#define READ_AHEAD	(128 * 1024)

/*
 * gc_device_alloc_spare() leaves one part in this many of the pool free, beside what requests took at their peak; but
 * not more than half.
 */
#define SPARE_PART	32

/* With each request the peak that is remembered comes nearer to what they take now by one part in this many. */
#define PEAK_REQUESTS	64

typedef enum PinState
{
	NOT_PINNED_YET,
	PINNED,
	NOT_TO_BE_PINNED			/* page-locking failed: copies are slower */
} PinState;

static PinState *pinned = NULL;
static u64	cached = 0;			/* bytes of column chunks */
static u64	peak = 0;			/* of all other bytes, lately */
static u64	peak_request = 0;	/* request in which that was looked at */

/*-------------------------------------------------------------------------
 * Copies
 *-------------------------------------------------------------------------
 */

/* Page-lock the windows of the arena that these bytes lie in, once.  Where that fails, copies are slower. */
static void
pin_range(const void *ptr, Size size)
{
	Size		first = ((const char *) ptr - gc_arena_base()) / PIN_WINDOW;
	Size		last = ((const char *) ptr + size - 1 - gc_arena_base()) / PIN_WINDOW;

	if (gc_worker.dev->info.host_memory || size == 0 || gc_arena_is_filed(ptr))
		return;
	for (Size w = first; w <= last; w++)
	{
		Size		start = w * PIN_WINDOW;

		if (pinned[w] != NOT_PINNED_YET)
			continue;
		pinned[w] = gc_worker.ops->pin(gc_worker.dev, gc_arena_base() + start,
									   Min(PIN_WINDOW, gc_arena_size() - start), NULL) == GC_OK ? PINNED : NOT_TO_BE_PINNED;
	}
}

bool
gc_kernels_reach(const void *ptr, Size size)
{
	const Size	at = (const char *) ptr - gc_arena_base();

	if (gc_worker.dev->info.host_memory || !gc_worker.dev->info.host_pointers)
		return gc_worker.dev->info.host_pointers;
	if (gc_arena_is_filed(ptr))
		return false;
	pin_range(ptr, size);
	for (Size w = at / PIN_WINDOW; w <= (at + size - 1) / PIN_WINDOW; w++)
	{
		if (pinned[w] != PINNED)
			return false;
	}
	return true;
}

/* Bytes from ptr on that lie in one window, at most size. */
static Size
within_window(const void *ptr, Size size)
{
	Size		at = ((const char *) ptr - gc_arena_base()) % PIN_WINDOW;

	return gc_worker.dev->info.host_memory || gc_arena_is_filed(ptr) ? size : Min(size, PIN_WINDOW - at);
}

/* The copy would else fault for a few pages of the file at a time.  Pages that are in memory are not asked for. */
static void
read_ahead(const void *ptr, Size size)
{
	const char *end = (const char *) ptr + size;
	unsigned char there[READ_AHEAD / FPM_PAGE_SIZE];

	if (!gc_arena_is_filed(ptr))
		return;
	for (char *from = (char *) TYPEALIGN_DOWN(FPM_PAGE_SIZE, ptr); from < end; from += READ_AHEAD)
	{
		const Size	n = Min(READ_AHEAD, end - from);

		if (mincore(from, n, there) != 0 || memchr(there, 0, fpm_size_to_pages(n)))
			(void) posix_madvise(from, n, POSIX_MADV_WILLNEED);
	}
}

/*
 * Copies between arena and device.  Each window is page-locked by itself, and the
 * driver refuses a copy that touches two windows.  So copies are cut at their borders.
 */
GcCode
gc_copy_in(GcStream *stream, GcAddr dst, const void *src, Size size, GcError *err)
{
	pg_atomic_fetch_add_u64(&gc_stats()->link_bytes, size);
	return gc_copy_in_uncounted(stream, dst, src, size, err);
}

GcCode
gc_copy_in_uncounted(GcStream *stream, GcAddr dst, const void *src, Size size, GcError *err)
{
	GcCode		code = GC_OK;

	pin_range(src, size);
	read_ahead(src, size);
	while (size > 0 && code == GC_OK)
	{
		Size		n = within_window(src, size);

		code = gc_worker.ops->copy_in(stream, dst, src, n, err);
		dst += n;
		src = (const char *) src + n;
		size -= n;
	}
	return code;
}

bool
gc_await_copy(GcEvent **ready, GcStream *stream, GcError *err)
{
	bool		done = false;

	if (*ready == NULL)
		return true;
	if (gc_worker.ops->event_done(*ready, &done, err) != GC_OK)
		return false;
	if (!done)
		return gc_worker.ops->stream_wait(stream, *ready, err) == GC_OK;
	gc_worker.ops->event_put(gc_worker.dev, *ready);
	*ready = NULL;
	return true;
}

void
gc_copies_begin(GcCopies *copies, GcStream *stream)
{
	if (copies == NULL || copies->began || gc_worker.dev->info.host_memory)
		return;
	copies->began = gc_worker.ops->event_timed(stream, NULL);
	copies->at = GetCurrentTimestamp();
}

GcCode
gc_copy_out(GcStream *stream, void *dst, GcAddr src, Size size, GcError *err)
{
	GcCode		code = GC_OK;

	pin_range(dst, size);
	while (size > 0 && code == GC_OK)
	{
		Size		n = within_window(dst, size);

		code = gc_worker.ops->copy_out(stream, dst, src, n, err);
		src += n;
		dst = (char *) dst + n;
		size -= n;
	}
	return code;
}

/*-------------------------------------------------------------------------
 * Allocation
 *-------------------------------------------------------------------------
 */

/* Bytes that are taken for other things than column chunks. */
static u64
others(void)
{
	return gc_pool_used(gc_worker.pool) - cached;
}

/* Something is about to be given back: that is when most is taken. */
static void
note_peak(void)
{
	const u64	now = others();
	const u64	request = gc_present_request();

	if (peak_request != request)
		peak -= (peak - Min(now, peak)) / PEAK_REQUESTS;
	peak_request = request;
	peak = Max(peak, now);
}

StaticAssertDecl(GC_MEMORY_KINDS <= GC_POOL_KINDS, "the pool cannot tell all kinds of memory apart");

/* Tell all processes how much of the pool is taken.  Called whenever that has changed. */
static void
note_memory(void)
{
	GcDeviceStatus *d = gc_device_status();

	pg_atomic_write_u64(&d->memory_used, gc_pool_used(gc_worker.pool));
	for (int i = 0; i < GC_MEMORY_KINDS; i++)
		pg_atomic_write_u64(&d->memory_used_for[i], gc_pool_used_for(gc_worker.pool, i));
	pg_atomic_write_u64(&d->memory_free, gc_pool_size(gc_worker.pool) - gc_pool_used(gc_worker.pool));
	pg_atomic_write_u64(&d->memory_largest_free, gc_pool_largest_free(gc_worker.pool));
}

/* The pool is there: tell of it.  Nothing is page-locked yet. */
void
gc_device_memory_init(void)
{
	note_memory();
	pinned = MemoryContextAllocZero(TopMemoryContext, (gc_arena_size() / PIN_WINDOW + 2) * sizeof(PinState));
}

void
gc_device_label(GcAddr addr, GcMemoryKind kind)
{
	gc_pool_label(gc_worker.pool, addr, kind);
	note_memory();
}

/*
 * Long-lived data comes from the pool's upper end, all else from the lower one: so neither cuts the other into pieces.
 */
static GcAddr
pool_alloc(u64 size, bool stays)
{
	return stays ? gc_pool_alloc_to_stay(gc_worker.pool, size) : gc_pool_alloc(gc_worker.pool, size);
}

/* Memory of the pool, for which others' may go, or be waited for; 0: there is none.  stays: at the pool's upper end. */
static GcAddr
alloc(u64 size, bool stays)
{
	GcAddr		addr;

	while ((addr = pool_alloc(size, stays)) == 0)
	{
		if (!gc_evict(size) && !gc_evictors_give_back() && !(gc_worker.may_wait && gc_evictors_await()))
			return 0;
	}
	note_memory();
	return addr;
}

GcAddr
gc_device_alloc(u64 size)
{
	return alloc(size, false);
}

GcAddr
gc_device_alloc_to_stay(u64 size)
{
	return alloc(size, true);
}

GcAddr
gc_device_alloc_cached(u64 size)
{
	while (gc_pool_size(gc_worker.pool) - gc_pool_used(gc_worker.pool) < size + gc_worker.reserved)
	{
		if (!gc_evict(size) && !gc_evictors_give_back())
			return 0;
	}
	return alloc(size, true);
}

GcAddr
gc_device_alloc_displacing(u64 size)
{
	if (gc_pool_used(gc_worker.pool) + size + gc_device_spare_room() > gc_pool_size(gc_worker.pool) && !gc_evict(size))
		return 0;
	return gc_device_alloc_cached(size);
}

void
gc_device_count_cached(int64 bytes)
{
	cached += bytes;
}

u64
gc_device_spare_room(void)
{
	const u64	size = gc_pool_size(gc_worker.pool);

	return Min(size / SPARE_PART + peak - Min(others(), peak), size / 2);
}

GcAddr
gc_device_alloc_free(u64 size)
{
	const GcAddr addr = gc_pool_alloc(gc_worker.pool, size);

	note_memory();
	return addr;
}

GcAddr
gc_device_alloc_spare(u64 size, bool stays)
{
	GcAddr		addr;

	if (gc_pool_used(gc_worker.pool) + size + gc_device_spare_room() > gc_pool_size(gc_worker.pool))
		return 0;
	addr = pool_alloc(size, stays);
	note_memory();
	return addr;
}

void
gc_device_free(GcAddr addr)
{
	if (addr == 0)
		return;
	note_peak();
	gc_pool_free(gc_worker.pool, addr);
	note_memory();
}
