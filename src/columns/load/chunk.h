/*-------------------------------------------------------------------------
 *
 * chunk.h
 *	  Reading chunks of a load job.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CHUNK_H
#define GC_CHUNK_H

#include "postgres.h"

#include "utils/relcache.h"

typedef struct GcLoader GcLoader;

extern GcLoader *gc_loader_create(Relation rel);

/* Read the claimed part of a dictionary's files. */
extern void gc_loader_take_part(GcLoader *loader, uint32 number);

/* Load the claimed chunk of the job, and hand it in. */
extern void gc_loader_load(GcLoader *loader, uint32 chunkno);

#endif							/* GC_CHUNK_H */
