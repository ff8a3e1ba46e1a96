/*-------------------------------------------------------------------------
 *
 * kcache.h
 *	  Compiled kernels: asked for by source text, found in memory, on disk, or
 *	  compiled on a thread of their own.
 *
 * Key: a 128-bit hash of the source text and the device's compile target.  On disk each entry is a file of the cache
 * directory, KEY.bin.  It has a header with lengths and checksum, the text, by which a collision is seen, and the image.
 * Files are written to a temporary name and renamed; a failed write (disk full) is not an error.  The directory is
 * made if it is missing.  A directory or file is used only if the server's user owns it, group and others may not
 * write, and it is no symbolic link.  The first that is not used is reported through the log callback, and kernels are
 * then compiled into memory only.  A file that is damaged is replaced.
 *
 * Threads: gc_kcache_* are called on the worker's main thread.  Compile threads
 * are created with all signals blocked.  They call GcDeviceOps.compile, write
 * the files, then publish the entry's state and call the wake function, nothing
 * else.
 *
 * Where the device can compile quickly (GcDeviceInfo.quick_compile), a text is first
 * compiled as a quick kernel.  It is compiled with full effort when no other text waits
 * for its first compilation.  The better module takes over at the next gc_kcache_poll; the
 * quick one stays loaded for launches that are queued.  Only the better one goes to disk.
 *
 * An entry lives until gc_kcache_close, or gc_kcache_forget.  Modules are loaded on the main thread
 * at the first gc_kcache_poll that finds the image ready.  A module takes memory and mappings of the
 * process, or of a GPU, and each new query brings some.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KCACHE_H
#define GC_KCACHE_H

#include "device.h"

typedef struct GcKernelCache GcKernelCache;
typedef struct GcCachedKernel GcCachedKernel;

typedef enum GcKernelState
{
	GC_KERNEL_COMPILING,
	GC_KERNEL_READY,
	GC_KERNEL_FAILED,			/* remembered; tried again only by gc_kcache_retry */
} GcKernelState;

typedef enum GcKernelOrigin
{
	GC_ORIGIN_MEMORY,			/* was loaded already when asked for */
	GC_ORIGIN_DISK,
	GC_ORIGIN_COMPILED,
} GcKernelOrigin;

/* How long its first code took, in milliseconds; 0: it was not compiled. */
typedef struct GcKernelTimes
{
	double		waited;			/* for a compile thread */
	double		compiled;
	double		loaded;
} GcKernelTimes;

typedef struct GcKernelCacheOptions
{
	const char *directory;		/* "" or NULL: memory only */
	int			threads;		/* compile threads */
	void		(*wake) (void *arg);	/* called on a compile thread when an entry
										 * leaves GC_KERNEL_COMPILING, or becomes
										 * final */
	void	   *wake_arg;
	void		(*log) (const char *message);	/* main thread only; may be NULL */
	u64			limit;			/* see gc_kcache_limit */
} GcKernelCacheOptions;

extern GcCode gc_kcache_open(GcKernelCache **cache, GcDevice *dev,
							 const GcKernelCacheOptions *options, GcError *err);

/*
 * Limit the size of the directory, in bytes; 0: no limit.  A compile thread that has nothing
 * to compile removes the least recently used kernels.
 */
extern void gc_kcache_limit(GcKernelCache *cache, u64 bytes);

/* Waits for running compilations, drops waiting ones; unloads modules. */
extern void gc_kcache_close(GcKernelCache *cache);

/*
 * The entry for this text, made if need be; never waits for a compiler.  A text
 * contains exactly one kernel, whose entry point is `gc_kernel`.  NULL only when
 * out of memory.
 */
extern GcCachedKernel *gc_kcache_get(GcKernelCache *cache, const char *source);

/*
 * The entry of a kernel that no request waits for: those that requests wait for are compiled
 * first.  The caller keeps it.
 */
extern GcCachedKernel *gc_kcache_get_ahead(GcKernelCache *cache, const char *source);

/* The entry may not be forgotten until all that keep it have let it go. */
extern void gc_kcache_keep(GcCachedKernel *entry);
extern void gc_kcache_let_go(GcCachedKernel *entry);

/* Are there more entries than `most` that may be forgotten, and are not being compiled? */
extern bool gc_kcache_exceeds(GcKernelCache *cache, u32 most);

/* Entries that are asked for from now on outlive the next gc_kcache_forget. */
extern void gc_kcache_next_round(GcKernelCache *cache);

/*
 * Forget those that were not asked for in this round.  The caller sees to it that nobody has one of them, or its
 * kernel.
 */
extern void gc_kcache_forget(GcKernelCache *cache);

/* Compilations that requests have waited for or do, and how many of these have ended.  Both go round. */
extern void gc_kcache_compilations(GcKernelCache *cache, u32 *asked, u32 *ended);

/*
 * State of an entry.  On the first call that finds a ready image, loads the
 * module.  READY: *kernel and *info are set; they may be others later, unless
 * gc_kcache_final says that they are not.  FAILED: *err is.
 */
extern GcKernelState gc_kcache_poll(GcKernelCache *cache, GcCachedKernel *entry,
									GcKernel **kernel, GcKernelInfo *info, GcError *err);

/* Is no better code to come for this entry, which is READY? */
extern bool gc_kcache_final(const GcCachedKernel *entry);

/*
 * A final entry's quick kernel: the one before the full one, which is still loaded.  False: there is none, or
 * it is the entry's kernel.
 */
extern bool gc_kcache_quick(const GcCachedKernel *entry, GcKernel **kernel, GcKernelInfo *info);

/*
 * The quick kernel turned out to be faster: from now on gc_kcache_poll gives that.  The disk forgets the full one, so
 * that the next server begins with a quick kernel, too.
 */
extern void gc_kcache_prefer_quick(GcCachedKernel *entry);

/*
 * Where the kernel came from.  The caller of gc_kcache_get asks this once gc_kcache_poll says READY:
 * a later gc_kcache_get that finds the kernel loaded turns the answer to MEMORY.
 */
extern GcKernelOrigin gc_kcache_origin(const GcCachedKernel *entry);

/* Times of an entry that gc_kcache_poll said is READY. */
extern GcKernelTimes gc_kcache_times(const GcCachedKernel *entry);

/*
 * To be called for each request that wants the kernel.  True if it is being compiled
 * again, because it had failed for a reason that may be gone by now.  The first request
 * after a failure makes it try again, then the second one after the next failure, the
 * fourth and so on.  So a text that keeps failing does not keep the machine busy.
 * gc_kcache_get does this by itself.
 */
extern bool gc_kcache_retry(GcCachedKernel *entry);

#endif							/* GC_KCACHE_H */
