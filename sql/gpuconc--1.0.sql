/* gpuconc--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION gpuconc" to load this file. \quit

----------------------------------------------------------------------
-- Columns: the cache of table columns (src/columns/views.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_prewarm(relation regclass)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION gpuconc_prewarm(regclass) IS
	'loads all supported columns of a table into the cache; returns the pages then cached';

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
	OUT pages_served double precision, OUT problem text)
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
	c.pages_served,
	c.problem
FROM gpuconc_cache_columns() AS c
	LEFT JOIN pg_catalog.pg_database AS d ON d.oid = c.datid;
COMMENT ON VIEW gpuconc_cache IS
	'cached columns: encoding, size, and the share of the table''s pages that a new snapshot is served from the cache';

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
REVOKE ALL ON FUNCTION gpuconc_prewarm(regclass), gpuconc_evict(regclass),
	gpuconc_cache_columns(), gpuconc_load_jobs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuconc_prewarm(regclass), gpuconc_evict(regclass),
	gpuconc_cache_columns(), gpuconc_load_jobs() TO PUBLIC;
REVOKE ALL ON gpuconc_cache, gpuconc_load_progress FROM PUBLIC;
GRANT SELECT ON gpuconc_cache, gpuconc_load_progress TO PUBLIC;

----------------------------------------------------------------------
-- Statistics and devices (src/stat.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_stat_get(
	OUT requests bigint, OUT offloaded bigint, OUT fallbacks bigint,
	OUT retries bigint, OUT queue_time double precision,
	OUT compile_time double precision, OUT copy_time double precision,
	OUT run_time double precision, OUT copied_bytes bigint,
	OUT read_bytes bigint, OUT kernels bigint, OUT kernels_compiled bigint,
	OUT builds_run bigint, OUT builds_shared bigint,
	OUT results_shared bigint, OUT rows_delta bigint,
	OUT key_group_scans bigint, OUT key_group_mismatches bigint,
	OUT direct_lookups bigint, OUT packed_row_scans bigint,
	OUT lookups_made bigint, OUT lookups_shared bigint,
	OUT stats_reset timestamp with time zone)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_stat_get() IS
	'counters since the last reset; used by view gpuconc_stat';

CREATE FUNCTION gpuconc_stat_get_fallbacks(OUT reason text, OUT count bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_stat_get_fallbacks() IS
	'fallbacks by reason since the last reset; used by view gpuconc_stat';

CREATE FUNCTION gpuconc_stat_reset()
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_stat_reset() IS
	'resets the statistics that gpuconc_stat, gpuconc_stat_batches and gpuconc_stat_kernels show';
REVOKE ALL ON FUNCTION gpuconc_stat_reset() FROM PUBLIC;

CREATE FUNCTION gpuconc_get_devices(
	OUT device text, OUT name text, OUT state text, OUT detail text,
	OUT worker_pid integer, OUT multiprocessors integer,
	OUT memory_total bigint, OUT memory_limit bigint, OUT memory_used bigint,
	OUT chunk_columns bigint, OUT build_tables bigint, OUT running integer,
	OUT target text, OUT started_at timestamp with time zone)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpuconc_get_devices() IS
	'the device in use and its state; used by view gpuconc_devices';

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
	s.builds_run,
	s.builds_shared,
	s.results_shared,
	s.rows_delta,
	s.key_group_scans,
	s.key_group_mismatches,
	s.direct_lookups,
	s.packed_row_scans,
	s.lookups_made,
	s.lookups_shared,
	s.stats_reset
FROM gpuconc_stat_get() AS s;
COMMENT ON VIEW gpuconc_stat IS
	'requests since the last reset: how many were offloaded, why others were not, and where their time (ms) went';

CREATE VIEW gpuconc_devices AS
SELECT * FROM gpuconc_get_devices();
COMMENT ON VIEW gpuconc_devices IS
	'the device that queries are offloaded to';

GRANT SELECT ON gpuconc_cache, gpuconc_load_progress, gpuconc_stat,
	gpuconc_devices TO PUBLIC;

----------------------------------------------------------------------
-- What the scheduler did (src/stat_batches.c)
----------------------------------------------------------------------

CREATE FUNCTION gpuconc_stat_get_batches(
	OUT id bigint, OUT started_at timestamp with time zone,
	OUT schedule text, OUT kernels integer, OUT patterns integer,
	OUT batches_planned integer, OUT waiting integer, OUT co_running integer,
	OUT predicted_time double precision, OUT actual_time double precision,
	OUT decision_time double precision, OUT shared_scans integer,
	OUT failed integer)
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
	OUT last_launch timestamp with time zone)
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
	b.failed
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
	k.last_launch
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
