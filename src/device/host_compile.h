/*-------------------------------------------------------------------------
 *
 * host_compile.h
 *	  Kernels for device host: the C compiler, found and run, and its libraries, loaded.
 *
 * A compiler is found on the worker's main thread; it may run on any thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOST_COMPILE_H
#define GC_HOST_COMPILE_H

#include "device.h"

#include <limits.h>

typedef struct HostCompiler
{
	char		path[PATH_MAX];
	bool		native;			/* the compiler knows -march=native */
	char	  **env;			/* its environment, without TMPDIR; NULL ends it */
	int			nenv;
	char		tmpdir[PATH_MAX];	/* for its files */
} HostCompiler;

/*
 * Find a compiler whose output this process can load, and fill in `target`.
 * GC_NO_COMPILER when there is none; then nothing is left to be freed.
 */
extern GcCode gc_host_compiler_find(HostCompiler *compiler, const char *temp_directory,
									char *target, size_t size, GcError *err);
extern void gc_host_compiler_free(HostCompiler *compiler);

/* Thread-safe. */
extern GcCode gc_host_compile(const HostCompiler *compiler, const char *source,
							  GcImage *image, GcError *err);

/* Load a shared object from memory; *handle is one of dlopen's.  Main thread. */
extern GcCode gc_host_dlopen(const GcImage *image, void **handle, GcError *err);

#endif							/* GC_HOST_COMPILE_H */
