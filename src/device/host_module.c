/*-------------------------------------------------------------------------
 *
 * host_module.c
 *	  Device "host": loading a compiled kernel's shared object from memory.
 *
 * dlopen wants a path.  A memfd has one, in /proc/self/fd.  It needs no room
 * on any disk and no directory where execution is allowed.  A temporary file
 * is used where memfds cannot be had or executed.
 *
 * Process and threads: the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "host_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "write_all.h"

/*
 * A path to the descriptor that was not used before.  dlopen compares paths
 * with those of the objects that are loaded, and a descriptor's number is used
 * again as soon as it is closed.  So the spelling carries a count, in binary.
 * Each digit is "/" or "/." between two components.
 */
static void
unique_path(int fd, char *path, size_t size)
{
	static u32	count;			/* main thread only */
	char		digits[2 * 32 + 1];
	char	   *p = digits;

	for (u32 rest = count++; rest != 0; rest >>= 1)
	{
		*p++ = '/';
		if (rest & 1)
			*p++ = '.';
	}
	*p = '\0';
	snprintf(path, size, "/proc/self/fd%s/%d", digits, fd);
}

static void *
open_memfd(const GcImage *image)
{
	int			fd = memfd_create("gpuconc kernel", MFD_CLOEXEC);
	char		path[128];
	void	   *handle = NULL;

	if (fd < 0)
		return NULL;
	if (gc_write_all(fd, image->bytes, image->size))
	{
		unique_path(fd, path, sizeof(path));
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	close(fd);
	return handle;
}

static void *
open_file(const GcImage *image)
{
	char		path[] = "/tmp/gpuconc-XXXXXX";
	int			fd = mkstemp(path);
	void	   *handle = NULL;

	if (fd < 0)
		return NULL;
	if (gc_write_all(fd, image->bytes, image->size))
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unlink(path);
	close(fd);
	return handle;
}

GcCode
gc_host_dlopen(const GcImage *image, void **handle, GcError *err)
{
	const char *why;

	*handle = open_memfd(image);
	if (*handle != NULL)
		return GC_OK;
	why = dlerror();
	gc_fail(err, GC_COMPILE_FAILED, "A compiled kernel could not be loaded: %s.",
			why != NULL ? why : "it could not be written to memory");
	*handle = open_file(image);
	return *handle != NULL ? GC_OK : GC_COMPILE_FAILED;
}
