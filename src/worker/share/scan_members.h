/*-------------------------------------------------------------------------
 *
 * scan_members.h
 *	  The members of one shared scan, and the common part of fused scans and selection scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCAN_MEMBERS_H
#define GC_SCAN_MEMBERS_H

#include "../../sched/policy/sched.h"
#include "../run/run.h"
#include "share_run.h"
#include "shared_kernel.h"

/* Selection: where the outputs of a scan lie in the launch's memory. */
typedef struct GcSelectionRoom
{
	GcAddr		summary;
	GcAddr		sel_bitmap;		/* selection bitmap of the first request */
	u64			per_chunk;		/* bytes of a selection bitmap */
	u64			per_member;
} GcSelectionRoom;

/*
 * The members of one launch: each one's run, its member number, and its position among the
 * sources.
 */
typedef struct GcScanMembers
{
	GcMainLaunch *launch;
	GcFused    *f;
	int			n;
	GcRun	   *run[GC_MAX_SELECTED];
	int			member_no[GC_MAX_SELECTED];
	const GcSource *sources[GC_MAX_SELECTED];	/* of its cached chunks */
	u32			nsources[GC_MAX_SELECTED];
	bool		partly_visible[GC_MAX_SELECTED];
	u32			nunion;
	u32			max_rows;
	u64			starts[GC_MAX_SELECTED];	/* by member */
	GcSelectionRoom room;		/* selection, as the next one: */
	GcAddr		tables;			/* the merge kernel's GcSelectTables */
	bool		queued;			/* work that uses the launch's memory */
	bool		added;			/* a kernel that adds to members' sinks was launched */
	GcError    *err;
} GcScanMembers;

extern void gc_scan_begin(GcScanMembers *scan, GcMainLaunch *launch, GcFused *f,
						  const GcStart *start, GcRun *const *runs, GcError *err);

/*
 * Put the merged sources where the device reads them, launch->sources, with `more` bytes behind
 * them.  `fill` writes these bytes at launch->staging + *at on the host.  visible: address of each
 * member's valid words, or NULL.
 */
extern GcCode gc_scan_upload(GcScanMembers *scan, u64 *visible, Size more, Size *at,
							 void (*fill) (GcScanMembers *scan, void *to, void *arg), void *arg);
extern GcScan gc_scan_args(const GcScanMembers *scan);
extern GcCode gc_scan_alone(GcRun *run);

/* Have the scan, on its first member's stream, wait for member m's queued work. */
extern GcCode gc_scan_wait(GcScanMembers *scan, int m);

/*
 * Have all chunks of the scan in the tables that gc_scan_column() tells of.  Behind gc_scan_upload(),
 * when all members have their tables.
 */
extern GcCode gc_scan_complete(const GcScanMembers *scan);

/* Where the description of the directory's column is. */
extern u64	gc_scan_column(const GcScanMembers *scan, i16 dir_column);

/*
 * End a start whose outcome is `code`; `follow` queues member m's work behind it.  Members of a scan that was short of
 * memory are READY for their own kernels, unless something was added to their sinks: then they fail.
 */
extern void gc_scan_started(GcScanMembers *scan, GcCode code,
							GcCode (*follow) (GcScanMembers *scan, int m));

/*
 * Start a fused scan, or a selection scan, by this kernel.  Its requests are RUNNING then.  On failure they are
 * FINISHED with an error each, or READY again.
 */
extern void gc_fused_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);
extern void gc_selection_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);

#endif							/* GC_SCAN_MEMBERS_H */
