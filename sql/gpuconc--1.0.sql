/* gpuconc--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION gpuconc" to load this file. \quit

----------------------------------------------------------------------
-- What queries did (src/stat.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_stat_get(
	OUT requests bigint, OUT offloaded bigint, OUT fallbacks bigint,
	OUT retries bigint, OUT queue_time double precision,
	OUT compile_time double precision, OUT copy_time double precision,
	OUT run_time double precision, OUT copied_bytes bigint,
	OUT read_bytes bigint, OUT kernels bigint, OUT kernels_compiled bigint,
	OUT main_launches bigint, OUT ganged bigint,
	OUT builds_run bigint, OUT builds_shared bigint,
	OUT results_shared bigint, OUT rows_delta bigint,
	OUT rows_versioned bigint, OUT pages_delta bigint, OUT pages_looked_at bigint,
	OUT pages_loaded bigint,
	OUT key_group_scans bigint, OUT key_group_mismatches bigint,
	OUT direct_lookups bigint,
	OUT in_passes bigint, OUT lookups_made bigint, OUT lookups_shared bigint,
	OUT waves bigint, OUT wave_bytes bigint, OUT wave_bytes_shared bigint,
	OUT link_bytes bigint, OUT link_reads bigint, OUT link_read_bytes bigint,
	OUT region_hits bigint, OUT region_misses bigint,
	OUT evictions bigint, OUT evicted_bytes bigint,
	OUT evict_decisions bigint, OUT evict_decision_time double precision,
	OUT evict_decision_max double precision,
	OUT admissions bigint, OUT admission_time double precision,
	OUT admission_max double precision,
	OUT stats_reset timestamp with time zone)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_stat_get() IS
	'counters since the last reset; used by views gpuconc_stat, gpuconc_stat_memory and gpuconc_stat_sharing';

CREATE FUNCTION gpuconc_stat_get_fallbacks(OUT reason text, OUT count bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_stat_get_fallbacks() IS
	'fallbacks by reason since the last reset; used by view gpuconc_stat';

CREATE VIEW gpuconc_stat AS
SELECT s.requests,
	s.offloaded,
	s.fallbacks,
	(SELECT pg_catalog.jsonb_object_agg(f.reason, f.count)
		FROM gpuconc_stat_get_fallbacks() AS f) AS fallback_reasons,
	s.retries,
	s.queue_time,
	s.compile_time,
	s.copy_time,
	s.run_time,
	s.kernels_compiled,
	s.rows_delta,
	s.rows_versioned,
	s.pages_delta,
	s.pages_looked_at,
	s.pages_loaded,
	s.stats_reset
FROM gpuconc_stat_get() AS s;
COMMENT ON VIEW gpuconc_stat IS
	'requests since the last reset: how many were offloaded, why others were not, where their time (ms) went, and what sessions read of tables themselves';

CREATE VIEW gpuconc_stat_memory AS
SELECT s.read_bytes,
	s.copied_bytes,
	s.link_bytes,
	s.link_reads,
	s.link_read_bytes,
	s.region_hits,
	s.region_misses,
	s.evictions,
	s.evicted_bytes,
	s.evict_decisions,
	s.evict_decision_time,
	s.evict_decision_max,
	s.admissions,
	s.admission_time,
	s.admission_max,
	s.in_passes,
	s.waves,
	s.wave_bytes,
	s.wave_bytes_shared,
	s.stats_reset
FROM gpuconc_stat_get() AS s;
COMMENT ON VIEW gpuconc_stat_memory IS
	'device memory since the last reset: what requests found there, what was copied to it, what left it, and how long (ms) decisions about that took';

CREATE VIEW gpuconc_stat_sharing AS
SELECT s.kernels,
	s.main_launches,
	s.ganged,
	s.results_shared,
	s.builds_run,
	s.builds_shared,
	s.lookups_made,
	s.lookups_shared,
	s.direct_lookups,
	s.key_group_scans,
	s.key_group_mismatches,
	s.stats_reset
FROM gpuconc_stat_get() AS s;
COMMENT ON VIEW gpuconc_stat_sharing IS
	'kernels since the last reset, and what requests had from each other: results, builds, lookup tables, scans';

CREATE FUNCTION gpuconc_stat_reset()
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_stat_reset() IS
	'resets the statistics that the views gpuconc_stat* and gpuconc_advise() show';

REVOKE ALL ON FUNCTION gpuconc_stat_get(), gpuconc_stat_get_fallbacks(), gpuconc_stat_reset() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_stat_get(), gpuconc_stat_get_fallbacks() TO PUBLIC;
REVOKE ALL ON gpuconc_stat, gpuconc_stat_memory, gpuconc_stat_sharing FROM PUBLIC;
GRANT SELECT ON gpuconc_stat, gpuconc_stat_memory, gpuconc_stat_sharing TO PUBLIC;

----------------------------------------------------------------------
-- The device (src/stat.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_get_devices(
	OUT number integer, OUT device text, OUT name text, OUT state text, OUT detail text,
	OUT worker_pid integer, OUT multiprocessors integer,
	OUT memory_total bigint, OUT memory_limit bigint, OUT memory_used bigint,
	OUT chunk_columns bigint, OUT build_tables bigint, OUT running integer,
	OUT target text, OUT started_at timestamp with time zone,
	OUT link_bandwidth double precision,
	OUT memory_columns bigint, OUT memory_lookups bigint, OUT memory_builds bigint,
	OUT memory_groups bigint, OUT memory_waves bigint, OUT memory_other bigint,
	OUT memory_free bigint, OUT memory_largest_free bigint,
	OUT card text, OUT requests bigint, OUT backlog double precision, OUT compiling integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_get_devices() IS
	'the devices in use and their state; used by view gpuconc_devices';

CREATE VIEW gpuconc_devices AS
SELECT d.number,
	d.device,
	d.name,
	d.state,
	d.detail,
	d.worker_pid,
	d.multiprocessors,
	d.memory_total,
	d.memory_limit,
	d.memory_used,
	d.chunk_columns,
	d.build_tables,
	d.running,
	d.target,
	d.started_at,
	d.link_bandwidth,
	d.memory_columns,
	d.memory_lookups,
	d.memory_builds,
	d.memory_groups,
	d.memory_waves,
	d.memory_other,
	d.memory_free,
	d.memory_largest_free,
	d.card,
	d.requests,
	d.backlog,
	d.compiling
FROM gpuconc_get_devices() AS d;
COMMENT ON VIEW gpuconc_devices IS
	'the devices that queries are offloaded to: their state, what their memory is taken for, the bytes per second that can be copied to each, what each has answered, and the time (ms) that its requests, waiting and running, are predicted to take';

REVOKE ALL ON FUNCTION gpuconc_get_devices() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_get_devices() TO PUBLIC;
REVOKE ALL ON gpuconc_devices FROM PUBLIC;
GRANT SELECT ON gpuconc_devices TO PUBLIC;

----------------------------------------------------------------------
-- What the scheduler did (src/stat_batches.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_stat_get_batches(
	OUT id bigint, OUT started_at timestamp with time zone,
	OUT schedule text, OUT kernels integer, OUT patterns integer,
	OUT batches_planned integer, OUT waiting integer, OUT co_running integer,
	OUT predicted_time double precision, OUT actual_time double precision,
	OUT decision_time double precision, OUT shared_scans integer,
	OUT failed integer, OUT device integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpuconc_stat_get_batches() IS
	'the last batches that the current user may see; used by view gpuconc_stat_batches';

CREATE FUNCTION gpuconc_stat_get_kernels(
	OUT kernel text, OUT kind text, OUT launches bigint, OUT requests bigint,
	OUT total_time double precision, OUT min_time double precision,
	OUT alone_time double precision, OUT prediction_error double precision,
	OUT registers integer, OUT shared_memory bigint, OUT threads integer,
	OUT last_launch timestamp with time zone, OUT device integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_stat_get_kernels() IS
	'totals per kernel; used by view gpuconc_stat_kernels';

CREATE FUNCTION gpuconc_timeline(batches integer DEFAULT 100)
RETURNS json
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpuconc_timeline(integer) IS
	'the last batches that the current user may see, as trace events for Perfetto or chrome://tracing';

CREATE VIEW gpuconc_stat_batches AS
SELECT b.id,
	b.started_at,
	b.schedule,
	b.kernels,
	b.patterns,
	b.batches_planned,
	b.waiting,
	b.co_running,
	b.predicted_time,
	b.actual_time,
	b.decision_time,
	b.shared_scans,
	b.failed,
	b.device
FROM gpuconc_stat_get_batches() AS b;
COMMENT ON VIEW gpuconc_stat_batches IS
	'the last batches of requests that were started together: how they were scheduled, and their times (ms)';

CREATE VIEW gpuconc_stat_kernels AS
SELECT k.kernel,
	k.kind,
	k.launches,
	k.requests,
	k.total_time,
	k.total_time / nullif(k.launches, 0) AS mean_time,
	k.min_time,
	k.alone_time,
	k.prediction_error,
	k.registers,
	k.shared_memory,
	k.threads,
	k.last_launch,
	k.device
FROM gpuconc_stat_get_kernels() AS k;
COMMENT ON VIEW gpuconc_stat_kernels IS
	'main kernels since the last reset: launches, times (ms), what they take of a multiprocessor, and the mean error of predicted times';

-- Each user is shown what that user may see.
REVOKE ALL ON FUNCTION gpuconc_stat_get_batches(), gpuconc_stat_get_kernels(),
	gpuconc_timeline(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_stat_get_batches(), gpuconc_stat_get_kernels(),
	gpuconc_timeline(integer) TO PUBLIC;
REVOKE ALL ON gpuconc_stat_batches, gpuconc_stat_kernels FROM PUBLIC;
GRANT SELECT ON gpuconc_stat_batches, gpuconc_stat_kernels TO PUBLIC;

----------------------------------------------------------------------
-- Columns: the cache of table columns (src/columns/views.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_prewarm(relation regclass)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION gpuconc_prewarm(regclass) IS
	'loads all supported columns of a table into the cache; returns the pages then cached';

CREATE FUNCTION gpuconc_prewarm_tables(relations regclass[],
	OUT relation regclass, OUT pages bigint, OUT problem text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION gpuconc_prewarm_tables(regclass[]) IS
	'has a background worker load each of the tables into the cache; returns the pages then cached, and why they are not all';

CREATE FUNCTION gpuconc_prewarm_schema(schema regnamespace,
	OUT relation regclass, OUT pages bigint, OUT problem text)
RETURNS SETOF record
LANGUAGE SQL STRICT VOLATILE PARALLEL UNSAFE
SET search_path = @extschema@, pg_temp
AS $$
SELECT p.*
FROM gpuconc_prewarm_tables(ARRAY(
	SELECT c.oid::regclass
	FROM pg_class AS c
	WHERE c.relnamespace = schema AND c.relkind IN ('r', 'm') AND c.relpersistence = 'p'
		AND has_table_privilege(c.oid, 'SELECT')
	ORDER BY c.relpages DESC, c.oid)) AS p
$$;
COMMENT ON FUNCTION gpuconc_prewarm_schema(regnamespace) IS
	'loads the tables of a schema that the current user may select from into the cache';

CREATE FUNCTION gpuconc_prewarm_database(
	OUT relation regclass, OUT pages bigint, OUT problem text)
RETURNS SETOF record
LANGUAGE SQL STRICT VOLATILE PARALLEL UNSAFE
SET search_path = @extschema@, pg_temp
AS $$
SELECT p.*
FROM gpuconc_prewarm_tables(ARRAY(
	SELECT c.oid::regclass
	FROM pg_class AS c
		JOIN pg_namespace AS n ON n.oid = c.relnamespace
	WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'm')
		AND c.relpersistence = 'p' AND has_table_privilege(c.oid, 'SELECT')
	ORDER BY c.relpages DESC, c.oid)) AS p
$$;
COMMENT ON FUNCTION gpuconc_prewarm_database() IS
	'loads the tables of the database that the current user may select from into the cache';

CREATE FUNCTION gpuconc_evict(relation regclass)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION gpuconc_evict(regclass) IS
	'drops a table from the cache; returns the bytes given up';

CREATE FUNCTION gpuconc_cache_columns(
	OUT datid oid, OUT relid oid, OUT column_name text, OUT encoding text,
	OUT chunks bigint, OUT rows bigint, OUT host_bytes bigint,
	OUT device_bytes bigint, OUT pages_cached bigint,
	OUT hot_pages bigint, OUT hot_bytes bigint, OUT pages_served double precision, OUT problem text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpuconc_cache_columns() IS
	'cached columns that the current user may see; used by view gpuconc_cache';

CREATE FUNCTION gpuconc_load_jobs(
	OUT pid integer, OUT datid oid, OUT relid oid, OUT columns integer,
	OUT chunks_total bigint, OUT chunks_done bigint, OUT workers integer,
	OUT started_at timestamp with time zone)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpuconc_load_jobs() IS
	'loads in progress that the current user may see; used by view gpuconc_load_progress';

CREATE VIEW gpuconc_cache AS
SELECT c.datid,
	d.datname,
	c.relid,
	CASE WHEN d.datname = pg_catalog.current_database()
		THEN c.relid::pg_catalog.regclass END AS relation,
	c.column_name,
	c.encoding,
	c.chunks,
	c.rows,
	c.host_bytes,
	c.device_bytes,
	c.pages_cached,
	c.hot_pages,
	c.hot_bytes,
	c.pages_served,
	c.problem
FROM gpuconc_cache_columns() AS c
	LEFT JOIN pg_catalog.pg_database AS d ON d.oid = c.datid;
COMMENT ON VIEW gpuconc_cache IS
	'cached columns: encoding, size, and pages that were not all-visible and the memory they take, and the share of the table''s pages that a new snapshot is served without a look at them';

CREATE VIEW gpuconc_load_progress AS
SELECT j.pid,
	j.datid,
	d.datname,
	j.relid,
	CASE WHEN d.datname = pg_catalog.current_database()
		THEN j.relid::pg_catalog.regclass END AS relation,
	j.columns,
	j.chunks_total,
	j.chunks_done,
	j.workers,
	j.started_at
FROM gpuconc_load_jobs() AS j
	LEFT JOIN pg_catalog.pg_database AS d ON d.oid = j.datid;
COMMENT ON VIEW gpuconc_load_progress IS
	'tables that are being loaded into the cache';

-- prewarm and evict check privileges on the table themselves; the functions
-- under the views show each user only what that user may see.
REVOKE ALL ON FUNCTION gpuconc_prewarm(regclass), gpuconc_prewarm_tables(regclass[]),
	gpuconc_prewarm_schema(regnamespace), gpuconc_prewarm_database(), gpuconc_evict(regclass),
	gpuconc_cache_columns(), gpuconc_load_jobs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_prewarm(regclass), gpuconc_prewarm_tables(regclass[]),
	gpuconc_prewarm_schema(regnamespace), gpuconc_prewarm_database(), gpuconc_evict(regclass),
	gpuconc_cache_columns(), gpuconc_load_jobs() TO PUBLIC;
REVOKE ALL ON gpuconc_cache, gpuconc_load_progress FROM PUBLIC;
GRANT SELECT ON gpuconc_cache, gpuconc_load_progress TO PUBLIC;

----------------------------------------------------------------------
-- Advice by table (src/advice.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_estimate_columns(relation regclass,
	OUT column_name name, OUT bytes bigint, OUT refused text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpuconc_estimate_columns(regclass) IS
	'bytes of cache that a table''s columns would take, by the statistics of ANALYZE, or why they cannot be cached';

CREATE FUNCTION gpuconc_stat_get_reasons(
	OUT relid oid, OUT executed boolean, OUT reason text, OUT count bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpuconc_stat_get_reasons() IS
	'why queries of this database''s tables were not offloaded since the last reset; used by gpuconc_advise';

CREATE FUNCTION gpuconc_stat_get_orders(
	OUT relid oid, OUT attnum smallint, OUT read_bytes bigint, OUT spared_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpuconc_stat_get_orders() IS
	'by column: what requests with conditions on it read, and would not if the table were sorted by it; used by gpuconc_advise';

CREATE FUNCTION gpuconc_advise(
	OUT relation regclass, OUT rows bigint, OUT table_bytes bigint,
	OUT estimated_bytes bigint, OUT cached_bytes bigint, OUT device_bytes bigint,
	OUT pages_served double precision, OUT refusals jsonb, OUT fallbacks jsonb,
	OUT advice text)
RETURNS SETOF record
LANGUAGE SQL VOLATILE PARALLEL RESTRICTED
SET search_path = @extschema@, pg_temp
AS $$
WITH cached AS (
	SELECT relid, sum(host_bytes)::bigint AS host_bytes, sum(c.device_bytes)::bigint AS device_bytes,
		max(c.pages_served) AS pages_served,
		string_agg(format('%s: %s', column_name, problem), ', ' ORDER BY column_name)
			FILTER (WHERE problem IS NOT NULL) AS problems
	FROM gpuconc_cache_columns() AS c
	WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database())
	GROUP BY relid),
why AS (
	SELECT relid, jsonb_object_agg(reason, count) FILTER (WHERE NOT executed) AS refusals,
		jsonb_object_agg(reason, count) FILTER (WHERE executed) AS fallbacks
	FROM gpuconc_stat_get_reasons()
	GROUP BY relid),
sorted AS (
	SELECT DISTINCT ON (relid) relid, format('%s it by %I: its requests with conditions on that column read %s, and would have been spared %s of it',
		CASE WHEN current_setting('server_version_num')::int >= 190000 THEN 'REPACK' ELSE 'CLUSTER' END,
		attname, pg_size_pretty(read_bytes), pg_size_pretty(spared_bytes)) AS advice
	FROM gpuconc_stat_get_orders() JOIN pg_attribute ON attrelid = relid AND pg_attribute.attnum = gpuconc_stat_get_orders.attnum AND NOT attisdropped
	WHERE spared_bytes > read_bytes / 2
	ORDER BY relid, spared_bytes DESC),
relations AS (
	SELECT r.oid, r.relpages, r.reltuples, e.bytes, e.refused, cached.*, why.refusals, why.fallbacks, sorted.advice AS sorted,
		r.relkind = 'p' AS partitioned,
		coalesce(cached.pages_served, r.relallvisible / nullif(r.relpages, 0)::float8) AS clean
	FROM pg_class AS r
		LEFT JOIN cached ON cached.relid = r.oid
		LEFT JOIN why ON why.relid = r.oid
		LEFT JOIN sorted ON sorted.relid = r.oid
		CROSS JOIN LATERAL (
			SELECT sum(c.bytes)::bigint AS bytes,
				string_agg(format('%s: %s', c.column_name, c.refused), ', ')
					FILTER (WHERE c.refused IS NOT NULL) AS refused
			FROM gpuconc_estimate_columns(r.oid) AS c
			WHERE r.relkind <> 'p') AS e
	WHERE r.relkind IN ('r', 'm', 'p') AND r.oid >= 16384 AND has_table_privilege(r.oid, 'SELECT'))
SELECT oid, nullif(greatest(reltuples, -1), -1)::bigint,
	CASE WHEN NOT partitioned THEN pg_table_size(oid) END, bytes, coalesce(host_bytes, 0),
	coalesce(r.device_bytes, 0), r.pages_served, r.refusals, r.fallbacks,
	nullif(concat_ws('; ',
		CASE WHEN reltuples < 0 THEN 'ANALYZE it, for an estimate' END,
		CASE WHEN clean < 0.9 AND NOT partitioned
			THEN format('VACUUM it: %s %% of its pages are served without a look at each', round(clean * 100)) END,
		CASE WHEN bytes > pg_size_bytes(current_setting('gpuconc.host_cache_size')) / 8 * 7
			THEN 'its columns do not fit gpuconc.host_cache_size all at once' END,
		'cannot be cached: ' || refused,
		'has values that cannot be cached: ' || problems,
		sorted,
		CASE WHEN r.fallbacks - 'not ready yet' <> '{}' THEN 'see docs/operating.md for what to do about its fallbacks' END), '')
FROM relations AS r
ORDER BY bytes DESC NULLS LAST, oid
$$;
COMMENT ON FUNCTION gpuconc_advise() IS
	'by table: what it would take of the cache, what it takes, why its queries were not offloaded, and what to do';

-- These functions show each user only what that user may see.
REVOKE ALL ON FUNCTION gpuconc_estimate_columns(regclass), gpuconc_stat_get_reasons(), gpuconc_stat_get_orders(), gpuconc_advise() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_estimate_columns(regclass), gpuconc_stat_get_reasons(), gpuconc_stat_get_orders(), gpuconc_advise() TO PUBLIC;
