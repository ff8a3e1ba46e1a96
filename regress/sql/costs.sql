-- Plans that are taken by costs, PostgreSQL's or ours; and settings and statistics that make no sense.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/include/setup.sql'
\i :setup
CREATE TABLE priced AS
SELECT i, i % 100 AS g, (i * 7919::bigint % 10007)::int AS k, i / 8.0 AS n, md5(i::text) AS t FROM generate_series(1, 60000) i;
ALTER TABLE priced ADD PRIMARY KEY (i);
CREATE INDEX ON priced (k);
VACUUM (ANALYZE) priced;
CREATE TABLE few AS SELECT i AS k, i AS v FROM generate_series(1, 20) i;
VACUUM (ANALYZE) few;
SET gpuconc.offload_cost = 50;
SET gpuconc.debug_tuple_cost = 0.0003;
SET gpuconc.debug_build_cost = 0.002;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION whose(query text, node text DEFAULT 'Gpuconc') RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ node THEN
			RETURN 'gpuconc';
		END IF;
	END LOOP;
	RETURN 'PostgreSQL';
END $$;

-- Rows that PostgreSQL would only hand on, and some that are dear to decode.
SELECT whose('SELECT * FROM priced');
SELECT whose('SELECT i, n, t FROM priced ORDER BY n');
SELECT whose('SELECT i, rank() OVER (PARTITION BY g ORDER BY t) FROM priced');
-- The device's rows are sorted by machine words.
SELECT whose('SELECT i, g, k FROM priced ORDER BY g, k, i'), whose('SELECT t FROM priced ORDER BY t'), whose('SELECT i, g FROM priced ORDER BY g DESC NULLS LAST OFFSET 10');
SELECT whose('SELECT g, string_agg(t, '','' ORDER BY i) FROM priced GROUP BY g'), whose('SELECT g, array_agg(DISTINCT k) FROM priced GROUP BY g'), whose('SELECT DISTINCT ON (g) g, k, i FROM priced ORDER BY g, k');
-- Of rows with windows, too, the device finds the first few by all that they are sorted by.
\set first 'SELECT t, NULLIF(g, 7) AS k, sum(NULLIF(i, 7)) * 100.0 / sum(sum(i)) OVER (PARTITION BY NULLIF(g, 7)) AS share FROM priced GROUP BY 1, 2 ORDER BY k DESC, share, t LIMIT 700'
SELECT whose(:'first', 'first 700'), whose(replace(:'first', 'LIMIT 700', ''), 'first');
CREATE TEMP TABLE ours AS :first;
SET gpuconc.enabled = off;
CREATE TEMP TABLE own AS :first;
SET gpuconc.enabled = on;
SELECT count(*), count(*) - count(share) AS nulls, (SELECT count(*) FROM (TABLE ours EXCEPT ALL TABLE own) x) AS ours, (SELECT count(*) FROM (TABLE own EXCEPT ALL TABLE ours) x) AS own FROM ours;
-- Another row's error is raised.
\set other 'SELECT t, g, sum(i) / (min(sum(i)) OVER (PARTITION BY g) - 99.0) AS share FROM priced GROUP BY t, g ORDER BY t, g, share LIMIT 5'
SELECT whose(:'other', 'first 5');
:other;
-- An index has them in order, they are few, or one is hard to decode.
SELECT whose('SELECT i FROM priced ORDER BY i'), whose('SELECT k FROM few ORDER BY v'), whose('SELECT k FROM priced WHERE i < 500 ORDER BY k');
-- Only a few of these are wanted.
SELECT whose('SELECT i, n, t FROM priced ORDER BY n LIMIT 10');
SELECT whose('SELECT i FROM priced ORDER BY i LIMIT 10');
SELECT whose('SELECT i FROM priced LIMIT 10');
-- PostgreSQL ranks all groups before the first row that is wanted.
SELECT whose('WITH x AS NOT MATERIALIZED (SELECT k, avg(n) AS s FROM priced GROUP BY k) SELECT a.r, t FROM (SELECT rank() OVER (ORDER BY s) AS r FROM x) a, (SELECT k, rank() OVER (ORDER BY s DESC) AS r FROM x) b, priced WHERE a.r = b.r AND a.r < 11 AND i = b.k ORDER BY a.r LIMIT 100', 'GpuconcJoin');
-- Groups take PostgreSQL a microsecond each.
SELECT whose('SELECT i, sum(n) FROM priced GROUP BY i');
SELECT whose('SELECT g, sum(n) FROM priced GROUP BY g');
-- A build of a whole table is kept, for statements with any constants, until the table is written to.
CREATE TABLE placed AS SELECT nullif(i % 30000, 7) AS i, nullif(i, 8) AS v FROM generate_series(1, 70000) i;
CREATE TABLE places AS SELECT nullif(i, 9) AS i, i % 100 AS g FROM generate_series(1, 60000) i;
SELECT settle();
VACUUM ANALYZE placed, places;
\set whole 'SELECT count(*), sum(v), sum(g) FROM placed JOIN places USING (i)'
SET gpuconc.debug_build_cost = 0.1;
SELECT whose(:'whole'), check_here(:'whole'), whose(:'whole' || ' WHERE g >= 0');
UPDATE placed SET v = v + 1 WHERE i % 2 = 0;
UPDATE places SET g = g + 1 WHERE i % 2 = 0;
SELECT whose(:'whole'), check_here(:'whole');
SET gpuconc.debug_build_cost = 0.002;
DROP TABLE placed, places;
-- A dear function is evaluated for the rows that other conditions leave, and for an output's rows; a lookup table for all texts.
CREATE FUNCTION dear(text) RETURNS int IMMUTABLE COST 10000 LANGUAGE plpgsql AS 'BEGIN RETURN length($1); END';
SELECT whose(q), whose(replace(q, 'dear', 'length')), check_here(q) FROM unnest(ARRAY['SELECT count(*) FROM priced WHERE g = 7 AND n > 3 AND dear(t) > 3', 'SELECT dear(t), count(*), sum(i) FROM priced WHERE g = 7 GROUP BY 1']) AS q;
-- But where all rows are evaluated, the table is as good.
SELECT whose('SELECT count(*), sum(i) FROM priced WHERE dear(t) > 3 AND i > 0');
-- Processes share the other conditions, however few rows are expected of them.
CREATE TABLE spelled AS SELECT i % 300 AS a, i % 299 AS b, 't' || i % 3 AS t FROM generate_series(1, 60000) i;
VACUUM (ANALYZE) spelled;
ALTER FUNCTION dear PARALLEL SAFE;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;
\set both 'SELECT count(*) FROM spelled WHERE a = 7 AND b = 7 AND dear(t) > 1'
SELECT whose(:'both'), check_here(:'both');
SET gpuconc.enabled = off;
SELECT whose(:'both', 'Parallel Seq Scan') = 'gpuconc' AS parallel;
SET gpuconc.enabled = on;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
SET max_parallel_workers_per_gather = 0;
DROP TABLE spelled;
DROP FUNCTION dear;
-- A lookup table is also evaluated for each integer of a column's range.
CREATE TABLE sparse AS SELECT i, i % 2 * 120000 AS wide, i % 2 * 12 AS narrow FROM generate_series(1, 20000) i;
VACUUM (ANALYZE) sparse;
SELECT gpuconc_prewarm('sparse') > 0 AS loaded;
SELECT whose(format('SELECT to_char(%s, ''999''), count(*) FROM sparse GROUP BY 1', c)) FROM unnest('{wide,narrow}'::text[]) AS c;
DROP TABLE sparse;
-- A request for each outer row, and a scan where an index finds a few rows.
SELECT whose('SELECT count(*) FROM generate_series(1, 50) s LEFT JOIN priced ON k = s');
SELECT whose('SELECT s, (SELECT sum(n) FROM priced WHERE k = s) FROM generate_series(1, 50) s');
SELECT whose('SELECT count(*) FROM few WHERE v < (SELECT count(*) FROM priced WHERE k = few.k)');
-- Nor by a device that scans a table in no time: the index finds sooner what is wanted.
SET gpuconc.debug_tuple_cost = 0.000001; SET gpuconc.debug_build_cost = 0.00001;
SELECT whose('SELECT count(*) FROM few WHERE v < (SELECT count(*) FROM priced WHERE k = few.k)');
SELECT whose('SELECT count(*) FROM priced a WHERE n < (SELECT avg(n) FROM priced b WHERE b.g = a.g)');
-- The same where PostgreSQL reads the table of an InitPlan itself, by an index: sooner by far all the same.
\set beside 'SELECT count(*), sum(n) FROM priced a WHERE i < (SELECT avg(i) FROM priced b WHERE b.k = a.k) AND g <> (SELECT g FROM priced WHERE i = 77)'
SELECT whose(:'beside'), whose(:'beside', 'Index Scan'), whose(:'beside', 'SubPlan'), check_here(:'beside');
SET gpuconc.debug_tuple_cost = 0.0003; SET gpuconc.debug_build_cost = 0.002;
SELECT whose('SELECT * FROM priced WHERE i = 77');
SELECT whose('SELECT max(i) FROM priced');

-- A merge join ends where a condition has one side end, and then takes less than PostgreSQL counts.
SET enable_nestloop = off; SET enable_hashjoin = off;
SELECT whose('SELECT count(*) FROM priced a JOIN priced b ON a.i = b.i WHERE a.i < 400');
SELECT whose('SELECT count(*) FROM priced a JOIN priced b ON a.i = b.i WHERE 400 >= b.i AND b.i > 0');
SELECT whose('SELECT a.i FROM priced a JOIN priced b ON a.i = b.i WHERE a.i > 59600 ORDER BY a.i DESC');
-- But not from the other end, nor where the side that has no condition is returned as a whole.
SELECT whose('SELECT count(*) FROM priced a JOIN priced b ON a.i = b.i WHERE a.i > 400');
SELECT whose('SELECT count(b.i) FROM priced a LEFT JOIN priced b ON a.i = b.i AND b.i < 400');
RESET enable_nestloop; RESET enable_hashjoin;

-- Joins of CTEs, whose rows are guessed, are made without nested loops; but for those that have no equality.  Such CTEs stay where an output that nobody reads might fail.
SELECT plan_of('WITH w AS MATERIALIZED (SELECT k, g, count(*) AS c, sum(i) AS s, 10 / sum(i) AS z FROM priced GROUP BY k, g) SELECT count(*) FROM w a JOIN w b USING (k) WHERE a.g = 1 AND a.c > 0 AND a.s > 0 AND a.k > 0 AND b.g = 2 AND b.c > 0 AND b.s > 0');
SELECT check_here(q), (SELECT count(*) FROM plan_of(q) AS line WHERE line ~ 'Nested Loop') AS loops FROM unnest(ARRAY[
	'WITH w AS MATERIALIZED (SELECT k, g, count(*) AS c, sum(i) AS s, 10 / sum(i) AS z FROM priced GROUP BY k, g) SELECT count(*) FROM w a JOIN w b USING (k) WHERE a.g = 1 AND a.c > 0 AND a.s > 0 AND a.k > 0 AND b.g <> 2 AND b.c > 0 AND b.s > 0',
	'WITH w AS MATERIALIZED (SELECT g, count(*) AS c, sum(i) AS s, 10 / sum(i) AS z FROM priced GROUP BY g) SELECT count(*), sum(b.g) FROM w a JOIN w b ON a.s < b.s WHERE a.c > 0 AND a.s > 9 AND a.g < 3',
	'WITH w AS MATERIALIZED (SELECT g, count(*) AS c, sum(i) AS s, 10 / sum(i) AS z FROM priced GROUP BY g) SELECT count(*), sum(c.g) FROM w a JOIN w b USING (g) LEFT JOIN w c ON b.s < c.s AND c.c > 0 WHERE a.c > 0 AND a.s > 9 AND a.g < 3 AND b.c > 0 AND b.s > 9',
	'WITH w AS MATERIALIZED (SELECT g, count(*) AS c, sum(i) AS s, 10 / sum(i) AS z FROM priced GROUP BY g) SELECT a.g, z.s FROM w a, LATERAL (SELECT sum(b.g) AS s FROM w b WHERE b.s < a.s AND b.c > 0 GROUP BY b.c) z WHERE a.g = 77 AND a.c > 0'
]) AS q;
-- A loop over a CTE evaluates the conditions for all of its rows each time, and PostgreSQL counts those that are left.
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET gpuconc.debug_build_cost = 0.03;
EXPLAIN (COSTS OFF) WITH w AS (SELECT k, g, count(*) AS c, sum(i) AS s FROM priced GROUP BY k, g) SELECT count(*) FROM w a JOIN w b USING (k) LEFT JOIN few ON few.k = a.g WHERE a.c > 0 AND b.c > 0 AND a.s > 345000 AND b.s > 345000 AND a.c < 30 AND b.c < 30;
SELECT check_here('WITH w AS (SELECT k, g, count(*) AS c, sum(i) AS s FROM priced GROUP BY k, g) SELECT count(*) FROM w a JOIN w b USING (k) LEFT JOIN few ON few.k = a.g WHERE a.c > 0 AND b.c > 0 AND a.s > 345000 AND b.s > 345000 AND a.c < 30 AND b.c < 30');
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material;
-- INTERSECT takes each row to its group, as an aggregate does.
CREATE TABLE words AS SELECT 'w' || i % 25000 AS t, i FROM generate_series(1, 60000) i;
VACUUM (ANALYZE) words;
SET gpuconc.debug_build_cost = 0.01;
SELECT whose(q), check_here(q) FROM unnest(ARRAY['SELECT count(*) FROM (SELECT t FROM words INTERSECT SELECT t FROM words WHERE i > 9) s']) AS q;
SET gpuconc.debug_build_cost = 0.002;
DROP TABLE words;

-- Pages that are not all-visible are read once for all sessions.  But each reads them itself where they are not kept, or
-- where it may have changed them; and what was found out there does not hold elsewhere.
CREATE TABLE fresh WITH (autovacuum_enabled = off) AS SELECT i, g FROM priced;
ANALYZE fresh;
SELECT whose('SELECT sum(i) FROM fresh WHERE g = 3');
BEGIN;
SELECT pg_current_xact_id() IS NOT NULL AS writes;
SELECT whose('SELECT sum(i) FROM fresh WHERE g = 3');
ROLLBACK;
SELECT whose('SELECT sum(i) FROM fresh WHERE g = 3');
SET gpuconc.debug_versioned_pages = off;
SELECT whose('SELECT sum(i) FROM fresh WHERE g = 3');
RESET gpuconc.debug_versioned_pages;
SELECT whose('SELECT sum(i) FROM fresh WHERE g = 3');
DROP TABLE fresh;

-- Whatever the settings say, the answer is PostgreSQL's.
CREATE FUNCTION answer() RETURNS text LANGUAGE sql AS $$
SELECT format('%s %s %s', (SELECT sum(n) FROM priced WHERE g < 7),
	(SELECT string_agg(t, ' ') FROM (SELECT t FROM priced ORDER BY n DESC LIMIT 2) x),
	(SELECT count(*) FROM priced a JOIN priced b ON a.k = b.i WHERE a.g = 3)) $$;
SET gpuconc.enabled = off;
SELECT answer() AS expected \gset
SET gpuconc.enabled = on;
SELECT answer() = :'expected' AS same;
SET gpuconc.offload_cost = 1e300; SET gpuconc.debug_tuple_cost = 1e308; SET gpuconc.debug_build_cost = 1e308;
SELECT answer() = :'expected' AS same;
SELECT whose('SELECT g, sum(n) FROM priced GROUP BY g');
SET gpuconc.offload_cost = 0; SET gpuconc.debug_tuple_cost = 0; SET gpuconc.debug_build_cost = 0;
SELECT answer() = :'expected' AS same;
SET cpu_tuple_cost = 0; SET cpu_operator_cost = 0; SET seq_page_cost = 0; SET random_page_cost = 0; SET cpu_index_tuple_cost = 0;
SELECT answer() = :'expected' AS same;
SET cpu_tuple_cost = 1e300; SET cpu_operator_cost = 1e300; SET seq_page_cost = 1e300;
SELECT answer() = :'expected' AS same;
RESET cpu_tuple_cost; RESET cpu_operator_cost; RESET seq_page_cost; RESET random_page_cost; RESET cpu_index_tuple_cost;
SET gpuconc.offload_cost = -1;
SET gpuconc.debug_tuple_cost = 'NaN';
SET gpuconc.debug_pair_cost = -2;
SET gpuconc.debug_pair_cost = 'NaN';
SET gpuconc.debug_build_cost = 'Infinity'; SET gpuconc.debug_tuple_cost = -5; SET gpuconc.debug_build_cost = -0.5;
SET gpuconc.debug_pair_cost = 1e300;
SELECT whose('SELECT count(*) FROM few a, few b WHERE a.v < b.v'), answer() = :'expected' AS same;
RESET gpuconc.debug_pair_cost;
RESET gpuconc.offload_cost; RESET gpuconc.debug_tuple_cost; RESET gpuconc.debug_build_cost;

-- Nor whatever statistics say.
SELECT whose('SELECT g, sum(n) FROM priced GROUP BY g'), whose('SELECT * FROM priced WHERE i = 77');
UPDATE pg_class SET reltuples = reltuples * 1e6 WHERE oid = 'priced'::regclass;
SELECT whose('SELECT g, sum(n) FROM priced GROUP BY g'), whose('SELECT * FROM priced WHERE i = 77');
SELECT answer() = :'expected' AS same;
UPDATE pg_class SET reltuples = reltuples / 1e12 WHERE oid = 'priced'::regclass;
SELECT whose('SELECT g, sum(n) FROM priced GROUP BY g'), whose('SELECT * FROM priced WHERE i = 77');
SELECT answer() = :'expected' AS same;
UPDATE pg_class SET reltuples = -1, relallvisible = 0 WHERE oid = 'priced'::regclass;
DELETE FROM pg_statistic WHERE starelid = 'priced'::regclass;
SELECT answer() = :'expected' AS same;
-- One value where there are thousands, and millions where there is a hundred.
ALTER TABLE priced ALTER k SET (n_distinct = 1), ALTER g SET (n_distinct = 100000000);
ANALYZE priced;
SET gpuconc.debug_offload = prefer;
CREATE FUNCTION groups() RETURNS text LANGUAGE sql AS $$
SELECT format('%s %s %s', (SELECT sum(c * k) FROM (SELECT k, count(*) AS c FROM priced GROUP BY k) x),
	(SELECT count(DISTINCT g) + count(DISTINCT k) FROM priced),
	(SELECT sum(c) FROM (SELECT k, g, count(*) AS c FROM priced GROUP BY ROLLUP (k, g)) x)) $$;
SELECT groups() AS offloaded \gset
SET gpuconc.enabled = off;
SELECT groups() = :'offloaded' AS same;
SET gpuconc.enabled = on;
RESET gpuconc.debug_offload;

-- A table that grows a hundredfold between planning and execution.
CREATE TABLE grows AS SELECT i, i % 10 AS g FROM generate_series(1, 300) i;
VACUUM (ANALYZE) grows;
SET plan_cache_mode = force_generic_plan;
SET gpuconc.debug_offload = prefer;
CREATE TABLE grows_too AS TABLE grows;
VACUUM (ANALYZE) grows_too;
PREPARE grouped AS SELECT sum(i), count(DISTINCT g) FROM grows WHERE g > 2;
PREPARE built AS SELECT count(*), sum(b.i) FROM priced a JOIN grows b ON a.k = b.i;
PREPARE nested AS SELECT count(*) FROM few a JOIN grows b ON b.i < a.v * 100;
PREPARE sorted AS SELECT i, g FROM grows ORDER BY g DESC, i LIMIT 3;
PREPARE many AS SELECT a.i, count(*) FROM grows a JOIN grows_too b ON a.i = b.i GROUP BY a.i ORDER BY 2 DESC, 1 LIMIT 2;
PREPARE one_of AS SELECT count(*) FROM priced WHERE i IN (SELECT i FROM grows WHERE g <> 5);
PREPARE appended AS SELECT g, count(*) FROM (SELECT g FROM grows UNION ALL SELECT g FROM grows_too) x WHERE g < 3 GROUP BY g ORDER BY g;
CREATE FUNCTION answers() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	name text;
	row record;
BEGIN
	FOREACH name IN ARRAY '{grouped,built,nested,sorted,many,one_of,appended}'::text[] LOOP
		FOR row IN EXECUTE 'EXECUTE ' || name LOOP
			RETURN NEXT name || ' ' || row::text;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM answers();
SELECT offloaded AS before FROM gpuconc_stat_get() \gset
INSERT INTO grows SELECT i, i % 1000 FROM generate_series(301, 30000) i;
INSERT INTO grows_too TABLE grows;
CREATE TABLE grown AS SELECT * FROM answers() WITH ORDINALITY AS a(answer, n);
SELECT offloaded - :before AS offloaded FROM gpuconc_stat_get();
SET gpuconc.enabled = off;
SELECT answer FROM answers() WITH ORDINALITY AS a(answer, n) EXCEPT ALL SELECT answer FROM grown;
SELECT answer FROM grown ORDER BY n;
DROP TABLE grows_too, grown;
DROP FUNCTION answers, groups;
DROP TABLE priced, few, grows;
DROP FUNCTION whose, answer;
