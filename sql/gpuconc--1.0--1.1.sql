/* gpuconc--1.0--1.1.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION gpuconc UPDATE TO '1.1'" to load this file. \quit

-- The server keeps the library that it has loaded at its start.
LOAD 'MODULE_PATHNAME';
DO $$
DECLARE
	loaded text := coalesce(pg_catalog.current_setting('gpuconc.version', true), '1.0');
BEGIN
	IF pg_catalog.string_to_array(loaded, '.')::int[] < '{1,1}' THEN
		RAISE EXCEPTION USING
			ERRCODE = 'object_not_in_prerequisite_state',
			MESSAGE = pg_catalog.format('version 1.1 of extension gpuconc needs a newer library than %s, which the server has loaded', loaded),
			HINT = 'Install the library of gpuconc 1.1, and restart the server.';
	END IF;
END $$;

----------------------------------------------------------------------
-- Hot pages, and requests in passes and in waves
----------------------------------------------------------------------

DROP VIEW gpuconc_cache;
DROP FUNCTION gpuconc_cache_columns();
DROP VIEW gpuconc_stat;
DROP FUNCTION gpuconc_stat_get();

CREATE FUNCTION gpuconc_cache_columns(
	OUT datid oid, OUT relid oid, OUT column_name text, OUT encoding text,
	OUT chunks bigint, OUT rows bigint, OUT host_bytes bigint,
	OUT device_bytes bigint, OUT pages_cached bigint,
	OUT hot_pages bigint, OUT hot_bytes bigint, OUT pages_served double precision, OUT problem text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

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
	OUT direct_lookups bigint, OUT packed_row_scans bigint,
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
	s.copied_bytes,
	s.read_bytes,
	s.kernels,
	s.kernels_compiled,
	s.main_launches,
	s.ganged,
	s.builds_run,
	s.builds_shared,
	s.results_shared,
	s.rows_delta,
	s.rows_versioned,
	s.pages_delta,
	s.pages_looked_at,
	s.pages_loaded,
	s.key_group_scans,
	s.key_group_mismatches,
	s.direct_lookups,
	s.packed_row_scans,
	s.in_passes,
	s.lookups_made,
	s.lookups_shared,
	s.waves,
	s.wave_bytes,
	s.wave_bytes_shared,
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
	s.stats_reset
FROM gpuconc_stat_get() AS s;

COMMENT ON VIEW gpuconc_cache IS
	'cached columns: encoding, size, and pages that were not all-visible and the memory they take, and the share of the table''s pages that a new snapshot is served without a look at them';

COMMENT ON VIEW gpuconc_stat IS
	'requests since the last reset: how many were offloaded, why others were not, and where their time (ms) went';

COMMENT ON FUNCTION gpuconc_cache_columns() IS
	'cached columns that the current user may see; used by view gpuconc_cache';
COMMENT ON FUNCTION gpuconc_stat_get() IS
	'counters since the last reset; used by view gpuconc_stat';

REVOKE ALL ON FUNCTION gpuconc_cache_columns() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_cache_columns() TO PUBLIC;
REVOKE ALL ON gpuconc_cache, gpuconc_stat FROM PUBLIC;
GRANT SELECT ON gpuconc_cache, gpuconc_stat TO PUBLIC;

----------------------------------------------------------------------
-- The link to the device
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_get_link()
RETURNS double precision
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_get_link() IS
	'bytes per second that can be copied to the device, measured when its worker started; used by view gpuconc_devices';
REVOKE ALL ON FUNCTION gpuconc_get_link() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_get_link() TO PUBLIC;

CREATE FUNCTION gpuconc_get_memory(
	OUT memory_columns bigint, OUT memory_lookups bigint, OUT memory_builds bigint,
	OUT memory_groups bigint, OUT memory_waves bigint, OUT memory_other bigint,
	OUT memory_free bigint, OUT memory_largest_free bigint)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_get_memory() IS
	'device memory by what it is taken for, and what is free; used by view gpuconc_devices';
REVOKE ALL ON FUNCTION gpuconc_get_memory() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_get_memory() TO PUBLIC;

CREATE OR REPLACE VIEW gpuconc_devices AS
SELECT d.device,
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
	gpuconc_get_link() AS link_bandwidth,
	m.memory_columns,
	m.memory_lookups,
	m.memory_builds,
	m.memory_groups,
	m.memory_waves,
	m.memory_other,
	m.memory_free,
	m.memory_largest_free
FROM gpuconc_get_devices() AS d, gpuconc_get_memory() AS m;

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
relations AS (
	SELECT r.oid, r.relpages, r.reltuples, e.bytes, e.refused, cached.*, why.refusals, why.fallbacks,
		r.relkind = 'p' AS partitioned,
		coalesce(cached.pages_served, r.relallvisible / nullif(r.relpages, 0)::float8) AS clean
	FROM pg_class AS r
		LEFT JOIN cached ON cached.relid = r.oid
		LEFT JOIN why ON why.relid = r.oid
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
		CASE WHEN r.fallbacks IS NOT NULL THEN 'see docs/operating.md for what to do about its fallbacks' END), '')
FROM relations AS r
ORDER BY bytes DESC NULLS LAST, oid
$$;
COMMENT ON FUNCTION gpuconc_advise() IS
	'by table: what it would take of the cache, what it takes, why its queries were not offloaded, and what to do';

-- These functions show each user only what that user may see.
REVOKE ALL ON FUNCTION gpuconc_estimate_columns(regclass), gpuconc_stat_get_reasons(), gpuconc_advise() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_estimate_columns(regclass), gpuconc_stat_get_reasons(), gpuconc_advise() TO PUBLIC;
