-- Definitions change while a table is cached: queries stay right, and use the cache
-- again afterwards.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup

CREATE FUNCTION public.cached_columns(t text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(column_name, ', ' ORDER BY column_name) FROM gpuconc_cache WHERE relation = to_regclass(t)
$$;
CREATE TABLE public.base (k int, v int, t text, d date) WITH (autovacuum_enabled = off);
INSERT INTO public.base SELECT i, i % 10, 'text ' || i % 5, date '2020-01-01' + i FROM generate_series(1, 5000) AS i;
VACUUM (FREEZE, ANALYZE) public.base;
SET search_path = public;
SET gpuconc.debug_offload = require;
PREPARE total AS SELECT count(*), sum(v), min(t), max(d) FROM base;
EXECUTE total;
SELECT cached_columns('base');

-- columns: added with and without a rewrite, dropped, renamed
ALTER TABLE base ADD COLUMN w int;
SELECT count(w), sum(v) FROM base;
ALTER TABLE base ADD COLUMN x int DEFAULT 7, ADD COLUMN y text DEFAULT 'seven' NOT NULL, ADD COLUMN z numeric(6,2) DEFAULT 1.50;
SELECT count(*), sum(x), min(y), max(y), sum(z), count(w) FROM base;
SELECT x, y, z, count(*) FROM base WHERE x = 7 GROUP BY x, y, z;
INSERT INTO base (k, v, x, z) VALUES (5001, 5, NULL, NULL), (5002, 6, 8, 2);
SELECT count(*), sum(x), min(y), sum(z), count(w) FROM base;
SELECT x, z, count(*) FROM base GROUP BY x, z ORDER BY x;
ALTER TABLE base ALTER COLUMN x SET DEFAULT 9;
SELECT x, count(*) FROM base GROUP BY x ORDER BY x;
VACUUM base;
SELECT x, z, count(*) FROM base GROUP BY x, z ORDER BY x;
ALTER TABLE base ADD COLUMN random float8 DEFAULT random();
SELECT count(random) FROM base WHERE random BETWEEN 0 AND 1;
EXECUTE total;
ALTER TABLE base DROP COLUMN w;
EXECUTE total;
SELECT cached_columns('base');
SELECT w FROM base;
ALTER TABLE base ADD COLUMN w text;
SELECT count(*), count(w) FROM base;
UPDATE base SET w = 'new' WHERE k < 10;
SELECT w, count(*) FROM base GROUP BY w ORDER BY w;
ALTER TABLE base RENAME COLUMN v TO renamed;
SELECT sum(renamed) FROM base;
EXECUTE total;
ALTER TABLE base RENAME COLUMN renamed TO v;
ALTER TABLE base RENAME COLUMN k TO tmp;
ALTER TABLE base RENAME COLUMN x TO k;
ALTER TABLE base RENAME COLUMN tmp TO x;
SELECT sum(x), sum(k) FROM base;
EXECUTE total;
ALTER TABLE base RENAME TO base2;
CREATE TABLE base AS SELECT 1 AS k, 2 AS v, 'other' AS t, date '2000-01-01' AS d;
EXECUTE total;
DROP TABLE base;
ALTER TABLE base2 RENAME TO base;
EXECUTE total;

-- types: with a rewrite, without one
SELECT sum(v), max(d), min(z) FROM base;
ALTER TABLE base ALTER COLUMN v TYPE int8 USING v * 3000000000;
SELECT sum(v), pg_typeof(sum(v)) FROM base;
EXECUTE total;
ALTER TABLE base ALTER COLUMN v TYPE int4 USING v / 3000000000;
EXECUTE total;
ALTER TABLE base ALTER COLUMN z TYPE numeric(8,2);
SELECT sum(z), max(z) FROM base;
ALTER TABLE base ALTER COLUMN z TYPE numeric(9,3);
SELECT sum(z), max(z) FROM base;
ALTER TABLE base ALTER COLUMN z TYPE numeric;
SELECT sum(z), max(z) FROM base;
ALTER TABLE base ALTER COLUMN t TYPE varchar(20);
SELECT min(t), max(t) FROM base WHERE t = 'text 3';
ALTER TABLE base ALTER COLUMN t TYPE char(10);
SELECT min(t) || '|', count(*) FROM base WHERE t = 'text 3';
ALTER TABLE base ALTER COLUMN t TYPE text COLLATE "C";
SELECT min(t) || '|', count(*) FROM base WHERE t = 'text 3';
ALTER TABLE base ALTER COLUMN d TYPE timestamp USING d + interval '1 hour';
SELECT max(d) FROM base;
ALTER TABLE base ALTER COLUMN d TYPE text;
SELECT max(d) FROM base;
SELECT check_same('SELECT v, t, d, z, x, count(*) FROM base GROUP BY 1, 2, 3, 4, 5', '{public}');

-- rows all at once: TRUNCATE, CLUSTER, VACUUM FULL, and undone
CREATE TABLE file (k int PRIMARY KEY, t text) WITH (autovacuum_enabled = off);
INSERT INTO file SELECT i, 'a' || i % 3 FROM generate_series(1, 3000) AS i;
VACUUM (FREEZE, ANALYZE) file;
SELECT count(*), sum(k), max(t) FROM file;
VACUUM FULL file;
SELECT cached_columns('file');
SELECT count(*), sum(k), max(t) FROM file;
SELECT cached_columns('file');
DELETE FROM file WHERE k % 2 = 0;
VACUUM FULL file;
SELECT count(*), sum(k), max(t) FROM file;
CLUSTER file USING file_pkey;
SELECT count(*), sum(k), max(t) FROM file;
ALTER TABLE file SET UNLOGGED;
RESET gpuconc.debug_offload;
SELECT count(*), sum(k), max(t) FROM file;
ALTER TABLE file SET LOGGED;
SET gpuconc.debug_offload = require;
SELECT count(*), sum(k), max(t) FROM file;
BEGIN;
SET LOCAL gpuconc.debug_offload = allow;
TRUNCATE file;
SELECT count(*), sum(k), max(t) FROM file;
INSERT INTO file VALUES (1, 'z');
SELECT count(*), sum(k), max(t) FROM file;
SAVEPOINT s;
DROP TABLE file;
ROLLBACK TO s;
SELECT count(*), sum(k), max(t) FROM file;
ROLLBACK;
SELECT count(*), sum(k), max(t) FROM file;
BEGIN;
SET LOCAL gpuconc.debug_offload = allow;
ALTER TABLE file ADD COLUMN n int DEFAULT 5;
ALTER TABLE file ALTER COLUMN t TYPE int USING length(t);
SELECT count(*), sum(n), max(t) FROM file;
ROLLBACK;
SELECT count(*), sum(k), max(t) FROM file;
TRUNCATE file;
SELECT count(*), sum(k), max(t) FROM file;
INSERT INTO file VALUES (7, 'seven');
SELECT count(*), sum(k), max(t) FROM file;
VACUUM file;
SELECT count(*), sum(k), max(t) FROM file;
DROP TABLE file;
CREATE TABLE file AS SELECT i AS k, 'again ' || i AS t FROM generate_series(1, 10) AS i;
SELECT count(*), sum(k), max(t) FROM file;
VACUUM file;
SELECT count(*), sum(k), max(t) FROM file;
CREATE TABLE other (LIKE file);
ALTER TABLE other INHERIT file;
INSERT INTO other VALUES (100, 'child');
RESET gpuconc.debug_offload;
SELECT count(*), sum(k), max(t) FROM file;
ALTER TABLE other NO INHERIT file;
SELECT count(*), sum(k), max(t) FROM file;
DROP TABLE other;
ALTER TABLE file SET SCHEMA cached;
SELECT count(*), sum(k), max(t) FROM cached.file;
DROP TABLE cached.file, base;
SELECT count(*) FROM gpuconc_cache WHERE datname = current_database() AND relid NOT IN (SELECT oid FROM pg_class);

-- a cursor's tables are in use from its beginning on, until it is closed
SET gpuconc.debug_offload = require;
CREATE TABLE held (k int, v int) PARTITION BY LIST (v);
CREATE TABLE held_part PARTITION OF held DEFAULT;
INSERT INTO held SELECT i, i % 5 FROM generate_series(1, 1000) AS i;
VACUUM held;
\set ask 'DECLARE c CURSOR FOR SELECT v, sum(k) FROM held GROUP BY v ORDER BY v'
BEGIN;
:ask;
TRUNCATE held;
ROLLBACK;
BEGIN;
:ask;
ALTER TABLE held ALTER k TYPE bigint;
ROLLBACK;
BEGIN;
:ask;
FETCH 2 FROM c;
CLOSE c;
DROP TABLE held;
COMMIT;
RESET gpuconc.debug_offload;

-- the extension itself, used while it is not there
CREATE DATABASE regression_gpuconc_ddl;
\set database :DBNAME
\c regression_gpuconc_ddl
SET gpuconc.enabled = on;
SET gpuconc.debug_offload = require;
CREATE TABLE t AS SELECT i AS k FROM generate_series(1, 1000) AS i;
SELECT count(*), sum(k) FROM t;
CREATE EXTENSION gpuconc;
VACUUM t;
SET client_min_messages = warning;
SELECT gpuconc_prewarm('t') >= 0 AS prewarmed;
DROP EXTENSION gpuconc;
SELECT count(*), max(k) FROM t;
\c :database
DROP FUNCTION public.cached_columns;
DROP DATABASE regression_gpuconc_ddl;
SELECT count(*) FROM gpuconc_cache WHERE datname IS NULL;
