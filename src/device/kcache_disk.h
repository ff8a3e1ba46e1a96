/*-------------------------------------------------------------------------
 *
 * kcache_disk.h
 *	  The kernel cache's files.
 *
 * kcache_disk.c says which threads call which function.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KCACHE_DISK_H
#define GC_KCACHE_DISK_H

#include "device.h"

#include <stdatomic.h>

typedef struct GcKernelKey
{
	u64			word[2];
} GcKernelKey;

typedef struct GcKernelDisk
{
	int			dir;			/* descriptor; -1: no directory */
	atomic_bool usable;			/* becomes false when something is wrong */
	char	   *path;			/* for messages */
	atomic_ullong limit;		/* bytes that kernels may take; 0: no limit */
	atomic_ullong bytes;		/* that kernels took when the directory was last listed, with those written since */
	void		(*log) (const char *message);
} GcKernelDisk;

/* Never fails: where the directory cannot be used, that is logged. */
extern void gc_kdisk_open(GcKernelDisk *disk, const char *path,
						  void (*log) (const char *message));
extern void gc_kdisk_close(GcKernelDisk *disk);

/* True, and *image is the receiver's, when there is a good file for this text. */
extern bool gc_kdisk_load(GcKernelDisk *disk, const GcKernelKey *key, const char *source,
						  GcImage *image);

/* Any thread.  Failure is not reported. */
extern void gc_kdisk_store(GcKernelDisk *disk, const GcKernelKey *key,
						   const char *source, const GcImage *image);

/* Remove a text's file, if there is one.  Failure is not reported. */
extern void gc_kdisk_forget(GcKernelDisk *disk, const GcKernelKey *key);

/* Any thread: is there more than the limit allows? */
extern bool gc_kdisk_over_limit(const GcKernelDisk *disk);

/*
 * Any thread, one at a time.  While the directory is over the limit, remove the kernel
 * that was written or read longest ago.  Files that are not kernels, or that the cache
 * would not trust, stay and do not count.
 */
extern void gc_kdisk_trim(GcKernelDisk *disk);

#endif							/* GC_KCACHE_DISK_H */
