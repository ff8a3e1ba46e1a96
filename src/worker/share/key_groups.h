/*-------------------------------------------------------------------------
 *
 * key groups.h
 *	  Classes of columns' values, and columns of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CLASSES_H
#define GC_CLASSES_H

#include "derived.h"

/* Attributes that a column's values are group-coded by. */
#define GC_MAX_ATTRIBUTES	16

/* A column of another table's directory; -1: whether it has a row at all. */
typedef struct GcAttribute
{
	Oid			dbid;
	Oid			relid;
	u64			dir_id;
	i16			column;
} GcAttribute;

/* Classes of a column's values, and its key group column (key groups.c). */
typedef struct GcGroupCoded
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	u32			n;				/* key groups */
	u8			width;			/* of the key group column */
	GcAddr		key_groups;		/* u16[range + 1] */
	GcAddr		members;		/* u32[n], in the same piece of memory */
	GcAddr		data;			/* of all chunks; 0: there is no key group column now */
	GcDerived	column;
} GcGroupCoded;

struct GcSetColumn;

/* Does the device work on any column's key groups, so that it is to be asked? */
extern bool gc_key_groups_refining(void);

/* Has a column enough values for key groups to be worth while? */
extern bool gc_key_groups_worth(const struct GcSetColumn *column);

/*
 * A READY run whose shape can be in selection scans: refine key groups by what it tests of other
 * tables, if that is new.  False: the run failed.  gc_key_groups_poll: has a refinement ended?
 */
extern bool gc_key_groups_look(GcRun *run);

/*
 * A scan that might have read the column by its key groups is over.  True: they are given up,
 * and selection kernels do better without.
 */
extern bool gc_key_groups_learn(struct GcSetColumn *column, bool mismatch);
extern bool gc_key_groups_poll(struct GcSetColumn *column);

/*
 * Have the scan read the selection kernel's column k by key groups, if there are any: the launch holds
 * them (launch->group-coded) until gc_group_coded_release.  gc_key_groups_write, once no failure can mean
 * that nothing was launched: queue the writing of what it needs of the key group column; source
 * and readers: of the column.
 */
extern void gc_key_groups_reserve(GcScanMembers *scan, int k);
extern GcCode gc_key_groups_write(GcScanMembers *scan, int k, GcAddr source, u32 readers);
extern void gc_group_coded_release(GcGroupCoded *c);

extern void gc_key_groups_forget(struct GcSetColumn *column);

/* The worker ends, and the device is closed: give back what outlives both, in the arena. */
extern void gc_key_groups_abandon(struct GcSetColumn *column);
extern bool gc_group_coded_evict(struct GcSetColumn *column);

#endif							/* GC_CLASSES_H */
