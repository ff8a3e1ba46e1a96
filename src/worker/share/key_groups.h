/*-------------------------------------------------------------------------
 *
 * key_groups.h
 *	  Key groups of columns' values, and the columns that are coded by them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_KEY_GROUPS_H
#define GC_SHARE_KEY_GROUPS_H

#include "scan_members.h"

/* Attributes that a column's key groups distinguish. */
#define GC_MAX_ATTRIBUTES	16

/* A column of another table's directory; column -1: whether that table has the key at all. */
typedef struct GcAttribute
{
	Oid			dbid;
	Oid			relid;
	u64			dir_id;
	i16			column;
} GcAttribute;

/*
 * A column that the device derives from others.  All 0: there is none now.  Its codes
 * never change once the first scan that reads a chunk has written them.
 */
typedef struct GcDerived
{
	u32			nchunks;
	GcAddr	   *place;			/* of each chunk's codes */
	GcAddr		cols;			/* GcCol[2 * nchunks]: to be read, and to be written next */
	GcCol	   *host;			/* `cols` on the host */
	u32			unwritten;		/* number of chunks */
	GcEvent	   *ready;			/* behind the last chunk written */
} GcDerived;

/* The key groups of a column's values, and its group-coded column (key_groups.c). */
typedef struct GcGroupCoded
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	u32			n;				/* number of key groups */
	u8			width;			/* of the group-coded column */
	GcAddr		key_groups;		/* u16[range + 1] */
	GcAddr		members;		/* u32[n], in the same piece of memory */
	GcAddr		data;			/* of all chunks; 0: there is no group-coded column now */
	GcDerived	column;
} GcGroupCoded;

struct GcSetColumn;

/* Is any refinement on the device, so that the worker has to poll for it? */
extern bool gc_key_groups_refining(void);

/*
 * For a READY run whose scan shape can be in selection scans.  Refine key groups by attributes of other tables that the
 * run tests, if these are new.  False: the run failed.  gc_key_groups_poll: has a refinement ended?
 */
extern bool gc_key_groups_look(GcRun *run);

/*
 * A scan is over that might have read the column's key groups.  True: they are given up, and
 * selection kernels do better without them.
 */
extern bool gc_key_groups_learn(struct GcSetColumn *column, bool mismatch);
extern bool gc_key_groups_poll(struct GcSetColumn *column);

/*
 * Have the scan read the selection kernel's column k by key groups, if there are any.  The launch
 * holds them (launch->group_coded) until gc_group_coded_release.
 *
 * gc_key_groups_write: queue the writing of the missing chunks that the scan needs of the
 * group-coded column.  Call it once no failure can mean that nothing was launched.  source,
 * readers: of the column.
 */
extern void gc_key_groups_reserve(GcScanMembers *scan, int k);
extern GcCode gc_key_groups_write(GcScanMembers *scan, int k, GcAddr source, u32 readers);
extern void gc_group_coded_release(GcGroupCoded *c);

extern void gc_key_groups_forget(struct GcSetColumn *column);

/* The worker ends, and the device is closed: give back all that lies in the arena. */
extern void gc_key_groups_abandon(struct GcSetColumn *column);
extern bool gc_group_coded_evict(struct GcSetColumn *column);

#endif							/* GC_SHARE_KEY_GROUPS_H */
