-- The cache after DDL, and in each state of the transaction.
\pset format unaligned
CREATE TEMP TABLE arena_before AS SELECT used FROM gpuconc_columns_test_arena();

-- relations that are not cached
CREATE TEMP TABLE temporary (a int);
CREATE UNLOGGED TABLE unlogged (a int);
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE MATERIALIZED VIEW matview AS SELECT i AS a FROM generate_series(1, 100) AS i;
CREATE VIEW plain_view AS SELECT 1 AS a;
INSERT INTO temporary SELECT generate_series(1, 100);
INSERT INTO unlogged SELECT generate_series(1, 100);
INSERT INTO parted SELECT generate_series(1, 100);
VACUUM temporary, unlogged, part, matview;
SELECT rel, gpuconc_columns_test_reason(rel::regclass)
FROM unnest('{temporary,unlogged,parted,part,matview,plain_view,pg_class,pg_toast.pg_toast_1255}'::text[]) AS rel;
SELECT * FROM gpuconc_columns_test_diff('temporary');
SELECT * FROM gpuconc_columns_test_diff('unlogged');
SELECT * FROM gpuconc_columns_test_diff('part');
SELECT * FROM gpuconc_columns_test_diff('matview');
SELECT rel, delta, reloadable, complete, worth_reload
FROM unnest('{temporary,unlogged,part,matview}'::text[]) AS rel, gpuconc_columns_test_served(rel::regclass);
-- catalogs are read as a delta
SELECT delta > 0 AS delta, served, reloadable, worth_reload FROM gpuconc_columns_test_served('pg_class');
SELECT * FROM gpuconc_columns_test_diff('pg_type', '{typlen,typbyval}');

-- a table made or rewritten in this transaction
BEGIN;
CREATE TABLE fresh AS SELECT i FROM generate_series(1, 100) AS i;
SELECT gpuconc_columns_test_reason('fresh');
SELECT * FROM gpuconc_columns_test_diff('fresh');
COMMIT;
SELECT gpuconc_columns_test_reason('fresh');
VACUUM fresh;
SELECT * FROM gpuconc_columns_test_diff('fresh');
BEGIN;
TRUNCATE fresh;
SELECT gpuconc_columns_test_reason('fresh');
SELECT * FROM gpuconc_columns_test_diff('fresh');
INSERT INTO fresh VALUES (-1);
SELECT * FROM gpuconc_columns_test_diff('fresh');
ROLLBACK;
-- the old file's chunks are still there
SELECT * FROM gpuconc_columns_test_diff('fresh', load => false);
SELECT complete FROM gpuconc_columns_test_served('fresh');
BEGIN;
SAVEPOINT s;
TRUNCATE fresh;
ROLLBACK TO s;
SELECT complete FROM gpuconc_columns_test_served('fresh');
SELECT * FROM gpuconc_columns_test_diff('fresh', load => false);
COMMIT;

-- a column added in a transaction that aborts, and another in its place
BEGIN;
ALTER TABLE fresh ADD COLUMN c int DEFAULT 5;
SELECT gpuconc_columns_test_reason('fresh');
SELECT * FROM gpuconc_columns_test_load('fresh');
SELECT * FROM gpuconc_columns_test_diff('fresh');
ROLLBACK;
ALTER TABLE fresh ADD COLUMN d int DEFAULT 7;
SELECT * FROM gpuconc_columns_test_diff('fresh');
SELECT complete FROM gpuconc_columns_test_served('fresh');

-- new files: TRUNCATE, CLUSTER, VACUUM FULL, a rewriting ALTER TABLE, REFRESH
CREATE TABLE files (id int PRIMARY KEY, n numeric(8, 2), t varchar(10));
INSERT INTO files SELECT i, i / 4.0, 't' || i % 9 FROM generate_series(1, 1000) AS i;
VACUUM files;
SELECT * FROM gpuconc_columns_test_diff('files');
TRUNCATE files;
SELECT * FROM gpuconc_columns_test_diff('files');
INSERT INTO files SELECT i, i / 2.0, 'u' || i % 9 FROM generate_series(1000, 1, -1) AS i;
VACUUM files;
SELECT * FROM gpuconc_columns_test_diff('files');
CLUSTER files USING files_pkey;
SELECT * FROM gpuconc_columns_test_diff('files');
VACUUM FULL files;
SELECT * FROM gpuconc_columns_test_diff('files');
VACUUM files;
SELECT * FROM gpuconc_columns_test_diff('files');
SELECT complete FROM gpuconc_columns_test_served('files');
ALTER TABLE files ALTER id TYPE int8;
SELECT * FROM gpuconc_columns_test_diff('files');
ALTER TABLE files SET UNLOGGED;
SELECT gpuconc_columns_test_reason('files');
ALTER TABLE files SET LOGGED;
VACUUM files;
SELECT * FROM gpuconc_columns_test_diff('files');
REFRESH MATERIALIZED VIEW matview;
VACUUM matview;
SELECT * FROM gpuconc_columns_test_diff('matview');
SELECT complete FROM gpuconc_columns_test_served('matview');

-- a change of type without a rewrite: the column is another one
CREATE TABLE retyped (n numeric(8, 2), t varchar(10), ts timestamp, missing int);
SET timezone = 'UTC';
INSERT INTO retyped SELECT i / 4.0, 't' || i % 9, '2020-01-01'::timestamp + i * interval '1 day' FROM generate_series(1, 500) AS i;
VACUUM retyped;
SELECT * FROM gpuconc_columns_test_diff('retyped');
CREATE TEMP TABLE old_file AS SELECT pg_relation_filenode('retyped') AS f;
ALTER TABLE retyped ALTER n TYPE numeric, ALTER t TYPE text, ALTER ts TYPE timestamptz;
SELECT f = pg_relation_filenode('retyped') AS same_file FROM old_file;
SELECT complete, served > 0 AS served FROM gpuconc_columns_test_served('retyped');
SELECT * FROM gpuconc_columns_test_diff('retyped', load => false);
SELECT chunks FROM gpuconc_columns_test_load('retyped', '{missing}');
SELECT chunks FROM gpuconc_columns_test_load('retyped', '{n,t,ts}');
SELECT chunks FROM gpuconc_columns_test_load('retyped');
SELECT * FROM gpuconc_columns_test_diff('retyped');
SELECT column_name, encoding FROM gpuconc_cache WHERE relation = 'retyped'::regclass ORDER BY 1;
INSERT INTO retyped VALUES (0.5, 'x');
VACUUM retyped;
SELECT * FROM gpuconc_columns_test_diff('retyped', '{t,ts,missing}');

-- dropped, and made anew by the same name
DROP TABLE fresh;
SELECT count(*) FROM gpuconc_cache WHERE relation::text ~ '^[0-9]';
CREATE TABLE fresh (a text);
INSERT INTO fresh SELECT 'a' || i FROM generate_series(1, 50) AS i;
VACUUM fresh;
SELECT * FROM gpuconc_columns_test_diff('fresh');
-- not when the drop is undone
BEGIN;
DROP TABLE fresh;
ROLLBACK;
SELECT complete FROM gpuconc_columns_test_served('fresh');
BEGIN;
SAVEPOINT s;
DROP TABLE fresh;
ROLLBACK TO s;
SAVEPOINT s2;
DROP TABLE retyped;
RELEASE s2;
COMMIT;
SELECT complete FROM gpuconc_columns_test_served('fresh');
SELECT count(*) FROM gpuconc_cache WHERE relation::text ~ '^[0-9]';

-- COPY FREEZE
CREATE TABLE frozen (a int);
BEGIN;
TRUNCATE frozen;
COPY frozen FROM stdin WITH (FREEZE);
1
2
\.
SELECT * FROM gpuconc_columns_test_diff('frozen');
COPY frozen FROM stdin WITH (FREEZE);
3
\.
SELECT * FROM gpuconc_columns_test_diff('frozen');
COMMIT;
SELECT * FROM gpuconc_columns_test_diff('frozen');
SELECT complete FROM gpuconc_columns_test_served('frozen');

-- isolation levels
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT gpuconc_columns_test_reason('frozen');
SELECT * FROM gpuconc_columns_test_diff('frozen');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT gpuconc_columns_test_reason('frozen');
SELECT * FROM gpuconc_columns_test_diff('frozen');
COMMIT;
-- DEFERRABLE, but read-only only after the snapshot was taken
BEGIN ISOLATION LEVEL SERIALIZABLE DEFERRABLE;
SELECT count(*) FROM frozen;
SET TRANSACTION READ ONLY;
SELECT gpuconc_columns_test_reason('frozen');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT gpuconc_columns_test_reason('frozen');
SELECT * FROM gpuconc_columns_test_diff('frozen');
COMMIT;

-- a cursor's snapshot is older than the change
BEGIN;
DECLARE c CURSOR FOR SELECT gpuconc_columns_test_scan('frozen');
DELETE FROM frozen WHERE a = 2;
FETCH ALL FROM c;
SELECT gpuconc_columns_test_scan('frozen');
ROLLBACK;

DROP TABLE unlogged, parted, files, fresh, frozen;
DROP MATERIALIZED VIEW matview;
DROP VIEW plain_view;
SELECT a.used = b.used AS all_given_back FROM gpuconc_columns_test_arena() AS a, arena_before AS b;
