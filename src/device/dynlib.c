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
#include <stdlib.h>

#ifndef GLOB_BRACE
#define GLOB_BRACE 0
#endif
#ifndef GLOB_TILDE
#define GLOB_TILDE 0
#endif

/* Variables of the server's environment that name a toolkit. */
static const char *const toolkit_variables[] = {"CUDA_HOME", "CUDA_PATH"};

/* Where toolkits put libraries if the dynamic linker has not been told. */
static const char *const fixed_dirs[] = {
	"/usr/local/cuda/lib64",
	"/usr/local/cuda/lib",
	"/opt/cuda/lib64",
	"/usr/lib/wsl/lib",
};

/* The last three are where pip puts packages: with CUDA 13, with CUDA 12, and Conda's. */
static const char *const glob_dirs[] = {
	"/usr/local/cuda-*/lib64",
	"/usr/local/cuda*/targets/x86_64-linux/lib",
	"/usr/local/cuda*/targets/sbsa-linux/lib",
	"/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*/lib64",
	"{/usr,/usr/local,/opt/*,~/.local}/lib{,64}/python3*/{dist,site}-packages/nvidia/cu1[3-9]/lib",
	"{/usr,/usr/local,/opt/*,~/.local}/lib{,64}/python3*/{dist,site}-packages/nvidia/cuda_nvrtc/lib",
	"/opt/*conda*/lib",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Load a library of this folder; NULL: there is none. */
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

	if (glob(pattern, GLOB_BRACE | GLOB_TILDE, NULL, &found) != 0)
		return NULL;
	for (size_t i = found.gl_pathc; i-- > 0 && library == NULL;)
		library = open_in(found.gl_pathv[i], soname);
	globfree(&found);
	return library;
}

/* Load a library of the toolkit that an environment variable points to, if that is an absolute path. */
static void *
open_in_toolkit(const char *variable, const char *soname)
{
	const char *toolkit = getenv(variable);
	char		dir[PATH_MAX];
	int			n = snprintf(dir, sizeof(dir), "%s/lib64", toolkit != NULL ? toolkit : "");

	if (toolkit == NULL || toolkit[0] != '/' || (size_t) n >= sizeof(dir))
		return NULL;
	return open_in(dir, soname);
}

void *
gc_dynlib_open(const char *soname)
{
	void	   *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; i < LENGTH(toolkit_variables) && library == NULL; i++)
		library = open_in_toolkit(toolkit_variables[i], soname);
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
