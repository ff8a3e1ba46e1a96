/*-------------------------------------------------------------------------
 *
 * builds.h
 *	  Hash tables and dense arrays on the device, shared between requests.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BUILDS_H
#define GC_BUILDS_H

#include "postgres.h"

#include "../../device/device.h"
#include "../../queue/queue.h"

/* Flags stand at the start of a table's memory. */
#define GC_BUILD_FLAGS_ROOM		256

typedef struct GcBuildTable
{
	GcHash		share;			/* key; 0: not shared */
	u32			users;
	uint64		last_used;
	bool		bad;			/* flags raised: not to be shared any more */
	bool		rests;			/* was filled from other builds or groups: not to be shared before it is
								 * checked, with these */
	bool		checked;		/* flags looked at and good */
	GcAddr		memory;
	u64			bytes;
	GcAddr		flags;			/* u32[GC_NFLAGS] */
	GcAddr		bitmap;
	GcAddr		slots;
	GcAddr		keys;
	GcAddr		next;
	GcAddr		payload[GC_MAX_PAYLOADS];
	u64			zero_bytes;		/* at the start of memory, to be zeroed before building */
	u32		   *host_flags;		/* pinned copy of flags, valid once built is done */
	GcEvent	   *built;			/* follows the kernel that fills the table */
	struct GcBuildTable *next_table;
	struct GcBuildTable *next_in_chain; /* of the hash table */
} GcBuildTable;

/* A finished or running build with this content, or NULL.  Counts as a use. */
extern GcBuildTable *gc_build_find_shared(GcHash share);

/* Is there such a build?  No use of it. */
extern bool gc_build_known(GcHash share);

/* Device memory that build b of the request takes. */
extern u64	gc_build_bytes(const GcRequest *request, int b);

/* Does the pipeline that fills build b read other builds, or groups? */
extern bool gc_build_rests(const GcProgram *p, int b);

/* A new, empty table with memory laid out for build b of the request. */
extern GcBuildTable *gc_build_create(const GcRequest *request, int b, GcError *err);
extern void gc_build_release(GcBuildTable *table);

/* Is it still being filled? */
extern bool gc_build_pending(const GcBuildTable *table);

/* Bytes of tables without users. */
extern u64	gc_builds_unused(void);
extern void gc_builds_init(void);

#endif							/* GC_BUILDS_H */
