/*-------------------------------------------------------------------------
 *
 * dynlib.c
 *	  Finding NVIDIA's shared libraries, and our functions in them, at run time.
 *
 * Process and threads: the worker's main thread, at open().  Libraries are
 * never closed again: the driver and NVRTC keep threads and exit handlers of
 * their own, so that closing them is not safe.  Opening one a second time
 * gives the same handle, so nothing accumulates.
 *
 *-------------------------------------------------------------------------
 */
#include "dynlib.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>

/* Where toolkits put libraries if the dynamic linker has not been told. */
static const char *const fixed_dirs[] = {
	"/usr/local/cuda/lib64",
	"/usr/local/cuda/lib",
};

static const char *const glob_dirs[] = {
	"/usr/local/cuda-*/lib64",
	"/usr/local/cuda*/targets/x86_64-linux/lib",
	"/usr/local/cuda*/targets/sbsa-linux/lib",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void *
open_in(const char *dir, const char *soname)
{
	char		path[PATH_MAX];
	int			n = snprintf(path, sizeof(path), "%s/%s", dir, soname);

	if (n < 0 || (size_t) n >= sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The directories that match, last name first: that is the newest version. */
static void *
open_in_matching(const char *pattern, const char *soname)
{
	glob_t		found;
	void	   *library = NULL;

	if (glob(pattern, 0, NULL, &found) != 0)
		return NULL;
	for (size_t i = found.gl_pathc; i-- > 0 && library == NULL;)
		library = open_in(found.gl_pathv[i], soname);
	globfree(&found);
	return library;
}

void *
gc_dynlib_open(const char *soname)
{
	void	   *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; i < LENGTH(fixed_dirs) && library == NULL; i++)
		library = open_in(fixed_dirs[i], soname);
	for (size_t i = 0; i < LENGTH(glob_dirs) && library == NULL; i++)
		library = open_in_matching(glob_dirs[i], soname);
	return library;
}

const char *
gc_dynlib_resolve(void *library, const GcDynSymbol *symbols, int nsymbols, void *api)
{
	for (int i = 0; i < nsymbols; i++)
	{
		void	   *address = dlsym(library, symbols[i].name);

		if (address == NULL)
			return symbols[i].name;
		*(void **) ((char *) api + symbols[i].offset) = address;
	}
	return NULL;
}
