/*-------------------------------------------------------------------------
 *
 * dynlib.h
 *	  Finding NVIDIA's shared libraries, and our functions in them, at run time.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DYNLIB_H
#define GC_DYNLIB_H

#include <stddef.h>

/* One function: its symbol, and where in the caller's struct its address goes. */
typedef struct GcDynSymbol
{
	const char *name;
	size_t		offset;
} GcDynSymbol;

/*
 * Open a library by its soname: where the dynamic linker looks, then where CUDA
 * toolkits, NVIDIA's packages and pip install it.  NULL when it is nowhere.
 */
extern void *gc_dynlib_open(const char *soname);

/* Fill api from the library.  NULL, or the name of the first missing symbol. */
extern const char *gc_dynlib_resolve(void *library, const GcDynSymbol *symbols,
									 int nsymbols, void *api);

#endif							/* GC_DYNLIB_H */
