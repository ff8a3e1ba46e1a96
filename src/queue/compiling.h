/*-------------------------------------------------------------------------
 *
 * compiling.h
 *	  Programs whose kernels were being compiled when they were last asked for.
 *
 * The worker publishes how many compilations requests have asked for, and how many of these have ended.  A session
 * that gives up keeps the former.  They begin in the order in which they are asked for, so its kernels are probably
 * there once as many have ended.  Nobody tells it, and it need not ask the worker meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COMPILING_H
#define GC_COMPILING_H

#include "postgres.h"

#include "../program/hash.h"
#include "../program/program.h"

/* A logical program of this database, as it is known here. */
extern GcHash gc_program_key(const GcProgram *logical);

/*
 * A request of the program gave up, since its kernels are being compiled by that device's worker; or it need not wait.
 * waited: it was to be executed.
 */
extern void gc_compiling_note(const GcHash *key, int device, bool waited);
extern void gc_compiling_forget(const GcHash *key, int device);

/* Has the session waited for the program's kernels before, and did not get them? */
extern bool gc_compiling_noted(const GcHash *key);

/* Have too few compilations ended since this session, or another one, did not get them? */
extern bool gc_compiling_goes_on(const GcHash *key);

/* Is nothing being compiled for requests, as far as the worker has told? */
extern bool gc_compiling_nothing(void);

/* The worker's: a new one does not go on with the programs of the one before it. */
extern void gc_compilations_restart(void);
extern void gc_compilations_publish(uint32 asked, uint32 ended);

#endif							/* GC_COMPILING_H */
