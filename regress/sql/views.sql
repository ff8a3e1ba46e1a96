-- Views, resets, prewarm and evict: contents, bad input, privileges.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE public.not_finite (n numeric) WITH (autovacuum_enabled = off);
INSERT INTO public.not_finite VALUES ('NaN');
VACUUM public.not_finite;
CREATE ROLE regress_gpuconc_user;
CREATE ROLE regress_gpuconc_stats IN ROLE pg_read_all_stats;
SELECT pg_describe_object(classid, objid, 0) AS object FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpuconc') AND deptype = 'e' AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass) ORDER BY 1;
SELECT name, unit, context, vartype, enumvals FROM pg_settings WHERE name LIKE 'gpuconc.%' AND name NOT LIKE 'gpuconc.debug%' ORDER BY name;
SELECT name, unit, context, vartype, enumvals FROM pg_settings WHERE name LIKE 'gpuconc.debug%' ORDER BY name;
-- those that users may leave alone are in no sample, and a description says what a setting does
SELECT name FROM pg_settings WHERE name LIKE 'gpuconc.%' AND name <> 'gpuconc.version' AND (name LIKE 'gpuconc.debug%') <> ('NOT_IN_SAMPLE' = ANY (pg_settings_get_flags(name)));
SELECT name, short_desc FROM pg_settings WHERE name LIKE 'gpuconc.%' AND short_desc !~ '^(Sets|Enables|Selects|Shows|Forces|Lets|Keeps|Reads|Trusts|Launches|Holds|Writes|Also writes) .*\.$';
-- and has an example of a value or of its effect
SELECT name FROM pg_settings WHERE name LIKE 'gpuconc.%' AND name NOT LIKE 'gpuconc.debug%' AND name <> 'gpuconc.version' AND coalesce(extra_desc, '') NOT LIKE '%or example%';
-- every object says what it is
SELECT pg_describe_object(classid, objid, 0) AS object FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpuconc') AND deptype = 'e' AND obj_description(objid, classid::regclass::name) IS NULL
	AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass);

-- settings
SET gpuconc.enabled = maybe;
SET gpuconc.debug_offload = sometimes;
SET gpuconc.offload_cost = -1;
SET gpuconc.debug_tuple_cost = -2;
SET gpuconc.loader_workers = -1;
SET gpuconc.devices = host;
SET gpuconc.debug_chunk_pages = 4;
SET gpuconc.no_such_setting = 1;

-- devices
SELECT count(*), min(state), bool_and(device IN ('cuda', 'host')), bool_and(name <> ''), bool_and(worker_pid > 0), bool_and(memory_limit > 0), bool_and(memory_used >= 0), bool_and(multiprocessors > 0), bool_and(started_at <= now()) FROM gpuconc_devices;
SELECT memory_columns + memory_lookups + memory_builds + memory_groups + memory_waves + memory_other = memory_used AS "sum", memory_used + memory_free <= memory_limit AS within, memory_largest_free BETWEEN 1 AND memory_free AS free FROM gpuconc_devices;

-- statistics: counted, by reason, reset
SELECT gpuconc_stat_reset();
\x on
SELECT requests, offloaded, fallbacks, fallback_reasons, retries, queue_time, compile_time, copy_time, run_time, kernels_compiled, rows_delta, rows_versioned, pages_delta, pages_looked_at, pages_loaded, now() - stats_reset < interval '1 hour' AS recent FROM gpuconc_stat;
SELECT read_bytes, copied_bytes, link_bytes, link_reads, link_read_bytes, region_hits, region_misses, evictions, evicted_bytes, evict_decisions, evict_decision_time, evict_decision_max, admissions, admission_time, admission_max, in_passes, waves, wave_bytes, wave_bytes_shared, now() - stats_reset < interval '1 hour' AS recent FROM gpuconc_stat_memory;
SELECT kernels, main_launches, ganged, results_shared, builds_run, builds_shared, lookups_made, lookups_shared, direct_lookups, key_group_scans, key_group_mismatches, now() - stats_reset < interval '1 hour' AS recent FROM gpuconc_stat_sharing;
\x off
-- each counter is in one of the views
SELECT column_name, count(*) FROM (SELECT unnest(proargnames) FROM pg_proc WHERE proname = 'gpuconc_stat_get') AS c (column_name) LEFT JOIN information_schema.columns USING (column_name) WHERE table_name IN ('gpuconc_stat', 'gpuconc_stat_memory', 'gpuconc_stat_sharing') OR table_name IS NULL GROUP BY 1 HAVING count(*) <> 1;
SET gpuconc.debug_offload = require;
SELECT count(*), sum(price) FROM sales JOIN shop ON shop = s_id;
SET gpuconc.debug_versioned_pages = off;
SELECT count(*) FROM delta.shop WHERE s_id > 10;
RESET gpuconc.debug_versioned_pages;
SELECT requests, offloaded, fallbacks, fallback_reasons, queue_time >= 0 AS queue, run_time > 0 AS run, read_bytes > 0 AS read, kernels > 0 AS kernels, builds_run + builds_shared + results_shared > 0 AS builds, rows_delta FROM gpuconc_stat, gpuconc_stat_memory, gpuconc_stat_sharing;
RESET gpuconc.debug_offload;
SELECT count(*) FROM not_finite WHERE n > 0;
SELECT count(*) FROM not_finite WHERE n > 0;
SELECT max(abs(i4)) FROM extremes;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM extremes;
COMMIT;
SELECT requests, offloaded, fallbacks, fallback_reasons FROM gpuconc_stat;
SET ROLE regress_gpuconc_user;
SELECT requests, fallbacks FROM gpuconc_stat;
SELECT count(*) FROM gpuconc_devices;
SELECT gpuconc_stat_reset();
RESET ROLE;
GRANT EXECUTE ON FUNCTION gpuconc_stat_reset() TO regress_gpuconc_user;
SET ROLE regress_gpuconc_user;
SELECT gpuconc_stat_reset();
SELECT requests, fallbacks, fallback_reasons FROM gpuconc_stat;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION gpuconc_stat_reset() FROM regress_gpuconc_user;

-- the cache
CREATE TABLE public.store (a int, b numeric(8,2), c text, d date, e float8, f bool, g timestamp, h float4, i int8, j point, k text, l numeric, m numeric, n int2) WITH (autovacuum_enabled = off);
INSERT INTO public.store SELECT i, i / 4.0, 'v' || i % 3, date '2000-01-01' + i % 100, i, i % 2 = 0, '2000-01-01', 1, i * 10000000000, '(1,1)', NULL, CASE WHEN i % 2 = 0 THEN 1.5 ELSE 1e-32 END, 'NaN', NULL FROM generate_series(1, 2000) AS i;
SELECT settle() \g /dev/null
VACUUM (FREEZE, ANALYZE) public.store;
SELECT gpuconc_prewarm('store') = pg_relation_size('store') / current_setting('block_size')::int AS all_pages;
SELECT column_name, encoding, chunks > 0 AS chunks, rows, host_bytes > 0 AS host, device_bytes >= 0 AS device, pages_cached = pg_relation_size('store') / current_setting('block_size')::int AS cached, pages_served, problem, datname = current_database() AS here, relid = relation AS same
FROM gpuconc_cache WHERE relation = 'store'::regclass ORDER BY column_name;
SELECT sum(a) FROM store WHERE d < '2000-02-01';
DELETE FROM store WHERE a = 1;
SELECT DISTINCT pages_served < 1 AS less, pages_served > 0 AS some FROM gpuconc_cache WHERE relation = 'store'::regclass;
SET ROLE regress_gpuconc_user;
SELECT count(*) FROM gpuconc_cache WHERE relation = 'store'::regclass;
SET ROLE regress_gpuconc_stats;
SELECT count(*) FROM gpuconc_cache WHERE relation = 'store'::regclass;
RESET ROLE;
GRANT SELECT ON store TO regress_gpuconc_user;
SET ROLE regress_gpuconc_user;
SELECT count(*) FROM gpuconc_cache WHERE relation = 'store'::regclass;
SELECT gpuconc_prewarm('store') > 0 AS may;
SELECT gpuconc_evict('store');
RESET ROLE;
SELECT gpuconc_evict('store') > 0 AS bytes, gpuconc_evict('store') AS again;
SELECT count(*) FROM gpuconc_cache WHERE relation = 'store'::regclass;
SELECT check_same('SELECT c, count(*), sum(b) FROM store GROUP BY c', '{public}');
SELECT column_name FROM gpuconc_cache WHERE relation = 'store'::regclass ORDER BY 1;
SELECT count(*) FROM gpuconc_load_progress WHERE relation = 'store'::regclass;

-- bad input of prewarm and evict
CREATE TEMP TABLE temporary (a int);
CREATE UNLOGGED TABLE public.unlogged (a int);
CREATE VIEW public.viewed AS SELECT 1 AS a;
CREATE SEQUENCE public.counted;
CREATE INDEX stored ON store (a);
CREATE TABLE public.parted (a int) PARTITION BY LIST (a);
CREATE TYPE public.composed AS (a int);
CREATE TABLE public.never_vacuumed AS SELECT 1 AS a;
CREATE TABLE public.no_rows (a int);
CREATE MATERIALIZED VIEW public.mat AS SELECT 1 AS a;
\set VERBOSITY default
SELECT gpuconc_prewarm('temporary');
\set VERBOSITY terse
SELECT gpuconc_prewarm('unlogged');
SELECT gpuconc_prewarm('viewed');
SELECT gpuconc_prewarm('counted');
SELECT gpuconc_prewarm('stored');
SELECT gpuconc_prewarm('parted');
SELECT gpuconc_prewarm('composed');
SELECT gpuconc_prewarm('pg_class');
SELECT gpuconc_prewarm('no_such_table');
SELECT gpuconc_prewarm(0);
SELECT gpuconc_prewarm(4294967295::oid);
SELECT gpuconc_prewarm(NULL), gpuconc_evict(NULL);
SELECT gpuconc_prewarm('never_vacuumed'), gpuconc_prewarm('no_rows'), gpuconc_prewarm('mat');
BEGIN;
CREATE TABLE public.young (a int);
SELECT gpuconc_prewarm('young');
ROLLBACK;
-- few pages that can be loaded anew, beside one that is written to: it leaves nothing to a refresh in the background
CREATE TABLE public.worn (a int, b int) WITH (autovacuum_enabled = off, fillfactor = 50);
INSERT INTO public.worn SELECT i, i FROM generate_series(1, 5000) AS i;
SELECT settle() \g /dev/null
VACUUM worn;
SELECT gpuconc_prewarm('worn') = pg_relation_size('worn') / current_setting('block_size')::int AS all_pages;
UPDATE worn SET b = 0 WHERE a = 1;
SELECT settle() \g /dev/null
VACUUM worn;
UPDATE worn SET b = 0 WHERE a = 1000;
SELECT gpuconc_prewarm('worn') > 0 AS some;
SELECT round(pages_served * pg_relation_size('worn') / current_setting('block_size')::int) = pg_relation_size('worn') / current_setting('block_size')::int - 1 AS served
FROM gpuconc_cache WHERE relation = 'worn'::regclass AND column_name = 'b';
DROP TABLE worn;
SELECT gpuconc_evict('temporary'), gpuconc_evict('viewed'), gpuconc_evict('stored'), gpuconc_evict('pg_class');
SELECT gpuconc_evict(0) AS zero;
SELECT gpuconc_evict(4294967295::oid) AS huge;
SET ROLE regress_gpuconc_user;
SELECT gpuconc_evict(4294967295::oid);
SELECT gpuconc_prewarm('never_vacuumed');
RESET ROLE;
-- many times, and in one statement with a query
SELECT count(gpuconc_prewarm('store')), count(gpuconc_evict('store')) FROM generate_series(1, 20);
SELECT gpuconc_evict('store') >= 0 AS evicted, count(*) FROM store;
SELECT gpuconc_prewarm('store') > 0 AS cached;
SET gpuconc.debug_offload = require;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a FROM store WHERE a < 100 ORDER BY a;
FETCH 1 FROM c;
SELECT gpuconc_evict('store') > 0 AS evicted;
MOVE ALL IN c;
FETCH PRIOR FROM c;
COMMIT;
RESET gpuconc.debug_offload;
DROP TABLE public.not_finite, public.store, public.unlogged, public.parted, public.never_vacuumed, public.no_rows;
DROP MATERIALIZED VIEW public.mat;
DROP VIEW public.viewed;
DROP SEQUENCE public.counted;
DROP TYPE public.composed;
DROP ROLE regress_gpuconc_user, regress_gpuconc_stats;
