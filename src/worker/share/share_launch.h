/*-------------------------------------------------------------------------
 *
 * share_launch.h
 *	  The fields of a shared scan's launch, beside those of any launch.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_LAUNCH_H
#define GC_SHARE_LAUNCH_H

#include "postgres.h"

#include "../run/main_launch.h"
#include "key_groups.h"
#include "shared_kernel.h"

/*
 * Made when the scan starts, freed with its launch.  Fields of selection scans only begin with
 * "selection:".
 */
typedef struct GcShareLaunch
{
	GcEvent	   *computed;		/* just behind the kernel */
	instr_time	select_seen;	/* selection: when the selection bitmaps were found done */
	GcFused    *kernel;
	u32			member_mask;	/* members of the kernel that take part */
	GcAddr		sel_bitmap;		/* selection: tables, then selection bitmaps */
	u32			columns;		/* selection: that its requests test, one bit each */
	double		begin_us[GC_MAX_SELECTED];	/* selection: by scan_member, when its own kernel
											 * began; 0: not known */
	double		end_us[GC_MAX_SELECTED];	/* selection: the same, when it ended */
	struct GcScanShape *shapes[GC_MAX_SELECTED];	/* selection: its requests' */
	GcGroupCoded  *group_coded[GC_MAX_PREDICATES];	/* selection: per column of the selection
													 * kernel, the key groups that it reads, or
													 * NULL */
	u32		   *mismatches;		/* selection: per such column, whether there was a mismatch */
	GcAddr		sources;
	GcAddr		memory;			/* of the sources */
	void	   *staging;		/* their copy on the host */
	Size		staging_size;
} GcShareLaunch;

#endif							/* GC_SHARE_LAUNCH_H */
