-- Statements that a session repeats: long constants that have one key, functions that are not called, memory of executions.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE SCHEMA edges;
SET search_path = edges, public;
SET gpuconc.offload_cost = 50;
SET gpuconc.tuple_cost = 0.0003;
SET gpuconc.build_cost = 0.002;
SET max_parallel_workers_per_gather = 0;
-- Texts that begin alike, end alike, and are as long.
CREATE FUNCTION long(middle text) RETURNS text LANGUAGE sql AS $$ SELECT repeat('a', 300) || middle || repeat('z', 300) $$;
CREATE TABLE wide WITH (autovacuum_enabled = off) AS
SELECT i, i % 1000 AS c, (i * 7919::bigint % 10007)::int AS v, ((i % 100)::numeric / 10)::numeric(6,2) AS n, CASE i % 300 WHEN 7 THEN long('b') WHEN 8 THEN long('c') WHEN 9 THEN long('c') ELSE 'w' || i % 30 END AS t
FROM generate_series(1, 100000) AS i;
VACUUM (ANALYZE) wide;
SELECT long('b') AS b, long('c') AS c, length(long('b')) = length(long('c')) AND left(long('b'), 256) = left(long('c'), 256) AND right(long('b'), 256) = right(long('c'), 256) AS have_one_key \gset
\echo :have_one_key
-- A statement: what was kept of the other one is not taken.
\set with_b 'SELECT count(*), sum(v) FROM wide WHERE t = ' :'b'
\set with_c 'SELECT count(*), sum(v) FROM wide WHERE t = ' :'c'
:with_b;
:with_b;
SET client_min_messages = debug2;
:with_b;
:with_c;
:with_c;
:with_b;
:with_b;
RESET client_min_messages;
-- A statement with other constants: those that are not compared are the same.
\set filter_b 'SELECT count(*) FILTER (WHERE t = ' :'b' '), sum(v) FROM wide WHERE c < 500 AND n <'
\set filter_c 'SELECT count(*) FILTER (WHERE t = ' :'c' '), sum(v) FROM wide WHERE c < 500 AND n <'
:filter_b 9.1;
:filter_b 9.2;
:filter_b 9.3;
SET client_min_messages = debug2;
:filter_b 9.4;
:filter_c 9.5;
:filter_c 9.6;
:filter_b 9.7;
SET gpuconc.enabled = off;
:filter_b 9.4;
:filter_c 9.5;
:filter_c 9.6;
:filter_b 9.7;
SET gpuconc.enabled = on;
RESET client_min_messages;

-- Nothing of a user's is called to find out which constants there are: PostgreSQL does not get to these.
CREATE FUNCTION shouts(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE NOTICE 'called for %', n;
	RETURN n;
END $$;
SELECT sum(v), max(i) FROM wide WHERE c < 401 OR (false AND c < shouts(1));
SELECT sum(v), max(i) FROM wide WHERE c < 402 OR (false AND c < shouts(2));
SELECT sum(v), max(i) FROM wide WHERE c < 403 OR (false AND c < shouts(3));
SELECT sum(v), max(i) FROM wide WHERE c < 404 OR CASE WHEN false THEN c < shouts(4) END;
SELECT sum(v), max(i) FROM wide WHERE c < 405 OR CASE WHEN false THEN c < shouts(5) END;
SELECT sum(v), max(i) FROM wide WHERE c < 406 OR CASE WHEN false THEN c < shouts(6) END;

-- Parameters go with their execution: a function has its memory for as long as its caller's statement takes.
\set compared 'c < 500 AND n <> 1.1 AND n <> 1.2 AND n <> 1.3 AND n <> 1.4 AND n <> 1.5 AND n <> 1.6 AND v <> 1 AND v <> 2 AND v <> 3 AND v <> 4 AND v <> 5 AND v <>'
SELECT sum(v) FROM wide WHERE :compared 6;
SELECT sum(v) FROM wide WHERE :compared 7;
SELECT sum(v) FROM wide WHERE :compared 8;
SET client_min_messages = debug2;
SELECT sum(v) FROM wide WHERE :compared 9;
RESET client_min_messages;
\set body 'SELECT sum(v) FROM wide WHERE ' :compared ' 10'
CREATE FUNCTION executes(x int) RETURNS bigint LANGUAGE sql VOLATILE AS :'body';
CREATE FUNCTION memory_used() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts';
-- 400 times 200 bytes at least would have stayed; what asks has memory of its own from the first time on.
SELECT n, used[3] - used[2] < 40000 AS memory_stays
FROM (SELECT count(executes(x)) AS n, array_agg(memory_used() ORDER BY x) FILTER (WHERE x IN (100, 200, 600)) AS used FROM generate_series(1, 600) AS x) AS s;

SET client_min_messages = warning;
DROP SCHEMA edges CASCADE;
