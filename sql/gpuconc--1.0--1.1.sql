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
