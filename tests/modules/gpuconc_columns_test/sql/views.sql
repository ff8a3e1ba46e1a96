-- Views that users see, and functions that they may call.
\pset format unaligned
SELECT used AS arena_before FROM gpuconc_columns_test_arena()
\gset

CREATE TABLE seen (a int, b numeric(6, 1), c text, d real);
INSERT INTO seen SELECT i, i, 'c' || i % 4, i FROM generate_series(1, 5000) AS i;
VACUUM seen;
CREATE TABLE unseen (a int);
INSERT INTO unseen SELECT generate_series(1, 100);
VACUUM unseen;
CREATE ROLE gpuconc_reader;
CREATE ROLE gpuconc_monitor IN ROLE pg_read_all_stats;
GRANT SELECT ON seen TO gpuconc_reader;

-- prewarm needs SELECT, evict ownership
SET ROLE gpuconc_reader;
SELECT gpuconc_prewarm('seen') = pg_relation_size('seen') / 8192 AS all_pages;
SELECT gpuconc_prewarm('unseen');
SELECT gpuconc_evict('seen');
SELECT gpuconc_columns_test_load('seen');
RESET ROLE;
SELECT gpuconc_prewarm('unseen');
SELECT gpuconc_prewarm('pg_class');
CREATE UNLOGGED TABLE unlogged (a int);
SELECT gpuconc_prewarm('unlogged');
CREATE VIEW some_view AS SELECT 1;
SELECT gpuconc_prewarm('some_view');
SELECT gpuconc_evict('some_view');
SELECT gpuconc_prewarm(0);
SELECT gpuconc_evict(0);
BEGIN;
TRUNCATE seen;
SELECT gpuconc_prewarm('seen');
ROLLBACK;
BEGIN;
LOCK TABLE seen;
SELECT gpuconc_prewarm('seen');
ROLLBACK;

-- the view
SELECT datname = current_database() AS here, relation, column_name, encoding, chunks, rows,
	host_bytes > 0 AS host_bytes, device_bytes, pages_cached, hot_pages, hot_bytes, pages_served, problem
FROM gpuconc_cache ORDER BY relation::text, column_name;
SET ROLE gpuconc_reader;
SELECT relation, column_name, encoding FROM gpuconc_cache ORDER BY relation::text, column_name;
SELECT * FROM gpuconc_load_progress;
SET ROLE gpuconc_monitor;
SELECT relation, count(*) FROM gpuconc_cache GROUP BY 1 ORDER BY relation::text;
RESET ROLE;

-- pages that have changed since
UPDATE unseen SET a = -a WHERE a = 1;
SELECT pages_served FROM gpuconc_cache WHERE relation = 'unseen'::regclass;

-- they are hot, once they are read again; and all there is to be told of them goes with the table
SELECT hot_pages, hot_bytes FROM gpuconc_cache WHERE relation = 'unseen'::regclass;
SET gpuconc.debug_hot_pages = 1;
SELECT code FROM gpuconc_columns_test_load('unseen');
SELECT pages_served, hot_pages, hot_bytes > 0 AS bytes FROM gpuconc_cache WHERE relation = 'unseen'::regclass;
RESET gpuconc.debug_hot_pages;
VACUUM unseen;
SELECT code FROM gpuconc_columns_test_load('unseen');
SELECT pages_served, hot_pages, hot_bytes FROM gpuconc_cache WHERE relation = 'unseen'::regclass;

-- eviction by the owner
SELECT gpuconc_evict('seen') > 0 AS evicted;
SELECT gpuconc_evict('seen');
SELECT count(*) FROM gpuconc_cache WHERE relation = 'seen'::regclass;

-- other databases are seen, but not looked into
CREATE DATABASE gpuconc_other;
\c gpuconc_other
CREATE EXTENSION gpuconc;
CREATE TABLE elsewhere (a int);
INSERT INTO elsewhere SELECT generate_series(1, 100);
VACUUM elsewhere;
SELECT gpuconc_prewarm('elsewhere');
\c contrib_regression
SELECT datname, relation, column_name, encoding, rows, pages_served FROM gpuconc_cache WHERE datname = 'gpuconc_other';
SET ROLE gpuconc_reader;
SELECT count(*) FROM gpuconc_cache WHERE datname = 'gpuconc_other';
RESET ROLE;
DROP DATABASE gpuconc_other;
SELECT count(*) FROM gpuconc_cache WHERE datname IS DISTINCT FROM current_database();

-- every object says what it is
SELECT count(*) FROM pg_depend d
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpuconc')
	AND deptype = 'e' AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass)
	AND obj_description(objid, classid::regclass::name) IS NULL;

DROP TABLE seen, unseen, unlogged;
DROP VIEW some_view;
DROP ROLE gpuconc_reader, gpuconc_monitor;
SELECT used = :arena_before AS all_given_back FROM gpuconc_columns_test_arena();
