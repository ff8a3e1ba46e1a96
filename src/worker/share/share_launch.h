/*-------------------------------------------------------------------------
 *
 * share_launch.h
 *	  What a shared scan has beside what any launch has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_LAUNCH_H
#define GC_SHARE_LAUNCH_H

#include "postgres.h"

#include "../run/main_launch.h"
#include "key_groups.h"
#include "packed_rows.h"
#include "shared_kernel.h"

/* Made when the scan starts; goes with its launch. */
typedef struct GcShareLaunch
{
	GcEvent	   *computed;		/* just behind the kernel */
	instr_time	select_seen;		/* marked: when the marks were found done */
	GcFused    *kernel;
	u32			member_mask;			/* of it that take part */
	GcAddr		sel_bitmap;			/* marked: tables, then marks */
	u32			columns;		/* marked: that its requests test, one bit each */
	double		begin_us[GC_MAX_SELECTED];	/* marked: until each one's own kernel began, by */
	double		end_us[GC_MAX_SELECTED];	/* scan_member, and until it ended; 0: not known */
	struct GcScanShape *shapes[GC_MAX_SELECTED];	/* marked: its requests' */
	GcGroupCoded  *group_coded[GC_MAX_PREDICATES]; /* marked: by the selection kernel's columns, what it reads the
										 * classes of, or NULL */
	u32		   *mismatches;		/* marked: per such column, whether it did not fit */
	GcPackedRows  *packed_rows;		/* marked: that its requests read, or NULL */
	GcAddr		sources;
	GcAddr		memory;			/* of the sources */
	void	   *staging;		/* their copy on the host */
	Size		staging_size;
} GcShareLaunch;

extern void gc_share_launch_attach(GcMainLaunch *launch);

#endif							/* GC_SHARE_LAUNCH_H */
