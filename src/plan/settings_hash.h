/*-------------------------------------------------------------------------
 *
 * settings_hash.h
 *	  A hash of all settings that plans depend on; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SETTINGS_HASH_H
#define GC_SETTINGS_HASH_H

#include "postgres.h"

/* Of PostgreSQL's settings, and gpuconc's. */
extern uint64 gc_settings_hash(void);

/* One of them was changed otherwise than by SET and its like. */
extern void gc_settings_changed(void);

extern void gc_settings_hash_install(void);

#endif							/* GC_SETTINGS_HASH_H */
