/*-------------------------------------------------------------------------
 *
 * build_keys.h
 *	  The least and the greatest key of dense builds that were made, by the builds' contents.
 *
 * Workers tell, and sessions skip chunks whose keys are all outside.  A build's hash says which rows are in it and how
 * they are numbered, so its keys stay true.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BUILD_KEYS_H
#define GC_BUILD_KEYS_H

#include "postgres.h"

#include "../program/hash.h"

/* Numbers of keys, counted from the build's base; least > greatest: it is empty. */
typedef struct GcBuildKeys
{
	uint32		least;
	uint32		greatest;
} GcBuildKeys;

/* A worker's main thread: note the keys of a whole build. */
extern void gc_build_keys_note(GcHash share, GcBuildKeys keys);

/* Backends: false if nothing is known of the build. */
extern bool gc_build_keys_known(GcHash share, GcBuildKeys *keys);

extern void gc_build_keys_shmem(void);

#endif							/* GC_BUILD_KEYS_H */
