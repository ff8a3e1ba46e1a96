/*-------------------------------------------------------------------------
 *
 * classes.h
 *	  Classes of columns' values, and columns of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CLASSES_H
#define GC_CLASSES_H

#include "derived.h"

/* Attributes that a column's values are classed by. */
#define GC_MAX_ATTRIBUTES	16

/* A column of another table's directory; -1: whether it has a row at all. */
typedef struct GcAttribute
{
	Oid			dbid;
	Oid			relid;
	u64			dir_id;
	i16			column;
} GcAttribute;

/* Classes of a column's values, and its class column (classes.c). */
typedef struct GcClassed
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	u32			n;				/* classes */
	u8			width;			/* of the class column */
	GcAddr		classes;		/* u16[range + 1] */
	GcAddr		members;		/* u32[n], in the same piece of memory */
	GcAddr		data;			/* of all chunks; 0: there is no class column now */
	GcDerived	column;
} GcClassed;

struct GcSetColumn;

/* Does the device work on any column's classes, so that it is to be asked? */
extern bool gc_classes_refining(void);

/* Has a column enough values for classes to be worth while? */
extern bool gc_classes_worth(const struct GcSetColumn *column);

/*
 * A READY run whose shape can be in marked scans: refine classes by what it tests of other
 * tables, if that is new.  False: the run failed.  gc_classes_poll: has a refinement ended?
 */
extern bool gc_classes_look(GcRun *run);

/*
 * A scan that might have read the column by its classes is over.  True: they are given up,
 * and markers do better without.
 */
extern bool gc_classes_learn(struct GcSetColumn *column, bool misfit);
extern bool gc_classes_poll(struct GcSetColumn *column);

/*
 * Have the scan read the marker's column k by classes, if there are any: the launch holds
 * them (launch->classed) until gc_classed_release.  gc_classes_write, once no failure can mean
 * that nothing was launched: queue the writing of what it needs of the class column; source
 * and readers: of the column.
 */
extern void gc_classes_reserve(GcScanMembers *scan, int k);
extern GcCode gc_classes_write(GcScanMembers *scan, int k, GcAddr source, u32 readers);
extern void gc_classed_release(GcClassed *c);

extern void gc_classes_forget(struct GcSetColumn *column);

/* The worker ends, and the device is closed: give back what outlives both, in the arena. */
extern void gc_classes_abandon(struct GcSetColumn *column);
extern bool gc_classed_evict(struct GcSetColumn *column);

#endif							/* GC_CLASSES_H */
