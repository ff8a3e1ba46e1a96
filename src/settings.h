/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  Settings of the extension; every process has them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SETTINGS_H
#define GC_SETTINGS_H

#include "postgres.h"

#include "utils/guc.h"

typedef enum GcDebugOffload
{
	GC_OFFLOAD_ALLOW,
	GC_OFFLOAD_FORBID,
	GC_OFFLOAD_PREFER,
	GC_OFFLOAD_REQUIRE
} GcDebugOffload;

typedef enum GcDebugRewrite
{
	GC_REWRITE_AUTO,
	GC_REWRITE_ALWAYS,
	GC_REWRITE_NEVER
} GcDebugRewrite;

typedef enum GcCold
{
	GC_COLD_AUTO,
	GC_COLD_WAIT,
	GC_COLD_FALLBACK
} GcCold;

/* Heap pages that one page of the visibility map covers. */
#define GC_HEAPBLOCKS_PER_MAPPAGE	32672

/* settings.c describes each.  force.h says what the settings for debugging force. */
extern bool gc_enabled;
extern char *gc_devices;			/* as it was written; device_names.h says what it means */
extern int	gc_cold;
extern int	gc_debug_offload;
extern int	gc_debug_rewrite;
extern int	gc_device_memory_limit_mb;
extern int	gc_host_cache_size_mb;
extern int	gc_disk_cache_size_mb;
extern bool gc_enable_float_aggs;
extern bool gc_debug_versioned_pages;
extern bool gc_debug_wal_changes;
extern int	gc_debug_wal_bytes;
extern int	gc_debug_hot_pages;
extern bool gc_debug_map_lsns;
extern int	gc_chunk_pages;	/* divides GC_HEAPBLOCKS_PER_MAPPAGE */
extern int	gc_debug_pipeline_edge;	/* GcEdge, or GC_EDGE_AUTO */
extern int	gc_debug_pipeline_tile;	/* rows; 0: no tiles */
extern int	gc_debug_edge_step;	/* -1: the model's */
#define GC_MOST_LOADER_WORKERS	64
extern int	gc_loader_workers;
extern char *gc_warm_tables;
extern int	gc_host_threads;
extern int	gc_compile_threads;
extern char *gc_kernel_cache_directory;
extern int	gc_kernel_cache_size_mb;
extern char *gc_calibration_file;
extern bool gc_debug_gpu_kernels;
extern int	gc_debug_most_kernels;
extern int	gc_debug_pretend_gpu;	/* architecture, 90 for sm_90; 0: none */
extern int	gc_debug_fail_device;	/* device/faults.h */
extern int	gc_debug_pretend_link;	/* kB per second; 0: no limit */
extern int	gc_schedule;
extern int	gc_debug_schedule_seed;
extern bool gc_enable_shared_scan;
extern int	gc_batch_log_size;
extern int	gc_debug_hold_requests;
extern bool gc_debug_shared_selection;
extern bool gc_debug_key_groups;
extern bool gc_debug_force_coresident;
extern int	gc_replacement;		/* GcReplacement */
extern int	gc_admission;		/* GcAdmissionPolicy */
extern int	gc_debug_link_reads;		/* GcLinkReads */

/* gpuconc.debug_force_shared_scan */
typedef enum GcForce
{
	GC_FORCE_NONE,
	GC_FORCE_FUSED,				/* fused scans, with members of either kind */
	GC_FORCE_GROUPS,			/* fused scans of grouped members */
	GC_FORCE_SELECTION
} GcForce;
extern int	gc_debug_force_shared_scan;

/* gpuconc.debug_gang */
typedef enum GcGangSetting
{
	GC_GANG_OFF,
	GC_GANG_AUTO,
	GC_GANG_WAIT				/* requests wait for launches of their kernel, whatever they take */
} GcGangSetting;
extern int	gc_debug_gang;
extern int	gc_debug_route;			/* GcRoute */
extern int	gc_debug_split;			/* GcSplit */
extern double gc_offload_cost;
extern double gc_debug_tuple_cost;
extern double gc_debug_build_cost;
extern double gc_debug_pair_cost;
extern int	gc_debug_least_limit;

/* A GcPolicy's name in gpuconc.schedule; static storage. */
extern const char *gc_schedule_name(int policy);

/* Define the settings, in the postmaster. */
extern void gc_define_settings(void);

/*
 * Megabytes of gpuconc.host_cache_size that suit this machine, and that can be had as shared memory.
 * Called by the postmaster.
 */
extern int	gc_suitable_cache_mb(void);

/* True once this server was started with gpuconc preloaded. */
extern bool gc_preloaded;

#endif							/* GC_SETTINGS_H */
