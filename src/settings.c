/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  The settings of the extension: their variables and definitions.
 *
 * Every process has them.  The postmaster defines them, through shared_preload_libraries,
 * before it starts any other process.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <limits.h>

#include "device_names.h"
#include "program/edge.h"
#include "exec/split.h"
#include "queue/route.h"
#include "sched/policy/sched.h"
#include "settings.h"
#include "warm_list.h"
#include "worker/memory/replacement.h"
#include "worker/memory/link_reads.h"
#include "worker/run/admission.h"

bool		gc_preloaded = false;

bool		gc_enabled = false;
char	   *gc_devices = NULL;
int			gc_debug_offload = GC_OFFLOAD_ALLOW;
int			gc_cold = GC_COLD_AUTO;
int			gc_debug_rewrite = GC_REWRITE_AUTO;
int			gc_device_memory_limit_mb = 0;
int			gc_host_cache_size_mb = -1;
bool		gc_enable_float_aggs = true;
bool		gc_debug_versioned_pages = true;
bool		gc_debug_wal_changes = true;
int			gc_debug_wal_bytes = 8192;
int			gc_debug_hot_pages = 16;
bool		gc_debug_map_lsns = true;
int			gc_chunk_pages = 8168;
int			gc_debug_pipeline_edge = GC_EDGE_AUTO;
int			gc_debug_pipeline_tile = 0;
int			gc_debug_edge_step = -1;
int			gc_disk_cache_size_mb = 0;
int			gc_loader_workers = 2;
int			gc_host_threads = 0;
int			gc_compile_threads = 8;
char	   *gc_warm_tables = NULL;
double		gc_offload_cost = 50;
double		gc_debug_tuple_cost = -1;
double		gc_debug_build_cost = -1;
double		gc_debug_pair_cost = -1;
int			gc_debug_least_limit = 5000;
char	   *gc_kernel_cache_directory = NULL;
int			gc_kernel_cache_size_mb = 1024;
char	   *gc_calibration_file = NULL;
bool		gc_debug_gpu_kernels = false;
int			gc_debug_most_kernels = 3000;
int			gc_debug_pretend_gpu = 0;
int			gc_debug_pretend_link = 0;
int			gc_debug_fail_device = 0;
int			gc_schedule = GC_POLICY_TWOSTAGE;
int			gc_debug_schedule_seed = 1;
bool		gc_enable_shared_scan = true;
int			gc_batch_log_size = 256;
int			gc_debug_hold_requests = 0;
int			gc_debug_force_shared_scan = GC_FORCE_NONE;
bool		gc_debug_shared_selection = true;
bool		gc_debug_key_groups = true;
bool		gc_debug_force_coresident = false;
int			gc_debug_gang = GC_GANG_AUTO;
int			gc_debug_route = GC_ROUTE_PREDICTED;
int			gc_debug_split = GC_SPLIT_PREDICTED;
int			gc_replacement = GC_REPLACE_VALUE;
int			gc_admission = GC_ADMIT_WEIGHT;
int			gc_debug_link_reads = GC_LINK_READS_AUTO;

static char *version = NULL;

static const struct config_enum_entry offload_choices[] = {
	{"allow", GC_OFFLOAD_ALLOW, false},
	{"forbid", GC_OFFLOAD_FORBID, false},
	{"prefer", GC_OFFLOAD_PREFER, false},
	{"require", GC_OFFLOAD_REQUIRE, false},
	{NULL, 0, false}
};

static const struct config_enum_entry cold_choices[] = {
	{"auto", GC_COLD_AUTO, false},
	{"wait", GC_COLD_WAIT, false},
	{"fallback", GC_COLD_FALLBACK, false},
	{NULL, 0, false}
};

static const struct config_enum_entry rewrite_choices[] = {
	{"auto", GC_REWRITE_AUTO, false},
	{"always", GC_REWRITE_ALWAYS, false},
	{"never", GC_REWRITE_NEVER, false},
	{NULL, 0, false}
};

static const struct config_enum_entry edge_choices[] = {
	{"auto", GC_EDGE_AUTO, false},
	{"fuse", GC_EDGE_FUSE, false},
	{"refill", GC_EDGE_REFILL, false},
	{"channel", GC_EDGE_CHANNEL, false},
	{"materialize", GC_EDGE_MATERIALIZE, false},
	{NULL, 0, false}
};

static const struct config_enum_entry force_options[] = {
	{"off", GC_FORCE_NONE, false},
	{"fused", GC_FORCE_FUSED, false},
	{"groups", GC_FORCE_GROUPS, false},
	{"selection", GC_FORCE_SELECTION, false},
	{"on", GC_FORCE_FUSED, true},
	{NULL, 0, false}
};

static const struct config_enum_entry gang_options[] = {
	{"off", GC_GANG_OFF, false},
	{"auto", GC_GANG_AUTO, false},
	{"wait", GC_GANG_WAIT, false},
	{NULL, 0, false}
};

static const struct config_enum_entry route_options[] = {
	{"round_robin", GC_ROUTE_ROUND_ROBIN, false},
	{"least_requests", GC_ROUTE_REQUESTS, false},
	{"affinity", GC_ROUTE_AFFINITY, false},
	{"predicted", GC_ROUTE_PREDICTED, false},
	{NULL, 0, false}
};

static const struct config_enum_entry split_options[] = {
	{"never", GC_SPLIT_NEVER, false},
	{"predicted", GC_SPLIT_PREDICTED, false},
	{"always", GC_SPLIT_ALWAYS, false},
	{NULL, 0, false}
};

static const struct config_enum_entry gpu_choices[] = {
	{"off", 0, false},
	{"A100", 80, false},
	{"H200", 90, false},
	{NULL, 0, false}
};

static const struct config_enum_entry schedule_choices[] = {
	{"sequential", GC_POLICY_SEQUENTIAL, false},
	{"streams", GC_POLICY_STREAMS, false},
	{"random", GC_POLICY_RANDOM, false},
	{"kernel", GC_POLICY_KERNEL, false},
	{"twostage", GC_POLICY_TWOSTAGE, false},
	{NULL, 0, false}
};

static const struct config_enum_entry replacement_choices[] = {
	{"lru", GC_REPLACE_LRU, false},
	{"lfu", GC_REPLACE_LFU, false},
	{"cdr", GC_REPLACE_CDR, false},
	{"value", GC_REPLACE_VALUE, false},
	{NULL, 0, false}
};

static const struct config_enum_entry admission_choices[] = {
	{"fix-1", GC_ADMIT_FIX_1, false},
	{"fix-2", GC_ADMIT_FIX_2, false},
	{"fix-3", GC_ADMIT_FIX_3, false},
	{"peak", GC_ADMIT_PEAK, false},
	{"weight", GC_ADMIT_WEIGHT, false},
	{NULL, 0, false}
};

static const struct config_enum_entry link_choices[] = {
	{"auto", GC_LINK_READS_AUTO, false},
	{"off", GC_LINK_READS_OFF, false},
	{"on", GC_LINK_READS_ON, false},
	{NULL, 0, false}
};

const char *
gc_schedule_name(int policy)
{
	for (const struct config_enum_entry *e = schedule_choices; e->name; e++)
	{
		if (e->val == policy)
			return e->name;
	}
	return "unknown";
}

/* Pages of a chunk are whole bytes of the visibility map, and a chunk has one page of it. */
static bool
check_chunk_pages(int *newval, void **extra, GucSource source)
{
	if (*newval % 4 != 0 || GC_HEAPBLOCKS_PER_MAPPAGE % *newval != 0)
	{
		GUC_check_errdetail("The value must be a multiple of 4 and divide %d, the number of heap pages under one page of the visibility map.",
							GC_HEAPBLOCKS_PER_MAPPAGE);
		return false;
	}
	return true;
}

/* Which devices there are is found out by the workers; here only names are checked. */
static bool
check_devices(char **newval, void **extra, GucSource source)
{
	GcDeviceName names[GC_MAX_DEVICES];
	const char *problem;

	if (gc_device_names_parse(*newval, names, &problem) > 0)
		return true;
	GUC_check_errdetail("%s", problem);
	return false;
}

static bool
check_warm_tables(char **newval, void **extra, GucSource source)
{
	int			n;

	if (gc_warm_list(*newval, &n))
		return true;
	GUC_check_errdetail("Each table must be named as database.schema.table.");
	return false;
}

/* In the place of -1: a size that suits the machine, found once, by the postmaster. */
static bool
check_host_cache_size(int *newval, void **extra, GucSource source)
{
	static int	suitable_mb = 0;

	if (*newval == 0)
	{
		GUC_check_errdetail("The value must be -1, or at least 1MB.");
		return false;
	}
	if (suitable_mb == 0)
		suitable_mb = gc_suitable_cache_mb();
	if (*newval == -1)
		*newval = suitable_mb;
	return true;
}

/* Settings of users: whether and when queries are offloaded. */
static void
define_session_settings(void)
{
	DefineCustomBoolVariable("gpuconc.enabled",
							 "Enables the planner's use of the device.",
							 "For example, ALTER ROLE analyst SET gpuconc.enabled = on.",
							 &gc_enabled, false, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.cold",
							 "Sets who answers queries whose columns are not loaded yet.",
							 "The device after a wait, PostgreSQL's plan meanwhile, or whichever is estimated to be sooner. For example, wait for a report that follows a bulk load.",
							 &gc_cold, GC_COLD_AUTO, cold_choices,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuconc.enable_float_aggs",
							 "Enables sums, averages and extremes of floating-point values on the device.",
							 "Their last digits depend on the order of rows, as in PostgreSQL's own parallel plans. For example, avg(price) may end in 7 or 8.",
							 &gc_enable_float_aggs, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomRealVariable("gpuconc.offload_cost",
							 "Sets the planner's estimate of the cost of sending one request to the device.",
							 "For example, 50 is as much as 50 pages that are read in sequence.",
							 &gc_offload_cost, 50, 0, DBL_MAX,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.loader_workers",
							"Sets the number of background workers that help to load a table's columns, or load several tables.",
							"For example, with 4 a session and four workers load a table.",
							&gc_loader_workers, 2, 0, GC_MOST_LOADER_WORKERS,
							PGC_USERSET, 0, NULL, NULL, NULL);
}

/* Settings of users: the device, and memory, cores and files of the machine. */
static void
define_server_settings(void)
{
	DefineCustomStringVariable("gpuconc.devices",
							   "Selects the devices that queries are offloaded to.",
							   "auto, cuda, host, all, or a list of GPUs' ordinals and UUIDs. For example, 0,1 means the first two.",
							   &gc_devices, "auto",
							   PGC_POSTMASTER, GUC_LIST_INPUT, check_devices, NULL, NULL);
	DefineCustomIntVariable("gpuconc.device_memory_limit",
							"Sets the amount of device memory to take.",
							"0 means most of the free memory. The worker takes it when it starts. For example, 60GB leaves 20GB of a card's 80GB to other programs.",
							&gc_device_memory_limit_mb, 0, 0, MAX_KILOBYTES,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.host_cache_size",
							"Sets the amount of shared memory for cached columns, requests and results.",
							"-1 means a quarter of the memory of the machine or container, for example 32GB of 128GB.",
							&gc_host_cache_size_mb, -1, -1, MAX_KILOBYTES,
							PGC_POSTMASTER, GUC_UNIT_MB, check_host_cache_size, NULL, NULL);
	DefineCustomIntVariable("gpuconc.disk_cache_size",
							"Sets the amount of disk space for cached columns.",
							"Half of it is for columns that do not fit gpuconc.host_cache_size, and half for files that outlive a restart of the server. For example, 100GB each with 200GB.",
							&gc_disk_cache_size_mb, 0, 0, MAX_KILOBYTES,
							PGC_POSTMASTER, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomStringVariable("gpuconc.warm_tables",
							   "Sets the tables that are loaded when the server starts.",
							   "A list of database.schema.table; those scanned most often are loaded first. For example, sales.public.orders, sales.public.items.",
							   &gc_warm_tables, "",
							   PGC_POSTMASTER, GUC_LIST_INPUT, check_warm_tables, NULL, NULL);
	DefineCustomIntVariable("gpuconc.host_threads",
							"Sets the number of threads that device host runs queries on.",
							"0 means one per core. For example, 12 leaves four of 16 cores to sessions.",
							&gc_host_threads, 0, 0, 1024,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.compile_threads",
							"Sets the number of threads that compile kernels.",
							"For example, with 8 the kernels of a query of eight pipelines are compiled at the same time.",
							&gc_compile_threads, 8, 1, 64,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("gpuconc.kernel_cache",
							   "Sets the directory in which compiled kernels are kept.",
							   "Relative to the data directory; empty means in memory only. For example, /var/cache/gpuconc_kernels.",
							   &gc_kernel_cache_directory, "gpuconc_kernels",
							   PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.kernel_cache_size",
							"Sets the amount of disk space that compiled kernels may take.",
							"The kernels used least recently are removed. 0 means no limit. For example, 256MB suits a small disk.",
							&gc_kernel_cache_size_mb, 1024, 0, MAX_KILOBYTES,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomStringVariable("gpuconc.calibration_file",
							   "Sets the file with the scheduler's constants, as measured on this machine's device.",
							   "Relative to the data directory; empty means those built in. For example, gpu.calibration, as bench/two_stage/calibrate writes it.",
							   &gc_calibration_file, "",
							   PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.batch_log_size",
							"Sets the number of batches kept for gpuconc_stat_batches and gpuconc_timeline().",
							"For example, gpuconc_timeline(1000) shows 1000 batches only if as many are kept.",
							&gc_batch_log_size, 256, 1, 65536,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
}

/* Settings of users: how concurrent requests share the device.  The worker reads these again on a reload. */
static void
define_schedule_settings(void)
{
	DefineCustomEnumVariable("gpuconc.schedule",
							 "Selects how the requests of concurrent sessions are put on the device.",
							 "For example, sequential runs one kernel after another; twostage decides by models which run together.",
							 &gc_schedule, GC_POLICY_TWOSTAGE, schedule_choices,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuconc.enable_shared_scan",
							 "Enables answering requests over the same table by one scan.",
							 "Under gpuconc.schedule = twostage. For example, 16 sessions that sum up one table read its columns once.",
							 &gc_enable_shared_scan, true,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.replacement",
							 "Selects what leaves device memory when it is short.",
							 "For example, lru: the least recently used; value: what saves the fewest bytes of copies.",
							 &gc_replacement, GC_REPLACE_VALUE, replacement_choices,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.admission",
							 "Selects how many requests have data in device memory at a time.",
							 "A number of them, or as many as fit by what each takes at most, or by what its phases weigh. For example, fix-2: two at a time.",
							 &gc_admission, GC_ADMIT_WEIGHT, admission_choices,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
}

/* For tests and experiments: plans, and their costs. */
static void
define_debug_plan_settings(void)
{
	DefineCustomEnumVariable("gpuconc.debug_offload",
							 "Forces queries to be offloaded, or not to be.",
							 "require: a query that is not offloaded is an error.",
							 &gc_debug_offload, GC_OFFLOAD_ALLOW, offload_choices,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.debug_rewrite",
							 "Forces subqueries to be rewritten as joins, or not to be.",
							 "auto: where that makes the whole query offloaded and cheaper.",
							 &gc_debug_rewrite, GC_REWRITE_AUTO, rewrite_choices,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomRealVariable("gpuconc.debug_tuple_cost",
							 "Sets the planner's estimate of the cost of scanning one tuple on the device.",
							 "-1 means a default that depends on the device.",
							 &gc_debug_tuple_cost, -1, -1, DBL_MAX,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomRealVariable("gpuconc.debug_build_cost",
							 "Sets the planner's estimate of the cost of entering one tuple into a hash table on the device.",
							 "-1 means a default that depends on the device.",
							 &gc_debug_build_cost, -1, -1, DBL_MAX,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomRealVariable("gpuconc.debug_pair_cost",
							 "Sets the planner's estimate of the cost of trying one pair of rows in a join without equalities on the device.",
							 "-1 means a default that depends on the device.",
							 &gc_debug_pair_cost, -1, -1, DBL_MAX,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.debug_route",
							 "Selects which of several devices requests go to.",
							 NULL, &gc_debug_route, GC_ROUTE_PREDICTED, route_options,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.debug_split",
							 "Selects which requests are split over several devices.",
							 NULL, &gc_debug_split, GC_SPLIT_PREDICTED, split_options,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_least_limit",
							"Sets how long a request is on the device at least before PostgreSQL's own plan answers instead.",
							NULL, &gc_debug_least_limit, 5000, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* For tests and experiments: which pages of a table are cached, and how they are known to be fresh. */
static void
define_debug_column_settings(void)
{
	DefineCustomIntVariable("gpuconc.debug_chunk_pages",
							"Sets the number of heap pages per chunk of the column cache.",
							NULL, &gc_chunk_pages, 8168, 4, GC_HEAPBLOCKS_PER_MAPPAGE,
							PGC_POSTMASTER, GUC_NOT_IN_SAMPLE, check_chunk_pages, NULL, NULL);
	DefineCustomBoolVariable("gpuconc.debug_versioned_pages",
							 "Keeps what was read of pages that are not all-visible, for all sessions.",
							 NULL, &gc_debug_versioned_pages, true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_hot_pages",
							"Sets the number of pages that are not all-visible, and not kept, from which on they are kept.",
							"Fewer are read by each session.",
							&gc_debug_hot_pages, 16, 1, INT_MAX,
							PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuconc.debug_wal_changes",
							 "Reads in the WAL which pages have changed, where that is less work than to look at each.",
							 NULL, &gc_debug_wal_changes, true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_wal_bytes",
							"Sets the amount of WAL that is read at any rate.",
							"More is read only if that is less work than looks at all pages.",
							&gc_debug_wal_bytes, 8192, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_BYTE | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuconc.debug_map_lsns",
							 "Trusts in the LSNs of the visibility map.",
							 "Off: as if each had moved all the time.",
							 &gc_debug_map_lsns, true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* For tests and experiments: how rows go from one step of a pipeline to the next, which travels with requests. */
static void
define_debug_edge_settings(void)
{
	DefineCustomEnumVariable("gpuconc.debug_pipeline_edge",
							 "Selects how rows go from one step of a pipeline to the next: in registers, or through memory.",
							 "Where a pipeline admits no such edge, it is fused.",
							 &gc_debug_pipeline_edge, GC_EDGE_AUTO, edge_choices,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_pipeline_tile",
							"Sets the number of a table's rows of which packets are in memory at a time, or are made by one producer.",
							"0 means all at once.",
							&gc_debug_pipeline_tile, 0, 0, INT_MAX,
							PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_edge_step",
							"Sets the step of a pipeline before which gpuconc.debug_pipeline_edge lies.",
							"-1 means what is estimated to be best.",
							&gc_debug_edge_step, -1, -1, 255,
							PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* For tests and experiments: what scans share.  The worker reads these again on a reload. */
static void
define_debug_sharing_settings(void)
{
	DefineCustomBoolVariable("gpuconc.debug_shared_selection",
							 "Lets a shared scan test rows for many requests at once.",
							 NULL, &gc_debug_shared_selection, true,
							 PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuconc.debug_key_groups",
							 "Lets selection scans read what requests tell apart of a column instead of its values.",
							 "Takes device memory that is free.",
							 &gc_debug_key_groups, true,
							 PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.debug_force_shared_scan",
							 "Forces requests over the same table to be answered by one scan of this kind.",
							 "Waits for the kernels that it takes.",
							 &gc_debug_force_shared_scan, GC_FORCE_NONE, force_options,
							 PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuconc.debug_force_coresident",
							 "Keeps kernels that scan the same table co-resident wherever they fit.",
							 "Under gpuconc.schedule = twostage, whatever they are thought to take.",
							 &gc_debug_force_coresident, false,
							 PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.debug_gang",
							 "Launches kernels of several tables that have the same text as one.",
							 "Under gpuconc.schedule = twostage; wait: requests wait for active launches of their kernel, to be together.",
							 &gc_debug_gang, GC_GANG_AUTO, gang_options,
							 PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_hold_requests",
							"Holds requests back until so many are waiting.",
							"0 means not to. Requests fewer than that wait for ever.",
							&gc_debug_hold_requests, 0, 0, 1024,
							PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_schedule_seed",
							"Sets the seed of the sizes drawn under gpuconc.schedule = random.",
							NULL, &gc_debug_schedule_seed, 1, 0, INT_MAX,
							PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* For tests and experiments: the device, or what host pretends to be, and its memory. */
static void
define_debug_device_settings(void)
{
	DefineCustomBoolVariable("gpuconc.debug_gpu_kernels",
							 "Also writes the texts of the kernels that a GPU would be given.",
							 "To the directory of compiled kernels, for machines without a GPU.",
							 &gc_debug_gpu_kernels, false, PGC_POSTMASTER,
							 GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_most_kernels",
							"Sets the number of loaded kernels of single requests beyond which the worker unloads those that no request has.",
							"Each takes memory, on device host also seven mappings of the 65,530 that Linux allows.",
							&gc_debug_most_kernels, 3000, 1, 1000000,
							PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.debug_pretend_gpu",
							 "Selects the GPU whose multiprocessors device host is to be scheduled by.",
							 "Kernels run on the host's threads all the same.",
							 &gc_debug_pretend_gpu, 0, gpu_choices,
							 PGC_POSTMASTER, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_pretend_link",
							"Sets the number of bytes per second that the link to a pretended GPU moves.",
							"0 means as fast as the host copies.",
							&gc_debug_pretend_link, 0, 0, INT_MAX,
							PGC_POSTMASTER, GUC_UNIT_KB | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuconc.debug_fail_device",
							"Sets the call of a pretended GPU, counted from the reload on, that fails.",
							"For want of memory; below 0: the GPU is lost then.",
							&gc_debug_fail_device, 0, INT_MIN, INT_MAX,
							PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuconc.debug_link_reads",
							 "Lets kernels read columns that are not in device memory where they are, over the link.",
							 "Columns that are read for few rows; on: for any rows that passed a filter or join.",
							 &gc_debug_link_reads, GC_LINK_READS_AUTO, link_choices,
							 PGC_SIGHUP, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* Operators ask which library the server has loaded, as the scripts of later versions of the extension may. */
static void
define_version(void)
{
	DefineCustomStringVariable("gpuconc.version",
							   "Shows the version of the library that the server has loaded.",
							   NULL, &version, GC_VERSION, PGC_INTERNAL,
							   GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, NULL, NULL, NULL);
}

void
gc_define_settings(void)
{
	gc_preloaded = true;
	define_version();
	define_session_settings();
	define_server_settings();
	define_schedule_settings();
	define_debug_plan_settings();
	define_debug_column_settings();
	define_debug_edge_settings();
	define_debug_sharing_settings();
	define_debug_device_settings();
	MarkGUCPrefixReserved("gpuconc");
}
