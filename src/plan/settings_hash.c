/*-------------------------------------------------------------------------
 *
 * settings_hash.c
 *	  A hash of all settings that plans depend on.
 *
 * What is remembered of planning holds for the settings that it was found out under.  There are some sixty of them, and
 * each statement asks.  So the hash is kept until one of them changes, which assign hooks tell of.  PostgreSQL's own
 * settings of the planner have no such hook, but an extension may set one in the table of settings, as Citus does.
 * SET, set_config(), SET clauses of functions, configuration files and the ends of transactions all call it.  It is called
 * before the value is stored, so the hash is made when it is asked for.
 *
 * Where a setting has a hook of another's, as it may in a later major, the hash is made anew for each statement.
 *
 * Planner, in backends.  The hooks are set in the postmaster, before its children are forked.
 *
 *-------------------------------------------------------------------------
 */
#include "settings_hash.h"

#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "pgtime.h"
#include "utils/guc_tables.h"

#include "glance.h"
#include "../compat.h"
#include "../settings.h"

static bool *const flags[] = {
	&enable_seqscan, &enable_indexscan, &enable_indexonlyscan, &enable_bitmapscan, &enable_tidscan, &enable_sort,
	&enable_incremental_sort, &enable_hashagg, &enable_nestloop, &enable_material, &enable_memoize, &enable_mergejoin,
	&enable_hashjoin, &enable_gathermerge, &enable_parallel_append, &enable_parallel_hash, &enable_async_append,
	&enable_partition_pruning, &enable_partitionwise_join, &enable_partitionwise_aggregate, &enable_geqo,
#if PG_VERSION_NUM >= 160000
	&enable_presorted_aggregate,
#endif
#if PG_VERSION_NUM >= 170000
	&enable_group_by_reordering,
#endif
#if PG_VERSION_NUM >= 180000
	&enable_distinct_reordering, &enable_self_join_elimination,
#endif
	&parallel_leader_participation, &jit_enabled, &jit_expressions, &jit_tuple_deforming,
	&gc_enable_float_aggs, &gc_enable_versioned_pages
};

/*
 * Those with names for their values included.  Not gc_cold: which plan is the sooner, once all is loaded, does not depend
 * on it.
 */
static int *const numbers[] = {
	&effective_cache_size, &work_mem, &max_parallel_workers_per_gather, &min_parallel_table_scan_size,
	&min_parallel_index_scan_size, &from_collapse_limit, &join_collapse_limit, &geqo_threshold, &Geqo_effort,
	&Geqo_pool_size, &Geqo_generations, &constraint_exclusion,
#if PG_VERSION_NUM >= 160000
	&debug_parallel_query,
#else
	&force_parallel_mode,
#endif
	&gc_debug_rewrite
};

static double *const reals[] = {
	&seq_page_cost, &random_page_cost, &cpu_tuple_cost, &cpu_index_tuple_cost, &cpu_operator_cost, &parallel_tuple_cost,
	&parallel_setup_cost, &cursor_tuple_fraction, &hash_mem_multiplier, &recursive_worktable_factor,
	&Geqo_selection_bias, &Geqo_seed, &jit_above_cost, &jit_inline_above_cost, &jit_optimize_above_cost,
	&gc_offload_cost, &gc_tuple_cost, &gc_build_cost, &gc_pair_cost
};

/* Of all but the time zone; 0: not known. */
static uint64 kept_hash = 0;

/* Do all settings tell when they change? */
static bool watched = false;

void
gc_settings_changed(void)
{
	kept_hash = 0;
}

static void
note_flag(bool value, void *extra)
{
	gc_settings_changed();
}

static void
note_number(int value, void *extra)
{
	gc_settings_changed();
}

static void
note_real(double value, void *extra)
{
	gc_settings_changed();
}

static uint64
make_hash(void)
{
	uint64		hash = 0;

	for (int i = 0; i < lengthof(flags); i++)
		hash = gc_glance_mix(hash, *flags[i]);
	for (int i = 0; i < lengthof(numbers); i++)
		hash = gc_glance_mix(hash, *numbers[i]);
	for (int i = 0; i < lengthof(reals); i++)
		hash = gc_glance_mix(hash, gc_glance_bits(*reals[i]));
	return hash;
}

/* What a time zone does decides on what is offloaded (instants.c).  That setting has a hook of PostgreSQL's. */
uint64
gc_settings_hash(void)
{
	uint64		hash = kept_hash;

	if (hash == 0)
	{
		hash = make_hash();
		if (watched)
			kept_hash = hash;
	}
	return hash + (uint64) session_timezone;
}

/* Is the setting in a list, and does it tell when it changes from now on? */
#define WATCH(list, type, hook) \
	do { \
		type	   *typed = (type *) setting; \
\
		for (int i = 0; i < lengthof(list); i++) \
		{ \
			if (typed->variable == list[i] && typed->assign_hook == NULL) \
			{ \
				typed->assign_hook = hook; \
				return true; \
			} \
		} \
		return false; \
	} while (0)

/* The same, in any of the lists. */
static bool
watch(struct config_generic *setting)
{
	switch (setting->vartype)
	{
		case PGC_BOOL:
			WATCH(flags, struct config_bool, note_flag);
		case PGC_INT:
			WATCH(numbers, struct config_int, note_number);
		case PGC_ENUM:
			WATCH(numbers, struct config_enum, note_number);
		case PGC_REAL:
			WATCH(reals, struct config_real, note_real);
		default:
			return false;
	}
}

void
gc_settings_hash_install(void)
{
	int			n;
	struct config_generic **settings = GC_ALL_SETTINGS(&n);
	int			nwatched = 0;

	for (int i = 0; i < n; i++)
		nwatched += watch(settings[i]);
	watched = nwatched == lengthof(flags) + lengthof(numbers) + lengthof(reals);
}
