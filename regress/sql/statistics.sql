-- An offloaded execution counts in pg_stat_user_tables as PostgreSQL's own sequential scan of
-- the table would.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA counts;
SET search_path = counts, public;
SET max_parallel_workers_per_gather = 0;
SET gpuconc.debug_offload = require;

CREATE TABLE cached (id int PRIMARY KEY, k int, n numeric) WITH (autovacuum_enabled = off);
CREATE TABLE fresh (k int, w int) WITH (autovacuum_enabled = off);
CREATE TABLE void (k int) WITH (autovacuum_enabled = off);
INSERT INTO cached SELECT i, i % 10, i FROM generate_series(1, 10000) AS i;
INSERT INTO fresh SELECT i, i FROM generate_series(0, 9) AS i;
SELECT settle();
VACUUM (FREEZE, ANALYZE) cached;
ANALYZE fresh;

-- scans and rows since it was asked last
CREATE TABLE seen AS SELECT relname AS t, 0::int8 AS scans, 0::int8 AS rows
FROM pg_stat_user_tables WHERE schemaname = 'counts';
CREATE FUNCTION counted(OUT t text, OUT scans int8, OUT rows int8) RETURNS SETOF record
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpuconc.debug_offload', 'allow', true), set_config('gpuconc.enabled', 'off', true);
	RETURN QUERY WITH now AS (SELECT relname, seq_scan, seq_tup_read FROM pg_stat_user_tables
			WHERE schemaname = 'counts'),
		kept AS (UPDATE seen AS s SET scans = seq_scan, rows = seq_tup_read FROM now WHERE relname = s.t)
	SELECT s.t::text, seq_scan - s.scans, seq_tup_read - s.rows FROM now JOIN seen AS s ON relname = s.t
	WHERE seq_scan > s.scans OR seq_tup_read > s.rows ORDER BY 1;
END $$;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();

-- an execution that loads its columns, and one that finds them
SELECT count(*), sum(k) FROM cached;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
SELECT count(*), sum(k) FROM cached WHERE id % 7 = 3;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
-- chunks that cannot match are not read, but PostgreSQL would read them
SELECT count(*), sum(k) FROM cached WHERE k > 1000;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
-- executions count, not plans; EXPLAIN alone is none
PREPARE p AS SELECT sum(k) FROM cached WHERE id > $1;
EXECUTE p(5);
EXECUTE p(6);
EXPLAIN (COSTS OFF) EXECUTE p(7);
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
-- a cursor, read twice: its rows are kept
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, count(*) FROM cached GROUP BY k ORDER BY k;
FETCH 2 FROM c;
FETCH ABSOLUTE 1 FROM c;
COMMIT;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();

-- beside the cache: rows inserted, rows deleted, of this transaction, too
INSERT INTO cached SELECT i, i % 10, i FROM generate_series(10001, 10100) AS i;
SELECT count(*), sum(k) FROM cached;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
SET enable_seqscan = off;
SET enable_bitmapscan = off;
DELETE FROM cached WHERE id = 77;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT count(*), sum(k) FROM cached;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
BEGIN;
INSERT INTO cached VALUES (20000, 1, 1);
SELECT count(*), sum(k) FROM cached;
ROLLBACK;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();

-- nothing of it in the cache, nothing at all, and each table of a join once
SELECT count(*), sum(w) FROM fresh;
SELECT count(*) FROM void;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
SELECT count(*), sum(w) FROM cached JOIN fresh USING (k);
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
SELECT count(*) FROM fresh AS a JOIN fresh AS b ON a.k = b.w;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();

-- PostgreSQL alone counts executions that fall back
SET gpuconc.debug_offload = prefer;
INSERT INTO cached VALUES (20001, 1, 'NaN');
SELECT count(*), sum(n) FROM cached;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
SET gpuconc.debug_offload = require;

-- loads are no scans; who does not want counts has none
SELECT gpuconc_evict('cached') > 0 AS evicted;
SELECT gpuconc_prewarm('cached') > 0 AS loaded;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();
SET track_counts = off;
SELECT count(*), sum(k) FROM cached;
RESET track_counts;
SELECT pg_stat_force_next_flush();
SELECT * FROM counted();

RESET gpuconc.debug_offload;
DROP SCHEMA counts CASCADE;
