/*-------------------------------------------------------------------------
 *
 * shmem.h
 *	  Main shared memory: asked for, and attached to, by the same calls.
 *
 * The function of a file that has some, gc_..._shmem(), is called twice (gpuconc.c).  The postmaster first asks for the
 * memory: then these functions return NULL, and nothing was made.  Later each process attaches to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHMEM_H
#define GC_SHMEM_H

#include "postgres.h"

#include "storage/lwlock.h"
#include "utils/hsearch.h"

/* *made: this process is the first one, and fills the memory, which is all zero. */
extern void *gc_shmem(const char *name, Size size, bool *made);

/* As gc_shmem(), with memory whose content is not known. */
extern void *gc_shmem_unset(const char *name, Size size, bool *made);

/* A hash table of that many entries, by the bytes of their keys. */
extern HTAB *gc_shmem_hash(const char *name, long entries, Size key, Size entry);

/* A lock of a tranche, which gpuconc.c asks for. */
extern LWLock *gc_shmem_lock(const char *tranche, int i);

#endif							/* GC_SHMEM_H */
